"""The structured intermediate representation: typed expressions, assignments, loops and conditions.

Values are of a `ScalarType`: two's-complement integers whose arithmetic wraps, or IEEE-754 numbers rounded
to nearest even. Every conversion is a `Cast`: both operands of an operator have one type, an assigned value
the type of its variable, a stored value the type of its array. Memory is a set of arrays that do not overlap.
A loop is either counted (`For`: only the loop changes its variable, and nothing inside changes the bound) or
conditional (`While`). `break`, `continue`, `goto` to the end of a block and an early `return` all become
`Leave` of a labelled `Block`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import prod

from pipelines.c.signature import INT32, Bank, ScalarType, StaticObject, Structure

Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A scalar variable, unique in the function."""

    name: str
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array: external arrays are ports of the design, local ones memories inside it.

    Attributes:
        initial: values a local array has when the function starts, in C order, as `Constant.value`s; None
            when they are undefined. An array that is never stored to is a table of constants.
        argument: name of the array argument this array is a bank of; None for an array of its own.
        registers: the array is kept in registers, each element reachable in every cycle.
        structure: of an argument that is the memory of structures, what they hold.
    """

    name: str
    type: ScalarType
    shape: tuple[int, ...]
    external: bool
    initial: tuple[int, ...] | None = None
    argument: str | None = None
    registers: bool = False
    structure: Structure | None = None

    @property
    def element_count(self) -> int:
        """Elements of the array."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A constant.

    Attributes:
        value: within the range of an integer type; the bits of a floating one, as an unsigned number, so
            that equal constants are the same constant (two zeros differ, a NaN equals itself).
    """

    value: int
    type: ScalarType = INT32

    @property
    def number(self) -> Number:
        """The value as a number."""
        return float_of_bits(self.value, self.type) if self.type.floating else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The present value of a variable."""

    variable: Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """An array element, one index expression per dimension.

    `predicate`: the element is fetched only when it is not zero; otherwise the value is undefined and
    must not be used.
    """

    array: Array
    indices: tuple[Expression, ...]
    line: int
    predicate: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A value converted to another type as C does; with `bits` the bits stay and their meaning changes."""

    operand: Expression
    type: ScalarType
    bits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """`neg`, `not` (bitwise), `abs` or `sqrt` (both of floating operands) of an operand of the same type."""

    operator: str
    operand: Expression
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """An operator of two operands of one type. `BINARY_OPERATORS` has the names.

    Attributes:
        type: of the result: that of the operands, or INT32 for a comparison, which gives 0 or 1.
    """

    operator: str
    left: Expression
    right: Expression
    type: ScalarType = INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """`if_true` when `condition` is not zero, else `if_false`; both are evaluated."""

    condition: Expression
    if_true: Expression
    if_false: Expression
    type: ScalarType = INT32


Expression = Constant | Read | Load | Cast | Unary | Binary | Select


def type_of(expression: Expression) -> ScalarType:
    """Return the type of an expression's value."""
    match expression:
        case Read():
            return expression.variable.type
        case Load():
            return expression.array.type
        case _:
            return expression.type


def float_of_bits(bits: int, kind: ScalarType) -> float:
    """Return the number whose IEEE-754 bits these are."""
    integer, number = ("<I", "<f") if kind.width_bits == 32 else ("<Q", "<d")
    return float(struct.unpack(number, struct.pack(integer, bits))[0])


def bits_of_float(number: float, kind: ScalarType) -> int:
    """Return IEEE-754 bits of a number, rounded to the type; too large for it becomes infinity."""
    if kind.width_bits == 64:
        return int(struct.unpack("<Q", struct.pack("<d", number))[0])
    try:
        return int(struct.unpack("<I", struct.pack("<f", number))[0])
    except OverflowError:
        return 0x7F800000 if number > 0 else 0xFF800000


def float_constant(number: float, kind: ScalarType) -> Constant:
    """Return a floating constant, rounded to its type."""
    return Constant(value=bits_of_float(number, kind), type=kind)


