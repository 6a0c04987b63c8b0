"""Several designs measured at a time, each begun as soon as another one ends.

Belongs here: which of them ends next, and the time of the search. Does not: which design to begin.

Time is that of the search, not of the clock: seconds of the solver, and those that each design took by its
own account. So a search of designs that are remembered takes the same seconds and the same way as the first.
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
    """

    pool: ThreadPoolExecutor
    evaluator: Evaluator
    together: int
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
        """Wait for the design that ends first; the time of the search is then not before its end."""
        futures = [future for _, _, future in self._running]
        wait(futures, return_when=FIRST_COMPLETED)
        if any(not future.done() for future in futures):
            wait(futures, timeout=GRACE_S)
        ended = [entry for entry in self._running if entry[2].done()]
        first = min(ended, key=lambda entry: entry[1] + entry[2].result().wall_s)
        self._running.remove(first)
        asked, begun_s, future = first
        self.elapsed_s = max(self.elapsed_s, begun_s + future.result().wall_s)
        return asked, future.result()
