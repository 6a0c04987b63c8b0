"""What may come next: the mask under which replacements are sampled.

A production is a generator that yields the tokens which may come next, is sent the one that came, and returns
when it is complete. Whatever it accepts parses, has types that fit, reads and writes only names in scope,
divides by positive constants, shifts by small ones, and has plain subscripts in range. Signed overflow and
the like are left to the sanitizers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

from models.program_lm.symbols import CONDITION, EXPRESSION, LOOP, SINGLE_TYPES, Interval, Site, Symbol
from models.program_lm.vocabulary import (
    END,
    IDS,
    INTEGERS,
    MATH,
    MATH_ARGUMENTS,
    REALS,
    Naming,
)

Tokens = Generator[frozenset[str], str, str]
"""A production that returns the token after it."""
Choice = Generator[frozenset[str], str, str]

ARITHMETIC = frozenset(["+", "-", "*", "/"])
BITWISE = frozenset(["&", "|", "^", "<<", ">>"])
INTEGER_ONLY = BITWISE | {"%"}
FLOATING = frozenset(["float", "double"])
TIGHTER_THAN_SHIFTS = frozenset(["+", "-", "*", "/", "%"])
COMPARISONS = frozenset(["<", "<=", ">", ">=", "==", "!="])
LOGIC = frozenset(["&&", "||"])
LEAVES = frozenset(["break", "continue"])
STARTS = frozenset(["0", "1", "2"])
STEPS = frozenset(["1", "2", "3", "4"])
ASSIGNMENTS = frozenset(["=", "+=", "-=", "*="])
INTEGER_ASSIGNMENTS = frozenset(["&=", "|=", "^=", "%="])
SMALL = frozenset(str(k) for k in range(17))
SHIFTS = frozenset(str(k) for k in range(9))
MASKS = frozenset(["1", "3", "7", "15", "31", "63", "127", "255"])
DIVISORS = frozenset(n for n in INTEGERS if n != "0")
MOST_PARENTHESES = 4
MOST_LOOPS = 5
MOST_TRIPS = 4096
MOST_STATEMENTS = 3


@dataclass(slots=True, kw_only=True)
class Grammar:
    """The productions of one site.

    Attributes:
        naming: what may be named.
        types: words a declaration or a cast may have.
        math: functions of <math.h> that may be called.
        limit: tokens after which only the shortest way to an end is left.
    """

    naming: Naming
    types: frozenset[str]
    math: frozenset[str]
    limit: int = 48
    symbols: dict[str, Symbol] = field(init=False)
    fresh: Sequence[str] = field(init=False)
    written: int = 0
    parentheses: int = 0
    loops: int = 0
    branches: int = 0

    def __post_init__(self) -> None:
        self.symbols = dict(self.naming.symbols)
        self.fresh = self.naming.next_variables()

    # ---- sites ----

    def replacement(self, site: Site) -> Generator[frozenset[str], str, None]:
        """Yield everything that may stand at a site, and END."""
        if site.kind in (EXPRESSION, CONDITION):
            yield from self.expression(frozenset([END]), integer=site.integer)
        elif site.kind == LOOP:
            yield from self.token(frozenset(["for"]))
            yield from self.loop(site.depth, site.trips)
            yield from self.token(frozenset([END]))
        else:
            yield from self.statements(frozenset([END]), site.depth, site.trips, single=site.single)

    def token(self, allowed: Iterable[str]) -> Choice:
        """Return one token."""
        word = yield frozenset(allowed)
        self.written += 1
        return word

    @property
    def hurry(self) -> bool:
        """Whether the replacement is long enough."""
        return self.written >= self.limit

    # ---- statements ----

    def statements(self, follow: frozenset[str], depth: int, trips: int, *, single: bool = False) -> Tokens:
        """Return one to MOST_STATEMENTS statements and what follows them."""
        count = 0
        kept = dict(self.symbols)
        word = yield from self.token(self.starts(depth, declares=not single))
        while True:
            yield from self.statement(word, depth, trips)
            count += 1
            full = single or count == MOST_STATEMENTS or self.hurry or word in LEAVES
            more = follow if full else follow | self.starts(depth, declares=True)
            otherwise = word == "if" and not self.hurry
            word = yield from self.token(more | {"else"} if otherwise else more)
            if word == "else":
                yield from self.block(depth, trips)
                word = yield from self.token(more)
            if word in follow:
                self.symbols = kept
                return word

    def starts(self, depth: int, *, declares: bool) -> frozenset[str]:
        """Return the first tokens of a statement."""
        allowed = {name for name, s in self.symbols.items() if s.assignable}
        if not self.hurry:
            allowed.add("if")
            if depth < MOST_LOOPS and self.fresh:
                allowed.add("for")
            if declares and self.fresh:
                allowed |= self.types
        if self.loops and self.branches:
            allowed |= LEAVES
        return frozenset(allowed)

    def statement(self, first: str, depth: int, trips: int) -> Generator[frozenset[str], str, None]:
        if first == "if":
            yield from self.branch(depth, trips)
        elif first == "for":
            yield from self.loop(depth, trips)
        elif first in SINGLE_TYPES:
            yield from self.declaration(first)
        elif first in LEAVES:
            yield from self.token([";"])
        else:
            yield from self.assignment(first)

    def assignment(self, name: str) -> Generator[frozenset[str], str, None]:
        symbol = self.symbols[name]
        yield from self.subscripts(symbol)
        operators = ASSIGNMENTS if symbol.floating else ASSIGNMENTS | INTEGER_ASSIGNMENTS
        operator = yield from self.token(operators)
        if operator == "%=":
            yield from self.token(DIVISORS | set(self.naming.integers))
            yield from self.token([";"])
            return
        yield from self.expression(frozenset([";"]), integer=not symbol.floating)

    def declaration(self, kind: str) -> Generator[frozenset[str], str, None]:
        name = yield from self.token([self.fresh[0]])
        yield from self.token(["="])
        yield from self.expression(frozenset([";"]), integer=kind not in FLOATING)
        self.add(Symbol(name=name, type=kind))

    def add(self, symbol: Symbol) -> None:
        self.symbols = {**self.symbols, symbol.name: symbol}
        self.fresh = self.fresh[1:]

    def branch(self, depth: int, trips: int) -> Generator[frozenset[str], str, None]:
        yield from self.token(["("])
        yield from self.expression(frozenset([")"]))
        self.branches += 1
        yield from self.block(depth, trips)
        self.branches -= 1

    def block(self, depth: int, trips: int) -> Generator[frozenset[str], str, None]:
        """Yield the statements in braces, or one without."""
        word = yield from self.token(self.starts(depth, declares=False) | {"{"})
        if word == "{":
            yield from self.statements(frozenset(["}"]), depth, trips)
        else:
            yield from self.statement(word, depth, trips)

    def loop(self, depth: int, trips: int) -> Generator[frozenset[str], str, None]:
        """Yield a counted loop after its first word, upwards or downwards."""
        kept = self.symbols
        for word in ("(", "int"):
            yield from self.token([word])
        name = yield from self.token([self.fresh[0]])
        yield from self.token(["="])
        lasts = self.lasts(trips)
        macros = {name for name in self.bounds(trips) if name in self.symbols and self.symbols[name].constant}
        start = yield from self.token(STARTS | macros | lasts)
        interval = yield from self.head(name, start, lasts, trips)
        yield from self.token([")"])
        self.add(Symbol(name=name, type="int", assignable=False, interval=interval, loop=True))
        self.loops += 1
        branches, self.branches = self.branches, 0
        yield from self.block(depth + 1, trips * (interval[1] + 1 - interval[0]))
        self.loops -= 1
        self.branches = branches
        self.symbols = kept

    def head(
        self, name: str, start: str, lasts: frozenset[str], trips: int
    ) -> Generator[frozenset[str], str, Interval]:
        """Yield a loop's head after its first value; returns the range of its variable."""
        macro = start in self.symbols
        down = macro
        if macro:
            yield from self.token(["-"])
            yield from self.token(["1"])
        yield from self.token([";"])
        yield from self.token([name])
        if not macro:
            ways = {way for way, starts in (("<", STARTS), (">=", lasts)) if start in starts}
            down = (yield from self.token(ways)) == ">="
        else:
            yield from self.token([">="])
        bound = yield from self.token(["0"] if down else self.bounds(trips, int(start)))
        yield from self.token([";"])
        yield from self.token([name])
        step = yield from self.token(["--"] if down else ["++", "+="])
        if step == "+=":
            yield from self.token(["2", "3", "4"])
        if down:
            return 0, self.value(start) - macro
        return int(start), self.value(bound) - 1

    def extents(self, trips: int, start: int = 0) -> set[int]:
        """Return the lengths that a loop may have: the arrays' in scope."""
        lengths = {n for s in self.symbols.values() for n in s.shape if start < n <= 64}
        return {n for n in lengths if n * trips <= MOST_TRIPS} or {start + 2}

    def bounds(self, trips: int, start: int = 0) -> frozenset[str]:
        """Return the ends of a loop, as numbers or as macros."""
        few = self.extents(trips, start)
        named = {
            name for name, s in self.symbols.items() if s.constant and s.interval and s.interval[0] in few
        }
        known = {name for name, s in self.symbols.items() if s.most is not None and start < s.most}
        return frozenset(named | known | {str(n) for n in few})

    def lasts(self, trips: int) -> frozenset[str]:
        """Return numbers from which a loop may count down."""
        return frozenset(str(n - 1) for n in self.extents(trips))

    def value(self, token: str) -> int:
        """Return the value of a number or of a macro; the most that a run-time length can be."""
        symbol = self.symbols.get(token)
        if symbol is None:
            return int(token)
        return symbol.interval[0] if symbol.interval is not None else symbol.most or 1

    # ---- expressions ----

    def expression(self, follow: frozenset[str], *, integer: bool = False) -> Tokens:
        """Return a chain, or a selection, and what follows it."""
        word = yield from self.chain(follow | {"?"}, integer)
        if word != "?":
            return word
        yield from self.expression(frozenset([":"]), integer=integer)
        return (yield from self.expression(follow, integer=integer))

    def chain(self, follow: frozenset[str], integer: bool) -> Tokens:
        """Return the operands with operators between them, on one level of parentheses.

        Operators on integers are allowed while all operands are integers; after one, all must be.
        """
        compared = shifted = False
        floating = last = yield from self.operand(integer)
        while True:
            allowed = self.operators(follow, compared, integer=not floating)
            word = yield from self.token(allowed - TIGHTER_THAN_SHIFTS if shifted else allowed)
            if word in follow:
                return word
            integer |= word in BITWISE
            shifted = word in ("<<", ">>")
            compared = word in COMPARISONS or (compared and word not in LOGIC)
            if shifted:
                yield from self.token(SHIFTS)
            elif word == "%" or (word == "/" and not last):
                yield from self.divisor()
            else:
                last = yield from self.operand(integer)
                floating |= last

    def operators(self, follow: frozenset[str], compared: bool, *, integer: bool) -> frozenset[str]:
        if self.hurry:
            return follow - {"?"} or follow
        operators = ARITHMETIC | LOGIC | follow
        if not compared:
            operators |= COMPARISONS
        return operators | INTEGER_ONLY if integer else operators

    def operand(self, integer: bool) -> Generator[frozenset[str], str, bool]:
        """Yield an operand; returns whether it is floating."""
        word = yield from self.token(self.operands(integer))
        if word in ("-", "~"):
            return (yield from self.operand(integer or word == "~"))
        if word == "(":
            return (yield from self.parenthesis(integer))
        if word in self.symbols:
            yield from self.subscripts(self.symbols[word])
            return self.symbols[word].floating
        if word in self.naming.functions:
            function = self.naming.functions[word]
            yield from self.arguments([not floating for floating in function.arguments])
            return function.floating
        if word in MATH_ARGUMENTS:
            yield from self.arguments([False] * MATH_ARGUMENTS[word])
            return True
        return word in REALS or word in self.naming.reals

    def operands(self, integer: bool) -> frozenset[str]:
        """Return the first tokens of an operand."""
        starts = {
            name
            for name, s in self.symbols.items()
            if not (integer and s.floating) and not (self.hurry and s.shape)
        }
        starts |= SMALL if self.hurry else {*INTEGERS, *self.naming.integers}
        if not integer and self.math_is_floating:
            starts |= {*REALS, *self.naming.reals}
        if not self.hurry:
            starts |= {"-", "~"} if integer else {"-"}
            if self.parentheses < MOST_PARENTHESES:
                starts.add("(")
                starts |= {name for name, f in self.naming.functions.items() if not (integer and f.floating)}
                if not integer:
                    starts |= self.math
        return frozenset(starts)

    @property
    def math_is_floating(self) -> bool:
        """Whether the program has floating numbers at all."""
        return any(s.floating for s in self.symbols.values())

    def parenthesis(self, integer: bool) -> Generator[frozenset[str], str, bool]:
        """Generate the rest of a parenthesis: a cast and its operand, or an expression and its end."""
        types = self.types - FLOATING if integer else self.types
        first = yield frozenset(self.operands(integer) | types)
        if first in self.types:
            self.written += 1
            yield from self.token([")"])
            floating = first in FLOATING
            yield from self.operand(not floating)
            return floating
        return (yield from self.inside(first, integer))

    def inside(self, first: str, integer: bool) -> Generator[frozenset[str], str, bool]:
        """Yield an expression in parentheses whose first token came already."""
        self.parentheses += 1
        inner = self.expression(frozenset([")"]), integer=integer)
        next(inner)
        yield from _resumed(inner, first)
        self.parentheses -= 1
        return not integer and self.math_is_floating

    def divisor(self) -> Generator[frozenset[str], str, None]:
        """Yield a positive constant, or ((x & c) + d)."""
        constants = {
            name for name, s in self.symbols.items() if s.constant and s.interval and s.interval[0] > 0
        }
        constants |= DIVISORS | set(self.naming.integers)
        word = yield from self.token(constants if self.hurry else constants | {"("})
        if word == "(":
            yield from self.token(["("])
            yield from self.operand(True)
            yield from self.token(["&"])
            yield from self.token(DIVISORS)
            yield from self.token([")"])
            yield from self.token(["+"])
            yield from self.token(STEPS)
            yield from self.token([")"])

    def arguments(self, integer: Sequence[bool]) -> Generator[frozenset[str], str, None]:
        """Yield the arguments of a call with their parentheses."""
        yield from self.token(["("])
        self.parentheses += 1
        for place, whole in enumerate(integer):
            last = place + 1 == len(integer)
            yield from self.expression(frozenset([")" if last else ","]), integer=whole)
        self.parentheses -= 1

    # ---- subscripts ----

    def subscripts(self, symbol: Symbol) -> Generator[frozenset[str], str, None]:
        for extent in symbol.shape:
            yield from self.token(["["])
            yield from self.subscript(extent)

    def subscript(self, extent: int) -> Generator[frozenset[str], str, None]:
        """Yield a place below an extent, and the bracket after it."""
        ranged = self.ranged()
        plain = {name for name, (low, high) in ranged.items() if low >= 0 and high < extent}
        wrapped = {name for name, (low, _) in ranged.items() if low >= 0}
        starts: set[str] = plain | _numbers(0, extent - 1)
        if not self.hurry:
            starts |= wrapped | ({"("} if wrapped or self.values() else set())
        word = yield from self.token(starts)
        if word == "(":
            yield from self.computed(extent, wrapped)
        elif word in ranged:
            yield from self.after_variable(ranged[word], extent, ranged)
        else:
            yield from self.token(["]"])

    def ranged(self) -> dict[str, Interval]:
        """Return the variables of loops whose range is known."""
        return {
            name: s.interval for name, s in self.symbols.items() if s.interval is not None and not s.constant
        }

    def after_variable(
        self, interval: Interval, extent: int, ranged: dict[str, Interval]
    ) -> Generator[frozenset[str], str, None]:
        """Yield `]`, or an operator and an operand that keep the place in range."""
        low, high = interval
        more = {
            name for name, (least, most) in ranged.items() if low + least >= 0 and high + most < extent
        } | _numbers(1, extent - 1 - high)
        allowed = {"]"} if high < extent and low >= 0 else {"%"}
        if not self.hurry:
            allowed |= {"+"} if more and low >= 0 else set()
            allowed |= {"-"} if low >= 1 and high < extent else set()
            allowed.add("%")
        word = yield from self.token(allowed)
        if word == "+":
            yield from self.token(more)
        elif word == "-":
            yield from self.token(_numbers(1, low))
        elif word == "%":
            yield from self.token(self.moduli(extent))
        if word != "]":
            yield from self.token(["]"])

    def computed(self, extent: int, names: set[str]) -> Generator[frozenset[str], str, None]:
        """Yield n - 1) - x], x + y) % n], or value & c) % n]"""
        lengths = {
            name for name, s in self.symbols.items() if s.constant and s.interval and s.interval[0] <= extent
        }
        first = yield from self.token(lengths | names | self.values())
        if first in lengths:
            length = self.value(first)
            for word in ("-", "1", ")", "-"):
                yield from self.token([word])
            below = {name for name in names if self.most(name) < length}
            yield from self.token(below | {"0"})
            yield from self.token(["]"])
            return
        yield from self.subscripts(self.symbols[first])
        operator = yield from self.token(["+", "&"] if first in names else ["&"])
        mask = yield from self.token(names | STEPS if operator == "+" else MASKS)
        yield from self.token([")"])
        short = operator == "&" and int(mask) < extent
        after = yield from self.token(["]", "%"] if short else ["%"])
        if after == "%":
            yield from self.token(self.moduli(extent))
            yield from self.token(["]"])

    def values(self) -> set[str]:
        """Return the integers whose range is not known."""
        return {n for n, s in self.symbols.items() if not (s.floating or s.constant or s.loop)}

    def most(self, name: str) -> int:
        """Return the largest value of a loop's variable."""
        interval = self.symbols[name].interval
        return interval[1] if interval is not None else 0

    def moduli(self, extent: int) -> frozenset[str]:
        """Return the extent itself as a number or a macro; without either the largest number below."""
        named = {name for name, s in self.symbols.items() if s.constant and s.interval == (extent, extent)}
        number = str(extent)
        return frozenset(named | ({number} if number in IDS else set())) or frozenset(["2"])


def _resumed(inner: Tokens, first: str) -> Tokens:
    """Return a production that was begun, from its first token on."""
    try:
        allowed = inner.send(first)
        while True:
            allowed = inner.send((yield allowed))
    except StopIteration as end:
        return end.value


def _numbers(low: int, high: int) -> set[str]:
    return {str(k) for k in range(low, min(high, 64) + 1)}


def grammar_of(naming: Naming, words: Iterable[str], *, limit: int = 48) -> Grammar:
    """Return the grammar of a site of a program.

    Args:    words: the program's names; its types and its functions of <math.h> may be used.
             limit: see Grammar.
    """
    present = frozenset(words)
    types = (present & set(SINGLE_TYPES) - {"short", "long", "unsigned", "char"}) | {"int"}
    return Grammar(naming=naming, types=frozenset(types), math=frozenset(present & set(MATH)), limit=limit)
