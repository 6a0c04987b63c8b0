"""Generated traces: bursty traffic with heavy tails, when no trace of a real network is available.

The generator reproduces properties of real traffic: a few pairs of hosts send most packets (Zipf); sizes of
messages have a heavy tail (a bounded Pareto distribution), and many messages are one small packet; hosts are
busy and idle on several time scales at once (a product of ON/OFF processes). Long messages on slow links
make the sum of flows vary on all scales, as Willinger and others (1997) show for Ethernet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.errors import NetworkError
from pipelines.network.traffic.patterns import FLOW_LIMIT, HEADER_BYTES, LOAD_LIMIT, PAYLOAD_LIMIT_BYTES, UDP
from pipelines.network.traffic.schedule import DURATION_LIMIT_S, PACKET_LIMIT
from pipelines.network.traffic.traces import Trace

SCALE_LIMIT = 1e6
"""Maximum mean number of periods of an ON/OFF process in a trace."""
_STEPS = 1 << 16
_NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """Properties of a generated trace.

    Attributes:
        host_count: hosts of the network.
        pair_count: pairs of hosts that communicate, drawn uniformly.
        pair_skew: exponent of Zipf's law: the n-th pair sends in proportion to n to the power of minus this.
        duration_s: time in which packets are sent.
        load: mean utilisation by data of the busiest host link, sending or receiving.
        link_rate_bps: of host links.
        small_share: share of messages that are one packet of `small_bytes`, for example requests.
        tail: exponent of the others' Pareto distribution; sizes have no variance at 2 and below.
        least_bytes, most_bytes: bounds of the distribution.
        packet_bytes: payload of every packet of a message except the last.
        burst_rate_bps: rate of the packets within a message.
        on_scales_s: mean ON times, one per ON/OFF process; a pair sends while all of them are ON.
        on_share: share of time that each process is ON.

    Sizes are of payload; rates and loads count headers.
    """

    host_count: int = 16
    pair_count: int = 60
    pair_skew: float = 0.8
    duration_s: float = 10.0
    load: float = 0.3
    link_rate_bps: int = 100_000_000
    small_share: float = 0.5
    small_bytes: tuple[int, int] = (40, 200)
    tail: float = 1.3
    least_bytes: int = 1000
    most_bytes: int = 200_000
    packet_bytes: int = 1400
    burst_rate_bps: int = 50_000_000
    on_scales_s: tuple[float, ...] = (0.01, 0.1)
    on_share: float = 0.5

    def __post_init__(self) -> None:
        pairs = self.host_count * (self.host_count - 1)
        _check("host_count", self.host_count, 2, 1 << 20)
        _check("pair_count", self.pair_count, 1, min(pairs, FLOW_LIMIT))
        _check("pair_skew", self.pair_skew, 0.0, 10.0)
        _check("duration_s", self.duration_s, 0.0, DURATION_LIMIT_S, above=True)
        _check("load", self.load, 0.0, LOAD_LIMIT, above=True)
        _check("link_rate_bps", self.link_rate_bps, 1, 10**13)
        _check("small_share", self.small_share, 0.0, 1.0)
        _check("small_bytes", self.small_bytes[0], 1, PAYLOAD_LIMIT_BYTES)
        _check("small_bytes", self.small_bytes[1], self.small_bytes[0], PAYLOAD_LIMIT_BYTES)
        _check("tail", self.tail, 0.0, 10.0, above=True)
        _check("least_bytes", self.least_bytes, 1, 1 << 30)
        _check("most_bytes", self.most_bytes, self.least_bytes, 1 << 30)
        _check("packet_bytes", self.packet_bytes, 1, PAYLOAD_LIMIT_BYTES)
        _check("burst_rate_bps", self.burst_rate_bps, 1, 10**13)
        for scale_s in self.on_scales_s:
            _check("on_scales_s", scale_s, self.duration_s / SCALE_LIMIT, DURATION_LIMIT_S)
        _check("on_share", self.on_share, 0.0, 1.0, above=True)


def _check(name: str, value: float, least: float, most: float, *, above: bool = False) -> None:
    if not least <= value <= most or (above and value == least):
        bounds = f"{'above ' if above else ''}{least:g} to {most:g}"
        raise NetworkError(f"{name} of a generated trace must be {bounds}, got {value}")


def generate_trace(options: TraceOptions, *, seed: int) -> Trace:
    """Generate a trace of bursty traffic with heavy tails; the same seed gives the same packets.

    Messages begin at Poisson times while their pair is ON, and their packets follow at the rate of bursts;
    packets after the end are dropped.

    Raises: NetworkError: too many packets, or none.
    """
    if seed < 0:
        raise NetworkError(f"a seed must be 0 or more, got {seed}")
    stream = np.random.Generator(np.random.Philox(key=seed))
    sources, destinations = _draw_pairs(options, stream)
    rates = _message_rates(options, sources, destinations)
    pairs, begins_s = _draw_messages(options, rates, stream)
    sizes = _draw_sizes(options, len(pairs), stream)
    messages, places = _packets(-(-sizes // options.packet_bytes))
    packet_s = (options.packet_bytes + HEADER_BYTES[UDP]) * 8 / options.burst_rate_bps
    times_s = begins_s[messages] + places * packet_s
    kept = np.flatnonzero(times_s < options.duration_s)
    kept = kept[np.argsort(times_s[kept], kind="stable")]
    messages, places = messages[kept], places[kept]
    flows = pairs[messages]
    left = sizes[messages] - places * options.packet_bytes
    return Trace(
        times_ns=np.rint(times_s[kept] * _NS).astype(np.int64),
        sources=sources[flows],
        destinations=destinations[flows],
        payload_bytes=np.minimum(left, options.packet_bytes).astype(np.int32),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinOptions:
    """Streams of small packets, as of games and sensors: each far from filling a link.

    Attributes:
        destinations: of each host, drawn.
        duration_s, load, link_rate_bps, host_count: as in `TraceOptions`; each stream has one rate.
        median_bytes, sigma: of the lognormal distribution of payloads.
        periodic: whether a stream sends at even times with a jitter of a tenth of the period, from a drawn
            first time on; else at Poisson times.

    Source: section 5.4.3 on the trace of figure 5.7, which is of a game.
    """

    host_count: int = 16
    destinations: int = 5
    duration_s: float = 10.0
    load: float = 0.1
    link_rate_bps: int = 100_000_000
    median_bytes: float = 80.0
    sigma: float = 0.5
    periodic: bool = False

    def __post_init__(self) -> None:
        _check("host_count", self.host_count, 2, 1 << 20)
        _check("destinations", self.destinations, 1, self.host_count - 1)
        _check("duration_s", self.duration_s, 0.0, DURATION_LIMIT_S, above=True)
        _check("load", self.load, 0.0, LOAD_LIMIT, above=True)
        _check("link_rate_bps", self.link_rate_bps, 1, 10**13)
        _check("median_bytes", self.median_bytes, 1.0, PAYLOAD_LIMIT_BYTES)
        _check("sigma", self.sigma, 0.0, 5.0)


JITTER = 0.1


def generate_thin_streams(options: ThinOptions, *, seed: int) -> Trace:
    """Generate the packets of thin streams; the same seed gives the same packets.

    Raises: NetworkError: too many packets, or none.
    """
    if seed < 0:
        raise NetworkError(f"a seed must be 0 or more, got {seed}")
    stream = np.random.Generator(np.random.Philox(key=seed))
    hosts = options.host_count
    others = [stream.choice(hosts - 1, options.destinations, replace=False) for _ in range(hosts)]
    sources = np.repeat(np.arange(hosts), options.destinations)
    destinations = np.concatenate(others)
    destinations += destinations >= sources
    busiest = max(int(np.bincount(ends).max()) for ends in (sources, destinations))
    mean_bytes = options.median_bytes * math.exp(options.sigma**2 / 2) + HEADER_BYTES[UDP]
    rate_per_s = options.load * options.link_rate_bps / 8 / mean_bytes / busiest
    if rate_per_s * options.duration_s * len(sources) > PACKET_LIMIT:
        raise NetworkError(f"a trace must have at most {PACKET_LIMIT} packets")
    if options.periodic:
        count = int(rate_per_s * options.duration_s)
        begins = stream.random((len(sources), 1)) + np.arange(count)
        begins += JITTER * (stream.random(begins.shape) - 0.5)
        flows, times_s = np.repeat(np.arange(len(sources)), count), begins.ravel() / rate_per_s
    else:
        counts = stream.poisson(rate_per_s * options.duration_s, len(sources))
        flows = np.repeat(np.arange(len(sources)), counts)
        times_s = stream.random(len(flows)) * options.duration_s
    sizes = np.exp(math.log(options.median_bytes) + options.sigma * stream.standard_normal(len(flows)))
    kept = np.flatnonzero((times_s >= 0) & (times_s < options.duration_s))
    kept = kept[np.argsort(times_s[kept], kind="stable")]
    return Trace(
        times_ns=np.rint(times_s[kept] * _NS).astype(np.int64),
        sources=sources[flows[kept]].astype(np.int32),
        destinations=destinations[flows[kept]].astype(np.int32),
        payload_bytes=np.clip(np.rint(sizes[kept]), 1, PAYLOAD_LIMIT_BYTES).astype(np.int32),
    )


def _draw_pairs(
    options: TraceOptions, stream: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw the hosts of every pair, the one that sends most first."""
    others = options.host_count - 1
    drawn = stream.choice(options.host_count * others, options.pair_count, replace=False)
    sources, destinations = drawn // others, drawn % others
    destinations += destinations >= sources
    return sources.astype(np.int32), destinations.astype(np.int32)


