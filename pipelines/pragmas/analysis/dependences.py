"""What dependences mean: reductions, and which loops they make wait.

A reduction over a loop: each iteration combines the statement's target with new terms by one associative
operator, the value comes from the statement's own last iteration, and nothing else reads it on the way.
Registers can be renamed, so scalars have RAW dependences only; the same is true of a local array in a loop
that carries no value in it from one iteration to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from pipelines.pragmas.analysis.flow import Flow
from pipelines.pragmas.analysis.nest import Nest
from pipelines.pragmas.analysis.operations import Body
from pipelines.pragmas.summary import RAW, WAR, Dependence


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
    """Flows without those inside one run of a statement, and the WAR and WAW that renaming removes."""
    found = list(flows)
    carried = {(f.array, f.loop) for f in found if f.kind == RAW and f.loop is not None}

    def counts(flow: Flow) -> bool:
        if flow.loop is None and flow.source[0] == flow.target[0]:
            return False
        if flow.kind == RAW:
            return True
        if flow.array in variables.scalars:
            return False
        return flow.array not in variables.local or flow.loop is None or (flow.array, flow.loop) in carried

    return [f for f in found if counts(f)]


def find_reductions(nest: Nest, bodies: Sequence[Body], flows: Sequence[Flow]) -> list[frozenset[str]]:
    """The loops over which each statement is a reduction."""
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
    """Loops that carry the statement's own value to it, and in which nothing else reads that value."""
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
    """Whether a dependence that a loop carries is inside one execution of another one around its source."""
    return loop in target if carrier is None else source.index(carrier) >= source.index(loop)


def to_dependences(
    flows: Sequence[Flow], bodies: Sequence[Body], reductions: Sequence[frozenset[str]]
) -> tuple[Dependence, ...]:
    """One dependence for each pair of statements, kind, array, level and being a reduction's or not."""
    smallest: dict[tuple[int, int, str, str, str | None, bool], int] = {}
    for flow in flows:
        reduction = _is_reduction(flow, bodies, reductions)
        key = (flow.source[0], flow.target[0], flow.kind, flow.array, flow.loop, reduction)
        smallest[key] = min(flow.distance, smallest.get(key, flow.distance))
    return tuple(
        Dependence(source=s, target=t, kind=k, array=a, loop=loop, distance=distance, reduction=reduction)
        for (s, t, k, a, loop, reduction), distance in sorted(smallest.items(), key=_order)
    )


def _order(item: tuple[tuple[int, int, str, str, str | None, bool], int]) -> tuple[object, ...]:
    source, target, kind, array, loop, reduction = item[0]
    return source, target, kind, array, loop or "", reduction


def _is_reduction(flow: Flow, bodies: Sequence[Body], reductions: Sequence[frozenset[str]]) -> bool:
    """Whether a flow is between a reduction's own update and itself."""
    source, target = flow.source[0], flow.target[0]
    if source != target or flow.loop not in reductions[source]:
        return False
    body = bodies[source]
    updates = {body.accumulates, len(body.accesses) - 1}
    return flow.source[1] in updates and flow.target[1] in updates


# ---- loops ----------------------------------------------------------------------------------------------


def loop_facts(nest: Nest, dependences: Sequence[Dependence]) -> dict[str, LoopFacts]:
    """What the dependences of a program mean for each of its loops."""
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
    """Whether another statement uses what a reduction accumulates while the reduction's loop runs."""
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
    """Fewest iterations of a loop after which a value comes back to the statement it came from."""
    inside = {a.index for a in nest.assignments if loop in a.path}
    inner = {name for name, level in nest.levels.items() if loop in level.path}
    edges: dict[int, list[tuple[int, int]]] = {}
    carried: list[Dependence] = []
    for one in dependences:
        if one.kind != RAW or one.source not in inside or one.target not in inside:
            continue
        if (one.loop is not None and one.loop not in inner) or (one.loop == loop and one.reduction):
            continue
        edges.setdefault(one.source, []).append((one.target, one.distance if one.loop == loop else 0))
        if one.loop == loop:
            carried.append(one)
    cycles = [
        one.distance + back
        for one in carried
        if (back := _shortest(edges, one.target, one.source)) is not None
    ]
    return min(cycles, default=None)


def _shortest(edges: Mapping[int, Sequence[tuple[int, int]]], start: int, end: int) -> int | None:
    """Least sum of weights on a way from one node to another, 0 for the same one, None when there is none."""
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
