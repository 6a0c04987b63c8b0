"""Routes along shortest paths: equal-cost multi-path by a hash of the flow, or fixed by destination.

A node with several links on shortest paths selects one by a digit: of the flow's hash (ECMP: 16 bits per
choice), or of the destination's number (fixed: destination modulo the choices, as d-mod-k). In a fat-tree
these are the two uplink choices, at the edge and at the aggregation switch.

Source: chapter 5.3.2 (fixed and ECMP routing). The hash is splitmix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import compiled, in_parts
from pipelines.network.errors import NetworkError
from pipelines.network.topology import Topology

ECMP, FIXED = "ecmp", "fixed"
ROUTINGS = (ECMP, FIXED)
SEED_LIMIT = 1 << 20
HOP_LIMIT = 1 << 30  # 2 bytes each; one host to all in the largest fat-tree needs 844 million for acks
ROUTE_LIMIT = 1 << 26  # 4 bytes each; all to all in a fat-tree of 20 pods needs 24 million
_FAR = 65535
_NO_QUEUE = -1


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
    """Queues of every flow, from its source to its destination.

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
    hops = _hops_to(ends_of_flows, topology.targets, first, queues, topology.host_count)
    lengths = hops[rows[ends[1]], ends[0]] if len(ends[0]) else np.zeros(1, np.uint16)
    longest = int(lengths.max())
    if len(ends[0]) * longest > ROUTE_LIMIT:
        raise NetworkError(
            f"flows times links of the longest route must be at most {ROUTE_LIMIT}, got {len(ends[0])} times "
            f"{longest}"
        )
    routes = np.empty((len(ends[0]), longest), np.int32)
    graph = (topology.targets, first, queues, hops, rows)
    choice = (topology.host_count, routing.kind == ECMP, np.uint64(routing.seed))
    in_parts(len(routes), lambda part: _walk(routes[part], ends[0][part], ends[1][part], *graph, *choice))
    return routes


def _out_queues(topology: Topology) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Queues in the order of their nodes: index of each node's first queue, and the queues."""
    order = np.argsort(topology.sources, kind="stable").astype(np.int32)
    counts = np.bincount(topology.sources, minlength=topology.node_count)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order


@compiled
def _hops_to(
    destinations: NDArray[np.int32],
    targets: NDArray[np.int32],
    first: NDArray[np.int64],
    queues: NDArray[np.int32],
    host_count: int,
) -> NDArray[np.uint16]:
    """Links from every node to each destination, by breadth-first search; hosts do not forward."""
    nodes = len(first) - 1
    hops = np.full((len(destinations), nodes), _FAR, np.uint16)
    front = np.empty(nodes, np.int32)
    for row in range(len(destinations)):
        own = hops[row]
        own[destinations[row]] = 0
        front[0] = destinations[row]
        head, tail = 0, 1
        while head < tail:
            node = front[head]
            head += 1
            if node < host_count and node != destinations[row]:
                continue
            for place in range(first[node], first[node + 1]):
                other = targets[queues[place]]
                if own[other] == _FAR:
                    own[other] = own[node] + 1
                    front[tail] = other
                    tail += 1
    return hops


@compiled
def _mixed(value: np.uint64) -> np.uint64:
    """splitmix64 of a 64-bit number."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def _walk(
    routes: NDArray[np.int32],
    sources: NDArray[np.int32],
    destinations: NDArray[np.int32],
    targets: NDArray[np.int32],
    first: NDArray[np.int64],
    queues: NDArray[np.int32],
    hops: NDArray[np.uint16],
    rows: NDArray[np.int64],
    host_count: int,
    by_hash: bool,
    seed: np.uint64,
) -> None:
    """Queues of every flow: at each node one of the queues that lead closer to the destination."""
    routes[:] = _NO_QUEUE
    for flow in range(len(sources)):
        node, end = sources[flow], destinations[flow]
        own = hops[rows[end]]
        digits = np.uint64(end)
        if by_hash:
            digits = _mixed(
                np.uint64(node) * np.uint64(host_count) + np.uint64(end) ^ (seed << np.uint64(40))
            )
        used = 0
        for hop in range(own[node]):
            closer = own[node] - 1
            count = 0
            for place in range(first[node], first[node + 1]):
                count += own[targets[queues[place]]] == closer
            digit = 0
            if count > 1:
                if by_hash:
                    if used == 4:
                        digits, used = _mixed(digits), 0
                    digit = (digits >> np.uint64(16 * used) & np.uint64(0xFFFF)) % np.uint64(count)
                    used += 1
                else:
                    digit = digits % np.uint64(count)
                    digits = digits // np.uint64(count)
            for place in range(first[node], first[node + 1]):
                queue = queues[place]
                if own[targets[queue]] == closer:
                    if digit == 0:
                        routes[flow, hop] = queue
                        node = targets[queue]
                        break
                    digit -= 1
