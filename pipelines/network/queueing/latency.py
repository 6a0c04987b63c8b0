"""Latency of every flow: waits and service at all queues of its way, there and back.

Belongs here: sums along routes, and the distribution of a round trip. Does not: waits at a queue
(`network.py`).

Source: chapter 5.3.4, algorithm 1 (lines 11 to 14): queueing and link delays are added along the path; the
round-trip time is the latency of a packet and that of its acknowledgement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from pipelines.network.compiled import compiled
from pipelines.network.queueing.network import QueueModel, Streams, model_queues
from pipelines.network.routing import Routing, route_flows
from pipelines.network.topology import Topology
from pipelines.network.traffic import TCP, FlowMoments, Traffic

MAXIMUM_ENTROPY, TREE = "maximum_entropy", "tree"
ESTIMATES = (MAXIMUM_ENTROPY, TREE)
QUANTILES = (0.5, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowLatency:
    """Latency of flows in seconds. Each (flows,)

    Attributes:
        delay_s: mean, from sending to arrival. rtt_s: mean, until the acknowledgement is back.
        wait_s, ack_wait_s: mean, in queues.
        variance_s2: of the waits of a round trip.
        base_s: round trip without waits.
        queue_wait_s: mean over all packets of every queue; 0 without any. (queues,)
    """

    delay_s: NDArray[np.float64]
    rtt_s: NDArray[np.float64]
    wait_s: NDArray[np.float64]
    ack_wait_s: NDArray[np.float64]
    variance_s2: NDArray[np.float64]
    base_s: NDArray[np.float64]
    queue_wait_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkModel:
    """A modelled network.

    Attributes:
        queues: what the model says of every queue.
        data, acks: flows as the model sees them.
        capacity: packets that a queue holds beside the one that is sent; None for no end.
    """

    topology: Topology
    traffic: Traffic
    queues: QueueModel
    data: Streams
    acks: Streams | None
    capacity: int | None


def model_network(
    topology: Topology,
    traffic: Traffic,
    *,
    routing: Routing | None = None,
    capacity: int | None = 128,
    has_acks: bool = True,
    ack_bytes: int = 0,
) -> NetworkModel:
    """Waits at all queues of a network under some traffic.

    Args:   capacity: packets that a queue holds beside the one that is sent; None for queues without end.
            ack_bytes: payload of acknowledgements.
    Raises: NetworkError: queues without end are offered more than they can send.
    """
    routing = routing or Routing()
    moments = traffic.flow_moments()
    ways = route_flows(topology, traffic.sources, traffic.destinations, routing)
    data = _streams(traffic, ways, moments)
    acks = None
    if has_acks or traffic.protocol == TCP:
        back = route_flows(topology, traffic.destinations, traffic.sources, routing)
        size = np.full(len(back), float(traffic.header_bytes + ack_bytes))
        acks = _streams(traffic, back, replace(moments, mean_bytes=size, second_bytes2=size**2))
    given = [data] if acks is None else [data, acks]
    queues = model_queues(topology, *given, capacity=capacity)
    return NetworkModel(
        topology=topology, traffic=traffic, queues=queues, data=data, acks=acks, capacity=capacity
    )


def _streams(traffic: Traffic, routes: NDArray[np.int32], moments: FlowMoments) -> Streams:
    return Streams(
        routes=routes,
        rates_per_s=traffic.rates_per_s,
        mean_bytes=moments.mean_bytes,
        second_bytes2=moments.second_bytes2,
        scvs=moments.scvs,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamWaits:
    """Mean waits of packets by stream: shared + own x service + behind x what is left of a larger packet.

    Attributes:
        shared_s: what all packets of a stream wait.
        own: seconds a second of a packet's own service, for its own burst (first term of equation 5.1).
        behind: utilisation of the queue before by the stream, with which a packet follows one of its own.
        larger_s: service of that one. idle: probability that the queue before was empty. All (streams,)
    """

    shared_s: NDArray[np.float64]
    own: NDArray[np.float64]
    behind: NDArray[np.float64]
    larger_s: NDArray[np.float64]
    idle: NDArray[np.float64]


def stream_waits(model: NetworkModel, estimate: str = MAXIMUM_ENTROPY) -> StreamWaits:
    """Mean waits at all queues by one of `ESTIMATES`.

    In the estimate of trees packets of one stream and one size do not meet again, but a small one that
    follows a large one of its stream does: it is passed on while the large one is still being sent. When it
    had to wait before, with the probability that the queue was busy, it is right behind, and waits for the
    difference of their times of sending; else half of a large one is left in the mean.
    """
    queues = model.queues
    of, source = queues.pairs.queue, queues.pairs.before
    factor, nothing = queues.finite[of], np.zeros(len(of))
    if estimate == MAXIMUM_ENTROPY:
        return StreamWaits(
            shared_s=queues.common_s[of] * factor,
            own=(queues.stream_scv - 1.0) / 2.0 * factor,
            behind=nothing,
            larger_s=nothing,
            idle=nothing,
        )
    is_entry = source < 0
    load, rates = queues.load, model.topology.rates_bps
    work = np.maximum(load.utilisation, 1e-300)
    here = np.where(is_entry, 0.0, load.utilisation * rates[of] / rates[source])
    return StreamWaits(
        shared_s=queues.tree_wait_s * factor,
        own=np.where(is_entry, (queues.stream_scv - 1.0) / 2.0, 0.0) * factor,
        behind=here * factor,
        larger_s=load.service2_s / work,
        idle=1.0 - np.minimum(1.0, queues.utilisation[source]),
    )


def flow_latency(model: NetworkModel, waits: StreamWaits) -> FlowLatency:
    """Latency of every flow from the waits of streams."""
    waiting = np.zeros(model.topology.queue_count)  # packets, in the mean
    data = _along(model, model.data, waits, waiting)
    zero = np.zeros(len(data[0]))
    acks = (zero, zero, zero) if model.acks is None else _along(model, model.acks, waits, waiting)
    base = data[1] + acks[1]
    return FlowLatency(
        delay_s=data[0] + data[1],
        rtt_s=data[0] + acks[0] + base,
        wait_s=data[0],
        ack_wait_s=acks[0],
        variance_s2=data[2] + acks[2],
        base_s=base,
        queue_wait_s=waiting / np.maximum(model.queues.rate_per_s, 1e-300),
    )


def hop_waits_s(model: NetworkModel, streams: Streams, waits: StreamWaits) -> NDArray[np.float64]:
    """Mean wait of every flow at every queue of its way, 0 after the last. (flows, longest path)"""
    pairs = model.queues.pairs
    return _hop_waits(
        streams.routes,
        streams.mean_bytes,
        8.0 / model.topology.rates_bps,
        waits.shared_s,
        waits.own,
        waits.behind,
        waits.larger_s,
        waits.idle,
        pairs.first,
        pairs.position,
        pairs.entry,
    )


@compiled
def _hop_waits(
    routes: NDArray[np.int32],
    mean_bytes: NDArray[np.float64],
    byte_s: NDArray[np.float64],
    shared_s: NDArray[np.float64],
    own: NDArray[np.float64],
    behind: NDArray[np.float64],
    larger_s: NDArray[np.float64],
    idle: NDArray[np.float64],
    first: NDArray[np.int64],
    position: NDArray[np.int64],
    entry: int,
) -> NDArray[np.float64]:
    found = np.zeros(routes.shape)
    for flow in range(routes.shape[0]):
        before = -1
        for hop in range(routes.shape[1]):
            queue = routes[flow, hop]
            if queue < 0:
                break
            stream = entry + queue if before < 0 else first[before] + position[queue]
            service = mean_bytes[flow] * byte_s[queue]
            found[flow, hop] = _wait_at(stream, service, shared_s, own, behind, larger_s, idle)
            before = queue
    return found


@compiled
def _wait_at(
    stream: int,
    service: float,
    shared_s: NDArray[np.float64],
    own: NDArray[np.float64],
    behind: NDArray[np.float64],
    larger_s: NDArray[np.float64],
    idle: NDArray[np.float64],
) -> float:
    """Wait of a packet of some service in its stream."""
    wait = float(shared_s[stream]) + float(own[stream]) * service
    if behind[stream] > 0.0 and larger_s[stream] > service:
        left = float(idle[stream]) * max(0.0, larger_s[stream] / 2.0 - service)
        wait += float(behind[stream]) * (float(larger_s[stream]) - service + left)
    return max(0.0, wait)


def _along(
    model: NetworkModel, streams: Streams, waits: StreamWaits, waiting: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    pairs = model.queues.pairs
    return _sums(
        waiting,
        streams.routes,
        streams.rates_per_s,
        streams.mean_bytes,
        8.0 / model.topology.rates_bps,
        model.topology.delays_ns / 1e9,
        waits.shared_s,
        waits.own,
        waits.behind,
        waits.larger_s,
        waits.idle,
        model.queues.utilisation,
        pairs.first,
        pairs.position,
        pairs.entry,
    )


@compiled
def _sums(
    waiting: NDArray[np.float64],
    routes: NDArray[np.int32],
    rates: NDArray[np.float64],
    mean_bytes: NDArray[np.float64],
    byte_s: NDArray[np.float64],
    delays_s: NDArray[np.float64],
    shared_s: NDArray[np.float64],
    own: NDArray[np.float64],
    behind: NDArray[np.float64],
    larger_s: NDArray[np.float64],
    idle: NDArray[np.float64],
    utilisation: NDArray[np.float64],
    first: NDArray[np.int64],
    position: NDArray[np.int64],
    entry: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean wait, time without waits, and variance of waits of every flow; adds to the packets waiting.

    The variance is that of a wait which is 0 with probability 1 - rho and exponential otherwise, as in M/M/1,
    and of independent waits along the route.
    """
    flows = routes.shape[0]
    wait, base, variance = np.zeros(flows), np.zeros(flows), np.zeros(flows)
    for flow in range(flows):
        before = -1
        for hop in range(routes.shape[1]):
            queue = routes[flow, hop]
            if queue < 0:
                break
            stream = entry + queue if before < 0 else first[before] + position[queue]
            service = mean_bytes[flow] * byte_s[queue]
            here = _wait_at(stream, service, shared_s, own, behind, larger_s, idle)
            busy = min(1.0, max(1e-9, utilisation[queue]))
            wait[flow] += here
            waiting[queue] += rates[flow] * here
            base[flow] += service + delays_s[queue]
            variance[flow] += here * here * (2.0 / busy - 1.0)
            before = queue
    return wait, base, variance


def rtt_quantile_s(latency: FlowLatency, probability: float) -> NDArray[np.float64]:
    """Quantile of every flow's round trip, waits gamma-distributed with their mean and variance. (flows,)"""
    mean, variance = latency.wait_s + latency.ack_wait_s, latency.variance_s2
    shape = mean**2 / np.maximum(variance, 1e-300)
    scale = variance / np.maximum(mean, 1e-300)
    return latency.base_s + np.where(
        mean > 0, gammaincinv(np.maximum(shape, 1e-12), probability) * scale, 0.0
    )
