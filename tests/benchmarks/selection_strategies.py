"""Choice of the designs to map next: what a label would teach per second of labelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
Kinds: TypeAlias = Sequence[tuple[str, ...]]
"""Suite, stage and other kinds of each design; every kind has its name in front, as `suite=ast`."""

PARTS = ("uncertainty", "distance", "coverage")
_LEAST_S = 0.1
"""Least seconds of a label: HLS, native C and the netlist take as long for the smallest design."""


class SelectionError(ValueError):
    """Designs cannot be ranked: lists of different lengths, or a value that is not a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """How the parts of a score count.

    Attributes:
        uncertainty, distance, coverage: weights.
        cost_exponent: power of the seconds that divides the value; 0 = cost does not count.
        representative: measure distance by how much nearer all unlabelled designs come to labelled ones,
            instead of by the design's own distance.
    """

    uncertainty: float = 1.0
    distance: float = 1.0
    coverage: float = 1.0
    cost_exponent: float = 1.0
    representative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Unlabelled designs beside the labelled ones.

    Attributes:
        ids: of the unlabelled designs.
        features: (designs, features). kinds: of each. costs_s: estimated seconds of labelling (designs,).
        predictions: logarithms of labels by each member of an ensemble (members, designs, targets).
        labelled_features, labelled_kinds: of the labelled designs, which may be none.
    """

    ids: Sequence[str]
    features: Matrix
    kinds: Kinds
    costs_s: Vector
    predictions: NDArray[np.float64]
    labelled_features: Matrix
    labelled_kinds: Kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A ranked design with the parts of its score, each 0 to 1 before its weight."""

    design_id: str
    rank: int
    score: float
    uncertainty: float
    distance: float
    coverage: float
    cost_s: float
    chosen: bool


def rank_designs(pool: Pool, options: SelectionOptions, budget_s: float) -> list[Choice]:
    """Rank unlabelled designs by value over cost, each after the better ones count as labelled.

    Distance and coverage are updated after every choice. The designs beyond the budget keep the score that
    they have when the budget is spent, so the whole list costs one pass per chosen design. A design that
    costs more than what is left is passed over.

    Args:    budget_s: seconds of labelling; designs within it are chosen.
    Returns: all designs, best first.
    Raises:  SelectionError: see there.
    Source:  distance after Sener and Savarese 2018 (k-centre greedy); division by cost after Settles, Craven
             and Friedland 2008.
    """
    _check(pool, options)
    state = _State(pool, options)
    order: list[Choice] = []
    left_s, is_open = budget_s, np.ones(len(pool.ids), np.bool_)
    while (fits := is_open & (pool.costs_s <= left_s)).any():
        scores = state.scores()
        best = int(np.argmax(np.where(fits, scores, -np.inf)))
        order.append(state.choice(best, len(order) + 1, float(scores[best]), chosen=True))
        left_s -= float(pool.costs_s[best])
        is_open[best] = False
        state.label(best)
    scores = state.scores()
    rest = [place for place, is_left in enumerate(is_open) if is_left]
    rest.sort(key=lambda place: (-float(scores[place]), pool.ids[place]))
    order += [
        state.choice(place, rank, float(scores[place]), chosen=False)
        for rank, place in enumerate(rest, len(order) + 1)
    ]
    return order


class _State:
    """Parts of the scores while designs are chosen."""

    def __init__(self, pool: Pool, options: SelectionOptions) -> None:
        self._pool, self._options = pool, options
        scaled = _scaled(np.concatenate([pool.features, pool.labelled_features]))
        self._points, labelled = np.split(scaled, [len(pool.ids)])
        self._gaps = np.full(len(pool.ids), np.inf)
        for point in labelled:
            self._gaps = np.minimum(self._gaps, _distances(self._points, point))
        if not len(labelled):
            self._gaps = _distances(self._points, self._points.mean(axis=0))
        self._between = _all_distances(self._points) if options.representative else None
        self._divisor = max(float(self._nearness().max(initial=0.0)), 1e-12)
        names = sorted({kind for kinds in (*pool.kinds, *pool.labelled_kinds) for kind in kinds})
        self._kinds = _memberships(pool.kinds, names)  # (designs, kinds)
        self._counts = _memberships(pool.labelled_kinds, names).sum(axis=0)
        self._uncertainty = _ranks(pool.predictions.std(axis=0).mean(axis=1))
        self._costs = np.maximum(pool.costs_s, _LEAST_S) ** options.cost_exponent

    def _nearness(self) -> Vector:
        if self._between is None:
            return self._gaps
        return np.maximum(self._gaps[None, :] - self._between, 0.0).sum(axis=1)

    def _parts(self) -> tuple[Vector, Vector, Vector]:
        coverage = self._kinds @ (1 / (1 + self._counts)) / np.maximum(self._kinds.sum(axis=1), 1.0)
        return self._uncertainty, self._nearness() / self._divisor, coverage

    def scores(self) -> Vector:
        """Return value over cost of every design."""
        weights = [getattr(self._options, part) for part in PARTS]
        value = sum(weight * part for weight, part in zip(weights, self._parts(), strict=True))
        return np.asarray(value / sum(weights) / self._costs, np.float64)

    def label(self, place: int) -> None:
        """Count a design as labelled."""
        self._gaps = np.minimum(self._gaps, _distances(self._points, self._points[place]))
        self._counts = self._counts + self._kinds[place]

    def choice(self, place: int, rank: int, score: float, *, chosen: bool) -> Choice:
        """Return the row of a design with the present parts of its score."""
        parts = {name: float(own[place]) for name, own in zip(PARTS, self._parts(), strict=True)}
        return Choice(
            design_id=self._pool.ids[place],
            rank=rank,
            score=score,
            cost_s=float(self._pool.costs_s[place]),
            chosen=chosen,
            **parts,
        )


