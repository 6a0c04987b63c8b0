"""Mapping parameters of a program by Latin hypercube over its own legal space.

Dimensions: read delay, write delay, clock period; for each loop how it is mapped and a factor; for each array
the style, factor and dimension of its partition. Each is cut into as many strata as there are samples, and
each stratum is met once (McKay, Beckman and Conover 1979). Choices that contradict each other, and copies and
banks beyond the bounds, are taken back afterwards, in a drawn order, so that no loop is favoured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipelines.hls import ArraySpace, Directive, LoopSpace, MappingSpace

PLAIN = "plain"
FACTORS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
UNKNOWN_TRIP_FACTORS = (2, 4)
BANKS = (2, 3, 4, 8, 16, 32, 64)  # a place in another number of banks needs a division
STYLES = ("cyclic", "block", "complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingSampling:
    """How the mappings of each program are drawn.

    Attributes:
        count: configurations a program, at least 1; fewer where two are the same.
        seed: of all programs.
        read_delays, write_delays: cycles to draw from.
        clock_periods_ns: to draw from.
        plain_share: of the strata of a loop or array, those that leave it as it is; 0 to 1.
        copy_limit: copies of any operation, over all loops around it.
        added_cells_limit: estimated standard cells that all copies of a program may add.
        bank_limit: banks of all partitioned arrays together.
    """

    count: int = 4
    seed: int = 0
    read_delays: tuple[int, ...] = (2, 5, 10, 15)
    write_delays: tuple[int, ...] = (2, 5, 10, 15)
    clock_periods_ns: tuple[float, ...] = (10.0,)
    plain_share: float = 0.5
    copy_limit: int = 16
    added_cells_limit: int = 4000
    bank_limit: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedConfiguration:
    """One configuration: delays in cycles, a clock period in ns, directives in order of loops and arrays."""

    read_delay_cycles: int
    write_delay_cycles: int
    clock_period_ns: float
    directives: tuple[Directive, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One dimension of the cube.

    Attributes:
        subject: the loop or array, empty for the hardware; what: of it.
        levels: in order; those of equal share follow each other along the axis.
        first_share: of the axis for the first level; None for as much as any other.
    """

    subject: str
    what: str
    levels: tuple[Any, ...]
    first_share: float | None = None

    def level(self, place: float) -> Any:
        """The level at a place of the axis, 0 <= place < 1."""
        if self.first_share is None or len(self.levels) == 1:
            return self.levels[int(place * len(self.levels))]
        if place < self.first_share:
            return self.levels[0]
        rest = self.levels[1:]
        return rest[min(len(rest) - 1, int((place - self.first_share) / (1 - self.first_share) * len(rest)))]


