"""A program's text and directives as a sequence of primitives: a type, operators, numbers and names.

The text is the canonical one; its tokens are split into statements at semicolons, braces and pragmas. Names
are numbered by their first use.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.canonical import canonical_query
from models.labelled import Query
from pipelines.base.summation import ordered_sum

_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|<<=|>>=|"
    r"\+\+|--|&&|\|\||<=|>=|==|!=|<<|>>|[-+*/%&|^]=|\S"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DIRECTIVE_LINE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
TYPES = (
    *("statement", "for", "while", "do", "if", "else", "switch", "case", "return", "break", "continue"),
    *("declaration", "function", "open", "close", "macro"),
    *(
        "configuration",
        "pipeline",
        "unroll",
        "parallel",
        "partition",
        "flatten",
        "tile",
        "reduction",
        "cache",
    ),
)
_KEYWORDS = frozenset(TYPES[1:11])
_DECLARING = frozenset(
    ("int", "float", "double", "char", "short", "long", "unsigned", "signed", "const", "static", "void")
)
OPERATORS = (
    *("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "~", "!", "?", "[", "(", "=", "+=", "-=", "*="),
    *("<", "<=", ">", ">=", "==", "!=", "&&", "||", "++", "--"),
)
NUMBERS, NAMES = 6, 8
"""Numbers and names of a primitive that are kept; further ones are left out."""
NAME_COUNT = 64
"""Numbers of names; later names share them in turn."""
SUMMARY = (
    *("memory_read_delay_cycles", "memory_write_delay_cycles", "clock_period_ns", "log2_primitives", "depth"),
    *("log2_names", "log2_largest_number", "log2_for_product"),
    *(f"log2_{name}" for name in ("for", "while", "if", "statement", "declaration", "pipeline", "unroll")),
    *(f"log2_operator_{place}" for place in range(len(OPERATORS))),
)
"""Features of a whole sequence, which say how near a query is to training."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramSequence:
    """A program as primitives.

    Attributes:
        types: places in TYPES. (primitives,)
        numbers: signed log2 magnitudes, then counts of OPERATORS as log2(1 + n), then depth.
            (primitives, VALUES)
        names: from 1; 0 for none. (primitives, NAMES)
        summary: in the order of SUMMARY.
    """

    types: NDArray[np.int64]
    numbers: NDArray[np.float32]
    names: NDArray[np.int64]
    summary: NDArray[np.float64]


VALUES = NUMBERS + len(OPERATORS) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Primitive:
    type: str
    numbers: tuple[float, ...]
    operators: Mapping[str, int]
    names: tuple[str, ...]
    depth: int


def sequence_of(query: Query, most: int) -> ProgramSequence:
    """Return the sequence of a query: configuration, directives, then the text, at most so many primitives.

    Raises: ValueError: the program is not C11, or the directives cannot be read.
    """
    query = canonical_query(query)
    said = [_configuration(query), *_directives(query.directives)]
    text = list(_statements(query.source))
    kept = (said + text)[:most]
    numbering: dict[str, int] = {}
    for name in (name for primitive in kept for name in primitive.names):
        numbering.setdefault(name, len(numbering))
    names = np.zeros((len(kept), NAMES), np.int64)
    for row, primitive in zip(names, kept, strict=True):
        own = [1 + numbering[name] % NAME_COUNT for name in primitive.names[:NAMES]]
        row[: len(own)] = own
    return ProgramSequence(
        types=np.array([TYPES.index(primitive.type) for primitive in kept], np.int64),
        numbers=np.array([_values(primitive) for primitive in kept], np.float32),
        names=names,
        summary=_summary(query, said, text),
    )


def _values(primitive: _Primitive) -> list[float]:
    numbers = [_signed_log2(number) for number in primitive.numbers[:NUMBERS]]
    return [
        *(numbers + [0.0] * NUMBERS)[:NUMBERS],
        *(math.log2(1 + primitive.operators.get(operator, 0)) for operator in OPERATORS),
        primitive.depth / 4.0,
    ]


def _configuration(query: Query) -> _Primitive:
    numbers = (query.memory_read_delay_cycles, query.memory_write_delay_cycles, query.clock_period_ns)
    return _Primitive(
        type="configuration", numbers=tuple(map(float, numbers)), operators={}, names=(query.top,), depth=0
    )


