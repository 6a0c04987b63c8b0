"""What designs take of a limit on resources, learned from those that were measured.

Theorem 6.17 counts units alone. Where a limit stands for area, registers and multiplexers take some of it,
which grow with the operations of the unrolled program whatever the interval: designs of covariance take 42 to
45 mm2 with intervals of 1 to 8, their units 11 to 3. So of a design of u units and s operations is expected
what a u + b s is, with a and b from the designs that were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from pipelines.pragmas.bound import Target

LEAST_PER_UNIT = 0.5
"""Of a limit a unit takes at least so much of what theorem 6.17 says."""
PRIOR = 0.1
"""Weight of one design that says what a bound says, beside that of a measured one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A measured design: units by theorem 6.17 and what it took, as the target counts DSPs; operations and
    accesses of the unrolled program."""

    units: float
    copies: int
    taken: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Limits for designs that likely fit: a target, and what copies take of its DSPs besides units."""

    target: Target
    copy_dsps: float = 0.0

    def holds(self, units: float, copies: int) -> bool:
        """Whether a design likely fits."""
        available = self.target.dsp_available
        return available is None or units + self.copy_dsps * copies <= available

    def wider(self, slack: float) -> Room:
        """The room of designs that are expected to take so much of the limit."""
        available = self.target.dsp_available
        if available is None or slack == 1.0:
            return self
        return replace(self, target=replace(self.target, dsp_available=int(slack * available)))


def room(target: Target, uses: Sequence[Use]) -> Room:
    """The room for designs that are like those measured; that of the bound when there are none."""
    if target.dsp_available is None or not uses:
        return Room(target=target)
    per_unit, per_copy = _fit(uses)
    available = max(1, int(target.dsp_available / per_unit))
    return Room(target=replace(target, dsp_available=available), copy_dsps=per_copy / per_unit)


def _fit(uses: Sequence[Use]) -> tuple[float, float]:
    """What a unit and a copy take: least squares of relative errors, none below 0, with the prior.

    To that a copy that takes as much as its units is as likely as units that take twice their bound.
    """
    units_per_copy = max(1e-9, sum(use.units for use in uses) / max(1, sum(use.copies for use in uses)))
    rows = [(use.units / use.taken, use.copies / use.taken, 1.0) for use in uses if use.taken > 0]
    rows += [(PRIOR, 0.0, PRIOR), (0.0, PRIOR / units_per_copy, 0.0)]
    table = np.asarray(rows)
    found, _ = nnls(table[:, :2], table[:, 2])
    return max(LEAST_PER_UNIT, float(found[0])), float(found[1])
