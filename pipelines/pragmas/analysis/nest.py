"""The loops and assignments of a function, and the refusal of programs outside the supported class.

Two names for one thing: a loop's *iterator* is its C variable, its *counter* the number of the iteration,
0 for the first. `iterator = start + step * counter`. All forms inside this package are over counters, so
that a decreasing loop is like any other; those of a `Summary` are over iterators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.pragmas.analysis.forms import (
    UNKNOWN,
    Condition,
    added,
    constant,
    counter,
    read_conditions,
    read_form,
)
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import Affine

SUPPORTED = (
    "supported: counted loops without conditions or jumps, whose bounds and subscripts are constants and "
    "sums of multiples of the counters of the loops around them"
)


def outside(problem: str, file: str, line: int) -> PragmaError:
    """Return the error for a program outside the class: the problem, its place, and what is supported."""
    return PragmaError(f"{problem} ({file}:{line}); {SUPPORTED}")


_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}


def spelled(expression: ir.Expression) -> str:
    """Return the text of an expression; conversions are left out."""
    match expression:
        case ir.Constant():
            return str(expression.number)
        case ir.Read():
            return expression.variable.name
        case ir.Load():
            return spelled_element(expression.array, expression.indices)
        case ir.Cast():
            return spelled(expression.operand)
        case ir.Unary(operator="neg"):
            return f"-{_inner(expression.operand)}"
        case ir.Unary():
            return f"{expression.operator}({spelled(expression.operand)})"
        case ir.Binary():
            sign = _SIGNS[expression.operator]
            return f"{_inner(expression.left)} {sign} {_inner(expression.right)}"
        case ir.Select():
            parts = (expression.condition, expression.if_true, expression.if_false)
            condition, if_true, if_false = (_inner(p) for p in parts)
            return f"{condition} ? {if_true} : {if_false}"


def spelled_element(array: ir.Array, indices: tuple[ir.Expression, ...]) -> str:
    """Return the text of an array element."""
    return array.name + "".join(f"[{spelled(i)}]" for i in indices)


def _inner(expression: ir.Expression) -> str:
    while isinstance(expression, ir.Cast):
        expression = expression.operand
    text = spelled(expression)
    return f"({text})" if isinstance(expression, ir.Binary | ir.Select) else text


RETURNED = "return"
"""The scalar that the function's value is assigned to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A loop.

    Attributes:
        path: names of the loops around it and its own, outermost first.
        start: iterator of the first iteration; step: of the iterator.
        spans: it has `max(0, min(ceil(span / abs(step))))` iterations; empty when that is not known, or a
            condition or jump may end or skip it.
        place: position of it and of the loops around it in their bodies, outermost first.
        sure: it is reached whenever the body around it runs, and has a known trip count, as those around.
    """

    name: str
    iterator: str
    line: int
    path: tuple[str, ...]
    start: Affine
    step: int
    spans: tuple[Affine, ...]
    place: tuple[int, ...]
    sure: bool

    @property
    def parent(self) -> str | None:
        """The loop around it."""
        return self.path[-2] if len(self.path) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A statement.

    Attributes:
        node: the assignment; path: loops around it, outermost first.
        place: its position and those of the loops around it in their bodies, outermost first.
        always: no condition is around it; conditions: affine ones around it, None when others are.
        sure: all conditions around it are affine, and no loop is of unknown trip count.
        known: affine forms of variables where it stands.
    """

    index: int
    node: ir.Assign | ir.Store
    path: tuple[str, ...]
    place: tuple[int, ...]
    always: bool
    conditions: tuple[Condition, ...] | None
    sure: bool
    known: Mapping[str, Affine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """A function's loops and statements.

    Attributes:
        levels: by name, outer before inner; children: of each loop and of "" for the function.
        file: for messages; relaxed: nothing is refused.
    """

    levels: Mapping[str, Level]
    assignments: tuple[Assignment, ...]
    children: Mapping[str, tuple[str | int, ...]]
    file: str
    relaxed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """A position in the function: loops and positions around it, and the conditions on the path there."""

    path: tuple[str, ...] = ()
    place: tuple[int, ...] = ()
    always: bool = True
    conditions: tuple[Condition, ...] | None = ()
    sure: bool = True


def read_nest(function: ir.Function, *, file: str, relaxed: bool) -> Nest:
    """Collect the loops and assignments of a function.

    Raises: PragmaError: a condition, a jump, or a loop of unknown trip count, unless `relaxed`.
    """
    walk = _Walk(file=file, relaxed=relaxed)
    walk.body(function.body, _Where())
    return Nest(
        levels=walk.levels,
        assignments=tuple(walk.assignments),
        children={name: tuple(members) for name, members in walk.children.items()},
        file=file,
        relaxed=relaxed,
    )


@dataclass(slots=True, kw_only=True)
class _Walk:
    file: str
    relaxed: bool
    levels: dict[str, Level] = field(default_factory=dict[str, Level])
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    children: dict[str, list[str | int]] = field(default_factory=lambda: {"": []})
    known: dict[str, Affine] = field(default_factory=dict[str, Affine])
    last: ir.Statement | None = None

    def refuse(self, problem: str, line: int) -> None:
        if not self.relaxed:
            raise outside(problem, self.file, line)

    def add(self, where: _Where, child: str | int) -> tuple[int, ...]:
        """Return a child of the innermost loop; gives its place."""
        siblings = self.children[where.path[-1] if where.path else ""]
        siblings.append(child)
        return (*where.place, len(siblings) - 1)

    def body(self, body: tuple[ir.Statement, ...], where: _Where) -> None:
        self.last = None
        for statement in body:
            self.statement(statement, where)
            self.last = statement

    def statement(self, statement: ir.Statement, where: _Where) -> None:
        match statement:
            case ir.Assign() | ir.Store():
                self.assignment(statement, where)
            case ir.For() | ir.While():
                self.loop(statement, where)
            case ir.If():
                condition = f"if ({spelled(statement.condition)})"
                self.refuse(f"statement under a condition: {condition}", statement.line)
                self.branches(statement, where)
            case ir.Block():
                self.refuse("a body is left by break, continue, switch or return", statement.line)
                self.branches(statement, where)
            case ir.Return(value=value) if value is not None and not isinstance(value, ir.Constant):
                result = ir.Variable(name=RETURNED, type=ir.type_of(value))
                self.assignment(ir.Assign(variable=result, value=value, line=statement.line), where)
            case ir.Return() | ir.Leave():
                pass

    def branches(self, statement: ir.If | ir.Block, where: _Where) -> None:
        before = dict(self.known)
        for number, inner in enumerate(ir.child_bodies(statement)):
            conditions = None
            if isinstance(statement, ir.If) and where.conditions is not None:
                conditions = read_conditions(statement.condition, before, holds=number == 0)
            self.known = dict(before)
            self.body(inner, _below(where, conditions))
        self.known = before
        self.forget(ir.assigned_variables((statement,)))

    def forget(self, names: frozenset[str]) -> None:
        for name in names:
            self.known.pop(name, None)

    def assignment(self, node: ir.Assign | ir.Store, where: _Where) -> None:
        if isinstance(node, ir.Store) and node.predicate is not None:
            self.refuse(f"statement under a condition: if ({spelled(node.predicate)})", node.line)
            where = _below(where, None)
        index = len(self.assignments)
        self.assignments.append(
            Assignment(
                index=index,
                node=node,
                path=where.path,
                place=self.add(where, index),
                always=where.always,
                conditions=where.conditions,
                sure=where.sure,
                known=dict(self.known),
            )
        )
        if isinstance(node, ir.Assign):
            form = read_form(node.value, self.known)
            self.forget(frozenset((node.variable.name,)))
            if form.exact:
                self.known[node.variable.name] = form

    def loop(self, loop: ir.For | ir.While, where: _Where) -> None:
        level = self.counted(loop, where) if isinstance(loop, ir.For) else self.endless(loop, where)
        self.levels[loop.name] = level
        self.children[loop.name] = []
        self.forget(ir.assigned_variables((loop,)))
        before = dict(self.known)
        if isinstance(loop, ir.For):
            self.known[loop.variable.name] = added(level.start, counter(loop.name), level.step)
        inside = where if where.always else _below(where, None)
        self.body(loop.body, replace(inside, path=level.path, place=level.place, sure=level.sure))
        self.known = before

    def endless(self, loop: ir.While, where: _Where) -> Level:
        condition = f"while ({spelled(loop.condition)})"
        self.refuse(f"unknown trip count of loop {loop.name}: {condition}", loop.line)
        return self.level(loop, "", where, (UNKNOWN, 1, ()))

    def with_held_bound(self, loop: ir.For) -> ir.For:
        """Return the loop with its bound in place of the variable that the statement before it sets."""
        held = self.last
        if isinstance(held, ir.Assign) and loop.upper == ir.Read(variable=held.variable):
            return replace(loop, upper=held.value)
        return loop

    def counted(self, loop: ir.For, where: _Where) -> Level:
        loop = self.with_held_bound(loop)
        start = read_form(loop.lower, self.known)
        spans = _spans(loop, start, self.known) if where.always else ()
        if not spans and where.always:
            sign = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "ne": "!="}[loop.comparison]
            name = loop.variable.name
            text = f"{name} = {spelled(loop.lower)}; {name} {sign} {spelled(loop.upper)}"
            self.refuse(f"unknown trip count of loop {loop.name}: {text}", loop.line)
        return self.level(loop, loop.variable.name, where, (start, loop.step, spans))

    def level(
        self,
        loop: ir.For | ir.While,
        iterator: str,
        where: _Where,
        counting: tuple[Affine, int, tuple[Affine, ...]],
    ) -> Level:
        start, step, spans = counting
        return Level(
            name=loop.name,
            iterator=iterator,
            line=loop.line,
            path=(*where.path, loop.name),
            start=start,
            step=step,
            spans=spans,
            place=self.add(where, loop.name),
            sure=where.sure and bool(spans),
        )


