"""What a learned correction looks at: streams of a modelled network, without dimension.

Belongs here: the features and the theory's wait beside them. Does not: what is learned of them.

Nothing here grows with the network or has a unit: waits are in mean times of sending of their queue, rates
are utilisations, a stream's neighbourhood is that of its own queue and the one before. So what is learned on
16 hosts has a meaning on 1,024. Chapter 5's features (table 5.2) are rates in packets a second and a queue's
type; those are in `paper_trees.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.network.queueing import (
    NetworkModel,
    StreamLoad,
    Streams,
    StreamWaits,
    stream_waits,
    wait_by_stream_s,
)
from pipelines.network.traffic import Arrivals

FEATURES = (
    "utilisation",
    "log_idle",
    "stream_share",
    "utilisation_before",
    "share_before",
    "log_own_service",
    "log_stream_scv",
    "log_queue_scv",
    "log_scv_before",
    "service_cv",
    "log_queue_burst",
    "log_stream_burst",
    "concentration",
    "is_entry",
    "finite",
    "burst_spread",
    "is_on_off",
    "larger_service",
    "log_stream_service",
    "log_entropy_wait",
    "log_tree_wait",
    "log_wait_ratio",
    "stream_utilisation",
    "other_utilisation",
    "utilisation_4",
    "is_ack",
)
NEAR_IDLE = 0.005
"""Idle share below which a queue counts as this idle: beyond, its size says more than its load."""
SMALL_WAIT = 0.05
"""In mean times of sending: waits below are as good as none, to logarithms and to ratios."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamSamples:
    """Streams that packets of one kind go through.

    Attributes:
        streams: their numbers. (samples,)
        features: in the order of `FEATURES`. (samples, features)
        theory_s: mean wait by the estimate for trees. (samples,)
        theory_spread: squared coefficient of variation of waits by theory. (samples,)
        service_s: mean time of sending of all packets of the queue. (samples,)
        exact: share of the queue's load that are data packets straight from its host, by Poisson arrivals or
            in batches: where that is all, theory's mean is exact. (samples,)
    """

    streams: NDArray[np.int64]
    features: NDArray[np.float32]
    theory_s: NDArray[np.float64]
    theory_spread: NDArray[np.float64]
    service_s: NDArray[np.float64]
    exact: NDArray[np.float64]


def samples_of(model: NetworkModel, tree: StreamWaits | None = None) -> tuple[StreamSamples, ...]:
    """The streams of a model's data packets, and of its acknowledgements when there are any.

    Args: tree: waits by the estimate for trees, when they are known.
    """
    shared = _shared(model, tree or stream_waits(model, "tree"))
    ways = [model.data] if model.acks is None else [model.data, model.acks]
    return tuple(
        _samples(model, shared, way, load, is_ack=number > 0)
        for number, (way, load) in enumerate(zip(ways, model.queues.loads, strict=True))
    )


Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shared:
    """What both kinds of packets have in common: estimates, and columns of queues (queues,)."""

    entropy: StreamWaits
    tree: StreamWaits
    mean_s: Column
    burst: Column
    concentration: Column
    exact: Column


def _shared(model: NetworkModel, tree: StreamWaits) -> _Shared:
    queues = model.queues
    load, count = queues.load, len(queues.utilisation)
    work, burst, squares = (
        np.bincount(queues.pairs.queue, values, count)
        for values in (load.service2_s, load.burst_s, load.utilisation**2)
    )
    busy = np.maximum(queues.utilisation, 1e-300)
    return _Shared(
        entropy=stream_waits(model, "maximum_entropy"),
        tree=tree,
        mean_s=busy / np.maximum(queues.rate_per_s, 1e-300),
        burst=np.log1p(np.maximum(-0.99, burst / np.maximum(work, 1e-300))),
        concentration=squares / np.maximum(busy**2, 1e-300),
        exact=_exact_share(model),
    )


def _exact_share(model: NetworkModel) -> Column:
    """Share of every queue's load that are data packets that passed no queue before; none of ON/OFF arrivals.

    Acknowledgements come as packets arrive, which were sent one after the other. (queues,)
    """
    queues, pairs = model.queues, model.queues.pairs
    if model.traffic.arrivals.kind == "on_off":
        return np.zeros(len(queues.utilisation))
    entering = np.where(pairs.before < 0, queues.loads[0].utilisation, 0.0)
    straight = np.bincount(pairs.queue, entering, len(queues.utilisation))
    return np.minimum(1.0, straight / np.maximum(queues.utilisation, 1e-300))


