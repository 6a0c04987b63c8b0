"""The structured intermediate representation: typed expressions, assignments, loops and conditions.

Belongs here: what a program is between C and the control/data-flow graph. Every node is frozen; a pass
takes valid IR and returns valid IR. Does not: how C is read, or when anything happens.

Values are two's-complement integers of a `ScalarType`; arithmetic wraps. Memory is a set of arrays that do
not overlap. A loop is either counted (`For`, the loop variable is changed by the loop alone and the bound
does not change inside) or conditional (`While`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from pipelines.interface import INT32, ScalarType


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A scalar variable, unique in the function."""

    name: str
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array: external arrays are ports of the design, local ones memories inside it."""

    name: str
    type: ScalarType
    shape: tuple[int, ...]
    external: bool

    @property
    def element_count(self) -> int:
        """Elements of the array."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """An integer constant, within the range of its type."""

    value: int
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The present value of a variable."""

    variable: Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """An array element, one index expression a dimension.

    `predicate`: the element is fetched only when it is not zero; otherwise the value is undefined and
    must not be used.
    """

    array: Array
    indices: tuple[Expression, ...]
    line: int
    predicate: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """`neg` or `not` (bitwise) of an operand."""

    operator: str
    operand: Expression
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """An operator of two operands; comparisons give 0 or 1. Names are those of `BINARY_OPERATORS`."""

    operator: str
    left: Expression
    right: Expression
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """`condition` not zero: `if_true`, else `if_false`; both are evaluated."""

    condition: Expression
    if_true: Expression
    if_false: Expression
    type: ScalarType = INT32


Expression = Constant | Read | Load | Unary | Binary | Select

ARITHMETIC = ("add", "sub", "mul", "div", "rem")
BITWISE = ("and", "or", "xor", "shl", "shr")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
BINARY_OPERATORS = ARITHMETIC + BITWISE + COMPARISONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign:
    """Give a variable a value."""

    variable: Variable
    value: Expression
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Give an array element a value, when `predicate` is None or not zero."""

    array: Array
    indices: tuple[Expression, ...]
    value: Expression
    line: int
    predicate: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class If:
    """Run one of two bodies."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What counted and conditional loops share.

    Attributes:
        name: what directives call the loop; its C label, or L0, L1, … in source order.
        directives: canonical directives written in the source on this loop.
    """

    name: str
    body: tuple[Statement, ...]
    line: int
    directives: tuple[LoopDirective, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class For(Loop):
    """`for (variable = lower; variable <comparison> upper; variable += step)`."""

    variable: Variable
    lower: Expression
    comparison: str
    upper: Expression
    step: int

    @property
    def trip_count(self) -> int | None:
        """Iterations, when both bounds are constants."""
        if not (isinstance(self.lower, Constant) and isinstance(self.upper, Constant)):
            return None
        low, high, step = self.lower.value, self.upper.value, self.step
        if self.comparison == "ne":
            distance = high - low
            return distance // step if distance % step == 0 and distance // step >= 0 else None
        if self.comparison in ("le", "ge"):
            high += 1 if self.comparison == "le" else -1
        span = high - low if step > 0 else low - high
        return max(0, -(-span // abs(step)))


@dataclass(frozen=True, slots=True, kw_only=True)
class While(Loop):
    """Run the body while the condition holds; `test_first` is false for do-while."""

    condition: Expression
    test_first: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """End of the function, with its result."""

    value: Expression | None
    line: int


Statement = Assign | Store | If | For | While | Return


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDirective:
    """A directive on one loop.

    Attributes:
        kind: `pipeline`, or another kind of the field that this engine may refuse.
        loop: name of the loop.
        value: initiation interval of a pipeline, factor of an unroll; None when not given.
    """

    kind: str
    loop: str
    value: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A whole program: its top function."""

    name: str
    parameters: tuple[Variable | Array, ...]
    arrays: tuple[Array, ...]
    returns: ScalarType | None
    body: tuple[Statement, ...]
    ignored_pragmas: tuple[tuple[str, int], ...] = field(default=())


def child_bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The bodies inside a statement, in source order."""
    if isinstance(statement, If):
        return statement.then, statement.otherwise
    if isinstance(statement, For | While):
        return (statement.body,)
    return ()


def walk_statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement of a body, outer before inner, in source order."""
    for statement in body:
        yield statement
        for inner in child_bodies(statement):
            yield from walk_statements(inner)


def statement_expressions(statement: Statement) -> tuple[Expression, ...]:
    """The expressions a statement evaluates itself, inner bodies excluded."""
    match statement:
        case Assign():
            return (statement.value,)
        case Store():
            predicate = () if statement.predicate is None else (statement.predicate,)
            return (*statement.indices, statement.value, *predicate)
        case If() | While():
            return (statement.condition,)
        case For():
            return (statement.lower, statement.upper)
        case Return():
            return () if statement.value is None else (statement.value,)


def child_expressions(expression: Expression) -> tuple[Expression, ...]:
    """Operands of an expression."""
    match expression:
        case Load():
            predicate = () if expression.predicate is None else (expression.predicate,)
            return (*expression.indices, *predicate)
        case Unary():
            return (expression.operand,)
        case Binary():
            return (expression.left, expression.right)
        case Select():
            return (expression.condition, expression.if_true, expression.if_false)
        case _:
            return ()


def walk_expressions(expression: Expression) -> Iterator[Expression]:
    """An expression and everything inside it."""
    yield expression
    for child in child_expressions(expression):
        yield from walk_expressions(child)


def all_expressions(body: tuple[Statement, ...]) -> Iterator[Expression]:
    """Every expression of a body and of the bodies inside."""
    for statement in walk_statements(body):
        for expression in statement_expressions(statement):
            yield from walk_expressions(expression)


def assigned_variables(body: tuple[Statement, ...]) -> frozenset[str]:
    """Names of the variables a body may change, loop variables included."""
    return frozenset(s.variable.name for s in walk_statements(body) if isinstance(s, Assign | For))


def stored_arrays(body: tuple[Statement, ...]) -> frozenset[str]:
    """Names of the arrays a body may change."""
    return frozenset(s.array.name for s in walk_statements(body) if isinstance(s, Store))
