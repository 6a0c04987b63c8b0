"""Narrowing of integer values and registers to the widths that they need.

Afterwards an operation's type is the smallest that holds every number it can give, a variable's the smallest
that holds its value in every block, and a local memory's the smallest that holds every stored value; each
value is the same number as before. Then operations are cut to the low bits that are used: the low bits of
sums, products and bitwise operations depend only on the low bits of their operands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipelines.c.analysis.intervals import BOOLEAN, Range, meet, operation_range
from pipelines.c.arithmetic import value_range
from pipelines.c.cdfg import Block, Branch, Cdfg, Jump, Operation
from pipelines.c.ir import Array, Variable
from pipelines.c.signature import ScalarType
from pipelines.hls.cleanup import clean, with_values
from pipelines.hls.operators import smallest_type
from pipelines.hls.ranges import GraphRanges, Ranges, analyse_ranges, variable_ranges
from pipelines.hls.schedule import closing_values

_LOW_BITS = ("add", "sub", "mul", "neg", "not", "and", "or", "xor", "shl", "select", "cast")
"""Operations whose low bits depend on the low bits of their operands."""


def narrow_to_demand(graph: Cdfg) -> Cdfg:
    """Cut operations to the bits that are used; a cut value has an unsigned type."""
    return replace(graph, blocks=tuple(_cut(block) for block in graph.blocks))


def _cut(block: Block) -> Block:
    demanded = demanded_bits(block)
    operations = tuple(
        replace(o, type=ScalarType(width_bits=demanded[o.index], signed=False), cut_from=o.type)
        if o.type is not None and _may_be_cut(o, block) and 0 < demanded[o.index] < o.type.width_bits
        else o
        for o in block.operations
    )
    return replace(block, operations=operations)


def _is_integer(operation: Operation) -> bool:
    return operation.type is not None and not operation.type.floating


def _may_be_cut(operation: Operation, block: Block) -> bool:
    if operation.opcode not in _LOW_BITS or not _is_integer(operation):
        return False
    return all(_is_integer(block.operations[i]) for i in operation.operands)


def demanded_bits(block: Block) -> list[int]:
    """Count the low bits of each value that are used, in one pass from the last operation to the first."""
    operations = block.operations
    demanded = [0] * len(operations)

    def demand(index: int, bits: int) -> None:
        kind = operations[index].type
        width = kind.width_bits if kind is not None else 0
        demanded[index] = max(demanded[index], min(bits, width))

    for index in closing_values(block):
        demand(index, 64)
    for operation in reversed(operations):
        if operation.predicate is not None:
            demand(operation.predicate, 64)
        for source, bits in zip(
            operation.operands, used_bits(operation, demanded[operation.index], block), strict=True
        ):
            demand(source, bits)
    return demanded


def used_bits(operation: Operation, used: int, block: Block) -> list[int]:
    """Count the low bits of each operand that an operation uses for `used` low bits of its value.

    A number larger than an operand's width stands for all of its bits.
    """
    count = len(operation.operands)
    match operation.opcode:
        case "write" if isinstance(operation.symbol, Variable):
            return [operation.symbol.type.width_bits]
        case "load" | "store" if isinstance(operation.symbol, Array):
            address = max(1, (operation.symbol.element_count - 1).bit_length())
            return [address, operation.symbol.type.width_bits][:count]
        case "select" if _is_integer(operation):
            return [64, used, used]
        case "shl":
            amount = block.operations[operation.operands[1]]
            less = amount.value or 0 if amount.opcode == "const" else 0
            return [max(0, used - less), 64]
        case "shr":
            return [_demand_of_shifted(operation, used, block), 64]
        case "mul" if _may_be_cut(operation, block):
            left, right = operation.operands
            return [max(0, used - _low_zeros(block, right)), max(0, used - _low_zeros(block, left))]
        case _ if _may_be_cut(operation, block):
            return [used] * count
        case _:
            return [64] * count


def _low_zeros(block: Block, index: int) -> int:
    """Return the number of low zero bits of a constant; 0 for other values and for zero itself."""
    value = block.operations[index].value if block.operations[index].opcode == "const" else None
    return (value & -value).bit_length() - 1 if value else 0


def _demand_of_shifted(operation: Operation, used: int, block: Block) -> int:
    """Return the bits that a right shift by a constant uses: those above, all when it shifts in signs."""
    value, amount = (block.operations[i] for i in operation.operands)
    width = value.type.width_bits if value.type is not None else 64
    if amount.opcode != "const" or used + (amount.value or 0) > width:
        return 64
    return used + (amount.value or 0)


_NEVER_CONSTANT = ("write", "store")
_SAME_WITH_ZERO = ("add", "sub", "or", "xor", "shl", "shr")


def narrow(graph: Cdfg) -> Cdfg:
    """Simplify a graph by the ranges of its values and give each integer the width it needs.

    Returns: a graph that computes the same numbers; an access keeps only the subscripts that dependence tests
             need.
    """
    ranges = analyse_ranges(graph)
    types = {name: smallest_type(*own) for name, own in variable_ranges(ranges).items()}
    memories = {name: smallest_type(*own) for name, own in ranges.cells.items()}
    blocks = tuple(_narrowed(block, ranges, types, memories) for block in graph.blocks)
    arrays = tuple(replace(a, type=memories.get(a.name, a.type)) for a in graph.function.arrays)
    function = replace(graph.function, arrays=arrays)
    return narrow_to_demand(clean(replace(graph, function=function, blocks=blocks)))


def _narrowed(
    block: Block, ranges: GraphRanges, types: Mapping[str, ScalarType], memories: Mapping[str, ScalarType]
) -> Block:
    rewriter = _Rewriter(ranges=ranges.values[block.index], types=types, memories=memories)
    for operation in block.operations:
        rewriter.rewrite(operation)
    terminator = with_values(block.terminator, rewriter.number)
    possible = [s for s in dict.fromkeys(block.successors) if (block.index, s) in ranges.edges]
    if isinstance(terminator, Branch) and len(possible) == 1:
        terminator = Jump(target=possible[0])
    return replace(block, operations=tuple(rewriter.operations), terminator=terminator)


@dataclass(slots=True)
class _Rewriter:
    """Rewrites one block.

    Attributes:
        number: index of the new operation per old one; known: ranges of the new operations.
        seen: new operations by identity, so that equal ones are shared.
    """

    ranges: Ranges
    types: Mapping[str, ScalarType]
    memories: Mapping[str, ScalarType]
    operations: list[Operation] = field(default_factory=list[Operation])
    known: Ranges = field(default_factory=list[Range | None])
    number: dict[int, int] = field(default_factory=dict[int, int])
    seen: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def rewrite(self, operation: Operation) -> None:
        operands = tuple(self.number[i] for i in operation.operands)
        own = self.sharpened(operation, operands)
        if own is not None and own[0] == own[1] and operation.opcode not in _NEVER_CONSTANT:
            self.number[operation.index] = self.constant(own[0], operation)
            return
        same = self.unchanged(operation, operands)
        self.number[operation.index] = self.renewed(operation, operands, own) if same is None else same

    def sharpened(self, operation: Operation, operands: tuple[int, ...]) -> Range | None:
        """Return the range of an operation from its operands' rewritten ranges."""
        own = self.ranges[operation.index]
        if own is None or operation.opcode in ("read", "load"):
            return own
        again = operation_range(operation, [self.known[i] for i in operands])
        return own if again is None else meet(own, again) or own

    # ---- new operations ---------------------------------------------------------------------------

    def add(self, operation: Operation, interval: Range | None) -> int:
        """Append an operation with the type that its range needs."""
        if interval is not None:
            operation = replace(operation, type=smallest_type(*interval))
        if operation.opcode not in ("load", "store", "write"):
            identity = (
                operation.opcode,
                operation.operands,
                operation.type,
                operation.name,
                operation.value,
            )
            if identity in self.seen:
                return self.seen[identity]
            self.seen[identity] = len(self.operations)
        self.operations.append(replace(operation, index=len(self.operations)))
        self.known.append(interval)
        return len(self.operations) - 1

    def constant(self, value: int, near: Operation) -> int:
        """Return a constant, on the line of another operation."""
        operation = Operation(
            index=0, opcode="const", operands=(), type=near.type, line=near.line, value=value
        )
        return self.add(operation, (value, value))

    def derived(
        self, opcode: str, operands: tuple[int, ...], near: Operation, value: int | None = None
    ) -> int:
        """Return an integer operation with the C type of another."""
        operation = replace(near, opcode=opcode, operands=operands, value=value)
        return self.add(operation, operation_range(operation, [self.known[i] for i in operands]))

    def renewed(self, operation: Operation, operands: tuple[int, ...], interval: Range | None) -> int:
        """Return the operation on the new values, or a cheaper equivalent."""
        cheaper = self.cheaper(operation, operands)
        if cheaper is not None:
            return cheaper
        symbol = operation.symbol
        if isinstance(symbol, Variable) and symbol.name in self.types:
            symbol = replace(symbol, type=self.types[symbol.name])
        if isinstance(symbol, Array) and symbol.name in self.memories:
            symbol = replace(symbol, type=self.memories[symbol.name])
        predicate = None if operation.predicate is None else self.number[operation.predicate]
        if predicate is not None and self.certain(predicate):
            predicate = None
        renewed = replace(
            operation,
            operands=operands,
            symbol=symbol,
            predicate=predicate,
            subscripts=tuple(self.number[i] for i in operation.subscripts),
        )
        return self.add(renewed, interval)

    # ---- what ranges allow ------------------------------------------------------------------------

    def fixed(self, index: int) -> int | None:
        """Return the number of a constant value, None for any other."""
        own = self.known[index]
        return own[0] if own is not None and own[0] == own[1] else None

    def certain(self, index: int) -> bool:
        """Tell whether a value is never zero."""
        own = self.known[index]
        return own is not None and meet(own, (0, 0)) is None

    def unchanged(self, operation: Operation, operands: tuple[int, ...]) -> int | None:
        """Return the operand that an operation passes on unchanged."""
        own = self.ranges[operation.index]
        if own is None or not operands:
            return self._unchanged_floating(operation, operands)
        first = self.known[operands[0]]
        match operation.opcode:
            case "cast" if first is not None and _holds(operation.type, first):
                return operands[0]
            case "select":
                return self._selected(operands)
            case "ne" if first in (BOOLEAN, (0, 0), (1, 1)) and self.fixed(operands[1]) == 0:
                return operands[0]
            case opcode if opcode in _SAME_WITH_ZERO and self.fixed(operands[1]) == 0:
                return operands[0]
            case "add" | "or" | "xor" if self.fixed(operands[0]) == 0:
                return operands[1]
            case "mul" | "divc" if self._is_factor_one(operation, operands):
                return operands[0]
            case "mul" if self.fixed(operands[0]) == 1:
                return operands[1]
            case "and":
                return self._unmasked(operands)
            case _:
                return None

    def _unchanged_floating(self, operation: Operation, operands: tuple[int, ...]) -> int | None:
        return self._selected(operands) if operation.opcode == "select" else None

    def _is_factor_one(self, operation: Operation, operands: tuple[int, ...]) -> bool:
        factor = operation.value if operation.opcode == "divc" else self.fixed(operands[1])
        return factor == 1

    def _selected(self, operands: tuple[int, ...]) -> int | None:
        condition, if_true, if_false = operands
        if self.fixed(condition) == 0:
            return if_false
        if self.certain(condition) or if_true == if_false:
            return if_true
        if self.known[condition] == BOOLEAN and (self.fixed(if_true), self.fixed(if_false)) == (1, 0):
            return condition
        return None

    def _unmasked(self, operands: tuple[int, ...]) -> int | None:
        """Return the value that a mask does not change."""
        for value, mask in (operands, operands[::-1]):
            bits, own = self.fixed(mask), self.known[value]
            if bits == -1 or (
                bits is not None and own is not None and _is_low_mask(bits) and own[0] >= 0 and own[1] <= bits
            ):
                return value
        return None

    def cheaper(self, operation: Operation, operands: tuple[int, ...]) -> int | None:
        """Return a cheaper equivalent, None when there is none."""
        match operation.opcode:
            case "and":
                return self._cut(operation, operands)
            case "div" | "rem" if operation.type is not None and not operation.type.floating:
                return self._by_constant(operation, operands)
            case _:
                return None

    def _cut(self, operation: Operation, operands: tuple[int, ...]) -> int | None:
        """Return a mask of the lowest bits is a conversion to that many bits."""
        for value, mask in (operands, operands[::-1]):
            bits = self.fixed(mask)
            if bits is not None and _is_low_mask(bits):
                kind = ScalarType(width_bits=bits.bit_length(), signed=False)
                return self.derived("cast", (value,), replace(operation, type=kind))
        return None

    def _by_constant(self, operation: Operation, operands: tuple[int, ...]) -> int | None:
        """Return a quotient or remainder by a value that is constant."""
        divisor, dividend = self.fixed(operands[1]), self.known[operands[0]]
        if divisor is None or divisor == 0 or dividend is None:
            return None
        near = replace(operation, predicate=None)
        if divisor == 1:
            return operands[0] if operation.opcode == "div" else self.constant(0, near)
        if dividend[0] >= 0 and divisor > 0 and divisor & (divisor - 1) == 0:
            shift = divisor.bit_length() - 1
            if operation.opcode == "div":
                return self.derived("shr", (operands[0], self.constant(shift, near)), near)
            kind = ScalarType(width_bits=shift, signed=False)
            return self.derived("cast", (operands[0],), replace(near, type=kind))
        quotient = self.derived("divc", (operands[0],), near, divisor)
        if operation.opcode == "div":
            return quotient
        product = self.derived("mul", (quotient, operands[1]), near)
        remainder = replace(near, opcode="sub", operands=(operands[0], product))
        return self.add(remainder, self.ranges[operation.index])


def _holds(kind: ScalarType | None, interval: Range) -> bool:
    """Tell whether an integer type holds a range."""
    if kind is None or kind.floating:
        return False
    low, high = value_range(kind)
    return low <= interval[0] and interval[1] <= high


def _is_low_mask(bits: int) -> bool:
    return bits > 0 and bits & (bits + 1) == 0
