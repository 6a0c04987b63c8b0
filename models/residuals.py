"""Residuals of predictors of labels, from which their intervals and confidence are calibrated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from models.base import Estimate
from models.intervals import Residual
from models.labelled import LabelledDesign


def design_residuals(
    designs: Sequence[LabelledDesign], estimates: Sequence[Estimate], part: str | None = None
) -> list[Residual]:
    """Return the residuals of estimates of designs. part: another than that of the split."""
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
