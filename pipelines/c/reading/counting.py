"""Counted loops: `for` and `while (n--)` with a known step and bound.

A comparison converts both sides to a common type; the variable's own type replaces it where the result is
the same for every value of the variable. The variable must not wrap around: signed arithmetic of at least 32
bits does not in a valid program; otherwise the bound, or the absence of other exits, excludes it (a loop that
wraps past its bound never ends).

A loop that counts down in its condition (`while (n--)`, `while (n-- > 0)`, `for (…; --n;)`) counts with a new
variable k from the number of iterations down to 1. The program's variable is k - 1 in the body (k for `--n`)
and keeps its value from after the failed condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_cast, value_range
from pipelines.c.reading.session import affected
from pipelines.c.signature import ScalarType

_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "ne": "ne"}
_COSTLY = ("div", "rem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A counted loop.

    Attributes:
        start_position: position of the statement before the loop that sets the variable to `lower`; None when
            `lower` is the variable.
        upper_is_costly: the bound is to be evaluated once before the loop.
    """

    variable: ir.Variable
    lower: ir.Expression
    comparison: str
    upper: ir.Expression
    step: int
    start_position: int | None
    upper_is_costly: bool


def counted_loop(
    before: Sequence[ir.Statement],
    condition: ir.Expression,
    body: tuple[ir.Statement, ...],
    after: tuple[ir.Statement, ...],
) -> Counted | None:
    """Return the counted form of a loop, None when it is not counted.

    Args: before: statements so far, the last of which may set the variable; after: statements of the third
             part.
    """
    if len(after) != 1 or not isinstance(after[0], ir.Assign):
        return None
    variable = after[0].variable
    step = _step(after[0].value, variable)
    bound = _bound(condition, variable)
    if not step or bound is None or variable.name in ir.assigned_variables(body):
        return None
    comparison, upper, compared = bound
    if (comparison in ("lt", "le") and step < 0) or (comparison in ("gt", "ge") and step > 0):
        return None
    if _changes(upper, variable, body):
        return None
    position, lower = start_of(before, variable)
    loop = _Loop(
        variable=variable,
        lower=lower,
        comparison=comparison,
        step=step,
        exits=_exits(body),
        compared=compared,
    )
    own = loop.own_bound(upper)
    if own is None or not loop.counts_exactly(own):
        return None
    return Counted(
        variable=variable,
        lower=lower,
        comparison=comparison,
        upper=own,
        step=step,
        start_position=position,
        upper_is_costly=_is_costly(own),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    variable: ir.Variable
    lower: ir.Expression
    comparison: str
    step: int
    exits: bool
    compared: ScalarType

    @property
    def starts_at_zero_or_above(self) -> bool:
        """Whether the variable starts non-negative and grows."""
        kind = self.variable.type
        if not kind.signed:
            return True
        return self.step > 0 and interval(self.lower)[0] >= 0 and kind.width_bits >= 32

    def own_bound(self, upper: ir.Expression) -> ir.Expression | None:
        """Return the bound in the variable's own type, None when the comparison could differ there."""
        kind, compared = self.variable.type, self.compared
        if compared.floating:
            return None
        if compared == kind:
            return upper
        low, high = value_range(kind)
        kept = compared.width_bits > kind.width_bits and compared.signed
        kept = kept or (self.starts_at_zero_or_above and compared.width_bits >= kind.width_bits)
        if not kept:
            return None
        smallest, largest = interval(upper)
        if low <= smallest and largest <= high:
            return make_cast(upper, kind)
        grows_to_the_end = self.step > 0 and smallest >= low and not self.exits
        if grows_to_the_end and self.comparison == "lt" and kind.signed and kind.width_bits >= 32:
            return make_cast(upper, kind)
        return None

    def counts_exactly(self, upper: ir.Expression) -> bool:
        """Tell whether the variable never wraps around before it reaches the bound."""
        kind = self.variable.type
        if self.comparison == "ne":
            return self._meets(upper)
        if kind.signed and kind.width_bits >= 32:
            return True
        low, high = value_range(kind)
        smallest, largest = interval(upper)
        last = largest if self.step > 0 else smallest
        if self.comparison in ("lt", "gt"):
            last += -1 if self.step > 0 else 1
        return low <= last + self.step <= high or (not self.exits and not isinstance(upper, ir.Constant))

    def _meets(self, upper: ir.Expression) -> bool:
        """Tell whether a loop that ends at equality reaches it without wrapping around."""
        kind = self.variable.type
        if isinstance(upper, ir.Constant) and isinstance(self.lower, ir.Constant):
            distance = upper.value - self.lower.value
            return distance % self.step == 0 and distance // self.step >= 0
        if kind.signed and kind.width_bits >= 32:
            return abs(self.step) == 1
        return self.step == 1 and self.lower == ir.Constant(value=0, type=kind)


def start_of(before: Sequence[ir.Statement], variable: ir.Variable) -> tuple[int | None, ir.Expression]:
    """Return the value of a variable after statements: position of the assignment and the assigned value.

    Returns: None and the variable itself when no assignment is among the last simple statements, or when
             later ones use the variable or change the value.
    """
    here = ir.Read(variable=variable)
    for position in reversed(range(len(before))):
        statement = before[position]
        if not isinstance(statement, ir.Assign | ir.Store):
            break
        if isinstance(statement, ir.Assign) and statement.variable == variable:
            later = list(before[position + 1 :])
            return (None, here) if affected(statement.value, later) else (position, statement.value)
        if any(reads(value, variable) for value in ir.statement_expressions(statement)):
            break
    return None, here


def reads(value: ir.Expression, variable: ir.Variable) -> bool:
    """Tell whether an expression reads a variable."""
    return any(part == ir.Read(variable=variable) for part in ir.walk_expressions(value))


def _step(value: ir.Expression, variable: ir.Variable) -> int | None:
    """Return the constant that is added to the variable, None when it changes otherwise."""
    if isinstance(value, ir.Cast) and not value.bits and value.type == variable.type:
        value = value.operand
    if not isinstance(value, ir.Binary) or value.operator not in ("add", "sub") or value.type.floating:
        return None
    if value.type.width_bits < variable.type.width_bits:
        return None
    left, right = value.left, value.right
    if value.operator == "add" and isinstance(left, ir.Constant):
        left, right = right, left
    if not isinstance(right, ir.Constant) or not _is_read(left, variable):
        return None
    step = right.value if value.operator == "add" else -right.value
    width_bits = variable.type.width_bits
    step &= (1 << width_bits) - 1
    return step - (1 << width_bits) if step >> (width_bits - 1) else step


def _is_read(value: ir.Expression, variable: ir.Variable) -> bool:
    """Tell whether an expression is the variable, possibly widened."""
    while isinstance(value, ir.Cast) and not value.bits and not value.type.floating:
        value = value.operand
    return value == ir.Read(variable=variable)


def _bound(condition: ir.Expression, variable: ir.Variable) -> tuple[str, ir.Expression, ScalarType] | None:
    """Return the comparison operator, bound and comparison type of a condition on the variable."""
    if not isinstance(condition, ir.Binary) or condition.operator not in _MIRRORED:
        return None
    kind = ir.type_of(condition.left)
    for side, other, operator in (
        (condition.left, condition.right, condition.operator),
        (condition.right, condition.left, _MIRRORED[condition.operator]),
    ):
        if _widened(side, variable):
            return operator, other, kind
    return None


def _widened(value: ir.Expression, variable: ir.Variable) -> bool:
    """Tell whether an expression is the variable in its own type or directly converted."""
    if value == ir.Read(variable=variable):
        return True
    return isinstance(value, ir.Cast) and not value.bits and value.operand == ir.Read(variable=variable)


def _changes(upper: ir.Expression, variable: ir.Variable, body: tuple[ir.Statement, ...]) -> bool:
    """Tell whether the loop may change its bound."""
    assigned, stored = ir.assigned_variables(body) | {variable.name}, ir.stored_arrays(body)
    for part in ir.walk_expressions(upper):
        if isinstance(part, ir.Read) and part.variable.name in assigned:
            return True
        if isinstance(part, ir.Load) and part.array.name in stored:
            return True
    return False


def _exits(body: tuple[ir.Statement, ...]) -> bool:
    """Tell whether control may leave the loop from inside its body."""
    inside = {s.label for s in ir.walk_statements(body) if isinstance(s, ir.Block)}
    return any(isinstance(s, ir.Leave) and s.label not in inside for s in ir.walk_statements(body))


def _is_costly(upper: ir.Expression) -> bool:
    return any(
        isinstance(p, ir.Load | ir.Select)
        or (isinstance(p, ir.Binary) and (p.operator in _COSTLY or ir.type_of(p.left).floating))
        or (isinstance(p, ir.Unary) and p.type.floating)
        for p in ir.walk_expressions(upper)
    )


def interval(value: ir.Expression) -> tuple[int, int]:
    """Return a range that contains every value of an integer expression."""
    kind = ir.type_of(value)
    if kind.floating:
        return -(1 << 64), 1 << 64
    low, high = value_range(kind)
    match value:
        case ir.Constant():
            return value.value, value.value
        case ir.Cast() if not value.bits and not ir.type_of(value.operand).floating:
            bounds = interval(value.operand)
        case ir.Binary() if value.operator in ir.COMPARISONS:
            return 0, 1
        case ir.Binary() if value.operator == "add":
            (a, b), (c, d) = interval(value.left), interval(value.right)
            bounds = a + c, b + d
        case ir.Binary() if value.operator == "sub":
            (a, b), (c, d) = interval(value.left), interval(value.right)
            bounds = a - d, b - c
        case ir.Binary() if value.operator == "mul":
            (a, b), (c, d) = interval(value.left), interval(value.right)
            products = (a * c, a * d, b * c, b * d)
            bounds = min(products), max(products)
        case _:
            return low, high
    return bounds if low <= bounds[0] and bounds[1] <= high else (low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Countdown:
    """A condition that counts down.

    Attributes:
        variable: counted variable; lower: number of iterations.
        offset: difference between counter and variable: 1 for `n--`, 0 for `--n`.
        starts_at_itself: the assignment before the loop reads the variable, which then holds the start.
    """

    variable: ir.Variable
    lower: ir.Expression
    offset: int
    starts_at_itself: bool = False

    def value(self, counter: ir.Expression) -> ir.Expression:
        """Return the variable's value for a value of the counter."""
        kind = self.variable.type
        return make_binary("sub", counter, ir.Constant(value=self.offset, type=kind))


def countdown(
    so_far: Sequence[ir.Statement],
    effects: Sequence[ir.Statement],
    condition: ir.Expression,
    body: tuple[ir.Statement, ...],
) -> Countdown | None:
    """Return the countdown form of a condition, None when it is none.

    Args: so_far: statements before the loop; effects: side effects of the condition, before its value.
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
    starts_at_itself = start != ir.Read(variable=variable) and reads(start, variable)
    start = ir.Read(variable=variable) if starts_at_itself else start  # the assignment stays before the loop
    lower = make_binary("sub", start, ir.Constant(value=1 - offset, type=variable.type))
    return Countdown(variable=variable, lower=lower, offset=offset, starts_at_itself=starts_at_itself)


def _is_less_one(value: ir.Expression, before: ir.Variable, variable: ir.Variable) -> bool:
    """Tell whether a value is a variable minus one, converted to another's type."""
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
    """Return variable that a condition compares with zero, and whether negative values satisfy it, too."""
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


def counted_down(form: Countdown, name: str, counter: ir.Variable, loop: ir.While) -> list[ir.Statement]:
    """Return the counted loop that replaces a conditional one, and the final value of its variable."""
    kind, variable = form.variable.type, form.variable
    present = make_cast(form.value(ir.Read(variable=counter)), kind)
    step_in = ir.Assign(variable=variable, value=present, line=loop.line)
    counted = ir.For(
        name=name,
        variable=counter,
        lower=form.lower,
        comparison="gt",
        upper=ir.Constant(value=0, type=kind),
        step=-1,
        body=(step_in, *loop.body),
        line=loop.line,
        directives=loop.directives,
    )
    return [counted, ir.Assign(variable=variable, value=present, line=loop.line)]
