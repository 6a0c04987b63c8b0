"""Tables of what the tools know of designs before logic synthesis: features, loops, features of runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pipelines.base.cache import ContentCache
from pipelines.base.identity import canonical_json, content_hash
from pipelines.base.tools import ToolRun
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.cyclemodel import (
    CYCLE_LIMIT,
    ControlEstimate,
    CycleModelError,
    CycleResult,
    LoopCount,
    build_model,
    engine_version,
    estimate_cycles,
    expected_cycles,
    late_loop,
    run_model,
)
from pipelines.dataset.features.activity import KIND_OF, PARTS, run_activity, toggle_energies
from pipelines.dataset.features.assumed import assumed_run
from pipelines.dataset.features.demand import demand_of, unused_register_bits
from pipelines.dataset.features.extraction import extract_loops
from pipelines.hls import (
    TOOL,
    CompiledDesign,
    block_writers,
    compile_program,
    options_of,
    symbol_places,
    tool_version,
    units_by_operation,
)
from pipelines.programs import data_id, draw_data, program_facts
from pipelines.schemas import (
    DRAWN,
    OK,
    REJECTED,
    TIMEOUT,
    TOOL_ERROR,
    DesignRow,
    FeatureRow,
    LoopProfileRow,
    ProgramRow,
    RunFeatureRow,
    RunRow,
    table_spec,
)

if TYPE_CHECKING:
    from pipelines.dataset.labelling import LabelOptions

_VERSION = "knowledge-4"
"""Raised by hand when the same design, or run, gives other rows."""
TIMEOUT_S = 120.0


def knowledge_version() -> str:
    """Return the hash of everything that the rows of a design depend on."""
    return content_hash(tool_version(), engine_version(), _VERSION)


def _compiled(program: ProgramRow, design: DesignRow) -> CompiledDesign:
    return compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )


# ---- one design ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignKnowledge:
    """Rows of one design.

    Attributes:
        estimate: of cycles; None where there is none.
        late_loop: in which the estimate passed the limit of cycles; None where it ended.
        late_is_counted: whether each entry of that loop has the number of iterations in the source.
    """

    features: FeatureRow
    loops: tuple[LoopProfileRow, ...]
    estimate: ControlEstimate | None = None
    late_loop: str | None = None
    late_is_counted: bool = False


def know_design(
    program: ProgramRow,
    design: DesignRow,
    *,
    folder: Path,
    compiled: CompiledDesign | None = None,
    trips: Mapping[str, float] | None = None,
    is_expected: bool = False,
) -> DesignKnowledge:
    """Return the features and loop profiles of a design of the project's own engine.

    Args:   folder: for files of the estimate. compiled: the design, when it is there. trips: see
            `pipelines.cyclemodel.estimate_cycles`. is_expected: cycles are expected ones, which need no
            compiler, not counted along the design's control.
    Raises: ToolMissing: gcc is not installed.
    """
    compiled = compiled or _compiled(program, design)
    scalars = _known_scalars(compiled, program.inputs)
    if is_expected:
        status, reason, estimate = OK, None, expected_cycles(compiled, scalars=scalars, trips=trips)
    else:
        status, reason, estimate = _estimate(compiled, folder, scalars, trips or {})
    power = None
    if estimate is not None:
        power = run_activity(compiled, assumed_run(compiled, estimate), toggle_energies()).power_mw
    facts, loops = program_facts(program), extract_loops(program)
    report = compiled.report
    features = FeatureRow(
        design_id=design.design_id,
        suite=design.suite,
        status=status,
        reason=reason,
        source_bytes=program.source_bytes,
        source_lines=facts.source_lines,
        source_tokens=facts.source_tokens,
        directive_count=len(json.loads(design.directives)),
        memory_read_delay_cycles=design.memory_read_delay_cycles,
        memory_write_delay_cycles=design.memory_write_delay_cycles,
        clock_period_ns=design.clock_period_ns,
        loop_count=facts.loop_count,
        loop_depth=facts.loop_depth,
        known_loop_count=sum(loop.trip_count is not None for loop in loops),
        operation_count=facts.operation_count,
        argument_bits=sum(a.element_count * a.type.width_bits for a in compiled.interface.arguments),
        estimated_cycles=None if estimate is None else estimate.cycles,
        trips_known=None if estimate is None else estimate.trips_known,
        estimated_area_um2=report.estimated_area_um2,
        estimated_flip_flop_count=estimated_flip_flops(compiled),
        register_bits=report.register_bits,
        critical_path_ns=report.critical_path_ns,
        estimated_power_mw=power,
        state_count=report.state_count,
        block_count=len(compiled.scheduled.schedules),
        module_count=report.module_count,
        functional_unit_count=report.functional_unit_count,
        multiplexer_count=report.multiplexer_count,
        multiplexer_area_um2=report.multiplexer_area_um2,
        memory_port_conflict_count=report.memory_port_conflict_count,
        **_counts(compiled),
    )
    if estimate is None:
        return DesignKnowledge(features=features, loops=())
    profiles = _profiles(design, compiled, estimate)
    late = [loop for loop in profiles if loop.loop == estimate.late_loop]
    return DesignKnowledge(
        features=features,
        loops=profiles,
        estimate=estimate,
        late_loop=estimate.late_loop,
        late_is_counted=[loop.bounds for loop in late] == ["constant"],
    )


def estimated_flip_flops(compiled: CompiledDesign) -> int:
    """Return the register bits that an output or the control depends on."""
    design = compiled.scheduled
    unused = unused_register_bits(design, block_writers(design), demand_of(design))
    return max(1, compiled.report.register_bits - unused)


def constant_scalars(inputs: str) -> dict[str, float]:
    """Return the arguments that an input specification fixes, for a call on drawn data."""
    known = json.loads(inputs)
    return {name: own["value"] for name, own in known.items() if own.get("kind") == "constant"}


def _known_scalars(compiled: CompiledDesign, inputs: str) -> dict[str, float]:
    constants = constant_scalars(inputs)
    return {a.name: constants[a.name] for a in compiled.interface.scalars if a.name in constants}


def _estimate(
    compiled: CompiledDesign, folder: Path, scalars: Mapping[str, float], trips: Mapping[str, float]
) -> tuple[str, str | None, ControlEstimate | None]:
    """Return the estimated cycles, with the status and reason of having none."""
    try:
        estimate = estimate_cycles(compiled, folder=folder, scalars=scalars, trips=trips, timeout_s=TIMEOUT_S)
    except CycleModelError as error:
        return TOOL_ERROR, str(error), None
    if isinstance(estimate, ControlEstimate):
        return OK, None, estimate
    return (TIMEOUT if estimate.timed_out else TOOL_ERROR), estimate.last_words(), None


def _counts(compiled: CompiledDesign) -> dict[str, int]:
    """Return numbers of units, registers and ports of a design."""
    design = compiled.scheduled
    shared = units_by_operation(design)
    kinds = [
        (KIND_OF.get(b.graph.operations[i].opcode), b, i) for b in design.schedules for i in b.graph.live
    ]
    own = [
        (kind, schedule, index)
        for kind, schedule, index in kinds
        if (schedule.graph.block.index, index) not in shared
    ]
    units = [bound.unit.module for bound in design.units]

    def number(kind: str, part: str) -> int:
        return sum(k == kind for k, _, _ in own) + sum(part in module for module in units)

    writers = block_writers(design)
    held = sum(value.registers for writer in writers for value in writer.holding.held.values())
    places = symbol_places(design)
    ports = [(opcode, name) for opcode, name in places if opcode in ("load", "store")]
    stored = design.graph.stored_arrays
    return {
        "adder_count": number("add", "float_add"),
        "multiplier_count": sum("multiply" in module for module in units),
        "divider_count": number("divide", "divide") + sum("square_root" in module for module in units),
        "float_unit_count": sum(module.startswith("float_") for module in units),
        "register_count": len(design.graph.variables) + held,
        "memory_port_count": len(ports),
        "local_memory_bits": sum(
            a.element_count * a.type.width_bits
            for a in design.graph.function.arrays
            if not a.external and a.name in stored
        ),
    }


def _profiles(
    design: DesignRow, compiled: CompiledDesign, estimate: ControlEstimate
) -> tuple[LoopProfileRow, ...]:
    schedules = compiled.scheduled.schedules
    rows: list[LoopProfileRow] = []
    for loop in estimate.loops:
        schedule = schedules[loop.header]
        rows.append(
            LoopProfileRow(
                design_id=design.design_id,
                block=schedule.graph.block.name,
                suite=design.suite,
                loop=loop.loop,
                depth=loop.depth,
                iteration_cycles=sum(schedules[index].length_cycles for index in loop.body),
                interval_cycles=schedule.interval_cycles if len(loop.body) == 1 else None,
                entries=loop.entries,
                iterations=loop.iterations,
                bounds=_bounds(loop),
            )
        )
    return tuple(rows)


def _bounds(loop: LoopCount) -> str:
    if loop.depends_on_data:
        return "data"
    return "constant" if loop.is_constant else "varying"


# ---- one run ---------------------------------------------------------------------------------------


def know_run(
    program: ProgramRow,
    design: DesignRow,
    *,
    seed: int,
    identity: str,
    folder: Path,
    compiled: CompiledDesign | None = None,
) -> RunFeatureRow:
    """Return the cycle model's counts of a design on data drawn for a seed.

    Args:   identity: of the data, which must be that; empty when it is not known. folder: for files of the
            model. compiled: the design, when it is there.
    Raises: ToolMissing: gcc is not installed.
    """
    head = {"design_id": design.design_id, "data_id": identity, "suite": design.suite}

    def failed(status: str, reason: str | None) -> RunFeatureRow:
        nothing: dict[str, Any] = dict.fromkeys(
            (f.name for f in table_spec("run_features").columns if f.level), None
        )
        return RunFeatureRow(**head, status=status, reason=reason, **nothing)

    compiled = compiled or _compiled(program, design)
    data = draw_data(compiled.interface, program.inputs, seed=seed)
    if identity and data_id(data) != identity:
        return failed(REJECTED, f"data must be those of seed {seed}, got other ones in the run")
    try:
        model = build_model(compiled, folder=folder, timeout_s=TIMEOUT_S, toggles=True)
    except CycleModelError as error:
        return failed(TOOL_ERROR, str(error))
    if isinstance(model, ToolRun):
        return failed(TIMEOUT if model.timed_out else TOOL_ERROR, model.last_words())
    result = run_model(model, [data], folder=folder / "run", timeout_s=TIMEOUT_S)[0]
    if result.late_block is not None:
        return failed(result.status, _late_reason(program, compiled, result))
    if result.status != OK:
        return failed(result.status, result.reason)
    activity = run_activity(compiled, result, toggle_energies())
    powers: dict[str, Any] = {f"{part}_power_mw": activity.powers_mw[part] for part in PARTS}
    return RunFeatureRow(
        **head,
        status=OK,
        reason=None,
        cycles=result.latency_cycles,
        executions=canonical_json(activity.executions),
        toggles=canonical_json(activity.toggles),
        register_toggles=activity.register_toggles,
        memory_toggles=activity.memory_toggles,
        load_count=sum(result.loads.values()),
        store_count=sum(result.stores.values()),
        estimated_power_mw=activity.power_mw,
        **powers,
    )


def _late_reason(program: ProgramRow, compiled: CompiledDesign, result: CycleResult) -> str:
    """Tell why a run past the limit of cycles has no figures, with the loop that it did not leave."""
    reason, loop = f"the run did not end within {CYCLE_LIMIT:,} cycles", late_loop_of(compiled, result)
    lines = {own.loop: own.line for own in extract_loops(program)}
    return reason + (f"; it was in loop {loop} (line {lines[loop]})" if loop in lines else "")


def late_loop_of(compiled: CompiledDesign, result: CycleResult) -> str | None:
    """Return name of the loop that a run did not leave before the limit of cycles; None where it ended."""
    if result.late_block is None:
        return None
    blocks = compiled.scheduled.graph.blocks
    return late_loop(blocks, [result.block_visits[b.name] for b in blocks], result.late_block)


def first_runs(designs: Sequence[DesignRow], runs: Sequence[RunRow]) -> dict[str, RunRow]:
    """Return the ok run of each design on drawn data with the least seed."""
    own = {d.design_id for d in designs if d.status == OK and d.tool == TOOL}
    first: dict[str, RunRow] = {}
    for run in sorted(runs, key=lambda r: (r.design_id, r.seed, r.data_id)):
        is_drawn = run.data_kind in (None, DRAWN)  # releases with one kind have none
        if run.status == OK and is_drawn and run.design_id in own:
            first.setdefault(run.design_id, run)
    return first


# ---- tables ----------------------------------------------------------------------------------------


def extract_design_features(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    *,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> tuple[list[FeatureRow], list[LoopProfileRow]]:
    """Return the features and loop profiles of every design that the project's own engine made.

    Raises: ToolMissing: gcc is not installed.
    """
    by_id = {p.program_id: p for p in programs}
    items = [(by_id[d.program_id], d) for d in designs if d.status == OK and d.tool == TOOL]
    work = partial(_cached_design, cache=cache)
    known = run_all("design_features", items, work, workers=options.workers, on_progress=on_progress)
    return [k.features for k in known], [row for k in known for row in k.loops]


def _cached_design(item: tuple[ProgramRow, DesignRow], *, cache: ContentCache) -> Outcome[DesignKnowledge]:
    program, design = item
    known = cache.cached(
        "design_features",
        content_hash(design.design_id, design.suite, knowledge_version()),
        lambda: _in_folder(partial(know_design, program, design)),
        lambda stored: DesignKnowledge(
            features=FeatureRow(**stored["features"]),
            loops=tuple(LoopProfileRow(**row) for row in stored["loops"]),
        ),
        statuses=lambda made: (made.features.status,),
    )
    return Outcome(result=known, failed=known.features.status != OK, name=program.name)


def extract_run_features(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    runs: Sequence[RunRow],
    *,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> list[RunFeatureRow]:
    """Return the features of the first run of every design that the project's own engine made.

    Raises: ToolMissing: gcc is not installed.
    """
    by_id, first = {p.program_id: p for p in programs}, first_runs(designs, runs)
    items = [(by_id[d.program_id], d, first[d.design_id]) for d in designs if d.design_id in first]
    work = partial(_cached_run, cache=cache)
    return run_all("run_features", items, work, workers=options.workers, on_progress=on_progress)


def _cached_run(item: tuple[ProgramRow, DesignRow, RunRow], *, cache: ContentCache) -> Outcome[RunFeatureRow]:
    program, design, run = item
    row = cache.cached(
        "run_features",
        content_hash(design.design_id, design.suite, run.data_id, knowledge_version()),
        lambda: _in_folder(partial(know_run, program, design, seed=run.seed, identity=run.data_id)),
        lambda stored: RunFeatureRow(**stored),
        statuses=lambda made: (made.status,),
    )
    return Outcome(result=row, failed=row.status != OK, name=program.name)


def _in_folder(make: Callable[..., Any]) -> Any:
    with TemporaryDirectory() as folder:
        return make(folder=Path(folder))
