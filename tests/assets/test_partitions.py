"""Partitions: suites, and shards of those that generate many programs."""

from __future__ import annotations

import dagster as dg
import pytest

from assets.configuration import Configuration, compose_configuration
from assets.errors import FoundryError
from assets.partitions import (
    GROUPS,
    SHARDS,
    declare_partitions,
    options_of_shard,
    partitions,
    shard_named,
)
from pipelines.programs import Generation, SuiteOptions

OPTIONS = SuiteOptions(
    sizes=("small",), ast=Generation(count=7, seed=3), dataflow=Generation(count=3, seed=4)
)


def configuration(*more: str) -> Configuration:
    suites = "programs.suites=[stencil,ast,dataflow]"
    return compose_configuration([suites, "programs.shard=3", "ast.count=7", "dataflow.count=3", *more])


def test_a_suite_with_more_programs_than_a_shard_holds_has_several_partitions() -> None:
    assert partitions(configuration()) == ("stencil", "ast-000", "ast-001", "ast-002", "dataflow")
    assert partitions(configuration("programs.shard=7")) == ("stencil", "ast", "dataflow")


def test_shards_have_every_number_once() -> None:
    numbers: list[int] = []
    for name in partitions(configuration())[1:4]:
        given = options_of_shard(OPTIONS, shard_named(name, configuration())).ast
        assert given.seed == 3
        numbers += range(given.first, given.first + given.count)
    assert numbers == list(range(7))


def test_a_whole_suite_keeps_its_options() -> None:
    assert options_of_shard(OPTIONS, shard_named("dataflow", configuration())) == OPTIONS


def test_shard_named_rejects_another_name() -> None:
    message = "a partition must be one of the configuration, got ast; partitions: stencil, ast-000"
    with pytest.raises(FoundryError, match=message):
        shard_named("ast", configuration())


def test_dagster_knows_the_partitions_of_the_configuration_alone() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        declare_partitions(instance, configuration("programs.suites=[irregular,ast]"))
        declare_partitions(instance, configuration("programs.suites=[stencil,ast]", "ast.count=4"))
        known = instance.get_dynamic_partitions(str(SHARDS.name))
        assert sorted(known) == ["ast-000", "ast-001", "stencil"]
        assert instance.get_dynamic_partitions(str(GROUPS.name)) == ["small-16"]
        declare_partitions(instance, configuration("network=laptop"))
        assert sorted(instance.get_dynamic_partitions(str(GROUPS.name))) == ["grid-16", "sampled-16"]
