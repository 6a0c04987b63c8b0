"""Partitions: suites, and shards of those that generate many programs."""

from __future__ import annotations

import pytest

from assets.configuration import compose_configuration
from assets.definitions import build_definitions
from assets.errors import FoundryError
from assets.settings import Configuration
from assets.suites import (
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
    message = "unknown partition: ast; accepted: stencil, ast-000"
    with pytest.raises(FoundryError, match=message):
        shard_named("ast", configuration())


def test_dagster_knows_the_partitions_of_the_configuration_alone() -> None:
    def known(asset: str, *overrides: str) -> list[str]:
        definitions = build_definitions(configuration=configuration(*overrides))
        partitions = definitions.resolve_assets_def(asset).partitions_def
        return [] if partitions is None else list(partitions.get_partition_keys())

    assert known("labels", "programs.suites=[irregular,ast]") == [
        "irregular",
        "ast-000",
        "ast-001",
        "ast-002",
    ]
    assert known("labels", "ast.count=4", "programs.suites=[ast]") == ["ast-000", "ast-001"]
    assert known("network_hops") == ["small-16"]
    assert known("network_runs", "network=laptop") == ["sampled-16", "grid-16"]
    assert known("splits") == []
