"""Limits of questions from outside: what is refused, with the place and what is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from models.base import PredictorError, queries_of
from models.label_tasks import QUERY
from models.limits import LimitError, Limits

GOOD: dict[str, Any] = {column.name: column.example for column in QUERY}


def test_the_example_of_a_question_is_within_limits() -> None:
    Limits().check_rows([GOOD, {**GOOD, "data": None}], QUERY)
    del (least := dict(GOOD))["data"]
    Limits().check_rows([least], QUERY)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"top": None}, "no value of column top"),
        ({"color": "red"}, "unknown column: 'color'; accepted: source, top, "),
        ({"source": 7}, "source: 7; accepted: text"),
        ({"source": "a\0b"}, "source: a character NUL; accepted: text without it"),
        ({"source": "\ud800"}, "source: not Unicode text"),
        ({"source": "é" * 40}, "source: 80 bytes of text; accepted: at most 79"),
        ({"memory_read_delay_cycles": 0}, "memory_read_delay_cycles: 0; accepted: 1 to 1000"),
        ({"memory_read_delay_cycles": 1.5}, "memory_read_delay_cycles: 1.5; accepted: a whole number"),
        ({"memory_read_delay_cycles": True}, "memory_read_delay_cycles: True; accepted: a number"),
        ({"memory_read_delay_cycles": "2"}, "memory_read_delay_cycles: '2'; accepted: a number"),
        ({"clock_period_ns": float("nan")}, "clock_period_ns: nan; accepted: a finite number"),
        ({"clock_period_ns": 10**400}, "clock_period_ns: a number of more than 70 bits; accepted: "),
        ({"clock_period_ns": 1e9}, "clock_period_ns: 1000000000.0; accepted: 0.1 to 1000"),
        ({"unsafe_math": 2}, "unsafe_math: 2; accepted: 0 to 1"),
    ],
)
def test_limits_refuse_a_value(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LimitError) as error:
        Limits(text_bytes=79).check_rows([GOOD, {**GOOD, **change}], QUERY)
    assert str(error.value).startswith(f"row 1: {said}")


def test_limits_refuse_rows() -> None:
    with pytest.raises(LimitError, match=r"^3 rows; accepted: 1 to 2 per request$"):
        Limits(rows=2).check_rows([GOOD] * 3, QUERY)
    with pytest.raises(LimitError, match=r"^0 rows; "):
        Limits().check_rows([], QUERY)
    with pytest.raises(LimitError, match=r"^row 0: not an object: 1; accepted: values by column$"):
        Limits().check_rows([1], QUERY)


@pytest.mark.parametrize(
    "change", [{"directives": "[1]"}, {"directives": "{}"}, {"data": "["}, {"data": "[1]"}]
)
def test_questions_are_checked_whether_a_predictor_reads_the_column_or_not(change: dict[str, Any]) -> None:
    with pytest.raises(PredictorError, match=r"^row 1: "):
        queries_of([GOOD, {**GOOD, **change}])
