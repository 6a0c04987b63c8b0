"""RTL simulations: designs of families by every engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from assets.checks import CheckedFile, CheckRule
from assets.engines import RTL_REUSE
from assets.errors import FoundryError
from assets.label_settings import label_options
from assets.settings import Group, Listener, Settings
from assets.step import Output, Partitioning, Step
from assets.steps.network import GroupName
from pipelines.schemas import OK

if TYPE_CHECKING:
    from pipelines.rtlreuse.dataset import SimulationGroup


class SimulationFields(Group):
    """Simulations of one kind; meanings are those of pipelines.rtlreuse.dataset.SimulationGroup."""

    sizes: dict[str, tuple[Annotated[int, Field(ge=1)], ...]]
    engines: tuple[str, ...] = ("reuse",)
    cycles: Annotated[int, Field(ge=1)] = 10_000
    stimuli: Annotated[int, Field(ge=1, le=4096)] = 1
    seeds: tuple[int, ...] = (0,)


class Simulations(Group):
    """Groups of simulations."""

    groups: dict[GroupName, SimulationFields] = Field(default_factory=dict[str, SimulationFields])


def simulation_groups(settings: Settings) -> dict[str, SimulationGroup]:
    """The groups by name, in order.

    Raises: RtlError: a family, an engine or a size is not acceptable.
    """
    from pipelines.rtlreuse.dataset import SimulationGroup

    return {
        name: SimulationGroup(name=name, **group.model_dump())
        for name, group in settings.group(Simulations).groups.items()
    }


def make(settings: Settings, partition: str, listen: Listener) -> Output:
    """The simulations of a group."""
    from pipelines.rtlreuse.dataset import make_simulations

    rows = make_simulations(
        _group_named(settings, partition),
        cache=settings.cache,
        workers=label_options(settings).workers,
        on_progress=listen,
    )
    return Output(rows={"simulations": rows})


def _version(settings: Settings, partition: str) -> str:
    from pipelines.rtlreuse.dataset import group_key

    return group_key(_group_named(settings, partition))


def _require(settings: Settings) -> None:
    if settings.group(Simulations).groups:
        simulation_groups(settings)


def _group_named(settings: Settings, name: str) -> SimulationGroup:
    groups = simulation_groups(settings)
    if name not in groups:
        raise FoundryError(f"unknown group: {name}; accepted: {', '.join(groups) or 'none'}")
    return groups[name]


def different_outputs(file: CheckedFile) -> list[str]:
    """Runs whose engines gave different outputs, and ok rows without a digest."""
    from pipelines.rtlreuse.dataset import differing_digests

    problems = [
        f"simulation {row['simulation_id']} with status {row['status']} and digest {row['digest']}; "
        "accepted: a digest when ok, a reason otherwise"
        for row in file.rows
        if (row["digest"] is None) == (row["status"] == OK)
        or (row["reason"] is None) != (row["status"] == OK)
    ]
    return problems + differing_digests(file.rows)


STEP = Step(
    name="simulations",
    description="RTL simulation: designs of families by every engine, with digests of their outputs.",
    run=make,
    tables=("simulations",),
    partitioned=Partitioning(
        name="simulations", names=lambda configuration: tuple(configuration.simulations.groups)
    ),
    pool="simulation",
    configuration={"simulations": Simulations},
    parameters=("simulations",),
    engines=(RTL_REUSE,),
    version=_version,
    checks={
        "simulations": [CheckRule("outputs_equal", "All engines gave the same outputs.", different_outputs)]
    },
    require=_require,
)
