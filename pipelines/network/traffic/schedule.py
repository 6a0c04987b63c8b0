"""The packets of a run: time, flow and size of each; the input of every engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import compiled
from pipelines.network.errors import NetworkError
from pipelines.network.request import GENERALISED_EXPONENTIAL, ON_OFF
from pipelines.network.traffic.patterns import Traffic

PACKET_LIMIT = 1 << 28
DURATION_LIMIT_S = 3600.0
_NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schedule:
    """Packets in the order in which they are sent.

    Attributes:
        times_ns: transmission times, non-decreasing. (packets,)
        flows: numbers of flows. (packets,)
        payload_bytes: of packets. (packets,)
        duration_s: time in which packets are sent.
    """

    times_ns: NDArray[np.int64]
    flows: NDArray[np.int32]
    payload_bytes: NDArray[np.int32]
    duration_s: float


def draw_schedule(traffic: Traffic, *, duration_s: float, seed: int) -> Schedule:
    """Draw the packets of all flows over some time; the same seed gives the same packets.

    Args:   duration_s: of sending, warm-up included.
    Raises: NetworkError: the time or the number of packets is out of range, or flows were measured.
    """
    if traffic.moments is not None:
        raise NetworkError(
            "packets must be drawn from arrivals and sizes, got flows with moments of their own; the packets "
            "of a trace are its schedule"
        )
    if not 0.0 < duration_s <= DURATION_LIMIT_S:
        raise NetworkError(f"a duration must be above 0 to {DURATION_LIMIT_S:g} s, got {duration_s}")
    if seed < 0:
        raise NetworkError(f"a seed must be 0 or more, got {seed}")
    expected = float(traffic.rates_per_s.sum()) * duration_s
    if expected > PACKET_LIMIT:
        raise NetworkError(f"a run must have at most {PACKET_LIMIT} packets, got some {expected:.3g}")
    stream = np.random.Generator(np.random.Philox(key=seed))
    flows, times_s = _arrivals(traffic, duration_s, stream)
    payloads, shares = traffic.sizes.distribution()
    sizes = np.asarray(payloads, np.int32)
    if traffic.own is not None:
        sizes = traffic.own.payload_bytes[flows]
    elif len(sizes) > 1:
        sizes = stream.choice(sizes, len(flows), p=shares)
    else:
        sizes = np.full(len(flows), sizes[0], np.int32)
    times = np.rint(times_s * _NS).astype(np.int64)
    order = np.argsort(times, kind="stable")
    return Schedule(
        times_ns=times[order], flows=flows[order], payload_bytes=sizes[order], duration_s=duration_s
    )


def _arrivals(
    traffic: Traffic, duration_s: float, stream: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the flow and time in seconds of every packet, in no order."""
    arrivals = traffic.arrivals
    numbers = np.arange(len(traffic.sources), dtype=np.int32)
    if arrivals.kind == ON_OFF:
        peak, off, on = arrivals.on_off_rates(1.0)
        return _on_off(traffic.rates_per_s, peak, off, on, arrivals.on_share, duration_s, stream)
    if traffic.own is not None:
        return _own_arrivals(traffic, 2.0 / (traffic.own.scvs + 1.0), duration_s, stream)
    is_batched = arrivals.kind == GENERALISED_EXPONENTIAL
    ends = arrivals.batch_end if is_batched else 1.0
    batches = stream.poisson(traffic.rates_per_s * duration_s * ends)
    flows = np.repeat(numbers, batches)
    times = stream.random(len(flows)) * duration_s
    if is_batched:
        packets = stream.geometric(ends, len(flows))
        flows, times = np.repeat(flows, packets), np.repeat(times, packets)
    return flows, times


def _own_arrivals(
    traffic: Traffic, ends: NDArray[np.float64], duration_s: float, stream: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return generalised exponential arrivals. ends: probabilities of flows that a packet ends its batch."""
    batches = stream.poisson(traffic.rates_per_s * duration_s * ends)
    flows = np.repeat(np.arange(len(ends), dtype=np.int32), batches)
    times = stream.random(len(flows)) * duration_s
    packets = stream.geometric(ends[flows])
    return np.repeat(flows, packets), np.repeat(times, packets)


@compiled
def _on_off(
    rates: NDArray[np.float64],
    peak: float,
    off: float,
    on: float,
    on_share: float,
    duration_s: float,
    stream: np.random.Generator,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the interrupted Poisson processes; all rates are multiples of a flow's own."""
    room = 1024
    flows, times = np.empty(room, np.int32), np.empty(room, np.float64)
    count = 0
    for flow in range(len(rates)):
        rate = float(rates[flow])
        now = 0.0
        is_on = stream.random() < on_share
        change = float(stream.exponential(1.0 / (rate * (off if is_on else on))))
        while now < duration_s:
            if not is_on:
                now, is_on = change, True
                change = now + float(stream.exponential(1.0 / (rate * off)))
                continue
            packet = now + float(stream.exponential(1.0 / (rate * peak)))
            if packet >= change:
                now, is_on = change, False
                change = now + float(stream.exponential(1.0 / (rate * on)))
                continue
            now = packet
            if now < duration_s:
                if count == room:
                    flows = np.append(flows, np.empty(room, np.int32))
                    times = np.append(times, np.empty(room, np.float64))
                    room *= 2
                flows[count], times[count] = flow, now
                count += 1
    return flows[:count], times[:count]
