"""Input and output of a simulator, and their files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.errors import NetworkError
from pipelines.network.request import CAPACITY_LIMIT
from pipelines.network.routing import Routing, route_flows
from pipelines.network.topology import Topology
from pipelines.network.traffic import TCP, Schedule, Traffic

ACK_PAYLOAD_BYTES = 0
_SCENARIO_MAGIC, _STEPS_MAGIC, _RESULT_MAGIC = b"SFNETIN1", b"SFNETIN2", b"SFNETRS1"
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """How a run is simulated.

    Attributes:
        queue_capacity: packets that may wait in a queue, excluding the one in transmission.
        warm_up_s: packets sent earlier are not counted.
        has_acks: whether receivers acknowledge every packet.
        timeout_s: limit of processor time of a run.

    Source: chapter 5.4.1: FIFO queues of 128 packets, warm-up excluded.
    """

    queue_capacity: int = 128
    warm_up_s: float = 1.0
    has_acks: bool = True
    timeout_s: float = 3600.0

    def __post_init__(self) -> None:
        if not 0 <= self.queue_capacity <= CAPACITY_LIMIT:
            raise NetworkError(f"a queue must hold 0 to {CAPACITY_LIMIT} packets, got {self.queue_capacity}")
        if not 0.0 <= self.warm_up_s < float("inf"):
            raise NetworkError(f"a warm-up must be 0 s or more, got {self.warm_up_s}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steps:
    """Steps of collectives: the packets of one are sent when all packets of the one before have arrived.

    Attributes:
        of_packets: step of every packet. (packets,)
        after: the step before of the same job; the packets of a first one, -1, have times of their own.
            (steps,)
    """

    of_packets: NDArray[np.int32]
    after: NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """One run: a network, its flows' routes and the packets of a schedule.

    Attributes:
        routes, ack_routes: queues of every flow and of its acknowledgements. (flows, longest path)
    """

    topology: Topology
    traffic: Traffic
    schedule: Schedule
    routing: Routing
    options: SimulationOptions
    routes: NDArray[np.int32]
    ack_routes: NDArray[np.int32]
    steps: Steps | None = None

    @property
    def has_acks(self) -> bool:
        """Whether receivers acknowledge packets, as TCP always does."""
        return self.options.has_acks or self.traffic.protocol == TCP


def make_scenario(
    topology: Topology,
    traffic: Traffic,
    schedule: Schedule,
    *,
    routing: Routing | None = None,
    options: SimulationOptions | None = None,
    steps: Steps | None = None,
) -> Scenario:
    """Route the flows of a schedule.

    Args:   steps: of collectives; without them every packet is sent at its time.

    Raises: NetworkError: a flow has no route, or the warm-up leaves no packets.
    """
    routing, options = routing or Routing(), options or SimulationOptions()
    counted = np.count_nonzero(schedule.times_ns >= options.warm_up_s * _NS_PER_S)
    if counted == 0:
        raise NetworkError(
            f"no packets after the warm-up of {options.warm_up_s:g} s, {len(schedule.times_ns)} before"
        )
    return Scenario(
        topology=topology,
        traffic=traffic,
        schedule=schedule,
        routing=routing,
        options=options,
        routes=route_flows(topology, traffic.sources, traffic.destinations, routing),
        ack_routes=route_flows(topology, traffic.destinations, traffic.sources, routing),
        steps=steps,
    )


def scenario_bytes(scenario: Scenario) -> bytes:
    """Return the file that a simulator reads."""
    topology, traffic, schedule = scenario.topology, scenario.traffic, scenario.schedule
    header = (
        topology.node_count,
        topology.host_count,
        topology.queue_count,
        len(traffic.sources),
        len(schedule.times_ns),
        scenario.routes.shape[1],
        scenario.ack_routes.shape[1],
        scenario.options.queue_capacity,
        traffic.header_bytes,
        ACK_PAYLOAD_BYTES if scenario.options.has_acks else -1,
        round(scenario.options.warm_up_s * _NS_PER_S),
        int(traffic.protocol == TCP),
        *(() if scenario.steps is None else (len(scenario.steps.after),)),
    )
    arrays = (
        (topology.sources, "<i4"),
        (topology.targets, "<i4"),
        (topology.rates_bps, "<i8"),
        (topology.delays_ns, "<i8"),
        (traffic.sources, "<i4"),
        (traffic.destinations, "<i4"),
        (scenario.routes, "<i4"),
        (scenario.ack_routes, "<i4"),
        (schedule.times_ns, "<i8"),
        (schedule.flows, "<i4"),
        (schedule.payload_bytes, "<i4"),
        *(() if (steps := scenario.steps) is None else ((steps.of_packets, "<i4"), (steps.after, "<i4"))),
    )
    magic = _SCENARIO_MAGIC if scenario.steps is None else _STEPS_MAGIC
    content = [magic, np.array(header, "<i8").tobytes()]
    return b"".join([*content, *(np.ascontiguousarray(values, kind).tobytes() for values, kind in arrays)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HopSums:
    """Sums over counted packets, of every flow at every queue of its route. Each (flows, longest path)."""

    packets: NDArray[np.int64]
    drops: NDArray[np.int64]
    wait_ns: NDArray[np.float64]
    wait_ns2: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueueSums:
    """Sums over packets at every queue. Each (queues,)

    Attributes:
        packets: arrivals after the warm-up, acknowledgements and dropped packets included.
        drops, busy_ns, wait_ns: of counted packets.
        gap_ns, gap_ns2: times between arrivals, and their squares.
    """

    packets: NDArray[np.int64]
    drops: NDArray[np.int64]
    busy_ns: NDArray[np.int64]
    wait_ns: NDArray[np.float64]
    gap_ns: NDArray[np.float64]
    gap_ns2: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulationResult:
    """Result of a simulation.

    Attributes:
        delays_ns: of every packet, from sending to arrival; -1 when it was dropped. (packets,)
        rtts_ns: from sending until the acknowledgement arrives; -1 when none arrives. (packets,)
        hops, ack_hops: waits of packets and of acknowledgements.
        queues: load of queues.
        event_count: events that the simulator handled.
    """

    delays_ns: NDArray[np.int64]
    rtts_ns: NDArray[np.int64]
    hops: HopSums
    ack_hops: HopSums
    queues: QueueSums
    event_count: int


def read_result(content: bytes, scenario: Scenario) -> SimulationResult:
    """Read the result file of a scenario.

    Raises: NetworkError: the file is incomplete or belongs to another scenario.
    """
    counts = np.frombuffer(content[8:48], "<i8")
    packets, queues = len(scenario.schedule.times_ns), scenario.topology.queue_count
    shapes = (scenario.routes.shape, scenario.ack_routes.shape)
    expected = [packets, scenario.routes.size, scenario.ack_routes.size, queues]
    size = 48 + 8 * (2 * packets + 4 * (expected[1] + expected[2]) + 6 * queues)
    if content[:8] != _RESULT_MAGIC or counts[:4].tolist() != expected or len(content) != size:
        raise NetworkError(
            f"result file of another scenario: {len(content)} bytes and counts "
            f"{counts.tolist()}; expected {size} bytes"
        )
    at = 48

    def take(count: int, kind: str) -> NDArray[np.generic]:
        nonlocal at
        values = np.frombuffer(content, kind, count, at)
        at += 8 * count
        return values

    def hop_sums(shape: tuple[int, ...]) -> HopSums:
        size = shape[0] * shape[1]
        kinds = {"packets": "<i8", "drops": "<i8", "wait_ns": "<f8", "wait_ns2": "<f8"}
        values = {name: take(size, kind).reshape(shape) for name, kind in kinds.items()}
        return HopSums(**values)  # pyright: ignore[reportArgumentType]

    delays, rtts = take(packets, "<i8"), take(packets, "<i8")
    hops, ack_hops = hop_sums(shapes[0]), hop_sums(shapes[1])
    kinds = ("<i8", "<i8", "<i8", "<f8", "<f8", "<f8")
    names = ("packets", "drops", "busy_ns", "wait_ns", "gap_ns", "gap_ns2")
    of_queues = {name: take(queues, kind) for name, kind in zip(names, kinds, strict=True)}
    return SimulationResult(
        delays_ns=delays,  # pyright: ignore[reportArgumentType]
        rtts_ns=rtts,  # pyright: ignore[reportArgumentType]
        hops=hops,
        ack_hops=ack_hops,
        queues=QueueSums(**of_queues),  # pyright: ignore[reportArgumentType]
        event_count=int(counts[4]),
    )
