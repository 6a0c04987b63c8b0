"""Affine forms and ranges of a block's integer values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.c.arithmetic import value_range
from pipelines.c.cdfg import Block, Branch, Operation
from pipelines.c.ir import COMPARISONS, NestLevel
from pipelines.c.signature import ScalarType

Interval = tuple[int, int]
"""Smallest and largest value."""

_WORD_BITS = 32
_NEVER_WRAPS_BELOW_BITS = 32
"""Narrower types than those of C arithmetic come from narrowing, which keeps every number."""


def wrapped(value: int) -> int:
    """Return a number modulo 2^32, as a signed number; subscripts are INT32."""
    half = 1 << (_WORD_BITS - 1)
    return (value + half) % (2 * half) - half


@dataclass(frozen=True, slots=True)
class Form:
    """A constant plus multiples of leaves.

    Attributes:
        terms: (index of the leaf, coefficient) in order of the leaf, no coefficient zero.
        exact: the form equals the number; otherwise they are equal modulo 2^32.
    """

    terms: tuple[tuple[int, int], ...]
    constant: int
    exact: bool = True

    def plus(self, other: Form, factor: int = 1) -> Form:
        """Return the sum with a multiple of another form."""
        exact = self.exact and other.exact
        if not other.terms:
            return Form(self.terms, self.constant + factor * other.constant, exact)
        terms = dict(self.terms)
        for leaf, coefficient in other.terms:
            terms[leaf] = terms.get(leaf, 0) + factor * coefficient
        kept = tuple(sorted((leaf, c) for leaf, c in terms.items() if c))
        return Form(kept, self.constant + factor * other.constant, exact)

    def times(self, factor: int) -> Form:
        """Return the product with a constant."""
        terms = tuple((leaf, c * factor) for leaf, c in self.terms) if factor else ()
        return Form(terms, self.constant * factor, self.exact)

    def inexact(self) -> Form:
        """Return this form, known modulo 2^32 only."""
        return Form(self.terms, self.constant, exact=False)


def number_type(operation: Operation) -> ScalarType | None:
    """Return the type of the whole number of a value, even if only some bits are kept."""
    return operation.cut_from or operation.type


def _wraps(kind: ScalarType | None, bounds: Interval) -> bool:
    """Tell whether arithmetic of a type may wrap when the exact result lies in an interval.

    Signed overflow is undefined in C.
    """
    if kind is None or kind.signed or kind.width_bits % _NEVER_WRAPS_BELOW_BITS:
        return False
    return not _within(bounds, value_range(kind))


def _within(inner: Interval, outer: Interval) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _sum(left: Interval, right: Interval, factor: int = 1) -> Interval:
    scaled = sorted((right[0] * factor, right[1] * factor))
    return left[0] + scaled[0], left[1] + scaled[1]


def _product(left: Interval, right: Interval) -> Interval:
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _quotient(bounds: Interval, divisor: int) -> Interval:
    ends = [abs(v) // abs(divisor) * (1 if (v < 0) == (divisor < 0) else -1) for v in bounds]
    ends += [0] if bounds[0] <= 0 <= bounds[1] else []
    return min(ends), max(ends)


@dataclass(slots=True)
class BlockForms:
    """Affine forms and ranges of the integer values of a block, computed on demand.

    Attributes:
        levels: for a read of a variable of a flattened nest, its level.
        strides: change per iteration of leaves that change by a constant, 0 for leaves that do not change.
            All other leaves may have any value in each iteration.
    """

    block: Block
    levels: dict[int, int] = field(init=False)
    strides: dict[int, int] = field(init=False)
    _forms: dict[int, Form] = field(default_factory=dict[int, Form])
    _ranges: dict[int, Interval] = field(default_factory=dict[int, Interval])

    def __post_init__(self) -> None:
        operations = self.block.operations
        names = {level.variable.name: number for number, level in enumerate(self.block.nest)}
        reads = [o for o in operations if o.opcode == "read"]
        self.levels = {o.index: names[o.name] for o in reads if o.name in names}
        written = {o.name: o.operands[0] for o in operations if o.opcode == "write"}
        self.strides = {}
        for index in _cone(self.block, written):
            self._add(operations[index])
        for read in (o for o in reads if o.index not in self.levels):
            if read.name not in written:
                self.strides[read.index] = 0
            elif written[read.name] in self._forms:
                change = self._forms[written[read.name]].plus(Form(((read.index, 1),), 0), -1)
                if not change.terms:
                    self.strides[read.index] = wrapped(change.constant)
        self._find_invariants()

    def level(self, number: int) -> NestLevel:
        """Return one level of the flattened nest."""
        return self.block.nest[number]

    def form(self, index: int) -> Form:
        """Return the affine form of a value."""
        return self._forms.get(index) or Form(((index, 1),), 0)

    def bounds(self, index: int) -> Interval:
        """Return the range of an integer value."""
        known = self._ranges.get(index)
        return known if known is not None else self._type_range(self.block.operations[index])

    def stride(self, form: Form) -> int | None:
        """Return the change of a form per iteration, None when it is not constant."""
        total = 0
        for leaf, coefficient in form.terms:
            if leaf not in self.strides:
                return None
            total += coefficient * self.strides[leaf]
        return total

    # ---- building ---------------------------------------------------------------------------------

    def _find_invariants(self) -> None:
        """Find leaves that do not change: those computed from unchanging values alone."""
        steady: set[int] = set()
        for operation in self.block.operations:
            if operation.opcode == "const" or self.strides.get(operation.index) == 0:
                steady.add(operation.index)
            elif operation.opcode in ("read", "write", "load", "store"):
                continue
            elif all(i in steady for i in operation.inputs):
                steady.add(operation.index)
                self.strides.setdefault(operation.index, 0)

    def _type_range(self, operation: Operation) -> Interval:
        kind = number_type(operation)
        if operation.opcode in COMPARISONS:
            return 0, 1
        return (-(1 << 63), 1 << 63) if kind is None or kind.floating else value_range(kind)

    def _add(self, operation: Operation) -> None:
        kind = number_type(operation)
        if kind is None or kind.floating:
            return
        exact = self._exact_range(operation)
        own = self._type_range(operation)
        self._ranges[operation.index] = exact if exact is not None and _within(exact, own) else own
        form = self._combine(operation)
        if form is not None:
            wraps = operation.opcode != "cast" and exact is not None and _wraps(kind, exact)
            self._forms[operation.index] = form.inexact() if wraps else form

    def _integer(self, index: int) -> bool:
        kind = self.block.operations[index].type
        return kind is not None and not kind.floating

    def _combine(self, operation: Operation) -> Form | None:
        """Return the form of an operation from its operands' forms, None when it is a leaf."""
        parts = [self.form(i) for i in operation.operands]
        match operation.opcode:
            case "const":
                return Form((), operation.value or 0)
            case "add" | "sub":
                return parts[0].plus(parts[1], 1 if operation.opcode == "add" else -1)
            case "neg":
                return parts[0].times(-1)
            case "mul" if not parts[0].terms or not parts[1].terms:
                constant, other = parts if not parts[0].terms else reversed(parts)
                return other.times(constant.constant)
            case "shl" if not parts[1].terms and 0 <= parts[1].constant < _WORD_BITS - 1:
                return parts[0].times(1 << parts[1].constant)
            case "select" if parts[1] == parts[2]:
                return parts[1]
            case "cast":
                return self._converted(operation, parts[0])
            case _:
                return None

    def _converted(self, operation: Operation, form: Form) -> Form | None:
        source, kind = operation.operands[0], number_type(operation)
        if kind is None or not self._integer(source):
            return None
        if _within(self.bounds(source), value_range(kind)):
            return form
        return form.inexact() if kind.width_bits >= _WORD_BITS else None

    def _exact_range(self, operation: Operation) -> Interval | None:
        """Return the range of the result in unbounded integers; None when the type is all that is known."""
        if operation.opcode == "const":
            return operation.value or 0, operation.value or 0
        if operation.index in self.levels:
            level = self.level(self.levels[operation.index])
            ends = sorted((level.lower, level.lower + level.step * (level.trip_count - 1)))
            return ends[0], ends[1]
        if not operation.operands or not all(self._integer(i) for i in operation.operands):
            return None
        return self._remainder_range(operation) or self._operator_range(operation)

    def _remainder_range(self, operation: Operation) -> Interval | None:
        """Return the range of `x - x / c * c`."""
        if operation.opcode != "sub":
            return None
        product = self.block.operations[operation.operands[1]]
        if product.opcode != "mul":
            return None
        quotient = self.block.operations[product.operands[0]]
        if quotient.opcode != "divc" or quotient.operands[0] != operation.operands[0]:
            return None
        if self.form(product.operands[1]) != Form((), quotient.value or 0):
            return None
        largest = abs(quotient.value or 1) - 1
        low, high = self.bounds(operation.operands[0])
        return max(low, -largest) if low < 0 else 0, min(high, largest) if high > 0 else 0

    def _operator_range(self, operation: Operation) -> Interval | None:
        first, *rest = (self.bounds(i) for i in operation.operands)
        match operation.opcode:
            case "add":
                return _sum(first, rest[0])
            case "sub":
                return _sum(first, rest[0], -1)
            case "neg":
                return -first[1], -first[0]
            case "mul":
                return _product(first, rest[0])
            case "shl" if rest[0][0] == rest[0][1] and 0 <= rest[0][0] < _WORD_BITS:
                return first[0] << rest[0][0], first[1] << rest[0][0]
            case "shr" if rest[0][0] == rest[0][1] and 0 <= rest[0][0] < 2 * _WORD_BITS:
                return first[0] >> rest[0][0], first[1] >> rest[0][0]
            case "divc" if operation.value:
                return _quotient(first, operation.value)
            case "and":
                tops = [high for low, high in (first, rest[0]) if low >= 0]
                return (0, min(tops)) if tops else None
            case "or" | "xor" if first[0] >= 0 and rest[0][0] >= 0:
                return 0, (1 << max(first[1], rest[0][1]).bit_length()) - 1
            case "rem" if rest[0][0] > 0:
                largest = rest[0][1] - 1
                return max(first[0], -largest) if first[0] < 0 else 0, max(0, min(first[1], largest))
            case "select":
                return min(rest[0][0], rest[1][0]), max(rest[0][1], rest[1][1])
            case "cast":
                return first
            case _:
                return None


def _cone(block: Block, written: Mapping[str, int]) -> list[int]:
    """Return the operations that subscripts, predicates and the loop's condition depend on, in order."""
    needed: set[int] = set()
    for operation in block.operations:
        if operation.opcode in ("load", "store"):
            needed.update(operation.subscripts)
            needed.update(() if operation.predicate is None else (operation.predicate,))
    if isinstance(block.terminator, Branch) and needed:
        needed.add(block.terminator.condition)
    stack = list(needed)
    while stack:
        operation = block.operations[stack.pop()]
        update = written.get(operation.name) if operation.opcode == "read" else None
        for index in (*operation.operands, *(() if update is None else (update,))):
            if index not in needed and operation.opcode != "load":
                needed.add(index)
                stack.append(index)
    return sorted(needed)
