"""What queueing theory says of a simulated run, beside its packets."""

from __future__ import annotations

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
from pipelines.network.runs.truth import PacketSums
from pipelines.schemas import table_spec

_NS = 1e9


def model_of(run: NetworkRun) -> NetworkModel:
    """Queueing theory of a run."""
    topology = run.topology()
    return model_network(
        topology,
        run.traffic(topology),
        routing=run.routing,
        capacity=run.options.queue_capacity,
        has_acks=run.options.has_acks,
    )


def run_tables(run: NetworkRun, run_id: str, sums: PacketSums) -> tuple[float, pa.Table, pa.Table]:
    """Utilisation that a run's flows offer to its busiest queue, rows of network_flows and network_hops."""
    model = model_of(run)
    waits = [stream_waits(model, estimate) for estimate in ESTIMATES]
    latencies = [flow_latency(model, given) for given in waits]
    entropy, tree = (found.delay_s if model.acks is None else found.rtt_s for found in latencies)
    flows = {"base_ns": _whole(latencies[0].base_s), "entropy_ns": _whole(entropy), "tree_ns": _whole(tree)}
    ways = [model.data] if model.acks is None else [model.data, model.acks]
    estimates = [[hop_waits_s(model, streams, given) for given in waits] for streams in ways]
    parts = [_way(model, streams, found) for streams, found in zip(ways, estimates, strict=True)]
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
    given: dict[str, Any] = {column: sums.column(column) for column in sums.column_names} | columns
    given["run_id"] = pa.array([run_id] * len(sums), pa.string())
    return pa.table({field.name: given[field.name] for field in schema}).cast(schema)


def _way(model: NetworkModel, streams: Streams, waits: list[NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
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
    """Numbers of streams that enter queues from others, -1 for hosts."""
    pairs = model.queues.pairs
    others = pairs.first[np.maximum(before, 0)] + pairs.position[queue]
    return np.where(before < 0, pairs.entry + queue, others)
