"""Layers as graphs: stages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.fabric import MODEL_FAMILIES, TRAINING_FAMILIES, family_graphs, read_fabric


@pytest.mark.parametrize("name", ["present", "past"])
@pytest.mark.parametrize("family", [*TRAINING_FAMILIES, *MODEL_FAMILIES])
def test_every_edge_goes_to_a_later_stage(family: str, name: str, repository: Path) -> None:
    fabric = read_fabric(repository / "conf" / "fabric" / f"{name}.yaml")
    for graph in family_graphs(family, fabric, seed=1):
        stages = {node.name: node.stage for node in graph.nodes}
        latest = {
            edge.target: max(
                stages[other.source]
                for other in graph.edges
                if other.target == edge.target and not other.source.endswith(".weights")
            )
            for edge in graph.edges
        }
        assert all(stages[target] == stage + 1 for target, stage in latest.items())
