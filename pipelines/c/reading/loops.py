"""Loops: counted ones as `For`, all others as `While`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import negated
from pipelines.c.reading.bodies import block_items, make_block
from pipelines.c.reading.counting import countdown, counted_down, counted_loop, reads
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.session import Session
from pipelines.c.reading.statements import Statements

Body = tuple[ir.Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    """Heading of a loop, before its body is read.

    Attributes:
        inner: the body without the pragmas that belong to the loop.
        leaving, continuing: labels of the blocks around the loop and around its body.
        mark: position in the current body where the loop's own statements begin.
    """

    node: c_ast.Node
    inner: c_ast.Node
    name: str
    directives: tuple[ir.Directive, ...]
    leaving: str
    continuing: str
    line: int
    mark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """Reads loops."""

    session: Session
    expressions: Expressions
    statements: Statements

    def read(self, node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> None:
        """Read a loop into the current body; `pragmas` are those before it."""
        name = self.session.frame.loop_names[id(node)]
        leading = _leading_pragmas(node.stmt)
        with self.session.scope():
            heading = _Heading(
                node=node,
                inner=_without(node.stmt, leading),
                name=name,
                directives=self.statements.loop_directives([*pragmas, *leading], name),
                leaving=self.session.unique(f"{name}_break"),
                continuing=self.session.unique(f"{name}_continue"),
                line=self.session.line_of(node),
                mark=len(self.session.buffer),
            )
            if isinstance(node, c_ast.DoWhile):
                self._tested_last(heading)
            else:
                self._tested_first(heading)
        statements = self.session.buffer[heading.mark :]
        del self.session.buffer[heading.mark :]
        for statement in make_block(heading.leaving, statements, heading.line):
            self.session.emit(statement, node)

    def _body(self, heading: _Heading) -> Body:
        """Return the body of a loop, in a block that continue leaves."""
        frame = self.session.frame
        frame.break_labels.append(heading.leaving)
        frame.continue_labels.append(heading.continuing)
        self.session.loops += 1
        try:
            statements = self.statements.body(heading.inner)
        finally:
            self.session.loops -= 1
            frame.break_labels.pop()
            frame.continue_labels.pop()
        return make_block(heading.continuing, statements, heading.line)

    # ---- for and while ----------------------------------------------------------------------------

    def _tested_first(self, heading: _Heading) -> None:
        node = heading.node
        following = None
        if isinstance(node, c_ast.For):
            following = node.next
            if node.init is not None:
                self.statements.statement(node.init)
        with self.session.collect() as effects:
            always = ir.Constant(value=1)
            condition = always if node.cond is None else self.expressions.condition(node.cond)
        if not effects and condition == ir.Constant(value=0):
            return
        body = self._body(heading)
        with self.session.collect() as after:
            if following is not None:
                self.expressions.discard(following)
        if effects:
            loop = _conditional(heading, condition, (*body, *after))
            self._with_effects(heading, loop, effects)
        elif not self._counted(heading, condition, body, tuple(after)):
            self.session.emit(_conditional(heading, condition, (*body, *after)), node)

    def _counted(self, heading: _Heading, condition: ir.Expression, body: Body, after: Body) -> bool:
        """Emit a counted loop; its step may also be at the end of the body."""
        if not after:
            body, after = body[:-1], body[-1:]
        counted = counted_loop(self.session.buffer, condition, body, after)
        if counted is None:
            return False
        lower = counted.lower
        if counted.start_position is not None and counted.start_position >= heading.mark:
            del self.session.buffer[counted.start_position]
        elif counted.start_position is not None and reads(lower, counted.variable):
            lower = ir.Read(variable=counted.variable)  # the assignment stays: its value is there
            self.session.later_starts = True
        upper = counted.upper
        if counted.upper_is_costly:
            upper = self.session.saved(upper, f"{counted.variable.name}_end", heading.line)
        loop = ir.For(
            name=heading.name,
            variable=counted.variable,
            lower=lower,
            comparison=counted.comparison,
            upper=upper,
            step=counted.step,
            body=body,
            line=heading.line,
            directives=heading.directives,
        )
        self.session.emit(loop, heading.node)
        return True

    def _with_effects(self, heading: _Heading, loop: ir.While, effects: list[ir.Statement]) -> None:
        form = countdown(self.session.buffer, effects, loop.condition, loop.body)
        if form is not None:
            self.session.later_starts |= form.starts_at_itself
            counter = ir.Variable(
                name=self.session.unique(f"{form.variable.name}_left"), type=form.variable.type
            )
            for statement in counted_down(form, heading.name, counter, loop):
                self.session.emit(statement, heading.node)
        elif any(isinstance(s, ir.Block | ir.Loop) for s in ir.walk_statements(tuple(effects))):
            self.session.emit(_tested_inside(loop, effects, heading.leaving), heading.node)
        else:
            self._tested_before(loop, effects, heading.node)

    def _tested_before(self, loop: ir.While, effects: list[ir.Statement], node: c_ast.Node) -> None:
        """Add a loop with its condition's side effects before it and at the end of its body."""
        for statement in effects:
            self.session.emit(statement, node)
        held = self.session.saved(loop.condition, "condition", loop.line)
        again = ir.Assign(variable=held.variable, value=loop.condition, line=loop.line)
        self.session.emit(replace(loop, condition=held, body=(*loop.body, *effects, again)), node)

    # ---- do ---------------------------------------------------------------------------------------

    def _tested_last(self, heading: _Heading) -> None:
        """Read a `do … while`; only the body remains when the condition never holds."""
        body = self._body(heading)
        with self.session.collect() as effects:
            value = self.expressions.condition(heading.node.cond)
            if effects and not isinstance(value, ir.Constant):
                value = self.session.saved(value, "condition", heading.line)
        if value == ir.Constant(value=0):
            for statement in (*body, *effects):
                self.session.emit(statement, heading.node)
            return
        loop = _conditional(heading, value, (*body, *effects))
        self.session.emit(replace(loop, test_first=False), heading.node)


def _conditional(heading: _Heading, condition: ir.Expression, body: Body) -> ir.While:
    return ir.While(
        name=heading.name,
        condition=condition,
        body=body,
        line=heading.line,
        directives=heading.directives,
    )


def _tested_inside(loop: ir.While, effects: list[ir.Statement], label: str) -> ir.While:
    """Return an endless loop with the condition at the start of its body, which leaves it."""
    leave = (ir.Leave(label=label, line=loop.line),)
    test = ir.If(condition=negated(loop.condition), then=leave, otherwise=(), line=loop.line)
    return replace(loop, condition=ir.Constant(value=1), body=(*effects, test, *loop.body))


def _leading_pragmas(node: c_ast.Node) -> list[c_ast.Pragma]:
    """Return the pragmas at the start of a loop's body that belong to that loop, as in Vitis."""
    if not isinstance(node, c_ast.Compound):
        return []
    pragmas = [i for i in block_items(node) if isinstance(i, c_ast.Pragma)]
    return [p for p in pragmas if str(p.string).split()[:1] == ["HLS"]]


def _without(node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> c_ast.Node:
    if not pragmas:
        return node
    return c_ast.Compound([i for i in block_items(node) if not any(i is p for p in pragmas)], node.coord)
