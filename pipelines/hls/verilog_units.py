"""Shared functional units in the top module: selection of their operands and their instances."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.hls.design import BoundUnit
from pipelines.hls.units.catalogue import instance_text, mode_value
from pipelines.hls.verilog_text import Section, any_of, steer
from pipelines.hls.verilog_values import BlockWriter

Sources = list[tuple[str, str]]
"""What a port takes: (condition, value) of each operation that uses it."""


def operand_sources(bound: BoundUnit, writers: Sequence[BlockWriter]) -> list[Sources]:
    """Sources of each operand port of a unit."""
    found: list[Sources] = [[] for _ in bound.unit.ports]
    for use in bound.uses:
        writer = writers[use.block]
        operation = writer.block.operations[use.operation]
        cycle = writer.schedule.starts[use.operation]
        for sources, index, (_, width) in zip(found, operation.operands, bound.unit.ports, strict=True):
            sources.append((writer.active(cycle), writer.resized(index, cycle, width)))
    return found


def _modes(bound: BoundUnit, writers: Sequence[BlockWriter]) -> dict[int, list[str]]:
    """When a unit works in each of its modes."""
    found: dict[int, list[str]] = {0: [], 1: []}
    for use in bound.uses:
        writer = writers[use.block]
        opcode = writer.block.operations[use.operation].opcode
        found[mode_value(opcode)].append(writer.active(writer.schedule.starts[use.operation]))
    return found


def unit_section(bound: BoundUnit, writers: Sequence[BlockWriter]) -> Section:
    """Operand selection and instance of one functional unit."""
    section, unit, modes = Section(), bound.unit, _modes(bound, writers)
    section.values.append(f"  // {bound.name}")
    for sources, (port, width) in zip(operand_sources(bound, writers), unit.ports, strict=True):
        section.value(f"{bound.name}_{port}", width, steer(sources, width))
    output = f"{bound.name}_{unit.output[0]}"
    section.wire(output, unit.output[1])
    go = f"{bound.name}_go" if unit.started else None
    if go is not None:
        section.value(go, 1, any_of([*modes[0], *modes[1]]))
    mode = (any_of(modes[1]) if modes[0] else "1'b1") if modes[1] else "1'b0"
    operands = [f"{bound.name}_{port}" for port, _ in unit.ports]
    section.values.append("  " + instance_text(unit, bound.name, operands, output, go, mode))
    return section
