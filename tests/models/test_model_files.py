"""Files of predictors: round trip, damage, outcomes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.base import PredictorError, TrainOutcome
from models.catalogue import predictors
from models.model_files import (
    ModelFiles,
    model_bytes,
    read_model,
    read_outcome,
    write_folder,
    write_outcome,
)
from pipelines.schemas import PredictorCostRow

FILES = ModelFiles(card={"names": ["a", "b"]}, arrays={"x": np.arange(6.0).reshape(2, 3), "n": np.arange(3)})
CONTENT = model_bytes("some-model", FILES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path / "model", CONTENT)
    return tmp_path / "model"


def test_a_model_survives_its_folder(folder: Path) -> None:
    name, files = read_model(folder)
    assert (name, files.card) == ("some-model", FILES.card)
    assert {k: v.tolist() for k, v in files.arrays.items()} == {
        k: v.tolist() for k, v in FILES.arrays.items()
    }
    assert {v.dtype for v in files.arrays.values()} == {np.dtype(np.float64), np.dtype(np.int64)}
    assert model_bytes(name, files) == CONTENT


@pytest.mark.parametrize("file", sorted(CONTENT))
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_reading_rejects_a_file_that_is_cut(folder: Path, file: str, share: float) -> None:
    (folder / file).write_bytes(CONTENT[file][: int(share * len(CONTENT[file]))])
    with pytest.raises(PredictorError, match=f"damaged file: .*{file}"):
        read_model(folder)


@pytest.mark.parametrize("file", sorted(CONTENT))
def test_reading_rejects_every_flipped_bit(folder: Path, file: str) -> None:
    whole = CONTENT[file]
    for place in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        (folder / file).write_bytes(changed)
        try:
            name, files = read_model(folder)
        except PredictorError:
            continue
        assert model_bytes(name, files) == CONTENT  # white space of the JSON text


def test_reading_rejects_a_pickle(folder: Path) -> None:
    """Nothing of a pickle is run: it is not safetensors."""
    import pickle

    content = pickle.dumps({"x": 1})
    (folder / "weights.safetensors").write_bytes(content)
    with pytest.raises(PredictorError, match="damaged file"):
        read_model(folder)


def test_an_outcome_survives_its_folder_and_is_none_when_damaged(tmp_path: Path) -> None:
    outcome = TrainOutcome(
        predictor="some-model",
        key="k",
        folder=tmp_path / "model",
        source="tables",
        dataset_hash="d",
        seed=1,
        parameters={"epochs": 2},
        seen_groups=("a",),
        curves={"train_loss": (1.0, 0.5)},
        leaderboard=(),
        summary={"programs": 3.0},
        cached=True,
    )
    write_outcome(outcome, CONTENT)
    assert read_outcome(outcome.folder) == outcome
    with pytest.raises(ZeroDivisionError):  # while costs are measured, which are written with the outcome
        write_outcome(replace(outcome, key="other"), CONTENT, measure=_failing)
    assert read_outcome(outcome.folder) == outcome
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    (outcome.folder / "weights.safetensors").write_bytes(b"")
    assert read_outcome(outcome.folder) is None
    assert read_outcome(tmp_path / "none") is None


def _failing(outcome: TrainOutcome) -> PredictorCostRow:
    raise ZeroDivisionError(outcome.key)


@pytest.mark.parametrize("spec", predictors(), ids=lambda spec: spec.name)
def test_shipped_weights_load_and_are_small(spec) -> None:
    if spec.shipped_folder.is_dir():
        assert sum(path.stat().st_size for path in spec.shipped_folder.iterdir()) <= 20e6
        outcome = read_outcome(spec.shipped_folder)
        assert outcome is not None
        assert outcome.source.startswith("releases/")
        spec.load(spec.shipped_folder)


@pytest.mark.parametrize("name", ["notes.txt", "photos/a.txt"])
def test_a_model_does_not_replace_a_folder_with_other_files(folder: Path, name: str) -> None:
    other = folder / name
    other.parent.mkdir(exist_ok=True)
    other.write_text("mine")
    with pytest.raises(PredictorError, match=f"holds {name.partition('/')[0]}; accepted: a new or empty"):
        write_folder(folder, CONTENT)
    assert other.read_text() == "mine"


def test_a_model_does_not_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("mine")
    with pytest.raises(PredictorError, match=r"model is a file; accepted: a new or empty folder"):
        write_folder(tmp_path / "model", CONTENT)
    assert (tmp_path / "model").read_text() == "mine"


def test_training_does_not_begin_for_a_folder_with_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = predictors()[0]
    monkeypatch.setattr(type(spec), "training_key", lambda *_: "key")
    (tmp_path / "a.txt").write_text("mine")
    with pytest.raises(PredictorError, match=r"holds a\.txt"):
        spec.train(tmp_path / "no tables", folder=tmp_path)