def _samples(
    model: NetworkModel, shared: _Shared, way: Streams, load: StreamLoad, *, is_ack: bool
) -> StreamSamples:
    used = np.flatnonzero(load.rate_per_s > 0)
    mean_s = shared.mean_s[model.queues.pairs.queue[used]]
    packet_bytes = float(np.average(way.mean_bytes, weights=way.rates_per_s))
    waits = [
        wait_by_stream_s(model, given, way, packet_bytes)[used] for given in (shared.entropy, shared.tree)
    ]
    columns = _columns(model, shared, load, used)
    columns |= {
        "log_own_service": np.log(load.utilisation[used] / load.rate_per_s[used] / mean_s),
        "log_entropy_wait": np.log(waits[0] / mean_s + SMALL_WAIT),
        "log_tree_wait": np.log(waits[1] / mean_s + SMALL_WAIT),
        "is_ack": float(is_ack),
    }
    columns["log_wait_ratio"] = columns["log_entropy_wait"] - columns["log_tree_wait"]
    features = np.empty((len(used), len(FEATURES)), np.float32)
    for place, name in enumerate(FEATURES):
        features[:, place] = columns[name]
    return StreamSamples(
        streams=used,
        features=features,
        theory_s=waits[1],
        theory_spread=shared.tree.data.spread[used],
        service_s=mean_s,
        exact=shared.exact[model.queues.pairs.queue[used]],
    )


def _columns(
    model: NetworkModel, shared: _Shared, way: StreamLoad, used: NDArray[np.int64]
) -> dict[str, Column | float]:
    """Features that do not look at waits."""
    queues, rates_bps = model.queues, model.topology.rates_bps
    load, pairs = queues.load, queues.pairs
    of, source = pairs.queue[used], pairs.before[used]
    is_entry, before = source < 0, np.maximum(source, 0)
    utilisation, stream = queues.utilisation[of], load.utilisation[used]
    mean_s = shared.mean_s[of]
    used_before = np.where(is_entry, 0.0, queues.utilisation[before])
    carried = stream * rates_bps[of] / rates_bps[before]
    return {
        "utilisation": utilisation,
        "log_idle": np.log(np.maximum(NEAR_IDLE, 1.0 - utilisation)),
        "stream_share": stream / utilisation,
        "utilisation_before": used_before,
        "share_before": np.where(is_entry, 0.0, carried / np.maximum(used_before, 1e-12)),
        "log_stream_scv": np.log(np.maximum(queues.stream_scv[used], 0.01)),
        "log_queue_scv": np.log(np.maximum(queues.arrival_scv[of], 0.01)),
        "log_scv_before": np.log(np.maximum(np.where(is_entry, 1.0, queues.departure_scv[before]), 0.01)),
        "service_cv": np.sqrt(queues.service_scv[of]),
        "log_queue_burst": shared.burst[of],
        "log_stream_burst": np.log1p(np.maximum(-0.99, load.burst_s[used] / load.service2_s[used])),
        "concentration": shared.concentration[of],
        "is_entry": is_entry.astype(np.float64),
        "finite": queues.finite[of],
        "burst_spread": burst_spread(model, way, used),
        "is_on_off": float(model.traffic.arrivals.kind == "on_off"),
        "larger_service": np.minimum(5.0, shared.tree.larger_s[used] / mean_s),
        "log_stream_service": np.log(stream / load.rate_per_s[used] / mean_s),
        "stream_utilisation": stream,
        "other_utilisation": utilisation - stream,
        "utilisation_4": np.minimum(utilisation, 1.5) ** 4,
    }


def burst_spread(model: NetworkModel, way: StreamLoad, used: NDArray[np.int64]) -> Column | float:
    """How fast a flow's burst comes: 0 for Poisson arrivals; 1 for a batch at once; for ON/OFF arrivals the
    utilisation of the queue by one flow while it is on, at most 3.
    """
    arrivals: Arrivals = model.traffic.arrivals
    if arrivals.kind != "on_off":
        return 1.0 if arrivals.kind == "ge" else 0.0
    rates = model.traffic.rates_per_s
    typical = float(np.average(rates, weights=rates))
    return np.minimum(3.0, typical * way.utilisation[used] / way.rate_per_s[used] / arrivals.on_share)
