"""RTL simulations: designs of families by every engine."""

from __future__ import annotations

from assets.checks import CheckedFile, CheckRule
from assets.engines import RTL_REUSE
from assets.label_settings import label_options
from assets.settings import Groups, Listener, Settings
from assets.step import Output, Partitioning, Step
from pipelines.rtl.reuse import dataset
from pipelines.rtl.reuse.dataset import SimulationGroup
from pipelines.schemas import OK


class Simulations(Groups[SimulationGroup]):
    """Groups of simulations."""


def make(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the simulations of a group."""
    rows = dataset.make_simulations(
        settings.group(Simulations).named(partition),
        cache=settings.cache,
        workers=label_options(settings).workers,
        on_progress=listen,
    )
    return Output(rows={"simulations": rows})


def _version(settings: Settings, partition: str) -> str:
    return dataset.group_key(settings.group(Simulations).named(partition))


def different_outputs(file: CheckedFile) -> list[str]:
    """Return the runs whose engines gave different outputs, and ok rows without a digest."""
    problems = [
        f"simulation {row['simulation_id']} with status {row['status']} and digest {row['digest']}; "
        "accepted: a digest when ok, a reason otherwise"
        for row in file.rows
        if (row["digest"] is None) == (row["status"] == OK)
        or (row["reason"] is None) != (row["status"] == OK)
    ]
    return problems + dataset.differing_digests(file.rows)


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
)
