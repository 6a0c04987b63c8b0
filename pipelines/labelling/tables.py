"""Whole tables: many designs at a time, in any order, always with the same rows.

Belongs here: the pool of workers and progress. Does not: the steps of one design (`attempts.py`).

Workers are threads: nearly all time is spent in tools, each a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from pipelines.cache import ContentCache
from pipelines.hls import HlsError, HlsOptions, design_row, read_interface, read_program
from pipelines.interface import Interface
from pipelines.labelling.attempts import HlsAttempt, attempt_hls, label_attempt, liberty_name
from pipelines.labelling.configurations import ConfigurationSpace, configurations
from pipelines.labelling.options import LabelOptions, Progress, ProgressCallback, silent
from pipelines.schemas import (
    OK,
    REJECTED,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    ProgramRow,
    RunRow,
)
from pipelines.synthesis import Target

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignTables:
    """Rows of the tables that high-level synthesis makes."""

    designs: list[DesignRow]
    directive_outcomes: list[DirectiveOutcomeRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTables:
    """Rows of the tables that simulation and logic synthesis make."""

    labels: list[LabelRow]
    runs: list[RunRow]


def run_all(
    step: str,
    items: Sequence[Item],
    work: Callable[[Item], tuple[Result, bool, str]],
    *,
    workers: int,
    on_progress: ProgressCallback = silent,
) -> list[Result]:
    """Work on every item, several at a time.

    Args:    work: gives the result, whether it is a failure, and a name for progress.
    Returns: results in the order of the items.
    Raises:  what `work` raises, after the items under way have ended; finished work is in the cache.
    """
    lock = Lock()
    counts = {"done": 0, "failed": 0}

    def one(item: Item) -> Result:
        result, failed, name = work(item)
        with lock:
            counts["done"] += 1
            counts["failed"] += int(failed)
            on_progress(
                Progress(
                    step=step,
                    done=counts["done"],
                    total=len(items),
                    failed=counts["failed"],
                    latest=name,
                )
            )
        return result

    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        futures = [pool.submit(one, item) for item in items]
        try:
            ended, _ = wait(futures, return_when=FIRST_EXCEPTION)
        except BaseException:  # an interruption: what has not begun is left for the next run
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        if any(f.exception() for f in ended):
            for future in futures:
                future.cancel()
        return [future.result() for future in futures]


def _plan(program: ProgramRow, space: ConfigurationSpace, liberty: str) -> list[HlsOptions] | DesignRow:
    """Configurations of a program, or its rejected row."""
    try:
        function = read_program(program.source, top=program.top, file=f"{program.name}.c")
    except HlsError as error:
        options = HlsOptions(clock_period_ns=space.clock_period_ns, liberty=liberty)
        return design_row(program, options, (REJECTED, str(error)), 0.0)
    return configurations(function, space, liberty=liberty)


def plan_designs(
    programs: Sequence[ProgramRow],
    space: ConfigurationSpace,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> DesignTables:
    """Compile every program under every configuration of a space.

    Returns: one design row an attempt; a program that the compiler refuses has one rejected row. Programs
             that are not ok themselves have none.
    """
    rejected: list[DesignRow] = []
    planned: list[tuple[ProgramRow, HlsOptions]] = []
    for program in programs:
        if program.status != OK:
            continue
        plan = _plan(program, space, liberty_name(target))
        if isinstance(plan, DesignRow):
            rejected.append(plan)
        else:
            planned.extend((program, configuration) for configuration in plan)

    def work(item: tuple[ProgramRow, HlsOptions]) -> tuple[HlsAttempt, bool, str]:
        attempt = attempt_hls(item[0], item[1], cache)
        return attempt, attempt.design.status != OK, item[0].name

    attempts = run_all("designs", planned, work, workers=options.workers, on_progress=on_progress)
    return DesignTables(
        designs=[a.design for a in attempts] + rejected,
        directive_outcomes=[o for a in attempts for o in a.outcomes],
    )


def label_designs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> LabelTables:
    """Simulate, check and synthesise every design.

    Returns: one label row a design, one run row a design and data set.
    """
    by_id = {p.program_id: p for p in programs}
    interfaces: dict[str, Interface] = {}
    for identity in {d.program_id for d in designs if d.status == OK}:
        interfaces[identity] = read_interface(by_id[identity].source, by_id[identity].top)

    def work(design: DesignRow) -> tuple[tuple[LabelRow, tuple[RunRow, ...]], bool, str]:
        program = by_id[design.program_id]
        label, runs = label_attempt(
            program,
            design,
            interfaces.get(design.program_id),
            target=target,
            cache=cache,
            options=options,
        )
        return (label, runs), label.status != OK, program.name

    found = run_all("labels", designs, work, workers=options.workers, on_progress=on_progress)
    return LabelTables(labels=[label for label, _ in found], runs=[run for _, runs in found for run in runs])
