"""A sample of rows made again in an empty cache and compared, so that no stale label stays unnoticed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from assets.settings import Settings
from assets.step import Step, read_rows
from assets.steps import STEPS
from assets.steps.network import BY_GROUP, Network
from assets.suites import BY_SUITE, shard_named
from pipelines.programs import LLM
from pipelines.schemas import ProgramRow, TableSpec, is_lasting, read_table, table_spec, write_table

PROBLEM_LIMIT = 20


def stale_rows(settings: Settings, *, fraction: float, seed: int) -> list[str]:
    """Rows of the tables that the present engines make otherwise, one line each.

    Of every shard a share of the programs goes again through the steps of a suite, and one shard is generated
    again whole; of every group of networks one run is simulated again.

    Args: fraction: of the programs, at least one per shard. seed: of the sample.
    """
    draw = Random(seed)  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="simfoundry-remake-") as folder:
        deployment = replace(
            settings.deployment, data_dir=Path(folder) / "data", cache_dir=Path(folder) / "cache"
        )
        fresh = replace(settings, deployment=deployment)
        problems = [*_generated_again(settings, fresh, draw)]
        for partition in BY_SUITE.names(settings.configuration):
            problems += _labelled_again(settings, fresh, partition, fraction, draw)
        for partition in BY_GROUP.names(settings.configuration):
            problems += _simulated_again(settings, fresh, partition, draw)
    return problems


def _generated_again(settings: Settings, fresh: Settings, draw: Random) -> Iterator[str]:
    shards = [
        name
        for name in BY_SUITE.names(settings.configuration)
        if shard_named(name, settings.configuration).suite != LLM
    ]
    if shards:
        partition = draw.choice(shards)
        step = next(step for step in STEPS if step.name == "programs")
        step.make(fresh, partition)
        yield from _differences(settings, fresh, step, partition)


def _labelled_again(
    settings: Settings, fresh: Settings, partition: str, fraction: float, draw: Random
) -> Iterator[str]:
    programs: list[ProgramRow] = read_rows(settings, "programs", partition)
    sample = draw.sample(programs, min(len(programs), max(1, ceil(fraction * len(programs)))))
    write_table(fresh.deployment.data_dir, table_spec("programs"), sample, partition)
    for step in (s for s in STEPS if s.partitioned.name == BY_SUITE.name and s.name != "programs"):
        step.make(fresh, partition)
        yield from _differences(settings, fresh, step, partition)


def _simulated_again(settings: Settings, fresh: Settings, partition: str, draw: Random) -> Iterator[str]:
    group = settings.group(Network).groups[partition]
    one = {
        name: (draw.choice(values),)
        for name, values in group
        if isinstance(values, tuple) and values and group.samples is None
    }
    samples = None if group.samples is None else 1
    network = settings.group(Network).model_copy(
        update={"groups": {partition: group.model_copy(update={**one, "samples": samples})}}
    )
    configuration = fresh.configuration.model_copy(update={"network": network})
    step = next(step for step in STEPS if step.name == "network")
    step.make(replace(fresh, configuration=configuration), partition)
    yield from _differences(settings, fresh, step, partition)


def _differences(settings: Settings, fresh: Settings, step: Step, partition: str) -> Iterator[str]:
    """Rows made again that are not in the tables as they were made again."""
    for table in step.tables:
        spec = table_spec(table)
        present = {_key(spec, row): row for row in read_rows(settings, table, partition)}
        again: Sequence[Any] = read_table(fresh.deployment.data_dir, spec, [partition])
        for row in again:
            key = _key(spec, row)
            columns = _differing(spec, present.get(key), row)
            if columns:
                named = ", ".join(f"{name}={value}" for name, value in zip(spec.key, key, strict=True))
                yield f"{table} {partition}: {named} is stale: {', '.join(columns)}"


def _key(spec: TableSpec, row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in spec.key)


def _differing(spec: TableSpec, old: Any | None, new: Any) -> list[str]:
    """Columns in which two rows differ, reasons and times aside."""
    if old is None:
        return ["absent from the table"]
    if not is_lasting(getattr(old, "status", "ok")) or not is_lasting(getattr(new, "status", "ok")):
        return []
    before, after = asdict(old), asdict(new)
    ignored = {column.name for column in spec.columns if column.measured or column.name.endswith("reason")}
    return [
        f"{name} {before[name]!r} -> {after[name]!r}"
        for name in before
        if name not in ignored and before[name] != after[name]
    ]
