"""Counts of what the engine gives before logic synthesis: its report, operations, schedule.

Training reads them from the tables `designs`, `features`, `loop_profiles` and, at level run, `run_features`,
all of which a release has; a question is compiled by the same engine and counted by the same functions.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from models.intervals import TRIPS_KNOWN, trips_of
from models.query import Query
from models.tasks import DatasetError
from models.trips import known_trips, source_loop
from pipelines.base.identity import canonical_json
from pipelines.c import parse_directives
from pipelines.dataset.features import PARTS, DesignKnowledge, know_design, know_run
from pipelines.hls import CompiledDesign, HlsOptions, TransformOptions, compile_program, design_row
from pipelines.programs import program_from_file
from pipelines.schemas import BOUNDS, OK, DesignRow, ProgramRow, RunFeatureRow, scan_table, table_spec

if TYPE_CHECKING:
    import polars as pl

    from models.labelled import LabelledDesign

REPORT = (
    "rtl_bytes",
    "state_count",
    "module_count",
    "multiplexer_count",
    "multiplexer_area_um2",
    "estimated_area_um2",
    "functional_unit_count",
    "register_bits",
    "memory_port_conflict_count",
)
"""Columns of `designs` that are features by their logarithm."""
ESTIMATES = {"area_um2": "estimated_area_um2", "flip_flop_count": "register_bits"}
"""Columns of `designs` with the engine's own estimate of a target."""
_SCHEDULED = {
    "area_um2": "log_estimated_area_um2",
    "flip_flop_count": "log_estimated_flip_flop_count",
    "latency_cycles": "log_estimated_cycles",
    "power_mw": "log_estimated_power_mw",
    "delay_ns": "log_critical_path_ns",
}
STARTS = {
    "text": {"latency_cycles": "log_text_cycles"},
    "static": _SCHEDULED,
    "hls": _SCHEDULED,
    "run": {**_SCHEDULED, "latency_cycles": "log_run_cycles", "power_mw": "log_run_estimated_power_mw"},
}
"""Feature by level and target: the trees of the target learn the ratio to the estimate."""
EXACT = {"latency_cycles": "trips_known"}
"""Feature of levels static and hls by target: where it is 1, the estimate counts every cycle."""
RUN_COLUMNS = (
    "cycles",
    "register_toggles",
    "memory_toggles",
    "load_count",
    "store_count",
    *(f"{part}_power_mw" for part in PARTS),
    "estimated_power_mw",
)
"""Columns of `run_features` that are features by their logarithm."""
KNOWN_COLUMNS = tuple(
    c.name
    for c in table_spec("features").columns
    if c.level == "hls" and c.name not in {*REPORT, "trips_known", "critical_path_ns"}
)
"""Columns of `features` that are features by their logarithm, beyond the report's."""


def engine_options(data_dir: Path, designs: Sequence[LabelledDesign]) -> dict[str, Any]:
    """Return the cell library and options of the engine that all designs share, for the card of a predictor.

    Raises: DatasetError: the designs differ in them.
    """
    rows = _rows_of(data_dir, designs, "designs").select("liberty", "engine_options")
    kinds = set(rows.unique().collect().iter_rows())
    if len(kinds) > 1:
        shown = "; ".join(" ".join(kind) for kind in sorted(kinds))
        raise DatasetError(f"designs of several libraries or engine options: {shown}; choose one")
    liberty, options = kinds.pop()
    return {"liberty": liberty, "engine_options": options}


def engine_estimates(data_dir: Path, designs: Sequence[LabelledDesign]) -> list[dict[str, float]]:
    """Return the engine's own estimates of every design, by target.

    Raises: DatasetError: a design has none.
    """
    rows = _design_rows(data_dir, designs)
    return [
        {target: float(rows[design.design_id][column]) for target, column in ESTIMATES.items()}
        for design in designs
    ]


def table_features(data_dir: Path, designs: Sequence[LabelledDesign], level: str) -> list[dict[str, float]]:
    """Return the features of designs from the tables, in their order.

    Args:   level: hls or run.
    Raises: DatasetError: a design has no report or no row of features; make the steps first.
    """
    reports, loops = _design_rows(data_dir, designs), _loop_rows(data_dir, designs)
    known = [_known_rows(data_dir, designs, "features")]
    if level == "run":
        known.append(_known_rows(data_dir, designs, "run_features"))
    return [
        {
            **report_features(reports[design.design_id], loops[design.design_id]),
            **knowledge_features(*(rows[design.design_id] for rows in known)),
        }
        for design in designs
    ]


