"""Networks: sizes of fat-trees, files, and what is no network."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from measured_children import read_in_child

from pipelines.network.errors import NetworkError
from pipelines.network.topology import (
    FAMILIES,
    DrawnNetwork,
    FatTree,
    Link,
    TwoTierTree,
    drawn_network,
    fat_tree,
    read_topology,
    topology_of_links,
    two_tier_tree,
)
from pipelines.network.traffic import Pattern, traffic_of

KINDS = {"host_up", "edge_up", "aggregation_up", "core_down", "aggregation_down", "edge_down"}


@pytest.mark.parametrize(
    ("pods", "hosts", "switches"), [(2, 2, 5), (4, 16, 20), (6, 54, 45), (16, 1024, 320)]
)
def test_a_fat_tree_has_its_hosts_switches_and_as_many_queues_of_each_kind(
    pods: int, hosts: int, switches: int
) -> None:
    tree = fat_tree(FatTree(pods=pods))
    assert (tree.host_count, tree.node_count - tree.host_count) == (hosts, switches)
    counts = Counter(tree.kind_names[kind] for kind in tree.kinds.tolist())
    assert counts == dict.fromkeys(KINDS, hosts)
    ports = np.bincount(tree.sources, minlength=tree.node_count)[hosts:]
    assert set(ports.tolist()) == {pods}


def test_queues_of_a_link_follow_each_other_and_lead_both_ways() -> None:
    tree = fat_tree(FatTree(pods=4))
    assert np.array_equal(tree.sources[::2], tree.targets[1::2])
    assert np.array_equal(tree.targets[::2], tree.sources[1::2])


def test_a_two_tier_tree_has_parallel_links() -> None:
    tree = two_tier_tree(TwoTierTree(edges=4, cores=2, hosts_per_edge=3, parallel_links=5))
    counts = Counter(tree.kind_names[kind] for kind in tree.kinds.tolist())
    assert counts == {"host_up": 12, "edge_down": 12, "edge_up": 40, "core_down": 40}


@pytest.mark.parametrize("family", FAMILIES)
def test_drawn_networks_are_of_their_family_and_follow_from_the_seed(family: str) -> None:
    networks = [drawn_network(DrawnNetwork(family=family, seed=seed)) for seed in range(30)]
    assert len({network.topology_id for network in networks}) > 15
    for seed, network in enumerate(networks):
        assert network.topology_id == drawn_network(DrawnNetwork(family=family, seed=seed)).topology_id
        graph = nx.Graph(zip(network.sources.tolist(), network.targets.tolist(), strict=True))
        switches = graph.subgraph(range(network.host_count, network.node_count))
        degrees = sorted(dict(switches.degree()).values())  # type: ignore[call-overload]
        assert nx.is_connected(switches)
        count = len(degrees)
        shapes = {
            "leaf_spine": nx.is_bipartite(switches) and len(set(network.tiers.tolist())) == 3,
            "three_tier": len(set(network.tiers.tolist())) == 4,
            "star": degrees == [1] * (count - 1) + [count - 1],
            "chain": degrees == [1, 1] + [2] * (count - 2),
            "ring": degrees == [2] * count,
        }
        assert shapes[family], (seed, degrees)
        faster = drawn_network(DrawnNetwork(family=family, seed=seed, unequal=True))
        assert set(network.rates_bps.tolist()) == {10**8}
        assert min(faster.rates_bps) == 10**8
        assert np.array_equal(faster.sources, network.sources)


def test_drawn_networks_reject_an_unknown_family() -> None:
    with pytest.raises(NetworkError, match="unknown family of networks: torus; accepted: leaf_spine, three"):
        DrawnNetwork(family="torus", seed=1)


def test_ids_tell_networks_apart_and_not_their_names() -> None:
    one, slow = fat_tree(FatTree(pods=4)), fat_tree(FatTree(pods=4, rate_bps=10**7))
    assert one.topology_id == fat_tree(FatTree(pods=4)).topology_id != slow.topology_id


@pytest.mark.parametrize("pods", [0, 1, 3, 5, -4, 50])
def test_fat_tree_rejects_odd_and_impossible_pods(pods: int) -> None:
    message = rf"^the pods of a fat-tree must be an even number from 2 to 48, got {pods}$"
    with pytest.raises(NetworkError, match=message):
        fat_tree(FatTree(pods=pods))


def test_two_tier_tree_rejects_no_switches() -> None:
    with pytest.raises(NetworkError, match=r"^cores must be 1 to 1024, got 0$"):
        two_tier_tree(TwoTierTree(edges=2, cores=0, hosts_per_edge=1))


RATE = 10**8
STAR = [Link(ends=(host, 3), rate_bps=RATE) for host in range(3)]


@pytest.mark.parametrize(
    ("tiers", "links", "message"),
    [
        ([0, 0, 0, 1], STAR[:2], r"^a host must have exactly one link, got 0 of host 2$"),
        ([0, 0, 0, 1], [*STAR, Link(ends=(0, 1), rate_bps=RATE)], r"one link, got 2 of host 0$"),
        (
            [0, 0, 0, 1, 1],
            [*STAR[:2], Link(ends=(2, 4), rate_bps=RATE)],
            r"^network is not connected: no path from host 0 to host 2; 2 of 3 hosts are reached$",
        ),
        (
            [0, 0, 0, 1],
            [*STAR, Link(ends=(3, 3), rate_bps=RATE)],
            r"must join two of nodes 0 to 3, got 3 and 3$",
        ),
        ([0, 0, 0, 1], [*STAR, Link(ends=(3, 9), rate_bps=RATE)], r"got 3 and 9$"),
        (
            [0, 0, 0, 1],
            [*STAR, Link(ends=(3, 0), rate_bps=0)],
            r"^a link's rate must be 1 to \d+ bit/s, got 0$",
        ),
        ([0, 0, 0, 1], [Link(ends=(0, 3), rate_bps=1, delay_ns=-1)], r"delay must be 0 to \d+ ns, got -1$"),
        ([0, 1, 0, 1], STAR, r"^hosts must be tier 0 and switches above, got tier 1 of node 1$"),
        ([0, 0, 0, 0], STAR, r"got tier 0 of node 3$"),
    ],
)
def test_topology_of_links_rejects(tiers: list[int], links: list[Link], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        topology_of_links("star", host_count=3, tiers=tiers, links=links)


NODES: list[dict[str, Any]] = [{"id": "s"}, {"id": "a", "host": True}, {"id": "b", "host": True}]
LINKS: list[dict[str, Any]] = [
    {"source": "a", "target": "s", "rate_bps": RATE},
    {"source": "s", "target": "b", "rate_bps": RATE, "delay_ns": 500},
]


def test_json_and_graphml_give_the_same_network_hosts_first(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text(json.dumps({"nodes": NODES, "links": LINKS}))
    graph: Any = nx.Graph()
    for node in NODES:
        graph.add_node(node["id"], **{k: v for k, v in node.items() if k != "id"})
    for link in LINKS:
        graph.add_edge(link["source"], link["target"], **{k: v for k, v in link.items() if k[-1] in "sn"})
    nx.write_graphml(graph, tmp_path / "net.graphml")
    one, other = (read_topology(tmp_path / f"net.{ending}") for ending in ("json", "graphml"))
    assert one.topology_id == other.topology_id
    assert (one.host_count, one.tiers.tolist()) == (2, [0, 0, 1])
    assert one.delays_ns.tolist() == [0, 0, 500, 500]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("n.txt", "{}", r"must end in .json or .graphml, got n.txt"),
        ("n.json", "{", r"^not JSON: Expecting property name .* \(.*n.json\)$"),
        (
            "n.json",
            '{"nodes": [], "links": [], "more": 1}',
            r"^unknown key: more \(.*n.json\); accepted: nodes, links$",
        ),
        (
            "n.json",
            '{"nodes": [{"id": "a", "host": 3}], "links": []}',
            r"^nodes.0.host: 3 \(.*\); accepted: true or false$",
        ),
        (
            "n.json",
            '{"nodes": [{"id": "a", "host": "no"}], "links": []}',
            r'^nodes.0.host: "no" \(.*\); accepted: t',
        ),
        (
            "n.json",
            '{"nodes": [{"host": true}], "links": []}',
            r"^missing key: nodes.0.id \(.*\); needed: id$",
        ),
        (
            "n.json",
            '{"nodes": [{"id": "a"}, {"id": "b", "id": "c"}], "links": []}',
            r"^not JSON: the name 'id' twice in one object \(.*n.json\)$",
        ),
        *(
            (
                "n.json",
                f'{{"nodes": [], "links": [{{"source": "x", "target": "y", "rate_bps": {rate}}}]}}',
                rf"^links.0.rate_bps: {rate} \(.*n.json\); accepted: a whole number$",
            )
            for rate in ("true", '"100000000"', "1.5")
        ),
        (
            "n.json",
            '{"nodes": [], "links": [{"source": "x", "target": "y", "rate_bps": 1, "foo": 2}]}',
            r"^unknown key: links.0.foo \(.*n.json\); accepted: source, target, rate_bps, delay_ns$",
        ),
        ("n.json", '{"nodes": [{"id": "a"}, {"id": "a"}], "links": []}', r"different ids, got 'a' twice"),
        (
            "n.json",
            '{"nodes": [{"id": "a", "host": true, "tier": 2}], "links": []}',
            r"no tier, got tier 2 of 'a'",
        ),
        (
            "n.json",
            '{"nodes": [], "links": [{"source": "x", "target": "y", "rate_bps": 1}]}',
            r"must join nodes of the file, got 'x' \(.*n.json\)$",
        ),
        ("n.json", '{"nodes": [], "links": []}', r"2 or more hosts, got 0 hosts among 0 nodes"),
        ("n.graphml", "<html>", r"^a topology must be GraphML in UTF-8, got: "),
        ("n.graphml", "<graphml/>", r"got: "),
        (
            "n.graphml",
            '<!DOCTYPE g [<!ENTITY a "aa"><!ENTITY b SYSTEM "/etc/passwd">]><graphml>&a;&b;</graphml>',
            r"^a topology must have no document type, which is where entities are declared \(.*n.graphml\)$",
        ),
        (
            "n.json",
            '{"nodes": [' + "{}," * 196_610 + '{}], "links": []}',
            r"^a topology must have at most 65536 nodes and 131072 links, so at most 196609 times '{', got 1",
        ),
        (
            "n.json",
            '{"nodes": [' + "1," * 800_000 + '1], "links": []}',
            r"so at most 786432 times ',', got 800001",
        ),
        (
            "n.json",
            '{"nodes": [' + "1," * 700_000 + '1], "links": []}',
            r"^nodes.0: 1 \(.*n.json\); accepted: names and values$",
        ),
        (
            "n.graphml",
            "<graphml>" + "<a/>" * 1_200_000 + "</graphml>",
            r"so at most 1179748 times '<', got 1200002",
        ),
        ("n.graphml", "<graphml" + ' a=""' * 1_200_000 + "/>", r"so at most 1179748 times '=', got 1200000"),
        (
            "n.json",
            '{"nodes": [], "links": [{"source": "x", "target": "y", "rate_bps": 1e999}]}',
            r"links.0.rate_bps",
        ),
        (
            "n.json",
            '{"nodes": [], "links": [{"source": "x", "target": "y", "rate_bps": NaN}]}',
            r"links.0.rate_bps",
        ),
    ],
)
def test_read_topology_rejects(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(NetworkError, match=message):
        read_topology(tmp_path / name)


def test_read_topology_rejects_what_is_not_a_regular_file_and_a_large_one(tmp_path: Path) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 40)
    for name, kind in {
        "zero": "a character device",
        "pipe": "a pipe",
        "folder": "a folder",
        "large": f"{1 << 40} bytes",
    }.items():
        path = tmp_path / f"{name}.json"
        message = f"cannot read the topology {path}: {kind}; accepted: a regular file of at most 64 MiB"
        with pytest.raises(NetworkError, match=f"^{message}$"):
            read_topology(path)


def test_a_topology_of_21_million_nodes_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    path = tmp_path / "n.json"
    path.write_text('{"nodes": [' + "{}," * (21 << 20) + '{}], "links": []}')
    said, peak_bytes = read_in_child("pipelines.network.topology", "read_topology", path)
    assert said.startswith("NetworkError: a topology must have at most 65536 nodes and 131072 links, so ")
    assert peak_bytes < 1 << 30


@pytest.mark.parametrize("number", [-(10**30), -1, 0, 10**13 + 1, 10**400])
def test_read_topology_rejects_rates_that_cannot_be(number: int, tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text(
        json.dumps({"nodes": NODES, "links": [*LINKS[:1], LINKS[1] | {"rate_bps": number}]})
    )
    with pytest.raises(NetworkError, match=rf"^a link's rate must be 1 to {10**13} bit/s, got {number} \("):
        read_topology(tmp_path / "n.json")


def test_networks_are_counted_before_they_are_built() -> None:
    shape = TwoTierTree(edges=1024, cores=1024, hosts_per_edge=1024, parallel_links=1024)
    nodes, links = 1024 * 1024 + 2048, 1024 * 1024 * 1025
    message = (
        f"^a network must have at most 65536 nodes and 131072 links, got {nodes} nodes and {links} links$"
    )
    with pytest.raises(NetworkError, match=message):
        two_tier_tree(shape)
    star = [Link(ends=(host, 3000), rate_bps=RATE) for host in range(3000)]
    message = "^pairs of links at nodes must be at most 8388608, got 9003000; node 3000 alone has 3000 links$"
    with pytest.raises(NetworkError, match=message):
        topology_of_links("star", host_count=3000, tiers=[0] * 3000 + [1], links=star)
    largest = fat_tree(FatTree(pods=48))
    for pattern, count in ((Pattern(), 27648 * 27647), (Pattern(density=0.1), 2765 * 2764)):
        message = f"^traffic must have at most 4194304 flows, got {count} of all_to_all, "
        with pytest.raises(NetworkError, match=message):
            traffic_of(largest, pattern)


def test_read_topology_rejects_no_file_and_a_directed_graph(tmp_path: Path) -> None:
    absent = tmp_path / "none.json"
    with pytest.raises(NetworkError, match=f"^cannot read the topology {absent}: No such file or directory$"):
        read_topology(absent)
    nx.write_graphml(nx.DiGraph([("a", "b")]), tmp_path / "n.graphml")
    with pytest.raises(NetworkError, match=r"must be an undirected graph, got a directed one"):
        read_topology(tmp_path / "n.graphml")


def test_a_graphml_key_without_a_type_is_read_without_a_warning(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_nodes_from((name, {"host": name != "s"}) for name in "abs")
    graph.add_edges_from(((name, "s") for name in "ab"), rate_bps=10**8)
    path = tmp_path / "a.graphml"
    nx.write_graphml(graph, path)
    typed = read_topology(path)
    path.write_text(path.read_text().replace(' attr.type="long"', ""))
    assert read_topology(path).topology_id == typed.topology_id
