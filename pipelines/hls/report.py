"""Counts and estimates of a design before logic synthesis.

Belongs here: the RTL-level features of LLMulator's Figure 8 (modules, conflicts, estimated area,
multiplexers and their area) and the counts beside them. Does not: measured labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pipelines.hls.cdfg import Operation
from pipelines.hls.design import (
    ScheduledDesign,
    boolean_values,
    held_values,
    memory_users,
)
from pipelines.hls.operators import OperatorLibrary, constant_factor, signed_digit_count, uses_unit
from pipelines.hls.verilog import address_bits, writer_count

DIVIDER_REGISTER_BITS = 6 + 32 + 32 + 33 + 2 + 64
MULTIPLIER_REGISTER_BITS = 32 + 16 + 16 + 32


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


def _multiplexers(design: ScheduledDesign) -> Counter[int]:
    """2-to-1 multiplexers by width."""
    found: Counter[int] = Counter()
    for users in design.units.values():
        found[32] += 2 * (len(users) - 1)
    for array in design.graph.function.arrays:
        loads = len(memory_users(design, array, "load"))
        stores = len(memory_users(design, array, "store"))
        found[address_bits(array)] += max(0, loads - 1) + max(0, stores - 1)
        found[array.type.width_bits] += max(0, stores - 1)
    for variable in design.graph.variables:
        found[32] += max(0, writer_count(design, variable) - 1)
    for block in design.graph.blocks:
        booleans = boolean_values(block)
        for operation in block.operations:
            if operation.opcode == "select":
                found[1 if operation.index in booleans else 32] += 1
    return found


def _register_bits(design: ScheduledDesign) -> int:
    states = state_count(design)
    total = max(1, (states - 1).bit_length()) + 32 * len(design.graph.variables)
    for block, schedule in zip(design.graph.blocks, design.schedules, strict=True):
        booleans = boolean_values(block)
        for held in held_values(schedule).values():
            total += held.registers * (1 if held.operation in booleans else 32)
        if schedule.interval_cycles is not None:
            total += schedule.length_cycles + (schedule.interval_cycles - 1).bit_length()
        total += sum(96 for o in block.operations if o.opcode == "divc")
    for kind, _ in design.units:
        total += MULTIPLIER_REGISTER_BITS if kind == "mul" else DIVIDER_REGISTER_BITS
    for array in design.graph.function.arrays:
        if not array.external:
            total += array.type.width_bits * (array.element_count + 1)
    return total


def _operator_area(
    library: OperatorLibrary,
    operation: Operation,
    operations: tuple[Operation, ...],
    boolean: bool,
) -> float:
    """Estimated area of a combinational operation, in um2."""
    width = 1 if boolean else 32
    match operation.opcode:
        case "divc":
            return library.area_um2("mul", 32)
        case "shl" | "shr" if operations[operation.operands[1]].opcode == "const":
            return 0.0
        case "mul":
            factor = constant_factor(operation, operations)
            terms = 0 if factor is None else max(0, signed_digit_count(factor) - 1)
            return terms * library.area_um2("add", 32)
        case "lt" | "le" | "gt" | "ge":
            return library.area_um2("lt", 32)
        case "eq" | "ne":
            return library.area_um2("eq", 32)
        case "neg" | "sub":
            return library.area_um2("sub", 32)
        case "not":
            return library.area_um2("xor", width)
        case other:
            return library.area_um2(other, width)


def _is_operator(operation: Operation, operations: tuple[Operation, ...]) -> bool:
    if operation.opcode in ("const", "read", "write", "load", "store", "select"):
        return False
    return uses_unit(operation, operations) is None


def report_design(design: ScheduledDesign) -> RtlReport:
    """Count and estimate a design.

    Source: LLMulator Figure 8 for the choice of features; Bambu's own estimator is not known, so the areas
            are sums over operators, multiplexers and registers measured alone.
    """
    library = design.model.library
    multiplexers = _multiplexers(design)
    multiplexer_area = sum(n * library.area_um2("mux2", w) for w, n in multiplexers.items())
    registers = _register_bits(design)
    area = multiplexer_area + library.area_um2("register", 1) * registers
    operators = 0
    dividers_by_constant = 0
    for block in design.graph.blocks:
        booleans = boolean_values(block)
        for operation in block.operations:
            if not _is_operator(operation, block.operations):
                continue
            operators += 1
            dividers_by_constant += int(operation.opcode == "divc")
            area += _operator_area(library, operation, block.operations, operation.index in booleans)
    for kind, _ in design.units:
        area += 3 * library.area_um2("mul", 16) if kind == "mul" else 4 * library.area_um2("sub", 32)
    return RtlReport(
        state_count=state_count(design),
        module_count=1 + len(design.units) + dividers_by_constant,
        functional_unit_count=operators + len(design.units),
        multiplexer_count=sum(multiplexers.values()),
        multiplexer_area_um2=round(multiplexer_area, 3),
        estimated_area_um2=round(area, 3),
        register_bits=registers,
        memory_port_conflict_count=sum(s.conflict_cycles for s in design.schedules),
    )
