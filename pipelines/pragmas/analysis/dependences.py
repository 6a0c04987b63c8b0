"""Exact dataflow by isl, and what it means: dependences, reductions, loops that carry them.

A RAW dependence goes from the last write of an element before a read to that read; a WAW from a write to the
next one; a WAR from a read to the next write. All others follow from these.

A reduction over a loop: each iteration combines the statement's target with new terms by one associative
operator, the value comes from the statement's own last iteration, and nothing else reads it in between.
Registers can be renamed, so scalars have RAW dependences only; the same is true of a local array in a loop
that carries no value in it from one iteration to another.

Source: Feautrier 1991, "Dataflow analysis of array and scalar references"; Verdoolaege 2010, "isl: an
integer set library for the polyhedral model" (`compute_flow`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import islpy

from pipelines.pragmas.analysis.chains import Links, at_level
from pipelines.pragmas.analysis.domains import condition_texts, constraints, form_text, path_levels
from pipelines.pragmas.analysis.nest import Assignment, Nest
from pipelines.pragmas.analysis.operations import Body
from pipelines.pragmas.summary import RAW, WAR, WAW, WRITE, Access, Dependence

_SINK, _SOURCE = islpy.dim_type.out, islpy.dim_type.in_


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A dependence between two accesses at one level.

    Attributes:
        source, target: (statement, index of its access); loop: that carries it, None for none.
        distance: smallest, in iterations of that loop; 0 for none.
        links: between executions of the two statements.
    """

    source: tuple[int, int]
    target: tuple[int, int]
    kind: str
    array: str
    loop: str | None
    distance: int
    links: Links = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayFlow:
    """What is known of one array.

    Attributes:
        flows: its dependences; exposed: elements read before the program writes them; written: elements
            written. Elements of accesses that may not happen are in neither.
    """

    flows: tuple[Flow, ...]
    exposed: islpy.Set | None
    written: islpy.Set | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An access of a statement as isl text.

    Attributes:
        tuple: `name[counters]`; element: subscripts; domain: constraints; order: its position in time.
        happens: all conditions around it are in the domain; sure: and no loop is of unknown trip count.
    """

    key: tuple[int, int]
    access: Access
    tuple: str
    element: str
    domain: str
    order: str
    happens: bool
    sure: bool

    @property
    def relation(self) -> str:
        """The map from iterations to elements."""
        return f"{self.tuple} -> {self.element} : {self.domain}"


def sites_of(nest: Nest, bodies: Sequence[Body]) -> Iterator[Site]:
    """Yield the accesses whose subscripts are all known, in the order of the program."""
    depth = max((len(a.path) for a in nest.assignments), default=0)
    for assignment, body in zip(nest.assignments, bodies, strict=True):
        for number, access in enumerate(body.accesses):
            if all(s.exact for s in access.subscripts):
                yield _site(nest, assignment, number, depth, body)


def _site(nest: Nest, assignment: Assignment, number: int, depth: int, body: Body) -> Site:
    access = body.accesses[number]
    conditions = assignment.conditions
    happens = conditions is not None and number not in body.guarded
    names = {loop: f"x{k}" for k, loop in enumerate(assignment.path)}
    kind = "W" if access.kind == WRITE else "R"
    time = [
        part for place, loop in zip(assignment.place, names.values(), strict=False) for part in (place, loop)
    ]
    time += [assignment.place[-1], *[0] * (2 * (depth - len(names))), int(access.kind == WRITE)]
    return Site(
        key=(assignment.index, number),
        access=access,
        tuple=f"{kind}_{assignment.index}_{number}[{', '.join(names.values())}]",
        element=f"E[{', '.join(form_text(s, names) for s in access.subscripts)}]",
        domain=" and ".join(
            [
                "0 = 0",
                *constraints(path_levels(nest, assignment.path), names),
                *condition_texts(conditions or (), names),
            ]
        ),
        order=f"[{', '.join(str(part) for part in time)}]",
        happens=happens,
        sure=happens and assignment.sure,
    )


def find_flow(nest: Nest, bodies: Sequence[Body]) -> dict[str, ArrayFlow]:
    """Find the dependences and elements of every array and scalar that a statement accesses."""
    sites: dict[str, list[Site]] = {}
    for body in bodies:
        for access in body.accesses:
            sites.setdefault(access.array, [])
    for site in sites_of(nest, bodies):
        sites[site.access.array].append(site)
    paths = {a.index: a.path for a in nest.assignments}
    veiled = _veiled_arrays(bodies)
    return {
        array: _array_flow(array, array_sites, paths, nest.relaxed, array in veiled)
        for array, array_sites in sites.items()
    }


def _veiled_arrays(bodies: Sequence[Body]) -> frozenset[str]:
    """Return the arrays that are written at unknown elements: any value in them may be gone."""
    return frozenset(
        access.array
        for body in bodies
        for access in body.accesses
        if access.kind == WRITE and not all(s.exact for s in access.subscripts)
    )


def _array_flow(
    array: str,
    sites: Sequence[Site],
    paths: Mapping[int, tuple[str, ...]],
    relaxed: bool,
    veiled: bool,
) -> ArrayFlow:
    reads = [s for s in sites if s.access.kind != WRITE]
    writes = [s for s in sites if s.access.kind == WRITE]
    read, written = _union(reads), _union(writes)
    order = islpy.UnionMap(f"{{ {'; '.join(f'{s.tuple} -> {s.order}' for s in sites)} }}")
    flows: list[Flow] = []
    exposed = read
    if writes and reads:
        info = islpy.UnionAccessInfo.from_sink(read).set_must_source(written).set_schedule_map(order)
        flow = info.compute_flow()
        exposed = flow.get_must_no_source()
        flows += _flows(flow.get_must_dependence(), RAW, array, paths)
    if writes:
        info = islpy.UnionAccessInfo.from_sink(written).set_must_source(written)
        flow = info.set_may_source(read).set_schedule_map(order).compute_flow()
        flows += _flows(flow.get_may_dependence(), WAW, array, paths)
    certain = {s.key for s in sites if not veiled and (s.happens or not relaxed)}
    return ArrayFlow(
        flows=tuple(f for f in flows if f.source in certain and f.target in certain),
        exposed=None if veiled else _elements(exposed, {s.tuple.split("[")[0] for s in reads if s.sure}),
        written=_elements(written, {s.tuple.split("[")[0] for s in writes if s.sure}),
    )


def _union(sites: Sequence[Site]) -> islpy.UnionMap:
    return islpy.UnionMap(f"{{ {'; '.join(s.relation for s in sites)} }}")


def _elements(relation: islpy.UnionMap, names: set[str]) -> islpy.Set | None:
    """Return the elements that accesses of these names touch, None for none."""
    elements_of_all: islpy.Set | None = None
    for one in _maps(relation):
        if one.get_tuple_name(_SOURCE) in names and not one.is_empty():
            elements = one.range()
            elements_of_all = elements if elements_of_all is None else elements_of_all.union(elements)
    return elements_of_all


def _maps(relation: islpy.UnionMap) -> list[islpy.Map]:
    maps = relation.get_map_list()
    return [maps.get_at(k) for k in range(maps.n_map())]


def _key(name: str) -> tuple[int, int]:
    _, statement, access = name.split("_")
    return int(statement), int(access)


def _flows(
    relation: islpy.UnionMap, kind: str, array: str, paths: Mapping[int, tuple[str, ...]]
) -> Iterator[Flow]:
    """Yield the dependences of a relation from earlier to later iterations, one per level."""
    for one in _maps(relation):
        first, second = one.get_tuple_name(_SOURCE), one.get_tuple_name(_SINK)
        source, target = _key(first), _key(second)
        around = paths[source[0]], paths[target[0]]
        shared = _shared(*around)
        what = WAR if kind == WAW and first.startswith("R") else kind
        for level, distance in _levels(one, len(shared)):
            yield Flow(
                source=source,
                target=target,
                kind=what,
                array=array,
                loop=None if level is None else shared[level],
                distance=distance,
                links=Links(
                    relation=at_level(one, level, len(shared)),
                    source=around[0],
                    target=around[1],
                    shared=len(shared),
                    level=level,
                    distance=distance,
                ),
            )


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return first[:count]


def _levels(relation: islpy.Map, shared: int) -> Iterator[tuple[int | None, int]]:
    """Yield levels that carry a relation with their smallest distance; None: the same iteration of all."""
    if not shared:
        if not relation.is_empty():
            yield None, 0
        return
    for kind in (_SOURCE, _SINK):
        relation = relation.project_out(kind, shared, relation.dim(kind) - shared).reset_tuple_id(kind)
    rest = relation.deltas()
    for level in range(shared):
        carried = rest.lower_bound_val(islpy.dim_type.set, level, islpy.Val(1))
        if not carried.is_empty():
            yield level, int(carried.dim_min_val(level).to_python())
        rest = rest.fix_val(islpy.dim_type.set, level, islpy.Val(0))
    if not rest.is_empty():
        yield None, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """Names of scalars, and of arrays that are no arguments."""

    scalars: frozenset[str]
    local: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFacts:
    """Facts of a loop as `summary.Loop` has them."""

    parallel: bool
    reduction: bool
    distance: int | None


def counted_flows(flows: Iterable[Flow], variables: Variables) -> list[Flow]:
    """Return flows without those inside one run of a statement, and the WAR and WAW that renaming removes."""
    all_flows = list(flows)
    carried = {(f.array, f.loop) for f in all_flows if f.kind == RAW and f.loop is not None}

    def counts(flow: Flow) -> bool:
        if flow.loop is None and flow.source[0] == flow.target[0]:
            return False
        if flow.kind == RAW:
            return True
        if flow.array in variables.scalars:
            return False
        return flow.array not in variables.local or flow.loop is None or (flow.array, flow.loop) in carried

    return [f for f in all_flows if counts(f)]


def find_reductions(nest: Nest, bodies: Sequence[Body], flows: Sequence[Flow]) -> list[frozenset[str]]:
    """Find the loops over which each statement is a reduction."""
    by_source: dict[int, list[Flow]] = {}
    for flow in flows:
        if flow.kind == RAW or (flow.kind == WAR and flow.source[0] == flow.target[0]):
            by_source.setdefault(flow.source[0], []).append(flow)
    paths = {a.index: a.path for a in nest.assignments}
    return [
        _reduction_loops(assignment.index, body.accumulates, by_source.get(assignment.index, []), paths)
        for assignment, body in zip(nest.assignments, bodies, strict=True)
    ]


def _reduction_loops(
    statement: int, accumulates: int | None, values: Sequence[Flow], paths: Mapping[int, tuple[str, ...]]
) -> frozenset[str]:
    """Return loops that carry the statement's own value to it, and in which nothing else reads that value."""
    if accumulates is None:
        return frozenset()
    update = (statement, accumulates)
    own = {f.loop for f in values if f.target == update and f.loop is not None}
    others = [f for f in values if update not in (f.source, f.target)]
    path = paths[statement]
    return frozenset(
        loop
        for loop in own
        if not any(_happens_inside(o.loop, loop, path, paths[o.target[0]]) for o in others)
    )


