from __future__ import annotations

from dataclasses import dataclass

import pytest

from models.catalogue import PredictorSpec, predictors
from models.options import Count, Dropout, LabelOptions, ordered_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(LabelOptions):
    width: Count = 4
    dropout: Dropout = 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "width out of range: 0; accepted: at least 1"),
        ({"dropout": 1}, "dropout out of range: 1; accepted: from 0 to below 1"),
        ({"bootstrap_resamples": 0}, "bootstrap_resamples out of range: 0; accepted: at least 1"),
    ],
)
def test_options_reject_values_outside_the_range_of_their_field(
    change: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Options(**change)  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", [s for s in predictors() if issubclass(s.options, LabelOptions)])
def test_options_of_labels_begin_with_the_selection_and_end_with_the_leaderboard(spec: PredictorSpec) -> None:
    names = [field.name for field in ordered_fields(spec.options)]
    assert (names[:3], names[-1]) == (["split", "tool", "liberty"], "bootstrap_resamples")
