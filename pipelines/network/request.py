"""What is asked about a network: its topology, its traffic and the estimate. Importing it is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.base.bounds import asked
from pipelines.network.errors import NetworkError

MAXIMUM_ENTROPY, TREE, CORRECTED = "maximum_entropy", "tree", "corrected"
ESTIMATES = (MAXIMUM_ENTROPY, TREE)
"""Estimates by theory alone."""
SIMULATE, NS3 = "simulate", "ns3"
SIMULATIONS = (SIMULATE, NS3)
"""No estimates: packet by packet, by the project's own simulator or by ns-3, where that is installed."""
DEFAULT_PACKETS, MOST_PACKETS = 1_000_000, 20_000_000
ALL_TO_ALL, INCAST, BROADCAST = "all_to_all", "incast", "broadcast"
PAPER_PATTERNS = (ALL_TO_ALL, INCAST, BROADCAST)
"""Those of table 5.3."""
PERMUTATION, HOT_SPOT, RACK_LOCAL = "permutation", "hot_spot", "rack_local"
PATTERNS = (*PAPER_PATTERNS, PERMUTATION, HOT_SPOT, RACK_LOCAL)
POISSON, GENERALISED_EXPONENTIAL, ON_OFF = "poisson", "ge", "on_off"
ARRIVALS = (POISSON, GENERALISED_EXPONENTIAL, ON_OFF)
ECMP, FIXED = "ecmp", "fixed"
ROUTINGS = (ECMP, FIXED)
UDP, TCP = "udp", "tcp"
PROTOCOLS = (UDP, TCP)
DEFAULT_LOAD, DEFAULT_DENSITY, BURSTY_SCV = 0.5, 1.0, 4.0
"""Traffic without a trace; squared coefficient of variation of arrivals other than Poisson's."""
PATTERN_OPTIONS = ("pattern", "load", "density", "arrivals", "scv", "packet_bytes")
NO_TCP = f"the project's simulator has no TCP; accepted: estimate {NS3}"
CAPACITY_LIMIT, SEED_LIMIT = 1 << 20, 1 << 20
LOAD_LIMIT, SCV_LIMIT = 4.0, 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNetwork:
    """A fat-tree, or the network of a file."""

    pods: int | None = asked(
        "Pods of a three-tier fat-tree: 4, 8, 12, 16 give 16, 128, 432, 1024 hosts.", None
    )
    topology: Path | str | None = asked("JSON or GraphML file of any other network.", None)

    def __post_init__(self) -> None:
        if self.pods is None and self.topology is None:
            raise NetworkError("no network: either pods or topology is required")
        if self.pods is not None and self.topology is not None:
            raise NetworkError("pods and topology are mutually exclusive")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRequest(OneNetwork):
    """A network, its traffic and the estimate."""

    trace: Path | str | None = asked(
        "CSV or Parquet file of packets: time_s, source, destination, bytes.", None
    )
    traffic: Path | str | None = asked(
        "CSV or Parquet file of flows: source, destination, rate_per_s, and variation, packet_bytes, "
        "protocol if any.",
        None,
    )
    pattern: str | None = asked("Which hosts send to which.", None, choices=PATTERNS, unset=ALL_TO_ALL)
    load: float | None = asked(
        "Utilisation of the busiest host link by data.", None, above=0, most=LOAD_LIMIT, unset=DEFAULT_LOAD
    )
    density: float | None = asked(
        "Share of hosts that take part in all_to_all.", None, above=0, most=1, unset=DEFAULT_DENSITY
    )
    arrivals: str | None = asked("Arrival process of every flow.", None, choices=ARRIVALS, unset=POISSON)
    scv: float | None = asked(
        "Squared coefficient of variation of times between packets.",
        None,
        least=1,
        most=SCV_LIMIT,
        unset=f"1 for {POISSON}, else {BURSTY_SCV:g}",
    )
    packet_bytes: str | None = asked(
        "Bytes of a packet without headers, or several with their shares: 64:0.6,1500:0.4.",
        None,
        metavar="BYTES",
        unset="500",
    )
    protocol: str = asked("udp or tcp.", UDP, choices=PROTOCOLS)
    routing: str = asked("Choice among shortest paths.", ECMP, choices=ROUTINGS)
    seed: int = asked("Seed of routes, and of hosts by density.", 1, least=0, most=SEED_LIMIT - 1)
    queue_capacity: int = asked(
        "Packets that a queue holds; 0 = unbounded.", 128, least=0, most=CAPACITY_LIMIT
    )
    acknowledged: bool = asked(
        "Whether receivers acknowledge every packet.", True, flags=["--acknowledged/--unacknowledged"]
    )
    estimate: str | None = asked(
        "Queueing theory for trees or by maximum entropy, or corrected by what simulations taught; or no "
        "estimate but a simulation of every packet, with an estimate beside it.",
        None,
        choices=(CORRECTED, *ESTIMATES, *SIMULATIONS),
        unset=f"{CORRECTED}; for a trace {SIMULATE}, or {NS3} if its protocol is {TCP}",
    )
    packets: int | None = asked(
        "Packets that a simulation sends, a tenth of them before it counts; a trace has its own.",
        None,
        least=1000,
        most=MOST_PACKETS,
        unset=f"{DEFAULT_PACKETS:,}",
    )

    def __post_init__(self) -> None:
        OneNetwork.__post_init__(self)
        options = [name for name in PATTERN_OPTIONS if getattr(self, name) is not None]
        files = [name for name in ("trace", "traffic") if getattr(self, name) is not None]
        if files and len(files) + len(options) > 1:
            raise NetworkError(f"{', '.join([*files, *options])} are mutually exclusive")
        if self.trace is not None and self.estimate == CORRECTED:
            raise NetworkError(
                f"estimate {CORRECTED} is not available for a trace: nothing was learned of traces; "
                f"accepted: {', '.join((*ESTIMATES, *SIMULATIONS))}"
            )
        if self.packets is not None and self.trace is not None:
            raise NetworkError("packets and trace are mutually exclusive: a trace has its own packets")
        if self.packets is not None and self.estimate not in SIMULATIONS:
            raise NetworkError(
                f"packets are those of a simulation; accepted: estimate {' or '.join(SIMULATIONS)}"
            )
        if self.protocol == TCP and not self.acknowledged:
            raise NetworkError("protocol tcp acknowledges every packet; accepted: udp with --unacknowledged")
        if self.protocol == TCP and self.estimate == SIMULATE:
            raise NetworkError(NO_TCP)


