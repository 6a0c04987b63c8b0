"""Latency of every flow of a network under some traffic, by queueing theory, corrected or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipelines.base.limited import reading
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
    CORRECTED,
    MAXIMUM_ENTROPY,
    POISSON,
    NetworkRequest,
)
from pipelines.network.routing import Routing
from pipelines.network.topology import FatTree, Topology, fat_tree, read_topology
from pipelines.network.traffic import Arrivals, Pattern, Traffic, read_trace, traffic_of, traffic_of_trace

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
        return columns | {name: values * 1e9 for name, values in seconds.items()}

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
) -> NetworkLatency:
    """Estimate the latency of every flow.

    Args:   correct: the learned correction, for estimate CORRECTED; quantile_s: of round trips by theory.
    Raises: NetworkError: a file, an option or the load is not acceptable.
    """
    with reading(f"the network {request.topology or request.trace or ''}".rstrip()):
        if request.topology is not None:
            topology = read_topology(Path(request.topology))
        else:
            topology = fat_tree(FatTree(pods=request.pods or 0))
        model = model_network(
            topology,
            _traffic(request, topology),
            routing=Routing(kind=request.routing, seed=request.seed),
            capacity=request.queue_capacity or None,
            has_acks=request.acknowledged,
        )
    estimate = request.estimate or (CORRECTED if request.trace is None else MAXIMUM_ENTROPY)
    theory = MAXIMUM_ENTROPY if estimate == CORRECTED else estimate
    uncorrected = flow_latency(model, stream_waits(model, theory))
    quantiles = np.stack([quantile_s(uncorrected, probability) for probability in QUANTILES])
    corrected = correct(model) if estimate == CORRECTED else None
    return NetworkLatency(
        model=model,
        estimate=estimate,
        seen=None if corrected is None else corrected.seen,
        latency=uncorrected if corrected is None else corrected.latency,
        uncorrected=uncorrected,
        rtt_quantiles_s=quantiles if corrected is None else corrected.rtt_quantiles_s,
        uncorrected_rtt_p99_s=quantiles[1],
    )


def _traffic(request: NetworkRequest, topology: Topology) -> Traffic:
    if request.trace is not None:
        trace = read_trace(Path(request.trace), host_count=topology.host_count)
        return traffic_of_trace(trace, topology, capacity=request.queue_capacity or None)[0]
    asked = {"kind": request.pattern, "load": request.load, "density": request.density}
    options: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    arrivals = POISSON if request.arrivals is None else request.arrivals
    default_scv = 1.0 if arrivals == POISSON else BURSTY_SCV
    scv = default_scv if request.scv is None else request.scv
    pattern = Pattern(seed=request.seed, **options)
    return traffic_of(topology, pattern, arrivals=Arrivals(kind=arrivals, scv=scv))
