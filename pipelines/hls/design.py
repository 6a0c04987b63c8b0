"""A scheduled and bound design: what the Verilog writer, the reports and the features read.

Belongs here: block schedules together, and which functional unit does which operation. Does not: text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from pipelines.hls.cdfg import Block, Branch, Cdfg, Operation
from pipelines.hls.ir import Array, Variable
from pipelines.hls.operators import TimingModel, uses_unit
from pipelines.hls.schedule import BlockSchedule, closing_values


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitUse:
    """An operation on a shared functional unit."""

    block: int
    operation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledDesign:
    """A graph with a schedule for every block and a unit for every product and quotient.

    Attributes:
        units: users of each functional unit, by (kind, number).
    """

    graph: Cdfg
    schedules: tuple[BlockSchedule, ...]
    model: TimingModel
    units: Mapping[tuple[str, int], tuple[UnitUse, ...]]

    def unit_of(self, block: int, operation: int) -> tuple[str, int]:
        """The unit an operation runs on."""
        use = UnitUse(block=block, operation=operation)
        return next(unit for unit, users in self.units.items() if use in users)


def bind_units(schedules: tuple[BlockSchedule, ...]) -> dict[tuple[str, int], tuple[UnitUse, ...]]:
    """Share functional units between operations that never start in the same cycle.

    Only one block runs at a time, so blocks share all units; inside a block two operations clash when
    they start in the same cycle (the same residue when pipelined).
    """
    users: dict[tuple[str, int], list[UnitUse]] = defaultdict(list)
    for block_index, schedule in enumerate(schedules):
        taken: Counter[tuple[str, int]] = Counter()
        for operation, start in zip(schedule.graph.operations, schedule.starts, strict=True):
            kind = uses_unit(operation, schedule.graph.operations)
            if kind is None:
                continue
            slot = start % schedule.interval_cycles if schedule.interval_cycles else start
            number = taken[kind, slot]
            taken[kind, slot] += 1
            users[kind, number].append(UnitUse(block=block_index, operation=operation.index))
    return {unit: tuple(found) for unit, found in sorted(users.items())}


def boolean_values(block: Block) -> frozenset[int]:
    """Operations whose value is always 0 or 1, so that one wire carries it."""
    found: set[int] = set()
    for operation in block.operations:
        if _is_boolean(operation, found):
            found.add(operation.index)
    return frozenset(found)


def _is_boolean(operation: Operation, known: set[int]) -> bool:
    match operation.opcode:
        case "lt" | "le" | "gt" | "ge" | "eq" | "ne":
            return True
        case "const":
            return operation.value in (0, 1)
        case "and" | "or" | "xor":
            return all(i in known for i in operation.operands)
        case "select":
            return all(i in known for i in operation.operands[1:])
        case _:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldValue:
    """A value that is kept in registers after the cycle it is made in.

    Attributes:
        ready: cycle in which it is made.
        registers: length of its chain; 1 unless a pipelined value outlives its interval.
    """

    operation: int
    ready: int
    registers: int


def _uses(schedule: BlockSchedule) -> list[tuple[int, int]]:
    """Every (value, cycle) at which a value is needed; unused constants excluded."""
    found = [
        (source, start)
        for operation, start in zip(schedule.graph.operations, schedule.starts, strict=True)
        for source in operation.inputs
    ]
    last = schedule.length_cycles - 1
    if schedule.interval_cycles is None:
        found += [(value, last) for value in closing_values(schedule.graph.block)]
    return found


def held_values(schedule: BlockSchedule) -> dict[int, HeldValue]:
    """The values of a block that need registers of their own."""
    block = schedule.graph.block
    written = {o.name: schedule.starts[o.index] for o in block.operations if o.opcode == "write"}
    longest: dict[int, int] = {}
    for value, cycle in _uses(schedule):
        operation = block.operations[value]
        if operation.opcode == "const":
            continue
        stays = operation.opcode == "read" and schedule.interval_cycles is None
        if stays and cycle <= written.get(operation.name, cycle):
            continue  # the variable's own register still has the value
        longest[value] = max(longest.get(value, 0), cycle - schedule.ready(value))
    interval = schedule.interval_cycles
    return {
        value: HeldValue(
            operation=value,
            ready=schedule.ready(value),
            registers=1 if interval is None else ceil(cycles / interval),
        )
        for value, cycles in longest.items()
        if cycles > 0
    }


def condition_of(block: Block) -> int | None:
    """The value a block branches on."""
    return block.terminator.condition if isinstance(block.terminator, Branch) else None


def memory_users(design: ScheduledDesign, array: Array, opcode: str) -> list[tuple[int, Operation]]:
    """(block, operation) of every load or store of an array."""
    return [
        (block.index, operation)
        for block in design.graph.blocks
        for operation in block.operations
        if operation.opcode == opcode and operation.name == array.name
    ]


def variable_writers(design: ScheduledDesign, variable: Variable) -> list[tuple[int, Operation]]:
    """(block, operation) of every write of a variable."""
    return [
        (block.index, operation)
        for block in design.graph.blocks
        for operation in block.operations
        if operation.opcode == "write" and operation.name == variable.name
    ]
