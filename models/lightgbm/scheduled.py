"""Counts of what high-level synthesis gives before logic synthesis: its report, operations, schedule.

Training reads them from the tables `designs`, `cdfg_nodes`, `features` and, at level run, `run_features`; a
question is compiled by the same engine and counted by the same functions.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from models.labelled import LabelledDesign, Query
from models.tasks import DatasetError
from pipelines.features import (
    KIND_OF,
    OPERATIONS,
    PARTS,
    extract_loops,
    graph_rows,
    know_design,
    know_run,
)
from pipelines.hls import (
    CompiledDesign,
    HlsOptions,
    TransformOptions,
    compile_program,
    design_row,
    parse_directives,
)
from pipelines.programs import program_from_file
from pipelines.schemas import OK, DesignRow, LoopRow, ProgramRow, scan_table, table_spec

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
STARTS = {
    "hls": {
        "area_um2": "log_estimated_area_um2",
        "flip_flop_count": "log_estimated_flip_flop_count",
        "latency_cycles": "log_estimated_cycles",
        "power_mw": "log_estimated_power_mw",
    },
    "run": {
        "area_um2": "log_estimated_area_um2",
        "flip_flop_count": "log_estimated_flip_flop_count",
        "latency_cycles": "log_run_cycles",
        "power_mw": "log_run_estimated_power_mw",
    },
}
"""Feature by level and target: the trees of the target learn the ratio to the estimate."""
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
"""Columns of `features` that are features by their logarithm, beyond those of the report."""
UNKNOWN_TRIPS = 8.0
"""Iterations of a loop whose bound is data, as in the table `program_facts`."""
_COLUMNS = ("design_id", "block", "opcode", "width_bits", "start_cycle", "loop")


def engine_options(data_dir: Path, designs: Sequence[LabelledDesign]) -> dict[str, Any]:
    """Cell library and options of the engine that all designs share, for the card of a predictor.

    Raises: DatasetError: the designs differ in them.
    """
    rows = _design_rows(data_dir, designs)
    kinds = {(row["liberty"], row["engine_options"]) for row in rows.values()}
    if len(kinds) > 1:
        shown = "; ".join(" ".join(kind) for kind in sorted(kinds))
        raise DatasetError(f"designs of several libraries or engine options: {shown}; choose one")
    liberty, options = kinds.pop()
    return {"liberty": liberty, "engine_options": options}


def engine_estimates(data_dir: Path, designs: Sequence[LabelledDesign]) -> list[dict[str, float]]:
    """The engine's own estimates of every design, by target.

    Raises: DatasetError: a design has none.
    """
    rows = _design_rows(data_dir, designs)
    return [
        {target: float(rows[design.design_id][column]) for target, column in ESTIMATES.items()}
        for design in designs
    ]


def table_features(data_dir: Path, designs: Sequence[LabelledDesign], level: str) -> list[dict[str, float]]:
    """Features of designs from the tables, in their order.

    Args:   level: hls or run.
    Raises: DatasetError: a design has no report, no graph or no row of features; make the steps first.
    """
    graphs = report_features(data_dir, designs)
    known = [_known_rows(data_dir, designs, "features")]
    if level == "run":
        known.append(_known_rows(data_dir, designs, "run_features"))
    return [
        {**graph, **knowledge_features(*(rows[design.design_id] for rows in known))}
        for graph, design in zip(graphs, designs, strict=True)
    ]


def knowledge_features(design: Mapping[str, Any], run: Mapping[str, Any] | None = None) -> dict[str, float]:
    """Features of a row of table `features` and, at level run, one of `run_features`."""
    known = {f"log_{name}": _log_of(design[name]) for name in KNOWN_COLUMNS}
    known["trips_known"] = float(bool(design["trips_known"]))
    counted = {} if run is None else {f"log_run_{name}": _log_of(run[name]) for name in RUN_COLUMNS}
    return {**known, **counted}


def _known_rows(
    data_dir: Path, designs: Sequence[LabelledDesign], table: str
) -> dict[str, Mapping[str, Any]]:
    chosen = pl.col("design_id").is_in([design.design_id for design in designs])
    rows = scan_table(data_dir, table_spec(table)).filter(chosen, pl.col("status") == OK).collect()
    known: dict[str, Mapping[str, Any]] = {row["design_id"]: row for row in rows.iter_rows(named=True)}
    for design in designs:
        if design.design_id not in known:
            raise DatasetError(f"no ok row of {table}: design {design.design_id}; run again")
    return known


def report_features(data_dir: Path, designs: Sequence[LabelledDesign]) -> list[dict[str, float]]:
    """Features of the report and the graph of designs, in their order.

    Raises: DatasetError: a design has no report or no graph.
    """
    rows = _design_rows(data_dir, designs)
    nodes = scan_table(data_dir, table_spec("cdfg_nodes")).select(_COLUMNS)
    blocks = _blocks_by_design(nodes.filter(pl.col("design_id").is_in(list(rows))).collect())
    features: list[dict[str, float]] = []
    for design in designs:
        if design.design_id not in blocks:
            raise DatasetError(f"no rows of cdfg_nodes: design {design.design_id}; run again")
        row, own = rows[design.design_id], blocks[design.design_id]
        features.append(_features(row, own, design.loops, design.query.directives))
    return features


def compiled_features(query: Query, engine: Mapping[str, Any], level: str) -> dict[str, float]:
    """Features of a program that is compiled, and at level run is run, now.

    Args:   engine: as `engine_options` gave it. level: hls or run.
    Raises: ValueError: the engine does not accept the program, a directive, a value or the data, or the
            program has no end. ToolMissing: gcc is not installed.
    """
    program, design, compiled = compile_query(query, engine)
    nodes = [asdict(node) for node in graph_rows(design, compiled)[0]]
    frame = pl.DataFrame(nodes, infer_schema_length=None).select(_COLUMNS)
    blocks = _blocks_by_design(frame)[design.design_id]
    features = _features(asdict(design), blocks, extract_loops(program), query.directives)
    with TemporaryDirectory() as name:
        folder = Path(name)
        known = know_design(program, design, folder=folder, compiled=compiled).features
        run = None
        if level == "run":
            run = know_run(program, design, seed=0, identity="", folder=folder, compiled=compiled)
    for row in (known, run):
        if row is not None and row.status != OK:
            raise ValueError(f"the program has no estimate: {row.reason}")
    return {**features, **knowledge_features(asdict(known), None if run is None else asdict(run))}


def compile_query(query: Query, engine: Mapping[str, Any]) -> tuple[ProgramRow, DesignRow, CompiledDesign]:
    """The design of a question, by the engine of the training designs.

    Args:   engine: as `engine_options` gave it.
    Raises: ValueError: the engine does not accept the program, a directive or a value.
    """
    permissions: dict[str, Any] = json.loads(engine["engine_options"])
    limits: dict[str, int] = permissions.pop("unit_limits", {})
    options = HlsOptions(
        memory_read_delay_cycles=query.memory_read_delay_cycles,
        memory_write_delay_cycles=query.memory_write_delay_cycles,
        directives=parse_directives(query.directives),
        clock_period_ns=query.clock_period_ns,
        liberty=engine["liberty"],
        transforms=TransformOptions(**permissions),
        unit_limits=tuple(sorted(limits.items())),
    )
    program = program_from_file(Path("program.c"), top=query.top, source=query.source)
    program = replace(program, inputs=query.inputs)
    compiled = compile_program(query.source, top=query.top, options=options)
    return program, design_row(program, options, compiled, 0.0), compiled


def _design_rows(data_dir: Path, designs: Sequence[LabelledDesign]) -> dict[str, dict[str, Any]]:
    chosen = pl.col("design_id").is_in([design.design_id for design in designs])
    rows = scan_table(data_dir, table_spec("designs")).filter(chosen).collect()
    for row in rows.filter(pl.any_horizontal(pl.col(*REPORT).is_null())).head(1).iter_rows(named=True):
        raise DatasetError(f"no report of high-level synthesis: design {row['design_id']}")
    return {row["design_id"]: row for row in rows.iter_rows(named=True)}


def _blocks_by_design(nodes: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Length, loop, operations and their bits, by kind, of every block of every design."""
    kinds = pl.col("opcode").replace_strict(KIND_OF, default=None, return_dtype=pl.String)
    counts = [(pl.col("kind") == kind).sum().alias(kind) for kind in OPERATIONS]
    bits = [
        pl.col("width_bits").filter(pl.col("kind") == kind).sum().alias(f"{kind}_bits") for kind in OPERATIONS
    ]
    rows = (
        nodes.with_columns(kind=kinds)
        .group_by("design_id", "block", maintain_order=True)
        .agg((pl.col("start_cycle").max() + 1).alias("length"), pl.col("loop").first(), *counts, *bits)
    )
    blocks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        blocks[row["design_id"]].append(row)
    return blocks


