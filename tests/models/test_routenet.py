"""RouteNet: its graphs, one round of messages beside plain loops, training, its file."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
import torch
from numpy.typing import NDArray

from models.base import PredictorError
from models.model_files import ModelFiles, model_bytes, read_model, write_folder
from models.queue_correction.data import SimulatedRun, simulated_run
from models.routenet import PREDICTOR, FitOptions, train
from models.routenet.graph import FLOW_FEATURES, PLACE_FEATURES, QUEUE_FEATURES, Graph, graph_of
from models.routenet.network import RouteNet, RouteNetPredictor, Standard, tensors_of
from models.routenet.train import fit_routenet, measure_features, training_examples
from pipelines.base.cache import ContentCache
from pipelines.network.queueing import NetworkModel, Streams, flow_latency, stream_waits
from pipelines.network.runs import RunGroup, simulate_runs

SMALL = RunGroup(
    name="small",
    network="two_tier",
    edges=2,
    cores=2,
    hosts_per_edge=3,
    parallel_links=1,
    patterns=("all_to_all", "incast"),
    loads=(0.6,),
    arrivals=("ge",),
    sizes=("bimodal",),
    acknowledged=(True, False),
    duration_s=1.0,
    warm_up_s=0.1,
)
QUICK = FitOptions(width=8, rounds=2, epochs=2)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[SimulatedRun]:
    """All to all with and without acknowledgements, then incast."""
    cache = ContentCache(folder=tmp_path_factory.mktemp("cache"))
    made = simulate_runs(SMALL, cache=cache, workers=1, timeout_s=60.0, on_progress=lambda _: None)
    tables = (made.flows, made.hops)
    found = [
        simulated_run(row, *(table.filter(pc.equal(table["run_id"], row.run_id)) for table in tables))
        for row in made.runs
    ]
    return sorted(found, key=lambda run: (run.row.pattern, not run.row.is_acknowledged))


def untrained(graphs: list[Graph], width: int = 8, rounds: int = 2) -> RouteNet:
    torch.manual_seed(3)
    network = RouteNet(width=width, rounds=rounds)
    measure_features(network, [tensors_of(graph) for graph in graphs])
    return network.eval()


def permuted(model: NetworkModel, order: NDArray[np.int64]) -> NetworkModel:
    """The same network with its flows in another order."""
    ways = [
        way and Streams(**{field.name: getattr(way, field.name)[order] for field in fields(Streams)})
        for way in (model.data, model.acks)
    ]
    assert ways[0] is not None
    return replace(model, data=ways[0], acks=ways[1])


def test_a_graph_has_a_place_for_every_queue_of_a_way(runs: list[SimulatedRun]) -> None:
    for run in runs:
        graph, model = graph_of(run.model), run.model
        count = len(run.truth_s)
        places = len(graph.queue)
        assert graph.flows.shape == (count, len(FLOW_FEATURES))
        assert graph.queues.shape == (model.topology.queue_count, len(QUEUE_FEATURES))
        assert graph.places.shape == (places, count, len(PLACE_FEATURES))
        assert graph.queue.shape == graph.utilisation.shape == graph.service_s.shape == (places, count)
        for flow in range(count):
            ways = [model.data.routes[flow]] + ([] if model.acks is None else [model.acks.routes[flow]])
            expected = [queue for way in ways for queue in way.tolist() if queue >= 0]
            assert graph.queue[:, flow].tolist()[: graph.last[flow] + 1] == expected
            is_ack = graph.places[:, flow, PLACE_FEATURES.index("is_ack")]
            assert is_ack.sum() == (0 if model.acks is None else len(expected) / 2)
            assert not graph.utilisation[len(expected) :, flow].any()
            assert not graph.service_s[len(expected) :, flow].any()


def test_a_graph_agrees_with_the_sums_of_theory(runs: list[SimulatedRun]) -> None:
    for run in runs:
        graph, queues = graph_of(run.model), run.model.queues
        base_s = flow_latency(run.model, stream_waits(run.model)).base_s
        np.testing.assert_allclose(graph.base_s, base_s, rtol=1e-6)
        used = queues.rate_per_s > 0
        for name, expected in (
            ("utilisation", queues.utilisation),
            ("service_cv", np.sqrt(queues.service_scv)),
        ):
            found = graph.queues[:, QUEUE_FEATURES.index(name)]
            np.testing.assert_allclose(found[used], expected[used], rtol=1e-4, atol=1e-5)


def test_an_answer_is_at_least_the_time_without_waits(runs: list[SimulatedRun]) -> None:
    graphs = [graph_of(run.model) for run in runs]
    predictor = RouteNetPredictor(network=untrained(graphs), about="")
    for run, graph in zip(runs, graphs, strict=True):
        found = predictor.predict(run.model)
        assert found.shape == run.truth_s.shape
        assert np.all(found > graph.base_s)


def test_a_wait_is_no_longer_than_a_full_queue(runs: list[SimulatedRun]) -> None:
    graph = graph_of(replace(runs[0].model, capacity=4))
    network = untrained([graph])
    with torch.no_grad():
        network.wait[-1].bias.fill_(1e9)
        bounded = network.waits(tensors_of(graph))
        endless = network.waits(tensors_of(graph_of(replace(runs[0].model, capacity=None))))
    assert 3.99 < float(bounded.min()) <= float(bounded.max()) <= 4.0
    assert float(endless.min()) > 1e4


def test_answers_follow_their_flows(runs: list[SimulatedRun]) -> None:
    for run in runs:
        predictor = RouteNetPredictor(network=untrained([graph_of(run.model)]), about="")
        order = np.random.default_rng(1).permutation(len(run.truth_s))
        found = predictor.predict(permuted(run.model, order))
        np.testing.assert_allclose(found, predictor.predict(run.model)[order], rtol=1e-5)


def test_places_after_the_last_have_no_say(runs: list[SimulatedRun]) -> None:
    graph = graph_of(runs[0].model)
    network = untrained([graph])
    after = np.arange(len(graph.queue))[:, None] > graph.last
    assert after.any()  # hosts of one switch have short ways
    changed = replace(
        graph,
        queue=np.where(after, 7, graph.queue),
        places=np.where(after[..., None], np.float32(5.0), graph.places),
    )
    with torch.no_grad():
        answers = [network(tensors_of(given)) for given in (graph, changed)]
    torch.testing.assert_close(answers[0], answers[1], rtol=1e-6, atol=0.0)


def sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-values))


def gru_step(
    state: dict[str, Any], ending: str, given: NDArray[np.float64], hidden: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One step of a gated recurrent unit (Cho et al. 2014, in torch's form)."""
    of_input = np.split(state[f"weight_ih{ending}"] @ given + state[f"bias_ih{ending}"], 3)
    of_hidden = np.split(state[f"weight_hh{ending}"] @ hidden + state[f"bias_hh{ending}"], 3)
    reset, update = sigmoid(of_input[0] + of_hidden[0]), sigmoid(of_input[1] + of_hidden[1])
    new = np.tanh(of_input[2] + reset * of_hidden[2])
    return (1.0 - update) * new + update * hidden


