"""Predictors: each one trained on the tables of all suites, registered, and put on the leaderboard."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assets.databases import require_whole_registry
from assets.groups import Group, Positive
from assets.settings import Listener, Settings
from assets.step import Output, Step, whole
from assets.versions import table_hashes
from models.queue_correction.registering import NAME as CORRECTION
from models.queue_correction.registering import register_correction
from models.registry import Registration, RegistryStore, register_candidate
from models.tenset_mlp import NAME as TENSET_MLP
from models.tenset_mlp import TrainOptions, train_tenset_mlp


class TensetMlp(Group):
    """Training of the Tenset-MLP; meanings are those of models.tenset_mlp.TrainOptions."""

    seed: int
    features: str
    hidden_sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    learning_rate: Positive
    weight_decay: Annotated[float, Field(ge=0)]
    batch_size: Annotated[int, Field(ge=1)]
    max_epochs: Annotated[int, Field(ge=1)]
    patience: Annotated[int, Field(ge=1)]
    stopping_groups: Annotated[int, Field(ge=0)]
    bootstrap_resamples: Annotated[int, Field(ge=1)]


class Models(Group):
    """One group per predictor."""

    tenset_mlp: TensetMlp


TABLES = ("programs", "designs", "labels", "runs", "loops", "splits")


def train_predictor(settings: Settings, partition: str, listen: Listener) -> Output:
    """Train a predictor, register it, and write its rows of the leaderboard."""
    del listen, partition
    options = settings.group(Models).tenset_mlp.model_dump()
    seed = options.pop("seed")
    outcome = train_tenset_mlp(
        settings.deployment.data_dir,
        TrainOptions(split=settings.configuration.features.split, **options),
        seed=seed,
    )
    hashes = table_hashes(settings.deployment, TABLES)
    tags = {f"dvc.{path}": value for path, value in hashes.items()}
    placed = register_candidate(outcome, registry_store(settings), tags)
    return Output(rows={"leaderboard": outcome.leaderboard}, notes=_registration_notes(placed))


def register_shipped(settings: Settings, partition: str, listen: Listener) -> Output:
    """Put the correction that comes with the project into the registry."""
    del listen, partition
    version = register_correction(registry_store(settings))
    return Output(rows={}, notes={"registered": f"{CORRECTION} version {version}"})


def registry_store(settings: Settings) -> RegistryStore:
    """The model registry of the deployment.

    Raises: FoundryError: it is damaged.
    """
    require_whole_registry(settings.deployment)
    return RegistryStore(
        tracking_uri=settings.deployment.tracking_uri,
        artifact_folder=settings.deployment.artifact_folder,
    )


def _registration_notes(placed: Registration) -> dict[str, str]:
    alias = "champion" if placed.is_champion else "not champion"
    return {"registered": f"{placed.name} version {placed.version}, {alias}: {placed.reason}"}


STEPS = (
    Step(
        name="tenset_mlp",
        description="The Tenset-MLP, trained on the split and registered, and its rows of the leaderboard.",
        run=train_predictor,
        tables=("leaderboard",),
        reads=TABLES,
        partitioned=whole(TENSET_MLP),
        stage="models",
        pool="training",
        configuration={"models": Models},
        parameters=("features", "models"),
        code=("models",),
    ),
    Step(
        name="queue_correction",
        description="The correction of queueing theory's latencies, in the registry.",
        run=register_shipped,
        tables=(),
        reads=("network_runs", "network_flows", "network_hops"),
        stage="models",
        asset="queue_correction",
        is_active=lambda settings: bool(settings.configuration.network.groups),
    ),
)
