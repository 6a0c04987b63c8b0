"""The registry: what a fresh process loads, and when the alias `champion` moves."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest
from labelled_nests import NESTS, QUICK
from lightning.pytorch.loggers import Logger

from models import local_registry, registry
from models.base import TrainOutcome
from models.catalogue import PredictorSpec, predictor_named, predictors
from models.gate import ReferenceErrors
from models.local_registry import find_local, follow_project, shipped_refusal
from models.model_files import read_sealed_json
from models.query import TARGETS
from models.registry import (
    REFERENCE_FILE,
    Registration,
    RegistryError,
    RegistryStore,
    mlflow_at,
    promotion_rows,
    register,
    register_shipped,
    registered_models,
    rollback,
    shipped_models,
    version_facts,
)
from models.tasks import Reference
from models.tenset_mlp import PREDICTOR, TrainOptions
from models.tracking import HEADLINES, LEADERBOARD_VIEW, experiment_of, training_loggers

DESCRIPTION_LIMIT = 5000  # of a version, where the store is a PostgreSQL
GOOD = TrainOptions(bootstrap_resamples=10)
BAD = replace(QUICK, max_epochs=1, learning_rate=1e-6, bootstrap_resamples=10)

# Run in a new process in the registry's folder: loads the champion as the README says. Neither this
# repository nor the project's editable installation is on its path (-I -S, site-packages without .pth files).
# Every connection fails there, so that loading and predicting are shown to need none.
FRESH = """
import json, socket, sys
sys.path.append(sys.argv[2])
def refuse(*arguments): raise RuntimeError(f"a connection was opened: {arguments}")
socket.socket.connect = socket.getaddrinfo = refuse
try:
    import models
    raise SystemExit(f"the repository is on the path: {models.__file__}")
except ModuleNotFoundError:
    pass
import mlflow, pandas
mlflow.set_tracking_uri("sqlite:///mlflow.db")
model = mlflow.pyfunc.load_model("models:/tenset-mlp@champion")
good, bad = (pandas.DataFrame(rows) for rows in json.loads(sys.argv[1]))
answers = model.predict(good).to_dict("records")
try:
    refusal = str(model.predict(bad))
except ValueError as error:
    refusal = str(error)
import models
print(json.dumps({"answers": answers, "refusal": refusal, "code": models.__file__}))
"""


def train(data_dir: Path, options: TrainOptions, seed: int = 1) -> TrainOutcome:
    return PREDICTOR.train(data_dir, options, seed=seed)


def spec_of(data_dir: Path, name: str = "tenset-mlp", **changes: Any) -> PredictorSpec:
    """The predictor, judged on the test part of these tables instead of a release's."""
    reference = Reference(release=str(data_dir), split="by_kernel_v2", parts=("test",), minimum_programs=4)
    task = replace(PREDICTOR.task, reference=replace(reference, **changes))
    return replace(PREDICTOR, name=name, task=task)


@pytest.fixture(scope="session")
def first(lasting_data_dir: Path, store: RegistryStore) -> Registration:
    """The first registration of the session: a well-trained model."""
    outcome = train(lasting_data_dir, GOOD)
    versions = {"data/tables/labels": "d41d8"}
    spec = spec_of(lasting_data_dir)
    return register(outcome, store, may_promote=True, data_versions=versions, spec=spec)


@pytest.fixture(scope="session")
def worse(lasting_data_dir: Path, store: RegistryStore, first: Registration) -> Registration:
    """An almost untrained model, registered after the first."""
    outcome = train(lasting_data_dir, BAD)
    return register(outcome, store, may_promote=True, spec=spec_of(lasting_data_dir))


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
def fresh(store: RegistryStore, worse: Registration) -> dict[str, Any]:
    """What a fresh process says about two equal rows, and about a good row and a bad one."""
    assert store.artifact_folder is not None
    good = row_of(NESTS[0].source)
    batches = [[good, good], [good, row_of("void top(int A[4]) { for (")]]
    folder = store.artifact_folder.parent
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", FRESH, json.dumps(batches), sysconfig.get_path("purelib")],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "MLFLOW_DISABLE_TELEMETRY": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_first_version_becomes_champion(first: Registration) -> None:
    assert (first.version, first.became_champion) == ("1", True)
    assert first.reason.startswith(
        "promoted: better than the trivial baseline; there was no champion; error "
    )


