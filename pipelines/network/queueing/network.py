"""A network of queues in one topological pass: decomposition, waits of every flow at every queue.

Flows that go from one queue to the same next queue form one stream: a million flows form some hundred
thousand streams, and the pass takes milliseconds.

There are two estimates. `common_s` and `stream_scv` are the paper's: each stream arrives with the variation
that decomposition gives it. `tree_wait_s` uses that packets of one stream were already serialised by the
previous queue, over a link of the same rate, so that they do not wait for each other again: the wait of a
stream is the wait in a queue that all its flows enter directly from their hosts, less the wait of the stream
alone in such a queue. Where queues form a tree and all packets have one size this follows from
packet to packet: the last queue of the tree sends each when a single queue with all arrivals would. Where
streams part and sizes mix it is an approximation.

Source: chapter 5.3.3 and 5.3.4, algorithm 1 (lines 3 to 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import in_parts, kernels
from pipelines.network.errors import NetworkError
from pipelines.network.queueing.maximum_entropy import NEAR_ONE
from pipelines.network.routing import KERNELS
from pipelines.network.topology import Topology

NEARLY_FULL = 0.999
"""Upper limit of the utilisation that unbounded queues are computed with."""
PASS_LIMIT = 200
"""Maximum passes over queues that depend on each other in a cycle; fat-trees have no cycle."""
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streams:
    """Flows of the model. Each (flows,), routes (flows, longest path)

    Attributes:
        routes: queues, -1 after the last.
        rates_per_s: packets.
        mean_bytes, second_bytes2: mean and mean square of bytes on the wire.
        scvs: squared coefficients of variation of times between packets at the host.
    """

    routes: NDArray[np.int32]
    rates_per_s: NDArray[np.float64]
    mean_bytes: NDArray[np.float64]
    second_bytes2: NDArray[np.float64]
    scvs: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Streams: from a queue to a next one, and from hosts into their own queue.

    Attributes:
        first: number of the stream from a queue to the first queue of the node that it leads to. (queues,)
        position: of a queue among those of its node. (queues,)
        before: queue that a stream comes from, -1 for a host's own. (streams,)
        queue: queue that it enters. (streams,)
    """

    first: NDArray[np.int64]
    position: NDArray[np.int64]
    before: NDArray[np.int32]
    queue: NDArray[np.int32]

    @property
    def count(self) -> int:
        """Streams, those without flows included."""
        return len(self.queue)

    @property
    def entry(self) -> int:
        """Number of the stream from the host into queue 0; the others follow."""
        return len(self.queue) - len(self.first)


