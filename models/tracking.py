"""MLflow: where its store is, the experiment as its UI shows it, and the runs of trainings.

MLflow is imported inside the functions: it takes seconds, and a cached run needs none of it. Its telemetry is
switched off before it is imported (MLFLOW_DISABLE_TELEMETRY, the documented switch). A program that imports
mlflow before this module must set that variable itself.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.base import TrainOutcome, log_level
from models.local_registry import REFERENCE_METRIC, database_file, follow_project
from pipelines.base.folders import LEFTOVER_AGE_S

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger

    from models.tuning import Trial

ROOT = Path(__file__).resolve().parents[1]
QUIET_SWITCHES = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
_NOISY_LOGGERS = ("mlflow", "alembic")
_NOISY_WARNINGS = (
    "The ``noload`` loader strategy is deprecated",  # MLflow's use of SQLAlchemy
    ".*Any type hint is inferred as AnyType",  # MLflow's own type hints, at import
    "Operation with range is deprecated",  # MLflow's use of pandas
)
GATE_FIGURES = (REFERENCE_METRIC, "baseline_error", "improvement_low")
HEADLINES = (*GATE_FIGURES, "test_mape", "training_wall_s")
"""Metrics that the runs table shows.

They are the errors of the model and of the trivial baseline on the reference set, the lower end of the 95 %
interval of the improvement that the gate judged by, the mean absolute percentage error of the test part over
the targets, and the time of training.
"""
LEADERBOARD_VIEW = "leaderboard"
TRIALS_TAG, VALIDATION_ERROR = "search", "validation_error"
"""The tag of a trial of `train --tune`, which names its search, and its metric."""
KEY_TAG, DATASET_TAG, DECISION_TAG = "training_key", "dataset", "decision"
"""The tags of a run and of the version registered from it; all else is in the model card."""
CARD_TAG = "mlflow.note.content"
"""MLflow's tag of a description in Markdown."""
_EXPERIMENT_NOTE = (
    "Trainings of Simfoundry's predictors, and the weights that come with the project. The description of a "
    "run is its model card. Lower errors are better; the view Leaderboard has the columns."
)
_BATCH = 1000  # the store's limit of metrics in one call


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryStore:
    """Where the registry is.

    Attributes:
        tracking_uri: MLflow tracking and registry store; the default is MLflow's own.
        artifact_folder: folder of logged models, beside the database; None for MLflow's own `mlruns`.
        experiment: MLflow experiment of the training runs.
    """

    tracking_uri: str = "sqlite:///mlflow.db"
    artifact_folder: Path | None = None
    experiment: str = "simfoundry"


@contextmanager
def mlflow_at(store: RegistryStore) -> Iterator[Any]:
    """Open a client of the store; MLflow's own addresses are restored afterwards."""
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_SWITCHES.items()})
    with warnings.catch_warnings():
        for message in _NOISY_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        import mlflow
        from mlflow.telemetry import set_telemetry_client

        set_telemetry_client()  # drops a client made before the switch was set
        follow_project(store.tracking_uri)
        before = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
        try:
            with log_level(logging.CRITICAL, *_NOISY_LOGGERS):  # it raises what it logs as an error
                mlflow.set_tracking_uri(store.tracking_uri)
                mlflow.set_registry_uri(store.tracking_uri)
                _make_database(mlflow, store.tracking_uri)
                yield mlflow.MlflowClient(store.tracking_uri, store.tracking_uri)
        finally:
            mlflow.set_tracking_uri(before or "")
            mlflow.set_registry_uri("")


def _make_database(mlflow: Any, tracking_uri: str) -> None:
    """Make the database of a local store where there is none, whole or not at all.

    MLflow makes its tables one by one and cannot go on with a part of them, so a killed process would leave a
    database that no later one reads. Here MLflow makes them in a file beside it that is then linked.
    """
    path = database_file(tracking_uri)
    if path is None or path.exists() or not path.parent.is_dir():
        return
    for left in path.parent.glob(".registry-*"):  # of killed processes
        if time.time() - left.stat().st_mtime >= LEFTOVER_AGE_S:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".registry-") as folder:
        scratch = Path(folder) / path.name
        address = f"sqlite:///{scratch}"
        mlflow.MlflowClient(address, address).search_experiments(max_results=1)
        try:
            os.link(scratch, path)
        except FileExistsError:
            return  # another process was faster
        except OSError:  # a file system without links
            scratch.replace(path)


def experiment_of(client: Any, store: RegistryStore) -> str:
    """Return the id of a store's experiment; create, describe and give it its view where that is missing."""
    experiment = client.get_experiment_by_name(store.experiment)
    if experiment is None:
        folder = store.artifact_folder
        location = None if folder is None else folder.resolve().as_uri()
        known: Mapping[str, str] = {}
        number = _create_experiment(client, store.experiment, location)
    else:
        known, number = experiment.tags, str(experiment.experiment_id)
    for name, value in _experiment_tags().items():
        if name not in known:
            client.set_experiment_tag(number, name, value)
    return number


def _create_experiment(client: Any, name: str, location: str | None) -> str:
    from mlflow.exceptions import MlflowException

    try:
        return str(client.create_experiment(name, artifact_location=location))
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
        return str(client.get_experiment_by_name(name).experiment_id)  # another process was faster


