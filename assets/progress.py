"""Progress on the screen: bars on a terminal, plain lines elsewhere.

This goes to standard error, so that standard output holds the answer alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from assets.problems import wants_json
from assets.resources import Log, ProgressResource
from assets.settings import Listener
from pipelines.base.workers import Progress as StepProgress

PLAIN_INTERVAL_S = 10.0
LEAST_DONE = 3
"""Fewest items from which the time left is estimated: the first one also loads and trains."""


class BarProgress(ProgressResource):
    """A bar a step: done of total, failures, time elapsed and left, and what was finished last."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def listener(self, title: str, log: Log) -> Listener:
        """Return a listener that moves the bar of a step."""
        del log
        task = self._bars.add_task(title, total=None, failed=0, latest="")
        self._tasks[title] = task
        seen: list[int] = []

        def listen(progress: StepProgress) -> None:
            if _is_new_phase(seen, progress):
                self._bars.reset(task)
            seen[:] = [progress.done, progress.total]
            self._bars.update(
                task,
                completed=progress.done,
                total=progress.total,
                failed=progress.failed,
                latest=progress.latest,
            )

        return listen

    def ended(self, title: str, *, failure: str | None, skipped: str | None = None) -> None:
        """Stop the clock of a step; a step without counts becomes one full bar."""
        task = self._tasks.pop(title, None)
        if task is None:
            return
        known = self._bars.tasks[self._bars.task_ids.index(task)].total
        if known is None:
            self._bars.update(task, total=1, completed=0 if failure else 1)
        reason = f"failed: {failure}" if failure else f"skipped: {skipped}" if skipped else ""
        self._bars.update(task, latest=reason)
        self._bars.stop_task(task)


class PlainProgress(ProgressResource):
    """Lines: when a step begins, every ten seconds while it runs, and when it ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._started: dict[str, float] = {}

    def listener(self, title: str, log: Log) -> Listener:
        """Return a listener that writes a line now and then."""
        del log
        started = self._started[title] = time.monotonic()
        shown, first = started, 0
        seen: list[int] = []

        def listen(progress: StepProgress) -> None:
            nonlocal shown, started, first
            now = time.monotonic()
            if _is_new_phase(seen, progress):
                started, first = now, progress.done
            seen[:] = [progress.done, progress.total]
            if now - shown < PLAIN_INTERVAL_S and progress.done < progress.total:
                return
            shown = now
            left = _time_left_s(now - started, progress.done - first, progress.total - progress.done)
            said = "time left not known" if left is None else f"{left:.0f} s left"
            self._line(f"{title}: {progress.done}/{progress.total}, {progress.failed} failed, {said}")

        return listen

    def ended(self, title: str, *, failure: str | None, skipped: str | None = None) -> None:
        """Say how long a step took, and why it failed or was skipped."""
        now = time.monotonic()
        taken = now - self._started.pop(title, now)
        how = "failed" if failure else "skipped" if skipped else "done"
        reason = failure or skipped
        self._line(f"{title}: {how} after {taken:.1f} s" + (f": {reason}" if reason else ""))

    def _line(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


def _is_new_phase(seen: list[int], progress: StepProgress) -> bool:
    """Tell whether a step counts something else than before: training steps first, then programs.

    Args: seen: done and total of the last report; empty before the first.
    """
    return bool(seen) and (progress.total != seen[1] or progress.done < seen[0])


def _time_left_s(taken_s: float, done: int, left: int) -> float | None:
    """Return time left at the speed so far; None before a few are done, when the first ones would tell it.

    Args: done: since the clock started; left: to be done.
    """
    if left == 0:
        return 0.0
    return taken_s / done * left if done >= LEAST_DONE else None


@contextmanager
def shown_progress(*, is_quiet: bool = False) -> Iterator[ProgressResource]:
    """Yield bars if standard error is a terminal, lines if not.

    Args: is_quiet: no lines, as beside an answer in JSON.
    """
    if (is_quiet or wants_json()) and not sys.stderr.isatty():
        yield ProgressResource()
        return
    if not sys.stderr.isatty():
        yield PlainProgress(sys.stderr)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[latest]}", style="dim"),
        console=Console(stderr=True),
    ) as bars:
        yield BarProgress(bars)
