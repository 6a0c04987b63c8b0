"""Learning curves of chosen against random labels, in retrospect: error against seconds of labelling.

    python -m tests.benchmarks.selection_curve [--release releases/v2] [--rows FILE] [--record]

The pool is the training designs of a release with area, delay and power: their labels are hidden and bought
one after the other, each for its measured seconds of mapping and power. Every strategy begins with the same
random designs (10 % of the seconds) and chooses again, with all labels so far, at each point of the curve. It
sees estimated seconds, fitted to the designs that it has bought. At each point the trees of level hls learn
area and power from what was bought, and are judged on the parts validation and evaluation, which no strategy
sees. Errors are mean absolute percentage errors, means over seeds. A control buys the cheapest designs first.

Goal, fixed before the first measurement: with 70 % of the pool's seconds, an error of at most random's with
all of them, for area and power, on validation and evaluation. Since all strategies end with the same designs,
a second comparison is inside the pool: 35 % against random's 50 %. `--rows` keeps the points of an
interrupted run. Of the attempts, the one with the least mean error on validation at 70 % is called chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assets.figures import Figure
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.lightgbm import TrainOptions
from models.lightgbm.trees import fit_trees
from models.scheduled import STARTS, table_features
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from pipelines.schemas import scan_table, table_spec
from tests.benchmarks.harness import KeptRows, Row, options_parser, print_header, print_machine, print_row
from tests.benchmarks.recording import add_record_option, record
from tests.benchmarks.selection_strategies import Pool, SelectionOptions, fit_costs, rank_designs
from tests.benchmarks.tree_ensembles import ensemble_logs

Matrix = NDArray[np.float64]
TARGETS = ("area_um2", "power_mw")
JUDGED = ("validation", "evaluation")
SHARES = (0.1, 0.2, 0.3, 0.35, 0.5, 0.6, 0.7, 0.85, 1.0)
SEEDS = (0, 1, 2)
RESAMPLES = 2000
GOALS = ((0.7, 1.0), (0.35, 0.5))
"""Share of the seconds, and random's share whose error it is to reach."""
RANDOM, CHEAPEST = "random", "cheapest first"
ALONE = {
    "uncertainty alone": SelectionOptions(distance=0, coverage=0, cost_exponent=0),
    "diversity alone": SelectionOptions(uncertainty=0, coverage=0, cost_exponent=0),
}
ATTEMPTS = {
    "attempt 1: value per second": SelectionOptions(),
    "attempt 2: value per root of seconds": SelectionOptions(cost_exponent=0.5),
    "attempt 3: representative, per second": SelectionOptions(representative=True),
}
SCORED = {**ALONE, **ATTEMPTS}
STRATEGIES = (RANDOM, CHEAPEST, *SCORED)
_AREA, _CYCLES = "log_estimated_area_um2", "log_estimated_cycles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Labelled designs of a release: the pool and the judged ones.

    Attributes:
        names: of the features. static, known: features of a predictor, and those that the tables hold.
        labels: by target. mapping_s, power_s: measured; NaN for judged designs without.
        pool: places of the designs that may be bought.
    """

    designs: Sequence[LabelledDesign]
    names: Sequence[str]
    features: Matrix
    labels: Mapping[str, Matrix]
    kinds: Sequence[tuple[str, ...]]
    mapping_s: Matrix
    power_s: Matrix
    pool: NDArray[np.int64]

    @property
    def seconds(self) -> Matrix:
        """Measured seconds of labelling."""
        return self.mapping_s + self.power_s

    def part(self, name: str) -> NDArray[np.int64]:
        """Return the places of the judged designs of a part."""
        return np.array([n for n, d in enumerate(self.designs) if d.part == name])


def load_data(release: Path, split: str) -> Data:
    """Load the designs with area, delay and power, their features and measured seconds."""
    designs = [
        design
        for design in load_labelled_designs(release, Selection(split=split))
        if {*TARGETS, "delay_ns"} <= set(design.labels) and design.part in ("train", *JUDGED)
    ]
    rows = table_features(release, designs, "hls")
    names = tuple(rows[0])
    mapping, power = measured_seconds(release)
    stages = dict(
        scan_table(release, table_spec("programs")).select("program_id", "stage").collect().iter_rows()
    )
    mapping_s = np.array([mapping.get(d.design_id, np.nan) for d in designs])
    power_s = np.array([power.get(d.design_id, np.nan) for d in designs])
    in_pool = [n for n, d in enumerate(designs) if d.part == "train" and mapping_s[n] > 0 and power_s[n] > 0]
    return Data(
        designs=designs,
        names=names,
        features=np.array([[row[name] for name in names] for row in rows]),
        labels={t: np.array([d.labels[t] for d in designs]) for t in TARGETS},
        kinds=[(f"suite={d.family}", f"stage={stages[d.program_id]}") for d in designs],
        mapping_s=mapping_s,
        power_s=power_s,
        pool=np.array(in_pool),
    )


def measured_seconds(release: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Return the wall times of mapping and of power, over all data sets, by design."""
    labels = pl.read_parquet(release / "measured" / "labels" / "*.parquet")
    runs = pl.read_parquet(release / "measured" / "runs" / "*.parquet")
    own = labels.filter(pl.col("tool") == SYNTHESIS_TOOL).drop_nulls("synthesis_wall_s")
    power = runs.drop_nulls("power_wall_s").group_by("design_id").agg(pl.col("power_wall_s").sum())
    return dict(own.select("design_id", "synthesis_wall_s").iter_rows()), dict(power.iter_rows())


