"""The surrogate of directives: its graphs, what the network does not depend on, training, its file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from losses import Losses
from pragma_gnn_support import PRODUCT, QUICK, SUMMARIES, TARGET, configurations, designs

from models.base import PredictorError
from models.model_files import model_bytes, write_folder
from models.pragma_gnn import PREDICTOR
from models.pragma_gnn.choices import LOOP_FEATURES, describe_choices
from models.pragma_gnn.graph import EDGES, NODE_FEATURES, ProgramGraph, program_graph
from models.pragma_gnn.network import PragmaGnn, choice_tensors, program_tensors
from models.pragma_gnn.predictor import PragmaGnnPredictor
from models.pragma_gnn.train import apart_of, fit_pragma_gnn
from pipelines.pragmas import Configuration, LoopChoice, PragmaError
from pipelines.pragmas.configuration import FINE

PROGRAMS = ("product", "scale")


@pytest.fixture(scope="module")
def predictor() -> PragmaGnnPredictor:
    """Hardly trained, on both programs."""
    return fit_pragma_gnn(designs(*PROGRAMS), SUMMARIES, TARGET, QUICK, seed=1, about="two programs")


def untrained(**changed: object) -> PragmaGnn:
    torch.manual_seed(3)
    shape = {"width": 8, "rounds": 2, "climbs": 2, "tools": 2, "with_bound": True} | changed
    return PragmaGnn(**shape).eval()  # pyright: ignore[reportArgumentType]


def permuted(graph: ProgramGraph, seed: int) -> tuple[ProgramGraph, np.ndarray]:
    """The same program with its nodes and edges in another order, and where its loops went."""
    random = np.random.default_rng(seed)
    order = {kind: random.permutation(len(rows)) for kind, rows in graph.nodes.items()}
    place = {kind: np.argsort(rows) for kind, rows in order.items()}
    edges, said = {}, {}
    for kind, (source, target) in EDGES.items():
        turn = random.permutation(graph.edges[kind].shape[1])
        first, last = graph.edges[kind][:, turn]
        edges[kind] = np.stack([place[source][first], place[target][last]])
        said[kind] = graph.edge_features[kind][turn]
    loops = order["loop"]
    changed = ProgramGraph(
        loops=tuple(graph.loops[n] for n in loops),
        nodes={kind: rows[order[kind]] for kind, rows in graph.nodes.items()},
        edges=edges,
        edge_features=said,
        parents=graph.parents[loops][:, loops],
    )
    return changed, loops


def test_a_graph_has_the_nodes_and_edges_of_its_program() -> None:
    graph = program_graph(SUMMARIES["product"])
    assert graph.loops == ("L0", "L1", "L2")
    assert {kind: len(rows) for kind, rows in graph.nodes.items()} == {
        "loop": 3,
        "statement": 2,
        "operation": 7,
        "array": 3,
    }
    assert graph.edges["body"].T.tolist() == [[0, 1], [1, 2]]
    assert graph.edges["executes"].T.tolist() == [[1, 0], [2, 1]]
    assert graph.parents.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    trips = graph.nodes["loop"][:, NODE_FEATURES["loop"].index("log_trips")]
    assert np.allclose(np.exp(trips), [8, 8, 16])


def test_features_say_what_is_asked_and_what_tools_make_of_it() -> None:
    configuration = Configuration(loops={"L1": LoopChoice(pipeline=FINE), "L0": LoopChoice(unroll=4)})
    found = describe_choices(SUMMARIES["product"], [configuration], TARGET)
    unroll = dict(zip(LOOP_FEATURES["unroll"], np.exp(found.loops["unroll"][0]).T, strict=True))
    assert np.allclose(unroll["log_asked"], [4, 1, 1])
    assert np.allclose(unroll["log_made"], [4, 1, 16])  # the loop inside a pipeline is unrolled
    around = dict(zip(LOOP_FEATURES["around"], found.loops["around"][0].T, strict=True))
    assert around["in_pipeline"].tolist() == [0, 0, 1]
    assert np.allclose(around["log_copies_around"], np.log([1, 4, 4]))
    assert np.allclose(around["log_partitions"][0], math.log(16 * 4))  # a: i by 4, k by 16


def test_features_reject_a_loop_that_is_not_there() -> None:
    with pytest.raises(PragmaError, match="unknown loop: L9"):
        describe_choices(SUMMARIES["product"], [Configuration(loops={"L9": LoopChoice()})], TARGET)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_order_of_nodes_does_not_matter(program: str) -> None:
    network, graph = untrained(), program_graph(SUMMARIES[program])
    choices = describe_choices(SUMMARIES[program], configurations(program), TARGET)
    other, loops = permuted(graph, seed=5)
    turned = replace(choices, loops={group: rows[:, loops] for group, rows in choices.loops.items()})
    tools = [[1] * len(choices)]
    with torch.inference_mode():
        before = network(program_tensors([graph]), choice_tensors([choices], tools))
        after = network(program_tensors([other]), choice_tensors([turned], tools))
    assert torch.allclose(before, after, atol=1e-5)
    assert before.std() > 1e-4


def test_programs_side_by_side_answer_as_each_alone() -> None:
    network = untrained()
    graphs = [program_graph(SUMMARIES[name]) for name in PROGRAMS]
    choices = [describe_choices(SUMMARIES[name], configurations(name), TARGET) for name in PROGRAMS]
    tools = [[1] * len(c) for c in choices]
    with torch.inference_mode():
        together = network(program_tensors(graphs), choice_tensors(choices, tools))
        alone = [
            network(program_tensors([g]), choice_tensors([c], [t]))
            for g, c, t in zip(graphs, choices, tools, strict=True)
        ]
    assert torch.allclose(together, torch.cat(alone), atol=1e-5)


def test_a_batch_answers_as_its_configurations_one_by_one(predictor: PragmaGnnPredictor) -> None:
    surrogate = predictor.surrogate(SUMMARIES["product"])
    asked = configurations("product")
    single = [surrogate.predict([configuration])[0] for configuration in asked]
    assert np.allclose(surrogate.predict(asked), single, rtol=1e-5)
    assert surrogate.predict([]).shape == (0,)


@pytest.mark.parametrize(
    "changed", [LoopChoice(pipeline=FINE), LoopChoice(unroll=2), LoopChoice(tile=4), LoopChoice(interval=3)]
)
def test_a_changed_directive_changes_the_answer(predictor: PragmaGnnPredictor, changed: LoopChoice) -> None:
    surrogate = predictor.surrogate(SUMMARIES["product"])
    plain, other = surrogate.predict([Configuration(), Configuration(loops={"L1": changed})])
    seen = [
        describe_choices(SUMMARIES["product"], [Configuration(loops=loops)], TARGET)
        for loops in ({}, {"L1": changed})
    ]
    assert plain != other or changed.interval > 1  # never varied in training, so that it may not count
    assert any(not np.array_equal(seen[0].loops[g], seen[1].loops[g]) for g in seen[0].loops)


def test_a_tool_that_was_not_trained_on_counts_as_any(predictor: PragmaGnnPredictor) -> None:
    surrogate = predictor.surrogate(SUMMARIES["scale"])
    asked = configurations("scale")
    assert np.array_equal(surrogate.predict(asked), surrogate.predict(asked, tool="another"))
    assert not np.array_equal(surrogate.predict(asked), surrogate.predict(asked, tool="some-tool"))


def test_answers_are_the_bound_times_the_exponential_of_the_output(predictor: PragmaGnnPredictor) -> None:
    surrogate = predictor.surrogate(SUMMARIES["product"])
    choices = describe_choices(SUMMARIES["product"], configurations("product"), TARGET)
    doubled = replace(choices, log_bound=choices.log_bound + np.float32(math.log(2.0)))
    assert np.allclose(surrogate.log_latency(doubled) - surrogate.log_latency(choices), math.log(2.0))


def test_without_the_bound_nothing_of_it_is_read() -> None:
    options = replace(QUICK, with_bound=False)
    found = fit_pragma_gnn(designs(*PROGRAMS), SUMMARIES, TARGET, options, seed=1, about="")
    surrogate = found.surrogate(SUMMARIES["product"])
    choices = describe_choices(SUMMARIES["product"], configurations("product"), TARGET)
    other = replace(
        choices,
        log_bound=choices.log_bound + 1,
        loops={**choices.loops, "bound": choices.loops["bound"] + 1},
        whole={**choices.whole, "whole_bound": choices.whole["whole_bound"] + 1},
    )
    assert np.array_equal(surrogate.log_latency(choices), surrogate.log_latency(other))


@pytest.mark.slow
def test_it_can_learn_a_batch_by_heart() -> None:
    measured = designs(*PROGRAMS)
    options = replace(
        QUICK, width=24, epochs=10, steps=30, batch=48, dropout=0.0, weight_decay=0.0, learning_rate=1e-2
    )
    found = fit_pragma_gnn(measured, SUMMARIES, TARGET, options, seed=2, about="")
    for program in PROGRAMS:
        asked = [d for d in measured if d.program == program]
        answers = found.surrogate(SUMMARIES[program]).predict(
            [d.configuration for d in asked], [d.bound for d in asked], tool="some-tool"
        )
        assert np.abs(np.log(answers / [d.latency_cycles for d in asked])).max() < 0.1


def test_the_same_seed_gives_the_same_bytes() -> None:
    def trained(seed: int) -> bytes:
        options = replace(QUICK, validation_share=0.3, members=2)
        found = fit_pragma_gnn(designs(*PROGRAMS), SUMMARIES, TARGET, options, seed=seed, about="x")
        return model_bytes("pragma-gnn", found.files)["weights.safetensors"]

    first = trained(1)
    assert first == trained(1)
    assert first != trained(2)


def test_training_stops_when_validation_gets_no_better() -> None:
    losses = Losses()
    options = replace(QUICK, validation_share=0.3, epochs=30, patience=2, learning_rate=0.3)
    fit_pragma_gnn(
        designs("scale"),
        SUMMARIES,
        TARGET,
        options,
        seed=1,
        about="",
        loggers=lambda _: losses,
    )
    assert 2 < len(losses.epochs) < 30


def test_training_may_be_stopped_by_programs_of_their_own() -> None:
    measured = designs(*PROGRAMS)
    options = replace(QUICK, validation_share=0.5, validate_programs=True)
    for seed in range(4):
        apart = apart_of(measured, options, seed, {})
        assert len({d.program for d, there in zip(measured, apart, strict=True) if there}) == 1
        assert apart.sum() == len(measured) / 2
    assert fit_pragma_gnn(measured, SUMMARIES, TARGET, options, seed=1, about="").members


def test_programs_of_one_group_stop_the_training_together() -> None:
    """One group of two is not half of the groups, so none of its programs is apart."""
    measured = designs(*PROGRAMS)
    options = replace(QUICK, validation_share=0.4, validate_programs=True)
    assert apart_of(measured, options, 0, {}).any()
    assert not apart_of(measured, options, 0, dict.fromkeys(PROGRAMS, "one")).any()


def test_training_rejects_a_validation_part_of_everything() -> None:
    options = replace(QUICK, validation_share=1.0, validate_programs=True)
    message = "all 36 designs are in the validation part, none is left to learn from"
    with pytest.raises(PredictorError, match=message):
        fit_pragma_gnn(designs(*PROGRAMS), SUMMARIES, TARGET, options, seed=1, about="")


def test_training_rejects_no_designs() -> None:
    with pytest.raises(PredictorError, match="no measured designs to learn from"):
        fit_pragma_gnn([], SUMMARIES, TARGET, QUICK, seed=1, about="")


def test_a_folder_answers_as_what_was_written(predictor: PragmaGnnPredictor, tmp_path: Path) -> None:
    write_folder(tmp_path / "surrogate", model_bytes("pragma-gnn", predictor.files))
    read = PREDICTOR.load(tmp_path / "surrogate")
    assert (read.about, read.shape, read.target) == (predictor.about, predictor.shape, predictor.target)
    asked = configurations("product")
    before, after = (p.surrogate(SUMMARIES["product"]).predict(asked) for p in (predictor, read))
    assert np.array_equal(before, after)
    assert model_bytes("pragma-gnn", read.files) == model_bytes("pragma-gnn", predictor.files)


def test_reading_rejects_other_features(predictor: PragmaGnnPredictor, tmp_path: Path) -> None:
    other = replace(predictor.files, card={**predictor.files.card, "features": {}})
    write_folder(tmp_path / "surrogate", model_bytes("pragma-gnn", other))
    with pytest.raises(PredictorError, match="features of the surrogate are not those of this version"):
        PREDICTOR.load(tmp_path / "surrogate")


def test_questions_are_answered_row_by_row(predictor: PragmaGnnPredictor) -> None:
    configuration = '{"caches": null, "loops": {"L1": ["fine", 1, 1, 1]}}'
    row = {"source": PRODUCT, "top": "product", "configuration": configuration}
    [answer] = PREDICTOR.answer(predictor, [row])
    assert answer["latency_cycles"] > 0
    assert answer["bound_cycles"] > 0
    with pytest.raises(PredictorError, match=r"^row 1: "):
        PREDICTOR.answer(predictor, [row, row | {"configuration": "no JSON"}])
