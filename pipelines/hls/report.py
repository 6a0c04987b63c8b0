"""Counts and area estimates of a design before logic synthesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pipelines.base.summation import ordered_sum
from pipelines.c.cdfg import Operation
from pipelines.hls.critical_path import critical_path_ns
from pipelines.hls.design import (
    BoundUnit,
    Places,
    ScheduledDesign,
    symbol_places,
)
from pipelines.hls.operators import (
    OperatorLibrary,
    constant_factor,
    covering_type,
    functional_unit,
    signed_digit_count,
)
from pipelines.hls.schedule import live_operations
from pipelines.hls.units.catalogue import FunctionalUnit
from pipelines.hls.units.timing import unit_timing
from pipelines.hls.value_registers import hold_values
from pipelines.hls.verilog import (
    Sources,
    address_bits,
    address_sources,
    block_writers,
    data_sources,
    operand_sources,
)
from pipelines.hls.verilog_text import literal_value
from pipelines.hls.verilog_values import BlockWriter

# Shares of the area of an operator of two unknown operands, of a 2-to-1 multiplexer, and gates per bit; from
# synthesis of single operators of 8 and 32 bits and of tables of 8 x 8 to 64 x 32 bits with osu018.
CONSTANT_SUM = 0.42
CONSTANT_COMPARISON = 0.3
CONSTANT_SELECTION = 0.45
CONSTANT_FACTOR = 0.7
POWER_FACTOR = 0.1
LATER_SOURCE = 0.7
TABLE_GATES = 0.15
ONE_HOT_STATES = 32

# Operators are measured at their fastest; in a design most are not on the longest path and become smaller.
# Fitted to 32 designs (16 kernels, plain and pipelined) with osu018, whose area comes out within 11 %.
LOGIC_SHARE = 0.55
MEMORY_SELECTIONS = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RtlReport:
    """Counts of a design.

    Attributes:
        state_count: states of the controller.
        module_count: modules including the top.
        functional_unit_count: operators that compute: shared units, and one per combinational operation.
        multiplexer_count: 2-to-1 multiplexers: selections, and per shared operand, port and variable one less
            than its sources.
        multiplexer_area_um2, estimated_area_um2: from operators measured alone.
        register_bits: datapath, pipeline and controller registers.
        memory_port_conflict_count: cycles by which accesses wait for a port.
        critical_path_ns: estimated longest path.
    """

    state_count: int
    module_count: int
    functional_unit_count: int
    multiplexer_count: int
    multiplexer_area_um2: float
    estimated_area_um2: float
    register_bits: int
    memory_port_conflict_count: int
    critical_path_ns: float


def state_count(design: ScheduledDesign) -> int:
    """Return states of the controller: idle, done, one per cycle of a plain block, one per pipelined loop."""
    return 2 + sum(1 if s.interval_cycles is not None else s.length_cycles for s in design.schedules)


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaPart:
    """A part of the estimated area, and the blocks that use it; none for what the whole design uses."""

    area_um2: float
    blocks: frozenset[int]


@dataclass(slots=True)
class _Selections:
    """2-to-1 multiplexers of a design.

    Attributes:
        count: by width; area_um2: reduced where an input is constant or the register has an enable anyway.
        parts: of this area. blocks: that use what is added next.
    """

    library: OperatorLibrary
    count: Counter[int] = field(default_factory=Counter[int])
    area_um2: float = 0.0
    parts: list[AreaPart] = field(default_factory=list[AreaPart])
    blocks: frozenset[int] = frozenset()

    def add(self, width_bits: int, number: int = 1, share: float = 1.0) -> None:
        if number > 0:
            self.count[width_bits] += number
            area = number * share * self.library.area_um2("mux2", width_bits)
            self.area_um2 += area
            self.parts.append(AreaPart(area_um2=area, blocks=self.blocks))

    def among(self, sources: Sources, width_bits: int) -> None:
        """Add a selection among sources; equal sources count once, and a constant costs little."""
        values = dict.fromkeys(value for _, value in sources)
        constants = sum(literal_value(value) is not None for value in values)
        most = len(values) - 1
        self.add(width_bits, min(most, len(values) - constants), LATER_SOURCE)
        self.add(width_bits, most - (len(values) - constants), LATER_SOURCE * CONSTANT_SELECTION)


def _selections(design: ScheduledDesign, places: Places, writers: Sequence[BlockWriter]) -> _Selections:
    selections = _Selections(library=design.model.library)
    for bound in design.units:
        selections.blocks = _blocks_of_unit(bound)
        for sources, (_, width) in zip(operand_sources(bound, writers), bound.unit.ports, strict=True):
            selections.among(sources, width)
    for array in design.graph.function.arrays:
        for opcode in ("load", "store"):
            users = places.get((opcode, array.name), [])
            selections.blocks = _blocks_of(users)
            selections.among(address_sources(array, users, writers), address_bits(array))
        stores = places.get(("store", array.name), [])
        selections.blocks = _blocks_of(stores)
        selections.among(data_sources(array, stores, writers), array.type.width_bits)
    _variable_selections(selections, design, places)
    for block in design.graph.blocks:
        selections.blocks = frozenset([block.index])
        for operation in block.operations:
            if operation.opcode == "select" and operation.type is not None:
                fixed = any(block.operations[i].opcode == "const" for i in operation.operands[1:])
                selections.add(operation.type.width_bits, share=CONSTANT_SELECTION if fixed else 1.0)
    return selections


def _blocks_of(users: Sequence[tuple[int, Operation]]) -> frozenset[int]:
    return frozenset(block for block, _ in users)


def _blocks_of_unit(bound: BoundUnit) -> frozenset[int]:
    return frozenset(use.block for use in bound.uses)


def _variable_selections(selections: _Selections, design: ScheduledDesign, places: Places) -> None:
    """Add the selection among a variable's sources, without the register's enable."""
    parameters = {p.name for p in design.graph.function.parameters}
    for variable in design.graph.variables:
        writers = places.get(("write", variable.name), [])
        selections.blocks = _blocks_of(writers)
        fixed = [
            design.graph.blocks[block].operations[write.operands[0]].opcode == "const"
            for block, write in writers
        ]
        sources = [*fixed, False] if variable.name in parameters else fixed
        for constant in sorted(sources)[1:]:
            share = LATER_SOURCE * (CONSTANT_SELECTION if constant else 1.0)
            selections.add(variable.type.width_bits, share=share)


@dataclass(slots=True)
class _Bits:
    """Bits of one kind. parts: with the blocks that use them."""

    total: int = 0
    parts: list[tuple[int, frozenset[int]]] = field(default_factory=list[tuple[int, frozenset[int]]])

    def add(self, bits: int, blocks: frozenset[int] = frozenset()) -> None:
        self.total += bits
        self.parts.append((bits, blocks))

    def areas(self, area_um2: float) -> list[AreaPart]:
        """Return the parts of the area, of so much per bit."""
        return [AreaPart(area_um2=bits * area_um2, blocks=blocks) for bits, blocks in self.parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Storage:
    """Bits that a design keeps outside its functional units.

    Attributes:
        free: registers with a new value every cycle; held: registers with an enable.
        cells: of local memories; constants: of tables.
    """

    free: _Bits = field(default_factory=_Bits)
    held: _Bits = field(default_factory=_Bits)
    cells: _Bits = field(default_factory=_Bits)
    constants: _Bits = field(default_factory=_Bits)

    def areas_um2(self, library: OperatorLibrary) -> list[tuple[_Bits, float]]:
        """Return the area per bit of registers, with the selections that keep values, and of memories."""
        register, keep = library.area_um2("register", 1), library.area_um2("mux2", 8) / 8
        return [
            (self.free, register),
            (self.held, register + keep),
            (self.cells, register + MEMORY_SELECTIONS * keep),
            (self.constants, TABLE_GATES * library.area_um2("and", 1)),
        ]

    def area_um2(self, library: OperatorLibrary) -> float:
        """Return the area of all bits."""
        return ordered_sum(bits.total * area for bits, area in self.areas_um2(library))


def _state_bits(states: int) -> int:
    """Return the registers of the controller after synthesis: yosys encodes fewer than 32 states one-hot."""
    return states if states < ONE_HOT_STATES else (states - 1).bit_length()


def _storage(design: ScheduledDesign, places: Places) -> _Storage:
    kept = _Storage()
    kept.free.add(_state_bits(state_count(design)))
    for variable in design.graph.variables:
        users = [own for kind in ("read", "write") for own in places.get((kind, variable.name), [])]
        kept.held.add(variable.type.width_bits, _blocks_of(users))
    if design.graph.function.returns is not None:
        kept.held.add(design.graph.function.returns.width_bits)
    types = {v.name: v.type for v in design.graph.variables}
    for number, schedule in enumerate(design.schedules):
        own = frozenset([number])
        values = hold_values(schedule, types).held.values()
        kept.held.add(sum(value.registers * value.width_bits for value in values), own)
        if schedule.interval_cycles is not None:
            kept.free.add(schedule.length_cycles + (schedule.interval_cycles - 1).bit_length(), own)
    for array in design.graph.function.arrays:
        if not array.external and ("load", array.name) in places:
            bits = array.type.width_bits * array.element_count
            loads, stores = (places.get((kind, array.name), []) for kind in ("load", "store"))
            kept.held.add(array.type.width_bits, _blocks_of(loads))
            (kept.cells if stores else kept.constants).add(bits, _blocks_of([*loads, *stores]))
    return kept


def _operator_area(
    library: OperatorLibrary, operation: Operation, operations: tuple[Operation, ...]
) -> float:
    """Return the estimated area of a combinational operation, in um2."""
    inputs = [operations[i] for i in operation.operands]
    width = operation.type.width_bits if operation.type is not None else 0
    constant = any(o.opcode == "const" for o in inputs)
    match operation.opcode:
        case "bits" | "cast" | "abs":
            return 0.0
        case "shl" | "shr" if inputs[1].opcode == "const":
            return 0.0
        case "mul":
            factor = constant_factor(operation, operations)
            terms = 0 if factor is None else max(0, signed_digit_count(factor) - 1)
            return terms * library.area_um2("add", width)
        case "lt" | "le" | "gt" | "ge" | "eq" | "ne":
            kinds = [o.type for o in inputs if o.type is not None]
            if constant and inputs[-1].value == 0 and operation.opcode in ("lt", "ge"):
                return 0.0
            name = "eq" if operation.opcode in ("eq", "ne") else "lt"
            share = CONSTANT_COMPARISON if constant else 1.0
            return share * library.area_um2(name, covering_type(kinds).width_bits)
        case "neg":
            return CONSTANT_SUM * library.area_um2("sub", width)
        case "add" | "sub":
            return (CONSTANT_SUM if constant else 1.0) * library.area_um2(operation.opcode, width)
        case "and" | "or" | "xor" if constant:
            return 0.0
        case "not":
            return library.area_um2("xor", width)
        case other:
            return library.area_um2(other, width)


_NO_OPERATOR = ("const", "read", "write", "load", "store", "select")


_Units = list[tuple[FunctionalUnit, int]]
"""Functional units that are not shared, and the block of each."""


def _operators(design: ScheduledDesign) -> tuple[int, list[AreaPart], _Units]:
    """Return number and areas of the operators that are not shared, and the functional units among them."""
    library = design.model.library
    count, areas, units = 0, list[AreaPart](), _Units()
    for block in design.graph.blocks:
        live = live_operations(block)
        for operation in block.operations:
            if operation.opcode in _NO_OPERATOR or operation.index not in live:
                continue
            unit = functional_unit(operation, block.operations)
            if unit is None:
                count += 1
                area = _operator_area(library, operation, block.operations)
                areas.append(AreaPart(area_um2=area, blocks=frozenset([block.index])))
            elif unit.latency_cycles == 0:
                units.append((unit, block.index))
    return count, areas, units


def _unit_share(bound: BoundUnit, writers: Sequence[BlockWriter]) -> float:
    """Return the share of a floating multiplier's area that remains when one operand is always constant."""
    if bound.unit.module != "float_multiply":
        return 1.0
    fraction = (1 << dict(bound.unit.parameters)["FRACTION"]) - 1
    share = 1.0
    for sources in operand_sources(bound, writers):
        values = [literal_value(value) for _, value in sources]
        constants = [value for value in values if value is not None]
        if len(constants) == len(values):
            power = all(value & fraction == 0 for value in constants)
            share = min(share, POWER_FACTOR if power else CONSTANT_FACTOR)
    return share


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The parts of a design that have an area.

    Attributes:
        operators, operator_areas: that compute without a register and are not shared.
        units: the others, not shared and then shared, each with the share of its area that remains and the
            blocks that use it.
    """

    selections: _Selections
    storage: _Storage
    operators: int
    operator_areas: Sequence[AreaPart]
    units: Sequence[tuple[FunctionalUnit, float, frozenset[int]]]


def _parts(design: ScheduledDesign) -> _Parts:
    places = symbol_places(design)
    writers = block_writers(design)
    operators, areas, units = _operators(design)
    return _Parts(
        selections=_selections(design, places, writers),
        storage=_storage(design, places),
        operators=operators,
        operator_areas=areas,
        units=[
            *((unit, 1.0, frozenset([block])) for unit, block in units),
            *((own.unit, _unit_share(own, writers), _blocks_of_unit(own)) for own in design.units),
        ],
    )


def area_parts(design: ScheduledDesign) -> list[AreaPart]:
    """Return the parts of the estimated area of a design; their sum is that of `report_design`."""
    library = design.model.library
    parts = _parts(design)
    logic = [
        replace(part, area_um2=LOGIC_SHARE * part.area_um2)
        for part in (*parts.selections.parts, *parts.operator_areas)
    ]
    kept = [part for bits, area in parts.storage.areas_um2(library) for part in bits.areas(area)]
    units = [
        AreaPart(area_um2=share * unit_timing(unit, library.liberty).area_um2, blocks=blocks)
        for unit, share, blocks in parts.units
    ]
    return [*logic, *kept, *units]


def report_design(design: ScheduledDesign) -> RtlReport:
    """Count the parts of a design and estimate its area.

    Source: LLMulator Figure 8 for the choice of features; Bambu's own estimator is not known, so the areas
            are sums over operators, multiplexers and registers measured alone.
    """
    library = design.model.library
    parts = _parts(design)
    selections, storage = parts.selections, parts.storage
    operator_area = 0.0
    for part in parts.operator_areas:
        operator_area += part.area_um2
    figures = [unit_timing(unit, library.liberty) for unit, _, _ in parts.units]
    area = LOGIC_SHARE * (selections.area_um2 + operator_area) + storage.area_um2(library)
    area += ordered_sum(
        share * figure.area_um2 for (_, share, _), figure in zip(parts.units, figures, strict=True)
    )
    return RtlReport(
        state_count=state_count(design),
        module_count=1 + len(figures),
        functional_unit_count=parts.operators + len(figures),
        multiplexer_count=sum(selections.count.values()),
        multiplexer_area_um2=round(selections.area_um2, 3),
        estimated_area_um2=round(area, 3),
        register_bits=storage.free.total
        + storage.held.total
        + storage.cells.total
        + sum(figure.flip_flop_count for figure in figures),
        memory_port_conflict_count=sum(s.conflict_cycles for s in design.schedules),
        critical_path_ns=round(critical_path_ns(design), 3),
    )
