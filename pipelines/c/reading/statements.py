"""Statements, except loops; `switch` becomes conditions on a saved value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_cast, negated
from pipelines.c.directives import parse_pragma
from pipelines.c.errors import PointerUnset
from pipelines.c.reading.bodies import (
    block_items,
    ends_elsewhere,
    labelled_loop,
    labels_of,
    make_block,
)
from pipelines.c.reading.effects import Effects
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.objects import Objects
from pipelines.c.reading.session import Address, Memory, Place, Record, Session, Storage
from pipelines.c.reading.values import Result
from pipelines.c.signature import promoted
from pipelines.c.text.spellings import RANGE


@dataclass(slots=True, kw_only=True)
class Statements:
    """Reads statements into the current body.

    Attributes:
        read_loop, read_switch: set after construction.
    """

    session: Session
    expressions: Expressions
    effects: Effects
    objects: Objects
    read_loop: Callable[[c_ast.Node, list[c_ast.Pragma]], None] = field(init=False)
    read_switch: Callable[[c_ast.Switch], None] = field(init=False)

    def body(self, node: c_ast.Node | None) -> tuple[ir.Statement, ...]:
        """Read a statement or block in a new scope, into a new body."""
        with self.session.collect() as statements:
            self.block(node)
        return tuple(statements)

    def block(self, node: c_ast.Node | None) -> None:
        """Read a statement or block in a new scope, into the current body."""
        if node is None:
            return
        with self.session.scope():
            self.items(block_items(node))

    def block_value(self, node: c_ast.Compound) -> Result:
        """Return value of a statement expression: that of its last statement, when it is an expression."""
        items = block_items(node)
        with self.session.scope():
            last = items[-1] if items else None
            if last is None or isinstance(last, _NO_VALUES):
                self.items(items)
                return None
            self.items(items[:-1])
            return self.expressions.read(last)

    def items(self, items: list[c_ast.Node]) -> None:
        """Read statements in order; unreachable ones are skipped.

        Statements before a label that a `goto` names are a block, which the jump leaves.
        """
        frame = self.session.frame
        marks = [n for n, item in enumerate(items) if frame.targets.intersection(labels_of(item))]
        if not marks:
            self._in_order(items)
            return
        last = marks[-1]
        names = [name for name in labels_of(items[last]) if name in frame.targets]
        label = self.session.unique(f"{names[0]}_goto")
        while last > 0 and isinstance(items[last - 1], c_ast.Pragma):
            last -= 1  # a pragma before the label belongs to what follows it
        frame.jumps.update(dict.fromkeys(names, label))
        with self.session.collect() as before:
            self.items(items[:last])
        for name in names:
            del frame.jumps[name]
        for statement in make_block(label, before, self.session.line_of(items[last])):
            self.session.emit(statement, items[last])
        self._in_order(items[last:])

    def _in_order(self, items: list[c_ast.Node]) -> None:
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
        """Read one statement; `pragmas` are those before it.

        A statement that uses a pointer without an object is skipped: where a later one gives it an object,
        the program is read again, else it is refused for the first such use.
        """
        try:
            self._statement(node, pragmas or [])
        except PointerUnset as error:
            self.session.refused = self.session.refused or error

    def _statement(self, node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> None:
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
                self._goto(node)
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

    def _goto(self, node: c_ast.Goto) -> None:
        label = self.session.frame.jumps.get(str(node.name))
        if label is None:
            rule = "goto must go forward, to a label of its own block or of one around it (write a loop)"
            raise self.session.refuse(node, rule, f"goto {node.name}")
        self.session.emit(ir.Leave(label=label, line=self.session.line_of(node)), node)

    # ---- pragmas ----------------------------------------------------------------------------------

    def loose(self, pragmas: list[c_ast.Pragma]) -> None:
        """Read pragmas that are not before a loop: directives on arrays, or unknown ones."""
        for pragma in pragmas:
            if not self._array_pragma(pragma):
                self.session.ignored.append((str(pragma.string), self.session.line_of(pragma)))

    def _array_pragma(self, pragma: c_ast.Pragma) -> bool:
        directives = parse_pragma(str(pragma.string), "")
        if directives is None:
            return False
        self.session.directives.extend(self.resolved(directives))
        return True

    def loop_directives(self, pragmas: list[c_ast.Pragma], loop: str) -> tuple[ir.Directive, ...]:
        """Return the directives of a loop's pragmas; those on arrays belong to the function."""
        kept: list[ir.Directive] = []
        for pragma in pragmas:
            parsed = parse_pragma(str(pragma.string), loop)
            if parsed is None:
                self.session.ignored.append((str(pragma.string), self.session.line_of(pragma)))
                continue
            for directive in self.resolved(parsed):
                (kept if directive.loop else self.session.directives).append(directive)
        return tuple(kept)

    def resolved(self, directives: tuple[ir.Directive, ...]) -> list[ir.Directive]:
        """Return the directives with the source's names replaced by those in the function."""
        resolved: list[ir.Directive] = []
        for directive in directives:
            names = self._names(directive.variable) if directive.variable else []
            resolved.extend(_renamed(directive, n) for n in names)
            if not names:
                resolved.append(directive)
        return resolved

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


