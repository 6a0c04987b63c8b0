"""How well predictors know when not to answer: confidence, CRPS, risk and coverage, and `predict --within`.

    python -m tests.benchmarks.selective_answers [--release FOLDER] [--split SPLIT] [--label-s S] [--record]

The shipped trees answer each fully labelled design of the parts that no training saw.

First table, a row per level and target. `spearman` is the rank correlation of the printed confidence with
|log(answer / label)|; LLMulator reports -0.44 between its confidence and its error. CRPS is the continuous
ranked probability score (Gneiting and Raftery 2007, section 4.2) of the logarithm, in per cent: of the answer
with the errors that its calibration expects, of the answer as a point, and of a constant with the spread of
the training labels. `risk` is the median error of the most confident quarter, half and all.

Second table: `simfoundry predict --within` over the same designs. A column per level has the share of designs
that it answers, `error` the median over targets and designs of those that a model answered, `kept` the share
of their values that are as near to the label as was asked. Seconds are processor time of the levels, and for
a label `--label-s`: 0.4 s of high-level synthesis, 9.6 s of mapping, 3.4 s of power. `oracle` chooses the
cheapest level whose values are all near enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.catalogue import predictor_named
from models.intervals import MEASURED, error_scores
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.metrics import spearman
from models.model_files import read_outcome
from models.query import ALL_TARGETS
from simfoundry.commands.selective import widest
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.recording import add_record_option, record_cells

LEVELS = ("text", "static", "hls")
WITHIN = (0.1, 0.2, 0.5)
SHARES = (0.25, 0.5, 1.0)
SECTION, COMMAND = "Selective answers", "python -m tests.benchmarks.selective_answers"
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Answers of a level, in the order of the designs. scores: expected |log errors|, by target."""

    answers: Sequence[Mapping[str, Any]]
    scores: Mapping[str, Sequence[Vector]]
    seconds: Vector


def ask(level: str, designs: Sequence[LabelledDesign]) -> Asked:
    """Ask the shipped trees of a level about each design, one at a time."""
    spec = predictor_named(f"lightgbm-{level}")
    predictor, outcome = spec.load(spec.shipped_folder), read_outcome(spec.shipped_folder)
    assert outcome is not None
    answers: list[Mapping[str, Any]] = []
    scores: dict[str, list[Vector]] = {target: [] for target in ALL_TARGETS}
    seconds: list[float] = []
    for design in designs:
        [estimate], spent = timed(lambda design=design: predictor.predict([design.query]))
        [answer] = spec.answer(predictor, [asdict(design.query)], outcome)
        for target in ALL_TARGETS:
            known = outcome.calibration[target]
            scores[target].append(np.array(error_scores(known, estimate.difficulty, target)))
        answers.append(answer)
        seconds.append(spent.processor_s)
    return Asked(answers=answers, scores=scores, seconds=np.array(seconds))


def crps(label: float, samples: Vector) -> float:
    """Return the score of a distribution given by equally likely samples: E|X - y| - E|X - X'| / 2."""
    ordered, count = np.sort(samples), len(samples)
    between = float(((2 * np.arange(1, count + 1) - count - 1) * ordered).sum()) / count**2
    return float(np.abs(samples - label).mean()) - between


def values(designs: Sequence[LabelledDesign], target: str) -> Vector:
    """Return the labels of a target."""
    return np.array([design.labels[target] for design in designs])


def target_row(
    asked: Asked, designs: Sequence[LabelledDesign], target: str, training: Vector
) -> dict[str, float]:
    """Return the figures of the first table for one level and target."""
    labels = np.log(values(designs, target))
    answers = np.log([float(answer[target]) for answer in asked.answers])
    errors, said = np.abs(answers - labels), np.array([a[f"{target}_confidence"] for a in asked.answers])
    own = [
        crps(label, answer + np.concatenate([-scores, scores]))
        for label, answer, scores in zip(labels, answers, asked.scores[target], strict=True)
    ]
    relative = np.abs(np.exp(answers - labels) - 1.0)
    order = np.argsort(-said, kind="stable")
    risks = {f"risk {s:.0%}": float(np.median(relative[order[: round(s * len(order))]])) for s in SHARES}
    ends = [(a[f"{target}_low"], a[f"{target}_high"]) for a in asked.answers]
    inside = [
        low <= math.exp(label) * (1 + 1e-9) and math.exp(label) <= high * (1 + 1e-9)
        for label, (low, high) in zip(labels, ends, strict=True)
    ]
    return {
        "spearman": spearman(errors, said),
        "inside": float(np.mean(inside)),
        "CRPS": float(np.mean(own)),
        "of the point": float(errors.mean()),
        "of a constant": float(np.mean([crps(label, training) for label in labels])),
        **risks,
    }