def errors(data: Data, bought: Sequence[int], seed: int) -> dict[str, list[float]]:
    """Return the absolute percentage errors by target and part of trees that learned on some designs."""
    places = np.array(sorted(bought))
    values: dict[str, list[float]] = {}
    for target in TARGETS:
        start = data.names.index(STARTS["hls"][target])
        logs = np.log(data.labels[target][places]) - data.features[places, start]
        trees = fit_trees(data.features[places], logs, TrainOptions(), seed)
        for part in JUDGED:
            own = data.part(part)
            answers = np.exp(trees.predict(data.features[own]) + data.features[own, start])
            values[f"{target} {part}"] = np.abs(answers / data.labels[target][own] - 1).tolist()
    return values


def constant_errors(data: Data, *, estimates: bool) -> dict[str, float]:
    """Return the errors without learning: the engine's estimates, or the median of the pool."""
    values: dict[str, float] = {}
    for target in TARGETS:
        start = data.names.index(STARTS["hls"][target])
        for part in JUDGED:
            own = data.part(part)
            median = np.full(len(own), np.median(data.labels[target][data.pool]))
            answers = np.exp(data.features[own, start]) if estimates else median
            values[f"{target} {part}"] = float(np.abs(answers / data.labels[target][own] - 1).mean())
    return values


def ordered(data: Data, strategy: str, bought: Sequence[int], seed: int, step_s: float) -> list[int]:
    """Return the places that a strategy would buy next, best first."""
    rest = np.array([n for n in data.pool if n not in set(bought)])
    if strategy == RANDOM:
        order = {place: n for n, place in enumerate(shuffled(data, seed))}
        return sorted(rest.tolist(), key=order.__getitem__)
    own = np.array(sorted(bought))
    area, cycles = (np.exp(data.features[:, data.names.index(name)]) for name in (_AREA, _CYCLES))
    model = fit_costs(area[own], cycles[own], data.mapping_s[own], data.power_s[own])
    costs = model.seconds(area[rest], cycles[rest])
    if strategy == CHEAPEST:
        return [int(rest[n]) for n in np.argsort(costs, kind="stable")]
    labels = {target: data.labels[target][own] for target in TARGETS}
    pool = Pool(
        ids=[str(n) for n in rest],
        features=data.features[rest],
        kinds=[data.kinds[n] for n in rest],
        costs_s=costs,
        predictions=ensemble_logs(data.features[own], data.names, labels, data.features[rest], seed=seed),
        labelled_features=data.features[own],
        labelled_kinds=[data.kinds[n] for n in own],
    )
    choices = rank_designs(pool, SCORED[strategy], 3 * step_s)
    return [int(choice.design_id) for choice in choices]


