"""Confidence of predictors on test programs, on the evaluation suite, and on MachSuite.

    python -m tests.benchmarks.foreign_programs FOLDER... [--release releases/v1] [--programs 40]

FOLDER holds a trained predictor (`simfoundry train NAME --out FOLDER`). Of every program one design is asked,
the first by identity, of at most so many programs per part. MachSuite is a family that no training part has;
it has no labels here, so only its confidence is shown. `rank` is Spearman's correlation of confidence and
mean absolute percentage error over targets, over the labelled programs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.catalogue import predictor_named
from models.labelled import LabelledDesign, Query, Selection, load_labelled_designs
from models.metrics import spearman
from models.model_files import read_model
from pipelines.programs import MACHSUITE_SIZES, machsuite_programs

PARTS = ("train", "test", "evaluation")


def first_designs(designs: Sequence[LabelledDesign], part: str, count: int) -> list[LabelledDesign]:
    """One design per program of a part, at most so many, spread over the programs in order of identity."""
    own = list({d.program_id: d for d in reversed(designs) if d.part == part}.values())
    step = max(1, len(own) // count)
    return own[::step][:count]


def foreign_queries(count: int) -> list[Query]:
    """Questions about MachSuite's kernels."""
    return [
        Query(
            source=program.source,
            top=program.top,
            memory_read_delay_cycles=10,
            memory_write_delay_cycles=10,
            clock_period_ns=10.0,
            inputs=program.inputs,
        )
        for program in machsuite_programs(sizes=MACHSUITE_SIZES[:1])[:count]
    ]


def answers_of(predictor: Any, queries: Sequence[Query]) -> list[Any]:
    """Estimates of the queries that can be answered; None for one that cannot."""
    found: list[Any] = []
    for query in queries:
        try:
            found += predictor.predict([query])
        except ValueError:
            found.append(None)
    return found


def rows_of(folder: Path, designs: Sequence[LabelledDesign], count: int) -> list[str]:
    """Markdown rows of a predictor: one per part, MachSuite last."""
    name = read_model(folder)[0]
    predictor = predictor_named(name).load(folder)
    lines: list[str] = []
    pairs: list[tuple[float, float]] = []
    for part in PARTS:
        chosen = first_designs(designs, part, count)
        answers = answers_of(predictor, [design.query for design in chosen])
        own = [(a.confidence, _error(d, a)) for d, a in zip(chosen, answers, strict=True) if a is not None]
        pairs += own if part != "train" else []
        lines.append(_row(name, part, [c for c, _ in own], [e for _, e in own]))
    foreign = [a for a in answers_of(predictor, foreign_queries(count)) if a is not None]
    lines.append(_row(name, "MachSuite", [a.confidence for a in foreign], []))
    known = [(c, e) for c, e in pairs if np.isfinite(e)]
    rank = spearman(*np.array(known, np.float64).T) if known else float("nan")
    return [*lines, f"| {name} | rank of confidence and error |  | {rank:.2f} |  |"]


def _error(design: LabelledDesign, estimate: Any) -> float:
    pairs = [(estimate.values[t], design.labels[t]) for t in estimate.values if t in design.labels]
    return float(np.mean([abs(predicted / actual - 1.0) for predicted, actual in pairs]))


def _row(name: str, part: str, confidences: Sequence[float], errors: Sequence[float]) -> str:
    middle = f"{np.median(confidences):.2f}" if confidences else ""
    low = f"{np.mean(np.asarray(confidences) < 0.05):.0%}" if confidences else ""
    error = f"{100 * np.nanmedian(errors):.1f}" if errors else ""
    return f"| {name} | {part} ({len(confidences)}) | {middle} | {low} | {error} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Confidence on foreign programs.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--release", type=Path, default=Path("releases/v1"))
    parser.add_argument("--split", default="by_kernel_v1")
    parser.add_argument("--programs", type=int, default=40)
    options = parser.parse_args(arguments)
    designs = load_labelled_designs(options.release, Selection(split=options.split))
    sys.stdout.write("| predictor | programs | median confidence | below 0.05 | median error % |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- |\n")
    for folder in options.folders:
        sys.stdout.write("\n".join(rows_of(folder, designs, options.programs)) + "\n")


if __name__ == "__main__":
    main()
