"""The residues of contended operations by integer programming.

Bounded by its size and by the nodes of branch and bound, never by time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pyscipopt import Model, quicksum

from pipelines.hls.difference import ConstraintGraph
from pipelines.hls.residues import Slot, Verdict, contended, slots_of
from pipelines.hls.schedule import BlockGraph

PROGRAM_NODES = 100
"""Nodes of branch and bound at one interval."""

PROGRAM_SIZE = 600
"""Largest integer program that is tried, in slots that its operations may take."""


def solve_program(graph: BlockGraph, constraints: ConstraintGraph, interval: int) -> list[int] | Verdict:
    """Starts at one interval by integer programming.

    A contended operation starts at interval * k + sum over r of r x[r], with one of its binaries x at 1; a
    resource has room for its capacity in each residue. The other starts follow from differences.

    Source: Eichenberger and Davidson 1997, "Efficient formulation for optimal modulo schedulers", for the
            split of starts into multiples and residues.
    """
    members = contended(graph)
    if sum(graph.timings[i].busy_cycles for i in members) * interval > PROGRAM_SIZE:
        return Verdict.UNKNOWN
    model = Model()
    model.hideOutput()
    model.setParam("limits/totalnodes", PROGRAM_NODES)
    model.setParam("limits/solutions", 1)
    horizon = constraints.horizon(interval, len(members))
    starts = [model.addVar(vtype="C", lb=0, ub=horizon) for _ in range(constraints.count)]
    starts.append(model.addVar(vtype="C", lb=0, ub=0))
    for c in constraints.constraints:
        if c.source != c.target:
            model.addCons(starts[c.target] - starts[c.source] >= c.latency - c.distance * interval)
    picks = {i: [model.addVar(vtype="B") for _ in range(interval)] for i in members}
    for index, pick in picks.items():
        multiple = model.addVar(vtype="I", lb=0, ub=horizon // interval + 1)
        model.addCons(quicksum(pick) == 1)
        model.addCons(starts[index] == interval * multiple + quicksum(r * x for r, x in enumerate(pick)))
    _add_room(model, graph, picks, interval)
    model.setObjective(quicksum(starts), "minimize")
    model.optimize()
    if model.getStatus() == "infeasible":
        return Verdict.INFEASIBLE
    if model.getNSols() == 0:
        return Verdict.UNKNOWN
    residues = {
        index: next(r for r, x in enumerate(pick) if model.getVal(x) > 0.5) for index, pick in picks.items()
    }
    return constraints.earliest(interval, residues) or Verdict.UNKNOWN


def _add_room(model: Any, graph: BlockGraph, picks: Mapping[int, Sequence[Any]], interval: int) -> None:
    """In each residue no more operations hold a resource than there is room for."""
    holders: dict[Slot, list[Any]] = defaultdict(list)
    for index, pick in picks.items():
        for residue in range(interval):
            for slot in slots_of(graph, index, residue, interval):
                holders[slot].append(pick[residue])
    for slot, variables in sorted(holders.items()):
        model.addCons(quicksum(variables) <= graph.capacity(slot[0]))
