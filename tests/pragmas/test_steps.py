"""Explorations in steps: the same rows on every machine, whatever its designs and its solver take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.pragmas import Configuration, Summary
from pipelines.pragmas.bound import Target, bound, read_target
from pipelines.pragmas.configuration import configuration_key
from pipelines.pragmas.nlp import SearchOptions, Solution, solve, unrolled_size
from pipelines.pragmas.search import METHODS, NLP_DSE, Evaluation, SuiteExploration, subproblems, suite
from pipelines.programs import polybench_program
from pipelines.schemas import INFEASIBLE, OK, PragmaDesignRow

TARGET = read_target("simfoundry")
LONGEST_S = 40.0
"""Said of a design; a thousandth of it passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Synthesis on a machine on which the designs that take longest take shortest on another one."""

    summary: Summary
    reverse: bool
    name: str = "machine-1"
    most_copies: int = 15_000
    timeout_s: float = 60.0

    def size(self, configuration: Configuration) -> int:
        return unrolled_size(self.summary, configuration)

    def evaluate(self, configuration: Configuration) -> Evaluation:
        share = int(content_hash(configuration_key(configuration))[:4], 16) / 0xFFFF
        took_s = LONGEST_S * (1.0 - share if self.reverse else share)
        time.sleep(took_s / 1000.0)
        found = bound(self.summary, configuration, TARGET)
        return Evaluation(
            status=INFEASIBLE if share > 0.6 else OK,
            latency_cycles=int(found.latency_cycles * (1.0 + share)),
            used_share=2.0 * share,
            wall_s=took_s,
        )


def machine(*, reverse: bool) -> Callable[..., Machine]:
    return lambda **options: Machine(summary=options["summary"], reverse=reverse)


def steps(rows: list[PragmaDesignRow]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in asdict(row).items() if not name.endswith("_wall_s")} for row in rows
    ]


@pytest.mark.sample(3)
@pytest.mark.parametrize("together", [2, 3])
@pytest.mark.parametrize("method", [m for m in METHODS if m != "exhaustive"])
def test_an_exploration_is_the_same_where_designs_end_in_another_order(
    method: str, together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = SuiteExploration(most_evaluations=9, most_area_um2=1e7, together=together)
    program, found = polybench_program("atax", size="mini", data_type="float"), list[Any]()
    for reverse in (False, True):
        monkeypatch.setattr(suite, "OwnHls", machine(reverse=reverse))
        rows = suite.explore_program(program, method, options, cache=ContentCache(folder=tmp_path))
        found.append(steps(rows))
    assert sum(step["decision"] == "evaluated" for step in found[0]) > together
    assert found[0] == found[1]


def test_the_solver_is_bounded_in_nodes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = set[tuple[float | None, int | None]]()

    def recorded(summary: Summary, target: Target, options: SearchOptions) -> Solution:
        limits.add((options.time_limit_s, options.most_nodes))
        return solve(summary, target, options)

    monkeypatch.setattr(suite, "OwnHls", machine(reverse=False))
    monkeypatch.setattr(subproblems, "solve", recorded)
    program = polybench_program("atax", size="mini", data_type="float")
    options = SuiteExploration(most_evaluations=2, solver_nodes=1000)
    suite.explore_program(program, NLP_DSE, options, cache=ContentCache(folder=tmp_path))
    assert limits == {(None, 1000)}
