"""Accumulators: variables that a loop only ever combines with new terms by one associative operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_select, value_range
from pipelines.interface import ScalarType

OPERATORS = ("add", "mul", "and", "or", "xor", "min", "max")
"""What accumulators are combined by; a subtraction counts as an addition."""

_PATH_OPERATORS = {"add": "add", "sub": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Accumulator:
    """A variable, its operator, and how many assignments of the body update it."""

    variable: ir.Variable
    operator: str
    updates: int


def identity(operator: str, kind: ScalarType) -> ir.Constant:
    """The value that combined with any other gives the other."""
    if kind.floating:
        infinity = float("-inf") if operator == "max" else float("inf")
        number = {"add": -0.0, "mul": 1.0}.get(operator, infinity)
        return ir.float_constant(number, kind)
    low, high = value_range(kind)
    values = {"mul": 1, "and": -1 if kind.signed else high, "min": high, "max": low}
    return ir.Constant(value=values.get(operator, 0), type=kind)


def combine(operator: str, left: ir.Expression, right: ir.Expression) -> ir.Expression:
    """Two values of one type combined."""
    if operator in ("min", "max"):
        test = make_binary("lt" if operator == "min" else "gt", left, right)
        return make_select(test, left, right)
    return make_binary(operator, left, right)


def tree(operator: str, values: Sequence[ir.Expression]) -> ir.Expression:
    """All values combined in a tree of the least depth; at least one.

    The values should be constants or variables: of a minimum or maximum each appears twice.
    """
    if len(values) == 1:
        return values[0]
    middle = (len(values) + 1) // 2
    return combine(operator, tree(operator, values[:middle]), tree(operator, values[middle:]))


def count_reads(expression: ir.Expression, name: str) -> int:
    """How often an expression reads a variable."""
    return sum(
        1 for p in ir.walk_expressions(expression) if isinstance(p, ir.Read) and p.variable.name == name
    )


def operator_of_update(value: ir.Expression, variable: ir.Variable) -> str | None:
    """The operator by which a value combines a variable with terms that do not read it.

    Returns: one of `OPERATORS`, `keep` when the value is the variable itself, None when it is something else.
    """
    match value:
        case ir.Read():
            return "keep" if value.variable == variable else None
        case ir.Cast():
            inner, kind = ir.type_of(value.operand), value.type
            if value.bits or inner.floating != kind.floating or _is_narrower(inner, variable.type):
                return None
            found = operator_of_update(value.operand, variable)
            return None if found in ("min", "max") else found
        case ir.Binary():
            return _binary_update(value, variable)
        case ir.Select():
            return _selected_update(value, variable)
        case _:
            return None


def _is_narrower(kind: ScalarType, other: ScalarType) -> bool:
    """Whether values of the other type lose something in this one, so that sums in it are not sums there."""
    return kind.floating != other.floating or kind.width_bits < other.width_bits


def _binary_update(value: ir.Binary, variable: ir.Variable) -> str | None:
    operator = _PATH_OPERATORS.get(value.operator)
    counts = count_reads(value.left, variable.name), count_reads(value.right, variable.name)
    if operator is None or (counts[0] > 0) == (counts[1] > 0) or _is_narrower(value.type, variable.type):
        return None
    if value.operator == "sub" and counts[1]:
        return None
    inner = operator_of_update(value.left if counts[0] else value.right, variable)
    return operator if inner in (operator, "keep") else None


def _selected_update(value: ir.Select, variable: ir.Variable) -> str | None:
    if count_reads(value.condition, variable.name) == 0:
        found = {operator_of_update(arm, variable) for arm in (value.if_true, value.if_false)} - {"keep"}
        return found.pop() if len(found) == 1 else None
    test = value.condition
    if not isinstance(test, ir.Binary) or test.operator not in ("lt", "le", "gt", "ge"):
        return None
    arms = (value.if_true, value.if_false)
    if (test.left, test.right) not in (arms, arms[::-1]):
        return None
    terms = [a for a in arms if a != ir.Read(variable=variable)]
    if len(terms) != 1 or count_reads(terms[0], variable.name):
        return None
    smaller = (test.operator in ("lt", "le")) == ((test.left, test.right) == arms)
    return "min" if smaller else "max"


def is_extreme_if(statement: ir.Statement) -> bool:
    """Whether a statement is `if (term > variable) variable = term`, or the like."""
    if not isinstance(statement, ir.If) or statement.otherwise or len(statement.then) != 1:
        return False
    inner = statement.then[0]
    if not isinstance(inner, ir.Assign):
        return False
    return operator_of_update(extreme_value(statement, inner), inner.variable) in ("min", "max")


def extreme_value(statement: ir.If, inner: ir.Assign) -> ir.Select:
    """The value such a statement gives its variable."""
    return ir.Select(
        condition=statement.condition,
        if_true=inner.value,
        if_false=ir.Read(variable=inner.variable),
        type=inner.variable.type,
    )


def with_selected_extremes(body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
    """The body with conditional minima and maxima as assignments of selections."""

    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if isinstance(statement, ir.If) and is_extreme_if(statement):
            inner = statement.then[0]
            assert isinstance(inner, ir.Assign)
            value = extreme_value(statement, inner)
            return (ir.Assign(variable=inner.variable, value=value, line=inner.line),)
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Select):
            return (replace(statement, value=_with_tested_arms(statement.value)),)
        return (statement,)

    return ir.map_statements(body, visit)


def _with_tested_arms(value: ir.Select) -> ir.Select:
    """A selection between the two values it compares, with the loads of the comparison in its arms.

    A load in an arm of C's conditional expression is predicated; the comparison has made it already.
    """
    test = value.condition
    if not isinstance(test, ir.Binary):
        return value
    arms = [
        next((o for o in (test.left, test.right) if _unguarded(arm) == o), arm)
        for arm in (value.if_true, value.if_false)
    ]
    return replace(value, if_true=arms[0], if_false=arms[1])


def _unguarded(expression: ir.Expression) -> ir.Expression:
    return replace(expression, predicate=None) if isinstance(expression, ir.Load) else expression


def accumulators(body: tuple[ir.Statement, ...]) -> dict[str, Accumulator]:
    """The accumulators of a loop's body by name: assigned by updates of one operator, read by them only."""
    reads: Counter[str] = Counter()
    loops: set[str] = set()
    for statement in ir.walk_statements(body):
        if isinstance(statement, ir.For):
            loops.add(statement.variable.name)
        for expression in ir.statement_expressions(statement):
            reads.update(p.variable.name for p in ir.walk_expressions(expression) if isinstance(p, ir.Read))
    updates: dict[str, list[ir.Assign]] = {}
    for statement in ir.walk_statements(body):
        if isinstance(statement, ir.Assign) and statement.variable.name not in loops:
            updates.setdefault(statement.variable.name, []).append(statement)
    found: dict[str, Accumulator] = {}
    for name in sorted(updates):
        variable = updates[name][0].variable
        own_reads = sum(count_reads(u.value, name) for u in updates[name]) if reads[name] else 0
        if not own_reads or own_reads != reads[name]:
            continue
        operators = {operator_of_update(u.value, variable) for u in updates[name]} - {"keep"}
        operator = operators.pop() if len(operators) == 1 else None
        if operator is not None:
            found[name] = Accumulator(variable=variable, operator=operator, updates=len(updates[name]))
    return found
