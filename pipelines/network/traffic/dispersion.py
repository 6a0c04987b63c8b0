"""Moments of measured flows for queueing theory, from their packets.

The squared coefficient of variation of the times between packets determines queue lengths only where these
times are independent. In a trace they are not: packets of a message follow each other evenly, messages arrive
together, and long silences, which do not affect a queue, cause most of the variance. Queue length depends on
the variance of the bytes that arrive within some time t, an index of dispersion. Written as the coefficient c
of independent times, with r packets per second of B bytes, it is

    var(bytes within t) / t = r (E[B^2] + E[B]^2 (c - 1)).

With t shorter than a burst every flow is Poisson (c = 1); a long t includes bursts of bursts that would
overflow any queue. So t is chosen by a known wait: a single queue with all packets of one host is simulated
in one pass over the trace, and t of that host is the time at which the formula of theory with c of its
flows,

    r (E[B^2] + E[B]^2 (c - 1)) x (seconds per byte)^2 / (2 (1 - rho)), summed over flows,

equals the mean work that waits in it. The c of a flow is the mean of those for t of its source and t of its
destination. Packets beyond the size of a queue are lost in that pass; otherwise bursts that cause losses
would count as waits.

On generated traces of 16 to 1,024 hosts at loads of 10 to 60 % flows' mean delays are 8 to 29 % off
simulation with this, 9 to 770 % with the variation of times between packets, 12 to 69 % as if they were
Poisson; with t of 1 ms for all, 16 to 42 %.

Source: Fendick and Whitt 1989, on the index of dispersion for work and the mean work in a queue; the choice
of t is the project's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import compiled
from pipelines.network.topology import Topology
from pipelines.network.traffic.patterns import SCV_LIMIT, FlowMoments
from pipelines.network.traffic.schedule import Schedule

FEW_PACKETS = 8
"""A flow with fewer packets is taken as Poisson."""
SCALES = 14
"""Number of times tried: the transmission time of a mean packet, then doubled; up to 0.4 s for 500 B at
100 Mbit/s."""
FEW_WINDOWS = 32
"""Minimum number of windows of a length in a trace; fewer give no reliable variance."""
_NEARLY_FULL = 0.999


def flow_moments(
    schedule: Schedule,
    sources: NDArray[np.int32],
    destinations: NDArray[np.int32],
    *,
    topology: Topology,
    header_bytes: int,
    capacity: int | None,
) -> FlowMoments:
    """Return the moments of the flows of some packets, with the variation that this module defines.

    Args:   sources, destinations: hosts of flows. (flows,)
            capacity: queue capacity, excluding the packet in transmission; None = unbounded.
    """
    flow_count = len(sources)
    wire_bytes = schedule.payload_bytes.astype(np.float64) + header_bytes
    counts = np.bincount(schedule.flows, minlength=flow_count)
    mean = np.bincount(schedule.flows, wire_bytes, flow_count) / counts
    second = np.maximum(np.bincount(schedule.flows, wire_bytes**2, flow_count) / counts, mean**2)
    ends = [
        _End(sources, _byte_s(topology, is_inward=False)),
        _End(destinations, _byte_s(topology, is_inward=True)),
    ]
    scales_s = float(wire_bytes.mean() * ends[0].byte_s.min()) * 2.0 ** np.arange(SCALES, dtype=np.float64)
    scales_s = scales_s[scales_s * FEW_WINDOWS <= schedule.duration_s]
    if len(scales_s) < 2:
        return FlowMoments(mean_bytes=mean, second_bytes2=second, scvs=np.ones(flow_count))
    rates = counts / schedule.duration_s
    spread = _spreads(schedule, wire_bytes, scales_s, flow_count)
    by_scale = 1.0 + (spread / rates - second) / mean**2  # (scales, flows)
    dispersion = np.zeros(flow_count)
    for end in ends:
        predicted_s = _predicted_s(by_scale, end, rates, mean, second)
        measured_s = _measured_s(schedule, end, wire_bytes, capacity)
        dispersion += _at_scale_of_hosts(by_scale, end.hosts, predicted_s, measured_s) / 2.0
    scvs = np.where(counts < FEW_PACKETS, 1.0, np.clip(dispersion, 0.0, SCV_LIMIT))
    return FlowMoments(mean_bytes=mean, second_bytes2=second, scvs=scvs)


@dataclass(frozen=True, slots=True)
class _End:
    """Hosts of flows at one end, and the seconds that a byte takes on the link of every host there.

    Shapes: hosts (flows,), byte_s (hosts,)
    """

    hosts: NDArray[np.int32]
    byte_s: NDArray[np.float64]


def _byte_s(topology: Topology, *, is_inward: bool) -> NDArray[np.float64]:
    """Return the time of sending a byte to every host or from it. (hosts,)"""
    hosts = topology.targets if is_inward else topology.sources
    is_ours = hosts < topology.host_count
    seconds = np.empty(topology.host_count)
    seconds[hosts[is_ours]] = 8.0 / topology.rates_bps[is_ours]
    return seconds


def _spreads(
    schedule: Schedule, wire_bytes: NDArray[np.float64], scales_s: NDArray[np.float64], flow_count: int
) -> NDArray[np.float64]:
    """Return the variance of every flow's bytes in windows of every length, over that: (scales, flows)."""
    order = np.argsort(schedule.flows, kind="stable")
    flows, times_s, sizes = schedule.flows[order], schedule.times_ns[order] / 1e9, wire_bytes[order]
    return np.stack(
        [
            _spread(flows, times_s, sizes, scale_s, int(schedule.duration_s / scale_s), flow_count)
            for scale_s in scales_s.tolist()
        ]
    )


