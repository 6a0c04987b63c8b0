"""Valid inequalities: each way takes at least what the choices that concern it allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pyscipopt import quicksum

from pipelines.pragmas.program.model import Program
from pipelines.pragmas.program.space import Dimension
from pipelines.pragmas.program.tree import Latency
from pipelines.pragmas.program.ways import Way


def add_inequalities(
    program: Program, latency: Latency, ways: Sequence[Way], picked: Mapping[Dimension, list[Any]]
) -> None:
    """For each way and each choice that concerns it: its leaf takes at least the least of that choice."""
    for way in ways:
        leaf = quicksum(term for chain, term in latency.leaves.items() if set(chain) <= set(way.loops))
        for loop, least in way.least.items():
            _least_of(program, leaf, program.chosen[loop], least, f"least {way.loops[-1]} {loop}")
        for dimension, least in way.shared.items():
            if dimension in picked:
                name = f"least {way.loops[-1]} {' '.join(dimension.loops)} of {dimension.extent}"
                _least_of(program, leaf, picked[dimension], least, name)


def _least_of(program: Program, leaf: Any, chosen: Sequence[Any], least: Sequence[float], name: str) -> None:
    """The leaf is not below the least of the choice; choices that no design has are removed."""
    pairs = list(zip(chosen, least, strict=True))
    for variable, cycles in pairs:
        if math.isinf(cycles):
            program.scip.chgVarUb(variable, 0.0)
    bound = quicksum(program.scale * cycles * v for v, cycles in pairs if not math.isinf(cycles))
    program.require(leaf >= bound, name)
