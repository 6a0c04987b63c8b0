"""Facts about index expressions: ranges, residues, differences, boxes."""

from __future__ import annotations

from itertools import product

import pytest

from pipelines.c import ir, read_function
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.facts import Facts
from pipelines.hls.transforms.burst import coordinates


def indices(body: str) -> list[tuple[Affine, Facts]]:
    """Forms of the indices of the stores to A in program order, each with the facts there."""
    function = read_function(f"void f(int n, unsigned u, int A[64], int K[64]) {{ {body} }}", top="f")
    pairs: list[tuple[Affine, Facts]] = []

    def walk(statements: tuple[ir.Statement, ...], facts: Facts) -> None:
        for statement in statements:
            if isinstance(statement, ir.Store) and statement.array.name == "A":
                pairs.append((facts.read(statement.indices[0]), facts.snapshot()))
            for inner, inner_facts in facts.inside(statement):
                walk(inner, inner_facts)
            facts.after(statement)

    walk(function.body, Facts())
    return pairs


RANGES = {
    "for (int i = 3; i < 9; i++) A[i] = 0;": (3, 8),
    "for (int i = 3; i < 9; i += 2) A[2 * i + 1] = 0;": (7, 15),
    "for (int i = 9; i >= 2; i -= 3) A[i] = 0;": (3, 9),
    "for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) A[i - j] = 0;": (1, 7),
    "for (int i = 0; i < 8; i++) for (int j = i; j < 8; j++) A[j - i] = 0;": (0, 7),
    "for (int i = 0; i < 60; i += 8) for (int j = i; j < (i + 8 < 60 ? i + 8 : 60); j++) A[j - i] = 0;": (
        0,
        7,
    ),
    "for (int i = 0; i < 8; i++) { int t = i * 4; A[t + 2] = 0; }": (2, 30),
    "A[n & 15] = 0;": (0, 15),
    "for (int i = 0; i < 20; i++) A[i / 3] = 0;": (0, 6),
    "for (int i = 0; i < 20; i++) A[i % 6 + 1] = 0;": (1, 6),
    "for (int i = 0; i < 20; i++) A[i >> 2] = 0;": (0, 4),
    "for (unsigned i = 2; i < 9; i++) A[i - 1] = 0;": (1, 7),
    "for (unsigned char i = 2; i < 9; i++) A[i] = 0;": (2, 8),
    "for (unsigned i = 5; i < u; i += 8) A[i] = 0;": (0, (1 << 32) - 1),
    "A[n > 5 ? 5 : n] = 0;": (-(1 << 31), 5),
}


@pytest.mark.parametrize("body", RANGES)
def test_ranges_hold(body: str) -> None:
    ((form, facts),) = indices(body)
    low, high = facts.interval(form)
    assert (low, high) == RANGES[body]


def test_unsigned_arithmetic_that_may_wrap_is_not_exact() -> None:
    ((wrapping, _), (safe, _)) = indices("A[u - 1] = 0; for (unsigned i = 1; i < 9; i++) A[i - 1] = 0;")
    assert not wrapping.exact
    assert safe.exact


RESIDUES = {
    "for (int i = 1; i < 60; i += 4) A[i + 2] = 0;": (3, 4),
    "for (int i = 0; i < 8; i++) A[6 * i + 4] = 0;": (4, 6),
    "for (int i = 0; i < 8; i++) for (int j = 4 * i; j < 60; j += 8) A[j + 1] = 0;": (1, 4),
    "for (int i = 63; i >= 0; i -= 4) A[i] = 0;": (3, 4),
    "A[n & 60] = 0;": (0, 4),
    "A[5] = 0;": (5, 0),
}


@pytest.mark.parametrize("body", RESIDUES)
def test_residues_hold(body: str) -> None:
    ((form, facts),) = indices(body)
    assert facts.residue(form) == RESIDUES[body]


DIFFERENT = {
    "A[n] = 0; A[n + 1] = 0;": True,
    "A[u] = 0; A[u + 1] = 0;": True,
    "A[n] = 0; A[2 * n] = 0;": False,
    "A[2 * n] = 0; A[2 * n + 3] = 0;": True,
    "for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) { A[i] = 0; A[j] = 0; }": True,
    "for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) { A[i] = 0; A[j] = 0; }": False,
    "for (int i = 0; i < 8; i += 2) for (int j = 1; j < 8; j += 2) { A[i] = 0; A[j] = 0; }": True,
    "for (int i = 0; i < 8; i++) { A[i] = 0; A[K[i]] = 0; }": False,
    "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) { A[i] = 0; A[j] = 0; }": True,
}


@pytest.mark.parametrize("body", DIFFERENT)
def test_differences_are_proved(body: str) -> None:
    (first, _), (second, facts) = indices(body)
    assert facts.differs(first, second) is DIFFERENT[body]


def test_a_changed_variable_is_another_one() -> None:
    (first, _), (second, _) = indices("int t = 3; A[t] = 0; t = K[0]; A[t] = 0;")
    assert first == Affine((), 3)
    assert second.terms
    ((inside, _),) = indices("int t = 3; for (int i = 0; i < 8; i++) { A[t] = 0; t = K[i]; }")
    assert inside == Affine((("t", 1),))


def test_flat_indices_have_coordinates() -> None:
    shape = (3, 4, 5)
    body = (
        "for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) for (int k = 1; k < 5; k++)"
        " A[20 * i + 5 * (j + 1) + k - 1] = 0;"
    )
    ((form, facts),) = indices(body)
    split = coordinates(form, shape, facts)
    assert split is not None
    for i, j, k in product(range(3), range(3), range(1, 5)):
        values = {"i": i, "j": j, "k": k}
        places = [f.constant + sum(c * values[leaf] for leaf, c in f.terms) for f in split]
        assert places == [i, j + 1, k - 1]
    assert coordinates(form.shifted(2), shape, facts) is None
