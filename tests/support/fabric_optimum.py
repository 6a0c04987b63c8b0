"""Optimum of small graphs: a proven lower bound on the interval of every placement, and a decision near it.

The bound holds for every placement and every routing by simple paths. It has two parts. Constants follow from
graph and fabric alone. An integer program chooses units and paths such that the highest load of a link or
port is least. The proof that both bound the interval is in the docstring of `bounds.least_intervals`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyscipopt import Model, quicksum

from pipelines.fabric.errors import FabricError
from pipelines.fabric.evaluation import measure
from pipelines.fabric.explaining import require_fit
from pipelines.fabric.graphs import Graph, require_acyclic
from pipelines.fabric.heuristic import HeuristicCost
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Schedule, anneal
from pipelines.fabric.routing import Route, problem_of
from pipelines.fabric.simulation import simulate
from tests.support.fabric_bounds import EdgeLoads, edge_loads, highest_load, least_intervals, may_share

NODE_LIMIT, TILE_LIMIT = 16, 64
"""Operations and tiles that are accepted: the program has a binary per edge and link."""
SAMPLES, WINDOW = 2048, 512
"""Of the simulations that are compared with the bound. Every operation starts WINDOW samples in the window,
give or take one, so that the error of the interval is below 1 % (24 samples: 8 %)."""
TOLERANCE = 0.005
"""Relative. A decision so near the bound counts as optimal: the bound leaves out latencies of routes, and the
window rounds."""
Proof = Literal["constants", "solver", "none"]
Units = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimumOptions:
    """How long to search.

    Attributes:
        solver_nodes: of branch and bound; the limit is the same on every machine.
        moves: of each of 8 annealing chains whose ends are tried before the solver. seed: of these.
    """

    solver_nodes: int = 2000
    moves: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.solver_nodes < 0 or self.moves < 0:
            raise FabricError(f"negative limit: {self}; accepted: 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Units of all operations, routes of all edges, and the simulated interval in cycles per sample."""

    units: Units
    routes: tuple[Route, ...]
    interval_cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """A lower bound on the interval, and the best decision found.

    Attributes:
        bound_cycles: no placement and routing has a shorter steady interval.
        constant_cycles: the part of the bound that needs no solver.
        decision: the best one found.
        proof: "constants" or "solver": that bound is reached by the decision; "none": the gap is open.
        gap: interval over bound - 1.
        solver_nodes: of branch and bound. is_load_least: whether the solver ended: the bound is then the
            least possible load. It also is when the constants alone are reached.
    """

    bound_cycles: float
    constant_cycles: float
    decision: Decision
    proof: Proof
    gap: float
    solver_nodes: int
    is_load_least: bool


def find_optimum(
    graph: Graph, fabric: Fabric, *, engine_folder: Path, options: OptimumOptions | None = None
) -> Optimum:
    """Bound the interval of every placement of a small graph, and search a decision that reaches the bound.

    Raises: FabricError: graph or fabric are too large or do not fit, or every decision ends in a deadlock.
            ToolMissing: g++ is not installed.
    """
    options = options or OptimumOptions()
    require_small(graph, fabric)
    constant = max(least_intervals(graph, fabric).values())
    best = _annealed(graph, fabric, options, engine_folder)
    if best is not None and best.interval_cycles <= constant * (1 + TOLERANCE):
        return _optimum(constant, constant, best, "constants", 0, True)
    known = best.routes if best is not None else ()
    solved = solve_loads(graph, fabric, constant, nodes=options.solver_nodes, known=known)
    tried = _tried(graph, fabric, solved, engine_folder)
    decisions = [decision for decision in (best, *tried) if decision is not None]
    if not decisions:
        raise FabricError(f"no decision for {graph.name} works: all that were simulated ended in a deadlock")
    best = min(decisions, key=lambda decision: decision.interval_cycles)
    is_reached = best.interval_cycles <= solved.bound_cycles * (1 + TOLERANCE)
    by_solver: Proof = "constants" if solved.bound_cycles <= constant else "solver"
    return _optimum(
        solved.bound_cycles,
        constant,
        best,
        by_solver if is_reached else "none",
        solved.nodes,
        solved.is_least,
    )


