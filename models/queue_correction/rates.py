"""The estimate for trees where links differ in rate: what a stream still waits for itself.

Packets of one stream were sent one after the other by the queue before. Over a link of the same rate they do
not wait for each other again, so that the estimate takes from the wait of a queue, as if all its flows came
straight, what the stream would wait alone there. Over a faster link they come closer than they leave: they
have waited for each other only what they would alone at the rate of the link before. Packets of one host, if
its own link is no faster than the one that they leave by, have waited for each other all that they would
alone at this one; slower links between the two are not looked for. Packets of a batch that left a faster host
link wait for those before them in the batch for as much longer as sending takes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipelines.network.queueing import NetworkModel, StreamWaits, stream_waits
from pipelines.network.queueing.network import NEARLY_FULL
from pipelines.network.topology import Topology


def is_of_one_rate(topology: Topology) -> bool:
    """Whether all links are as fast."""
    return bool(np.all(topology.rates_bps == topology.rates_bps[:1]))


def times_before(model: NetworkModel) -> NDArray[np.float64]:
    """Time of sending at the queue before over that here, 1 for what comes from a host. (streams,)"""
    pairs, rates = model.queues.pairs, model.topology.rates_bps
    before = np.maximum(pairs.before, 0)
    return np.where(pairs.before < 0, 1.0, rates[pairs.queue] / rates[before])


def tree_waits(model: NetworkModel) -> StreamWaits:
    """Waits by the estimate for trees, of links of any rates."""
    waits = stream_waits(model, "tree")
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


def _alone_s(
    work: NDArray[np.float64], utilisation: NDArray[np.float64], times: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Wait of packets alone in a queue in which sending takes so many times as long."""
    return work * times**2 / (2.0 * (1.0 - np.minimum(utilisation * times, NEARLY_FULL)))


def _of_hosts_s(model: NetworkModel, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over packets of streams that come over faster links: what those of one host have waited for each
    other before, beyond what they have over the link before; and what a batch still waits here. (2, streams)
    """
    pairs, rates = model.queues.pairs, model.topology.rates_bps
    found: NDArray[np.float64] = np.zeros((2, pairs.count))
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
        found[1] += np.bincount(chosen, np.where(is_spread, 0.0, rate * wait_s), pairs.count)
        groups, of = np.unique(chosen[is_spread] * len(rates) + host[is_spread], return_inverse=True)
        of_flow = rate * (way.second_bytes2[flow] * byte_s**2 + batch_s2)
        sums = [np.bincount(of, v[is_spread], len(groups)) for v in (of_flow, rate * service_s, rate)]
        work, used, count = np.array(sums, np.float64)
        own = groups // len(rates)
        beyond_s = np.maximum(0.0, _alone_s(work, used, 1.0) - _alone_s(work, used, times[own]))
        found[0] += np.bincount(own, beyond_s * count, pairs.count)
    return found / np.maximum(model.queues.load.rate_per_s, 1e-300)