def test_one_round_of_messages_agrees_with_plain_loops(runs: list[SimulatedRun]) -> None:
    graph = graph_of(runs[0].model)
    network = untrained([graph], width=6)
    random = np.random.default_rng(2)
    flows = random.normal(size=(len(graph.flows), 6))
    queues = random.normal(size=(len(graph.queues), 6))
    places = random.normal(size=graph.places.shape)
    given = [torch.from_numpy(values.astype(np.float32)) for values in (places, flows, queues)]
    with torch.no_grad():
        found = network.exchange(tensors_of(graph), *given)
    along, gather = (
        {k: v.numpy() for k, v in m.state_dict().items()} for m in (network.along, network.gather)
    )
    heard = np.zeros_like(queues)
    ends = np.zeros_like(flows)
    for flow in range(len(flows)):
        state = flows[flow]
        for place in range(graph.last[flow] + 1):
            queue = graph.queue[place, flow]
            state = gru_step(along, "_l0", np.concatenate([queues[queue], places[place, flow]]), state)
            np.testing.assert_allclose(found[0][place, flow], state, atol=1e-5)
            heard[queue] += graph.utilisation[place, flow] * state
        ends[flow] = state
    updated = [gru_step(gather, "", message, state) for message, state in zip(heard, queues, strict=True)]
    np.testing.assert_allclose(found[1], ends, atol=1e-5)
    np.testing.assert_allclose(found[2], updated, atol=1e-5)


