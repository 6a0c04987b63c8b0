"""Fixed-point pipelines: networks in space, and their power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from assets.checks import CheckedFile, CheckRule
from assets.engines import FIXED, POWER, SYNTHESIS
from assets.errors import FoundryError
from assets.label_settings import label_options, target_of
from assets.settings import Group, Listener, Settings
from assets.step import Output, Partitioning, Step
from assets.steps.network import GroupName
from pipelines.schemas import OK

if TYPE_CHECKING:
    from pipelines.accelerators.fixed.dataset import FixedGroup


class FixedFields(Group):
    """Networks of one kind; meanings are those of pipelines.accelerators.fixed.dataset.FixedGroup."""

    families: tuple[str, ...] = ("mlp", "cnn", "resnet", "mobilenet", "rnn")
    scale: str = "small"
    reuse_factors: tuple[Annotated[int, Field(ge=1, le=64)], ...] = (1,)
    networks: Annotated[int, Field(ge=1)] = 1
    is_labelled: bool = False
    seed: int = 0


class Fixed(Group):
    """Groups of networks as fixed-point pipelines; they need da4ml, extra `fixed`."""

    groups: dict[GroupName, FixedFields] = Field(default_factory=dict[str, FixedFields])


def fixed_groups(settings: Settings) -> dict[str, FixedGroup]:
    """The groups by name, in order.

    Raises: AcceleratorError: a family is not acceptable.
    """
    from pipelines.accelerators.fixed.dataset import FixedGroup  # lazy import: loads onnx

    return {
        name: FixedGroup(name=name, **group.model_dump())
        for name, group in settings.group(Fixed).groups.items()
    }


def make(settings: Settings, partition: str, listen: Listener) -> Output:
    """The networks of a group."""
    from pipelines.accelerators.fixed.dataset import make_fixed

    rows = make_fixed(
        _group_named(settings, partition),
        liberty=target_of(settings).liberty,
        folder=settings.deployment.cache_dir / "fixed",
        cache=settings.cache,
        workers=label_options(settings).workers,
        on_progress=listen,
    )
    return Output(rows={"fixed_networks": rows})


def _version(settings: Settings, partition: str) -> str:
    from pipelines.accelerators.fixed.dataset import group_key

    return group_key(_group_named(settings, partition), target_of(settings).liberty)


def _require(settings: Settings) -> None:
    if settings.group(Fixed).groups:
        from pipelines.accelerators.fixed.dataset import compiler_version

        compiler_version()
        fixed_groups(settings)


def _group_named(settings: Settings, name: str) -> FixedGroup:
    groups = fixed_groups(settings)
    if name not in groups:
        raise FoundryError(f"unknown group: {name}; accepted: {', '.join(groups) or 'none'}")
    return groups[name]


def unequal_outputs(file: CheckedFile) -> list[str]:
    """Powers of a netlist that was not equal to the compiler's model, and failures without a reason."""
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
