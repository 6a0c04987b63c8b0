"""Spellings of gcc that the parser lacks, taken out of a preprocessed program; its meaning stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

_ASSEMBLER_NAME = re.compile(
    r'\)\s*\b(?:asm|__asm__|__asm)\b\s*\(\s*(?:"(?:[^"\\\n]|\\.)*"\s*)+\)(?=\s*[;,])'
)
_ATTRIBUTE = re.compile(r"\[\[[\w\s:,]*(?:\([^()]*\))?[\w\s:,]*\]\]")
_WIDE = re.compile(r"\b(?:_Float128|__float128|_Float64x|_Float32x|_Float64|_Float32)\b")
_WIDE_TYPES = {"_Float32": "float", "_Float64": "double", "_Float32x": "double"}

SAME = "simfoundry_same"
"""Name in `a ? simfoundry_same : b` for `a ?: b`."""

RANGE = "simfoundry_range"
"""Name in `case (a) ? simfoundry_range : (b):` for gcc's `case a ... b:`."""

_TOKEN = re.compile(
    r"""^[ \t]*\#[^\n]*+|(?:L|u8?|U)?"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|[\w.]++|[^\s\w]""",
    re.MULTILINE,
)
_STATEMENT_STARTS = frozenset((";", "{", "}", ":", ")", "else", "do", ""))
"""Tokens after which a pragma may stand, as the parser has it."""


def plain_spellings(text: str) -> str:
    """Return a preprocessed program in the parser's dialect; the text itself when nothing has to change.

    Taken out: pragmas inside an expression or a declarator, assembler names of declared functions, attributes
    in double brackets. `a ?: b` and `case a ... b:` name their middle operand. Lines keep their numbers.
    """
    repairs = (
        _without_loose_pragmas,
        _without_assembler_names,
        _without_attributes,
        _known_types,
        _whole_choices,
        _known_ranges,
    )
    for repair in repairs:
        text = repair(text)
    return text


def _same_lines(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str) -> str:
    return pattern.sub(lambda m: replacement(m) + "\n" * m[0].count("\n"), text)


def _without_assembler_names(text: str) -> str:
    return _same_lines(_ASSEMBLER_NAME, lambda _: ")", text)


def _without_attributes(text: str) -> str:
    return _same_lines(_ATTRIBUTE, lambda _: "", text)


def _known_types(text: str) -> str:
    return _WIDE.sub(lambda m: _WIDE_TYPES.get(m[0], "long double"), text)


def _whole_choices(text: str) -> str:
    """Return the text with a name for each omitted operand of `?:`."""
    tokens = list(_TOKEN.finditer(text))
    marks = [a.end() for a, b in pairwise(tokens) if (a[0], b[0]) == ("?", ":")]
    for mark in reversed(marks):
        text = f"{text[:mark]} {SAME} {text[mark:]}"
    return text


def _known_ranges(text: str) -> str:
    """Return the text with a name for each range of a case."""
    if "..." not in text:
        return text
    pieces: list[str] = []
    end, first = 0, -1
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word == "case":
            first = match.end()
        elif word == "..." and first >= 0:
            pieces += [text[end:first], " (", text[first : match.start()], f") ? {RANGE} : ("]
            end, first = match.end(), match.end()
        elif word == ":" and first >= 0:
            if first == end:
                pieces += [text[end : match.start()], ")"]
                end = match.start()
            first = -1
    return "".join([*pieces, text[end:]])


def _without_loose_pragmas(text: str) -> str:
    """Return the text without pragmas where no statement, member or declaration can begin."""
    if "#pragma" not in text:
        return text
    dropped: list[tuple[int, int]] = []
    held: list[tuple[int, int]] = []  # pragmas after a parenthesis, judged by the token that follows
    depth, previous = 0, ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.lstrip().startswith("#"):
            if "pragma" not in token:
                continue
            if depth > 0 or previous not in _STATEMENT_STARTS:
                dropped.append(match.span())
            elif previous == ")":
                held.append(match.span())
            continue
        if held and token in _CONTINUATIONS:
            dropped.extend(held)
        held.clear()
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        previous = token
    for first, last in sorted(dropped, reverse=True):
        text = text[:first] + text[last:]
    return text


_CONTINUATIONS = frozenset("+-*/%&|^<>=?,.[)];:")
"""Tokens that continue an expression or a declarator after a closing parenthesis."""
