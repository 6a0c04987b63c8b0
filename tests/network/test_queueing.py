"""Queueing theory: closed forms, agreement of the compiled pass with them, and packet-level simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.network.errors import NetworkError
from pipelines.network.queueing import (
    Flow,
    NetworkModel,
    departure_scv,
    finite_length,
    flow_latency,
    mean_lengths,
    merged_scv,
    model_network,
    rtt_quantile_s,
    split_scv,
    stream_waits,
    waits_s,
)
from pipelines.network.simulation import SimulationOptions, SimulationResult, make_scenario, simulate
from pipelines.network.topology import FatTree, Link, Topology, fat_tree, topology_of_links
from pipelines.network.traffic import Arrivals, PacketSizes, Pattern, Traffic, draw_schedule, traffic_of

TREE = fat_tree(FatTree(pods=4))


@pytest.mark.parametrize("busy", [0.1, 0.5, 0.9])
def test_one_flow_is_exact_for_m_m_1_and_m_d_1(busy: float) -> None:
    (exponential,) = mean_lengths([Flow(rate_per_s=busy, service_s=1.0, service_scv=1.0)])
    assert exponential == pytest.approx(busy / (1 - busy))
    (constant,) = waits_s([Flow(rate_per_s=busy, service_s=1.0)])
    assert constant == pytest.approx(busy / (2 * (1 - busy)))


@pytest.mark.parametrize("scv", [1.0, 3.0, 9.0])
def test_batches_of_geometric_size_are_exact(scv: float) -> None:
    """M^X/D/1: wait of a batch's first packet by Pollaczek and Khinchine, and of those in front within it."""
    rate, service = 0.6, 1.0
    mean_batch = (scv + 1) / 2
    second_batch = 2 * mean_batch**2 - mean_batch  # of a geometric number from 1
    whole = rate / mean_batch * second_batch * service**2 / (2 * (1 - rate * service))
    within = service * (second_batch - mean_batch) / (2 * mean_batch)
    (wait,) = waits_s([Flow(rate_per_s=rate, service_s=service, arrival_scv=scv)])
    assert wait == pytest.approx(whole + within)


def test_poisson_flows_of_different_sizes_wait_as_in_m_g_1() -> None:
    flows = [
        Flow(rate_per_s=0.2, service_s=1.0),
        Flow(rate_per_s=2.0, service_s=0.1),
        Flow(rate_per_s=0.1, service_s=2.0, service_scv=1.0),
    ]
    second = sum(f.rate_per_s * f.service_s**2 * (1 + f.service_scv) for f in flows)
    expected = second / (2 * (1 - sum(f.utilisation for f in flows)))
    assert waits_s(flows) == pytest.approx([expected] * 3)


@pytest.mark.parametrize("busy", [0.3, 0.9, 0.999999999, 1.0, 1.4])
@pytest.mark.parametrize("capacity", [1, 2, 10, 129])
def test_finite_length_is_exact_for_m_m_1_n(busy: float, capacity: int) -> None:
    states = busy ** np.arange(capacity + 1)
    expected = float(np.sum(np.arange(capacity + 1) * states) / states.sum())
    length = busy / (1 - busy) if busy != 1.0 else 1e12
    assert finite_length(length, busy, capacity) == pytest.approx(expected, rel=1e-4)


def test_poisson_stays_poisson_when_merged_split_and_served_exponentially() -> None:
    assert merged_scv([1.0, 3.0], [1.0, 1.0]) == 1.0
    assert split_scv(0.3, 1.0) == 1.0
    assert departure_scv(0.7, 1.0, 1.0) == pytest.approx(1.0)
    assert departure_scv(0.0, 4.0, 0.0) == 4.0
    assert departure_scv(1.0, 4.0, 0.25) == 0.25
    assert split_scv(1e-9, 4.0) == pytest.approx(1.0)


def test_a_queue_without_end_rejects_overload() -> None:
    with pytest.raises(NetworkError, match=r"^utilisation of an unbounded queue is 1; accepted: below 1$"):
        waits_s([Flow(rate_per_s=1.0, service_s=1.0)])
    traffic = traffic_of(TREE, Pattern(kind="incast", load=1.2))
    message = r"^utilisation of unbounded queue \d+ is 1.2 \(node 16 to 0\); accepted: below 1; "
    with pytest.raises(NetworkError, match=message):
        model_network(TREE, traffic, capacity=None)


def _star(hosts: int) -> Topology:
    links = [Link(ends=(host, hosts), rate_bps=10**8) for host in range(hosts)]
    return topology_of_links("star", host_count=hosts, tiers=[0] * hosts + [1], links=links)


def test_the_pass_computes_the_closed_forms_in_a_star() -> None:
    star, service = _star(4), 530 * 8 / 1e8
    traffic = traffic_of(star, Pattern(kind="incast", load=0.6), arrivals=Arrivals(kind="ge", scv=3.0))
    model = model_network(star, traffic, capacity=None, has_acks=False)
    rate = float(traffic.rates_per_s[0])
    (first,) = waits_s([Flow(rate_per_s=rate, service_s=service, arrival_scv=3.0)])
    left = departure_scv(rate * service, 3.0, 0.0)
    second = waits_s([Flow(rate_per_s=rate, service_s=service, arrival_scv=left)] * 3)[0]
    latency = flow_latency(model, stream_waits(model))
    assert latency.wait_s == pytest.approx(np.full(3, first + second))
    assert latency.delay_s == pytest.approx(np.full(3, first + second + 2 * service))
    down = int(model.data.routes[0, 1])
    assert latency.queue_wait_s[down] == pytest.approx(second)


