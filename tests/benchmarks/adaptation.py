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

With `--language-model` the decoder of `numeric-lm-hls` learns the labels, too: `LM` answers as it ships,
`DPO` learns by preferences alone (LLMulator, section 5.1 and equation 2) with a replay buffer of all labels,
`fine-tuned` by the cross-entropy of the labels, `both` by their sum as `simfoundry calibrate` does. The
answers to other targets are kept. Every method is judged on the same `--judged` designs.

    python -m tests.benchmarks.adaptation --language-model --judged 150 [--draws 2] [--record]
    python -m tests.benchmarks.adaptation --designs FILE --kernels FILE [--record]

With `--designs` the other tool is that of a database of Merlin and Vitis: latency, LUTs and flip-flops of the
tool with the most rows, asked of `lightgbm-text`. A third of the kernels, drawn anew each time, is judged,
and labels are drawn from the others, one of each kernel in turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from models.calibration_options import CalibrationOptions
from models.catalogue import predictor_named
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.lightgbm.adaptation import METHODS as ADAPTATIONS
from models.lightgbm.adaptation import chosen_method
from models.lightgbm.trees import TreePredictor, training_features
from models.numeric_lm.data import plain_features
from models.scheduled import table_features
from pipelines.schemas import OK, scan_table, table_spec
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, split_names
from tests.benchmarks.pragma_gnn import FAMILIES
from tests.benchmarks.recording import add_record_option, record_cells
from tests.benchmarks.vendor_predictors import NAMES as VENDOR_NAMES
from tests.benchmarks.vendor_predictors import Vendor

