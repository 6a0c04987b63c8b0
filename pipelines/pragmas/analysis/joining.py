"""Accumulations that a program splits over temporaries, as one statement.

Each statement of such a chain reads what the one right before it has assigned, once, and nothing else reads
that. So nothing happens between a value and its use, and the values are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.hls import ir
from pipelines.pragmas.analysis.accumulation import find_accumulation

_Run = tuple[ir.Assign | ir.Store, ...]


def join_accumulations(function: ir.Function) -> ir.Function:
    """The function with each split accumulation in one statement, at the line of the last one."""
    exposed = frozenset(_exposed_reads(function.body))
    return replace(function, body=_joined_body(function.body, exposed))


def _joined_body(body: Sequence[ir.Statement], exposed: frozenset[str]) -> tuple[ir.Statement, ...]:
    found: list[ir.Statement] = []
    for part in _runs(body):
        if isinstance(part, tuple):
            found += _joined_run(part, exposed)
        else:
            inner = tuple(_joined_body(b, exposed) for b in ir.child_bodies(part))
            found.append(ir.with_bodies(part, inner))
    return tuple(found)


def _runs(body: Sequence[ir.Statement]) -> Iterator[_Run | ir.Statement]:
    """A body cut into assignments that follow one another, and other statements."""
    run: list[ir.Assign | ir.Store] = []
    for statement in body:
        if isinstance(statement, ir.Assign | ir.Store):
            run.append(statement)
            continue
        if run:
            yield tuple(run)
            run = []
        yield statement
    if run:
        yield tuple(run)


def _joined_run(run: _Run, exposed: frozenset[str]) -> list[ir.Statement]:
    found: list[ir.Assign | ir.Store] = []
    for position, statement in enumerate(run):
        found.append(statement)
        joined, used = statement, 0
        for earlier in reversed(found[:-1]):
            if not isinstance(earlier, ir.Assign) or not _is_last_use(
                earlier, joined, run[position + 1 :], exposed
            ):
                break
            joined, used = _substituted(joined, earlier), used + 1
            if _accumulates(joined):
                found[-1 - used :] = [joined]
                break
    return list(found)


def _is_last_use(
    earlier: ir.Assign, user: ir.Assign | ir.Store, later: _Run, exposed: frozenset[str]
) -> bool:
    """Whether a statement is the only reader of the variable that the one before it assigns."""
    name = earlier.variable.name
    if name in exposed or _reads(user, name) != 1:
        return False
    if isinstance(user, ir.Assign) and user.variable.name == name:
        return True
    for statement in later:
        if _reads(statement, name):
            return False
        if isinstance(statement, ir.Assign) and statement.variable.name == name:
            return True
    return True


def _reads(statement: ir.Statement, name: str) -> int:
    parts = (p for e in ir.statement_expressions(statement) for p in ir.walk_expressions(e))
    return sum(isinstance(p, ir.Read) and p.variable.name == name for p in parts)


def _substituted(statement: ir.Assign | ir.Store, earlier: ir.Assign) -> ir.Assign | ir.Store:
    def visit(part: ir.Expression) -> ir.Expression:
        return earlier.value if part == ir.Read(variable=earlier.variable) else part

    return replace(statement, value=ir.map_expression(statement.value, visit))


def _accumulates(statement: ir.Assign | ir.Store) -> bool:
    if isinstance(statement, ir.Assign):
        own = ir.Read(variable=statement.variable)
        return find_accumulation(statement.value, lambda value: value == own) is not None
    array, indices = statement.array, statement.indices
    return (
        find_accumulation(
            statement.value,
            lambda v: isinstance(v, ir.Load) and v.array == array and v.indices == indices,
        )
        is not None
    )


def _exposed_reads(body: Sequence[ir.Statement]) -> Iterator[str]:
    """Variables that are read without an assignment before them in the same run."""
    for part in _runs(body):
        assigned: set[str] = set()
        for statement in part if isinstance(part, tuple) else (part,):
            for expression in ir.statement_expressions(statement):
                for piece in ir.walk_expressions(expression):
                    if isinstance(piece, ir.Read) and piece.variable.name not in assigned:
                        yield piece.variable.name
            if isinstance(statement, ir.Assign):
                assigned.add(statement.variable.name)
        if not isinstance(part, tuple):
            for inner in ir.child_bodies(part):
                yield from _exposed_reads(inner)
