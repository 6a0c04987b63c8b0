"""Fill-in-the-middle examples: a site of a program as the tokens that the model reads and continues.

<kind> v0 int16_t 8 10 v1 int <loop> … <prefix> … <suffix> … <middle> … <end>
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from models.program_lm.grammar import Grammar, grammar_of
from models.program_lm.symbols import NAME, SINGLE_TYPES, ReadProgram, Site, Token
from models.program_lm.vocabulary import (
    CONST_MARK,
    END,
    IDS,
    LOOP_MARK,
    MIDDLE,
    PREFIX,
    SUFFIX,
    Naming,
    naming_of,
    number_token,
)

HEADER_TOKENS = 72
PREFIX_TOKENS = 80
SUFFIX_TOKENS = 40
MIDDLE_TOKENS = 64
CONTEXT_TOKENS = HEADER_TOKENS + PREFIX_TOKENS + SUFFIX_TOKENS + 4
BLOCK_TOKENS = CONTEXT_TOKENS + MIDDLE_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Token numbers of a site; the last `middle` of them are what stood there, with END."""

    ids: tuple[int, ...]
    middle: int


def context_ids(program: ReadProgram, site: Site, naming: Naming) -> list[int]:
    """Return the tokens of a site's context up to MIDDLE, at most CONTEXT_TOKENS."""
    tokens = program.tokens
    before = tokens[max(site.begin, site.first - PREFIX_TOKENS) : site.first]
    after = tokens[site.last : min(site.end, site.last + SUFFIX_TOKENS)]
    words = [f"<{site.kind}>", *_header(naming, before, after), PREFIX]
    words += [naming.token(t) for t in before]
    words += [SUFFIX, *(naming.token(t) for t in after), MIDDLE]
    return [IDS[word] for word in words]


def _header(naming: Naming, before: Sequence[Token], after: Sequence[Token]) -> list[str]:
    """Return every variable with its type and extents, and the macros that stand nearby."""
    words: list[str] = []
    for name, symbol in naming.symbols.items():
        if symbol.constant:
            continue
        kind = symbol.type.split()[-1]
        words += [name, kind if kind in IDS else "int"]
        words += [LOOP_MARK] * symbol.loop
        words += [CONST_MARK] * bool(symbol.shape and not symbol.assignable)
        words += [number_token(str(extent)) for extent in symbol.shape]
    near = {naming.canonical.get(t.text) for t in (*before, *after) if t.kind == NAME}
    for name, symbol in naming.symbols.items():
        if symbol.constant and name in near and symbol.interval is not None:
            words += [name, number_token(str(symbol.interval[0]))]
    return words[:HEADER_TOKENS]


def middle_words(program: ReadProgram, site: Site, naming: Naming) -> list[str]:
    """Return the words at a site in canonical names, END last; declarations take the next free names."""
    canonical = dict(naming.canonical)
    free = iter(naming.next_variables())
    words: list[str] = []
    for token in program.tokens[site.first : site.last]:
        if token.kind == NAME and words and words[-1] in SINGLE_TYPES:
            canonical[token.text] = next(free, "")
        known = canonical.get(token.text)
        words.append(known or naming.token(token))
    return [*words, END]


def accepts(grammar: Grammar, site: Site, words: Sequence[str]) -> bool:
    """Tell whether words, END last, are a replacement that the grammar can make."""
    production = grammar.replacement(site)
    try:
        allowed = next(production)
        for word in words:
            if word not in allowed:
                return False
            allowed = production.send(word)
    except StopIteration:
        return bool(words) and words[-1] == END
    return False


def example_of(program: ReadProgram, site: Site) -> Example | None:
    """Return the example of a site; None when the grammar could not have made what stands there."""
    if site.first == site.last or site.last - site.first >= MIDDLE_TOKENS:
        return None
    naming = naming_of(program, site)
    words = middle_words(program, site, naming)
    grammar = grammar_of(naming, program.names, limit=MIDDLE_TOKENS)
    if any(word not in IDS for word in words) or not accepts(grammar, site, words):
        return None
    ids = (*context_ids(program, site, naming), *(IDS[word] for word in words))
    return Example(ids=ids, middle=len(words))


def examples_of(program: ReadProgram, *, most: int, generator: Random) -> Iterator[Example]:
    """Draw a limited number of examples of a program, at distinct sites, evenly for each kind."""
    by_kind: dict[str, list[Site]] = {}
    for site in program.sites:
        by_kind.setdefault(site.kind, []).append(site)
    drawn: list[Site] = []
    for kind in sorted(by_kind):
        drawn += generator.sample(by_kind[kind], min(len(by_kind[kind]), most))
    generator.shuffle(drawn)
    yielded = 0
    for site in drawn:
        example = example_of(program, site)
        if example is not None:
            yield example
            yielded += 1
        if yielded == most:
            return
