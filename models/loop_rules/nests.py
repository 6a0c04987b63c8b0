"""Loop nests of a program as Timeloop describes them: iterations, operations, accesses and their reuse.

An access is fetched from its array once per iteration of the innermost loop that its subscripts depend on;
the loops inside that one reuse the value from a register (temporal reuse, Timeloop section V). A program with
a branch, a `while` loop, a bound that is no affine expression of outer loop variables, or a subscript that is
none
is unsupported: its accesses are not known before it runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from pipelines.base.summation import ordered_sum
from pipelines.c import ir, read_function

INTEGER_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("add", "sub"), "add"),
    **dict.fromkeys(("div", "rem"), "divide"),
    **dict.fromkeys(ir.COMPARISONS, "compare"),
    **dict.fromkeys(ir.BITWISE, "bitwise"),
    "mul": "multiply",
}
FLOAT_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("add", "sub"), "float_add"),
    **dict.fromkeys(ir.COMPARISONS, "compare"),
    "mul": "float_multiply",
    "div": "float_divide",
}
KINDS = (
    *("add", "multiply", "divide", "compare", "bitwise", "select"),
    *("float_add", "float_multiply", "float_divide"),
)
_SQUARED = ("multiply", "divide")
"""Kinds whose size grows with the square of the width; counted in units of 32 bits."""


class UnsupportedError(ValueError):
    """A program that loop-nest rules cannot describe; the message says why and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A loop around a body: its trips, averaged over outer loops where its bounds depend on them."""

    name: str
    variable: str
    trips: float
    middle: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A load or store in a body.

    Attributes:
        fetches: accesses of the array in the whole run, after reuse. executions: in the whole run, before it.
    """

    array: str
    width_bits: int
    is_store: bool
    executions: float
    fetches: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Statements that stand directly in one loop, or in none.

    Attributes:
        levels: loops around it, outermost first.
        operations: by kind of KINDS. bits: of their results, in units of 32 bits, squared for multipliers.
        address_operations: of subscripts. carried: whether a variable is read that an iteration before wrote.
    """

    levels: tuple[Level, ...]
    accesses: tuple[Access, ...]
    operations: Mapping[str, int]
    bits: Mapping[str, float]
    address_operations: int
    statements: int
    carried: bool

    @property
    def executions(self) -> float:
        """Iterations of the innermost loop around it in the whole run."""
        return prod(level.trips for level in self.levels)

    @property
    def entries(self) -> float:
        """How often that loop is entered."""
        return prod(level.trips for level in self.levels[:-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopNests:
    """A program as loop nests.

    Attributes:
        variable_bits: of scalar variables. local_bits: of local arrays that are stored to.
        table_bits: of constant arrays. port_bits: data of array arguments.
    """

    bodies: tuple[Body, ...]
    variable_bits: int
    local_bits: int
    table_bits: int
    port_bits: int


Form = Mapping[str, float]
"""An affine expression: factor by loop variable; the constant under the empty name."""


def nests_of(source: str, top: str) -> LoopNests:
    """Read a program.

    Raises: HlsError: the C front end does not accept it. UnsupportedError: the rules do not describe it.
    """
    function = read_function(source, top=top)
    reader = _Reader()
    reader.visit(function.body, ())
    stored = {access.array for body in reader.bodies for access in body.accesses if access.is_store}
    local = [a for a in function.arrays if not a.external]
    return LoopNests(
        bodies=tuple(reader.bodies),
        variable_bits=sum(v.type.width_bits for v in _variables(function.body)),
        local_bits=sum(a.element_count * a.type.width_bits for a in local if a.name in stored),
        table_bits=sum(a.element_count * a.type.width_bits for a in local if a.name not in stored),
        port_bits=sum(a.type.width_bits for a in function.arrays if a.external),
    )


def _variables(body: tuple[ir.Statement, ...]) -> set[ir.Variable]:
    return {s.variable for s in ir.walk_statements(body) if isinstance(s, ir.Assign | ir.For)}


@dataclass(slots=True)
class _Reader:
    bodies: list[Body] = field(default_factory=list[Body])
    forms: dict[str, Form | None] = field(default_factory=dict[str, "Form | None"])

    def visit(self, body: tuple[ir.Statement, ...], levels: tuple[Level, ...]) -> None:
        """Read the statements of a body, then the loops in it."""
        own: list[ir.Assign | ir.Store] = []
        for statement in body:
            match statement:
                case ir.For():
                    level = self.level(statement, levels)
                    self.forms[level.variable] = {level.variable: 1.0}
                    self.visit(statement.body, (*levels, level))
                case ir.Assign() | ir.Store():
                    own.append(statement)
                    if isinstance(statement, ir.Assign):
                        self.assign(statement)
                case ir.Return() if not levels:
                    pass
                case _:
                    raise UnsupportedError(f"{_words(statement)} (line {statement.line})")
        self.bodies.append(self.body(own, levels))

    def assign(self, statement: ir.Assign) -> None:
        """Note the affine form of a variable; one that is written twice has none."""
        name = statement.variable.name
        self.forms[name] = None if name in self.forms else affine_form(statement.value, self.forms)

    def level(self, loop: ir.For, levels: Sequence[Level]) -> Level:
        """Return a loop with its mean trips."""
        low, high = (affine_form(bound, self.forms) for bound in (loop.lower, loop.upper))
        if low is None or high is None:
            raise UnsupportedError(
                f"bound of loop {loop.name} is not affine in outer loop variables (line {loop.line})"
            )
        middles = {level.variable: level.middle for level in levels}
        if any(name and name not in middles for name in (*low, *high)):
            raise UnsupportedError(f"bound of loop {loop.name} depends on data (line {loop.line})")
        first, last = (_value(form, middles) for form in (low, high))
        closed = {"le": 1.0, "ge": -1.0}.get(loop.comparison, 0.0)
        trips = max(0.0, (last + closed - first) / loop.step)
        middle = first + loop.step * max(0.0, trips - 1.0) / 2
        return Level(name=loop.name, variable=loop.variable.name, trips=trips, middle=middle)

    def body(self, statements: Sequence[ir.Assign | ir.Store], levels: tuple[Level, ...]) -> Body:
        """Return the counts of statements that stand in the innermost of some loops."""
        operations: Counter[str] = Counter()
        bits: Counter[str] = Counter()
        accesses: dict[tuple[object, ...], Access] = {}
        for statement in statements:
            for access in self.accesses(statement, levels):
                accesses.setdefault(access[0], access[1])
            values = (statement.value,)
            for kind, width in _operations(values):
                operations[kind] += 1
                bits[kind] += (width / 32) ** (2 if kind in _SQUARED else 1)  # pyright: ignore[reportArgumentType]
        return Body(
            levels=levels,
            accesses=tuple(accesses.values()),
            operations=operations,
            bits=bits,
            address_operations=sum(1 for _ in _address_operations(statements)),
            statements=len(statements),
            carried=_is_carried(statements),
        )

    def accesses(
        self, statement: ir.Assign | ir.Store, levels: Sequence[Level]
    ) -> Iterator[tuple[tuple[object, ...], Access]]:
        """Yield the accesses of a statement by what makes two of them one."""
        loads = [p for e in ir.statement_expressions(statement) for p in ir.walk_expressions(e)]
        places: list[ir.Load | ir.Store] = [p for p in loads if isinstance(p, ir.Load)]
        places += [statement] if isinstance(statement, ir.Store) else []
        for place in places:
            forms = [affine_form(index, self.forms) for index in place.indices]
            names = {level.variable for level in levels}
            for form in forms:
                if form is None or not names.issuperset(name for name in form if name):
                    raise UnsupportedError(
                        f"subscript of {place.array.name} is not affine in loop variables (line {place.line})"
                    )
            used = {name for form in forms if form is not None for name, factor in form.items() if factor}
            key = (
                place.array.name,
                isinstance(place, ir.Store),
                *(tuple(sorted(f.items())) for f in forms if f is not None),
            )
            yield key, _access(place, levels, used)


def _access(place: ir.Load | ir.Store, levels: Sequence[Level], used: set[str]) -> Access:
    needed = max((n + 1 for n, level in enumerate(levels) if level.variable in used), default=0)
    return Access(
        array=place.array.name,
        width_bits=place.array.type.width_bits,
        is_store=isinstance(place, ir.Store),
        executions=prod(level.trips for level in levels),
        fetches=prod(level.trips for level in levels[:needed]),
    )


def affine_form(expression: ir.Expression, forms: Mapping[str, Form | None]) -> Form | None:
    """Return the affine expression of loop variables that an expression is; None where it is none.

    Args: forms: of variables, by name; one that is absent is unknown. Conversions are taken not to wrap.
    """
    match expression:
        case ir.Constant() if not expression.type.floating:
            return {"": float(expression.value)}
        case ir.Read():
            return forms.get(expression.variable.name)
        case ir.Cast() if not expression.type.floating:
            return affine_form(expression.operand, forms)
        case ir.Unary(operator="neg"):
            return _sum({}, affine_form(expression.operand, forms), -1.0)
        case ir.Binary(operator="add" | "sub"):
            left, right = (affine_form(e, forms) for e in (expression.left, expression.right))
            return _sum(left, right, -1.0 if expression.operator == "sub" else 1.0)
        case ir.Binary(operator="mul" | "shl"):
            left, right = (affine_form(e, forms) for e in (expression.left, expression.right))
            if left is None or right is None:
                return None
            if expression.operator == "shl":
                return _times(left, 2.0 ** right.get("", 0.0)) if set(right) <= {""} else None
            if set(left) <= {""}:
                return _times(right, left.get("", 0.0))
            return _times(left, right.get("", 0.0)) if set(right) <= {""} else None
        case _:
            return None


def _sum(left: Form | None, right: Form | None, factor: float) -> Form | None:
    if left is None or right is None:
        return None
    return {n: left.get(n, 0.0) + factor * right.get(n, 0.0) for n in sorted({*left, *right})}


def _times(form: Form, factor: float) -> Form:
    return {name: value * factor for name, value in form.items()}


def _value(form: Form, middles: Mapping[str, float]) -> float:
    return ordered_sum(factor * (middles[name] if name else 1.0) for name, factor in form.items())


def _words(statement: ir.Statement) -> str:
    match statement:
        case ir.If():
            return "a branch"
        case ir.While():
            return f"loop {statement.name} ends on a condition"
        case _:
            return "a jump out of a block"


def _operations(expressions: Iterable[ir.Expression]) -> Iterator[tuple[str, int]]:
    """Yield kind and width of the operators of expressions, those in subscripts marked."""
    for expression in expressions:
        if isinstance(expression, ir.Load):
            continue
        kind = _kind(expression)
        if kind is not None:
            operand = expression.left if isinstance(expression, ir.Binary) else expression
            yield kind, ir.type_of(operand).width_bits
        yield from _operations(ir.child_expressions(expression))


def _kind(expression: ir.Expression) -> str | None:
    match expression:
        case ir.Select():
            return "select"
        case ir.Unary(operator="sqrt"):
            return "float_divide"
        case ir.Unary():
            return None if expression.type.floating else "add"
        case ir.Binary(operator="shl" | "shr", right=ir.Constant()):
            return None
        case ir.Binary():
            floating = ir.type_of(expression.left).floating
            return (FLOAT_KINDS if floating else INTEGER_KINDS).get(expression.operator)
        case _:
            return None


def _address_operations(statements: Sequence[ir.Assign | ir.Store]) -> Iterator[ir.Expression]:
    for statement in statements:
        places = [p for e in ir.statement_expressions(statement) for p in ir.walk_expressions(e)]
        indices = [index for p in places if isinstance(p, ir.Load) for index in p.indices]
        indices += statement.indices if isinstance(statement, ir.Store) else ()
        yield from (p for i in indices for p in ir.walk_expressions(i) if isinstance(p, ir.Binary))


def _is_carried(statements: Sequence[ir.Assign | ir.Store]) -> bool:
    """Tell whether a statement reads a variable, or an array, that this or a later one writes."""
    reads: set[str] = set()
    for statement in statements:
        for expression in ir.statement_expressions(statement):
            for part in ir.walk_expressions(expression):
                if isinstance(part, ir.Read):
                    reads.add(part.variable.name)
                if isinstance(part, ir.Load):
                    reads.add(part.array.name)
        written = statement.variable.name if isinstance(statement, ir.Assign) else statement.array.name
        if written in reads:
            return True
    return False
