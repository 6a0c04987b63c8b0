"""Statements that combine a value with new terms by an associative operator.

A program may split an accumulation over temporaries. `join_accumulations` makes one statement of it: each
statement of such a chain reads once the value that the statement right before it has assigned, and nothing
else reads that value. Updates of one variable are joined across statements that neither read it nor change
what it is updated with. So the values are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.c import ir
from pipelines.c.signature import ScalarType

ADD, MULTIPLY, MINIMUM, MAXIMUM = "add", "mul", "min", "max"

IsTarget = Callable[[ir.Expression], bool]
"""Whether an expression is the value that the statement's target had before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accumulation:
    """`target = earlier <operator> rest`.

    Attributes:
        operator: ADD, MULTIPLY, MINIMUM or MAXIMUM; negative: the rest is subtracted.
        earlier: the target's value before; rest: all other terms combined, None when there are none.
    """

    operator: str
    earlier: ir.Expression
    rest: ir.Expression
    negative: bool = False


def find_accumulation(value: ir.Expression, is_target: IsTarget) -> Accumulation | None:
    """Take a statement's value apart, None when it is no accumulation.

    `x + a - b` becomes `x + (a - b)`: a tool that may reorder has one operation between a value of x and
    the next, one that may not has at least one.
    """
    value = _without_conversions(value)
    for operator in (ADD, MULTIPLY, MINIMUM, MAXIMUM):
        terms = _terms(value, operator, positive=True)
        own = [t for t in terms if is_target(_without_conversions(t[1]))]
        others = [t for t in terms if t not in own]
        if len(own) != 1 or not own[0][0] or not others:
            continue
        if any(is_target(part) for _, term in others for part in ir.walk_expressions(term)):
            continue
        return _accumulation(operator, own[0][1], others, ir.type_of(value))
    return None


def _accumulation(
    operator: str, earlier: ir.Expression, others: list[tuple[bool, ir.Expression]], kind: ScalarType
) -> Accumulation:
    first_positive, rest = others[0]
    for positive, term in others[1:]:
        rest = _joined(operator if positive == first_positive else "sub", rest, term, kind)
    return Accumulation(
        operator=operator,
        earlier=_without_conversions(earlier),
        rest=rest,
        negative=not first_positive,
    )


def _joined(operator: str, left: ir.Expression, right: ir.Expression, kind: ScalarType) -> ir.Expression:
    if operator in (MINIMUM, MAXIMUM):
        test = ir.Binary(operator="lt" if operator == MINIMUM else "gt", left=left, right=right)
        return ir.Select(condition=test, if_true=left, if_false=right, type=kind)
    return ir.Binary(operator=operator, left=left, right=right, type=kind)


def _terms(value: ir.Expression, operator: str, *, positive: bool) -> list[tuple[bool, ir.Expression]]:
    """Return the operands of nested uses of one operator in order, each with whether it is added."""
    match value:
        case ir.Binary(operator="add", left=left, right=right) if operator == ADD:
            return _terms(left, operator, positive=positive) + _terms(right, operator, positive=positive)
        case ir.Binary(operator="sub", left=left, right=right) if operator == ADD:
            return _terms(left, operator, positive=positive) + _terms(right, operator, positive=not positive)
        case ir.Binary(operator="mul", left=left, right=right) if operator == MULTIPLY:
            return _terms(left, operator, positive=positive) + _terms(right, operator, positive=positive)
        case ir.Select() if extreme_of(value) == operator:
            arms = (_unguarded(value.if_true), _unguarded(value.if_false))
            return [t for arm in arms for t in _terms(arm, operator, positive=positive)]
        case _:
            return [(positive, value)]


def extreme_of(value: ir.Select) -> str | None:
    """Return MINIMUM or MAXIMUM when a selection is that of the two values it compares."""
    match value.condition:
        case ir.Binary(operator=("lt" | "le" | "gt" | "ge") as operator, left=left, right=right):
            arms = tuple(_unguarded(a) for a in (value.if_true, value.if_false))
            if arms not in ((left, right), (right, left)):
                return None
            smaller = (operator in ("lt", "le")) == (arms == (left, right))
            return MINIMUM if smaller else MAXIMUM
        case _:
            return None


def _unguarded(expression: ir.Expression) -> ir.Expression:
    """Return the expression with every access unconditional: its values are compared before anyway."""

    def visit(part: ir.Expression) -> ir.Expression:
        if isinstance(part, ir.Load) and part.predicate is not None:
            return ir.Load(array=part.array, indices=part.indices, line=part.line)
        return part

    return ir.map_expression(expression, visit)


def _without_conversions(value: ir.Expression) -> ir.Expression:
    """Return the value before conversions between integer types."""
    while isinstance(value, ir.Cast) and not value.type.floating and not ir.type_of(value.operand).floating:
        value = value.operand
    return value


_Run = tuple[ir.Assign | ir.Store, ...]


def join_accumulations(function: ir.Function) -> ir.Function:
    """Return the function with each split accumulation in one statement, at the line of the last one."""
    exposed = frozenset(_exposed_reads(function.body))
    return replace(function, body=_joined_body(function.body, exposed))


