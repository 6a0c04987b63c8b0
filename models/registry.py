"""The model registry: MLflow on SQLite, one way in for every predictor, and the alias `champion`.

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
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import numpy as np

from models.base import PredictorError, TrainOutcome, log_level
from models.catalogue import TRAINED_FOLDER, PredictorSpec, predictor_named, predictors, resolve
from models.gate import (
    ReferenceErrors,
    decide,
    reference_digest,
    reference_groups,
    require_release,
    score,
    undecided,
)
from models.local_registry import CHAMPION, SHIPPED
from models.model_files import OUTCOME_FILE, REFERENCE_FILE, read_outcome, read_sealed_json, sealed_json
from models.tasks import Column
from pipelines.schemas import PromotionRow

CANDIDATE = "candidate"
ROOT = Path(__file__).resolve().parents[1]
QUIET_SWITCHES = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
_NOISY_LOGGERS = ("mlflow", "alembic")
_NOISY_WARNINGS = (
    "The ``noload`` loader strategy is deprecated",  # MLflow's use of SQLAlchemy
    ".*Any type hint is inferred as AnyType",  # MLflow's own type hints, at import
    "Operation with range is deprecated",  # MLflow's use of pandas
)
_REQUIREMENTS = ("mlflow", "numpy", "pandas", "safetensors")
_DIGEST_LENGTH = 36  # MLflow's limit


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
class RegisteredModel:
    """A version in the registry.

    Attributes: error: mean error on the reference set; None where it was not scored. created_s: Unix time.
    """

    name: str
    version: str
    aliases: tuple[str, ...]
    error: float | None
    created_s: float
    decision: str


def register(
    outcome: TrainOutcome,
    store: RegistryStore,
    *,
    may_promote: bool,
    tags: Mapping[str, str] | None = None,
    spec: PredictorSpec | None = None,
) -> Registration:
    """Log an outcome, register it with alias `candidate`, and move `champion` if the gate says so.

    Errors on the reference set stay with the version, so that a later challenge costs one scoring. An outcome
    that is registered already is not registered again.

    Args:
        may_promote: whether the training counts: on a release, or a run at a scale other than smoke, which
            has no overrides.
        tags: added to the version and the run, for example a DVC hash.
        spec: another than the catalogue's, for tests.

    Raises:
        RegistryError: the training looked at groups of the reference set.
        PredictorError, MlflowException, OSError: the predictor or the store cannot be read.
    """
    spec = spec or predictor_named(outcome.predictor)
    with mlflow_at(store) as client:
        known = _version_of_key(client, spec.name, outcome.key)
        if known is not None and not _is_open(known, may_promote):
            return _registered_before(client, known)
        _refuse_reference_groups(outcome, spec)
        number = _log(client, outcome, spec, store, tags or {}) if known is None else str(known.version)
        client.set_registered_model_alias(spec.name, CANDIDATE, number)
        row = _judge(client, outcome, spec, number, may_promote)
        is_promoted = row.decision == "promoted"
        if is_promoted:
            client.set_registered_model_alias(spec.name, CHAMPION, number)
        _tag_decision(client, row)
        return Registration(
            name=spec.name,
            version=number,
            became_champion=is_promoted,
            is_champion=is_promoted,
            reason=_sentence(row),
        )


def register_shipped(store: RegistryStore, name: str | None = None) -> list[Registration]:
    """Register the weights that come with the project, each content once; the first becomes champion.

    Args:   name: of the only model to register; every model by default. An unknown name registers none.
    Raises: PredictorError: shipped weights are damaged. MlflowException, OSError: the store cannot be read.
    """
    registrations: list[Registration] = []
    for spec in predictors():
        if name in (None, spec.name) and spec.shipped_folder.is_dir():
            outcome = read_outcome(spec.shipped_folder)
            if outcome is None:
                raise PredictorError(f"damaged weights: {spec.shipped_folder}; check the project out again")
            registrations.append(register(outcome, store, may_promote=True, spec=spec))
    return registrations


def shipped_models() -> list[RegisteredModel]:
    """What a new registry begins with, by name: the weights that come with the project.

    The decision follows from the errors that they ship with; `created_s` is when their files were written.

    Raises: PredictorError: shipped weights are damaged.
    """
    models: list[RegisteredModel] = []
    for spec in predictors():
        if not spec.shipped_folder.is_dir():
            continue
        errors = ReferenceErrors.of_json(read_sealed_json(spec.shipped_folder / REFERENCE_FILE))
        row = _decided(spec, SHIPPED, errors)
        is_champion = row.decision == "promoted"
        models.append(
            RegisteredModel(
                name=spec.name,
                version=SHIPPED,
                aliases=(CANDIDATE, CHAMPION) if is_champion else (CANDIDATE,),
                error=row.error,
                created_s=(spec.shipped_folder / OUTCOME_FILE).stat().st_mtime,
                decision=row.decision,
            )
        )
    return models


def reference_errors(outcome: TrainOutcome, spec: PredictorSpec) -> ReferenceErrors:
    """Errors of an outcome on the reference set of its task; those that it ships with where they still hold.

    Raises: PredictorError: there is no reference release, or the predictor cannot answer.
    """
    reference = spec.task.reference
    shipped = outcome.folder / REFERENCE_FILE
    if reference is None:
        raise PredictorError(f"no reference release of task {spec.task.name}")
    if not (reference.folder / "tables").is_dir() and shipped.is_file():
        return ReferenceErrors.of_json(read_sealed_json(shipped))
    require_release(reference.folder)
    digest = reference_digest(spec.task, reference)
    if shipped.is_file():
        errors = ReferenceErrors.of_json(read_sealed_json(shipped))
        if errors.digest == digest:
            return errors
    known = resolve(spec.task.reference_set)(reference)
    return score(reference.name, digest, known, predictor_named(outcome.predictor).load(outcome.folder))


def write_reference_errors(outcome: TrainOutcome, spec: PredictorSpec) -> ReferenceErrors:
    """Score an outcome, and keep the errors in its folder, so that registering it costs no scoring."""
    errors = reference_errors(outcome, spec)
    (outcome.folder / REFERENCE_FILE).write_bytes(sealed_json(errors.as_json()))
    return errors


def promotion_rows(store: RegistryStore, name: str | None = None) -> list[PromotionRow]:
    """Decisions about all versions, of one model or of all, sorted by model and version."""
    rows: list[PromotionRow] = []
    with mlflow_at(store) as client:
        for version in client.search_model_versions("" if name is None else f"name = '{name}'"):
            if "promotion" in version.tags:
                rows.append(PromotionRow(**json.loads(version.tags["promotion"])))
    return sorted(rows, key=lambda row: (row.model, int(row.version)))


def registered_models(store: RegistryStore) -> list[RegisteredModel]:
    """All versions, newest first within a name."""
    models: list[RegisteredModel] = []
    with mlflow_at(store) as client:
        for model in client.search_registered_models():
            aliases: dict[str, list[str]] = {}
            for alias, number in model.aliases.items():
                aliases.setdefault(str(number), []).append(alias)
            for version in client.search_model_versions(f"name = '{model.name}'"):
                row = json.loads(version.tags.get("promotion", "{}"))
                models.append(
                    RegisteredModel(
                        name=str(model.name),
                        version=str(version.version),
                        aliases=tuple(sorted(aliases.get(str(version.version), []))),
                        error=row.get("error"),
                        created_s=version.creation_timestamp / 1000,
                        decision=row.get("decision", "candidate"),
                    )
                )
    return sorted(models, key=lambda m: (m.name, -int(m.version)))


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    """What the page of a model shows about one version.

    Attributes:
        error: mean error on the reference set; None where it was not scored.
        champion_error: that of the version with the alias `champion`; None where there is none.
        run_path: path of the page of its run in MLflow's UI.
    """

    error: float | None
    champion_error: float | None
    run_path: str


def version_facts(store: RegistryStore, name: str, version: str) -> VersionFacts:
    """Look one version up in the registry.

    Raises: MlflowException: it is not there, or the store cannot be read.
    """
    with mlflow_at(store) as client:
        known, champion = client.get_model_version(name, version), _champion(client, name)
        experiment = client.get_run(known.run_id).info.experiment_id
        return VersionFacts(
            error=_reference_error(known),
            champion_error=None if champion is None else _reference_error(champion),
            run_path=f"#/experiments/{experiment}/runs/{known.run_id}",
        )


def _reference_error(version: Any) -> float | None:
    return json.loads(version.tags.get("promotion", "{}")).get("error")


def rollback(store: RegistryStore, name: str) -> str:
    """Give the alias `champion` back to the version that had it before.

    Returns: that version.
    Raises:  RegistryError: no such model, no champion, or none before it.
    """
    rows = promotion_rows(store, name)
    with mlflow_at(store) as client:
        champion = _champion(client, name)
        if champion is None:
            raise RegistryError(f"no champion of model {name}")
        number = int(champion.version)
        earlier = [r for r in rows if r.decision == "promoted" and int(r.version) < number]
        if not earlier:
            raise RegistryError(f"no earlier champion of model {name}; version {number} is the first")
        back = earlier[-1].version
        client.set_registered_model_alias(name, CHAMPION, back)
        for row in rows:
            if int(row.version) == number:
                reason = f"rolled back to version {back}"
                _tag_decision(client, replace(row, decision="rolled_back", reason=reason))
        return back


def _refuse_reference_groups(outcome: TrainOutcome, spec: PredictorSpec) -> None:
    reference = spec.task.reference
    if reference is None or not (reference.folder / "tables").is_dir():
        return
    common = sorted(set(outcome.seen_groups) & reference_groups(reference))
    if common:
        raise RegistryError(
            f"{spec.name} was trained on groups of the reference set ({reference.name}): "
            f"{', '.join(common[:5])}; leave them out of training"
        )


def _judge(
    client: Any, outcome: TrainOutcome, spec: PredictorSpec, number: str, may_promote: bool
) -> PromotionRow:
    """The gate's decision about a new version, and its errors logged beside it."""
    reference = spec.task.reference
    name = None if reference is None else reference.name
    if not may_promote:
        reason = (
            "not scored: only a training on a release, or a run at a scale other than smoke without "
            "overrides, may promote"
        )
        return undecided(spec.name, number, name, CANDIDATE, reason)
    try:
        errors = reference_errors(outcome, spec)
    except PredictorError as error:
        return undecided(spec.name, number, name, "refused", str(error))
    run_id = client.get_model_version(spec.name, number).run_id
    client.log_text(run_id, sealed_json(errors.as_json()).decode(), REFERENCE_FILE)
    old = _champion(client, spec.name)
    champion, problem = (None, "") if old is None else _champion_errors(client, old, errors, spec)
    row = _decided(spec, number, errors, champion, None if old is None else str(old.version))
    return replace(row, reason=f"{row.reason}; {problem}") if problem else row