def shuffled(data: Data, seed: int) -> list[int]:
    """Return the pool in random order."""
    return [int(n) for n in np.random.default_rng(seed).permutation(data.pool)]


def buy(data: Data, order: Sequence[int], left_s: float) -> list[int]:
    """Return the designs that are bought in an order until the next costs more than what is left."""
    bought: list[int] = []
    for place in order:
        left_s -= float(data.seconds[place])
        if left_s < -1e-6:
            break
        bought.append(place)
    return bought


def curve(data: Data, strategy: str, seed: int, rows: KeptRows) -> None:
    """Measure the points of a strategy from one random beginning; points of earlier runs are read."""
    total_s = float(data.seconds[data.pool].sum())
    bought = buy(data, shuffled(data, seed), SHARES[0] * total_s)
    for share in SHARES:
        key = (strategy, seed, share)
        if key in rows.rows:
            bought = list(rows.rows[key]["bought"])
            continue
        left_s = share * total_s - float(data.seconds[bought].sum())
        if share > SHARES[0]:
            bought = [*bought, *buy(data, ordered(data, strategy, bought, seed, left_s), left_s)]
        row = {"strategy": strategy, "seed": seed, "share": share, "bought": bought}
        rows.add({**row, "spent_s": float(data.seconds[bought].sum()), **errors(data, bought, seed)})


def cell(rows: KeptRows, strategy: str, share: float, name: str) -> list[float]:
    """Return the mean errors of the seeds at a point."""
    return [float(np.mean(rows.rows[strategy, seed, share][name])) for seed in SEEDS]


NAMES = tuple(f"{target} {part}" for target in TARGETS for part in JUDGED)


def print_curves(data: Data, rows: KeptRows) -> None:
    """Print a line per strategy, target and part: error by share of the seconds."""
    shares = [f"{share:.0%}" for share in SHARES]
    print_header("strategy", "error of", *shares)
    for name in NAMES:
        for label, is_estimate in (("constant", False), ("engine's estimate", True)):
            value = constant_errors(data, estimates=is_estimate)[name]
            print_row(label, name, *[f"{100 * value:.1f}"] * len(SHARES))
        for strategy in STRATEGIES:
            means = [100 * float(np.mean(cell(rows, strategy, share, name))) for share in SHARES]
            print_row(strategy, name, *(f"{mean:.1f}" for mean in means))
    print_header("strategy", "designs bought of " + str(len(data.pool)), *shares)
    for strategy in STRATEGIES:
        counts = [np.mean([len(rows.rows[strategy, s, share]["bought"]) for s in SEEDS]) for share in SHARES]
        print_row(strategy, "", *(f"{count:.0f}" for count in counts))


def comparisons(rows: KeptRows, strategy: str, share: float, whole: float) -> dict[str, tuple[float, float]]:
    """Return by target and part the strategy's mean error at a share, and random's at a larger one."""
    return {
        name: (
            float(np.mean(cell(rows, strategy, share, name))),
            float(np.mean(cell(rows, RANDOM, whole, name))),
        )
        for name in NAMES
    }


def print_goals(rows: KeptRows) -> None:
    """Print for each strategy whether it reaches random's error with fewer seconds."""
    for share, whole in GOALS:
        print_header(f"{share:.0%} against random's {whole:.0%}", *NAMES, "reached")
        for strategy in STRATEGIES:
            pairs = comparisons(rows, strategy, share, whole)
            is_reached = [own <= other for own, other in pairs.values()]
            spread = {name: 100 * np.ptp(cell(rows, strategy, share, name)) for name in NAMES}
            print_row(
                strategy,
                *(f"{100 * a:.1f} (range {spread[n]:.1f}) / {100 * b:.1f}" for n, (a, b) in pairs.items()),
                f"{sum(is_reached)} of {len(is_reached)}",
            )


def best_attempt(rows: KeptRows) -> str:
    """Return the attempt with the least error on validation at 70 %, area and power weighing the same."""
    names = [name for name in NAMES if name.endswith("validation")]

    def error(strategy: str) -> float:
        return sum(float(np.mean(cell(rows, strategy, GOALS[0][0], name))) for name in names)

    return min(ATTEMPTS, key=error)