def test_registering_the_same_outcome_again_does_nothing(
    lasting_data_dir: Path, store: RegistryStore, first: Registration
) -> None:
    outcome = train(lasting_data_dir, GOOD)
    again = register(outcome, store, may_promote=True, spec=spec_of(lasting_data_dir))
    assert (again.version, again.became_champion) == (first.version, False)
    assert again.reason.startswith("registered already; then: promoted: ")


def test_a_worse_candidate_does_not_move_the_alias(worse: Registration) -> None:
    assert (worse.became_champion, worse.is_champion) == (False, False)
    assert worse.reason.startswith("refused: not better than ")
    assert worse.reason.endswith(" on 4 programs")


def test_decisions_are_rows_and_tags(store: RegistryStore, worse: Registration) -> None:
    rows = promotion_rows(store, "tenset-mlp")
    assert [(row.version, row.decision) for row in rows[:2]] == [("1", "promoted"), ("2", "refused")]
    assert rows[1].champion_error == rows[0].error
    with mlflow_at(store) as client:
        version = client.get_model_version("tenset-mlp", "2")
        assert version.description.endswith(f"\n## Decision\n\n{worse.reason}\n")
        assert version.tags["decision"] == "refused"
        assert str(client.get_model_version_by_alias("tenset-mlp", "candidate").version) == "2"


def test_the_facts_of_a_version_are_its_errors_and_the_page_of_its_run(
    store: RegistryStore, worse: Registration
) -> None:
    champion, other = promotion_rows(store, "tenset-mlp")[:2]
    facts = version_facts(store, worse.name, worse.version)
    assert (facts.error, facts.champion_error) == (other.error, champion.error)
    with mlflow_at(store) as client:
        run = client.get_run(client.get_model_version(worse.name, worse.version).run_id)
    assert facts.run_path == f"#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}"


def test_a_run_holds_what_the_model_was_made_of(store: RegistryStore, first: Registration) -> None:
    with mlflow_at(store) as client:
        version = client.get_model_version(first.name, first.version)
        run = client.get_run(version.run_id)
        assert run.data.params["max_epochs"] == "150"
        assert len(client.get_metric_history(version.run_id, "train_loss")) == 150
        [dataset] = run.inputs.dataset_inputs
        assert dataset.dataset.digest in version.description
        assert run.data.tags["mlflow.source.git.commit"] in version.description
        assert "| DVC hash of data/tables/labels | d41d8 |" in version.description
        assert version.description.startswith("# tenset-mlp\n")
        assert len(version.description) < DESCRIPTION_LIMIT
        assert run.data.tags["mlflow.note.content"] == version.description
        files = {item.path for item in client.list_artifacts(version.run_id)}
        assert {"model_card.md", "reference_errors.json", "promotion.json"} <= files


def test_a_run_and_its_version_have_three_short_tags_of_ours(
    store: RegistryStore, first: Registration
) -> None:
    with mlflow_at(store) as client:
        version = client.get_model_version(first.name, first.version)
        run = client.get_run(version.run_id)
    own = {name: value for name, value in run.data.tags.items() if not name.startswith("mlflow.")}
    assert own == version.tags
    assert set(own) == {"training_key", "dataset", "decision"}
    assert max(map(len, own.values())) <= 60


def test_headlines_are_metrics_with_times_and_columns_of_the_view(
    store: RegistryStore, first: Registration
) -> None:
    begin_ms = int((time.time() - 3600) * 1000)
    with mlflow_at(store) as client:
        experiment = client.get_experiment_by_name(store.experiment)
        version = client.get_model_version(first.name, first.version)
        run = client.get_run(version.run_id)
        points = [
            point
            for name in (*HEADLINES, "train_loss", "validation_loss")
            for point in client.get_metric_history(version.run_id, name)
        ]
    assert set(HEADLINES) <= set(run.data.metrics)
    assert len(HEADLINES) == 5
    assert all(begin_ms < point.timestamp <= time.time() * 1000 for point in points)
    view = json.loads(experiment.tags[f"mlflow.sharedViewState.{LEADERBOARD_VIEW}"])
    columns = json.loads(view["state"])["selectedColumns"]
    assert [c for c in columns if "metrics." in c] == [f"metrics.`{name}`" for name in HEADLINES]
    assert run.data.metrics["reference_error"] == pytest.approx(promotion_rows(store, first.name)[0].error)