def _message_rates(
    options: TraceOptions, sources: NDArray[np.int32], destinations: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the mean messages per second of every pair."""
    weights = np.arange(1, options.pair_count + 1, dtype=np.float64) ** -options.pair_skew
    busiest = max(float(np.bincount(ends, weights).max()) for ends in (sources, destinations))
    payload, packets = _mean_message(options)
    bytes_per_s = options.load * options.link_rate_bps / 8
    rates = weights / busiest * bytes_per_s / (payload + packets * HEADER_BYTES[UDP])
    expected = float(rates.sum()) * packets * options.duration_s
    if expected > PACKET_LIMIT:
        raise NetworkError(f"a trace must have at most {PACKET_LIMIT} packets, got some {expected:.3g}")
    return rates


def _mean_message(options: TraceOptions) -> tuple[float, float]:
    """Return the mean payload and mean packets of a message."""
    large = _large_sizes(options, (np.arange(_STEPS) + 0.5) / _STEPS)
    small = np.arange(options.small_bytes[0], options.small_bytes[1] + 1)
    means = [(float(s.mean()), float((-(-s // options.packet_bytes)).mean())) for s in (small, large)]
    share = options.small_share
    return (
        share * means[0][0] + (1.0 - share) * means[1][0],
        share * means[0][1] + (1.0 - share) * means[1][1],
    )


def _large_sizes(options: TraceOptions, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the quantiles of the bounded Pareto distribution, in whole bytes."""
    ratio = (options.least_bytes / options.most_bytes) ** options.tail
    sizes = options.least_bytes * (1.0 - probabilities * (1.0 - ratio)) ** (-1.0 / options.tail)
    return np.rint(sizes).astype(np.int64)


def _draw_sizes(options: TraceOptions, count: int, stream: np.random.Generator) -> NDArray[np.int64]:
    sizes = _large_sizes(options, stream.random(count))
    least, most = options.small_bytes
    small = stream.integers(least, most, size=count, endpoint=True)
    return np.where(stream.random(count) < options.small_share, small, sizes)


def _draw_messages(
    options: TraceOptions, rates_per_s: NDArray[np.float64], stream: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw the pair and time in seconds of every message, from a faster Poisson process while ON."""
    faster = options.on_share ** -len(options.on_scales_s)
    counts = stream.poisson(rates_per_s * options.duration_s * faster)
    times: list[NDArray[np.float64]] = []
    for count in counts:
        drawn = stream.random(int(count)) * options.duration_s
        for scale_s in options.on_scales_s:
            drawn = drawn[_is_on(drawn, scale_s, options, stream)]
        times.append(drawn)
    pairs = np.repeat(np.arange(len(times)), [len(drawn) for drawn in times])
    return pairs, np.concatenate(times)


def _is_on(
    times_s: NDArray[np.float64], scale_s: float, options: TraceOptions, stream: np.random.Generator
) -> NDArray[np.bool_]:
    """Tell whether one ON/OFF process with exponential times is ON."""
    off_s = scale_s * (1.0 - options.on_share) / options.on_share
    cycles = options.duration_s / (scale_s + off_s)
    # Ten standard deviations more than the mean, so that the periods last for the whole trace.
    periods = 2 * math.ceil(cycles + 10.0 * math.sqrt(cycles) + 100.0)
    begins_on = bool(stream.random() < options.on_share)
    means_s = np.tile([scale_s, off_s] if begins_on else [off_s, scale_s], periods // 2)
    ends_s = np.cumsum(stream.exponential(means_s))
    return (np.searchsorted(ends_s, times_s) % 2 == 0) == begins_on


def _packets(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the message of every packet, and its place within the message."""
    messages = np.repeat(np.arange(len(counts)), counts)
    begins = np.cumsum(counts) - counts
    return messages, np.arange(len(messages)) - begins[messages]
