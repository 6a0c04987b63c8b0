"""Several designs measured at a time, each begun as soon as another one ends.

Time is that of the search, not of the clock: seconds of the solver, and those that each design took by its
own account. So a search of designs that are remembered takes the same seconds and the same way as the first.
A search in steps takes results in the order in which designs were begun, so that no seconds decide anything.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.explore.evaluation import Evaluation, Evaluator

Asked = TypeVar("Asked")

GRACE_S = 0.5
"""Seconds on the clock in which a remembered design answers: those that answer so soon after the first one
count as known, and the one that ended first in the time of the search is next."""


@dataclass(slots=True, kw_only=True)
class SideBySide(Generic[Asked]):
    """Designs that are being measured.

    Attributes:
        together: most at a time; elapsed_s: time of the search.
        in_steps: results come in the order in which designs were begun, else in that in which they end.
    """

    pool: ThreadPoolExecutor
    evaluator: Evaluator
    together: int
    in_steps: bool
    elapsed_s: float = 0.0
    _running: list[tuple[Asked, float, Future[Evaluation]]] = field(
        default_factory=list[tuple[Asked, float, Future[Evaluation]]]
    )

    @property
    def running(self) -> int:
        """Designs that are being measured."""
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether no other design may be begun."""
        return self.running >= self.together

    def begin(self, asked: Asked, configuration: Configuration) -> None:
        """Measure a configuration, which `next` gives back with what was asked."""
        future = self.pool.submit(self.evaluator.evaluate, configuration)
        self._running.append((asked, self.elapsed_s, future))

    def next(self) -> tuple[Asked, Evaluation]:
        """Wait for the result that is next; the time of the search is then not before that design's end."""
        entry = self._running[0] if self.in_steps else self._first_to_end()
        asked, begun_s, future = entry
        answer = future.result()
        self._running.remove(entry)
        self.elapsed_s = max(self.elapsed_s, begun_s + answer.wall_s)
        return asked, answer

    def _first_to_end(self) -> tuple[Asked, float, Future[Evaluation]]:
        futures = [future for _, _, future in self._running]
        wait(futures, return_when=FIRST_COMPLETED)
        if any(not future.done() for future in futures):
            wait(futures, timeout=GRACE_S)
        ended = [entry for entry in self._running if entry[2].done()]
        return min(ended, key=lambda entry: entry[1] + entry[2].result().wall_s)
