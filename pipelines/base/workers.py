"""Work in other processes: many items at a time, and one function in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from multiprocessing import spawn
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from threading import Thread
from types import FrameType
from typing import Any, Generic, NoReturn, Protocol, TypeVar, cast

from pipelines.base.processes import processor_s
from pipelines.base.sandbox import MachineFault
from pipelines.base.tools import PATIENCE, require_going_on, stopwatch

Item = TypeVar("Item")
Result = TypeVar("Result")

PROCESSES_FROM = 16
"""Items from which processes are worth their start."""

POLL_S = 0.05
ENDING_S = 10.0
"""In which a process that gives no more answers is to end."""
ENDED = "the process ended without an answer"


# ---- many items ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a long step is.

    Attributes:
        step: its name; done, total, failed: attempts; latest: what was finished last.
    """

    step: str
    done: int
    total: int
    failed: int
    latest: str


ProgressCallback = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[Result]):
    """The result of an item.

    Attributes:
        name: of the item, for progress.
    """

    result: Result
    failed: bool
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload(Generic[Item, Result]):
    """Items of a step and the function that works on them.

    Attributes:
        items: in the order of their results; costs: of each, in any unit.
        work: a function of a module, not of the main file, or a partial of one; items and results go
            between processes.
        workers: items at a time on this machine. in_threads: the work waits for tools.
    """

    step: str
    items: Sequence[Item]
    work: Callable[[Item], Outcome[Result]]
    costs: Sequence[float]
    workers: int
    in_threads: bool = False

    @property
    def order(self) -> list[int]:
        """Return the places of the items, those that cost most first."""
        return sorted(range(len(self.items)), key=lambda i: -self.costs[i])


class Fanout(Protocol):
    """Where the items of `run_all` are worked on."""

    def outcomes(self, workload: Workload[Item, Result]) -> Generator[tuple[int, Outcome[Result]]]:
        """Yield the place and the outcome of every item once, as they end.

        A caller that stops early closes the iterator: what has not begun is left, what runs is ended.

        Raises: what the work raises.
        """
        ...


class LocalPool:
    """Processes of this machine, or threads for a handful of items."""

    def outcomes(self, workload: Workload[Item, Result]) -> Generator[tuple[int, Outcome[Result]]]:
        """Yield the place and the outcome of every item, as they end.

        Processes and not threads, because scheduling, reading netlists and power take a quarter of the time
        and are Python. A handful of items is worked on in threads: starting processes takes longer than that
        saves.
        """
        work = workload.work
        workers = min(workload.workers, len(workload.items))
        if workload.in_threads or len(workload.items) < PROCESSES_FROM or workers < 2:
            pool: Executor = ThreadPoolExecutor(max_workers=max(1, workers))
            call = work
        else:
            pool = ProcessPoolExecutor(workers, mp_context=fork_server(work), initializer=begin_worker)
            call = partial(_work_or_end, work)
        with pool:
            places = {pool.submit(call, workload.items[i]): i for i in workload.order}
            try:
                for future in as_completed(places):
                    yield places[future], future.result()
            except BaseException:  # a failure or an interruption: what has not begun is left for the next run
                pool.shutdown(wait=False, cancel_futures=True)
                raise


_LOCAL = LocalPool()
_FANOUT: ContextVar[Fanout] = ContextVar("fanout", default=_LOCAL)


@contextmanager
def fanning_out(fanout: Fanout) -> Generator[None]:
    """Work on the items of every `run_all` in the block elsewhere than in processes of this machine."""
    token = _FANOUT.set(fanout)
    try:
        yield
    finally:
        _FANOUT.reset(token)


def run_all(
    step: str,
    items: Sequence[Item],
    work: Callable[[Item], Outcome[Result]],
    *,
    workers: int,
    cost: Callable[[Item], float] | None = None,
    in_threads: bool = False,
    on_progress: ProgressCallback = silent,
) -> list[Result]:
    """Work on every item, several at a time, those that cost most first; see `fanning_out`.

    Args:    work, workers, in_threads: see `Workload`. cost: without it items keep their order.
    Returns: results in the order of the items.
    Raises:  what `work` raises, after the items under way have ended; finished work is in the cache.
    """
    workload = Workload(
        step=step,
        items=items,
        work=work,
        costs=[1.0 if cost is None else cost(item) for item in items],
        workers=workers,
        in_threads=in_threads,
    )
    results: dict[int, Result] = {}
    failed = 0
    with closing(_FANOUT.get().outcomes(workload)) as outcomes:
        for place, outcome in outcomes:
            results[place] = outcome.result
            failed += int(outcome.failed)
            on_progress(
                Progress(step=step, done=len(results), total=len(items), failed=failed, latest=outcome.name)
            )
    return [results[i] for i in range(len(items))]


def _work_or_end(work: Callable[[Item], Outcome[Result]], item: Item) -> Outcome[Result]:
    """Work on an item; a pool would take the end of its process for a result, and go on."""
    try:
        return work(item)
    except SystemExit:
        os._exit(1)


# ---- processes -------------------------------------------------------------------------------------------