def simulated_by(request: NetworkRequest) -> str | None:
    """Return what simulates the packets, on request or by default those of a trace; None for an estimate."""
    if request.estimate is None:
        default = NS3 if request.protocol == TCP else SIMULATE
        return None if request.trace is None else default
    return request.estimate if request.estimate in SIMULATIONS else None


TRANSFERS = "transfers"
DEFAULT_LINK_GBPS, DEFAULT_LINK_DELAY_NS, DEFAULT_PAYLOAD_BYTES = 100.0, 500, 1470


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveRequest(OneNetwork):
    """A network, and jobs of collective operations on its hosts."""

    link_gbps: float | None = asked(
        "Rate of the links of a fat-tree in Gb/s.", None, least=0.001, most=10_000, unset=DEFAULT_LINK_GBPS
    )
    link_delay_ns: int | None = asked(
        "Propagation delay of the links of a fat-tree in ns.",
        None,
        least=0,
        most=10**9,
        unset=DEFAULT_LINK_DELAY_NS,
    )
    job: Sequence[str] = asked(
        "ring_all_reduce, tree_all_reduce, all_gather or all_to_all of some bytes, on all hosts or on some: "
        "KIND:BYTES[:hosts=0-15][:start=S][:order=random]; once a job.",
        (),
        metavar="JOB",
    )
    routing: str = asked("Choice among shortest paths.", ECMP, choices=ROUTINGS)
    seed: int = asked("Seed of routes and of random orders.", 1, least=0, most=SEED_LIMIT - 1)
    packet_bytes: int = asked(
        "Bytes of a full packet without headers.", DEFAULT_PAYLOAD_BYTES, least=1, most=65_000
    )
    estimate: str = asked(
        "By transfers in queues; or also a simulation of every packet: UDP by the project's simulator, TCP "
        "by ns-3.",
        TRANSFERS,
        choices=(TRANSFERS, *SIMULATIONS),
    )

    def __post_init__(self) -> None:
        OneNetwork.__post_init__(self)
        if self.topology is not None and (self.link_gbps is not None or self.link_delay_ns is not None):
            raise NetworkError("the links of a network file have rates and delays of their own")
        if not self.job:
            raise NetworkError("no job; accepted: one or more, as ring_all_reduce:16MB:hosts=0-15")
