"""Difference constraints of a loop block: what every modulo schedule must keep, as arrays.

Belongs here: gathering the constraints of a block and finding its earliest starts. Does not: choosing
between operations that share a port (`modulo.py`).

A constraint reads s[target] - s[source] >= latency - distance * interval. The node after the last operation
stands for the first cycle of an iteration: what it must not follow has a deadline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, closing_values

Integers = NDArray[np.int64]

ROUNDS_PER_NODE = 2
"""Sweeps over all constraints, times the number of nodes, after which the starts count as growing without
end. Without residues one is exact (a positive cycle); with residues a slower solution is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """`s[target] - s[source] >= latency - distance * interval`; target -1 is the iteration's start."""

    source: int
    target: int
    latency: int
    distance: int


def _chain_constraints(graph: BlockGraph, model: TimingModel) -> list[Constraint]:
    """One cycle of distance between the ends of every combinational path that is too long."""
    successors: dict[int, list[int]] = defaultdict(list)
    for operation in graph.operations:
        for source in dict.fromkeys(operation.inputs):
            if graph.timings[source].latency_cycles == 0:
                successors[source].append(operation.index)
    found: list[Constraint] = []
    for start in range(len(graph.operations)):
        if not successors[start] or graph.timings[start].delay_ns == 0.0:
            continue
        reached = {start: graph.timings[start].delay_ns}
        for index in range(start, len(graph.operations)):
            if index not in reached:
                continue
            for target in successors[index]:
                delay = reached[index] + graph.timings[target].delay_ns
                if delay > model.budget_ns:
                    cycles = max(1, int(np.ceil(delay / model.budget_ns)) - 1)
                    found.append(Constraint(source=start, target=target, latency=cycles, distance=0))
                elif delay > reached.get(target, -1.0):
                    reached[target] = delay
    return found


def constraints_of(graph: BlockGraph, model: TimingModel) -> list[Constraint]:
    """Dependences, the loop's own condition, and the clock, as constraints on starts."""
    found = [
        Constraint(source=e.source, target=e.target, latency=e.latency_cycles, distance=e.distance)
        for e in graph.edges
    ]
    # The next iteration may start only when this one knows that it does.
    for condition in closing_values(graph.block):
        latency = graph.timings[condition].latency_cycles + 1
        found.append(Constraint(source=condition, target=-1, latency=latency, distance=1))
    return found + _chain_constraints(graph, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceSystem:
    """The constraints of a block at one interval.

    Attributes:
        count: operations; node `count` is the start of the iteration, at cycle 0.
        source, target, weight: (constraints,) arrays.
        interval: cycles between iterations.
    """

    count: int
    source: Integers
    target: Integers
    weight: Integers
    interval: int

    def earliest(self, residues: Mapping[int, int], start: Integers | None = None) -> Integers | None:
        """Earliest starts when some operations must start in a given residue modulo the interval.

        Args:    residues: operation -> residue; start: (count + 1,) lower bounds to begin from.
        Returns: (count + 1,) the least solution, or None when there is none.
        """
        times = np.zeros(self.count + 1, dtype=np.int64) if start is None else start.copy()
        fixed = np.array(list(residues), dtype=np.int64)
        wanted = np.array([residues[int(i)] for i in fixed], dtype=np.int64)
        horizon = int(np.abs(self.weight).sum()) + self.interval * (len(fixed) + 2)
        rounds = 0
        while True:
            updated = times.copy()
            np.maximum.at(updated, self.target, times[self.source] + self.weight)
            if len(fixed):
                updated[fixed] += (wanted - updated[fixed]) % self.interval
            if updated[self.count] > 0 or updated.max() > horizon:
                return None
            if np.array_equal(updated, times):
                return times
            rounds += 1
            if rounds > ROUNDS_PER_NODE * (self.count + 1):
                return None
            times = updated

    def heights(self) -> list[int]:
        """Longest path from each operation to any other, in cycles, at a feasible interval."""
        found = np.zeros(self.count + 1, dtype=np.int64)
        for _ in range(self.count + 2):
            updated = found.copy()
            np.maximum.at(updated, self.source, found[self.target] + self.weight)
            if np.array_equal(updated, found):
                break
            found = updated
        return [int(h) for h in found]


def system_of(graph: BlockGraph, model: TimingModel, interval: int) -> DifferenceSystem:
    """The constraints of a block at one interval, as arrays."""
    count = len(graph.operations)
    constraints = constraints_of(graph, model)
    return DifferenceSystem(
        count=count,
        source=np.array([c.source for c in constraints], dtype=np.int64),
        target=np.array([c.target % (count + 1) for c in constraints], dtype=np.int64),
        weight=np.array([c.latency - c.distance * interval for c in constraints], dtype=np.int64),
        interval=interval,
    )