_NO_VALUES = (
    *(c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.If, c_ast.Switch, c_ast.Label, c_ast.Goto, c_ast.Return),
    *(c_ast.Break, c_ast.Continue, c_ast.Decl, c_ast.DeclList, c_ast.EmptyStatement, c_ast.Pragma),
)
"""Statements that are no expressions."""

MAXIMUM_RUN = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Statements between two labels of a switch, with their labels (None for default)."""

    labels: tuple[c_ast.Node | None, ...]
    body: tuple[ir.Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Reads switch statements.

    Cases that fall through form one group. Each group is a condition; inside a group of several parts, a part
    runs when the value is one of its labels or one of an earlier part's.
    """

    session: Session
    expressions: Expressions
    statements: Statements

    def read(self, node: c_ast.Switch) -> None:
        """Read a switch statement into the current body."""
        line = self.session.line_of(node)
        value = self.expressions.number(node.cond)
        if ir.type_of(value).floating:
            raise self.session.refuse(node, "a switch must be on an integer", ir.type_of(value).c_name)
        value = make_cast(value, promoted(ir.type_of(value)))
        if not isinstance(value, ir.Constant):
            value = self.session.saved(value, "selector", line)
        label = self.session.unique("switch_end")
        frame = self.session.frame
        frame.break_labels.append(label)
        try:
            parts = self._parts(node)
        finally:
            frame.break_labels.pop()
        chain = self._chain(_groups(parts), value, line)
        for statement in make_block(label, chain, line):
            self.session.emit(statement, node)

    def _parts(self, node: c_ast.Switch) -> list[_Part]:
        """Return the parts of the switch's block, in order; all share one scope."""
        parts: list[_Part] = []
        labels: list[c_ast.Node | None] = []
        with self.session.scope():
            for item in block_items(node.stmt):
                if not isinstance(item, c_ast.Case | c_ast.Default):
                    if not isinstance(item, c_ast.Decl | c_ast.Pragma):
                        rule = "a statement of a switch must follow a case"
                        raise self.session.refuse(item, rule, "one before the first")
                    self.statements.statement(item)
                    continue
                labels.append(item.expr if isinstance(item, c_ast.Case) else None)
                if item.stmts:
                    with self.session.collect() as body:
                        self.statements.items(list(item.stmts))
                    parts.append(_Part(labels=tuple(labels), body=tuple(body)))
                    labels = []
        if labels:
            parts.append(_Part(labels=tuple(labels), body=()))
        return parts

    def _chain(self, groups: list[list[_Part]], value: ir.Expression, line: int) -> tuple[ir.Statement, ...]:
        """Return one condition per group; the group with default is last, because it takes the remaining
        values.

        Many groups are chained in runs, each under one condition for the whole run, to limit nesting.
        """
        everything = [label for g in groups for p in g for label in p.labels]
        rest: tuple[ir.Statement, ...] = ()
        chosen: list[tuple[ir.Expression, tuple[ir.Statement, ...]]] = []
        for group in groups:
            condition = self._one_of([label for p in group for label in p.labels], value)
            body = self._group(group, everything, value, line)
            if condition is None:
                rest = body
            else:
                chosen.append((condition, body))
        if len(chosen) <= MAXIMUM_RUN:
            return _nested(chosen, rest, line)
        runs = [chosen[n : n + MAXIMUM_RUN] for n in range(0, len(chosen), MAXIMUM_RUN)]
        outer = [(_any([c for c, _ in run]), _nested(run[:-1], run[-1][1], line)) for run in runs]
        return _nested(outer, rest, line)

    def _group(
        self, group: list[_Part], everything: Sequence[c_ast.Node | None], value: ir.Expression, line: int
    ) -> tuple[ir.Statement, ...]:
        """Return the body of parts that fall through, for a value that is one of their labels."""
        statements: list[ir.Statement] = []
        seen: list[c_ast.Node | None] = []
        for part in group[:-1]:
            seen.extend(part.labels)
            condition = self._one_of(seen, value)
            if condition is None:
                others = [label for label in everything if label is not None and label not in seen]
                excluded = self._one_of(others, value)
                condition = ir.Constant(value=1) if excluded is None or not others else negated(excluded)
            statements.extend(_choose(condition, part.body, (), line))
        return (*statements, *group[-1].body)

    def _one_of(self, labels: Sequence[c_ast.Node | None], value: ir.Expression) -> ir.Expression | None:
        """Return the condition that the value is one of some labels; None when default is among them."""
        kind = ir.type_of(value)
        tests: list[ir.Expression] = []
        for label in labels:
            if label is None:
                return None
            self.session.count(label)
            match label:
                case c_ast.TernaryOp(iftrue=c_ast.ID() as mark) if mark.name == RANGE:
                    self.session.later_forms = True
                    first, last = self._constant(label.cond), self._constant(label.iffalse)
                    is_in = [("ge", first), ("le", last)]
                    tests.append(
                        make_binary("and", *(make_binary(o, value, make_cast(c, kind)) for o, c in is_in))
                    )
                case _:
                    tests.append(make_binary("eq", value, make_cast(self._constant(label), kind)))
        return _any(tests)

    def _constant(self, label: c_ast.Node) -> ir.Constant:
        constant = self.expressions.constant(label)
        if constant is None or constant.type.floating:
            raise self.session.refuse(label, "a case must be an integer constant", "an expression")
        return constant


