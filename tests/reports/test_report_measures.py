from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pipelines.dataset.reports import ReportError
from pipelines.dataset.reports.drawing.axes import TICK_LIMIT, Scale
from pipelines.dataset.reports.drawing.markup import (
    coefficient,
    deviation,
    figure,
    percent,
    signed_percent,
    tick,
)
from pipelines.dataset.reports.statistics import log_histogram, log_range, quantiles_of, spearman


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    frame = pl.DataFrame({"one": one, "other": other}, schema={"one": pl.Float64, "other": pl.Float64})
    return frame.select(spearman(pl.col("one"), pl.col("other"))).item()


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=30))
def test_spearman_is_that_of_scipy_where_both_sides_change(pairs: list[tuple[int, int]]) -> None:
    one, other = ([float(value) for value in side] for side in zip(*pairs, strict=True))
    found = correlation(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(scipy.stats.spearmanr(one, other).statistic)


def test_spearman_leaves_out_holes() -> None:
    one = [1.0, 2.0, 3.0, math.nan, 5.0]
    other = [10.0, 20.0, 30.0, 1.0, math.nan]
    assert correlation(one, other) == pytest.approx(1.0)
    assert correlation(one[1:], other[1:]) is None


def test_quantiles_are_those_of_numpy_without_holes() -> None:
    found = quantiles_of(pl.Series([4.0, math.nan, 1.0, 2.0, 3.0, math.inf, None]))
    assert (found.count, found.minimum, found.median, found.maximum) == (4, 1.0, 2.5, 4.0)
    assert found.p5 == pytest.approx(1.15)


def test_quantiles_rejects_a_sample_without_values() -> None:
    with pytest.raises(ReportError, match="a sample must have a finite value, got 2 without one"):
        quantiles_of(pl.Series([math.nan, math.nan]))


def test_histograms_share_their_bins_and_lose_no_value() -> None:
    samples = [pl.Series([1.0, 10.0, 100.0]), pl.Series([0.0, 1000.0, math.nan])]
    span = log_range(samples)
    assert span == (1.0, 1000.0)
    first = log_histogram(samples[0], *span, bins=3)
    assert first.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert log_histogram(samples[1], *span, bins=3).shares == (0.0, 0.0, 1.0)


def test_a_constant_label_has_a_range_around_it() -> None:
    assert log_range([pl.Series([8.0, 8.0])]) == pytest.approx((6.4, 10.0))
    assert log_range([pl.Series([0.0])]) is None


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6), st.booleans(), st.floats(0, 200), st.floats(1, 400))
def test_ticks_are_few_ascending_and_inside(
    low: float, ratio: float, logarithmic: bool, start: float, length: float
) -> None:
    scale = Scale(low=low, high=low * ratio, start=start, end=start + length, logarithmic=logarithmic)
    ticks = scale.ticks()
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= TICK_LIMIT + 1
    assert all(start - 1e-6 <= scale.coordinate(t) <= start + length + 1e-6 for t in ticks)


def test_a_scale_keeps_values_inside() -> None:
    scale = Scale(low=1.0, high=100.0, start=0.0, end=10.0)
    assert [scale.coordinate(v) for v in (0.0, 1.0, 10.0, 100.0, 1e9)] == pytest.approx([0, 0, 5, 10, 10])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.01234, "0.0123"),
        (24.04, "24.0"),
        (63.0, "63"),
        (999.6, "1,000"),
        (1234.0, "1,230"),
        (9994.0, "9,990"),
        (9996.0, "10.0k"),
        (152_000.0, "152k"),
        (1.1e6, "1.10M"),
        (0.000012, "1.2e-5"),
        (math.nan, "–"),
        (-3.456, "-3.46"),
    ],
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figure(value) == text


def test_words_for_numbers() -> None:
    assert [tick(v) for v in (0.01, 2.0, 1000.0, 2.5e6, -0.5)] == ["0.01", "2", "1k", "2.5M", "−0.5"]
    assert [percent(v, digits=1) for v in (0.0, 0.0004, 0.5, 0.9999, 1.0)] == [
        "0.0 %",
        "<0.1 %",
        "50.0 %",
        ">99.9 %",
        "100.0 %",
    ]
    assert [signed_percent(v) for v in (0.0312, -0.124, 0.0)] == ["+3.1 %", "−12 %", "0.0 %"]
    assert [coefficient(v) for v in (0.871, -0.05, 1.0, -0.001, None)] == [".87", "−.05", "1", ".00", "–"]
    assert [deviation(v) for v in (0.0123, -0.0002, 0.0)] == ["+1.23 %", "−0.0200 %", "0 %"]
