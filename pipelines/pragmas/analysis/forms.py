"""Affine forms over loop counters, and reading them from expressions.

An integer expression is taken for the number it stands for: arithmetic is assumed not to wrap around, which
C leaves undefined for signed types.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.hls import ir
from pipelines.pragmas.summary import Affine

UNKNOWN = Affine(exact=False)
"""A value that is not affine."""


def constant(value: int) -> Affine:
    """The form of a number."""
    return Affine(constant=value)


def counter(loop: str) -> Affine:
    """The form of a loop's counter."""
    return Affine(terms=((loop, 1),))


def added(left: Affine, right: Affine, factor: int = 1) -> Affine:
    """`left + factor * right`."""
    if not (left.exact and right.exact):
        return UNKNOWN
    terms = dict(left.terms)
    for loop, coefficient in right.terms:
        terms[loop] = terms.get(loop, 0) + factor * coefficient
    kept = tuple((loop, coefficient) for loop, coefficient in terms.items() if coefficient)
    return Affine(terms=kept, constant=left.constant + factor * right.constant)


def scaled(form: Affine, factor: int) -> Affine:
    """`factor * form`."""
    return added(constant(0), form, factor)


def substituted(form: Affine, values: Mapping[str, Affine]) -> Affine:
    """The form with each counter that `values` has replaced."""
    if not form.exact:
        return form
    found = constant(form.constant)
    for loop, coefficient in form.terms:
        found = added(found, values.get(loop, counter(loop)), coefficient)
    return found


def read_form(expression: ir.Expression, known: Mapping[str, Affine]) -> Affine:
    """The affine form of an integer expression.

    Args:    known: forms of variables.
    Returns: `UNKNOWN` when it has none.
    """
    if ir.type_of(expression).floating:
        return UNKNOWN
    match expression:
        case ir.Constant():
            return constant(expression.value)
        case ir.Read():
            return known.get(expression.variable.name, UNKNOWN)
        case ir.Cast():
            wide = expression.type.width_bits >= min(32, ir.type_of(expression.operand).width_bits)
            return read_form(expression.operand, known) if wide and not expression.bits else UNKNOWN
        case ir.Unary(operator="neg"):
            return scaled(read_form(expression.operand, known), -1)
        case ir.Binary(operator=operator):
            left, right = read_form(expression.left, known), read_form(expression.right, known)
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
