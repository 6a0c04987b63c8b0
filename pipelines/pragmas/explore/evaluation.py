"""What an evaluator says of a configuration, and what an evaluator is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pipelines.pragmas.configuration import Configuration
from pipelines.schemas import OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A configuration as it was measured.

    Attributes:
        status: `ok`, `timeout`, `tool_error`, `infeasible` (it was made and does not fit) or `rejected`;
            reason: why it is not ok.
        latency_cycles: of one call; known of a design that does not fit, too.
        not_applied: directives that the tool did not apply, with its reasons; empty when all were.
        dsp_count, area_um2: resources, as far as the evaluator knows them; used_share: of the limit that the
            design is nearest to, above 1 where it does not fit.
        strips: factors are written as strips in the text, not asked for by directives.
        wall_s: seconds it took.
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

    An evaluator may be called from several threads at once. What goes wrong with a configuration is its
    evaluation's status; an exception is a fault of the evaluator and ends the search.
    """

    @property
    def name(self) -> str:
        """Tool and version, for rows."""
        ...

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """Measure one configuration."""
        ...