def _decided(
    spec: PredictorSpec,
    number: str,
    errors: ReferenceErrors,
    champion: ReferenceErrors | None = None,
    champion_version: str | None = None,
) -> PromotionRow:
    reference = spec.task.reference
    return decide(
        model=spec.name,
        version=number,
        challenger=errors,
        champion=champion,
        champion_version=champion_version,
        minimum_programs=0 if reference is None else reference.minimum_programs,
    )


def _champion_errors(
    client: Any, champion: Any, errors: ReferenceErrors, spec: PredictorSpec
) -> tuple[ReferenceErrors | None, str]:
    """Errors of the champion on the same reference set, or why it has none."""
    import mlflow
    from mlflow.exceptions import MlflowException

    try:
        path = client.download_artifacts(champion.run_id, REFERENCE_FILE)
        kept = ReferenceErrors.of_json(read_sealed_json(Path(path)))
        if (kept.digest, kept.programs) == (errors.digest, errors.programs):
            return kept, ""
    except (MlflowException, OSError, ValueError, TypeError):
        pass  # of a version that was never scored; it is scored now
    try:
        uri = f"models:/{spec.name}/{champion.version}"
        predictor = mlflow.pyfunc.load_model(uri).unwrap_python_model().predictor
        assert spec.task.reference is not None
        known = resolve(spec.task.reference_set)(spec.task.reference)
        return score(errors.reference, errors.digest, known, predictor), ""
    except (MlflowException, ValueError, ImportError, AttributeError, OSError) as error:
        return None, f"champion version {champion.version} cannot answer with this code: {error}"


