"""The least latency of one path from the root to an innermost loop, by each choice on the path.

A path has exactly one leaf and few choices, so all of them are listed. The result strengthens the program
without changing it: options that no design has are removed, and the rest become valid inequalities
(docs/pragmas.md, 'Program').
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.base.summation import ordered_sum
from pipelines.pragmas.nlp.space import ABOVE, INSIDE, LEAVES, Dimension, Option, Space

Table = NDArray[np.float64]
Factors = NDArray[np.int64]

MOST_POINTS = 2_000_000
"""Most choices around one leaf that are listed; with more, constraints are left to the solver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPath:
    """Least scaled cycles of a path's leaf, infinite where no design of the path alone keeps to the limits.

    Attributes:
        loops: outermost first; least: by loop, one figure per option; shared: by dimension that several loops
            index, one figure per factor of `shared_factors`.
    """

    loops: tuple[str, ...]
    least: Mapping[str, tuple[float, ...]]
    shared: Mapping[Dimension, tuple[float, ...]]

    @property
    def cycles(self) -> float:
        """Least over all choices."""
        return min(self.least[self.loops[0]])


@dataclass(frozen=True, slots=True)
class _Points:
    """All choices around one leaf, one axis per loop of the chain that ends in it.

    Attributes:
        values: scaled cycles, infinite where the DSPs do not suffice; factors: by loop, unroll factors along
            its axis, and those of loops inside.
    """

    chain: tuple[str, ...]
    states: tuple[str, ...]
    values: Table
    factors: Mapping[str, Factors]


def shared_factors(space: Space) -> dict[Dimension, tuple[int, ...]]:
    """Return the partitions of dimensions that several loops index: common multiples of their factors, and
    all of the elements.
    """
    factors_by_dimension: dict[Dimension, tuple[int, ...]] = {}
    if space.most_partitions is None:
        return factors_by_dimension
    for dimension in space.shared_dimensions():
        factors = {1}
        for loop in dimension.loops:
            own = {option.unroll for option in space.options[loop]}
            factors = {
                dimension.partitions((a, b)) if a < dimension.extent else a for a in factors for b in own
            }
        factors_by_dimension[dimension] = tuple(sorted(f for f in factors if f <= space.most_partitions))
    return factors_by_dimension


def list_path(space: Space, loops: tuple[str, ...], shared: Mapping[Dimension, tuple[int, ...]]) -> LoopPath:
    """Return the least cycles of a path by each choice, within equations 5, 9 to 12 and 15."""
    least = {loop: np.full(len(space.options[loop]), math.inf) for loop in loops}
    concerned = {d: factors for d, factors in shared.items() if not set(d.loops).isdisjoint(loops)}
    least_shared = {d: np.full(len(factors), math.inf) for d, factors in concerned.items()}
    for points in _all_points(space, loops):
        allowed = _limited(space, points, {})
        _lower(space, least, loops, points, allowed)
        for dimension, factors in concerned.items():
            for index, factor in enumerate(factors):
                reached = float(_limited(space, points, {dimension: factor}).min())
                least_shared[dimension][index] = min(least_shared[dimension][index], reached)
    return LoopPath(
        loops=loops,
        least={loop: tuple(map(float, row)) for loop, row in least.items()},
        shared={dimension: tuple(map(float, row)) for dimension, row in least_shared.items()},
    )


def _all_points(space: Space, loops: tuple[str, ...]) -> Iterator[_Points]:
    """Yield the choices around each loop that may be the leaf."""
    for position, last in enumerate(loops):
        chain = loops[: position + 1]
        for state in LEAVES:
            axes = [space.choices(loop, ABOVE) for loop in chain[:-1]] + [space.choices(last, state)]
            if all(axes):
                states = (*(ABOVE for _ in chain[:-1]), state)
                values = _cycles(space, chain, axes)
                values[_too_many_dsps(space, axes)] = math.inf
                values[_not_as_swapped(space, chain, axes)] = math.inf
                yield _Points(chain, states, values, _factors(space, chain, axes))


def _cycles(space: Space, chain: tuple[str, ...], axes: list[tuple[Option, ...]]) -> Table:
    """Return scaled cycles: of all executions, and the fill of the flattened nest."""
    steady = _outer([[option.factor for option in axis] for axis in axes])
    if not space.keeps_fill(chain[-1]):
        return steady
    taking = set(space.fill_loops(chain[-1]))
    rows = [
        [o.factor if loop in taking else 1.0 for o in axis] for loop, axis in zip(chain, axes, strict=True)
    ]
    rows[-1] = [option.fill for option in axes[-1]]
    return steady + _outer(rows)