def _features(
    design: Mapping[str, Any],
    blocks: Sequence[Mapping[str, Any]],
    loops: Iterable[LoopRow],
    directives: str,
) -> dict[str, float]:
    """Features of a design from its row, its blocks, and the loops and directives of its source."""
    intervals: dict[str, int] = json.loads(design["initiation_intervals"])
    executions = list(executions_of((block["loop"] for block in blocks), loops, directives))
    lengths = [float(intervals.get(block["loop"] or "") or block["length"]) for block in blocks]
    cycles = sum(count * length for count, length in zip(executions, lengths, strict=True))
    totals = {
        name: float(sum(block[name] for block in blocks))
        for kind in OPERATIONS
        for name in (kind, f"{kind}_bits")
    }
    executed = {
        kind: sum(count * block[f"{kind}_bits"] for count, block in zip(executions, blocks, strict=True))
        for kind in OPERATIONS
    }
    return {
        **{f"log_{name}": _log(float(design[name])) for name in REPORT},
        "critical_path_ns": float(design["critical_path_ns"] or 0.0),
        "block_count": float(len(blocks)),
        "longest_block_cycles": float(max(block["length"] for block in blocks)),
        "pipelined_loops": float(len(intervals)),
        "largest_interval": float(max(intervals.values(), default=0)),
        "log_scheduled_cycles": _log(cycles),
        **{f"log_{name}": _log(value) for name, value in totals.items()},
        **{f"{kind}_bits_per_cycle": value / max(1.0, cycles) for kind, value in executed.items()},
    }


