"""A scheduled and bound design, which the Verilog writer, the reports and the features read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.c.cdfg import Block, Branch, Cdfg, Operation
from pipelines.c.ir import Variable
from pipelines.hls.operators import TimingModel, sharing_key
from pipelines.hls.schedule import BlockSchedule, instance_number, live_operations
from pipelines.hls.units.catalogue import FunctionalUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitUse:
    """An operation on a shared functional unit."""

    block: int
    operation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundUnit:
    """One functional unit of a design and the operations that run on it.

    Attributes:
        name: of the instance, its kind and a number.
    """

    name: str
    unit: FunctionalUnit
    uses: tuple[UnitUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledDesign:
    """A graph with a schedule for every block and a unit for every operation that needs one.

    Attributes:
        units: shared functional units; combinational units are not shared and not listed.
    """

    graph: Cdfg
    schedules: tuple[BlockSchedule, ...]
    model: TimingModel
    units: tuple[BoundUnit, ...]


def units_by_operation(design: ScheduledDesign) -> dict[tuple[int, int], BoundUnit]:
    """Return the shared unit of each (block, operation) that runs on one."""
    return {(use.block, use.operation): bound for bound in design.units for use in bound.uses}


@dataclass(slots=True)
class _Pool:
    """Units of one class while they are bound: the slots each has taken in the present block."""

    units: list[FunctionalUnit] = field(default_factory=list[FunctionalUnit])
    uses: list[list[UnitUse]] = field(default_factory=list[list[UnitUse]])
    taken: list[set[int]] = field(default_factory=list[set[int]])
    first_free: Counter[int] = field(default_factory=Counter[int])

    def bind(self, use: UnitUse, unit: FunctionalUnit, slots: list[int], number: int | None) -> None:
        """Bind a use to the unit of a number, by default the first one that is free in all its slots."""
        number = self.free_number(slots) if number is None else number
        while number >= len(self.uses):
            self.units.append(unit)
            self.uses.append([])
            self.taken.append(set())
        self.units[number] = max(self.units[number], unit, key=_width)
        self.uses[number].append(use)
        self.taken[number].update(slots)
        if len(slots) == 1:
            self.first_free[slots[0]] = number + 1

    def free_number(self, slots: Sequence[int]) -> int:
        """Return the first unit that is free in all slots, the number of units when there is none."""
        number = self.first_free[slots[0]] if len(slots) == 1 else 0
        while number < len(self.uses) and self.taken[number].intersection(slots):
            number += 1
        return number

    def next_block(self) -> None:
        """Free all units: only one block runs at a time."""
        self.taken = [set() for _ in self.taken]
        self.first_free.clear()


def _width(unit: FunctionalUnit) -> int:
    return unit.ports[0][1]


def bind_units(schedules: tuple[BlockSchedule, ...]) -> tuple[BoundUnit, ...]:
    """Share functional units between operations that never occupy the same unit in the same cycle.

    Only one block runs at a time, so blocks share all units; inside a block two operations conflict when
    their busy cycles overlap (modulo the interval when pipelined). Wide operations choose first, so that wide
    operations of different cycles share one unit; operations with several busy cycles choose in order of
    time, which needs the fewest units (left-edge algorithm).
    """
    pools: dict[str, _Pool] = {}
    for block_index, schedule in enumerate(schedules):
        for pool in pools.values():
            pool.next_block()
        for operation, unit in _binding_order(schedule):
            start, interval = schedule.starts[operation], schedule.interval_cycles
            slots = [start + k for k in range(unit.busy_cycles)]
            if interval is not None:
                slots = [s % interval for s in slots]
            pool = pools.setdefault(sharing_key(unit), _Pool())
            use = UnitUse(block=block_index, operation=operation)
            pool.bind(use, unit, slots, instance_number(schedule.graph.resources[operation]))
    return _named_units(list(pools.values()))


def _binding_order(schedule: BlockSchedule) -> list[tuple[int, FunctionalUnit]]:
    """Return the operations on units with a register inside, in the order in which they choose."""
    candidates = [
        (index, unit)
        for index, unit in enumerate(schedule.graph.units)
        if unit is not None and unit.latency_cycles > 0
    ]

    def rank(item: tuple[int, FunctionalUnit]) -> tuple[int, int]:
        index, unit = item
        return (-_width(unit) if unit.busy_cycles == 1 else schedule.starts[index], index)

    return sorted(candidates, key=rank)


def _named_units(pools: Sequence[_Pool]) -> tuple[BoundUnit, ...]:
    """Return the units in order of type, numbered by kind."""
    every = [item for pool in pools for item in zip(pool.units, pool.uses, strict=True)]
    bound = [(unit, tuple(uses)) for unit, uses in every if uses]
    numbers: Counter[str] = Counter()
    named: list[BoundUnit] = []
    for unit, uses in sorted(bound, key=lambda item: (item[0].kind, item[0].parameters)):
        named.append(BoundUnit(name=f"{unit.kind}{numbers[unit.kind]}", unit=unit, uses=uses))
        numbers[unit.kind] += 1
    return tuple(named)


def condition_of(block: Block) -> int | None:
    """Return the value a block branches on."""
    return block.terminator.condition if isinstance(block.terminator, Branch) else None


Places = dict[tuple[str, str], list[tuple[int, Operation]]]
"""(block, operation) of every access to an array or a variable, by (opcode, name)."""


def symbol_places(design: ScheduledDesign) -> Places:
    """Return every load, store, read and write of a design, in block order."""
    places: Places = defaultdict(list)
    for block in design.graph.blocks:
        for operation in block.operations:
            if operation.symbol is not None:
                places[operation.opcode, operation.name].append((block.index, operation))
    return dict(places)


def reads_inputs(design: ScheduledDesign) -> bool:
    """Tell whether the hardware reads an external array or a scalar argument."""
    function = design.graph.function
    scalars = {p.name for p in function.parameters if isinstance(p, Variable)}
    external = {a.name for a in function.arrays if a.external}
    sources = {("read", name) for name in scalars} | {("load", name) for name in external}
    return any(
        operation.index in live
        and operation.symbol is not None
        and (operation.opcode, operation.name) in sources
        for block in design.graph.blocks
        for live in (live_operations(block),)
        for operation in block.operations
    )