def test_large_finite_queues_are_queues_without_end() -> None:
    traffic = traffic_of(TREE, Pattern(load=0.6))
    one, other = (
        flow_latency(m, stream_waits(m))
        for m in (model_network(TREE, traffic, capacity=None), model_network(TREE, traffic, capacity=10**5))
    )
    assert one.rtt_s == pytest.approx(other.rtt_s)


@pytest.mark.parametrize("load", [0.7, 0.9999, 1.0, 1.3, 1.9, 3.0])
@pytest.mark.parametrize("arrivals", [Arrivals(), Arrivals(kind="ge", scv=3.0)])
def test_the_pass_limits_waits_as_the_closed_form_does(load: float, arrivals: Arrivals) -> None:
    star, service = _star(2), 530 * 8 / 1e8
    traffic = traffic_of(star, Pattern(kind="incast", load=load), arrivals=arrivals)
    model = model_network(star, traffic, capacity=20, has_acks=False)
    latency = flow_latency(model, stream_waits(model))
    length = load + load * (arrivals.scv - 1) / 2
    if load != 1.0:
        length += load**2 * arrivals.scv / (2 * (1 - load))
    limited = finite_length(length, load, 21)
    let_in = min(1.0, load) / service
    first = (limited - min(1.0, load)) / let_in
    waits = stream_waits(model)
    entry = model.queues.pairs.entry + int(model.data.routes[0, 0])
    assert waits.shared_s[entry] + waits.own[entry] * service == pytest.approx(first, rel=1e-6)
    assert latency.wait_s[0] <= 2 * 20 * service


def test_a_ring_of_queues_that_wait_for_each_other_settles() -> None:
    links = [Link(ends=(h, 5 + h), rate_bps=10**8) for h in range(5)]
    links += [Link(ends=(5 + h, 5 + (h + 1) % 5), rate_bps=10**8) for h in range(5)]
    ring = topology_of_links("ring", host_count=5, tiers=[0] * 5 + [1] * 5, links=links)
    sources = np.arange(5, dtype=np.int32)
    traffic = Traffic(
        sources=sources, destinations=(sources + 2).astype(np.int32) % 5, rates_per_s=np.full(5, 8000.0)
    )
    model = model_network(ring, traffic, capacity=None)
    latency = flow_latency(model, stream_waits(model))
    assert latency.rtt_s == pytest.approx(np.full(5, latency.rtt_s[0]))
    assert latency.wait_s.min() > 0


def _simulated(
    topology: Topology, traffic: Traffic, folder: Path, *, duration_s: float, has_acks: bool
) -> tuple[np.ndarray, SimulationResult]:
    """Mean delay of every flow in seconds, and the result."""
    schedule = draw_schedule(traffic, duration_s=duration_s, seed=11)
    options = SimulationOptions(warm_up_s=duration_s / 10, has_acks=has_acks)
    scenario = make_scenario(topology, traffic, schedule, options=options)
    result = simulate(scenario, engine_folder=folder)
    counted = (schedule.times_ns >= options.warm_up_s * 1e9) & (result.delays_ns >= 0)
    flows = schedule.flows[counted]
    sums = np.bincount(flows, result.delays_ns[counted], len(traffic.sources))
    return sums / np.bincount(flows, minlength=len(traffic.sources)) / 1e9, result


def _model(topology: Topology, traffic: Traffic, *, has_acks: bool) -> NetworkModel:
    return model_network(topology, traffic, has_acks=has_acks)


@pytest.mark.sample(2)
@pytest.mark.parametrize("arrivals", [Arrivals(), Arrivals(kind="ge", scv=4.0)])
@pytest.mark.parametrize("kind", ["incast", "broadcast"])
def test_waits_of_trees_are_those_of_simulation(tmp_path: Path, kind: str, arrivals: Arrivals) -> None:
    """Flows that only merge, or only part: no approximation but that of a run's length."""
    traffic = traffic_of(TREE, Pattern(kind=kind, load=0.6), arrivals=arrivals)
    truth, _ = _simulated(TREE, traffic, tmp_path, duration_s=20.0, has_acks=False)
    model = _model(TREE, traffic, has_acks=False)
    latency = flow_latency(model, stream_waits(model, "tree"))
    assert latency.delay_s.mean() == pytest.approx(truth.mean(), rel=0.005 if arrivals.scv == 1 else 0.05)


def test_both_estimates_are_near_simulation_of_all_to_all_traffic(tmp_path: Path) -> None:
    traffic = traffic_of(TREE, Pattern(load=0.4), sizes=PacketSizes(kind="uniform"))
    truth, result = _simulated(TREE, traffic, tmp_path, duration_s=4.0, has_acks=False)
    model = _model(TREE, traffic, has_acks=False)
    for estimate in ("maximum_entropy", "tree"):
        latency = flow_latency(model, stream_waits(model, estimate))
        assert np.mean(np.abs(latency.delay_s / truth - 1)) < 0.05
    busy = result.queues.busy_ns / 3.6e9
    assert busy == pytest.approx(model.queues.utilisation, rel=0.1, abs=0.01)


def test_quantiles_of_one_m_d_1_queue_are_near_simulation(tmp_path: Path) -> None:
    star = _star(2)
    traffic = traffic_of(star, Pattern(kind="incast", load=0.7))
    schedule = draw_schedule(traffic, duration_s=20.0, seed=3)
    scenario = make_scenario(star, traffic, schedule)
    result = simulate(scenario, engine_folder=tmp_path)
    rtts = result.rtts_ns[schedule.times_ns >= 1e9] / 1e9
    model = _model(star, traffic, has_acks=True)
    latency = flow_latency(model, stream_waits(model, "tree"))
    for probability in (0.5, 0.99):
        expected = float(np.quantile(rtts, probability))
        assert rtt_quantile_s(latency, probability)[0] == pytest.approx(expected, rel=0.25)