def _check(pool: Pool, options: SelectionOptions) -> None:
    if not any(getattr(options, part) for part in PARTS):
        raise SelectionError("all weights are 0; accepted: at least one above 0")
    count = len(pool.ids)
    sizes = {
        "features": len(pool.features),
        "kinds": len(pool.kinds),
        "costs": len(pool.costs_s),
        "predictions": pool.predictions.shape[1],
    }
    for name, size in sizes.items():
        if size != count:
            raise SelectionError(f"{size} {name} of {count} unlabelled designs")
    values = {"features": pool.features, "costs": pool.costs_s, "predictions": pool.predictions}
    for name, own in values.items():
        if not np.isfinite(own).all():
            raise SelectionError(f"{name} of unlabelled designs that are not finite")


def _memberships(kinds: Kinds, names: Sequence[str]) -> Matrix:
    """Return 1 where a design is of a kind, else 0: (designs, names)."""
    places = {name: place for place, name in enumerate(names)}
    members = np.zeros((len(kinds), len(names)))
    for row, own in enumerate(kinds):
        members[row, [places[kind] for kind in own]] = 1.0
    return members


def _scaled(points: Matrix) -> Matrix:
    """Return features with mean 0 and deviation 1; constant features become 0."""
    deviation = points.std(axis=0)
    return (points - points.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _distances(points: Matrix, point: Vector) -> Vector:
    return np.sqrt(((points - point) ** 2).sum(axis=1))


def _all_distances(points: Matrix) -> Matrix:
    return np.stack([_distances(points, point) for point in points])


def _ranks(values: Vector) -> Vector:
    """Return ranks from 0 (least) to 1 (most); equal values have equal ranks."""
    ordered = np.sort(values)
    places = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(places / (2.0 * max(len(values), 1)), np.float64)


# ---- cost ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """Seconds of mapping and of power: a power law each, fitted to measured wall times.

    Attributes:
        mapping: logarithm of seconds = constant + slope * log area. power: the same with log cycles besides.
        mapping_factor, power_factor: mean of measured over fitted seconds.
    """

    mapping: tuple[float, float]
    power: tuple[float, float, float]
    mapping_factor: float
    power_factor: float

    def seconds(self, area_um2: Vector, cycles: Vector) -> Vector:
        """Return estimated seconds of designs: (designs,)."""
        area, time = np.log(np.maximum(area_um2, 1.0)), np.log(np.maximum(cycles, 1.0))
        mapping = np.exp(self.mapping[0] + self.mapping[1] * area) * self.mapping_factor
        power = np.exp(self.power[0] + self.power[1] * area + self.power[2] * time) * self.power_factor
        return np.asarray(mapping + power, np.float64)


def fit_costs(area_um2: Vector, cycles: Vector, mapping_s: Vector, power_s: Vector) -> CostModel:
    """Fit seconds of labelling to the estimated area and the cycles of labelled designs.

    Args:   mapping_s, power_s: measured, above 0; all (designs,).
    Raises: SelectionError: fewer than 4 designs, or a time that is not above 0.
    """
    if len(area_um2) < 4:
        raise SelectionError(f"{len(area_um2)} measured designs; accepted: at least 4")
    if not ((mapping_s > 0) & (power_s > 0)).all():
        raise SelectionError("measured seconds of labelling that are not above 0")
    area, time = np.log(np.maximum(area_um2, 1.0)), np.log(np.maximum(cycles, 1.0))
    first = np.stack([np.ones_like(area), area], axis=1)
    second = np.column_stack([first, time])
    mapping, power = _least_squares(first, np.log(mapping_s)), _least_squares(second, np.log(power_s))
    return CostModel(
        mapping=(mapping[0], mapping[1]),
        power=(power[0], power[1], power[2]),
        mapping_factor=float(mapping_s.mean() / np.exp(first @ np.array(mapping)).mean()),
        power_factor=float(power_s.mean() / np.exp(second @ np.array(power)).mean()),
    )


def _least_squares(columns: Matrix, values: Vector) -> list[float]:
    return [float(one) for one in np.linalg.lstsq(columns, values, rcond=None)[0]]
