"""Completion times of collectives: by the model of transfers, and packet by packet on request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipelines.base.limited import reading
from pipelines.base.tools import stopwatch
from pipelines.network.collectives.jobs import Job, read_job
from pipelines.network.collectives.packets import PacketTimes, packet_times
from pipelines.network.collectives.transfers import Packets, TransferTimes, transfer_times
from pipelines.network.errors import NetworkError
from pipelines.network.request import (
    DEFAULT_LINK_DELAY_NS,
    DEFAULT_LINK_GBPS,
    NS3,
    TRANSFERS,
    CollectiveRequest,
)
from pipelines.network.routing import Routing
from pipelines.network.topology import FatTree, Topology, fat_tree, read_topology
from pipelines.network.traffic import TCP, UDP
from pipelines.network.traffic.patterns import HEADER_BYTES

JOBS_LIMIT = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectiveTimes:
    """Times of jobs.

    Attributes:
        seconds: that the estimate took, routes included. simulated: None without a simulation.
    """

    topology: Topology
    jobs: tuple[Job, ...]
    times: TransferTimes
    seconds: float
    simulated: PacketTimes | None


def estimate_collectives(request: CollectiveRequest, *, engine_folder: Path | None = None) -> CollectiveTimes:
    """Estimate when the steps of all jobs end, and simulate them where that is asked for.

    Args:   engine_folder: of compiled simulators.
    Raises: NetworkError: a file or an option is not acceptable, or a simulation failed.
            ToolMissing: the simulator or its compiler is not installed.
    """
    if len(request.job) > JOBS_LIMIT:
        raise NetworkError(f"{len(request.job)} jobs; accepted: at most {JOBS_LIMIT}")
    began = stopwatch()
    with reading(f"the network {request.topology or ''}".rstrip()):
        topology = _topology(request)
        jobs = tuple(
            read_job(
                text,
                host_count=topology.host_count,
                seed=request.seed + number,
                host_ids=topology.host_ids,
            )
            for number, text in enumerate(request.job)
        )
        routing = Routing(kind=request.routing, seed=request.seed)
        packets = Packets(payload_bytes=request.packet_bytes, header_bytes=HEADER_BYTES[UDP])
        times = transfer_times(topology, jobs, routing=routing, packets=packets)
    seconds = stopwatch() - began
    simulated = None
    if request.estimate != TRANSFERS:
        if engine_folder is None:
            raise NetworkError("a simulation needs a folder of compiled programs")
        simulated = packet_times(
            topology,
            jobs,
            routing=routing,
            payload_bytes=request.packet_bytes,
            protocol=TCP if request.estimate == NS3 else UDP,
            engine_folder=engine_folder,
        )
    return CollectiveTimes(topology=topology, jobs=jobs, times=times, seconds=seconds, simulated=simulated)


def _topology(request: CollectiveRequest) -> Topology:
    if request.topology is not None:
        return read_topology(Path(request.topology))
    gbps = DEFAULT_LINK_GBPS if request.link_gbps is None else request.link_gbps
    delay_ns = DEFAULT_LINK_DELAY_NS if request.link_delay_ns is None else request.link_delay_ns
    return fat_tree(FatTree(pods=request.pods or 0, rate_bps=round(gbps * 1e9), delay_ns=delay_ns))
