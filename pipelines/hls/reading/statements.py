"""Statements, except loops and switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.directives import parse_pragma
from pipelines.hls.reading.effects import Effects
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.facts import block_items, labelled_loop
from pipelines.hls.reading.objects import Objects
from pipelines.hls.reading.session import Address, Memory, Place, Record, Session, Storage


@dataclass(slots=True, kw_only=True)
class Statements:
    """Reads statements into the current body.

    Attributes:
        read_loop, read_switch: set when those readers exist.
    """

    session: Session
    expressions: Expressions
    effects: Effects
    objects: Objects
    read_loop: Callable[[c_ast.Node, list[c_ast.Pragma]], None] = field(init=False)
    read_switch: Callable[[c_ast.Switch], None] = field(init=False)

    def body(self, node: c_ast.Node | None) -> tuple[ir.Statement, ...]:
        """A statement or block in a scope of its own, as a body of its own."""
        with self.session.collect() as found:
            self.block(node)
        return tuple(found)

    def block(self, node: c_ast.Node | None) -> None:
        """A statement or block in a scope of its own, into the current body."""
        if node is None:
            return
        with self.session.scope():
            self.items(block_items(node))

    def items(self, items: list[c_ast.Node]) -> None:
        """Statements one after the other; those that cannot be reached are not read."""
        pragmas: list[c_ast.Pragma] = []
        for item in items:
            if isinstance(item, c_ast.Pragma):
                pragmas.append(item)
                continue
            if self.session.ended:
                break
            if pragmas and isinstance(item, c_ast.Decl | c_ast.DeclList):
                pragmas = [p for p in pragmas if not self._array_pragma(p)]
                self.statement(item)
                continue
            self.statement(item, pragmas)
            pragmas = []
        self.loose(pragmas)

    def statement(self, node: c_ast.Node, pragmas: list[c_ast.Pragma] | None = None) -> None:
        """One statement; pragmas are those before it."""
        pragmas = pragmas or []
        self.session.count(node)
        match node:
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                self.read_loop(node, pragmas)
                return
            case c_ast.Label():
                self._labelled(node, pragmas)
                return
            case _:
                self.loose(pragmas)
        match node:
            case c_ast.Decl() | c_ast.Typedef():
                self.objects.declare(node)
            case c_ast.DeclList():
                for declaration in node.decls:
                    self.statement(declaration)
            case c_ast.Compound():
                self.block(node)
            case c_ast.If():
                self._condition(node)
            case c_ast.Switch():
                self.read_switch(node)
            case c_ast.Return():
                self._return(node)
            case c_ast.Break() | c_ast.Continue():
                self._jump(node)
            case (
                c_ast.EmptyStatement() | c_ast.StaticAssert() | c_ast.Pragma() | c_ast.AttributeDeclaration()
            ):
                pass
            case c_ast.AttributedStatement():
                self.statement(node.stmt)
            case c_ast.Goto():
                rule = "control must go through loops, conditions, break, continue and return"
                raise self.session.refuse(node, rule, f"goto {node.name}")
            case c_ast.Case() | c_ast.Default():
                rule = "a case must stand directly in the block of its switch"
                raise self.session.refuse(node, rule, "one inside another statement")
            case _:
                self.expressions.discard(node)

    def _labelled(self, node: c_ast.Label, pragmas: list[c_ast.Pragma]) -> None:
        loop = labelled_loop(node)
        if loop is None:
            self.statement(node.stmt, pragmas)
            return
        leading = [i for i in block_items(node.stmt) if isinstance(i, c_ast.Pragma)]
        self.read_loop(loop, [*pragmas, *leading])

    def _condition(self, node: c_ast.If) -> None:
        condition = self.expressions.condition(node.cond)
        if isinstance(condition, ir.Constant):
            self.block(node.iftrue if condition.value else node.iffalse)
            return
        then, otherwise = self.body(node.iftrue), self.body(node.iffalse)
        line = self.session.line_of(node)
        if then or otherwise:
            self.session.emit(ir.If(condition=condition, then=then, otherwise=otherwise, line=line), node)

    def _return(self, node: c_ast.Return) -> None:
        frame = self.session.frame
        if node.expr is not None and frame.result is None:
            self.expressions.discard(node.expr)
        elif node.expr is not None and frame.result is not None:
            frame.returns_value = True
            self.effects.assign(frame.result, self.expressions.read(node.expr), node)
        self.session.emit(ir.Leave(label=frame.exit_label, line=self.session.line_of(node)), node)

    def _jump(self, node: c_ast.Break | c_ast.Continue) -> None:
        frame = self.session.frame
        leaves = isinstance(node, c_ast.Break)
        labels = frame.break_labels if leaves else frame.continue_labels
        if not labels:
            got = "break" if leaves else "continue"
            raise self.session.refuse(node, f"{got} must stand in a loop", "one outside")
        self.session.emit(ir.Leave(label=labels[-1], line=self.session.line_of(node)), node)

    # ---- pragmas ----------------------------------------------------------------------------------

    def loose(self, pragmas: list[c_ast.Pragma]) -> None:
        """Pragmas that stand before no loop: directives on arrays, or nothing this engine knows."""
        for pragma in pragmas:
            if not self._array_pragma(pragma):
                self.session.ignored.append((str(pragma.string), self.session.line_of(pragma)))

    def _array_pragma(self, pragma: c_ast.Pragma) -> bool:
        found = parse_pragma(str(pragma.string), "")
        if found is None:
            return False
        self.session.directives.extend(self.resolved(found))
        return True

    def loop_directives(self, pragmas: list[c_ast.Pragma], loop: str) -> tuple[ir.Directive, ...]:
        """Directives that pragmas put on a loop; those on arrays alone go to the function."""
        kept: list[ir.Directive] = []
        for pragma in pragmas:
            found = parse_pragma(str(pragma.string), loop)
            if found is None:
                self.session.ignored.append((str(pragma.string), self.session.line_of(pragma)))
                continue
            for directive in self.resolved(found):
                (kept if directive.loop else self.session.directives).append(directive)
        return tuple(kept)

    def resolved(self, directives: tuple[ir.Directive, ...]) -> list[ir.Directive]:
        """Directives with the names that variables of the source have in the function."""
        found: list[ir.Directive] = []
        for directive in directives:
            names = self._names(directive.variable) if directive.variable else []
            found.extend(_renamed(directive, n) for n in names)
            if not names:
                found.append(directive)
        return found

    def _names(self, name: str) -> list[str]:
        symbol = self.session.find(name)
        if symbol is None and name in self.expressions.types.file_scope.objects:
            symbol = self.objects.global_symbol(c_ast.ID(name))
        match symbol:
            case Place() | Address():
                return sorted(set(_stored_names(symbol.storage)))
            case _:
                return []


def _renamed(directive: ir.Directive, name: str) -> ir.Directive:
    return ir.Directive(
        kind=directive.kind,
        loop=directive.loop,
        value=directive.value,
        variable=name,
        style=directive.style,
        dimension=directive.dimension,
    )


def _stored_names(storage: Storage | None) -> list[str]:
    match storage:
        case Memory():
            return [storage.array.name]
        case Record():
            return [n for member in storage.members.values() for n in _stored_names(member)]
        case None:
            return []
        case _:
            variable = getattr(storage, "variable", None)
            return [variable.name] if isinstance(variable, ir.Variable) else []
