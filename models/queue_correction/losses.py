"""Packets lost in full queues, and waits in queues of other capacities than the correction learned from.

A queue is seen as one that batches of geometric size enter at Poisson times, with one time of sending
(GE/D/1/N, `full_queue` of pipelines/network/kernels.c, exact). Its variation of arrivals is the one with
which a queue of 128 packets has the corrected mean wait: the variation of the flows counts packets of a
batch that the queue before has already sent one by one. Where packets wait less than Poisson arrivals would,
the queue is one of less utilisation. From it follow the share of packets lost and the mean wait at the
capacity that was asked for. Lost packets load no later queue; TCP sends them again.

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
EXACT_CAPACITY = 1024
"""Packets from which a queue is seen as one without end, which loses what it cannot send."""
RARE, _LEAST_SPREAD = 1e-9, 1e-3
TIMER_S, TIMER_SHARE = 1.0, 13 / 2603
_FULL, _SCV_TIMES, _BISECTIONS, _PASSES, _CLOSE = 0.99, 4.0, 20, 12, 1e-4
_LEAST_UTILISATION, _SAFE = 1e-3, 25.0
"""Of queues below, and of those whose capacity is so many times their mean length, no packet is lost: the
length falls off exponentially, by e per mean."""
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses:
    """Packets that full queues lose.

    Attributes:
        lost: share of the packets of every flow, on the way of the data. (flows,)
        by_queue: share of the packets that come to every queue. (queues,)
        factor, spread: factors on mean waits and on the squared coefficients of variation of waits, for the
            capacity and for what was lost before. (queues,)
    """

    lost: Vector
    by_queue: Vector
    factor: Vector
    spread: Vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FullQueues:
    """Queues with batches: share lost, mean wait and mean squared wait in times of sending. (queues,) each"""

    lost: Vector
    waits: Vector
    squares: Vector

    @property
    def spreads(self) -> Vector:
        """Squared coefficients of variation of waits."""
        return np.maximum(self.squares / np.maximum(self.waits, 1e-300) ** 2 - 1.0, _LEAST_SPREAD)


def estimate_losses(model: NetworkModel, latency: FlowLatency, capacity: int | None) -> Losses:
    """Estimate losses and factors on waits.

    Args:   model, latency: of queues of LEARNED_CAPACITY, corrected. capacity: that was asked for.
    """
    queues = model.queues
    service_s = queues.utilisation / np.maximum(queues.rate_per_s, 1e-300)
    waits = latency.queue_wait_s / np.maximum(service_s, 1e-300)
    least = min(LEARNED_CAPACITY, LEARNED_CAPACITY if capacity is None else capacity)
    is_short = (least < _SAFE * (waits + 1.0)) | (queues.utilisation >= 1.0)
    chosen = np.flatnonzero((queues.utilisation >= _LEAST_UTILISATION) & is_short)
    count, flows = len(waits), len(model.data.routes)
    losses = Losses(
        lost=np.zeros(flows), by_queue=np.zeros(count), factor=np.ones(count), spread=np.ones(count)
    )
    if not len(chosen):
        return losses
    offered = queues.utilisation[chosen]
    most = _SCV_TIMES * max(1.0, float(model.data.scvs.max()))
    alike, scvs = _queues_of_waits(offered, waits[chosen], most)
    longest = np.inf if capacity is None else capacity / np.maximum(waits[chosen], 1e-300)
    learned = full_queues(alike, scvs, LEARNED_CAPACITY)
    lost, loads, kept = losses.by_queue, alike, np.ones(flows)
    for _ in range(_PASSES):
        own = full_queues(loads, scvs, capacity)
        is_same = np.max(np.abs(own.lost - lost[chosen])) < _CLOSE
        lost[chosen] = np.where(own.lost < RARE, 0.0, own.lost)
        losses.factor[chosen] = np.minimum(own.waits / np.maximum(learned.waits, 1e-300), longest)
        losses.spread[chosen] = own.spreads / learned.spreads
        kept, all_loads = _passed(model, lost)
        if model.traffic.protocol == TCP or is_same:
            break
        loads = np.maximum(alike * all_loads[chosen] / offered, _LEAST_UTILISATION * 1e-6)
    return replace(losses, lost=1.0 - kept)


def _queues_of_waits(offered: Vector, waits: Vector, most: float) -> tuple[Vector, Vector]:
    """Return utilisations and variations of arrivals with which queues of LEARNED_CAPACITY have these waits.

    Args: most: variation of arrivals.
    """
    alike, scvs = offered.copy(), np.empty(len(offered))
    limits = (LEARNED_CAPACITY, most, _BISECTIONS, _scratch(LEARNED_CAPACITY))
    kernels(KERNELS).queues_of_waits(len(offered), waits, *limits, alike, scvs)
    is_full = (offered >= _FULL) & (waits > LEARNED_CAPACITY / 4)  # waits say little there
    return np.where(is_full, offered, alike), np.where(is_full, most / _SCV_TIMES, scvs)


def full_queues(utilisations: Vector, scvs: Vector, capacity: int | None) -> FullQueues:
    """Return what queues lose, and the waits of what they accept.

    Args: capacity: packets that wait at most; None, or above EXACT_CAPACITY: no loss below utilisation 1, and
          the variation of waits of a queue of LEARNED_CAPACITY packets.
    """
    size = len(scvs)
    exact = FullQueues(lost=np.empty(size), waits=np.empty(size), squares=np.empty(size))
    is_long = capacity is None or capacity > EXACT_CAPACITY
    limit = LEARNED_CAPACITY if capacity is None or is_long else capacity
    kernels(KERNELS).full_queues(
        size, utilisations, scvs, limit, _scratch(limit), exact.lost, exact.waits, exact.squares
    )
    if not is_long:
        return exact
    free = np.maximum(1.0 - utilisations, 1e-9)
    waits = (utilisations + scvs - 1.0) / (2.0 * free)
    waits = np.minimum(waits, np.inf if capacity is None else float(capacity))
    return FullQueues(
        lost=np.maximum(0.0, 1.0 - 1.0 / utilisations),
        waits=waits,
        squares=(exact.spreads + 1.0) * waits**2,
    )


def _scratch(capacity: int) -> Vector:
    return np.empty(5 * (capacity + 2))


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
    """Return corrected waits and their variations times the factors of their queues."""
    of = model.queues.pairs.queue
    factor, spread = losses.factor[of], losses.spread[of]

    def scaled(learned: Learned) -> Learned:
        return Learned(
            factor=learned.factor * factor, shift_s=learned.shift_s * factor, spread=learned.spread * spread
        )

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
