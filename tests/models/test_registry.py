"""The registry: what a fresh process loads, and when the alias `champion` moves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from labelled_nests import NESTS, QUICK, write_tables

from models.base import TrainOutcome
from models.labelled import TARGETS
from models.registry import (
    Registration,
    RegistryError,
    RegistryStore,
    decide,
    register_candidate,
)
from models.tenset_mlp import TrainOptions, train_tenset_mlp

GOOD = TrainOptions(bootstrap_resamples=10)
BAD = replace(QUICK, max_epochs=1, learning_rate=1e-6, bootstrap_resamples=10)

# Run in a new process in the registry's folder: loads the champion with MLflow's own defaults.
# Every connection fails there, so that loading and predicting are shown to need none.
FRESH = """
import json, socket, sys
def refuse(*arguments): raise RuntimeError(f"a connection was opened: {arguments}")
socket.socket.connect = socket.getaddrinfo = refuse
import mlflow, pandas
model = mlflow.pyfunc.load_model("models:/tenset-mlp@champion")
good, bad = (pandas.DataFrame(rows) for rows in json.loads(sys.argv[1]))
answers = model.predict(good).to_dict("records")
try:
    refusal = str(model.predict(bad))
except ValueError as error:
    refusal = str(error)
found = {"answers": answers, "refusal": refusal, "lightning": "lightning" in sys.modules}
print(json.dumps(found))
"""


def train(data_dir: Path, options: TrainOptions, seed: int = 1) -> TrainOutcome:
    return train_tenset_mlp(data_dir, options, seed=seed)


@pytest.fixture(scope="session")
def first(lasting_data_dir: Path, store: RegistryStore) -> Registration:
    """The first registration of the session: a well-trained model."""
    return register_candidate(train(lasting_data_dir, GOOD), store, {"dvc_hash": "d41d8"})


@pytest.fixture(scope="session")
def worse(lasting_data_dir: Path, store: RegistryStore, first: Registration) -> Registration:
    """An almost untrained model, registered after the first."""
    return register_candidate(train(lasting_data_dir, BAD), store, {})


def row_of(source: str) -> dict[str, object]:
    return {
        "source": source,
        "top": "top",
        "memory_read_delay_cycles": 2,
        "memory_write_delay_cycles": 2,
        "clock_period_ns": 10.0,
        "directives": '[{"kind": "pipeline", "loop": "L0"}]',
    }


@pytest.fixture(scope="session")
def fresh(store: RegistryStore, repository: Path, worse: Registration) -> dict[str, Any]:
    """What a fresh process says about two equal rows, and about a good row and a bad one."""
    assert store.artifact_folder is not None
    good = row_of(NESTS[0].source)
    batches = [[good, good], [good, row_of("void top(int A[4]) { for (")]]
    done = subprocess.run(
        [sys.executable, "-c", FRESH, json.dumps(batches)],
        cwd=store.artifact_folder.parent,
        env={
            "PYTHONPATH": str(repository),
            "PATH": os.environ["PATH"],
            "HOME": str(store.artifact_folder.parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_first_version_becomes_champion(first: Registration) -> None:
    assert (first.version, first.became_champion) == ("1", True)
    assert first.reason == "first: there was no champion"


def test_registering_the_same_outcome_again_does_nothing(
    lasting_data_dir: Path, store: RegistryStore, first: Registration
) -> None:
    again = register_candidate(train(lasting_data_dir, GOOD), store, {})
    assert (again.version, again.became_champion) == (first.version, False)
    assert again.reason.startswith("registered already; then: ")


def test_a_worse_candidate_does_not_move_the_alias(worse: Registration) -> None:
    assert (worse.became_champion, worse.is_champion) == (False, False)
    assert worse.reason.startswith("worse: mean test MAPE ")
    assert worse.reason.endswith(" on 16 designs neither has seen")


def test_a_fresh_process_loads_the_champion_and_needs_no_network(
    fresh: dict[str, Any], lasting_data_dir: Path
) -> None:
    one, other = fresh["answers"]
    assert {t: one[t] for t in TARGETS} == pytest.approx({t: other[t] for t in TARGETS})
    assert one["confidence"] == 1
    record = json.loads((train(lasting_data_dir, GOOD).folder / "predictions.json").read_text())
    trained = {r["target"]: r["predicted"] for r in record if r["design_id"] == "nest-1-1-4-2-True"}
    assert {t: one[t] for t in trained} == pytest.approx(trained, rel=1e-5)


def test_a_fresh_process_answers_without_the_training_framework(fresh: dict[str, Any]) -> None:
    assert not fresh["lightning"]


def test_prediction_rejects_bad_source_naming_the_row(fresh: dict[str, Any]) -> None:
    assert fresh["refusal"].startswith("row 1: ")


def test_a_better_candidate_moves_the_alias(lasting_data_dir: Path, store: RegistryStore) -> None:
    store = replace(store, experiment="better")
    outcomes = [replace(train(lasting_data_dir, o), predictor="tenset-mlp-b") for o in (BAD, GOOD)]
    bad, good = (register_candidate(outcome, store, {}) for outcome in outcomes)
    assert bad.became_champion
    assert good.became_champion
    assert good.reason.startswith("not worse: mean test MAPE ")


def test_a_champion_is_not_judged_on_groups_it_was_trained_on(
    lasting_data_dir: Path, store: RegistryStore
) -> None:
    seen = replace(
        train(lasting_data_dir, QUICK),
        predictor="tenset-mlp-c",
        seen_groups=tuple(sorted({n.name for n in NESTS})),
    )
    register_candidate(seen, store, {})
    later = replace(train(lasting_data_dir, GOOD), predictor="tenset-mlp-c")
    found = register_candidate(later, store, {})
    assert not found.became_champion
    assert found.reason == "not compared: champion version 1 has seen every test group"


def test_registering_rejects_tables_that_changed_since(data_dir: Path, store: RegistryStore) -> None:
    outcome = replace(train(data_dir, QUICK), predictor="tenset-mlp-d")
    write_tables(data_dir, NESTS[:-1])
    with pytest.raises(RegistryError, match="tables must be those the model was trained on"):
        register_candidate(outcome, store, {})


def test_the_gate_promotes_equals_and_not_the_worse() -> None:
    assert decide(0.2, 0.2, 4).promote
    assert decide(0.1, 0.2, 4).promote
    assert not decide(0.2000001, 0.2, 4).promote
