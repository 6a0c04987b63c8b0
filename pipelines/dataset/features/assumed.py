"""A run that is assumed where none was made: estimated executions, mean toggles of each kind and width."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from pipelines.c import cdfg, ir
from pipelines.c.signature import ScalarType
from pipelines.cyclemodel import ControlEstimate, CycleResult
from pipelines.dataset.features.activity import WIDTHS, count_key, operation_counts, valued
from pipelines.hls import BoundUnit, CompiledDesign, ScheduledDesign

SIGN_SHARE = 0.05
"""Changes of the sign of a value per execution."""
_DEFAULT = 2.0


@cache
def toggle_densities() -> Mapping[str, float]:
    """Return mean toggles per execution by the keys of `density_counts`, measured on designs for training."""
    path = Path(__file__).with_name("toggle_densities.json")
    return json.loads(path.read_text("utf-8"))["densities"]


def density_counts(compiled: CompiledDesign, run: CycleResult) -> tuple[dict[str, int], dict[str, int]]:
    """Return executions and toggles by kind and width, of floating values and shared units separately."""
    executions, toggles = (Counter(counts) for counts in operation_counts(compiled, run, _value_key))
    design = compiled.scheduled
    for bound in design.units:
        uses = sum(run.block_visits[f"b{use.block}"] for use in bound.uses)
        for net, key in _shared_nets(design, bound):
            executions[key] += uses
            toggles[key] += run.toggles.get(net, 0)
    return dict(executions), dict(toggles)


def _value_key(block: cdfg.Block, index: int) -> str | None:
    """Return the key of a result: as `count_key`, with a prefix for a floating value."""
    key, kind = count_key(block, index), block.operations[valued(block, index)].type
    return f"float_{key}" if key is not None and kind is not None and kind.floating else key


def _shared_nets(design: ScheduledDesign, bound: BoundUnit) -> Iterator[tuple[str, str]]:
    """Yield the ports and output of a unit with several uses, each with its key: they are 0 between uses."""
    if len(bound.uses) == 1:
        return
    use = bound.uses[0]
    operations = design.graph.blocks[use.block].operations
    operation = operations[use.operation]
    for (port, _), index in zip(bound.unit.ports, operation.operands, strict=True):
        yield f"{bound.name}_{port}", _net_key("port", operations[index].type)
    yield f"{bound.name}_{bound.unit.output[0]}", _net_key("result", operation.type)


def _net_key(name: str, kind: ScalarType | None) -> str:
    assert kind is not None  # operands and results of units have values
    width = next(w for w in WIDTHS if kind.width_bits <= w)
    return f"{'float_' if kind.floating else ''}{name}_{width}"


def assumed_run(compiled: CompiledDesign, estimate: ControlEstimate) -> CycleResult:
    """Return the cycle model's counts for a design of mean activity."""
    toggles: Counter[str] = Counter()
    design, densities = compiled.scheduled, toggle_densities()
    for schedule in design.schedules:
        block, visits = schedule.graph.block, estimate.visits[schedule.graph.block.index]
        for index in sorted(schedule.graph.live):
            if block.operations[index].opcode == "const":
                continue
            key = _value_key(block, index)
            count = round(visits * densities.get(key or "", _DEFAULT))
            toggles[f"{block.name}.{index}"] += count
            toggles[f"{block.name}.{index}#"] += round(visits * SIGN_SHARE)
            for net in _nets(block.operations[index]):
                toggles[net] += count
    for bound in design.units:
        uses = sum(estimate.visits[use.block] for use in bound.uses)
        for net, key in _shared_nets(design, bound):
            toggles[net] += round(uses * densities.get(key, _DEFAULT))
    return CycleResult(
        status="ok",
        latency_cycles=estimate.cycles,
        block_visits={f"b{number}": visits for number, visits in enumerate(estimate.visits)},
        toggles=dict(toggles),
        build_wall_s=0.0,
        run_wall_s=0.0,
    )


def _nets(operation: cdfg.Operation) -> tuple[str, ...]:
    """Return the shared nets that change with an operation."""
    match operation.opcode:
        case "write":
            return (f"v_{operation.name}",)
        case "load" if isinstance(operation.symbol, ir.Array):
            return (f"m_{operation.name}_rdata", f"m_{operation.name}_raddr")
        case "store":
            return (f"m_{operation.name}_waddr", f"m_{operation.name}_wdata")
        case _:
            return ()