def _champion(client: Any, name: str) -> Any | None:
    from mlflow.exceptions import MlflowException

    try:
        return client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            return None
        raise


def _version_of_key(client: Any, name: str, key: str) -> Any | None:
    """The version of this very outcome, when an earlier call registered it."""
    filters = f"name = '{name}' and tags.training_key = '{key}'"
    return next(iter(client.search_model_versions(filters)), None)


def _is_open(known: Any, may_promote: bool) -> bool:
    """Whether a registered version is still to be judged: interrupted, or a candidate that counts now."""
    if "promotion" not in known.tags:
        return True
    return may_promote and json.loads(known.tags["promotion"])["decision"] == CANDIDATE


def _registered_before(client: Any, known: Any) -> Registration:
    """What an earlier call did; the gate is not asked twice about one version."""
    champion = _champion(client, known.name)
    return Registration(
        name=str(known.name),
        version=str(known.version),
        became_champion=False,
        is_champion=champion is not None and str(champion.version) == str(known.version),
        reason=f"registered already; then: {_sentence(PromotionRow(**json.loads(known.tags['promotion'])))}",
    )


def _tag_decision(client: Any, row: PromotionRow) -> None:
    text = json.dumps(asdict(row), sort_keys=True)
    client.set_model_version_tag(row.model, row.version, "gate", _sentence(row))
    client.set_model_version_tag(row.model, row.version, "promotion", text)  # last: what has it is complete


