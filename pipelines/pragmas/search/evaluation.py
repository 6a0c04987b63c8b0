"""Evaluations of configurations, the log of a search, and the executor that measures several at a time.

The executor counts the time of the search, not of the clock: seconds in the solver, and the seconds that each
design took by its own account. A repeated search whose designs are in the cache therefore counts the same
seconds and takes the same steps. Without time limits the executor returns results in the order in which
designs were begun, so that no measured time decides anything.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pipelines.pragmas.configuration import Configuration
from pipelines.schemas import OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The measurement of a configuration.

    Attributes:
        status: `ok`, `timeout`, `tool_error`, `infeasible` (the design was built and does not fit) or
            `rejected`; reason: why it is not ok.
        latency_cycles: of one call; also known of a design that does not fit.
        not_applied: directives that the tool did not apply, with its reasons; empty when all were.
        dsp_count, area_um2: resources, as far as the evaluator knows them; used_share: of the tightest
            limit, above 1 where the design does not fit.
        strips: factors are written as strips in the text, not as directives.
        wall_s: seconds that it took.
    """

    status: str
    reason: str | None = None
    latency_cycles: int | None = None
    not_applied: tuple[str, ...] = ()
    dsp_count: int | None = None
    area_um2: float | None = None
    used_share: float | None = None
    strips: bool = False
    wall_s: float = 0.0

    @property
    def valid(self) -> bool:
        """Whether it is a design that may be chosen."""
        return self.status == OK and self.latency_cycles is not None


class Evaluator(Protocol):
    """Measures configurations of one program: the one function that a search needs.

    An evaluator may be called from several threads at once. A failure of a configuration is the status of
    its evaluation; an exception is a fault of the evaluator and ends the search.
    """

    @property
    def name(self) -> str:
        """Tool and version, for rows."""
        ...

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """Measure one configuration."""
        ...


EVALUATED, REPEATED, PRUNED, NO_DESIGN = "evaluated", "repeated", "pruned", "no_design"
"""Outcome of a step: its configuration was measured; it, or one that hardly differs, was measured before; its
bound is above the best measured latency; its constraints admit no configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a search.

    Attributes:
        index: from 0; method: the search's name.
        most_partitions: rung of the ladder, None = unlimited; fine_only: equation 14.
        configuration: None when there is none; decision: see above.
        bound_cycles: lower bound of the configuration; space_bound_cycles: proven for all configurations
            that the step's constraints admit; proven: the two are one.
        evaluation: None unless it was measured now.
        solver_s: seconds in the solver; elapsed_s: of the search, with designs measured together.
        best_cycles: least measured latency of a valid design after the step.
    """

    index: int
    method: str
    most_partitions: int | None = None
    fine_only: bool = False
    configuration: Configuration | None
    decision: str
    bound_cycles: float | None = None
    space_bound_cycles: float | None = None
    proven: bool = False
    evaluation: Evaluation | None = None
    solver_s: float = 0.0
    elapsed_s: float = 0.0
    best_cycles: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """The log of a search and what it proves.

    Attributes:
        steps: in order; lower_bound_cycles: proven for the whole space, None when the method proves nothing.
        proven: no configuration of the space can be faster than the best measured one, except those that ran
            out of time.
    """

    method: str
    steps: tuple[Step, ...]
    lower_bound_cycles: float | None = None
    proven: bool = False

    @property
    def best(self) -> Step | None:
        """The first step with the least latency of a valid design."""
        valid = [
            (s.evaluation.latency_cycles or 0, s) for s in self.steps if s.evaluation and s.evaluation.valid
        ]
        return min(valid, key=lambda pair: pair[0], default=(0, None))[1]

    @property
    def gap(self) -> float | None:
        """Best latency over the lower bound, less 1; None when one of the two is not known."""
        best = self.best
        if best is None or best.evaluation is None or not self.lower_bound_cycles:
            return None
        return (best.evaluation.latency_cycles or 0) / self.lower_bound_cycles - 1


Asked = TypeVar("Asked")

GRACE_S = 0.5
"""Seconds on the clock in which a cached design answers. Designs that answer so soon after the first one
count as known, and the one that ended first in the time of the search is next."""


@dataclass(slots=True, kw_only=True)
class DesignExecutor(Generic[Asked]):
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
        """Number of designs that are being measured."""
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether no other design may be begun."""
        return self.running >= self.together

    def begin(self, asked: Asked, configuration: Configuration) -> None:
        """Measure a configuration; `next` returns its evaluation with `asked`."""
        future = self.pool.submit(self.evaluator.evaluate, configuration)
        self._running.append((asked, self.elapsed_s, future))

    def next(self) -> tuple[Asked, Evaluation]:
        """Wait for the next result and advance the time of the search to that design's end."""
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
