"""Collectives: what steps transfer, and their times beside both simulators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.network import NetworkError
from pipelines.network.collectives import Job, Packets, TransferTimes, read_job, transfer_times, transfers
from pipelines.network.collectives.jobs import ALL_GATHER, ALL_TO_ALL, RING_ALL_REDUCE, TREE_ALL_REDUCE
from pipelines.network.collectives.packets import count_packets, packet_times, packets_scenario
from pipelines.network.routing import Routing
from pipelines.network.simulation import simulate
from pipelines.network.simulation.ns3 import find_ns3, simulate_in_ns3
from pipelines.network.topology import FatTree, Topology, fat_tree
from pipelines.network.traffic import UDP

PACKETS = Packets(payload_bytes=1470, header_bytes=30)
TREE = fat_tree(FatTree(pods=4, rate_bps=10**10, delay_ns=500))


def times(*jobs: str, tree: Topology = TREE, routing: Routing | None = None) -> TransferTimes:
    read = [read_job(text, host_count=tree.host_count, seed=1) for text in jobs]
    return transfer_times(tree, read, routing=routing or Routing(), packets=PACKETS)


@pytest.mark.parametrize("hosts", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("kind", [RING_ALL_REDUCE, TREE_ALL_REDUCE])
def test_every_host_has_the_sum_of_all_after_an_all_reduce(kind: str, hosts: int) -> None:
    steps = Job(kind=kind, size_bytes=100, hosts=tuple(range(hosts))).steps
    parts = hosts if kind == RING_ALL_REDUCE else 1
    known = [[{host} for _ in range(parts)] for host in range(hosts)]
    for number, pattern in enumerate(steps.order):
        transfers = steps.patterns[pattern]
        sent = [
            ((source - number) % parts, set(known[source][(source - number) % parts]))
            for source in transfers.sources.tolist()
        ]
        for (part, ones), destination in zip(sent, transfers.destinations.tolist(), strict=True):
            known[destination][part] |= ones
    assert all(part == set(range(hosts)) for own in known for part in own)


def test_an_all_to_all_has_every_pair_once_and_an_all_gather_a_ring() -> None:
    steps = Job(kind=ALL_TO_ALL, size_bytes=70, hosts=(3, 1, 4, 0, 2, 9, 6)).steps
    pairs = [
        pair
        for pattern in steps.order
        for pair in zip(steps.patterns[pattern].sources, steps.patterns[pattern].destinations, strict=True)
    ]
    assert len(pairs) == len(set(pairs)) == 42
    assert {pattern.size_bytes for pattern in steps.patterns} == {10}
    gather = Job(kind=ALL_GATHER, size_bytes=69, hosts=(3, 1, 4, 0, 2, 9, 6)).steps
    assert (len(gather.order), gather.patterns[0].size_bytes) == (6, 10)


def test_two_hosts_of_a_switch_take_the_time_of_their_links() -> None:
    # 2 steps of 14,700 B: 10 packets of 1,500 B in sequence, the last one on a second link; two delays.
    (ends_s,) = times("ring_all_reduce:29400:hosts=0-1").ends_s
    step_s = 11 * 1500 * 8 / 1e10 + 2 * 500e-9
    assert ends_s == pytest.approx([step_s, 2 * step_s], rel=1e-12)


@pytest.mark.parametrize("kind", [RING_ALL_REDUCE, TREE_ALL_REDUCE, ALL_GATHER, ALL_TO_ALL])
@pytest.mark.parametrize("routing", [Routing(), Routing(kind="fixed")])
def test_a_job_takes_as_long_as_its_packets(kind: str, routing: Routing, engine_folder: Path) -> None:
    text = f"{kind}:1MB:order=random"
    job = read_job(text, host_count=16, seed=1)
    simulated = packet_times(
        TREE, [job], routing=routing, payload_bytes=1470, protocol=UDP, engine_folder=engine_folder
    )
    estimated = times(text, routing=routing)
    assert estimated.ends_s[0][-1] == pytest.approx(simulated.ends_s[0][-1], rel=0.01)
    assert simulated.packets == count_packets([job], PACKETS)


def test_hosts_of_a_job_go_by_ids_or_numbers() -> None:
    job = read_job("all_gather:1MB:hosts=b,2-3,a", host_count=5, seed=1, host_ids=("a", "b", "c", "d", "2-3"))
    assert job.hosts == (1, 4, 0)
    with pytest.raises(NetworkError, match=r"hosts 'e'; accepted: ids \(a, b\), numbers and ranges"):
        read_job("all_gather:1MB:hosts=a,e", host_count=2, seed=1, host_ids=("a", "b"))


def test_jobs_that_share_links_take_as_long_as_their_packets(engine_folder: Path) -> None:
    texts = ("ring_all_reduce:1MB:hosts=0-14/2:order=random", "all_to_all:2MB:hosts=1-15/2:start=0.0001")
    jobs = [read_job(text, host_count=16, seed=1) for text in texts]
    simulated = packet_times(
        TREE, jobs, routing=Routing(), payload_bytes=1470, protocol=UDP, engine_folder=engine_folder
    )
    estimated = times(*texts)
    alone = [times(text).ends_s[0][-1] for text in texts]
    for own, counted, one in zip(estimated.ends_s, simulated.ends_s, alone, strict=True):
        assert own[-1] == pytest.approx(counted[-1], rel=0.05)
        assert own[-1] > 1.05 * one


def test_steps_of_udp_have_the_same_delays_in_ns3(engine_folder: Path) -> None:
    if find_ns3() is None:
        pytest.skip("ns-3 is not installed")
    jobs = [
        read_job(text, host_count=16, seed=1)
        for text in ("all_gather:60kB:hosts=0-7", "tree_all_reduce:20kB:hosts=8-15,3:start=0.00001")
    ]
    scenario = packets_scenario(TREE, jobs, routing=Routing(), payload_bytes=1470, protocol=UDP)
    ours = simulate(scenario, engine_folder=engine_folder)
    reference = simulate_in_ns3(scenario, engine_folder=engine_folder)
    assert (ours.delays_ns > 0).all()
    assert np.array_equal(ours.delays_ns, reference.delays_ns)


def test_steps_of_tcp_end_in_ns3(engine_folder: Path) -> None:
    if find_ns3() is None:
        pytest.skip("ns-3 is not installed")
    job = read_job("all_to_all:60kB:hosts=0-3", host_count=16, seed=1)
    by_protocol = [
        packet_times(
            TREE, [job], routing=Routing(), payload_bytes=1470, protocol=protocol, engine_folder=engine_folder
        ).ends_s[0]
        for protocol in (UDP, "tcp")
    ]
    assert (np.diff(by_protocol[1]) > 0).all()
    assert by_protocol[0][-1] < by_protocol[1][-1] < 3 * by_protocol[0][-1]


def test_too_many_transfers_of_several_jobs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PASSES_LIMIT", 1000)
    with pytest.raises(NetworkError, match=r"must be at most 1,000, got 1,120: fewer hosts"):
        times("ring_all_reduce:1MB:hosts=0-14/2", "ring_all_reduce:1MB:hosts=1-15/2")