def _below(where: _Where, conditions: tuple[Condition, ...] | None) -> _Where:
    """Add conditions to a place; None is one that is not affine."""
    if conditions is None or where.conditions is None:
        return replace(where, always=False, conditions=None, sure=False)
    return replace(where, always=False, conditions=where.conditions + conditions)


def _spans(loop: ir.For, start: Affine, forms: Mapping[str, Affine]) -> tuple[Affine, ...]:
    """Return the distances from the first iterator to the ends of the loop, in the direction of its step."""
    direction = 1 if loop.step > 0 else -1
    if loop.comparison == "ne" and abs(loop.step) != 1:
        return () if loop.trip_count is None else (constant(loop.trip_count * abs(loop.step)),)
    arms = _limits(loop.upper, largest=direction < 0)
    ends = [read_form(arm, forms) for arm in arms]
    if not start.exact or not all(end.exact for end in ends):
        return ()
    last = 1 if loop.comparison in ("le", "ge") else 0
    spans = [added(constant(last), added(end, start, -1), direction) for end in ends]
    return tuple(dict.fromkeys(spans))


def _limits(expression: ir.Expression, *, largest: bool) -> tuple[ir.Expression, ...]:
    """Return the operands of nested minima (or maxima) written as selections."""
    match expression:
        case ir.Select(condition=ir.Binary(operator=operator, left=left, right=right)):
            straight, swapped = (("gt", "ge"), ("lt", "le")) if largest else (("lt", "le"), ("gt", "ge"))
            arms = (expression.if_true, expression.if_false)
            if (operator in straight and (left, right) == arms) or (
                operator in swapped and (right, left) == arms
            ):
                return tuple(limit for arm in arms for limit in _limits(arm, largest=largest))
        case _:
            pass
    return (expression,)
