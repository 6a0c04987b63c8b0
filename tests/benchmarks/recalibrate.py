"""Calibrate the intervals and the confidence of trained weights again; the weights stay as they are.

    python -m tests.benchmarks.recalibrate NAME... --tables releases/v2 [--folder FOLDER]

Weights that come with the project, or one predictor in FOLDER. The tables are those of the training.
Trees are trained again without each suite of programs, some 5 s per suite after the features are made. The
outcome of the training is replaced; the table shows the share of labels inside on the test and evaluation
parts, and the median error of the answers of the highest confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.base import LabelPredictor, TrainOutcome
from models.catalogue import PredictorSpec, TrainingInput, predictor_named
from models.intervals import CALIBRATING, MEASURED, Residual, calibrate, measure_intervals
from models.labelled import training_designs
from models.lightgbm.trees import TreePredictor, left_out_answers, load_data, tree_residuals
from models.model_files import read_outcome, update_outcome
from models.numeric_lm.data import load_examples
from models.numeric_lm.predictor import NumericPredictor
from models.numeric_lm.train import judge_examples, residual_rows
from models.residuals import design_residuals
from tests.benchmarks.harness import options_parser, print_row

_JUDGED = (CALIBRATING, *MEASURED)


def main(arguments: Sequence[str] | None = None) -> None:
    """Calibrate and print the figures."""
    parser = options_parser(__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--tables", type=Path, default=Path("releases/v2"))
    parser.add_argument("--folder", type=Path, help="Folder of the trained predictor.")
    options = parser.parse_args(arguments)
    for name in options.names:
        spec = predictor_named(name)
        folder = options.folder or spec.shipped_folder
        outcome = read_outcome(folder)
        if outcome is None:
            raise SystemExit(f"no outcome of a training: {folder}")
        outcome = calibrated(spec, outcome, options.tables)
        update_outcome(outcome)
        for target, figures in sorted(outcome.intervals.items()):
            shares = " | ".join(f"{figures[part]:.0%}" if part in figures else "" for part in MEASURED)
            risks = [f"{value:.1%}" for key, value in figures.items() if key.startswith("risk_")]
            line = (f"`{name}`", f"`{target}`", shares, f"{figures.get('factor', 0):.2f}", *risks)
            print_row(*line)


def calibrated(spec: PredictorSpec[Any], outcome: TrainOutcome, data_dir: Path) -> TrainOutcome:
    """The outcome with intervals and confidence calibrated on the tables of its training."""
    data = TrainingInput(
        data_dirs=(data_dir,),
        dataset_hash=outcome.dataset_hash,
        options=spec.options_from(outcome.parameters),
        seed=outcome.seed,
    )
    residuals = residuals_of(spec.load(outcome.folder), data)
    calibration = calibrate(residuals)
    return replace(outcome, calibration=calibration, intervals=measure_intervals(residuals, calibration))


def residuals_of(predictor: LabelPredictor, data: TrainingInput) -> list[Residual]:
    """Residuals of a trained predictor's answers about designs that it did not learn from."""
    if isinstance(predictor, TreePredictor):
        known = load_data(data, predictor.level)
        return tree_residuals(predictor, known, left_out_answers(known))
    if isinstance(predictor, NumericPredictor):
        loaded = load_examples(data.data_dirs, data.options, predictor.card.level)
        examples = [e for e in loaded.examples if e.design.part in _JUDGED and e.is_drawn]
        return residual_rows(judge_examples(predictor, examples))
    designs = training_designs(data.data_dirs, data.options)
    asked = [design for design in designs if design.part in _JUDGED]
    return design_residuals(asked, predictor.predict([design.query for design in asked]))


if __name__ == "__main__":
    main()
