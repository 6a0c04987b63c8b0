"""What a trained predictor costs: parameters, time of training, time of one question."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from models.base import TrainOutcome
from models.labelled import Query
from models.leaderboard import Prediction
from pipelines.dataset.splits import EVALUATION
from pipelines.schemas import PredictorCostRow, scan_table, table_spec

TIMED_QUESTIONS = 3
_CONFIGURATION = ("memory_read_delay_cycles", "memory_write_delay_cycles", "clock_period_ns", "directives")


def design_families(data_dirs: Sequence[Path], predictions: Sequence[Prediction]) -> dict[str, str]:
    """Return suite of the program of every predicted design; none for predictions that are not of designs."""
    chosen = pl.Series(sorted({p.design_id for p in predictions}), dtype=pl.String).implode()
    rows = scan_table(data_dirs[0], table_spec("designs")).filter(pl.col("design_id").is_in(chosen))
    return dict(rows.select("design_id", "suite").collect().iter_rows())


def design_queries(
    data_dirs: Sequence[Path], predictions: Sequence[Prediction]
) -> dict[str, tuple[str, Query]]:
    """Return the name of the program, and the question, of every design of the evaluation part.

    Without such a part, of the test part. Predictions that are not of designs have none.
    """
    parts = {p.design_id: p.part for p in predictions if p.part in (EVALUATION, "test")}
    has_evaluation = EVALUATION in parts.values()
    chosen = [key for key, part in parts.items() if part == EVALUATION or not has_evaluation]
    if not chosen:
        return {}
    designs = scan_table(data_dirs[0], table_spec("designs"))
    programs = scan_table(data_dirs[0], table_spec("programs"))
    rows = (
        designs.filter(pl.col("design_id").is_in(pl.Series(chosen).implode()))
        .select("design_id", "program_id", *_CONFIGURATION)
        .join(programs.select("program_id", "name", "source", "top", "inputs"), on="program_id")
        .sort("name", "design_id")
        .collect()
    )
    fields = ("source", "top", "inputs", *_CONFIGURATION)
    return {
        row["design_id"]: (row["name"], Query(**{field: row[field] for field in fields}))
        for row in rows.iter_rows(named=True)
    }


def measure_costs(
    outcome: TrainOutcome,
    load: Callable[[Path], Any],
    queries: Sequence[Query],
    training_wall_s: float,
) -> PredictorCostRow:
    """Return the costs of an outcome.

    Args:
        load: the predictor of a folder.
        queries: of which some are asked, each of another program, one at a time.
    """
    first = list({query.source: query for query in queries}.values())
    count = outcome.summary.get("parameter_count")
    with _preserved_random_state():
        predict_wall_s = question_time_s(load(outcome.folder), first) if first else None
    return PredictorCostRow(
        predictor=outcome.predictor,
        version=outcome.key,
        level=outcome.level,
        parameter_count=None if count is None else int(count),
        training_wall_s=training_wall_s,
        predict_wall_s=predict_wall_s,
    )


def _preserved_random_state() -> AbstractContextManager[Any]:
    """Return a context that restores torch's random state: networks draw weights before they load any."""
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.random.fork_rng(devices=[])


def question_time_s(predictor: Any, queries: Sequence[Query]) -> float:
    """Return median time of a question after a first one that loads code. queries: of different programs."""
    asked = queries[: TIMED_QUESTIONS + 1]
    times: list[float] = []
    for query in asked:
        started_s = time.perf_counter()
        predictor.predict([query])
        times.append(time.perf_counter() - started_s)
    return median(times[1:] or times)
