"""The placement network: its data, training, answers, and its use by the annealer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.base import PredictorError
from models.catalogue import TrainingInput
from models.model_files import model_bytes, read_model, write_folder
from models.pnr_gnn import PLACEMENT_THROUGHPUT, PREDICTOR, FitOptions, cost_model
from models.pnr_gnn.cost import SMOOTH_SHARE, LearnedCost
from models.pnr_gnn.data import PlacedGraph, read_placed, training_graphs
from models.pnr_gnn.network import (
    Exchange,
    PlacementNetwork,
    PlacementPredictor,
    joined,
    load,
    tensors_of,
    with_routes,
)
from models.pnr_gnn.train import fit_placements, train
from models.tasks import DatasetError, Reference
from pipelines.base.cache import ContentCache
from pipelines.fabric import Fabric, Graph, PlacementGroup, Schedule, anneal
from pipelines.fabric.dataset import encode_routes, make_placements
from pipelines.fabric.features import GraphFeatures, RouteReader
from pipelines.fabric.heuristic import routed_costs
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import ROUTE_FEATURES
from pipelines.schemas import table_spec, write_table
from tests.fabric.small_layers import small_fabric, small_layer

SMALL = FitOptions(fabric="small", width=8, layers=2, epochs=2)
SEEDS = 4


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> ContentCache:
    return ContentCache(folder=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def folder(cache: ContentCache, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of placements of four small layers in groups few and odd; those of odd are of BERT-large."""
    data = tmp_path_factory.mktemp("placements")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.fabric.dataset.layer_operations", lambda _, seed: small_layer(seed))
        few = PlacementGroup(name="few", families=("ffn",), draws=SEEDS, placements=8, moves=60)
        for group in (few, replace(few, name="odd", families=("bert_large",), seed=1)):
            made = make_placements(group, small_fabric(), cache=cache, workers=1, on_progress=lambda _: None)
            for name in ("graphs", "nodes", "edges"):
                write_table(data, table_spec(f"fabric_{name}"), getattr(made, name), group.name)
            write_table(data, table_spec("placements"), made.placements, group.name)
    return data


@pytest.fixture(scope="module")
def graphs(folder: Path) -> list[PlacedGraph]:
    return read_placed([folder], groups=["few"])


def untrained(seed: int = 0, **settings: Any) -> PlacementPredictor:
    kinds = ["add", "buffer", "gelu", "gemm", "layernorm", "weights"]
    sizes = {"kinds": len(kinds) + 1, "width": 8, "layers": 2, "embedding": 4, **settings}
    torch.manual_seed(seed)
    network = PlacementNetwork(**sizes).eval()
    vocabulary = {kind: number for number, kind in enumerate(kinds, start=1)}
    return PlacementPredictor(network=network, vocabulary=vocabulary, settings=sizes, about="none")


@pytest.fixture(scope="module")
def trained(graphs: list[PlacedGraph]) -> PlacementPredictor:
    return fit_placements(graphs, SMALL, seed=0)[0]


# ---- data and training -----------------------------------------------------------------------------------


def test_placed_graphs_are_read_by_group_fold_and_fabric(folder: Path, graphs: list[PlacedGraph]) -> None:
    assert {graph.group for graph in graphs} == {"few"}
    assert len({graph.layer for graph in graphs}) == SEEDS
    every = read_placed([folder])
    assert {graph.family for graph in every} == {"ffn", "bert_large"}
    assert [graph.graph_id for graph in every] == sorted(graph.graph_id for graph in every)
    fold = graphs[0].fold
    assert {graph.fold for graph in read_placed([folder], folds=[fold])} == {fold}
    assert read_placed([folder], fabric="other") == []
    for graph in graphs:
        assert graph.routes.shape == (len(graph.throughput), len(graph.graph.edges), len(ROUTE_FEATURES))
        assert np.all((graph.throughput > 0) & (graph.throughput <= 1))


