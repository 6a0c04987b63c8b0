"""`simfoundry predict`: a registered model's answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assets.deployments import find_deployment, require_whole_registry
from assets.errors import FoundryError, explain
from assets.user_programs import read_directives, read_user_program
from models.intervals import COVERED, MEASURED
from models.local_registry import LocalModel, find_local
from models.model_files import read_outcome
from models.query import Query
from pipelines.hls import directives_json, read_interface
from pipelines.programs import load_data
from pipelines.records import summarise_data

if TYPE_CHECKING:
    from models.base import TrainOutcome
    from models.catalogue import PredictorSpec


def predict_file(
    *,
    file: Path,
    top: str,
    directives: Path | None,
    memory_delay: int,
    clock: float,
    model: str,
    data: Path | None = None,
) -> dict[str, Any]:
    """Ask a registered model about one C file under one configuration.

    Args:    model: NAME@ALIAS, or a folder that a training or a calibration wrote. memory_delay: cycles.
             clock: period in ns. data: JSON file of run-time data.
    Returns: a value per target, with the confidence, the features outside of training, and where it is from.
    Raises:  FoundryError: no such model, or a damaged registry. ProgramError, HlsError: an input is not
             acceptable.
    """
    query = question_of(
        file=file, top=top, directives=directives, memory_delay=memory_delay, clock=clock, data=data
    )
    question = asdict(query)
    if Path(model).is_dir():
        spec, folder = _spec_of(Path(model)), Path(model)
        answer = _answer_of(LocalModel(spec=spec, version="unregistered", folder=folder), question, str(file))
    else:
        answer = ask_model(*_named(model), question, str(file))
    return {"model": model, **_in_words(answer), **engine_answer(query)}


def engine_answer(query: Query) -> dict[str, Any]:
    """The engine's own estimates after high-level synthesis, as `engine_<target>`, or why there are none."""
    from models.base import PredictorError
    from models.engine_estimate.estimates import EngineEstimate

    engine = EngineEstimate(level="hls", engine={"liberty": "osu018", "engine_options": "{}"})
    try:
        [estimate] = engine.predict([query])
    except PredictorError as error:
        return {"engine_level": "hls", "engine_reason": str(error).removeprefix("row 0: ")}
    return {"engine_level": "hls", **{f"engine_{name}": value for name, value in estimate.values.items()}}


def question_of(
    *,
    file: Path,
    top: str,
    directives: Path | None,
    memory_delay: int,
    clock: float,
    data: Path | None,
) -> Query:
    """The question about a C file under one configuration; see `predict_file`."""
    source = read_user_program(file, top).source
    return Query(
        source=source,
        top=top,
        memory_read_delay_cycles=memory_delay,
        memory_write_delay_cycles=memory_delay,
        clock_period_ns=clock,
        directives=directives_json(read_directives(directives)),
        data="" if data is None else summarise_data(load_data(data, read_interface(source, top))),
    )


def _named(model: str) -> tuple[str, str]:
    """Name and alias; `numeric-lm`, which is no predictor, is the one at level hls."""
    name, _, alias = model.partition("@")
    if not name or not alias:
        raise FoundryError(
            f"a model must be NAME@ALIAS such as tenset-mlp@champion, or a folder, got {model!r}"
        )
    from models.catalogue import predictors

    known = {spec.name for spec in predictors()}
    return (name if name in known or f"{name}-hls" not in known else f"{name}-hls"), alias


@contextmanager
def opened_model(model: str) -> Iterator[tuple[PredictorSpec, Any]]:
    """What a predictor is and the predictor itself.

    Args:   model: NAME@ALIAS, or a folder that a training or a calibration wrote.
    Raises: FoundryError: no such model, or a damaged registry. PredictorError: a damaged folder.
    """
    if Path(model).is_dir():
        spec = _spec_of(Path(model))
        yield spec, spec.load(Path(model))
        return
    with registered_model(*_named(model)) as registered:
        served = registered.unwrap_python_model()
        yield served.spec, served.predictor


def _spec_of(folder: Path) -> PredictorSpec:
    """What the predictor in a folder is."""
    from models.catalogue import predictor_named
    from models.model_files import read_model

    return predictor_named(read_model(folder)[0])