def _happens_inside(carrier: str | None, loop: str, source: tuple[str, ...], target: tuple[str, ...]) -> bool:
    """Tell whether a dependence carried by one loop is inside one execution of another around its source."""
    return loop in target if carrier is None else source.index(carrier) >= source.index(loop)


def find_sums(
    nest: Nest, bodies: Sequence[Body], flows: Sequence[Flow], reductions: Sequence[frozenset[str]]
) -> list[frozenset[str]]:
    """Find the loops over which each statement is a reduction of one value in all iterations.

    `y[i + j] += e` is a reduction over i, but each y takes few of its terms. A conditional statement counts
    where it is executed: tools schedule it as if it always ran.
    """
    own: dict[tuple[int, str | None], list[Flow]] = {}
    for flow in flows:
        if flow.kind == RAW and _is_reduction(flow, bodies, reductions):
            own.setdefault((flow.source[0], flow.loop), []).append(flow)
    return [_summed(nest, a, own) for a in nest.assignments]


def _summed(
    nest: Nest, assignment: Assignment, own: Mapping[tuple[int, str | None], Sequence[Flow]]
) -> frozenset[str]:
    summed = frozenset[str]()
    for loop in reversed(assignment.path):
        flows = own.get((assignment.index, loop), ())
        conditions = assignment.conditions or ()
        if any(f.distance == 1 and f.links.repeats(nest, summed, conditions) for f in flows):
            summed |= {loop}
    return summed


