"""Blocks that need not be left: `if (c) return a; return b;` is a condition with two branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipelines.hls import ir

MAXIMUM_JOINED_DEPTH = 40
"""A longer run of early exits stays a block that is left: conditions would nest too deep."""


def make_block(label: str, body: Sequence[ir.Statement], line: int) -> tuple[ir.Statement, ...]:
    """A body in a block, or the body alone when nothing needs to leave it."""
    structured = _without_leaves(tuple(body), label)
    if not _leaves(structured, label):
        return structured
    return (ir.Block(label=label, body=structured, line=line),)


def _leaves(body: tuple[ir.Statement, ...], label: str) -> bool:
    return any(isinstance(s, ir.Leave) and s.label == label for s in ir.walk_statements(body))


def ends_elsewhere(body: tuple[ir.Statement, ...]) -> bool:
    """Whether control never reaches the end of a body."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ir.If):
        return ends_elsewhere(last.then) and ends_elsewhere(last.otherwise)
    return isinstance(last, ir.Leave)


def _without_leaves(body: tuple[ir.Statement, ...], label: str) -> tuple[ir.Statement, ...]:
    """The body with what leaves `label` at its own end ended there instead, from the last statement back."""
    found: list[ir.Statement] = []  # the last one first
    depth = 0
    for statement in reversed(body):
        if isinstance(statement, ir.Leave):
            found.clear()
            depth = 1
            if statement.label != label:
                found.append(statement)
        elif isinstance(statement, ir.If) and depth < MAXIMUM_JOINED_DEPTH and _leaves((statement,), label):
            found = [*reversed(_joined(statement, tuple(reversed(found)), label))]
            depth = max((nesting(s) for s in found[-1:]), default=0)
        else:
            found.append(statement)
            depth = max(depth, nesting(statement))
    return tuple(reversed(found))


def nesting(statement: ir.Statement) -> int:
    """How deep statements nest in one, itself included."""
    return 1 + max((nesting(s) for body in ir.child_bodies(statement) for s in body), default=0)


def _joined(statement: ir.If, rest: tuple[ir.Statement, ...], label: str) -> tuple[ir.Statement, ...]:
    """A condition that may leave the block, and what follows it."""
    then_ends, otherwise_ends = ends_elsewhere(statement.then), ends_elsewhere(statement.otherwise)
    if not rest or (then_ends and otherwise_ends):
        then, otherwise = statement.then, statement.otherwise
    elif then_ends:
        then, otherwise = statement.then, (*statement.otherwise, *rest)
    elif otherwise_ends:
        then, otherwise = (*statement.then, *rest), statement.otherwise
    else:
        return (statement, *rest)
    return (
        replace(
            statement,
            then=_without_leaves(then, label),
            otherwise=_without_leaves(otherwise, label),
        ),
    )