def test_features_are_standard_and_those_that_never_vary_are_zero() -> None:
    features = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    standard = Standard(2)
    standard.measure(features)
    assert standard(features).tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert standard(torch.tensor([[2.0, 99.0]])).tolist() == [[0.0, 0.0]]


def test_training_fits_one_run(runs: list[SimulatedRun]) -> None:
    run = runs[2]  # incast: ways differ, and a receiver's queue has every flow's packets
    options = FitOptions(width=16, rounds=2, epochs=100, learning_rate=1e-2)
    predictor = fit_routenet(training_examples([run]), options, seed=1, about="one run")
    before = RouteNetPredictor(network=untrained([graph_of(run.model)], width=16), about="")
    errors = [np.abs(p.predict(run.model) / run.truth_s - 1.0).mean() for p in (before, predictor)]
    assert errors[0] > 0.2
    assert errors[1] < 0.03


def test_training_again_gives_the_same_bytes(runs: list[SimulatedRun]) -> None:
    examples = training_examples(runs)
    first, second, other = (
        model_bytes("routenet", fit_routenet(examples, QUICK, seed=seed, about="small").files)
        for seed in (1, 1, 2)
    )
    assert first == second != other


def test_training_is_quiet_and_leaves_global_state_alone(
    runs: list[SimulatedRun], capfd: pytest.CaptureFixture[str]
) -> None:
    before = torch.get_rng_state(), torch.get_num_threads()
    fit_routenet(training_examples(runs), QUICK, seed=1, about="small")
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == torch.get_num_threads()
    assert capfd.readouterr() == ("", "")


def test_training_leaves_out_runs_of_many_flows_and_flows_without_packets(
    runs: list[SimulatedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = sorted({len(run.truth_s) for run in runs})
    assert counts == [5, 30]
    monkeypatch.setattr(train, "FLOW_LIMIT", 29)
    silent = replace(runs[2], truth_s=np.where(np.arange(5) == 3, np.nan, runs[2].truth_s))
    [(graph, counted, targets)] = training_examples([runs[0], silent])
    assert len(graph.flows) == 5
    assert counted.tolist() == [0, 1, 2, 4]
    np.testing.assert_allclose(np.exp(targets.numpy()), runs[2].truth_s[[0, 1, 2, 4]], rtol=1e-5)


def test_training_rejects_no_runs() -> None:
    with pytest.raises(PredictorError, match="no runs of up to 1500 flows to learn from"):
        fit_routenet([], QUICK, seed=1, about="")


@pytest.fixture
def folder(runs: list[SimulatedRun], tmp_path: Path) -> Path:
    """Files of a predictor."""
    predictor = fit_routenet(training_examples(runs), QUICK, seed=1, about="small")
    write_folder(tmp_path / "routenet", model_bytes("routenet", predictor.files))
    return tmp_path / "routenet"


def test_a_folder_gives_the_same_answers(runs: list[SimulatedRun], folder: Path) -> None:
    again = PREDICTOR.load(folder)
    trained = fit_routenet(training_examples(runs), QUICK, seed=1, about="small")
    assert (again.about, again.parameter_count) == ("small", trained.parameter_count)
    for run in runs:
        assert np.array_equal(again.predict(run.model), trained.predict(run.model))


@pytest.mark.parametrize(
    "change",
    [
        {"card": {"width": 9}},
        {"card": {"rounds": "many"}},
        {"arrays": {"gather.bias_ih": np.zeros(3, np.float32)}},
    ],
)
def test_reading_rejects_arrays_of_another_network(folder: Path, change: dict[str, Any]) -> None:
    rewrite(folder, **change)
    with pytest.raises(PredictorError, match="not a predictor of routenet: "):
        PREDICTOR.load(folder)


def test_reading_rejects_other_features(folder: Path) -> None:
    rewrite(folder, card={"features": {"flows": ["scv"]}})
    with pytest.raises(PredictorError, match="features of RouteNet are not those of this version"):
        PREDICTOR.load(folder)


def rewrite(
    folder: Path, *, card: dict[str, Any] | None = None, arrays: dict[str, Any] | None = None
) -> None:
    """Replace parts of the card or arrays of a predictor."""
    files = read_model(folder)[1]
    changed = ModelFiles(card={**files.card, **(card or {})}, arrays={**files.arrays, **(arrays or {})})
    write_folder(folder, model_bytes("routenet", changed))
