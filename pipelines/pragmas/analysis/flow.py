"""Which access takes its value from which, and which must stay in order: exact dataflow by isl.

A RAW dependence goes from the last write of an element before a read to that read; a WAW from a write to the
next one; a WAR from a read to the next write. All others follow from these.

Source: Feautrier 1991, "Dataflow analysis of array and scalar references"; Verdoolaege 2010, "isl: an
integer set library for the polyhedral model" (`compute_flow`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy

from pipelines.pragmas.analysis.domains import condition_texts, constraints, form_text, path_levels
from pipelines.pragmas.analysis.nest import Assignment, Nest
from pipelines.pragmas.analysis.operations import Body
from pipelines.pragmas.summary import RAW, WAR, WAW, WRITE, Access

_SINK, _SOURCE = islpy.dim_type.out, islpy.dim_type.in_


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A dependence between two accesses at one level.

    Attributes:
        source, target: (statement, index of its access); loop: that carries it, None for none.
        distance: smallest, in iterations of that loop; 0 for none.
    """

    source: tuple[int, int]
    target: tuple[int, int]
    kind: str
    array: str
    loop: str | None
    distance: int


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
    """Accesses whose subscripts are all known, in the order of the program."""
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
    """Dependences and elements of every array and scalar that a statement accesses."""
    sites: dict[str, list[Site]] = {}
    for body in bodies:
        for access in body.accesses:
            sites.setdefault(access.array, [])
    for site in sites_of(nest, bodies):
        sites[site.access.array].append(site)
    paths = {a.index: a.path for a in nest.assignments}
    veiled = _veiled_arrays(bodies)
    return {
        array: _array_flow(array, found, paths, nest.relaxed, array in veiled)
        for array, found in sites.items()
    }


def _veiled_arrays(bodies: Sequence[Body]) -> frozenset[str]:
    """Arrays that are written at unknown elements: any value in them may be gone."""
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
    """Elements that accesses of these names touch, None for none."""
    found: islpy.Set | None = None
    for one in _maps(relation):
        if one.get_tuple_name(_SOURCE) in names and not one.is_empty():
            elements = one.range()
            found = elements if found is None else found.union(elements)
    return found


def _maps(relation: islpy.UnionMap) -> list[islpy.Map]:
    found = relation.get_map_list()
    return [found.get_at(k) for k in range(found.n_map())]


def _key(name: str) -> tuple[int, int]:
    _, statement, access = name.split("_")
    return int(statement), int(access)


def _flows(
    relation: islpy.UnionMap, kind: str, array: str, paths: Mapping[int, tuple[str, ...]]
) -> Iterator[Flow]:
    """The dependences of a relation from earlier to later iterations, one a level."""
    for one in _maps(relation):
        first, second = one.get_tuple_name(_SOURCE), one.get_tuple_name(_SINK)
        source, target = _key(first), _key(second)
        shared = _shared(paths[source[0]], paths[target[0]])
        what = WAR if kind == WAW and first.startswith("R") else kind
        for level, distance in _levels(one, len(shared)):
            yield Flow(
                source=source,
                target=target,
                kind=what,
                array=array,
                loop=None if level is None else shared[level],
                distance=distance,
            )


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Loops around both."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return first[:count]


def _levels(relation: islpy.Map, shared: int) -> Iterator[tuple[int | None, int]]:
    """Levels that carry a relation with their smallest distance; level None: the same iteration of all."""
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
