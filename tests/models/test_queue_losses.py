"""Losses of full queues: against a dense chain, closed forms and simulations; timers of TCP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from models.queue_correction.correction import shipped_correction
from models.queue_correction.losses import TIMER_S, full_queues
from models.queue_correction.tails import corrected_latency
from pipelines.network.queueing import NetworkModel, model_network
from pipelines.network.queueing.latency import QUANTILES
from pipelines.network.simulation import SimulationOptions, make_scenario, simulate
from pipelines.network.topology import FatTree, Link, fat_tree, topology_of_links
from pipelines.network.traffic import Arrivals, Pattern, Traffic, draw_schedule, traffic_of

TREE = fat_tree(FatTree(pods=4))
BURSTS = Arrivals(kind="ge", scv=4.0)


def arrivals_law(mean: float, success: float, last: int) -> NDArray[np.float64]:
    """Probabilities of 0 to `last` packets in batches at Poisson times, by Panjer's sums."""
    sizes = success * (1.0 - success) ** np.arange(last)
    law = np.zeros(last + 1)
    law[0] = np.exp(-mean)
    for count in range(1, last + 1):
        batch = np.arange(1, count + 1)
        law[count] = mean / count * np.sum(batch * sizes[:count] * law[count - batch])
    return law


def lost_by_dense_chain(used: float, scv: float, capacity: int) -> float:
    """Share lost, from the stationary law of a matrix of all transitions between departures."""
    most, success = capacity + 1, 2.0 / (scv + 1.0)
    batches = used * success
    law = arrivals_law(batches, success, most)
    left = np.zeros((most + 1, most))  # row: packets as one begins to be sent; column: those that it leaves
    for present in range(1, most + 1):
        room = most - present
        left[present, present - 1 : most - 1] = law[:room]
        left[present, most - 1] += 1.0 - law[:room].sum()
    sizes = np.array([0.0, *(success * (1.0 - success) ** (size - 1) for size in range(1, most)), 0.0])
    sizes[most] = 1.0 - sizes.sum()
    chain = np.vstack([sizes @ left, left[1:most]])
    equations = chain.T - np.eye(most)
    equations[-1] = 1.0
    law_of_left = np.linalg.solve(equations, np.eye(most)[-1])
    return float(1.0 - 1.0 / (used * (1.0 + law_of_left[0] / batches)))


@pytest.mark.parametrize("scv", [1.0, 4.0, 30.0])
@pytest.mark.parametrize("used", [0.2, 0.8, 1.0, 1.3])
@pytest.mark.parametrize("capacity", [1, 9, 60])
def test_a_full_queue_loses_what_the_dense_chain_says(scv: float, used: float, capacity: int) -> None:
    queues = full_queues(np.array([used]), np.array([scv]), capacity)
    assert queues.squares[0] >= queues.waits[0] ** 2
    assert queues.lost[0] == pytest.approx(
        max(0.0, lost_by_dense_chain(used, scv, capacity)), rel=1e-6, abs=1e-12
    )


@pytest.mark.parametrize("scv", [1.0, 4.0])
def test_a_large_queue_has_the_wait_of_one_without_end(scv: float) -> None:
    """Pollaczek and Khinchine for Poisson arrivals, plus the packets of the own batch."""
    used, scvs = np.array([0.3, 0.6]), np.full(2, scv)
    large, unbounded = full_queues(used, scvs, 1000), full_queues(used, scvs, None)
    assert np.all(large.lost < 1e-12)
    np.testing.assert_allclose(large.waits, unbounded.waits, rtol=1e-9)
    np.testing.assert_allclose(unbounded.waits, (used + scv - 1.0) / (2.0 * (1.0 - used)))


def test_poisson_arrivals_have_the_variance_of_waits_of_takacs() -> None:
    """E[W^2] = 2 E[W]^2 + rate E[S^3] / (3 (1 - rho)), with S = 1."""
    used = np.array([0.3, 0.6])
    queues = full_queues(used, np.ones(2), 200)
    np.testing.assert_allclose(queues.squares, 2 * queues.waits**2 + used / (3 * (1 - used)), rtol=2e-3)


def test_a_queue_above_its_rate_loses_the_rest() -> None:
    queues = full_queues(np.array([2.0, 2.0]), np.array([1.0, 1.0]), 1 << 11)
    assert queues.lost == pytest.approx([0.5, 0.5])
    assert queues.waits == pytest.approx([2048.0, 2048.0])


