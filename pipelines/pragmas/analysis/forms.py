"""Affine forms over loop counters, and affine conditions around statements.

An integer expression is taken for the number it stands for: arithmetic is assumed not to wrap around, which
C leaves undefined for signed types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.c import ir
from pipelines.pragmas.summary import Affine

UNKNOWN = Affine(exact=False)
"""A value that is not affine."""


def constant(value: int) -> Affine:
    """Return the form of a number."""
    return Affine(constant=value)


def counter(loop: str) -> Affine:
    """Return the form of a loop's counter."""
    return Affine(terms=((loop, 1),))


def added(left: Affine, right: Affine, factor: int = 1) -> Affine:
    """Return `left + factor * right`."""
    if not (left.exact and right.exact):
        return UNKNOWN
    terms = dict(left.terms)
    for loop, coefficient in right.terms:
        terms[loop] = terms.get(loop, 0) + factor * coefficient
    kept = tuple((loop, coefficient) for loop, coefficient in terms.items() if coefficient)
    return Affine(terms=kept, constant=left.constant + factor * right.constant)


def scaled(form: Affine, factor: int) -> Affine:
    """Return `factor * form`."""
    return added(constant(0), form, factor)


def read_form(expression: ir.Expression, forms: Mapping[str, Affine]) -> Affine:
    """Read the affine form of an integer expression.

    Args:    forms: of variables.
    Returns: `UNKNOWN` when it has none.
    """
    if ir.type_of(expression).floating:
        return UNKNOWN
    match expression:
        case ir.Constant():
            return constant(expression.value)
        case ir.Read():
            return forms.get(expression.variable.name, UNKNOWN)
        case ir.Cast():
            wide = expression.type.width_bits >= min(32, ir.type_of(expression.operand).width_bits)
            return read_form(expression.operand, forms) if wide and not expression.bits else UNKNOWN
        case ir.Unary(operator="neg"):
            return scaled(read_form(expression.operand, forms), -1)
        case ir.Binary(operator=operator):
            left, right = read_form(expression.left, forms), read_form(expression.right, forms)
            return _combined(operator, left, right)
        case _:
            return UNKNOWN


def _combined(operator: str, left: Affine, right: Affine) -> Affine:
    if not (left.exact and right.exact):
        return UNKNOWN
    match operator:
        case "add":
            return added(left, right)
        case "sub":
            return added(left, right, -1)
        case "mul" if not right.terms:
            return scaled(left, right.constant)
        case "mul" if not left.terms:
            return scaled(right, left.constant)
        case "shl" if not right.terms and 0 <= right.constant < 63:
            return scaled(left, 1 << right.constant)
        case _:
            return UNKNOWN


_OPPOSITES = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`form >= 0`, or `form = 0` for an equality, over counters."""

    form: Affine
    equality: bool = False


def read_conditions(
    expression: ir.Expression, forms: Mapping[str, Affine], *, holds: bool
) -> tuple[Condition, ...] | None:
    """Return conditions that together equal an expression being true (or false, unless it `holds`).

    Returns: None when it is no conjunction of affine comparisons.
    """
    match expression:
        case ir.Select(if_false=ir.Constant(value=0)) | ir.Binary(operator="and") if holds:
            first, second = ir.child_expressions(expression)[:2]
            parts = [read_conditions(part, forms, holds=True) for part in (first, second)]
            return None if None in parts else tuple(c for part in parts for c in part or ())
        case ir.Binary(operator="eq" | "ne", right=ir.Constant(value=0)) if _is_truth(expression.left):
            return read_conditions(expression.left, forms, holds=holds == (expression.operator == "ne"))
        case ir.Binary(operator=operator) if operator in ir.COMPARISONS:
            left, right = read_form(expression.left, forms), read_form(expression.right, forms)
            return _compared(operator if holds else _OPPOSITES[operator], added(left, right, -1))
        case _:
            return None


def _is_truth(expression: ir.Expression) -> bool:
    return isinstance(expression, ir.Binary) and expression.operator in ir.COMPARISONS


def _compared(operator: str, difference: Affine) -> tuple[Condition, ...] | None:
    """Return the conditions on the difference of the two sides of a comparison."""
    if not difference.exact or operator == "ne":
        return None
    if operator == "eq":
        return (Condition(form=difference, equality=True),)
    if operator in ("lt", "le"):
        difference = added(constant(0), difference, -1)
    strict = 1 if operator in ("lt", "gt") else 0
    return (Condition(form=added(difference, constant(-strict))),)
