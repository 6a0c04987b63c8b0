"""The recurrence that bounds the initiation interval of a loop from below.

Source: Rau 1994, "Iterative modulo scheduling" (RecMII as the largest ratio of latency to distance over all
cycles). Found by raising the interval to the ratio of any cycle that breaks it until none
does, so that the last one is critical.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.hls.difference import ConstraintGraph
from pipelines.hls.schedule import BlockGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """RecMII and where it comes from.

    Attributes:
        interval: smallest interval at which the dependences alone can be met; None when there is none.
        cycle: nodes of the critical cycle in order, empty when the bound is 1 without one.
    """

    interval: int | None
    cycle: tuple[int, ...] = ()


def recurrence_bound(constraints: ConstraintGraph) -> Recurrence:
    """RecMII of a block and the cycle of constraints that sets it."""
    interval, cycle = 1, ()
    while True:
        found = _positive_cycle(constraints, interval)
        if not found:
            return Recurrence(interval=interval, cycle=tuple(cycle))
        latency, distance = _totals(constraints, found, interval)
        if distance == 0:
            return Recurrence(interval=None, cycle=tuple(found))
        interval, cycle = -(-latency // distance), found


def _totals(constraints: ConstraintGraph, cycle: Sequence[int], interval: int) -> tuple[int, int]:
    """Latency and distance around a cycle, by the tightest constraint of each step."""
    latency = distance = 0
    for source, target in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        if source == constraints.count:
            continue  # from the start of the iteration to any operation: 0 cycles
        steps = [(cycles, d) for t, cycles, d in constraints.outgoing[source] if t == target]
        best = max(steps, key=lambda step: step[0] - step[1] * interval)
        latency, distance = latency + best[0], distance + best[1]
    return latency, distance


def _positive_cycle(constraints: ConstraintGraph, interval: int) -> list[int]:
    """Nodes of a cycle whose latencies exceed its distances times the interval; empty when there is none.

    Longest paths are relaxed in order of the nodes, which most constraints follow; a cycle of parents is a
    cycle of constraints that keeps growing.
    """
    count = constraints.count
    times, parents = [0] * (count + 1), [-1] * (count + 1)
    dirty = set(range(count + 1))
    while dirty:
        changed: set[int] = set()
        for node in sorted(dirty):
            for target, latency, distance in constraints.outgoing[node]:
                wanted = times[node] + latency - distance * interval
                if wanted > times[target]:
                    times[target], parents[target] = wanted, node
                    changed.add(target)
        if times[count] > 0:
            return _path_to_start(parents, count)
        cycle = _cycle_of_parents(parents, changed)
        if cycle:
            return cycle
        dirty = changed
    return []


def _path_to_start(parents: Sequence[int], count: int) -> list[int]:
    """The path that moves the start of the iteration: with it, a cycle."""
    path, node = [count], parents[count]
    while node != -1 and node not in path:
        path.append(node)
        node = parents[node]
    if node != -1:  # a cycle of its own feeds the path
        path = path[path.index(node) :]
    return path[::-1]


def _cycle_of_parents(parents: Sequence[int], changed: set[int]) -> list[int]:
    state: dict[int, int] = {}
    for root in sorted(changed):
        node, trail = root, list[int]()
        while node != -1 and node not in state:
            state[node] = root
            trail.append(node)
            node = parents[node]
        if node != -1 and state[node] == root and node in trail:
            return trail[trail.index(node) :][::-1]
    return []


def describe_recurrence(graph: BlockGraph, recurrence: Recurrence) -> str:
    """What the critical cycle runs through: variables, arrays and lines; empty when nothing does."""
    operations = [graph.operations[i] for i in recurrence.cycle if i < len(graph.operations)]
    if not operations:
        return ""
    parts: list[str] = []
    variables = sorted({o.name for o in operations if o.opcode in ("read", "write")})
    arrays = sorted({o.name for o in operations if o.opcode in ("load", "store")})
    if variables:
        parts.append("variable " + ", ".join(variables))
    if arrays:
        parts.append("array " + ", ".join(arrays))
    if len(graph.operations) in recurrence.cycle:
        parts.append("the loop's condition")
    lines = sorted({o.line for o in operations if o.opcode not in ("const", "read", "write")})
    lines = lines or sorted({o.line for o in operations})
    return f"{' and '.join(parts) or 'values'}, line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
