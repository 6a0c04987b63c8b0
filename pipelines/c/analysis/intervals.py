"""Interval arithmetic: ranges of integer operations.

A range is (low, high), both included. Arithmetic that leaves the operation's type wraps: its range is then
the whole type, unless all of it wraps by the same multiple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

from pipelines.c.arithmetic import value_range, wrap
from pipelines.c.cdfg import Operation
from pipelines.c.ir import COMPARISONS, Array
from pipelines.c.signature import INT32, ScalarType

Range = tuple[int, int]
BOOLEAN: Range = (0, 1)


def join(first: Range, second: Range) -> Range:
    """Return the smallest range that holds both."""
    return min(first[0], second[0]), max(first[1], second[1])


def meet(first: Range, second: Range) -> Range | None:
    """Return the intersection of two ranges, None when it is empty."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (low, high) if low <= high else None


def wrapped(low: int, high: int, kind: ScalarType) -> Range:
    """Return a range of numbers, wrapped to a type."""
    first, last = value_range(kind)
    if first <= low and high <= last:
        return low, high
    if high - low < 1 << kind.width_bits:
        below, above = wrap(low, kind), wrap(high, kind)
        if below <= above:
            return below, above
    return first, last


def _corners(left: Range, right: Range, operator: Callable[[int, int], int]) -> Range:
    """Return the range of an operator that is monotone in each operand."""
    values = [operator(a, b) for a, b in product(left, right)]
    return min(values), max(values)


def _signed_cover(left: Range, right: Range) -> Range:
    """Return the range of the smallest signed type that holds both ranges."""
    low, high = join(left, right)
    bits = max((~low).bit_length() if low < 0 else 0, high.bit_length() if high >= 0 else 0)
    return -(1 << bits), (1 << bits) - 1


def _bitwise(opcode: str, left: Range, right: Range) -> Range:
    if opcode == "and":
        masks = [r[1] for r in (left, right) if r[0] >= 0]
        return (0, min(masks)) if masks else _signed_cover(left, right)
    if left[0] < 0 or right[0] < 0:
        both = left[1] < 0 and right[1] < 0
        low, high = _signed_cover(left, right)
        if opcode == "or" and (left[1] < 0 or right[1] < 0):
            high = -1
        return (0, high) if opcode == "xor" and both else (low, high)
    most = (1 << max(left[1].bit_length(), right[1].bit_length())) - 1
    return (max(left[0], right[0]) if opcode == "or" else 0), most


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _quotient(left: Range, right: Range) -> Range:
    """Return the range of a quotient by non-zero divisors; (0, 0) when the divisor is always zero."""
    union: Range | None = None
    for part in (meet(right, (1, 1 << 64)), meet(right, (-(1 << 64), -1))):
        if part is not None:
            values = _corners(left, part, _truncated)
            union = values if union is None else join(union, values)
    return union or (0, 0)


def _remainder(left: Range, right: Range) -> Range:
    most = max(abs(right[0]), abs(right[1]), 1) - 1
    return (max(left[0], -most) if left[0] < 0 else 0), (min(left[1], most) if left[1] > 0 else 0)


def _shifted(opcode: str, value: Range, amount: Range, kind: ScalarType) -> Range | None:
    """Return the range of a shift by a legal amount, None when no amount is."""
    legal = meet(amount, (0, kind.width_bits - 1))
    if legal is None:
        return None
    if opcode == "shl":
        return _corners(value, legal, lambda a, b: a << b)
    return _corners(value, legal, lambda a, b: a >> b)


def _compared(opcode: str, left: Range, right: Range) -> Range:
    always: bool | None = None
    match opcode:
        case "lt" | "ge":
            always = True if left[1] < right[0] else False if left[0] >= right[1] else None
        case "le" | "gt":
            always = True if left[1] <= right[0] else False if left[0] > right[1] else None
        case _:
            if meet(left, right) is None:
                always = False
            elif left == right and left[0] == left[1]:
                always = True
    if always is None:
        return BOOLEAN
    value = int(always == (opcode in ("lt", "le", "eq")))
    return value, value


