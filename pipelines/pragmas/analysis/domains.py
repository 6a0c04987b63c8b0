"""Iteration domains as text for isl, their trip counts, and the number of points of a set.

Iterations are counted from the innermost loop outwards: the count inside a loop is a function of the counters
that its bounds mention, held as an array over these, and a sum over one counter is a difference of running
sums. So a nest whose bounds each mention one counter takes one array of one dimension.

For its points a set is cut into disjoint basic sets, and each of them into groups of dimensions that no
constraint joins. A group is counted over a grid of all its dimensions but one, for which the constraints give
an interval; a group whose dimensions are all in quotients is counted over the whole grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import islpy
import numpy as np
from numpy.typing import NDArray

from pipelines.pragmas.analysis.forms import Condition
from pipelines.pragmas.analysis.nest import Level, Nest
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import GROUPED, Affine

UNKNOWN_TRIPS = 1024
"""Iterations of a loop of unknown trip count for dependences; no count depends on it."""

CELL_LIMIT = 1 << 24
"""Cells of one array of counts; a nest with bounds that mention more counters together is refused."""


def form_text(form: Affine, names: Mapping[str, str]) -> str:
    """Return a form as isl text; `names`: the isl variable of each counter."""
    return " + ".join([*(f"{c}*{names[loop]}" for loop, c in form.terms), str(form.constant)])


def constraints(levels: Sequence[Level], names: Mapping[str, str]) -> list[str]:
    """Return the constraints on the counters of a path's loops."""
    texts: list[str] = []
    for level in levels:
        name = names[level.name]
        texts.append(f"0 <= {name}")
        texts += [f"{abs(level.step)}*{name} < {form_text(span, names)}" for span in level.spans]
        if not level.spans:
            texts.append(f"{name} < {UNKNOWN_TRIPS}")
    return texts


def condition_texts(conditions: Sequence[Condition], names: Mapping[str, str]) -> list[str]:
    """Return the affine conditions around a statement."""
    return [f"{form_text(c.form, names)} {'=' if c.equality else '>='} 0" for c in conditions]


def path_levels(nest: Nest, path: Sequence[str]) -> list[Level]:
    """Return the loops of a path."""
    return [nest.levels[name] for name in path]


@dataclass(frozen=True, slots=True, kw_only=True)
class TripCounts:
    """A loop's iterations.

    Attributes:
        least, most: of one execution; total: of all; executions: how often it is executed.
        groups: whole groups of iterations in the mean of executions, by their size; none where all executions
            have as many iterations.
    """

    least: int
    most: int
    total: int
    executions: int
    groups: Mapping[int, Fraction] = field(default_factory=dict[int, Fraction])

    @property
    def average(self) -> Fraction:
        """Iterations in all executions over executions."""
        return Fraction(self.total, self.executions) if self.executions else Fraction(0)


def count_trips(nest: Nest) -> dict[str, TripCounts]:
    """Return the trip counts of all loops, exact; of a loop of unknown trip count 0 to 1, 0 in all.

    Raises: PragmaError: bounds mention so many counters together that iterations cannot be counted.
    """
    counts: dict[str, TripCounts] = {}
    most: dict[str, int] = {}
    for name, level in nest.levels.items():
        around = path_levels(nest, level.path[:-1])
        least, most[name] = _extremes(level, around)
        executions = _count_iterations(around, most)
        total = _count_iterations([*around, level], most)
        groups = dict[int, Fraction]()
        if least < most[name] and level.spans and executions:
            sizes = {n: _count_iterations([*around, level], most, group=n) for n in GROUPED}
            groups = {n: Fraction(count, executions) for n, count in sizes.items()}
        counts[name] = TripCounts(
            least=least, most=most[name], total=total, executions=executions, groups=groups
        )
    return counts


