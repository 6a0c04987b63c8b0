"""Searches for directives: every design that was tried, its bound and its measured latency."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assets.checks import CheckedFile, CheckRule
from assets.engines import CYCLE_MODEL, HLS, PRAGMAS, PROGRAMS
from assets.settings import Listener, Settings
from assets.step import Output, Step, whole
from assets.suites import suite_options
from pipelines.base.identity import content_hash
from pipelines.pragmas.exploration import SuiteExploration
from pipelines.programs import SuiteOptions
from pipelines.schemas import OK


def _suite_options(settings: Settings) -> SuiteOptions:
    """Return the programs of the suites; a search takes degenerate ones, too."""
    return replace(suite_options(settings), reject_degenerate=False)


def present_explorations(settings: Settings) -> frozenset[str]:
    """Return the ids of the explorations that the present version makes under a configuration.

    Raises: PragmaError, ProgramError: a program or method is not acceptable.
    """
    from pipelines.pragmas.search import exploration_ids

    return exploration_ids(settings.group(SuiteExploration), _suite_options(settings), settings.cache)


def searches_version() -> str:
    """Return the version of the searches and of the engines that measure."""
    from pipelines.pragmas.search import pragmas_version

    return pragmas_version()


def _version(settings: Settings, partition: str) -> str:
    del partition
    return content_hash(searches_version(), sorted(present_explorations(settings)))


def make_explorations(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the designs that searches for directives tried."""
    from pipelines.pragmas.search import explore_suite

    del partition
    options = settings.group(SuiteExploration)
    rows = explore_suite(options, _suite_options(settings), cache=settings.cache, on_progress=listen)
    return Output(rows={"pragma_designs": rows})


EVALUATED = "evaluated"
ROUNDING = 1e-6
"""Share by which a bound, a sum of fractions, may be above the cycles that it equals."""


def broken_bounds(file: CheckedFile) -> list[str]:
    """Return the designs with all directives applied that were faster than their proven lower bound."""
    return [
        f"a measured latency must be at least its bound of {row['bound_cycles']:g} cycles, got "
        f"{row['latency_cycles']} for step {row['step']} of {row['kernel']} by {row['method']}"
        for row in file.rows
        if row["applied"]
        and row["status"] == OK
        and row["bound_cycles"] is not None
        and row["latency_cycles"] < row["bound_cycles"] * (1 - ROUNDING)
    ]


def wrong_bests(file: CheckedFile) -> list[str]:
    """Return the steps whose best latency is not the least of the valid designs so far."""
    problems: list[str] = []
    by_exploration: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in file.rows:
        by_exploration[row["exploration_id"]].append(row)
    for rows in by_exploration.values():
        problems += _wrong_bests(sorted(rows, key=lambda row: row["step"]))
    return problems


def _wrong_bests(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    valid = [r["latency_cycles"] for r in rows if r["status"] == OK and r["latency_cycles"] is not None]
    least, got = min(valid, default=None), rows[-1]["best_cycles"]
    if got == least:
        return []
    return [f"the best latency of an exploration must be {least}, got {got} for {rows[-1]['exploration_id']}"]


def silent_steps(file: CheckedFile) -> list[str]:
    """Return the steps that were measured without a latency or a reason, and others with a latency."""
    return [
        f"a step that is {row['decision']} must have a latency or a reason when it was measured, and neither "
        f"else, got latency {row['latency_cycles']} for step {row['step']} of {row['exploration_id']}"
        for row in file.rows
        if (row["decision"] == EVALUATED) != (row["latency_cycles"] is not None or row["reason"] is not None)
    ]


STEP = Step(
    name="pragmas",
    description="Searches for directives: each design that was tried, its bound and its measured latency.",
    run=make_explorations,
    tables=("pragma_designs",),
    partitioned=whole(),
    pool="hls",
    configuration={"pragmas": SuiteExploration},
    parameters=("pragmas", "programs", "ast", "dataflow"),
    version=_version,
    engines=(HLS, CYCLE_MODEL, PROGRAMS, PRAGMAS),
    checks={
        "pragma_designs": [
            CheckRule(
                "bound_holds",
                "No design whose directives were all applied is faster than its lower bound.",
                broken_bounds,
            ),
            CheckRule(
                "complete",
                "Every measured step has a latency or a reason, and no other step has.",
                silent_steps,
            ),
            CheckRule(
                "best_is_least",
                "The best latency of an exploration is the least of its valid designs.",
                wrong_bests,
            ),
        ],
    },
)
