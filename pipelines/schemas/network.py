"""Tables of simulated networks: a run, a flow in it, a flow at a queue of its way."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table
from pipelines.schemas.status import STATUSES

PACKETS = ("data", "ack")


@table("network_runs", stage="network")
@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRunRow:
    """A simulated network: what was simulated, by which engine, and what came of it."""

    run_id: str = column("Hash of the configuration and the engine's version.", key=True)
    group: str = column("Group of runs in the configuration that it belongs to.")
    network: str = column("Name of the network.")
    hosts: int = column("Hosts of the network.")
    queues: int = column("Queues of the network: one a link and direction.")
    pattern: str = column("Which hosts talk: all_to_all, incast, broadcast or trace.")
    load: float | None = column("Utilisation by data of the busiest host link; null of a trace.")
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
    queue_capacity: int = column("Packets that a queue holds beside the one that is sent.")
    duration_s: float = column("Time in which packets are sent, warm-up included.", unit="s")
    warm_up_s: float = column("Time whose packets are not counted.", unit="s")
    configuration: str = column("JSON object from which the run can be made again.")
    status: str = column("Outcome of the simulation.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    tool: str = column("Simulator.")
    tool_version: str = column("Version of the simulator.")
    flow_count: int = column("Flows.")
    packet_count: int | None = column("Data packets sent after the warm-up.")
    drop_count: int | None = column("Of these, packets that a full queue refused.")
    offered_utilisation: float | None = column("Utilisation that flows offer to the busiest queue.")
    busiest_utilisation: float | None = column("Measured utilisation of the busiest queue.")
    delay_mean_ns: float | None = column("Mean over packets from sending to arrival.", unit="ns")
    rtt_mean_ns: float | None = column("Mean over packets until the acknowledgement is back.", unit="ns")
    rtt_p50_ns: float | None = column("Median over packets of that time.", unit="ns")
    rtt_p99_ns: float | None = column("99th percentile over packets of that time.", unit="ns")
    wall_s: float | None = column("Elapsed time of the simulation.", unit="s", measured=True)


@table("network_flows", stage="network")
@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFlowRow:
    """A flow of a simulated network: packets counted after the warm-up, and both estimates of theory."""

    run_id: str = column("Run.", key=True, references="network_runs")
    flow: int = column("Number of the flow in its run.", key=True)
    source: int = column("Host that sends.")
    destination: int = column("Host that receives.")
    rate_per_s: float = column("Packets that the flow offers.", unit="1/s")
    packet_count: int = column("Packets sent.")
    drop_count: int = column("Packets that a full queue refused.")
    delay_mean_ns: float | None = column("Mean from sending to arrival; null when none arrived.", unit="ns")
    delay_p50_ns: float | None = column("Median of that time.", unit="ns")
    delay_p99_ns: float | None = column("99th percentile of that time.", unit="ns")
    rtt_mean_ns: float | None = column(
        "Mean until the acknowledgement is back; null when none came.", unit="ns"
    )
    rtt_p50_ns: float | None = column("Median of that time.", unit="ns")
    rtt_p99_ns: float | None = column("99th percentile of that time.", unit="ns")
    base_ns: int = column(
        "Time without any wait: of the round trip, of the way there without acknowledgements.", unit="ns"
    )
    entropy_ns: int = column("The same with waits by maximum entropy (equation 5.1).", unit="ns")
    tree_ns: int = column("The same with waits by the estimate for trees of queues.", unit="ns")


@table("network_hops", stage="network")
@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkHopRow:
    """A flow at a queue of its way there or back, packets counted after the warm-up."""

    run_id: str = column("Run.", key=True)
    flow: int = column("Number of the flow in its run.", key=True, references="network_flows")
    hop: int = column("Place on the round trip, from 0.", key=True)
    packet: str = column("What goes through the queue here: data or its acknowledgements.", choices=PACKETS)
    queue: int = column("Number of the queue in its network.")
    queue_type: str = column("Tier and direction of the queue.")
    packet_count: int = column("Packets that came to the queue.")
    drop_count: int = column("Packets that it refused.")
    wait_mean_ns: int | None = column("Mean wait before sending; null when no packet got in.", unit="ns")
    wait_std_ns: int | None = column("Standard deviation of the wait.", unit="ns")
    service_ns: float = column("Mean time of sending one packet of the flow.", unit="ns")
    utilisation: float = column("Utilisation that all flows offer to the queue.")
    arrival_scv: float = column(
        "Squared coefficient of variation of arrivals of the flow's stream, by theory."
    )
    service_scv: float = column("Squared coefficient of variation of service of all packets of the queue.")
    entropy_wait_ns: int = column("Mean wait by maximum entropy (equation 5.1).", unit="ns")
    tree_wait_ns: int = column("Mean wait by the estimate for trees of queues.", unit="ns")