def _repeats(flow: Flow, nest: Nest, summed: frozenset[str]) -> bool:
    """Tell whether a flow repeats through its loop, where both statements surely run."""
    sure = all(nest.assignments[s].sure for s, _ in (flow.source, flow.target))
    return flow.kind == RAW and sure and flow.links.repeats(nest, summed)


_Key = tuple[int, int, str, str, str | None, bool]


def to_dependences(
    nest: Nest,
    bodies: Sequence[Body],
    flows: Sequence[Flow],
    reductions: Sequence[frozenset[str]],
    sums: Sequence[frozenset[str]],
) -> tuple[Dependence, ...]:
    """Return one dependence per pair of statements, kind, array, level, and being a reduction's or not."""
    joined: dict[_Key, list[Flow]] = {}
    for flow in flows:
        reduction = _is_reduction(flow, bodies, reductions)
        key = (flow.source[0], flow.target[0], flow.kind, flow.array, flow.loop, reduction)
        joined.setdefault(key, []).append(flow)
    return tuple(_dependence(nest, key, joined[key], sums[key[1]]) for key in sorted(joined, key=_order))


def _dependence(nest: Nest, key: _Key, flows: Sequence[Flow], summed: frozenset[str]) -> Dependence:
    source, target, kind, array, loop, reduction = key
    return Dependence(
        source=source,
        target=target,
        kind=kind,
        array=array,
        loop=loop,
        distance=min(f.distance for f in flows),
        chain=min((f.distance for f in flows if _repeats(f, nest, summed)), default=None),
        reduction=reduction,
    )


