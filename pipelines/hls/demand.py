"""Which bits of a value anybody looks at.

The low bits of sums, products and bitwise operations depend on the low bits of their operands alone, so an
address of eight bits is computed with eight bits whatever the numbers are.
"""

from __future__ import annotations

from dataclasses import replace

from pipelines.hls.cdfg import Block, Cdfg, Operation
from pipelines.hls.ir import Array, Variable
from pipelines.hls.schedule import closing_values
from pipelines.interface import ScalarType

_LOW_BITS = ("add", "sub", "mul", "neg", "not", "and", "or", "xor", "shl", "select", "cast")
"""Operations whose low bits depend on the low bits of their operands."""


def narrow_to_demand(graph: Cdfg) -> Cdfg:
    """Cut operations to the bits that are used; what a cut value means is its low bits, without sign."""
    return replace(graph, blocks=tuple(_cut(block) for block in graph.blocks))


def _cut(block: Block) -> Block:
    wanted = demanded_bits(block)
    operations = tuple(
        replace(o, type=ScalarType(width_bits=wanted[o.index], signed=False), cut_from=o.type)
        if o.type is not None and _may_be_cut(o, block) and 0 < wanted[o.index] < o.type.width_bits
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
    """How many low bits of each value are used, in one pass from the last operation to the first."""
    operations = block.operations
    wanted = [0] * len(operations)

    def want(index: int, bits: int) -> None:
        kind = operations[index].type
        width = kind.width_bits if kind is not None else 0
        wanted[index] = max(wanted[index], min(bits, width))

    for index in closing_values(block):
        want(index, 64)
    for operation in reversed(operations):
        if operation.predicate is not None:
            want(operation.predicate, 64)
        for source, bits in zip(
            operation.operands, used_bits(operation, wanted[operation.index], block), strict=True
        ):
            want(source, bits)
    return wanted


def used_bits(operation: Operation, own: int, block: Block) -> list[int]:
    """How many low bits an operation uses of each operand when `own` low bits of its value are used.

    A number beyond an operand's width means all of it.
    """
    count = len(operation.operands)
    match operation.opcode:
        case "write" if isinstance(operation.symbol, Variable):
            return [operation.symbol.type.width_bits]
        case "load" | "store" if isinstance(operation.symbol, Array):
            address = max(1, (operation.symbol.element_count - 1).bit_length())
            return [address, operation.symbol.type.width_bits][:count]
        case "select" if _is_integer(operation):
            return [64, own, own]
        case "shl":
            amount = block.operations[operation.operands[1]]
            less = amount.value or 0 if amount.opcode == "const" else 0
            return [max(0, own - less), 64]
        case "shr":
            return [_wanted_of_shifted(operation, own, block), 64]
        case "mul" if _may_be_cut(operation, block):
            left, right = operation.operands
            return [max(0, own - _low_zeros(block, right)), max(0, own - _low_zeros(block, left))]
        case _ if _may_be_cut(operation, block):
            return [own] * count
        case _:
            return [64] * count


def _low_zeros(block: Block, index: int) -> int:
    """How many low bits of a constant are zero; 0 of what is no constant, and of zero itself."""
    value = block.operations[index].value if block.operations[index].opcode == "const" else None
    return (value & -value).bit_length() - 1 if value else 0


def _wanted_of_shifted(operation: Operation, own: int, block: Block) -> int:
    """A right shift by a constant uses the bits above; all when it fills in signs."""
    value, amount = (block.operations[i] for i in operation.operands)
    width = value.type.width_bits if value.type is not None else 64
    if amount.opcode != "const" or own + (amount.value or 0) > width:
        return 64
    return own + (amount.value or 0)