def _lower(
    space: Space, least: dict[str, Table], loops: tuple[str, ...], points: _Points, allowed: Table
) -> None:
    """Lower `least` by the cycles of one leaf's choices."""
    for axis, (loop, state) in enumerate(zip(points.chain, points.states, strict=True)):
        others = tuple(other for other in range(allowed.ndim) if other != axis)
        minima = iter(allowed.min(axis=others))
        for index, option in enumerate(space.options[loop]):
            if option.state == state:
                least[loop][index] = min(least[loop][index], next(minima))
    for loop in loops[len(points.chain) :]:
        for index, option in enumerate(space.options[loop]):
            if option.state == INSIDE:
                least[loop][index] = min(least[loop][index], float(allowed.min()))


def _outer(rows: list[list[float]]) -> Table:
    """Return the product of one figure of each row, one axis per row."""
    product = np.ones(())
    for row in rows:
        product = np.multiply.outer(product, np.asarray(row, dtype=np.float64))
    return np.asarray(product)


def _limited(space: Space, points: _Points, fixed: Mapping[Dimension, int]) -> Table:
    """Return cycles, infinite where some array needs too many partitions (equations 9 to 11).

    Args: fixed: partitions of a dimension that several loops index.
    """
    if space.most_partitions is None or points.values.size > MOST_POINTS:
        return points.values
    broken = np.zeros(points.values.shape, dtype=np.bool_)
    for dimensions in space.dimensions.values():
        count = np.ones((1,) * points.values.ndim, dtype=np.int64)
        for dimension in dimensions:
            known = [points.factors[loop] for loop in dimension.loops if loop in points.factors]
            least = np.asarray(np.lcm.reduce(np.broadcast_arrays(*known))) if known else np.int64(1)
            least = np.minimum(least, dimension.extent)
            if dimension in fixed:
                if fixed[dimension] != dimension.extent:
                    broken = broken | (fixed[dimension] % least != 0)
                least = np.int64(fixed[dimension])
            count = count * least
        broken = broken | (count > space.most_partitions)
    return np.where(np.broadcast_to(broken, points.values.shape), math.inf, points.values)


def _factors(space: Space, chain: tuple[str, ...], axes: list[tuple[Option, ...]]) -> dict[str, Factors]:
    """Unroll factors of the chain's loops along their axes, and of the loops inside it."""
    factors: dict[str, Factors] = {}
    for axis, (loop, options) in enumerate(zip(chain, axes, strict=True)):
        shape = [1] * len(axes)
        shape[axis] = len(options)
        factors[loop] = np.asarray([option.unroll for option in options], dtype=np.int64).reshape(shape)
    for loop in space.loops_inside(chain[-1]):
        for option in space.choices(loop, INSIDE):
            factors[loop] = np.full((1,) * len(axes), option.unroll, dtype=np.int64)
    return factors


def _not_as_swapped(
    space: Space, chain: tuple[str, ...], axes: list[tuple[Option, ...]]
) -> NDArray[np.bool_]:
    """Return where only one of a loop and its inner one has copies, for loops that tools swap."""
    broken = np.zeros(tuple(len(axis) for axis in axes), dtype=np.bool_)
    for axis, loop in enumerate(chain[:-1]):
        if loop in space.swapped:
            rows = np.asarray([[_unlike(a, b) for b in axes[axis + 1]] for a in axes[axis]])
            ones = [1] * len(axes)
            ones[axis : axis + 2] = rows.shape
            broken |= rows.reshape(ones)
    return broken


def _unlike(outer: Option, inner: Option) -> bool:
    return (outer.copies > 1 and inner.unroll == 1) or (outer.unroll > outer.copies and inner.unroll > 1)


def _too_many_dsps(space: Space, axes: list[tuple[Option, ...]]) -> NDArray[np.bool_]:
    """Return where this path alone needs more DSPs than are available (equation 15)."""
    copies = [[float(option.copies) for option in axis] for axis in axes[:-1]]
    used = [
        ordered_sum(space.dsp.get(kind, 0) * most for kind, most in option.units.items())
        for option in axes[-1]
    ]
    limit = math.inf if space.dsp_available is None else space.dsp_available
    return _outer([*copies, used]) > limit * (1 + 1e-9)
