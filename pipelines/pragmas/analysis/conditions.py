"""Affine conditions around statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.hls import ir
from pipelines.pragmas.analysis.forms import added, constant, read_form
from pipelines.pragmas.summary import Affine

_OPPOSITES = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`form >= 0`, or `form = 0` for an equality, over counters."""

    form: Affine
    equality: bool = False


def read_conditions(
    expression: ir.Expression, known: Mapping[str, Affine], *, holds: bool
) -> tuple[Condition, ...] | None:
    """Conditions that are together the same as an expression being true (or false, unless it `holds`).

    Returns: None when it is no conjunction of affine comparisons.
    """
    match expression:
        case ir.Select(if_false=ir.Constant(value=0)) | ir.Binary(operator="and") if holds:
            first, second = ir.child_expressions(expression)[:2]
            parts = [read_conditions(part, known, holds=True) for part in (first, second)]
            return None if None in parts else tuple(c for part in parts for c in part or ())
        case ir.Binary(operator="eq" | "ne", right=ir.Constant(value=0)) if _is_truth(expression.left):
            return read_conditions(expression.left, known, holds=holds == (expression.operator == "ne"))
        case ir.Binary(operator=operator) if operator in ir.COMPARISONS:
            left, right = read_form(expression.left, known), read_form(expression.right, known)
            return _compared(operator if holds else _OPPOSITES[operator], added(left, right, -1))
        case _:
            return None


def _is_truth(expression: ir.Expression) -> bool:
    return isinstance(expression, ir.Binary) and expression.operator in ir.COMPARISONS


def _compared(operator: str, difference: Affine) -> tuple[Condition, ...] | None:
    """Conditions on the difference of the two sides of a comparison."""
    if not difference.exact or operator == "ne":
        return None
    if operator == "eq":
        return (Condition(form=difference, equality=True),)
    if operator in ("lt", "le"):
        difference = added(constant(0), difference, -1)
    strict = 1 if operator in ("lt", "gt") else 0
    return (Condition(form=added(difference, constant(-strict))),)
