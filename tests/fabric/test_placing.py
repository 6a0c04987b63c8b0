"""Annealing: legal placements, costs that follow the moves, and the same result for the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.fabric import (
    CostModel,
    Fabric,
    FabricError,
    Graph,
    HeuristicCost,
    Schedule,
    SimulatedCost,
    anneal,
    random_placements,
    require_legal,
)
from pipelines.fabric.evaluation import DEADLOCK_COST
from pipelines.fabric.heuristic import RoutedCost
from pipelines.fabric.placing import Bools, Floats, Ints

SCHEDULES = (
    Schedule(moves=150),
    Schedule(moves=150, directed=0.0, hot=1.0, cold=0.5),
    Schedule(moves=40, directed=1.0),
    Schedule(moves=0),
)


class Recorded:
    """A cost model that keeps every move with its costs, and the placements that follow."""

    def __init__(self, model: CostModel) -> None:
        self.model = model
        self.moves: list[tuple[Ints, Ints, Floats]] = []
        self.accepted: list[Bools] = []

    def start(self, units: Ints) -> Floats:
        self.current, costs = units.copy(), self.model.start(units)
        self.first = costs.copy()
        return costs

    def propose(self, moved: Ints, units: Ints) -> Floats:
        costs = self.model.propose(moved, units)
        self.moves.append((moved.copy(), units.copy(), costs.copy()))
        return costs

    def accept(self, accepted: Bools) -> None:
        self.model.accept(accepted)
        self.accepted.append(accepted.copy())


def test_annealing_swaps_and_fills_slots_and_stays_legal(small_graph: Graph, small_fabric: Fabric) -> None:
    model = Recorded(HeuristicCost(small_graph, small_fabric))
    annealed = anneal(small_graph, small_fabric, model, SCHEDULES, seed=1)
    moves = zip(model.moves, model.accepted, strict=True)
    swaps = [moved[accepted, 1] >= 0 for (moved, _, _), accepted in moves]
    assert any(of.any() for of in swaps)
    proposed = np.concatenate([units for _, units, _ in model.moves])
    memory = [small_fabric.unit_types[u] == "memory" for u in range(len(small_fabric.unit_types))]
    counts = [np.bincount(units, minlength=len(memory))[memory].max() for units in proposed]
    assert max(counts) == small_fabric.memory_slots == 2
    for units in np.concatenate([annealed.units, proposed]).tolist():
        require_legal(small_graph, small_fabric, units)


def test_heuristic_costs_of_moves_equal_those_of_whole_placements(
    small_graph: Graph, small_fabric: Fabric
) -> None:
    model = Recorded(HeuristicCost(small_graph, small_fabric))
    anneal(small_graph, small_fabric, model, SCHEDULES, seed=2)
    whole = HeuristicCost(small_graph, small_fabric)
    assert any(accepted.any() for accepted in model.accepted)
    assert any(not accepted[0] for accepted in model.accepted)
    for _, units, costs in model.moves:
        np.testing.assert_allclose(costs, whole.start(units), rtol=1e-9)


def test_the_heuristic_throughput_is_the_inverse_of_the_highest_load(
    small_graph: Graph, small_fabric: Fabric
) -> None:
    heuristic = HeuristicCost(small_graph, small_fabric)
    units = random_placements(small_graph, small_fabric, 8, seed=3)
    throughput, costs = heuristic.throughput(units), heuristic.start(units)
    assert np.all((throughput > 0) & (throughput <= 1))
    loads = heuristic.estimate.loads.max(axis=1)
    np.testing.assert_allclose(throughput, 1 / np.maximum(1.0, loads))
    assert np.all(costs >= -np.log(throughput) - 1e-9)  # a norm is at least the maximum


@pytest.mark.parametrize("kind", ["heuristic", "routed"])
def test_annealing_repeats_itself_and_never_ends_above_its_start(
    kind: str, small_graph: Graph, small_fabric: Fabric, engine_folder: Path
) -> None:
    def model() -> Recorded:
        if kind == "heuristic":
            return Recorded(HeuristicCost(small_graph, small_fabric))
        return Recorded(RoutedCost(small_graph, small_fabric, engine_folder=engine_folder))

    first = model()
    annealed = anneal(small_graph, small_fabric, first, SCHEDULES, seed=4)
    again, other = (anneal(small_graph, small_fabric, model(), SCHEDULES, seed=seed) for seed in (4, 5))
    assert annealed.units.tolist() == again.units.tolist() != other.units.tolist()
    assert annealed.costs.tolist() == again.costs.tolist()
    assert np.all(annealed.costs <= first.first)
    assert annealed.costs[0] < first.first[0] - 0.05
    assert annealed.costs[3] == first.first[3]
    assert annealed.units[3].tolist() == first.current[3].tolist()  # no moves: the random start
    assert annealed.best == tuple(annealed.units[np.argmin(annealed.costs)].tolist())
    assert annealed.moves == 340


def test_costs_of_the_best_placements_are_those_reported(small_graph: Graph, small_fabric: Fabric) -> None:
    annealed = anneal(small_graph, small_fabric, HeuristicCost(small_graph, small_fabric), SCHEDULES, seed=6)
    whole = HeuristicCost(small_graph, small_fabric).start(annealed.units)
    np.testing.assert_allclose(annealed.costs, whole, rtol=1e-9)


def test_simulated_cost_is_minus_the_logarithm_of_throughput(
    small_graph: Graph, small_fabric: Fabric, engine_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = SimulatedCost(small_graph, small_fabric, engine_folder=engine_folder)
    annealed = anneal(small_graph, small_fabric, model, [Schedule(moves=2)] * 2, seed=7)
    assert np.all((annealed.costs > 0) & (annealed.costs < 3))

    class Deadlocked:
        throughput = None

    def deadlocks(graph: Graph, fabric: Fabric, units: Any, **_: Any) -> list[Deadlocked]:
        return [Deadlocked() for _ in units]

    monkeypatch.setattr("pipelines.fabric.evaluation.measure", deadlocks)
    annealed = anneal(small_graph, small_fabric, model, [Schedule(moves=5)] * 2, seed=7)
    assert annealed.costs.tolist() == [DEADLOCK_COST] * 2


def test_random_placements_are_legal_and_follow_their_seed(small_graph: Graph, small_fabric: Fabric) -> None:
    units = random_placements(small_graph, small_fabric, 20, seed=8)
    assert len({tuple(row) for row in units.tolist()}) == 20
    for row in units.tolist():
        require_legal(small_graph, small_fabric, row)
    assert random_placements(small_graph, small_fabric, 20, seed=8).tolist() == units.tolist()


@pytest.mark.parametrize(
    "changes", [{"moves": -1}, {"cold": 0.0}, {"cold": 0.2}, {"directed": 1.1}, {"hot": float("nan")}]
)
def test_a_schedule_rejects_values_that_mean_nothing(changes: dict[str, Any]) -> None:
    with pytest.raises(FabricError, match=r"not a schedule: .*; accepted: moves >= 0, 0 < cold <= hot, dir"):
        Schedule(**changes)


def test_annealing_rejects_a_graph_that_is_too_large(small_graph: Graph, small_fabric: Fabric) -> None:
    tiny = Fabric.model_validate({**small_fabric.model_dump(), "rows": 1})
    with pytest.raises(FabricError, match="graph too large: 8 operations on compute units"):
        anneal(small_graph, tiny, HeuristicCost(small_graph, small_fabric), SCHEDULES)
