"""Examples: labelled designs with each of their runs, as blocks of a prompt and labels of five metrics."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from models.labelled import LabelledDesign, training_designs
from models.numeric_lm import TrainOptions
from models.query import POWER, Query
from models.scheduled import compiled_features, engine_options, table_features
from models.tasks import DatasetError
from models.tenset_mlp.features import facts_of, features_of
from models.trips import with_trips
from pipelines.dataset.features import extract_loops
from pipelines.dataset.records import (
    DATA_SUMMARY,
    RecordError,
    run_data,
    summarise_data,
    summarise_rows,
)
from pipelines.programs import program_from_file
from pipelines.schemas import DRAWN, OK, LoopRow, ProgramRow, read_table, scan_table, table_spec

DELAY = "delay_ns"
CYCLES = "latency_cycles"
SWEEP = "sweep"
"""Kind of data sets with swept scalars, see `pipelines.schemas.DATA_KINDS`."""
STAGES = ("ast", "dataflow", "llm")
"""Stages of programs in the order of the curriculum (LLMulator section 6.1)."""
ESTIMATE_FEATURES = {
    "area_um2": "estimated_area_um2",
    "flip_flop_count": "estimated_flip_flop_count",
    CYCLES: "estimated_cycles",
    DELAY: "critical_path_ns",
    POWER: "estimated_power_mw",
}
"""Feature of level hls with the engine's own estimate, by target."""
RUN_ESTIMATE_FEATURES = {**ESTIMATE_FEATURES, CYCLES: "run_cycles", POWER: "run_estimated_power_mw"}
"""The same at level run, which counts cycles and toggles."""
_COMPILED = ("hls", "run")
_LEAST_ESTIMATE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One run of a labelled design.

    Attributes:
        query: with the run-time data of the run. labels: by target; absent where unknown.
        features: of the level, as plain numbers. stage: of the program.
        is_drawn: the run that every predictor is judged on; the others have further data sets.
    """

    design: LabelledDesign
    stage: str
    query: Query
    labels: Mapping[str, float]
    features: Mapping[str, float]
    is_drawn: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelData:
    """Examples of a level, and what a question needs to get the same features.

    Attributes:
        liberty: cell library of the designs. engine: options of high-level synthesis, at levels hls and run.
    """

    examples: tuple[Example, ...]
    liberty: str
    engine: Mapping[str, Any]


def load_examples(data_dirs: Sequence[Path], options: TrainOptions, level: str) -> LevelData:
    """Load every run of every labelled design on a frozen split.

    Without runs on swept scalars at level hls, as the tables have the estimates at the program's own scalars.
    At level run the one run that table `run_features` counts, of designs with an area.

    Raises: DatasetError: the tables cannot be trained on. SchemaError: a table file is damaged.
    """
    designs = training_designs(data_dirs, options)
    folder = data_dirs[0]
    counted: dict[str, str] = {}
    if level == "run":
        designs = tuple(design for design in designs if "area_um2" in design.labels)
        counted = _counted_runs(folder)
    engine = engine_options(folder, designs)
    features = _table_features(folder, designs, level)
    programs = {row.program_id: row for row in read_table(folder, table_spec("programs"))}
    runs = _runs(folder)
    summaries = _Summaries(programs, _inputs(folder))
    examples: list[Example] = []
    for design, known in zip(designs, features, strict=True):
        labels = {n: v for n, v in design.labels.items() if n not in (POWER, CYCLES)}
        for run in runs[design.design_id]:
            if (level == "hls" and run["data_kind"] == SWEEP) or (
                level == "run" and run["data_id"] != counted[design.design_id]
            ):
                continue
            examples.append(
                Example(
                    design=design,
                    stage=programs[design.program_id].stage,
                    query=replace(design.query, data=summaries.of(design.program_id, run)),
                    labels={**labels, **_of_run(run)},
                    features=known,
                    is_drawn=run["data_kind"] in (None, DRAWN),
                )
            )
    return LevelData(examples=tuple(examples), liberty=engine["liberty"], engine=engine)


def question_features(query: Query, level: str, engine: Mapping[str, Any]) -> dict[str, float]:
    """Return the features of a question at a level of information, as plain numbers by name.

    Raises: ValueError: the front end or the engine does not accept the program or its configuration.
    """
    if level == "text":
        return {}
    if level == "static":
        facts = _facts(query.source, query.top)
        return plain_features(features_of(replace(facts, loops=with_trips(facts.loops, query)), query))
    known = replace(query, data=json.dumps(query.scalars, sort_keys=True))
    if level == "hls":
        known = replace(known, inputs="{}")
    return dict(_compiled(known, level, tuple(sorted(engine.items()))))


@lru_cache(maxsize=64)
def _compiled(query: Query, level: str, engine: tuple[tuple[str, Any], ...]) -> Mapping[str, float]:
    """Return the values of arrays change nothing, so repeated questions about a design compile it once."""
    return plain_features(compiled_features(query, dict(engine), level))


def question_loops(query: Query) -> tuple[LoopRow, ...]:
    """Return the loops of a question's program. Raises: ValueError: the front end does not accept it."""
    return with_trips(_loops(query.source, query.top), query)