Matrix = NDArray[np.float64]
TOOLS = (
    ("xc7", "lut_count", "area_um2"),
    ("xc7", "flip_flop_count", "flip_flop_count"),
    ("osu035", "area_um2", "area_um2"),
    ("osu035", "delay_ns", "delay_ns"),
)
"""Library of the other tool's labels, their column, and the target whose answer is adapted."""
MOST_OF_A_KERNEL = 20
"""Vendor's designs of a kernel that are asked about."""


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
    best: tuple[float, NDArray[Any], float, float] | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Designs that were asked about.

    Attributes:
        answers: logarithms (designs, targets). features: (designs, features). targets: names of the columns.
        groups: program of each design. judged: groups that are never learned from; None to draw a third.
    """

    designs: Sequence[LabelledDesign]
    answers: Matrix
    features: Matrix
    targets: Sequence[str]
    groups: NDArray[np.str_]
    judged: frozenset[str] | None


def asked_of(
    model: str, folder: Path, designs: Sequence[LabelledDesign], judged: frozenset[str] | None
) -> Asked:
    """Ask shipped trees about designs of a folder of tables."""
    spec = predictor_named(model)
    predictor: TreePredictor = spec.load(spec.shipped_folder)
    rows = training_features(folder, designs, predictor.level, predictor.engine)
    features = np.array([[row[name] for name in predictor.names] for row in rows])
    return Asked(
        designs=designs,
        answers=np.log(predictor.predict_matrix(features)),
        features=features,
        targets=predictor.targets,
        groups=np.array([design.group for design in designs]),
        judged=judged,
    )


def drawn(asked: Asked, known: NDArray[np.bool_], count: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the places of labels to learn from, of each group in turn, and of those that are judged."""
    generator = np.random.default_rng(seed)
    names = np.unique(asked.groups[known])
    judged = asked.judged
    if judged is None:
        judged = frozenset(generator.permutation(names)[: max(1, len(names) // 3)].tolist())
    is_judged = np.isin(asked.groups, list(judged))
    pool = np.flatnonzero(known & ~is_judged)
    turns: dict[str, list[int]] = {}
    for place in generator.permutation(pool).tolist():
        turns.setdefault(str(asked.groups[place]), []).append(place)
    order = sorted((turn, n) for n, own in enumerate(turns.values()) for turn in range(len(own)))
    lists = list(turns.values())
    chosen = [lists[n][turn] for turn, n in order[:count]]
    return np.array(chosen), np.flatnonzero(known & is_judged)


CALIBRATION = CalibrationOptions(updates=100, anchored=False)
LM_METHODS: Mapping[str, CalibrationOptions | None] = {
    "LM": None,
    "DPO": replace(CALIBRATION, supervised=0.0),
    "fine-tuned": replace(CALIBRATION, beta=1e-9),
    "both": CALIBRATION,
}
"""Options of a calibration by method; None for the model as it ships."""


def lm_errors(
    release: Path, asked: Asked, actual: Matrix, target: str, learned: NDArray[Any], held: NDArray[Any]
) -> dict[str, float]:
    """Return the median error of the language model by method, on the places `held`."""
    from models.numeric_lm.calibration import Calibrator

    places = [*learned.tolist(), *held.tolist()]
    rows = list(table_features(release, [asked.designs[n] for n in places], "hls"))
    spec = predictor_named("numeric-lm-hls")
    errors: dict[str, float] = {}
    for name, options in LM_METHODS.items():
        predictor = spec.load(spec.shipped_folder)
        calibrator = Calibrator(predictor, options or CALIBRATION, target)
        queries = [asked.designs[n].query for n in places]
        questions = [
            calibrator.encode([query], plain_features(row))[0]
            for query, row in zip(queries, rows, strict=True)
        ]
        values = np.exp(actual[places]).tolist()
        if options is not None:
            calibrator.learn(questions[: len(learned)], values[: len(learned)])
        answers = calibrator.answers(questions[len(learned) :])
        ratios = [own[target].value / v for own, v in zip(answers, values[len(learned) :], strict=True)]
        errors[name] = float(np.median(np.abs(np.array(ratios) - 1.0)))
    return errors


def labels_of(release: Path, designs: Sequence[LabelledDesign], library: str, column: str) -> Matrix:
    """Return the logarithms of the labels of a library, NaN for none: (designs,)."""
    rows = scan_table(release, table_spec("labels")).filter(pl.col("status") == OK)
    known = dict(rows.filter(liberty=library).select("design_id", column).collect().iter_rows())
    return np.log([float(known.get(design.design_id) or np.nan) for design in designs])


def measured(
    asked: Asked,
    actual: Matrix,
    target: str,
    *,
    count: int,
    draws: int,
    judged: int | None = None,
    release: Path | None = None,
) -> dict[str, str]:
    """Return the cells of a row. judged: most designs that are judged. release: of the language model."""
    base = asked.answers[:, asked.targets.index(target)]
    residuals = actual - base
    medians: dict[str, list[float]] = {}
    for draw in range(draws):
        places, held = drawn(asked, np.isfinite(actual), count, draw)
        held = np.random.default_rng(draw).permutation(held)[:judged]
        labels = Labels(
            answers=asked.answers[places], features=asked.features[places], residuals=residuals[places]
        )
        for name, method in METHODS.items():
            corrected = method(labels)(asked.answers[held], asked.features[held])
            errors = np.abs(np.exp(corrected - residuals[held]) - 1.0)
            medians.setdefault(name, []).append(float(np.median(errors)))
        if release is not None:
            for name, error in lm_errors(release, asked, actual, target, places, held).items():
                medians.setdefault(name, []).append(error)
    return {n: f"{np.mean(v):.1%} [{min(v):.1%}, {max(v):.1%}]" for n, v in medians.items()}


def vendor_labels(designs: Path, kernels: Path, folder: Path) -> tuple[Asked, dict[str, Matrix]]:
    """Return the rows of the tool that has the most, asked of `lightgbm-text`, and its labels by target."""
    vendor = Vendor(designs, kernels)
    first = next(iter(vendor.rows.values())).kernel  # tables have a test part
    parts = {name: "test" if row.kernel == first else "train" for name, row in vendor.rows.items()}
    written = vendor.write(folder, parts)
    tool = Counter(row.tool for row in vendor.rows.values()).most_common(1)[0][0]
    known = load_labelled_designs(written, Selection(split="apart"))
    chosen = [design for design in known if vendor.rows[design.design_id].tool == tool]
    counts: Counter[str] = Counter()
    few: list[LabelledDesign] = []
    for n in np.random.default_rng(0).permutation(len(chosen)).tolist():
        kernel = vendor.rows[chosen[n].design_id].kernel
        counts[kernel] += 1
        if counts[kernel] <= MOST_OF_A_KERNEL:
            query = replace(chosen[n].query, memory_read_delay_cycles=2, memory_write_delay_cycles=2)
            few.append(replace(chosen[n], group=FAMILIES.get(kernel, kernel), query=query))
    asked = asked_of("lightgbm-text", written, few, None)
    targets = ("latency_cycles", "area_um2", "flip_flop_count")
    labels = {t: np.log([design.labels.get(t, np.nan) for design in few]) for t in targets}
    print(f"{tool}: {len(few)} designs of {len(counts)} kernels\n")
    return asked, labels


def main() -> None:
    """Print a table per tool and target; record its cells."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--counts", default="4,16,64")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--language-model", action="store_true")
    parser.add_argument("--judged", type=int)
    parser.add_argument("--designs", type=Path)
    parser.add_argument("--kernels", type=Path)
    add_record_option(parser)
    given = parser.parse_args()
    print_machine()
    with TemporaryDirectory() as scratch:
        rows: list[tuple[str, str, str, Asked, Matrix]] = []
        if given.designs is not None:
            asked, labels = vendor_labels(given.designs, given.kernels, Path(scratch))
            rows += [("Vitis", VENDOR_NAMES[t], t, asked, own) for t, own in labels.items()]
        else:
            designs = load_labelled_designs(given.release, Selection(split=given.split))
            judged = frozenset(d.group for d in designs if d.part in ("test", "evaluation"))
            asked = asked_of("lightgbm-hls", given.release, designs, judged)
            for library, column, target in TOOLS:
                rows.append(
                    (library, column, target, asked, labels_of(given.release, designs, library, column))
                )
        more = LM_METHODS if given.language_model else ()
        options = f" --language-model --judged {given.judged} --draws {given.draws}" if more else ""
        options = " --designs FILE --kernels FILE" if given.designs is not None else options
        print_header("labels of", "target", "count", *METHODS, *more)
        for tool, column, target, asked, actual in rows:
            for count in map(int, split_names(given.counts)):
                cells = measured(
                    asked,
                    actual,
                    target,
                    count=count,
                    draws=given.draws,
                    judged=given.judged,
                    release=given.release if given.language_model else None,
                )
                print_row(tool, column, count, *cells.values())
                if given.record:
                    name = "language model and trees: " if given.language_model else ""
                    record_cells(
                        "Adaptation to another tool",
                        f"{name}{tool}, {column}, {count} labels, median error",
                        cells,
                        f"python -m tests.benchmarks.adaptation{options}",
                    )


if __name__ == "__main__":
    main()
