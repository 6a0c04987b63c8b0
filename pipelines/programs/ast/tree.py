"""The tree of a generated program.

Every expression has the type that C gives it and an interval that holds its value: that is how undefined
behaviour is excluded before a program is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pipelines.c.signature import ScalarType

Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """A length: its text, a macro such as `ROWS` or `ROWS + TAPS - 1`, and its value."""

    text: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A scalar that always satisfies low <= value <= high; arguments are drawn from this range."""

    name: str
    type: ScalarType
    low: Number
    high: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array whose elements always satisfy low <= value <= high.

    Attributes:
        shape: extents, C order.
        drawn: the range of its elements as an argument.
        values: initial elements of a table or of a local array, flat; empty without.
    """

    name: str
    type: ScalarType
    low: Number
    high: Number
    shape: tuple[Extent, ...]
    drawn: tuple[Number, Number]
    values: tuple[Number, ...] = ()


# ---- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A value of a type, low <= value <= high; of a floating type never infinite and always a number."""

    type: ScalarType
    low: Number
    high: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Expression):
    """A literal, or a macro that stands for it."""

    value: Number
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Expression):
    """The value of a variable; as a target, the variable."""

    variable: Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Element(Expression):
    """An element of an array, its subscripts in range."""

    array: Array
    subscripts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Expression):
    """`-`, `~` or `!`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Expression):
    """An operator with two operands."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Expression):
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Expression):
    """A conversion to the expression's type."""

    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Expression):
    """A call of a function of the program or of <math.h>."""

    function: str
    arguments: tuple[Expression, ...]


# ---- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Declare:
    """Declaration of a variable, with or without an initial value."""

    variable: Variable
    value: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclareArray:
    """Declaration of a local array, with the values that it has."""

    array: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign:
    """`target operator value`, the operator `=` or one like `+=`.

    Attributes:
        control: the target controls a loop, which might not end with another value.
    """

    target: Read | Element
    operator: str
    value: Expression
    control: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class If:
    """`if`, with or without `else`."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class For:
    """`for (variable = start; variable relation bound; variable += step)`; at most `trips` times."""

    variable: Variable
    start: Expression
    relation: str
    bound: Expression
    step: int
    trips: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class While:
    """A loop while a condition holds; at most `trips` times."""

    condition: Expression
    trips: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Cases; the label None is `default`.

    Attributes: falls: labels whose case goes on into the next one.
    """

    selector: Expression
    cases: tuple[tuple[int | None, tuple[Statement, ...]], ...]
    falls: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """`break` or `continue`."""

    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """`return value`; None where the function has no result."""

    value: Expression | None


Statement = Declare | DeclareArray | Assign | If | For | While | Switch | Leave | Return


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function: `static` unless it is the top one."""

    name: str
    returns: ScalarType | None
    parameters: tuple[Variable | Array, ...]
    body: tuple[Statement, ...]
    read_only: frozenset[str] = field(default_factory=frozenset[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A translation unit, its top function last."""

    extents: tuple[Extent, ...]
    tables: tuple[Array, ...]
    functions: tuple[Function, ...]

    @property
    def top(self) -> Function:
        """The top function."""
        return self.functions[-1]


# ---- walks -----------------------------------------------------------------------------------------


def operands_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside one."""
    match expression:
        case Element():
            return expression.subscripts
        case Unary() | Cast():
            return (expression.operand,)
        case Binary():
            return (expression.left, expression.right)
        case Select():
            return (expression.condition, expression.then, expression.otherwise)
        case Call():
            return expression.arguments
        case _:
            return ()


def walk_expression(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all inside it, outermost first."""
    yield expression
    for inner in operands_of(expression):
        yield from walk_expression(inner)


def bodies_of(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the statement lists directly inside a statement."""
    match statement:
        case If():
            return (statement.then, statement.otherwise)
        case For() | While():
            return (statement.body,)
        case Switch():
            return tuple(body for _, body in statement.cases)
        case _:
            return ()


def walk_statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield all statements of a list and inside them, in source order."""
    for statement in body:
        yield statement
        for inner in bodies_of(statement):
            yield from walk_statements(inner)


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions that a statement itself computes, its target's place included."""
    match statement:
        case Declare() | Return():
            return () if statement.value is None else (statement.value,)
        case Assign():
            return (statement.target, statement.value)
        case If() | While():
            return (statement.condition,)
        case For():
            return (statement.start, statement.bound)
        case Switch():
            return (statement.selector,)
        case _:
            return ()


def called_functions(function: Function) -> tuple[str, ...]:
    """Return the names of the functions that a function calls, each once, in source order."""
    called = [
        inner.function
        for statement in walk_statements(function.body)
        for outer in expressions_of(statement)
        for inner in walk_expression(outer)
        if isinstance(inner, Call)
    ]
    return tuple(dict.fromkeys(called))


def unread_names(program: Program) -> tuple[str, ...]:
    """Return the names of variables and arrays that are declared or written, but never read; outputs are read
    outside.

    `x += 1` alone does not read `x`.
    """
    declared = [t.name for t in program.tables]
    read: set[str] = set()
    for function in program.functions:
        writable = {p.name for p in function.parameters if isinstance(p, Array)} - function.read_only
        declared += [p.name for p in function.parameters if p.name not in writable]
        for statement in walk_statements(function.body):
            if isinstance(statement, Declare):
                declared.append(statement.variable.name)
            elif isinstance(statement, DeclareArray):
                declared.append(statement.array.name)
            for outer in _read_by(statement):
                read.update(_named(e) for e in walk_expression(outer))
    return tuple(name for name in declared if name not in read)


def _read_by(statement: Statement) -> tuple[Expression, ...]:
    """Read the expressions of a statement but for its target's place; the target's subscripts are read."""
    if isinstance(statement, Assign):
        return (*operands_of(statement.target), statement.value)
    return expressions_of(statement)


def _named(expression: Expression) -> str:
    if isinstance(expression, Read):
        return expression.variable.name
    return expression.array.name if isinstance(expression, Element) else ""


_STATEMENT_NAMES: dict[type, str] = {For: "for", While: "while", If: "if", Switch: "switch"}


def operators_of(program: Program) -> tuple[str, ...]:
    """Return operators, calls and kinds of control flow of a program, each once, in alphabetical order."""
    operators: set[str] = set()
    for function in program.functions:
        for statement in walk_statements(function.body):
            operators.update(_own_operators(statement))
            for outer in expressions_of(statement):
                operators.update(name for e in walk_expression(outer) for name in _operator(e))
    return tuple(sorted(operators))


def _own_operators(statement: Statement) -> tuple[str, ...]:
    if isinstance(statement, Leave):
        return (statement.word,)
    if isinstance(statement, Assign) and statement.operator != "=":
        return (statement.operator.removesuffix("="),)
    name = _STATEMENT_NAMES.get(type(statement))
    return () if name is None else (name,)


def _operator(expression: Expression) -> tuple[str, ...]:
    match expression:
        case Unary() | Binary():
            return (expression.operator,)
        case Select():
            return ("?:",)
        case Call():
            return ("call" if not expression.function.startswith(("f", "sqrt")) else expression.function,)
        case _:
            return ()
