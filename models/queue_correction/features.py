"""What a learned correction looks at: streams of a modelled network, without dimension.

Nothing here grows with the network or has a unit: waits are in mean times of sending of their queue, rates
are utilisations, a stream's neighbourhood is that of its own queue and the one before. So what is learned on
16 hosts has a meaning on 1,024. Chapter 5's features (table 5.2) are rates in packets a second and a queue's
type; those are in `tests/models/paper_trees.py`.

The estimate for trees where links differ in rate: what a stream still waits for itself.

Packets of one stream were sent one after the other by the queue before. Over a link of the same rate they do
not wait for each other again, so that the estimate takes from the wait of a queue, as if all its flows came
straight, what the stream would wait alone there. Over a faster link they come closer than they leave: they
have waited for each other only what they would alone at the rate of the link before. Packets of one host, if
its own link is no faster than the one that they leave by, have waited for each other all that they would
alone at this one; slower links between the two are not looked for. Packets of a batch that left a faster host
link wait for those before them in the batch for as much longer as sending takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import kernels
from pipelines.network.queueing import (
    NetworkModel,
    StreamLoad,
    Streams,
    StreamWaits,
    stream_waits,
    wait_by_stream_s,
)
from pipelines.network.queueing.network import NEARLY_FULL
from pipelines.network.topology import Topology
from pipelines.network.traffic import Arrivals


def is_of_one_rate(topology: Topology) -> bool:
    """Tell whether all links are as fast."""
    return bool(np.all(topology.rates_bps == topology.rates_bps[:1]))


def times_before(model: NetworkModel) -> NDArray[np.float64]:
    """Return time of sending at the queue before over that here, 1 for what comes from a host. (streams,)"""
    pairs, rates = model.queues.pairs, model.topology.rates_bps
    before = np.maximum(pairs.before, 0)
    return np.where(pairs.before < 0, 1.0, rates[pairs.queue] / rates[before])


def tree_waits(model: NetworkModel) -> StreamWaits:
    """Return the waits by the estimate for trees, of links of any rates."""
    waits = stream_waits(model, "tree")
    if has_unlike_flows(model):
        waits = replace(waits, shared_s=_shared_by_unlike_s(model, waits.shared_s))
    if is_of_one_rate(model.topology):
        return waits
    rates = model.topology.rates_bps
    queues, load, pairs = model.queues, model.queues.load, model.queues.pairs
    times = times_before(model)
    work = load.service2_s + load.burst_s
    offered = np.minimum(queues.utilisation, NEARLY_FULL)
    straight_s = np.bincount(pairs.queue, work, len(rates)) / (2.0 * (1.0 - offered))
    hosts_s, batch_s = _of_hosts_s(model, times)
    before_s = _alone_s(work, load.utilisation, times) + hosts_s
    left_s = np.maximum(0.0, straight_s[pairs.queue] - before_s) * queues.finite[pairs.queue]
    return replace(waits, shared_s=np.where(times == 1.0, waits.shared_s, left_s + batch_s))


def has_unlike_flows(model: NetworkModel) -> bool:
    """Tell whether flows of a traffic matrix differ in variation or in the size of packets."""
    own = model.traffic.own
    return own is not None and bool(np.ptp(own.scvs) > 0.0 or np.ptp(own.payload_bytes) > 0)


def _shared_by_unlike_s(model: NetworkModel, shared_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what packets of each stream wait where unlike streams meet. (streams,)

    The estimate for trees is right for the mean over all packets of a queue, but a stream without bursts does
    not wait for the bursts of another: they have come one after the other over their own link. A packet that
    comes at any time waits for the work that is there: that of one queue with all arrivals, less that which
    still is at the links before, and what is left of packets of other streams, which are sent twice. The rest
    of the mean is that of streams with bursts, in proportion to what each would wait alone.
    """
    queues, load, pairs = model.queues, model.queues.load, model.queues.pairs
    count = len(queues.utilisation)
    passed = (pairs.before >= 0) & (load.rate_per_s > 0)
    work = load.service2_s + load.burst_s
    offered = np.minimum(queues.utilisation, NEARLY_FULL)
    straight_s = np.bincount(pairs.queue, work, count) / (2.0 * (1.0 - offered))
    alone_s = np.where(passed, _alone_s(work, load.utilisation, 1.0), 0.0)
    left_s = np.where(passed, load.service2_s / 2.0, 0.0)
    there_s = straight_s + np.bincount(pairs.queue, left_s - alone_s, count)
    own_s = np.maximum(0.0, there_s[pairs.queue] - left_s)
    used = np.where(passed, load.utilisation, 0.0)
    rest = np.bincount(pairs.queue, used * (straight_s[pairs.queue] - alone_s - own_s), count)
    parts = np.maximum(np.bincount(pairs.queue, used * alone_s, count), 1e-300)
    own_s += (rest / parts)[pairs.queue] * alone_s
    return np.where(passed, np.maximum(0.0, own_s) * queues.finite[pairs.queue], shared_s)


