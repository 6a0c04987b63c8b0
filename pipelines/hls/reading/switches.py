"""`switch`: conditions on a saved value, and a block that `break` leaves.

Cases that run into one another are one group. Each group is a condition; inside a group of several, a part
runs when the value is one of its labels or one of an earlier part's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_cast, negated
from pipelines.hls.reading.ctypes import promoted
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.facts import block_items
from pipelines.hls.reading.leaves import ends_elsewhere, make_block
from pipelines.hls.reading.session import Session
from pipelines.hls.reading.statements import Statements

MAXIMUM_RUN = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Statements between two labels of a switch: their labels (None for default) and what they are."""

    labels: tuple[c_ast.Node | None, ...]
    body: tuple[ir.Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Reads switch statements."""

    session: Session
    expressions: Expressions
    statements: Statements

    def read(self, node: c_ast.Switch) -> None:
        """A switch statement, into the current body."""
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
        """The parts of the switch's block, in order; all share one scope."""
        found: list[_Part] = []
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
                    found.append(_Part(labels=tuple(labels), body=tuple(body)))
                    labels = []
        if labels:
            found.append(_Part(labels=tuple(labels), body=()))
        return found

    def _chain(self, groups: list[list[_Part]], value: ir.Expression, line: int) -> tuple[ir.Statement, ...]:
        """One condition a group; the one with default comes last, for it takes what the others leave.

        Many groups are chained in runs, each behind a condition for all of it, so that they do not nest too
        deep.
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
        """The body of parts that run into one another, once the value is one of their labels."""
        found: list[ir.Statement] = []
        seen: list[c_ast.Node | None] = []
        for part in group[:-1]:
            seen.extend(part.labels)
            condition = self._one_of(seen, value)
            if condition is None:
                others = [label for label in everything if label is not None and label not in seen]
                excluded = self._one_of(others, value)
                condition = ir.Constant(value=1) if excluded is None or not others else negated(excluded)
            found.extend(_choose(condition, part.body, (), line))
        return (*found, *group[-1].body)

    def _one_of(self, labels: Sequence[c_ast.Node | None], value: ir.Expression) -> ir.Expression | None:
        """Whether the value is one of some labels; None when default is among them."""
        kind = ir.type_of(value)
        tests: list[ir.Expression] = []
        for label in labels:
            if label is None:
                return None
            self.session.count(label)
            constant = self.expressions.constant(label)
            if constant is None or constant.type.floating:
                raise self.session.refuse(label, "a case must be an integer constant", "an expression")
            tests.append(make_binary("eq", value, make_cast(constant, kind)))
        return _any(tests)


def _any(tests: list[ir.Expression]) -> ir.Expression:
    """Whether one of some conditions holds, as a balanced tree."""
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
    """The body of the first condition that holds, else the rest."""
    for condition, body in reversed(choices):
        rest = _choose(condition, body, rest, line)
    return rest


def _groups(parts: list[_Part]) -> list[list[_Part]]:
    """Parts that run into one another, together."""
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
