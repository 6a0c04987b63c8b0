"""The summary of a program for bounds and searches: loops, statements, dependences, arrays.

Source: Pouget, Pouchet and Cong 2025, "Automatic Hardware Pragma Insertion in High-Level Synthesis: A
Non-Linear Programming Approach" (NLP-DSE), section 4.1 (summary AST) and Table 5 (sets and constants).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

READ, WRITE = "read", "write"
RAW, WAR, WAW = "raw", "war", "waw"

GROUPED = (2, 4, 8, 16)
"""Factors for which whole groups of iterations are counted in loops without a constant trip count."""

ROOT = ""
"""The place outside all loops, in place of a loop's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """A subscript: `constant + sum(coefficient * iterator of loop)`; `exact` False: not affine, any value."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A statement's access to an array element, one subscript per dimension (none for a scalar)."""

    array: str
    kind: str
    subscripts: tuple[Affine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One n-ary operation of a statement (NLP-DSE, definition 6.1).

    Attributes:
        kind: add, sub, mul, div, sqrt, load, store, compare, select, cast, neg, abs, rem, logic, shift, not;
            and what a tool may make cheaper: mul_constant (an integer times a constant, a floating number
            times 1 or 2), div_constant, rem_constant. type: `float`, `double`, `int32`, `uint8`, ...; of a
            compare that of its operands, of a cast that of its result.
        operands: indices of operations of the same statement that it takes values from.
        loads_from: for a load, index into the statement's accesses; likewise for a store.
        reduction: it is the associative operation of the statement's reduction (its own earlier value is an
            operand).
    """

    kind: str
    type: str
    operands: tuple[int, ...] = ()
    access: int | None = None
    reduction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An assignment to an array element or a scalar.

    Attributes:
        index: position in the program's text; loops: names of the loops around it, outermost first.
        reduction_loops: loops that carry a dependence of the statement on itself through `reduction` alone,
            so that their iterations may be combined in a tree.
        sum_loops: those of them whose iterations all update the same element, in each iteration of the other
            loops; not i in `y[i + j] += e`.
        always: it runs in each iteration (False: below a condition, in a relaxed analysis only).
    """

    index: int
    line: int
    loops: tuple[str, ...]
    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]
    reduction_loops: frozenset[str] = frozenset()
    sum_loops: frozenset[str] = frozenset()
    always: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A counted loop.

    Attributes:
        name: its name in directives (`L0`, ... in source order, or its C label); iterator: C variable.
        children: loops and statements of its body in source order (`Loop.name` or `Statement.index`).
        trip_count_min, trip_count_max: over all its executions; trip_count_average: iterations in all
            executions over executions, exact.
        executions: how often it is entered in one call of the program.
        parallel: it carries no dependence, except of privatisable scalars and local arrays.
        reduction: it carries dependences of reductions alone, and no other statement uses their values while
            it runs.
        distance: fewest iterations after which a value comes back to the statement it came from, in all of
            the loop and other than in a reduction; None when none does. A loop that is neither parallel nor a
            reduction and has None carries dependences that order its iterations but form no proven chain
            through all of them (WAR and WAW among them).
        bounded_by: loops around it whose counters its bounds mention; fixed_start: the first iteration is the
            same in all executions.
        groups_average: by factor of `GROUPED`, whole groups of so many iterations in the mean of executions;
            empty where the trip count is constant.
    """

    name: str
    iterator: str
    line: int
    parent: str | None
    children: tuple[str | int, ...]
    trip_count_min: int
    trip_count_max: int
    trip_count_average: Fraction
    executions: int
    parallel: bool
    reduction: bool
    distance: int | None = None
    bounded_by: frozenset[str] = frozenset()
    fixed_start: bool = True
    groups_average: Mapping[int, Fraction] = field(default_factory=dict[int, Fraction])

    @property
    def constant(self) -> bool:
        """Whether every execution has the same iterations, so that the loop can be unrolled."""
        return self.trip_count_min == self.trip_count_max


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """A dependence between two statements: RAW from the last write before a read, WAW from one write to
    the next, WAR from a read to the next write. All others follow from these.

    Attributes:
        source, target: statement indices; kind: RAW, WAR or WAW; array: what it goes through.
        loop: the loop that carries it, None when both are in one iteration of all common loops.
        distance: smallest distance in iterations of that loop (1 when isl could not say).
        chain: the smallest distance at which the target takes its value in all of the loop, 0 where no loop
            carries it; None: not proven, so that no bound may repeat it by the trip count. Of RAW alone.
        reduction: it comes from a reduction's own accumulation.
    """

    source: int
    target: int
    kind: str
    array: str
    loop: str | None
    distance: int = 0
    chain: int | None = None
    reduction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayFacts:
    """An array (or a scalar, without dimensions).

    Attributes:
        live_in: some element is read before the program writes it; live_out: written and visible outside.
        external: an argument of the program.
        elements_in, elements_out: elements that come from outside, and that are written, over the program.
    """

    name: str
    type: str
    element_bits: int
    shape: tuple[int, ...]
    external: bool
    live_in: bool
    live_out: bool
    elements_in: int
    elements_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A program for bounds and searches.

    Attributes:
        top: function; source_lines: of the text, for messages.
        loops: by name in source order, outer before inner; statements: by index.
        body: loops and statements outside of all loops.
        footprints: elements of an array touched in one iteration of a loop (`ROOT`: in the program), the
            most over iterations.
        relaxed: facts outside the affine class were replaced by the most optimistic ones.
    """

    top: str
    loops: Mapping[str, Loop]
    statements: tuple[Statement, ...]
    body: tuple[str | int, ...]
    arrays: Mapping[str, ArrayFacts]
    dependences: tuple[Dependence, ...]
    footprints: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    relaxed: bool = False

    def children(self, place: str) -> tuple[str | int, ...]:
        """Return the loops and statements of a loop's body, or of the program for `ROOT`."""
        return self.loops[place].children if place else self.body

    def child_loops(self, place: str) -> tuple[str, ...]:
        """Return the loops directly in a loop's body, or in the program for `ROOT`."""
        return tuple(child for child in self.children(place) if isinstance(child, str))

    def loops_around(self, name: str) -> tuple[str, ...]:
        """Return the loops around a loop, outermost first, itself not included."""
        around: list[str] = []
        parent = self.loops[name].parent
        while parent is not None:
            around.append(parent)
            parent = self.loops[parent].parent
        return tuple(reversed(around))

    def loops_inside(self, name: str) -> tuple[str, ...]:
        """Return all loops of a loop's body, outer before inner."""
        return tuple(loop for loop in self.loops if name in self.loops_around(loop))