def knowledge_features(design: Mapping[str, Any], run: Mapping[str, Any] | None = None) -> dict[str, float]:
    """Return the features of a row of table `features` and, at level run, one of `run_features`."""
    known = {f"log_{name}": _log_of(design[name]) for name in KNOWN_COLUMNS}
    known["trips_known"] = float(bool(design["trips_known"]))
    counted = {} if run is None else {f"log_run_{name}": _log_of(run[name]) for name in RUN_COLUMNS}
    return {**known, **counted}


def _known_rows(
    data_dir: Path, designs: Sequence[LabelledDesign], table: str
) -> dict[str, Mapping[str, Any]]:
    rows = _rows_of(data_dir, designs, table).filter(status=OK).collect()
    known: dict[str, Mapping[str, Any]] = {row["design_id"]: row for row in rows.iter_rows(named=True)}
    for design in designs:
        if design.design_id not in known:
            raise DatasetError(f"no ok row of {table}: design {design.design_id}; run again")
    return known


def _loop_rows(data_dir: Path, designs: Sequence[LabelledDesign]) -> Mapping[str, list[Mapping[str, Any]]]:
    loops: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in _rows_of(data_dir, designs, "loop_profiles").collect().iter_rows(named=True):
        loops[row["design_id"]].append(row)
    return loops


