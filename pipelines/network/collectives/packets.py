"""Times of collectives packet by packet: UDP by the project's simulator, TCP by ns-3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.tools import stopwatch
from pipelines.network.collectives.jobs import Job
from pipelines.network.collectives.transfers import Packets
from pipelines.network.errors import NetworkError
from pipelines.network.request import CAPACITY_LIMIT, MOST_PACKETS
from pipelines.network.routing import Routing
from pipelines.network.simulation import Scenario, SimulationOptions, make_scenario, simulate
from pipelines.network.simulation.ns3 import simulate_in_ns3
from pipelines.network.simulation.scenario import Steps
from pipelines.network.topology import Topology
from pipelines.network.traffic import HEADER_BYTES, TCP, UDP, PacketSizes, Schedule, Traffic

MOST_TCP_PACKETS = 2_000_000
"""Some three minutes of ns-3."""
LEAST_PACKET_NS = 10.0
"""Shorter times of sending are rounded by more than 5 %."""
OPENING_NS = 30_000_000
"""Connections of TCP are opened before the first packet."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacketTimes:
    """Times of jobs packet by packet.

    Attributes:
        ends_s: of the steps of each job, from time 0. One array a job, (steps,)
        packets: that were sent. seconds: that the simulation took.
    """

    ends_s: tuple[NDArray[np.float64], ...]
    packets: int
    seconds: float


def packet_times(
    topology: Topology,
    jobs: Sequence[Job],
    *,
    routing: Routing,
    payload_bytes: int,
    protocol: str,
    engine_folder: Path,
) -> PacketTimes:
    """Simulate the packets of jobs in queues without a limit; a step begins when the one before has arrived.

    Args:   payload_bytes: of a full packet; protocol: UDP, every packet of a step at once, or TCP.
    Raises: NetworkError: too many packets, or the simulation failed. ToolMissing: see `simulate`.
    """
    began = stopwatch()
    scenario = packets_scenario(
        topology, jobs, routing=routing, payload_bytes=payload_bytes, protocol=protocol
    )
    run = simulate_in_ns3 if protocol == TCP else simulate
    delays_ns = run(scenario, engine_folder=engine_folder).delays_ns
    if (delays_ns < 0).any():
        raise NetworkError(f"{int((delays_ns < 0).sum())} packets of collectives did not arrive")
    assert scenario.steps is not None
    longest = np.zeros(len(scenario.steps.after), np.int64)
    np.maximum.at(longest, scenario.steps.of_packets, delays_ns)
    lengths = np.cumsum([len(job.steps.order) for job in jobs])[:-1]
    ends_s = tuple(
        (job.start_s + np.cumsum(own) * 1e-9).astype(np.float64)
        for job, own in zip(jobs, np.split(longest, lengths), strict=True)
    )
    return PacketTimes(ends_s=ends_s, packets=len(delays_ns), seconds=stopwatch() - began)


def count_packets(jobs: Sequence[Job], packets: Packets) -> int:
    """Return the packets of all jobs."""
    total = 0
    for job in jobs:
        steps = job.steps
        each = [len(p.sources) * packets.count(p.size_bytes) for p in steps.patterns]
        total += sum(each[pattern] for pattern in steps.order)
    return total


def packets_scenario(
    topology: Topology, jobs: Sequence[Job], *, routing: Routing, payload_bytes: int, protocol: str
) -> Scenario:
    """Cut the transfers of all jobs into packets; each job has flows of its own.

    Raises: NetworkError: there are too many.
    """
    cut = Packets(payload_bytes=payload_bytes, header_bytes=HEADER_BYTES[protocol])
    packets = count_packets(jobs, cut)
    most = MOST_TCP_PACKETS if protocol == TCP else MOST_PACKETS
    if packets > most:
        raise NetworkError(
            f"a simulation of {protocol} must have at most {most:,} packets, got {packets:,}: fewer bytes, "
            "or the estimate alone"
        )
    smallest_bits = min(cut.largest_bits(p.size_bytes) for job in jobs for p in job.steps.patterns)
    packet_ns = 1e9 * smallest_bits / float(topology.rates_bps.max())
    if packet_ns < LEAST_PACKET_NS:
        raise NetworkError(
            f"a simulation counts whole nanoseconds, and a packet takes {packet_ns:.2g} ns on the fastest "
            f"link; accepted: {LEAST_PACKET_NS:g} ns or more, by larger packets or slower links; or the "
            "estimate alone"
        )
    ends: list[NDArray[np.int64]] = []
    flows: list[NDArray[np.int32]] = []
    payloads: list[NDArray[np.int32]] = []
    of_packets: list[NDArray[np.int32]] = []
    times: list[NDArray[np.int64]] = []
    after: list[int] = []
    for job in jobs:
        steps = job.steps
        pairs = [p.sources.astype(np.int64) * topology.host_count + p.destinations for p in steps.patterns]
        known, numbers = np.unique(np.concatenate(pairs), return_inverse=True)
        numbers = np.split(numbers + sum(len(own) for own in ends), np.cumsum([len(p) for p in pairs])[:-1])
        ends.append(known)
        start_ns = round(job.start_s * 1e9) + (OPENING_NS if protocol == TCP else 0)
        for place, pattern in enumerate(steps.order):
            size = steps.patterns[pattern].size_bytes
            own = np.full(cut.count(size), payload_bytes, np.int32)
            own[-1] = size - payload_bytes * (len(own) - 1)
            count = len(pairs[pattern])
            flows.append(np.repeat(numbers[pattern], len(own)).astype(np.int32))
            payloads.append(np.tile(own, count))
            of_packets.append(np.full(count * len(own), len(after), np.int32))
            times.append(np.full(count * len(own), start_ns, np.int64))
            after.append(len(after) - 1 if place else -1)
    all_times = np.concatenate(times)
    order = np.argsort(all_times, kind="stable")
    pairs_of_flows = np.concatenate(ends)
    traffic = Traffic(
        sources=(pairs_of_flows // topology.host_count).astype(np.int32),
        destinations=(pairs_of_flows % topology.host_count).astype(np.int32),
        rates_per_s=np.ones(len(pairs_of_flows)),
        sizes=PacketSizes(mean_bytes=payload_bytes),
        protocol=protocol,
    )
    schedule = Schedule(
        times_ns=all_times[order],
        flows=np.concatenate(flows)[order],
        payload_bytes=np.concatenate(payloads)[order],
        duration_s=1.0,
    )
    return make_scenario(
        topology,
        traffic,
        schedule,
        routing=routing,
        options=SimulationOptions(queue_capacity=CAPACITY_LIMIT, warm_up_s=0.0, has_acks=protocol != UDP),
        steps=Steps(of_packets=np.concatenate(of_packets)[order], after=np.array(after, np.int32)),
    )
