"""Training of the numeric language model on real designs: it learns, resumes, answers, refuses bad input."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from labelled_nests import NESTS
from losses import Losses
from numpy.testing import assert_allclose

from models import smollm2
from models.base import PredictorError, TrainOutcome
from models.labelled import Query, Selection, load_labelled_designs
from models.lightgbm import PREDICTORS as TREES
from models.model_files import read_model
from models.numeric_lm import PREDICTORS, TrainOptions
from models.numeric_lm.answers import TARGETS
from models.numeric_lm.data import Example
from models.numeric_lm.starts import fit_starts
from models.numeric_lm.train import Encoded, epoch_batches, undirected_differences
from models.tasks import DatasetError
from pipelines.c import read_interface
from pipelines.dataset.records import summarise_data
from pipelines.programs import data_id, draw_data
from pipelines.schemas import LEADERBOARD_METRICS, read_table, table_spec, write_table

TEXT, STATIC, HLS, RUN = PREDICTORS
OPTIONS = TrainOptions(
    width=32,
    layers=1,
    decoder_width=32,
    decoder_layers=1,
    vocabulary=400,
    dropout=0.0,
    learning_rate=5e-3,
    batch_tokens=1500,
    max_epochs=12,
    patience=12,
    beams=4,
    bootstrap_resamples=10,
)
NEST = NESTS[0]
INTERFACE = read_interface(NEST.source, "top")
QUERY = Query(
    source=NEST.source,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
    directives='[{"kind": "pipeline", "loop": "L0"}]',
    data=summarise_data(draw_data(INTERFACE, "{}", seed=0)),
)


@pytest.fixture(scope="module")
def data_dir(compiled_data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled designs whose runs are on data of their programs."""
    folder = tmp_path_factory.mktemp("numeric-lm") / "data"
    shutil.copytree(compiled_data_dir, folder)
    sources = {row.program_id: row.source for row in read_table(folder, table_spec("programs"))}
    programs = {row.design_id: row.program_id for row in read_table(folder, table_spec("designs"))}
    for table in ("runs", "run_features"):
        rows = read_table(folder, table_spec(table))
        changed = [replace(row, data_id=drawn_id(sources[programs[row.design_id]])) for row in rows]
        write_table(folder, table_spec(table), changed, "tests")
    return folder


def drawn_id(source: str) -> str:
    return data_id(draw_data(read_interface(source, "top"), "{}", seed=0))


@pytest.fixture(scope="module")
def outcome(data_dir: Path) -> TrainOutcome:
    return HLS.train(data_dir, OPTIONS, seed=1)


def test_training_lowers_the_loss_and_reports_every_target(outcome: TrainOutcome) -> None:
    losses = outcome.curves["train_loss"]
    assert losses[-1] < 0.5 * losses[0]
    targets = {row.target for row in outcome.leaderboard}
    assert targets == set(HLS.task.targets) == {*targets, "delay_ns", "power_mw"}
    assert {row.metric for row in outcome.leaderboard} == set(LEADERBOARD_METRICS)
    assert outcome.metrics["test/mape/area_um2"] < 0.5


def test_an_answer_has_interval_confidence_digits_and_level(outcome: TrainOutcome) -> None:
    rows: list[dict[str, Any]] = [{name: getattr(QUERY, name) for name in Query.__dataclass_fields__}]
    without = {name: value for name, value in rows[0].items() if name != "data"}
    answers = HLS.answer(HLS.load(outcome.folder), [*rows, without], outcome)
    for answer in answers:
        assert set(answer) == {column.name for column in HLS.answer_columns}
        for target in HLS.task.targets:
            assert answer[f"{target}_low"] <= answer[target] <= answer[f"{target}_high"]
            for name in ("confidence", "digit_confidence"):
                assert 0 <= answer[f"{target}_{name}"] <= 1
            digits = json.loads(answer[f"{target}_digits"])
            assert all(0 <= digit < 10 and 0 <= chance <= 1 for digit, chance in digits)
        assert answer["level"] == "hls"
    static = ("area_um2", "flip_flop_count", "delay_ns")
    assert_allclose([answers[0][t] for t in static], [answers[1][t] for t in static], rtol=1e-4)


