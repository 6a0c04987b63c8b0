"""The model registry: MLflow on SQLite, and the gate before the alias `champion`.

MLflow is imported inside the functions: it takes seconds, and a cached run needs none of it. Its
telemetry is switched off before it is imported (MLFLOW_DISABLE_TELEMETRY, the documented switch). A
program that imports mlflow before this module must set that variable itself.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from models.base import TrainOutcome
from models.labelled import TARGETS, LabelledDesign, Query, hash_dataset, load_labelled_designs
from models.metrics import mape

CHAMPION = "champion"
QUIET_SWITCHES = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
_NOISY_LOGGERS = ("mlflow", "alembic")
_NOISY_WARNINGS = (
    "The ``noload`` loader strategy is deprecated",  # MLflow's use of SQLAlchemy
    ".*Any type hint is inferred as AnyType",  # MLflow's own type hints, at import
    ".*An input example was not provided",  # the signature is written out instead
)
_REQUIREMENTS = ("mlflow", "numpy", "pandas", "pycparser", "pydantic", "scipy", "torch")
_QUERY_TYPES = {"str": "string", "int": "long", "float": "double"}


class RegistryError(RuntimeError):
    """A model cannot be registered, or the registry does not hold what it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryStore:
    """Where the registry is.

    Attributes:
        tracking_uri: MLflow tracking and registry store; the default is MLflow's own.
        artifact_folder: folder of logged models; None for MLflow's own `mlruns`.
        experiment: MLflow experiment of the training runs.
    """

    tracking_uri: str = "sqlite:///mlflow.db"
    artifact_folder: Path | None = None
    experiment: str = "simfoundry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What registering did.

    Attributes:
        name, version: of the registered model.
        became_champion: whether the alias points at this version now because of this call.
        is_champion: whether the alias points at this version now.
        reason: one sentence with the figures the decision was taken on.
    """

    name: str
    version: str
    became_champion: bool
    is_champion: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a candidate takes the alias, and why."""

    promote: bool
    reason: str


def register_candidate(outcome: TrainOutcome, store: RegistryStore, tags: Mapping[str, str]) -> Registration:
    """Log an outcome, register it, and move the alias `champion` unless it is worse.

    Worse means: a higher mean over targets of MAPE on the test part of the frozen split, both
    models asked anew through the registry, on the designs of the tables as they are now, leaving
    out groups that the champion was trained or stopped on. Equal is not worse. An outcome that is
    registered already is not registered again.

    Args:    tags: added to the version and the run, for example a DVC hash.
    Raises:  RegistryError: the tables changed since the outcome was trained.
             DatasetError, MlflowException, OSError: the data or the store cannot be read.
    """
    with mlflow_at(store) as client:
        known = _known_version(client, outcome)
        if known is not None and "gate" in known.tags:
            return _registered_before(client, known)
        if hash_dataset(outcome.data_dir) != outcome.dataset_hash:
            raise RegistryError(
                f"tables must be those the model was trained on ({outcome.dataset_hash}), "
                f"got {hash_dataset(outcome.data_dir)}; train again"
            )
        if known is None:
            model_uri, run_id = _log_outcome(client, outcome, store, tags)
            number = _register(client, outcome, model_uri, run_id, tags)
        else:
            number = str(known.version)  # an earlier run was interrupted before the gate
        verdict = _judge(client, outcome, number)
        if verdict.promote:
            client.set_registered_model_alias(outcome.predictor, CHAMPION, number)
        client.set_model_version_tag(outcome.predictor, number, "gate", verdict.reason)
        return Registration(
            name=outcome.predictor,
            version=number,
            became_champion=verdict.promote,
            is_champion=verdict.promote,
            reason=verdict.reason,
        )


def decide(candidate_score: float, champion_score: float, row_count: int) -> Verdict:
    """The gate: promote a candidate that is not worse.

    Args: scores: mean MAPE over targets, fractions, on the same row_count designs.
    """
    figures = (
        f"mean test MAPE {candidate_score:.4f}, champion {champion_score:.4f}, "
        f"on {row_count} designs neither has seen"
    )
    if candidate_score <= champion_score:
        return Verdict(promote=True, reason=f"not worse: {figures}")
    return Verdict(promote=False, reason=f"worse: {figures}")


def _judge(client: Any, outcome: TrainOutcome, number: str) -> Verdict:
    """Compare a new version with the champion on rows that neither has seen."""
    from mlflow.exceptions import MlflowException

    old = _champion(client, outcome.predictor)
    if old is None:
        return Verdict(promote=True, reason="first: there was no champion")
    designs = load_labelled_designs(outcome.data_dir, outcome.selection)
    seen = set((old.tags.get("seen_groups") or "").split(","))
    fresh = [d for d in designs if d.part == "test" and d.group not in seen]
    if not fresh:
        return Verdict(
            promote=False,
            reason=f"not compared: champion version {old.version} has seen every test group",
        )
    candidate = _score(f"models:/{outcome.predictor}/{number}", fresh)
    try:
        champion = _score(f"models:/{outcome.predictor}/{old.version}", fresh)
    except (MlflowException, ValueError, ImportError, OSError) as error:
        return Verdict(
            promote=True,
            reason=f"champion version {old.version} cannot answer with this code: {error}",
        )
    return decide(candidate, champion, len(fresh))


