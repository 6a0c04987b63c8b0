"""Cost model of place and route: a graph neural network that predicts throughput of a decision.

Belongs here: the network, its training, its use in the annealer. Does not: fabrics, routes and the simulator
(`pipelines.fabric`). Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.tasks import Column, Reference, ReferenceSet, Task

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.pnr_gnn.network import PlacementPredictor
    from pipelines.fabric import CostModel, Fabric, Graph

_VERSION = "2"
"""Raised by hand when the same tables, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        fabric: whose placements are learned from. fold: of graphs, held out.
        annotated: whether service times and loads are features; without them the network knows types,
            operations, stages, and lengths and sharers of routes.
        bounded: whether the most loaded link or port bounds the answer; only with annotations.
        node_features, edge_features: whether there are any, for ablations.
        width: of states. layers: of exchange. embedding: of operations and of stages.
        graphs, placements: of a batch, and of each of its graphs.
        epochs: passes over all graphs. learning_rate: the highest of one cycle. weight_decay: of AdamW.
        loss_width: error of the logarithm below which the loss is quadratic.
        within: weight of the loss of differences between placements of one graph.
    """

    fabric: str = "present"
    fold: int = 0
    annotated: bool = True
    bounded: bool = True
    node_features: bool = True
    edge_features: bool = True
    width: int = 32
    layers: int = 3
    embedding: int = 8
    graphs: int = 6
    placements: int = 10
    epochs: int = 40
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    loss_width: float = 0.05
    within: float = 1.0


def cost_model(
    fabric: Fabric, graph: Graph, *, predictor: PlacementPredictor, engine_folder: Path
) -> CostModel:
    """Return a trained network as a cost model of the annealer."""
    from models.pnr_gnn.cost import LearnedCost  # lazy import: loads torch

    return LearnedCost(predictor, graph, fabric, engine_folder=engine_folder)


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.pnr_gnn.data import placement_reference  # lazy import: reads tables

    return placement_reference(reference)


def _reference_groups(reference: Reference) -> frozenset[str]:
    from models.pnr_gnn.data import reference_graphs

    return frozenset(graph.layer for graph in reference_graphs(reference))


_EXAMPLE_FABRIC = (
    '{"name": "small", "rows": 1, "columns": 2, "pattern": ["CM"], "link_words": 1, "port_words": 1, '
    '"operations": {"gemm": {"unit": "compute", "rate": 1}, "buffer": {"unit": "memory", "rate": 1}}}'
)
_EXAMPLE_GRAPH = (
    '{"name": "one", "nodes": [{"name": "x", "kind": "buffer", "stage": 0, "work": 8}, '
    '{"name": "y", "kind": "gemm", "stage": 1, "work": 8}], '
    '"edges": [{"source": "x", "target": "y", "words": 8}]}'
)
PLACEMENT_THROUGHPUT = Task(
    name="placement-throughput",
    tables=("fabric_graphs", "fabric_nodes", "fabric_edges", "placements"),
    targets={"throughput": "1"},
    level="placements",
    metric="absolute percentage error of throughput, at most 100 %, mean over placements of a graph",
    baseline="the heuristic: isolated rates and estimated congestion",
    question=(
        Column(name="graph", kind="string", example=_EXAMPLE_GRAPH),
        Column(name="fabric", kind="string", example=_EXAMPLE_FABRIC),
        Column(name="units", kind="string", example="1 0"),
        Column(name="routes", kind="string", example="w"),
    ),
    reference=Reference(
        release="releases/fabric-v1",
        split="fold",
        parts=("blocks-present 0", "models-present"),
        minimum_programs=50,
    ),
    reference_set=_reference_set,
    reference_groups=_reference_groups,
)


def _train(data: TrainingInput) -> Trained:
    from models.pnr_gnn.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> PlacementPredictor:
    from models.pnr_gnn.network import load

    return load(files)


PREDICTOR = PredictorSpec(
    name="pnr-gnn",
    version=_VERSION,
    description="A graph neural network over used units and routes (learned cost model for place and route).",
    task=PLACEMENT_THROUGHPUT,
    options=FitOptions,
    train_with=_train,
    load_with=_load,
    answers=(Column(name="throughput"),),
    libraries=("torch", "torch-geometric", "lightning", "numpy"),
    requirements=("pydantic", "pyyaml"),
)
