"""Limits of nesting, and the place in a program that exceeds them."""

from __future__ import annotations

import re

MAXIMUM_STATEMENT_DEPTH = 100
MAXIMUM_EXPRESSION_DEPTH = 200

STATEMENT_RULE = (
    f"statements must nest at most {MAXIMUM_STATEMENT_DEPTH} deep, each else-if as one level "
    "(write a switch or a table)"
)
EXPRESSION_RULE = (
    f"an expression must nest at most {MAXIMUM_EXPRESSION_DEPTH} deep (write several statements)"
)

_TOKEN = re.compile(
    r"""^[ \t]*\#[^\n]*+|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|[\w.]++|[^\s\w]|\n""", re.MULTILINE
)
_MARKER = re.compile(r'[ \t]*# (\d+) "((?:[^"\\]|\\.)*)"')
_OPERATORS = frozenset("+-*/%&|^<>=?,!~")


def deepest_construct(text: str) -> tuple[str, str, int]:
    """Return the construct of a preprocessed program that nests deepest, or first exceeds the limit.

    Returns: the rule that it breaks, its file and its line. A part of an else-if chain is a level of
             statements, an operator of an expression one of operators.
    """
    levels: list[int] = [0]  # else-ifs of the present chain, in each pair of brackets around
    deepest, longest = (0, "", 0), (0, "", 0)
    file, line, operators, previous = "", 1, 0, ""
    for match in _TOKEN.finditer(text):
        word = match[0]
        marker = _MARKER.match(word)
        if word == "\n":
            line += 1
        elif marker is not None:
            file, line = marker[2], int(marker[1]) - 1
        if word[:1] in "\n#" or word.lstrip().startswith("#"):
            continue
        if previous in (";", "}") and word != "else":
            levels[-1] = 0
        if word in ("(", "[", "{"):
            levels.append(0)
        elif word in (")", "]", "}") and len(levels) > 1:
            levels.pop()
        levels[-1] += word == "if" and previous == "else"
        operators = 0 if word in (";", "{", "}") else operators + (word in _OPERATORS)
        depth = min(len(levels) + sum(levels), MAXIMUM_STATEMENT_DEPTH + 1)
        deepest = max(deepest, (depth, file, line), key=lambda place: place[0])
        longest = max(longest, (operators, file, line), key=lambda place: place[0])
        previous = word
    if deepest[0] > MAXIMUM_STATEMENT_DEPTH or deepest[0] >= longest[0]:
        return STATEMENT_RULE, *deepest[1:]
    return EXPRESSION_RULE, *longest[1:]