def _order(key: _Key) -> tuple[object, ...]:
    source, target, kind, array, loop, reduction = key
    return source, target, kind, array, loop or "", reduction


def _is_reduction(flow: Flow, bodies: Sequence[Body], reductions: Sequence[frozenset[str]]) -> bool:
    """Tell whether a flow is between a reduction's own update and itself."""
    source, target = flow.source[0], flow.target[0]
    if source != target or flow.loop not in reductions[source]:
        return False
    body = bodies[source]
    updates = {body.accumulates, len(body.accesses) - 1}
    return flow.source[1] in updates and flow.target[1] in updates


# ---- loops ----------------------------------------------------------------------------------------------


def loop_facts(nest: Nest, dependences: Sequence[Dependence]) -> dict[str, LoopFacts]:
    """Return the facts of each loop that follow from the dependences."""
    return {name: _facts(name, nest, dependences) for name in nest.levels}


def _facts(loop: str, nest: Nest, dependences: Sequence[Dependence]) -> LoopFacts:
    carried = [d for d in dependences if d.loop == loop]
    return LoopFacts(
        parallel=not carried,
        reduction=bool(carried)
        and all(d.reduction for d in carried)
        and not any(_meets_another(d, loop, nest, dependences) for d in carried),
        distance=_smallest_cycle(loop, nest, dependences),
    )


def _meets_another(own: Dependence, loop: str, nest: Nest, dependences: Sequence[Dependence]) -> bool:
    """Tell whether another statement uses a reduction's value while the reduction's loop runs."""
    paths = [a.path for a in nest.assignments]
    return any(
        one.source != one.target
        and one.array == own.array
        and own.source in (one.source, one.target)
        and loop in paths[one.source]
        and _happens_inside(one.loop, loop, paths[one.source], paths[one.target])
        for one in dependences
    )


def _smallest_cycle(loop: str, nest: Nest, dependences: Sequence[Dependence]) -> int | None:
    """Return the fewest iterations of a loop after which a value comes back to the statement it came from, in
    all of its iterations.
    """
    inside = {a.index for a in nest.assignments if loop in a.path}
    edges: dict[int, list[tuple[int, int]]] = {}
    carried: list[tuple[int, int, int]] = []
    for one in dependences:
        if one.chain is None or one.source not in inside or one.target not in inside:
            continue
        if one.loop not in (None, loop) or (one.loop == loop and one.reduction):
            continue
        edges.setdefault(one.source, []).append((one.target, one.chain))
        if one.loop == loop:
            carried.append((one.source, one.target, one.chain))
    cycles = [
        chain + back
        for source, target, chain in carried
        if (back := _shortest(edges, target, source)) is not None
    ]
    return min(cycles, default=None)


def _shortest(edges: Mapping[int, Sequence[tuple[int, int]]], start: int, end: int) -> int | None:
    """Return least sum of weights on a path between two nodes, 0 for one node, None when there is none."""
    waiting, done = [(0, start)], set[int]()
    while waiting:
        length, node = heappop(waiting)
        if node == end:
            return length
        if node in done:
            continue
        done.add(node)
        for following, weight in edges.get(node, ()):
            heappush(waiting, (length + weight, following))
    return None
