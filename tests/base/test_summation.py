"""Sums of floats do not depend on the version of Python."""

from __future__ import annotations

import math
import random

from pipelines.base.summation import ordered_sum


def test_floats_are_added_from_left_to_right() -> None:
    assert ordered_sum([1e100, 1.0, -1e100]) == 0.0
    assert ordered_sum([0.1] * 10) == 0.9999999999999999
    draw = random.Random(0)
    numbers = [draw.uniform(-1, 1) for _ in range(1000)]
    total = 0.0
    for number in numbers:
        total = total + number
    assert ordered_sum(numbers) == total
    assert math.isclose(total, math.fsum(numbers), abs_tol=1e-9)


def test_integers_stay_exact() -> None:
    assert ordered_sum([2**60, 1]) == 2**60 + 1
    assert isinstance(ordered_sum([1, 2]), int)
    assert ordered_sum([]) == 0
