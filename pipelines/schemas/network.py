"""Tables of simulated networks: a run, a flow in it, a flow at a queue of its route."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.checks import NS3, THEORY
from pipelines.schemas.columns import STATUSES, column, table

PACKETS = ("data", "ack")


@table(
    "network_runs",
    stage="network",
    group="network",
    tool_columns=(("tool", "tool_version"),),
    in_manifest=False,
    card=("delay_mean_ns", "rtt_mean_ns", "rtt_p99_ns", "busiest_utilisation"),
    checked_by={
        "delay_mean_ns rtt_mean_ns rtt_p50_ns rtt_p99_ns packet_count drop_count": NS3,
        "offered_utilisation busiest_utilisation": THEORY,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRunRow:
    """A simulated network: its configuration, the engine and its results."""

    run_id: str = column("Hash of the configuration and the engine's version.", key=True)
    group: str = column("Group of runs in the configuration that it belongs to.")
    network: str = column("Name of the network.")
    hosts: int = column("Hosts of the network.")
    queues: int = column("Queues of the network: one per direction of a link.")
    pattern: str = column("Traffic pattern: all_to_all, incast, broadcast or trace.")
    load: float | None = column("Utilisation of the busiest host link by data; null for a trace.")
    density: float = column("Share of hosts that take part in all-to-all traffic.")
    arrivals: str = column("Arrival process of flows.")
    arrival_scv: float = column("Squared coefficient of variation of times between packets of a flow.")
    sizes: str = column("Distribution of packet sizes.")
    mean_bytes: float = column("Mean bytes of a data packet on the wire.", unit="bytes")
    size_scv: float = column("Squared coefficient of variation of bytes of a data packet on the wire.")
    protocol: str = column("Transport protocol.", choices=("udp", "tcp"))
    is_acknowledged: bool = column("Whether receivers acknowledge every packet.")
    routing: str = column("How routes are chosen among equal ones.")
    routing_seed: int = column("Seed of that choice.")
    seed: int = column("Seed of the packets.")
    queue_capacity: int = column("Queue capacity, excluding the packet in transmission.")
    duration_s: float = column("Time in which packets are sent, warm-up included.", unit="s")
    warm_up_s: float = column("Time whose packets are not counted.", unit="s")
    configuration: str = column("JSON object from which the run can be repeated.")
    status: str = column("Outcome of the simulation.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    tool: str = column("Simulator.")
    tool_version: str = column("Version of the simulator.")
    flow_count: int = column("Flows.")
    packet_count: int | None = column("Data packets sent after the warm-up.")
    drop_count: int | None = column("Packets dropped at full queues.")
    offered_utilisation: float | None = column("Utilisation that flows offer to the busiest queue.")
    busiest_utilisation: float | None = column("Measured utilisation of the busiest queue.")
    delay_mean_ns: float | None = column("Mean delay of packets, from sending to arrival.", unit="ns")
    rtt_mean_ns: float | None = column(
        "Mean round-trip time of packets, until the acknowledgement arrives.", unit="ns"
    )
    rtt_p50_ns: float | None = column("Median over packets of the round-trip time.", unit="ns")
    rtt_p99_ns: float | None = column("99th percentile over packets of the round-trip time.", unit="ns")
    wall_s: float | None = column("Elapsed time of the simulation.", unit="s", measured=True)


@table(
    "network_flows",
    stage="network",
    report=("run_id", "delay_mean_ns", "rtt_mean_ns", "entropy_ns", "tree_ns"),
    checked_by={
        "packet_count drop_count delay_mean_ns delay_p50_ns delay_p99_ns": NS3,
        "rtt_mean_ns rtt_p50_ns rtt_p99_ns": NS3,
        "base_ns entropy_ns tree_ns": THEORY,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFlowRow:
    """A flow of a simulated network: statistics of packets sent after the warm-up, and both estimates."""

    run_id: str = column("Run.", key=True, references="network_runs")
    flow: int = column("Number of the flow in its run.", key=True)
    source: int = column("Host that sends.")
    destination: int = column("Host that receives.")
    rate_per_s: float = column("Packets that the flow offers.", unit="1/s")
    packet_count: int = column("Packets sent.")
    drop_count: int = column("Packets dropped at full queues.")
    delay_mean_ns: float | None = column(
        "Mean delay from sending to arrival; null when none arrived.", unit="ns"
    )
    delay_p50_ns: float | None = column("Median delay.", unit="ns")
    delay_p99_ns: float | None = column("99th percentile of the delay.", unit="ns")
    rtt_mean_ns: float | None = column(
        "Mean round-trip time; null when no acknowledgement arrived.", unit="ns"
    )
    rtt_p50_ns: float | None = column("Median round-trip time.", unit="ns")
    rtt_p99_ns: float | None = column("99th percentile of the round-trip time.", unit="ns")
    base_ns: int = column(
        "Round-trip time without waits; delay without waits when packets are not acknowledged.", unit="ns"
    )
    entropy_ns: int = column("base_ns plus waits by maximum entropy (equation 5.1).", unit="ns")
    tree_ns: int = column("base_ns plus waits by the estimate for trees of queues.", unit="ns")


@table(
    "network_hops",
    stage="network",
    report=("run_id", "queue", "queue_type", "utilisation"),
    checked_by={
        "wait_mean_ns service_ns utilisation": f"{NS3}; {THEORY}",
        "entropy_wait_ns tree_wait_ns": THEORY,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkHopRow:
    """A flow at a queue of its route or of the acknowledgements' route; packets sent after the warm-up."""

    run_id: str = column("Run.", key=True)
    flow: int = column("Number of the flow in its run.", key=True, references="network_flows")
    hop: int = column("Place on the round trip, from 0.", key=True)
    packet: str = column("Kind of packets: data or acknowledgements.", choices=PACKETS)
    queue: int = column("Number of the queue in its network.")
    queue_type: str = column("Tier and direction of the queue.")
    packet_count: int = column("Packets that arrived at the queue.")
    drop_count: int = column("Packets dropped at the queue.")
    wait_mean_ns: int | None = column(
        "Mean wait before transmission; null when every packet was dropped.", unit="ns"
    )
    wait_std_ns: int | None = column("Standard deviation of the wait.", unit="ns")
    service_ns: float = column("Mean transmission time of a packet of the flow.", unit="ns")
    utilisation: float = column("Utilisation that all flows offer to the queue.")
    arrival_scv: float = column(
        "Squared coefficient of variation of arrivals of the flow's stream, by theory."
    )
    service_scv: float = column("Squared coefficient of variation of service of all packets of the queue.")
    entropy_wait_ns: int = column("Mean wait by maximum entropy (equation 5.1).", unit="ns")
    tree_wait_ns: int = column("Mean wait by the estimate for trees of queues.", unit="ns")
