"""Elements of arrays that a program or an iteration of a loop touches.

The footprint of a loop is of an iteration that touches most. It is looked for among iterations in which each
counter around is at its first, middle or last value, as far as the number depends on it: on counters that
bounds inside the loop mention, and on those by which accesses of the array move apart. So it is never above
the true maximum. Accesses that may not happen, or whose subscripts are unknown, are left out; what cannot
be counted counts as one element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import islpy

from pipelines.hls import ir
from pipelines.pragmas.analysis.dependences import ArrayFlow, Site, sites_of
from pipelines.pragmas.analysis.domains import (
    condition_texts,
    constraints,
    count_points,
    form_text,
    path_levels,
)
from pipelines.pragmas.analysis.nest import RETURNED, Nest
from pipelines.pragmas.analysis.operations import Body, type_name
from pipelines.pragmas.summary import ROOT, ArrayFacts


def array_facts(function: ir.Function, flows: Mapping[str, ArrayFlow]) -> dict[str, ArrayFacts]:
    """Facts of every array and scalar that a statement accesses, in order of declaration."""
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
    """Points of a set; 1 when they cannot be counted."""
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
    """Elements of each array touched in one iteration of each loop, and in the program."""
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
    """Counters around on which the number of elements depends."""
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
    """Iterations of the loops around: first, middle and last ones where it matters, else the first."""

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
    """First and last value of the next counter for which the loops inside run, None for none."""
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
    """Elements an access touches in one iteration of the loops around."""
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
