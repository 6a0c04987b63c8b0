"""GNNHLS: graphs of tables and of questions, its messages, training, its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from labelled_nests import NESTS

from models.base import PredictorError, TrainOutcome
from models.gnnhls import PREDICTOR, TrainOptions
from models.gnnhls.graphs import (
    RELATIONS,
    SUMMARY,
    query_graph,
    rows_of_graphs,
    table_graphs,
    vocabulary_of,
)
from models.gnnhls.network import GraphNetwork, joined
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.model_files import model_bytes, read_model, write_folder
from models.query import ALL_TARGETS, Query
from models.scheduled import engine_options
from models.tasks import DatasetError
from models.training import known_huber
from pipelines.schemas import read_table, table_spec, write_table

QUICK = TrainOptions(width=16, layers=2, max_epochs=30, learning_rate=1e-2, bootstrap_resamples=10)
FOREIGN = """void top(float A[40][40], float B[40]) {
  for (int r = 0; r < 9; r++) for (int i = 0; i < 40; i++) { float s = B[i];
    for (int j = 0; j < i; j++) s -= A[i][j] * B[j] / (1.0f + s * s); B[i] = s / A[i][i]; } }
"""


@pytest.fixture(scope="module")
def designs(compiled_data_dir: Path) -> tuple[LabelledDesign, ...]:
    return load_labelled_designs(compiled_data_dir, Selection())


@pytest.fixture(scope="module")
def outcome(compiled_data_dir: Path) -> TrainOutcome:
    return PREDICTOR.train(compiled_data_dir, QUICK, seed=1)


@pytest.mark.sample(2)
@pytest.mark.slow
def test_a_compiled_question_has_the_graph_of_its_rows(
    compiled_data_dir: Path, designs: tuple[LabelledDesign, ...]
) -> None:
    chosen = designs[::25]
    rows = rows_of_graphs(compiled_data_dir, [design.design_id for design in designs])
    vocabulary = vocabulary_of(rows, designs)
    engine = engine_options(compiled_data_dir, designs)
    for design, graph in zip(chosen, table_graphs(rows, chosen, vocabulary, loop_bounds=True), strict=True):
        found = query_graph(design.query, engine, vocabulary, loop_bounds=True)
        for name in ("opcodes", "numbers", "ends", "relations", "summary"):
            np.testing.assert_array_equal(getattr(found, name), getattr(graph, name))
        assert graph.ends.max() < len(graph.opcodes)
        assert set(np.unique(graph.relations)) <= set(range(RELATIONS))
        assert graph.summary[SUMMARY.index("unknown_opcodes")] == 0


@pytest.mark.parametrize("layer", ["rgcn", "gine"])
def test_answers_follow_their_graph_and_not_the_batch(
    layer: str, compiled_data_dir: Path, designs: tuple[LabelledDesign, ...]
) -> None:
    rows = rows_of_graphs(compiled_data_dir, [design.design_id for design in designs])
    vocabulary = vocabulary_of(rows, designs)
    graphs = table_graphs(rows, designs[:3], vocabulary, loop_bounds=True)
    torch.manual_seed(1)
    network = GraphNetwork(
        opcodes=len(vocabulary), layer=layer, width=8, layers=2, dropout=0.0, targets=2
    ).eval()
    network.measure(graphs)
    order = np.random.default_rng(2).permutation(len(graphs[0].opcodes))
    place = np.argsort(order)
    moved = replace(
        graphs[0],
        opcodes=graphs[0].opcodes[order],
        numbers=graphs[0].numbers[order],
        ends=place[graphs[0].ends],
    )
    with torch.no_grad():
        together, alone, permuted = (network(joined(g)) for g in (graphs, graphs[:1], [moved]))
    torch.testing.assert_close(together[:1], alone, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(permuted, alone, rtol=1e-4, atol=1e-5)


@pytest.fixture
def without_graphs(compiled_data_dir: Path, tmp_path: Path) -> Path:
    """The same tables, as a release has them."""
    (tmp_path / "tables").mkdir()
    for name in (compiled_data_dir / "tables").iterdir():
        if not name.name.startswith("cdfg"):
            (tmp_path / "tables" / name.name).symlink_to(name)
    return tmp_path


def test_graphs_that_are_left_out_are_compiled_again(
    without_graphs: Path, compiled_data_dir: Path, designs: tuple[LabelledDesign, ...]
) -> None:
    names = [design.design_id for design in designs[::20]]
    stored, compiled = (rows_of_graphs(folder, names) for folder in (compiled_data_dir, without_graphs))
    assert stored.nodes.drop("suite").equals(compiled.nodes.drop("suite"))
    assert stored.edges.drop("suite").equals(compiled.edges.drop("suite"))


@pytest.mark.slow
def test_training_on_a_release_without_graphs_gives_the_same_network(
    outcome: TrainOutcome, without_graphs: Path
) -> None:
    again = PREDICTOR.train(without_graphs, QUICK, seed=1)
    assert again.key != outcome.key
    assert [row.value for row in again.leaderboard] == [row.value for row in outcome.leaderboard]


def test_graphs_of_another_version_of_the_engine_are_rejected(
    without_graphs: Path, designs: tuple[LabelledDesign, ...]
) -> None:
    spec = table_spec("designs")
    rows = [replace(row, tool_version="0") for row in read_table(without_graphs, spec)]
    (without_graphs / "tables" / "designs").unlink()
    write_table(without_graphs, spec, rows, "tests")
    with pytest.raises(DatasetError, match="its designs are of version 0 of the engine; accepted: "):
        rows_of_graphs(without_graphs, [designs[0].design_id])


def test_unknown_labels_have_no_say_in_the_loss() -> None:
    outputs = torch.tensor([[1.0, 5.0], [0.0, 2.0]], requires_grad=True)
    loss = known_huber(outputs, torch.tensor([[0.5, torch.nan], [0.0, 4.0]]))
    loss.backward()
    assert float(loss.detach()) == pytest.approx((0.125 + 0.0 + 1.5) / 3)
    assert outputs.grad is not None
    assert float(outputs.grad[0, 1]) == 0


def test_the_network_learns_and_survives_its_folder(
    outcome: TrainOutcome, designs: tuple[LabelledDesign, ...]
) -> None:
    assert outcome.metrics["train/mape/area_um2"] < 0.2
    assert {row.target for row in outcome.leaderboard} == set(ALL_TARGETS)
    chosen = [d for d in designs if d.part == "test"][:2]
    answers = PREDICTOR.load(outcome.folder).predict([d.query for d in chosen])
    known = [r for r in outcome.leaderboard if (r.part, r.metric) == ("test", "mape")]
    assert len(known) == len(ALL_TARGETS)
    assert all(
        np.isfinite(list(a.values.values())).all() and a.values.keys() == set(ALL_TARGETS) for a in answers
    )


def test_the_distance_grows_for_a_foreign_program(
    outcome: TrainOutcome, designs: tuple[LabelledDesign, ...]
) -> None:
    predictor = PREDICTOR.load(outcome.folder)
    usual = designs[0].query
    near, far = predictor.predict([usual, replace(usual, source=FOREIGN, directives="[]")])
    assert min(far.spread.values()) > 2 * max(near.spread.values())
    assert "unknown_opcodes" in far.outside_training


def test_prediction_rejects_what_cannot_be_compiled_naming_the_row(outcome: TrainOutcome) -> None:
    good = Query(
        source=NESTS[0].source,
        top="top",
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
    )
    with pytest.raises(PredictorError, match=r"^row 1: "):
        PREDICTOR.load(outcome.folder).predict([good, replace(good, source="void f(")])


def test_loading_rejects_other_features(outcome: TrainOutcome, tmp_path: Path) -> None:
    files = read_model(outcome.folder)[1]
    write_folder(tmp_path / "m", model_bytes("gnnhls", replace(files, card={**files.card, "features": {}})))
    with pytest.raises(PredictorError, match=r"^features of gnnhls are not those of this version"):
        PREDICTOR.load(tmp_path / "m")


@pytest.mark.parametrize("change", [{"layer": "gat"}, {"dropout": 1.0}, {"width": 0}])
def test_options_rejects_values_out_of_range(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^\w+ out of range: .*; accepted: "):
        replace(TrainOptions(), **change)
