"""Loops: counted ones as `For`, all others as `While`.

Belongs here: what makes a loop counted, conditions with side effects, break and continue. Does not: what is
inside a body.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import negated
from pipelines.hls.reading.countdown import countdown, counted_down
from pipelines.hls.reading.counting import Counted, counted_loop
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.facts import block_items
from pipelines.hls.reading.leaves import make_block
from pipelines.hls.reading.session import Session
from pipelines.hls.reading.statements import Statements

Body = tuple[ir.Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """Reads loops."""

    session: Session
    expressions: Expressions
    statements: Statements

    def read(self, node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> None:
        """A loop, into the current body; pragmas are those before it."""
        name = self.session.frame.loop_names[id(node)]
        leading = _leading_pragmas(node.stmt)
        with self.session.scope():
            directives = self.statements.loop_directives([*pragmas, *leading], name)
            inner = _without(node.stmt, leading)
            labels = (self.session.unique(f"{name}_break"), self.session.unique(f"{name}_continue"))
            with self.session.collect() as found:
                match node:
                    case c_ast.For():
                        self._for(node, inner, name, directives, labels)
                    case c_ast.While():
                        with self.session.collect() as before:
                            condition = self.expressions.condition(node.cond)
                        self._while(node, before, condition, inner, None, name, directives, labels)
                    case _:
                        self._do(node, inner, name, directives, labels)
            for statement in make_block(labels[0], found, self.session.line_of(node)):
                self.session.emit(statement, node)

    def _body(self, node: c_ast.Node, labels: tuple[str, str]) -> Body:
        """The body of a loop, in a block that continue leaves."""
        frame = self.session.frame
        frame.break_labels.append(labels[0])
        frame.continue_labels.append(labels[1])
        try:
            found = self.statements.body(node)
        finally:
            frame.break_labels.pop()
            frame.continue_labels.pop()
        return make_block(labels[1], found, self.session.line_of(node))

    def _for(
        self,
        node: c_ast.For,
        inner: c_ast.Node,
        name: str,
        directives: tuple[ir.Directive, ...],
        labels: tuple[str, str],
    ) -> None:
        if node.init is not None:
            self.statements.statement(node.init)
        with self.session.collect() as before:
            always = ir.Constant(value=1)
            condition = always if node.cond is None else self.expressions.condition(node.cond)
        if before:
            self._while(node, before, condition, inner, node.next, name, directives, labels)
            return
        body = self._body(inner, labels)
        after = self._after(node.next)
        line = self.session.line_of(node)
        counted = counted_loop(self.session.buffer, condition, body, after)
        if counted is not None:
            self._emit_counted(node, name, counted, body, directives)
            return
        loop = ir.While(
            name=name, condition=condition, body=(*body, *after), line=line, directives=directives
        )
        self.session.emit(loop, node)

    def _after(self, node: c_ast.Node | None) -> Body:
        with self.session.collect() as found:
            if node is not None:
                self.expressions.discard(node)
        return tuple(found)

    def _emit_counted(
        self, node: c_ast.For, name: str, counted: Counted, body: Body, directives: tuple[ir.Directive, ...]
    ) -> None:
        line = self.session.line_of(node)
        if counted.start_position is not None:
            del self.session.buffer[counted.start_position]
        upper = counted.upper
        if counted.upper_is_costly:
            upper = self.session.saved(upper, f"{counted.variable.name}_end", line)
        loop = ir.For(
            name=name,
            variable=counted.variable,
            lower=counted.lower,
            comparison=counted.comparison,
            upper=upper,
            step=counted.step,
            body=body,
            line=line,
            directives=directives,
        )
        self.session.emit(loop, node)

    def _while(
        self,
        node: c_ast.Node,
        before: list[ir.Statement],
        value: ir.Expression,
        inner: c_ast.Node,
        following: c_ast.Node | None,
        name: str,
        directives: tuple[ir.Directive, ...],
        labels: tuple[str, str],
    ) -> None:
        """A loop that tests first; a condition with side effects is tested inside."""
        line = self.session.line_of(node)
        if not before and value == ir.Constant(value=0):
            return
        body = (*self._body(inner, labels), *self._after(following))
        loop = ir.While(name=name, condition=value, body=body, line=line, directives=directives)
        if not before:
            self.session.emit(loop, node)
            return
        found = countdown(self.session.buffer, before, value, body)
        if found is not None:
            counter = ir.Variable(
                name=self.session.unique(f"{found.variable.name}_left"), type=found.variable.type
            )
            for statement in counted_down(found, name, counter, loop):
                self.session.emit(statement, node)
        elif any(isinstance(s, ir.Block | ir.Loop) for s in ir.walk_statements(tuple(before))):
            self.session.emit(_tested_inside(loop, before, labels[0]), node)
        else:
            self._tested_before(loop, before, node)

    def _tested_before(self, loop: ir.While, before: list[ir.Statement], node: c_ast.Node) -> None:
        """The condition's side effects before the loop and again at the end of its body."""
        for statement in before:
            self.session.emit(statement, node)
        held = self.session.saved(loop.condition, "condition", loop.line)
        again = ir.Assign(variable=held.variable, value=loop.condition, line=loop.line)
        self.session.emit(replace(loop, condition=held, body=(*loop.body, *before, again)), node)

    def _do(
        self,
        node: c_ast.DoWhile,
        inner: c_ast.Node,
        name: str,
        directives: tuple[ir.Directive, ...],
        labels: tuple[str, str],
    ) -> None:
        """A loop that tests last; `do … while (0)` is its body."""
        line = self.session.line_of(node)
        body = self._body(inner, labels)
        with self.session.collect() as before:
            value = self.expressions.condition(node.cond)
            if before and not isinstance(value, ir.Constant):
                value = self.session.saved(value, "condition", line)
        if value == ir.Constant(value=0):
            for statement in (*body, *before):
                self.session.emit(statement, node)
            return
        loop = ir.While(
            name=name,
            condition=value,
            body=(*body, *before),
            line=line,
            directives=directives,
            test_first=False,
        )
        self.session.emit(loop, node)


def _tested_inside(loop: ir.While, before: list[ir.Statement], label: str) -> ir.While:
    """The condition at the beginning of an endless loop's body, which it leaves."""
    leave = (ir.Leave(label=label, line=loop.line),)
    test = ir.If(condition=negated(loop.condition), then=leave, otherwise=(), line=loop.line)
    return replace(loop, condition=ir.Constant(value=1), body=(*before, test, *loop.body))


def _leading_pragmas(node: c_ast.Node) -> list[c_ast.Pragma]:
    """Pragmas inside a loop's body that belong to that loop, as Vitis has it."""
    if not isinstance(node, c_ast.Compound):
        return []
    pragmas = [i for i in block_items(node) if isinstance(i, c_ast.Pragma)]
    return [p for p in pragmas if str(p.string).split()[:1] == ["HLS"]]


def _without(node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> c_ast.Node:
    if not pragmas:
        return node
    return c_ast.Compound([i for i in block_items(node) if not any(i is p for p in pragmas)], node.coord)
