"""Whether estimates of many designs help level text: errors by the number of designs with an estimate.

    python -m tests.benchmarks.two_fidelities [--release releases/v2] [--estimates releases/v3] [--record]

Few designs have an area or power, all of them have the engine's estimates. A first ensemble of trees learns
the estimates of so many designs from the text. A second one learns the ratio of the labels to its answers,
with the answers as features; about a design of the second, an ensemble answers that did not see its group. No
group of the parts test and evaluation is in either. Cells are median absolute percentage errors on those
parts. `labels` learns the labels alone, as `lightgbm-text` does, and `oracle` has the estimates themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from models.boosted_trees import BoostedTrees
from models.labelled import LabelledDesign, Selection, add_converted_labels, load_labelled_designs
from models.lightgbm import TrainOptions
from models.lightgbm.trees import fit_trees, training_features
from models.query import Query
from models.scheduled import table_features
from pipelines.c import TOOL
from pipelines.schemas import OK, scan_table, table_spec
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, split_names
from tests.benchmarks.recording import add_record_option, record_cells

Matrix = NDArray[np.float64]
TARGETS = {
    "area_um2": "log_estimated_area_um2",
    "flip_flop_count": "log_estimated_flip_flop_count",
    "power_mw": "log_estimated_power_mw",
}
"""Target and the logarithm of its estimate at level hls."""
PARTS = ("test", "evaluation")
FOLDS = 5
_CONFIGURATION = ("memory_read_delay_cycles", "memory_write_delay_cycles", "clock_period_ns", "directives")


def estimated_designs(release: Path, split: str, left_out: frozenset[str]) -> list[LabelledDesign]:
    """Return designs of the training part of a release with their estimates as labels."""
    programs = scan_table(release, table_spec("programs")).select("program_id", "source", "top", "inputs")
    places = scan_table(release, table_spec("splits")).filter(split=split, part="train")
    known = scan_table(release, table_spec("features")).select("design_id")
    rows = scan_table(release, table_spec("designs")).filter(status=OK, tool=TOOL)
    rows = rows.join(known, on="design_id", how="semi").join(programs, on="program_id")
    joined = rows.join(places, on="program_id").filter(~pl.col("group").is_in(sorted(left_out)))
    designs = [
        LabelledDesign(
            design_id=row["design_id"],
            program_id=row["program_id"],
            group=row["group"],
            part="train",
            query=Query(**{name: row[name] for name in ("source", "top", "inputs", *_CONFIGURATION)}),
            loops=(),
            labels={},
        )
        for row in joined.sort("design_id").collect().iter_rows(named=True)
    ]
    features = table_features(release, designs, "hls")
    return [
        replace(design, labels={target: float(np.exp(row[name])) for target, name in TARGETS.items()})
        for design, row in zip(designs, features, strict=True)
    ]


def fitted(features: Matrix, logs: Matrix) -> list[BoostedTrees]:
    """Return trees for columns of logarithms (rows, targets)."""
    return [fit_trees(features, column, TrainOptions(), 0) for column in logs.T]


def answers_of(trees: Sequence[BoostedTrees], features: Matrix) -> Matrix:
    """Return the logarithms of answers, (rows, targets)."""
    return np.column_stack([own.predict(features) for own in trees])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Designs with features (rows, features) and logarithms of labels (rows, TARGETS), NaN for none."""

    features: Matrix
    logs: Matrix
    groups: NDArray[np.str_]
    parts: NDArray[np.str_]

    @classmethod
    def of(cls, designs: Sequence[LabelledDesign], features: Matrix) -> Rows:
        """Return the rows of designs with labels."""
        labels = [[design.labels.get(target, np.nan) for target in TARGETS] for design in designs]
        return cls(
            features=features,
            logs=np.log(labels),
            groups=np.array([design.group for design in designs]),
            parts=np.array([design.part for design in designs]),
        )

    def at(self, chosen: NDArray[np.bool_]) -> Rows:
        """Return some of the rows."""
        return Rows(
            features=self.features[chosen],
            logs=self.logs[chosen],
            groups=self.groups[chosen],
            parts=self.parts[chosen],
        )


