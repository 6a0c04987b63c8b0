"""The tokens that the model knows, and how a program's names and numbers become some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.program_lm.symbols import (
    NAME,
    NUMBER,
    SINGLE_TYPES,
    SITE_KINDS,
    FunctionSymbol,
    ReadProgram,
    Site,
    Symbol,
    Token,
)

PAD, PREFIX, SUFFIX, MIDDLE, END = "<pad>", "<prefix>", "<suffix>", "<middle>", "<end>"
LOOP_MARK, CONST_MARK, OTHER, BIG, REAL = "<loop>", "<const>", "<other>", "<big>", "<real>"

VARIABLES = tuple(f"v{k}" for k in range(40))
MACROS = tuple(f"m{k}" for k in range(32))
FUNCTIONS = tuple(f"f{k}" for k in range(8))
OWN_INTEGERS = tuple(f"n{k}" for k in range(12))
OWN_REALS = tuple(f"r{k}" for k in range(12))
"""Numbers that a function has and the vocabulary has not, by their order."""
INTEGERS = tuple(
    str(value)
    for value in sorted(
        {*range(65), 100, 127, 255, 1000, 4095, 10_000, 65_521, 65_535, 100_000, 1_000_000}
        | {1 << k for k in range(6, 28)}
    )
)
REALS = (
    "0.0",
    "0.1",
    "0.125",
    "0.25",
    "0.3",
    "0.5",
    "0.75",
    "1.0",
    "1.5",
    "2.0",
    "3.0",
    "4.0",
    "10.0",
    "100.0",
)
MATH = ("fabsf", "fmaxf", "fminf", "sqrtf", "expf", "tanhf", "erff", "fabs", "fmax", "fmin", "sqrt")
MATH_ARGUMENTS = {name: 2 if name.startswith(("fmax", "fmin")) else 1 for name in MATH}

_WORDS = [
    *("for", "while", "if", "else", "return", "break", "continue", "switch", "case", "default", "do"),
    *("static", "const", "signed", "void"),
]
_OPERATORS = [
    *(
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "|",
        "^",
        "~",
        "!",
        "<<",
        ">>",
        "<",
        "<=",
        ">",
        ">=",
        "==",
        "!=",
        "&&",
        "||",
    ),
    *("?", ":", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"),
    *(",", ";", "(", ")", "[", "]", "{", "}"),
]

TOKENS: tuple[str, ...] = tuple(
    dict.fromkeys(
        [
            *(PAD, PREFIX, SUFFIX, MIDDLE, END, LOOP_MARK, CONST_MARK, OTHER, BIG, REAL),
            *(f"<{kind}>" for kind in SITE_KINDS),
            *_WORDS,
            *SINGLE_TYPES,
            *_OPERATORS,
            *INTEGERS,
            *REALS,
            *MATH,
            *VARIABLES,
            *MACROS,
            *FUNCTIONS,
            *OWN_INTEGERS,
            *OWN_REALS,
        ]
    )
)
IDS: Mapping[str, int] = {token: number for number, token in enumerate(TOKENS)}


def number_token(text: str) -> str:
    """Return the token of a number; BIG or REAL when it is none of the model's own."""
    if text.isdecimal() or text.rstrip("uUlL").isdecimal():
        plain = str(int(text.rstrip("uUlL")))
        return plain if plain in IDS else BIG
    if text[:2].lower() == "0x":
        plain = str(int(text.rstrip("uUlL"), 16))
        return plain if plain in IDS else BIG
    plain = repr(float(text.rstrip("fFlL")))
    return plain if plain in IDS else REAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """Canonical names of what a site may use, both ways.

    Attributes:
        symbols: by canonical name; names beyond the vocabulary have none.
        functions: likewise, of the program's own functions that stand before the site.
        canonical: canonical name by the program's own.
        integers, reals: numbers of the function around the site that the vocabulary has not, as written.
    """

    symbols: Mapping[str, Symbol]
    functions: Mapping[str, FunctionSymbol]
    canonical: Mapping[str, str]
    integers: Mapping[str, str]
    reals: Mapping[str, str]

    def token(self, token: Token) -> str:
        """Return the word that stands for a token in the model's input."""
        if token.kind == NUMBER:
            return self.canonical.get(token.text) or number_token(token.text)
        if token.kind == NAME:
            name = self.canonical.get(token.text)
            return name or (token.text if token.text in IDS and token.text not in _CANONICAL else OTHER)
        return token.text if token.text in IDS else OTHER

    def next_variables(self) -> Sequence[str]:
        """Return the canonical names that nothing has yet."""
        return [name for name in VARIABLES if name not in self.symbols]


_CANONICAL = frozenset([*VARIABLES, *MACROS, *FUNCTIONS, *OWN_INTEGERS, *OWN_REALS])


def naming_of(program: ReadProgram, site: Site) -> Naming:
    """Return the canonical names at a site, v0, v1, … and m0, m1, … by order of declaration.

    An inner name hides an outer one. Names that the site does not see have no canonical name. Of macros,
    which programs have many of, those have one that the names in scope or the function may need: the last.
    """
    visible = {symbol.name: symbol for symbol in site.scope}
    ordered = sorted(visible.values(), key=lambda s: s.order)
    variables = [s for s in ordered if not s.constant]
    constants = [s for s in ordered if s.constant]
    first = min((s.order for s in variables), default=0)
    functions = [f for f in program.functions if f.order < max((s.order for s in variables), default=first)]
    symbols = dict(zip(VARIABLES, variables, strict=False)) | dict(zip(MACROS, constants, strict=False))
    named = dict(zip(FUNCTIONS, functions, strict=False))
    canonical = {s.name: name for name, s in symbols.items()} | {f.name: name for name, f in named.items()}
    numbers = dict.fromkeys(t.text for t in program.tokens[site.begin : site.end] if t.kind == NUMBER)
    integers = dict(zip(OWN_INTEGERS, (n for n in numbers if number_token(n) == BIG), strict=False))
    reals = dict(zip(OWN_REALS, (n for n in numbers if number_token(n) == REAL), strict=False))
    canonical |= {text: name for own in (integers, reals) for name, text in own.items()}
    return Naming(symbols=symbols, functions=named, canonical=canonical, integers=integers, reals=reals)
