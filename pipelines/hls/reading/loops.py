"""Loops: counted ones as `For`, all others as `While`.

Belongs here: what makes a loop counted, conditions with side effects, break and continue. Does not: what is
inside a body.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import negated
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
        counted = counted_loop(self.session.buffer, condition, body, after, node_line=line)
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
        if counted.takes_start:
            self.session.buffer.pop()
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
        if not before:
            if value == ir.Constant(value=0):
                return
            body = (*self._body(inner, labels), *self._after(following))
            loop = ir.While(name=name, condition=value, body=body, line=line, directives=directives)
            self.session.emit(loop, node)
            return
        body = (*self._body(inner, labels), *self._after(following))
        if any(isinstance(s, ir.Block | ir.Loop) for s in ir.walk_statements(tuple(before))):
            loop = self._tested_inside(name, before, value, body, directives, labels[0], line)
        else:
            loop = self._tested_before(name, before, value, body, directives, line)
        self.session.emit(loop, node)

    def _tested_before(
        self,
        name: str,
        before: list[ir.Statement],
        value: ir.Expression,
        body: Body,
        directives: tuple[ir.Directive, ...],
        line: int,
    ) -> ir.While:
        """The condition's side effects before the loop and again at the end of its body."""
        for statement in before:
            self.session.emit(statement)
        held = self.session.saved(value, "condition", line)
        again = ir.Assign(variable=held.variable, value=value, line=line)
        return ir.While(
            name=name, condition=held, body=(*body, *before, again), line=line, directives=directives
        )

    def _tested_inside(
        self,
        name: str,
        before: list[ir.Statement],
        value: ir.Expression,
        body: Body,
        directives: tuple[ir.Directive, ...],
        label: str,
        line: int,
    ) -> ir.While:
        """The condition at the beginning of an endless loop's body, which it leaves."""
        leave = (ir.Leave(label=label, line=line),)
        test = ir.If(condition=negated(value), then=leave, otherwise=(), line=line)
        always = ir.Constant(value=1)
        return ir.While(
            name=name, condition=always, body=(*before, test, *body), line=line, directives=directives
        )

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