def _optimum(
    bound: float, constant: float, decision: Decision, proof: Proof, nodes: int, is_least: bool
) -> Optimum:
    return Optimum(
        bound_cycles=bound,
        constant_cycles=constant,
        decision=decision,
        proof=proof,
        gap=decision.interval_cycles / bound - 1,
        solver_nodes=nodes,
        is_load_least=is_least,
    )


def require_small(graph: Graph, fabric: Fabric) -> None:
    """Check that an optimum can be searched.

    Raises: FabricError: too many operations or tiles, a cycle, or the graph does not fit.
    """
    if len(graph.nodes) > NODE_LIMIT:
        raise FabricError(
            f"graph too large for an optimum: {len(graph.nodes)} operations ({graph.name}); "
            f"accepted: {NODE_LIMIT} at most"
        )
    tiles = len(fabric.unit_types)
    if tiles > TILE_LIMIT:
        raise FabricError(
            f"fabric too large for an optimum: {tiles} tiles ({fabric.name}); accepted: {TILE_LIMIT} at most"
        )
    require_acyclic(graph)
    _require_connected(graph)
    require_fit(graph, fabric)


def _require_connected(graph: Graph) -> None:
    """Parts without an edge between them run at intervals of their own, so that loads do not add up."""
    reached = {graph.nodes[0].name}
    for _ in graph.nodes:
        for edge in graph.edges:
            if reached & {edge.source, edge.target}:
                reached |= {edge.source, edge.target}
    if len(reached) < len(graph.nodes):
        apart = next(node.name for node in graph.nodes if node.name not in reached)
        raise FabricError(f"no path between operations {graph.nodes[0].name} and {apart} ({graph.name})")


# ---- simulated decisions -------------------------------------------------------------------------------


def steady_interval(
    graph: Graph, fabric: Fabric, routes: Sequence[Sequence[Route]], *, engine_folder: Path
) -> list[float]:
    """Cycles per sample of routed placements over `WINDOW` samples; infinite after a deadlock."""
    problems = [problem_of(graph, fabric, paths, samples=SAMPLES, window=WINDOW) for paths in routes]
    results = simulate(problems, engine_folder=engine_folder)
    return [math.inf if result.is_deadlocked else result.interval_cycles for result in results]


def _annealed(graph: Graph, fabric: Fabric, options: OptimumOptions, engine_folder: Path) -> Decision | None:
    """The best end of annealed chains."""
    schedules = [Schedule(moves=options.moves)] * 8
    ends = anneal(graph, fabric, HeuristicCost(graph, fabric), schedules, seed=options.seed)
    return _best_routed(graph, fabric, sorted({tuple(u) for u in ends.units.tolist()}), engine_folder)


def _best_routed(
    graph: Graph, fabric: Fabric, placements: Sequence[Units], engine_folder: Path
) -> Decision | None:
    measured = measure(graph, fabric, placements, engine_folder=engine_folder, samples=SAMPLES, window=WINDOW)
    good = [result for result in measured if result.throughput is not None]
    if not good:
        return None
    best = min(good, key=lambda result: result.simulated.interval_cycles)
    return Decision(
        units=best.units, routes=best.routing.routes, interval_cycles=best.simulated.interval_cycles
    )


def _tried(graph: Graph, fabric: Fabric, solved: Solved, engine_folder: Path) -> Iterator[Decision | None]:
    """Placements of the solver, by its own routes and by those of the router."""
    if not solved.decisions:
        return
    routes = [paths for _, paths in solved.decisions]
    intervals = steady_interval(graph, fabric, routes, engine_folder=engine_folder)
    for (units, paths), interval in zip(solved.decisions, intervals, strict=True):
        if math.isfinite(interval):
            yield Decision(units=units, routes=paths, interval_cycles=interval)
    yield _best_routed(graph, fabric, [units for units, _ in solved.decisions], engine_folder)


# ---- least highest load ----------------------------------------------------------------------------


