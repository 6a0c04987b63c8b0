"""Times of collectives without packets: transfers pass first-come-first-served queues in a few pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.network.collectives.jobs import Job, JobSteps
from pipelines.network.compiled import kernels
from pipelines.network.errors import NetworkError
from pipelines.network.routing import Routing, route_flows
from pipelines.network.topology import Topology

KERNELS = Path(__file__).with_name("transfers.c")
PASSES, MOST_PIECES = 4_000_000, 64
"""Pieces that pass a queue, some 2 s on a core; the pieces of a transfer follow from it."""
PASSES_LIMIT = 200_000_000
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """How transfers are cut: payload of a full packet, and headers of each, in bytes."""

    payload_bytes: int
    header_bytes: int

    def count(self, size_bytes: int) -> int:
        """Return the packets of a transfer."""
        return -(-size_bytes // self.payload_bytes)

    def wire_bits(self, size_bytes: int) -> int:
        """Return the bits of a transfer with all headers."""
        return 8 * (size_bytes + self.header_bytes * self.count(size_bytes))

    def largest_bits(self, size_bytes: int) -> int:
        """Return the bits of the largest packet of a transfer."""
        return 8 * (min(size_bytes, self.payload_bytes) + self.header_bytes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferTimes:
    """Times of jobs.

    Attributes:
        ends_s: of the steps of each job, from time 0. One array a job, (steps,)
        alone_s: time of each job if the links of its hosts were the only ones. (jobs,)
        busiest_s: time of each job if it were the only one and each step took as long as its busiest link
            sends, and a packet's way. (jobs,)
        queue_bits: through every queue. (queues,)
    """

    ends_s: tuple[Vector, ...]
    alone_s: Vector
    busiest_s: Vector
    queue_bits: Vector


def transfer_times(
    topology: Topology, jobs: Sequence[Job], *, routing: Routing, packets: Packets
) -> TransferTimes:
    """Return when each step of each job ends.

    Raises: NetworkError: a host is not of the network, or the routes are too many.
    """
    steps = [job.steps for job in jobs]
    patterns = [pattern for own in steps for pattern in own.patterns]
    counts = np.array([len(pattern.sources) for pattern in patterns])
    pattern_first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    routes = route_flows(
        topology,
        np.concatenate([pattern.sources for pattern in patterns]),
        np.concatenate([pattern.destinations for pattern in patterns]),
        routing,
    )
    on_route = routes >= 0
    hops = on_route.sum(1)
    offsets = np.cumsum([0, *(len(own.patterns) for own in steps)])
    order = np.concatenate(
        [np.array(own.order) + offset for own, offset in zip(steps, offsets[:-1], strict=True)]
    ).astype(np.int32)
    step_first = np.cumsum([0, *(len(own.order) for own in steps)]).astype(np.int64)
    bits = np.repeat([packets.wire_bits(p.size_bytes) for p in patterns], counts).astype(np.float64)
    last_bits = np.repeat([packets.largest_bits(p.size_bytes) for p in patterns], counts).astype(np.float64)
    rates, delays_s = topology.rates_bps.astype(np.float64), topology.delays_ns * 1e-9
    uses = np.bincount(order, minlength=len(patterns)).repeat(counts)
    passes = int((hops if len(jobs) == 1 else hops * uses).sum())
    if passes > PASSES_LIMIT:
        raise NetworkError(
            f"transfers of all steps times links of their routes must be at most {PASSES_LIMIT:,}, got "
            f"{passes:,}: fewer hosts, or one job alone"
        )
    most = max(packets.count(pattern.size_bytes) for pattern in patterns)
    pieces = max(1, min(most, MOST_PIECES, PASSES // passes))
    ends_s = np.empty(len(order))
    failed = kernels(KERNELS).step_ends(
        len(jobs),
        np.array([job.start_s for job in jobs], np.float64),
        step_first,
        order,
        len(patterns),
        pattern_first,
        bits,
        last_bits,
        pieces,
        np.concatenate([[0], np.cumsum(hops)]).astype(np.int64),
        routes[on_route],
        topology.queue_count,
        rates,
        delays_s,
        np.empty(len(patterns)),
        ends_s,
    )
    if failed:
        raise NetworkError(f"no memory for {len(routes)} transfers in {pieces} pieces each")
    packet_s = np.where(on_route, last_bits[:, None] / rates[routes], 0.0)
    way_s = packet_s.sum(1) - packet_s.max(1) + np.where(on_route, delays_s[routes], 0.0).sum(1)
    alone = np.maximum.reduceat(bits / rates[routes[:, 0]] + way_s, pattern_first[:-1])
    busiest = np.array(
        [
            float((_load(routes[a:b], bits[a:b], topology) / rates).max()) + float(way_s[a:b].max())
            for a, b in pairwise(pattern_first.tolist())
        ]
    )
    return TransferTimes(
        ends_s=tuple(np.split(ends_s, step_first[1:-1])),
        alone_s=_per_job(alone, steps, offsets),
        busiest_s=_per_job(busiest, steps, offsets),
        queue_bits=_load(routes, bits * uses, topology),
    )


def _load(routes: NDArray[np.int32], bits: Vector, topology: Topology) -> Vector:
    """Return the bits of transfers through every queue. (queues,)"""
    on_route = routes >= 0
    load = np.bincount(routes[on_route], bits.repeat(on_route.sum(1)), topology.queue_count)
    return load.astype(np.float64)


def _per_job(values: Vector, steps: Sequence[JobSteps], offsets: NDArray[np.int64]) -> Vector:
    """Return the sum over the steps of each job of a value per pattern. (jobs,)"""
    return np.array(
        [
            float(np.cumsum(values[np.array(own.order) + offset])[-1])
            for own, offset in zip(steps, offsets[:-1], strict=True)
        ]
    )
