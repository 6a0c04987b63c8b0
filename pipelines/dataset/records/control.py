"""Operators whose control flow depends on input data (LLMulator section 5.2), from the front end's IR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipelines.c import ir, read_function
from pipelines.dataset.records.prompts import split_source


def operator_classes(source: str, top: str) -> Mapping[str, bool]:
    """Tell whether the control flow of each function depends on input data: class II where true, else class
    I.

    A loop bound, a branch or an early exit depends on data when it reads an argument of the top function, an
    external array, or anything computed from them. A choice between two values (`?:`) is no branch. Calls are
    inlined before the analysis, so a function that is called with constants is of class I.

    Returns: class by function of the source, the top function included.
    Raises:  HlsError: the C front end rejects the program. RecordError: brackets do not match.
    """
    lines = _dependent_lines(read_function(source, top=top))
    classes: dict[str, bool] = {}
    for name, text in split_source(source).functions.items():
        start = source.count("\n", 0, source.index(text)) + 1
        classes[name] = any(start <= line <= start + text.count("\n") for line in lines)
    return classes


def _dependent_lines(function: ir.Function) -> set[int]:
    """Return the lines of loops and branches that depend on data."""
    variables = {p.name for p in function.parameters if isinstance(p, ir.Variable)}
    arrays = {a.name for a in function.arrays if a.external}
    before = -1
    while before != len(variables) + len(arrays):
        before = len(variables) + len(arrays)
        _spread(function.body, variables, arrays, False)
    return {
        s.line
        for s in ir.walk_statements(function.body)
        if any(_depends(e, variables, arrays) for e in _conditions(s))
    }


def _conditions(statement: ir.Statement) -> Sequence[ir.Expression]:
    """Return the expressions that decide what runs next."""
    match statement:
        case ir.For():
            return (statement.lower, statement.upper)
        case ir.If() | ir.While():
            return (statement.condition,)
        case _:
            return ()


def _spread(body: tuple[ir.Statement, ...], variables: set[str], arrays: set[str], decided: bool) -> None:
    """Add what a body computes from data; `decided`: data decide whether the body runs."""
    for statement in body:
        inside = decided or any(_depends(e, variables, arrays) for e in _conditions(statement))
        if isinstance(statement, ir.For) and inside:
            variables.add(statement.variable.name)
        if isinstance(statement, ir.Assign) and (decided or _depends(statement.value, variables, arrays)):
            variables.add(statement.variable.name)
        if isinstance(statement, ir.Store) and (
            decided or any(_depends(e, variables, arrays) for e in ir.statement_expressions(statement))
        ):
            arrays.add(statement.array.name)
        for inner in ir.child_bodies(statement):
            _spread(inner, variables, arrays, inside)


def _depends(expression: ir.Expression, variables: set[str], arrays: set[str]) -> bool:
    return any(name in known for name, known in _sources(expression, variables, arrays))


def _sources(
    expression: ir.Expression, variables: set[str], arrays: set[str]
) -> Iterator[tuple[str, set[str]]]:
    """Yield the variables and arrays that an expression reads, each with the set it may be in."""
    for part in ir.walk_expressions(expression):
        if isinstance(part, ir.Read):
            yield part.variable.name, variables
        elif isinstance(part, ir.Load):
            yield part.array.name, arrays
