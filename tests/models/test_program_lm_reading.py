"""Programs as the embedded model reads them: scopes, ranges and sites."""

from __future__ import annotations

import pytest
from program_lm_support import PROGRAM

from models.program_lm import TrainingOptions
from models.program_lm.reading import read_program
from models.program_lm.symbols import ReadProgram, Site, SourceError, Symbol
from models.program_lm.training import corpus


def _text(program: ReadProgram, site: Site) -> str:
    return " ".join(t.text for t in program.tokens[site.first : site.last])


def _site(program: ReadProgram, kind: str, text: str) -> Site:
    return next(s for s in program.sites if s.kind == kind and _text(program, s) == text)


def _scope(site: Site) -> dict[str, Symbol]:
    return {symbol.name: symbol for symbol in site.scope}


def test_sites_are_expressions_conditions_statements_and_loops() -> None:
    program = read_program(PROGRAM)
    assert _site(program, "condition", "part [ j ] > 0").depth == 3
    assert _site(program, "expression", "scale * 0.37f + soft [ j ]").integer is False
    assert _site(program, "expression", "x [ i ] [ j ] + 1").integer
    assert _site(program, "statement", "out [ i ] = total >> 2 ;").single is False
    assert _site(program, "statement", "part [ j ] = x [ i ] [ j ] + 1 ;").single
    loops = [_text(program, s).split("{")[0] for s in program.sites if s.kind == "loop"]
    assert len(loops) == 5


def test_names_that_steer_loops_are_not_assigned() -> None:
    scope = _scope(read_program(PROGRAM).sites[-1])
    assert not scope["rows"].assignable
    assert not scope["x"].assignable
    assert scope["out"].assignable
    statements = [
        _text(read_program(PROGRAM), s) for s in read_program(PROGRAM).sites if s.kind == "statement"
    ]
    assert "bits >>= 1 ;" not in statements


def test_ranges_come_from_heads_and_from_subscripts() -> None:
    program = read_program(PROGRAM)
    inner = _scope(_site(program, "statement", "part [ j ] = x [ i ] [ j ] + 1 ;"))
    assert inner["j"].interval == (0, 5)
    assert inner["i"].interval == (0, 3)  # from x[i] and out[i], as rows is known at run time only
    tiles = _scope(_site(program, "condition", "part [ j ] > 0"))
    assert tiles["t"].interval == (0, 4)
    assert tiles["j"].interval == (0, 5)
    assert _scope(program.sites[-1])["rows"].most == 4


def test_every_program_of_the_first_stages_is_read() -> None:
    for source in corpus(TrainingOptions(programs=100), seed=8):
        assert read_program(source).sites


REJECTED = {
    "a struct": ("struct s { int a; };\n", "a type must stand here, got struct"),
    "a pragma": ("#pragma once\n", "a preprocessor line must be #include <...> or a plain #define"),
    "an open block": ("void f(int a) { a = 1;", "must follow, got the end"),
    "a bracket that pairs with nothing": ("void f(int a) { a = (1]; }", "brackets must pair"),
    "an extent that is not constant": (
        "void f(int n, int a[n]) { a[0] = 1; }",
        "an extent must be a constant",
    ),
    "a character": ("void f(int a) { a = '1'; }", 'known tokens, got "\'"'),
    "deep blocks": ("void f(int a) " + "{ if (a) " * 200 + "a = 1;" + "}" * 200, "nest at most 60 deep"),
}


@pytest.mark.parametrize(("source", "message"), REJECTED.values(), ids=REJECTED.keys())
def test_reading_rejects(source: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_program(source)
    assert message in str(caught.value)
