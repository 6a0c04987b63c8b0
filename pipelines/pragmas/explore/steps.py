"""What a search did: its steps, the best design so far, and what is proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.explore.evaluation import Evaluation

EVALUATED, REPEATED, PRUNED, NO_DESIGN = "evaluated", "repeated", "pruned", "no_design"
"""What a step came to: it was measured; its configuration, or one that hardly differs, was measured before;
its bound is above the best measured latency; its constraints admit no configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a search.

    Attributes:
        index: from 0; method: the search's name.
        most_partitions: rung of the ladder, None for no limit; fine_only: equation 14.
        configuration: None when there is none; decision: see above.
        bound_cycles: lower bound of the configuration; space_bound_cycles: proven for all configurations
            that the step's constraints admit; proven: the two are one.
        evaluation: None unless it was measured now.
        solver_s: seconds in the solver; elapsed_s: of the search, with designs measured side by side.
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
    """A search and what came of it.

    Attributes:
        steps: in order; lower_bound_cycles: proven for the whole space, None when the method proves nothing.
        proven: no configuration of the space can be faster than the best one that was measured; what ran out
            of time could be.
    """

    method: str
    steps: tuple[Step, ...]
    lower_bound_cycles: float | None = None
    proven: bool = False

    @property
    def best(self) -> Step | None:
        """The first step with the least latency of a valid design."""
        return best_step(self.steps)

    @property
    def gap(self) -> float | None:
        """Best latency over the lower bound, less 1; None when one of the two is not known."""
        best = self.best
        if best is None or best.evaluation is None or not self.lower_bound_cycles:
            return None
        return (best.evaluation.latency_cycles or 0) / self.lower_bound_cycles - 1


def best_step(steps: Sequence[Step]) -> Step | None:
    """The first step with the least latency of a valid design."""
    valid = [s for s in steps if s.evaluation is not None and s.evaluation.valid]
    return min(valid, key=lambda s: (s.evaluation.latency_cycles or 0) if s.evaluation else 0, default=None)
