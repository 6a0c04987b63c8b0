"""How a predictor adapts to another tool with few of its labels: median errors by method and count.

    python -m tests.benchmarks.adaptation [--release FOLDER] [--counts 4,16,64] [--draws 5] [--record]

The weights of `lightgbm-hls` that come with the project have seen osu018, and osu035 by a constant factor.
Labels of another tool are drawn from the parts train and validation of a release, one design per group of
programs. Answers are judged on the parts test and evaluation, whose groups are others. Cells are the mean
over draws of the median absolute percentage error, with its range.

`none` is the answer as it is, `constant` times the median ratio. `ridge` is a linear regression of the
logarithm of the ratio on the logarithms of all answers, `process` a Gaussian process on them (Rasmussen and
Williams 2006, sections 2.2 and 5.4). `trees` are small boosted trees for the ratio on the features of the
design. `chosen` is what `simfoundry adapt` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assets.figures import Figure
from models.catalogue import predictor_named
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.lightgbm.adaptation import METHODS as ADAPTATIONS
from models.lightgbm.adaptation import chosen_method
from models.lightgbm.trees import TreePredictor
from models.scheduled import table_features
from pipelines.schemas import OK, scan_table, table_spec
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, split_names
from tests.benchmarks.recording import add_record_option, record

Matrix = NDArray[np.float64]
TOOLS = (
    ("xc7", "lut_count", "area_um2"),
    ("xc7", "flip_flop_count", "flip_flop_count"),
    ("osu035", "area_um2", "area_um2"),
    ("osu035", "delay_ns", "delay_ns"),
)
"""Library of the other tool's labels, their column, and the target whose answer is adapted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Labels to learn from: answers (rows, targets) and features (rows, features) with residuals (rows,)."""

    answers: Matrix
    features: Matrix
    residuals: Matrix


Correction = Callable[[Matrix, Matrix], Matrix]
"""Corrections (rows,) of logarithms from answers (rows, targets) and features (rows, features)."""


def of_package(name: str) -> Callable[[Labels], Correction]:
    """Return a correction of `models.lightgbm.adaptation`."""

    def fit(labels: Labels) -> Correction:
        adapted = ADAPTATIONS[name](labels.features, labels.residuals)
        return lambda answers, features: adapted.values(features)

    return fit


def ridge_correction(labels: Labels) -> Correction:
    """Return a ridge regression whose strength is chosen by leaving out one label at a time."""
    middle, deviation = _standard(labels.answers)
    columns = np.column_stack([np.ones(len(labels.answers)), (labels.answers - middle) / deviation])
    kept = np.diag([0.0, *np.ones(columns.shape[1] - 1)])
    choices: list[tuple[float, Matrix]] = []
    for strength in (0.1, 1.0, 10.0, 100.0):
        solve = np.linalg.solve(columns.T @ columns + strength * kept, columns.T)
        weights, own = solve @ labels.residuals, np.einsum("ij,ji->i", columns, solve)
        choices.append((float(np.mean(np.abs((labels.residuals - columns @ weights) / (1 - own)))), weights))
    weights = min(choices, key=lambda choice: choice[0])[1]
    return lambda answers, features: weights[0] + ((answers - middle) / deviation) @ weights[1:]


def process_correction(labels: Labels) -> Correction:
    """Return a Gaussian process around the median residual, of the highest likelihood times a prior."""
    middle, deviation = _standard(labels.answers)
    own, constant = (labels.answers - middle) / deviation, float(np.median(labels.residuals))
    best: tuple[float, Matrix, float, float] | None = None
    for scale in (0.5, 1.0, 2.0, 4.0, 8.0):
        for height in (0.1, 0.3, 1.0):
            for noise in (0.02, 0.05, 0.1, 0.2, 0.4):
                factor = np.linalg.cholesky(_kernel(own, own, scale, height) + noise**2 * np.eye(len(own)))
                weights = np.linalg.solve(factor.T, np.linalg.solve(factor, labels.residuals - constant))
                prior = [math.log(v / m) ** 2 for v, m in ((scale, 2.0), (height, 0.3), (noise, 0.1))]
                fit = -0.5 * (labels.residuals - constant) @ weights - np.log(np.diag(factor)).sum()
                likelihood = float(fit) - 0.5 * sum(prior)
                if best is None or likelihood > best[0]:
                    best = (likelihood, weights, scale, height)
    assert best is not None
    _, weights, scale, height = best
    return lambda answers, features: (
        constant + _kernel((answers - middle) / deviation, own, scale, height) @ weights
    )


