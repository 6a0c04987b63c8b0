"""`simfoundry models` and `simfoundry train`: registered models, and training on a release."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import yaml

from assets.deployments import find_deployment, require_whole_registry
from assets.errors import FoundryError
from models.catalogue import PredictorSpec, predictor_named
from models.local_registry import is_new
from models.options import make_options, ordered_fields
from models.registry import (
    RegisteredModel,
    RegistryError,
    register,
    register_shipped,
    registered_models,
    rollback,
    shipped_models,
    write_reference_errors,
)
from models.tracking import RegistryStore, training_loggers, trial_logger
from models.tuning import Tuned, tune
from pipelines.base.files import plain_yaml
from pipelines.dataset.splits import last_split
from simfoundry.questions import TrainQuestion

_DAY_S = 86400.0


def deployment_store(name: str | None = None) -> RegistryStore:
    """Return the model registry of the deployment, with the weights that come with the project in it.

    Args:   name: the only model whose weights are needed; default: every model.
    Raises: FoundryError: it is damaged.
    """
    store = _plain_store()
    register_shipped(store, name)
    return store


def _plain_store() -> RegistryStore:
    deployment = find_deployment()
    require_whole_registry(deployment)
    return RegistryStore(tracking_uri=deployment.tracking_uri, artifact_folder=deployment.artifact_folder)


def list_models() -> list[RegisteredModel]:
    """List all registered versions, newest first within a name; before anything is registered the shipped
    ones.

    Raises: FoundryError: the registry is damaged.
    """
    if is_new(find_deployment().tracking_uri):  # making a registry takes 15 s
        return shipped_models()
    return registered_models(deployment_store())


def models_json(models: Sequence[RegisteredModel]) -> list[dict[str, Any]]:
    """Return the list as JSON, with the age of every version in seconds."""
    return [{**asdict(model), "age_s": round(time.time() - model.created_s, 1)} for model in models]


def models_text(models: Sequence[RegisteredModel]) -> str:
    """Return the list as a table."""
    head = ("name", "version", "aliases", "reference error", "decision", "age")
    rows = [
        (
            model.name,
            model.version,
            ", ".join(model.aliases) or "-",
            "-" if model.error is None else f"{model.error:.1%}",
            model.decision,
            f"{(time.time() - model.created_s) / _DAY_S:.1f} d",
        )
        for model in models
    ]
    widths = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def roll_back_model(name: str) -> str:
    """Give `champion` back to the version before.

    Returns: one line that says which.
    Raises:  FoundryError: there is no earlier champion, or the registry is damaged.
    """
    try:
        version = rollback(deployment_store(name), name)
    except RegistryError as error:
        raise FoundryError(str(error)) from error
    return f"{name}@champion is version {version} again"


def train_model(question: TrainQuestion) -> dict[str, Any]:
    """Train a predictor on releases, score it on its reference set, and register it.

    The split of labels is the last one of the tables by name. Labels of another tool are not those of the
    reference set, so a model trained on a suite of the user's own is a candidate and never champion.

    Returns: folder, version, whether it became champion and why, summary and metrics.
    Raises:  FoundryError: an option is unknown, or no such suite. PredictorError, DatasetError: it cannot be
             trained.
    """
    spec, suite = predictor_named(question.name), question.suite
    if (suite is None) == (not question.releases):
        raise FoundryError("accepted: either --release or --suite")
    if suite is not None:
        releases = [find_deployment().of_suite(suite).data_dir]
    else:
        releases = [Path(release) for release in question.releases]
    data_dir, *more = releases
    settings = training_settings(spec, question.settings, data_dir)
    options = make_options(spec.options, settings)
    store = _plain_store()
    tuned = None
    if question.tune is not None:
        tuned = tuned_options(spec, releases, options, settings, question)
        options = tuned.options
    key = spec.training_key(releases, options, question.seed)
    folder = Path(question.out or find_deployment().data_dir / "models" / spec.name / key)
    with training_loggers(store, spec.name) as loggers:
        outcome = spec.train(
            data_dir,
            options,
            seed=question.seed,
            more=more,
            folder=folder,
            keep_predictions=question.out is None,
            loggers=loggers,
        )
    has_reference = spec.task.reference is not None and spec.task.reference.folder.is_dir()
    if has_reference and suite is None:
        write_reference_errors(outcome, spec)
    registration = register(outcome, store, may_promote=suite is None)
    return {
        "folder": str(folder),
        **asdict(registration),
        "summary": dict(outcome.summary),
        "metrics": outcome.metrics,
        **({} if tuned is None else {"tuning": tuning_answer(tuned)}),
    }


def tuned_options(
    spec: PredictorSpec,
    releases: Sequence[Path],
    options: Any,
    settings: Mapping[str, Any],
    question: TrainQuestion,
) -> Tuned:
    """Return the best options of a search, each trial a run of MLflow; see `models.tuning.tune`.

    The study lies beside the models, under the key of the training with the options that were given.
    """
    key = spec.training_key(releases, options, question.seed)
    with trial_logger(_plain_store(), spec.name, key) as on_trial:
        return tune(
            spec,
            releases,
            options,
            trials=question.tune or 0,
            seed=question.seed,
            study=find_deployment().data_dir / "models" / spec.name / f"{key}.trials",
            fixed=settings,
            on_trial=on_trial,
        )


def tuning_answer(tuned: Tuned) -> dict[str, Any]:
    """Return what a search found, for the answer of a training."""
    return {
        "trials": len(tuned.trials),
        "failed": sum(trial.error is None for trial in tuned.trials),
        "options": dict(tuned.best.options),
        "validation_error": tuned.best.error,
        "validation_error_before": tuned.first,
    }


def trained_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of a training as text."""
    lines = [f"{answer['name']} version {answer['version']}: {answer['reason']}", answer["folder"]]
    if "tuning" in answer:
        own = answer["tuning"]
        options = ", ".join(f"{name}={value:.4g}" for name, value in own["options"].items())
        before = own["validation_error_before"]
        was = "failed" if before is None else f"{before:.1%}"
        lines.append(
            f"best of {own['trials']} trainings ({own['failed']} failed): {options}; error on validation "
            f"{own['validation_error']:.1%}, with the options as given {was}"
        )
    return "\n".join(lines)