@lru_cache(maxsize=4096)
def _loops(source: str, top: str) -> tuple[LoopRow, ...]:
    return tuple(extract_loops(program_from_file(Path("program.c"), top=top, source=source)))


def estimates_of(features: Mapping[str, float]) -> dict[str, float]:
    """Return the engine's own estimates by target, at levels hls and run; none at another level."""
    if ESTIMATE_FEATURES["area_um2"] not in features:
        return {}
    names = RUN_ESTIMATE_FEATURES if RUN_ESTIMATE_FEATURES[CYCLES] in features else ESTIMATE_FEATURES
    return {target: max(_LEAST_ESTIMATE, features.get(name, 0.0)) for target, name in names.items()}


_facts = lru_cache(maxsize=4096)(facts_of)


def _table_features(
    folder: Path, designs: Sequence[LabelledDesign], level: str
) -> Iterator[Mapping[str, float]]:
    if level in _COMPILED:
        yield from map(plain_features, table_features(folder, designs, level))
        return
    for design in designs:
        try:
            yield question_features(design.query, level, {})
        except ValueError as error:
            raise DatasetError(f"no features of design {design.design_id}: {error}") from error


def plain_features(features: Mapping[str, float]) -> dict[str, float]:
    """Return features without logarithms, with the digits of the program and the report."""
    plain: dict[str, float] = {}
    for name, value in features.items():
        if name.startswith("log2_"):
            plain[name.removeprefix("log2_")] = 2.0**value - (1.0 if "product" not in name else 0.0)
        elif name.startswith("log_"):
            number = math.exp(value)
            plain[name.removeprefix("log_")] = 0.0 if value == 0.0 else number
        else:
            plain[name] = value
    return plain


def _counted_runs(folder: Path) -> dict[str, str]:
    """Return the data of the run behind the features of level run, by design."""
    rows = scan_table(folder, table_spec("run_features")).filter(pl.col("status") == OK)
    return dict(rows.select("design_id", "data_id").collect().iter_rows())


def _runs(folder: Path) -> dict[str, list[dict[str, Any]]]:
    columns = ("design_id", "data_id", "data_kind", "seed", CYCLES, POWER, "power_status")
    rows = scan_table(folder, table_spec("runs")).filter(pl.col("status") == OK)
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.select(columns).sort("design_id", "data_id", "seed").collect().iter_rows(named=True):
        runs[row["design_id"]].append(row)
    return runs


def _of_run(run: Mapping[str, Any]) -> dict[str, float]:
    power = run[POWER] if run["power_status"] == OK else None
    return {CYCLES: float(run[CYCLES]), **({POWER: float(power)} if power else {})}


def _inputs(folder: Path) -> dict[tuple[str, str], str]:
    """Return the data sets in short, by suite and identity; none for a release that lacks the table."""
    if not any((folder / "tables" / "inputs").glob("*.parquet")):
        return {}
    rows: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    columns = ("suite", "data_id", "argument", "shape", "values", *DATA_SUMMARY)
    for row in scan_table(folder, table_spec("inputs")).select(columns).collect().iter_rows(named=True):
        rows[row["suite"], row["data_id"]].append(row)
    return {key: summarise_rows(own) for key, own in rows.items()}


class _Summaries:
    """Run-time data in short: from table `inputs`, else drawn once per program and data set."""

    def __init__(self, programs: Mapping[str, ProgramRow], inputs: Mapping[tuple[str, str], str]) -> None:
        self._programs, self._inputs = programs, inputs
        self._known: dict[tuple[str, str, int], str] = {}

    def of(self, program_id: str, run: Mapping[str, Any]) -> str:
        """Return the summary of a run's data.

        Raises: DatasetError: the program has no such data set.
        """
        program = self._programs[program_id]
        stored = self._inputs.get((program.suite, run["data_id"]))
        if stored is not None:
            return stored
        key = (program_id, run["data_id"], run["seed"])
        if key not in self._known:
            try:
                self._known[key] = summarise_data(
                    run_data(program, kind=run["data_kind"], seed=run["seed"], identity=run["data_id"])
                )
            except RecordError as error:
                raise DatasetError(f"no run-time data of design {run['design_id']}: {error}") from error
        return self._known[key]
