"""Residuals of predictors of labels, from which their intervals and confidence are calibrated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from models.base import Estimate, LabelPredictor
from models.catalogue import TrainingInput
from models.intervals import CALIBRATING, MEASURED, Residual
from models.labelled import LabelledDesign, training_designs


def query_residuals(predictor: LabelPredictor, data: TrainingInput) -> list[Residual]:
    """Residuals of a predictor's answers to the questions about designs that it did not learn from.

    Raises: DatasetError: the tables cannot be trained on. PredictorError: a design is not answered.
    """
    designs = training_designs(data.data_dirs, data.options)
    asked = [design for design in designs if design.part in (CALIBRATING, *MEASURED)]
    return design_residuals(asked, predictor.predict([design.query for design in asked]))


def design_residuals(
    designs: Sequence[LabelledDesign], estimates: Sequence[Estimate], part: str | None = None
) -> list[Residual]:
    """Residuals of estimates of designs. part: another than that of the split."""
    return [
        Residual(
            target=target,
            family=design.family,
            group=design.group,
            part=part or design.part,
            actual=design.labels[target],
            predicted=value,
            difficulty=estimate.difficulty,
        )
        for design, estimate in zip(designs, estimates, strict=True)
        for target, value in estimate.values.items()
        if target in design.labels and math.isfinite(value)
    ]
