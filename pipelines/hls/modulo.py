"""Modulo scheduling of a loop block with the smallest initiation interval that the searches find.

For an interval II every operation gets a start cycle s >= 0 with s_j + d II >= s_i + l for every dependence
(latency l, distance d), each residue modulo II has at most as many operations per resource as there are
instances, and no combinational path is longer than the clock allows. Small blocks are searched exactly, then
by integer programming, each within a counted budget; a heuristic schedules the rest and large blocks.
Operations that share no port or unit then move so that values wait less in registers.

Source: Rau 1994, "Iterative modulo scheduling", section 2 (bounds ResMII and RecMII). Cong and Zhang 2006,
         "An efficient and versatile scheduling algorithm based on SDC formulation" (the constraint matrix of
         differences is totally unimodular, so a vertex of the linear program is integral).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pipelines.hls.difference import (
    ConstraintGraph,
    Recurrence,
    constraint_graph,
    describe_recurrence,
    recurrence_bound,
)
from pipelines.hls.operators import TimingModel, sharing_key
from pipelines.hls.residues import ResidueSearch, Verdict, contended, iterative_schedule, solve_program
from pipelines.hls.schedule import BlockGraph, BlockSchedule, Resource, block_length, forward, forwardable

PROGRAM_OPERATIONS = 250
"""Largest block whose lifetimes are a linear program (some tens of milliseconds)."""

START_WEIGHT = 0.05
"""Cost of starting a cycle later, relative to one value that waits a cycle longer."""

SLACK_CYCLES = 64
"""Cycles by which an operation may start later than in the original schedule."""


def shorten_lifetimes(
    graph: BlockGraph, constraints: ConstraintGraph, interval: int, starts: Sequence[int]
) -> tuple[int, ...]:
    """Move operations that share no resource so that values wait less in registers.

    Args:    starts: a valid schedule, (count + 1,) with the start of the iteration last.
    Returns: (count,) a valid schedule.
    """
    if constraints.count > PROGRAM_OPERATIONS:
        return _sink(graph, constraints, interval, starts)
    shortened = _solve(graph, constraints, interval, starts)
    return shortened if shortened is not None else tuple(starts[: constraints.count])


def keeps(constraints: ConstraintGraph, starts: Sequence[int], interval: int) -> bool:
    """Tell whether (count + 1,) starts satisfy every constraint."""
    return min(starts) >= 0 and all(
        starts[c.target] - starts[c.source] >= c.latency - c.distance * interval
        for c in constraints.constraints
    )


def _solve(
    graph: BlockGraph, constraints: ConstraintGraph, interval: int, starts: Sequence[int]
) -> tuple[int, ...] | None:
    """Return the schedule of least total waiting, None when the solver fails.

    Columns: starts, the iteration's start (always 0), then the last use of each value.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # lazy import: takes 0.5 s
    from scipy.sparse import coo_matrix

    count = constraints.count
    rows = [
        (c.target, c.source, float(c.latency - c.distance * interval))
        for c in constraints.constraints
        if c.source != c.target
    ]
    uses = sorted({(i, o.index) for o in graph.operations for i in o.inputs if o.index in graph.live})
    rows += [(count + 1 + value, user, 0.0) for value, user in uses]
    columns = np.array([(plus, minus) for plus, minus, _ in rows], dtype=np.int64).reshape(-1, 2)
    matrix = coo_matrix(
        (np.tile([1.0, -1.0], len(rows)), (np.repeat(np.arange(len(rows)), 2), columns.ravel())),
        shape=(len(rows), 2 * count + 1),
    ).tocsr()
    low, high = _bounds(graph, starts)
    result = milp(
        _cost(graph, {value for value, _ in uses}),
        constraints=LinearConstraint(matrix, [least for _, _, least in rows], np.inf),
        bounds=Bounds(low, high),
    )
    if result.x is None:
        return None
    solution = [round(float(v)) for v in result.x[:count]]
    return tuple(solution) if keeps(constraints, [*solution, 0], interval) else None


def _cost(graph: BlockGraph, used: set[int]) -> NDArray[np.float64]:
    count = len(graph.operations)
    cost = np.zeros(2 * count + 1)
    for index, operation in enumerate(graph.operations):
        weight = 1.0 if index in used and operation.opcode != "const" else 0.0
        cost[count + 1 + index] += weight
        cost[index] += START_WEIGHT - weight
    return cost


