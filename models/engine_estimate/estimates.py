"""Estimates of designs: from the tables where they are, from a compilation for a question.

The tables `features` and `run_features` follow from programs, designs and runs. Where they are missing, as in
release v1, the report in table `designs` gives area, register bits and the longest path, and other targets
have no estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from models.base import Estimate, PredictorError
from models.catalogue import Trained, TrainingInput
from models.engine_estimate import TrainOptions
from models.labelled import ALL_TARGETS, LabelledDesign, Query, training_designs
from models.leaderboard import Prediction
from models.lightgbm.scheduled import compile_query, engine_options
from models.model_files import ModelFiles
from models.tasks import DatasetError
from pipelines.features import know_design, know_run
from pipelines.schemas import OK, scan_table, table_spec

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "designs": {
        "area_um2": "estimated_area_um2",
        "flip_flop_count": "register_bits",
        "delay_ns": "critical_path_ns",
    },
    "features": {
        "area_um2": "estimated_area_um2",
        "flip_flop_count": "estimated_flip_flop_count",
        "latency_cycles": "estimated_cycles",
        "power_mw": "estimated_power_mw",
        "delay_ns": "critical_path_ns",
    },
    "run_features": {"latency_cycles": "cycles", "power_mw": "estimated_power_mw"},
}
"""Column with the estimate of each target, by table; later tables are better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEstimate:
    """Answers queries with the engine's estimates. Satisfies `models.base.Predictor`.

    Attributes: level: hls or run. engine: options of high-level synthesis.
    """

    level: str
    engine: Mapping[str, Any]

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return ALL_TARGETS

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """One estimate per query, in order.

        Raises: PredictorError: a query cannot be compiled or run; the message names its row, from 0.
        """
        estimates: list[Estimate] = []
        for place, query in enumerate(queries):
            try:
                values = self._values(query)
            except ValueError as error:
                raise PredictorError(f"row {place}: {error}") from error
            estimates.append(Estimate(values=values, confidence=1.0, outside_training=()))
        return estimates

    def _values(self, query: Query) -> dict[str, float]:
        program, design, compiled = compile_query(query, self.engine)
        with TemporaryDirectory() as name:
            folder = Path(name)
            rows: dict[str, Any] = {
                "features": know_design(program, design, folder=folder, compiled=compiled).features
            }
            if self.level == "run":
                rows["run_features"] = know_run(
                    program, design, seed=0, identity="", folder=folder, compiled=compiled
                )
        for row in rows.values():
            if row.status != OK:
                raise PredictorError(f"the program has no estimate: {row.reason}")
        return _joined({table: asdict(row) for table, row in rows.items()})


def _joined(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Estimates by target of the rows of one design, by table."""
    return {
        target: float(row[column])
        for table, row in rows.items()
        for target, column in COLUMNS[table].items()
        if row[column] is not None
    }


def load(files: ModelFiles) -> EngineEstimate:
    """The predictor of its files."""
    return EngineEstimate(level=files.card["level"], engine=files.card["engine"])


def train_hls(data: TrainingInput) -> Trained:
    """Compare estimates after high-level synthesis. Raises: DatasetError: there are no labels."""
    return _compare(data, "hls", ("designs", "features"))


def train_run(data: TrainingInput) -> Trained:
    """Compare estimates after a run. Raises: DatasetError: there are no labels, or no `run_features`."""
    return _compare(data, "run", ("designs", "features", "run_features"))


def _compare(data: TrainingInput, level: str, tables: Sequence[str]) -> Trained:
    options: TrainOptions = data.options
    folder = data.data_dirs[0]
    designs = training_designs(data.data_dirs, options)
    estimates = table_estimates(folder, designs, tables)
    if level == "run" and not _has(folder, "run_features"):
        raise DatasetError("no table run_features: estimates at level run need it; make the step first")
    return Trained(
        files=ModelFiles(card={"level": level, "engine": engine_options(folder, designs)}, arrays={}),
        seen_groups=(),
        summary={"parameter_count": 0.0, "train_designs": 0.0},
        predictions=_predictions(designs, estimates),
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


def _has(folder: Path, table: str) -> bool:
    return any((folder / "tables" / table).glob("*.parquet"))


def table_estimates(
    folder: Path, designs: Sequence[LabelledDesign], tables: Sequence[str]
) -> list[dict[str, float]]:
    """Estimates by target of designs, in their order, from those of the tables that there are."""
    chosen = pl.Series([design.design_id for design in designs]).implode()
    values: dict[str, dict[str, float]] = {}
    for table in (t for t in tables if _has(folder, t)):
        rows = scan_table(folder, table_spec(table)).filter(
            pl.col("design_id").is_in(chosen), pl.col("status") == OK
        )
        columns = sorted(set(COLUMNS[table].values()))
        for row in rows.select("design_id", *columns).collect().iter_rows(named=True):
            values.setdefault(row["design_id"], {}).update(_joined({table: row}))
    return [values.get(design.design_id, {}) for design in designs]


def _predictions(
    designs: Sequence[LabelledDesign], estimates: Sequence[Mapping[str, float]]
) -> list[Prediction]:
    return [
        Prediction(
            design_id=design.design_id,
            group=design.group,
            part=design.part,
            target=target,
            actual=design.labels[target],
            predicted=value,
        )
        for design, values in zip(designs, estimates, strict=True)
        for target, value in values.items()
        if target in design.labels
    ]
