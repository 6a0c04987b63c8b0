"""Placement by simulated annealing, many chains at a time, under any cost model.

Source: section II-A of the learned cost model paper (arXiv 2511.01872) and Kirkpatrick et al. 1983; half of
the moves go towards an operation's neighbours, as directed moves of FPGA placers do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipelines.base.tools import stopwatch
from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Graph, require_room
from pipelines.fabric.machine import Fabric

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_CANDIDATES = 6
"""Places drawn for a directed move; the one nearest to the operation's neighbours is tried."""


class CostModel(Protocol):
    """What the annealer asks. It follows a batch of placements of one graph on one fabric."""

    def start(self, units: Ints) -> Floats:
        """Return the costs of whole placements, which become the current ones.

        Args:   units: (chains, nodes) unit of every operation.
        Returns: (chains,) the lower the better; of models that predict throughput, its -log.
        """
        ...

    def propose(self, moved: Ints, units: Ints) -> Floats:
        """Return the costs after one move in every chain.

        Args: moved: (chains, 2) operations whose unit changes, -1 for none. units: after the move.
        """
        ...

    def accept(self, accepted: Bools) -> None:
        """Make the proposed placements of some chains the current ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How one chain anneals.

    Attributes:
        moves: proposed. 0 leaves the random start.
        hot, cold: first and last temperature, in units of cost; geometric between them.
        directed: share of moves towards an operation's neighbours.
    """

    moves: int = 2000
    hot: float = 0.1
    cold: float = 0.001
    directed: float = 0.5

    def __post_init__(self) -> None:
        if self.moves < 0 or not 0 < self.cold <= self.hot or not 0 <= self.directed <= 1:
            raise FabricError(
                f"not a schedule: {self}; accepted: moves >= 0, 0 < cold <= hot, directed in 0 to 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Annealed:
    """Placements that an annealing ended with.

    Attributes:
        units: (chains, nodes) best of each chain by the cost model; costs: (chains,).
        last, last_costs: where each chain ended; cost models that route still hold its routes.
        moves: proposed, of all chains together. wall_s: seconds that they took.
    """

    units: Ints
    costs: Floats
    last: Ints
    last_costs: Floats
    moves: int
    wall_s: float

    @property
    def best(self) -> tuple[int, ...]:
        """Units of the best chain."""
        return tuple(self.units[int(np.argmin(self.costs))].tolist())


class Places:
    """Slots of a fabric, and placements as slots: a unit of several slots takes several operations.

    Attributes:
        units: (slots,) unit of every slot. kinds: (slots,) 0 for compute, 1 for memory.
        of_kind: slots of both kinds.
    """

    def __init__(self, graph: Graph, fabric: Fabric) -> None:
        require_room(graph, fabric)
        units = [u for u in range(len(fabric.unit_types)) for _ in range(fabric.slots(u))]
        self.units = np.array(units, np.int64)
        self.kinds = np.array([fabric.unit_types[u] == "memory" for u in units], np.int64)
        self.of_kind = tuple(np.flatnonzero(self.kinds == kind) for kind in (0, 1))
        memory = [fabric.operation(node.kind).unit == "memory" for node in graph.nodes]
        self.node_kinds = np.array(memory, np.int64)

    def random(self, chains: int, rng: np.random.Generator) -> Ints:
        """Return (chains, nodes) slots of random legal placements."""
        slots = np.empty((chains, len(self.node_kinds)), np.int64)
        for kind, choices in enumerate(self.of_kind):
            nodes = np.flatnonzero(self.node_kinds == kind)
            for chain in range(chains):
                slots[chain, nodes] = rng.permutation(choices)[: len(nodes)]
        return slots


def random_placements(graph: Graph, fabric: Fabric, count: int, *, seed: int) -> Ints:
    """Return (count, nodes) units of random legal placements.

    Raises: FabricError: an operation is unknown, or the graph is too large.
    """
    places = Places(graph, fabric)
    return places.units[places.random(count, np.random.default_rng(seed))]


def anneal(
    graph: Graph,
    fabric: Fabric,
    model: CostModel,
    schedules: Sequence[Schedule],
    *,
    seed: int = 0,
    on_tenth: Callable[[int], None] = lambda tenth: None,  # noqa: ARG005
) -> Annealed:
    """Anneal one chain per schedule from random placements; a move goes to a free place or swaps two.

    Args:   on_tenth: called with the number of tenths of the moves that are done.
    Raises: FabricError: an operation is unknown, or the graph is too large.
    """
    began = stopwatch()
    chains = _Chains(graph, fabric, model, schedules, np.random.default_rng(seed))
    steps = max((s.moves for s in schedules), default=0)
    for step in range(steps):
        chains.step(step)
        if (tenth := 10 * (step + 1) // steps) > 10 * step // steps:
            on_tenth(tenth)
    units = chains.places.units[chains.best]
    moves = sum(schedule.moves for schedule in schedules)
    return Annealed(
        units=units,
        costs=chains.best_costs,
        last=chains.places.units[chains.slots],
        last_costs=chains.costs,
        moves=moves,
        wall_s=stopwatch() - began,
    )


class _Chains:
    """State of all chains; arrays have a row per chain."""

    def __init__(
        self,
        graph: Graph,
        fabric: Fabric,
        model: CostModel,
        schedules: Sequence[Schedule],
        rng: np.random.Generator,
    ) -> None:
        self.rng, self.model = rng, model
        self.places = Places(graph, fabric)
        self.schedules = schedules
        self.moves = np.array([s.moves for s in schedules])
        self.hot = np.array([s.hot for s in schedules])
        self.cold = np.array([s.cold for s in schedules])
        self.directed = np.array([s.directed for s in schedules])
        self.rows = np.arange(len(schedules))
        self.slots = self.places.random(len(schedules), rng)
        self.holders = np.full((len(schedules), len(self.places.units)), -1, np.int64)
        np.put_along_axis(self.holders, self.slots, np.arange(len(graph.nodes))[None, :], axis=1)
        self.costs = model.start(self.places.units[self.slots])
        self.best, self.best_costs = self.slots.copy(), self.costs.copy()
        self.neighbours, self.degrees = _neighbours(graph)
        self.columns = fabric.columns

    def step(self, step: int) -> None:
        rows = self.rows
        node = self.rng.integers(0, self.slots.shape[1], len(rows))
        target = self._targets(node)
        old = self.slots[rows, node]
        other = self.holders[rows, target]
        proposed = self.slots.copy()
        proposed[rows, node] = target
        swaps = other >= 0
        proposed[rows[swaps], other[swaps]] = old[swaps]
        moved = np.stack([node, other], axis=1)
        costs = self.model.propose(moved, self.places.units[proposed])
        accepted = self._accepts(costs, step)
        self.model.accept(accepted)
        self._keep(accepted, proposed, costs, node, other, old, target)

    def _accepts(self, costs: Floats, step: int) -> Bools:
        share = np.minimum(1.0, step / np.maximum(1, self.moves))
        temperatures = self.hot * (self.cold / self.hot) ** share
        chance = np.exp(np.minimum(0.0, (self.costs - costs) / temperatures))
        return (self.rng.random(len(costs)) < chance) & (step < self.moves)

    def _keep(
        self, accepted: Bools, proposed: Ints, costs: Floats, node: Ints, other: Ints, old: Ints, target: Ints
    ) -> None:
        rows = self.rows[accepted]
        self.holders[rows, old[accepted]] = other[accepted]
        self.holders[rows, target[accepted]] = node[accepted]
        self.slots[rows], self.costs[rows] = proposed[rows], costs[rows]
        better = accepted & (self.costs < self.best_costs)
        self.best[better], self.best_costs[better] = self.slots[better], self.costs[better]

    def _targets(self, node: Ints) -> Ints:
        """Return (chains,) a slot of the operation's kind for every chain."""
        draws = self.rng.random((len(node), _CANDIDATES))
        kinds = self.places.node_kinds[node]
        candidates = np.empty(draws.shape, np.int64)
        for kind, choices in enumerate(self.places.of_kind):
            of_kind = kinds == kind
            candidates[of_kind] = (
                choices[(draws[of_kind] * len(choices)).astype(np.int64)] if len(choices) else 0
            )
        nearest = np.argmin(self._distances(node, candidates), axis=1)
        is_directed = self.rng.random(len(node)) < self.directed
        return candidates[self.rows, np.where(is_directed, nearest, 0)]

    def _distances(self, node: Ints, candidates: Ints) -> Floats:
        """Return (chains, candidates) links from a candidate to the mean place of the node's neighbours."""
        around = self.neighbours[node]
        units = self.places.units[np.take_along_axis(self.slots, np.maximum(around, 0), axis=1)]
        weights = (around >= 0) / np.maximum(1, self.degrees[node])[:, None]
        row = (units // self.columns * weights).sum(axis=1)
        column = (units % self.columns * weights).sum(axis=1)
        tried = self.places.units[candidates]
        return np.abs(tried // self.columns - row[:, None]) + np.abs(tried % self.columns - column[:, None])


def _neighbours(graph: Graph) -> tuple[Ints, Ints]:
    """Return the neighbours of every operation, (nodes, most), -1 beyond their number, and that: (nodes,)."""
    numbers = graph.numbers
    around: list[set[int]] = [set() for _ in graph.nodes]
    for edge in graph.edges:
        source, target = numbers[edge.source], numbers[edge.target]
        around[source].add(target)
        around[target].add(source)
    most = max(1, *map(len, around))
    padded = [[*sorted(others), *[-1] * (most - len(others))] for others in around]
    return np.array(padded, np.int64), np.array([len(others) for others in around], np.int64)
