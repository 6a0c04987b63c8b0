"""Predictors: each one of the catalogue trained, registered and on the leaderboard; the gate's decisions."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from functools import partial
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pydantic import create_model, model_validator

from assets.deployments import find_deployment, require_whole_registry
from assets.engines import training_engine
from assets.errors import FoundryError
from assets.settings import MACHINE_GROUPS, Group, Listener, Settings
from assets.shared_tables import pull_tables
from assets.step import SKIPPED, Markdown, Output, Step, read_rows, whole
from assets.versions import table_hashes
from models.base import PredictorError
from models.catalogue import PredictorSpec, predictor_named, predictors
from models.local_registry import registry_state
from models.model_files import read_outcome, write_folder
from models.options import ordered_fields
from models.registry import (
    Registration,
    promotion_rows,
    register,
    register_shipped,
    version_facts,
)
from models.tasks import TooFewRows
from models.tracking import RegistryStore, training_loggers
from pipelines.base.validation import some_of
from pipelines.base.workers import Outcome, run_all
from pipelines.schemas import PromotionRow

ESTIMATES = ("engine-estimate-hls", "engine-estimate-run")
TABLES = ("leaderboard", "workload_errors", "predictor_costs")
TRAINING = "training"
"""Pool of the steps that train."""
ERROR_DIGITS = 4
SELECTION = ("split", "tool", "liberty")
"""Options of training that other groups of the configuration give."""


_LOG = logging.getLogger(__name__)


def _field_name(spec: PredictorSpec) -> str:
    return spec.name.replace("-", "_")


def _options_group(spec: PredictorSpec) -> type[Group]:
    """Return the group of a predictor: the options of its training, and the seed."""
    hints = get_type_hints(spec.options)
    own = [option for option in ordered_fields(spec.options) if option.name not in SELECTION]
    content: dict[str, Any] = {
        option.name: (hints[option.name], option.default if option.default is not MISSING else ...)
        for option in own
    }

    def check(group: Group) -> Group:
        spec.options(**group.model_dump(exclude={"seed"}))  # raises ValueError for what it does not accept
        return group

    validators: dict[str, Any] = {"check": model_validator(mode="after")(check)}
    return create_model(
        "".join(part.title() for part in spec.name.split("-")) + "Training",
        __base__=Group,
        __validators__=validators,
        seed=(int, 0),
        **content,
    )


def _models_group() -> type[Group]:
    """Return which predictors `simfoundry run` trains, and a group per predictor."""
    names = tuple(spec.name for spec in predictors())
    groups = {_field_name(spec): _options_group(spec) for spec in predictors()}
    content: dict[str, Any] = {
        "trained": (Annotated[tuple[str, ...], some_of(names)], ("tenset-mlp",)),
        **{name: (group, group()) for name, group in groups.items()},
    }
    validators: dict[str, Any] = {"choose": model_validator(mode="before")(_without_chosen)}
    return create_model("Models", __base__=Group, __validators__=validators, **content)


def _without_chosen(content: Any) -> Any:
    """Return the content of the group, with `trained` from `chosen` where no list is given.

    Files of conf/models choose predictors by name, so that `models=[tlp,gnnhls]` trains those of both; the
    engine's estimates, which every one of them has to beat, come with them.
    """
    if not isinstance(content, dict) or "chosen" not in content:
        return content
    rest = {name: value for name, value in content.items() if name != "chosen"}
    chosen = [name for name, is_trained in content["chosen"].items() if is_trained]
    return {"trained": (*chosen, *ESTIMATES), **rest}


Models = _models_group()


def train_predictor(settings: Settings, partition: str, listen: Listener, *, spec: PredictorSpec) -> Output:
    """Train a predictor, register it, and write its rows of the leaderboard.

    A predictor that cannot be trained on so few programs is skipped: it has no rows, and a note says why.
    """
    del listen, partition
    options, seed = _chosen_options(settings, spec)
    store = registry_store(settings)
    try:
        with training_loggers(store, spec.name) as loggers:
            outcome = spec.train(settings.deployment.data_dir, options, seed=seed, loggers=loggers)
    except TooFewRows as error:
        return Output(rows=dict.fromkeys(TABLES, ()), notes={SKIPPED: str(error)})
    register_shipped(store)
    hashes = table_hashes(settings.deployment, spec.task.tables)
    registration = register(outcome, store, may_promote=settings.may_promote(), data_versions=hashes)
    costs = () if outcome.costs is None else (outcome.costs,)
    return Output(
        rows={
            "leaderboard": outcome.leaderboard,
            "workload_errors": outcome.workloads,
            "predictor_costs": costs,
        },
        notes={**_registry_notes(settings, store, registration), "registered": _sentence(registration)},
    )


def _chosen_options(settings: Settings, spec: PredictorSpec) -> tuple[Any, int]:
    """Return the options of a predictor under a configuration, and the seed."""
    chosen = getattr(settings.configuration.models, _field_name(spec)).model_dump()
    seed = chosen.pop("seed")
    if "labels" in spec.task.tables:
        chosen["split"] = settings.configuration.features.split
    return spec.options(**chosen), seed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Training:
    """A predictor to be trained in another process."""

    predictor: str
    options: Any
    seed: int
    data_dir: Path


def train_ahead(settings: Settings, steps: Sequence[Step], listen: Listener) -> None:
    """Train the predictors of steps at once, a task each; the steps then find them trained.

    What a predictor raises is left to its step, which raises it again.
    """
    specs = [spec for spec in predictors() if _field_name(spec) in {step.name for step in steps}]
    data_dir = settings.deployment.data_dir
    trainings: list[_Training] = []
    for spec in specs:
        options, seed = _chosen_options(settings, spec)
        trainings.append(_Training(predictor=spec.name, options=options, seed=seed, data_dir=data_dir))
    for folder, files in run_all("training", trainings, _trained_files, workers=1, on_progress=listen):
        if files and read_outcome(data_dir / folder) is None:
            write_folder(data_dir / folder, files)


def _trained_files(training: _Training) -> Outcome[tuple[str, Mapping[str, bytes]]]:
    """Train a predictor where this process runs, and return its folder in the data folder and its files.

    A node with a disk of its own fetches the tables from the catalogue that its environment names; the
    database's password goes to no other process.
    """
    spec, data_dir = predictor_named(training.predictor), training.data_dir
    pull_tables(replace(find_deployment(), data_dir=data_dir), spec.task.tables)
    try:
        outcome = spec.train(data_dir, training.options, seed=training.seed)
    except (PredictorError, ValueError) as error:
        _LOG.warning("%s: %s", spec.name, error)
        return Outcome(result=("", {}), failed=True, name=spec.name)
    files = {path.name: path.read_bytes() for path in sorted(outcome.folder.iterdir())}
    folder = outcome.folder.relative_to(data_dir)
    return Outcome(result=(str(folder), files), failed=False, name=spec.name)


def _registry_notes(settings: Settings, store: RegistryStore, registration: Registration) -> dict[str, Any]:
    """Return the known reference errors of the version and of the champion, and the page of the run."""
    facts = version_facts(store, registration.name, registration.version)
    errors = {"reference_error": facts.error, "champion_reference_error": facts.champion_error}
    page = f"{settings.deployment.mlflow_address}/{facts.run_path}"
    return {
        **{name: round(error, ERROR_DIGITS) for name, error in errors.items() if error is not None},
        "mlflow_run": Markdown(f"[run {facts.run_path.rpartition('/')[2][:8]}]({page})"),
    }


def write_promotions(settings: Settings, partition: str, listen: Listener) -> Output:
    """Register the weights that come with the project, and write the decision about every version."""
    del listen, partition
    store = registry_store(settings)
    registered = register_shipped(store)
    notes = {"shipped": "; ".join(_sentence(one) for one in registered)} if registered else {}
    return Output(rows={"promotions": promotion_rows(store)}, notes=notes)


def show_leaderboard(settings: Settings, partition: str, listen: Listener) -> Output:
    """Show the champions of each task, the smallest reference error first."""
    del listen, partition
    try:
        rows: list[PromotionRow] = read_rows(settings, "promotions", "all")
    except FoundryError:  # no decision was ever written
        return Output(rows={}, notes={"champions": "none: no version of a model was judged"})
    promoted = sorted((row for row in rows if row.decision == "promoted"), key=lambda row: int(row.version))
    champions = {row.model: row for row in promoted}  # the newest version stays
    task_of = {spec.name: spec.task.name for spec in predictors()}
    tasks: dict[str, list[PromotionRow]] = {}
    for row in sorted(champions.values(), key=lambda row: (row.error is None, row.error or 0.0, row.model)):
        tasks.setdefault(task_of.get(row.model, "other"), []).append(row)
    return Output(rows={}, notes={task: Markdown(_ranking(own)) for task, own in sorted(tasks.items())})


def _ranking(rows: Sequence[PromotionRow]) -> str:
    lines = [f"| {row.model} {row.version} | {_percent(row.error)} |" for row in rows]
    baseline = _percent(rows[0].baseline_error)
    head = ["| model and version | reference error |", "| --- | --- |"]
    return "\n".join([*head, *lines, f"| baseline | {baseline} |"])


def _percent(fraction: float | None) -> str:
    return "not scored" if fraction is None else f"{fraction:.1%}"


def registry_store(settings: Settings) -> RegistryStore:
    """Return the model registry of the deployment.

    Raises: FoundryError: it is damaged.
    """
    require_whole_registry(settings.deployment)
    return RegistryStore(
        tracking_uri=settings.deployment.tracking_uri,
        artifact_folder=settings.deployment.artifact_folder,
    )


def _registered(settings: Settings, *, names: Sequence[str], libraries: Sequence[str] = ()) -> Any:
    """Return the registry's models, and what decides about their promotion and their trained bits."""
    present = registry_state(settings.deployment.tracking_uri, names)
    if present is None:
        return None
    configuration = settings.configuration.model_dump(mode="json", exclude={*MACHINE_GROUPS})
    return [present, configuration, {name: package_version(name) for name in libraries}]


