"""Ranges of loop variables and bounds, from their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.program_lm.lexing import NAME, NUMBER, Token
from models.program_lm.symbols import Interval, Symbol

MOST_NESTING = 60


def interval_of(tokens: Sequence[Token], scope: Sequence[Symbol]) -> Interval | None:
    """Least and largest value of an expression; None when they are not known."""
    return _Intervals(tokens=tokens, scope=scope).whole()


def both_intervals(one: Interval | None, other: Interval | None) -> Interval | None:
    """What two statements about a range say together."""
    if one is None or other is None:
        return one or other
    found = max(one[0], other[0]), min(one[1], other[1])
    return found if found[0] <= found[1] else one


@dataclass(slots=True, kw_only=True)
class _Intervals:
    """A recursive evaluation; None for whatever is not known."""

    tokens: Sequence[Token]
    scope: Sequence[Symbol]
    at: int = 0
    depth: int = 0

    def whole(self) -> Interval | None:
        found = self.sum()
        return found if self.at == len(self.tokens) else None

    @property
    def text(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def sum(self) -> Interval | None:
        found = self.product()
        while self.text in ("+", "-"):
            sign = 1 if self.text == "+" else -1
            self.at += 1
            other = self.product()
            if found is None or other is None:
                found = None
            else:
                low, high = sorted((sign * other[0], sign * other[1]))
                found = found[0] + low, found[1] + high
        return found

    def product(self) -> Interval | None:
        found = self.operand()
        while self.text == "*":
            self.at += 1
            other = self.operand()
            if found is None or other is None:
                found = None
            else:
                corners = [a * b for a in found for b in other]
                found = min(corners), max(corners)
        return found

    def operand(self) -> Interval | None:
        if self.at >= len(self.tokens) or self.depth > MOST_NESTING:
            return None
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == NUMBER:
            return (int(token.text), int(token.text)) if token.text.isdecimal() else None
        if token.text == "(":
            return self.inside()
        if token.text == "MIN" and self.text == "(":
            return self.least()
        if token.kind == NAME and self.text not in ("(", "["):
            return next((s.interval for s in reversed(self.scope) if s.name == token.text), None)
        return None

    def inside(self) -> Interval | None:
        self.depth += 1
        found = self.sum()
        self.depth -= 1
        if self.text != ")":
            return None
        self.at += 1
        return found

    def least(self) -> Interval | None:
        self.at += 1
        one = self.sum()
        if self.text != ",":
            return None
        self.at += 1
        other = self.sum()
        if self.text != ")":
            return None
        self.at += 1
        if one is None or other is None:
            return one or other
        return min(one[0], other[0]), min(one[1], other[1])
