"""Routes: shortest paths without gaps, choices as the hash says, in a fat-tree the closed form."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.network import routing
from pipelines.network.errors import NetworkError
from pipelines.network.routing import Routing, route_flows
from pipelines.network.topology import (
    FatTree,
    Link,
    Topology,
    TwoTierTree,
    fat_tree,
    topology_of_links,
    two_tier_tree,
)

TREE = fat_tree(FatTree(pods=4))


def _all_pairs(topology: Topology) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    one, other = np.meshgrid(*[np.arange(topology.host_count, dtype=np.int32)] * 2, indexing="ij")
    return one[one != other], other[one != other]


def _mixed(value: int) -> int:
    limit = 2**64 - 1
    value = (value + 0x9E3779B97F4A7C15) & limit
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & limit
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & limit
    return value ^ (value >> 31)


@pytest.mark.parametrize("kind", ["ecmp", "fixed"])
@pytest.mark.parametrize(
    "topology",
    [
        TREE,
        fat_tree(FatTree(pods=2)),
        two_tier_tree(TwoTierTree(edges=3, cores=2, hosts_per_edge=2, parallel_links=3)),
    ],
)
def test_routes_lead_from_source_to_destination_without_a_gap(topology: Topology, kind: str) -> None:
    sources, destinations = _all_pairs(topology)
    routes = route_flows(topology, sources, destinations, Routing(kind=kind))
    for source, destination, route in zip(sources, destinations, routes, strict=True):
        queues = route[route >= 0]
        assert np.all(route[len(queues) :] == -1)
        assert topology.sources[queues[0]] == source
        assert topology.targets[queues[-1]] == destination
        assert np.array_equal(topology.targets[queues[:-1]], topology.sources[queues[1:]])


def test_paths_of_a_fat_tree_have_two_four_or_six_queues() -> None:
    sources, destinations = _all_pairs(TREE)
    lengths = (route_flows(TREE, sources, destinations, Routing()) >= 0).sum(axis=1)
    same_edge, same_pod = sources // 2 == destinations // 2, sources // 4 == destinations // 4
    assert np.array_equal(lengths, np.where(same_edge, 2, np.where(same_pod, 4, 6)))


def test_uplinks_of_a_fat_tree_are_the_digits_of_the_flows_hash() -> None:
    sources, destinations = _all_pairs(TREE)
    routes = route_flows(TREE, sources, destinations, Routing(seed=5))
    first_aggregation, first_core = 16 + 8, 16 + 16
    for source, destination, route in zip(sources.tolist(), destinations.tolist(), routes, strict=True):
        digits = _mixed((source * 16 + destination) ^ (5 << 40))
        if source // 2 != destination // 2:
            up = TREE.targets[route[1]] - first_aggregation - source // 4 * 2
            assert up == (digits & 0xFFFF) % 2
        if source // 4 != destination // 4:
            core = TREE.targets[route[2]] - first_core
            assert core % 2 == (digits >> 16 & 0xFFFF) % 2


def test_fixed_routes_follow_from_the_destination_alone() -> None:
    sources, destinations = _all_pairs(TREE)
    routes = route_flows(TREE, sources, destinations, Routing(kind="fixed"))
    far = sources // 4 != destinations // 4
    for destination in range(16):
        ways = {
            tuple(TREE.targets[route[2:]].tolist()) for route in routes[far & (destinations == destination)]
        }
        assert len(ways) == 1


def test_other_seeds_give_other_routes_and_even_shares() -> None:
    tree = fat_tree(FatTree(pods=8))
    sources, destinations = _all_pairs(tree)
    one, other = (route_flows(tree, sources, destinations, Routing(seed=seed)) for seed in (1, 2))
    assert 0.5 < np.mean(np.any(one != other, axis=1)) < 1.0
    far = sources // 16 != destinations // 16
    loads = np.array(list(Counter(one[far, 2].tolist()).values()))
    assert 0.7 < loads.min() / loads.mean() < loads.max() / loads.mean() < 1.35


def test_hosts_do_not_forward_and_more_than_four_choices_are_made() -> None:
    links = [Link(ends=(0, 2), rate_bps=1), Link(ends=(1, 8), rate_bps=1)]
    links += [Link(ends=(node, node + 1), rate_bps=1) for node in range(2, 8) for _ in range(3)]
    chain = topology_of_links("chain", host_count=2, tiers=[0, 0, *range(1, 8)], links=links)
    ways = {
        tuple(
            route_flows(chain, np.array([0], np.int32), np.array([1], np.int32), Routing(seed=s))[0].tolist()
        )
        for s in range(200)
    }
    assert {len(way) for way in ways} == {8}
    assert [len({way[hop] for way in ways}) for hop in range(8)] == [1, 3, 3, 3, 3, 3, 3, 1]


def test_routing_rejects_what_it_does_not_know() -> None:
    with pytest.raises(NetworkError, match=r"^unknown routing: random; accepted: ecmp, fixed$"):
        Routing(kind="random")
    with pytest.raises(NetworkError, match=r"^a routing seed must be 0 to \d+, got -1$"):
        Routing(seed=-1)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((0, 16), r"^a flow must join hosts 0 to 15, got 16$"),
        ((-1, 3), r"got -1$"),
        ((3, 3), r"^source and destination of a flow are the same host: 3$"),
    ],
)
def test_route_flows_rejects(ends: tuple[int, int], message: str) -> None:
    one, other = (np.array([end], np.int32) for end in ends)
    with pytest.raises(NetworkError, match=message):
        route_flows(TREE, one, other, Routing())


def test_route_flows_rejects_more_hops_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = fat_tree(FatTree(pods=4))
    ends = np.array([0, 1], np.int32), np.array([8, 9], np.int32)
    monkeypatch.setattr(routing, "ROUTE_LIMIT", 11)
    message = "^flows times links of the longest route must be at most 11, got 2 times 6$"
    with pytest.raises(NetworkError, match=message):
        route_flows(tree, *ends, Routing())
    monkeypatch.setattr(routing, "HOP_LIMIT", 71)
    with pytest.raises(NetworkError, match=r"^destinations times nodes must be at most 71, got 2 times 36$"):
        route_flows(tree, *ends, Routing())
