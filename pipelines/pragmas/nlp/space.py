"""The choices of the convex program: the options of every loop with their constants, without a solver.

Source: NLP-DSE section 5.1 (variables) and Table 5 (sets and constants).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import lcm

from pipelines.pragmas.bound import Target, complete, leaf
from pipelines.pragmas.bound.completion import fully_unrolled, straight_inside
from pipelines.pragmas.configuration import FINE, Configuration, LoopChoice
from pipelines.pragmas.summary import ROOT, Summary

ABOVE, PIPELINED, STRAIGHT, INSIDE = "above", "pipelined", "straight", "inside"
"""State of a loop relative to the pipelined loop of a path from the root to a statement. STRAIGHT: no loop of
the path is pipelined, and this is the outermost of its loops that are all unrolled."""

LEAVES = (PIPELINED, STRAIGHT)
"""States of the one loop of a path whose latency is a constant."""

Units = Mapping[tuple[str, str], float]
Key = tuple[str, int, int]
Design = Mapping[str, Key]
"""State, copies and interval (1 for loops that are not pipelined) of each loop, as tools complete them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice of a loop, represented by one binary variable.

    Attributes:
        state: one of the four; unroll: the requested factor; copies: of the body that run at once for it, 1
            where tools ignore it.
        interval: least one between iterations (PIPELINED); asked: the requested one.
        factor: by which the loop multiplies the cycles of its body (ABOVE), cycles of every execution
            (LEAVES), 1 (INSIDE); fill: cycles that a nest flattened into one pipeline takes once.
        units: least units by (kind, type) at once in one copy of the loop (LEAVES).
        full: nothing of the loop or inside of it is left to iterate.
    """

    state: str
    unroll: int
    copies: int
    factor: float = 1.0
    fill: float = 0.0
    units: Units = field(default_factory=dict[tuple[str, str], float])
    full: bool = False
    interval: int = 1
    asked: int = 1

    @property
    def key(self) -> Key:
        """State, copies and interval."""
        return self.state, self.copies, self.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Children of a place that is not pipelined.

    Attributes:
        children: loops and statements in source order.
        edges: (before, after), positions in `children`: the second waits for the end of the first.
        cycles: by statement, its own; units: by statement, as in `Option`.
    """

    children: tuple[str | int, ...]
    edges: tuple[tuple[int, int], ...] = ()
    cycles: Mapping[int, float] = field(default_factory=dict[int, float])
    units: Mapping[int, Units] = field(default_factory=dict[int, Units])

    @property
    def loops(self) -> tuple[str, ...]:
        """Children that are loops."""
        return tuple(child for child in self.children if isinstance(child, str))

    @property
    def only_loop(self) -> str | None:
        """The one child that takes time, when that is a loop."""
        timed = [child for child in self.children if isinstance(child, str) or self.cycles.get(child, 0) > 0]
        return timed[0] if len(timed) == 1 and isinstance(timed[0], str) else None

    @property
    def flattened(self) -> bool:
        """Whether tools make one pipeline of the place and the loop that is all of its body."""
        return len(self.children) == 1 and isinstance(self.children[0], str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """An array that is moved to the chip or from it.

    Attributes:
        bits: on chip, by the place (ROOT or a loop) in each iteration of which it is cached.
        places: places around each of its accesses.
    """

    array: str
    bits: Mapping[str, int]
    places: frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True, order=True)