def _score(model_uri: str, designs: Sequence[LabelledDesign]) -> float:
    """Mean over targets of MAPE of a registered model."""
    import mlflow
    import pandas as pd

    names = [f.name for f in fields(Query)]
    table = pd.DataFrame([{n: getattr(d.query, n) for n in names} for d in designs])
    answers = mlflow.pyfunc.load_model(model_uri).predict(table)
    errors = [
        mape(
            np.array([d.labels[target] for d in designs]),
            answers[target].to_numpy(dtype=np.float64),
        )
        for target in TARGETS
    ]
    return float(np.mean(errors))


def _champion(client: Any, name: str) -> Any | None:
    from mlflow.exceptions import MlflowException

    try:
        return client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            return None
        raise


def _known_version(client: Any, outcome: TrainOutcome) -> Any | None:
    """The version of this very outcome, when an earlier run registered it."""
    filters = f"name = '{outcome.predictor}' and tags.training_key = '{outcome.key}'"
    return next(iter(client.search_model_versions(filters)), None)


def _registered_before(client: Any, known: Any) -> Registration:
    """What an earlier call did; the gate is not asked twice about one version."""
    champion = _champion(client, known.name)
    return Registration(
        name=str(known.name),
        version=str(known.version),
        became_champion=False,
        is_champion=champion is not None and str(champion.version) == str(known.version),
        reason=f"registered already; then: {known.tags['gate']}",
    )


def _log_outcome(
    client: Any, outcome: TrainOutcome, store: RegistryStore, tags: Mapping[str, str]
) -> tuple[str, str]:
    """One MLflow run with parameters, curves, metrics and the model; its model URI and run id."""
    import mlflow

    run_tags = {"dataset_hash": outcome.dataset_hash, "training_key": outcome.key, **tags}
    with mlflow.start_run(
        experiment_id=experiment_of(client, store),
        run_name=f"{outcome.predictor}-{outcome.key[:8]}",
        tags=run_tags,
    ) as run:
        run_id = str(run.info.run_id)
        mlflow.log_params({**outcome.parameters, "dataset_hash": outcome.dataset_hash})
        _log_metrics(client, run_id, outcome)
        mlflow.log_artifact(str(outcome.folder / "predictions.json"))
        info = mlflow.pyfunc.log_model(
            name=outcome.predictor,
            python_model=str(outcome.pyfunc_script),
            artifacts={"predictor": str(outcome.folder)},
            signature=_signature(),
            pip_requirements=[f"{name}=={version(name)}" for name in _REQUIREMENTS],
        )
    return str(info.model_uri), run_id


def experiment_of(client: Any, store: RegistryStore) -> str:
    """The id of a store's experiment, made when it is not there."""
    found = client.get_experiment_by_name(store.experiment)
    if found is not None:
        return str(found.experiment_id)
    folder = store.artifact_folder
    location = None if folder is None else folder.resolve().as_uri()
    return str(client.create_experiment(store.experiment, artifact_location=location))


def _log_metrics(client: Any, run_id: str, outcome: TrainOutcome) -> None:
    """Curves with the epoch as step, and the leaderboard's defined values at step 0."""
    from mlflow.entities import Metric

    points = [
        (name, value, epoch) for name, curve in outcome.curves.items() for epoch, value in enumerate(curve)
    ]
    single = {**outcome.summary, **outcome.metrics}
    points += [(name, value, 0) for name, value in single.items() if np.isfinite(value)]
    for start in range(0, len(points), 1000):  # the store's limit of one batch
        batch = [Metric(n, v, 0, s) for n, v, s in points[start : start + 1000]]
        client.log_batch(run_id, metrics=batch)


def _signature() -> Any:
    """Columns of a query in; targets, confidence and its explanation out."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, Schema, TensorSpec

    inputs: list[ColSpec | TensorSpec] = [ColSpec(_QUERY_TYPES[str(f.type)], f.name) for f in fields(Query)]
    outputs: list[ColSpec | TensorSpec] = [ColSpec("double", t) for t in (*TARGETS, "confidence")]
    return ModelSignature(
        inputs=Schema(inputs), outputs=Schema([*outputs, ColSpec("string", "outside_training")])
    )


def _register(
    client: Any, outcome: TrainOutcome, model_uri: str, run_id: str, tags: Mapping[str, str]
) -> str:
    from mlflow.exceptions import MlflowException

    try:
        client.create_registered_model(outcome.predictor)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    created = client.create_model_version(
        name=outcome.predictor,
        source=model_uri,
        run_id=run_id,
        tags={
            **tags,
            "training_key": outcome.key,
            "dataset_hash": outcome.dataset_hash,
            "split": outcome.selection.split,
            "seen_groups": ",".join(outcome.seen_groups),
        },
    )
    return str(created.version)


@contextmanager
def mlflow_at(store: RegistryStore) -> Iterator[Any]:
    """A client of the store; MLflow's own notion of where its stores are is put back afterwards."""
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_SWITCHES.items()})
    loggers = [logging.getLogger(name) for name in _NOISY_LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        for message in _NOISY_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        import mlflow
        from mlflow.telemetry import set_telemetry_client

        set_telemetry_client()  # drops a client made before the switch was set
        before = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
        try:
            for logger in loggers:
                logger.setLevel(logging.ERROR)
            mlflow.set_tracking_uri(store.tracking_uri)
            mlflow.set_registry_uri(store.tracking_uri)
            yield mlflow.MlflowClient(store.tracking_uri, store.tracking_uri)
        finally:
            mlflow.set_tracking_uri(before or "")
            mlflow.set_registry_uri("")
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
