"""Random structured IR with defined behaviour, for properties of transformations.

All types, conversions, guarded loads, counted loops of every form, conditional loops and blocks that are
left early. Every variable is set first, indices are in bounds, loops end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from pipelines.c import ir
from pipelines.c.arithmetic import make_cast
from pipelines.c.signature import DOUBLE, FLOAT, INT8, INT32, INT64, UINT8, UINT32, ScalarType

SCALARS = (INT32, INT32, INT32, INT64, UINT8, UINT32, INT8, FLOAT, DOUBLE)
BOUNDS = (
    ("lt", 0, 5, 1),
    ("lt", 0, 4, 1),
    ("lt", 0, 8, 1),
    ("le", 1, 6, 2),
    ("lt", 0, 7, 2),
    ("gt", 6, 0, -1),
    ("ge", 7, 0, -2),
    ("ne", 0, 6, 1),
    ("ne", 6, 0, -3),
    ("lt", 3, 4, 1),
    ("lt", 5, 5, 1),
    ("lt", 0, 2, 1),
    ("lt", 0, 3, 1),
)
"""(comparison, lower, upper, step) of loops whose variable stays within 0 .. 7."""

SHORT_BOUNDS = (
    ("lt", 0, 4, 1),
    ("le", 1, 6, 2),
    ("lt", 0, 3, 1),
    ("gt", 3, 1, -1),
    ("ne", 6, 0, -3),
    ("lt", 5, 6, 1),
)


def constant(value: int, kind: ScalarType = INT32) -> ir.Constant:
    return ir.Constant(value=value, type=kind)


def binary(operator: str, left: ir.Expression, right: ir.Expression) -> ir.Binary:
    kind = INT32 if operator in ir.COMPARISONS else ir.type_of(left)
    return ir.Binary(operator=operator, left=left, right=right, type=kind)


@dataclass
class Generator:
    """Draws one function; loops and exits can be left out for passes that need plain bodies."""

    random: Random
    exits: bool = True
    whiles: bool = True
    fresh: int = 0
    variables: list[ir.Variable] = field(default_factory=list)
    readable: list[ir.Variable] = field(default_factory=list)
    indices: list[ir.Variable] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    statements: int = 0
    loops: int = 0

    def __post_init__(self) -> None:
        self.parameters = [
            ir.Variable(name="x"),
            ir.Variable(name="y"),
            ir.Variable(name="u", type=UINT8),
            ir.Variable(name="g", type=FLOAT),
        ]
        self.arrays = [
            ir.Array(name="A", type=INT32, shape=(8,), external=True),
            ir.Array(name="M", type=INT32, shape=(8, 8), external=True),
            ir.Array(name="F", type=FLOAT, shape=(8,), external=True),
            ir.Array(name="T", type=INT64, shape=(8,), external=False, initial=tuple(range(-3, 5))),
            ir.Array(name="C", type=INT32, shape=(8,), external=False, initial=(5, 3, 0, 0, -1, 9, 2, 1)),
        ]

    # ---- expressions ------------------------------------------------------------------------------

    def index(self, depth: int) -> ir.Expression:
        pick = self.random.random()
        if self.indices and pick < 0.6:
            return make_cast(ir.Read(variable=self.random.choice(self.indices)), INT32)
        if self.indices and pick < 0.8:
            variable = make_cast(ir.Read(variable=self.random.choice(self.indices)), INT32)
            operator = self.random.choice(("add", "sub", "mul"))
            moved = binary(operator, variable, constant(self.random.randint(0, 9)))
            return binary("and", moved, constant(7))
        if pick < 0.85:
            return constant(self.random.randint(0, 7))
        return binary("and", self.expression(INT32, depth), constant(7))

    def load(self, array: ir.Array, depth: int) -> ir.Expression:
        indices = tuple(self.index(depth) for _ in array.shape)
        if self.random.random() < 0.25:
            wild = binary("add", self.expression(INT32, 0), constant(self.random.randint(-2, 2)))
            inside = binary("and", binary("ge", wild, constant(0)), binary("lt", wild, constant(8)))
            load = ir.Load(array=array, indices=(wild, *indices[1:]), line=1, predicate=inside)
            other = self.expression(array.type, 0)
            return ir.Select(condition=inside, if_true=load, if_false=other, type=array.type)
        return ir.Load(array=array, indices=indices, line=1)

    def leaf(self, kind: ScalarType) -> ir.Expression:
        pick = self.random.random()
        fitting = [v for v in (*self.readable, *self.indices) if v.type == kind]
        if pick < 0.6 and fitting:
            return ir.Read(variable=self.random.choice(fitting))
        if pick < 0.75:
            if kind.floating:
                return ir.float_constant(self.random.choice((0.0, 1.0, -2.5, 0.1, 3.0)), kind)
            low = -3 if kind.signed else 0
            return constant(self.random.randint(low, 12), kind)
        if pick < 0.9:
            return ir.Cast(operand=ir.Read(variable=self.random.choice(self.readable)), type=kind)
        arrays = [a for a in self.arrays if a.type == kind]
        return (
            self.load(self.random.choice(arrays), 0)
            if arrays
            else constant(1, INT32)
            if kind == INT32
            else (ir.Cast(operand=constant(self.random.randint(0, 9)), type=kind))
        )

    def expression(self, kind: ScalarType, depth: int) -> ir.Expression:
        if depth <= 0 or self.random.random() < 0.2:
            return self.leaf(kind)
        pick = self.random.random()
        if pick < 0.1:
            other = self.random.choice(SCALARS)
            return ir.Cast(operand=self.expression(other, depth - 1), type=kind)
        if pick < 0.2:
            condition = self.condition(depth - 1)
            true, false = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
            return ir.Select(condition=condition, if_true=true, if_false=false, type=kind)
        if pick < 0.3:
            arrays = [a for a in self.arrays if a.type == kind]
            if arrays:
                return self.load(self.random.choice(arrays), depth - 1)
        if pick < 0.4 and kind == INT32:
            return self.condition(depth - 1)
        if pick < 0.45:
            return ir.Unary(operator="neg", operand=self.expression(kind, depth - 1), type=kind)
        operators = ("add", "sub", "mul", "div") if kind.floating else ir.ARITHMETIC + ir.BITWISE
        operator = self.random.choice(operators)
        left = self.expression(kind, depth - 1)
        right = self.expression(kind, depth - 1)
        if operator in ("shl", "shr") or self.random.random() < 0.3:
            right = (
                ir.float_constant(2.0, kind) if kind.floating else constant(self.random.randint(0, 7), kind)
            )
        return binary(operator, left, right)

    def condition(self, depth: int) -> ir.Expression:
        kind = self.random.choice((INT32, INT32, INT32, *SCALARS))
        operator = self.random.choice(ir.COMPARISONS)
        test = binary(operator, self.expression(kind, depth), self.expression(kind, depth))
        if self.random.random() < 0.15 and depth > 0:
            joined = self.random.choice(("and", "or"))
            return binary(joined, test, self.condition(depth - 1))
        return self.expression(INT32, depth) if self.random.random() < 0.1 else test

    # ---- statements -------------------------------------------------------------------------------

    def body(self, depth: int, most: int) -> tuple[ir.Statement, ...]:
        statements: list[ir.Statement] = []
        for _ in range(self.random.randint(1, most)):
            if self.statements > 40:
                break
            statements += self.statement(depth)
        return tuple(statements)

    def statement(self, depth: int) -> list[ir.Statement]:
        self.statements += 1
        pick = self.random.random()
        if pick < 0.3 and self.loops < 3:
            return self.loop(depth)
        if pick < 0.45 and depth < 6:
            then = self.body(depth + 1, 3)
            otherwise = self.body(depth + 1, 2) if self.random.random() < 0.5 else ()
            return [ir.If(condition=self.condition(1), then=then, otherwise=otherwise, line=1)]
        if pick < 0.52 and self.exits and depth < 6:
            self.fresh += 1
            label = f"done{self.fresh}"
            self.labels.append(label)
            body = self.body(depth + 1, 4)
            self.labels.pop()
            return [ir.Block(label=label, body=body, line=1)]
        if pick < 0.64 and self.labels:
            leave = ir.Leave(label=self.random.choice(self.labels), line=1)
            return [ir.If(condition=self.condition(1), then=(*self.plain(1), leave), otherwise=(), line=1)]
        return self.plain(2)

    def plain(self, depth: int) -> list[ir.Statement]:
        if self.random.random() < 0.55:
            target = self.random.choice(self.variables)
            value = self.expression(target.type, depth)
            if self.random.random() < 0.15:
                same = [v for v in self.readable if v.type == target.type]
                value = ir.Read(variable=self.random.choice(same))
            return [ir.Assign(variable=target, value=value, line=1)]
        array = self.random.choice(self.arrays[:4])
        indices = tuple(self.index(1) for _ in array.shape)
        guard = self.condition(0) if self.random.random() < 0.2 else None
        value = self.expression(array.type, depth)
        return [ir.Store(array=array, indices=indices, value=value, line=1, predicate=guard)]

    def loop(self, depth: int) -> list[ir.Statement]:
        self.fresh += 1
        name = f"L{self.fresh}"
        if self.whiles and self.random.random() < 0.2:
            return self.while_loop(depth, name)
        kind = self.random.choice((INT32, INT32, INT32, INT32, UINT32, INT8))
        comparison, low, high, step = self.random.choice(BOUNDS)
        if comparison == "ge" and not kind.signed:
            comparison, low, high, step = "gt", 7, 1, -2  # never below 0: the variable may be unsigned
        lower: ir.Expression = constant(low, kind)
        upper: ir.Expression = constant(high, kind)
        pick = self.random.random()
        outer = [v for v in self.indices if v.type == kind]
        if pick < 0.2:
            bound = ir.Read(variable=self.parameters[self.random.choice((0, 1))])
            upper = make_cast(binary("and", bound, constant(7)), kind)
            comparison, step, lower = "lt", self.random.choice((1, 2)), constant(0, kind)
        elif pick < 0.3:
            bound = ir.Read(variable=self.parameters[self.random.choice((0, 1))])
            lower = make_cast(binary("and", bound, constant(7)), kind)
            upper, comparison, step = (
                constant(0, kind),
                "gt",
                self.random.choice((-1, -2) if kind.signed else (-1,)),
            )
        elif pick < 0.4 and outer:
            upper, comparison, step = ir.Read(variable=outer[-1]), "lt", 1
            lower = constant(0, kind)
        variable = ir.Variable(name=f"i{self.fresh}", type=kind)
        self.indices.append(variable)
        self.loops += 1
        around: str | None = None
        if self.exits and self.random.random() < 0.4:
            around = f"break{self.fresh}"
            self.labels.append(around)
        inner_label = f"next{self.fresh}" if self.exits and self.random.random() < 0.3 else None
        if inner_label:
            self.labels.append(inner_label)
        body = self.body(depth + 1, 4)
        if inner_label:
            self.labels.pop()
            body = (ir.Block(label=inner_label, body=body, line=1),)
        if around:
            self.labels.pop()
        self.loops -= 1
        self.indices.pop()
        self.readable.append(variable)
        loop = ir.For(
            name=name,
            body=body,
            line=1,
            variable=variable,
            lower=lower,
            comparison=comparison,
            upper=upper,
            step=step,
        )
        start = ir.Assign(variable=variable, value=constant(1, kind), line=1)
        if around:
            return [start, ir.Block(label=around, body=(loop, *self.body(depth + 1, 1)), line=1)]
        return [start, loop]

    def while_loop(self, depth: int, name: str) -> list[ir.Statement]:
        counter = ir.Variable(name=f"w{self.fresh}")
        self.loops += 1
        body = self.body(depth + 1, 3)
        self.loops -= 1
        step = ir.Assign(
            variable=counter, value=binary("sub", ir.Read(variable=counter), constant(1)), line=1
        )
        positive = binary("gt", ir.Read(variable=counter), constant(0))
        condition = binary("and", positive, binary("ne", self.expression(INT32, 1), constant(3)))
        start = ir.Assign(variable=counter, value=constant(self.random.randint(0, 5)), line=1)
        test_first = self.random.random() < 0.6
        loop = ir.While(name=name, body=(step, *body), line=1, condition=condition, test_first=test_first)
        self.readable.append(counter)
        return [start, loop]

    def nest(self, levels: int) -> list[ir.Statement]:
        """Nested loops with constant bounds, with plain statements before and after."""
        self.fresh += 1
        kind = self.random.choice((INT32, INT32, INT32, UINT32, INT8))
        comparison, low, high, step = self.random.choice(SHORT_BOUNDS)
        variable = ir.Variable(name=f"i{self.fresh}", type=kind)
        name = f"L{self.fresh}"
        after: list[ir.Statement] = []
        self.indices.append(variable)
        if levels > 1:
            before = self.plain_body() if self.random.random() < 0.5 else []
            body = (*before, *self.nest(levels - 1))
            after = self.plain_body() if self.random.random() < 0.5 else []
        else:
            body = self.body(3, 4)
        self.indices.pop()
        self.readable.append(variable)
        loop = ir.For(
            name=name,
            body=(*body, *after),
            line=1,
            variable=variable,
            lower=constant(low, kind),
            comparison=comparison,
            upper=constant(high, kind),
            step=step,
        )
        return [loop]

    def plain_body(self) -> list[ir.Statement]:
        statements = self.plain(2)
        if self.random.random() < 0.4:
            then = tuple(self.plain(1))
            statements.append(ir.If(condition=self.condition(1), then=then, otherwise=(), line=1))
        return statements

    def starts(self) -> list[ir.Statement]:
        """Initial assignments of every variable."""
        self.readable = list(self.parameters)
        statements: list[ir.Statement] = []
        for number, kind in enumerate(dict.fromkeys((INT32, *SCALARS))):
            for copy in range(2 if kind == INT32 else 1):
                variable = ir.Variable(name=f"v{number}_{copy}", type=kind)
                statements.append(ir.Assign(variable=variable, value=make_cast(constant(copy), kind), line=1))
                self.variables.append(variable)
                self.readable.append(variable)
        return statements

    def whole(self, starts: list[ir.Statement], body: tuple[ir.Statement, ...]) -> ir.Function:
        """The function that also returns the final values of its variables."""
        result: ir.Expression = ir.Read(variable=self.variables[0])
        for variable in self.variables[1:]:
            as_integer = ir.Cast(operand=ir.Read(variable=variable), type=INT32)
            result = binary("xor", binary("mul", result, constant(31)), as_integer)
        for statement in body:
            if isinstance(statement, ir.For):
                result = binary("add", result, make_cast(ir.Read(variable=statement.variable), INT32))
        return ir.Function(
            name="fuzz",
            parameters=(*self.parameters, *(a for a in self.arrays if a.external)),
            arrays=tuple(self.arrays),
            returns=INT32,
            body=(*starts, *body, ir.Return(value=result, line=1)),
        )


def random_function(random: Random, *, exits: bool = True, whiles: bool = True) -> ir.Function:
    """A random function; the same numbers give the same function."""
    generator = Generator(random=random, exits=exits, whiles=whiles)
    starts = generator.starts()
    return generator.whole(starts, generator.body(0, 6))


def random_nest(random: Random) -> ir.Function:
    """A random nest of two to four counted loops that can be flattened; sometimes left early."""
    generator = Generator(random=random, whiles=False)
    starts = generator.starts()
    generator.loops = 3  # no loops among the plain statements
    if random.random() < 0.4:
        generator.labels.append("found")
    nest = generator.nest(random.randint(2, 4))
    if generator.labels:
        return generator.whole(starts, (ir.Block(label="found", body=tuple(nest), line=1),))
    return generator.whole(starts, tuple(nest))


# ---- validity -----------------------------------------------------------------------------------------


def check_valid(function: ir.Function) -> None:
    """Assert the structural rules of the IR."""
    names: list[str] = []
    kinds: dict[str, ScalarType] = {}
    declared = {a.name for a in function.arrays}
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.For | ir.While):
            names.append(statement.name)
        elif isinstance(statement, ir.Block):
            names.append(statement.label)
        if isinstance(statement, ir.Assign):
            assert (
                kinds.setdefault(statement.variable.name, statement.variable.type) == statement.variable.type
            )
            assert ir.type_of(statement.value) == statement.variable.type
        if isinstance(statement, ir.Store):
            assert statement.array.name in declared
            assert ir.type_of(statement.value) == statement.array.type
        if isinstance(statement, ir.For):
            _check_for(statement)
        if isinstance(statement, ir.If | ir.While):
            assert ir.type_of(statement.condition) == INT32
        for expression in ir.statement_expressions(statement):
            for part in ir.walk_expressions(expression):
                _check_expression(part, kinds, declared)
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
    assert not set(names) & set(kinds)
    _check_leaves(function.body, frozenset())


def _check_for(loop: ir.For) -> None:
    changed = ir.assigned_variables(loop.body)
    assert loop.variable.name not in changed, f"{loop.variable.name} is assigned in its loop"
    assert ir.type_of(loop.lower) == ir.type_of(loop.upper) == loop.variable.type
    stored = ir.stored_arrays(loop.body)
    for part in ir.walk_expressions(loop.upper):
        if isinstance(part, ir.Read):
            assert part.variable.name not in changed | {loop.variable.name}
        elif isinstance(part, ir.Load):
            assert part.array.name not in stored
    low, high = -(2 ** (loop.variable.type.width_bits - 1)), 2**loop.variable.type.width_bits
    assert low <= loop.step < high


def _check_expression(part: ir.Expression, kinds: dict[str, ScalarType], arrays: set[str]) -> None:
    match part:
        case ir.Read():
            assert kinds.setdefault(part.variable.name, part.variable.type) == part.variable.type
        case ir.Load():
            assert part.array.name in arrays
            assert all(ir.type_of(i) == INT32 for i in part.indices)
            assert len(part.indices) == len(part.array.shape)
            assert part.predicate is None or ir.type_of(part.predicate) == INT32
        case ir.Binary():
            assert ir.type_of(part.left) == ir.type_of(part.right)
            assert part.type == (INT32 if part.operator in ir.COMPARISONS else ir.type_of(part.left))
        case ir.Select():
            assert ir.type_of(part.if_true) == ir.type_of(part.if_false) == part.type
            assert ir.type_of(part.condition) == INT32
        case ir.Constant() if not part.type.floating:
            low = -(1 << (part.type.width_bits - 1)) if part.type.signed else 0
            assert low <= part.value < low + (1 << part.type.width_bits)
        case _:
            pass


def _check_leaves(body: tuple[ir.Statement, ...], labels: frozenset[str]) -> None:
    for statement in body:
        if isinstance(statement, ir.Leave):
            assert statement.label in labels
        inner = labels | {statement.label} if isinstance(statement, ir.Block) else labels
        for nested in ir.child_bodies(statement):
            _check_leaves(nested, inner)
