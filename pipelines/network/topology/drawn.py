"""Networks drawn from families: what corrections of queueing theory learn from, and are judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipelines.network.errors import NetworkError
from pipelines.network.topology.graph import HOST_TIER, Link, Topology, topology_of_links

LEAF_SPINE, THREE_TIER, STAR, CHAIN, RING = "leaf_spine", "three_tier", "star", "chain", "ring"
FAMILIES = (LEAF_SPINE, THREE_TIER, STAR, CHAIN, RING)
HOST_RATE_BPS = 100_000_000
FASTER = (1.0, 2.5, 4.0, 10.0)
"""Rates of links between switches over those of hosts, where speeds are unequal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNetwork:
    """A network of a family, of a size and with speeds that follow from a seed.

    Attributes:
        family: leaf_spine (2 to 6 leaves, 1 to 4 spines, each pair joined); three_tier (2 to 4 pods of 1 to 3
            edges and 1 to 3 aggregations, cores over all); star (2 to 6 switches around one); chain and ring
            (3 to 6 switches). A switch at the edge has 2 to 6 hosts.
        unequal: whether links between switches are faster than those of hosts, by FASTER, tier by tier.
    """

    family: str
    seed: int
    unequal: bool = False

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise NetworkError(f"unknown family of networks: {self.family}; accepted: {', '.join(FAMILIES)}")
        if self.seed < 0:
            raise NetworkError(f"a seed must be 0 or more, got {self.seed}")


def drawn_network(shape: DrawnNetwork) -> Topology:
    """Return the network."""
    stream = np.random.Generator(np.random.Philox(key=shape.seed))

    def drawn(least: int, most: int) -> int:
        return int(stream.integers(least, most + 1))

    tiers, joined = _SWITCHES[shape.family](drawn)  # of switches; ends of their links
    edges = [place for place, tier in enumerate(tiers) if tier == 1]
    counts = [drawn(2, 6) for _ in edges]
    hosts = sum(counts)
    rates = {tier: float(stream.choice(FASTER)) if shape.unequal else 1.0 for tier in (1, 2, 3)}
    ends = np.repeat(edges, counts).tolist()
    links = [Link(ends=(host, hosts + edge), rate_bps=HOST_RATE_BPS) for host, edge in enumerate(ends)] + [
        Link(
            ends=(hosts + one, hosts + other),
            rate_bps=round(HOST_RATE_BPS * rates[max(tiers[one], tiers[other])]),
        )
        for one, other in joined
    ]
    return topology_of_links(
        f"{shape.family.replace('_', '-')}-{hosts}",
        host_count=hosts,
        tiers=[HOST_TIER] * hosts + tiers,
        links=links,
    )


Drawn = Callable[[int, int], int]
"""A whole number from the first to the second."""
Switches = tuple[list[int], list[tuple[int, int]]]
"""Tiers of switches, and the ends of the links between them."""


def _leaf_spine(drawn: Drawn) -> Switches:
    leaves, spines = drawn(2, 6), drawn(1, 4)
    return [1] * leaves + [2] * spines, [(a, leaves + b) for a in range(leaves) for b in range(spines)]


def _three_tier(drawn: Drawn) -> Switches:
    pods, edges, aggregations = drawn(2, 4), drawn(1, 3), drawn(1, 3)
    cores = drawn(1, 3)
    tiers = [1] * (pods * edges) + [2] * (pods * aggregations) + [3] * cores
    first, top = pods * edges, pods * (edges + aggregations)
    joined = [
        (pod * edges + edge, first + pod * aggregations + up)
        for pod in range(pods)
        for edge in range(edges)
        for up in range(aggregations)
    ]
    joined += [(first + one, top + core) for one in range(pods * aggregations) for core in range(cores)]
    return tiers, joined


def _star(drawn: Drawn) -> Switches:
    leaves = drawn(2, 6)
    return [1] * leaves + [2], [(leaf, leaves) for leaf in range(leaves)]


def _chain(drawn: Drawn) -> Switches:
    count = drawn(3, 6)
    return [1] * count, [(place, place + 1) for place in range(count - 1)]


def _ring(drawn: Drawn) -> Switches:
    tiers, joined = _chain(drawn)
    return tiers, [*joined, (len(tiers) - 1, 0)]


_SWITCHES: dict[str, Callable[[Drawn], Switches]] = {
    LEAF_SPINE: _leaf_spine,
    THREE_TIER: _three_tier,
    STAR: _star,
    CHAIN: _chain,
    RING: _ring,
}
