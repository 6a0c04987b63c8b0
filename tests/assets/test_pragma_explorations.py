"""Searches for directives in the house: their step, configuration and rules."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from foundry_fakes import make_pragma_design

from assets.checks import CheckedFile
from assets.configuration import compose_configuration, parameters_text
from assets.dagster_assets import rules_of
from assets.deployments import local_deployment
from assets.errors import FoundryError
from assets.releases.importing import import_release
from assets.releases.writing import release_tables
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from pipelines.base.cache import ContentCache
from pipelines.pragmas import PragmaError, search
from pipelines.pragmas.search import SuiteExploration, named_programs, pragmas_version
from pipelines.programs import Generation, SuiteOptions
from pipelines.schemas import read_table, table_spec

TABLE = "pragma_designs"


def problems_of(settings: Settings, rule: str, rows: list[Any]) -> list[str]:
    content = table_spec(TABLE).to_arrow(rows)
    file = CheckedFile(settings=settings, table=TABLE, partition="all", content=content)
    found = next(r for r in rules_of(TABLE) if r.name == rule)
    assert found.blocking
    return found.problems(file)


def test_the_step_writes_one_file_of_all_searches(settings: Settings, engines: Any) -> None:
    step = step_named("pragmas")
    assert step.partitions(settings) == ("all",)
    summary = step.make(settings, "all", ignore_progress)
    rows = read_table(settings.deployment.data_dir, table_spec(TABLE))
    kernels = settings.configuration.pragmas.kernels
    assert summary.rows == {TABLE: 2 * len(kernels)} == {TABLE: len(rows)}


def test_searches_follow_the_configuration() -> None:
    chosen = compose_configuration(["pragmas.kernels=[mvt]", "pragmas.methods=[random,bottleneck]"])
    assert chosen.pragmas.kernels == ("mvt",)
    assert chosen.pragmas.methods == ("random", "bottleneck")


def test_searches_rejects_an_unknown_method() -> None:
    with pytest.raises(
        FoundryError, match=r"^unknown method: luck .*; accepted: nlp_dse, bottleneck, random, exhaustive"
    ):
        compose_configuration(["pragmas.methods=[luck]"])


@pytest.mark.parametrize(
    ("rule", "changes", "message"),
    [
        (
            "bound_holds",
            {"bound_cycles": 201.0},
            "a measured latency must be at least its bound of 201 cycles, got 199 for step 1 of gemm-float "
            "by nlp_dse",
        ),
        (
            "best_is_least",
            {"best_cycles": 200},
            "the best latency of an exploration must be 199, got 200 for a",
        ),
        (
            "complete",
            {"latency_cycles": None},
            "a step that is evaluated must have a latency or a reason when it was measured, and neither "
            "else, got latency None for step 1 of a",
        ),
        (
            "complete",
            {"decision": "pruned"},
            "a step that is pruned must have a latency or a reason when it was measured, and neither else, "
            "got latency 199 for step 1 of a",
        ),
    ],
)
def test_rules_find_a_breach(settings: Settings, rule: str, changes: dict[str, Any], message: str) -> None:
    good = [make_pragma_design("a", 0), make_pragma_design("a", 1)]
    assert problems_of(settings, rule, good) == []
    assert problems_of(settings, rule, [good[0], make_pragma_design("a", 1, **changes)]) == [message]


def test_a_bound_is_no_promise_where_a_directive_was_not_applied(settings: Settings) -> None:
    row = make_pragma_design("a", 0, applied=False, bound_cycles=500.0)
    assert problems_of(settings, "bound_holds", [row]) == []


# ---- programs of suites, releases -------------------------------------------------------------------

SUITES = SuiteOptions(sizes=("mini",), ast=Generation(count=4), dataflow=Generation(count=1))


def test_searches_accept_generated_programs_and_kernels(tmp_path: Path) -> None:
    options = SuiteExploration(kernels=("gemm", "ast/ast_00002", "polybench/atax-float/mini"))
    programs = named_programs(options, SUITES, ContentCache(folder=tmp_path))
    assert [(p.suite, p.name, p.size) for p in programs] == [
        ("polybench", "gemm-float", "mini"),
        ("ast", "ast_00002", "custom"),
        ("polybench", "atax-float", "mini"),
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ast/ast_99999", "unknown program: ast/ast_99999; suite ast has 4 programs: ast_00000, ast_00001, "),
        ("polybench/gemm", "unknown program: polybench/gemm; suite polybench has 60 programs: 2mm-float, "),
        ("none/gemm", "unknown suite: none; accepted: "),
        ("llm/llm_00000", "programs of suite llm need a language model"),
        ("luck", "unknown name: luck; accepted: "),
    ],
)
def test_searches_rejects_an_unknown_program(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        named_programs(SuiteExploration(kernels=(name,)), SUITES, ContentCache(folder=tmp_path))


def test_searches_rejects_a_name_of_several_sizes(tmp_path: Path) -> None:
    several = replace(SUITES, polybench_sizes=("mini", "small"))
    with pytest.raises(PragmaError) as raised:
        named_programs(
            SuiteExploration(kernels=("polybench/gemm-int",)), several, ContentCache(folder=tmp_path)
        )
    assert str(raised.value) == (
        "several programs: polybench/gemm-int; accepted: polybench/gemm-int/mini, polybench/gemm-int/small"
    )


TABLES = ("programs", "splits", "pragma_designs")


@pytest.fixture
def searched(settings: Settings, engines: Any) -> Settings:
    """A project with the tables of a release of searches."""
    for name in ("programs", "splits", "pragmas"):
        step = step_named(name)
        for partition in step.partitions(settings):
            step.make(settings, partition, ignore_progress)
    return settings


def test_a_release_of_searches_brings_them_back(
    searched: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = release_tables(searched.deployment, "p", releases=tmp_path, tables=TABLES)
    assert set(written.manifest.rows) == set(TABLES)
    assert written.manifest.toolset.tools["searches"] == pragmas_version()
    card = (written.folder / "README.md").read_text()
    assert "simfoundry stage splits" in card
    assert "--table programs --table splits --table pragma_designs" in card
    assert "| polybench |" not in card.split("## Searches")[0]
    assert "network" not in (written.folder / "params.yaml").read_text()
    (tmp_path / "other").mkdir()
    other = local_deployment(tmp_path / "other")
    assert import_release(other, written.folder).remembered.stored["searches"] == 1
    monkeypatch.setattr(search, "explore_suite", None)
    again = step_named("pragmas").make(replace(searched, deployment=other), "all", ignore_progress)
    assert again.rows == {"pragma_designs": written.manifest.rows["pragma_designs"]}


def test_a_release_rejects_searches_of_another_configuration(searched: Settings, tmp_path: Path) -> None:
    changed = compose_configuration(["pragmas.kernels=[mvt]"])
    (searched.deployment.project / "params.yaml").write_bytes(parameters_text(changed))
    with pytest.raises(FoundryError, match="table pragma_designs of all must be made under"):
        release_tables(searched.deployment, "p", releases=tmp_path, tables=("pragma_designs",))


def test_a_release_rejects_an_unknown_table(searched: Settings, tmp_path: Path) -> None:
    with pytest.raises(FoundryError, match=r"unknown table: luck; accepted: .*designs, "):
        release_tables(searched.deployment, "p", releases=tmp_path, tables=("luck",))
