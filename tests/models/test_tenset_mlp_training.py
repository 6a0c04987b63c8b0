"""Training of Tenset-MLP: it learns, repeats exactly, resumes, and refuses data that is not fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from labelled_nests import NESTS, QUICK, write_tables
from losses import Losses
from torch.optim import AdamW

from models.base import PredictorError, TrainOutcome
from models.labelled import Query, Selection, load_labelled_designs
from models.model_files import model_bytes, read_model, write_folder
from models.tasks import DatasetError, TooFewRows
from models.tenset_mlp import PREDICTOR, TrainOptions
from models.tenset_mlp.features import facts_of, features_of
from models.tenset_mlp.network import arrays_of, untrained_network
from models.tenset_mlp.predictor import TensetMlpPredictor, answer_of, array_shapes
from models.tenset_mlp.train import matrices_of
from models.training import LabelRegression
from pipelines.programs import fields_of_kernels
from pipelines.schemas import SchemaError, read_table, table_spec, write_table


def train(data_dir: Path, options: TrainOptions = QUICK, seed: int = 1) -> TrainOutcome:
    return PREDICTOR.train(data_dir, options, seed=seed)


def rewrite(data_dir: Path, table: str, change: Callable[[Any], Any]) -> None:
    """Replace every row of a table by what `change` makes of it; None drops the row."""
    spec = table_spec(table)
    changed = [change(row) for row in read_table(data_dir, spec)]
    write_table(data_dir, spec, [row for row in changed if row is not None], "tests")


@pytest.fixture(scope="module")
def outcome(lasting_data_dir: Path) -> TrainOutcome:
    return train(lasting_data_dir, TrainOptions(bootstrap_resamples=50))


def test_network_agrees_with_plain_numpy() -> None:
    network = untrained_network(5, 3, (8, 4), 0.5, seed=3).eval()
    features = np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32)
    state = arrays_of(network)
    hidden = features
    for layer in ("layers.0", "layers.3"):
        hidden = np.maximum(hidden @ state[f"{layer}.weight"].T + state[f"{layer}.bias"], 0)
    expected = hidden @ state["layers.6.weight"].T + state["layers.6.bias"]
    expected = expected + features @ state["linear.weight"].T
    with torch.no_grad():
        found = network(torch.from_numpy(features)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(answer_of(state, features), found, rtol=1e-5, atol=1e-6)
    assert {name: values.shape for name, values in state.items()} == array_shapes(5, 3, (8, 4))


def test_model_overfits_one_batch() -> None:
    torch_random = torch.Generator().manual_seed(2)
    features = torch.randn(8, 6, generator=torch_random)
    targets = torch.randn(8, 3, generator=torch_random)
    model = LabelRegression(untrained_network(6, 3, (64,), 0.0, seed=1), learning_rate=1e-2, weight_decay=0.0)
    optimizer = model.configure_optimizers()
    assert isinstance(optimizer, AdamW)
    for _ in range(200):
        optimizer.zero_grad()
        loss = model.loss((features, targets))
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 1e-4


@pytest.mark.slow
def test_training_learns_the_law_behind_the_labels(outcome: TrainOutcome) -> None:
    # guessing the geometric mean of the training labels gives a MAPE above 1 in cycles
    assert outcome.metrics["train/mape/latency_cycles"] < 0.15
    assert outcome.metrics["test/mape/latency_cycles"] < 0.5
    assert outcome.metrics["test/mape/area_um2"] < 0.1
    assert outcome.metrics["test/spearman/latency_cycles"] > 0.9


def test_training_records_curves_and_counts(outcome: TrainOutcome) -> None:
    lengths = {name: len(curve) for name, curve in outcome.curves.items()}
    assert lengths == {"train_loss": 150, "validation_loss": 150}
    assert outcome.summary == {
        "kept_epoch": 149,
        "parameter_count": 5232,
        "train_designs": 48,
        "validation_designs": 8,
        "test_designs": 16,
        "evaluation_designs": 0,
    }
    assert outcome.seen_groups == tuple(sorted({n.name for n in NESTS} - {"nest-2-2", "nest-3-1"}))


def test_training_stops_at_the_best_validation_epoch_when_it_has_groups_enough(
    data_dir: Path,
) -> None:
    options = replace(QUICK, stopping_groups=1, max_epochs=500, learning_rate=0.05, patience=5)
    outcome = train(data_dir, options)
    losses = outcome.curves["validation_loss"]
    kept = int(outcome.summary["kept_epoch"])
    assert losses[kept] == min(losses)
    assert len(losses) == kept + 1 + 5 < 500


def test_kernels_of_written_are_of_the_family_of_their_field(data_dir: Path) -> None:
    kernels = dict(zip([n.program_id for n in NESTS], sorted(fields_of_kernels()), strict=False))
    rewrite(data_dir, "programs", lambda r: replace(r, suite="written", name=kernels[r.program_id]))
    rewrite(data_dir, "splits", lambda r: replace(r, part="fields") if r.part == "test" else r)
    rewrite(data_dir, "splits", lambda r: replace(r, part="test") if r.part == "validation" else r)
    designs = load_labelled_designs(data_dir, Selection())
    assert {d.family for d in designs} == {f"written/{fields_of_kernels()[k]}" for k in kernels.values()}
    outcome = train(data_dir, replace(QUICK, max_epochs=1))
    assert outcome.summary["fields_designs"] == sum(d.part == "fields" for d in designs) > 0
    assert "fields" in {row.part for row in outcome.leaderboard}


def test_training_needs_no_validation_part(data_dir: Path) -> None:
    rewrite(data_dir, "splits", lambda r: replace(r, part="train") if r.part == "validation" else r)
    outcome = train(data_dir, replace(QUICK, max_epochs=3))
    assert list(outcome.curves) == ["train_loss"]
    assert {row.part for row in outcome.leaderboard} == {"train", "test"}


@pytest.mark.slow
def test_training_again_gives_the_same_bytes(tmp_path: Path) -> None:
    folders = [train(write_tables(tmp_path / name, NESTS)).folder for name in ("a", "b")]
    for name in ("weights.safetensors", "model.json", "predictions.json", "outcome.json"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_training_leaves_global_state_alone(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = data_dir.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    before = torch.get_rng_state(), torch.get_num_threads()
    train(data_dir, replace(QUICK, max_epochs=2))
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == torch.get_num_threads()
    assert not torch.are_deterministic_algorithms_enabled()
    assert list(elsewhere.iterdir()) == []


def test_training_is_quiet(data_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    train(data_dir, replace(QUICK, max_epochs=2))
    assert capfd.readouterr() == ("", "")


def test_a_second_training_reuses_the_first(data_dir: Path) -> None:
    first = train(data_dir)
    second = train(data_dir)
    assert (first.cached, second.cached) == (False, True)
    assert replace(second, cached=False) == first


def test_a_damaged_outcome_is_trained_again(data_dir: Path) -> None:
    first = train(data_dir)
    weights = (first.folder / "weights.safetensors").read_bytes()
    (first.folder / "weights.safetensors").write_bytes(weights[:100])
    assert not train(data_dir).cached
    assert (first.folder / "weights.safetensors").read_bytes() == weights


def test_training_key_depends_on_data_options_seed_and_version(data_dir: Path) -> None:
    def key(options: TrainOptions = QUICK, seed: int = 1, version: str = PREDICTOR.version) -> str:
        return replace(PREDICTOR, version=version).training_key([data_dir], options, seed)

    first = key()
    assert first == key()
    assert len({first, key(seed=2), key(replace(QUICK, dropout=0.2)), key(version="other")}) == 4
    rewrite(data_dir, "labels", lambda r: replace(r, area_um2=r.area_um2 + 1))
    assert first != key()


def test_the_saved_predictor_answers_as_the_leaderboard_says(
    outcome: TrainOutcome, lasting_data_dir: Path
) -> None:
    predictor = TensetMlpPredictor.load(outcome.folder)
    designs = [d for d in load_labelled_designs(lasting_data_dir, Selection()) if d.part == "test"]
    answers = predictor.predict([d.query for d in designs])
    errors = [
        abs(a.values["area_um2"] / d.labels["area_um2"] - 1) for a, d in zip(answers, designs, strict=True)
    ]
    assert np.mean(errors) == pytest.approx(outcome.metrics["test/mape/area_um2"], rel=1e-6)
    assert predictor.predict([]) == []


def test_predictor_says_what_lies_outside_training(outcome: TrainOutcome) -> None:
    predictor = TensetMlpPredictor.load(outcome.folder)
    nest = NESTS[0]
    usual = Query(
        source=nest.source,
        top="top",
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
    )
    near, far = predictor.predict([usual, replace(usual, clock_period_ns=3.0)])
    assert near.outside_training == ()
    assert far.outside_training == ("clock_period_ns",)
    assert far.difficulty.outside == 1
    # Training saw one clock, so the clock has no say; rows of a batch may differ in their last bits.
    assert far.values == pytest.approx(near.values, rel=1e-6)


def test_features_of_training_and_of_prediction_are_one_function(lasting_data_dir: Path) -> None:
    designs = load_labelled_designs(lasting_data_dir, Selection())
    matrices = matrices_of(designs, "full")
    design = designs[-1]
    facts = facts_of(design.query.source, design.query.top)
    assert list(matrices.features[-1]) == list(features_of(facts, design.query).values())


def test_training_rejects_a_missing_table(data_dir: Path) -> None:
    for path in (data_dir / "tables" / "labels").iterdir():
        path.unlink()
    with pytest.raises(DatasetError, match="no Parquet files of table labels"):
        train(data_dir)


def test_training_rejects_a_damaged_table(data_dir: Path) -> None:
    (data_dir / "tables" / "labels" / "tests.parquet").write_bytes(b"PAR1 not")
    with pytest.raises(SchemaError, match="is damaged"):
        train(data_dir)


def test_training_rejects_an_unknown_split(data_dir: Path) -> None:
    with pytest.raises(DatasetError, match="unknown split: 'random'; accepted: by_kernel_v2"):
        train(data_dir, replace(QUICK, split="random"))


def test_training_rejects_a_group_on_two_sides(data_dir: Path) -> None:
    rewrite(
        data_dir,
        "splits",
        lambda r: replace(r, part="test") if r.program_id == "nest-1-1-4" else r,
    )
    with pytest.raises(DatasetError, match=r"one side of split .*, got nest-1-1 in test, train"):
        train(data_dir)


def test_training_rejects_one_source_on_two_sides(data_dir: Path) -> None:
    sources = {n.program_id: n.source for n in NESTS}
    rewrite(
        data_dir,
        "programs",
        lambda r: replace(r, source=sources["nest-2-2-4"]) if r.program_id == "nest-1-1-4" else r,
    )
    with pytest.raises(DatasetError, match="one source must stand on one side of the split"):
        train(data_dir)


def test_training_rejects_a_program_split_from_its_parent(data_dir: Path) -> None:
    rewrite(
        data_dir,
        "programs",
        lambda r: replace(r, parent="nest-1-1-4") if r.program_id == "nest-2-2-4" else r,
    )
    with pytest.raises(DatasetError, match="a program and its parent must stand on one side"):
        train(data_dir)


def test_training_rejects_a_program_without_a_place(data_dir: Path) -> None:
    rewrite(data_dir, "splits", lambda r: None if r.program_id == "nest-1-1-4" else r)
    with pytest.raises(DatasetError, match="no place in the split: nest-1-1"):
        train(data_dir)


def test_training_rejects_a_design_without_its_program(data_dir: Path) -> None:
    rewrite(data_dir, "programs", lambda r: None if r.program_id == "nest-1-1-4" else r)
    with pytest.raises(DatasetError, match="no program in the programs table: nest"):
        train(data_dir)


def test_training_rejects_an_empty_part(data_dir: Path) -> None:
    rewrite(data_dir, "splits", lambda r: replace(r, part="train") if r.part == "test" else r)
    with pytest.raises(TooFewRows, match=r"no labelled designs in part test of split"):
        train(data_dir)


def test_training_takes_the_tool_with_the_most_labels(data_dir: Path) -> None:
    labels = read_table(data_dir, table_spec("labels"))
    rewrite(data_dir, "labels", lambda r: replace(r, tool="other" if "9" in r.design_id else "a"))
    others = [replace(row, tool="few") for row in labels[:3]]
    own = read_table(data_dir, table_spec("labels"))
    write_table(data_dir, table_spec("labels"), [*own, *others], "tests")
    designs = load_labelled_designs(data_dir, Selection())
    by_tool = Counter(row.tool for row in own)
    assert len(designs) == max(by_tool.values())
    with pytest.raises(DatasetError, match="no labels of tool 'b'; accepted: a, few, other"):
        train(data_dir, replace(QUICK, tool="b"))


def test_designs_that_failed_a_run_are_left_out(data_dir: Path) -> None:
    whole = load_labelled_designs(data_dir, Selection())
    wrong = whole[0].design_id
    rewrite(data_dir, "runs", lambda r: replace(r, outputs_equal=False) if r.design_id == wrong else r)
    assert load_labelled_designs(data_dir, Selection()) == whole[1:]


def test_designs_of_other_tools_are_left_out(data_dir: Path) -> None:
    whole = load_labelled_designs(data_dir, Selection())
    other = whole[0].design_id
    rewrite(data_dir, "designs", lambda d: replace(d, tool="circt-calyx") if d.design_id == other else d)
    assert load_labelled_designs(data_dir, Selection()) == whole[1:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": "some"}, "features out of range: 'some'; accepted: one of compact, full"),
        ({"dropout": 1.0}, "dropout out of range: 1.0; accepted: from 0 to below 1"),
        ({"hidden_sizes": (8, 0)}, "a hidden size out of range: 0; accepted: at least 1"),
        ({"learning_rate": -1.0}, "learning_rate out of range: -1.0; accepted: above 0"),
        ({"max_epochs": 0}, "max_epochs out of range: 0; accepted: above 0"),
        ({"bootstrap_resamples": 0}, "bootstrap_resamples out of range: 0; accepted: at least 1"),
    ],
)
def test_options_rejects_values_out_of_range(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        TrainOptions(**change)


def test_loading_rejects_what_is_not_a_predictor(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(PredictorError, match=r"no such file: .*model\.json"):
        TensetMlpPredictor.load(tmp_path)
    folder = train(data_dir).folder
    card = (folder / "model.json").read_text()
    (folder / "model.json").write_text(re.sub(r'"dropout": [0-9.]+', '"dropout": 0.25', card))
    with pytest.raises(PredictorError, match=r"^damaged file: .* does not have the hash it names"):
        TensetMlpPredictor.load(folder)
    (folder / "model.json").write_text("[]")
    with pytest.raises(PredictorError, match=r"damaged file: .*model\.json is not sealed JSON"):
        TensetMlpPredictor.load(folder)
    (folder / "model.json").write_text(card)
    (folder / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(PredictorError, match=r"damaged file: .* does not have the hash in model\.json"):
        TensetMlpPredictor.load(folder)
    (folder / "weights.safetensors").unlink()
    with pytest.raises(PredictorError, match=r"no such file: .*weights\.safetensors"):
        TensetMlpPredictor.load(folder)


def test_loading_rejects_other_features_other_shapes_and_other_predictors(data_dir: Path) -> None:
    folder = train(data_dir).folder
    files = read_model(folder)[1]

    def rewritten(name: str = "tenset-mlp", **changed: object) -> None:
        other = replace(files, card={**files.card, **changed})
        write_folder(folder, model_bytes(name, other))

    rewritten(feature_set=0)
    with pytest.raises(PredictorError, match=r"feature set 0 is not \d, this version's; train again"):
        TensetMlpPredictor.load(folder)
    rewritten(hidden_sizes=[8])
    with pytest.raises(PredictorError, match=r"arrays of shapes .*; accepted: "):
        TensetMlpPredictor.load(folder)
    rewritten(name="routenet")
    with pytest.raises(PredictorError, match=r"not a predictor of tenset-mlp: .* holds routenet"):
        TensetMlpPredictor.load(folder)


@pytest.mark.parametrize(
    "options",
    [
        replace(QUICK, max_epochs=9),
        replace(QUICK, stopping_groups=1, max_epochs=30, learning_rate=0.05, patience=5),
    ],
    ids=["every-epoch", "best-epoch"],
)
def test_an_interrupted_training_resumes_with_the_same_bits(data_dir: Path, options: TrainOptions) -> None:
    whole = PREDICTOR.train(data_dir, options, seed=1)
    weights = (whole.folder / "weights.safetensors").read_bytes()
    first, second = Losses(stop_at=4), Losses()
    other = whole.folder.with_name("other")
    with pytest.raises(InterruptedError):
        PREDICTOR.train(data_dir, options, seed=1, folder=other, loggers=lambda *_: first)
    again = PREDICTOR.train(data_dir, options, seed=1, folder=other, loggers=lambda *_: second)
    assert [*first.epochs, *second.epochs] == list(range(len(whole.curves["train_loss"])))
    assert (other / "weights.safetensors").read_bytes() == weights
    assert again.curves == whole.curves
    assert not list(other.parent.glob("*.checkpoints"))


def test_a_damaged_checkpoint_is_ignored(data_dir: Path) -> None:
    options = replace(QUICK, max_epochs=2)
    folder = data_dir / "model"
    key = PREDICTOR.training_key([data_dir], options, 1)
    checkpoint = data_dir / f"model-{key[:8]}.checkpoints" / "last.ckpt"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"PK\x03\x04 no checkpoint")
    assert len(PREDICTOR.train(data_dir, options, seed=1, folder=folder).curves["train_loss"]) == 2
