"""Errors on reference sets: of rows, and their means over programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.tasks import ReferenceSet
from pipelines.base.summation import ordered_sum

Vector = NDArray[np.float64]


def reference_set_of(
    programs: Sequence[str], groups: Mapping[str, str], baseline: Vector, score: Callable[[Any], Vector]
) -> ReferenceSet:
    """Return the reference set of programs with the group of each by name."""
    return ReferenceSet(
        programs=tuple(programs),
        groups=tuple(groups[name] for name in programs),
        baseline_errors=tuple(map(float, baseline)),
        score=score,
    )


def relative_errors(predicted: Vector, actual: Vector) -> Vector:
    """Return absolute percentage errors as fractions, each at most 1, or few programs would decide alone."""
    return np.minimum(1.0, np.abs(predicted / actual - 1.0))


def mean_errors(names: Sequence[str], values: Vector) -> tuple[list[str], Vector]:
    """Return the mean of the values of every program, in order of the programs' names."""
    by_program: dict[str, list[float]] = defaultdict(list)
    for name, value in zip(names, values, strict=True):
        by_program[name].append(float(value))
    programs = sorted(by_program)
    return programs, np.array(
        [ordered_sum(v) / len(v) for v in map(by_program.__getitem__, programs)], np.float64
    )