def _sentence(registration: Registration) -> str:
    alias = "champion" if registration.is_champion else "not champion"
    return f"{registration.name} version {registration.version}, {alias}: {registration.reason}"


def _is_trained(settings: Settings, *, name: str) -> bool:
    return name in settings.configuration.models.trained


def _steps(specs: Sequence[PredictorSpec]) -> tuple[Step, ...]:
    return tuple(
        Step(
            name=_field_name(spec),
            description=spec.description,
            run=partial(train_predictor, spec=spec),
            tables=TABLES,
            reads=spec.task.tables,
            partitioned=whole(spec.name),
            asset=_field_name(spec),
            pool=TRAINING,
            configuration={"models": Models},
            parameters=("features", "models"),
            engines=(training_engine(spec.package),),
            is_locked=False,
            state=partial(_registered, names=(spec.name,), libraries=spec.libraries),
            is_active=partial(_is_trained, name=spec.name),
        )
        for spec in specs
    )


STEPS = (
    *_steps(predictors()),
    Step(
        name="promotions",
        description="The gate's decision about every version in the model registry.",
        run=write_promotions,
        tables=("promotions",),
        reads=("leaderboard",),
        needs_all=False,
        is_recorded=False,
        state=partial(_registered, names=tuple(spec.name for spec in predictors())),
    ),
    Step(
        name="leaderboard",
        description="The champions of each task, by their error on the reference set.",
        run=show_leaderboard,
        tables=(),
        reads=("promotions",),
        stage="models",
        asset="leaderboard",
        needs_all=False,
        is_recorded=False,
    ),
)