def training_settings(
    spec: PredictorSpec, settings: Mapping[str, Any] | Sequence[str], data_dir: Path
) -> Mapping[str, Any]:
    """Return options of a training by name: those that are set, and the last split of the tables of labels.

    Raises: FoundryError: see `read_settings`.
    """
    chosen = read_settings(spec, settings)
    if "labels" in spec.task.tables and "split" not in chosen:
        return {"split": last_split(data_dir), **chosen}
    return chosen


def read_settings(spec: PredictorSpec, settings: Mapping[str, Any] | Sequence[str]) -> Mapping[str, Any]:
    """Return options of a training by name. Raises: FoundryError: an option is unknown or has no value."""
    accepted = [f.name for f in ordered_fields(spec.options)] if is_dataclass(spec.options) else []
    if isinstance(settings, Mapping):
        unknown = [name for name in settings if name not in accepted]
        if unknown:
            raise FoundryError(f"unknown option: {unknown[0]}; accepted: {', '.join(accepted)}")
        return settings
    for setting in settings:
        if setting.partition("=")[0] not in accepted:
            raise FoundryError(f"unknown option: {setting}; accepted: {', '.join(accepted)}, as NAME=VALUE")
    return setting_values(settings)


def setting_values(settings: Sequence[str]) -> dict[str, Any]:
    """Return values by name from `NAME=VALUE`. Raises: FoundryError: one has no value, or stands twice."""
    values: dict[str, Any] = {}
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator or key in values:
            problem = "option twice" if separator else "option without a value"
            raise FoundryError(f"{problem}: {setting}; accepted: {key}=VALUE, once")
        try:
            values[key] = plain_yaml(text)
        except yaml.YAMLError as error:
            raise FoundryError(f"no value: {setting}; accepted: numbers, words, lists as [64, 64]") from error
    return values
