"""Many items at a time, in processes of their own.

Processes and not threads, because scheduling, reading netlists and power take a quarter of the time and are
Python. A handful of items is worked on in threads: starting processes takes longer than that saves.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from threading import Thread
from types import FrameType
from typing import Generic, NoReturn, TypeVar

from pipelines.labelling.options import Progress, ProgressCallback, silent

Item = TypeVar("Item")
Result = TypeVar("Result")

PROCESSES_FROM = 16
"""Items from which processes are worth their start."""

PRELOADED = ("pipelines.labelling.tables",)
"""What every worker needs; imported once, in the process they are forked from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[Result]):
    """What became of an item.

    Attributes:
        name: of the item, for progress.
    """

    result: Result
    failed: bool
    name: str


def run_all(
    step: str,
    items: Sequence[Item],
    work: Callable[[Item], Outcome[Result]],
    *,
    workers: int,
    cost: Callable[[Item], float] | None = None,
    on_progress: ProgressCallback = silent,
) -> list[Result]:
    """Work on every item, several at a time, those that cost most first.

    Args:    work: a function of a module, or a partial of one; items and results go between processes.
             cost: in any unit; without it items keep their order.
    Returns: results in the order of the items.
    Raises:  what `work` raises, after the items under way have ended; finished work is in the cache.
    """
    order = sorted(range(len(items)), key=lambda i: 0.0 if cost is None else -cost(items[i]))
    counts = {"done": 0, "failed": 0}
    with _pool(min(workers, len(items)), processes=len(items) >= PROCESSES_FROM) as pool:
        call = partial(_work_or_end, work) if isinstance(pool, ProcessPoolExecutor) else work
        futures = {i: pool.submit(call, items[i]) for i in order}
        try:
            for future in as_completed(futures.values()):
                outcome = future.result()
                counts["done"] += 1
                counts["failed"] += int(outcome.failed)
                on_progress(Progress(step=step, total=len(items), latest=outcome.name, **counts))
        except BaseException:  # a failure or an interruption: what has not begun is left for the next run
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [futures[i].result().result for i in range(len(items))]


def _pool(workers: int, *, processes: bool) -> Executor:
    if not processes or workers < 2:
        return ThreadPoolExecutor(max_workers=max(1, workers))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return ProcessPoolExecutor(max_workers=workers, mp_context=context, initializer=begin_worker)


def begin_worker() -> None:
    """Leave Ctrl-C to the process that started this one; end on SIGTERM, and when that has ended.

    The tools of this process end with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_process)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=partial(_end_with, parent), daemon=True).start()


def _end_process(number: int, _: FrameType | None) -> NoReturn:
    """End this process as an exception does, so that a tool that it waits for ends with it."""
    raise SystemExit(128 + number)


def _work_or_end(work: Callable[[Item], Outcome[Result]], item: Item) -> Outcome[Result]:
    """Work on an item; a pool would take the end of its process for a result, and go on."""
    try:
        return work(item)
    except SystemExit:
        os._exit(1)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
