"""Counts of what high-level synthesis gives before logic synthesis: its report, operations, schedule.

Training reads them from the tables `designs` and `cdfg_nodes`; a question is compiled by the same engine and
counted by the same functions.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from models.labelled import LabelledDesign, Query
from models.tasks import DatasetError
from pipelines.features import extract_loops, graph_rows
from pipelines.hls import HlsOptions, TransformOptions, compile_program, design_row, parse_directives
from pipelines.programs import program_from_file
from pipelines.schemas import LoopRow, scan_table, table_spec

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
OPERATIONS = {
    "read": ("read",),
    "write": ("write",),
    "load": ("load",),
    "store": ("store",),
    "add": ("add", "sub", "neg", "abs"),
    "multiply": ("mul",),
    "divide": ("div", "divc", "rem", "sqrt"),
    "compare": ("lt", "le", "gt", "ge", "eq", "ne"),
    "logic": ("and", "or", "xor", "not"),
    "shift": ("shl", "shr"),
    "select": ("select",),
    "cast": ("cast",),
}
"""Opcodes of `cdfg_nodes` by kind of operation."""
ESTIMATES = {"area_um2": "estimated_area_um2", "flip_flop_count": "register_bits"}
"""Columns of `designs` with the engine's own estimate of a target."""
STARTS = {target: f"log_{column}" for target, column in ESTIMATES.items()}
"""Feature by target: the trees of the target learn the ratio to the estimate."""
UNKNOWN_TRIPS = 8.0
"""Iterations of a loop whose bound is data, as in the table `program_facts`."""
_KIND_OF = {opcode: kind for kind, opcodes in OPERATIONS.items() for opcode in opcodes}
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


def table_features(data_dir: Path, designs: Sequence[LabelledDesign]) -> list[dict[str, float]]:
    """Features of designs from the tables, in their order.

    Raises: DatasetError: a design has no report or no graph; make the step `features` first.
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


def compiled_features(query: Query, engine: Mapping[str, Any]) -> dict[str, float]:
    """Features of a program that is compiled now.

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
    compiled = compile_program(query.source, top=query.top, options=options)
    design = design_row(program, options, compiled, 0.0)
    nodes = [asdict(node) for node in graph_rows(design, compiled)[0]]
    frame = pl.DataFrame(nodes, infer_schema_length=None).select(_COLUMNS)
    blocks = _blocks_by_design(frame)[design.design_id]
    return _features(asdict(design), blocks, extract_loops(program), query.directives)


def _design_rows(data_dir: Path, designs: Sequence[LabelledDesign]) -> dict[str, dict[str, Any]]:
    chosen = pl.col("design_id").is_in([design.design_id for design in designs])
    rows = scan_table(data_dir, table_spec("designs")).filter(chosen).collect()
    for row in rows.filter(pl.any_horizontal(pl.col(*REPORT).is_null())).head(1).iter_rows(named=True):
        raise DatasetError(f"no report of high-level synthesis: design {row['design_id']}")
    return {row["design_id"]: row for row in rows.iter_rows(named=True)}


def _blocks_by_design(nodes: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Length, loop, operations and their bits, by kind, of every block of every design."""
    kinds = pl.col("opcode").replace_strict(_KIND_OF, default=None, return_dtype=pl.String)
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
    executions = list(_executions(blocks, loops, directives))
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


def _executions(
    blocks: Sequence[Mapping[str, Any]], loops: Iterable[LoopRow], directives: str
) -> Iterator[float]:
    """How often each block is executed, by the trip counts of the loops around it.

    The engine names a copy of a loop <loop>_u<number>, and the loop that runs the remaining iterations
    <loop>_epilogue or <loop>_e; these count as one iteration.
    """
    known = {loop.loop_index: loop for loop in loops}
    by_name = {loop.loop: loop for loop in known.values()}
    factors: dict[str, int] = defaultdict(lambda: 1)
    for directive in json.loads(directives):
        if directive["kind"] in ("unroll", "parallel"):
            factors[directive.get("loop", "")] *= directive.get("value") or 1
    for block in blocks:
        name, _, suffix = (block["loop"] or "").partition("_")
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
