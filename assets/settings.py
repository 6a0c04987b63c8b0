"""Groups of the configuration, and what every step receives: the configuration and the deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WrapSerializer,
)

from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.stores import SHARED_CACHE, ReadOnlyStore, open_sealed
from pipelines.base.cache import ContentCache
from pipelines.base.sealing import FolderStore
from pipelines.base.validation import Fraction, one_of
from pipelines.base.workers import Progress
from pipelines.dataset.labelling import SLOTTED

CONFIGURATION_FOLDER = Path(__file__).resolve().parents[1] / "conf"
AnyGroup = TypeVar("AnyGroup")
Declared = TypeVar("Declared")


class Group(BaseModel):
    """A group of the configuration; unknown keys, NaN and infinities are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _with_names(groups: Any) -> Any:
    """Return each group with its key as the field `name`."""
    if not isinstance(groups, Mapping):
        return groups
    if any(isinstance(group, Mapping) and "name" in group for group in groups.values()):
        raise ValueError("the key of a group is its name; accepted: groups without a field name")
    return {
        name: {"name": name, **group} if isinstance(group, Mapping) else group
        for name, group in groups.items()
    }


def _without_names(groups: Any, handler: SerializerFunctionWrapHandler) -> Any:
    return {
        name: {key: value for key, value in group.items() if key != "name"}
        for name, group in handler(groups).items()
    }


GroupName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
"""It names table files and partitions."""


class Groups(Group, Generic[Declared]):
    """What a step makes, by name: objects of the engine's own class, whose field `name` is the key."""

    groups: Annotated[
        dict[GroupName, Declared], BeforeValidator(_with_names), WrapSerializer(_without_names)
    ] = Field(default_factory=dict[str, Declared])

    def named(self, name: str) -> Declared:
        """Return the group of that name.

        Raises: FoundryError: there is none.
        """
        if name not in self.groups:
            raise FoundryError(f"unknown group: {name}; accepted: {', '.join(self.groups) or 'none'}")
        return self.groups[name]


class Quality(Group):
    """Shares above which a quality check warns."""

    max_failure_fraction: Fraction


def _require_time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{name}; accepted: an IANA time zone, for example Europe/Zurich") from error
    return name


class Nightly(Group):
    """When the nightly run begins, and by how much it grows.

    Attributes:
        hour: of the day. time_zone: by its IANA name.
        budget_core_hours: of labelling further generated programs every night.
    """

    hour: Annotated[int, Field(ge=0, le=23)] = 2
    time_zone: Annotated[str, AfterValidator(_require_time_zone)] = "UTC"
    budget_core_hours: Annotated[float, Field(ge=0)] = 0.0

    @property
    def cron(self) -> str:
        """The hour as a cron line."""
        return f"0 {self.hour} * * *"


class Run(Group):
    """How this machine works; nothing here changes a row.

    `remade_fraction` of the programs are labelled again in an empty cache after a run, and compared.
    """

    nightly: Nightly = Nightly()
    workers: Annotated[int, Field(ge=1)] | None = None
    remade_fraction: Fraction = 0.0
    slots: Annotated[
        dict[Annotated[str, one_of(SLOTTED)], Annotated[int, Field(ge=1)] | None],
        AfterValidator(lambda slots: {tool: n for tool, n in slots.items() if n is not None}),
    ] = {}


LOCAL, RAY = "local", "ray"
AUTO = "auto"
"""Address of a cluster of this machine alone."""


class Cluster(Group):
    """Where the items of long steps are worked on; nothing here changes a row.

    Attributes:
        kind: `local` for processes of this machine, `ray` for the nodes of a cluster.
        address: of its head, host:port; `auto` starts a cluster of this machine alone.
        memory_gib: that a node keeps free for an item. batch_s: seconds of work handed over at a time.
        retries: of an item whose worker or node ended.
    """

    kind: Annotated[str, one_of((LOCAL, RAY))] = LOCAL
    address: Annotated[str, Field(pattern=r"^(auto|[A-Za-z0-9_.:\[\]-]+:[0-9]{1,5})$")] = AUTO
    memory_gib: Annotated[float, Field(gt=0)] = 8.0
    batch_s: Annotated[float, Field(gt=0)] = 20.0
    retries: Annotated[int, Field(ge=0)] = 3


MACHINE_GROUPS = frozenset({"run", "cluster"})
"""Groups that say how work is done and not what comes out; params.yaml has none of them."""


class Configuration(Group):
    """Everything a run depends on: an attribute per group, see `assets.configuration`."""

    def group(self, kind: type[AnyGroup]) -> AnyGroup:
        """Return the group of that class."""
        return next(value for _, value in self if isinstance(value, kind))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


Listener = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Ignore progress, for callers that show none."""
    del progress


def content_cache(deployment: Deployment) -> ContentCache:
    """Return the content cache of a deployment, with the shared store where there is one.

    Raises: FoundryError: a credential of the store is missing. ExtraMissing: no extra `cluster`.
    """
    store = deployment.store
    shared = None if store is None else open_sealed(f"{store}/{SHARED_CACHE}")
    if deployment.finished is not None:
        stores = (FolderStore(deployment.finished), *([] if shared is None else [shared]))
        shared = ReadOnlyStore(stores=stores)
    return ContentCache(folder=deployment.cache_dir, shared=shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A configuration in a deployment.

    Attributes: may_promote: whether models trained under the configuration may become champion.
    """

    configuration: Configuration
    deployment: Deployment
    may_promote: Callable[[], bool] = lambda: False

    @property
    def cache(self) -> ContentCache:
        """The content cache."""
        return content_cache(self.deployment)

    @property
    def max_failure_fraction(self) -> float:
        """Share of failed rows above which a check warns."""
        return self.group(Quality).max_failure_fraction

    def group(self, kind: type[AnyGroup]) -> AnyGroup:
        """Return the group of the configuration of that class."""
        return self.configuration.group(kind)
