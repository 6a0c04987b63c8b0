"""Counts and estimates of a design before logic synthesis.

Belongs here: the RTL-level features of LLMulator's Figure 8 (modules, conflicts, estimated area,
multiplexers and their area) and the counts beside them. Does not: measured labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pipelines.hls.cdfg import Operation
from pipelines.hls.design import (
    Places,
    ScheduledDesign,
    held_values,
    live_operations,
    symbol_places,
)
from pipelines.hls.operators import (
    OperatorLibrary,
    constant_factor,
    covering_type,
    functional_unit,
    signed_digit_count,
)
from pipelines.hls.units.catalogue import FunctionalUnit
from pipelines.hls.units.timing import unit_timing
from pipelines.hls.verilog_memory import address_bits


@dataclass(frozen=True, slots=True, kw_only=True)
class RtlReport:
    """Counts of a design.

    Attributes:
        state_count: states of the controller.
        module_count: modules, the top included.
        functional_unit_count: operators that compute: shared units, and one a combinational operation.
        multiplexer_count: 2-to-1 multiplexers: selections, and one less than the sources of every shared
            operand, port and variable.
        multiplexer_area_um2, estimated_area_um2: from operators measured alone.
        register_bits: datapath, pipeline and controller registers.
        memory_port_conflict_count: cycles by which accesses waited for a port.
    """

    state_count: int
    module_count: int
    functional_unit_count: int
    multiplexer_count: int
    multiplexer_area_um2: float
    estimated_area_um2: float
    register_bits: int
    memory_port_conflict_count: int


def state_count(design: ScheduledDesign) -> int:
    """States of the controller: idle, done, one a cycle of a plain block, one a pipelined loop."""
    return 2 + sum(1 if s.interval_cycles is not None else s.length_cycles for s in design.schedules)


def _multiplexers(design: ScheduledDesign, places: Places) -> Counter[int]:
    """2-to-1 multiplexers by width."""
    found: Counter[int] = Counter()
    for bound in design.units:
        for _, width in bound.unit.ports:
            found[width] += len(bound.uses) - 1
    for array in design.graph.function.arrays:
        loads, stores = (len(places.get((opcode, array.name), ())) for opcode in ("load", "store"))
        found[address_bits(array)] += max(0, loads - 1) + max(0, stores - 1)
        found[array.type.width_bits] += max(0, stores - 1)
    parameters = {p.name for p in design.graph.function.parameters}
    for variable in design.graph.variables:
        writers = len(places.get(("write", variable.name), ())) + int(variable.name in parameters)
        found[variable.type.width_bits] += max(0, writers - 1)
    for block in design.graph.blocks:
        for operation in block.operations:
            if operation.opcode == "select" and operation.type is not None:
                found[operation.type.width_bits] += 1
    return found


def _register_bits(design: ScheduledDesign, places: Places) -> int:
    """Registers of controller, variables, held values and local memories; those inside units excluded."""
    states = state_count(design)
    total = max(1, (states - 1).bit_length()) + sum(v.type.width_bits for v in design.graph.variables)
    for block, schedule in zip(design.graph.blocks, design.schedules, strict=True):
        for held in held_values(schedule).values():
            kind = block.operations[held.operation].type
            total += held.registers * (kind.width_bits if kind is not None else 0)
        if schedule.interval_cycles is not None:
            total += schedule.length_cycles + (schedule.interval_cycles - 1).bit_length()
    for array in design.graph.function.arrays:
        if not array.external and ("load", array.name) in places:
            cells = array.element_count if ("store", array.name) in places else 0
            total += array.type.width_bits * (cells + 1)
    return total


def _operator_area(
    library: OperatorLibrary, operation: Operation, operations: tuple[Operation, ...]
) -> float:
    """Estimated area of a combinational operation, in um2."""
    kinds = [operations[i].type for i in operation.operands]
    width = operation.type.width_bits if operation.type is not None else 0
    match operation.opcode:
        case "bits" | "cast" | "abs":
            return 0.0
        case "shl" | "shr" if operations[operation.operands[1]].opcode == "const":
            return 0.0
        case "mul":
            factor = constant_factor(operation, operations)
            terms = 0 if factor is None else max(0, signed_digit_count(factor) - 1)
            return terms * library.area_um2("add", width)
        case "lt" | "le" | "gt" | "ge" | "eq" | "ne":
            name = "eq" if operation.opcode in ("eq", "ne") else "lt"
            return library.area_um2(name, covering_type(k for k in kinds if k is not None).width_bits)
        case "neg" | "sub":
            return library.area_um2("sub", width)
        case "not":
            return library.area_um2("xor", width)
        case other:
            return library.area_um2(other, width)


_NO_OPERATOR = ("const", "read", "write", "load", "store", "select")


def _operators(design: ScheduledDesign) -> tuple[int, float, list[FunctionalUnit]]:
    """Number and area of the operators that share nothing, and the functional units among them."""
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


def report_design(design: ScheduledDesign) -> RtlReport:
    """Count and estimate a design.

    Source: LLMulator Figure 8 for the choice of features; Bambu's own estimator is not known, so the areas
            are sums over operators, multiplexers and registers measured alone.
    """
    library = design.model.library
    places = symbol_places(design)
    multiplexers = _multiplexers(design, places)
    multiplexer_area = sum(n * library.area_um2("mux2", w) for w, n in multiplexers.items())
    registers = _register_bits(design, places)
    operators, operator_area, units = _operators(design)
    units += [bound.unit for bound in design.units]
    figures = [unit_timing(unit, library.liberty) for unit in units]
    area = multiplexer_area + library.area_um2("register", 1) * registers + operator_area
    area += sum(figure.area_um2 for figure in figures)
    return RtlReport(
        state_count=state_count(design),
        module_count=1 + len(units),
        functional_unit_count=operators + len(units),
        multiplexer_count=sum(multiplexers.values()),
        multiplexer_area_um2=round(multiplexer_area, 3),
        estimated_area_um2=round(area, 3),
        register_bits=registers + sum(figure.flip_flop_count for figure in figures),
        memory_port_conflict_count=sum(s.conflict_cycles for s in design.schedules),
    )