def _alone_s(
    work: NDArray[np.float64], utilisation: NDArray[np.float64], times: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return the wait of packets alone in a queue in which sending takes so many times as long."""
    return work * times**2 / (2.0 * (1.0 - np.minimum(utilisation * times, NEARLY_FULL)))


def _of_hosts_s(model: NetworkModel, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over packets of streams from faster links, (2, streams): the waits of one host's streams
    for each other before, beyond those at the link before; and what a batch still waits here.
    """
    pairs, rates = model.queues.pairs, model.topology.rates_bps
    waits_s: NDArray[np.float64] = np.zeros((2, pairs.count))
    for way in (model.data, model.acks):
        if way is None or way.routes.shape[1] < 2:
            continue
        before, queue = way.routes[:, :-1], way.routes[:, 1:]
        stream = pairs.first[before] + pairs.position[queue]
        flow, hop = np.nonzero((queue >= 0) & (times[stream] < 1.0))
        chosen, host = stream[flow, hop], way.routes[flow, 0]
        byte_s = 8.0 / rates[queue[flow, hop]]
        rate, service_s = way.rates_per_s[flow], way.mean_bytes[flow] * byte_s
        batch_s2 = service_s**2 * (way.scvs[flow] - 1.0)
        is_spread = rates[host] <= rates[queue[flow, hop]]
        wait_s = batch_s2 / service_s / 2.0 * (1.0 - times[chosen])
        waits_s[1] += np.bincount(chosen, np.where(is_spread, 0.0, rate * wait_s), pairs.count)
        groups, of = np.unique(chosen[is_spread] * len(rates) + host[is_spread], return_inverse=True)
        of_flow = rate * (way.second_bytes2[flow] * byte_s**2 + batch_s2)
        sums = [np.bincount(of, v[is_spread], len(groups)) for v in (of_flow, rate * service_s, rate)]
        work, used, count = np.array(sums, np.float64)
        own = groups // len(rates)
        beyond_s = np.maximum(0.0, _alone_s(work, used, 1.0) - _alone_s(work, used, times[own]))
        waits_s[0] += np.bincount(own, beyond_s * count, pairs.count)
    return waits_s / np.maximum(model.queues.load.rate_per_s, 1e-300)


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
TAIL_FEATURES = (
    "log_wait",
    "log_no_wait",
    "log_shape",
    "log_skew",
    "log_wait_ratio",
    "busiest_share",
    "log_queues",
    "ack_share",
    "reach",
    "met",
    "chain",
    "log_base",
    "log_scv",
    "burst_spread",
    "is_on_off",
    "log_spread",
    "log_even",
    "late",
    "crossing",
)
"""Features of flows, for the quantiles of round trips (`tails.py`)."""
KERNELS = Path(__file__).with_name("kernels.c")
NEAR_IDLE = 0.005
"""Idle share below which a queue counts as this idle: beyond, its size says more than its load."""
SMALL_WAIT = 0.05
"""In mean times of sending: waits below are as good as none, to logarithms and to ratios."""
ALONE = 1e-9
"""Share of a queue's load up to which other streams count as none."""


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
            in batches: where that is all, theory's mean is exact. 1 for a stream that is alone in a queue and
            by theory waits for nothing. (samples,)
    """

    streams: NDArray[np.int64]
    features: NDArray[np.float32]
    theory_s: NDArray[np.float64]
    theory_spread: NDArray[np.float64]
    service_s: NDArray[np.float64]
    exact: NDArray[np.float64]


def samples_of(model: NetworkModel, tree: StreamWaits | None = None) -> tuple[StreamSamples, ...]:
    """Return the streams of a model's data packets, and of its acknowledgements when there are any.

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
    """Return the share of every queue's load that are data packets that passed no queue before; none of
    ON/OFF arrivals.

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
    queues, pairs = model.queues, model.queues.pairs
    used = np.flatnonzero(load.rate_per_s > 0)
    packet_bytes = float(np.average(way.mean_bytes, weights=way.rates_per_s))
    entropy_s, tree_s = (
        wait_by_stream_s(model, queue_waits, way, packet_bytes)
        for queue_waits in (shared.entropy, shared.tree)
    )
    of = pairs.queue[used]
    # What one queue sent to the next over no faster a link does not wait there while nothing else comes.
    is_alone = queues.load.utilisation[used] >= queues.utilisation[of] * (1.0 - ALONE)
    passes = is_alone & (pairs.before[used] >= 0) & (tree_s[used] <= 0.0)
    spreads = np.broadcast_to(np.float64(burst_spread(model, load, used)), used.shape)
    features = np.empty((len(used), len(FEATURES)), np.float32)
    kernels(KERNELS).stream_features(
        len(used),
        used,
        pairs.queue,
        pairs.before,
        model.topology.rates_bps,
        queues.utilisation,
        queues.arrival_scv,
        queues.departure_scv,
        queues.service_scv,
        queues.finite,
        shared.mean_s,
        shared.burst,
        shared.concentration,
        queues.stream_scv,
        queues.load.rate_per_s,
        queues.load.utilisation,
        queues.load.service2_s,
        queues.load.burst_s,
        load.rate_per_s,
        load.utilisation,
        entropy_s,
        tree_s,
        shared.tree.larger_s,
        np.ascontiguousarray(spreads),
        SMALL_WAIT,
        NEAR_IDLE,
        model.traffic.arrivals.kind == "on_off",
        is_ack,
        features,
    )
    return StreamSamples(
        streams=used,
        features=features,
        theory_s=tree_s[used],
        theory_spread=shared.tree.data.spread[used],
        service_s=shared.mean_s[of],
        exact=np.where(passes, 1.0, shared.exact[of]),
    )


def burst_spread(model: NetworkModel, way: StreamLoad, used: NDArray[np.int64]) -> Column | float:
    """Return the speed of a flow's burst: 0 for Poisson arrivals, 1 for a batch at once, for ON/OFF the
    utilisation of the queue by one flow while it is on, at most 3.
    """
    arrivals: Arrivals = model.traffic.arrivals
    if arrivals.kind != "on_off":
        return 1.0 if arrivals.kind == "ge" else 0.0
    rates = model.traffic.rates_per_s
    typical = float(np.average(rates, weights=rates))
    return np.minimum(3.0, typical * way.utilisation[used] / way.rate_per_s[used] / arrivals.on_share)