_MAIN = "__main__"
_STARTS_WORKER: ContextVar[bool] = ContextVar("starts_worker", default=False)
_prepare = spawn.get_preparation_data


def _preparation(name: str) -> dict[str, Any]:
    """Return what a new process is told; workers are not told the main file, which they would run again."""
    keys = _prepare(name)
    if _STARTS_WORKER.get():
        keys = {key: value for key, value in keys.items() if not key.startswith("init_main_from_")}
    return keys


spawn.get_preparation_data = _preparation  # the processes of others are told what they always were


class _Worker(ForkServerProcess):
    """A process that does not run the main file of the one that starts it."""

    def start(self) -> None:
        """Start the process; an interrupt meanwhile waits for the process, which else nobody could end."""
        with ThreadPoolExecutor(max_workers=1) as starter:
            starting = starter.submit(self._start)
            try:
                starting.result()
            except BaseException:
                if starting.exception() is None:
                    self.kill()
                    self.join()
                raise

    def _start(self) -> None:
        _STARTS_WORKER.set(True)  # in the context of this thread, which ends here
        super().start()


class _WorkerContext(ForkServerContext):
    Process = _Worker


def fork_server(work: Callable[..., object]) -> ForkServerContext:
    """Start processes from one that has imported the module of a function.

    They do not run the main file of this process: a script without `if __name__ == "__main__"` would begin
    again in each.

    Raises: ValueError: the function, or one bound to it, is of the main file.
    """
    _require_importable(work)
    context = _WorkerContext()
    context.set_forkserver_preload([getattr(work, "func", work).__module__])
    return context


def _require_importable(work: Callable[..., object]) -> None:
    bound: Sequence[object] = (*work.args, *work.keywords.values()) if isinstance(work, partial) else ()
    function: object = work.func if isinstance(work, partial) else work
    for part in (function, *bound):
        named = part if hasattr(part, "__qualname__") else cast("object", type(part))
        if getattr(named, "__module__", None) == _MAIN:
            name = getattr(named, "__qualname__", repr(named))
            raise ValueError(
                f"worker processes cannot import {name} of the main file; accepted: functions and "
                "classes of a module"
            )


def begin_worker() -> None:
    """Leave Ctrl-C to the process that started this one; end on SIGTERM, and when that has ended.

    The tools of this process end with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_process)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=partial(_end_with, parent), daemon=True).start()


def lead_group() -> None:
    """Make this process the first of a group, which holds all processes that it starts."""
    os.setpgrp()


def _end_process(number: int, _: FrameType | None) -> NoReturn:
    """End this process as an exception does, so that a tool that it waits for ends with it."""
    raise SystemExit(128 + number)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class ChildProcess:
    """A function in a process of its own, at the other end of a pipe.

    Args: serve: a function of a module; gets its end of the pipe, then the arguments.
          leads_group: it calls `lead_group`, and may start processes; `end`, to be called, ends them too.
    """

    def __init__(self, serve: Callable[..., None], *arguments: Any, leads_group: bool = False) -> None:
        context = fork_server(serve)
        self._connection, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, *arguments), daemon=not leads_group)
        self._process.start()
        self._group = self._process.pid if leads_group else None
        other.close()

    def send(self, value: Any) -> None:
        """Send a value to the function.

        Raises: MachineFault: the process has ended.
        """
        try:
            self._connection.send(value)
        except OSError as error:
            raise MachineFault(ENDED) from error

    def receive(self, timeout_s: float | None = None) -> Any:
        """Return the next value that the function sends.

        Args:   timeout_s: processor time from now on, of the process and its tools; None for no limit.
        Raises: TimeoutError: there was none within it. MachineFault: the process ended, or there was none
                within PATIENCE times the limit by the clock.
        """
        if timeout_s is not None:
            self._wait(timeout_s)
        else:
            wait([self._connection, self._process.sentinel])
        try:
            if not self._connection.poll():  # processes of the process may hold the pipe open
                raise MachineFault(ENDED)
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise MachineFault(ENDED) from error

    def _wait(self, timeout_s: float) -> None:
        """Wait until an answer, or the end of the process, can be read."""
        start, before_s = stopwatch(), self._processor_s()
        while not self._connection.poll(POLL_S):
            require_going_on()
            if self._processor_s() - before_s > timeout_s:
                raise TimeoutError(f"more than {timeout_s:g} s of processor time")
            if stopwatch() - start > PATIENCE * timeout_s:
                clock_s = PATIENCE * timeout_s
                raise MachineFault(f"the machine was too busy: no end within {clock_s:g} s by the clock")

    def _processor_s(self) -> float:
        return processor_s(self._process.pid or 0)

    def ending(self) -> str:
        """Return how the process ended, after an answer that did not come; at most ENDING_S later."""
        self._process.join(ENDING_S)
        code = self._process.exitcode
        if code is None:
            return "closed the pipe of its answers"
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"

    def end(self, patience_s: float = 0.0) -> None:
        """End the process, whichever signals it ignores.

        Args: patience_s: in which it may end by itself with its tools; 0 ends it at once.
        """
        if patience_s:
            self._process.terminate()
            self._process.join(patience_s)
        if self._group is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self._connection.close()