def latin_hypercube(dimensions: int, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Points of the unit cube, (count, dimensions); each of the count strata of each axis has one."""
    # Here, because it takes longer to import than a command should take to start.
    from scipy.stats import qmc  # pyright: ignore[reportMissingTypeStubs]

    if not dimensions or not count:
        return np.zeros((count, dimensions))
    sampler: Any = qmc.LatinHypercube(d=dimensions, rng=generator)
    return np.asarray(sampler.random(count), dtype=np.float64)


# ---- dimensions -----------------------------------------------------------------------------------------


def hardware_dimensions(sampling: MappingSampling) -> list[Dimension]:
    """The dimensions that every program has."""
    return [
        Dimension(subject="", what="read_delay_cycles", levels=sampling.read_delays),
        Dimension(subject="", what="write_delay_cycles", levels=sampling.write_delays),
        Dimension(subject="", what="clock_period_ns", levels=sampling.clock_periods_ns),
    ]


def program_dimensions(space: MappingSpace, sampling: MappingSampling) -> list[Dimension]:
    """The dimensions of a program's loops and arrays; what admits one level only has none."""
    found: list[Dimension] = []
    for loop in space.loops:
        inner = any(other.parent == loop.name for other in space.loops)
        found.append(_choice(loop.name, "mapping", _mappings(loop, inner), sampling))
        found.append(Dimension(subject=loop.name, what="factor", levels=_factors(loop, sampling)))
    for array in space.arrays:
        long = tuple(d for d, extent in enumerate(array.shape, 1) if extent > 1)
        factors = tuple(f for f in BANKS if f <= sampling.bank_limit)
        if not long:
            continue
        found.append(_choice(array.name, "partition", (PLAIN, *STYLES), sampling))
        found.append(Dimension(subject=array.name, what="banks", levels=factors))
        found.append(Dimension(subject=array.name, what="dimension", levels=long))
    return [d for d in found if len(d.levels) > 1]


def _choice(subject: str, what: str, levels: Sequence[str], sampling: MappingSampling) -> Dimension:
    return Dimension(subject=subject, what=what, levels=tuple(levels), first_share=sampling.plain_share)


def _mappings(loop: LoopSpace, has_inner: bool) -> list[str]:
    """Ways to map a loop, as directives joined by +."""
    several = loop.trip_count is None or loop.trip_count > 1
    copies = ["unroll"] * (loop.unrollable and several) + ["parallel"] * (loop.independent and several)
    found = [PLAIN, *copies]
    if loop.pipelinable and several:
        found.append("pipeline")
        found += [] if has_inner else [f"{kind}+pipeline" for kind in copies]
    if loop.flattens:
        found += ["flatten", "flatten+pipeline"] if loop.pipelinable else ["flatten"]
    return found


def _factors(loop: LoopSpace, sampling: MappingSampling) -> tuple[int, ...]:
    """Copies of a loop's body, up to the limit; the trip count itself is a full unroll."""
    if loop.trip_count is None:
        return tuple(f for f in UNKNOWN_TRIP_FACTORS if f <= sampling.copy_limit)
    below = {f for f in FACTORS if f < loop.trip_count and f <= sampling.copy_limit}
    full = {loop.trip_count} if 1 < loop.trip_count <= sampling.copy_limit else set[int]()
    return tuple(sorted(below | full))


# ---- from a point to a configuration --------------------------------------------------------------------


@dataclass(slots=True)
class _Drawn:
    """The mapping of each loop while contradictions are taken back: its kinds, and copies of its body."""

    loops: Mapping[str, LoopSpace]
    kinds: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    copies: dict[str, int] = field(default_factory=dict[str, int])

    def around(self, name: str) -> list[str]:
        """The loops around a loop, inner first."""
        parent = self.loops[name].parent
        return [] if parent is None else [parent, *self.around(parent)]

    def copies_of(self, name: str) -> int:
        """Copies of a loop's body: by itself, by the loops around it, and inside a pipelined loop."""
        around = self.around(name)
        total = self.copies.get(name, 1)
        for outer in around:
            total *= self.copies.get(outer, 1)
        pipelined = [outer for outer in around if "pipeline" in self.kinds.get(outer, ())]
        if pipelined:  # then the loops between are unrolled; the outermost pipeline wins
            for inner in (name, *around[: around.index(pipelined[-1])]):
                total *= self.loops[inner].trip_count or 1
        return total

    def most_copies(self) -> int:
        """Copies of any operation."""
        return max((self.copies_of(name) for name in self.loops), default=1)

    def added_cells(self) -> int:
        """Estimated standard cells that copies add."""
        return sum(loop.own_cells * (self.copies_of(name) - 1) for name, loop in self.loops.items())

    def fits(self, sampling: MappingSampling) -> bool:
        """Whether the copies are within the bounds."""
        return self.most_copies() <= sampling.copy_limit and self.added_cells() <= sampling.added_cells_limit

    def set(self, name: str, kinds: tuple[str, ...], copies: int = 1) -> None:
        """Map a loop; without kinds it is plain."""
        self.kinds.pop(name, None)
        self.copies.pop(name, None)
        if kinds:
            self.kinds[name], self.copies[name] = kinds, copies

    def settle(self, loop: LoopSpace) -> None:
        """Take back what cannot stand beside the mappings of the loops around."""
        kinds = self.kinds.get(loop.name, ())
        if any("pipeline" in self.kinds.get(outer, ()) for outer in self.around(loop.name)):
            self.set(loop.name, ())  # it is unrolled fully there
        elif "flatten" in kinds and any(outer in self.kinds for outer in loop.flattens):
            self.set(loop.name, tuple(kind for kind in kinds if kind != "flatten"))


Item = TypeVar("Item")


def _shuffled(items: Sequence[Item], generator: np.random.Generator) -> list[Item]:
    return [items[int(index)] for index in generator.permutation(len(items))]


def _mapped_loops(
    space: MappingSpace,
    levels: Mapping[tuple[str, str], Any],
    sampling: MappingSampling,
    generator: np.random.Generator,
) -> list[Directive]:
    """Directives on loops: drawn ones in a drawn order as far as the bounds allow, contradictions dropped."""
    drawn = _Drawn({loop.name: loop for loop in space.loops})
    for loop in _shuffled(space.loops, generator):
        mapping = str(levels.get((loop.name, "mapping"), PLAIN))
        if mapping != PLAIN:
            _take(drawn, loop, tuple(mapping.split("+")), levels, sampling)
    for loop in space.loops:  # outer before inner
        drawn.settle(loop)
    return [d for loop in space.loops for d in _loop_directives(loop, drawn)]


def _take(
    drawn: _Drawn,
    loop: LoopSpace,
    kinds: tuple[str, ...],
    levels: Mapping[tuple[str, str], Any],
    sampling: MappingSampling,
) -> None:
    """Map a loop as drawn, with the largest factor up to the drawn one that fits; else leave it plain."""
    factors = [1]
    if kinds[0] in ("unroll", "parallel"):
        offered = _factors(loop, sampling)
        if len(kinds) > 1 and loop.trip_count is not None:
            offered = tuple(f for f in offered if 2 * f <= loop.trip_count)  # so that a loop remains
        wanted = levels.get((loop.name, "factor"), offered[-1] if offered else 1)
        factors = [f for f in reversed(offered) if f <= wanted]
    for factor in factors:
        drawn.set(loop.name, kinds, factor)
        if drawn.fits(sampling):
            return
    drawn.set(loop.name, ())


def _loop_directives(loop: LoopSpace, drawn: _Drawn) -> list[Directive]:
    copies = drawn.copies.get(loop.name, 1)
    value = None if copies in (1, loop.trip_count) else copies
    return [
        Directive(kind=kind, loop=loop.name, value=value if kind in ("unroll", "parallel") else None)
        for kind in drawn.kinds.get(loop.name, ())
    ]


def _partitions(
    space: MappingSpace,
    levels: Mapping[tuple[str, str], Any],
    sampling: MappingSampling,
    generator: np.random.Generator,
) -> list[Directive]:
    """Directives on arrays, in a drawn order until the banks are used up."""
    left = sampling.bank_limit
    found: dict[str, Directive] = {}
    for array in _shuffled(space.arrays, generator):
        directive, banks = _partition(array, levels, left)
        if directive is not None:
            found[array.name] = directive
            left -= banks
    return [found[array.name] for array in space.arrays if array.name in found]


def _partition(
    array: ArraySpace, levels: Mapping[tuple[str, str], Any], left: int
) -> tuple[Directive | None, int]:
    """The partition of an array within the banks that are left, and its banks."""
    style = levels.get((array.name, "partition"), PLAIN)
    if style == PLAIN:
        return None, 0
    long = [d for d, extent in enumerate(array.shape, 1) if extent > 1]
    dimension = int(levels.get((array.name, "dimension"), long[0]))
    extent = array.shape[dimension - 1]
    if style == "complete" and extent <= left:
        return Directive(kind="partition", variable=array.name, style=style, dimension=dimension), extent
    wanted = levels.get((array.name, "banks"), BANKS[0])
    fitting = [f for f in BANKS if f <= min(wanted, left, extent - 1)]
    if not fitting:
        return None, 0
    style = "cyclic" if style == "complete" else style  # too many elements for a bank each
    directive = Directive(
        kind="partition", variable=array.name, style=style, value=fitting[-1], dimension=dimension
    )
    return directive, fitting[-1]


def sampled_mappings(
    space: MappingSpace, sampling: MappingSampling, program_id: str
) -> list[MappedConfiguration]:
    """The configurations of one program, without repeats.

    The first one has no directives, so that every program has a plain design to compare with. Delays and
    clock periods are a Latin hypercube over all of them, loops and arrays one over all but the first.

    Args:   program_id: hexadecimal; with the seed it is all that the draw depends on beside the space, so
            that no program's configurations depend on which others there are.
    Source: LLMulator section 6.3 for the parameters; it does not say how they are combined.
    """
    generator = np.random.default_rng([sampling.seed, int(program_id, 16)])
    hardware = hardware_dimensions(sampling)
    own = program_dimensions(space, sampling)
    delays = latin_hypercube(len(hardware), sampling.count, generator)
    mapped = latin_hypercube(len(own), sampling.count - 1, generator)
    found: dict[MappedConfiguration, None] = {}
    for number, point in enumerate(delays):
        given = {name[1]: level for name, level in _levels(hardware, point).items()}
        directives: list[Directive] = []
        if number:
            levels = _levels(own, mapped[number - 1])
            directives += _mapped_loops(space, levels, sampling, generator)
            directives += _partitions(space, levels, sampling, generator)
        found[MappedConfiguration(**given, directives=tuple(directives))] = None
    return list(found)


def _levels(dimensions: Sequence[Dimension], point: NDArray[np.float64]) -> dict[tuple[str, str], Any]:
    return {(d.subject, d.what): d.level(float(u)) for d, u in zip(dimensions, point, strict=True)}
