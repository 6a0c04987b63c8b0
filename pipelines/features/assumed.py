"""A run that is assumed where none was made: estimated executions, mean toggles of each kind and width."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pipelines.cyclemodel import ControlEstimate, CycleResult
from pipelines.features.activity import count_key
from pipelines.hls import CompiledDesign, cdfg, ir

SIGN_SHARE = 0.05
"""Changes of the sign of a value per execution."""
_DEFAULT = 2.0


@cache
def toggle_densities() -> Mapping[str, float]:
    """Mean toggles of a result per execution by kind and width, measured on designs for training."""
    path = Path(__file__).with_name("toggle_densities.json")
    return json.loads(path.read_text("utf-8"))["densities"]


def assumed_run(compiled: CompiledDesign, estimate: ControlEstimate) -> CycleResult:
    """What the cycle model would count if every design had the mean activity."""
    toggles: Counter[str] = Counter()
    design, densities = compiled.scheduled, toggle_densities()
    for schedule in design.schedules:
        block, visits = schedule.graph.block, estimate.visits[schedule.graph.block.index]
        for index in sorted(schedule.graph.live):
            key = count_key(block, index)
            count = round(visits * densities.get(key or "", _DEFAULT))
            toggles[f"{block.name}.{index}"] += count
            toggles[f"{block.name}.{index}#"] += round(visits * SIGN_SHARE)
            for net in _nets(block.operations[index]):
                toggles[net] += count
    for bound in design.units:
        for use in bound.uses:
            operation = design.graph.blocks[use.block].operations[use.operation]
            for (port, _), index in zip(bound.unit.ports, operation.operands, strict=True):
                count = toggles[f"b{use.block}.{index}"]
                toggles[f"{bound.name}_{port}"] += count * (1 + (len(bound.uses) > 1))
            toggles[f"{bound.name}_{bound.unit.output[0]}"] += toggles[f"b{use.block}.{use.operation}"]
    return CycleResult(
        status="ok",
        latency_cycles=estimate.cycles,
        block_visits={f"b{number}": visits for number, visits in enumerate(estimate.visits)},
        toggles=dict(toggles),
        build_wall_s=0.0,
        run_wall_s=0.0,
    )


def _nets(operation: cdfg.Operation) -> tuple[str, ...]:
    """Shared nets that change with an operation."""
    match operation.opcode:
        case "write":
            return (f"v_{operation.name}",)
        case "load" if isinstance(operation.symbol, ir.Array):
            return (f"m_{operation.name}_rdata", f"m_{operation.name}_raddr")
        case "store":
            return (f"m_{operation.name}_waddr", f"m_{operation.name}_wdata")
        case _:
            return ()
