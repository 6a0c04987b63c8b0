"""Partitions: a suite, or a shard of one that generates many programs; a group of network runs.

A partition is made, written and checked by itself, so that the tables grow while the rest is still worked on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import dagster as dg

from assets.configuration import Configuration
from assets.errors import FoundryError
from pipelines.programs import AST, DATAFLOW, SuiteOptions

BY_SUITE, BY_GROUP, WHOLE = "suite", "group", "whole"
"""What a file of a table holds: the rows of a suite or a shard of it, of a group of network runs, or all."""

SHARDS = dg.DynamicPartitionsDefinition(name="shards")
GROUPS = dg.DynamicPartitionsDefinition(name="groups")
DEFINITIONS: Mapping[str, dg.DynamicPartitionsDefinition] = {BY_SUITE: SHARDS, BY_GROUP: GROUPS}
"""Dagster's partitions by what a file holds; `simfoundry run` and `simfoundry ui` add those of the
configuration."""

NUMBER_DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What a partition stands for.

    Attributes:
        partition: its name: the suite, with a number when the suite has several.
        first, count: numbers of its programs; None for all that the suite has.
    """

    partition: str
    suite: str
    first: int = 0
    count: int | None = None


def shards(configuration: Configuration) -> tuple[Shard, ...]:
    """Every shard of a configuration, in order."""
    size = configuration.programs.shard
    counts = {AST: configuration.ast.count, DATAFLOW: configuration.dataflow.count}
    found: list[Shard] = []
    for suite in configuration.programs.suites:
        count = counts.get(suite, 0)
        if count <= size:
            found.append(Shard(partition=suite, suite=suite))
            continue
        found += [
            Shard(
                partition=f"{suite}-{first // size:0{NUMBER_DIGITS}}",
                suite=suite,
                first=first,
                count=min(size, count - first),
            )
            for first in range(0, count, size)
        ]
    return tuple(found)


def partitions(configuration: Configuration) -> tuple[str, ...]:
    """Names of all shards of a configuration, in order."""
    return tuple(shard.partition for shard in shards(configuration))


def partitions_by(what: str, configuration: Configuration) -> tuple[str, ...]:
    """Names of the partitions of a kind in a configuration, in order.

    Args: what: a key of DEFINITIONS.
    """
    return tuple(configuration.network.groups) if what == BY_GROUP else partitions(configuration)


def shard_named(partition: str, configuration: Configuration) -> Shard:
    """The shard of a name.

    Raises: FoundryError: the configuration has no such partition.
    """
    for shard in shards(configuration):
        if shard.partition == partition:
            return shard
    valid = ", ".join(partitions(configuration))
    raise FoundryError(f"a partition must be one of the configuration, got {partition}; partitions: {valid}")


def options_of_shard(options: SuiteOptions, shard: Shard) -> SuiteOptions:
    """The options of a suite for the programs of a shard alone."""
    if shard.count is None:
        return options
    numbers = {"first": shard.first, "count": shard.count}
    if shard.suite == AST:
        return replace(options, ast=replace(options.ast, **numbers))
    return replace(options, dataflow=replace(options.dataflow, **numbers))


def declare_partitions(instance: dg.DagsterInstance, configuration: Configuration) -> None:
    """Make the partitions of a configuration, and no others, known to Dagster."""
    for what, definition in DEFINITIONS.items():
        name, names = str(definition.name), partitions_by(what, configuration)
        known = instance.get_dynamic_partitions(name)
        for gone in (n for n in known if n not in names):
            instance.delete_dynamic_partition(name, gone)
        instance.add_dynamic_partitions(name, [n for n in names if n not in known])
