"""Affine forms: a constant plus multiples of leaves.

A form equals its expression modulo 2^32, and exactly when it is `exact`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.c import ir
from pipelines.c.arithmetic import value_range

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant` plus the sum of coefficient times leaf; leaves are sorted, no coefficient is zero."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0
    exact: bool = True

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """Return this form plus `factor` times another."""
        exact = self.exact and other.exact
        constant = self.constant + factor * other.constant
        if not other.terms or factor == 0:
            return Affine(self.terms, constant, exact)
        terms = dict(self.terms)
        for leaf, coefficient in other.terms:
            terms[leaf] = terms.get(leaf, 0) + factor * coefficient
        return Affine(tuple(sorted((k, c) for k, c in terms.items() if c)), constant, exact)

    def times(self, factor: int) -> Affine:
        """Return this form times a constant."""
        if factor == 0:
            return Affine()
        return Affine(tuple((leaf, c * factor) for leaf, c in self.terms), self.constant * factor, self.exact)

    def shifted(self, change: int) -> Affine:
        """Return this form plus a constant."""
        return Affine(self.terms, self.constant + change, self.exact)

    @property
    def leaves(self) -> tuple[str, ...]:
        """Names of the leaves."""
        return tuple(leaf for leaf, _ in self.terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """Facts about a leaf that hold at every point.

    Attributes:
        variables: names of the variables it reads; None when its value also depends on memory.
        interval: smallest and largest value.
        residue, modulus: the value is `residue` modulo `modulus` (1 when nothing is known).
    """

    expression: ir.Expression
    variables: frozenset[str] | None
    interval: Interval
    residue: int = 0
    modulus: int = 1


@dataclass(slots=True)
class Leaves:
    """The leaves of one function, by name."""

    known: dict[str, Leaf] = field(default_factory=dict[str, Leaf])
    names: dict[ir.Expression, str] = field(default_factory=dict[ir.Expression, str])

    def of_variable(self, variable: ir.Variable) -> str:
        """Return the leaf of a variable; its name."""
        if variable.name not in self.known:
            self.known[variable.name] = Leaf(
                expression=ir.Read(variable=variable),
                variables=frozenset((variable.name,)),
                interval=value_range(variable.type),
            )
        return variable.name

    def of_expression(self, expression: ir.Expression) -> str:
        """Return the leaf of an expression that is not affine; a leaf that reads memory equals no other."""
        parts = tuple(ir.walk_expressions(expression))
        pure = not any(isinstance(p, ir.Load) for p in parts)
        if pure and expression in self.names:
            return self.names[expression]
        name = f"@{len(self.known)}"
        variables = frozenset(p.variable.name for p in parts if isinstance(p, ir.Read))
        self.known[name] = Leaf(
            expression=expression,
            variables=variables if pure else None,
            interval=value_range(ir.type_of(expression)),
            modulus=_power_of(expression),
        )
        if pure:
            self.names[expression] = name
        return name


def _power_of(expression: ir.Expression) -> int:
    """Return a power of two that divides the value: the lowest bit of the mask for `x & mask`."""
    if isinstance(expression, ir.Binary) and expression.operator == "and":
        mask = expression.right
        if isinstance(mask, ir.Constant) and mask.value:
            return mask.value & -mask.value
    return 1


def minimum_arms(expression: ir.Expression, *, largest: bool = False) -> tuple[ir.Expression, ...]:
    """Return the operands of nested minima written as selections (`a < b ? a : b`), or of maxima."""
    if isinstance(expression, ir.Select) and isinstance(expression.condition, ir.Binary):
        test = expression.condition
        arms = (expression.if_true, expression.if_false)
        straight, swapped = ("gt", "ge"), ("lt", "le")
        if not largest:
            straight, swapped = swapped, straight
        ordered = (test.operator in straight and (test.left, test.right) == arms) or (
            test.operator in swapped and (test.right, test.left) == arms
        )
        if ordered:
            return tuple(a for arm in arms for a in minimum_arms(arm, largest=largest))
    return (expression,)