def binary_range(opcode: str, left: Range, right: Range, kind: ScalarType) -> Range:
    """Return the range of a binary operator of a type."""
    match opcode:
        case "add":
            return wrapped(left[0] + right[0], left[1] + right[1], kind)
        case "sub":
            return wrapped(left[0] - right[1], left[1] - right[0], kind)
        case "mul":
            return wrapped(*_corners(left, right, lambda a, b: a * b), kind)
        case "div":
            return wrapped(*_quotient(left, right), kind)
        case "rem":
            return _remainder(left, right)
        case "and" | "or" | "xor":
            return wrapped(*_bitwise(opcode, left, right), kind)
        case "shl" | "shr":
            shifted = _shifted(opcode, left, right, kind)
            return value_range(kind) if shifted is None else wrapped(*shifted, kind)
        case _:
            return _compared(opcode, left, right)


def operation_range(operation: Operation, operands: Sequence[Range | None]) -> Range | None:
    """Return the range of an operation that is no read.

    Args:    operation: with its type of C; operands: their ranges, None for floating values.
    Returns: None for floating values and for what has no value. The range holds the value in every case
             that C defines.
    """
    kind = operation.type
    if kind is None or kind.floating:
        return None
    match operation.opcode:
        case "const":
            return operation.value or 0, operation.value or 0
        case "load" if isinstance(operation.symbol, Array):
            return value_range(operation.symbol.type)
        case _ if any(r is None for r in operands):
            return BOOLEAN if operation.opcode in COMPARISONS else value_range(kind)
        case _:
            return _integer_range(operation, [r for r in operands if r is not None], kind)


def _integer_range(operation: Operation, operands: list[Range], kind: ScalarType) -> Range:
    first = operands[0]
    match operation.opcode:
        case "select":
            return selected_range(first, operands[1], operands[2])
        case "cast":
            return wrapped(*first, kind)
        case "bits":
            return value_range(kind)
        case "neg":
            return wrapped(-first[1], -first[0], kind)
        case "not":
            return wrapped(~first[1], ~first[0], kind)
        case "divc":
            divisor = operation.value or 1
            return wrapped(*_quotient(first, (divisor, divisor)), kind)
        case opcode:
            return binary_range(opcode, first, operands[1], kind)


def selected_range(condition: Range, if_true: Range, if_false: Range) -> Range:
    """Return the range of a selection."""
    if condition == (0, 0):
        return if_false
    return if_true if meet(condition, (0, 0)) is None else join(if_true, if_false)


# ---- what a condition says ------------------------------------------------------------------------

OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_DEPTH = 8
"""Nesting depth to which the parts of a condition are followed."""

Constraints = dict[int, Range]
"""Narrower ranges of values, by operation."""

Limits = dict[int, Range]
"""Bounds that comparisons alone imply, by operation: a growing range should stop at them."""


def limited(opcode: str, interval: Range, other: Range) -> Range | None:
    """Return the part of a range in which `interval <opcode> other` can hold."""
    low, high = interval
    match opcode:
        case "lt":
            high = min(high, other[1] - 1)
        case "le":
            high = min(high, other[1])
        case "gt":
            low = max(low, other[0] + 1)
        case "ge":
            low = max(low, other[0])
        case "eq":
            low, high = max(low, other[0]), min(high, other[1])
        case _:
            if other[0] == other[1] == low:
                low += 1
            elif other[0] == other[1] == high:
                high -= 1
    return (low, high) if low <= high else None


def constraints_of(
    operations: Sequence[Operation],
    ranges: Sequence[Range | None],
    condition: int,
    holds: bool,
    limits: Limits | None = None,
    constraints: Constraints | None = None,
) -> Constraints | None:
    """Return the ranges of values when a condition is known to hold, or not to.

    Args:    limits: receives the bounds that the condition implies for otherwise unknown values; constraints:
             constraints that hold already.
    Returns: only values with a narrower range; None when the condition cannot have that value.
    """
    facts = _Facts(operations=operations, ranges=ranges, limits={} if limits is None else limits)
    facts.narrowed.update(constraints or {})
    return facts.narrowed if facts.constrain(condition, holds, _DEPTH) else None