class Dimension:
    """A dimension of an array: the loops that index it (C_{a,d} of Table 5), in order, and its elements.

    Equation 10 asks for partitions that are a multiple of the factor of each of them. A dimension that is
    partitioned completely serves every factor, so no more are needed than it has elements.
    """

    loops: tuple[str, ...]
    extent: int

    def partitions(self, factors: Iterable[int]) -> int:
        """Return the least partitions that serve some factors."""
        return min(lcm(*factors), self.extent)

    def serves(self, count: int, factor: int) -> bool:
        """Tell whether `count` partitions serve a factor."""
        return count == self.extent or count % factor == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All configurations of a program, with their costs.

    Attributes:
        options: by loop, outer before inner; parents: by loop, ROOT for the outermost.
        bodies: by place; a loop without loops inside has none.
        swapped: loops whose factor makes copies exactly when that of the one loop in their body is above 1,
            with that loop.
        plain: pairs of a loop and one inside it, of which one alone may have a factor.
        always_entered: loops that have an iteration in each execution.
        dimensions: by array.
        most_partitions: of an array; dsp: DSP blocks of a unit; dsp_available; None = unlimited.
        most_copies: of operations and accesses, None = unlimited; sizes: operations and accesses of a loop's
            own statements; copy_dsps: DSPs of each beside its units.
        transfer_cycles: of all transfers; transfers, onchip_bits: equations 4, 7 and 16.
    """

    options: Mapping[str, tuple[Option, ...]]
    parents: Mapping[str, str]
    bodies: Mapping[str, Body]
    swapped: Mapping[str, str]
    always_entered: frozenset[str]
    dimensions: Mapping[str, tuple[Dimension, ...]]
    most_partitions: int | None
    dsp: Mapping[tuple[str, str], int]
    dsp_available: int | None
    most_copies: int | None = None
    copy_dsps: float = 0.0
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    plain: tuple[tuple[str, str], ...] = ()
    transfer_cycles: float = 0.0
    transfers: tuple[Transfer, ...] = ()
    onchip_bits: int | None = None

    def loops_around(self, loop: str) -> tuple[str, ...]:
        """Return the loops around a loop, outermost first, itself not included."""
        loops: list[str] = []
        parent = self.parents[loop]
        while parent != ROOT:
            loops.append(parent)
            parent = self.parents[parent]
        return tuple(reversed(loops))

    def loops_inside(self, loop: str) -> tuple[str, ...]:
        """Return all loops of a loop's body, outer before inner."""
        return tuple(other for other in self.options if loop in self.loops_around(other))

    def choices(self, loop: str, *states: str) -> tuple[Option, ...]:
        """Return the options of a loop in some states."""
        return tuple(option for option in self.options[loop] if option.state in states)

    def fill_loops(self, loop: str) -> tuple[str, ...]:
        """Return the loops around a pipelined loop that repeat its fill: those above its flattened nest."""
        around = list(self.loops_around(loop))
        while around and self.bodies[around[-1]].flattened:
            around.pop()
        return tuple(around)

    def keeps_fill(self, loop: str) -> bool:
        """Tell whether each execution of a flattened nest surely takes the fill of its pipelined loop."""
        flattened = self.loops_around(loop)[len(self.fill_loops(loop)) :]
        return all(other in self.always_entered for other in flattened)

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Yield the loops on the path to each innermost loop, outermost first."""
        parents = set(self.parents.values())
        for loop in self.options:
            if loop not in parents:
                yield (*self.loops_around(loop), loop)

    def shared_dimensions(self) -> tuple[Dimension, ...]:
        """Return the dimensions that several loops index, each once."""
        return tuple(sorted({d for rows in self.dimensions.values() for d in rows if len(d.loops) > 1}))


def design_of(summary: Summary, configuration: Configuration, target: Target) -> Design:
    """Return the state and copies of each loop, once tools have completed a configuration."""
    design: dict[str, Key] = {}
    completed = complete(summary, configuration, target)
    for loop in summary.child_loops(ROOT):
        _walk(summary, completed, loop, target, design)
    return design


def encode(space: Space, design: Design, asked: Configuration) -> dict[str, int] | None:
    """Return the index of each loop's option; None when a design is not in the space.

    Args: asked: the design's configuration; of equal options, the one with its factor is taken.
    """
    indices: dict[str, int] = {}
    for loop, key in design.items():
        same = [index for index, option in enumerate(space.options[loop]) if option.key == key]
        if not same:
            return None
        factor = asked.of(loop).unroll
        indices[loop] = next((i for i in same if space.options[loop][i].unroll == factor), same[0])
    return indices


def decode(
    space: Space, options: Mapping[str, int], caches: tuple[tuple[str, str], ...] | None
) -> Configuration:
    """Return the configuration of a design, without what tools do by themselves."""
    chosen: dict[str, LoopChoice] = {}
    straight = {loop for loop, index in options.items() if space.options[loop][index].state == STRAIGHT}
    for loop, index in options.items():
        option = space.options[loop][index]
        asked = option.state != INSIDE or not straight.isdisjoint(space.loops_around(loop))
        if option.state == PIPELINED:
            chosen[loop] = LoopChoice(pipeline=FINE, unroll=option.unroll, interval=option.asked)
        elif asked and option.unroll > 1:
            chosen[loop] = LoopChoice(unroll=option.unroll)
    return Configuration(loops=chosen, caches=caches)


def _walk(
    summary: Summary, completed: Configuration, name: str, target: Target, design: dict[str, Key]
) -> None:
    choice = completed.of(name)
    if choice.pipeline == FINE:
        constants = leaf(summary, name, choice.unroll, target, choice.interval)
        design[name] = (PIPELINED, choice.unroll, constants.interval_cycles)
    elif fully_unrolled(summary.loops[name], choice) and straight_inside(summary, completed, name):
        design[name] = (STRAIGHT, choice.unroll, 1)
    else:
        design[name] = (ABOVE, choice.unroll, 1)
    if design[name][0] in LEAVES:
        for loop in summary.loops_inside(name):
            design[loop] = (INSIDE, summary.loops[loop].trip_count_max, 1)
        return
    for child in summary.child_loops(name):
        _walk(summary, completed, child, target, design)
