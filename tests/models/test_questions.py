"""Rows with the columns of a question, as a served model gets them."""

from __future__ import annotations

import math
import re

import pytest

from models.base import PredictorError, queries_of

ROW = {
    "source": "void f(int a[4]) { a[0] = 1; }",
    "top": "f",
    "memory_read_delay_cycles": 2,
    "memory_write_delay_cycles": 2,
    "clock_period_ns": 10.0,
    "directives": "[]",
}


def test_rows_become_questions() -> None:
    (query,) = queries_of([ROW | {"data": math.nan}])
    assert (query.top, query.clock_period_ns, query.data) == ("f", 10.0, "")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("clock_period_ns", math.nan, "clock_period_ns must be 0.1 to 1000, got nan"),
        ("clock_period_ns", "fast", "could not convert string to float: 'fast'"),
        ("memory_read_delay_cycles", -1, "memory_read_delay_cycles must be 1 to 1000, got -1"),
        ("memory_write_delay_cycles", math.inf, "cannot convert float infinity to integer"),
    ],
)
def test_rows_reject_what_no_design_has(column: str, value: object, message: str) -> None:
    with pytest.raises(PredictorError, match=f"^row 1: {re.escape(message)}"):
        queries_of([ROW, ROW | {column: value}])
