"""Fixed-point pipelines: networks in space, and their power."""

from __future__ import annotations

from assets.checks import CheckedFile, CheckRule
from assets.engines import FIXED, POWER, SYNTHESIS
from assets.label_settings import label_options, target_of
from assets.settings import Groups, Listener, Settings
from assets.step import Output, Partitioning, Step
from pipelines.accelerators.fixed import dataset
from pipelines.accelerators.fixed.dataset import FixedGroup
from pipelines.schemas import OK


class Fixed(Groups[FixedGroup]):
    """Groups of networks as fixed-point pipelines; they need da4ml, extra `fixed`."""


def make(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the networks of a group."""
    rows = dataset.make_fixed(
        settings.group(Fixed).named(partition),
        liberty=target_of(settings).liberty,
        folder=settings.deployment.cache_dir / "fixed",
        cache=settings.cache,
        workers=label_options(settings).workers,
        on_progress=listen,
    )
    return Output(rows={"fixed_networks": rows})


def _version(settings: Settings, partition: str) -> str:
    return dataset.group_key(settings.group(Fixed).named(partition), target_of(settings).liberty)


def _require(settings: Settings) -> None:
    if settings.group(Fixed).groups:
        dataset.compiler_version()


def unequal_outputs(file: CheckedFile) -> list[str]:
    """Return powers of a netlist that differs from the compiler's model, and failures without a reason."""
    return [
        f"network {row['fixed_id']} with status {row['status']}; accepted: equal outputs with a power, "
        "a reason otherwise"
        for row in file.rows
        if not (row["status"] == OK or row["reason"])
        or (row["power_mw"] is not None and not (row["status"] == OK and row["outputs_equal"]))
    ]


STEP = Step(
    name="fixed",
    stage="accelerators",
    description="Networks as fixed-point pipelines, and their power by simulation.",
    run=make,
    tables=("fixed_networks",),
    partitioned=Partitioning(name="fixed", names=lambda configuration: tuple(configuration.fixed.groups)),
    pool="simulation",
    configuration={"fixed": Fixed},
    parameters=("fixed", "synthesis.liberty"),
    engines=(FIXED, SYNTHESIS, POWER),
    version=_version,
    checks={
        "fixed_networks": [
            CheckRule("outputs_equal", "Every power belongs to a netlist that was compared.", unequal_outputs)
        ]
    },
    require=_require,
)
