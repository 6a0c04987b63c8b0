"""Limits on designs that likely end in time and likely fit, learned from the designs that were measured.

Time. After a design that ran out of time the next ones have at most half its copies and a quarter of its
partitions. After one that ended in time they may have twice its own, and up to four times where it took a
small part of its time. Designs with copies of whole modules take longer than others of their size, so the two
kinds have limits of their own.

Resources. Theorem 6.17 counts units alone. Where a limit stands for area, registers and multiplexers take
some of it, and they grow with the operations of the unrolled program whatever the interval: designs of
covariance take 42 to 45 mm2 with intervals of 1 to 8, their units 11 to 3. So a design of u units and s
operations is expected to take a u + b s, with a and b fitted to the designs that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from pipelines.base.summation import ordered_sum
from pipelines.pragmas.bound import Target, complete
from pipelines.pragmas.configuration import FINE, Configuration
from pipelines.pragmas.nlp import partitions, unrolled_size
from pipelines.pragmas.search.evaluation import Evaluation
from pipelines.pragmas.summary import Summary
from pipelines.schemas import TIMEOUT

FINE_COPIES = 2
"""Copies of a design without copies of modules that likely ends in time, over those that surely do."""
TOOL_COPIES = 1.0
"""Operations that a tool makes of a design that likely ends in time, over the copies that surely do."""
FIRST_PARTITIONS = 128
"""Partitions of an array that likely end in time, where time is limited."""
LEAST_GROWTH, MOST_GROWTH = 2.0, 4.0
"""Size of a next design over that of one that ended in time; above the least where that one took less than a
quarter of its time."""
BELOW_TIMEOUT = 0.75
"""Share of the size of a design that ran out of time; next designs keep to it until one as large ends."""
LEFT_COPIES, LEFT_PARTITIONS = 0.5, 0.25
"""Share of the size of a design that ran out of time, for the next designs."""
LEAST_PER_UNIT = 0.5
"""Least share of its figure of theorem 6.17 that a unit takes of a limit."""
PRIOR = 0.1
"""Weight of one design that takes what the bound says, beside that of a measured one."""


@dataclass(slots=True, kw_only=True)
class Limit:
    """A limit on one measure of designs.

    Attributes:
        most: of the next design, infinite when unknown; done: the most that ended in time; late: the least
            above it that ran out of time.
    """

    most: float = math.inf
    done: float = 0.0
    late: float = math.inf

    @property
    def whole(self) -> int | None:
        """The limit as `SearchOptions` take it."""
        return None if math.isinf(self.most) else int(self.most)

    def learn(self, size: float, *, late: bool, growth: float, left: float) -> None:
        """Widen the limit by a design that ended in time; narrow it by a larger one that did not."""
        if not late:
            self.done = max(self.done, size)
            self.most = max(self.most, self.done, min(growth * size, self._below_timeout()))
        elif size > self.done:
            self.late = min(self.late, size)
            self.most = min(self.most, max(self.done, left * size, 1.0))

    def double(self, *, beyond_timeout: bool = False) -> None:
        """Double the limit; up to the size of what ran out of time only where that is asked for."""
        self.most = max(
            self.most, 2.0 * self.most if beyond_timeout else min(2.0 * self.most, self._below_timeout())
        )

    def _below_timeout(self) -> float:
        return BELOW_TIMEOUT * self.late if self.late > self.done else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Limits on designs that likely end in time.

    Attributes:
        size_of: operations that a tool makes of a configuration; None when unknown.
        design_s: seconds that a design may take; None when unknown.
        copies: of operations and accesses, by whether a design has no copies of whole modules.
        partitions: of the array that has most; size: as `size_of`, of designs of either kind.
    """

    summary: Summary
    size_of: Callable[[Configuration], int] | None
    design_s: float | None
    copies: dict[bool, Limit]
    partitions: Limit
    size: Limit

    def learn(self, configuration: Configuration, answer: Evaluation, *, fine_only: bool) -> None:
        """Adjust the limits to a measured design.

        Args: fine_only: its sub-problem admits no copies of modules.
        """
        late, growth = answer.status == TIMEOUT, self._growth(answer)
        copies = unrolled_size(self.summary, configuration)
        for kind in {fine_only, is_fine(self.summary, configuration)}:
            self.copies[kind].learn(copies, late=late, growth=growth, left=LEFT_COPIES)
        count = most_partitions(self.summary, configuration)
        self.partitions.learn(count, late=late, growth=LEAST_GROWTH, left=LEFT_PARTITIONS)
        if self.size_of is not None:
            self.size.learn(self.size_of(configuration), late=late, growth=growth, left=LEFT_COPIES)

    def allow(self, configuration: Configuration) -> bool:
        """Tell whether a configuration keeps to the limits that the convex program knows."""
        copies = self.copies[is_fine(self.summary, configuration)]
        within = unrolled_size(self.summary, configuration) <= copies.most
        return within and most_partitions(self.summary, configuration) <= self.partitions.most

    def size_margin(self, configuration: Configuration) -> float:
        """Return the limit on `size` over a configuration's size: 1 or more when it likely ends in time."""
        return math.inf if self.size_of is None else self.size.most / self.size_of(configuration)

    def widen(self, *, beyond_timeout: bool = False) -> bool:
        """Double all limits.

        Args:    beyond_timeout: also to sizes of which one ran out of time, for another of that size may not.
        Returns: whether a limit grew.
        """
        before = self.snapshot()
        for limit in self._limits():
            limit.double(beyond_timeout=beyond_timeout)
        return self.snapshot() != before

    def snapshot(self) -> tuple[float, ...]:
        """Return the limits now, for `restore`."""
        return tuple(limit.most for limit in self._limits())

    def restore(self, snapshot: tuple[float, ...]) -> None:
        """Set the limits to a snapshot."""
        for limit, most in zip(self._limits(), snapshot, strict=True):
            limit.most = most

    def _limits(self) -> Iterator[Limit]:
        yield from (*self.copies.values(), self.partitions, self.size)

    def _growth(self, answer: Evaluation) -> float:
        """Return the size of a next design over that of one that ended in time."""
        if self.design_s is None or answer.wall_s <= 0.0:
            return LEAST_GROWTH
        return min(MOST_GROWTH, max(LEAST_GROWTH, self.design_s / answer.wall_s / 2.0))