Loaded = tuple[Units, tuple[Route, ...]]
"""Units of all operations and routes of all edges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """What the solver says.

    Attributes:
        bound_cycles: no placement has a lower highest load, or it is the constant bound.
        decisions: solutions, the lowest load first; none when the known one is the best.
        nodes: of branch and bound.
        is_least: whether the load of the first, or known, decision is not above the bound.
    """

    bound_cycles: float
    decisions: tuple[Loaded, ...]
    nodes: int
    is_least: bool


def solve_loads(
    graph: Graph, fabric: Fabric, at_least: float, *, nodes: int, known: Sequence[Route] = ()
) -> Solved:
    """Units and paths of the least highest load of a link or port.

    Every load is a sum over some edges, so these sums are the limits that are tried: is there a decision that
    loads no link or port above the limit? The answer also holds for all higher or all lower limits. Above a
    limit that the solver leaves open the search goes on.

    Args:
        at_least: cycles; the search ends when no load is above.
        nodes: of branch and bound per limit, at most; -1 for no limit.
        known: routes of a decision; only better ones are searched.
    """
    loads = edge_loads(graph, fabric)
    high = highest_load(loads, known) if known else sum(loads.link) + sum(loads.port)
    limits = _limits(loads, math.ceil(at_least), high)
    proven = first = index = spent = 0  # limits before the first two have no decision; or none is known
    end, decisions = len(limits) - 1, list[Loaded]()
    while first < end:
        program = _Program(graph, fabric, limits[index])
        answer = program.run(nodes)
        spent += program.nodes
        if isinstance(answer, tuple):
            decisions.insert(0, answer)
            end = bisect_left(limits, highest_load(loads, answer[1]))
        else:
            first = index + 1
            proven = first if answer == "infeasible" else proven
        index = (first + end - 1) // 2
    bound = max(at_least, limits[proven]) if proven else at_least
    return Solved(bound_cycles=bound, decisions=tuple(decisions), nodes=spent, is_least=proven >= end)


def _limits(loads: EdgeLoads, low: int, high: int) -> list[int]:
    """Loads that a link or port can have from low to high, both included."""
    reached: set[int] = set()
    for parts in (loads.link, _port_sums(loads.sources, loads.port), _port_sums(loads.targets, loads.port)):
        sums = {0}
        for part in parts:
            sums |= {total + part for total in sums if total + part < high}
        reached |= sums
    return [low, *sorted(total for total in reached if total > low), *([high] if high > low else [])]


def _port_sums(ends: Sequence[int], loads: Sequence[int]) -> list[int]:
    """Loads that every operation brings to the port of its unit."""
    return [
        sum(load for other, load in zip(ends, loads, strict=True) if other == end)
        for end in sorted(set(ends))
    ]


class _Program:
    """The integer program: is there a decision that loads no link or port above a limit?

    An operation has a binary per unit that can do it, an edge one per link between switches. At every switch,
    what an edge sends out less what comes in is 1 at its source and -1 at its target.
    """

    def __init__(self, graph: Graph, fabric: Fabric, limit: int) -> None:
        self.graph, self.fabric, self.limit = graph, fabric, limit
        self.loads = edge_loads(graph, fabric)
        self.ports = 2 * len(fabric.unit_types)
        self.scip: Any = Model("placement")
        self.scip.hideOutput()
        self.placed = [self._units_of(number) for number in range(len(graph.nodes))]
        self.used = [self._links_of(number) for number in range(len(graph.edges))]
        self._limit_slots()
        self._limit_links()
        self._limit_ports()

    @property
    def nodes(self) -> int:
        """Nodes of branch and bound."""
        return int(self.scip.getNTotalNodes())

    def run(self, nodes: int) -> Loaded | Literal["infeasible", "open"]:
        """A decision, or whether there is none."""
        self.scip.setParam("limits/solutions", 1)
        self.scip.setParam("limits/totalnodes", nodes)
        self.scip.optimize()
        if self.scip.getNSols() > 0:
            return self._decision(self.scip.getBestSol())
        return "infeasible" if self.scip.getStatus() == "infeasible" else "open"

    # -- variables

    def _units_of(self, number: int) -> dict[int, Any]:
        """A binary per unit that can do an operation."""
        node, types = self.graph.nodes[number], self.fabric.unit_types
        needed = self.fabric.operation(node.kind).unit
        units = [unit for unit, kind in enumerate(types) if kind == needed]
        if number == self._busiest():
            units = [unit for unit in units if unit in _representatives(self.fabric)]
        placed = {unit: self.scip.addVar(f"{node.name} on {unit}", vtype="B") for unit in units}
        self.scip.addCons(quicksum(placed.values()) == 1)
        return placed

    def _busiest(self) -> int:
        """The operation with most edges; symmetries of the grid are broken at it."""
        ends = (*self.loads.sources, *self.loads.targets)
        return max(range(len(self.graph.nodes)), key=lambda number: (ends.count(number), -number))

    def _links_of(self, number: int) -> dict[int, Any]:
        """A binary per link that an edge may use, and its balance at every switch."""
        links = range(self.ports, len(self.fabric.links.ends))
        used = {link: self.scip.addVar(f"edge {number} on {link}", vtype="B") for link in links}
        source, target = (self.placed[ends[number]] for ends in (self.loads.sources, self.loads.targets))
        must_leave = not may_share(self.graph, self.fabric, number)
        for switch, ways in enumerate(self.fabric.links.neighbours):
            out = quicksum(used[link] for link, _ in ways)
            into = quicksum(used[link] for link in self._inward(switch))
            begins, ends = source.get(switch, 0), target.get(switch, 0)
            self.scip.addCons(out - into == begins - ends)
            self.scip.addCons(out <= 1)
            if must_leave:
                self.scip.addCons(out >= begins)
                self.scip.addCons(into >= ends)
        return used

    def _inward(self, switch: int) -> list[int]:
        """Links that reach a switch from its neighbours."""
        ends = self.fabric.links.ends
        return [link for link in range(self.ports, len(ends)) if ends[link][1] == switch]

    # -- constraints

    def _limit_slots(self) -> None:
        for unit in range(len(self.fabric.unit_types)):
            there = [placed[unit] for placed in self.placed if unit in placed]
            if there:
                self.scip.addCons(quicksum(there) <= self.fabric.slots(unit))

    def _limit_links(self) -> None:
        for link in range(self.ports, len(self.fabric.links.ends)):
            pairs = zip(self.loads.link, self.used, strict=True)
            self.scip.addCons(quicksum(cycles * used[link] for cycles, used in pairs) <= self.limit)

    def _limit_ports(self) -> None:
        """Operations of one unit share its ports."""
        for ends in (self.loads.sources, self.loads.targets):
            sums = [0] * len(self.graph.nodes)
            for end, cycles in zip(ends, self.loads.port, strict=True):
                sums[end] += cycles
            for unit in range(len(self.fabric.unit_types)):
                pairs = zip(sums, self.placed, strict=True)
                there = [cycles * placed[unit] for cycles, placed in pairs if unit in placed]
                if there:
                    self.scip.addCons(quicksum(there) <= self.limit)

    # -- solutions

    def _decision(self, solution: Any) -> Loaded:
        units = tuple(max(placed, key=lambda unit: solution[placed[unit]]) for placed in self.placed)
        routes = [
            self._path(used, units[source], units[target], solution)
            for used, source, target in zip(self.used, self.loads.sources, self.loads.targets, strict=True)
        ]
        return units, tuple(routes)

    def _path(self, used: Mapping[int, Any], source: int, target: int, solution: Any) -> Route:
        """The shortest path over the links that an edge uses, ports included; circles are left out."""
        paths: dict[int, Route] = {source: ()}
        for switch in (waiting := [source]):  # grows
            for link, after in self.fabric.links.neighbours[switch]:
                if after not in paths and solution[used[link]] > 0.5:
                    paths[after] = (*paths[switch], link)
                    waiting.append(after)
        return (2 * source, *paths[target], 2 * target + 1)


def _representatives(fabric: Fabric) -> frozenset[int]:
    """One unit of every set that reflections and rotations of the grid map onto each other.

    Only symmetries that keep the type of every unit count; a decision and its image have the same loads.
    """
    rows, columns, types = fabric.rows, fabric.columns, fabric.unit_types
    images: list[list[int]] = []
    for turned in (False, True) if rows == columns else (False,):
        for down in (False, True):
            for right in (False, True):
                image = [_image(unit, rows, columns, turned, down, right) for unit in range(len(types))]
                if all(types[unit] == types[other] for unit, other in enumerate(image)):
                    images.append(image)
    return frozenset(min(image[unit] for image in images) for unit in range(len(types)))


def _image(unit: int, rows: int, columns: int, turned: bool, down: bool, right: bool) -> int:
    """The unit at the place of a unit after reflections."""
    row, column = divmod(unit, columns)
    row, column = rows - 1 - row if down else row, columns - 1 - column if right else column
    row, column = (column, row) if turned else (row, column)
    return row * columns + column
