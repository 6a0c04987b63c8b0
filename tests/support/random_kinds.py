"""What random designs of a seed may have, and what is known of a module while its text is written."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import Enum

WIDTHS = (1, 1, 2, 3, 4, 7, 8, 8, 12, 16, 17, 31, 32, 32, 33, 48, 63, 64, 65, 70, 100, 129)
BARE_FROM = 10_000
"""Seed of the first design in which an operation may be narrower than its port."""
FEATURED_FROM = 20_000
"""Seed of the first design with macros, asynchronous resets, parameters and memory files."""
BOUNDED_FROM = 30_000
"""Seed of the first design with lower bounds of memories and with synchronisers of resets."""
FILES_PER = 20
"""Memory files are in every second run of so many seeds, as they decide which reader reads a bundle."""
CLOCKED_FROM = 40_000
"""Seed of the first design with several clock edges, nested macros and, in some runs, array ports."""
CLOCKED_PER = 25
"""Seeds in a run of one kind from there on, so that a bundle has one kind of clocks."""


class Clocking(Enum):
    """Clock edges of a design."""

    ONE = "rising edges of one clock"
    FALLING = "both edges of one clock"
    GATED = "rising edges of a clock and behind its gates"
    BOTH = "both edges of a clock, rising ones behind its gates"
    PERIODS = "rising edges of three clocks with periods"


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An unpacked array port, or a net of that type."""

    name: str
    width: int
    left: int
    right: int
    is_output: bool

    @property
    def indices(self) -> range:
        """Indices from left to right."""
        step = 1 if self.left <= self.right else -1
        return range(self.left, self.right + step, step)

    def declared(self, prefix: str, name: str | None = None) -> str:
        """The declaration without its end."""
        return f"{prefix} [{self.width - 1}:0] {name or self.name} [{self.left}:{self.right}]"


@dataclass(slots=True, kw_only=True)
class Module:
    """A module that later ones instantiate.

    Attributes:
        inputs, outputs: name and width. resets: inputs that are asynchronous resets; `_n` = active low.
        parameters: name, width in bits, and 0 or the width of registers that it gives. size: instances in it,
        with itself.
        clocks: input clocks. arrays: unpacked array ports.
    """

    name: str
    inputs: list[tuple[str, int]]
    outputs: list[tuple[str, int]]
    resets: list[str] = field(default_factory=list[str])
    parameters: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    size: int = 1
    clocks: list[str] = field(default_factory=lambda: ["clk"])
    arrays: list[Array] = field(default_factory=list["Array"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What designs of a seed may have.

    Attributes:
        is_bare: operations narrower than their port. is_featured: macros and so on.
        is_bounded: lower bounds of memories, and synchronisers. has_files: memories from files.
        clocking: see `Clocking`. has_arrays: unpacked array ports, which are SystemVerilog.
        run: number of the run of seeds of one kind.
    """

    is_bare: bool
    is_featured: bool
    is_bounded: bool
    has_files: bool
    clocking: Clocking = Clocking.ONE
    has_arrays: bool = False
    run: int = 0

    @classmethod
    def of(cls, seed: int) -> Kind:
        """The kind of a seed."""
        is_featured = seed >= FEATURED_FROM
        is_clocked = seed >= CLOCKED_FROM
        run = (seed - CLOCKED_FROM) // CLOCKED_PER
        return cls(
            is_bare=BARE_FROM <= seed < FEATURED_FROM,
            is_featured=is_featured,
            is_bounded=seed >= BOUNDED_FROM,
            has_files=run // 8 % 2 == 1 if is_clocked else is_featured and seed // FILES_PER % 2 == 1,
            clocking=list(Clocking)[1:][run % 4] if is_clocked else Clocking.ONE,
            has_arrays=is_clocked and run // 4 % 2 == 1,
            run=run if is_clocked else 0,
        )


@dataclass(slots=True, kw_only=True)
class Writer:
    """Text of a module, and the signals that expressions may read.

    Attributes:
        name: of the module. resets: active-high expressions of its asynchronous resets.
        events: clock edges that registers may take. gates: nets of gated or inverted clocks.
        macro: of two arguments; empty if there is none.
    """

    rng: random.Random
    name: str
    kind: Kind
    resets: list[str] = field(default_factory=list[str])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    signals: list[tuple[str, int, bool]] = field(default_factory=list[tuple[str, int, bool]])
    lines: list[str] = field(default_factory=list[str])
    events: list[str] = field(default_factory=lambda: ["posedge clk"])
    gates: list[str] = field(default_factory=list[str])
    macro: str = ""
    count: int = 0

    def event(self) -> str:
        """A clock edge."""
        return self.events[0] if self.kind.clocking is Clocking.ONE else self.rng.choice(self.events)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"
