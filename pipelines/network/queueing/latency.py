"""Latency of every flow: waits and service at all queues of its way, there and back.

Belongs here: sums along routes, and the distribution of a round trip. Does not: waits at a queue
(`network.py`).

Source: chapter 5.3.4, algorithm 1 (lines 11 to 14): queueing and link delays are added along the path; the
round-trip time is the latency of a packet and that of its acknowledgement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from pipelines.network.compiled import compiled
from pipelines.network.queueing.network import QueueModel, Streams, model_queues
from pipelines.network.routing import Routing, route_flows
from pipelines.network.topology import Topology
from pipelines.network.traffic import TCP, Traffic

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
    """

    delay_s: NDArray[np.float64]
    rtt_s: NDArray[np.float64]
    wait_s: NDArray[np.float64]
    ack_wait_s: NDArray[np.float64]
    variance_s2: NDArray[np.float64]
    base_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkModel:
    """A modelled network.

    Attributes:
        queues: what the model says of every queue.
        data, acks: flows as the model sees them.
        stream_wait_s: mean wait of packets of every stream, beside the part of their own burst. (streams,)
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
    mean, scv = traffic.sizes.moments(traffic.header_bytes)
    ways = route_flows(topology, traffic.sources, traffic.destinations, routing)
    data = _streams(traffic, ways, mean, scv)
    acks = None
    if has_acks or traffic.protocol == TCP:
        back = route_flows(topology, traffic.destinations, traffic.sources, routing)
        acks = _streams(traffic, back, float(traffic.header_bytes + ack_bytes), 0.0)
    given = [data] if acks is None else [data, acks]
    queues = model_queues(topology, *given, capacity=capacity)
    return NetworkModel(
        topology=topology, traffic=traffic, queues=queues, data=data, acks=acks, capacity=capacity
    )


def _streams(traffic: Traffic, routes: NDArray[np.int32], mean_bytes: float, scv: float) -> Streams:
    ones = np.ones(len(traffic.sources))
    return Streams(
        routes=routes,
        rates_per_s=traffic.rates_per_s,
        mean_bytes=ones * mean_bytes,
        second_bytes2=ones * mean_bytes**2 * (1.0 + scv),
        scvs=ones * traffic.arrivals.scv,
    )


def stream_waits(
    model: NetworkModel, estimate: str = MAXIMUM_ENTROPY
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean waits of every stream: the part that all its packets share, and a factor of their own service.

    Returns: seconds, and seconds of wait a second of service (equation 5.1's own term); a packet's wait is
             shared + own x its service, at least 0. Each (streams,)
    """
    queues = model.queues
    of = queues.pairs.queue
    if estimate == MAXIMUM_ENTROPY:
        return (queues.common_s * queues.finite)[of], (queues.stream_scv - 1.0) / 2.0 * queues.finite[of]
    is_entry = queues.pairs.before < 0
    own = np.where(is_entry, (queues.stream_scv - 1.0) / 2.0, 0.0)
    return queues.tree_wait_s * queues.finite[of], own * queues.finite[of]


def flow_latency(model: NetworkModel, shared_s: NDArray[np.float64], own: NDArray[np.float64]) -> FlowLatency:
    """Latency of every flow from the waits of streams, see `stream_waits`."""
    data = _along(model, model.data, shared_s, own)
    zero = np.zeros(len(data[0]))
    acks = (zero, zero, zero) if model.acks is None else _along(model, model.acks, shared_s, own)
    base = data[1] + acks[1]
    return FlowLatency(
        delay_s=data[0] + data[1],
        rtt_s=data[0] + acks[0] + base,
        wait_s=data[0],
        ack_wait_s=acks[0],
        variance_s2=data[2] + acks[2],
        base_s=base,
    )


def _along(
    model: NetworkModel, streams: Streams, shared_s: NDArray[np.float64], own: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    pairs = model.queues.pairs
    return _sums(
        streams.routes,
        streams.mean_bytes,
        8.0 / model.topology.rates_bps,
        model.topology.delays_ns / 1e9,
        shared_s,
        own,
        model.queues.utilisation,
        pairs.first,
        pairs.position,
        pairs.entry,
    )


@compiled
def _sums(
    routes: NDArray[np.int32],
    mean_bytes: NDArray[np.float64],
    byte_s: NDArray[np.float64],
    delays_s: NDArray[np.float64],
    shared_s: NDArray[np.float64],
    own: NDArray[np.float64],
    utilisation: NDArray[np.float64],
    first: NDArray[np.int64],
    position: NDArray[np.int64],
    entry: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean wait, time without waits, and variance of waits of every flow.

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
            here = max(0.0, shared_s[stream] + own[stream] * service)
            busy = min(1.0, max(1e-9, utilisation[queue]))
            wait[flow] += here
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
