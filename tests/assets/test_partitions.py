"""Partitions: suites, and shards of those that generate many programs."""

from __future__ import annotations

import dagster as dg
import pytest

from assets.configuration import compose_configuration
from assets.dagster_assets import build_asset, rules_of
from assets.definitions import build_definitions
from assets.errors import FoundryError
from assets.resources import resources
from assets.settings import Configuration, Settings
from assets.steps import step_named
from assets.suites import (
    options_of_shard,
    partitions,
    shard_named,
)
from pipelines.programs import WRITTEN, Generation, SuiteOptions
from pipelines.programs.suites import SUITE_PROGRAMS

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


def test_shards_of_suite_written_have_every_kernel_once() -> None:
    own = configuration("programs.suites=[written]", "programs.shard=100", "programs.polybench_sizes=[mini]")
    names: list[str] = []
    for partition in partitions(own):
        shard = shard_named(partition, own)
        names += [row.name for row in SUITE_PROGRAMS[WRITTEN](options_of_shard(OPTIONS, shard))]
    assert partitions(own) == ("written-000", "written-001", "written-002")
    assert names == [row.name for row in SUITE_PROGRAMS[WRITTEN](OPTIONS)]


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


def test_each_partition_has_its_checks_and_the_asset_the_sum_of_the_rows(settings: Settings) -> None:
    step = step_named("programs")
    names = ("stencil", "irregular")
    asset = build_asset(step, dg.StaticPartitionsDefinition([*names, "linear_algebra"]))
    rows: dict[str, tuple[int, int]] = {}
    outcomes: set[tuple[str | None, str]] = set()
    for name in names:
        result = dg.materialize([asset], partition_key=name, resources=resources())
        [event] = result.asset_materializations_for_node("make_programs")
        counts = (event.metadata[f"dagster/{count}"].value for count in ("partition_row_count", "row_count"))
        rows[name] = tuple(counts)  # type: ignore[assignment]
        outcomes |= {(check.partition, check.check_name) for check in result.get_asset_check_evaluations()}
    (stencil, first), (irregular, both) = rows.values()
    assert stencil != irregular
    assert (first, both) == (stencil, stencil + irregular)
    assert outcomes == {(name, rule.name) for name in names for rule in rules_of("programs")}
