"""Searches for directives in the house: their step, configuration and rules."""

from __future__ import annotations

from typing import Any

import pytest
from foundry_fakes import make_pragma_design

from assets.checks import CheckedFile
from assets.configuration import compose_configuration
from assets.dagster_assets import rules_of
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from assets.steps.pragmas import explorations
from pipelines.pragmas import PragmaError
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


def test_searches_rejects_an_unknown_method(settings: Settings) -> None:
    wrong = Settings(
        configuration=compose_configuration(["pragmas.methods=[luck]"]), deployment=settings.deployment
    )
    with pytest.raises(PragmaError) as raised:
        _ = explorations(wrong)
    assert str(raised.value) == "unknown method: luck; accepted: nlp_dse, bottleneck, random, exhaustive"


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
