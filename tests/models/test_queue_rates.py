"""Waits behind faster and slower links: what a stream has waited for itself before, beside closed forms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.queue_correction.correction import corrected_waits, shipped_correction
from models.queue_correction.features import times_before, tree_waits
from models.queue_correction.tails import flow_law, rtt_quantiles_s
from pipelines.network.queueing import NetworkModel, flow_latency, model_network, stream_waits
from pipelines.network.simulation import SimulationOptions, make_scenario, simulate
from pipelines.network.topology import FatTree, Topology, fat_tree
from pipelines.network.topology.graph import Link, topology_of_links
from pipelines.network.traffic import Arrivals, PacketSizes, Pattern, Traffic, draw_schedule, traffic_of

FAST, SLOW = 10**9, 10**8


def _network(host_bps: int, middle_bps: int, hosts: int) -> Topology:
    """Hosts at a switch, one more at another, and a link between the switches."""
    first, second = hosts + 1, hosts + 2
    links = [Link(ends=(host, first), rate_bps=host_bps, delay_ns=500) for host in range(hosts)]
    links.append(Link(ends=(hosts, second), rate_bps=host_bps, delay_ns=500))
    links.append(Link(ends=(first, second), rate_bps=middle_bps, delay_ns=500))
    tiers = [0] * (hosts + 1) + [1, 1]
    return topology_of_links("rates", host_count=hosts + 1, tiers=tiers, links=links)


def _to_the_last(hosts: int, rate_per_s: float) -> Traffic:
    return Traffic(
        sources=np.arange(hosts, dtype=np.int32),
        destinations=np.full(hosts, hosts, np.int32),
        rates_per_s=np.full(hosts, rate_per_s),
        arrivals=Arrivals(),
        sizes=PacketSizes(),
    )


def _model(host_bps: int, middle_bps: int, hosts: int, rate_per_s: float) -> NetworkModel:
    return model_network(
        _network(host_bps, middle_bps, hosts), _to_the_last(hosts, rate_per_s), has_acks=False
    )


@pytest.mark.parametrize("hosts", [1, 5])
def test_the_wait_before_a_slower_link_and_behind_it_is_that_of_one_queue_of_its_rate(hosts: int) -> None:
    model = _model(FAST, SLOW, hosts, 14_000.0 / hosts)
    service = float(model.data.mean_bytes[0]) * 8 / SLOW
    used = 14_000.0 * service
    expected = used * service / (2 * (1 - used))
    for waits in (tree_waits(model), corrected_waits(model, shipped_correction())):
        np.testing.assert_allclose(flow_latency(model, waits).wait_s, expected, rtol=0.02)
    assert flow_latency(model, stream_waits(model, "tree")).wait_s.max() < 0.95 * expected


def test_packets_of_one_host_wait_for_each_other_at_its_link_alone() -> None:
    """Over a faster link and then one as slow as the first."""
    model = _model(SLOW, FAST, 1, 14_000.0)
    waits = flow_latency(model, tree_waits(model))
    np.testing.assert_allclose(waits.wait_s, waits.queue_wait_s[int(model.data.routes[0, 0])], rtol=1e-9)


def test_a_batch_from_a_fast_host_waits_at_the_slow_link_for_those_before_it() -> None:
    more, rate = 1.5, 8_000.0
    traffic = replace(_to_the_last(1, rate), arrivals=Arrivals(kind="ge", scv=1 + 2 * more))
    model = model_network(_network(FAST, SLOW, 1), traffic, has_acks=False)
    service = float(model.data.mean_bytes[0]) * 8 / SLOW
    used = rate * service
    expected = used * (1 + 2 * more) * service / (2 * (1 - used)) + more * service
    np.testing.assert_allclose(flow_latency(model, tree_waits(model)).wait_s, expected, rtol=0.02)


def test_the_law_counts_what_a_stream_waits_for_itself_behind_a_faster_link() -> None:
    model = _model(FAST, SLOW, 1, 14_000.0)
    waits = tree_waits(model)
    law = flow_law(model, waits, flow_latency(model, waits))
    service = float(model.data.mean_bytes[0]) * 8 / SLOW
    used = 14_000.0 * service
    mean = used * service / (2 * (1 - used))
    np.testing.assert_allclose(law.variance_s2, mean**2 + used * service**2 / (3 * (1 - used)), rtol=0.02)
    assert np.isfinite(law.features).all()


def test_links_of_nearly_one_rate_have_nearly_the_estimate_for_trees() -> None:
    tree = fat_tree(FatTree(pods=4))
    is_host = (tree.sources < tree.host_count) | (tree.targets < tree.host_count)
    nearly = replace(tree, rates_bps=np.where(is_host, SLOW, SLOW + 100))
    model, alike = (model_network(t, traffic_of(t, Pattern(load=0.5))) for t in (nearly, tree))
    assert np.any(times_before(model) < 1.0)
    expected = stream_waits(alike, "tree").shared_s
    np.testing.assert_allclose(tree_waits(model).shared_s, expected, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(("host_bps", "middle_bps"), [(FAST, SLOW), (SLOW, FAST)])
def test_round_trips_over_links_of_two_rates_are_those_of_simulation(
    tmp_path: Path, host_bps: int, middle_bps: int
) -> None:
    network, traffic = _network(host_bps, middle_bps, 5), _to_the_last(5, 3_000.0)
    schedule = draw_schedule(traffic, duration_s=20.0, seed=3)
    scenario = make_scenario(network, traffic, schedule, options=SimulationOptions(warm_up_s=1.0))
    result = simulate(scenario, engine_folder=tmp_path)
    counted = (schedule.times_ns >= 1e9) & (result.rtts_ns >= 0)
    model, correction = model_network(network, traffic), shipped_correction()
    waits = corrected_waits(model, correction)
    latency = flow_latency(model, waits)
    simulated = result.rtts_ns[counted] / 1e9
    assert latency.rtt_s.mean() == pytest.approx(simulated.mean(), rel=0.02)
    p99 = rtt_quantiles_s(model, waits, latency, correction.tails)[1]
    assert p99.mean() == pytest.approx(np.quantile(simulated, 0.99), rel=0.05)
