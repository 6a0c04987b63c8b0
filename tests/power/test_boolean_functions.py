"""Liberty's Boolean functions: precedence, truth tables and probabilities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pipelines.power.functions import (
    PowerError,
    parse_function,
    sensitivity_table,
    table_probability,
    truth_table,
)


def table_of(text: str, variables: str, expected: str) -> None:
    """The truth table equals a Python expression over the same variables."""
    found = truth_table(parse_function(text), list(variables))
    for bits in product((0, 1), repeat=len(variables)):
        row = sum(b << k for k, b in enumerate(bits))
        values = {name: bool(b) for name, b in zip(variables, bits, strict=True)}
        assert found >> row & 1 == eval(expected, {}, values), (text, values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A B + C", "(A and B) or C"),
        ("A + B C", "A or (B and C)"),
        ("!A & B", "(not A) and B"),
        ("!(A*B)|C", "(not (A and B)) or C"),
        ("A ^ B C", "(A != B) and C"),
        ("A' B'+C", "(not A and not B) or C"),
        ("(A+B)'", "not (A or B)"),
        ("!!A", "A"),
        ("A ^ B ^ C", "(A != B) != C"),
        ("((S A) + (!S B))", "(S and A) or (not S and B)"),
        ("1 A", "A"),
    ],
)
def test_operators_bind_as_in_liberty(text: str, expected: str) -> None:
    table_of(text, "ABCS", expected)


@pytest.mark.parametrize("text", ["", "A +", "(A", "A)", "A @ B", "+ A"])
def test_parse_function_rejects_what_is_no_expression(text: str) -> None:
    with pytest.raises(PowerError, match="not a Boolean expression of pins in a liberty function"):
        parse_function(text)


def test_truth_table_rejects_more_than_six_inputs() -> None:
    with pytest.raises(PowerError, match="at most 6 inputs, got A, B, C, D, E, F, G"):
        truth_table(parse_function("A B C D E F G"), list("ABCDEFG"))


def test_probability_of_independent_inputs() -> None:
    ones = [np.array([0.25, 1.0]), np.array([0.5, 0.5]), np.array([0.1, 0.0])]
    table = truth_table(parse_function("(A B) + C"), list("ABC"))
    assert table_probability(table, ones).tolist() == pytest.approx([1 - (1 - 0.125) * 0.9, 0.5])
    change = sensitivity_table(table, 0, 3)  # A decides when B is 1 and C is 0
    assert table_probability(change, ones).tolist() == pytest.approx([0.5 * 0.9, 0.5])
