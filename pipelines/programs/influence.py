"""Which arguments of a program each of its values is computed from, calls inlined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipelines.c import ir


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """Names of the arguments that variables and arrays of a function are computed from.

    Flow-insensitive: a name has the arguments of every value that is ever assigned to it. Influence through
    control, as of a variable assigned in a branch, is not followed: `control_expressions` has the branch.

    Attributes:
        variables, arrays: arguments by name; a name that is absent depends on none.
    """

    variables: Mapping[str, frozenset[str]]
    arrays: Mapping[str, frozenset[str]]

    def of(self, expression: ir.Expression) -> frozenset[str]:
        """Return the arguments that the value of an expression is computed from, subscripts included."""
        names: set[str] = set()
        for part in ir.walk_expressions(expression):
            match part:
                case ir.Read():
                    names |= self.variables.get(part.variable.name, frozenset())
                case ir.Load():
                    names |= self.arrays.get(part.array.name, frozenset())
                case _:
                    pass
        return frozenset(names)


def influence_of(function: ir.Function) -> Influence:
    """Return the influence of a function's arguments: the smallest solution of its assignments and stores."""
    variables: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    arrays: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for parameter in function.parameters:
        own = arrays if isinstance(parameter, ir.Array) else variables
        own[parameter.name] = frozenset((parameter.name,))
    influence = Influence(variables=variables, arrays=arrays)
    statements = [
        s for s in ir.walk_statements(function.body) if isinstance(s, ir.Assign | ir.For | ir.Store)
    ]
    changed = True
    while changed:
        changed = False
        for statement in statements:
            table, name, sources = _target(statement, influence, variables, arrays)
            if not sources <= table[name]:
                table[name] |= sources
                changed = True
    return influence


Table = defaultdict[str, frozenset[str]]


def _target(
    statement: ir.Assign | ir.For | ir.Store, influence: Influence, variables: Table, arrays: Table
) -> tuple[Table, str, frozenset[str]]:
    """Return the table and name that a statement changes, and the arguments of the new value."""
    match statement:
        case ir.Store():
            sources = influence.of(statement.value)
            for index in statement.indices:
                sources |= influence.of(index)
            return arrays, statement.array.name, sources
        case ir.For():
            return variables, statement.variable.name, influence.of(statement.lower)
        case ir.Assign():
            return variables, statement.variable.name, influence.of(statement.value)


def control_expressions(function: ir.Function) -> Iterator[ir.Expression]:
    """Yield every bound of a loop, and every condition of a loop, a branch or an early exit."""
    for statement in ir.walk_statements(function.body):
        match statement:
            case ir.If() | ir.While():
                yield statement.condition
            case ir.For():
                yield statement.lower
                yield statement.upper
            case _:
                pass


def thresholds(function: ir.Function, scalars: Mapping[str, int | float]) -> dict[str, list[int | float]]:
    """Return numbers that values computed from each argument are compared with, in source order without
    repetition.

    Args:    scalars: values of the scalar arguments, which a comparison may name.
    Returns: constants and scalars by argument; a condition without comparison compares with 0.
    """
    influence = influence_of(function)
    compared: defaultdict[str, dict[int | float, None]] = defaultdict(dict)
    for value, number in _compared(function, scalars):
        for argument in sorted(influence.of(value)):
            compared[argument][number] = None
    return {argument: list(numbers) for argument, numbers in compared.items()}


def _compared(
    function: ir.Function, scalars: Mapping[str, int | float]
) -> Iterator[tuple[ir.Expression, int | float]]:
    for condition in control_expressions(function):
        if not any(_is_comparison(part) for part in ir.walk_expressions(condition)):
            yield condition, 0
    for part in ir.all_expressions(function.body):
        if isinstance(part, ir.Binary) and _is_comparison(part):
            for value, other in ((part.left, part.right), (part.right, part.left)):
                number = _number(other, scalars)
                if number is not None:
                    yield value, number


def _is_comparison(expression: ir.Expression) -> bool:
    return isinstance(expression, ir.Binary) and expression.operator in ir.COMPARISONS


def _number(expression: ir.Expression, scalars: Mapping[str, int | float]) -> int | float | None:
    """Return the value of a constant or a scalar argument, converted or not; None for anything else."""
    match expression:
        case ir.Constant():
            return expression.number
        case ir.Read():
            return scalars.get(expression.variable.name)
        case ir.Cast(operand=operand, bits=False):
            return _number(operand, scalars)
        case ir.Unary(operator="neg", operand=operand):
            number = _number(operand, scalars)
            return None if number is None else -number
        case _:
            return None
