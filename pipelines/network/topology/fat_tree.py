"""Fat-trees: k-ary of three tiers, and of two tiers with parallel links.

Source: chapter 5.4.1 and table 5.3 (k = 4, 8, 12, 16 give 16, 128, 432, 1024 hosts); section 5.4.2 on the
variant of two tiers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.network.errors import NetworkError
from pipelines.network.topology.graph import HOST_TIER, Link, Topology, check_counts, topology_of_links

EDGE_TIER, AGGREGATION_TIER, CORE_TIER = 1, 2, 3
POD_LIMIT = 48
SIZE_LIMIT = 1024
KIND_NAMES = {
    (HOST_TIER, EDGE_TIER): "host_up",
    (EDGE_TIER, AGGREGATION_TIER): "edge_up",
    (AGGREGATION_TIER, CORE_TIER): "aggregation_up",
    (CORE_TIER, AGGREGATION_TIER): "core_down",
    (AGGREGATION_TIER, EDGE_TIER): "aggregation_down",
    (EDGE_TIER, HOST_TIER): "edge_down",
    (EDGE_TIER, CORE_TIER): "edge_up",
    (CORE_TIER, EDGE_TIER): "core_down",
}
"""Names of the queues by the tiers at both ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FatTree:
    """A k-ary fat-tree: k pods of k/2 edge and k/2 aggregation switches, k²/4 core switches, k³/4 hosts.

    Attributes:
        pods: k, an even number.
        rate_bps: of every link; delay_ns: of propagation.
    """

    pods: int
    rate_bps: int = 100_000_000
    delay_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTierTree:
    """Edge and core switches, every pair joined by the same number of parallel links.

    Attributes:
        edges, cores: switches of each tier.
        hosts_per_edge: hosts per edge switch.
        parallel_links: links per pair of switches.
        rate_bps: of every link; delay_ns: of propagation.
    """

    edges: int
    cores: int
    hosts_per_edge: int
    parallel_links: int = 1
    rate_bps: int = 100_000_000
    delay_ns: int = 0


def fat_tree(shape: FatTree) -> Topology:
    """Return the network of three tiers.

    Raises: NetworkError: pods are odd or out of range, or a rate or delay is out of range.
    """
    k = shape.pods
    if k % 2 or not 2 <= k <= POD_LIMIT:
        raise NetworkError(f"the pods of a fat-tree must be an even number from 2 to {POD_LIMIT}, got {k}")
    half = k // 2
    hosts, edges = k * half * half, k * half
    first_edge, first_aggregation, first_core = hosts, hosts + edges, hosts + 2 * edges
    ends = [(host, first_edge + host // half) for host in range(hosts)]
    for pod in range(k):
        for edge in range(half):
            one = first_edge + pod * half + edge
            ends += [(one, first_aggregation + pod * half + up) for up in range(half)]
    for pod in range(k):
        for aggregation in range(half):
            one = first_aggregation + pod * half + aggregation
            ends += [(one, first_core + aggregation * half + up) for up in range(half)]
    tiers = [HOST_TIER] * hosts + [EDGE_TIER] * edges + [AGGREGATION_TIER] * edges
    tiers += [CORE_TIER] * (half * half)
    links = [Link(ends=pair, rate_bps=shape.rate_bps, delay_ns=shape.delay_ns) for pair in ends]
    return _named(topology_of_links(f"fat-tree-{hosts}", host_count=hosts, tiers=tiers, links=links))


def two_tier_tree(shape: TwoTierTree) -> Topology:
    """Return the network of two tiers.

    Raises: NetworkError: a number, rate or delay is out of range.
    """
    for name in ("edges", "cores", "hosts_per_edge", "parallel_links"):
        if not 1 <= getattr(shape, name) <= SIZE_LIMIT:
            raise NetworkError(f"{name} must be 1 to {SIZE_LIMIT}, got {getattr(shape, name)}")
    hosts = shape.edges * shape.hosts_per_edge
    pairs = shape.edges * shape.cores
    check_counts(hosts + shape.edges + shape.cores, hosts + pairs * shape.parallel_links)
    ends = [(host, hosts + host // shape.hosts_per_edge) for host in range(hosts)]
    ends += [
        (hosts + edge, hosts + shape.edges + core)
        for edge in range(shape.edges)
        for core in range(shape.cores)
        for _ in range(shape.parallel_links)
    ]
    tiers = [HOST_TIER] * hosts + [EDGE_TIER] * shape.edges + [CORE_TIER] * shape.cores
    links = [Link(ends=pair, rate_bps=shape.rate_bps, delay_ns=shape.delay_ns) for pair in ends]
    name = f"two-tier-{hosts}"
    return _named(topology_of_links(name, host_count=hosts, tiers=tiers, links=links))


def _named(topology: Topology) -> Topology:
    """Return the topology with standard names of queue kinds."""
    pairs = [tuple(int(tier) for tier in name.split("_to_")) for name in topology.kind_names]
    return replace(topology, kind_names=tuple(KIND_NAMES[one, other] for one, other in pairs))
