"""What is asked about a network: its topology, its traffic and the estimate. Importing it is cheap."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipelines.network.errors import NetworkError

MAXIMUM_ENTROPY, TREE, CORRECTED = "maximum_entropy", "tree", "corrected"
ESTIMATES = (MAXIMUM_ENTROPY, TREE)
"""Estimates by theory alone."""
ALL_TO_ALL, POISSON = "all_to_all", "poisson"
DEFAULT_LOAD, DEFAULT_DENSITY, BURSTY_SCV = 0.5, 1.0, 4.0
"""Traffic without a trace; squared coefficient of variation of arrivals other than Poisson's."""
PATTERN_OPTIONS = ("pattern", "load", "density", "arrivals", "scv")
CAPACITY_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRequest:
    """A network, its traffic and the estimate.

    Attributes:
        pods: of a fat tree; topology: file of any other network; one of the two.
        trace: file of packets; without it pattern, load, density, arrivals and scv, None = their defaults.
        routing: ecmp or fixed; acknowledged: receivers acknowledge every packet.
        seed: of routes, and of hosts by density; queue_capacity: packets, 0 = unbounded.
        estimate: of ESTIMATES, or CORRECTED; None: CORRECTED, MAXIMUM_ENTROPY for a trace.
    """

    pods: int | None = None
    topology: Path | str | None = None
    trace: Path | str | None = None
    pattern: str | None = None
    load: float | None = None
    density: float | None = None
    arrivals: str | None = None
    scv: float | None = None
    routing: str = "ecmp"
    seed: int = 1
    queue_capacity: int = 128
    acknowledged: bool = True
    estimate: str | None = None

    def __post_init__(self) -> None:
        if self.pods is None and self.topology is None:
            raise NetworkError("no network: either pods or topology is required")
        if self.pods is not None and self.topology is not None:
            raise NetworkError("pods and topology are mutually exclusive")
        options = [name for name in PATTERN_OPTIONS if getattr(self, name) is not None]
        if self.trace is not None and options:
            raise NetworkError(f"trace and {', '.join(options)} are mutually exclusive")
        if self.trace is not None and self.estimate == CORRECTED:
            raise NetworkError(
                f"estimate {CORRECTED} is not available for a trace: nothing was learned of traces; "
                f"accepted: {', '.join(ESTIMATES)}"
            )
        if self.queue_capacity > CAPACITY_LIMIT:
            raise NetworkError(
                f"queue capacity {self.queue_capacity}; accepted: 0 to {CAPACITY_LIMIT} packets"
            )
