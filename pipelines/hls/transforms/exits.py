"""Exits as flags, so that a loop can be pipelined without jumps.

Statements after a possible exit move into the branch that does not leave, or under the condition that no flag
is set. A loop that is left becomes conditional: its variable steps and it continues only while the flag is
not set; the jump itself happens after the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

from pipelines.c import ir
from pipelines.c.analysis.copying import (
    Body,
    FreshNames,
    find_loop,
    fresh_names,
    leaves_outward,
    loops_inside,
    replace_statement,
)
from pipelines.c.analysis.counting import exact_trips, held_bound, value_at
from pipelines.c.analysis.folding import plus_constant
from pipelines.c.arithmetic import make_binary, make_select, truth_value
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.ifconversion import guard_loads

MAXIMUM_NESTING = 8
"""Conditions that are nested for statements after exits; beyond them a flag is tested, so that the nesting of
a long chain of exits is limited."""

_ZERO = ir.Constant(value=0)
_ONE = ir.Constant(value=1)


def exits_to_flags(function: ir.Function, loop: str) -> ir.Function:
    """Make an innermost loop free of blocks and of statements that leave them.

    Args:    loop: its name, which it keeps, with its directives.
    Returns: an equivalent function. A loop without exits is unchanged; another becomes a conditional loop
             whose `nest` describes the steps of its variable when the trip count is constant.
    Raises:  NotApplicable: no such loop, or it contains a loop.
    """
    target = find_loop(function, loop)
    inner = loops_inside(target.body)
    if inner:
        raise NotApplicable(f"loop {loop} contains loop {inner[0].name}; only innermost loops are pipelined")
    if not any(isinstance(s, ir.Block | ir.Leave) for s in ir.walk_statements(target.body)):
        return function
    names = fresh_names(function)
    outward = sorted(leaves_outward(target.body))
    codes = {label: number for number, label in enumerate(outward, 1)}
    flags = _Flags(names=names, codes=codes, left=names.variable("left"))
    body = flags.without_exits(target.body)
    if not outward:
        return replace_statement(function, target, (replace(target, body=body),))
    after = _jumps(flags, _harmless_labels(function.body, target), target.line)
    return replace_statement(function, target, (*_loop_with_flag(target, body, flags), *after))


@dataclass(frozen=True, slots=True)
class _Part:
    """Statements without exits, the labels that may have been left, and whether control may continue."""

    body: Body
    left: frozenset[str] = frozenset()
    falls_through: bool = True


@dataclass(slots=True, kw_only=True)
class _Flags:
    """One flag per inner block that is left, and one for leaving the loop.

    Attributes:
        codes: value of `left` per label outside the loop; 0 while the loop is not left.
        tested: flags of inner blocks that some condition reads.
    """

    names: FreshNames
    codes: dict[str, int]
    left: ir.Variable
    inner: dict[str, ir.Variable] = field(default_factory=dict[str, ir.Variable])
    tested: set[str] = field(default_factory=set[str])

    @property
    def stays(self) -> ir.Expression:
        """Whether the loop is not left."""
        return make_binary("eq", ir.Read(variable=self.left), _ZERO)

    def without_exits(self, body: Body) -> Body:
        """Return the body without blocks and without unused flags."""
        converted = self.sequence(body, 0).body
        unused = {v.name for v in self.inner.values()} - self.tested

        def keep(statement: ir.Statement) -> Body:
            sets = isinstance(statement, ir.Assign) and statement.variable.name in unused
            return () if sets else (statement,)

        return ir.map_statements(converted, keep) if unused else converted

    def sequence(self, body: Body, depth: int) -> _Part:
        """Convert a body; `depth` counts the conditions nested for statements after exits."""
        groups: list[tuple[frozenset[str], list[ir.Statement]]] = [(frozenset(), [])]
        for position, statement in enumerate(body):
            left, group = groups[-1]
            rest = body[position + 1 :]
            part = None
            if isinstance(statement, ir.If) and rest and depth < MAXIMUM_NESTING:
                part = self.rest_in_branch(statement, rest, depth)
            joined = part is not None
            part = part or self.statement(statement, depth)
            group += part.body
            if part.left:
                groups.append((left | part.left, []))
            if joined or not part.falls_through:
                return _Part(self.guarded(groups, body[0].line), groups[-1][0], part.falls_through)
        line = body[0].line if body else 0
        return _Part(self.guarded(groups, line), groups[-1][0])

    def rest_in_branch(self, statement: ir.If, rest: Body, depth: int) -> _Part | None:
        """Return a condition whose one branch never continues, with the following statements in the other."""
        then, otherwise = never_goes_on(statement.then), never_goes_on(statement.otherwise)
        if then == otherwise:
            return None
        bodies = (statement.then, (*statement.otherwise, *rest))
        if otherwise:
            bodies = ((*statement.then, *rest), statement.otherwise)
        return self.branches(statement, bodies, depth + 1)

    def branches(self, statement: ir.If, bodies: tuple[Body, Body], depth: int) -> _Part:
        then, otherwise = (self.sequence(b, depth) for b in bodies)
        converted = replace(statement, then=then.body, otherwise=otherwise.body)
        return _Part((converted,), then.left | otherwise.left, then.falls_through or otherwise.falls_through)

    def statement(self, statement: ir.Statement, depth: int) -> _Part:
        match statement:
            case ir.If():
                return self.branches(statement, (statement.then, statement.otherwise), depth)
            case ir.Block():
                flag = self.names.variable(f"left_{statement.label}")
                self.inner[statement.label] = flag
                part = self.sequence(statement.body, depth)
                start = ir.Assign(variable=flag, value=_ZERO, line=statement.line)
                falls_through = part.falls_through or statement.label in part.left
                return _Part((start, *part.body), part.left - {statement.label}, falls_through)
            case ir.Leave():
                flag, value = self.inner.get(statement.label, self.left), _ONE
                if statement.label in self.codes:
                    value = ir.Constant(value=self.codes[statement.label])
                set_flag = ir.Assign(variable=flag, value=value, line=statement.line)
                return _Part((set_flag,), frozenset((statement.label,)), False)
            case _:
                return _Part((statement,))

    def guarded(self, groups: list[tuple[frozenset[str], list[ir.Statement]]], line: int) -> Body:
        """Guard each group of statements by the condition that none of its labels has been left."""
        body: list[ir.Statement] = []
        for left, statements in groups:
            if left and statements:
                then = tuple(statements)
                body.append(ir.If(condition=self.unset(left), then=then, otherwise=(), line=line))
            else:
                body += statements
        return tuple(body)

    def unset(self, left: frozenset[str]) -> ir.Expression:
        """Return the condition that none of one or more labels has been left."""
        flags = dict.fromkeys(self.inner.get(label, self.left) for label in sorted(left))
        self.tested |= {flag.name for flag in flags}
        tests = [make_binary("eq", ir.Read(variable=flag), _ZERO) for flag in flags]
        return reduce(lambda a, b: make_binary("and", a, b), tests)


def never_goes_on(body: Body) -> bool:
    """Tell whether control never reaches the end of a body without loops."""
    for statement in body:
        match statement:
            case ir.Leave():
                return True
            case ir.If():
                if never_goes_on(statement.then) and never_goes_on(statement.otherwise):
                    return True
            case ir.Block():
                left = any(
                    isinstance(s, ir.Leave) and s.label == statement.label
                    for s in ir.walk_statements(statement.body)
                )
                if not left and never_goes_on(statement.body):
                    return True
            case _:
                pass
    return False


def _loop_with_flag(loop: ir.For | ir.While, body: Body, flags: _Flags) -> Body:
    """Return a loop that may be left, as a conditional loop with the flag in its condition."""
    start = ir.Assign(variable=flags.left, value=_ZERO, line=loop.line)
    if isinstance(loop, ir.While):
        again = truth_value(guard_loads(loop.condition, flags.stays))
        return (start, replace(loop, body=body, condition=make_binary("and", flags.stays, again)))
    before: list[ir.Statement] = [start]
    trips = exact_trips(loop)
    loop = held_bound(loop, flags.names, before)
    present = ir.Read(variable=loop.variable)
    stepped = make_select(flags.stays, plus_constant(present, loop.step), present)
    nest = loop.nest
    if trips and not nest:
        lower = value_at(loop, 0).value
        nest = (ir.NestLevel(variable=loop.variable, lower=lower, step=loop.step, trip_count=trips),)
    conditional = ir.While(
        name=loop.name,
        body=(*body, ir.Assign(variable=loop.variable, value=stepped, line=loop.line)),
        line=loop.line,
        directives=loop.directives,
        nest=nest,
        condition=make_binary("and", flags.stays, make_binary(loop.comparison, present, loop.upper)),
        test_first=not trips,
    )
    return (*before, ir.Assign(variable=loop.variable, value=loop.lower, line=loop.line), conditional)


def _jumps(flags: _Flags, harmless: frozenset[str], line: int) -> Body:
    """Return the jumps after the loop to the block that was left, unless control arrives there anyway."""
    jumps: list[ir.Statement] = []
    for label, code in flags.codes.items():
        if label not in harmless:
            condition = make_binary("eq", ir.Read(variable=flags.left), ir.Constant(value=code))
            leave = ir.Leave(label=label, line=line)
            jumps.append(ir.If(condition=condition, then=(leave,), otherwise=(), line=line))
    return tuple(jumps)


def _harmless_labels(body: Body, target: ir.Statement) -> frozenset[str]:
    """Return the labels of the blocks in which nothing follows a statement."""
    labels: set[str] = set()
    for container, is_last in reversed(_path_inside(None, body, target) or []):
        if not is_last or isinstance(container, ir.For | ir.While):
            break
        if isinstance(container, ir.Block):
            labels.add(container.label)
    return frozenset(labels)


def _path_inside(
    container: ir.Statement | None, body: Body, target: ir.Statement
) -> list[tuple[ir.Statement | None, bool]] | None:
    for position, statement in enumerate(body):
        here = (container, position == len(body) - 1)
        if statement is target:
            return [here]
        for inner in ir.child_bodies(statement):
            deeper = _path_inside(statement, inner, target)
            if deeper is not None:
                return [here, *deeper]
    return None
