"""Writing a release of a project's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assets.configuration import parameters_text, read_parameters
from assets.deployments import Deployment, writing_to
from assets.errors import FoundryError
from assets.releases.freshness import require_fresh
from assets.releases.versions import toolset_of
from assets.settings import MACHINE_GROUPS, Configuration, Settings
from assets.shared_tables import present_version, pull_tables
from assets.steps import STEPS
from pipelines.dataset.releases import (
    PARAMETERS_FILE,
    ROWS_A_SHARD,
    SIZE_LIMIT_BYTES,
    ReleaseOptions,
    Reproduction,
    WrittenRelease,
    released_tables,
    write_release,
)
from pipelines.schemas import (
    TableSpec,
)

SEED_KEYS = ("seed", "data_seeds", "seeds", "routing_seeds", "sample_seed")


def release_tables(
    deployment: Deployment,
    name: str,
    *,
    releases: Path,
    tables: Sequence[str] = (),
    size_limit_bytes: int = SIZE_LIMIT_BYTES,
    rows_a_shard: int = ROWS_A_SHARD,
) -> WrittenRelease:
    """Write a release of a project's tables under its params.yaml.

    Args:   releases: folder of releases; tables: that it has, all for none; size_limit_bytes, rows_a_shard:
            see `ReleaseOptions`.
    Raises: ReleaseError: see `write_release`. FoundryError: params.yaml is not acceptable, a table is
            unknown, or the tables were not made by one version of each tool.
    """
    configuration = read_parameters(deployment.project)
    settings = Settings(configuration=configuration, deployment=deployment)
    with writing_to(deployment.data_dir):
        pull_tables(deployment)
        partitions = _partitions(settings, tables)
        unused = unused_groups(partitions)
        require_fresh(settings, partitions)
        options = ReleaseOptions(
            name=name,
            partitions=partitions,
            parameters=parameters_text(configuration, without=unused),
            toolset=toolset_of(settings, partitions),
            reproduction=_reproduction(name, configuration, unused, tables),
            size_limit_bytes=size_limit_bytes,
            rows_a_shard=rows_a_shard,
            catalogue=present_version(deployment),
        )
        return write_release(deployment.data_dir, releases, options)


def unused_groups(tables: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the groups of the configuration that a release with these partitions by table does not have."""
    return tuple(s.group for s in TableSpec.registry.values() if s.group and not tables.get(s.name))


def _partitions(settings: Settings, tables: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the files of each table that is released."""
    known = released_tables()
    for table in tables:
        if table not in known:
            raise FoundryError(f"unknown table: {table}; accepted: {', '.join(known)}")
    partitions = {t: s.partitions(settings) for s in STEPS for t in s.tables if t in (tables or known)}
    if not settings.configuration.pragmas.kernels:
        partitions.pop("pragma_designs", None)
    return partitions


def _reproduction(
    name: str, configuration: Configuration, unused: Sequence[str], tables: Sequence[str]
) -> Reproduction:
    """Describe how to reproduce a release. unused: groups of the configuration; tables: released ones."""
    content = configuration.model_dump(mode="json", exclude={*MACHINE_GROUPS, *unused})
    parameters = f"releases/{name}/{PARAMETERS_FILE}"
    steps = [step.name for step in STEPS if any(table in tables for table in step.tables)]
    makes = [f"cp {parameters} {PARAMETERS_FILE}", *(f"simfoundry stage {step}" for step in steps)]
    return Reproduction(
        commands=(
            "make setup",
            *(makes if tables else (f"simfoundry run --parameters {parameters}",)),
            " ".join((f"simfoundry release {name}", *(f"--table {table}" for table in tables))),
        ),
        seeds=seeds_of(content),
        notes=(
            "After `simfoundry import` the first of these runs takes its labels from the cache; in an empty "
            "folder it makes them anew.",
        ),
    )


def seeds_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Return every seed of a configuration by its key."""
    return dict(_seeds(content))


def _seeds(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _seeds(value, f"{prefix}{key}.")
        elif key in SEED_KEYS:
            yield f"`{prefix}{key}`", str(value)
