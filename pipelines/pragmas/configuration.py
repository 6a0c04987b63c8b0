"""A configuration of directives: the property vector of every loop, and where arrays are cached.

Source: NLP-DSE section 4.1 (property vectors) and equations 1 to 4.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.base.identity import canonical_json

OFF, COARSE, FINE = "off", "coarse", "fine"
"""A loop's pipeline: none requested; Merlin's `ACCEL pipeline`, whose stages are the parts of the body; and
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
    """Choices of all loops; other loops have none.

    Attributes:
        caches: (loop, array): the array is brought on chip in each iteration of that loop, above what is
            inside (ROOT: once, before everything). None: the tool decides, and the bound takes the best.
    """

    loops: Mapping[str, LoopChoice] = field(default_factory=dict[str, LoopChoice])
    caches: tuple[tuple[str, str], ...] | None = None

    def of(self, loop: str) -> LoopChoice:
        """Return a loop's choice."""
        return self.loops.get(loop, LoopChoice())


def configuration_key(configuration: Configuration) -> str:
    """Return the canonical JSON of a configuration: equal ones have equal texts; loops without a choice are
    left out.

    Returns: `{"caches": null or [[loop, array], ...], "loops": {name: [pipeline, interval, unroll, tile]}}`
    """
    loops = {
        name: [choice.pipeline, choice.interval, choice.unroll, choice.tile]
        for name, choice in configuration.loops.items()
        if choice != LoopChoice()
    }
    caches = None if configuration.caches is None else sorted(map(list, configuration.caches))
    return canonical_json({"loops": loops, "caches": caches})


def configuration_of_key(text: str) -> Configuration:
    """Return the configuration of a canonical text that `configuration_key` wrote."""
    read: dict[str, Any] = json.loads(text)
    loops = {
        name: LoopChoice(pipeline=pipeline, interval=interval, unroll=unroll, tile=tile)
        for name, (pipeline, interval, unroll, tile) in read["loops"].items()
    }
    caches = None if read["caches"] is None else tuple((loop, array) for loop, array in read["caches"])
    return Configuration(loops=loops, caches=caches)
