"""Loops that count down in their condition: `while (n--)`, `while (n-- > 0)`, `for (…; --n;)`.

The loop counts with a variable of its own, k, from the number of iterations down to 1; the program's variable
is k - 1 in the body (k for `--n`) and keeps the value it has after the condition failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_cast
from pipelines.hls.reading.counting import interval, start_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Countdown:
    """A condition that counts down.

    Attributes:
        variable: what it counts; lower: how many iterations there are.
        offset: what the variable is less than the counter: 1 for `n--`, 0 for `--n`.
    """

    variable: ir.Variable
    lower: ir.Expression
    offset: int

    def value(self, counter: ir.Expression) -> ir.Expression:
        """The variable's value at a value of the counter."""
        kind = self.variable.type
        return make_binary("sub", counter, ir.Constant(value=self.offset, type=kind))


def countdown(
    so_far: Sequence[ir.Statement],
    effects: Sequence[ir.Statement],
    condition: ir.Expression,
    body: tuple[ir.Statement, ...],
) -> Countdown | None:
    """The countdown a condition is, None when it is another.

    Args: so_far: statements before the loop; effects: those of the condition, which come before its value.
    """
    if not effects or not all(isinstance(s, ir.Assign) for s in effects):
        return None
    last = effects[-1]
    assert isinstance(last, ir.Assign)
    variable = last.variable
    before = effects[0].variable if len(effects) == 2 and isinstance(effects[0], ir.Assign) else variable
    if len(effects) == 2 and effects[0] != ir.Assign(
        variable=before, value=ir.Read(variable=variable), line=effects[0].line
    ):
        return None
    if len(effects) > 2 or not _is_less_one(last.value, before, variable):
        return None
    if variable.name in ir.assigned_variables(body):
        return None
    tested, needs_start = _tested(condition)
    if tested != before:
        return None
    _, start = start_of(so_far, variable)
    offset = 1 if len(effects) == 2 else 0
    if needs_start and variable.type.signed and interval(start)[0] < 1 - offset:
        return None
    lower = make_binary("sub", start, ir.Constant(value=1 - offset, type=variable.type))
    return Countdown(variable=variable, lower=lower, offset=offset)


def _is_less_one(value: ir.Expression, before: ir.Variable, variable: ir.Variable) -> bool:
    """Whether a value is a variable less one, in the type of another."""
    if isinstance(value, ir.Cast) and value.type == variable.type:
        value = value.operand
    if not isinstance(value, ir.Binary) or value.operator != "sub":
        return False
    one = isinstance(value.right, ir.Constant) and value.right.value == 1
    return one and not value.type.floating and _without_casts(value.left) == ir.Read(variable=before)


def _without_casts(value: ir.Expression) -> ir.Expression:
    while isinstance(value, ir.Cast) and not value.bits:
        value = value.operand
    return value


def _tested(condition: ir.Expression) -> tuple[ir.Variable | None, bool]:
    """The variable a condition finds above zero, and whether below zero it would hold, too."""
    if not isinstance(condition, ir.Binary) or condition.operator not in ("gt", "ne"):
        return None, False
    right = condition.right
    if not isinstance(right, ir.Constant) or right.number != 0 or right.type.floating:
        return None, False
    left = _without_casts(condition.left)
    widened = ir.type_of(condition.left).width_bits >= ir.type_of(left).width_bits
    if not isinstance(left, ir.Read) or not widened:
        return None, False
    return left.variable, condition.operator == "ne"


def counted_down(found: Countdown, name: str, counter: ir.Variable, loop: ir.While) -> list[ir.Statement]:
    """The counted loop in place of a conditional one, and what it leaves in its variable."""
    kind, variable = found.variable.type, found.variable
    present = make_cast(found.value(ir.Read(variable=counter)), kind)
    step_in = ir.Assign(variable=variable, value=present, line=loop.line)
    counted = ir.For(
        name=name,
        variable=counter,
        lower=found.lower,
        comparison="gt",
        upper=ir.Constant(value=0, type=kind),
        step=-1,
        body=(step_in, *loop.body),
        line=loop.line,
        directives=loop.directives,
    )
    return [counted, ir.Assign(variable=variable, value=present, line=loop.line)]
