"""Latency of every flow of a network under some traffic: by queueing theory, corrected or not, or counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    StreamWaits,
    flow_latency,
    model_network,
    rtt_quantile_s,
    stream_waits,
)
from pipelines.network.queueing.latency import ANSWERED_QUANTILES
from pipelines.network.request import (
    BURSTY_SCV,
    CAPACITY_LIMIT,
    CORRECTED,
    DEFAULT_PACKETS,
    ESTIMATES,
    MAXIMUM_ENTROPY,
    NO_TCP,
    NS3,
    POISSON,
    TCP,
    NetworkRequest,
    simulated_by,
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
from pipelines.network.traffic.patterns import EMPIRICAL, PAYLOAD_LIMIT_BYTES
from pipelines.network.traffic.schedule import DURATION_LIMIT_S

QUANTILE_NAMES = tuple(f"rtt_p{round(100 * probability)}_ns" for probability in ANSWERED_QUANTILES)
WARM_UP_SHARE = 0.1
"""Share of the drawn packets that fill the queues before a simulation counts."""
if TYPE_CHECKING:
    from pipelines.network.runs.tables import PacketSums

Vector = NDArray[np.float64]
QuantilesOfTheory = Callable[
    [NetworkModel, StreamWaits, FlowLatency, Sequence[float], Schedule | None], Vector
]
"""Quantiles of round trips by theory; the packets are those of a trace. (probabilities, flows)"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedLatency:
    """Latency of flows by a learned correction.

    Attributes:
        rtt_quantiles_s: one row per probability of ANSWERED_QUANTILES. (3, flows)
        seen: mean share of streams that are like those in training, 1 to 0.
        lost_share: of the packets of every flow, by full queues. (flows,)
    """

    latency: FlowLatency
    rtt_quantiles_s: Vector
    seen: float
    lost_share: Vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """Latency of flows as a simulator counted it.

    Attributes:
        packets: that it sent, of which it counted those after the warm-up. seconds: that it took.
        utilisation, waiting_packets: means over the counted time; without the packet in transmission.
            (queues,)
    """

    sums: PacketSums
    utilisation: Vector
    waiting_packets: Vector
    packets: int
    seconds: float

    def flow_columns(self) -> dict[str, NDArray[Any]]:
        """Return times and losses of flows as arrays, times NaN of a flow of which no packet arrived."""
        names = ("delay_mean_ns", "rtt_mean_ns", *QUANTILE_NAMES)
        columns = {name: self.sums.flows.column(name) for name in (*names, "packet_count", "drop_count")}
        values = {name: column.to_numpy().astype(np.float64) for name, column in columns.items()}
        dropped, counted = values.pop("drop_count"), values.pop("packet_count")
        return values | {"lost_share": dropped / np.maximum(counted, 1.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLoad:
    """A queue under load.

    Attributes:
        wait_mean_ns: over all its packets.
        from_node, to_node: ids of a network file, else numbers.
        waiting_packets: mean number, without the one in transmission, by Little's law.
    """

    kind: str
    from_node: str | int
    to_node: str | int
    utilisation: float
    wait_mean_ns: float
    waiting_packets: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TierLoad:
    """The queues of one kind: links from one tier of a network to the next.

    Attributes:
        utilisation, waiting_packets: mean and most over the queues; packets without those in transmission.
        simulated_utilisation, simulated_waiting_packets: the same as a simulation counted them.
    """

    kind: str
    queues: int
    utilisation: tuple[float, float]
    waiting_packets: tuple[float, float]
    simulated_utilisation: tuple[float, float] | None
    simulated_waiting_packets: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkLatency:
    """Latency of every flow, by the estimate that was asked for and by theory alone.

    Attributes:
        estimate: of ESTIMATES, or CORRECTED; seen: as in `CorrectedLatency`, None without a correction.
        seconds: that the estimate took, theory included. simulated: None without a simulation.
        rtt_quantiles_s: one row per probability of ANSWERED_QUANTILES. (3, flows)
        uncorrected_rtt_p99_s: by theory alone. (flows,)
        lost_share: as in `CorrectedLatency`, None without a correction.
    """

    model: NetworkModel
    estimate: str
    seen: float | None
    latency: FlowLatency
    uncorrected: FlowLatency
    rtt_quantiles_s: Vector
    uncorrected_rtt_p99_s: Vector
    seconds: float
    lost_share: Vector | None = None
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
            **dict(zip(QUANTILE_NAMES, self.rtt_quantiles_s, strict=True)),
            "uncorrected_rtt_mean_ns": self.uncorrected.rtt_s,
            "uncorrected_rtt_p99_ns": self.uncorrected_rtt_p99_s,
        }
        traffic, ids = self.model.traffic, np.array(self.model.topology.host_ids)
        columns: dict[str, NDArray[Any]] = {"source": traffic.sources, "destination": traffic.destinations}
        if len(ids):
            columns |= {f"{end}_id": ids[hosts] for end, hosts in list(columns.items())}
        columns |= {name: values * 1e9 for name, values in seconds.items()}
        if self.lost_share is not None:
            columns["lost_share"] = self.lost_share
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
                from_node=topology.node_id(int(topology.sources[queue])),
                to_node=topology.node_id(int(topology.targets[queue])),
                utilisation=float(utilisation[queue]),
                wait_mean_ns=float(self.latency.queue_wait_s[queue]) * 1e9,
                waiting_packets=float(self._waiting_packets[queue]),
            )
            for queue in order
        ]

    @property
    def _waiting_packets(self) -> Vector:
        """Mean packets that wait in every queue: rate times mean wait, equation 5.2. (queues,)

        Of a queue that is offered more than it sends, the packets that it accepts.
        """
        queues, capacity = self.model.queues, self.model.capacity
        accepted = queues.rate_per_s / np.maximum(1.0, queues.utilisation)
        return np.minimum(accepted * self.latency.queue_wait_s, np.inf if capacity is None else capacity)

    def tiers(self) -> list[TierLoad]:
        """Return load and lengths of the queues of every kind, those without traffic included."""
        topology, simulated = self.model.topology, self.simulated
        loads: list[TierLoad] = []
        for number, kind in enumerate(topology.kind_names):
            chosen = topology.kinds == number
            if not chosen.any():
                continue
            loads.append(
                TierLoad(
                    kind=kind,
                    queues=int(chosen.sum()),
                    utilisation=_mean_and_most(self.model.queues.utilisation[chosen]),
                    waiting_packets=_mean_and_most(self._waiting_packets[chosen]),
                    simulated_utilisation=None
                    if simulated is None
                    else _mean_and_most(simulated.utilisation[chosen]),
                    simulated_waiting_packets=None
                    if simulated is None
                    else _mean_and_most(simulated.waiting_packets[chosen]),
                )
            )
        return loads