ARITHMETIC = ("add", "sub", "mul", "div", "rem")
BITWISE = ("and", "or", "xor", "shl", "shr")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
BINARY_OPERATORS = ARITHMETIC + BITWISE + COMPARISONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign:
    """Assignment of a value to a variable."""

    variable: Variable
    value: Expression
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Store of a value to an array element, when `predicate` is None or not zero."""

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
class Block:
    """Statements that `Leave` ends early: the bodies of C's switch, break, continue and early return.

    Attributes:
        label: unique in the function.
    """

    label: str
    body: tuple[Statement, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """Continue after the enclosing block of that label."""

    label: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Fields that counted and conditional loops share.

    Attributes:
        name: what directives call the loop; its C label, or L0, L1, … in source order.
        directives: canonical directives written in the source on this loop.
        nest: for a loop made by flattening, the counted loops it stands for, outermost first; their
            variables step like an odometer, once per iteration.
    """

    name: str
    body: tuple[Statement, ...]
    line: int
    directives: tuple[Directive, ...] = ()
    nest: tuple[NestLevel, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NestLevel:
    """One loop of a flattened nest: `variable` runs from `lower` by `step`, `trip_count` times."""

    variable: Variable
    lower: int
    step: int
    trip_count: int


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


Statement = Assign | Store | If | Block | Leave | For | While | Return


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """A directive on a loop or an array.

    Attributes:
        kind: one of `pipeline`, `unroll`, `flatten`, `tile`, `partition`, `cache`, `reduction`, `parallel`.
        loop: name of the loop; for `partition` empty.
        value: initiation interval of a pipeline; factor of an unroll, tile, partition or parallel; None when
            not given (1 for an interval; all iterations for an unroll; every element for a partition).
        variable: the array of `partition` and `cache`, the accumulator of `reduction`; else empty.
        style: of a partition: `cyclic`, `block` or `complete`; of a pipeline: `flatten` when it demands
            that inner loops are unrolled; else empty.
        dimension: of a partition, 1 for the first, 0 for all; else None.
    """

    kind: str
    loop: str = ""
    value: int | None = None
    variable: str = ""
    style: str = ""
    dimension: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A whole program: its top function with everything it calls inlined.

    Attributes:
        parameters: as written in C, then the objects of static storage that it uses like arguments; arrays
            of a partition are not among them.
        arrays: every array, external ones, banks and local ones.
        directives: those in the source that belong to no loop.
        ignored_pragmas: (text, line) of pragmas that are not directives.
        banks: elements of each external array of `arrays`; unpartitioned arguments are not listed.
        objects: (parameter, object) of those parameters that are objects of static storage.
        later_constants: its text has constants that were refused before, see `rules.CONSTANTS`.
        later_forms: its text has other forms that were refused before, see `rules.FORMS`.
        later_starts: a loop of it starts at a value that was computed twice before, see `rules.STARTS`.
        left_out: (name, line) of calls that only print.
    """

    name: str
    parameters: tuple[Variable | Array, ...]
    arrays: tuple[Array, ...]
    returns: ScalarType | None
    body: tuple[Statement, ...]
    directives: tuple[Directive, ...] = ()
    ignored_pragmas: tuple[tuple[str, int], ...] = field(default=())
    banks: tuple[Bank, ...] = ()
    objects: tuple[tuple[str, StaticObject], ...] = ()
    later_constants: bool = False
    later_forms: bool = False
    later_starts: bool = False
    left_out: tuple[tuple[str, int], ...] = field(default=())


def child_bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the bodies inside a statement, in source order."""
    if isinstance(statement, If):
        return statement.then, statement.otherwise
    if isinstance(statement, For | While | Block):
        return (statement.body,)
    return ()


def with_bodies(statement: Statement, bodies: tuple[tuple[Statement, ...], ...]) -> Statement:
    """Return the statement with other inner bodies, as many as `child_bodies` gives."""
    match statement:
        case If():
            return replace(statement, then=bodies[0], otherwise=bodies[1])
        case For() | While() | Block():
            return replace(statement, body=bodies[0])
        case _:
            return statement


def walk_statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield every statement of a body, outer before inner, in source order."""
    for statement in body:
        yield statement
        for inner in child_bodies(statement):
            yield from walk_statements(inner)


def statement_expressions(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions a statement evaluates itself, inner bodies excluded."""
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
        case Block() | Leave():
            return ()


def child_expressions(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression."""
    match expression:
        case Load():
            predicate = () if expression.predicate is None else (expression.predicate,)
            return (*expression.indices, *predicate)
        case Unary() | Cast():
            return (expression.operand,)
        case Binary():
            return (expression.left, expression.right)
        case Select():
            return (expression.condition, expression.if_true, expression.if_false)
        case _:
            return ()


def walk_expressions(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and everything inside it."""
    yield expression
    for child in child_expressions(expression):
        yield from walk_expressions(child)


def all_expressions(body: tuple[Statement, ...]) -> Iterator[Expression]:
    """Yield every expression of a body and of the bodies inside."""
    for statement in walk_statements(body):
        for expression in statement_expressions(statement):
            yield from walk_expressions(expression)


def assigned_variables(body: tuple[Statement, ...]) -> frozenset[str]:
    """Return the names of the variables a body may change, loop variables included."""
    return frozenset(s.variable.name for s in walk_statements(body) if isinstance(s, Assign | For))


def stored_arrays(body: tuple[Statement, ...]) -> frozenset[str]:
    """Return the names of the arrays a body may change."""
    return frozenset(s.array.name for s in walk_statements(body) if isinstance(s, Store))


def map_children(expression: Expression, visit: Callable[[Expression], Expression]) -> Expression:
    """Return the expression with its operands replaced, in order; the same object when none changes."""
    old = child_expressions(expression)
    new = tuple(visit(e) for e in old)
    if all(a is b for a, b in zip(new, old, strict=True)):
        return expression
    return with_children(expression, new)


def with_children(expression: Expression, children: tuple[Expression, ...]) -> Expression:
    """Return the expression with other operands, as many as `child_expressions` gives."""
    match expression:
        case Load():
            count = len(expression.indices)
            predicate = children[count] if len(children) > count else None
            return replace(expression, indices=children[:count], predicate=predicate)
        case Unary() | Cast():
            return replace(expression, operand=children[0])
        case Binary():
            return replace(expression, left=children[0], right=children[1])
        case Select():
            return replace(expression, condition=children[0], if_true=children[1], if_false=children[2])
        case _:
            return expression


def map_expression(expression: Expression, visit: Callable[[Expression], Expression]) -> Expression:
    """Return expression rebuilt bottom-up: each part's operands are mapped first, then the part itself."""
    children = tuple(map_expression(e, visit) for e in child_expressions(expression))
    return visit(with_children(expression, children))


def map_own_expressions(statement: Statement, visit: Callable[[Expression], Expression]) -> Statement:
    """Return the statement with each expression it evaluates itself replaced; inner bodies stay."""
    match statement:
        case Assign():
            return replace(statement, value=visit(statement.value))
        case Store():
            return replace(
                statement,
                indices=tuple(visit(i) for i in statement.indices),
                value=visit(statement.value),
                predicate=None if statement.predicate is None else visit(statement.predicate),
            )
        case If() | While():
            return replace(statement, condition=visit(statement.condition))
        case For():
            return replace(statement, lower=visit(statement.lower), upper=visit(statement.upper))
        case Return():
            return replace(statement, value=None if statement.value is None else visit(statement.value))
        case Block() | Leave():
            return statement


def map_statements(
    body: tuple[Statement, ...], visit: Callable[[Statement], tuple[Statement, ...]]
) -> tuple[Statement, ...]:
    """Return the body rebuilt, inner statements first; each statement becomes what `visit` gives."""
    mapped: list[Statement] = []
    for statement in body:
        inner = tuple(map_statements(b, visit) for b in child_bodies(statement))
        mapped.extend(visit(with_bodies(statement, inner)))
    return tuple(mapped)


def all_names(function: Function) -> frozenset[str]:
    """Return the names of every variable, array and block label, so that a pass can choose new ones."""
    names = {p.name for p in function.parameters} | {a.name for a in function.arrays}
    names |= assigned_variables(function.body)
    for expression in all_expressions(function.body):
        if isinstance(expression, Read):
            names.add(expression.variable.name)
    for statement in walk_statements(function.body):
        match statement:
            case Block():
                names.add(statement.label)
            case For() | While():
                names.add(statement.name)
            case _:
                pass
    return frozenset(names)