def test_placed_graphs_rejects_a_folder_without_tables(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no Parquet files of table fabric_graphs"):
        read_placed([tmp_path])


@pytest.mark.slow
def test_the_network_overfits_a_few_placements(graphs: list[PlacedGraph]) -> None:
    options = FitOptions(width=16, layers=2, epochs=150, learning_rate=1e-2, weight_decay=0.0)
    few = sorted(graphs, key=lambda graph: np.ptp(graph.throughput))[-2:]
    assert all(np.ptp(graph.throughput) > 0.05 for graph in few)
    predictor, curves = fit_placements(few, options, seed=0)
    errors = [predictor.throughput(g.features, g.routes) / g.throughput - 1 for g in few]
    assert np.abs(np.concatenate(errors)).max() < 0.02
    curve = curves["train_loss"]
    assert curve[-1] < curve[0] / 20


def test_training_twice_gives_the_same_bits(graphs: list[PlacedGraph], trained: PlacementPredictor) -> None:
    again, _ = fit_placements(graphs, SMALL, seed=0)
    other, _ = fit_placements(graphs, SMALL, seed=1)
    first, second, third = (p.files.arrays for p in (trained, again, other))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert any(not np.array_equal(first[name], third[name]) for name in first)


def test_training_leaves_the_held_out_fold_and_the_models_out(
    folder: Path, graphs: list[PlacedGraph]
) -> None:
    fold = graphs[0].fold
    options = replace(SMALL, fold=fold, epochs=1)
    data = TrainingInput(data_dirs=(folder,), dataset_hash="", options=options, seed=0)
    learned = train(data)
    held_out = {
        graph.graph.shape
        for graph in read_placed([folder])
        if graph.family == "bert_large" or graph.fold == fold
    }
    rest = [graph for graph in graphs if graph.fold != fold and graph.graph.shape not in held_out]
    assert learned.seen_groups == sorted({graph.layer for graph in rest})
    assert learned.summary == {"graphs": len(rest)}
    nothing = replace(data, options=replace(options, fabric="other"))
    with pytest.raises(PredictorError, match="no placements of building blocks on fabric other to learn"):
        train(nothing)


def test_a_graph_that_equals_a_held_out_one_is_not_learned_from(graphs: list[PlacedGraph]) -> None:
    first = graphs[0]
    twin = replace(first, layer="other", fold=(first.fold + 1) % 5, graph_id="twin")
    model = replace(first, family="bert_large", graph_id="model")
    other = next(graph for graph in graphs if graph.graph.shape != first.graph.shape)
    apart = (first.fold + 2) % 5
    known = [twin, replace(other, fold=apart)]
    assert training_graphs(known, fold=first.fold) == known
    assert training_graphs([first, *known], fold=first.fold) == known[1:]
    assert training_graphs([model, *known], fold=first.fold) == known[1:]


def test_a_predictor_survives_its_files(
    trained: PlacementPredictor, graphs: list[PlacedGraph], tmp_path: Path
) -> None:
    write_folder(tmp_path / "model", model_bytes(PREDICTOR.name, trained.files))
    name, files = read_model(tmp_path / "model")
    assert name == "pnr-gnn"
    again = load(files)
    for graph in graphs:
        expected = trained.throughput(graph.features, graph.routes)
        assert again.throughput(graph.features, graph.routes).tolist() == expected.tolist()
    assert again.about == f"{len(graphs)} graphs on fabric small, without fold 0, seed 0"
    other = replace(files, card={**files.card, "features": {}})
    with pytest.raises(
        PredictorError, match="features of pnr-gnn are not those of this version; train again"
    ):
        load(other)


# ---- answers ---------------------------------------------------------------------------------------------


def test_an_answer_does_not_depend_on_the_others_of_a_batch(graphs: list[PlacedGraph]) -> None:
    predictor = untrained()
    together = [predictor.throughput(graph.features, graph.routes) for graph in graphs]
    for graph, answers in zip(graphs, together, strict=True):
        alone = [predictor.throughput(graph.features, routes[None])[0] for routes in graph.routes[:2]]
        np.testing.assert_allclose(answers[:2], alone, rtol=1e-5)
    parts = [
        with_routes(tensors_of(g.features, predictor.vocabulary, len(g.routes)), g.features, g.routes)
        for g in graphs
    ]
    with torch.inference_mode():
        answers = np.exp(predictor.network(joined(parts)).numpy())
    np.testing.assert_allclose(answers, np.concatenate(together), rtol=1e-5)
    assert np.ptp(answers) > 0.01


def test_the_order_of_operations_and_edges_changes_nothing(graphs: list[PlacedGraph]) -> None:
    graph, predictor, rng = graphs[0], untrained(), np.random.default_rng(1)
    of, edges = graph.features, rng.permutation(len(graph.features.sources))
    nodes = rng.permutation(len(of.kinds))
    place = np.argsort(nodes)  # new number of every operation
    shuffled = GraphFeatures(
        kinds=tuple(of.kinds[n] for n in nodes),
        is_memory=of.is_memory[nodes],
        stages=of.stages[nodes],
        nodes=of.nodes[nodes],
        sources=place[of.sources[edges]],
        targets=place[of.targets[edges]],
        edges=of.edges[edges],
    )
    answers = predictor.throughput(shuffled, graph.routes[:, edges])
    np.testing.assert_allclose(answers, predictor.throughput(of, graph.routes), rtol=1e-5)
    turned = replace(of, sources=of.targets, targets=of.sources)
    assert not np.allclose(predictor.throughput(turned, graph.routes), answers, rtol=1e-5)


def test_an_exchange_equals_plain_loops() -> None:
    torch.manual_seed(2)
    exchange, ends = Exchange(4), [(0, 1), (0, 2), (1, 2), (0, 2)]
    nodes, edges = torch.randn(4, 4), torch.randn(4, 4)  # node 3 has no edges
    with torch.no_grad():
        found_nodes, found_edges = exchange(nodes, edges, torch.tensor(ends).T)
        for number, (source, target) in enumerate(ends):
            inner = exchange.of_source(nodes[source]) + exchange.of_target(nodes[target])
            inner += exchange.of_edge(edges[number])
            edges[number] += exchange.edge_out(torch.relu(inner))
        for node in range(len(nodes)):
            parts = [nodes[node]]
            for end in (1, 0):  # incoming, then outgoing
                of = [edges[n] for n, pair in enumerate(ends) if pair[end] == node] or [torch.zeros(4)]
                parts += [torch.stack(of).mean(dim=0), torch.stack(of).amax(dim=0)]
            expected = exchange.norm(nodes[node] + exchange.node(torch.cat(parts)))
            torch.testing.assert_close(found_nodes[node], expected)
    torch.testing.assert_close(found_edges, edges)


def test_an_unknown_operation_has_an_answer_of_its_own(graphs: list[PlacedGraph]) -> None:
    graph, predictor = graphs[0], untrained()
    renamed = replace(graph.features, kinds=("fft", *graph.features.kinds[1:]))
    other = replace(graph.features, kinds=("conv", *graph.features.kinds[1:]))
    answers = predictor.throughput(renamed, graph.routes)
    assert np.all((answers > 0) & (answers <= 1))
    assert answers.tolist() == predictor.throughput(other, graph.routes).tolist()
    assert answers.tolist() != predictor.throughput(graph.features, graph.routes).tolist()


LOADS = [ROUTE_FEATURES.index(name) for name in ("highest_load", "summed_load", "port_load")]


def heavier(graph: PlacedGraph) -> tuple[GraphFeatures, np.ndarray[Any, Any]]:
    """The same graph and routes with other annotations."""
    routes = graph.routes.copy()
    routes[:, :, LOADS] *= 3
    features = replace(graph.features, nodes=graph.features.nodes * 2, edges=graph.features.edges * 3)
    return features, routes


def test_a_network_without_annotations_sees_no_loads_and_no_times(graphs: list[PlacedGraph]) -> None:
    graph = graphs[0]
    features, routes = heavier(graph)
    bare, full = untrained(annotated=False), untrained()
    before = bare.throughput(graph.features, graph.routes)
    assert bare.throughput(features, routes).tolist() == before.tolist()
    assert (
        full.throughput(features, routes).tolist() != full.throughput(graph.features, graph.routes).tolist()
    )
    longer = graph.routes.copy()
    longer[:, :, ROUTE_FEATURES.index("hops")] += 2
    assert bare.throughput(graph.features, longer).tolist() != before.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_no_answer_is_above_what_the_most_loaded_link_allows(seed: int, graphs: list[PlacedGraph]) -> None:
    network = untrained(seed)
    with torch.no_grad():
        network.network.regressor[-1].get_parameter("bias").fill_(-9.0)  # nearly all of the bound
    for graph in graphs[:3]:
        features, routes = heavier(graph)
        bound = 1 / np.maximum(1.0, routes[:, :, LOADS].astype(np.float64)[:, :, [0, 2]].max(axis=(1, 2)))
        answers = network.throughput(features, routes)
        assert np.all(answers <= bound * (1 + 1e-6))
        assert np.all(answers > bound * 0.98)
        free = untrained(seed, bounded=False)
        with torch.no_grad():
            free.network.regressor[-1].get_parameter("bias").fill_(-9.0)
        assert np.all(free.throughput(features, routes) > 0.98)


@pytest.mark.parametrize(
    ("setting", "change"),
    [
        ("node_features", lambda f: replace(f, kinds=("fft",) * len(f.kinds), nodes=f.nodes * 2)),
        ("edge_features", lambda f: replace(f, edges=f.edges * 2)),
    ],
)
def test_ablations_leave_features_out(
    setting: str, change: Callable[[GraphFeatures], GraphFeatures], graphs: list[PlacedGraph]
) -> None:
    graph = graphs[0]
    for is_used in (True, False):
        predictor = untrained(**{setting: is_used})
        before, after = (
            predictor.throughput(f, graph.routes) for f in (graph.features, change(graph.features))
        )
        assert (before.tolist() == after.tolist()) == (not is_used)


# ---- the cost model of the annealer ----------------------------------------------------------------------


class Watched:
    """A cost model whose every accepted move is answered again from the routes as a table has them."""

    def __init__(self, model: LearnedCost, graph: Graph, fabric: Fabric) -> None:
        self.model, self.fabric, self.reader = model, fabric, RouteReader(graph, fabric)
        self.checked = 0

    def start(self, units: Ints) -> Floats:
        self.units, costs = units.copy(), self.model.start(units)
        self.check(np.ones(len(units), np.bool_), costs)
        return costs

    def propose(self, moved: Ints, units: Ints) -> Floats:
        self.after, self.costs = units.copy(), self.model.propose(moved, units)
        return self.costs

    def accept(self, accepted: Bools) -> None:
        self.model.accept(accepted)
        self.units[accepted] = self.after[accepted]
        self.check(accepted, self.costs)

    def check(self, accepted: Bools, costs: Floats) -> None:
        for chain in np.flatnonzero(accepted).tolist():
            routes = encode_routes(self.model.router.routing(chain).routes, self.fabric)
            read = self.reader.read(" ".join(map(str, self.units[chain])), routes)
            answer = self.model.predictor.throughput(self.reader.features, read[None])
            expected = SMOOTH_SHARE * routed_costs(read[None])[0] - np.log(answer[0])
            assert costs[chain] == pytest.approx(expected, rel=1e-4, abs=1e-5)
            self.checked += 1


def test_costs_of_moves_equal_answers_to_the_same_routes(
    graphs: list[PlacedGraph], cache: ContentCache
) -> None:
    graph, predictor = graphs[0], untrained()
    engines = cache.folder / "engines"
    model = cost_model(graph.fabric, graph.graph, predictor=predictor, engine_folder=engines)
    assert isinstance(model, LearnedCost)
    watched = Watched(model, graph.graph, graph.fabric)
    annealed = anneal(graph.graph, graph.fabric, watched, [Schedule(moves=20)] * 3, seed=1)
    assert watched.checked > 20
    assert np.all(annealed.costs > 0)


# ---- questions -------------------------------------------------------------------------------------------


def question(**changes: Any) -> dict[str, str]:
    row = {column.name: str(column.example) for column in PLACEMENT_THROUGHPUT.question}
    return {
        **row,
        **{name: value if isinstance(value, str) else json.dumps(value) for name, value in changes.items()},
    }


GRAPH: dict[str, Any] = json.loads(question()["graph"])
FABRIC: dict[str, Any] = json.loads(question()["fabric"])


def test_rows_are_answered_one_by_one(trained: PlacementPredictor) -> None:
    lonely = question(graph={**GRAPH, "edges": []}, routes="")
    rows = [question(), question(fabric={**FABRIC, "link_words": 0.01}), question(), lonely]
    first, slow, again, alone = (row["throughput"] for row in trained.answer(rows))
    assert first == again
    assert 0 < slow < 0.0101 < first <= 1
    assert 0 < alone <= 1
    assert trained.answer([]) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph": "{"}, "row 1: 1 validation error for Graph Invalid JSON"),
        ({"graph": {**GRAPH, "nodes": []}}, "row 1: 1 validation error for Graph nodes"),
        (
            {"graph": {**GRAPH, "edges": [{"source": "x", "target": "w", "words": 8}]}},
            r"row 1: unknown operation at an edge: w \(x to w\)",
        ),
        (
            {"graph": {**GRAPH, "nodes": GRAPH["nodes"] * 2}},
            "row 1: two operations of one name: x",
        ),
        (
            {"fabric": {**FABRIC, "pattern": [""]}},
            "row 1: .*unknown unit in pattern: empty row; accepted: C, M",
        ),
        ({"fabric": {**FABRIC, "pattern": ["CX"]}}, "row 1: .*unknown unit in pattern: X; accepted: C, M"),
        (
            {"fabric": {**FABRIC, "operations": {"fft": {"unit": "compute", "rate": 1}}}},
            "row 1: unknown oper",
        ),
        ({"units": "1 2"}, "row 1: not a placement: '1 2'; accepted: 2 units below 2"),
        ({"units": "0 1", "routes": "e"}, "row 1: x needs a memory unit; 0 is of compute"),
        ({"routes": "w w"}, "row 1: not routes of the graph: 2; it has 1 edges"),
        ({"routes": "e"}, "row 1: not a route: e from unit 1"),
        ({"routes": "-"}, "row 1: route - from unit 1 ends at 1; expected: 0"),
    ],
)
def test_answers_rejects_a_row_and_names_it(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PredictorError, match=f"^{message}"):
        untrained().answer([question(), question(**changes)])


