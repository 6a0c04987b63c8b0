"""Tables of a simulated run: statistics of its packets, and what queueing theory estimates for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipelines.network.queueing import (
    ESTIMATES,
    NetworkModel,
    Streams,
    flow_latency,
    hop_waits_s,
    model_network,
    stream_waits,
)
from pipelines.network.runs.groups import NetworkRun
from pipelines.network.simulation import HopSums, Scenario, SimulationResult
from pipelines.schemas import table_spec

_NS = 1e9
_TIME_BITS = 41
"""Delays are kept below 2^41 ns, 36 minutes, so that a flow and a delay fit one 64-bit number."""
_TIMES = (1 << _TIME_BITS) - 1
QUANTILES = (0.5, 0.99)
DATA, ACK = "data", "ack"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacketSums:
    """Statistics of the packets that are sent after the warm-up.

    Attributes:
        summary: columns of the run's row.
        flows: columns of network_flows, by flow.
        hops: columns of network_hops, by flow and hop, data before acknowledgements.
    """

    summary: dict[str, float | int | None]
    flows: pa.Table
    hops: pa.Table


def sum_packets(
    scenario: Scenario, result: SimulationResult, probabilities: Sequence[float] = QUANTILES
) -> PacketSums:
    """Sum up what a simulator gave. Args: probabilities: of quantiles of flows."""
    counted = scenario.schedule.times_ns >= scenario.options.warm_up_s * _NS
    return PacketSums(
        summary=_summary(scenario, result, counted),
        flows=_flows(scenario, result, counted, probabilities),
        hops=_hops(scenario, result),
    )


def _summary(
    scenario: Scenario, result: SimulationResult, counted: NDArray[np.bool_]
) -> dict[str, float | int | None]:
    span_ns = (scenario.schedule.duration_s - scenario.options.warm_up_s) * _NS
    delays, rtts = result.delays_ns[counted], result.rtts_ns[counted]
    delays, rtts = delays[delays >= 0], rtts[rtts >= 0]
    median, tail = (_quantile(rtts, q) for q in QUANTILES)
    return {
        "packet_count": int(np.count_nonzero(counted)),
        "drop_count": int(result.hops.drops.sum()),
        "busiest_utilisation": float(result.queues.busy_ns.max() / span_ns),
        "delay_mean_ns": _mean(delays),
        "rtt_mean_ns": _mean(rtts),
        "rtt_p50_ns": median,
        "rtt_p99_ns": tail,
    }


def _mean(values: NDArray[np.int64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _quantile(values: NDArray[np.int64], probability: float) -> float | None:
    """Return the nearest-rank quantile of sorted values."""
    if len(values) == 0:
        return None
    place = int(np.ceil(probability * len(values))) - 1
    return float(np.partition(values, place)[place])


def _flows(
    scenario: Scenario,
    result: SimulationResult,
    counted: NDArray[np.bool_],
    probabilities: Sequence[float],
) -> pa.Table:
    traffic, count = scenario.traffic, len(scenario.traffic.sources)
    flow_of = scenario.schedule.flows
    columns: dict[str, pa.Array] = {
        "flow": pa.array(np.arange(count)),
        "source": pa.array(traffic.sources, pa.int64()),
        "destination": pa.array(traffic.destinations, pa.int64()),
        "rate_per_s": pa.array(traffic.rates_per_s),
        "packet_count": pa.array(np.bincount(flow_of[counted], minlength=count)),
        "drop_count": pa.array(result.hops.drops.sum(axis=1)),
    }
    for name, times in (("delay", result.delays_ns), ("rtt", result.rtts_ns)):
        chosen = counted & (times >= 0)
        columns |= _spread(name, flow_of[chosen], times[chosen], count, probabilities)
    return pa.table(columns)


def _spread(
    name: str,
    flows: NDArray[np.int32],
    times: NDArray[np.int64],
    count: int,
    probabilities: Sequence[float],
) -> dict[str, pa.Array]:
    """Return the mean and quantiles of times by flow, null where there are none."""
    keys = np.sort(flows.astype(np.int64) << _TIME_BITS | np.minimum(times, _TIMES))
    begins = np.searchsorted(keys, np.arange(count + 1, dtype=np.int64) << _TIME_BITS)
    counts = np.diff(begins)
    means = np.bincount(flows, times, count) / np.maximum(counts, 1)
    columns = {f"{name}_mean_ns": _whole_or_null(means, counts > 0)}
    for probability in probabilities:
        at = begins[:-1] + np.ceil(probability * counts).astype(np.int64) - 1
        values = keys[np.clip(at, 0, len(keys) - 1)] if len(keys) else np.zeros(count, np.int64)
        columns[f"{name}_p{round(100 * probability)}_ns"] = _whole_or_null(values & _TIMES, counts > 0)
    return columns


def _whole_or_null(values: NDArray[np.float64] | NDArray[np.int64], is_there: NDArray[np.bool_]) -> pa.Array:
    return pa.array(np.rint(values).astype(np.int64), mask=~is_there)


def _hops(scenario: Scenario, result: SimulationResult) -> pa.Table:
    lengths = (scenario.routes >= 0).sum(axis=1)
    parts = [_hop_statistics(scenario, scenario.routes, result.hops, DATA, np.zeros_like(lengths))]
    if scenario.has_acks:
        parts.append(_hop_statistics(scenario, scenario.ack_routes, result.ack_hops, ACK, lengths))
    return pa.concat_tables(parts).sort_by([("flow", "ascending"), ("hop", "ascending")])


def _hop_statistics(
    scenario: Scenario, routes: NDArray[np.int32], sums: HopSums, packet: str, first_hop: NDArray[np.int64]
) -> pa.Table:
    """Return the flows at the queues of one direction, with hop numbers from that of the first hop."""
    topology = scenario.topology
    flow, place = np.nonzero(routes >= 0)
    queue = routes[flow, place]
    sent, refused = sums.packets[flow, place], sums.drops[flow, place]
    mean = sums.wait_ns[flow, place] / np.maximum(sent, 1)
    square = sums.wait_ns2[flow, place] / np.maximum(sent, 1)
    return pa.table(
        {
            "flow": pa.array(flow),
            "hop": pa.array(first_hop[flow] + place),
            "packet": pa.array([packet] * len(flow), pa.string()),
            "queue": pa.array(queue, pa.int64()),
            "queue_type": pa.array(np.asarray(topology.kind_names)[topology.kinds[queue]], pa.string()),
            "packet_count": pa.array(sent + refused),
            "drop_count": pa.array(refused),
            "wait_mean_ns": _whole_or_null(mean, sent > 0),
            "wait_std_ns": _whole_or_null(np.sqrt(np.maximum(0.0, square - mean * mean)), sent > 0),
        }
    )


def model_of(run: NetworkRun) -> NetworkModel:
    """Return the queueing theory of a run."""
    topology = run.topology()
    return model_network(
        topology,
        run.traffic(topology),
        routing=run.routing,
        capacity=run.options.queue_capacity,
        has_acks=run.options.has_acks,
    )


def run_tables(run: NetworkRun, run_id: str, sums: PacketSums) -> tuple[float, pa.Table, pa.Table]:
    """Return the utilisation of a run's busiest queue, from rows of network_flows and network_hops."""
    model = model_of(run)
    waits = [stream_waits(model, estimate) for estimate in ESTIMATES]
    latencies = [flow_latency(model, wait) for wait in waits]
    entropy, tree = (latency.delay_s if model.acks is None else latency.rtt_s for latency in latencies)
    flows = {"base_ns": _whole(latencies[0].base_s), "entropy_ns": _whole(entropy), "tree_ns": _whole(tree)}
    directions = [model.data] if model.acks is None else [model.data, model.acks]
    estimates = [[hop_waits_s(model, streams, wait) for wait in waits] for streams in directions]
    parts = [
        _hop_estimates(model, streams, waits_s)
        for streams, waits_s in zip(directions, estimates, strict=True)
    ]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort((whole.pop("hop"), whole.pop("flow")))  # a stable order keeps data before acks
    hops = {name: values[order] for name, values in whole.items()}
    utilisation = float(model.queues.utilisation.max())
    return (
        utilisation,
        _table("network_flows", run_id, sums.flows, flows),
        _table("network_hops", run_id, sums.hops, hops),
    )


