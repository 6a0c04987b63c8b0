"""Counts and area estimates of a design before logic synthesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Selections:
    """2-to-1 multiplexers of a design.

    Attributes:
        count: by width; area_um2: reduced where an input is constant or the register has an enable anyway.
    """

    library: OperatorLibrary
    count: Counter[int] = field(default_factory=Counter[int])
    area_um2: float = 0.0

    def add(self, width_bits: int, number: int = 1, share: float = 1.0) -> None:
        if number > 0:
            self.count[width_bits] += number
            self.area_um2 += number * share * self.library.area_um2("mux2", width_bits)

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
        for sources, (_, width) in zip(operand_sources(bound, writers), bound.unit.ports, strict=True):
            selections.among(sources, width)
    for array in design.graph.function.arrays:
        for opcode in ("load", "store"):
            users = places.get((opcode, array.name), [])
            selections.among(address_sources(array, users, writers), address_bits(array))
        stores = places.get(("store", array.name), [])
        selections.among(data_sources(array, stores, writers), array.type.width_bits)
    _variable_selections(selections, design, places)
    for block in design.graph.blocks:
        for operation in block.operations:
            if operation.opcode == "select" and operation.type is not None:
                fixed = any(block.operations[i].opcode == "const" for i in operation.operands[1:])
                selections.add(operation.type.width_bits, share=CONSTANT_SELECTION if fixed else 1.0)
    return selections


def _variable_selections(selections: _Selections, design: ScheduledDesign, places: Places) -> None:
    """Add the selection among a variable's sources, without the register's enable."""
    parameters = {p.name for p in design.graph.function.parameters}
    for variable in design.graph.variables:
        writers = places.get(("write", variable.name), [])
        fixed = [
            design.graph.blocks[block].operations[write.operands[0]].opcode == "const"
            for block, write in writers
        ]
        sources = [*fixed, False] if variable.name in parameters else fixed
        for constant in sorted(sources)[1:]:
            share = LATER_SOURCE * (CONSTANT_SELECTION if constant else 1.0)
            selections.add(variable.type.width_bits, share=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Storage:
    """Bits that a design keeps outside its functional units.

    Attributes:
        free: registers with a new value every cycle; held: registers with an enable.
        cells: of local memories; constants: of tables.
    """

    free: int
    held: int
    cells: int
    constants: int

    def area_um2(self, library: OperatorLibrary) -> float:
        """Return the area of registers, of the selections that keep values, and of memories made of both."""
        register, keep = library.area_um2("register", 1), library.area_um2("mux2", 8) / 8
        return (
            self.free * register
            + self.held * (register + keep)
            + self.cells * (register + MEMORY_SELECTIONS * keep)
            + self.constants * TABLE_GATES * library.area_um2("and", 1)
        )


def _state_bits(states: int) -> int:
    """Return the registers of the controller after synthesis: yosys encodes fewer than 32 states one-hot."""
    return states if states < ONE_HOT_STATES else (states - 1).bit_length()


def _storage(design: ScheduledDesign, places: Places) -> _Storage:
    free = _state_bits(state_count(design))
    held = sum(v.type.width_bits for v in design.graph.variables)
    if design.graph.function.returns is not None:
        held += design.graph.function.returns.width_bits
    types = {v.name: v.type for v in design.graph.variables}
    for schedule in design.schedules:
        values = hold_values(schedule, types).held.values()
        held += sum(value.registers * value.width_bits for value in values)
        if schedule.interval_cycles is not None:
            free += schedule.length_cycles + (schedule.interval_cycles - 1).bit_length()
    cells, constants = 0, 0
    for array in design.graph.function.arrays:
        if not array.external and ("load", array.name) in places:
            bits = array.type.width_bits * array.element_count
            held += array.type.width_bits
            cells += bits if ("store", array.name) in places else 0
            constants += 0 if ("store", array.name) in places else bits
    return _Storage(free=free, held=held, cells=cells, constants=constants)


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


def _operators(design: ScheduledDesign) -> tuple[int, float, list[FunctionalUnit]]:
    """Return number and area of the operators that are not shared, and the functional units among them."""
    library = design.model.library
    count, area, units = 0, 0.0, list[FunctionalUnit]()
    for block in design.graph.blocks:
        live = live_operations(block)
        for operation in block.operations:
            if operation.opcode in _NO_OPERATOR or operation.index not in live:
                continue
            unit = functional_unit(operation, block.operations)
            if unit is None:
                count += 1
                area += _operator_area(library, operation, block.operations)
            elif unit.latency_cycles == 0:
                units.append(unit)
    return count, area, units


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


def report_design(design: ScheduledDesign) -> RtlReport:
    """Count the parts of a design and estimate its area.

    Source: LLMulator Figure 8 for the choice of features; Bambu's own estimator is not known, so the areas
            are sums over operators, multiplexers and registers measured alone.
    """
    library = design.model.library
    places = symbol_places(design)
    writers = block_writers(design)
    selections = _selections(design, places, writers)
    storage = _storage(design, places)
    operators, operator_area, units = _operators(design)
    shares = [1.0] * len(units) + [_unit_share(bound, writers) for bound in design.units]
    units += [bound.unit for bound in design.units]
    figures = [unit_timing(unit, library.liberty) for unit in units]
    area = LOGIC_SHARE * (selections.area_um2 + operator_area) + storage.area_um2(library)
    area += ordered_sum(share * figure.area_um2 for share, figure in zip(shares, figures, strict=True))
    return RtlReport(
        state_count=state_count(design),
        module_count=1 + len(units),
        functional_unit_count=operators + len(units),
        multiplexer_count=sum(selections.count.values()),
        multiplexer_area_um2=round(selections.area_um2, 3),
        estimated_area_um2=round(area, 3),
        register_bits=storage.free
        + storage.held
        + storage.cells
        + sum(figure.flip_flop_count for figure in figures),
        memory_port_conflict_count=sum(s.conflict_cycles for s in design.schedules),
        critical_path_ns=round(critical_path_ns(design), 3),
    )