def selected(
    levels: Mapping[str, Asked], designs: Sequence[LabelledDesign], label_s: float, within: float
) -> dict[str, dict[str, float]]:
    """Return the figures of the second table by way of choosing."""
    chosen: dict[str, list[str]] = {"intervals": [], "oracle": []}
    for n, design in enumerate(designs):
        narrow = [name for name in LEVELS if widest(levels[name].answers[n], ALL_TARGETS)[0] <= within]
        near = [
            name
            for name in LEVELS
            if all(_error(levels[name].answers[n], design, t) <= within for t in ALL_TARGETS)
        ]
        chosen["intervals"].append(next(iter(narrow), "label"))
        chosen["oracle"].append(next(iter(near), "label"))
    return {name: _spent(levels, designs, label_s, own, within) for name, own in chosen.items()}


def _error(answer: Mapping[str, Any], design: LabelledDesign, target: str) -> float:
    return abs(answer[target] / design.labels[target] - 1.0)


def _spent(
    levels: Mapping[str, Asked],
    designs: Sequence[LabelledDesign],
    label_s: float,
    chosen: Sequence[str],
    within: float,
) -> dict[str, float]:
    errors = [
        _error(levels[name].answers[n], design, target)
        for n, (name, design) in enumerate(zip(chosen, designs, strict=True))
        for target in ALL_TARGETS
        if name in levels
    ]
    seconds = 0.0
    for n, name in enumerate(chosen):
        tried = LEVELS[: LEVELS.index(name) + 1] if name in levels else LEVELS
        seconds += sum(levels[level].seconds[n] for level in tried) + (name not in levels) * label_s
    return {
        **{level: chosen.count(level) / len(chosen) for level in (*LEVELS, "label")},
        "error": float(np.median(errors)) if errors else 0.0,
        "kept": float(np.mean(np.array(errors) <= within)) if errors else 1.0,
        "s": seconds / len(chosen),
        "s, always the label": label_s,
    }


def main() -> None:
    """Print both tables; record their rows."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--label-s", type=float, default=13.4)
    add_record_option(parser)
    asked = parser.parse_args()
    known = load_labelled_designs(asked.release, Selection(split=asked.split))
    full = [design for design in known if all(target in design.labels for target in ALL_TARGETS)]
    designs = [design for design in full if design.part in MEASURED]
    training = {t: np.log(values([d for d in full if d.part == "train"], t)) for t in ALL_TARGETS}
    levels = {level: ask(level, designs) for level in LEVELS}
    print_machine()
    print(f"{len(designs)} designs\n")
    head = False
    for level, own in levels.items():
        rows = {t: target_row(own, designs, t, training[t]) for t in ALL_TARGETS}
        names = list(rows[ALL_TARGETS[0]])
        rows["mean"] = {name: float(np.mean([row[name] for row in rows.values()])) for name in names}
        if not head:
            print_header("level", "target", *names)
            head = True
        for target, row in rows.items():
            cells = {n: f"{v:.2f}" if n == "spearman" else f"{v:.1%}" for n, v in row.items()}
            print_row(level, target, *cells.values())
            if asked.record:
                record_cells(SECTION, f"level {level}, {target}: confidence and CRPS", cells, COMMAND)
        print(f"median processor s of level {level}: {np.median(own.seconds):.3f}")
    print()
    head = False
    for within in WITHIN:
        for way, row in selected(levels, designs, asked.label_s, within).items():
            cells = {n: f"{v:.2f}" if n[0] == "s" and n != "static" else f"{v:.1%}" for n, v in row.items()}
            if not head:
                print_header("within", "by", *cells)
                head = True
            print_row(f"{within:.0%}", way, *cells.values())
            if asked.record:
                record_cells(SECTION, f"`--within` {within:.0%}, by {way}", cells, COMMAND)


if __name__ == "__main__":
    main()