def chosen_correction(labels: Labels) -> Correction:
    """Return what `simfoundry adapt` chooses."""
    groups = [str(n) for n in range(len(labels.residuals))]
    return of_package(chosen_method(labels.features, labels.residuals, groups)[0])(labels)


METHODS: Mapping[str, Callable[[Labels], Correction]] = {
    "none": of_package("none"),
    "constant": of_package("constant"),
    "ridge": ridge_correction,
    "process": process_correction,
    "trees": of_package("trees"),
    "chosen": chosen_correction,
}


def _standard(answers: Matrix) -> tuple[Matrix, Matrix]:
    return answers.mean(axis=0), np.maximum(answers.std(axis=0), 0.1)


def _kernel(one: Matrix, other: Matrix, scale: float, height: float) -> Matrix:
    distances = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)
    return height**2 * np.exp(-0.5 * distances / (scale**2 * one.shape[1]))


def labels_of(release: Path, designs: Sequence[LabelledDesign], library: str, column: str) -> Matrix:
    """Return the logarithms of the labels of a library, NaN for none: (designs,)."""
    rows = scan_table(release, table_spec("labels")).filter(pl.col("status") == OK)
    known = dict(rows.filter(liberty=library).select("design_id", column).collect().iter_rows())
    return np.log([float(known.get(design.design_id) or np.nan) for design in designs])


def main() -> None:
    """Print a table per tool and target; record its cells."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--counts", default="4,16,64")
    parser.add_argument("--draws", type=int, default=5)
    add_record_option(parser)
    asked = parser.parse_args()
    designs = load_labelled_designs(asked.release, Selection(split=asked.split))
    spec = predictor_named("lightgbm-hls")
    predictor: TreePredictor = spec.load(spec.shipped_folder)
    rows = table_features(asked.release, designs, "hls")
    features = np.array([[row[name] for name in predictor.names] for row in rows])
    answers = np.log(predictor.predict_matrix(features))
    judged = np.array([design.part in ("test", "evaluation") for design in designs])
    groups = np.array([design.group for design in designs])
    print_machine()
    print_header("labels of", "target", "count", *METHODS)
    for library, column, target in TOOLS:
        actual = labels_of(asked.release, designs, library, column)
        base = answers[:, predictor.targets.index(target)]
        residuals = actual - base
        pool, held = (
            np.flatnonzero(np.isfinite(actual) & ~judged),
            np.flatnonzero(np.isfinite(actual) & judged),
        )
        for count in map(int, split_names(asked.counts)):
            medians: dict[str, list[float]] = {name: [] for name in METHODS}
            for draw in range(asked.draws):
                generator = np.random.default_rng(draw)
                own = generator.permutation(np.unique(groups[pool]))[:count]
                places = np.array([generator.choice(pool[groups[pool] == group]) for group in own])
                labels = Labels(
                    answers=answers[places], features=features[places], residuals=residuals[places]
                )
                for name, method in METHODS.items():
                    corrected = method(labels)(answers[held], features[held])
                    errors = np.abs(np.exp(corrected - residuals[held]) - 1.0)
                    medians[name].append(float(np.median(errors)))
            cells = {n: f"{np.mean(v):.1%} [{min(v):.1%}, {max(v):.1%}]" for n, v in medians.items()}
            print_row(library, column, count, *cells.values())
            if asked.record:
                record_row(f"{library}, {column}, {count} labels, median error", cells)


def record_row(figure: str, cells: Mapping[str, str]) -> None:
    """Record the cells of one row."""
    new = Figure(
        area="predictor",
        section="Adaptation to another tool",
        figure=figure,
        value="",
        command="python -m tests.benchmarks.adaptation",
        commit="",
        engines={"hls": "", "knowledge": "", "lightgbm": ""},
        machine="",
        date="",
    )
    record("predictor", figure, cells, new=new)


if __name__ == "__main__":
    main()
