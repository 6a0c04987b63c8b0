"""How many points an integer set has.

A set is cut into disjoint basic sets, and each of them into groups of dimensions that no constraint joins.
A group is counted over a grid of all its dimensions but one, for which the constraints give an interval; a
group whose dimensions are all in quotients is counted over the whole grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import islpy
import numpy as np
from numpy.typing import NDArray

CELL_LIMIT = 1 << 23
"""Cells of one grid (some tenths of a second); a group with more is not counted."""

_SET, _DIV = islpy.dim_type.set, islpy.dim_type.div


def count_points(points: islpy.Set | None) -> int | None:
    """Points of a bounded set; 0 of None; None when a group needs a grid beyond `CELL_LIMIT`."""
    if points is None:
        return 0
    total = 0
    parts = points.coalesce().make_disjoint().compute_divs().get_basic_set_list()
    for number in range(parts.n_basic_set()):
        counted = _count_basic(parts.get_at(number))
        if counted is None:
            return None
        total += counted
    return total


@dataclass(frozen=True, slots=True)
class _Row:
    """`coefficients . (dimensions, quotients) + constant`: zero, or at least zero."""

    coefficients: tuple[int, ...]
    constant: int
    equality: bool


@dataclass(frozen=True, slots=True)
class _Basic:
    """A basic set: `ranges` of its dimensions, rows, and quotients by their divisor."""

    ranges: tuple[tuple[int, int], ...]
    rows: tuple[_Row, ...]
    quotients: tuple[tuple[_Row, int], ...]

    @property
    def dimensions(self) -> int:
        return len(self.ranges)

    def mentioned(self, row: _Row) -> set[int]:
        """Dimensions that a row depends on, through quotients too."""
        found = {k for k in range(self.dimensions) if row.coefficients[k]}
        for number, (inner, _) in enumerate(self.quotients):
            if row.coefficients[self.dimensions + number]:
                found |= self.mentioned(inner)
        return found


def _count_basic(part: islpy.BasicSet) -> int | None:
    if part.is_empty():
        return 0
    basic = _read(part)
    counts = [_count_group(basic, group) for group in _groups(basic)]
    return None if None in counts else prod(c for c in counts if c is not None)


def _read(part: islpy.BasicSet) -> _Basic:
    size, quotients = part.dim(_SET), part.dim(_DIV)
    whole = part.to_set()
    rows = [_row(one, size, quotients) for one in part.get_constraints()]
    found: list[tuple[_Row, int]] = []
    for number in range(quotients):
        div = part.get_div(number)
        divisor = int(div.get_denominator_val().to_python())
        scaled = div.scale_val(islpy.Val(divisor))
        values = [scaled.get_coefficient_val(islpy.dim_type.in_, k) for k in range(size)]
        values += [scaled.get_coefficient_val(_DIV, k) for k in range(quotients)]
        coefficients = tuple(int(v.to_python()) for v in values)
        row = _Row(coefficients, int(scaled.get_constant_val().to_python()), True)
        found.append((row, divisor))
    ranges = tuple(
        (int(whole.dim_min_val(k).to_python()), int(whole.dim_max_val(k).to_python())) for k in range(size)
    )
    return _Basic(ranges, tuple(rows), tuple(found))


def _row(one: islpy.Constraint, size: int, quotients: int) -> _Row:
    values = [one.get_coefficient_val(_SET, k) for k in range(size)]
    values += [one.get_coefficient_val(_DIV, k) for k in range(quotients)]
    coefficients = tuple(int(v.to_python()) for v in values)
    return _Row(coefficients, int(one.get_constant_val().to_python()), one.is_equality())


def _groups(basic: _Basic) -> list[list[int]]:
    """Dimensions that rows join."""
    groups = [{k} for k in range(basic.dimensions)]
    for row in basic.rows:
        joined = basic.mentioned(row)
        touched = [g for g in groups if g & joined]
        groups = [g for g in groups if not g & joined]
        if touched:
            groups.append(set[int]().union(*touched))
    return [sorted(group) for group in groups]


def _count_group(basic: _Basic, group: Sequence[int]) -> int | None:
    rows = [row for row in basic.rows if basic.mentioned(row) & set(group)]
    sizes = {k: basic.ranges[k][1] - basic.ranges[k][0] + 1 for k in group}
    in_quotients = {
        k
        for row in rows
        for number, (inner, _) in enumerate(basic.quotients)
        if row.coefficients[basic.dimensions + number]
        for k in basic.mentioned(inner)
    }
    free = [k for k in group if k not in in_quotients]
    last = max(free, key=lambda k: sizes[k]) if free else None
    grid = [k for k in group if k != last]
    if prod(sizes[k] for k in grid) > CELL_LIMIT:
        return None
    axes = np.indices(tuple(sizes[k] for k in grid), sparse=True)
    values: dict[int, NDArray[Any]] = {
        k: axis.astype(np.int64) + basic.ranges[k][0] for k, axis in zip(grid, axes, strict=True)
    }
    return _count_grid(basic, rows, values, last)


def _count_grid(
    basic: _Basic, rows: Sequence[_Row], values: dict[int, NDArray[Any]], last: int | None
) -> int:
    """Points over a grid: of the last dimension as many as its interval has, or one where all rows hold."""
    low, high = (0, 0) if last is None else basic.ranges[last]
    lowest: NDArray[Any] = np.asarray(low, dtype=np.int64)
    highest: NDArray[Any] = np.asarray(high, dtype=np.int64)
    holds: NDArray[Any] = np.asarray(True)
    for row in rows:
        factor = 0 if last is None else row.coefficients[last]
        rest = _value(basic, row, values, last)
        if factor == 0:
            holds = holds & (rest == 0 if row.equality else rest >= 0)
            continue
        if factor > 0 or row.equality:
            bound = -rest if factor > 0 else rest
            lowest = np.maximum(lowest, -(-bound // abs(factor)))
        if factor < 0 or row.equality:
            bound = rest if factor < 0 else -rest
            highest = np.minimum(highest, bound // abs(factor))
    lengths = np.maximum(highest - lowest + 1, 0) * holds
    shape = np.broadcast_shapes(lengths.shape, *(v.shape for v in values.values()))
    return int(np.broadcast_to(lengths, shape).sum())


def _value(basic: _Basic, row: _Row, values: dict[int, NDArray[Any]], last: int | None) -> NDArray[Any]:
    """A row without its term of the last dimension, at every point of the grid."""
    found: NDArray[Any] = np.asarray(row.constant, dtype=np.int64)
    for k in range(basic.dimensions):
        if row.coefficients[k] and k != last:
            found = found + row.coefficients[k] * values[k]
    for number, (inner, divisor) in enumerate(basic.quotients):
        factor = row.coefficients[basic.dimensions + number]
        if factor:
            found = found + factor * (_value(basic, inner, values, None) // divisor)
    return found
