"""Dead assignments are removed where no read sees them and kept where one does."""

from __future__ import annotations

import pytest

from pipelines.c import ir, read_function
from pipelines.c.analysis.liveness import remove_dead_values


def assigned(body: str) -> list[str]:
    """Lines of the remaining assignments."""
    source = f"int f(int n, int A[8]) {{\n{body}\n}}\n"
    function = remove_dead_values(read_function(source, top="f"))
    assignments = [s for s in ir.walk_statements(function.body) if isinstance(s, ir.Assign)]
    lines = source.splitlines()
    return [lines[s.line - 1].strip() for s in assignments]


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("int x = 1;\nx = 2;\nreturn x;", ["x = 2;"]),
        ("int x = 1;\nif (n)\nx = 2;\nreturn x;", ["int x = 1;", "x = 2;"]),
        ("int x = 1;\nwhile (A[x])\nx += 2;\nx = 3;\nreturn 1;", ["int x = 1;", "x += 2;"]),
        ("int x = 1;\nwhile (n) {\nA[0] = x;\nx = 2;\n}\nreturn 1;", ["int x = 1;", "x = 2;"]),
        ("int x = 1;\nwhile (A[0]) {\nx = 5;\nA[0] = x;\n}\nreturn 1;", ["x = 5;"]),
    ],
)
def test_an_assignment_stays_when_a_read_sees_it(body: str, kept: list[str]) -> None:
    assert assigned(body) == kept


def test_the_variable_of_a_loop_may_be_set_dead_after_it() -> None:
    body = "int k;\nfor (k = 0; k < 8; k++)\nA[k] = n;\nk = 9;\nreturn 0;"
    assert assigned(body) == []