@pytest.mark.slow
def test_an_interrupted_training_gives_the_same_weights(data_dir: Path, tmp_path: Path) -> None:
    options = replace(OPTIONS, max_epochs=4)
    once = TEXT.train(data_dir, options, seed=1, folder=tmp_path / "once")
    with pytest.raises(InterruptedError):
        TEXT.train(data_dir, options, seed=1, folder=tmp_path / "again", loggers=lambda *_: Losses(stop_at=2))
    [checkpoint] = tmp_path.glob("again-*.checkpoints")  # its name has the key of the training
    again = TEXT.train(data_dir, options, seed=1, folder=tmp_path / "again")
    assert again.curves == once.curves
    assert not checkpoint.exists()
    for name, values in read_model(once.folder)[1].arrays.items():
        assert np.array_equal(values, read_model(again.folder)[1].arrays[name]), name


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "change",
    [
        {"base": 2, "ratio": False},
        {"base": 16, "answer": "scientific"},
        {"isolated": False, "magnitudes": False},
        {"program": False, "share": 0.7},
        {"precision": "bf16-mixed", "accumulate": 2},
    ],
    ids=["binary", "scientific", "plain-tokens", "features-only", "bf16"],
)
def test_every_option_trains_and_answers(change: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    outcome = HLS.train(data_dir, replace(OPTIONS, max_epochs=1, **change), folder=tmp_path / "model")
    values = HLS.load(outcome.folder).predict([QUERY])[0].values
    assert np.isfinite(list(values.values())).all()


@pytest.mark.slow
def test_levels_see_what_they_name(data_dir: Path, tmp_path: Path) -> None:
    options = replace(OPTIONS, max_epochs=1)
    levels: tuple[set[str], ...] = (
        *(set(), {"loop_depth"}),
        *({"state_count", "estimated_cycles"}, {"state_count", "run_cycles"}),
    )
    for spec, known in zip(PREDICTORS, levels, strict=True):
        outcome = spec.train(data_dir, options, folder=tmp_path / spec.name)
        card = read_model(outcome.folder)[1].card
        assert (card["level"], set(card["low"]) >= known) == (spec.task.level, True)
        assert bool(card["low"]) == bool(known)
        assert bool(card["ratios"]) == (spec in (HLS, RUN))


@pytest.mark.slow
def test_answers_are_ratios_to_trees_that_did_not_learn_from_the_program(
    data_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=r"^option stacked is of levels text and static, got level hls$"):
        HLS.train(data_dir, replace(OPTIONS, stacked=True))
    outcome = TEXT.train(data_dir, replace(OPTIONS, stacked=True, max_epochs=1), folder=tmp_path / "model")
    predictor = TEXT.load(outcome.folder)
    assert set(predictor.card.ratios) == set(predictor.targets)
    trees = TREES[0].load(TREES[0].train(data_dir, folder=tmp_path / "trees").folder)
    starts = predictor.starts({}, QUERY)
    assert starts == pytest.approx(trees.predict([QUERY])[0].values)
    assert predictor.files.arrays.keys() > {f"trees.trees_{target}" for target in starts}
    learned = [design for design in load_labelled_designs(data_dir, Selection()) if design.part == "train"]
    group, query = learned[0].group, learned[0].query
    changed = [
        replace(d, labels={n: 9 * v for n, v in d.labels.items()}) if d.group == group else d for d in learned
    ]
    (whole, apart), (other_whole, other_apart) = (
        fit_starts(data_dir, own, "text", {}, 0) for own in (learned, changed)
    )
    assert set(apart) == {design.group for design in learned}
    assert fit_starts(data_dir, [d for d in learned if d.group == group], "text", {}, 0)[1] == {}
    assert apart[group].predict([query])[0].values == other_apart[group].predict([query])[0].values
    assert whole.predict([query])[0].values != other_whole.predict([query])[0].values


def test_a_decoder_learns_on_the_states_of_an_installed_language_model(
    data_dir: Path, tmp_path: Path
) -> None:
    if not smollm2.INSTALLED_FOLDER.is_dir():
        pytest.skip("no language model: make LM=1 setup installs it")
    options = replace(OPTIONS, backbone="smollm2", lora_rank=0, stacked=False, max_epochs=3)
    outcome = TEXT.train(data_dir, options, folder=tmp_path / "model")
    losses = outcome.curves["train_loss"]
    assert losses[-1] < losses[0]
    assert (tmp_path / "model" / "weights.safetensors").stat().st_size < 20e6  # without the model's own
    predictor = TEXT.load(outcome.folder)
    changed = replace(QUERY, source=f"/* unused */ static int other(int a) {{ return a; }}\n{QUERY.source}")
    one, other = predictor.predict([QUERY, changed])
    assert one.values == pytest.approx(other.values, rel=1e-4)


def test_level_text_needs_no_report_of_high_level_synthesis(data_dir: Path, tmp_path: Path) -> None:
    """Designs of vendors' tools have none."""
    folder = tmp_path / "data"
    shutil.copytree(data_dir, folder)
    designs = read_table(folder, table_spec("designs"))
    write_table(folder, table_spec("designs"), [replace(d, state_count=None) for d in designs], "tests")
    outcome = TEXT.train(folder, replace(OPTIONS, max_epochs=1), folder=tmp_path / "model")
    assert outcome.metrics["test/mape/area_um2"] > 0
    with pytest.raises(DatasetError, match=r"^no report of high-level synthesis: design "):
        HLS.train(folder, OPTIONS)


def test_training_rejects_runs_on_data_that_the_program_does_not_have(compiled_data_dir: Path) -> None:
    with pytest.raises(DatasetError, match=r"^no run-time data of design .*: a run must be on data of its"):
        TEXT.train(compiled_data_dir, OPTIONS)


def test_questions_that_cannot_be_read_are_rejected_naming_the_row(outcome: TrainOutcome) -> None:
    predictor = HLS.load(outcome.folder)
    long = NEST.source.replace("{", "{" + "C[0] += 1;" * 100_000, 1)
    for bad in (
        replace(QUERY, source=""),
        replace(QUERY, source="this is not C"),
        replace(QUERY, source=long),
        replace(QUERY, directives="no JSON"),
        replace(QUERY, data="no JSON"),
        replace(QUERY, memory_read_delay_cycles=0),
    ):
        with pytest.raises(PredictorError, match=r"^row 1: "):
            predictor.predict([QUERY, bad])


@pytest.mark.parametrize(
    ("option", "value"),
    [("base", 7), ("answer", "words"), ("width", 33), ("dropout", 1.0), ("share", 0.0), ("beams", 0)],
)
def test_options_reject_values_out_of_range(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{option} out of range: {value!r}; accepted: "):
        TrainOptions(**{option: value})


def test_differences_are_to_the_same_run_without_directives(data_dir: Path) -> None:
    design = load_labelled_designs(data_dir, Selection())[0]
    directives = '[{"kind": "pipeline", "loop": "L0"}]'
    one = Example(
        design=design,
        stage="ast",
        query=replace(design.query, directives="[]", data="{}"),
        labels={"area_um2": 100.0, "latency_cycles": 50.0, "power_mw": 0.0},
        features={},
        is_drawn=True,
    )
    fast = replace(
        one,
        query=replace(one.query, directives=directives),
        labels={"area_um2": 200.0, "latency_cycles": 25.0, "power_mw": 1.0},
    )
    other = replace(fast, query=replace(fast.query, clock_period_ns=3.0))
    found = undirected_differences([one, fast, other])
    assert torch.isnan(found).tolist() == [
        [target not in ("area_um2", "latency_cycles") for target in TARGETS],
        [target not in ("area_um2", "latency_cycles") for target in TARGETS],
        [True] * len(TARGETS),
    ]
    assert found[1, TARGETS.index("area_um2")] == pytest.approx(math.log(2))
    assert found[1, TARGETS.index("latency_cycles")] == pytest.approx(-math.log(2))


def test_the_first_epoch_goes_from_ast_to_dataflow_to_llm() -> None:
    lengths = [5, 9, 3, 7, 8, 4]
    encoded = Encoded(
        prompts=[np.zeros(n) for n in lengths],  # pyright: ignore[reportArgumentType]
        classes=torch.zeros(6, 5, 1),
        anchors=torch.zeros(6, 5),
        differences=torch.zeros(6, 5),
        stages=[2, 0, 1, 0, 2, 1],
    )
    options = replace(OPTIONS, batch_tokens=20, curriculum_epochs=1)
    generator = torch.Generator().manual_seed(0)
    for epoch in range(3):
        batches = list(epoch_batches(encoded, range(6), options, epoch, generator))
        order = [encoded.stages[row] for batch in batches for row in batch]
        assert (order == sorted(order)) == (epoch == 0)
        assert sorted(row for batch in batches for row in batch) == list(range(6))
        assert all(len(b) * max(lengths[r] for r in b) <= 20 for b in batches)
