"""Arrival processes and packet sizes of flows, and traffic patterns: flows between hosts, and their rates.

Source: table 5.3 (all-to-all, broadcast, incast; link utilisation of 25, 50 and 75 %); section 5.4.2 on the
density of all-to-all traffic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipelines.base.summation import ordered_sum
from pipelines.network.errors import NetworkError
from pipelines.network.request import (
    ALL_TO_ALL,
    ARRIVALS,
    BROADCAST,
    DEFAULT_DENSITY,
    DEFAULT_LOAD,
    HOT_SPOT,
    INCAST,
    LOAD_LIMIT,
    PATTERNS,
    PERMUTATION,
    POISSON,
    PROTOCOLS,
    RACK_LOCAL,
    SCV_LIMIT,
    TCP,
    UDP,
)
from pipelines.network.topology import Topology

FIXED, UNIFORM, BIMODAL, EMPIRICAL = "fixed", "uniform", "bimodal", "empirical"
SIZES = (FIXED, UNIFORM, BIMODAL, EMPIRICAL)
PAYLOAD_LIMIT_BYTES = 65_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """An arrival process of flows.

    Attributes:
        kind: poisson; ge: batches of geometric size at Poisson times, which is the generalised exponential
            distribution of Kouvatsos; on_off: Poisson while on, silent while off, both exponential.
        scv: squared coefficient of variation of inter-arrival times, 1 for Poisson, above 1 for others.
        on_share: share of time that an on_off flow is on.

    Source: chapter 5.3.2; Kouvatsos 1994 on GE as a bulk Poisson process.
    """

    kind: str = POISSON
    scv: float = 1.0
    on_share: float = 0.5

    def __post_init__(self) -> None:
        if self.kind not in ARRIVALS:
            raise NetworkError(f"unknown arrivals: {self.kind}; accepted: {', '.join(ARRIVALS)}")
        if self.kind == POISSON and self.scv != 1.0:
            raise NetworkError(f"the scv of Poisson arrivals must be 1, got {self.scv}")
        if self.kind != POISSON and not 1.0 < self.scv <= SCV_LIMIT:
            raise NetworkError(
                f"the scv of {self.kind} arrivals must be above 1 to {SCV_LIMIT:g}, got {self.scv}"
            )
        if not 0.0 < self.on_share < 1.0:
            raise NetworkError(f"on_share must be between 0 and 1, got {self.on_share}")

    @property
    def batch_end(self) -> float:
        """Probability that a packet of GE arrivals is the last of its batch: 2 / (scv + 1)."""
        return 2.0 / (self.scv + 1.0)

    def on_off_rates(self, rate_per_s: float) -> tuple[float, float, float]:
        """Return rate while on, and rates of switching off and on, all per second, for a given rate and scv.

        With on share p, peak r = rate / p, off and on rates a and b, p = b / (a + b), inter-arrival times are
        hyperexponential with scv = 1 + 2 r a / (a + b)^2 (Heffes and Lucantoni 1986, of an interrupted
        Poisson process); so a + b = 2 r (1 - p) / (scv - 1).
        """
        peak = rate_per_s / self.on_share
        changes = 2.0 * peak * (1.0 - self.on_share) / (self.scv - 1.0)
        return peak, changes * (1.0 - self.on_share), changes * self.on_share


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSizes:
    """Payloads of packets, in bytes.

    Attributes:
        kind: fixed; uniform: whole numbers around the mean; bimodal; empirical.
        mean_bytes: of fixed and uniform sizes.
        spread: half the width of uniform sizes over the mean.
        values_bytes, shares: of bimodal (two) and empirical sizes.

    Source: table 5.3: 500 B, and uniform 500 B with 1 % variation.
    """

    kind: str = FIXED
    mean_bytes: int = 500
    spread: float = 0.01
    values_bytes: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            raise NetworkError(f"unknown packet sizes: {self.kind}; accepted: {', '.join(SIZES)}")
        if not 0.0 <= self.spread < 1.0:
            raise NetworkError(f"the spread of packet sizes must be 0 to 1, got {self.spread}")
        needed = 2 if self.kind == BIMODAL else len(self.values_bytes)
        if self.kind in (BIMODAL, EMPIRICAL) and not (
            len(self.values_bytes) == len(self.shares) == max(1, needed)
        ):
            raise NetworkError(
                f"{self.kind} packet sizes must have as many shares as values"
                f"{', two' if self.kind == BIMODAL else ''}, got {len(self.values_bytes)} values and "
                f"{len(self.shares)} shares"
            )
        if any(share < 0 for share in self.shares) or (
            self.shares and not math.isclose(ordered_sum(self.shares), 1.0, abs_tol=1e-9)
        ):
            raise NetworkError(f"shares of packet sizes must be positive and sum to 1, got {self.shares}")
        for value in self.distribution()[0]:
            if not 1 <= value <= PAYLOAD_LIMIT_BYTES:
                raise NetworkError(f"a packet must have 1 to {PAYLOAD_LIMIT_BYTES} bytes, got {value}")

    def distribution(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the payloads in bytes and their probabilities."""
        if self.kind in (BIMODAL, EMPIRICAL):
            return self.values_bytes, self.shares
        width = round(self.mean_bytes * self.spread) if self.kind == UNIFORM else 0
        values = tuple(range(self.mean_bytes - width, self.mean_bytes + width + 1))
        return values, (1.0 / len(values),) * len(values)

    def moments(self, header_bytes: int) -> tuple[float, float]:
        """Return the mean and squared coefficient of variation of bytes on the wire."""
        values, shares = self.distribution()
        total = [value + header_bytes for value in values]
        mean = ordered_sum(s * v for s, v in zip(shares, total, strict=True))
        second = ordered_sum(s * v * v for s, v in zip(shares, total, strict=True))
        return mean, max(0.0, second / mean**2 - 1.0)