def _whole(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(seconds * _NS).astype(np.int64)


def _table(name: str, run_id: str, sums: pa.Table, columns: dict[str, Any]) -> pa.Table:
    schema = table_spec(name).schema()
    values: dict[str, Any] = {column: sums.column(column) for column in sums.column_names} | columns
    values["run_id"] = pa.array([run_id] * len(sums), pa.string())
    return pa.table({field.name: values[field.name] for field in schema}).cast(schema)


def _hop_estimates(
    model: NetworkModel, streams: Streams, waits: list[NDArray[np.float64]]
) -> dict[str, NDArray[Any]]:
    topology, queues = model.topology, model.queues
    flow, place = np.nonzero(streams.routes >= 0)
    queue = streams.routes[flow, place]
    before = np.where(place > 0, streams.routes[flow, np.maximum(place - 1, 0)], -1)
    is_ack = streams is model.acks
    there = (model.data.routes >= 0).sum(axis=1)
    return {
        "flow": flow,
        "hop": place + (there[flow] if is_ack else 0),
        "service_ns": streams.mean_bytes[flow] * 8.0 / topology.rates_bps[queue] * _NS,
        "utilisation": np.round(queues.utilisation[queue], 6),  # fewer digits are fewer bytes in files
        "arrival_scv": np.round(queues.stream_scv[stream_numbers(model, before, queue)], 4),
        "service_scv": np.round(queues.service_scv[queue], 4),
        "entropy_wait_ns": _whole(waits[0][flow, place]),
        "tree_wait_ns": _whole(waits[1][flow, place]),
    }


def stream_numbers(
    model: NetworkModel, before: NDArray[np.int32], queue: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return numbers of streams that enter queues from others, -1 for hosts."""
    pairs = model.queues.pairs
    others = pairs.first[np.maximum(before, 0)] + pairs.position[queue]
    return np.where(before < 0, pairs.entry + queue, others)
