"""A program as the model sees it: names in scope, and places where something may be replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from models.program_lm.symbols import (
    CONDITION,
    EXPRESSION,
    LOOP,
    MOST_NESTING,
    NAME,
    SINGLE_TYPES,
    STATEMENT,
    FunctionSymbol,
    Interval,
    Lexed,
    ReadProgram,
    Site,
    SourceError,
    Symbol,
    both_intervals,
    interval_of,
    lex,
)

_TYPE_WORDS = frozenset([*SINGLE_TYPES, "signed", "void"])
_QUALIFIERS = frozenset(["static", "const", "inline", "register"])
_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
_INTEGER_ASSIGNMENTS = frozenset(["%=", "&=", "|=", "^=", "<<=", ">>="])
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def read_program(source: str) -> ReadProgram:
    """Read a program of the first two stages, or one like them.

    Raises: SourceError: it has something that they do not write.
    """
    reader = _Reader(lexed=lex(source))
    reader.program()
    return ReadProgram(
        source=source, lexed=reader.lexed, functions=tuple(reader.functions), sites=tuple(reader.sites)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What is around a statement: its function's body, the loops around it."""

    begin: int
    end: int
    trips: int = 1
    depth: int = 0
    nesting: int = 0


@dataclass(slots=True, kw_only=True)
class _Reader:
    lexed: Lexed
    at: int = 0
    functions: list[FunctionSymbol] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    scope: list[Symbol] = field(default_factory=list)
    steering: frozenset[str] = frozenset()
    returns_integer: bool = True
    order: int = 0

    # ---- tokens ----

    @property
    def text(self) -> str:
        """The next token; empty at the end."""
        tokens = self.lexed.tokens
        return tokens[self.at].text if self.at < len(tokens) else ""

    def take(self, expected: str) -> None:
        if self.text != expected:
            raise SourceError(f"{expected} must stand here, got {self.text or 'the end'} (token {self.at})")
        self.at += 1

    def skip_to(self, *ends: str) -> None:
        """Go to one of some tokens, past everything in brackets."""
        closing: list[str] = []
        while self.text and (closing or self.text not in ends):
            if self.text in _CLOSING:
                closing.append(_CLOSING[self.text])
            elif closing and self.text == closing[-1]:
                closing.pop()
            elif self.text in (")", "]", "}"):
                raise SourceError(f"brackets must pair, got {self.text} (token {self.at})")
            self.at += 1
        if not self.text:
            raise SourceError(f"one of {' '.join(ends)} must follow, got the end")

    def texts(self, first: int, last: int) -> list[str]:
        return [t.text for t in self.lexed.tokens[first:last]]

    def matching(self, opening: int) -> int:
        """Return the token after the bracket that closes the one at a place."""
        at = self.at
        self.at = opening
        closing = _CLOSING[self.text]
        self.at += 1
        self.skip_to(closing)
        self.at, after = at, self.at + 1
        return after

    # ---- declarations ----

    def program(self) -> None:
        for name, value in self.lexed.constants.items():
            self.declare(
                Symbol(name=name, type="int", assignable=False, interval=(value, value), constant=True)
            )
        for name, count in self.lexed.macros.items():
            self.functions.append(
                FunctionSymbol(name=name, floating=False, arguments=(False,) * count, order=self.order)
            )
            self.order += 1
        while self.text:
            self.external()

    def declare(self, symbol: Symbol) -> None:
        self.scope.append(replace(symbol, order=self.order))
        self.order += 1

    def type_words(self) -> tuple[str, bool]:
        """Return a type without its qualifiers, and whether it is const."""
        words: list[str] = []
        const = False
        while self.text in _TYPE_WORDS or self.text in _QUALIFIERS:
            const |= self.text == "const"
            if self.text in _TYPE_WORDS:
                words.append(self.text)
            self.at += 1
        if not words:
            raise SourceError(f"a type must stand here, got {self.text or 'the end'} (token {self.at})")
        return " ".join(words), const

    def name(self) -> str:
        if self.at >= len(self.lexed.tokens) or self.lexed.tokens[self.at].kind != NAME:
            raise SourceError(f"a name must stand here, got {self.text or 'the end'} (token {self.at})")
        self.at += 1
        return self.lexed.tokens[self.at - 1].text

    def shape(self) -> tuple[int, ...]:
        extents: list[int] = []
        while self.text == "[":
            end = self.matching(self.at) - 1
            extent = self.interval(self.at + 1, end)
            if extent is None or extent[0] != extent[1] or extent[0] < 1:
                raise SourceError(f"an extent must be a constant, got {self.texts(self.at + 1, end)}")
            extents.append(extent[0])
            self.at = end + 1
        return tuple(extents)

    def external(self) -> None:
        kind, const = self.type_words()
        name = self.name()
        if self.text != "(":
            self.declare(Symbol(name=name, type=kind, shape=self.shape(), assignable=not const))
            self.skip_to(";")
            self.take(";")
            return
        self.function(kind, name)

    def function(self, returns: str, name: str) -> None:
        kept = len(self.scope)
        self.take("(")
        parameters: list[Symbol] = []
        while self.text != ")":
            kind, const = self.type_words()
            if self.text == ")" and kind == "void":
                break
            symbol = Symbol(name=self.name(), type=kind, shape=self.shape(), assignable=not const)
            parameters.append(symbol)
            if self.text != ")":
                self.take(",")
        self.take(")")
        end = self.matching(self.at)
        self.steering = self.steering_names(self.at, end)
        self.returns_integer = returns not in ("float", "double")
        for parameter in parameters:
            free = parameter.assignable and parameter.name not in self.steering
            self.declare(replace(parameter, assignable=free))
        self.block(_Place(begin=self.at + 1, end=end - 1))
        del self.scope[kept:]
        if returns != "void" and parameters and all(not p.shape for p in parameters):
            floating = tuple(p.floating for p in parameters)
            self.functions.append(
                FunctionSymbol(
                    name=name,
                    floating=returns in ("float", "double"),
                    arguments=floating,
                    order=self.order,
                )
            )
        self.order += 1

    def steering_names(self, first: int, last: int) -> frozenset[str]:
        """Return the names in heads of loops: to write them could make a loop endless."""
        names: set[str] = set()
        for at in range(first, last):
            if self.lexed.tokens[at].text in ("for", "while"):
                head = self.lexed.tokens[at + 1 : self.matching(at + 1)]
                names |= {t.text for t in head if t.kind == NAME}
        return frozenset(names)

    # ---- statements ----

    def site(self, kind: str, first: int, last: int, place: _Place, **more: bool) -> None:
        self.sites.append(
            Site(
                kind=kind,
                first=first,
                last=last,
                begin=place.begin,
                end=place.end,
                scope=tuple(self.scope),
                trips=place.trips,
                depth=place.depth,
                **more,
            )
        )

    def block(self, place: _Place) -> None:
        kept = len(self.scope)
        self.take("{")
        while self.text != "}":
            self.site(STATEMENT, self.at, self.at, place)
            self.statement(place)
        self.take("}")
        del self.scope[kept:]

    def body(self, place: _Place) -> None:
        """Read the statement or block after a head of `if` or a loop."""
        if place.nesting > MOST_NESTING:
            raise SourceError(f"statements must nest at most {MOST_NESTING} deep, got more")
        place = replace(place, nesting=place.nesting + 1)
        if self.text == "{":
            self.block(place)
        else:
            self.statement(place, single=True)

    def statement(self, place: _Place, *, single: bool = False) -> None:
        word = self.text
        if word == "{":
            self.block(replace(place, nesting=place.nesting + 1))
        elif word == "for":
            self.counted_loop(place, single)
        elif word == "if":
            self.branch(place, single)
        elif word == "while":
            self.at += 1
            self.at = self.matching(self.at)
            self.body(replace(place, depth=place.depth + 1))
        elif word == "switch":
            self.at += 1
            self.at = self.matching(self.at)
            self.cases(place)
        elif word in ("break", "continue"):
            self.at += 1
            self.take(";")
        elif word == "return":
            self.at += 1
            if self.text != ";":
                self.expression_to(";", place, integer=self.returns_integer)
            self.take(";")
        elif word in _TYPE_WORDS or word in _QUALIFIERS:
            self.local_declaration(place)
        else:
            self.plain(place, single)

    def cases(self, place: _Place) -> None:
        self.take("{")
        while self.text != "}":
            if self.text in ("case", "default"):
                self.skip_to(":")
                self.take(":")
            else:
                self.statement(place)
        self.take("}")

    def expression_to(self, end: str, place: _Place, *, integer: bool = False) -> None:
        first = self.at
        self.skip_to(end)
        self.site(EXPRESSION, first, self.at, place, integer=integer)

    def local_declaration(self, place: _Place) -> None:
        kind, const = self.type_words()
        while True:
            name = self.name()
            shape = self.shape()
            if self.text == "=":
                self.at += 1
                if self.text == "{":
                    self.at = self.matching(self.at)
                else:
                    first = self.at
                    self.skip_to(",", ";")
                    self.site(EXPRESSION, first, self.at, place, integer=kind not in ("float", "double"))
            free = not const and name not in self.steering
            self.declare(Symbol(name=name, type=kind, shape=shape, assignable=free))
            if self.text == ";":
                break
            self.take(",")
        self.take(";")

    def plain(self, place: _Place, single: bool) -> None:
        """Read an assignment, a step of a variable, or a call."""
        first = self.at
        target = self.target()
        operator = self.text
        if target is None or operator not in _ASSIGNMENTS:
            self.skip_to(";")
            self.take(";")
            return
        self.at += 1
        integer = operator in _INTEGER_ASSIGNMENTS or not target.floating
        self.expression_to(";", place, integer=integer)
        self.take(";")
        if target.name not in self.steering:
            self.site(STATEMENT, first, self.at, place, single=single)

    def target(self) -> Symbol | None:
        """Return the name that is written, past its subscripts."""
        if self.lexed.tokens[self.at].kind != NAME:
            return None
        name = self.name()
        while self.text == "[":
            self.at = self.matching(self.at)
        return next((s for s in reversed(self.scope) if s.name == name), None)

    def branch(self, place: _Place, single: bool) -> None:
        first = self.at
        self.take("if")
        end = self.matching(self.at)
        self.site(CONDITION, self.at + 1, end - 1, place)
        self.at = end
        self.body(place)
        if self.text == "else":
            self.at += 1
            self.body(place)
        leaves = {"break", "continue", "return"} & set(self.texts(first, self.at))
        if not leaves and not self.writes_steering(first, self.at):
            self.site(STATEMENT, first, self.at, place, single=single)

    def writes_steering(self, first: int, last: int) -> bool:
        """Tell whether tokens may write a variable that a loop outside them depends on."""
        tokens = self.lexed.tokens[first:last]
        own = {
            after.text for word, after in pairwise(tokens) if word.text in _TYPE_WORDS and after.kind == NAME
        }
        return any(
            one.text in self.steering - own and after.text in (*_ASSIGNMENTS, "++", "--")
            for one, after in pairwise(tokens)
        )

    def counted_loop(self, place: _Place, single: bool) -> None:
        first = self.at
        self.take("for")
        end = self.matching(self.at)
        loop = self.loop_variable(self.at + 1, end - 1)
        kept = len(self.scope)
        self.at = end
        inside = replace(place, depth=place.depth + 1)
        if loop is not None:
            interval = both_intervals(loop.interval, self.used_interval(loop.name, end))
            self.bound_length(first, end, interval)
            kept = len(self.scope)
            self.declare(replace(loop, interval=interval))
            if interval is not None:
                inside = replace(inside, trips=place.trips * max(1, interval[1] - interval[0] + 1))
        self.body(inside)
        del self.scope[kept:]
        if loop is not None and not self.writes_steering(first, self.at):
            leaves = "return" in self.texts(first, self.at)
            if not leaves:
                self.site(LOOP, first, self.at, place, single=single)

    # ---- ranges ----

    def bound_length(self, first: int, last: int, interval: Interval | None) -> None:
        """Learn from `v < rows` that rows is at most one more than the largest v."""
        words = self.texts(first, last)
        if "<" not in words or interval is None:
            return
        name = words[words.index("<") + 1]
        for place, symbol in enumerate(self.scope):
            if symbol.name == name and not (
                symbol.constant or symbol.loop or symbol.shape or symbol.floating
            ):
                most = min(interval[1] + 1, symbol.most or interval[1] + 1)
                self.scope[place] = replace(symbol, most=most)

    def loop_variable(self, first: int, last: int) -> Symbol | None:
        """Return variable of a loop from the tokens of its head, with its range where the head says it."""
        words = self.texts(first, last)
        if len(words) < 8 or words[0] not in _TYPE_WORDS or words[2] != "=" or words.count(";") != 2:
            return None
        semicolons = [k for k, word in enumerate(words) if word == ";"]
        name, kind = words[1], words[0]
        plain = Symbol(name=name, type=kind, assignable=False, loop=True)
        relation_at = semicolons[0] + 2
        if words[semicolons[0] + 1] != name or words[relation_at] not in ("<", "<=", ">", ">="):
            return plain
        start = self.interval(first + 3, first + semicolons[0])
        bound = self.interval(first + relation_at + 1, first + semicolons[1])
        relation = words[relation_at]
        if start is None or bound is None:
            return plain
        if relation in ("<", "<="):
            last_value = bound[1] - (relation == "<")
            step = self.step(words[semicolons[1] + 1 :])
            interval = (
                start[0],
                last_value - (last_value - start[1]) % step if start[0] == start[1] else last_value,
            )
        else:
            interval = bound[0] + (relation == ">"), start[1]
        return replace(plain, interval=interval) if interval[0] <= interval[1] else plain

    def step(self, words: Sequence[str]) -> int:
        """Return the step of a head that ends in `v += step`; 1 for all others."""
        if len(words) != 3 or words[1] != "+=":
            return 1
        known = self.lexed.constants.get(words[2])
        return max(1, known if known is not None else int(words[2]) if words[2].isdecimal() else 1)

    def used_interval(self, name: str, first: int) -> Interval | None:
        """Bound a loop variable, whose loop ends at run time, by its use as a plain subscript."""
        after = self.matching(first) if self.text == "{" else self.statement_end(first)
        most: int | None = None
        for at in range(first, after - 2):
            if self.texts(at, at + 3) == ["[", name, "]"]:
                extent = self.extent_at(at)
                most = extent if most is None else min(most, extent or most)
        return None if most is None else (0, most - 1)

    def statement_end(self, first: int) -> int:
        at, self.at = self.at, first
        self.skip_to(";", "}")
        self.at, stop = at, self.at
        return stop

    def extent_at(self, opening: int) -> int | None:
        """Return the extent of the dimension whose subscript opens at a token."""
        dimension = 0
        at = opening - 1
        while at >= 0 and self.lexed.tokens[at].text == "]":
            depth = 1
            while depth and at > 0:
                at -= 1
                depth += {"]": 1, "[": -1}.get(self.lexed.tokens[at].text, 0)
            dimension += 1
            at -= 1
        name = self.lexed.tokens[at].text if at >= 0 else ""
        symbol = next((s for s in reversed(self.scope) if s.name == name), None)
        return symbol.shape[dimension] if symbol is not None and dimension < len(symbol.shape) else None

    def interval(self, first: int, last: int) -> Interval | None:
        """Return range of sums, differences and products of constants and loop variables: least, largest."""
        return interval_of(self.lexed.tokens[first:last], self.scope)
