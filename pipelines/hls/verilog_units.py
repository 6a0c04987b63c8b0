"""Shared functional units in the top module: selection of their operands and their instances.

Belongs here: what stands around an instance. Does not: the units' own text (`units/`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.hls.design import BoundUnit
from pipelines.hls.units.catalogue import instance_text, mode_value
from pipelines.hls.verilog_text import Section, any_of, steer
from pipelines.hls.verilog_values import BlockWriter


def unit_section(bound: BoundUnit, writers: Sequence[BlockWriter]) -> Section:
    """Operand selection and instance of one functional unit."""
    section, unit = Section(), bound.unit
    sources: list[list[tuple[str, str]]] = [[] for _ in unit.ports]
    modes: dict[int, list[str]] = {0: [], 1: []}
    for use in bound.uses:
        writer = writers[use.block]
        operation = writer.block.operations[use.operation]
        cycle = writer.schedule.starts[use.operation]
        when = writer.active(cycle)
        modes[mode_value(operation.opcode)].append(when)
        for found, index, (_, width) in zip(sources, operation.operands, unit.ports, strict=True):
            found.append((when, writer.resized(index, cycle, width)))
    for found, (port, width) in zip(sources, unit.ports, strict=True):
        section.wire(f"{bound.name}_{port}", width, steer(found, width))
    output = f"{bound.name}_{unit.output[0]}"
    section.wire(output, unit.output[1])
    go = f"{bound.name}_go" if unit.started else None
    if go is not None:
        section.wire(go, 1, any_of([*modes[0], *modes[1]]))
    mode = (any_of(modes[1]) if modes[0] else "1'b1") if modes[1] else "1'b0"
    operands = [f"{bound.name}_{port}" for port, _ in unit.ports]
    section.assignments.append("  " + instance_text(unit, bound.name, operands, output, go, mode))
    return section
