"""From C text to a `Summary`, and the elements of arrays that a program or an iteration of a loop touches.

The footprint of a loop is of an iteration that touches most. It is looked for among iterations in which each
counter around is at its first, middle or last value, as far as the number depends on it: on counters that
bounds inside the loop mention, and on those by which accesses of the array move apart. So it is never above
the true maximum. Accesses that may not happen, or whose subscripts are unknown, are left out; what cannot
be counted counts as one element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePath

import islpy

from pipelines.c import HlsError, default_top, ir, read_function, tidy
from pipelines.pragmas.analysis.accumulation import join_accumulations
from pipelines.pragmas.analysis.dependences import (
    ArrayFlow,
    LoopFacts,
    Site,
    Variables,
    counted_flows,
    find_flow,
    find_reductions,
    find_sums,
    loop_facts,
    sites_of,
    to_dependences,
)
from pipelines.pragmas.analysis.domains import (
    TripCounts,
    condition_texts,
    constraints,
    count_points,
    count_trips,
    form_text,
    path_levels,
)
from pipelines.pragmas.analysis.nest import RETURNED, Level, Nest, outside, read_nest
from pipelines.pragmas.analysis.operations import Body, over_iterators, read_body, type_name
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import ROOT, ArrayFacts, Loop, Operation, Statement, Summary


def array_facts(function: ir.Function, flows: Mapping[str, ArrayFlow]) -> dict[str, ArrayFacts]:
    """Return the facts of every array and scalar that a statement accesses, in order of declaration."""
    outside = {p.name for p in function.parameters} | {RETURNED}
    scalars = {v.name: v for v in _variables(function)}
    arrays = {a.name: a for a in function.arrays}
    facts: dict[str, ArrayFacts] = {}
    for name in sorted(flows, key=list(chain(arrays, scalars)).index):
        flow = flows[name]
        exposed, written = _counted(flow.exposed), _counted(flow.written)
        external = arrays[name].external if name in arrays else name in outside
        kind = arrays[name].type if name in arrays else scalars[name].type
        seen = external and (name in arrays or name == RETURNED)
        facts[name] = ArrayFacts(
            name=name,
            type=type_name(kind),
            element_bits=kind.width_bits,
            shape=arrays[name].shape if name in arrays else (),
            external=external,
            live_in=exposed > 0,
            live_out=seen and written > 0,
            elements_in=exposed if external else 0,
            elements_out=written,
        )
    return facts


def _counted(points: islpy.Set | None) -> int:
    """Return the points of a set; 1 when they cannot be counted."""
    count = count_points(points)
    return 1 if count is None else count


def _variables(function: ir.Function) -> Iterator[ir.Variable]:
    for parameter in function.parameters:
        if isinstance(parameter, ir.Variable):
            yield parameter
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.Assign):
            yield statement.variable
        if isinstance(statement, ir.Return) and statement.value is not None:
            yield ir.Variable(name=RETURNED, type=ir.type_of(statement.value))
    for expression in ir.all_expressions(function.body):
        if isinstance(expression, ir.Read):
            yield expression.variable


# ---- footprints -----------------------------------------------------------------------------------------


def find_footprints(nest: Nest, bodies: Sequence[Body]) -> dict[tuple[str, str], int]:
    """Find the elements of each array touched in one iteration of each loop, and in the program."""
    touched: dict[tuple[str, str], list[Site]] = {}
    for site in sites_of(nest, bodies):
        if site.sure:
            for place in (ROOT, *nest.assignments[site.key[0]].path):
                touched.setdefault((place, site.access.array), []).append(site)
    return {(place, array): _footprint(nest, place, sites) for (place, array), sites in touched.items()}


def _footprint(nest: Nest, place: str, sites: Sequence[Site]) -> int:
    if not sites[0].access.subscripts:
        return 1
    outer = nest.levels[place].path if place else ()
    distinct = {
        (nest.assignments[s.key[0]].path, nest.assignments[s.key[0]].conditions, s.access.subscripts): s
        for s in sites
    }
    reads = list(distinct.values())
    most = 0
    for values in _candidates(nest, outer, _deciding(nest, outer, reads)):
        points: islpy.Set | None = None
        for site in reads:
            touched = _touched(nest, site, values)
            points = touched if points is None else points.union(touched)
        most = max(most, _counted(points))
    return most


def _deciding(nest: Nest, outer: tuple[str, ...], sites: Sequence[Site]) -> set[str]:
    """Return the counters around on which the number of elements depends."""
    counters: set[str] = set()
    for site in sites:
        for level in path_levels(nest, nest.assignments[site.key[0]].path[len(outer) :]):
            counters |= {loop for span in level.spans for loop, _ in span.terms}
        for condition in nest.assignments[site.key[0]].conditions or ():
            counters |= {loop for loop, _ in condition.form.terms}
    for loop in outer:
        moves = {tuple(dict(s.terms).get(loop, 0) for s in site.access.subscripts) for site in sites}
        if len(moves) > 1:
            counters.add(loop)
    return counters & set(outer)


def _candidates(nest: Nest, outer: tuple[str, ...], deciding: set[str]) -> Iterator[dict[str, int]]:
    """Yield iterations of the loops around: first, middle and last ones where it matters, else the first."""

    def extend(values: dict[str, int], left: tuple[str, ...]) -> Iterator[dict[str, int]]:
        if not left:
            yield values
            return
        trips = _trips(nest, outer, values, left)
        if trips is None:
            return
        low, high = trips
        for value in sorted({low, (low + high) // 2, high} if left[0] in deciding else {low}):
            yield from extend({**values, left[0]: value}, left[1:])

    return extend({}, outer)


def _trips(
    nest: Nest, outer: tuple[str, ...], values: Mapping[str, int], left: tuple[str, ...]
) -> tuple[int, int] | None:
    """Return the first and last value of the next counter for which the loops inside run, None for none."""
    names = {loop: f"x{k}" for k, loop in enumerate(outer)}
    fixed = [f"{names[loop]} = {value}" for loop, value in values.items()]
    domain = " and ".join([*constraints(path_levels(nest, outer), names), *fixed])
    hidden = [names[loop] for loop in outer if loop != left[0]]
    body = f"exists ({', '.join(hidden)} : {domain})" if hidden else domain
    values_of_next = islpy.Set(f"{{ [{names[left[0]]}] : {body} }}")
    if values_of_next.is_empty():
        return None
    return int(values_of_next.dim_min_val(0).to_python()), int(values_of_next.dim_max_val(0).to_python())


def _touched(nest: Nest, site: Site, values: Mapping[str, int]) -> islpy.Set:
    """Return the elements an access touches in one iteration of the loops around."""
    path = nest.assignments[site.key[0]].path
    names = {loop: f"({values[loop]})" if loop in values else f"x{k}" for k, loop in enumerate(path)}
    inner = path_levels(nest, [loop for loop in path if loop not in values])
    hidden = [names[level.name] for level in inner]
    element = [f"e{k} = {form_text(s, names)}" for k, s in enumerate(site.access.subscripts)]
    conditions = condition_texts(nest.assignments[site.key[0]].conditions or (), names)
    body = " and ".join([*element, *constraints(inner, names), *conditions])
    tuple_text = ", ".join(f"e{k}" for k in range(len(element)))
    inside = f"exists ({', '.join(hidden)} : {body})" if hidden else body
    return islpy.Set(f"{{ [{tuple_text}] : {inside} }}")


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
    """Return the text after its macros; a line marker keeps lines of messages right."""
    for name in defines:
        if not _MACRO.fullmatch(name):
            raise PragmaError(f"invalid macro name: {name!r}; accepted: a C identifier")
    if not defines:
        return source
    lines = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    return f'{lines}#line 1 "<stdin>"\n{source}'


def summarise_function(function: ir.Function, *, file: str = "<source>", relaxed: bool = False) -> Summary:
    """Return `summarise` for a function that the front end has read."""
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
    sums = find_sums(nest, bodies, flows, reductions)
    dependences = to_dependences(nest, bodies, counted_flows(flows, variables), reductions, sums)
    facts = loop_facts(nest, dependences)
    return Summary(
        top=function.name,
        loops={name: _loop(nest, name, trips[name], facts[name]) for name in nest.levels},
        statements=_statements(nest, bodies, reductions, sums),
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
    """Return loops whose counters a loop's bounds mention; all around it where its bounds are not known."""
    forms = (level.start, *level.spans)
    if not level.spans or not all(form.exact for form in forms):
        return frozenset(level.path[:-1])
    return frozenset(loop for form in forms for loop, _ in form.terms)


def _statements(
    nest: Nest,
    bodies: Sequence[Body],
    reductions: Sequence[frozenset[str]],
    sums: Sequence[frozenset[str]],
) -> tuple[Statement, ...]:
    return tuple(
        Statement(
            index=one.index,
            line=one.node.line,
            loops=one.path,
            operations=_marked(body, loops),
            accesses=tuple(over_iterators(a, nest) for a in body.accesses),
            reduction_loops=loops,
            sum_loops=summed,
            always=one.always,
        )
        for one, body, loops, summed in zip(nest.assignments, bodies, reductions, sums, strict=True)
    )


def _marked(body: Body, reduction_loops: frozenset[str]) -> tuple[Operation, ...]:
    """Return the operations; an accumulation that is no reduction is unmarked."""
    if reduction_loops:
        return body.operations
    return tuple(replace(operation, reduction=False) for operation in body.operations)