def _sentence(row: PromotionRow) -> str:
    if row.error is None:
        return f"{row.decision}: {row.reason}"
    champion = "" if row.champion_error is None else f", champion {row.champion_error:.4f}"
    return (
        f"{row.decision}: {row.reason}; error {row.error:.4f}{champion}, "
        f"baseline {row.baseline_error:.4f}, on {row.row_count} programs"
    )


def _log(
    client: Any,
    outcome: TrainOutcome,
    spec: PredictorSpec,
    store: RegistryStore,
    tags: Mapping[str, str],
) -> str:
    """One MLflow run with parameters, curves, dataset, card and model; the version registered from it."""
    import mlflow
    from mlflow.data.http_dataset_source import HTTPDatasetSource
    from mlflow.data.meta_dataset import MetaDataset
    from mlflow.exceptions import MlflowException
    from mlflow.models import Model

    tags = {
        **tags,
        "training_key": outcome.key,
        "dataset_hash": outcome.dataset_hash,
        "seen_groups": ",".join(outcome.seen_groups),
        "git_commit": _git_commit(),
    }
    with mlflow.start_run(
        experiment_id=_experiment_of(client, store),
        run_name=f"{spec.name}-{outcome.key[:8]}",
        tags=tags,
    ) as run:
        run_id = str(run.info.run_id)
        mlflow.log_params({**outcome.parameters, "dataset_hash": outcome.dataset_hash})
        source = HTTPDatasetSource(f"file:{outcome.source}")
        mlflow.log_input(
            MetaDataset(source, name=outcome.source, digest=outcome.dataset_hash[:_DIGEST_LENGTH]),
            context="training",
        )
        mlflow.log_text(model_card(outcome, spec), "model_card.md")
        with _logged_code() as code:
            info = Model.log(
                None,
                _PyfuncFlavor,
                name=spec.name,
                flavor_name="pyfunc.ModelFromCode",
                validate_serving_input=False,
                python_model=str(ROOT / "models" / "pyfunc.py"),
                artifacts={"predictor": str(outcome.folder)},
                code_paths=code,
                signature=_signature(spec),
                input_example=_input_example(spec),
                pip_requirements=[
                    f"{name}=={installed_version(name)}"
                    for name in sorted({*_REQUIREMENTS, *spec.libraries, *spec.requirements})
                ],
            )
        _log_metrics(client, run_id, outcome, str(info.model_id))
    try:
        client.create_registered_model(spec.name, description=spec.description)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    created = client.create_model_version(
        name=spec.name,
        source=str(info.model_uri),
        run_id=run_id,
        tags=tags,
        description=model_card(outcome, spec),
    )
    return str(created.version)


def model_card(outcome: TrainOutcome, spec: PredictorSpec) -> str:
    """The model card in Markdown: what the model answers, from what it was trained, and how good it is."""
    task = spec.task
    targets = [f"* `{name}` in {unit}" for name, unit in task.targets.items()]
    reference = task.reference.name if task.reference else "none"
    figures = [
        f"| {name} | {value:.4g} |" for name, value in sorted({**outcome.summary, **outcome.metrics}.items())
    ]
    options = [f"| {name} | {value} |" for name, value in outcome.parameters.items()]
    return "\n".join(
        [
            f"# {spec.name}",
            "",
            spec.description,
            "",
            f"Task `{task.name}`, level of information: {task.level}. Error: {task.metric}. "
            f"Baseline: {task.baseline}. Reference set: {reference}.",
            "",
            "## Targets",
            "",
            *(targets or ["None: a generator, judged by its acceptance rate."]),
            "",
            "## Training",
            "",
            f"Trained on {outcome.source} (dataset {outcome.dataset_hash}), version {outcome.key}.",
            "",
            "| option | value |",
            "| --- | --- |",
            *options,
            "",
            "## Figures",
            "",
            "| figure | value |",
            "| --- | --- |",
            *figures,
            "",
        ]
    )