def _any(tests: list[ir.Expression]) -> ir.Expression:
    """Return the disjunction of conditions, as a balanced tree."""
    if not tests:
        return ir.Constant(value=0)
    if len(tests) == 1:
        return tests[0]
    middle = len(tests) // 2
    return make_binary("or", _any(tests[:middle]), _any(tests[middle:]))


def _nested(
    choices: list[tuple[ir.Expression, tuple[ir.Statement, ...]]],
    rest: tuple[ir.Statement, ...],
    line: int,
) -> tuple[ir.Statement, ...]:
    """Return the nested conditions: the body of the first that holds, else the rest."""
    for condition, body in reversed(choices):
        rest = _choose(condition, body, rest, line)
    return rest


def _groups(parts: list[_Part]) -> list[list[_Part]]:
    """Return the groups of parts that fall through."""
    groups: list[list[_Part]] = []
    open_group = False
    for part in parts:
        if open_group:
            groups[-1].append(part)
        else:
            groups.append([part])
        open_group = not ends_elsewhere(part.body)
    return groups


def _choose(
    condition: ir.Expression, body: tuple[ir.Statement, ...], rest: tuple[ir.Statement, ...], line: int
) -> tuple[ir.Statement, ...]:
    if isinstance(condition, ir.Constant):
        return body if condition.value else rest
    return (ir.If(condition=condition, then=body, otherwise=rest, line=line),)
