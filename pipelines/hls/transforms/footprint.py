"""The part of an array that a loop may touch: a box of constant size at an affine place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipelines.hls.transforms.accesses import Site
from pipelines.hls.transforms.affine import Affine
from pipelines.hls.transforms.facts import MAXIMUM_ALTERNATIVES, Facts

Terms = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """One dimension of a box: the indices `base` to `base + size - 1`, of `elements` that the array has.

    Attributes:
        low_inside, high_inside: the first and the last index are certainly indices of the array.
    """

    base: Affine
    size: int
    elements: int
    low_inside: bool
    high_inside: bool

    @property
    def is_whole(self) -> bool:
        """Whether the box has the whole dimension."""
        return self.size == self.elements and not self.base.terms


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Distance in the flat array between neighbours of each dimension."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides)


def coordinates(flat: Affine, shape: tuple[int, ...], place: Facts) -> tuple[Affine, ...] | None:
    """Indices of each dimension whose flat index a form is; None when they cannot be told apart."""
    if not flat.exact:
        return None
    found: list[Affine] = []
    rest = flat
    for stride in strides_of(shape)[:-1]:
        outer = tuple((leaf, c // stride) for leaf, c in rest.terms if c % stride == 0)
        inner = Affine(tuple((leaf, c) for leaf, c in rest.terms if c % stride))
        low, high = place.interval(inner)
        constant = rest.constant % stride
        constant += -((low + constant) // stride) * stride
        if high + constant >= stride:
            return None
        found.append(Affine(outer, (rest.constant - constant) // stride))
        rest = inner.shifted(constant)
    return (*found, rest)


def box_of(
    sites: Iterable[Site],
    shape: tuple[int, ...],
    changed: frozenset[str],
    facts: Facts,
) -> tuple[Extent, ...]:
    """The smallest box found that holds every element of some sites.

    Args:    sites: with forms of as many dimensions as `shape` has; changed: variables that change
             meanwhile; facts: where the box is to be placed.
    Returns: an extent a dimension; the whole dimension where nothing smaller is known.
    """
    accesses = [(site.forms, place) for site in sites for place in site.places]
    return tuple(
        _extent([(forms[d], place) for forms, place in accesses], size, changed, facts)
        for d, size in enumerate(shape)
    )


def _extent(
    forms: list[tuple[Affine, Facts]], elements: int, changed: frozenset[str], facts: Facts
) -> Extent:
    whole = Extent(base=Affine(), size=elements, elements=elements, low_inside=True, high_inside=True)
    if not all(form.exact for form, _ in forms):
        return whole
    lower = [_bounds(form, place, changed, largest=False) for form, place in forms]
    upper = [_bounds(form, place, changed, largest=True) for form, place in forms]
    shared = set(lower[0]).intersection(*lower[1:], *upper)
    best = whole
    for terms in sorted(shared, key=lambda t: (len(t), t)):
        low, high = min(b[terms] for b in lower), max(b[terms] for b in upper)
        if not terms:
            low, high = max(low, 0), min(high, elements - 1)
        size = max(1, high - low + 1)
        if size < best.size:
            base = Affine(terms, low)
            first, last = facts.interval(base)
            best = Extent(
                base=base,
                size=size,
                elements=elements,
                low_inside=first >= 0,
                high_inside=last + size <= elements,
            )
    return best


def _bounds(form: Affine, place: Facts, changed: frozenset[str], *, largest: bool) -> dict[Terms, int]:
    """Bounds of a form in leaves that do not change: the best constant for each combination of leaves."""
    found: dict[Terms, int] = {}
    pick = min if largest else max
    for bound in _without_changing(form, place, changed, largest, [MAXIMUM_ALTERNATIVES]):
        old = found.get(bound.terms)
        found[bound.terms] = bound.constant if old is None else pick(old, bound.constant)
    return found


def _without_changing(
    form: Affine, place: Facts, changed: frozenset[str], largest: bool, budget: list[int]
) -> list[Affine]:
    """Bounds of a form with the changing leaves replaced by their bounds, innermost first."""
    order = {name: number for number, name in enumerate(place.loops)}
    moving = [
        (leaf, coefficient)
        for leaf, coefficient in form.terms
        if place.mentions(Affine(((leaf, 1),)), changed)
    ]
    if not moving:
        return [form]
    leaf, coefficient = max(moving, key=lambda m: order.get(m[0], len(order)))
    upwards = (coefficient > 0) == largest
    low, high = place.numeric(leaf)
    bounds = [Affine((), high if upwards else low)]
    fact = place.loops.get(leaf)
    if fact is not None:
        bounds = [*(fact.upper if upwards else fact.lower), *bounds]
    without = form.plus(Affine(((leaf, 1),)), -coefficient)
    found: list[Affine] = []
    for bound in bounds:
        if budget[0] > 0 or not found:
            budget[0] -= 1
            found += _without_changing(without.plus(bound, coefficient), place, changed, largest, budget)
    return found