def traffic(kind: str, load: float, protocol: str = "udp") -> Traffic:
    return traffic_of(TREE, Pattern(kind=kind, load=load), arrivals=BURSTS, protocol=protocol)


@pytest.mark.parametrize(("capacity", "load"), [(8, 0.5), (8, 0.9), (32, 0.9)])
def test_losses_of_a_broadcast_are_those_of_a_simulation(
    capacity: int, load: float, engine_folder: Path
) -> None:
    """One queue of batches: the estimate is exact, but for the noise of 200,000 packets."""
    flows = traffic("broadcast", load)
    schedule = draw_schedule(flows, duration_s=200_000 / float(flows.rates_per_s.sum()), seed=3)
    options = SimulationOptions(queue_capacity=capacity, warm_up_s=0.0, has_acks=True)
    counted = simulate(make_scenario(TREE, flows, schedule, options=options), engine_folder=engine_folder)
    model = model_network(TREE, flows, capacity=capacity)
    answer = corrected_latency(model, shipped_correction(), QUANTILES)
    has_arrived = counted.rtts_ns >= 0
    assert float(answer.lost_share.mean()) == pytest.approx(1.0 - has_arrived.mean(), rel=0.08)
    mean_s = counted.rtts_ns[has_arrived].mean() / 1e9
    assert float(answer.latency.rtt_s.mean()) == pytest.approx(mean_s, rel=0.03)


def answers_of(model: NetworkModel) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    answer = corrected_latency(model, shipped_correction(), (0.5, 0.999))
    return answer.latency.rtt_s, answer.rtt_quantiles_s, answer.lost_share


@pytest.mark.parametrize("capacity", [16, 128])
def test_links_in_series_lose_packets_at_the_first(capacity: int) -> None:
    links = [Link(ends=ends, rate_bps=10**8) for ends in ((0, 2), (2, 3), (3, 1))]
    chain = topology_of_links("chain", host_count=2, tiers=[0, 0, 1, 1], links=links)
    flow = Traffic(
        sources=np.zeros(1, np.int32),
        destinations=np.ones(1, np.int32),
        rates_per_s=np.array([1.2 * 1e8 / 8 / 530]),
        arrivals=Arrivals(),
    )
    model = model_network(chain, flow, capacity=capacity, has_acks=False)
    assert answers_of(model)[2] == pytest.approx([1.0 - 1.0 / 1.2], abs=0.01)


@pytest.mark.parametrize("capacity", [2, 8, 32, 128, 5000])
@pytest.mark.parametrize("load", [0.5, 0.9, 1.3])
def test_percentiles_rise_and_waits_fit_the_queue(capacity: int, load: float) -> None:
    model = model_network(TREE, traffic("all_to_all", load), capacity=capacity)
    answer = corrected_latency(model, shipped_correction(), (0.5, 0.95, 0.99))
    assert np.all(np.diff(answer.rtt_quantiles_s, axis=0) >= 0.0)
    service_s = model.queues.utilisation / model.queues.rate_per_s
    assert np.all(answer.latency.queue_wait_s <= (capacity + 1) * service_s)
    assert np.all((answer.lost_share >= 0.0) & (answer.lost_share < 1.0))


def test_packets_lost_before_load_no_later_queue() -> None:
    """Two hosts' flows fill one link: what it loses is not lost again behind it, at the same rate."""
    model = model_network(TREE, traffic("incast", 1.3), capacity=128)
    _, _, lost = answers_of(model)
    assert float(np.average(lost, weights=model.traffic.rates_per_s)) == pytest.approx(0.3 / 1.3, abs=0.06)


def test_tcp_waits_for_the_timer_of_lost_packets() -> None:
    flows = traffic("incast", 0.9, "tcp")
    model = model_network(TREE, flows, capacity=32)
    rtt_s, (median_s, far_s), lost = answers_of(model)
    longer = model_network(TREE, flows, capacity=1024)
    others = answers_of(longer)
    assert lost.min() > 1e-3
    assert others[2].max() < 1e-3
    assert np.all(rtt_s > 2.0 * others[0])  # a second, seldom
    assert np.all(median_s < others[1][0])
    assert np.all((far_s > 0.5 * TIMER_S) & (far_s < 1.1 * TIMER_S))


def test_udp_has_no_timer() -> None:
    model = model_network(TREE, traffic("incast", 0.9), capacity=32)
    full_s = 33 * 8 * 530 / 1e8
    assert answers_of(model)[1].max() < 12 * full_s
    assert answers_of(replace(model, capacity=None))[2].max() == 0.0
