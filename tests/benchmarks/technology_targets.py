"""What labels of other technologies give predictors of osu018: errors with and without them.

    python -m tests.benchmarks.technology_targets [--seeds 0,1,2] [--rows FILE] [--record]

A release has labels of osu018 for a sample of its designs, of osu035 for others, and cells of an FPGA (xc7)
for more. The trees of `lightgbm-text`, `-static` and `-hls` learn area, flip-flops and delay from the part
train, and are judged on the osu018 labels of the parts test and evaluation, which no variant learns from.
Cells are the median absolute percentage error of the designs, its range over seeds in square brackets, and
the mean error in round ones; the first and the last are means over seeds.

`osu018 alone` is how the predictors are trained. `converted` adds designs without osu018 label by their
osu035 label, divided by the median ratio of training designs with both. `feature` adds the osu035 rows of all
designs unconverted, with the technology as a feature. `both` adds them converted and with the feature. `fpga`
is `both` with the rows of the FPGA: its flip-flops, and its LUTs as area, divided by the median ratios, too;
they say nothing of delay.

A second table asks the variant with a row per design and technology for the other technologies: osu035's
labels and the FPGA's LUTs and flip-flops on the part test, beside the answer for osu018 times the constant
factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assets.figures import Figure
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.lightgbm import TrainOptions
from models.lightgbm.trees import fit_trees, training_features
from models.scheduled import STARTS, engine_options
from pipelines.schemas import OK, scan_table, table_spec
from tests.benchmarks.harness import (
    KeptRows,
    Row,
    options_parser,
    print_header,
    print_machine,
    print_row,
    split_names,
)
from tests.benchmarks.recording import add_record_option, record

Matrix = NDArray[np.float64]
AREA, FLIP_FLOPS, DELAY = "area_um2", "flip_flop_count", "delay_ns"
TARGETS = (AREA, FLIP_FLOPS, DELAY)
LEVELS = ("text", "static", "hls")
JUDGED = ("test", "evaluation")
OSU018, OSU035, FPGA = "osu018", "osu035", "xc7"
TECHNOLOGIES = (OSU018, OSU035, FPGA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Which rows of other technologies are learned.

    Attributes:
        others: technologies whose rows are added. converted: their labels are divided by constant factors.
        featured: the technology is a feature. only_lacking: only designs without osu018 label are added.
    """

    others: tuple[str, ...] = ()
    converted: bool = False
    featured: bool = False
    only_lacking: bool = False


