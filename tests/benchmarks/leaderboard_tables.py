"""Tables of trained predictors: errors by level and target, and by workload like Table 3 of LLMulator.

    python -m tests.benchmarks.leaderboard_tables FOLDER... [--workloads]

FOLDER holds the outcome of a training (`simfoundry train NAME --out FOLDER`), all on one release. Errors are
percentages on the parts test and evaluation, with 95 % intervals over groups of programs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from models.base import TrainOutcome
from models.model_files import read_outcome
from pipelines.programs import EVALUATION_WORKLOADS
from pipelines.schemas import LeaderboardRow
from tests.benchmarks.harness import options_parser, table_text

PARTS = ("test", "evaluation")
LEVELS = ("text", "static", "hls", "run")
TARGETS = ("power_mw", "area_um2", "flip_flop_count", "latency_cycles", "delay_ns")


def summary_table(outcomes: Sequence[TrainOutcome]) -> str:
    """Markdown: a row per target, level and predictor."""
    lines: list[tuple[str, ...]] = []
    for target in TARGETS:
        for outcome in outcomes:
            for part in PARTS:
                rows = {r.metric: r for r in outcome.leaderboard if (r.target, r.part) == (target, part)}
                if rows:
                    cells = (_interval(rows["mape"]), _interval(rows["median_ape"]))
                    more = (_plain(rows["r2"]), _plain(rows["spearman"]))
                    count = rows["mape"].row_count
                    lines.append(
                        (f"`{target}`", outcome.level, outcome.predictor, part, str(count), *cells, *more)
                    )
    return table_text(["target | level | predictor | part | rows | mean % | median % | R² | rank"], lines)


def _interval(row: LeaderboardRow) -> str:
    if row.value is None:
        return ""
    low, high = row.interval_low or 0.0, row.interval_high or 0.0
    return f"{100 * row.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _plain(row: LeaderboardRow) -> str:
    return "" if row.value is None else f"{row.value:.2f}"


def cost_table(outcomes: Sequence[TrainOutcome]) -> str:
    """Markdown: parameters, time of training, time of one question."""
    rows: list[tuple[object, ...]] = []
    for outcome in outcomes:
        costs = outcome.costs
        if costs is not None:
            count = "" if costs.parameter_count is None else costs.parameter_count
            times = ("" if t is None else f"{t:.3g}" for t in (costs.training_wall_s, costs.predict_wall_s))
            rows.append((outcome.predictor, outcome.level, count, *times))
    return table_text(["predictor | level | parameters | training s | one question s"], rows)


def workload_table(outcomes: Sequence[TrainOutcome], target: str) -> str:
    """Markdown: a row per program of the evaluation suite, a column per predictor, the mean last."""
    errors = {
        (row.workload, outcome.predictor): row.value
        for outcome in outcomes
        for row in outcome.workloads
        if row.target == target
    }
    names = [o.predictor for o in outcomes if any(key[1] == o.predictor for key in errors)]
    workloads = sorted({workload for workload, _ in errors})
    lines = [(w, *_cells(errors.get((w, name)) for name in names)) for w in workloads]
    for group, members in workload_groups(workloads).items():
        means = (_mean([errors[w, name] for w in members if (w, name) in errors]) for name in names)
        lines.append((f"mean of {group}", *_cells(means)))
    return table_text([f"`{target}`", *names], lines)


def workload_groups(workloads: Sequence[str]) -> dict[str, list[str]]:
    """Programs of LLMulator's ten kernels, of its fourteen blocks (the means of Table 3), and all."""
    suites = {known.name: known.suite for known in EVALUATION_WORKLOADS}
    groups: dict[str, list[str]] = {}
    for workload in workloads:
        base = workload.removesuffix("-int").removesuffix("-float")
        suite = suites.get(workload) or suites.get(base)
        if suite is not None:
            groups.setdefault(f"the 24 workloads in {suite}", []).append(workload)
    return {**groups, f"all {len(workloads)} programs": list(workloads)}


def _cells(values: Iterable[float | None]) -> Iterator[str]:
    return ("" if value is None else f"{100 * value:.1f}" for value in values)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = options_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--workloads", action="store_true", help="tables by workload, too")
    options = parser.parse_args(arguments)
    outcomes: list[TrainOutcome] = []
    for folder in options.folders:
        outcome = read_outcome(folder)
        if outcome is None:
            parser.error(f"no outcome of a training: {folder}")
        outcomes.append(outcome)
    if len({outcome.dataset_hash for outcome in outcomes if outcome.level == "static"}) > 1:
        parser.error("the trainings are of different tables")
    outcomes.sort(key=lambda o: (LEVELS.index(o.level), o.predictor))
    sys.stdout.write(summary_table(outcomes) + "\n" + cost_table(outcomes))
    for target in TARGETS if options.workloads else ():
        sys.stdout.write("\n" + workload_table(outcomes, target))


if __name__ == "__main__":
    main()