def first_sizes(
    summary: Summary,
    *,
    sure: int | None,
    design_s: float | None,
    size_of: Callable[[Configuration], int] | None,
) -> Sizes:
    """Return the limits of the first designs.

    Args: sure: copies of operations and accesses that surely end in time; None when unknown.
    """
    least = math.inf if sure is None else float(sure)
    return Sizes(
        summary=summary,
        size_of=size_of,
        design_s=design_s,
        copies={False: Limit(most=least), True: Limit(most=FINE_COPIES * least)},
        partitions=Limit(most=math.inf if sure is None else FIRST_PARTITIONS),
        size=Limit() if size_of is None else Limit(most=TOOL_COPIES * least),
    )


def is_fine(summary: Summary, configuration: Configuration) -> bool:
    """Tell whether no loop above a pipelined one is asked for copies (equation 14)."""
    full = complete(summary, configuration)
    pipelined = [name for name in summary.loops if full.of(name).pipeline == FINE]
    above = {outer for name in pipelined for outer in summary.loops_around(name)}
    return all(configuration.of(name).unroll == 1 for name in above)


def most_partitions(summary: Summary, configuration: Configuration) -> int:
    """Return the partitions of the array that has most (equation 9)."""
    return max(partitions(summary, configuration).values(), default=1)


# ---- resources -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Resources of a measured design.

    Attributes:
        units: by theorem 6.17; taken: measured; both as the target counts DSPs.
        copies: operations and accesses of the unrolled program.
    """

    units: float
    copies: int
    taken: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceBudget:
    """Limits on designs that likely fit: a target, and the DSPs that each copy takes beside its units."""

    target: Target
    copy_dsps: float = 0.0

    def fits(self, units: float, copies: int) -> bool:
        """Tell whether a design likely fits."""
        available = self.target.dsp_available
        return available is None or units + self.copy_dsps * copies <= available

    def scaled(self, slack: float) -> ResourceBudget:
        """Return the budget with `slack` times the limit."""
        available = self.target.dsp_available
        if available is None or slack == 1.0:
            return self
        return replace(self, target=replace(self.target, dsp_available=int(slack * available)))


def resource_budget(target: Target, uses: Sequence[Use]) -> ResourceBudget:
    """Return the budget of designs that are like the measured ones; that of the bound without any."""
    if target.dsp_available is None or not uses:
        return ResourceBudget(target=target)
    per_unit, per_copy = _fit(uses)
    available = max(1, int(target.dsp_available / per_unit))
    return ResourceBudget(target=replace(target, dsp_available=available), copy_dsps=per_copy / per_unit)


def _fit(uses: Sequence[Use]) -> tuple[float, float]:
    """Return resources of a unit and of a copy: least squares of relative errors, none below 0, with a prior.

    By the prior a copy that takes as much as its units is as likely as units that take twice their bound.
    """
    units_per_copy = max(
        1e-9, ordered_sum(use.units for use in uses) / max(1, sum(use.copies for use in uses))
    )
    rows = [(use.units / use.taken, use.copies / use.taken, 1.0) for use in uses if use.taken > 0]
    rows += [(PRIOR, 0.0, PRIOR), (0.0, PRIOR / units_per_copy, 0.0)]
    table = np.asarray(rows)
    coefficients, _ = nnls(table[:, :2], table[:, 2])
    return max(LEAST_PER_UNIT, float(coefficients[0])), float(coefficients[1])