def runs_view() -> dict[str, Any]:
    """Return state of the runs page of MLflow 3.17 with the headlines as columns, the least error first."""
    metrics = [f"metrics.`{name}`" for name in HEADLINES]
    shown = ["attributes.`Run Name`", "runDateAndNestInfo", *metrics, "duration", "attributes.`Models`"]
    return {
        "searchFilter": "",
        "orderByKey": metrics[0],
        "orderByAsc": True,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": ["attributes.`Models`", *metrics],
        "columnOrder": shown,
        "columnWidths": dict.fromkeys(metrics, 145),
    }


def _experiment_tags() -> dict[str, str]:
    """Return the tags that MLflow's UI reads: the kind of the experiment, its description, and a saved view
    of the runs.

    The format of a view is that of "Save view" in the UI of MLflow 3.17.
    """
    view = {"name": "Leaderboard", "createdAt": 0, "updatedAt": 0, "state": json.dumps(runs_view())}
    return {
        "mlflow.experimentKind": "custom_model_development",
        CARD_TAG: _EXPERIMENT_NOTE,
        f"mlflow.sharedViewState.{LEADERBOARD_VIEW}": json.dumps(view),
    }


@contextmanager
def training_loggers(store: RegistryStore, predictor: str) -> Iterator[Callable[[str, str], Logger]]:
    """Yield a function from a training's key and part to Lightning's loggers, all of one MLflow run.

    The run appears in the store with the first logger, so a training that was done before makes none.
    """
    with ExitStack() as stack:

        def logger(key: str, part: str) -> Logger:
            from lightning.pytorch.loggers import MLFlowLogger

            client = stack.enter_context(mlflow_at(store))
            run_id = open_run(client, store, predictor, key)
            own = MLFlowLogger(run_id=run_id, tracking_uri=store.tracking_uri, prefix=part)
            own.LOGGER_JOIN_CHAR = "/"  # pyright: ignore[reportAttributeAccessIssue] - the UI groups by it
            return own

        yield logger


@contextmanager
def trial_logger(store: RegistryStore, predictor: str, key: str) -> Iterator[Callable[[Trial], None]]:
    """Yield a function that writes a trial of a search as an MLflow run. key: of the search."""
    with mlflow_at(store) as client:
        experiment = experiment_of(client, store)

        def log(trial: Trial) -> None:
            name = f"{predictor}-{key[:8]}-trial-{trial.number}"
            tags = {TRIALS_TAG: key, "mlflow.source.name": "simfoundry", "mlflow.source.type": "LOCAL"}
            run_id = client.create_run(experiment, run_name=name, tags=tags).info.run_id
            for option, value in trial.options.items():
                client.log_param(run_id, option, value)
            if trial.error is not None:
                client.log_metric(run_id, VALIDATION_ERROR, trial.error)
            client.set_terminated(run_id, "FAILED" if trial.error is None else "FINISHED")

        yield log


def open_run(client: Any, store: RegistryStore, predictor: str, key: str) -> str:
    """Return the id of the run of a training, which goes on when it is there already."""
    experiment = experiment_of(client, store)
    runs = client.search_runs([experiment], f"tags.{KEY_TAG} = '{key}'", max_results=1)
    if runs:
        run_id = str(runs[0].info.run_id)
        client.update_run(run_id, "RUNNING")
        return run_id
    tags = {
        KEY_TAG: key,
        "mlflow.source.name": "simfoundry",
        "mlflow.source.type": "LOCAL",
        "mlflow.source.git.commit": git_commit(),
    }
    run = client.create_run(experiment, run_name=f"{predictor}-{key[:8]}", tags=tags)
    return str(run.info.run_id)


def log_outcome(client: Any, run_id: str, outcome: TrainOutcome, model_id: str) -> None:
    """Log the figures of a training; its curves too, by epoch, where no logger was told of them.

    Only the headlines, because the UI draws a chart of each figure; the model card has all of them.
    Called after the model is logged: MLflow reads the history of every earlier metric when it logs a model.
    """
    is_logged = any(name.endswith("_loss") for name in client.get_run(run_id).data.metrics)
    if not is_logged:
        curves = outcome.curves.items()
        _log_points(client, run_id, [(name, v, step) for name, c in curves for step, v in enumerate(c)])
    errors = [value for name, value in outcome.metrics.items() if name.startswith("test/mape/")]
    single: dict[str, float] = {"test_mape": float(np.mean(errors))} if errors else {}
    if outcome.costs is not None and outcome.costs.training_wall_s is not None:
        single["training_wall_s"] = outcome.costs.training_wall_s
    log_metrics(client, run_id, single, model_id)
    if outcome.workloads:
        lines = [f"{row.target},{row.workload},{row.value!r}" for row in outcome.workloads]
        client.log_text(run_id, "\n".join(["target,workload,error", *lines, ""]), "workload_errors.csv")


def log_metrics(client: Any, run_id: str, values: Mapping[str, float], model_id: str) -> None:
    """Log single values of a run and its logged model; those that are not finite are left out."""
    points = [(name, value, 0) for name, value in values.items() if np.isfinite(value)]
    _log_points(client, run_id, points, model_id)


def _log_points(
    client: Any, run_id: str, points: Sequence[tuple[str, float, int]], model_id: str | None = None
) -> None:
    """Log values by name and step, with the present time."""
    from mlflow.entities import Metric

    now_ms = int(time.time() * 1000)
    metrics = [Metric(name, value, now_ms, step, model_id=model_id) for name, value, step in points]
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def git_commit() -> str:
    """Return the commit of this checkout; "unknown" outside of one."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "rev-parse", "HEAD"],  # noqa: S607 - git as the user has it
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
