"""State of a data folder: rows per table, failures by reason, error per predictor, places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from assets.deployments import Deployment
from assets.errors import hide_passwords
from assets.pages import page_path
from assets.refresh import refresh_page
from assets.step import ENVIRONMENT_SIGNS, count_failures
from assets.steps import STAGES
from pipelines.schemas import SchemaError, TableSpec, read_arrow, scan_table, table_spec, to_frame

STATUS_COLUMNS = ("status", "reason", "power_status", "power_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The state of a data folder.

    Attributes:
        rows: by table.
        failures: rows that are not ok, by table, status and reason.
        errors: test MAPE as a fraction, by predictor and target.
        places: where things are, by what they are.
        damaged: messages about files that cannot be read.
    """

    rows: Mapping[str, int]
    failures: Mapping[tuple[str, str, str], int]
    errors: Mapping[tuple[str, str], float]
    places: Mapping[str, str]
    damaged: tuple[str, ...]

    @property
    def environment_problems(self) -> list[str]:
        """Failures that blame the machine; see `environment_problems`."""
        return environment_problems(self.failures)

    def as_json(self) -> dict[str, Any]:
        """Return the overview as JSON values."""
        failures = [
            {"table": table, "status": status, "reason": reason, "rows": count}
            for (table, status, reason), count in self.failures.items()
        ]
        errors = [
            {"predictor": predictor, "target": target, "test_mape": value}
            for (predictor, target), value in self.errors.items()
        ]
        return {**asdict(self), "failures": failures, "errors": errors}


def environment_problems(failures: Mapping[tuple[str, str, str], int]) -> list[str]:
    """Return the failures that blame the machine, one line each: they are not data.

    Args: failures: rows by table, status and reason.
    """
    return [
        f"{count} {table} failed: {reason}"
        for (table, _, reason), count in failures.items()
        if any(sign in reason for sign in ENVIRONMENT_SIGNS)
    ]


def survey(deployment: Deployment) -> Overview:
    """Read the state of the data folder; a damaged file is reported and left out."""
    rows: dict[str, int] = {}
    failures: Counter[tuple[str, str, str]] = Counter()
    damaged: list[str] = []
    for spec in sorted(TableSpec.registry.values(), key=_stage_index):
        paths = sorted((deployment.data_dir / "tables" / spec.name).glob("*.parquet"))
        if spec.stage not in STAGES and not paths:
            continue  # imported tables count once something was imported
        rows[spec.name] = 0
        for path in paths:
            try:
                rows[spec.name] += pq.read_metadata(path).num_rows
                columns = [name for name in STATUS_COLUMNS if name in spec.schema().names]
                if "status" in columns:
                    failures += _failures(spec.name, to_frame(read_arrow(path, columns=columns)))
            except (SchemaError, pa.ArrowException, OSError) as error:
                damaged.append(str(error) if str(path) in str(error) else f"{path}: {error}")
    return Overview(
        rows=rows,
        failures=dict(failures.most_common()),
        errors=_errors(deployment),
        places=_places(deployment),
        damaged=tuple(damaged),
    )


def _stage_index(spec: TableSpec) -> int:
    return STAGES.index(spec.stage) if spec.stage in STAGES else len(STAGES)


def _failures(table: str, rows: pl.DataFrame) -> Counter[tuple[str, str, str]]:
    """Return the rows that failed by status and reason, in order of their first row."""
    counts = rows.lazy().group_by(rows.columns, maintain_order=True).agg(rows=pl.len())
    failures: Counter[tuple[str, str, str]] = Counter()
    for row in counts.collect().iter_rows(named=True):
        for reason in count_failures(table, [SimpleNamespace(**row)]):
            failures[reason] += row["rows"]
    return failures


def _errors(deployment: Deployment) -> dict[tuple[str, str], float]:
    try:
        rows = scan_table(deployment.data_dir, table_spec("leaderboard"))
    except SchemaError:
        return {}
    is_shown = (pl.col("part") == "test") & (pl.col("metric") == "mape") & pl.col("value").is_not_null()
    shown = rows.filter(is_shown).select("predictor", "target", "value").collect()
    return {(predictor, target): value for predictor, target, value in shown.iter_rows()}


def _places(deployment: Deployment) -> dict[str, str]:
    return {
        "tables": str(deployment.data_dir / "tables"),
        "wall-clock times": str(deployment.data_dir / "measured"),
        "cache": str(deployment.cache_dir),
        **({} if deployment.store is None else {"shared store": deployment.store}),
        "report": str(page_path(deployment)),
        "what this run did": str(refresh_page(deployment)),
        "models": hide_passwords(deployment.tracking_uri),
        "runs": str(deployment.dagster_home),
    }
