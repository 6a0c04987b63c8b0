"""Suites of programs and their shards: configuration, options, partitions.

A partition is made, written and checked by itself, so that the tables grow while the rest is still worked on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from assets.errors import FoundryError
from assets.settings import Configuration, Group, Settings
from assets.step import Partitioning
from pipelines.base.validation import some_of
from pipelines.programs import (
    ALL_SUITES,
    AST,
    DATAFLOW,
    POLYBENCH_DATA_TYPES,
    POLYBENCH_SIZES,
    SIZES,
    WRITTEN,
    Generation,
    SuiteOptions,
    fields_of_kernels,
)
from pipelines.programs.ast import AstOptions
from pipelines.programs.dataflow import DataflowOptions

NUMBER_DIGITS = 3


class Programs(Group):
    """Which programs."""

    suites: Annotated[tuple[str, ...], some_of(ALL_SUITES)]
    sizes: Annotated[tuple[str, ...], some_of(SIZES)]
    polybench_sizes: Annotated[tuple[str, ...], some_of(POLYBENCH_SIZES)] = ("mini",)
    polybench_types: Annotated[tuple[str, ...], some_of(POLYBENCH_DATA_TYPES)] = ("int", "float")
    shard: Annotated[int, Field(ge=1)] = 250
    reject_degenerate: bool = False


class Ast(Group):
    """The programs of the suite ast; options are pipelines.programs.ast.AstOptions."""

    count: Annotated[int, Field(ge=0)]
    seed: int
    options: AstOptions


class Dataflow(Group):
    """The programs of the suite dataflow; options are pipelines.programs.dataflow.DataflowOptions."""

    count: Annotated[int, Field(ge=0)]
    seed: int
    options: DataflowOptions


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
    """Return every shard of a configuration, in order."""
    size = configuration.programs.shard
    counts = {
        AST: configuration.ast.count,
        DATAFLOW: configuration.dataflow.count,
        WRITTEN: len(fields_of_kernels()),
    }
    parts: list[Shard] = []
    for suite in configuration.programs.suites:
        count = counts.get(suite, 0)
        if count <= size:
            parts.append(Shard(partition=suite, suite=suite))
            continue
        parts += [
            Shard(
                partition=f"{suite}-{first // size:0{NUMBER_DIGITS}}",
                suite=suite,
                first=first,
                count=min(size, count - first),
            )
            for first in range(0, count, size)
        ]
    return tuple(parts)


def partitions(configuration: Configuration) -> tuple[str, ...]:
    """Return the names of all shards of a configuration, in order."""
    return tuple(shard.partition for shard in shards(configuration))


BY_SUITE = Partitioning(name="suite", names=partitions)


def shard_named(partition: str, configuration: Configuration) -> Shard:
    """Return the shard of a name.

    Raises: FoundryError: the configuration has no such partition.
    """
    for shard in shards(configuration):
        if shard.partition == partition:
            return shard
    valid = ", ".join(partitions(configuration))
    raise FoundryError(f"unknown partition: {partition}; accepted: {valid}")


def options_of_shard(options: SuiteOptions, shard: Shard) -> SuiteOptions:
    """Return the options of a suite for the programs of a shard alone."""
    if shard.count is None:
        return options
    numbers = {"first": shard.first, "count": shard.count}
    if shard.suite == WRITTEN:
        return replace(options, written_first=shard.first, written_count=shard.count)
    if shard.suite == AST:
        return replace(options, ast=replace(options.ast, **numbers))
    return replace(options, dataflow=replace(options.dataflow, **numbers))


def suite_options(settings: Settings) -> SuiteOptions:
    """Return the options that the programs of any suite depend on."""
    ast, dataflow, programs = settings.group(Ast), settings.group(Dataflow), settings.group(Programs)
    return SuiteOptions(
        sizes=programs.sizes,
        ast=Generation(count=ast.count, seed=ast.seed),
        dataflow=Generation(count=dataflow.count, seed=dataflow.seed),
        ast_options=ast.options,
        dataflow_options=dataflow.options,
        reject_degenerate=programs.reject_degenerate,
        polybench_sizes=programs.polybench_sizes,
        polybench_types=programs.polybench_types,
    )