def executions_of(
    block_loops: Iterable[str | None], loops: Iterable[LoopRow], directives: str
) -> Iterator[float]:
    """How often each block is executed, by the trip counts of the loops around it.

    Args: block_loops: innermost loop of each block, None for a block in no loop.

    The engine names a copy of a loop <loop>_u<number>, and the loop that runs the remaining iterations
    <loop>_epilogue or <loop>_e; these count as one iteration.
    """
    known = {loop.loop_index: loop for loop in loops}
    by_name = {loop.loop: loop for loop in known.values()}
    factors: dict[str, int] = defaultdict(lambda: 1)
    for directive in json.loads(directives):
        if directive["kind"] in ("unroll", "parallel"):
            factors[directive.get("loop", "")] *= directive.get("value") or 1
    for block_loop in block_loops:
        name, _, suffix = (block_loop or "").partition("_")
        loop, count = by_name.get(name), 1.0
        if loop is not None and suffix.endswith(("e", "epilogue")):
            loop = known.get(loop.parent_index) if loop.parent_index is not None else None
        while loop is not None:
            trips = UNKNOWN_TRIPS if loop.trip_count is None else loop.trip_count
            count *= max(1.0, trips / factors[loop.loop])
            loop = known.get(loop.parent_index) if loop.parent_index is not None else None
        yield count


def _log(value: float) -> float:
    return math.log(max(1.0, value))


def _log_of(value: float | None) -> float:
    """Logarithm of a count, at least 0, or of a power in mW, at least that of 1 nW."""
    if value is None:
        return 0.0
    return math.log(value + 1e-6) if isinstance(value, float) else _log(value)