def _joined_body(body: Sequence[ir.Statement], exposed: frozenset[str]) -> tuple[ir.Statement, ...]:
    statements: list[ir.Statement] = []
    for part in _runs(body):
        if isinstance(part, tuple):
            statements += _joined_run(part, exposed)
        else:
            inner = tuple(_joined_body(b, exposed) for b in ir.child_bodies(part))
            statements.append(ir.with_bodies(part, inner))
    return tuple(statements)


def _runs(body: Sequence[ir.Statement]) -> Iterator[_Run | ir.Statement]:
    """Yield a body cut into assignments that follow one another, and other statements."""
    run: list[ir.Assign | ir.Store] = []
    for statement in body:
        if isinstance(statement, ir.Assign | ir.Store):
            run.append(statement)
            continue
        if run:
            yield tuple(run)
            run = []
        yield statement
    if run:
        yield tuple(run)


def _joined_run(run: _Run, exposed: frozenset[str]) -> list[ir.Statement]:
    statements: list[ir.Assign | ir.Store] = []
    for position, statement in enumerate(run):
        _join_update(statements, statement)
        joined, used = statements[-1], 0
        for earlier in reversed(statements[:-1]):
            if not isinstance(earlier, ir.Assign) or not _is_last_use(
                earlier, joined, run[position + 1 :], exposed
            ):
                break
            joined, used = _substituted(joined, earlier), used + 1
            if _accumulates(joined):
                statements[-1 - used :] = [joined]
                break
    return list(statements)


def _join_update(statements: list[ir.Assign | ir.Store], statement: ir.Assign | ir.Store) -> None:
    """Append a statement, joined with the last one before it that updates the same variable.

    The earlier one can move to the later one when nothing between reads its value or changes its operands.
    """
    statements.append(statement)
    if not isinstance(statement, ir.Assign) or _reads(statement, statement.variable.name) != 1:
        return
    name = statement.variable.name
    for place in range(len(statements) - 2, -1, -1):
        earlier = statements[place]
        if isinstance(earlier, ir.Assign) and earlier.variable.name == name:
            between = statements[place + 1 : -1]
            joined = _substituted(statement, earlier)
            if _accumulates(joined) and not any(_changes_operand(s, earlier) for s in between):
                statements[-1] = joined
                del statements[place]
            return
        if _reads(earlier, name):
            return


def _changes_operand(statement: ir.Assign | ir.Store, user: ir.Assign) -> bool:
    """Tell whether a statement writes a variable or an array that another one reads."""
    parts = [part for e in ir.statement_expressions(user) for part in ir.walk_expressions(e)]
    if isinstance(statement, ir.Assign):
        return any(isinstance(p, ir.Read) and p.variable.name == statement.variable.name for p in parts)
    return any(isinstance(p, ir.Load) and p.array == statement.array for p in parts)


def _is_last_use(
    earlier: ir.Assign, user: ir.Assign | ir.Store, later: _Run, exposed: frozenset[str]
) -> bool:
    """Tell whether a statement is the only reader of the variable that the one before it assigns."""
    name = earlier.variable.name
    if name in exposed or _reads(user, name) != 1:
        return False
    if isinstance(user, ir.Assign) and user.variable.name == name:
        return True
    for statement in later:
        if _reads(statement, name):
            return False
        if isinstance(statement, ir.Assign) and statement.variable.name == name:
            return True
    return True


def _reads(statement: ir.Statement, name: str) -> int:
    parts = (p for e in ir.statement_expressions(statement) for p in ir.walk_expressions(e))
    return sum(isinstance(p, ir.Read) and p.variable.name == name for p in parts)


def _substituted(statement: ir.Assign | ir.Store, earlier: ir.Assign) -> ir.Assign | ir.Store:
    def visit(part: ir.Expression) -> ir.Expression:
        return earlier.value if part == ir.Read(variable=earlier.variable) else part

    return replace(statement, value=ir.map_expression(statement.value, visit))


def _accumulates(statement: ir.Assign | ir.Store) -> bool:
    if isinstance(statement, ir.Assign):
        own = ir.Read(variable=statement.variable)
        return find_accumulation(statement.value, lambda value: value == own) is not None
    array, indices = statement.array, statement.indices
    return (
        find_accumulation(
            statement.value,
            lambda v: isinstance(v, ir.Load) and v.array == array and v.indices == indices,
        )
        is not None
    )


def _exposed_reads(body: Sequence[ir.Statement]) -> Iterator[str]:
    """Yield the variables that are read without an assignment before them in the same run."""
    for part in _runs(body):
        assigned: set[str] = set()
        for statement in part if isinstance(part, tuple) else (part,):
            for expression in ir.statement_expressions(statement):
                for piece in ir.walk_expressions(expression):
                    if isinstance(piece, ir.Read) and piece.variable.name not in assigned:
                        yield piece.variable.name
            if isinstance(statement, ir.Assign):
                assigned.add(statement.variable.name)
        if not isinstance(part, tuple):
            for inner in ir.child_bodies(part):
                yield from _exposed_reads(inner)