def _directives(text: str) -> list[_Primitive]:
    try:
        directives = json.loads(text)
    except ValueError as error:
        raise PredictorError(f"directives are not JSON: {text[:80]!r}") from error
    if not isinstance(directives, list) or not all(isinstance(d, dict) for d in directives):
        raise PredictorError(f"directives are not a JSON list of objects: {text[:80]!r}")
    primitives: list[_Primitive] = []
    for directive in directives:
        kind, value, dimension = (directive.get(name) for name in ("kind", "value", "dimension"))
        if kind not in TYPES:
            raise PredictorError(f"unknown kind of directive: {kind!r}")
        numbers = [float(number) for number in (value, dimension) if isinstance(number, int)]
        names = [str(directive[name]) for name in ("loop", "variable") if directive.get(name)]
        primitives.append(
            _Primitive(type=str(kind), numbers=tuple(numbers), operators={}, names=tuple(names), depth=0)
        )
    return primitives


def _statements(source: str) -> Iterator[_Primitive]:
    """Yield statements, headers and braces of a text, in order."""
    text = _COMMENT.sub(" ", source)
    for line in _DIRECTIVE_LINE.findall(text):
        yield _primitive("macro", _TOKEN.findall(line), 0)
    words: list[str] = []
    depth, parentheses = 0, 0
    for word in _TOKEN.findall(_DIRECTIVE_LINE.sub(" ", text)):
        parentheses += {"(": 1, ")": -1}.get(word, 0)
        if word not in "{};" or parentheses > 0:
            words.append(word)
            continue
        parentheses = 0
        if words:
            yield _primitive(_type_of(words, word), words, depth)
        words = []
        if word != ";":
            depth = max(0, depth + {"{": 1, "}": -1}[word])
            yield _primitive({"{": "open", "}": "close"}[word], [], depth)
    if words:
        yield _primitive(_type_of(words, ";"), words, depth)


def _type_of(tokens: Sequence[str], end: str) -> str:
    first = tokens[0]
    if first in _KEYWORDS:
        return first
    declares = first in _DECLARING or (first.endswith("_t") and len(tokens) > 1)
    if not declares:
        return "statement"
    return "function" if end == "{" else "declaration"


def _primitive(kind: str, tokens: Sequence[str], depth: int) -> _Primitive:
    counts = Counter(token for token in tokens if token in OPERATORS)
    numbers = [_number(token) for token in tokens if token[0].isdigit()]
    words = [t for t in tokens if (t[0].isalpha() or t[0] == "_") and t not in _KEYWORDS | _DECLARING]
    return _Primitive(
        type=kind,
        numbers=tuple(numbers),
        operators=counts,
        names=tuple(dict.fromkeys(words)),
        depth=depth,
    )


def _number(token: str) -> float:
    try:
        return float(int(token, 0)) if token[:2].lower() == "0x" else float(token)
    except ValueError:
        return 0.0


def _signed_log2(number: float) -> float:
    return math.copysign(min(64.0, math.log2(1.0 + abs(number))), number) / 8.0


def _summary(
    query: Query, directives: Sequence[_Primitive], text: Sequence[_Primitive]
) -> NDArray[np.float64]:
    kinds = Counter(primitive.type for primitive in (*directives, *text))
    operators: Counter[str] = Counter()
    for primitive in text:
        operators.update(primitive.operators)
    numbers = [abs(number) for primitive in text for number in primitive.numbers]
    headers = [max(p.numbers, default=1.0) for p in text if p.type == "for"]
    values = {
        "memory_read_delay_cycles": float(query.memory_read_delay_cycles),
        "memory_write_delay_cycles": float(query.memory_write_delay_cycles),
        "clock_period_ns": float(query.clock_period_ns),
        "log2_primitives": math.log2(1 + len(text)),
        "depth": float(max((primitive.depth for primitive in text), default=0)),
        "log2_names": math.log2(1 + len({name for primitive in text for name in primitive.names})),
        "log2_largest_number": min(64.0, math.log2(1.0 + max(numbers, default=0.0))),
        "log2_for_product": ordered_sum(min(64.0, math.log2(max(1.0, bound))) for bound in headers),
        **{f"log2_{kind}": math.log2(1 + kinds[kind]) for kind in _SUMMARISED},
        **{f"log2_operator_{place}": math.log2(1 + operators[name]) for place, name in enumerate(OPERATORS)},
    }
    return np.array([values[name] for name in SUMMARY], np.float64)


_SUMMARISED = ("for", "while", "if", "statement", "declaration", "pipeline", "unroll")
