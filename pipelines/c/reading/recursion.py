"""Tail recursion as a loop: a function that calls itself last assigns its parameters and starts again."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from pipelines.c.text.preprocess import function_calls

_AGAIN = "again_of_"
"""Begins the label at the end of the loop's body."""


def without_tail_calls(definition: c_ast.FuncDef) -> c_ast.FuncDef:
    """Return function as a loop when every call of itself is the last thing that it does, else unchanged."""
    name = str(definition.decl.name)
    calls = _calls(definition.body, name)
    listed = definition.decl.type.args
    parameters = [] if listed is None else [p for p in listed.params if isinstance(p, c_ast.Decl) and p.name]
    if not calls or any(len(_arguments(call)) != len(parameters) for call in calls):
        return definition
    writer = _Writer(name=name, parameters=parameters)
    items = writer.items(list(definition.body.block_items or []), last=True)
    if writer.replaced != len(calls):
        return definition
    coord = definition.body.coord
    end = c_ast.Label(writer.label, c_ast.EmptyStatement(coord), coord)
    inner = c_ast.Compound([*items, c_ast.Return(None, coord), end], coord)
    loop = c_ast.While(c_ast.Constant("int", "1", coord), inner, coord)
    looped = copy.copy(definition)
    looped.body = c_ast.Compound([loop], coord)
    return looped


def _calls(node: c_ast.Node, name: str) -> list[c_ast.FuncCall]:
    return [call for call in function_calls(node) if call.name.name == name]


def _is_call(node: Any, name: str) -> bool:
    if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID):
        return False
    return str(node.name.name) == name


def _arguments(call: c_ast.FuncCall) -> list[c_ast.Node]:
    return [] if call.args is None else list(call.args.exprs)


@dataclass(slots=True, kw_only=True)
class _Writer:
    """Rewrites the statements of a function.

    Attributes:
        replaced: calls that became jumps.
    """

    name: str
    parameters: list[c_ast.Decl]
    replaced: int = 0
    _numbers: list[int] = field(default_factory=lambda: [0])

    @property
    def label(self) -> str:
        """Where a jump goes: the end of the loop's body."""
        return f"{_AGAIN}{self.name}"

    def statement(self, node: c_ast.Node | None, *, last: bool) -> c_ast.Node | None:
        """Return a statement with jumps instead of calls; `last`: nothing of the function comes after it."""
        match node:
            case c_ast.Return() if _is_call(node.expr, self.name):
                return self._jump(node.expr)
            case c_ast.Return() if isinstance(node.expr, c_ast.TernaryOp) and _calls(node.expr, self.name):
                sides = (c_ast.Return(side, node.coord) for side in (node.expr.iftrue, node.expr.iffalse))
                first, second = (self.statement(side, last=True) for side in sides)
                return c_ast.If(node.expr.cond, first, second, node.coord)
            case c_ast.FuncCall() if last and _is_call(node, self.name):
                return self._jump(node)
            case c_ast.Compound():
                return c_ast.Compound(self.items(list(node.block_items or []), last=last), node.coord)
            case c_ast.If():
                then, otherwise = (self.statement(b, last=last) for b in (node.iftrue, node.iffalse))
                return c_ast.If(node.cond, then, otherwise, node.coord)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                looped = copy.copy(node)
                looped.stmt = self.statement(node.stmt, last=False)
                return looped
            case c_ast.Case() | c_ast.Default():
                part = copy.copy(node)
                part.stmts = self.items(list(node.stmts or []), last=False)
                return part
            case c_ast.Label():
                return c_ast.Label(node.name, self.statement(node.stmt, last=last), node.coord)
            case _:
                return node

    def items(self, items: list[c_ast.Node], *, last: bool) -> list[c_ast.Node | None]:
        """Return the statements in a row with jumps instead of calls."""
        written: list[c_ast.Node | None] = []
        for number, item in enumerate(items):
            following = items[number + 1] if number + 1 < len(items) else None
            ends = following is not None and isinstance(following, c_ast.Return) and following.expr is None
            written.append(self.statement(item, last=ends or (last and following is None)))
        return written

    def _jump(self, call: c_ast.FuncCall) -> c_ast.Compound:
        """Return the parameters set to the arguments, and a jump to the end of the loop's body."""
        self.replaced += 1
        self._numbers[0] += 1
        coord = call.coord
        changed = [
            (parameter, argument)
            for parameter, argument in zip(self.parameters, _arguments(call), strict=True)
            if not (isinstance(argument, c_ast.ID) and argument.name == parameter.name)
        ]
        names = [f"{p.name}_next_{self._numbers[0]}" for p, _ in changed]
        saved = [_variable(p, name, a) for (p, a), name in zip(changed, names, strict=True)]
        assigned = [
            c_ast.Assignment("=", c_ast.ID(p.name, coord), c_ast.ID(name, coord), coord)
            for (p, _), name in zip(changed, names, strict=True)
        ]
        return c_ast.Compound([*saved, *assigned, c_ast.Goto(self.label, coord)], coord)


def _variable(parameter: c_ast.Decl, name: str, init: c_ast.Node) -> c_ast.Decl:
    """Return a variable of a parameter's type; an array parameter is a pointer."""
    kind = parameter.type
    if isinstance(kind, c_ast.ArrayDecl):
        kind = c_ast.PtrDecl([], kind.type, parameter.coord)
    return c_ast.Decl(name, [], [], [], [], _named(kind, name), init, None, init.coord)


def _named(kind: c_ast.Node, name: str) -> c_ast.Node:
    """Return a declarator of another name; structures keep their identity."""
    named = copy.copy(kind)
    if isinstance(named, c_ast.TypeDecl):
        named.declname = name
    else:
        named.type = _named(kind.type, name)
    return named