HOT_SHARE, LOCAL_SHARE = 0.25, 0.8
"""Share of a host's packets that go to the hot host, and to hosts of the same switch."""
HEADER_BYTES = {UDP: 30, TCP: 54}
"""Header bytes per packet: PPP 2, IP 20, UDP 8 or TCP 20 with 12 of options."""
FLOW_LIMIT = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Traffic of one kind at one load.

    Attributes:
        kind: all_to_all; incast (all to one) or broadcast (one to all); permutation: each host sends to one
            other, drawn so that each receives from one; hot_spot: all to all, but HOT_SHARE of the packets of
            each host go to one drawn host; rack_local: all to all, but LOCAL_SHARE go to hosts of the same
            switch.
        load: utilisation by data of the busiest host link, in either direction.
        density: share of hosts, drawn uniformly, that take part in all-to-all.
        seed: seed of what is drawn.
    """

    kind: str = ALL_TO_ALL
    load: float = DEFAULT_LOAD
    density: float = DEFAULT_DENSITY
    seed: int = 1

    def __post_init__(self) -> None:
        if self.kind not in PATTERNS:
            raise NetworkError(f"unknown pattern: {self.kind}; accepted: {', '.join(PATTERNS)}")
        if not 0.0 < self.load <= LOAD_LIMIT:
            raise NetworkError(f"a load must be above 0 to {LOAD_LIMIT:g}, got {self.load}")
        if not 0.0 < self.density <= 1.0:
            raise NetworkError(f"a density must be above 0 to 1, got {self.density}")
        if self.density < 1.0 and self.kind != ALL_TO_ALL:
            raise NetworkError(f"only all_to_all traffic may have a density below 1, got {self.kind}")
        if self.seed < 0:
            raise NetworkError(f"a seed must be 0 or more, got {self.seed}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowMoments:
    """Sizes and variation of every flow's packets, for queueing theory. Each (flows,)

    Attributes:
        mean_bytes, second_bytes2: mean and mean square of bytes on the wire.
        scvs: squared coefficients of variation of times between packets.
    """

    mean_bytes: NDArray[np.float64]
    second_bytes2: NDArray[np.float64]
    scvs: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not len(self.mean_bytes) == len(self.second_bytes2) == len(self.scvs):
            counts = len(self.mean_bytes), len(self.second_bytes2), len(self.scvs)
            raise NetworkError(f"moments must be of the same flows, got {counts}")
        sizes = (self.mean_bytes > 0) & (self.second_bytes2 >= self.mean_bytes**2 * (1.0 - 1e-9))
        for flow in np.flatnonzero(~sizes)[:1].tolist():
            raise NetworkError(
                "a flow's mean square of bytes must be at least its positive mean's square, got "
                f"{self.second_bytes2[flow]:g} and {self.mean_bytes[flow]:g} of flow {flow}"
            )
        for flow in np.flatnonzero(~((self.scvs >= 0) & (self.scvs <= SCV_LIMIT)))[:1].tolist():
            raise NetworkError(
                f"a flow's scv must be 0 to {SCV_LIMIT:g}, got {self.scvs[flow]} of flow {flow}"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnArrivals:
    """Arrivals and packet sizes of each flow, of a traffic matrix. Each (flows,)

    Attributes:
        payload_bytes: of all packets of a flow. scvs: squared coefficients of variation of times between
            packets, 1 for Poisson arrivals and above 1 for generalised exponential ones.
    """

    payload_bytes: NDArray[np.int32]
    scvs: NDArray[np.float64]

    def moments(self, header_bytes: int) -> FlowMoments:
        """Return sizes on the wire and variation of every flow."""
        mean = self.payload_bytes.astype(np.float64) + header_bytes
        return FlowMoments(mean_bytes=mean, second_bytes2=mean**2, scvs=self.scvs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traffic:
    """Flows and their packets.

    Attributes:
        sources, destinations: hosts. (flows,)
        rates_per_s: packets. (flows,)
        arrivals, sizes: of every flow.
        protocol: udp or tcp.
        moments: moments of measured flows, instead of moments of arrivals and sizes.
        own: arrivals and sizes of each flow, instead of those of all.
    """

    sources: NDArray[np.int32]
    destinations: NDArray[np.int32]
    rates_per_s: NDArray[np.float64]
    arrivals: Arrivals = field(default_factory=Arrivals)
    sizes: PacketSizes = field(default_factory=PacketSizes)
    protocol: str = UDP
    moments: FlowMoments | None = None
    own: OwnArrivals | None = None

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise NetworkError(f"unknown protocol: {self.protocol}; accepted: {', '.join(PROTOCOLS)}")
        counts = {len(self.sources), len(self.destinations), len(self.rates_per_s)}
        if len(counts) != 1 or not 1 <= len(self.sources) <= FLOW_LIMIT:
            raise NetworkError(f"traffic must have 1 to {FLOW_LIMIT} flows with ends and rates, got {counts}")
        wrong = np.flatnonzero(~(np.isfinite(self.rates_per_s) & (self.rates_per_s > 0)))
        if len(wrong):
            flow = int(wrong[0])
            raise NetworkError(f"a flow's rate must be above 0, got {self.rates_per_s[flow]} of flow {flow}")

        if self.moments is not None and len(self.moments.scvs) != len(self.sources):
            raise NetworkError(
                f"traffic must have moments of all {len(self.sources)} flows or none, got "
                f"{len(self.moments.scvs)}"
            )

    @property
    def header_bytes(self) -> int:
        """Header bytes per packet."""
        return HEADER_BYTES[self.protocol]

    def flow_moments(self) -> FlowMoments:
        """Return moments of all flows: measured, or from arrivals and sizes."""
        if self.moments is not None:
            return self.moments
        if self.own is not None:
            return self.own.moments(self.header_bytes)
        mean, scv = self.sizes.moments(self.header_bytes)
        count = len(self.sources)
        return FlowMoments(
            mean_bytes=np.full(count, mean),
            second_bytes2=np.full(count, mean**2 * (1.0 + scv)),
            scvs=np.full(count, self.arrivals.scv),
        )


def traffic_of(
    topology: Topology,
    pattern: Pattern,
    *,
    arrivals: Arrivals | None = None,
    sizes: PacketSizes | None = None,
    protocol: str = UDP,
) -> Traffic:
    """Return the flows of a pattern over a network; the busiest host link has the load of the pattern.

    Raises: NetworkError: fewer than two hosts take part, or a value is out of range.
    """
    sizes = sizes or PacketSizes()
    hosts = _taking_part(topology, pattern)
    is_dense = pattern.kind in (ALL_TO_ALL, HOT_SPOT, RACK_LOCAL)
    count = len(hosts) * (len(hosts) - 1) if is_dense else len(hosts)
    if count > FLOW_LIMIT:
        raise NetworkError(
            f"traffic must have at most {FLOW_LIMIT} flows, got {count} of {pattern.kind}, {len(hosts)} hosts"
        )
    sources, destinations, divisors = _flows(topology, pattern, hosts)
    header = HEADER_BYTES.get(protocol, 0)
    rate_bps = int(topology.rates_bps[topology.sources < topology.host_count].min())
    packets_per_s = pattern.load * rate_bps / 8 / sizes.moments(header)[0]
    return Traffic(
        sources=sources.astype(np.int32),
        destinations=destinations.astype(np.int32),
        rates_per_s=packets_per_s / divisors,
        arrivals=arrivals or Arrivals(),
        sizes=sizes,
        protocol=protocol,
    )


def _flows(
    topology: Topology, pattern: Pattern, hosts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return sources, destinations, and how often the rate of a flow fits the busiest host link's load.

    Each (flows,)
    """
    stream = np.random.Generator(np.random.Philox(key=pattern.seed))
    if pattern.kind in (INCAST, BROADCAST):
        others, root = hosts[1:], np.repeat(hosts[:1], len(hosts) - 1)
        sources, destinations = (others, root) if pattern.kind == INCAST else (root, others)
        return sources, destinations, np.full(len(others), float(len(others)))
    if pattern.kind == PERMUTATION:
        order = stream.permutation(hosts)  # a cycle, so that nobody sends to itself
        return order, np.roll(order, 1), np.ones(len(hosts))
    one, other = np.meshgrid(hosts, hosts, indexing="ij")
    apart = one != other
    sources, destinations = one[apart], other[apart]
    if pattern.kind == ALL_TO_ALL:
        return sources, destinations, np.full(len(sources), len(hosts) - 1.0)
    if pattern.kind == HOT_SPOT:
        hot = int(stream.choice(hosts))
        chosen, share = destinations == hot, HOT_SHARE
    else:
        switches = _switches(topology)
        chosen, share = switches[sources] == switches[destinations], LOCAL_SHARE
    parts = np.where(chosen, share, 1.0 - share)
    for group in (chosen, ~chosen):
        counts = np.bincount(sources[group], minlength=topology.host_count)
        parts[group] /= counts[sources[group]]
    # A host without one of both kinds of partners sends all of its packets to the other kind.
    sent = np.bincount(sources, parts, topology.host_count)
    parts /= sent[sources]
    received = np.bincount(destinations, parts, topology.host_count)
    return sources, destinations, max(1.0, float(received.max())) / parts


def _switches(topology: Topology) -> NDArray[np.int64]:
    """Return the node that each host's link leads to. (hosts,)"""
    switches = np.zeros(topology.host_count, np.int64)
    links = topology.sources < topology.host_count
    switches[topology.sources[links]] = topology.targets[links]
    return switches


def _taking_part(topology: Topology, pattern: Pattern) -> NDArray[np.int64]:
    """Return the hosts that send or receive."""
    count = topology.host_count
    if pattern.density == 1.0:
        return np.arange(count)
    participants = round(count * pattern.density)
    if participants < 2:
        raise NetworkError(f"a density must leave 2 or more of {count} hosts, got {pattern.density}")
    return np.sort(
        np.random.Generator(np.random.Philox(key=pattern.seed)).choice(count, participants, replace=False)
    )
