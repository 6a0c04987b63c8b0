"""From C text to a `Summary`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from pipelines.hls import HlsError, default_top, ir, read_function, tidy
from pipelines.pragmas.analysis.accumulation import join_accumulations
from pipelines.pragmas.analysis.dependences import (
    LoopFacts,
    Variables,
    counted_flows,
    find_flow,
    find_reductions,
    loop_facts,
    to_dependences,
)
from pipelines.pragmas.analysis.domains import TripCounts, count_trips
from pipelines.pragmas.analysis.elements import array_facts, find_footprints
from pipelines.pragmas.analysis.nest import Level, Nest, outside, read_nest
from pipelines.pragmas.analysis.operations import Body, over_iterators, read_body
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import Loop, Operation, Statement, Summary

_MACRO = re.compile(r"[A-Za-z_]\w*")


def summarise(
    source: str,
    top: str | None = None,
    *,
    file: str = "<source>",
    relaxed: bool = False,
    defines: Mapping[str, str | int] | None = None,
) -> Summary:
    """Find the facts of a C program that bounds and searches ask for.

    Args:
        source: C text, local headers inside (`pipelines.hls.bundle_source`); top: function, by default the
            one that `pipelines.hls.default_top` finds; file: name for messages.
        relaxed: what is outside of the affine class is replaced by the most optimistic fact, so that a lower
            bound stays one: no dependence through unknown subscripts or conditional statements, no
            iterations of a loop of unknown trip count, no elements of accesses that may not happen.
        defines: macros that are set before the text.
    Returns: the summary; loops that run once are no loops of it.
    Raises:  PragmaError: the text is not C that `pipelines.hls` reads, or outside of the affine class.
    """
    text = _with_defines(source, defines or {})
    try:
        name = top if top is not None else default_top(text, PurePath(file).stem, file=file)
        return summarise_function(read_function(text, top=name, file=file), file=file, relaxed=relaxed)
    except HlsError as error:
        raise PragmaError(str(error)) from error


def _with_defines(source: str, defines: Mapping[str, str | int]) -> str:
    """The text after its macros; a line marker keeps lines of messages right."""
    for name in defines:
        if not _MACRO.fullmatch(name):
            raise PragmaError(f"invalid macro name: {name!r}; accepted: a C identifier")
    if not defines:
        return source
    lines = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    return f'{lines}#line 1 "<stdin>"\n{source}'


def summarise_function(function: ir.Function, *, file: str = "<source>", relaxed: bool = False) -> Summary:
    """`summarise` for a function that the front end has read."""
    _refuse_empty_loops(function, file, relaxed)
    plain = join_accumulations(tidy(function))
    nest = read_nest(plain, file=file, relaxed=relaxed)
    written = frozenset(a.node.variable.name for a in nest.assignments if isinstance(a.node, ir.Assign))
    bodies = [read_body(assignment, nest, written) for assignment in nest.assignments]
    trips = count_trips(nest)
    _refuse_idle_loops(nest, trips)
    return _assembled(plain, nest, bodies, trips)


def _refuse_empty_loops(function: ir.Function, file: str, relaxed: bool) -> None:
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.For) and statement.trip_count == 0 and not relaxed:
            raise _idle(statement.name, file, statement.line)


def _refuse_idle_loops(nest: Nest, trips: Mapping[str, TripCounts]) -> None:
    for name, level in nest.levels.items():
        if level.spans and trips[name].most == 0 and not nest.relaxed:
            raise _idle(name, nest.file, level.line)


def _idle(name: str, file: str, line: int) -> PragmaError:
    return outside(f"loop {name} has no iteration", file, line)


def _assembled(
    function: ir.Function, nest: Nest, bodies: Sequence[Body], trips: Mapping[str, TripCounts]
) -> Summary:
    by_array = find_flow(nest, bodies)
    arrays = array_facts(function, by_array)
    variables = Variables(
        scalars=frozenset(name for name, facts in arrays.items() if not facts.shape),
        local=frozenset(name for name, facts in arrays.items() if not facts.external),
    )
    flows = [f for flow in by_array.values() for f in flow.flows]
    reductions = find_reductions(nest, bodies, flows)
    dependences = to_dependences(counted_flows(flows, variables), bodies, reductions)
    facts = loop_facts(nest, dependences)
    return Summary(
        top=function.name,
        loops={name: _loop(nest, name, trips[name], facts[name]) for name in nest.levels},
        statements=_statements(nest, bodies, reductions),
        body=nest.children[""],
        arrays=arrays,
        dependences=dependences,
        footprints=find_footprints(nest, bodies),
        relaxed=nest.relaxed,
    )


def _loop(nest: Nest, name: str, trips: TripCounts, facts: LoopFacts) -> Loop:
    level = nest.levels[name]
    return Loop(
        name=name,
        iterator=level.iterator,
        line=level.line,
        parent=level.parent,
        children=nest.children[name],
        trip_count_min=trips.least,
        trip_count_max=trips.most,
        trip_count_average=trips.average,
        executions=trips.executions,
        parallel=facts.parallel,
        reduction=facts.reduction,
        distance=facts.distance,
        bounded_by=_bounded_by(level),
        fixed_start=level.start.exact and not level.start.terms,
        groups_average=trips.groups,
    )


def _bounded_by(level: Level) -> frozenset[str]:
    """Loops whose counters a loop's bounds mention; all around it where its bounds are not known."""
    forms = (level.start, *level.spans)
    if not level.spans or not all(form.exact for form in forms):
        return frozenset(level.path[:-1])
    return frozenset(loop for form in forms for loop, _ in form.terms)


def _statements(
    nest: Nest, bodies: Sequence[Body], reductions: Sequence[frozenset[str]]
) -> tuple[Statement, ...]:
    return tuple(
        Statement(
            index=one.index,
            line=one.node.line,
            loops=one.path,
            operations=_marked(body, loops),
            accesses=tuple(over_iterators(a, nest) for a in body.accesses),
            reduction_loops=loops,
            always=one.always,
        )
        for one, body, loops in zip(nest.assignments, bodies, reductions, strict=True)
    )


def _marked(body: Body, reduction_loops: frozenset[str]) -> tuple[Operation, ...]:
    """The operations; those of an accumulation that is no reduction are like any other."""
    if reduction_loops:
        return body.operations
    return tuple(replace(operation, reduction=False) for operation in body.operations)
