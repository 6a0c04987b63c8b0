"""Boolean functions of liberty: text to expression, expression to truth table, and probabilities.

A truth table is a number whose bit i is the value of the function when bit k of i is the value of variable k.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class PowerError(RuntimeError):
    """Misuse of the engine, or a netlist that it cannot simulate; the message has the rule and the value."""


MAX_VARIABLES = 6  # a truth table fits in 64 bits

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_\[\]]*)|([01])|([!'&*|+^()]))")
_STARTS_OPERAND = ("name", "constant", "!", "(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A Boolean expression.

    Attributes:
        operator: `pin` (the variable `name`), `constant` (`name` is 0 or 1), `not`, `and`, `or`, `xor`.
        operands: of an operator, left to right: one of `not`, else two.
    """

    operator: str
    name: str = ""
    operands: tuple[Expression, ...] = ()

    @property
    def pins(self) -> tuple[str, ...]:
        """Its variables, in order of first appearance."""
        if self.operator == "pin":
            return (self.name,)
        return tuple(dict.fromkeys(name for o in self.operands for name in o.pins))


class _Parser:
    """Recursive descent, from the loosest operator (or) to the tightest (not)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens()
        self.place = 0

    def fail(self) -> PowerError:
        return PowerError(f"not a Boolean expression of pins in a liberty function: {self.text!r}")

    def _tokens(self) -> list[tuple[str, str]]:
        tokens: list[tuple[str, str]] = []
        place, text = 0, self.text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise self.fail()
            name, constant, symbol = match.groups()
            kind = "name" if name else "constant" if constant else symbol
            tokens.append((kind, name or constant or symbol))
            place = match.end()
        return [*tokens, ("end", "")]

    def next_kind(self) -> str:
        return self.tokens[self.place][0]

    def take(self) -> tuple[str, str]:
        self.place += 1
        return self.tokens[self.place - 1]

    def chain(self, operator: str, symbols: str, operand: Callable[[], Expression]) -> Expression:
        left = operand()
        while self.next_kind() in symbols:
            self.take()
            left = Expression(operator=operator, operands=(left, operand()))
        return left

    def disjunction(self) -> Expression:
        return self.chain("or", "+|", self.conjunction)

    def conjunction(self) -> Expression:
        left = self.difference()
        while self.next_kind() in ("&", "*", *_STARTS_OPERAND):  # a space is an `and`, too
            if self.next_kind() in "&*":
                self.take()
            left = Expression(operator="and", operands=(left, self.difference()))
        return left

    def difference(self) -> Expression:
        return self.chain("xor", "^", self.operand)

    def operand(self) -> Expression:
        kind, text = self.take()
        if kind == "!":
            expression = Expression(operator="not", operands=(self.operand(),))
        elif kind == "(":
            expression = self.disjunction()
            if self.take()[0] != ")":
                raise self.fail()
        elif kind in ("name", "constant"):
            expression = Expression(operator="pin" if kind == "name" else "constant", name=text)
        else:
            raise self.fail()
        while self.next_kind() == "'":
            self.take()
            expression = Expression(operator="not", operands=(expression,))
        return expression

    def whole(self) -> Expression:
        expression = self.disjunction()
        if self.next_kind() != "end":
            raise self.fail()
        return expression


def parse_function(text: str) -> Expression:
    """Read a liberty function.

    Raises: PowerError: not an expression of pins, 0, 1 and the operators ! ' ^ & * + | and space.
    Source: the operators and their precedence are those of liberty's `function` attribute.
    """
    return _Parser(text).whole()


def evaluate(expression: Expression, values: dict[str, bool]) -> bool:
    """Return the value of an expression; a KeyError names a variable without value."""
    if expression.operator == "pin":
        return values[expression.name]
    if expression.operator == "constant":
        return expression.name == "1"
    operands = [evaluate(o, values) for o in expression.operands]
    if expression.operator == "not":
        return not operands[0]
    if expression.operator == "xor":
        return operands[0] != operands[1]
    return all(operands) if expression.operator == "and" else any(operands)


def truth_table(expression: Expression, variables: Sequence[str]) -> int:
    """Return the truth table over the given variables.

    Raises: PowerError: more than six variables, or the expression has another one.
    """
    if len(variables) > MAX_VARIABLES:
        raise PowerError(
            f"a cell's function must have at most {MAX_VARIABLES} inputs, got {', '.join(variables)}"
        )
    alien = [p for p in expression.pins if p not in variables]
    if alien:
        raise PowerError(f"unknown pins in a function: {', '.join(alien)}; accepted: {', '.join(variables)}")
    table = 0
    for row in range(1 << len(variables)):
        values = {name: bool(row >> k & 1) for k, name in enumerate(variables)}
        table |= int(evaluate(expression, values)) << row
    return table


def sensitivity_table(table: int, variable: int, count: int) -> int:
    """Compute the Boolean difference of a function of `count` variables: where it depends on one of them."""
    sensitive = 0
    for row in range(1 << count):
        sensitive |= ((table >> row ^ table >> (row ^ 1 << variable)) & 1) << row
    return sensitive


def table_probability(table: int, ones: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the probability that a function is 1 when its variables are independent.

    Args:    table: of len(ones) variables; ones: probability of 1 of each variable, each (cells,).
    Returns: (cells,); for a function without variables, ().
    """
    shape = ones[0].shape if ones else ()
    total = np.zeros(shape)
    for row in range(1 << len(ones)):
        if table >> row & 1:
            product = np.ones(shape)
            for k, p in enumerate(ones):
                product = product * (p if row >> k & 1 else 1.0 - p)
            total = total + product
    return total
