"""Latency of every flow of a network under some traffic: by queueing theory, corrected or not, or counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipelines.base.limited import reading
from pipelines.base.tools import stopwatch
from pipelines.network.errors import NetworkError
from pipelines.network.queueing import (
    FlowLatency,
    NetworkModel,
    flow_latency,
    model_network,
    rtt_quantile_s,
    stream_waits,
)
from pipelines.network.queueing.latency import QUANTILES
from pipelines.network.request import (
    BURSTY_SCV,
    CAPACITY_LIMIT,
    CORRECTED,
    DEFAULT_PACKETS,
    ESTIMATES,
    MAXIMUM_ENTROPY,
    NS3,
    POISSON,
    NetworkRequest,
    simulates,
)
from pipelines.network.routing import Routing
from pipelines.network.topology import FatTree, Topology, fat_tree, read_topology
from pipelines.network.traffic import (
    Arrivals,
    PacketSizes,
    Pattern,
    Schedule,
    Traffic,
    draw_schedule,
    read_matrix,
    read_trace,
    traffic_of,
    traffic_of_trace,
)
from pipelines.network.traffic.patterns import EMPIRICAL
from pipelines.network.traffic.schedule import DURATION_LIMIT_S

WARM_UP_SHARE = 0.1
"""Share of the drawn packets that fill the queues before a simulation counts."""
if TYPE_CHECKING:
    from pipelines.network.runs.tables import PacketSums

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedLatency:
    """Latency of flows by a learned correction.

    Attributes:
        rtt_quantiles_s: one row per probability of QUANTILES. (2, flows)
        seen: mean share of streams that are like those in training, 1 to 0.
    """

    latency: FlowLatency
    rtt_quantiles_s: Vector
    seen: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """Latency of flows as a simulator counted it.

    Attributes:
        packets: that it sent, of which it counted those after the warm-up. seconds: that it took.
    """

    sums: PacketSums
    packets: int
    seconds: float

    def flow_columns(self) -> dict[str, NDArray[Any]]:
        """Return times of flows as arrays, NaN of a flow of which no packet arrived."""
        names = ("delay_mean_ns", "rtt_mean_ns", "rtt_p50_ns", "rtt_p99_ns")
        columns = {name: self.sums.flows.column(name) for name in names}
        return {name: column.to_numpy().astype(np.float64) for name, column in columns.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLoad:
    """A queue under load; wait_mean_ns is over all its packets."""

    kind: str
    from_node: int
    to_node: int
    utilisation: float
    wait_mean_ns: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkLatency:
    """Latency of every flow, by the estimate that was asked for and by theory alone.

    Attributes:
        estimate: of ESTIMATES, or CORRECTED; seen: as in `CorrectedLatency`, None without a correction.
        seconds: that the estimate took, theory included. simulated: None without a simulation.
        rtt_quantiles_s: one row per probability of QUANTILES. (2, flows)
        uncorrected_rtt_p99_s: by theory alone. (flows,)
    """

    model: NetworkModel
    estimate: str
    seen: float | None
    latency: FlowLatency
    uncorrected: FlowLatency
    rtt_quantiles_s: Vector
    uncorrected_rtt_p99_s: Vector
    seconds: float
    simulated: Simulated | None = None

    @property
    def offered_utilisation(self) -> float:
        """Utilisation that flows offer to the busiest queue."""
        return float(self.model.queues.utilisation.max())

    def flow_table(self) -> pa.Table:
        """Return one row per flow, with the names and units of table `network_flows`."""
        return pa.table(self.flow_columns())

    def flow_columns(self) -> dict[str, NDArray[Any]]:
        """Return the flows as arrays: pyarrow imports pandas for its tables, which takes 0.5 s."""
        seconds = {
            "delay_mean_ns": self.latency.delay_s,
            "rtt_mean_ns": self.latency.rtt_s,
            "rtt_p50_ns": self.rtt_quantiles_s[0],
            "rtt_p99_ns": self.rtt_quantiles_s[1],
            "uncorrected_rtt_mean_ns": self.uncorrected.rtt_s,
            "uncorrected_rtt_p99_ns": self.uncorrected_rtt_p99_s,
        }
        traffic = self.model.traffic
        columns: dict[str, NDArray[Any]] = {"source": traffic.sources, "destination": traffic.destinations}
        columns |= {name: values * 1e9 for name, values in seconds.items()}
        if self.simulated is not None:
            counted = self.simulated.flow_columns()
            columns |= {f"simulated_{name}": values for name, values in counted.items()}
        return columns

    def busiest_queues(self, count: int) -> list[QueueLoad]:
        """Return the queues with the highest utilisation."""
        topology, utilisation = self.model.topology, self.model.queues.utilisation
        order: list[int] = np.argsort(-utilisation, kind="stable")[:count].tolist()
        return [
            QueueLoad(
                kind=topology.kind_names[int(topology.kinds[queue])],
                from_node=int(topology.sources[queue]),
                to_node=int(topology.targets[queue]),
                utilisation=float(utilisation[queue]),
                wait_mean_ns=float(self.latency.queue_wait_s[queue]) * 1e9,
            )
            for queue in order
        ]


def estimate_network(
    request: NetworkRequest,
    *,
    correct: Callable[[NetworkModel], CorrectedLatency],
    quantile_s: Callable[[FlowLatency, float], Vector] = rtt_quantile_s,
    engine_folder: Path | None = None,
) -> NetworkLatency:
    """Estimate the latency of every flow, and simulate it where that is asked for.

    Args:   correct: the learned correction, for estimate CORRECTED; quantile_s: of round trips by theory.
            engine_folder: of compiled simulators.
    Raises: NetworkError: a file, an option or the load is not acceptable, or a simulation failed.
            ToolMissing: the simulator or its compiler is not installed.
    """
    began = stopwatch()
    with reading(f"the network {request.topology or request.trace or ''}".rstrip()):
        if request.topology is not None:
            topology = read_topology(Path(request.topology))
        else:
            topology = fat_tree(FatTree(pods=request.pods or 0))
        traffic, schedule = _traffic(request, topology)
        routing = Routing(kind=request.routing, seed=request.seed)
        model = model_network(
            topology,
            traffic,
            routing=routing,
            capacity=request.queue_capacity or None,
            has_acks=request.acknowledged,
        )
    estimate = CORRECTED if request.trace is None else MAXIMUM_ENTROPY
    if request.estimate in (CORRECTED, *ESTIMATES):
        estimate = request.estimate
    theory = MAXIMUM_ENTROPY if estimate == CORRECTED else estimate
    uncorrected = flow_latency(model, stream_waits(model, theory))
    quantiles = np.stack([quantile_s(uncorrected, probability) for probability in QUANTILES])
    corrected = correct(model) if estimate == CORRECTED else None
    seconds = stopwatch() - began
    return NetworkLatency(
        model=model,
        estimate=estimate,
        seen=None if corrected is None else corrected.seen,
        latency=uncorrected if corrected is None else corrected.latency,
        uncorrected=uncorrected,
        rtt_quantiles_s=quantiles if corrected is None else corrected.rtt_quantiles_s,
        uncorrected_rtt_p99_s=quantiles[1],
        seconds=seconds,
        simulated=_simulated(request, model, routing, schedule, engine_folder)
        if simulates(request)
        else None,
    )


def _simulated(
    request: NetworkRequest,
    model: NetworkModel,
    routing: Routing,
    schedule: Schedule | None,
    engine_folder: Path | None,
) -> Simulated:
    """Simulate the packets of a trace, or drawn ones of which the first tenth warms the queues up."""
    from pipelines.network.runs.tables import sum_packets  # lazy imports: an estimate needs none of these
    from pipelines.network.simulation import SimulationOptions, make_scenario, simulate
    from pipelines.network.simulation.ns3 import simulate_in_ns3

    if engine_folder is None:
        raise NetworkError("a simulation needs a folder of compiled programs")
    began, warm_up_s = stopwatch(), 0.0
    if schedule is None:
        packets = request.packets or DEFAULT_PACKETS
        duration_s = min(DURATION_LIMIT_S, packets / float(model.traffic.rates_per_s.sum()))
        schedule = draw_schedule(model.traffic, duration_s=duration_s, seed=request.seed)
        warm_up_s = WARM_UP_SHARE * duration_s
    scenario = make_scenario(
        model.topology,
        model.traffic,
        schedule,
        routing=routing,
        options=SimulationOptions(
            queue_capacity=request.queue_capacity or CAPACITY_LIMIT,
            warm_up_s=warm_up_s,
            has_acks=request.acknowledged,
        ),
    )
    run = simulate_in_ns3 if request.estimate == NS3 else simulate
    sums = sum_packets(scenario, run(scenario, engine_folder=engine_folder))
    return Simulated(sums=sums, packets=len(schedule.times_ns), seconds=stopwatch() - began)


def _traffic(request: NetworkRequest, topology: Topology) -> tuple[Traffic, Schedule | None]:
    """Return the flows, and the packets of a trace."""
    if request.trace is not None:
        trace = read_trace(Path(request.trace), host_count=topology.host_count)
        return traffic_of_trace(trace, topology, capacity=request.queue_capacity or None)
    if request.traffic is not None:
        return read_matrix(Path(request.traffic), topology), None
    asked = {"kind": request.pattern, "load": request.load, "density": request.density}
    options: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    arrivals = POISSON if request.arrivals is None else request.arrivals
    default_scv = 1.0 if arrivals == POISSON else BURSTY_SCV
    scv = default_scv if request.scv is None else request.scv
    pattern = Pattern(seed=request.seed, **options)
    sizes = None if request.packet_bytes is None else sizes_of(request.packet_bytes)
    return traffic_of(topology, pattern, arrivals=Arrivals(kind=arrivals, scv=scv), sizes=sizes), None


def sizes_of(text: str) -> PacketSizes:
    """Return packet sizes: `500`, or several with their shares, `64:0.6,1500:0.4`.

    Raises: NetworkError: neither.
    """
    try:
        if ":" not in text:
            return PacketSizes(mean_bytes=int(text))
        pairs = [part.split(":") for part in text.split(",")]
        values, shares = zip(*((int(value), float(share)) for value, share in pairs), strict=True)
    except ValueError as error:
        raise NetworkError(
            f"packet bytes {text!r:.60}; accepted: a number, or numbers with shares, as 64:0.6,1500:0.4"
        ) from error
    return PacketSizes(kind=EMPIRICAL, values_bytes=values, shares=shares)
