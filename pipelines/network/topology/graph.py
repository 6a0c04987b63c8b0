"""A network of output-queued switches: every direction of every link is a queue and its server.

Source: the output-queued abstraction of chapter 5.2 (figure 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.base.identity import content_hash
from pipelines.network.errors import NetworkError

HOST_TIER = 0
RATE_LIMIT_BPS = 10**13
DELAY_LIMIT_NS = 10**9
NODE_LIMIT = 1 << 16
LINK_LIMIT = 1 << 17
LINK_PAIR_LIMIT = 1 << 23
"""The largest fat-tree (48 pods) has 30,528 nodes, 82,944 links and 6.7 million pairs of links at nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A full-duplex link.

    Attributes:
        ends: nodes.
        rate_bps: of each direction; delay_ns: of propagation.
    """

    ends: tuple[int, int]
    rate_bps: int
    delay_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Topology:
    """Nodes and queues; nodes 0 to `host_count` - 1 are hosts, each with one link.

    Attributes:
        name: for display.
        host_count: nodes that send and receive.
        tiers: of every node: 0 a host, then away from the hosts. (nodes,)
        sources, targets: node of a queue, and node at the other end of its link. (queues,)
        rates_bps, delays_ns: of the link that a queue feeds. (queues,)
        kinds: of every queue, an index into `kind_names`. (queues,)
        kind_names: queues of one kind have similar traffic; corrections are learned per kind.
        node_ids: of every node in the file that the network is from; without one, nodes have numbers alone.
    """

    name: str
    host_count: int
    tiers: NDArray[np.int32]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    rates_bps: NDArray[np.int64]
    delays_ns: NDArray[np.int64]
    kinds: NDArray[np.int32]
    kind_names: tuple[str, ...]
    node_ids: tuple[str, ...] = ()

    @property
    def node_count(self) -> int:
        """Hosts and switches."""
        return len(self.tiers)

    @property
    def queue_count(self) -> int:
        """Directed links."""
        return len(self.sources)

    @property
    def host_ids(self) -> tuple[str, ...]:
        """Ids of the hosts, in the order of their numbers."""
        return self.node_ids[: self.host_count]

    def node_id(self, node: int) -> str | int:
        """Return the id of a node, its number without one."""
        return self.node_ids[node] if self.node_ids else node

    @property
    def topology_id(self) -> str:
        """Content hash of nodes and queues, without names."""
        arrays = (self.tiers, self.sources, self.targets, self.rates_bps, self.delays_ns, self.kinds)
        return content_hash(self.host_count, [a.tolist() for a in arrays], self.kind_names)


def first_ids(ids: Sequence[str]) -> str:
    """Return the first ids of a network file for a message."""
    return ", ".join((*ids[:3], *(["..."] if len(ids) > 3 else [])))


def topology_of_links(
    name: str, *, host_count: int, tiers: Sequence[int], links: Sequence[Link], node_ids: Sequence[str] = ()
) -> Topology:
    """Return a network from its links: two queues per link, the first one at the first end.

    Args:   tiers: of every node; hosts come first and have tier 0.
    Raises: NetworkError: invalid node or link, a host without exactly one link, or hosts that are not
            connected by switches.
    """
    check_counts(len(tiers), len(links))
    _check_nodes(host_count, tiers)
    for link in links:
        _check_link(link, len(tiers))
    sources = np.array([end for link in links for end in link.ends], np.int32)
    targets = np.array([end for link in links for end in link.ends[::-1]], np.int32)
    _check_link_pairs(sources, len(tiers))
    tier_of = np.asarray(tiers, np.int32)
    names, kinds = _kinds(tier_of, sources, targets)
    topology = Topology(
        name=name,
        host_count=host_count,
        tiers=tier_of,
        sources=sources,
        targets=targets,
        rates_bps=np.repeat(np.array([link.rate_bps for link in links], np.int64), 2),
        delays_ns=np.repeat(np.array([link.delay_ns for link in links], np.int64), 2),
        kinds=kinds,
        kind_names=names,
        node_ids=tuple(node_ids),
    )
    check_hosts(topology)
    return topology


def check_counts(nodes: int, links: int) -> None:
    """Raise when a network would be too large to build.

    Raises: NetworkError: there are more nodes or links than accepted.
    """
    if nodes > NODE_LIMIT or links > LINK_LIMIT:
        raise NetworkError(
            f"a network must have at most {NODE_LIMIT} nodes and {LINK_LIMIT} links, got {nodes} nodes and "
            f"{links} links"
        )


def _check_link_pairs(sources: NDArray[np.int32], node_count: int) -> None:
    """Refuse nodes with many links: the model keeps every pair of links, which would take all memory."""
    degrees = np.bincount(sources, minlength=node_count)
    pairs = int((degrees**2).sum())
    if pairs > LINK_PAIR_LIMIT:
        node = int(degrees.argmax())
        raise NetworkError(
            f"pairs of links at nodes must be at most {LINK_PAIR_LIMIT}, got {pairs}; node {node} "
            f"alone has {degrees[node]} links"
        )


def _check_nodes(host_count: int, tiers: Sequence[int]) -> None:
    if not 2 <= host_count <= len(tiers):
        raise NetworkError(
            f"a network must have 2 or more hosts, got {host_count} hosts among {len(tiers)} nodes"
        )
    for node, tier in enumerate(tiers):
        if (tier == HOST_TIER) != (node < host_count) or tier < 0:
            raise NetworkError(f"hosts must be tier 0 and switches above, got tier {tier} of node {node}")


def _check_link(link: Link, node_count: int) -> None:
    one, other = link.ends
    if one == other or not (0 <= one < node_count and 0 <= other < node_count):
        raise NetworkError(f"a link must join two of nodes 0 to {node_count - 1}, got {one} and {other}")
    if not 0 < link.rate_bps <= RATE_LIMIT_BPS:
        raise NetworkError(f"a link's rate must be 1 to {RATE_LIMIT_BPS} bit/s, got {link.rate_bps}")
    if not 0 <= link.delay_ns <= DELAY_LIMIT_NS:
        raise NetworkError(f"a link's delay must be 0 to {DELAY_LIMIT_NS} ns, got {link.delay_ns}")


def _kinds(
    tiers: NDArray[np.int32], sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the kinds by the tiers at both ends of a queue."""
    pairs = np.stack([tiers[sources], tiers[targets]], axis=1)
    distinct, kinds = np.unique(pairs, axis=0, return_inverse=True)
    names = tuple(f"{one}_to_{other}" for one, other in distinct.tolist())
    return names, kinds.reshape(-1).astype(np.int32)


def check_hosts(topology: Topology) -> None:
    """Raise unless every host has one link and switches join all hosts."""
    links = np.bincount(topology.sources, minlength=topology.node_count)[: topology.host_count]
    for host in np.flatnonzero(links != 1)[:1].tolist():
        raise NetworkError(
            f"a host must have exactly one link, got {links[host]} of host {topology.node_id(host)}"
        )
    reached = _reached_from(topology, 0)[: topology.host_count]
    for host in np.flatnonzero(~reached)[:1].tolist():
        raise NetworkError(
            f"network is not connected: no path from host {topology.node_id(0)} to host "
            f"{topology.node_id(host)}; "
            f"{int(reached.sum())} of {topology.host_count} hosts are reached"
        )


def _reached_from(topology: Topology, host: int) -> NDArray[np.bool_]:
    """Return the nodes that packets of a host can reach; hosts do not forward."""
    reached = np.zeros(topology.node_count, np.bool_)
    reached[host] = True
    front = reached.copy()
    while front.any():
        forwards = front[topology.sources]
        reached_now = np.zeros_like(reached)
        reached_now[topology.targets[forwards]] = True
        reached_now &= ~reached
        reached |= reached_now
        front = reached_now & (topology.tiers != HOST_TIER)
    return reached