def _bounds(graph: BlockGraph, starts: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    count = len(graph.operations)
    low = np.zeros(2 * count + 1)
    high = np.full(2 * count + 1, float(max(starts) + SLACK_CYCLES))
    high[count] = 0.0
    for index in contended(graph):
        low[index] = high[index] = float(starts[index])
    return low, high


def _sink(
    graph: BlockGraph, constraints: ConstraintGraph, interval: int, starts: Sequence[int]
) -> tuple[int, ...]:
    """Start operations as late as their successors allow where this reduces total register time.

    A later start shortens the lifetime of the operation's value and lengthens it for values it uses last.
    """
    moved, fixed = list(starts), set(contended(graph))
    last_use = [0] * constraints.count
    for operation in graph.operations:
        for value in operation.inputs if operation.index in graph.live else ():
            last_use[value] = max(last_use[value], moved[operation.index])
    for index in sorted(range(constraints.count), key=lambda i: (-moved[i], -i)):
        if index in fixed or last_use[index] == 0:
            continue
        later = min(
            (moved[t] - latency + d * interval for t, latency, d in constraints.outgoing[index]),
            default=moved[index],
        )
        if later > moved[index] and _gain(graph, index, moved[index], later, last_use) >= 0:
            moved[index] = later
            for value in graph.operations[index].inputs:
                last_use[value] = max(last_use[value], later)
    return tuple(moved[: constraints.count])


def _gain(graph: BlockGraph, index: int, now: int, later: int, last_use: Sequence[int]) -> int:
    """Return the bits times cycles of registers that a later start of an operation saves."""
    operation = graph.operations[index]
    saved = _register_bits(graph, index) * (later - now)
    for value in set(operation.inputs):
        saved -= _register_bits(graph, value) * max(0, later - last_use[value])
    return saved


def _register_bits(graph: BlockGraph, index: int) -> int:
    operation = graph.operations[index]
    return 0 if operation.opcode == "const" or operation.type is None else operation.type.width_bits


MAXIMUM_INTERVAL_CYCLES = 4096

EXACT_OPERATIONS = 600
"""Largest block that is searched exactly."""

SHARED_OPERATIONS = 2000
"""Largest block that is scheduled a second time so that it needs fewer units."""

PATIENCE = 6
"""Intervals above the bound that are tried one by one; then steps grow with the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceBound:
    """ResMII and the port or unit that sets it."""

    interval: int
    resource: Resource | None = None

    @property
    def name(self) -> str:
        """For reports: `load A`, `unit div_32`."""
        return " ".join(self.resource).strip() if self.resource is not None else ""


def resource_bound(graph: BlockGraph) -> ResourceBound:
    """Return ResMII: uses per resource instance; no unit accepts an operation while it is busy."""
    load: dict[Resource, int] = defaultdict(int)
    for resource, timing in zip(graph.resources, graph.timings, strict=True):
        if resource is not None:
            load[resource] += timing.busy_cycles
    bounds = [(-(-uses // graph.capacity(r)), r) for r, uses in sorted(load.items())]
    slowest = max(range(len(graph.timings)), key=lambda i: graph.timings[i].busy_cycles, default=None)
    if slowest is not None and graph.timings[slowest].busy_cycles > 1:
        bounds.append((graph.timings[slowest].busy_cycles, ("unit", graph.operations[slowest].opcode)))
    worst = max(bounds, default=None)
    return ResourceBound(interval=1) if worst is None else ResourceBound(interval=worst[0], resource=worst[1])


@dataclass(slots=True)
class _Solver:
    """Tries intervals of one block.

    Attributes:
        unproven: intervals that were skipped although no proof excludes a schedule.
    """

    graph: BlockGraph
    constraints: ConstraintGraph
    unproven: list[int] = field(default_factory=list[int])

    def solve(self, interval: int) -> tuple[int, ...] | None:
        """Return a checked schedule at an interval, None when none was found."""
        solution = self._search(interval)
        if solution is None:
            return None
        starts = shorten_lifetimes(self.graph, self.constraints, interval, solution)
        candidates = (starts, tuple(solution[: self.constraints.count]))
        return next((s for s in candidates if self.is_valid(s, interval)), None)

    def is_valid(self, starts: Sequence[int], interval: int) -> bool:
        """Tell whether starts satisfy every constraint and every resource limit."""
        return keeps(self.constraints, [*starts, 0], interval) and not check_modulo(
            self.graph, starts, interval
        )

    def _search(self, interval: int) -> list[int] | None:
        small = self.constraints.count <= EXACT_OPERATIONS
        if small:
            result = ResidueSearch(graph=self.graph, constraints=self.constraints, interval=interval).run()
            if result is Verdict.INFEASIBLE:
                return None
            if not isinstance(result, Verdict):
                return result
        heuristic = iterative_schedule(self.graph, self.constraints, interval)
        if heuristic is not None:
            return heuristic
        if small:
            result = solve_program(self.graph, self.constraints, interval)
            if not isinstance(result, Verdict):
                return result
            if result is Verdict.INFEASIBLE:
                return None
        self.unproven.append(interval)
        return None


def check_modulo(graph: BlockGraph, starts: Sequence[int], interval: int) -> list[str]:
    """Return every dependence or resource a modulo schedule breaks; empty for a valid one."""
    broken = [
        f"operation {e.target} starts before {e.source} allows"
        for e in graph.edges
        if starts[e.target] + e.distance * interval < starts[e.source] + e.latency_cycles
    ]
    used: dict[tuple[Resource, int], int] = defaultdict(int)
    for index, resource in enumerate(graph.resources):
        busy = graph.timings[index].busy_cycles
        if busy > interval:
            broken.append(f"operation {index} holds its unit for {busy} cycles")
        for k in range(busy if resource is not None else 0):
            used[resource or ("", ""), (starts[index] + k) % interval] += 1
    broken += [
        f"{count} operations share {slot[0]} in one cycle"
        for slot, count in used.items()
        if count > graph.capacity(slot[0])
    ]
    return broken


def modulo_schedule(graph: BlockGraph, model: TimingModel, requested: int) -> BlockSchedule | None:
    """Schedule a loop block with the smallest feasible interval, `requested` or more.

    Args:    requested: requested interval; 1 requests the smallest.
    Returns: the schedule, or None when no interval up to MAXIMUM_INTERVAL_CYCLES is feasible.
    """
    resource = resource_bound(graph)
    first, all_forwarded = _variants(graph, model, max(requested, resource.interval))
    recurrence = first.recurrence
    if recurrence.interval is None:
        return None
    least = max(requested, resource.interval, recurrence.interval)
    proof = _Proof(graph=graph, model=model, least=max(requested, resource.interval))
    solvers = [_Solver(graph=first.graph, constraints=first.constraints)]
    unproven: list[int] = []
    interval = least
    while interval <= MAXIMUM_INTERVAL_CYCLES:
        for number in range(2 if first.graph.forwarded != all_forwarded.forwarded else 1):
            if number == len(solvers):
                constraints = constraint_graph(all_forwarded, model)
                solvers.append(_Solver(graph=all_forwarded, constraints=constraints))
            starts = solvers[number].solve(interval)
            if starts is not None:
                unproven += [i for s in solvers for i in s.unproven if i < interval]
                proven = not unproven and proof.excludes_below(interval)
                bound = _explain(graph, interval, requested, resource, recurrence, proven)
                schedule = _schedule(solvers[number], model, starts, interval, bound)
                return _with_fewer_units(schedule, solvers[number].constraints, model)
        step = 1 if interval - least < PATIENCE else max(1, interval // 16)
        unproven += [interval + 1] if step > 1 else []
        interval += step
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """Proof, on one relaxed graph, that no choice of forwarded variables allows a smaller interval.

    Attributes:
        least: maximum of the requested interval and ResMII.
    """

    graph: BlockGraph
    model: TimingModel
    least: int

    def excludes_below(self, interval: int) -> bool:
        """Tell whether every smaller interval is proved to have no schedule."""
        relaxed = forward(self.graph, forwardable(self.graph).keys(), self.model, free=True)
        constraints = constraint_graph(relaxed, self.model)
        lowest = max(self.least, recurrence_bound(constraints).interval or interval)
        return all(_has_no_schedule(relaxed, constraints, i) for i in range(lowest, interval))


def _has_no_schedule(graph: BlockGraph, constraints: ConstraintGraph, interval: int) -> bool:
    """Tell whether the exact search or the integer program proves that an interval has no schedule."""
    if constraints.count > EXACT_OPERATIONS:
        return False
    result = ResidueSearch(graph=graph, constraints=constraints, interval=interval).run()
    if result is Verdict.UNKNOWN:
        result = solve_program(graph, constraints, interval)
    return result is Verdict.INFEASIBLE


def _schedule(
    solver: _Solver, model: TimingModel, starts: tuple[int, ...], interval: int, bound: str
) -> BlockSchedule:
    alone = solver.constraints.earliest(interval)
    return BlockSchedule(
        graph=solver.graph,
        starts=starts,
        length_cycles=block_length(solver.graph, starts, model),
        interval_cycles=interval,
        conflict_cycles=0 if alone is None else _conflicts(solver.graph, starts, alone),
        bound=bound,
    )


def _with_fewer_units(
    schedule: BlockSchedule, constraints: ConstraintGraph, model: TimingModel
) -> BlockSchedule:
    """Return a schedule with the same interval whose operations are spread over it to share units.

    It is used when an iteration lasts at most one interval longer.
    """
    interval, graph = schedule.interval_cycles or 1, schedule.graph
    if interval == 1 or len(graph.operations) > SHARED_OPERATIONS:
        return schedule
    limited = _limited_to_need(graph, interval)
    solver = _Solver(graph=limited, constraints=constraints)
    starts = solver.solve(interval) if limited is not graph else None
    if starts is None:
        return schedule
    shared = _schedule(solver, model, starts, interval, schedule.bound)
    return shared if shared.length_cycles <= schedule.length_cycles + interval else schedule


def _limited_to_need(graph: BlockGraph, interval: int) -> BlockGraph:
    """Return the graph limited to the fewest units that the interval allows, for units with latency."""
    resources, capacities = list(graph.resources), dict(graph.capacities)
    busy: dict[Resource, int] = defaultdict(int)
    for index, unit in enumerate(graph.units):
        if unit is not None and unit.latency_cycles > 0 and resources[index] is None:
            resources[index] = ("unit", sharing_key(unit))
    for resource, timing, before in zip(resources, graph.timings, graph.resources, strict=True):
        if resource is not None and before is None:
            busy[resource] += timing.busy_cycles
    capacities |= {resource: -(-cycles // interval) for resource, cycles in sorted(busy.items())}
    return replace(graph, resources=tuple(resources), capacities=capacities) if busy else graph


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    """A block with some forwarded variables."""

    graph: BlockGraph
    constraints: ConstraintGraph
    recurrence: Recurrence


def _variant(graph: BlockGraph, model: TimingModel) -> _Variant:
    constraints = constraint_graph(graph, model)
    return _Variant(graph=graph, constraints=constraints, recurrence=recurrence_bound(constraints))


def _variants(graph: BlockGraph, model: TimingModel, enough: int) -> tuple[_Variant, BlockGraph]:
    """Return the block with the smallest RecMII that few forwarded variables give, and with all forwarded.

    Variables of the critical recurrence are forwarded while that lowers RecMII. The second variant is for
    blocks in which ports and recurrences together need more than either alone; a forwarded variable costs a
    selection, so this variant is tried second.

    Args:    enough: interval below which other bounds do not go.
    """
    candidates = forwardable(graph)
    best = tried = _variant(graph, model)
    while True:
        interval = tried.recurrence.interval
        critical = {r for r in tried.recurrence.cycle if r in candidates} - tried.graph.forwarded
        if interval is None or interval <= enough or not critical:
            break
        tried = _variant(forward(graph, tried.graph.forwarded | critical, model), model)
        if (tried.recurrence.interval or interval) < (best.recurrence.interval or 0):
            best = tried
    return best, forward(graph, candidates.keys(), model)


def _explain(
    graph: BlockGraph,
    interval: int,
    requested: int,
    resource: ResourceBound,
    recurrence: Recurrence,
    proven: bool,
) -> str:
    """Return the reason for the interval, for the directive's outcome."""
    culprit = f" ({resource.name})" if resource.name else ""
    cycle = describe_recurrence(graph, recurrence)
    parts = [f"ResMII {resource.interval}{culprit}"]
    parts.append(f"RecMII {recurrence.interval}" + (f" ({cycle})" if cycle else ""))
    if requested > 1:
        parts.append(f"requested {requested}")
    least = max(requested, resource.interval, recurrence.interval or 1)
    if not proven:
        parts.append("not proven smallest")
    elif interval > least:
        parts.append("proven smallest by search")
    return f"II {interval}: " + ", ".join(parts)


def _conflicts(graph: BlockGraph, starts: Sequence[int], alone: Sequence[int]) -> int:
    """Return the cycles by which memory accesses that share a port start later than they could alone."""
    return sum(
        max(0, starts[i] - alone[i])
        for i in contended(graph)
        if graph.operations[i].opcode in ("load", "store")
    )