@pytest.mark.slow
def test_curves_appear_in_the_run_while_it_trains(
    lasting_data_dir: Path, store: RegistryStore, tmp_path: Path
) -> None:
    spec, options = spec_of(lasting_data_dir, "tenset-mlp-live"), replace(QUICK, max_epochs=6)
    folder = tmp_path / "live"
    curves: list[list[int]] = []

    class Watching(Logger):
        """Looks at the MLflow run at the end of every epoch."""

        name = version = "watching"

        def log_hyperparams(self, *arguments: Any, **options: Any) -> None:
            """Nothing to log."""

        def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
            with mlflow_at(store) as client:
                [run] = client.search_runs([experiment], f"tags.training_key = '{key}'")
                assert run.info.status == "RUNNING"
                points = client.get_metric_history(run.info.run_id, "train_loss")
                curves.append([point.step for point in points])

    key = spec.training_key([lasting_data_dir], options, 3)
    with training_loggers(store, spec.name) as loggers, mlflow_at(store) as client:
        experiment = experiment_of(client, store)

        def both(key: str, part: str) -> Any:
            return [loggers(key, part), Watching()]

        outcome = spec.train(lasting_data_dir, options, seed=3, folder=folder, loggers=both)
    assert curves[-1] == list(range(6))
    assert curves[2] != curves[-1]
    bare = spec.train(lasting_data_dir, options, seed=3, folder=tmp_path / "bare")
    name = "weights.safetensors"
    assert (outcome.folder / name).read_bytes() == (bare.folder / name).read_bytes()
    registered = register(outcome, store, may_promote=False, spec=spec)
    with mlflow_at(store) as client:
        run_id = client.get_model_version(spec.name, registered.version).run_id
        points = client.get_metric_history(run_id, "validation_loss")
        assert client.get_run(run_id).info.status == "FINISHED"
    assert [point.value for point in points] == list(outcome.curves["validation_loss"])
    assert len({point.timestamp for point in points}) > 1


def test_a_training_done_before_makes_no_run(lasting_data_dir: Path, store: RegistryStore) -> None:
    own = replace(store, experiment="nothing")
    train(lasting_data_dir, GOOD)
    with training_loggers(own, PREDICTOR.name) as loggers:
        assert PREDICTOR.train(lasting_data_dir, GOOD, seed=1, loggers=loggers).cached
    with mlflow_at(own) as client:
        assert client.get_experiment_by_name("nothing") is None


def test_a_copied_registry_answers_with_its_own_files(
    lasting_data_dir: Path, store: RegistryStore, first: Registration, tmp_path: Path
) -> None:
    assert store.artifact_folder is not None
    folder = tmp_path / "else where"
    shutil.copytree(store.artifact_folder.parent, folder)
    own = RegistryStore(
        tracking_uri=f"sqlite:///{folder / 'mlflow.db'}", artifact_folder=folder / store.artifact_folder.name
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_registry, "_knows_shipped", lambda *_: True)
        local = find_local(own.tracking_uri, first.name, "champion")
        before = find_local(store.tracking_uri, first.name, "champion")
    assert local is not None
    assert before is not None
    assert folder in local.folder.parents
    assert store.artifact_folder in before.folder.parents
    assert promotion_rows(own) == promotion_rows(store)
    assert registered_models(own) == registered_models(store)
    with mlflow_at(own) as client:
        run_id = client.get_model_version(first.name, first.version).run_id
        assert client.get_run(run_id).info.artifact_uri.startswith(folder.as_uri())
        addresses = [experiment.artifact_location for experiment in client.search_experiments()]
    assert not any(str(store.artifact_folder.parent) in unquote(address) for address in addresses)