VARIANTS = {
    "osu018 alone": Variant(),
    "converted": Variant(others=(OSU035,), converted=True, only_lacking=True),
    "feature": Variant(others=(OSU035,), featured=True),
    "both": Variant(others=(OSU035,), converted=True, featured=True),
    "fpga": Variant(others=(OSU035, FPGA), converted=True, featured=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Designs of a release with their labels by technology and their features by level.

    Attributes:
        labels: by technology and target, NaN where there is none. Area of the FPGA is its LUTs.
        features: by level. names: of the features, by level.
    """

    designs: Sequence[LabelledDesign]
    labels: Mapping[str, Mapping[str, Matrix]]
    features: Mapping[str, Matrix]
    names: Mapping[str, Sequence[str]]

    def part(self, name: str) -> NDArray[np.bool_]:
        """Return which designs are of a part."""
        return np.array([design.part == name for design in self.designs])

    def factor(self, technology: str, target: str) -> float:
        """Return the median ratio of a technology's label by osu018's over training designs with both."""
        ratios = self.labels[technology][target] / self.labels[OSU018][target]
        known = ratios[self.part("train") & np.isfinite(ratios)]
        return float(np.median(known)) if len(known) else float("nan")


def load_data(release: Path, split: str) -> Data:
    """Load every design of the split that has a label of cells in some technology."""
    designs = load_labelled_designs(release, Selection(split=split))
    rows = scan_table(release, table_spec("labels")).filter(pl.col("status") == OK).collect()
    by_technology = {
        technology: {row["design_id"]: row for row in rows.filter(liberty=technology).iter_rows(named=True)}
        for technology in TECHNOLOGIES
    }
    columns = {AREA: "lut_count", FLIP_FLOPS: FLIP_FLOPS, DELAY: DELAY}

    def label(technology: str, target: str, design: LabelledDesign) -> float:
        row = by_technology[technology].get(design.design_id)
        value = None if row is None else row[columns[target] if technology == FPGA else target]
        return float(value) if value else float("nan")

    kept = [d for d in designs if any(label(t, FLIP_FLOPS, d) > 0 for t in TECHNOLOGIES)]
    engine = engine_options(release, kept)
    features: dict[str, Matrix] = {}
    names: dict[str, Sequence[str]] = {}
    for level in LEVELS:
        counts = training_features(release, kept, level, engine)
        names[level] = tuple(counts[0])
        features[level] = np.array([[row[name] for name in names[level]] for row in counts])
    labels = {
        technology: {t: np.array([label(technology, t, d) for d in kept]) for t in TARGETS}
        for technology in TECHNOLOGIES
    }
    return Data(designs=kept, labels=labels, features=features, names=names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers for all designs, by technology."""

    values: Mapping[str, Matrix]
    rows: int


def answers_of(data: Data, variant: str, level: str, target: str, seed: int) -> Answers:
    """Train the trees of a variant. Returns: answers for all designs, and the count of learned rows."""
    chosen = VARIANTS[variant]
    features, train = data.features[level], data.part("train")
    start_name = STARTS.get(level, {}).get(target)
    start = (
        np.zeros(len(features)) if start_name is None else features[:, data.names[level].index(start_name)]
    )
    own = data.labels[OSU018][target]
    matrices, logs = list[Matrix](), list[Matrix]()
    for technology in (OSU018, *chosen.others):
        factor = data.factor(technology, target) if chosen.converted else 1.0
        values = data.labels[technology][target]
        used = train & np.isfinite(values) & np.isfinite(factor)
        if chosen.only_lacking and technology != OSU018:
            used &= ~np.isfinite(own)
        matrices.append(_with_technology(features[used], technology, featured=chosen.featured))
        logs.append(np.log(values[used] / factor) - start[used])
    trees = fit_trees(np.concatenate(matrices), np.concatenate(logs), TrainOptions(), seed)
    answers = {
        technology: np.exp(
            trees.predict(_with_technology(features, technology, featured=chosen.featured)) + start
        )
        * (data.factor(technology, target) if chosen.converted else 1.0)
        for technology in ((OSU018, *chosen.others) if chosen.featured else (OSU018,))
    }
    return Answers(values=answers, rows=sum(map(len, logs)))


def _with_technology(features: Matrix, technology: str, *, featured: bool) -> Matrix:
    if not featured:
        return features
    known = [np.full(len(features), float(technology == name)) for name in TECHNOLOGIES[1:]]
    return np.column_stack([features, *known])


def errors(data: Data, answers: Matrix, technology: str, target: str, part: str) -> Matrix:
    """Return the absolute percentage errors of the designs of a part with a label of a technology."""
    labels = data.labels[technology][target]
    known = data.part(part) & np.isfinite(labels)
    return np.abs(answers[known] / labels[known] - 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Error of a variant: means over seeds of the median and the mean, and the range of the medians."""

    median: float
    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, by_seed: Sequence[Matrix]) -> Score:
        """Return the score of the errors of some seeds."""
        medians = [float(np.median(own)) for own in by_seed]
        return cls(
            median=float(np.mean(medians)),
            mean=float(np.mean([own.mean() for own in by_seed])),
            low=min(medians),
            high=max(medians),
        )

    @property
    def text(self) -> str:
        """Return median, range over seeds, and mean."""
        return f"{self.median:.1%} [{self.low:.1%}, {self.high:.1%}] ({self.mean:.1%})"


def print_errors(data: Data, seeds: Sequence[int], kept: KeptRows) -> dict[tuple[str, ...], Score]:
    """Print the errors on osu018 of every variant. Returns: the scores by level, target, variant and part."""
    scores: dict[tuple[str, ...], Score] = {}
    print_header("level", "target", "labels", "rows", *JUDGED)
    for level in LEVELS:
        for target in TARGETS:
            for variant in VARIANTS:
                if variant == "fpga" and target == DELAY:
                    continue
                row = kept.measured(
                    key := f"{level} {target} {variant}",
                    lambda key=key: {"key": key, **score_variant(data, key.split(" ", 2), seeds)},
                )
                own = {part: Score(**row[part]) for part in JUDGED}
                scores |= {(level, target, variant, part): score for part, score in own.items()}
                print_row(level, target, variant, row["rows"], *(own[part].text for part in JUDGED))
    return scores


def score_variant(data: Data, names: Sequence[str], seeds: Sequence[int]) -> Row:
    """Return the scores by part of a level, target and variant, and the count of learned rows."""
    level, target, variant = names
    trained = [answers_of(data, variant, level, target, seed) for seed in seeds]
    scores: Row = {"rows": trained[0].rows}
    for part in JUDGED:
        own = [errors(data, one.values[OSU018], OSU018, target, part) for one in trained]
        scores[part] = asdict(Score.of(own))
    return scores


OTHERS = (
    (OSU035, AREA, "both"),
    (OSU035, FLIP_FLOPS, "both"),
    (OSU035, DELAY, "both"),
    (FPGA, AREA, "fpga"),
    (FPGA, FLIP_FLOPS, "fpga"),
)
"""Technologies and targets of the second table, and the variant that is asked for them."""


def print_others(data: Data, seeds: Sequence[int], kept: KeptRows) -> None:
    """Print the errors of answers for the other technologies, beside those by the constant factor."""
    print("\nOther technologies, part test, beside the answer for osu018 times the factor\n")
    print_header("level", "technology", "target", "designs", "factor", "variant", "osu018 by factor")
    for level in LEVELS:
        for technology, target, variant in OTHERS:
            row = kept.measured(
                key := f"{level} {technology} {target}",
                lambda key=key, variant=variant: {"key": key, **score_other(data, key, variant, seeds)},
            )
            name = "lut_count" if (technology, target) == (FPGA, AREA) else target
            scores = (Score(**row["asked"]).text, Score(**row["constant"]).text)
            print_row(level, technology, name, row["designs"], f"{row['factor']:.4g}", *scores)


def score_other(data: Data, key: str, variant: str, seeds: Sequence[int]) -> Row:
    """Return the scores of a variant asked for another technology, and of the constant factor."""
    level, technology, target = key.split(" ")
    factor = data.factor(technology, target)
    asked = [answers_of(data, variant, level, target, seed).values[technology] for seed in seeds]
    alone = [answers_of(data, "osu018 alone", level, target, seed).values[OSU018] for seed in seeds]
    own = [errors(data, one, technology, target, "test") for one in asked]
    constant = [errors(data, factor * one, technology, target, "test") for one in alone]
    return {
        "designs": len(own[0]),
        "factor": factor,
        "asked": asdict(Score.of(own)),
        "constant": asdict(Score.of(constant)),
    }


def print_factors(data: Data) -> None:
    """Print how well a constant factor converts a label, over all designs with both."""
    print_header("technology", "target", "designs with both", "factor", "5 to 95 % by the factor")
    for technology in TECHNOLOGIES[1:]:
        for target in TARGETS:
            ratios = data.labels[technology][target] / data.labels[OSU018][target]
            known = ratios[np.isfinite(ratios)]
            if len(known):
                factor = data.factor(technology, target)
                low, high = np.quantile(known, (0.05, 0.95)) / factor - 1
                name = "lut_count" if (technology, target) == (FPGA, AREA) else target
                print_row(technology, name, len(known), f"{factor:.4g}", f"{low:+.1%} to {high:+.1%}")
    print()


def main() -> None:
    """Print the tables; record the errors of the levels on evaluation."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--rows", type=Path, help="JSON lines of the scores, kept between runs")
    add_record_option(parser)
    asked = parser.parse_args()
    seeds = [int(seed) for seed in split_names(asked.seeds)]
    data = load_data(asked.release, asked.split)
    print_machine()
    print_factors(data)
    kept = KeptRows(asked.rows, lambda row: row["key"])
    scores = print_errors(data, seeds, kept)
    if asked.record:
        record_scores(scores)
    print_others(data, seeds, kept)


def record_scores(scores: Mapping[tuple[str, ...], Score]) -> None:
    """Record median errors on evaluation of osu018 alone and with other technologies."""
    new = Figure(
        area="predictor",
        section="Other technologies",
        figure="",
        value="",
        command="python -m tests.benchmarks.technology_targets",
        commit="",
        engines={"hls": "", "knowledge": "", "lightgbm": ""},
        machine="",
        date="",
    )
    for target, words in ((AREA, "area"), (FLIP_FLOPS, "flip-flops"), (DELAY, "delay")):
        for level in LEVELS:
            own = {
                v: scores[level, target, v, "evaluation"]
                for v in VARIANTS
                if (level, target, v, "test") in scores
            }
            figure = f"{level}, {words}, median error on evaluation"
            value = {variant: f"{score.median:.1%}" for variant, score in own.items()}
            record("predictor", figure, value, new=replace(new, figure=figure))


if __name__ == "__main__":
    main()
