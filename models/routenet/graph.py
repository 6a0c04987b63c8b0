"""A modelled network as RouteNet sees it: flows, queues, and which queues packets go through in turn.

Belongs here: features and the arrays of a graph. Does not: the network that reads them (`network.py`).

A flow's way is one sequence: queues of its data packets, then those of its acknowledgements, which a flag at
every place tells apart. So the state that a path carries says how its packets were spread before they are
acknowledged. A place after the last one loads its queue by nothing and takes no time, so that nothing needs a
mask.

Nothing here has a unit or grows with the network: rates are utilisations, sizes are over the mean size in a
queue. No feature is queueing theory's answer, unlike QT-RouteNet's (Afonso and Berton 2022) and those of
`models.queue_correction`: utilisations are sums of rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.queueing import NetworkModel, Streams
from pipelines.network.traffic import ARRIVALS

FLOW_FEATURES = (
    *(f"is_{kind}" for kind in ARRIVALS),
    "log_scv",
    "size_cv",
    "utilisation",
    "ack_size_ratio",
)
QUEUE_FEATURES = ("utilisation", "log_idle", "service_cv", "ack_share", "inverse_capacity")
PLACE_FEATURES = ("is_ack", "log_own_service", "share", "root_share", "utilisation")
NEAR_IDLE = 0.02
"""Idle share below which a queue counts as this idle: beyond, its size says more than its load."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graph:
    """A network of flows and queues. `places` is the longest way there and back.

    Attributes:
        flows: in the order of `FLOW_FEATURES`. (flows, features)
        queues: in the order of `QUEUE_FEATURES`. (queues, features)
        places: in the order of `PLACE_FEATURES`. (places, flows, features)
        queue: at every place of a flow's way, 0 after the last. (places, flows)
        utilisation: of that queue by the flow, 0 after the last. (places, flows)
        service_s: mean time of sending any packet of that queue, 0 after the last. (places, flows)
        last: the last place of a flow. (flows,)
        base_s: time without waits. (flows,)
        inverse_capacity: 1 over the packets that a queue holds, 0 for queues without end.
    """

    flows: NDArray[np.float32]
    queues: NDArray[np.float32]
    places: NDArray[np.float32]
    queue: NDArray[np.int64]
    utilisation: NDArray[np.float32]
    service_s: NDArray[np.float32]
    last: NDArray[np.int64]
    base_s: NDArray[np.float32]
    inverse_capacity: float


def graph_of(model: NetworkModel) -> Graph:
    """The graph of a modelled network; waits that the model computed are not looked at."""
    ways = [model.data] if model.acks is None else [model.data, model.acks]
    queue = _in_turn([way.routes for way in ways])
    is_ack = _in_turn([np.where(way.routes < 0, -1, int(way is model.acks)) for way in ways])
    there = queue >= 0
    queue = np.where(there, queue, 0)
    bytes_of = [way.mean_bytes for way in ways]
    size = np.where(is_ack == 1, bytes_of[-1], bytes_of[0])
    second = np.where(is_ack == 1, ways[-1].second_bytes2, ways[0].second_bytes2)
    byte_s = np.where(there, 8.0 / model.topology.rates_bps[queue], 0.0)
    rate = np.where(there, model.data.rates_per_s, 0.0)
    own_s, utilisation = size * byte_s, rate * size * byte_s

    def at_queues(values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.bincount(queue.ravel(), values.ravel(), model.topology.queue_count)
        return sums.astype(np.float64)

    rates, used = at_queues(rate), at_queues(utilisation)
    mean_s = used / np.maximum(rates, 1e-300)
    second_s2 = at_queues(rate * second * byte_s**2) / np.maximum(rates, 1e-300)
    share = utilisation / np.where(there, used[queue], 1.0)
    inverse_capacity = 0.0 if model.capacity is None else 1.0 / max(1, model.capacity)
    places = {
        "is_ack": is_ack == 1,
        "log_own_service": np.log(np.where(there, own_s / np.where(there, mean_s[queue], 1.0), 1.0)),
        "share": share,
        "root_share": np.sqrt(share),
        "utilisation": utilisation,
    }
    queues = {
        "utilisation": used,
        "log_idle": np.log(np.maximum(NEAR_IDLE, 1.0 - used)),
        "service_cv": np.sqrt(np.maximum(0.0, second_s2 / np.maximum(mean_s**2, 1e-300) - 1.0) * (rates > 0)),
        "ack_share": at_queues(utilisation * (is_ack == 1)) / np.maximum(used, 1e-300),
        "inverse_capacity": np.full(len(used), inverse_capacity),
    }
    delays_s = np.where(there, model.topology.delays_ns[queue] / 1e9, 0.0)
    return Graph(
        flows=_columns(_flow_features(model, ways, utilisation[0]), FLOW_FEATURES),
        queues=_columns(queues, QUEUE_FEATURES),
        places=_columns(places, PLACE_FEATURES),
        queue=queue,
        utilisation=utilisation.astype(np.float32),
        service_s=np.where(there, mean_s[queue], 0.0).astype(np.float32),
        last=there.sum(axis=0) - 1,
        base_s=(own_s + delays_s).sum(axis=0).astype(np.float32),
        inverse_capacity=inverse_capacity,
    )


def _flow_features(
    model: NetworkModel, ways: list[Streams], utilisation: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    data, count = model.data, len(utilisation)
    kinds = {f"is_{kind}": np.full(count, float(model.traffic.arrivals.kind == kind)) for kind in ARRIVALS}
    return kinds | {
        "log_scv": np.log(np.maximum(data.scvs, 0.01)),
        "size_cv": np.sqrt(np.maximum(0.0, data.second_bytes2 / data.mean_bytes**2 - 1.0)),
        "utilisation": utilisation,
        "ack_size_ratio": ways[1].mean_bytes / data.mean_bytes if len(ways) > 1 else np.zeros(count),
    }


def _in_turn(ways: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Rows that end with -1 joined without gaps, -1 after the last: (flows, way) each -> (places, flows)."""
    joined = np.concatenate(ways, axis=1).astype(np.int64)
    order = np.argsort(joined < 0, axis=1, kind="stable")
    return np.take_along_axis(joined, order, axis=1).T


def _columns(columns: dict[str, NDArray[np.float64]], names: tuple[str, ...]) -> NDArray[np.float32]:
    return np.stack([columns[name] for name in names], axis=-1).astype(np.float32)
