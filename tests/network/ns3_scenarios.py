"""Small workloads on which the project's simulator and ns-3 must agree, one for each thing that may differ.

Belongs here: scenarios, and comparing results. Does not: running them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from pipelines.network.simulation import Scenario, SimulationOptions, SimulationResult, make_scenario
from pipelines.network.topology import (
    FatTree,
    Link,
    Topology,
    TwoTierTree,
    fat_tree,
    topology_of_links,
    two_tier_tree,
)
from pipelines.network.traffic import UDP, Arrivals, PacketSizes, Pattern, draw_schedule, traffic_of

BATCHES = Arrivals(kind="ge", scv=20.0)
WIDE = PacketSizes(kind="uniform", mean_bytes=500, spread=0.5)
RATE_BPS = 100_000_000
PACKET_NS = 42_400
"""Of sending 530 bytes."""


def tree(rate_bps: int = RATE_BPS, delay_ns: int = 0) -> Topology:
    """A fat-tree of 16 hosts."""
    return fat_tree(FatTree(pods=4, rate_bps=rate_bps, delay_ns=delay_ns))


def mixed_links() -> Topology:
    """Two edge switches of four hosts and two cores, all links unlike; one pair of switches has two links."""
    rates, delays = (30_000_000, 70_000_001, 33_333_333), (0, 1_234, 50_000)
    links = [
        Link(ends=(host, 8 + host // 4), rate_bps=rates[host % 3], delay_ns=delays[host % 3])
        for host in range(8)
    ]
    links += [
        Link(ends=(9, 10), rate_bps=95_123_457),
        Link(ends=(8, 10), rate_bps=64_000_003, delay_ns=777),
        Link(ends=(11, 8), rate_bps=80_000_003),
        Link(ends=(11, 9), rate_bps=90_000_003, delay_ns=999),
        Link(ends=(9, 10), rate_bps=95_123_457),
    ]
    return topology_of_links("mixed", host_count=8, tiers=[0] * 8 + [1, 1, 2, 2], links=links)


def pair(delay_ns: int = 1000) -> Topology:
    """Two hosts at one switch."""
    links = [Link(ends=(host, 2), rate_bps=RATE_BPS, delay_ns=delay_ns) for host in range(2)]
    return topology_of_links("pair", host_count=2, tiers=[0, 0, 1], links=links)


def scenario_of(
    topology: Topology,
    pattern: Pattern,
    duration_s: float,
    *,
    arrivals: Arrivals | None = None,
    sizes: PacketSizes | None = None,
    protocol: str = UDP,
    queue_capacity: int = 128,
    has_acks: bool = True,
) -> Scenario:
    """Traffic of a pattern; the first fifth of the time is warm-up."""
    traffic = traffic_of(topology, pattern, arrivals=arrivals, sizes=sizes, protocol=protocol)
    options = SimulationOptions(
        queue_capacity=queue_capacity, warm_up_s=0.2 * duration_s, has_acks=has_acks, timeout_s=120.0
    )
    schedule = draw_schedule(traffic, duration_s=duration_s, seed=1)
    return make_scenario(topology, traffic, schedule, options=options)


def in_step(scenario: Scenario, step_ns: int) -> Scenario:
    """The same with times of sending cut to multiples of a step, so that very many events have one time."""
    schedule = scenario.schedule
    return replace(scenario, schedule=replace(schedule, times_ns=schedule.times_ns // step_ns * step_ns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A scenario of UDP.

    Attributes: has_drops: whether it must lose packets to test what it is for.
    """

    make: Callable[[], Scenario]
    has_drops: bool = False


WORKLOADS = {
    "poisson": Workload(make=lambda: scenario_of(tree(), Pattern(load=0.5), 0.02)),
    "batches of one time": Workload(
        make=lambda: scenario_of(tree(), Pattern(load=0.75), 0.02, arrivals=BATCHES), has_drops=True
    ),
    "incast": Workload(make=lambda: scenario_of(tree(), Pattern(kind="incast", load=0.75), 0.2)),
    "broadcast": Workload(make=lambda: scenario_of(tree(), Pattern(kind="broadcast", load=0.75), 0.2)),
    "overload": Workload(make=lambda: scenario_of(tree(), Pattern(load=1.5), 0.02), has_drops=True),
    "overloaded incast": Workload(
        make=lambda: scenario_of(tree(), Pattern(kind="incast", load=1.3), 0.1), has_drops=True
    ),
    "unlike sizes": Workload(make=lambda: scenario_of(tree(), Pattern(load=0.75), 0.02, sizes=WIDE)),
    "largest packets": Workload(
        make=lambda: scenario_of(tree(), Pattern(load=0.5), 0.5, sizes=PacketSizes(mean_bytes=65_000))
    ),
    "unlike links": Workload(
        make=lambda: scenario_of(mixed_links(), Pattern(load=0.5), 0.05, arrivals=BATCHES, sizes=WIDE)
    ),
    "times that are no whole nanoseconds": Workload(
        make=lambda: scenario_of(tree(7_000_000, 3), Pattern(load=0.75), 0.1, sizes=WIDE)
    ),
    "times of half a nanosecond": Workload(
        make=lambda: scenario_of(
            tree(16_000_000_000), Pattern(load=0.5), 0.0001, arrivals=BATCHES, sizes=WIDE
        )
    ),
    "a delay as long as sending": Workload(
        make=lambda: scenario_of(tree(delay_ns=PACKET_NS), Pattern(load=0.5), 0.02, arrivals=BATCHES),
        has_drops=True,
    ),
    "no acknowledgements": Workload(
        make=lambda: scenario_of(
            tree(), Pattern(load=0.75), 0.02, arrivals=BATCHES, queue_capacity=32, has_acks=False
        ),
        has_drops=True,
    ),
    "queues of four": Workload(
        make=lambda: scenario_of(tree(), Pattern(load=0.75), 0.02, arrivals=BATCHES, queue_capacity=4),
        has_drops=True,
    ),
    "sending in step": Workload(
        make=lambda: in_step(scenario_of(tree(), Pattern(load=0.9), 0.02, queue_capacity=2), PACKET_NS),
        has_drops=True,
    ),
    "sending and delays in step": Workload(
        make=lambda: in_step(
            scenario_of(tree(delay_ns=PACKET_NS), Pattern(load=0.9), 0.02, queue_capacity=2), PACKET_NS
        ),
        has_drops=True,
    ),
    "parallel links": Workload(
        make=lambda: scenario_of(
            two_tier_tree(TwoTierTree(edges=2, cores=2, hosts_per_edge=3, parallel_links=2)),
            Pattern(load=0.75),
            0.05,
            arrivals=BATCHES,
        ),
        has_drops=True,
    ),
}


def named_arrays(result: SimulationResult) -> dict[str, NDArray[np.generic]]:
    """All arrays of a result."""
    arrays: dict[str, NDArray[np.generic]] = {"delays_ns": result.delays_ns, "rtts_ns": result.rtts_ns}
    for group in ("hops", "ack_hops", "queues"):
        sums = getattr(result, group)
        arrays |= {f"{group}.{field.name}": getattr(sums, field.name) for field in fields(sums)}
    return arrays


def differences(one: SimulationResult, other: SimulationResult) -> dict[str, int]:
    """How many values of each array differ in a bit, of those arrays in which any does."""
    others = named_arrays(other)
    counts = {
        name: int(np.count_nonzero(values.view(np.int64) != others[name].view(np.int64)))
        for name, values in named_arrays(one).items()
    }
    return {name: count for name, count in counts.items() if count}
