"""How large designs may be to be done in time, learned from those that were and were not.

After a design that ran out of time the next ones have at most half its copies and a quarter of its
partitions, after one that did not they may have twice its own, and up to four times where it took little of
the time that it may. Designs with copies of whole modules take longer than others of their size, so the two
kinds have limits of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipelines.pragmas.bound import complete
from pipelines.pragmas.configuration import FINE, Configuration
from pipelines.pragmas.explore.evaluation import Evaluation
from pipelines.pragmas.program import partitions, unrolled_size
from pipelines.pragmas.summary import Summary
from pipelines.schemas import TIMEOUT

FINE_COPIES = 2
"""Size of a design without copies of modules that is likely done in time, over that of any that surely is."""
MADE_COPIES = 1.0
"""What a tool may make of a design that is likely done in time, over the copies of one that surely is."""
FIRST_PARTS = 128
"""Partitions of an array that are likely done in time, where time is limited."""
LEAST_GROWTH, MOST_GROWTH = 2.0, 4.0
"""Size of a next design over that of one that was done in time; more than the least where that took less
than a quarter of the time it may."""
BELOW_LATE = 0.75
"""Share of the size of a design that ran out of time, which others keep to until one as large is done."""
LEFT_COPIES, LEFT_PARTS = 0.5, 0.25
"""Share of what a design that ran out of time had, which the next ones may have."""


@dataclass(slots=True, kw_only=True)
class Limit:
    """A measure of designs.

    Attributes:
        most: that one may have not to run out of time, infinite when unknown; done: the most that was done in
            time; late: the least above it that was not.
    """

    most: float = math.inf
    done: float = 0.0
    late: float = math.inf

    @property
    def whole(self) -> int | None:
        """As `SearchOptions` have it."""
        return None if math.isinf(self.most) else int(self.most)

    def learn(self, size: float, *, late: bool, growth: float, left: float) -> None:
        """Widen the limit by what was done in time; narrow it where what was late is larger than that."""
        if not late:
            self.done = max(self.done, size)
            self.most = max(self.most, self.done, min(growth * size, self._below_late()))
        elif size > self.done:
            self.late = min(self.late, size)
            self.most = min(self.most, max(self.done, left * size, 1.0))

    def double(self, *, past_late: bool = False) -> None:
        """Widen it, but not up to what ran out of time where that is not asked for."""
        self.most = max(self.most, 2.0 * self.most if past_late else min(2.0 * self.most, self._below_late()))

    def _below_late(self) -> float:
        return BELOW_LATE * self.late if self.late > self.done else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Limits on designs that are likely done in time.

    Attributes:
        made_of: what a tool makes of a configuration; None when unknown.
        design_s: seconds that a design may take; None when unknown.
        copies: of operations and accesses, by whether a design has no copies of whole modules.
        parts: partitions of the array that has most; made: what a tool makes of a design, of either kind.
    """

    summary: Summary
    made_of: Callable[[Configuration], int] | None
    design_s: float | None
    copies: dict[bool, Limit]
    parts: Limit
    made: Limit

    def learn(self, configuration: Configuration, answer: Evaluation, *, fine_only: bool) -> None:
        """Compare the limits with a design that was measured.

        Args: fine_only: whether it was asked for among those without copies of modules.
        """
        late, growth = answer.status == TIMEOUT, self._growth(answer)
        copies = unrolled_size(self.summary, configuration)
        for kind in {fine_only, is_fine(self.summary, configuration)}:
            self.copies[kind].learn(copies, late=late, growth=growth, left=LEFT_COPIES)
        parts = most_parts(self.summary, configuration)
        self.parts.learn(parts, late=late, growth=LEAST_GROWTH, left=LEFT_PARTS)
        if self.made_of is not None:
            self.made.learn(self.made_of(configuration), late=late, growth=growth, left=LEFT_COPIES)

    def allow(self, configuration: Configuration) -> bool:
        """Whether a configuration keeps to the limits that the program knows."""
        copies = self.copies[is_fine(self.summary, configuration)]
        within = unrolled_size(self.summary, configuration) <= copies.most
        return within and most_parts(self.summary, configuration) <= self.parts.most

    def made_share(self, configuration: Configuration) -> float:
        """What a tool may make of a design over what it makes of a configuration: 1 or more when likely."""
        return math.inf if self.made_of is None else self.made.most / self.made_of(configuration)

    def widen(self, *, past_late: bool = False) -> bool:
        """Double all limits; whether one of them grew.

        Args: past_late: also to sizes of which one ran out of time, for another of that size may not.
        """
        before = self.kept()
        for limit in self._limits():
            limit.double(past_late=past_late)
        return self.kept() != before

    def kept(self) -> tuple[float, ...]:
        """What may be asked for now, for `restore`."""
        return tuple(limit.most for limit in self._limits())

    def restore(self, kept: tuple[float, ...]) -> None:
        """Take limits back to what they were."""
        for limit, most in zip(self._limits(), kept, strict=True):
            limit.most = most

    def _limits(self) -> Iterator[Limit]:
        yield from (*self.copies.values(), self.parts, self.made)

    def _growth(self, answer: Evaluation) -> float:
        """How many times larger than a design that was done in time another one may likely be."""
        if self.design_s is None or answer.wall_s <= 0.0:
            return LEAST_GROWTH
        return min(MOST_GROWTH, max(LEAST_GROWTH, self.design_s / answer.wall_s / 2.0))


def first_sizes(
    summary: Summary,
    *,
    sure: int | None,
    design_s: float | None,
    made_of: Callable[[Configuration], int] | None,
) -> Sizes:
    """Limits of the first designs.

    Args: sure: copies of operations and accesses that are surely done in time; None when unknown.
    """
    least = math.inf if sure is None else float(sure)
    return Sizes(
        summary=summary,
        made_of=made_of,
        design_s=design_s,
        copies={False: Limit(most=least), True: Limit(most=FINE_COPIES * least)},
        parts=Limit(most=math.inf if sure is None else FIRST_PARTS),
        made=Limit() if made_of is None else Limit(most=MADE_COPIES * least),
    )


def is_fine(summary: Summary, configuration: Configuration) -> bool:
    """Whether no loop above a pipelined one is asked for copies (equation 14)."""
    full = complete(summary, configuration)
    pipelined = [name for name in summary.loops if full.of(name).pipeline == FINE]
    above = {outer for name in pipelined for outer in summary.loops_around(name)}
    return all(configuration.of(name).unroll == 1 for name in above)


def most_parts(summary: Summary, configuration: Configuration) -> int:
    """Partitions of the array that has most (equation 9)."""
    return max(partitions(summary, configuration).values(), default=1)