def first_answers(estimated: Rows, asked: Rows) -> Matrix:
    """Return the first ensemble's logarithms about designs, by ensembles that did not see their group."""
    answers = np.zeros((len(asked.features), len(TARGETS)))
    folds = np.array_split(np.random.default_rng(0).permutation(np.unique(asked.groups)), FOLDS)
    for fold in folds:
        rest = estimated.at(~np.isin(estimated.groups, fold))
        held = np.isin(asked.groups, fold)
        answers[held] = answers_of(fitted(rest.features, rest.logs), asked.features[held])
    return answers


def errors_of(learned: Rows, judged: Rows, starts: tuple[Matrix, Matrix] | None) -> dict[str, float]:
    """Return the median errors of trees for the ratio of labels to starts, which are features, too.

    Args: starts: of both rows, (rows, TARGETS); None for the labels alone.
    """
    zero = np.zeros(())
    first, second = starts or (zero, zero)
    here, there = (
        own.features if starts is None else np.column_stack([own.features, more])
        for own, more in ((learned, first), (judged, second))
    )
    errors: dict[str, float] = {}
    for column, target in enumerate(TARGETS):
        logs = (learned.logs - first)[:, column]
        known = np.isfinite(logs)
        answers = fit_trees(here[known], logs[known], TrainOptions(), 0).predict(there)
        ratios = np.abs(np.exp(answers - (judged.logs - second)[:, column]) - 1.0)
        for part in PARTS:
            errors[f"{target}, {part}"] = float(np.nanmedian(ratios[judged.parts == part]))
    return errors


def main() -> None:
    """Print a row per number of designs with an estimate; record them."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--estimates", type=Path, default=Path("releases/v3"))
    parser.add_argument("--estimates-split", default="by_kernel_v3")
    parser.add_argument("--counts", default="500,1000,2000,4000,8000")
    add_record_option(parser)
    given = parser.parse_args()
    known = load_labelled_designs(given.release, Selection(split=given.split))
    designs = [d for d in add_converted_labels(known, given.release, "osu035") if "area_um2" in d.labels]
    judged_groups = frozenset(d.group for d in known if d.part in PARTS)
    cheap = estimated_designs(given.estimates, given.estimates_split, judged_groups)
    rows = training_features(given.release, [*designs, *cheap], "text", {})
    names = list(rows[0])
    matrix = np.array([[row[name] for name in names] for row in rows], np.float64)
    labelled = Rows.of(designs, matrix[: len(designs)])
    estimated = Rows.of(cheap, matrix[len(designs) :])
    learned, judged = (labelled.at(np.isin(labelled.parts, own)) for own in (["train"], PARTS))
    print_machine()
    print(f"{len(learned.features)} designs with labels, {len(cheap)} with estimates\n")
    head = errors_of(learned, judged, None)
    print_header("designs with estimates", *head)
    row("labels", head, record_it=given.record)
    order = np.random.default_rng(0).permutation(np.unique(estimated.groups)).tolist()
    place = {group: n for n, group in enumerate(order)}
    ranks = np.argsort([place[group] for group in estimated.groups.tolist()], kind="stable")
    for count in (n for n in map(int, split_names(given.counts)) if n < 2 * len(cheap)):
        chosen = np.zeros(len(cheap), np.bool_)
        chosen[ranks[:count]] = True
        few = estimated.at(chosen)
        starts = first_answers(few, learned), answers_of(fitted(few.features, few.logs), judged.features)
        row(f"{len(few.features)}", errors_of(learned, judged, starts), record_it=given.record)
    truth = table_features(given.release, designs, "hls")
    exact = np.array([[own[name] for name in TARGETS.values()] for own in truth])
    own = [exact[np.isin(labelled.parts, parts)] for parts in (["train"], PARTS)]
    row("oracle", errors_of(learned, judged, (own[0], own[1])), record_it=given.record)


def row(name: str, errors: Mapping[str, float], *, record_it: bool) -> None:
    """Print and record a row."""
    cells = {target: f"{error:.1%}" for target, error in errors.items()}
    print_row(name, *cells.values())
    if record_it:
        record_cells(
            "Two fidelities",
            f"two fidelities at level text, {name} designs with estimates",
            cells,
            "python -m tests.benchmarks.two_fidelities",
        )


if __name__ == "__main__":
    main()