@pytest.mark.slow
def test_a_new_registry_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow cannot go on with a part of its tables, which a killed process would leave."""
    import mlflow.store.db.utils as database

    store = RegistryStore(tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}")
    make_tables = database._initialize_tables

    def end_early(engine: Any) -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE experiments (experiment_id INTEGER)")
        raise KeyboardInterrupt

    monkeypatch.setattr(database, "_initialize_tables", end_early)
    with pytest.raises(KeyboardInterrupt), mlflow_at(store):
        pass
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(database, "_initialize_tables", make_tables)
    with mlflow_at(store) as client:
        assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]
        assert [experiment.name for experiment in client.search_experiments()] == ["Default"]


def test_a_registry_without_tables_is_left_to_mlflow(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "mlflow.db").close()
    follow_project(f"sqlite:///{tmp_path / 'mlflow.db'}")
    follow_project("http://127.0.0.1:5000")
    assert (tmp_path / "mlflow.db").stat().st_size == 0


@pytest.mark.slow
def test_a_fresh_process_loads_the_champion_without_the_repository(
    fresh: dict[str, Any], lasting_data_dir: Path, store: RegistryStore
) -> None:
    assert "simfoundry-code-" in fresh["code"]
    assert not Path(fresh["code"]).exists()  # it was unpacked for that process alone
    assert store.artifact_folder is not None
    assert list(store.artifact_folder.rglob("code/simfoundry.zip"))
    one, other = fresh["answers"]
    assert {t: one[t] for t in TARGETS} == pytest.approx({t: other[t] for t in TARGETS})
    assert 0 <= one["confidence"] <= 1
    record = json.loads((train(lasting_data_dir, GOOD).folder / "predictions.json").read_text())
    trained = {r["target"]: r["predicted"] for r in record if r["design_id"] == "nest-1-1-4-2-True"}
    assert {t: one[t] for t in trained} == pytest.approx(trained, rel=1e-5)


@pytest.mark.slow
def test_loading_leaves_no_folder_behind_beside_one_with_a_space(
    fresh: dict[str, Any], store: RegistryStore, repository: Path
) -> None:
    assert store.artifact_folder is not None
    folder = store.artifact_folder.parent
    assert " " in folder.name
    assert [p.name for p in folder.parent.iterdir() if "%20" in p.name] == []
    for page in ("README.md", "docs/tenset_mlp.md"):
        assert 'mlflow.set_tracking_uri("sqlite:///mlflow.db")' in (repository / page).read_text()


def test_the_champion_is_found_without_mlflow(
    fresh: dict[str, Any], store: RegistryStore, first: Registration, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_local(store.tracking_uri, "tenset-mlp", "champion") is None  # shipped weights are not there
    monkeypatch.setattr(local_registry, "_knows_shipped", lambda *_: True)
    assert find_local(store.tracking_uri, "tenset-mlp", "none") is None
    local = find_local(store.tracking_uri, "tenset-mlp", "champion")
    assert local is not None
    [answer] = local.spec.answer(local.spec.load(local.folder), [row_of(NESTS[0].source)])
    assert local.version == first.version
    assert {t: answer[t] for t in TARGETS} == pytest.approx({t: fresh["answers"][0][t] for t in TARGETS})


def test_prediction_rejects_bad_source_naming_the_row(fresh: dict[str, Any]) -> None:
    assert fresh["refusal"].startswith("row 1: ")


def test_a_better_candidate_moves_the_alias_and_a_rollback_moves_it_back(
    lasting_data_dir: Path, store: RegistryStore
) -> None:
    store = replace(store, experiment="better")
    spec = spec_of(lasting_data_dir, "tenset-mlp-b")
    options = (replace(GOOD, max_epochs=8), GOOD)
    fair, good = (register(train(lasting_data_dir, o), store, may_promote=True, spec=spec) for o in options)
    assert fair.became_champion
    assert good.became_champion
    assert good.reason.startswith("promoted: better than champion version 1 and the trivial baseline; error ")
    assert rollback(store, spec.name) == "1"
    listed = [(m.version, m.aliases, m.decision) for m in registered_models(store) if m.name == spec.name]
    assert listed == [("2", ("candidate",), "rolled_back"), ("1", ("champion",), "promoted")]
    with pytest.raises(RegistryError, match="no earlier champion of model tenset-mlp-b; version 1"):
        rollback(store, spec.name)


def test_a_champion_whose_registration_was_killed_keeps_its_decision(
    lasting_data_dir: Path, store: RegistryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    spec = spec_of(lasting_data_dir, "tenset-mlp-killed")
    outcome = train(lasting_data_dir, GOOD)
    with monkeypatch.context() as patch:
        patch.setattr("models.registry._record_decision", killed)
        with pytest.raises(KeyboardInterrupt):
            register(outcome, store, may_promote=True, spec=spec)
    registration = register(outcome, store, may_promote=True, spec=spec)
    assert (registration.version, registration.is_champion) == ("1", True)
    [row] = promotion_rows(store, spec.name)
    assert (row.decision, row.champion_error) == ("promoted", None)


def test_a_smoke_run_never_moves_the_alias(lasting_data_dir: Path, store: RegistryStore) -> None:
    spec = spec_of(lasting_data_dir, "tenset-mlp-c")
    registration = register(train(lasting_data_dir, GOOD), store, may_promote=False, spec=spec)
    assert not registration.became_champion
    assert registration.reason.startswith("candidate: not scored: only a training on a release")
    [model] = [m for m in registered_models(store) if m.name == spec.name]
    assert (model.aliases, model.error) == (("candidate",), None)
    with pytest.raises(RegistryError, match="no champion of model tenset-mlp-c"):
        rollback(store, spec.name)


def test_a_candidate_is_judged_when_its_training_counts(lasting_data_dir: Path, store: RegistryStore) -> None:
    spec = spec_of(lasting_data_dir, "tenset-mlp-open")
    outcome = train(lasting_data_dir, GOOD)
    candidate = register(outcome, store, may_promote=False, spec=spec)
    judged = register(outcome, store, may_promote=True, spec=spec)
    assert (judged.version, judged.became_champion) == (candidate.version, True)
    again = register(outcome, store, may_promote=False, spec=spec)
    assert (again.version, again.is_champion) == (candidate.version, True)


def test_too_few_programs_promote_nobody(lasting_data_dir: Path, store: RegistryStore) -> None:
    spec = spec_of(lasting_data_dir, "tenset-mlp-d", minimum_programs=5)
    registration = register(train(lasting_data_dir, GOOD), store, may_promote=True, spec=spec)
    assert not registration.became_champion
    assert registration.reason.startswith("refused: too few programs: scored on 4; 5 are needed")


def test_a_missing_reference_release_promotes_nobody(
    lasting_data_dir: Path, store: RegistryStore, tmp_path: Path
) -> None:
    spec = spec_of(tmp_path / "none", "tenset-mlp-e")
    registration = register(train(lasting_data_dir, GOOD), store, may_promote=True, spec=spec)
    assert registration.reason.startswith("refused: no reference release: ")


def test_registering_rejects_training_on_groups_of_the_reference_set(
    lasting_data_dir: Path, store: RegistryStore
) -> None:
    spec = spec_of(lasting_data_dir, "tenset-mlp-f")
    outcome = replace(train(lasting_data_dir, GOOD), seen_groups=("nest-1-1", "nest-2-2"))
    with pytest.raises(RegistryError, match=r"on groups of the reference set .*: nest-2-2; leave them"):
        register(outcome, store, may_promote=True, spec=spec)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"lightgbm-hls", "routenet"}, id="two"),
        pytest.param({spec.name for spec in predictors()}, id="all", marks=pytest.mark.slow),
    ],
)
def test_shipped_weights_are_the_first_champions_and_are_registered_once(
    names: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [spec for spec in predictors() if spec.name in names]
    monkeypatch.setattr(registry, "predictors", lambda: known)
    own = RegistryStore(
        tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}", artifact_folder=tmp_path / "artifacts"
    )
    before = shipped_models()
    first = register_shipped(own)
    same = [replace(model, version="shipped", created_s=0.0) for model in registered_models(own)]
    assert [
        replace(model, created_s=0.0, error=one.error) for model, one in zip(before, same, strict=True)
    ] == same
    stored, scored = ({model.name: model.error for model in models} for models in (before, same))
    assert scored == pytest.approx(stored)  # processors differ in the last digits of networks
    shipped = {f"lightgbm-{level}" for level in ("hls", "static", "text")}
    shipped |= {"pragma-gnn", "queue-correction", "routenet", "tenset-mlp"}
    assert {r.name for r in first} >= shipped & names
    refused = {spec.name for spec in known if shipped_refusal(spec)}
    assert {r.name for r in first if not r.became_champion} == refused
    shown = {model.name: model.error for model in registered_models(own)}
    for spec in known:
        if spec.name in shipped:
            errors = ReferenceErrors.of_json(read_sealed_json(spec.shipped_folder / REFERENCE_FILE))
            assert shown[spec.name] == pytest.approx(errors.error)
    with mlflow_at(own):
        import mlflow

        served = mlflow.pyfunc.load_model("models:/lightgbm-hls@champion")
        columns = {c.name: c.example for c in predictor_named("lightgbm-hls").task.question}
        assert served.predict(pd.DataFrame([columns])).loc[0, "power_mw"] > 0
    again = register_shipped(own)
    assert [(r.version, r.became_champion) for r in again] == [("1", False)] * len(first)


@pytest.mark.slow
def test_two_processes_that_register_one_outcome_at_once_leave_one_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RegistryStore(
        tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}", artifact_folder=tmp_path / "mlartifacts"
    )
    [first] = register_shipped(store, "rtl-engine")
    look, looks = registry._version_of_key, iter([True])

    def look_too_early(*arguments: Any) -> Any:
        return None if next(looks, False) else look(*arguments)

    monkeypatch.setattr(registry, "_version_of_key", look_too_early)
    [second] = register_shipped(store, "rtl-engine")
    assert (second.version, second.is_champion) == (first.version, True)
    assert [model.version for model in registered_models(store)] == [first.version]
    assert [row.version for row in promotion_rows(store)] == [first.version]
