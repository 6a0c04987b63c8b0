"""What is known of a program: names, functions, and sites where something may be replaced."""

from __future__ import annotations

from dataclasses import dataclass

from models.program_lm.lexing import NAME, Lexed, Token

EXPRESSION, CONDITION, STATEMENT, LOOP = "expression", "condition", "statement", "loop"
SITE_KINDS = (EXPRESSION, CONDITION, STATEMENT, LOOP)

SINGLE_TYPES = (
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("int", "short", "long", "unsigned", "char", "float", "double"),
)

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A name and what may be done with it.

    Attributes:
        type: words of its type, as the program spells them.
        shape: extents of an array, outermost first; empty for a number.
        assignable: whether a new statement may write it.
        interval: least and largest value, of a constant or of a loop's variable where they are known.
        most: of a length that is known at run time only: its largest value, from the subscripts it bounds.
        constant: a macro.
        loop: the variable of a counted loop.
        order: place of its declaration among all of the program.
    """

    name: str
    type: str
    shape: tuple[int, ...] = ()
    assignable: bool = True
    interval: Interval | None = None
    most: int | None = None
    constant: bool = False
    loop: bool = False
    order: int = 0

    @property
    def floating(self) -> bool:
        """Whether its values are float or double."""
        return self.type in ("float", "double")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSymbol:
    """A function of numbers that a program defines, or a macro with arguments.

    Attributes:
        floating: whether its result is float or double.
        arguments: whether each argument is.
        order: as a symbol's.
    """

    name: str
    floating: bool
    arguments: tuple[bool, ...]
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Tokens that could be replaced.

    Attributes:
        kind: of SITE_KINDS.
        first, last: tokens, half open; equal where something could be inserted.
        begin, end: tokens of the body of the function around it, half open.
        scope: names that may be used, by declaration.
        integer: of an expression: its value must be an integer.
        single: of a statement: exactly one may stand there, and no declaration.
        trips: iterations of all loops around it, as far as they are known.
        depth: loops around it.
    """

    kind: str
    first: int
    last: int
    begin: int
    end: int
    scope: tuple[Symbol, ...]
    integer: bool = False
    single: bool = False
    trips: int = 1
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProgram:
    """A program with its sites.

    Attributes:
        functions: that numbers can be given to, of the program's own and its macros.
    """

    source: str
    lexed: Lexed
    functions: tuple[FunctionSymbol, ...]
    sites: tuple[Site, ...]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens but preprocessor lines."""
        return self.lexed.tokens

    @property
    def names(self) -> frozenset[str]:
        """Every name of the program."""
        words = {token.text for token in self.tokens if token.kind == NAME}
        return frozenset(words | set(self.lexed.constants) | set(self.lexed.macros))

    @property
    def has_double(self) -> bool:
        """Whether floating numbers are double rather than float."""
        return any(t.text == "double" for t in self.tokens)
