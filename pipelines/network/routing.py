"""Routes along shortest paths: equal-cost multi-path by a hash of the flow, or fixed by destination.

A node with several links on shortest paths selects one by a digit: of the flow's hash (ECMP: 16 bits per
choice), or of the destination's number (fixed: destination modulo the choices, as d-mod-k). In a fat-tree
these are the two uplink choices, at the edge and at the aggregation switch.

Source: chapter 5.3.2 (fixed and ECMP routing). The hash is splitmix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import in_parts, kernels
from pipelines.network.errors import NetworkError
from pipelines.network.request import ECMP, ROUTINGS, SEED_LIMIT
from pipelines.network.topology import Topology

HOP_LIMIT = 1 << 30  # 2 bytes each; one host to all in the largest fat-tree needs 844 million for acks
ROUTE_LIMIT = 1 << 26  # 4 bytes each; all to all in a fat-tree of 20 pods needs 24 million
KERNELS = Path(__file__).with_name("kernels.c")


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How one of several shortest paths is chosen.

    Attributes:
        kind: ecmp or fixed.
        seed: of the hash; other seeds give other paths.
    """

    kind: str = ECMP
    seed: int = 1

    def __post_init__(self) -> None:
        if self.kind not in ROUTINGS:
            raise NetworkError(f"unknown routing: {self.kind}; accepted: {', '.join(ROUTINGS)}")
        if not 0 <= self.seed < SEED_LIMIT:
            raise NetworkError(f"a routing seed must be 0 to {SEED_LIMIT - 1}, got {self.seed}")


def route_flows(
    topology: Topology, sources: NDArray[np.int32], destinations: NDArray[np.int32], routing: Routing
) -> NDArray[np.int32]:
    """Return the queues of every flow, from its source to its destination.

    Args:    sources, destinations: hosts. (flows,)
    Returns: numbers of queues, -1 after the last. (flows, longest path)
    Raises:  NetworkError: an end is not a host, both ends are the same host, or there are too many hops.
    """
    ends = (np.ascontiguousarray(sources, np.int32), np.ascontiguousarray(destinations, np.int32))
    for values in ends:
        if len(values) and not 0 <= int(values.min()) <= int(values.max()) < topology.host_count:
            wrong = int(values[(values < 0) | (values >= topology.host_count)][0])
            raise NetworkError(f"a flow must join hosts 0 to {topology.host_count - 1}, got {wrong}")
    same = np.flatnonzero(ends[0] == ends[1])
    if len(same):
        raise NetworkError(f"source and destination of a flow are the same host: {ends[0][same[0]]}")
    first, queues = _out_queues(topology)
    ends_of_flows = np.unique(ends[1])
    if len(ends_of_flows) * topology.node_count > HOP_LIMIT:
        raise NetworkError(
            f"destinations times nodes must be at most {HOP_LIMIT}, got {len(ends_of_flows)} times "
            f"{topology.node_count}"
        )
    rows = np.full(topology.host_count, -1, np.int64)
    rows[ends_of_flows] = np.arange(len(ends_of_flows))
    nodes = topology.node_count
    hops = np.empty((len(ends_of_flows), nodes), np.uint16)
    graph = (nodes, topology.targets, first, queues)
    front = np.empty(nodes, np.int32)
    kernels(KERNELS).hops_to(len(ends_of_flows), ends_of_flows, *graph, topology.host_count, front, hops)
    lengths = hops[rows[ends[1]], ends[0]] if len(ends[0]) else np.zeros(1, np.uint16)
    longest = int(lengths.max())
    if len(ends[0]) * longest > ROUTE_LIMIT:
        raise NetworkError(
            f"flows times links of the longest route must be at most {ROUTE_LIMIT}, got {len(ends[0])} times "
            f"{longest}"
        )
    routes = np.empty((len(ends[0]), longest), np.int32)
    choice = (hops, rows, topology.host_count, routing.kind == ECMP, routing.seed)

    def walk(part: slice) -> None:
        sources, destinations = (values[part] for values in ends)
        order = np.argsort(destinations, kind="stable")
        scratch = (np.empty(len(queues), np.int32), np.empty(nodes, np.int64), np.full(nodes, -1, np.int64))
        flows = (len(order), order, longest, routes[part], sources, destinations)
        kernels(KERNELS).walk(*flows, *graph, *choice, *scratch)

    in_parts(len(routes), walk)
    return routes


def _out_queues(topology: Topology) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the queues in the order of their nodes: index of each node's first queue, and the queues."""
    order = np.argsort(topology.sources, kind="stable").astype(np.int32)
    counts = np.bincount(topology.sources, minlength=topology.node_count)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order
