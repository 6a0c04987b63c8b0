"""Accelerators: drawn hardware, networks compiled for it, and their power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assets.checks import CheckedFile, CheckRule
from assets.engines import ACCELERATORS, POWER, SYNTHESIS
from assets.label_settings import label_options, target_of
from assets.settings import Groups, Listener, Settings
from assets.step import Output, Partitioning, Step
from pipelines.accelerators import dataset
from pipelines.accelerators.dataset import AcceleratorGroup
from pipelines.schemas import OK

_TOLERANCE = 1e-6


class Accelerators(Groups[AcceleratorGroup]):
    """Groups of pairs of hardware and network."""


def make(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the pairs of a group."""
    options = label_options(settings)
    made = dataset.make_accelerators(
        settings.group(Accelerators).named(partition),
        tools=dataset.LabelTools(
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
    return dataset.group_key(settings.group(Accelerators).named(partition), target_of(settings).liberty)


def wrong_energies(file: CheckedFile) -> list[str]:
    """List ok labels with unequal words or energies that do not add up; others with figures or no reason."""
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
)
