"""Bias of the engine's estimate of power on a release, for designs with and without floating-point units.

    python -m tests.benchmarks.power_bias [--release releases/v2] [--split by_kernel_v2]

Of every design whose first run has power: estimate / label - 1, at level hls (no run) and run; the median and
mean of it, and the median of its absolute value. The interval of the median is of 95 % over programs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from pipelines.schemas import OK, scan_table, table_spec
from tests.benchmarks.harness import options_parser, print_header, print_row

LEVELS = {"hls": "features", "run": "run_features"}


def estimates(release: Path, split: str) -> pl.DataFrame:
    """A row per design with power: program, part, whether it has floating-point units, errors by level."""
    tables = {
        name: scan_table(release, table_spec(name))
        for name in ("designs", "features", "run_features", "runs", "splits")
    }
    runs = tables["runs"].filter(pl.col("power_mw") > 0).select("design_id", "data_id", "power_mw")
    known = tables["run_features"].filter(pl.col("status") == OK)
    rows = (
        known.select("design_id", "data_id", run="estimated_power_mw")
        .join(runs, on=("design_id", "data_id"))
        .join(
            tables["features"].select("design_id", "float_unit_count", hls="estimated_power_mw"),
            on="design_id",
        )
        .join(tables["designs"].select("design_id", "program_id"), on="design_id")
        .join(tables["splits"].filter(pl.col("split") == split).select("program_id", "part"), on="program_id")
    )
    errors = {level: pl.col(level) / pl.col("power_mw") - 1 for level in LEVELS}
    is_float = pl.col("float_unit_count") > 0
    return rows.select("program_id", "part", is_float=is_float, **errors).sort("program_id").collect()


def interval_of_median(rows: pl.DataFrame, level: str, resamples: int = 2000) -> tuple[float, float]:
    """95 % interval of the median over resampled programs."""
    groups = [np.array(own) for own in rows.group_by("program_id").agg(level).sort("program_id")[level]]
    draws = np.random.default_rng(0).integers(0, len(groups), (resamples, len(groups)))
    medians = [np.median(np.concatenate([groups[number] for number in draw])) for draw in draws]
    low, high = np.quantile(medians, [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    options = parser.parse_args()
    known = estimates(options.release, options.split)
    print_header("level | designs | part | number | median | its interval | mean | median error")
    for level in LEVELS:
        for is_float in (True, False):
            own = known.filter(pl.col("is_float") == is_float)
            parts = {
                "all": own,
                **{p: own.filter(pl.col("part") == p) for p in ("train", "test", "evaluation")},
            }
            for part, rows in parts.items():
                errors, (low, high) = rows[level].to_numpy(), interval_of_median(rows, level)
                figures = (np.median(errors), np.mean(errors))
                cells = (
                    level,
                    "float" if is_float else "int",
                    part,
                    str(len(rows)),
                    f"{figures[0]:+.1%}",
                    f"{low:+.1%} to {high:+.1%}",
                    f"{figures[1]:+.1%}",
                    f"{np.median(np.abs(errors)):.1%}",
                )
                print_row(*cells)


if __name__ == "__main__":
    main()
