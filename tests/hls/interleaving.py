"""A reduction whose iterations accumulate in several variables in turn; the engine's is `reduce_tree`."""

from __future__ import annotations

from dataclasses import replace

from pipelines.c import ir
from pipelines.c.analysis.copying import Body, FreshNames, fresh_names, replace_statement
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.reduction import MAXIMUM_COPIES, _begin, _join, _partials, _prepare


def interleave_reduction(
    function: ir.Function, loop: str, variable: str, copies: int, *, unsafe_math: bool = False
) -> ir.Function:
    """Let a loop's iterations accumulate in several variables in turn.

    Each iteration updates one variable, then all of them rotate by one place, so that a value is needed again
    only `copies` iterations later. With as many copies as the operator has cycles, a pipelined loop may start
    one iteration per cycle.

    Args:    variable: as for `reduce_tree`; copies: number of variables, at least 2.
    Returns: a function that is equivalent but for roundings.
    Raises:  NotApplicable: as for `reduce_tree`.
    """
    if not 2 <= copies <= MAXIMUM_COPIES:
        raise NotApplicable(f"a reduction must have 2 to {MAXIMUM_COPIES} copies, got {copies}")
    prepared = _prepare(function, loop, variable, unsafe_math)
    names = fresh_names(prepared.function)
    line = prepared.loop.line
    before: list[ir.Statement] = []
    turn: list[ir.Statement] = []
    after: list[ir.Statement] = []
    for accumulator in prepared.chosen:
        partials = _partials(accumulator, copies, names)
        before += _begin(accumulator, partials, line)
        turn += _rotation(partials, names, line)
        after += _join(accumulator, partials, names, line)
    rotated = replace(prepared.loop, body=(*prepared.loop.body, *turn))
    return replace_statement(prepared.function, prepared.loop, (*before, rotated, *after))


def _rotation(partials: tuple[ir.Variable, ...], names: FreshNames, line: int) -> Body:
    """Each variable takes the value of the next, the last one that of the first."""
    kept = names.variable(f"{partials[0].name}_turn", partials[0].type)
    sources = (*partials[1:], kept)
    moves = [
        ir.Assign(variable=target, value=ir.Read(variable=source), line=line)
        for target, source in zip(partials, sources, strict=True)
    ]
    return (ir.Assign(variable=kept, value=ir.Read(variable=partials[0]), line=line), *moves)