def test_answers_rejects_a_row_without_a_column() -> None:
    row = question()
    del row["units"]
    with pytest.raises(PredictorError, match=r"^row 0: 'units'$"):
        untrained().answer([row])


# ---- the reference set -----------------------------------------------------------------------------------


def test_the_reference_set_scores_graphs_by_their_placements(folder: Path, graphs: list[PlacedGraph]) -> None:
    fold = graphs[0].fold
    reference = Reference(release=str(folder), split="fold", parts=(f"few {fold}", "odd"), minimum_programs=1)
    chosen = PLACEMENT_THROUGHPUT.reference_set(reference)
    every = read_placed([folder])
    judged = [graph for graph in every if graph.group == "odd" or graph.fold == fold]
    assert chosen.programs == tuple(graph.graph_id for graph in judged)
    assert chosen.groups == tuple(graph.layer for graph in judged)
    assert 0 < len(judged) < len(every)
    expected = [np.minimum(1, np.abs(g.heuristic / g.throughput - 1)).mean() for g in judged]
    np.testing.assert_allclose(chosen.baseline_errors, expected)

    class Perfect:
        def throughput(self, features: GraphFeatures, routes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            del features
            return next(graph.throughput for graph in judged if np.array_equal(graph.routes, routes))

    assert not chosen.score(Perfect()).any()
    predictor = untrained()
    answers = [predictor.throughput(g.features, g.routes) for g in judged]
    errors = [
        np.minimum(1, np.abs(a / g.throughput - 1)).mean() for a, g in zip(answers, judged, strict=True)
    ]
    np.testing.assert_allclose(chosen.score(predictor), errors)
