"""Accelerators: drawn hardware, networks compiled for it, and their power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from assets.checks import CheckedFile, CheckRule
from assets.engines import ACCELERATORS, POWER, SYNTHESIS
from assets.errors import FoundryError
from assets.label_settings import label_options, target_of
from assets.settings import Group, Listener, Settings
from assets.step import Output, Partitioning, Step
from assets.steps.network import GroupName
from pipelines.schemas import OK

if TYPE_CHECKING:
    from pipelines.accelerators.dataset import AcceleratorGroup

_TOLERANCE = 1e-6


class AcceleratorFields(Group):
    """Pairs of one kind; meanings are those of pipelines.accelerators.dataset.AcceleratorGroup."""

    hardware: Annotated[int, Field(ge=1)] = 1
    families: tuple[str, ...] = ("mlp", "cnn", "resnet", "mobilenet", "transformer", "bert")
    scales: tuple[str, ...] = ("tiny",)
    networks: Annotated[int, Field(ge=1)] = 1
    is_labelled: bool = False
    is_small: bool = False
    is_near_default: bool = False
    exported: tuple[int, ...] = ()
    part: str | None = None
    seed: int = 0


class Accelerators(Group):
    """Groups of pairs of hardware and network."""

    groups: dict[GroupName, AcceleratorFields] = Field(default_factory=dict[str, AcceleratorFields])


def accelerator_groups(settings: Settings) -> dict[str, AcceleratorGroup]:
    """The groups by name, in order.

    Raises: AcceleratorError: a family or a scale is not acceptable.
    """
    from pipelines.accelerators.dataset import AcceleratorGroup  # lazy import: loads onnx

    return {
        name: AcceleratorGroup(name=name, **group.model_dump())
        for name, group in settings.group(Accelerators).groups.items()
    }


def make(settings: Settings, partition: str, listen: Listener) -> Output:
    """The pairs of a group."""
    from pipelines.accelerators.dataset import LabelTools, make_accelerators

    options = label_options(settings)
    made = make_accelerators(
        _group_named(settings, partition),
        tools=LabelTools(
            liberty=target_of(settings).liberty, folder=settings.deployment.cache_dir / "accelerators"
        ),
        cache=settings.cache,
        workers=options.workers,
        on_progress=listen,
    )
    return Output(
        rows={
            "accelerators": made.accelerators,
            "compiled_networks": made.compiled,
            "accelerator_labels": made.labels,
        }
    )


def _version(settings: Settings, partition: str) -> str:
    from pipelines.accelerators.dataset import group_key

    return group_key(_group_named(settings, partition), target_of(settings).liberty)


def _require(settings: Settings) -> None:
    if settings.group(Accelerators).groups:
        accelerator_groups(settings)


def _group_named(settings: Settings, name: str) -> AcceleratorGroup:
    groups = accelerator_groups(settings)
    if name not in groups:
        raise FoundryError(f"unknown group: {name}; accepted: {', '.join(groups) or 'none'}")
    return groups[name]


def wrong_energies(file: CheckedFile) -> list[str]:
    """Ok labels whose words differ or energies do not add up; others with a figure or without a reason."""
    return [
        f"label {row['compiled_id']} with status {row['status']}; accepted: equal outputs and energies that "
        "add up when ok, a reason otherwise"
        for row in file.rows
        if not (_adds_up(row) if row["status"] == OK else row["reason"] and row["power_mw"] is None)
    ]


def _adds_up(row: Mapping[str, Any]) -> bool:
    parts, layers = row["core_energy_nj"] + row["memory_energy_nj"], sum(row["layer_energy_nj"])
    is_close = all(abs(part - row["energy_nj"]) <= _TOLERANCE * row["energy_nj"] for part in (parts, layers))
    return row["outputs_equal"] and is_close and sum(row["layer_cycles"]) == row["latency_cycles"]


STEP = Step(
    name="accelerators",
    description="Accelerators: drawn hardware, networks compiled for it, and their power by simulation.",
    run=make,
    tables=("accelerators", "compiled_networks", "accelerator_labels"),
    partitioned=Partitioning(
        name="accelerators", names=lambda configuration: tuple(configuration.accelerators.groups)
    ),
    pool="simulation",
    configuration={"accelerators": Accelerators},
    parameters=("accelerators", "synthesis.liberty"),
    engines=(ACCELERATORS, SYNTHESIS, POWER),
    version=_version,
    checks={
        "accelerator_labels": [
            CheckRule("energies_add_up", "Outputs are equal and energies of parts add up.", wrong_energies)
        ]
    },
    require=_require,
)
