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

from pipelines.network.queueing import NetworkModel, StreamLoad, StreamWaits, stream_waits, wait_by_stream_s
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
        service_s: mean time of sending of all packets of the queue. (samples,)
    """

    streams: NDArray[np.int64]
    features: NDArray[np.float32]
    theory_s: NDArray[np.float64]
    service_s: NDArray[np.float64]


def samples_of(model: NetworkModel, *, acks: bool) -> StreamSamples:
    """The streams of a model's data packets, or of its acknowledgements.

    Args: acks: whether it is the acknowledgements, which the model then has.
    """
    way = model.acks if acks and model.acks is not None else model.data
    load = model.queues.loads[1 if acks else 0]
    entropy, tree = (stream_waits(model, estimate) for estimate in ("maximum_entropy", "tree"))
    used = np.flatnonzero(load.rate_per_s > 0)
    of = model.queues.pairs.queue[used]
    mean_s = model.queues.utilisation[of] / model.queues.rate_per_s[of]
    packet_bytes = float(np.average(way.mean_bytes, weights=way.rates_per_s))
    waits = [wait_by_stream_s(model, given, way, packet_bytes)[used] for given in (entropy, tree)]
    own_s = load.utilisation[used] / load.rate_per_s[used]
    columns = _columns(model, load, used, own_s / mean_s, waits[0] / mean_s, waits[1] / mean_s, tree)
    return StreamSamples(
        streams=used,
        features=np.column_stack([columns[name] for name in FEATURES]).astype(np.float32),
        theory_s=waits[1],
        service_s=mean_s,
    )


Column = NDArray[np.float64]


def _columns(
    model: NetworkModel,
    way: StreamLoad,
    used: NDArray[np.int64],
    own: Column,
    entropy: Column,
    tree: Column,
    waits: StreamWaits,
) -> dict[str, Column]:
    queues, rates_bps = model.queues, model.topology.rates_bps
    load, pairs = queues.load, queues.pairs
    of, source = pairs.queue[used], pairs.before[used]
    is_entry, before = source < 0, np.maximum(source, 0)
    utilisation, stream = queues.utilisation[of], load.utilisation[used]
    mean_s = utilisation / queues.rate_per_s[of]
    work, burst, squares = (
        np.bincount(pairs.queue, values, len(queues.utilisation))
        for values in (load.service2_s, load.burst_s, load.utilisation**2)
    )
    used_before = np.where(is_entry, 0.0, queues.utilisation[before])
    carried = stream * rates_bps[of] / rates_bps[before]
    return {
        "utilisation": utilisation,
        "log_idle": np.log(np.maximum(NEAR_IDLE, 1.0 - utilisation)),
        "stream_share": stream / utilisation,
        "utilisation_before": used_before,
        "share_before": np.where(is_entry, 0.0, carried / np.maximum(used_before, 1e-12)),
        "log_own_service": np.log(own),
        "log_stream_scv": np.log(np.maximum(queues.stream_scv[used], 0.01)),
        "log_queue_scv": np.log(np.maximum(queues.arrival_scv[of], 0.01)),
        "log_scv_before": np.log(np.maximum(np.where(is_entry, 1.0, queues.departure_scv[before]), 0.01)),
        "service_cv": np.sqrt(queues.service_scv[of]),
        "log_queue_burst": np.log1p(np.maximum(-0.99, (burst / np.maximum(work, 1e-300))[of])),
        "log_stream_burst": np.log1p(np.maximum(-0.99, load.burst_s[used] / load.service2_s[used])),
        "concentration": squares[of] / utilisation**2,
        "is_entry": is_entry.astype(np.float64),
        "finite": queues.finite[of],
        "burst_spread": burst_spread(model, way, used),
        "is_on_off": np.full(len(used), float(model.traffic.arrivals.kind == "on_off")),
        "larger_service": np.minimum(5.0, waits.larger_s[used] / mean_s),
        "log_stream_service": np.log(stream / load.rate_per_s[used] / mean_s),
        "log_entropy_wait": np.log(entropy + SMALL_WAIT),
        "log_tree_wait": np.log(tree + SMALL_WAIT),
        "log_wait_ratio": np.log((entropy + SMALL_WAIT) / (tree + SMALL_WAIT)),
        "stream_utilisation": stream,
        "other_utilisation": utilisation - stream,
        "utilisation_4": np.minimum(utilisation, 1.5) ** 4,
    }


def burst_spread(model: NetworkModel, way: StreamLoad, used: NDArray[np.int64]) -> Column:
    """How fast a flow's burst comes: 0 for Poisson arrivals; 1 for a batch at once; for ON/OFF arrivals the
    utilisation of the queue by one flow while it is on, at most 3.
    """
    arrivals: Arrivals = model.traffic.arrivals
    if arrivals.kind != "on_off":
        return np.full(len(used), 1.0 if arrivals.kind == "ge" else 0.0)
    rates = model.traffic.rates_per_s
    typical = float(np.average(rates, weights=rates))
    return np.minimum(3.0, typical * way.utilisation[used] / way.rate_per_s[used] / arrivals.on_share)