def differences(data: Data, rows: KeptRows, strategy: str, share: float, whole: float) -> dict[str, str]:
    """Return by target and part the mean error less random's, with its 95 % interval over groups."""
    values: dict[str, str] = {}
    draw = np.random.default_rng(0)
    for name in NAMES:
        own, other = (
            np.mean([rows.rows[key, seed, at][name] for seed in SEEDS], axis=0)
            for key, at in ((strategy, share), (RANDOM, whole))
        )
        groups = [data.designs[n].group for n in data.part(name.split()[-1])]
        members = [np.flatnonzero(np.array(groups) == group) for group in sorted(set(groups))]
        sums = np.array([(100 * (own - other))[places].sum() for places in members])
        sizes = np.array([len(places) for places in members])
        drawn = draw.integers(0, len(members), (RESAMPLES, len(members)))
        means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        values[name] = f"{sums.sum() / sizes.sum():+.1f} ({low:+.1f} to {high:+.1f})"
    return values


def print_verdict(data: Data, rows: KeptRows) -> bool:
    """Print every strategy less random, and what is used. Returns: whether the goal is missed."""
    for share, whole in GOALS:
        print_header(f"{share:.0%} less random's {whole:.0%}", *NAMES)
        for strategy in STRATEGIES:
            print_row(strategy, *differences(data, rows, strategy, share, whole).values())
    best = best_attempt(rows)
    is_missed = any(own > other for own, other in comparisons(rows, best, *GOALS[0]).values())
    print(f"\nbest attempt on validation: {best}; goal {'missed: random stays' if is_missed else 'reached'}")
    return is_missed


def record_curves(data: Data, rows: KeptRows, *, missed: bool) -> None:
    """Write the figures: errors of every strategy, and the best attempt's difference with its interval."""
    for share, whole in GOALS:
        values: dict[str, str] = {}
        for strategy in STRATEGIES:
            pairs = comparisons(rows, strategy, share, whole)
            values[strategy] = "; ".join(f"{100 * own:.1f}" for own, _ in pairs.values())
        reference = comparisons(rows, RANDOM, share, whole)
        goal = f"{'; '.join(f'{100 * other:.1f}' for _, other in reference.values())} (random's {whole:.0%})"
        best = comparisons(rows, best_attempt(rows), share, whole)
        above = any(own > other for own, other in best.values())
        _record(f"error with {share:.0%} of the seconds: {', '.join(NAMES)}", values, goal, missed=above)
    share, whole = GOALS[0]
    values = differences(data, rows, best_attempt(rows), share, whole)
    figure = f"best attempt on validation with {share:.0%} less random with {whole:.0%} of the seconds"
    _record(f"{figure}; 95 % interval", values, "0", missed=missed)


def _record(figure: str, values: Mapping[str, str], goal: str, *, missed: bool) -> None:
    new = Figure(
        figure=figure,
        area="labelling",
        section="Chosen labels",
        value="",
        unit="%",
        goal=goal,
        command="python -m tests.benchmarks.selection_curve",
        commit="",
        machine="",
        date="",
    )
    record("labelling", figure, values, missed=missed, new=new)


def _key(row: Row) -> tuple[str, int, float]:
    return row["strategy"], row["seed"], row["share"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the curves and print the tables."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--rows", type=Path, help="JSON-lines file of measured points")
    add_record_option(parser)
    options = parser.parse_args(arguments)
    data = load_data(options.release, options.split)
    rows = KeptRows(options.rows, _key)
    print_machine()
    sizes = {part: len(data.part(part)) for part in JUDGED}
    print(f"pool: {len(data.pool)} designs, {data.seconds[data.pool].sum():.0f} s; judged: {sizes}\n")
    for seed in SEEDS:
        for strategy in STRATEGIES:
            curve(data, strategy, seed, rows)
    print_curves(data, rows)
    print_goals(rows)
    missed = print_verdict(data, rows)
    if options.record:
        record_curves(data, rows, missed=missed)


if __name__ == "__main__":
    main()
