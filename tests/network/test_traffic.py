"""Traffic: loads, moments of arrivals and sizes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.network.errors import NetworkError
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import (
    PATTERNS,
    Arrivals,
    PacketSizes,
    Pattern,
    Traffic,
    draw_schedule,
    traffic_of,
)

TREE = fat_tree(FatTree(pods=4))


@pytest.mark.parametrize(("kind", "flows"), [("all_to_all", 240), ("incast", 15), ("broadcast", 15)])
def test_a_pattern_loads_the_busiest_host_link_as_asked(kind: str, flows: int) -> None:
    traffic = traffic_of(TREE, Pattern(kind=kind, load=0.5))
    assert len(traffic.sources) == flows
    work = traffic.rates_per_s * 530 * 8 / 1e8
    sent, received = (np.bincount(ends, work, 16) for ends in (traffic.sources, traffic.destinations))
    assert max(sent.max(), received.max()) == pytest.approx(0.5)


def test_density_takes_some_hosts_and_the_same_for_a_seed() -> None:
    half = Pattern(load=0.3, density=0.5, seed=4)
    one, other = traffic_of(TREE, half), traffic_of(TREE, half)
    assert len(np.unique(one.sources)) == 8
    assert len(one.sources) == 8 * 7
    assert np.array_equal(one.sources, other.sources)
    far = traffic_of(TREE, Pattern(load=0.3, density=0.5, seed=5))
    assert not np.array_equal(np.unique(one.sources), np.unique(far.sources))


def _one_flow(arrivals: Arrivals, sizes: PacketSizes | None = None) -> Traffic:
    return Traffic(
        sources=np.array([0], np.int32),
        destinations=np.array([1], np.int32),
        rates_per_s=np.array([1000.0]),
        arrivals=arrivals,
        sizes=sizes or PacketSizes(),
    )


@pytest.mark.parametrize(
    "arrivals",
    [
        Arrivals(),
        Arrivals(kind="ge", scv=4.0),
        Arrivals(kind="on_off", scv=3.0, on_share=0.3),
        Arrivals(kind="on_off", scv=6.0, on_share=0.8),
    ],
)
def test_arrivals_have_their_rate_and_variation(arrivals: Arrivals) -> None:
    schedule = draw_schedule(_one_flow(arrivals), duration_s=400.0, seed=9)
    gaps = np.diff(schedule.times_ns) / 1e9
    assert np.all(gaps >= 0)
    assert len(gaps) / 400.0 == pytest.approx(1000.0, rel=0.02)
    assert gaps.var() / gaps.mean() ** 2 == pytest.approx(arrivals.scv, rel=0.05)


@pytest.mark.parametrize(
    "sizes",
    [
        PacketSizes(),
        PacketSizes(kind="uniform", mean_bytes=500, spread=0.01),
        PacketSizes(kind="bimodal", values_bytes=(64, 1400), shares=(0.6, 0.4)),
        PacketSizes(kind="empirical", values_bytes=(40, 576, 1500), shares=(0.5, 0.2, 0.3)),
    ],
)
def test_sizes_have_their_moments(sizes: PacketSizes) -> None:
    schedule = draw_schedule(_one_flow(Arrivals(), sizes), duration_s=200.0, seed=1)
    wire = schedule.payload_bytes + 30.0
    mean, scv = sizes.moments(30)
    assert wire.mean() == pytest.approx(mean, rel=0.01)
    assert wire.var() / wire.mean() ** 2 == pytest.approx(scv, rel=0.02, abs=1e-12)


def test_uniform_sizes_of_the_paper_go_from_495_to_505() -> None:
    schedule = draw_schedule(_one_flow(Arrivals(), PacketSizes(kind="uniform")), duration_s=20.0, seed=1)
    assert (schedule.payload_bytes.min(), schedule.payload_bytes.max()) == (495, 505)


@pytest.mark.parametrize("kind", PATTERNS)
def test_the_busiest_host_link_has_the_load_of_the_pattern(kind: str) -> None:
    traffic = traffic_of(TREE, Pattern(kind=kind, load=0.4))
    bits = traffic.rates_per_s * traffic.sizes.moments(traffic.header_bytes)[0] * 8
    ends = [np.bincount(hosts, bits, TREE.host_count) for hosts in (traffic.sources, traffic.destinations)]
    assert max(own.max() for own in ends) == pytest.approx(0.4 * 1e8)
    assert (traffic.sources != traffic.destinations).all()


def test_patterns_send_where_they_say() -> None:
    once = traffic_of(TREE, Pattern(kind="permutation", seed=3))
    assert sorted(once.sources) == sorted(once.destinations) == list(range(TREE.host_count))
    hot = traffic_of(TREE, Pattern(kind="hot_spot", seed=3))
    received = np.bincount(hot.destinations, hot.rates_per_s, TREE.host_count)
    assert received.max() > 3 * np.median(received)
    local = traffic_of(TREE, Pattern(kind="rack_local"))
    same = local.sources // 2 == local.destinations // 2  # two hosts at each edge switch of four pods
    assert local.rates_per_s[same].sum() / local.rates_per_s.sum() == pytest.approx(0.8)
    other = traffic_of(TREE, Pattern(kind="permutation", seed=4))
    assert (once.sources != other.sources).any()


def test_a_seed_gives_the_same_packets_and_another_gives_others() -> None:
    traffic = traffic_of(TREE, Pattern(), arrivals=Arrivals(kind="ge", scv=4.0))
    one, same, other = (draw_schedule(traffic, duration_s=0.1, seed=s) for s in (1, 1, 2))
    for name in ("times_ns", "flows", "payload_bytes"):
        assert np.array_equal(getattr(one, name), getattr(same, name))
    assert not np.array_equal(one.times_ns[:50], other.times_ns[:50])


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (
            Pattern,
            {"kind": "ring"},
            r"^unknown pattern: ring; accepted: all_to_all, incast, broadcast, permutation, "
            r"hot_spot, rack_local$",
        ),
        (Pattern, {"load": -0.1}, r"^a load must be above 0 to 4, got -0.1$"),
        (Pattern, {"density": 0.0}, r"^a density must be above 0 to 1, got 0.0$"),
        (Pattern, {"kind": "incast", "density": 0.5}, r"^only all_to_all traffic may have a density below 1"),
        (Arrivals, {"kind": "weibull"}, r"^unknown arrivals: weibull; accepted: poisson, ge, on_off$"),
        (Arrivals, {"scv": 2.0}, r"^the scv of Poisson arrivals must be 1, got 2.0$"),
        (Arrivals, {"kind": "ge", "scv": 0.5}, r"^the scv of ge arrivals must be above 1 to 1000, got 0.5$"),
        (Arrivals, {"kind": "on_off", "scv": float("nan")}, r"got nan$"),
        (Arrivals, {"on_share": 1.0}, r"^on_share must be between 0 and 1, got 1.0$"),
        (
            PacketSizes,
            {"kind": "pareto"},
            r"^unknown packet sizes: pareto; accepted: fixed, uniform, bimodal, empirical",
        ),
        (PacketSizes, {"mean_bytes": 0}, r"^a packet must have 1 to 65000 bytes, got 0$"),
        (
            PacketSizes,
            {"kind": "bimodal", "values_bytes": (1, 2, 3)},
            r"as many shares as values, two, got 3",
        ),
        (
            PacketSizes,
            {"kind": "empirical", "values_bytes": (9,), "shares": (0.5,)},
            r"sum to 1, got \(0.5,\)$",
        ),
    ],
)
def test_traffic_rejects(make: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        make(**arguments)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_traffic_rejects_a_rate(rate: float) -> None:
    ends = np.array([0], np.int32), np.array([1], np.int32)
    with pytest.raises(NetworkError, match=rf"^a flow's rate must be above 0, got {rate} of flow 0$"):
        Traffic(sources=ends[0], destinations=ends[1], rates_per_s=np.array([rate]))


def test_schedule_rejects_no_time_and_too_many_packets() -> None:
    with pytest.raises(NetworkError, match=r"^a duration must be above 0 to 3600 s, got 0.0$"):
        draw_schedule(_one_flow(Arrivals()), duration_s=0.0, seed=1)
    traffic = traffic_of(fat_tree(FatTree(pods=16)), Pattern(density=0.1))
    with pytest.raises(NetworkError, match=r"^a run must have at most \d+ packets, got some "):
        draw_schedule(traffic, duration_s=3600.0, seed=1)
