"""What is known only when a whole function has been read."""

from __future__ import annotations

from dataclasses import replace

from pipelines.hls import ir
from pipelines.hls.errors import HlsError
from pipelines.hls.reading.leaves import nesting
from pipelines.hls.reading.session import Session

MAXIMUM_STATEMENT_DEPTH = 100
MAXIMUM_EXPRESSION_DEPTH = 200


def finish(function: ir.Function, session: Session, result: ir.Variable | None, line: int) -> ir.Function:
    """The function with its tables, without arrays nothing uses, and ending in its return.

    Args: result: the variable that has the function's value; None for void.
    """
    _check_depth(function.body, session)
    function = _with_tables(function, session)
    body = function.body
    if result is not None:
        body = _returning(body, result, line)
    used = {e.array.name for e in ir.all_expressions(body) if isinstance(e, ir.Load)}
    used |= ir.stored_arrays(body)
    arrays = tuple(a for a in function.arrays if a.external or a.name in used)
    return replace(function, body=body, arrays=arrays)


def _check_depth(body: tuple[ir.Statement, ...], session: Session) -> None:
    """Refuse what the passes over the representation, which recurse, could not follow.

    Raises: HlsError: statements or expressions nest too deep.
    """
    for statement in body:
        if nesting(statement) > MAXIMUM_STATEMENT_DEPTH:
            rule = f"statements must nest at most {MAXIMUM_STATEMENT_DEPTH} deep"
            raise HlsError(rule, "more", file=session.file, line=statement.line)
    for statement in ir.walk_statements(body):
        for expression in ir.statement_expressions(statement):
            if _depth(expression) > MAXIMUM_EXPRESSION_DEPTH:
                rule = f"an expression must nest at most {MAXIMUM_EXPRESSION_DEPTH} deep"
                raise HlsError(rule, "more", file=session.file, line=statement.line)


def _depth(expression: ir.Expression) -> int:
    return 1 + max((_depth(e) for e in ir.child_expressions(expression)), default=0)


def _returning(body: tuple[ir.Statement, ...], result: ir.Variable, line: int) -> tuple[ir.Statement, ...]:
    """The body ending in `Return`, of the expression itself where it is the last assignment."""
    last = body[-1] if body else None
    if isinstance(last, ir.Assign) and last.variable == result:
        return (*body[:-1], ir.Return(value=last.value, line=last.line))
    return (*body, ir.Return(value=ir.Read(variable=result), line=line))


def _with_tables(function: ir.Function, session: Session) -> ir.Function:
    """Arrays that are only ever filled with constants become tables; their stores go."""
    fills = {name: fill for name, fill in session.fills.items() if fill[1]}
    if not fills:
        return function
    own = {id(s) for _, body in fills.values() for s in ir.walk_statements(tuple(body))}
    others = {
        s.array.name
        for s in ir.walk_statements(function.body)
        if isinstance(s, ir.Store) and id(s) not in own
    }
    tables = {name: content for name, (content, _) in fills.items() if name not in others}
    if not tables:
        return function
    gone = {id(s) for name in tables for s in ir.walk_statements(tuple(fills[name][1]))}
    arrays = {a.name: replace(a, initial=tables.get(a.name, a.initial)) for a in function.arrays}

    def rewritten(expression: ir.Expression) -> ir.Expression:
        if isinstance(expression, ir.Load) and expression.array.name in tables:
            return replace(expression, array=arrays[expression.array.name])
        return expression

    def kept(body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        found: list[ir.Statement] = []
        for statement in body:
            if id(statement) in gone:
                continue
            inner = tuple(kept(b) for b in ir.child_bodies(statement))
            mapped = ir.map_own_expressions(statement, lambda e: ir.map_expression(e, rewritten))
            found.append(ir.with_bodies(mapped, inner))
        return tuple(found)

    return replace(function, body=kept(function.body), arrays=tuple(arrays.values()))
