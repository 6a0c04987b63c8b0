"""Sampled tokens as C text in the program's own names, numbers and layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.program_lm.symbols import SINGLE_TYPES, ReadProgram, Site
from models.program_lm.vocabulary import REALS, Naming

_INDENT = "    "
_TIGHT_AFTER = frozenset(["(", "["])
_TIGHT_BEFORE = frozenset([")", "]", "[", ";", ",", "++", "--"])
_OPERANDS_END = frozenset([")", "]"])
_KEYWORDS = frozenset(["if", "for", "while", "return", "else"])
_LOOP_NAMES = ("i", "j", "k", "m", "n", "p", "q", "r")


def rendered(program: ReadProgram, site: Site, naming: Naming, words: Sequence[str]) -> str:
    """The text of a replacement.

    Args:    words: canonical tokens without END.
    """
    own = [s.name for s in naming.symbols.values()]
    names = {name: s.name for name, s in naming.symbols.items()}
    names |= {name: f.name for name, f in naming.functions.items()}
    names |= {**naming.integers, **naming.reals}
    suffix = "" if program.has_double else "f"
    taken = set(program.names) | set(own)
    texts: list[str] = []
    for place, word in enumerate(words):
        if place and words[place - 1] in SINGLE_TYPES and word.startswith("v"):
            names[word] = _fresh_name(taken, loop=words[place - 2 : place - 1] == ["("])
            taken.add(names[word])
        texts.append(names.get(word) or (word + suffix if word in REALS else word))
    return _laid_out(texts, _indent_of(program, site))


def _fresh_name(taken: set[str], *, loop: bool) -> str:
    """A name that no other part of the program has."""
    if loop:
        return next((n for n in _LOOP_NAMES if n not in taken), None) or next(
            n for n in (f"i{k}" for k in range(2, 10_000)) if n not in taken
        )
    return next(n for n in (f"w{k}" for k in range(10_000)) if n not in taken)


def _indent_of(program: ReadProgram, site: Site) -> str:
    """White space before the line of a site."""
    place = program.tokens[min(site.first, len(program.tokens) - 1)].start
    line = program.source[program.source.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _laid_out(texts: Sequence[str], indent: str) -> str:
    lines = list(_lines(texts, indent))
    return "\n".join(lines).lstrip()


def _lines(texts: Sequence[str], indent: str) -> Iterator[str]:
    """Lines: one a statement, one more level of indentation inside braces."""
    line: list[str] = []
    depth = level = 0
    for text in texts:
        if text == "}":
            level -= 1
        depth += {"(": 1, ")": -1}.get(text, 0)
        line.append(text)
        if text in ("{", "}") or (text == ";" and depth == 0):
            yield indent + _INDENT * level + _spaced(line)
            line = []
        if text == "{":
            level += 1
    if line:
        yield indent + _INDENT * level + _spaced(line)


def _spaced(texts: Sequence[str]) -> str:
    """Tokens of a line with spaces between them where C needs or readers want them."""
    found = ""
    unary = False
    for place, text in enumerate(texts):
        before = texts[place - 1] if place else ""
        tight = (
            not before
            or before in _TIGHT_AFTER
            or text in _TIGHT_BEFORE
            or (unary and text != before)
            or (text == "(" and (before[0].isalpha() or before[0] == "_") and before not in _KEYWORDS)
        )
        found += text if tight else f" {text}"
        unary = text in ("-", "~") and not (
            before and (before[0].isalnum() or before[0] == "_" or before in _OPERANDS_END)
        )
    return found
