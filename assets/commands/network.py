"""`simfoundry network`: latency of every flow of a network under some traffic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from assets.errors import FoundryError
from models.queue_correction.correction import Correction, correct, shipped_correction
from models.queue_correction.tails import gamma_rtt_quantile_s, rtt_quantiles_s
from pipelines.network.queueing import (
    ESTIMATES,
    FlowLatency,
    NetworkModel,
    flow_latency,
    model_network,
    stream_waits,
)
from pipelines.network.queueing.latency import MAXIMUM_ENTROPY, QUANTILES
from pipelines.network.routing import Routing
from pipelines.network.simulation.scenario import CAPACITY_LIMIT
from pipelines.network.topology import FatTree, Topology, fat_tree, read_topology
from pipelines.network.traffic import Arrivals, Pattern, Traffic, read_trace, traffic_of, traffic_of_trace
from pipelines.network.traffic.arrivals import POISSON

NEARLY_FULL = 0.95
WORST_QUEUES = 5
ENDINGS = (".parquet", ".csv")
BURSTY_SCV = 4.0
CORRECTED = "corrected"
TIMES = ("delay", "rtt", "uncorrected_rtt", "rtt_p50", "rtt_p99", "uncorrected_rtt_p99")
OF_PATTERNS = ("pattern", "load", "density", "arrivals", "scv")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkQuestion:
    """The options of the command, see its help."""

    pods: int | None
    topology: Path | None
    trace: Path | None
    pattern: str | None
    load: float | None
    density: float | None
    arrivals: str | None
    scv: float | None
    routing: str
    seed: int
    queue_capacity: int
    acknowledged: bool
    estimate: str | None
    flows: Path | None


def answer_network(question: NetworkQuestion) -> dict[str, Any]:
    """What the model says of a network: latency over flows, and the busiest queues.

    Raises: FoundryError, NetworkError: an option, the file or the load cannot be.
    """
    if question.flows is not None:
        _check_place(question.flows)
    if question.queue_capacity > CAPACITY_LIMIT:
        raise FoundryError(f"a queue must hold 0 to {CAPACITY_LIMIT} packets, got {question.queue_capacity}")
    topology = _topology(question)
    traffic = _traffic(question, topology)
    model = model_network(
        topology,
        traffic,
        routing=Routing(kind=question.routing, seed=question.seed),
        capacity=question.queue_capacity or None,
        has_acks=question.acknowledged,
    )
    estimate = question.estimate or (CORRECTED if question.trace is None else MAXIMUM_ENTROPY)
    plain = flow_latency(model, stream_waits(model, MAXIMUM_ENTROPY if estimate == CORRECTED else estimate))
    latency, seen, quantiles = plain, None, None
    if estimate == CORRECTED:
        correction = _correction(model)
        found = correct(model, correction)
        latency, seen = flow_latency(model, found.waits), found.seen
        quantiles = rtt_quantiles_s(model, found.waits, latency, correction.tails)
    rows = _flow_table(model, latency, plain, quantiles)
    if question.flows is not None:
        _write(rows, question.flows)
    busiest = float(model.queues.utilisation.max())
    return {
        "network": topology.name,
        "hosts": topology.host_count,
        "flows": len(traffic.sources),
        "estimate": estimate,
        "seen_in_training": None if seen is None else round(seen, 3),
        **{f"{name}_us": _spread(rows, name) for name in TIMES},
        "busiest_utilisation": round(busiest, 4),
        "note": _note(busiest),
        "worst_queues": _worst(model, latency),
    }


def _correction(model: NetworkModel) -> Correction:
    if model.traffic.moments is not None:
        raise FoundryError(
            f"waits of a trace must be by one of {', '.join(ESTIMATES)}, got {CORRECTED}: nothing was "
            "learned of traces"
        )
    return shipped_correction()


def _check_place(flows: Path) -> None:
    if flows.suffix not in ENDINGS:
        raise FoundryError(f"a file of flows must end in {' or '.join(ENDINGS)}, got {flows.name}")
    if not flows.parent.is_dir():
        raise FoundryError(f"a file of flows must be in a folder that is there, got {flows}")


def _topology(question: NetworkQuestion) -> Topology:
    if (question.pods is None) == (question.topology is None):
        given = "both" if question.pods is not None else "neither"
        raise FoundryError(f"a network must be given by --pods or by --topology, got {given}")
    if question.topology is not None:
        return read_topology(question.topology)
    return fat_tree(FatTree(pods=question.pods or 0))


def _traffic(question: NetworkQuestion, topology: Topology) -> Traffic:
    if question.trace is None:
        return _pattern_traffic(question, topology)
    given = [f"--{name}" for name in OF_PATTERNS if getattr(question, name) is not None]
    if given:
        options = ", ".join(f"--{name}" for name in OF_PATTERNS)
        raise FoundryError(f"a trace must come without {options}, got --trace and {', '.join(given)}")
    trace = read_trace(question.trace, host_count=topology.host_count)
    return traffic_of_trace(trace, topology, capacity=question.queue_capacity or None)[0]


def _pattern_traffic(question: NetworkQuestion, topology: Topology) -> Traffic:
    asked = {"kind": question.pattern, "load": question.load, "density": question.density}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    arrivals = POISSON if question.arrivals is None else question.arrivals
    default = 1.0 if arrivals == POISSON else BURSTY_SCV
    return traffic_of(
        topology,
        Pattern(seed=question.seed, **given),
        arrivals=Arrivals(kind=arrivals, scv=default if question.scv is None else question.scv),
    )


def _flow_table(
    model: NetworkModel, latency: FlowLatency, plain: FlowLatency, quantiles: NDArray[np.float64] | None
) -> pa.Table:
    """One row a flow, times in microseconds; the round trip by theory alone is kept beside the corrected.

    Args: quantiles: median and 99th percentile as learned; None for those of the gamma law. (2, flows)
    """
    if quantiles is None:
        quantiles = np.stack([gamma_rtt_quantile_s(plain, probability) for probability in QUANTILES])
    columns: dict[str, NDArray[Any]] = {
        "source": model.traffic.sources,
        "destination": model.traffic.destinations,
        "delay_us": latency.delay_s * 1e6,
        "rtt_us": latency.rtt_s * 1e6,
        "uncorrected_rtt_us": plain.rtt_s * 1e6,
        "rtt_p50_us": quantiles[0] * 1e6,
        "rtt_p99_us": quantiles[1] * 1e6,
        "uncorrected_rtt_p99_us": gamma_rtt_quantile_s(plain, QUANTILES[1]) * 1e6,
    }
    return pa.table(columns)


def _write(rows: pa.Table, path: Path) -> None:
    try:
        if path.suffix == ".csv":
            pa_csv.write_csv(rows, path)
        else:
            pq.write_table(rows, path)
    except OSError as error:
        raise FoundryError(f"a file of flows must be writable, got {error}") from error


def _spread(rows: pa.Table, name: str) -> dict[str, float]:
    """Least, mean and most over flows, in microseconds."""
    values = rows.column(f"{name}_us").to_numpy()
    numbers = {"least": values.min(), "mean": values.mean(), "most": values.max()}
    return {key: round(float(value), 3) for key, value in numbers.items()}


def _note(busiest: float) -> str | None:
    if busiest <= NEARLY_FULL:
        return None
    return (
        f"the busiest queue is offered {busiest:.1%} of what it can send: above {NEARLY_FULL:.0%} waits "
        "depend on the run's length and on losses, and the model is far off"
    )


def _worst(model: NetworkModel, latency: FlowLatency) -> list[dict[str, Any]]:
    """The queues with the highest utilisation."""
    topology, queues = model.topology, model.queues
    worst = np.argsort(-queues.utilisation, kind="stable")[:WORST_QUEUES].tolist()
    return [
        {
            "kind": topology.kind_names[topology.kinds[queue]],
            "from_node": int(topology.sources[queue]),
            "to_node": int(topology.targets[queue]),
            "utilisation": round(float(queues.utilisation[queue]), 4),
            "wait_us": round(float(latency.queue_wait_s[queue]) * 1e6, 3),
        }
        for queue in worst
    ]


def network_text(answer: dict[str, Any]) -> str:
    """The answer for a person."""
    plain = ("network", "hosts", "flows", "estimate", "seen_in_training")
    lines = [f"{name:<20} {answer[name]}" for name in plain if answer[name] is not None]
    lines += [
        f"{name:<20} {' '.join(f'{k} {v:.1f}' for k, v in answer[name].items())}"
        for name in (f"{name}_us" for name in TIMES)
    ]
    lines += ["busiest queues"]
    lines += [
        f"  {q['kind']:<18} node {q['from_node']} to {q['to_node']}: {q['utilisation']:.1%} busy, "
        f"wait {q['wait_us']:.1f} us"
        for q in answer["worst_queues"]
    ]
    if answer["note"]:
        lines.append(f"note: {answer['note']}")
    return "\n".join(lines)