def pairs_of(topology: Topology) -> Pairs:
    """Return the number every pair of queues that a packet can go through in turn."""
    order = np.argsort(topology.sources, kind="stable")
    counts = np.bincount(topology.sources, minlength=topology.node_count)
    begins = np.concatenate([[0], np.cumsum(counts)])
    position = np.empty(topology.queue_count, np.int64)
    position[order] = np.arange(topology.queue_count) - np.repeat(begins[:-1], counts)
    nexts = counts[topology.targets]
    first = np.concatenate([[0], np.cumsum(nexts)[:-1]]).astype(np.int64)
    total = int(nexts.sum())
    before = np.repeat(np.arange(topology.queue_count), nexts)
    place = np.arange(total) - first[before] + begins[topology.targets[before]]
    own = np.arange(topology.queue_count)
    return Pairs(
        first=first,
        position=position,
        before=np.concatenate([before, np.full(topology.queue_count, -1)]).astype(np.int32),
        queue=np.concatenate([order[place], own]).astype(np.int32),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamLoad:
    """Load of every stream on its queue. Each (streams,)

    Attributes:
        rate_per_s: packets.
        utilisation: of the queue's link.
        service2_s: rate times mean square of service, in seconds.
        burst_s: rate times squared service times (scv - 1), of its flows at their hosts, in seconds.
        scv_rate: rate times scv of its flows at their hosts.
    """

    rate_per_s: NDArray[np.float64]
    utilisation: NDArray[np.float64]
    service2_s: NDArray[np.float64]
    burst_s: NDArray[np.float64]
    scv_rate: NDArray[np.float64]


def stream_load(topology: Topology, pairs: Pairs, streams: Streams) -> StreamLoad:
    """Sum flows by stream."""
    sums = np.sum(_part_sums(pairs, streams, 8.0 / topology.rates_bps), axis=0)
    columns = [np.ascontiguousarray(sums[:, place]) for place in range(5)]
    return StreamLoad(
        rate_per_s=columns[0],
        utilisation=columns[1],
        service2_s=columns[2],
        burst_s=columns[3],
        scv_rate=columns[4],
    )


def _together(loads: Sequence[StreamLoad]) -> StreamLoad:
    names = [field.name for field in fields(StreamLoad)]
    return StreamLoad(**{name: np.sum([getattr(load, name) for load in loads], axis=0) for name in names})


def _part_sums(pairs: Pairs, streams: Streams, byte_s: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the sums by stream of parts of flows. Each (streams, 5)"""

    def part_sums(part: slice) -> NDArray[np.float64]:
        routes, sums = streams.routes[part], np.zeros((pairs.count, 5))
        moments = (streams.rates_per_s, streams.mean_bytes, streams.second_bytes2, streams.scvs)
        kernels(KERNELS).stream_sums(
            *routes.shape,
            routes,
            *(values[part] for values in moments),
            byte_s,
            pairs.first,
            pairs.position,
            pairs.entry,
            sums,
        )
        return sums

    return in_parts(len(streams.routes), part_sums)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueueModel:
    """Estimates for every queue (queues,) and stream (streams,).

    Attributes:
        rate_per_s, utilisation: offered to a queue. (queues,)
        arrival_scv, service_scv, departure_scv: of a queue. (queues,)
        common_s: wait that all packets of a queue share. (queues,)
        finite: factor on waits for the limited capacity, 1 for an unbounded queue. (queues,)
        stream_scv: of a stream as it arrives. (streams,)
        tree_wait_s: wait of a stream's packets, which the previous queue has serialised. (streams,)
        load: load of streams. loads: load of each argument `streams`, in order.
        pairs: numbers of streams.
    """

    rate_per_s: NDArray[np.float64]
    utilisation: NDArray[np.float64]
    arrival_scv: NDArray[np.float64]
    service_scv: NDArray[np.float64]
    departure_scv: NDArray[np.float64]
    common_s: NDArray[np.float64]
    finite: NDArray[np.float64]
    stream_scv: NDArray[np.float64]
    tree_wait_s: NDArray[np.float64]
    load: StreamLoad
    loads: tuple[StreamLoad, ...]
    pairs: Pairs


def model_queues(topology: Topology, *streams: Streams, capacity: int | None) -> QueueModel:
    """Return the waits in all queues.

    Args:   capacity: queue capacity, excluding the packet in transmission; None = unbounded.
    Raises: NetworkError: an unbounded queue is offered more than it can send.
    """
    pairs = pairs_of(topology)
    loads = tuple(stream_load(topology, pairs, flows) for flows in streams)
    load = _together(loads)
    offered = np.bincount(pairs.queue, load.utilisation, topology.queue_count)
    if capacity is None and len(offered) and offered.max() >= 1.0:
        worst = int(offered.argmax())
        raise NetworkError(
            f"utilisation of unbounded queue {worst} is {offered[worst]:.4g} (node "
            f"{topology.node_id(int(topology.sources[worst]))} to "
            f"{topology.node_id(int(topology.targets[worst]))}); accepted: below 1; "
            "lower the load or set a queue capacity"
        )
    used = np.flatnonzero(load.rate_per_s > 0)
    by_queue = used[np.argsort(pairs.queue[used], kind="stable")]
    begins = np.searchsorted(pairs.queue[by_queue], np.arange(topology.queue_count + 1))
    order = np.empty(topology.queue_count, np.int64)
    circular = kernels(KERNELS).topological_order(
        len(by_queue), by_queue, pairs.before, pairs.queue, topology.queue_count, order
    )
    if circular < 0:
        raise MemoryError
    figures = np.zeros((7, topology.queue_count))
    figures[0] = np.bincount(pairs.queue, load.rate_per_s, topology.queue_count)
    scvs, tree = np.ones(pairs.count), np.zeros(pairs.count)
    # Flows of one stream enter the network with these; at later queues decomposition gives others.
    entries = used[pairs.before[used] < 0]
    scvs[entries] = load.scv_rate[entries] / load.rate_per_s[entries]
    for _ in range(PASS_LIMIT if circular else 1):
        before = scvs.copy()
        kernels(KERNELS).queue_pass(
            topology.queue_count,
            order,
            begins,
            by_queue,
            pairs.before,
            load.rate_per_s,
            load.utilisation,
            load.service2_s,
            load.burst_s,
            -1 if capacity is None else capacity + 1,
            NEARLY_FULL,
            NEAR_ONE,
            figures,
            scvs,
            tree,
        )
        if np.max(np.abs(scvs - before), initial=0.0) < _TOLERANCE:
            break
    return QueueModel(
        rate_per_s=figures[0],
        utilisation=figures[1],
        arrival_scv=figures[2],
        service_scv=figures[3],
        departure_scv=figures[4],
        common_s=figures[5],
        finite=figures[6],
        stream_scv=scvs,
        tree_wait_s=tree,
        load=load,
        loads=loads,
        pairs=pairs,
    )