def report_features(design: Mapping[str, Any], loops: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the features of a row of table `designs` and the rows of its loops in `loop_profiles`."""
    intervals: Mapping[str, int] = json.loads(design["initiation_intervals"])
    bodies = [float(loop["interval_cycles"] or loop["iteration_cycles"]) for loop in loops]
    spent = [loop["iterations"] * body for loop, body in zip(loops, bodies, strict=True)]
    return {
        **{f"log_{name}": _log(float(design[name])) for name in REPORT},
        "log_critical_path_ns": _log_of(float(design["critical_path_ns"] or 0.0)),
        "pipelined_loops": float(len(intervals)),
        "largest_interval": float(max(intervals.values(), default=0)),
        "scheduled_loops": float(len(loops)),
        "log_entries": _log(float(sum(loop["entries"] for loop in loops))),
        "log_iterations": _log(float(sum(loop["iterations"] for loop in loops))),
        "log_longest_iteration_cycles": _log(max(bodies, default=0.0)),
        "log_longest_loop_cycles": _log(max(spent, default=0.0)),
        **{f"loops_{bounds}": float(sum(loop["bounds"] == bounds for loop in loops)) for bounds in BOUNDS},
    }


def compiled_features(query: Query, engine: Mapping[str, Any], level: str) -> dict[str, float]:
    """Return the features of a program that is compiled, and at level run is run, now.

    Args:   engine: as `engine_options` gave it. level: static, hls or run. At level static no Verilog is
            written, and cycles are expected ones.
    Raises: ValueError: the engine does not accept the program, a directive, a value or the data, or the
            program has no end. ToolMissing: gcc is not installed.
    """
    known = know_query(query, engine, level)
    loops, features, run = known.knowledge.loops, known.knowledge.features, known.run
    return {
        **report_features(asdict(known.design), [asdict(loop) for loop in loops]),
        **knowledge_features(asdict(features), None if run is None else asdict(run)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryKnowledge:
    """What the engine gives of a question; `run` at level run alone."""

    design: DesignRow
    knowledge: DesignKnowledge
    run: RunFeatureRow | None
    compiled: CompiledDesign

    @property
    def trips(self) -> str:
        """What is known of the trip counts; everything after a run."""
        if self.run is not None:
            return TRIPS_KNOWN
        loops = sum(loop.bounds == "data" for loop in self.knowledge.loops)
        return trips_of(
            {"trips_known": float(bool(self.knowledge.features.trips_known)), "loops_data": loops}
        )


def know_query(query: Query, engine: Mapping[str, Any], level: str) -> QueryKnowledge:
    """Compile a question, and at level run also run it; the last one is kept for a second predictor.

    Args, Raises: as `compiled_features`.
    """
    return _known_query(query, question_options(query, engine), level)


@lru_cache(maxsize=1)
def _known_query(query: Query, options: HlsOptions, level: str) -> QueryKnowledge:
    is_static = level == "static"
    program, design, compiled = _compiled(query, options, writes_verilog=not is_static)
    with TemporaryDirectory() as name:
        folder = Path(name)
        trips = scheduled_trips(query, compiled)
        knowledge = know_design(
            program, design, folder=folder, compiled=compiled, trips=trips, is_expected=is_static
        )
        run = None
        if level == "run":
            run = know_run(program, design, seed=0, identity="", folder=folder, compiled=compiled)
    knowledge = _with_late_loop(knowledge)
    for row in (knowledge.features, run):
        if row is not None and row.status != OK:
            raise ValueError(f"the program has no estimate: {row.reason}")
    return QueryKnowledge(design=design, knowledge=knowledge, run=run, compiled=compiled)


def _with_late_loop(knowledge: DesignKnowledge) -> DesignKnowledge:
    """Return the knowledge of a design without the trips of the loop at which the estimate stopped."""
    late = knowledge.late_loop
    if late is None:
        return knowledge
    loops = (replace(row, bounds="data") if row.loop == late else row for row in knowledge.loops)
    features = replace(knowledge.features, trips_known=False)
    return replace(knowledge, features=features, loops=tuple(loops))


def scheduled_trips(query: Query, compiled: CompiledDesign) -> dict[str, float]:
    """Return known mean iterations per entry of a design's loops; directives may have copied their bodies."""
    known = known_trips(query)
    names = {block.loop for block in compiled.scheduled.graph.blocks if block.loop}
    factors: Counter[str] = Counter()
    for directive in json.loads(query.directives):
        if directive.get("kind") in ("unroll", "parallel") and directive.get("value"):
            factors[directive.get("loop", "")] += directive["value"]
    pairs = {name: source_loop(name, known) for name in names}
    return {
        name: max(1.0, known[own] / max(1, factors[own])) for name, own in pairs.items() if own is not None
    }


def question_options(query: Query, engine: Mapping[str, Any]) -> HlsOptions:
    """Return the configuration of high-level synthesis of a question.

    Args:   engine: as `engine_options` gave it.
    Raises: ValueError: a directive or a value is not accepted.
    """
    permissions: dict[str, Any] = json.loads(engine["engine_options"])
    limits: dict[str, int] = permissions.pop("unit_limits", {})
    permissions["unsafe_math"] = query.unsafe_math or permissions.get("unsafe_math", False)
    return HlsOptions(
        memory_read_delay_cycles=query.memory_read_delay_cycles,
        memory_write_delay_cycles=query.memory_write_delay_cycles,
        directives=parse_directives(query.directives),
        clock_period_ns=query.clock_period_ns,
        liberty=engine["liberty"],
        transforms=TransformOptions(**permissions),
        unit_limits=tuple(sorted(limits.items())),
    )


def compile_query(query: Query, engine: Mapping[str, Any]) -> tuple[ProgramRow, DesignRow, CompiledDesign]:
    """Compile the design of a question, by the engine of the training designs.

    Args:   engine: as `engine_options` gave it.
    Raises: ValueError: the engine does not accept the program, a directive or a value.
    """
    return _compiled(query, question_options(query, engine))


def _is_constant(specification: Mapping[str, Any], value: float) -> bool:
    """Tell whether a specification has a value with more digits than data in short, which have four."""
    exact = specification.get("value") if specification.get("kind") == "constant" else None
    return isinstance(exact, int | float) and math.isclose(exact, value, rel_tol=1e-3)


def _compiled(
    query: Query, options: HlsOptions, writes_verilog: bool = True
) -> tuple[ProgramRow, DesignRow, CompiledDesign]:
    program = program_from_file(Path("program.c"), top=query.top, source=query.source)
    inputs: dict[str, Any] = json.loads(query.inputs)
    inputs |= {
        name: {"kind": "constant", "value": value}
        for name, value in query.scalars.items()
        if not _is_constant(inputs.get(name, {}), value)
    }
    program = replace(program, inputs=canonical_json(inputs))
    compiled = compile_program(query.source, top=query.top, options=options, writes_verilog=writes_verilog)
    return program, design_row(program, options, compiled, 0.0), compiled


def _design_rows(data_dir: Path, designs: Sequence[LabelledDesign]) -> dict[str, dict[str, Any]]:
    rows = list(_rows_of(data_dir, designs, "designs").collect().iter_rows(named=True))
    for row in rows:
        if any(row[name] is None for name in REPORT):
            raise DatasetError(f"no report of high-level synthesis: design {row['design_id']}")
    return {row["design_id"]: row for row in rows}


def _rows_of(data_dir: Path, designs: Sequence[LabelledDesign], table: str) -> pl.LazyFrame:
    import polars as pl  # lazy import: takes 0.15 s, and a question reads no table

    chosen = pl.col("design_id").is_in([design.design_id for design in designs])
    return scan_table(data_dir, table_spec(table)).filter(chosen)


def _log(value: float) -> float:
    return math.log(max(1.0, value))


def _log_of(value: float | None) -> float:
    """Return logarithm of a count, at least 0, or of a power in mW or a time in ns, at least that of 1e-6."""
    if value is None:
        return 0.0
    return math.log(value + 1e-6) if isinstance(value, float) else _log(value)