def _mean_and_most(values: Vector) -> tuple[float, float]:
    return float(values.mean()), float(values.max())


def estimate_network(
    request: NetworkRequest,
    *,
    correct: Callable[[NetworkModel], CorrectedLatency],
    quantiles_s: QuantilesOfTheory | None = None,
    engine_folder: Path | None = None,
) -> NetworkLatency:
    """Estimate the latency of every flow, and simulate it where that is asked for.

    Args:   correct: the learned correction, for estimate CORRECTED; quantiles_s: of round trips by theory, a
            gamma law of waits without it.
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
    waits = stream_waits(model, theory)
    uncorrected = flow_latency(model, waits)
    if quantiles_s is not None:
        quantiles = quantiles_s(model, waits, uncorrected, ANSWERED_QUANTILES, schedule)
    else:
        quantiles = np.stack([rtt_quantile_s(uncorrected, p) for p in ANSWERED_QUANTILES])
    corrected = correct(model) if estimate == CORRECTED else None
    seconds = stopwatch() - began
    return NetworkLatency(
        model=model,
        estimate=estimate,
        seen=None if corrected is None else corrected.seen,
        latency=uncorrected if corrected is None else corrected.latency,
        uncorrected=uncorrected,
        rtt_quantiles_s=quantiles if corrected is None else corrected.rtt_quantiles_s,
        uncorrected_rtt_p99_s=quantiles[-1],
        seconds=seconds,
        lost_share=None if corrected is None else corrected.lost_share,
        simulated=None
        if simulated_by(request) is None
        else _simulated(request, model, routing, schedule, engine_folder),
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
    if model.traffic.protocol == TCP and simulated_by(request) != NS3:
        raise NetworkError(NO_TCP)
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
    run = simulate_in_ns3 if simulated_by(request) == NS3 else simulate
    result = run(scenario, engine_folder=engine_folder)
    counted_ns = (schedule.duration_s - warm_up_s) * 1e9
    return Simulated(
        sums=sum_packets(scenario, result, ANSWERED_QUANTILES),
        packets=len(schedule.times_ns),
        seconds=stopwatch() - began,
        utilisation=result.queues.busy_ns / counted_ns,
        waiting_packets=result.queues.wait_ns / counted_ns,
    )


def _traffic(request: NetworkRequest, topology: Topology) -> tuple[Traffic, Schedule | None]:
    """Return the flows, and the packets of a trace."""
    if request.trace is not None:
        trace = read_trace(Path(request.trace), topology=topology)
        return traffic_of_trace(
            trace, topology, protocol=request.protocol, capacity=request.queue_capacity or None
        )
    if request.traffic is not None:
        return read_matrix(Path(request.traffic), topology, protocol=request.protocol), None
    asked = {"kind": request.pattern, "load": request.load, "density": request.density}
    options: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    arrivals = POISSON if request.arrivals is None else request.arrivals
    default_scv = 1.0 if arrivals == POISSON else BURSTY_SCV
    scv = default_scv if request.scv is None else request.scv
    pattern = Pattern(seed=request.seed, **options)
    sizes = None if request.packet_bytes is None else sizes_of(request.packet_bytes)
    own = Arrivals(kind=arrivals, scv=scv)
    return traffic_of(topology, pattern, arrivals=own, sizes=sizes, protocol=request.protocol), None


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
            f"packet bytes {text!r:.60}; accepted: 1 to {PAYLOAD_LIMIT_BYTES}, or several with shares, as "
            "64:0.6,1500:0.4"
        ) from error
    return PacketSizes(kind=EMPIRICAL, values_bytes=values, shares=shares)
