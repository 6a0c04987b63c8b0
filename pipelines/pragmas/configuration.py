"""A configuration of directives: the property vector of every loop, and where arrays are cached.

Source: NLP-DSE section 4.1 (property vectors) and equations 1 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

OFF, COARSE, FINE = "off", "coarse", "fine"
"""A loop's pipeline: none asked for; Merlin's `ACCEL pipeline`, whose stages are what the body holds; and
`ACCEL pipeline flatten` or `HLS pipeline`, under which all loops are unrolled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopChoice:
    """A loop's property vector PV (section 4.1); the trip counts are in the summary.

    Attributes:
        pipeline: OFF, COARSE or FINE; interval: the initiation interval asked for.
        unroll: copies of the body (UF); tile: iterations of the inner loop after strip-mining, 1 for none.
        automatic: no factor is asked for at all, not even 1, so that tools may unroll the loop by themselves.
    """

    pipeline: str = OFF
    interval: int = 1
    unroll: int = 1
    tile: int = 1
    automatic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Choices of all loops; a loop that is not named has none.

    Attributes:
        caches: (loop, array): the array is brought on chip in each iteration of that loop, above what is
            inside (ROOT: once, before everything). None: the tool decides, and the bound takes the best.
    """

    loops: Mapping[str, LoopChoice] = field(default_factory=dict[str, LoopChoice])
    caches: tuple[tuple[str, str], ...] | None = None

    def of(self, loop: str) -> LoopChoice:
        """A loop's choice."""
        return self.loops.get(loop, LoopChoice())
