"""Refusals of the front end: each with its line, most with an alternative."""

from __future__ import annotations

from random import Random

import pytest
from test_program_cases import FOLDER, PROGRAM_KEYS

from pipelines.c import HlsError, default_top, interface_of, read_function
from pipelines.c.plain_arguments import with_plain_arguments
from tests.support.case_files import sources_of


def body_of(text: str, parameters: str = "int n, int A[8]") -> str:
    return f"int f({parameters})\n{{\n{text}\n return 0;\n}}\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", r"a program must have a function, got an empty file \(f\.c\)"),
        (
            "int f(int n) { return " + "(" * 3000 + "n" + ")" * 3000 + "; }",
            r".*must nest at most 100 deep.*:1.*|.*C11.*",
        ),
        (
            body_of("".join(f"if (n > {i}) " for i in range(120)) + "n = 0;"),
            r"statements must nest at most 100 deep, .*, got more .*",
        ),
        (
            "static void a(int *x) { " + "x[0]++;" * 100 + "}\n"
            "static void b(int *x) { " + "a(x);" * 100 + "}\n"
            "static void c(int *x) { " + "b(x);" * 100 + "}\n" + body_of("c(A);"),
            r"a program must have at most 200000 statements after inlining, got more .*",
        ),
    ],
    ids=["empty", "parentheses", "conditions", "statements"],
)
def test_front_end_rejects_what_is_empty_or_too_large(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}$"):
        read_function(source, top="f", file="f.c")


def test_front_end_rejects_a_large_file() -> None:
    with pytest.raises(
        HlsError, match=r"^a program must be at most 4194304 bytes, got 10000\d+ bytes \(f\.c\)$"
    ):
        read_function("int f(void) { return 1; }" + " " * 10_000_000, top="f", file="f.c")


def test_mangled_programs_are_read_or_refused() -> None:
    """Dropped, doubled and exchanged tokens raise no other exception than a refusal."""
    random = Random(11)
    sources = list(sources_of(FOLDER / "programs" / "language.c", PROGRAM_KEYS).values())
    read = 0
    for _ in range(60):
        tokens = random.choice(sources).split(" ")
        for _ in range(random.choice((1, 1, 2))):
            first, second = random.randrange(len(tokens)), random.randrange(len(tokens))
            tokens[first] = random.choice((tokens[second], "", tokens[first] + " " + tokens[first], "0", "*"))
        try:
            interface_of(read_function(" ".join(tokens), top="f"))
            read += 1
        except HlsError:
            continue
    assert 0 < read < 60


def test_a_long_chain_of_conditions_has_its_line_and_limit() -> None:
    chain = "else ".join(f"if (n == {number}) {{ r = {number}; }}\n" for number in range(300))
    message = r"statements must nest at most 100 deep, each else-if as one level .*\(program\.c:102\)$"
    with pytest.raises(HlsError, match=message):
        read_function(f"int f(int n) {{\nint r = 0;\n\n{chain}return r; }}", top="f")
    terms = " +\n".join(f"n * {number}" for number in range(3000))
    with pytest.raises(HlsError, match=r"an expression must nest at most 200 deep .*\(program\.c:\d+\)$"):
        read_function(f"int f(int n) {{\nreturn {terms}; }}", top="f")


@pytest.mark.parametrize("terms", [205, 300, 600, 1000, 10_000])
def test_a_sum_of_any_length_above_the_limit_has_one_refusal(terms: int) -> None:
    text = f"int q(int a)\n{{ return {'+'.join(['a'] * terms)}; }}\n"
    message = r"^an expression must nest at most 200 deep \(write several statements\), got more \(q\.c:2\)$"
    assert default_top(text, "q") == "q"
    assert with_plain_arguments(text, "q") == (text, "q")
    with pytest.raises(HlsError, match=message):
        read_function(text, top="q", file="q.c")
