"""Profiled loop ranges: trip counts that a run counted, in place of those that the front end cannot know.

LLMulator's baseline gets "coarse-grained indicators such as loop bounds" from profiling (section 7.1).
Training reads table `loop_runs`; a question is compiled and run on the cycle model, on data drawn from its
specification. Only
ranges are taken: cycles of the run are not a feature.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from models.base import PredictorError
from models.labelled import LabelledDesign, Query
from models.scheduled import compile_query
from models.tenset_mlp.features import ProgramFacts
from pipelines.base.tools import ToolRun
from pipelines.cyclemodel import CycleModelError, build_model, run_model
from pipelines.dataset.labelling import loop_counts
from pipelines.programs import draw_data
from pipelines.schemas import DRAWN, OK, LoopRow, scan_table, table_spec

TIMEOUT_S = 120.0
Counted = tuple[str, int, int]
"""Name of a loop of the scheduled design, its iterations and its entries in a run."""


def profiled_loops(
    loops: Sequence[LoopRow], counted: Iterable[Counted], factors: Mapping[str, int]
) -> tuple[LoopRow, ...]:
    """Return the loops with the mean trips of a run, rounded, where the front end knows none.

    Args: counted: copies that transformations made are named <loop>_<suffix>. factors: copies of the body of
        a loop by its name, each of which an iteration of the scheduled loop runs.
    """
    names = sorted((loop.loop for loop in loops), key=len, reverse=True)
    iterations: dict[str, int] = defaultdict(int)
    entries: dict[str, int] = defaultdict(int)
    for name, count, entered in counted:
        own = next((n for n in names if name == n or name.startswith(f"{n}_")), None)
        if own is None:
            continue
        is_rest = name.endswith(("_e", "_epilogue"))  # what a factor leaves over, entered with the loop
        iterations[own] += count * (1 if is_rest else factors.get(own, 1))
        entries[own] += 0 if is_rest else entered
    return tuple(
        replace(loop, trip_count=round(iterations[loop.loop] / max(1, entries[loop.loop])))
        if loop.trip_count is None and loop.loop in iterations
        else loop
        for loop in loops
    )


def with_profiles(data_dir: Path, designs: Sequence[LabelledDesign]) -> list[LabelledDesign]:
    """Return the designs whose loops have profiled trips, the median over their runs on drawn data.

    A design without rows of `loop_runs` keeps its loops: it has none that the engine left a loop.
    """
    runs = scan_table(data_dir, table_spec("runs")).filter(pl.col("status") == OK)
    drawn = runs.filter(pl.col("data_kind").is_null() | (pl.col("data_kind") == DRAWN))
    rows = (
        scan_table(data_dir, table_spec("loop_runs"))
        .join(drawn.select("design_id", "data_id").unique(), on=("design_id", "data_id"))
        .select("design_id", "data_id", "loop", "iterations", "entries")
        .sort("design_id", "data_id", "loop")
        .collect()
    )
    counted: dict[str, dict[str, list[Counted]]] = defaultdict(lambda: defaultdict(list))
    for design_id, data_id, *loop in rows.iter_rows():
        counted[design_id][data_id].append((loop[0], loop[1], loop[2]))
    return [replace(d, loops=_median_loops(d, counted.get(d.design_id, {}))) for d in designs]


def _median_loops(design: LabelledDesign, runs: Mapping[str, Sequence[Counted]]) -> tuple[LoopRow, ...]:
    factors = copies_of(design.query.directives, design.loops)
    profiles = [profiled_loops(design.loops, counted, factors) for counted in runs.values()]
    if not profiles:
        return design.loops
    return tuple(
        loop if loop.trip_count is not None else replace(loop, trip_count=_median(versions))
        for loop, *versions in zip(design.loops, *profiles, strict=True)
    )


def _median(versions: Sequence[LoopRow]) -> int | None:
    known = [loop.trip_count for loop in versions if loop.trip_count is not None]
    return round(median(known)) if known else None


def copies_of(directives: str, loops: Sequence[LoopRow]) -> dict[str, int]:
    """Return the copies of the body of every loop that directives unroll."""
    trips = {loop.loop: loop.trip_count or 1 for loop in loops}
    copies: dict[str, int] = {}
    for directive in json.loads(directives):
        if directive.get("kind") in ("unroll", "parallel"):
            name = directive.get("loop", "")
            copies[name] = copies.get(name, 1) * (directive.get("value") or trips.get(name, 1))
    return copies


def profiled_facts(facts: ProgramFacts, query: Query, engine: Mapping[str, Any]) -> ProgramFacts:
    """Return the facts of a question whose loops have the trips of a run on data of seed 0.

    Raises: PredictorError: the run has no end, or the data cannot be drawn. ValueError: the engine does not
            accept the program. ToolMissing: gcc is not installed.
    """
    program, _, compiled = compile_query(query, engine)
    data = draw_data(compiled.interface, program.inputs, seed=0)
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            model = build_model(compiled, folder=folder, timeout_s=TIMEOUT_S)
        except CycleModelError as error:
            raise PredictorError(f"the program has no profile: {error}") from error
        if isinstance(model, ToolRun):
            raise PredictorError(f"the program has no profile: {model.last_words()}")
        result = run_model(model, [data], folder=folder / "run", timeout_s=TIMEOUT_S)[0]
    if result.status != OK:
        raise PredictorError(f"the program has no profile: {result.reason}")
    counted = [
        (loop.loop, loop.iterations, loop.entries)
        for loop in loop_counts(compiled.scheduled.graph, result.block_visits)
    ]
    factors = copies_of(query.directives, facts.loops)
    return replace(facts, loops=profiled_loops(facts.loops, counted, factors))