def _experiment_of(client: Any, store: RegistryStore) -> str:
    """The id of a store's experiment, made when it is not there."""
    experiment = client.get_experiment_by_name(store.experiment)
    if experiment is not None:
        return str(experiment.experiment_id)
    folder = store.artifact_folder
    location = None if folder is None else folder.resolve().as_uri()
    return str(client.create_experiment(store.experiment, artifact_location=location))


class _PyfuncFlavor:
    """MLflow's flavour of Python models, without a trial answer.

    `mlflow.pyfunc.log_model` loads every model and asks it the example, which takes up to seconds per model,
    and only logs a failure.
    """

    @staticmethod
    def save_model(*, validate_serving_input: bool, **arguments: Any) -> None:
        import mlflow

        del validate_serving_input  # read by `Model.log`
        mlflow.pyfunc.save_model(**arguments)


def _log_metrics(client: Any, run_id: str, outcome: TrainOutcome, model_id: str) -> None:
    """Curves with the epoch as step, and the leaderboard's defined values at step 0, which the model has too.

    Logged after the model: MLflow reads the history of every earlier metric when it logs a model.
    """
    from mlflow.entities import Metric

    points = [
        (name, value, epoch) for name, curve in outcome.curves.items() for epoch, value in enumerate(curve)
    ]
    single = {**outcome.summary, **outcome.metrics, **outcome.measured}
    points += [(name, value, 0) for name, value in single.items() if np.isfinite(value)]
    for start in range(0, len(points), 1000):  # the store's limit of one batch
        batch = [
            Metric(name, value, 0, step, model_id=None if step else model_id)
            for name, value, step in points[start : start + 1000]
        ]
        client.log_batch(run_id, metrics=batch)


@contextmanager
def _logged_code() -> Iterator[list[str]]:
    """Copies of the packages that answering imports, without trained weights and compiled files."""
    ignored = shutil.ignore_patterns("__pycache__", TRAINED_FOLDER)
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("models", "pipelines"):
            shutil.copytree(ROOT / name, Path(scratch) / name, ignore=ignored)
        yield [str(Path(scratch) / name) for name in ("models", "pipelines")]


def _signature(spec: PredictorSpec) -> Any:
    """Columns of the task's question in, of the predictor's answers out."""
    from mlflow.models import ModelSignature
    from mlflow.types import Schema

    return ModelSignature(
        inputs=Schema(_columns(spec.task.question)), outputs=Schema(_columns(spec.answer_columns))
    )


def _columns(columns: Sequence[Column]) -> list[Any]:
    from mlflow.types import ColSpec

    return [ColSpec(column.kind, column.name, required=column.required) for column in columns]


def _input_example(spec: PredictorSpec) -> Any:
    import pandas as pd

    return pd.DataFrame([{column.name: column.example for column in spec.task.question}])


def _git_commit() -> str:
    """Commit of this checkout; "unknown" outside of one."""
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


@contextmanager
def mlflow_at(store: RegistryStore) -> Iterator[Any]:
    """A client of the store; MLflow's own notion of where its stores are is put back afterwards."""
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_SWITCHES.items()})
    with warnings.catch_warnings():
        for message in _NOISY_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        import mlflow
        from mlflow.telemetry import set_telemetry_client

        set_telemetry_client()  # drops a client made before the switch was set
        before = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
        try:
            with log_level(logging.CRITICAL, *_NOISY_LOGGERS):  # it raises what it logs as an error
                mlflow.set_tracking_uri(store.tracking_uri)
                mlflow.set_registry_uri(store.tracking_uri)
                yield mlflow.MlflowClient(store.tracking_uri, store.tracking_uri)
        finally:
            mlflow.set_tracking_uri(before or "")
            mlflow.set_registry_uri("")