def ask_model(name: str, alias: str, question: dict[str, Any], place: str) -> dict[str, Any]:
    """The answer of a registered model to one row of its task's question.

    Args:   place: where the question comes from, for messages.
    Raises: FoundryError: no such model, a damaged registry, or a question that it cannot answer.
    """
    uri = find_deployment().tracking_uri
    local = find_local(uri, name, alias)
    if local is not None:
        return _answer_of(local, question, place)
    with registered_model(name, alias) as predictor:  # which registers weights that come with the project
        local = find_local(uri, name, alias)
        return (
            _answer_of(local, question, place) if local else _served(predictor, name, alias, question, place)
        )


def _served(predictor: Any, name: str, alias: str, question: dict[str, Any], place: str) -> dict[str, Any]:
    """The answer of a model whose files are not on this machine."""
    import pandas as pd
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        answer = predictor.predict(pd.DataFrame([question]))
    except (MlflowException, ValueError) as error:
        raise FoundryError(f"{place} must be a program the model can read: {explain(error)}") from error
    served = predictor.unwrap_python_model()
    version = str(MlflowClient().get_model_version_by_alias(name, alias).version)
    values = {str(name): _plain(value) for name, value in answer.iloc[0].items()}
    return {**values, **_provenance(served.spec, served.outcome, version)}


def _plain(value: Any) -> Any:
    """A value of an answer as JSON has it; NaN, which says that there is no answer, is null."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _answer_of(local: LocalModel, question: dict[str, Any], place: str) -> dict[str, Any]:
    """The same from files on this machine, without MLflow."""
    from models.base import PredictorError

    outcome = read_outcome(local.folder)
    intervals = None if outcome is None else outcome.intervals
    try:
        [answer] = local.spec.answer(local.spec.load(local.folder), [question], intervals=intervals)
    except (PredictorError, ValueError) as error:
        raise FoundryError(f"{place} must be a program the model can read: {explain(error)}") from error
    values = {str(name): _plain(value) for name, value in answer.items()}
    return {**values, **_provenance(local.spec, outcome, local.version)}


def _provenance(spec: PredictorSpec, outcome: TrainOutcome | None, version: str) -> dict[str, Any]:
    """Where an answer is from: version, training data, level of information; and the measured coverage."""
    known = {
        "version": version,
        "release": None if outcome is None else outcome.source,
        "level": spec.task.level,
    }
    if outcome is None or not outcome.intervals:
        return known
    measured = (
        f"{target} {', '.join(f'{share[part]:.0%} of {part}' for part in MEASURED if part in share)}"
        for target, share in outcome.intervals.items()
    )
    return {**known, "intervals": f"made for {COVERED:.0%} of labels; measured: {'; '.join(measured)}"}


def _in_words(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with a sentence that says whether the question is like the training data."""
    outside = str(answer.get("outside_training") or "")
    if "outside_training" not in answer:
        return answer
    note = (
        f"outside training: {outside} beyond the range of the training data; the values may be far off"
        if outside
        else "inside the range of every feature of the training data"
    )
    return {**answer, "note": note}


@contextmanager
def registered_model(name: str, alias: str) -> Iterator[Any]:
    """A registered model as MLflow loads it.

    Raises: FoundryError: no such model, or a damaged registry.
    """
    deployment = find_deployment()
    require_whole_registry(deployment)
    if find_spec("mlflow") is None:
        raise FoundryError(
            f"no model registry: MLflow is not installed ({name}@{alias}); accepted: a folder of a model, "
            "the champion of weights that come with the project, or any model with the extra `foundry`"
        )
    from models.registry import RegistryStore, mlflow_at, register_shipped

    store = RegistryStore(tracking_uri=deployment.tracking_uri, artifact_folder=deployment.artifact_folder)
    register_shipped(store, name)
    with mlflow_at(store):
        import mlflow
        from mlflow.exceptions import MlflowException

        try:
            model = mlflow.pyfunc.load_model(f"models:/{name}@{alias}")
        except MlflowException as error:
            raise FoundryError(
                f"no such model: {name}@{alias} in {store.tracking_uri} ({explain(error)}); "
                "`simfoundry models` lists the registered ones"
            ) from error
        yield model
