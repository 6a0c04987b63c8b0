"""A modelled network as RouteNet sees it: flows, queues, and which queues packets go through in turn.

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

from pipelines.network.queueing import NetworkModel
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
    """Return the graph of a modelled network; waits that the model computed are not looked at."""
    visits = _visits_of(model)
    queues = _queue_columns(visits, model)
    mean_s = queues.pop("mean_s")
    service_s = np.where(visits.there, mean_s[visits.queue], 0.0)
    delays_s = np.where(visits.there, model.topology.delays_ns[visits.queue] / 1e9, 0.0)
    return Graph(
        flows=_columns(_flow_columns(visits, model), FLOW_FEATURES),
        queues=_columns(queues, QUEUE_FEATURES),
        places=_columns(_place_columns(visits, queues["utilisation"], service_s), PLACE_FEATURES),
        queue=visits.queue,
        utilisation=visits.utilisation.astype(np.float32),
        service_s=service_s.astype(np.float32),
        last=visits.there.sum(axis=0) - 1,
        base_s=(visits.own_s + delays_s).sum(axis=0).astype(np.float32),
        inverse_capacity=_inverse_capacity(model),
    )


Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Visits:
    """What flows do at the places of their ways; 0 after the last. Each (places, flows)

    Attributes:
        there: whether it is no place after the last.
        queue: as in `Graph`.
        is_ack: whether acknowledgements go there.
        rate_per_s: packets.
        own_s, own_s2: mean and mean square of the time of sending one.
    """

    there: NDArray[np.bool_]
    queue: NDArray[np.int64]
    is_ack: NDArray[np.bool_]
    rate_per_s: Values
    own_s: Values
    own_s2: Values

    @property
    def utilisation(self) -> Values:
        """Utilisation of the queue by the flow."""
        return self.rate_per_s * self.own_s


def _visits_of(model: NetworkModel) -> _Visits:
    data, acks = model.data, model.acks or model.data
    ways = [data] if model.acks is None else [data, acks]
    queue = _in_turn([way.routes for way in ways])
    is_ack = _in_turn([np.where(way.routes < 0, -1, int(way is model.acks)) for way in ways]) == 1
    there = queue >= 0
    queue = np.maximum(queue, 0)
    byte_s = np.where(there, 8.0 / model.topology.rates_bps[queue], 0.0)
    return _Visits(
        there=there,
        queue=queue,
        is_ack=is_ack,
        rate_per_s=np.where(there, data.rates_per_s, 0.0),
        own_s=np.where(is_ack, acks.mean_bytes, data.mean_bytes) * byte_s,
        own_s2=np.where(is_ack, acks.second_bytes2, data.second_bytes2) * byte_s**2,
    )


def _in_turn(ways: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Join rows that end with -1 without gaps, -1 after the last: (flows, way) each -> (places, flows)."""
    joined = np.concatenate(ways, axis=1).astype(np.int64)
    order = np.argsort(joined < 0, axis=1, kind="stable")
    return np.take_along_axis(joined, order, axis=1).T


def _inverse_capacity(model: NetworkModel) -> float:
    return 0.0 if model.capacity is None else 1.0 / max(1, model.capacity)


def _queue_columns(visits: _Visits, model: NetworkModel) -> dict[str, Values]:
    """Return features of queues, and `mean_s`, the mean time of sending a packet of theirs. Each (queues,)"""
    count = model.topology.queue_count

    def at_queues(values: Values) -> Values:
        return np.bincount(visits.queue.ravel(), values.ravel(), count).astype(np.float64)

    rates, used = at_queues(visits.rate_per_s), at_queues(visits.utilisation)
    mean_s = used / np.maximum(rates, _NOTHING)
    mean_s2 = at_queues(visits.rate_per_s * visits.own_s2) / np.maximum(rates, _NOTHING)
    spread = np.where(rates > 0, mean_s2 / np.maximum(mean_s**2, _NOTHING) - 1.0, 0.0)
    return {
        "utilisation": used,
        "log_idle": np.log(np.maximum(NEAR_IDLE, 1.0 - used)),
        "service_cv": np.sqrt(np.maximum(0.0, spread)),
        "ack_share": at_queues(visits.utilisation * visits.is_ack) / np.maximum(used, _NOTHING),
        "inverse_capacity": np.full(count, _inverse_capacity(model)),
        "mean_s": mean_s,
    }


_NOTHING = 1e-300
"""Less than any rate or time, to divide by in place of 0."""


def _place_columns(visits: _Visits, used: Values, service_s: Values) -> dict[str, Values]:
    share = visits.utilisation / np.where(visits.there, used[visits.queue], 1.0)
    over_mean = np.where(visits.there, visits.own_s, 1.0) / np.where(visits.there, service_s, 1.0)
    return {
        "is_ack": visits.is_ack.astype(np.float64),
        "log_own_service": np.log(over_mean),
        "share": share,
        "root_share": np.sqrt(share),
        "utilisation": visits.utilisation,
    }


def _flow_columns(visits: _Visits, model: NetworkModel) -> dict[str, Values]:
    data, kind, none = model.data, model.traffic.arrivals.kind, np.zeros(visits.queue.shape[1])
    return {f"is_{name}": none + float(name == kind) for name in ARRIVALS} | {
        "log_scv": np.log(np.maximum(data.scvs, 0.01)),
        "size_cv": np.sqrt(np.maximum(0.0, data.second_bytes2 / data.mean_bytes**2 - 1.0)),
        "utilisation": visits.utilisation[0],
        "ack_size_ratio": none if model.acks is None else model.acks.mean_bytes / data.mean_bytes,
    }


def _columns(columns: dict[str, Values], names: tuple[str, ...]) -> NDArray[np.float32]:
    return np.stack([columns[name] for name in names], axis=-1).astype(np.float32)