@dataclass(slots=True)
class _Facts:
    """Ranges of values under a condition."""

    operations: Sequence[Operation]
    ranges: Sequence[Range | None]
    limits: Limits
    narrowed: Constraints = field(default_factory=dict[int, Range])

    def present(self, index: int) -> Range | None:
        return self.narrowed.get(index, self.ranges[index])

    def narrow(self, index: int, limit: Range | None) -> bool:
        """Narrow a value's range; False when it becomes empty."""
        present = self.present(index)
        narrower = None if limit is None or present is None else meet(present, limit)
        if narrower is None:
            return limit is not None and present is None
        if narrower != self.ranges[index]:
            self.narrowed[index] = narrower
        return True

    def constrain(self, index: int, holds: bool, depth: int) -> bool:
        """Assume a condition's value; False when it is impossible."""
        operation, own = self.operations[index], self.ranges[index]
        if own is not None and not self.narrow(index, limited("ne" if holds else "eq", own, (0, 0))):
            return False
        if depth == 0:
            return True
        inner = _parts(self.operations, self.ranges, operation, holds)
        if inner is not None:
            return all(self.constrain(i, h, depth - 1) for i, h in inner)
        return operation.opcode not in COMPARISONS or self.constrain_comparison(operation, holds)

    def constrain_comparison(self, operation: Operation, holds: bool) -> bool:
        left, right = operation.operands
        a, b = self.present(left), self.present(right)
        if a is None or b is None:
            return True
        opcode = operation.opcode if holds else OPPOSITE[operation.opcode]
        for index, name, other in ((left, opcode, b), (right, TURNED[opcode], a)):
            limit = limited(name, value_range(self.operations[index].type or INT32), other)
            if limit is not None:
                self.limits[index] = limit
        possible = self.narrow(left, limited(opcode, a, b))
        return self.narrow(right, limited(TURNED[opcode], b, a)) and possible


def _parts(
    operations: Sequence[Operation], ranges: Sequence[Range | None], operation: Operation, holds: bool
) -> list[tuple[int, bool]] | None:
    """Return the conditions that a compound condition implies."""
    operands = operation.operands
    booleans = bool(operands) and all(ranges[i] in (BOOLEAN, (0, 0), (1, 1)) for i in operands)
    match operation.opcode:
        case "cast" if ranges[operands[0]] == ranges[operation.index]:
            return [(operands[0], holds)]
        case "and" if holds and booleans:
            return [(i, True) for i in operands]
        case "or" if not holds:
            return [(i, False) for i in operands]
        case "eq" | "ne" if booleans and operations[operands[1]].opcode == "const":
            return [
                (operands[0], (operations[operands[1]].value == 1) == (holds == (operation.opcode == "eq")))
            ]
        case "select" if holds and ranges[operands[2]] == (0, 0):
            return [(operands[0], True), (operands[1], True)]
        case "select" if not holds and ranges[operands[1]] == (1, 1):
            return [(operands[0], False), (operands[2], False)]
        case _:
            return None


def refined_select(
    operation: Operation,
    operations: Sequence[Operation],
    ranges: Sequence[Range | None],
    known: Constraints | None = None,
    depth: int = 3,
) -> Range | None:
    """Return the range of an integer selection whose condition constrains the values that it selects."""
    condition, *values = operation.operands
    union: Range | None = None
    for value, holds in zip(values, (True, False), strict=True):
        constraints = constraints_of(operations, ranges, condition, holds, constraints=known)
        if constraints is None:
            continue
        own = range_under(operations, ranges, value, constraints, depth)
        if own is not None:
            union = own if union is None else join(union, own)
    return union


def range_under(
    operations: Sequence[Operation],
    ranges: Sequence[Range | None],
    index: int,
    constraints: Constraints,
    depth: int = 3,
) -> Range | None:
    """Return a value's range under constraints, recomputed from its operands to a depth."""
    own, operation = constraints.get(index, ranges[index]), operations[index]
    if own is None or depth == 0 or not constraints or operation.opcode in ("const", "read", "load"):
        return own
    if operation.opcode == "select":
        again = refined_select(operation, operations, ranges, constraints, depth - 1)
    else:
        parts = [range_under(operations, ranges, i, constraints, depth - 1) for i in operation.operands]
        again = operation_range(operation, parts)
    return own if again is None else meet(own, again) or own
