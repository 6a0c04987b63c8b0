"""The mask: whatever it lets through parses, has types that fit and subscripts in range."""

from __future__ import annotations

from random import Random

import pytest
from program_lm_support import PROGRAM

from models.program_lm import TrainingOptions
from models.program_lm.editing import rendered, spliced
from models.program_lm.examples import BLOCK_TOKENS, accepts, context_ids, example_of, middle_words
from models.program_lm.grammar import Grammar, grammar_of
from models.program_lm.reading import read_program
from models.program_lm.symbols import ReadProgram, Site
from models.program_lm.training import corpus
from models.program_lm.vocabulary import END, IDS, TOKENS, Naming, naming_of
from pipelines.c import read_function


def _grammar(program: ReadProgram, site: Site, limit: int = 40) -> tuple[Naming, Grammar]:
    naming = naming_of(program, site)
    return naming, grammar_of(naming, program.names, limit=limit)


def _random_words(grammar: Grammar, site: Site, generator: Random) -> list[str]:
    """A replacement by choices without a model."""
    production = grammar.replacement(site)
    allowed = next(production)
    words: list[str] = []
    while True:
        words.append(generator.choice(sorted(allowed)))
        try:
            allowed = production.send(words[-1])
        except StopIteration:
            return words


def _last_function(source: str) -> str:
    """Name of the last function of a program, the top one: it stands before the last `(` on a left margin."""
    heads = [line for line in source.splitlines() if line[:1].isalpha() and "(" in line]
    return heads[-1].split("(")[0].split()[-1]


def _usable(program: ReadProgram) -> list[Site]:
    return [
        s
        for s in program.sites
        if s.kind in ("expression", "condition")
        or any(x.assignable for x in {x.name: x for x in s.scope}.values())
    ]


@pytest.mark.slow
def test_random_replacements_parse_and_type_check() -> None:
    generator = Random(4)
    for source in corpus(TrainingOptions(programs=16), seed=5):
        program = read_program(source)
        for site in generator.sample(_usable(program), 3):
            naming, grammar = _grammar(program, site)
            words = _random_words(grammar, site, generator)
            changed = spliced(program, site, rendered(program, site, naming, words[:-1]))
            read_program(changed)
            top = source[
                : source.rindex("(", 0, source.rindex(")\n{") if ")\n{" in source else source.rindex(") {"))
            ]
            read_function(changed, top=top.split()[-1])


def test_random_replacements_end() -> None:
    generator = Random(9)
    program = read_program(PROGRAM)
    for site in _usable(program):
        for _ in range(20):
            _, grammar = _grammar(program, site, limit=30)
            words = _random_words(grammar, site, generator)
            assert words[-1] == END
            assert len(words) < 100
            assert all(word in IDS for word in words)


def _allowed(kind: str, text: str, words: str) -> frozenset[str]:
    """What may follow some words at a site of PROGRAM."""
    program = read_program(PROGRAM)
    site = next(
        s
        for s in program.sites
        if s.kind == kind and " ".join(t.text for t in program.tokens[s.first : s.last]) == text
    )
    _, grammar = _grammar(program, site)
    production = grammar.replacement(site)
    allowed = next(production)
    for word in words.split():
        assert word in allowed, f"{word} of {sorted(allowed)}"
        allowed = production.send(word)
    return allowed


AT = ("expression", "x [ i ] [ j ] + 1")
NAMES = {
    "rows": "v0",
    "x": "v1",
    "out": "v2",
    "scale": "v3",
    "soft": "v4",
    "total": "v5",
    "i": "v6",
    "part": "v7",
}
J = "v8"


def test_numbers_of_the_kind_that_is_needed() -> None:
    allowed = _allowed(*AT, "")
    assert {NAMES["x"], NAMES["total"], J, "7", "("} <= allowed
    assert not {NAMES["scale"], NAMES["soft"], "0.5"} & allowed
    assert NAMES["scale"] in _allowed("expression", "scale * 0.37f + soft [ j ]", "")


def test_arrays_have_all_their_subscripts() -> None:
    assert _allowed(*AT, f"{NAMES['x']}") == {"["}
    assert _allowed(*AT, f"{NAMES['x']} [ 0 ]") == {"["}
    assert "[" not in _allowed(*AT, f"{NAMES['x']} [ 0 ] [ 0 ]")


def test_subscripts_are_in_range() -> None:
    row = _allowed(*AT, f"{NAMES['x']} [")
    assert {"0", "3", NAMES["i"]} <= row
    assert not {"4", NAMES["total"], NAMES["out"]} & row
    assert "]" not in _allowed(*AT, f"{NAMES['x']} [ {J}")  # j goes to 5, rows to 3
    column = _allowed(*AT, f"{NAMES['x']} [ 0 ] [ {NAMES['i']} +")
    assert {"1", "2"} <= column
    assert "3" not in column


def test_divisors_are_positive_and_shifts_small() -> None:
    after = _allowed(*AT, f"{NAMES['total']} /")
    assert {"1", "m0", "("} <= after
    assert not {"0", NAMES["rows"], "-"} & after
    assert _allowed(*AT, f"{NAMES['total']} >>") == {str(k) for k in range(9)}
    assert "+" not in _allowed(*AT, f"{NAMES['total']} >> 2")


def test_loops_do_not_write_what_steers_them() -> None:
    allowed = _allowed("statement", "out [ i ] = total >> 2 ;", "")
    assert {NAMES["out"], NAMES["total"], "for", "if"} <= allowed
    assert not {NAMES["rows"], NAMES["i"], NAMES["x"]} & allowed


def test_examples_are_the_programs_own_text() -> None:
    program = read_program(PROGRAM)
    site = next(s for s in program.sites if s.kind == "expression" and s.integer and s.depth == 2)
    naming = naming_of(program, site)
    words = middle_words(program, site, naming)
    assert words == ["v1", "[", "v6", "]", "[", "v8", "]", "+", "1", END]
    example = example_of(program, site)
    assert example is not None
    assert [TOKENS[k] for k in example.ids[-len(words) :]] == words
    assert list(example.ids[: -len(words)]) == context_ids(program, site, naming)


def test_numbers_outside_the_vocabulary_keep_their_text() -> None:
    program = read_program(PROGRAM)
    site = next(s for s in program.sites if s.kind == "expression" and not s.integer and s.depth == 1)
    naming = naming_of(program, site)
    words = middle_words(program, site, naming)
    assert words[:3] == ["v3", "*", "r0"]
    assert rendered(program, site, naming, words[:-1]).startswith("scale * 0.37f + soft[")


def test_most_sites_of_the_corpus_are_examples() -> None:
    made = wanted = 0
    for source in corpus(TrainingOptions(programs=16), seed=1):
        program = read_program(source)
        for site in (s for s in program.sites if s.last > s.first and s.last - s.first < 40):
            example = example_of(program, site)
            wanted += 1
            made += example is not None
            assert example is None or len(example.ids) <= BLOCK_TOKENS
    assert made > 0.6 * wanted


@pytest.mark.parametrize("words", ["", "v5", f"v5 / v0 {END}", f"v5 + {END}", f"v1 [ 4 ] [ 0 ] {END}"])
def test_mask_rejects(words: str) -> None:
    program = read_program(PROGRAM)
    site = next(s for s in program.sites if s.kind == "expression" and s.integer and s.depth == 2)
    _, grammar = _grammar(program, site)
    assert not accepts(grammar, site, words.split())
