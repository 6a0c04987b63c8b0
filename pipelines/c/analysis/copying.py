"""Copies of expressions and statements with other names and values, and lookup of loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_bit_cast, make_cast, make_select, make_unary
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import INT32, ScalarType

Body = tuple[ir.Statement, ...]


@dataclass(slots=True)
class FreshNames:
    """Names that a function does not use yet; a taken name counts as used."""

    taken: set[str]
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, stem: str) -> str:
        """Return the stem when it is free, else the stem with the first free number."""
        name = stem
        while name in self.taken:
            self.counts[stem] = self.counts.get(stem, 1) + 1
            name = f"{stem}_{self.counts[stem]}"
        self.taken.add(name)
        return name

    def variable(self, stem: str, kind: ScalarType = INT32) -> ir.Variable:
        """Return a new variable."""
        return ir.Variable(name=self.take(stem), type=kind)


def fresh_names(function: ir.Function) -> FreshNames:
    """Return the names for new variables, arrays, labels and loops of a function."""
    return FreshNames(taken=set(ir.all_names(function)))


def substitute(expression: ir.Expression, values: Mapping[str, ir.Expression]) -> ir.Expression:
    """Return the expression with variables replaced by values of their types, with constants folded.

    Args:    values: by name of the variable; others are kept.
    Returns: the very same object when nothing changes.
    """
    if isinstance(expression, ir.Read):
        return values.get(expression.variable.name, expression)
    old = ir.child_expressions(expression)
    new = tuple(substitute(e, values) for e in old)
    if all(a is b for a, b in zip(new, old, strict=True)):
        return expression
    match expression:
        case ir.Binary():
            return make_binary(expression.operator, new[0], new[1])
        case ir.Cast() | ir.Unary():
            return with_operand(expression, new[0])
        case ir.Select():
            return make_select(new[0], new[1], new[2])
        case _:
            return ir.with_children(expression, new)


def with_operand(expression: ir.Cast | ir.Unary, operand: ir.Expression) -> ir.Expression:
    """Rebuild a conversion or unary operator on another operand, folded for a constant."""
    if isinstance(expression, ir.Unary):
        return make_unary(expression.operator, operand)
    if expression.bits:
        return make_bit_cast(operand, expression.type)
    return make_cast(operand, expression.type)


def map_loads(expression: ir.Expression, visit: Callable[[ir.Load], ir.Expression]) -> ir.Expression:
    """Return the expression with each load replaced by the result of `visit`, inner loads first.

    Returns: the very same object when nothing changes.
    """
    match expression:
        case ir.Load():
            predicate = None if expression.predicate is None else map_loads(expression.predicate, visit)
            indices = tuple(map_loads(i, visit) for i in expression.indices)
            same = all(a is b for a, b in zip(indices, expression.indices, strict=True))
            if same and predicate is expression.predicate:
                return visit(expression)
            return visit(replace(expression, indices=indices, predicate=predicate))
        case ir.Cast() | ir.Unary():
            operand = map_loads(expression.operand, visit)
            return expression if operand is expression.operand else with_operand(expression, operand)
        case _:
            return ir.map_children(expression, lambda e: map_loads(e, visit))


def map_own(statement: ir.Statement, visit: Callable[[ir.Expression], ir.Expression]) -> ir.Statement:
    """Run `ir.map_own_expressions`, but return the statement itself if no expression changes."""
    expressions = ir.statement_expressions(statement)
    if not expressions:
        return statement
    if isinstance(statement, ir.Assign):
        value = visit(statement.value)
        if value is statement.value:
            return statement
        return ir.Assign(variable=statement.variable, value=value, line=statement.line)
    mapped = {id(e): visit(e) for e in expressions}
    if all(mapped[id(e)] is e for e in expressions):
        return statement
    return ir.map_own_expressions(statement, lambda e: mapped[id(e)])


@dataclass(slots=True, kw_only=True)
class Copier:
    """Copies statements with other names and values.

    Attributes:
        values: replacements of reads, by variable; a renamed variable is in both tables.
        variables: replacements of assigned variables, by name.
        labels: new labels of blocks inside, by label; the rest are kept.
        loops: new names of loops inside, by name; the rest are kept.
    """

    values: dict[str, ir.Expression] = field(default_factory=dict[str, ir.Expression])
    variables: dict[str, ir.Variable] = field(default_factory=dict[str, ir.Variable])
    labels: dict[str, str] = field(default_factory=dict[str, str])
    loops: dict[str, str] = field(default_factory=dict[str, str])

    def rename(self, variable: ir.Variable, other: ir.Variable) -> None:
        """Replace a variable by another of the same type."""
        self.variables[variable.name] = other
        self.values[variable.name] = ir.Read(variable=other)

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """Return a copy of an expression."""
        return substitute(expression, self.values)

    def variable(self, variable: ir.Variable) -> ir.Variable:
        """Return the variable that replaces an assigned one."""
        return self.variables.get(variable.name, variable)

    def child(self) -> Copier:
        """Return a copier that starts with the same tables."""
        return Copier(
            values=dict(self.values),
            variables=dict(self.variables),
            labels=dict(self.labels),
            loops=dict(self.loops),
        )

    def add_suffix(self, body: Body, names: FreshNames, suffix: str, private: frozenset[str]) -> None:
        """Give the blocks, loops and private variables of a body names with a suffix."""
        renamed: set[str] = set()
        for statement in ir.walk_statements(body):
            if isinstance(statement, ir.Block):
                label = statement.label
                self.labels[label] = names.take(self.labels.get(label, label) + suffix)
            elif isinstance(statement, ir.For | ir.While):
                name = statement.name
                self.loops[name] = names.take(self.loops.get(name, name) + suffix)
            if isinstance(statement, ir.Assign | ir.For):
                variable = statement.variable
                if variable.name in private and variable.name not in renamed:
                    renamed.add(variable.name)
                    stem = self.variable(variable).name + suffix
                    self.rename(variable, names.variable(stem, variable.type))

    def body(self, body: Body) -> Body:
        """Return a copy of a body."""
        return tuple(self.statement(s) for s in body)

    def statement(self, statement: ir.Statement) -> ir.Statement:
        """Return a copy of a statement."""
        match statement:
            case ir.Assign():
                value = self.expression(statement.value)
                return ir.Assign(variable=self.variable(statement.variable), value=value, line=statement.line)
            case ir.Block():
                label = self.labels.get(statement.label, statement.label)
                return ir.Block(label=label, body=self.body(statement.body), line=statement.line)
            case ir.Leave():
                return replace(statement, label=self.labels.get(statement.label, statement.label))
            case ir.For() | ir.While():
                return replace(self.loop_header(statement), body=self.body(statement.body))
            case _:
                mapped = map_own(statement, self.expression)
                return ir.with_bodies(mapped, tuple(self.body(b) for b in ir.child_bodies(mapped)))

    def loop_header(self, loop: ir.For | ir.While) -> ir.For | ir.While:
        """Return a copy of a loop with its body unchanged."""
        nest = tuple(replace(level, variable=self.variable(level.variable)) for level in loop.nest)
        name = self.loops.get(loop.name, loop.name)
        if isinstance(loop, ir.While):
            return replace(loop, condition=self.expression(loop.condition), name=name, nest=nest)
        return replace(
            loop,
            variable=self.variable(loop.variable),
            lower=self.expression(loop.lower),
            upper=self.expression(loop.upper),
            name=name,
            nest=nest,
        )


# ---- loops --------------------------------------------------------------------------------------------


def find_loop(function: ir.Function, name: str) -> ir.For | ir.While:
    """Find the loop of that name.

    Raises: NotApplicable: there is none.
    """
    names: list[str] = []
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.For | ir.While):
            if statement.name == name:
                return statement
            names.append(statement.name)
    raise NotApplicable(f"no loop is named {name}; there are {', '.join(names) or 'none'}")


def replace_statement(function: ir.Function, old: ir.Statement, new: Body) -> ir.Function:
    """Return the function with one statement object replaced."""
    return replace(function, body=_replaced(function.body, old, new) or function.body)


def _replaced(body: Body, old: ir.Statement, new: Body) -> Body | None:
    for position, statement in enumerate(body):
        if statement is old:
            return (*body[:position], *new, *body[position + 1 :])
        inner = ir.child_bodies(statement)
        for number, nested in enumerate(inner):
            changed = _replaced(nested, old, new)
            if changed is not None:
                bodies = (*inner[:number], changed, *inner[number + 1 :])
                return (*body[:position], ir.with_bodies(statement, bodies), *body[position + 1 :])
    return None


def loops_inside(body: Body) -> list[ir.For | ir.While]:
    """Return every loop of a body, outer before inner, in source order."""
    return [s for s in ir.walk_statements(body) if isinstance(s, ir.For | ir.While)]


def leaves_outward(body: Body) -> frozenset[str]:
    """Return the labels of blocks around the body that a statement inside leaves."""
    left = {s.label for s in ir.walk_statements(body) if isinstance(s, ir.Leave)}
    return frozenset(left - {s.label for s in ir.walk_statements(body) if isinstance(s, ir.Block)})


def read_variables(expression: ir.Expression) -> frozenset[str]:
    """Return the names of the variables an expression reads."""
    return frozenset(p.variable.name for p in ir.walk_expressions(expression) if isinstance(p, ir.Read))
