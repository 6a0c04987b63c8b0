"""Packets lost in full queues, and waits in queues of other capacities than the correction learned from.

A queue is seen as one that batches of geometric size enter at Poisson times, with one time of sending
(GE/D/1/N, `full_queue` of pipelines/network/kernels.c, exact). Its variation of arrivals is the one with
which a queue of 128 packets has the corrected mean wait: the variation of the flows counts packets of a
batch that the queue before has already sent one by one. From it follow the share of packets lost and the
mean wait at the capacity that was asked for. Lost packets load no later queue; TCP sends them again.

TCP sends a lost packet again after a round trip, once later packets of its flow are acknowledged. Of 2,603
losses of 12 runs (ns-3, 16 hosts, 92 and 97 % of the busiest link) 13 waited for the timer instead, and all
packets of the flow with them, half of `TIMER_S` in the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipelines.network.compiled import kernels
from pipelines.network.queueing import FlowLatency, Learned, NetworkModel, Streams, StreamWaits
from pipelines.network.routing import KERNELS
from pipelines.network.traffic import TCP

LEARNED_CAPACITY = 128
"""Packets that queues of the training runs hold."""
CAPACITY_LIMIT = 1024
"""Packets from which a queue is seen as one without end, which loses what it cannot send."""
RARE = 1e-9
TIMER_S, TIMER_SHARE = 1.0, 13 / 2603
_SCV_LIMIT, _BISECTIONS, _PASSES, _CLOSE = 1000.0, 20, 12, 1e-4
_LEAST_UTILISATION, _SAFE = 1e-3, 25.0
"""Of queues below, and of those whose capacity is so many times their mean length, no packet is lost: the
length falls off exponentially, by e per mean."""
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses:
    """Packets that full queues lose.

    Attributes:
        lost: share of the packets of every flow, on the way of the data. (flows,)
        factor: on waits, for the capacity and for what was lost before. (queues,)
    """

    lost: Vector
    factor: Vector


def estimate_losses(model: NetworkModel, latency: FlowLatency, capacity: int | None) -> Losses:
    """Estimate losses and factors on waits.

    Args:   model, latency: of queues of LEARNED_CAPACITY, corrected. capacity: that was asked for.
    """
    queues = model.queues
    service_s = queues.utilisation / np.maximum(queues.rate_per_s, 1e-300)
    waits = latency.queue_wait_s / np.maximum(service_s, 1e-300)
    least = min(LEARNED_CAPACITY, capacity or LEARNED_CAPACITY)
    is_short = least < _SAFE * (waits + 1.0)
    chosen = np.flatnonzero((queues.utilisation >= _LEAST_UTILISATION) & is_short)
    lost, factor = np.zeros(len(waits)), np.ones(len(waits))
    kept = np.ones(len(model.data.routes))
    if not len(chosen):
        return Losses(lost=1.0 - kept, factor=factor)
    offered = queues.utilisation[chosen]
    scvs = np.empty(len(chosen))
    scratch = _scratch(LEARNED_CAPACITY)
    limits = (LEARNED_CAPACITY, _SCV_LIMIT, _BISECTIONS, scratch)
    kernels(KERNELS).scvs_of_waits(len(chosen), offered, waits[chosen], *limits, scvs)
    _, learned = full_queues(offered, scvs, LEARNED_CAPACITY)
    loads = offered
    for _ in range(_PASSES):
        own, own_waits = full_queues(loads, scvs, capacity)
        factor[chosen] = own_waits / np.maximum(learned, 1e-300)
        is_same = np.max(np.abs(own - lost[chosen])) < _CLOSE
        lost[chosen] = np.where(own < RARE, 0.0, own)
        kept, all_loads = _passed(model, lost)
        if model.traffic.protocol == TCP or is_same:
            break
        loads = np.maximum(all_loads[chosen], _LEAST_UTILISATION)
    return Losses(lost=1.0 - kept, factor=factor)


def full_queues(utilisations: Vector, scvs: Vector, capacity: int | None) -> tuple[Vector, Vector]:
    """Return the share lost and the mean wait in times of sending of queues with batches. (queues,) each

    Args: capacity: packets that wait at most; None, or above CAPACITY_LIMIT: no loss below utilisation 1.
    """
    if capacity is None or capacity > CAPACITY_LIMIT:
        free = np.maximum(1.0 - utilisations, 1e-9)
        waits = (utilisations + scvs - 1.0) / (2.0 * free)
        most = np.inf if capacity is None else float(capacity)
        return np.maximum(0.0, 1.0 - 1.0 / utilisations), np.minimum(waits, most)
    lost, waits = np.empty(len(scvs)), np.empty(len(scvs))
    kernels(KERNELS).full_queues(len(scvs), utilisations, scvs, capacity, _scratch(capacity), lost, waits)
    return lost, waits


def _scratch(capacity: int) -> Vector:
    return np.empty(4 * (capacity + 2))


def _passed(model: NetworkModel, lost: Vector) -> tuple[Vector, Vector]:
    """Return the share of every flow's packets that arrives, and loads of queues of what gets to them."""
    kept, loads = np.ones(len(model.data.routes)), np.zeros(len(lost))
    _thin(model, model.data, lost, kept, loads)
    if model.acks is not None:
        _thin(model, model.acks, lost, kept.copy(), loads)
    return kept, loads


def _thin(model: NetworkModel, streams: Streams, lost: Vector, kept: Vector, loads: Vector) -> None:
    kernels(KERNELS).thin_flows(
        *streams.routes.shape,
        streams.routes,
        streams.rates_per_s,
        streams.mean_bytes,
        8.0 / model.topology.rates_bps,
        lost,
        kept,
        loads,
    )


def waits_with_losses(model: NetworkModel, waits: StreamWaits, losses: Losses) -> StreamWaits:
    """Return corrected waits times the factors of their queues."""
    factor = losses.factor[model.queues.pairs.queue]

    def scaled(learned: Learned) -> Learned:
        return replace(learned, factor=learned.factor * factor, shift_s=learned.shift_s * factor)

    return replace(waits, data=scaled(waits.data), acks=scaled(waits.acks))


def late_shares(model: NetworkModel, losses: Losses) -> Vector:
    """Return the share of time that the timer of TCP runs, 0 of UDP. (flows,)"""
    if model.traffic.protocol != TCP:
        return np.zeros(len(losses.lost))
    running = losses.lost * model.traffic.rates_per_s * TIMER_SHARE * TIMER_S
    return running / (1.0 + running)


def latency_with_timers(model: NetworkModel, latency: FlowLatency, losses: Losses) -> FlowLatency:
    """Return the latency with what packets of TCP wait for lost ones: a round trip, or the timer."""
    if model.traffic.protocol != TCP:
        return latency
    resent_s = losses.lost * latency.rtt_s + late_shares(model, losses) * TIMER_S / 2.0
    return replace(latency, delay_s=latency.delay_s + resent_s, rtt_s=latency.rtt_s + resent_s)


def timer_quantiles_s(model: NetworkModel, losses: Losses, probabilities: Sequence[float]) -> Vector:
    """Return what the timer adds to quantiles, (probabilities, flows): packets wait evenly up to TIMER_S."""
    late = np.maximum(late_shares(model, losses), 1e-300)
    return np.stack([TIMER_S * np.maximum(0.0, 1.0 - (1.0 - p) / late) for p in probabilities])