@compiled
def _spread(
    flows: NDArray[np.int32],
    times_s: NDArray[np.float64],
    sizes: NDArray[np.float64],
    scale_s: float,
    windows: int,
    flow_count: int,
) -> NDArray[np.float64]:
    """Return the variance for one window length, of packets by flow and time, in complete windows."""
    one, two = np.zeros(flow_count), np.zeros(flow_count)
    flow, window, work = -1, -1, 0.0
    for packet in range(len(flows)):
        here = int(times_s[packet] / scale_s)
        if here >= windows:
            continue
        if here != window or flows[packet] != flow:
            if flow >= 0:
                one[flow] += work
                two[flow] += work * work
            flow, window, work = flows[packet], here, 0.0
        work += sizes[packet]
    if flow >= 0:
        one[flow] += work
        two[flow] += work * work
    return (two - one * one / windows) / (windows - 1) / scale_s


def _predicted_s(
    by_scale: NDArray[np.float64],
    end: _End,
    rates: NDArray[np.float64],
    mean: NDArray[np.float64],
    second: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean work by the formula in a queue of all packets of every host. (scales, hosts)"""
    count = len(end.byte_s)
    busy = np.bincount(end.hosts, rates * mean, count) * end.byte_s
    idle = 1.0 - np.minimum(busy, _NEARLY_FULL)
    sums = [np.bincount(end.hosts, rates * (second + mean**2 * (c - 1.0)), count) for c in by_scale]
    return np.stack(sums) * end.byte_s**2 / (2.0 * idle)


def _measured_s(
    schedule: Schedule, end: _End, wire_bytes: NDArray[np.float64], capacity: int | None
) -> NDArray[np.float64]:
    """Return the mean work in a queue of all packets of every host. (hosts,)"""
    hosts, count = end.hosts[schedule.flows], len(end.byte_s)
    work_s = wire_bytes * end.byte_s[hosts]
    means_s = np.bincount(hosts, work_s, count) / np.maximum(np.bincount(hosts, minlength=count), 1)
    limits_s = np.full(count, np.inf) if capacity is None else means_s * (capacity + 1)
    return _work(schedule.times_ns / 1e9, hosts, work_s, limits_s) / schedule.duration_s


@compiled
def _work(
    times_s: NDArray[np.float64],
    hosts: NDArray[np.int32],
    work_s: NDArray[np.float64],
    limits_s: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the integral over time of the queued work of every host; packets beyond the limit are lost."""
    left, last, area = np.zeros(len(limits_s)), np.zeros(len(limits_s)), np.zeros(len(limits_s))
    for packet in range(len(times_s)):
        host = hosts[packet]
        before = left[host]
        after = max(0.0, before - (times_s[packet] - last[host]))
        area[host] += (before * before - after * after) / 2.0
        left[host] = after + work_s[packet] if after < limits_s[host] else after
        last[host] = times_s[packet]
    return area + left * left / 2.0


def _at_scale_of_hosts(
    by_scale: NDArray[np.float64],
    hosts: NDArray[np.int32],
    predicted_s: NDArray[np.float64],
    measured_s: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the variation of every flow between two scales of its host that predict less and more than was
    measured.

    These are the first such scales; without any it is the variation at the nearest scale.
    """
    apart = predicted_s - measured_s
    crosses = apart[:-1] * apart[1:] <= 0.0
    nearest = np.argmin(np.abs(apart[:-1]) + np.abs(apart[1:]), axis=0)
    first = np.argmax(crosses, axis=0) + nearest * ~np.any(crosses, axis=0)
    columns = np.arange(len(measured_s))
    one, other = apart[first, columns], apart[first + 1, columns]
    part = np.clip(one / np.where(one == other, 1.0, one - other), 0.0, 1.0)
    flows, place, share = np.arange(len(hosts)), first[hosts], part[hosts]
    return by_scale[place, flows] * (1.0 - share) + by_scale[place + 1, flows] * share
