"""The exceptions of RTL simulation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class RtlError(ValueError):
    """A design, its stimulus or a request that cannot be simulated; the message says why."""


class CombinationalLoop(RtlError):
    """Signals that depend on each other within one cycle.

    Attributes:
        signals: of the loop, in order of dependence, by hierarchical name.
        blocks: that would join their parents to put the loop into one block; none if it is in one.
    """

    def __init__(self, signals: Sequence[str], place: str = "", blocks: Iterable[str] = ()) -> None:
        """Name a loop. Args: place: of the first signal, in brackets, and a hint; may be empty."""
        super().__init__(f"combinational loop: {' -> '.join([*signals, signals[0]])}{place}")
        self.signals = tuple(signals)
        self.blocks = frozenset(blocks)


class SeveralDrivers(RtlError):
    """A net with an assignment and another driver, which has no defined value; no engine simulates it."""


class MemoryFileError(RtlError):
    """A file of `$readmemh` or `$readmemb` whose words do not fit; no engine simulates the design."""


class MissingMemoryFile(MemoryFileError):
    """A file of `$readmemh` or `$readmemb` that the design reads and that is not given.

    Attributes: name: of the file, as the design has it.
    """

    def __init__(self, name: str, place: str = "") -> None:
        """Name a file. Args: place: of the call, empty if it is not known."""
        where = f" ({place})" if place else ""
        super().__init__(
            f"no memory file {name}{where}; accepted: a file of the project, by its name from the current "
            "folder or from that of the design, not a name that is computed"
        )
        self.name = name
