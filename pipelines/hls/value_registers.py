"""Registers that hold a value for uses after the cycle that computes it.

A value is on its own net in the cycle that computes it. Later it is in the register of a variable that it was
written to, or else in registers of its own: one in a plain block, in a pipelined one a chain with one
register per interval of its lifetime. A conversion to fewer bits is its operand's low bits and needs no
register.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.c.cdfg import Block, Operation
from pipelines.c.signature import ScalarType
from pipelines.hls.narrowing import used_bits
from pipelines.hls.schedule import BlockSchedule, closing_values, live_operations


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldValue:
    """A value that is kept in registers of its own.

    Attributes:
        ready: cycle that computes it; registers: length of its chain; width_bits: low bits that are kept.
    """

    operation: int
    ready: int
    registers: int
    width_bits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The registers of a block's values.

    Attributes:
        live: operations whose value hardware needs.
        held: values in registers of their own, by operation.
        in_variable: (variable, cycle of its write) of values that a variable's register holds.
    """

    live: frozenset[int]
    held: Mapping[int, HeldValue]
    in_variable: Mapping[int, tuple[str, int]]


def is_low_part(operation: Operation, block: Block) -> bool:
    """Tell whether an operation only takes low bits of its operand."""
    if operation.opcode != "cast" or operation.type is None or operation.type.floating:
        return False
    source = block.operations[operation.operands[0]].type
    return source is not None and not source.floating and operation.type.width_bits <= source.width_bits


def base_of(block: Block, index: int) -> int:
    """Return the operation whose net carries a value in its low bits."""
    while is_low_part(block.operations[index], block):
        index = block.operations[index].operands[0]
    return index


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """A use of some low bits of a value in a cycle."""

    value: int
    cycle: int
    bits: int


def _width(block: Block, index: int) -> int:
    kind = block.operations[index].type
    return 0 if kind is None else kind.width_bits


def _uses(schedule: BlockSchedule, live: frozenset[int]) -> list[_Use]:
    """Return every use of a value that has a net; constants have none."""
    block = schedule.graph.block
    uses: list[_Use] = []

    def use(value: int, cycle: int, bits: int) -> None:
        bits = min(bits, _width(block, value))
        base = base_of(block, value)
        if block.operations[base].opcode != "const":
            uses.append(_Use(value=base, cycle=cycle, bits=bits))

    for operation in block.operations:
        if operation.index not in live or is_low_part(operation, block):
            continue
        cycle = schedule.starts[operation.index]
        own = _width(block, operation.index)
        for source, bits in zip(operation.operands, used_bits(operation, own, block), strict=True):
            use(source, cycle, bits)
        if operation.predicate is not None:
            use(operation.predicate, cycle, 64)
    if schedule.interval_cycles is None:
        for value in closing_values(block):
            use(value, schedule.length_cycles - 1, 64)
    return uses


def hold_values(schedule: BlockSchedule, variable_types: Mapping[str, ScalarType]) -> Holding:
    """Decide where each value of a scheduled block is kept.

    Args:    variable_types: types of the variables' registers.
    """
    block, interval = schedule.graph.block, schedule.interval_cycles
    live = live_operations(block)
    late = [u for u in _uses(schedule, live) if u.cycle > schedule.ready(u.value)]
    in_variable: dict[int, tuple[str, int]] = {}
    if interval is None:
        writes = write_starts(schedule)
        late = [u for u in late if not _still_in_variable(u, block, writes)]
        in_variable = _written_values(schedule, late, variable_types)
    held: dict[int, HeldValue] = {}
    for use in late:
        if use.value in in_variable and use.cycle > in_variable[use.value][1]:
            continue
        ready = schedule.ready(use.value)
        registers = 1 if interval is None else -(-(use.cycle - ready) // interval)
        old = held.get(use.value)
        held[use.value] = HeldValue(
            operation=use.value,
            ready=ready,
            registers=registers if old is None else max(registers, old.registers),
            width_bits=use.bits if old is None else max(use.bits, old.width_bits),
        )
    return Holding(live=live, held=held, in_variable=in_variable)


def write_starts(schedule: BlockSchedule) -> dict[str, int]:
    """Return the cycle in which each variable is written."""
    return {o.name: schedule.starts[o.index] for o in schedule.graph.block.operations if o.opcode == "write"}


def _still_in_variable(use: _Use, block: Block, writes: Mapping[str, int]) -> bool:
    """Tell whether the register of a variable that was read still holds the value, in a plain block."""
    operation = block.operations[use.value]
    return operation.opcode == "read" and use.cycle <= writes.get(operation.name, use.cycle)


def _written_values(
    schedule: BlockSchedule, late: list[_Use], variable_types: Mapping[str, ScalarType]
) -> dict[int, tuple[str, int]]:
    """Map each value to the first written variable whose register can be used afterwards."""
    block = schedule.graph.block
    bits: dict[int, int] = {}
    for use in late:
        bits[use.value] = max(bits.get(use.value, 0), use.bits)
    written: dict[int, tuple[str, int]] = {}
    for operation in block.operations:
        if operation.opcode != "write":
            continue
        value, cycle = operation.operands[0], schedule.starts[operation.index]
        wide_enough = variable_types[operation.name].width_bits >= bits.get(value, 65)
        if wide_enough and (value not in written or cycle < written[value][1]):
            written[value] = (operation.name, cycle)
    return written