def _extremes(level: Level, around: Sequence[Level]) -> tuple[int, int]:
    """Return the least and most iterations of one execution."""
    if not level.spans:
        return 0, 1
    if not any(span.terms for span in level.spans):
        trips = max(0, min(-(-span.constant // abs(level.step)) for span in level.spans))
        return trips, trips
    names = {one.name: f"x{k}" for k, one in enumerate(around)}
    domain = " and ".join(constraints(around, names))
    step = abs(level.step)
    trips = [f"floor(({form_text(span, names)} + {step - 1})/{step})" for span in level.spans]
    hidden = ", ".join(names.values())
    lowest = [
        _extreme(f"{{ [t] : exists ({hidden} : t = {trip} and {domain}) }}", most=False) for trip in trips
    ]
    bounds = " and ".join(f"t <= {trip}" for trip in trips)
    highest = _extreme(f"{{ [t] : exists ({hidden} : {bounds} and {domain}) }}", most=True)
    return max(0, min(lowest)), max(0, highest)


def _extreme(text: str, *, most: bool) -> int:
    """Return the least or most value of a set of one dimension; 0 of an empty one."""
    values = islpy.Set.read_from_str(islpy.DEFAULT_CONTEXT, text)
    if values.is_empty():
        return 0
    return int((values.dim_max_val(0) if most else values.dim_min_val(0)).to_python())


# ---- counting -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Weight:
    """A number for every value of some counters: `values` has one axis per counter of `axes`."""

    axes: tuple[str, ...]
    values: NDArray[Any]


def _count_iterations(levels: Sequence[Level], most: Mapping[str, int], *, group: int = 1) -> int:
    """Return the points of the domain of a path; loops of unknown trip count have one iteration, or none
    innermost.

    Args: group: iterations of the innermost loop that count as one; what fills no group does not count.
    """
    if levels and not levels[-1].spans:
        return 0
    small = prod(max(1, most[level.name]) for level in levels) < 1 << 62
    kind = np.int64 if small else object
    weight = _Weight((), np.ones((), dtype=kind))
    for level in reversed(levels):
        weight = _summed(weight, level, most, group if level is levels[-1] else 1)
    return int(weight.values)


def _summed(weight: _Weight, level: Level, most: Mapping[str, int], group: int = 1) -> _Weight:
    """Return the sum of a weight over a loop's iterations, as a weight of the counters around it.

    Args: group: iterations that count as one, where the weight is the same for all of them.
    """
    mentioned = {loop for span in level.spans for loop, _ in span.terms}
    outer = tuple(sorted((mentioned | set(weight.axes)) - {level.name}))
    sizes = [most[axis] for axis in outer]
    if prod(sizes) * (most[level.name] + 1 if level.name in weight.axes else 1) > CELL_LIMIT:
        raise PragmaError(
            f"iterations of loop {level.name} cannot be counted: bounds of {len(outer)} loops together; "
            "supported: bounds that depend on few loops around"
        )
    kind = weight.values.dtype
    trips = (np.minimum(_trips(level, outer, sizes), most[level.name]) // group).astype(kind)
    if level.name not in weight.axes:
        return _Weight(outer, np.asarray(trips * _spread(weight.values, weight.axes, outer), dtype=kind))
    values = np.moveaxis(weight.values, weight.axes.index(level.name), 0)
    running = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
    rest = tuple(axis for axis in weight.axes if axis != level.name)
    return _Weight(outer, np.asarray(_picked(running, rest, trips, outer), dtype=kind))


def _picked(
    running: NDArray[Any], rest: tuple[str, ...], trips: NDArray[Any], outer: tuple[str, ...]
) -> NDArray[Any]:
    """Return `running[trips]` at every point of the outer counters; `rest`: later axes of `running`."""
    points = np.indices(trips.shape, sparse=True)
    return running[(trips.astype(np.int64), *(points[outer.index(axis)] for axis in rest))]


def _trips(level: Level, axes: tuple[str, ...], sizes: Sequence[int]) -> NDArray[Any]:
    """Return the iterations of one execution at every value of the counters."""
    points = dict(zip(axes, np.indices(tuple(sizes), sparse=True), strict=True))
    trips: list[NDArray[Any]] = []
    for span in level.spans:
        value = np.full(tuple(sizes), span.constant, dtype=np.int64)
        for loop, coefficient in span.terms:
            value = value + coefficient * points[loop]
        trips.append(-(-value // abs(level.step)))
    if not trips:
        return np.ones(tuple(sizes), dtype=np.int64)
    return np.maximum(np.minimum.reduce(trips), 0)


def _spread(values: NDArray[Any], axes: tuple[str, ...], outer: tuple[str, ...]) -> NDArray[Any]:
    """Return values over sorted axes with an axis of one cell for each of `outer` that they do not have."""
    return values.reshape(tuple(values.shape[axes.index(a)] if a in axes else 1 for a in outer))


GRID_LIMIT = 1 << 23
"""Cells of one grid (some tenths of a second); a group with more is not counted."""

_SET, _DIV = islpy.dim_type.set, islpy.dim_type.div


def count_points(points: islpy.Set | None) -> int | None:
    """Return the points of a bounded set; 0 of None; None when a group needs a grid beyond `GRID_LIMIT`."""
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
        """Return the dimensions that a row depends on, through quotients too."""
        dimensions = {k for k in range(self.dimensions) if row.coefficients[k]}
        for number, (inner, _) in enumerate(self.quotients):
            if row.coefficients[self.dimensions + number]:
                dimensions |= self.mentioned(inner)
        return dimensions


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
    divisions: list[tuple[_Row, int]] = []
    for number in range(quotients):
        div = part.get_div(number)
        divisor = int(div.get_denominator_val().to_python())
        scaled = div.scale_val(islpy.Val(divisor))
        values = [scaled.get_coefficient_val(islpy.dim_type.in_, k) for k in range(size)]
        values += [scaled.get_coefficient_val(_DIV, k) for k in range(quotients)]
        coefficients = tuple(int(v.to_python()) for v in values)
        row = _Row(coefficients, int(scaled.get_constant_val().to_python()), True)
        divisions.append((row, divisor))
    ranges = tuple(
        (int(whole.dim_min_val(k).to_python()), int(whole.dim_max_val(k).to_python())) for k in range(size)
    )
    return _Basic(ranges, tuple(rows), tuple(divisions))


def _row(one: islpy.Constraint, size: int, quotients: int) -> _Row:
    values = [one.get_coefficient_val(_SET, k) for k in range(size)]
    values += [one.get_coefficient_val(_DIV, k) for k in range(quotients)]
    coefficients = tuple(int(v.to_python()) for v in values)
    return _Row(coefficients, int(one.get_constant_val().to_python()), one.is_equality())


def _groups(basic: _Basic) -> list[list[int]]:
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
    if prod(sizes[k] for k in grid) > GRID_LIMIT:
        return None
    axes = np.indices(tuple(sizes[k] for k in grid), sparse=True)
    values: dict[int, NDArray[Any]] = {
        k: axis.astype(np.int64) + basic.ranges[k][0] for k, axis in zip(grid, axes, strict=True)
    }
    return _count_grid(basic, rows, values, last)


def _count_grid(
    basic: _Basic, rows: Sequence[_Row], values: dict[int, NDArray[Any]], last: int | None
) -> int:
    """Return the points over a grid: per interval of the last dimension, or one where all rows hold."""
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
    """Return a row without its term of the last dimension, at every point of the grid."""
    total: NDArray[Any] = np.asarray(row.constant, dtype=np.int64)
    for k in range(basic.dimensions):
        if row.coefficients[k] and k != last:
            total = total + row.coefficients[k] * values[k]
    for number, (inner, divisor) in enumerate(basic.quotients):
        factor = row.coefficients[basic.dimensions + number]
        if factor:
            total = total + factor * (_value(basic, inner, values, None) // divisor)
    return total
