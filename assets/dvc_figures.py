"""Headline figures of stages in small files, as `dvc metrics`, `dvc plots` and `dvc exp show` show them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from pipelines.schemas import OK, scan_table, table_spec, write_bytes_atomically

PARTS = ("validation", "test", "evaluation", "fields")
LABELS = ("area_um2", "flip_flop_count", "delay_ns")
HEADLINE_TARGETS = ("area_um2", "flip_flop_count", "latency_cycles", "power_mw")
DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figure files of a stage.

    Attributes:
        metrics, plots: paths relative to the project; plots with DVC's settings.
        write: data folder -> content by path.
    """

    metrics: tuple[str, ...]
    plots: Mapping[str, Mapping[str, str]]
    write: Callable[[Path], Mapping[str, bytes]]

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths."""
        return (*self.metrics, *self.plots)


def _model_figures(data_dir: Path) -> Mapping[str, bytes]:
    """Return the least test error of any predictor, and all errors by predictor, target and part."""
    rows = scan_table(data_dir, table_spec("leaderboard")).filter(
        pl.col("part").is_in(PARTS) & pl.col("value").is_not_null()
    )
    key = ("predictor", "target", "part")
    mape = rows.filter(pl.col("metric") == "mape").select(*key, "value", "interval_low", "interval_high")
    errors = mape.sort(key).collect()
    tested = errors.filter(pl.col("part") == "test")
    least = {
        target: min(tested.filter(pl.col("target") == target)["value"], default=None)
        for target in HEADLINE_TARGETS
    }
    tree = {name: {"least_test_mape": _rounded(value)} for name, value in least.items() if value is not None}
    lines = (
        (f"{predictor} {target}", part, _rounded(value), _rounded(low), _rounded(high))
        for predictor, target, part, value, low, high in errors.iter_rows()
    )
    head = ("predictor_and_target", "part", "mape", "interval_low", "interval_high")
    return {"data/figures/models.json": _json(tree), "data/figures/errors.csv": _csv(head, lines)}


def _label_figures(data_dir: Path) -> Mapping[str, bytes]:
    """Return numbers of labels by the project's own synthesis, and quantiles of the ok ones."""
    own = scan_table(data_dir, table_spec("labels")).filter(pl.col("tool") == SYNTHESIS_TOOL)
    rows = own.select("status", *LABELS).collect()
    ok = rows.filter(pl.col("status") == OK)
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    quantiles = {
        (name, level): _rounded(value)
        for name in LABELS
        for level in levels
        if (value := ok[name].quantile(level)) is not None
    }
    tree = {
        "ok": ok.height,
        "failed": rows.height - ok.height,
        **{name: {"median": quantiles[name, 0.5]} for name in LABELS if (name, 0.5) in quantiles},
    }
    lines = ((name, level, value) for (name, level), value in quantiles.items())
    return {
        "data/figures/labels.json": _json(tree),
        "data/figures/labels.csv": _csv(("label", "level", "value"), lines),
    }


FIGURES: Mapping[str, Figures] = {
    "labels": Figures(
        metrics=("data/figures/labels.json",),
        plots={"data/figures/labels.csv": {"x": "level", "y": "value", "title": "Quantiles of ok labels"}},
        write=_label_figures,
    ),
    "models": Figures(
        metrics=("data/figures/models.json",),
        plots={
            "data/figures/errors.csv": {
                "x": "mape",
                "y": "predictor_and_target",
                "template": "bar_horizontal",
                "title": "Error of predictors (MAPE)",
            }
        },
        write=_model_figures,
    ),
}
"""By stage."""


def write_figures(data_dir: Path, stages: Iterable[str]) -> None:
    """Write the figure files of stages from the tables as they are now.

    Raises: SchemaError: a table is damaged. OSError: not writable.
    """
    for stage in stages:
        if stage in FIGURES:
            for path, content in FIGURES[stage].write(data_dir).items():
                write_bytes_atomically(data_dir / Path(path).relative_to("data"), content)


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def _csv(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return text.getvalue().encode()
