"""Estimates of designs: from tables `features` and `run_features`, or from a compilation for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.base import Estimate, LabelPredictor, read_rows
from models.catalogue import Trained, TrainingInput
from models.model_files import ModelFiles
from models.options import LabelOptions
from models.query import ALL_TARGETS, Query
from models.scheduled import QueryKnowledge, engine_options, know_query
from pipelines.schemas import OK, scan_table, table_spec

if TYPE_CHECKING:
    from models.labelled import LabelledDesign

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "features": {
        "area_um2": "estimated_area_um2",
        "flip_flop_count": "estimated_flip_flop_count",
        "latency_cycles": "estimated_cycles",
        "power_mw": "estimated_power_mw",
        "delay_ns": "critical_path_ns",
    },
    "run_features": {"latency_cycles": "cycles", "power_mw": "estimated_power_mw"},
}
"""Column with the estimate of each target, by table; a run's estimates replace earlier ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEstimate(LabelPredictor):
    """Answers queries with the engine's estimates.

    Attributes: level: hls or run. engine: options of high-level synthesis.
    """

    level: str
    engine: Mapping[str, Any]

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return ALL_TARGETS

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """Predict one estimate per query, in order.

        Raises: PredictorError: a query cannot be compiled or run; the message names its row, from 0.
        """
        return read_rows(self._estimate, queries)

    def _estimate(self, query: Query) -> Estimate:
        known = know_query(query, self.engine, self.level)
        return Estimate(values=estimate_of(known), outside_training=(), trips=known.trips)


def estimate_of(knowledge: QueryKnowledge) -> dict[str, float]:
    """Return the estimates by target of what the engine gives of a question."""
    rows = {"features": asdict(knowledge.knowledge.features)}
    if knowledge.run is not None:
        rows["run_features"] = asdict(knowledge.run)
    return _joined(rows)


def _joined(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the estimates by target of the rows of one design, by table."""
    return {
        target: float(row[column])
        for table, row in rows.items()
        for target, column in COLUMNS[table].items()
        if row[column] is not None
    }


def load(files: ModelFiles) -> EngineEstimate:
    """Load the predictor from its files."""
    return EngineEstimate(level=files.card["level"], engine=files.card["engine"])


def train(data: TrainingInput, level: str) -> Trained:
    """Compare estimates with labels. Raises: DatasetError: there are no labels."""
    from models.labelled import training_designs
    from models.leaderboard import paired  # lazy import: Polars, which answering does not need

    options: LabelOptions = data.options
    folder = data.data_dirs[0]
    designs = training_designs(data.data_dirs, options)
    tables = tuple(COLUMNS)[: 1 if level == "hls" else 2]
    return Trained(
        files=ModelFiles(card={"level": level, "engine": engine_options(folder, designs)}, arrays={}),
        seen_groups=(),
        summary={"parameter_count": 0.0, "train_designs": 0.0},
        predictions=paired(designs, table_estimates(folder, designs, tables)),
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


def table_estimates(
    folder: Path, designs: Sequence[LabelledDesign], tables: Sequence[str]
) -> list[dict[str, float]]:
    """Return the estimates by target of designs, in their order; a design without an ok row has none."""
    import polars as pl

    chosen = pl.Series([design.design_id for design in designs]).implode()
    values: dict[str, dict[str, float]] = {}
    for table in tables:
        rows = scan_table(folder, table_spec(table)).filter(
            pl.col("design_id").is_in(chosen), pl.col("status") == OK
        )
        columns = sorted(set(COLUMNS[table].values()))
        for row in rows.select("design_id", *columns).collect().iter_rows(named=True):
            values.setdefault(row["design_id"], {}).update(_joined({table: row}))
    return [values.get(design.design_id, {}) for design in designs]
