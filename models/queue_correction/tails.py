"""Median and 99th percentile of every flow's round trip: a law from theory, and its error as learned.

The law of the sum of a round trip's waits (`wait_law.py`) has the probability of no wait, the mean and the
variance. Theory gives these and the skew:

- Work in a queue of batches (Takacs 1962) has cumulants in closed form. As the mean in the estimate for trees
  (`pipelines/network/queueing/network.py`), each is that of a queue which all its flows enter straight, less
  that of the stream alone there; the logarithm of the probability of no wait likewise.
- A packet of a batch waits for those before it in the batch, geometrically many, once.
- An acknowledgement that met a larger packet of its stream follows it and meets it again at every queue to
  which both go. Such waits are a quarter of all in all-to-all traffic at a load of 25 %, no longer than one
  packet each, and their covariance is a sixth of the variance.

The mean is the corrected one. Where all waits are of one queue theory is exact for batches, and takes over by
the busiest queue's share of waits; for Poisson arrivals the law is exact at the host, and what is learned
counts by the share of waits elsewhere. What a flow's quantile is beyond the law is learned in units of its
mean wait, for Poisson arrivals and for bursts apart; where sizes of packets differ nothing was learned, and
a mixture over sizes stands (`sizes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.model_files import ModelFiles
from models.queue_correction.correction import Correction, correct
from models.queue_correction.correction import load as load_correction
from models.queue_correction.data import network_models
from models.queue_correction.features import (
    KERNELS,
    SMALL_WAIT,
    TAIL_FEATURES,
    burst_spread,
    has_unlike_flows,
    times_before,
)
from models.queue_correction.losses import (
    LEARNED_CAPACITY,
    estimate_losses,
    latency_with_timers,
    timer_quantiles_s,
    waits_with_losses,
)
from models.queue_correction.sizes import mixed_rtt_quantiles_s
from models.queue_correction.wait_law import wait_quantile_s
from pipelines.network.compiled import in_parts, kernels
from pipelines.network.estimation import CorrectedLatency
from pipelines.network.queueing import (
    FlowLatency,
    NetworkModel,
    Streams,
    StreamWaits,
    flow_latency,
    hop_waits_s,
    stream_waits,
    wait_by_stream_s,
)
from pipelines.network.queueing.latency import QUANTILES
from pipelines.network.queueing.network import model_queues
from pipelines.network.traffic import Schedule

POISSON, BURSTY = "poisson", "bursty"
KINDS = (POISSON, BURSTY)
ONE_SIZE = 0.01
"""Squared coefficient of variation of a flow's packets up to which they count as of one size."""
ALONE = 0.02
"""Share of the learned correction for Poisson arrivals that remains when all waits are at the host, where
the law is exact."""
NEARLY_FULL, FULL = 0.93, 0.97
"""Utilisation of a flow's busiest queue up to which the law counts, and from which it does not: the gamma law
takes over, for queues of limited size do not have the variance of those without end."""
CHANGED = 0.1
"""Change of a flow's waits by losses from which the gamma law with their variance stands in for what was
learned of queues that lose little."""
OFTEN_FULL = 0.08
"""Mean wait over that of a full queue from which queues are often full: some exp(-1 / 0.08) of the time."""
_MARKS = (0.25, 0.5, 0.75, 0.9)
_LIMIT = 0.99
_CHUNK = 1 << 12
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowLaw:
    """Waits of a round trip of every flow by the law. Each (flows,), features (flows, TAIL_FEATURES)

    Attributes:
        mean_s, variance_s2: of the sum. log_no_wait: logarithm of the probability of no wait.
        unit_s: in which the error of its quantiles is learned.
        share: of the law in the answer, 0 where the busiest queue is full.
        is_poisson: whether packets come by Poisson arrivals, each of its own.
    """

    features: NDArray[np.float32]
    mean_s: Vector
    variance_s2: Vector
    log_no_wait: Vector
    unit_s: Vector
    share: Vector
    is_poisson: bool


def tail_kind(model: NetworkModel) -> str | None:
    """Return which of `KINDS` a model's flows are; None where packets of a flow differ in size."""
    moments = model.traffic.flow_moments()
    if np.any(moments.second_bytes2 > (1.0 + ONE_SIZE) * moments.mean_bytes**2):
        return None
    return POISSON if model.traffic.arrivals.kind == "poisson" else BURSTY


def rtt_quantiles_s(
    model: NetworkModel,
    waits: StreamWaits,
    latency: FlowLatency,
    tails: Mapping[str, Correction],
    probabilities: Sequence[float] = QUANTILES,
) -> Vector:
    """Return quantiles of every flow's round trip. (probabilities, flows)

    Args:   waits: corrected ones. latency: from them. tails: learned errors of the law, by kind, at the
            probabilities of QUANTILES; those of others are between them, by quantiles of a normal law.
    """
    kind = tail_kind(model)
    if kind is None or kind not in tails:
        return theory_rtt_quantiles_s(model, waits, latency, probabilities)
    law, learned = flow_law(model, waits, latency), tails[kind]
    longest_s = _longest_waits_s(model, waits, latency)
    normal = NormalDist().inv_cdf
    low, high = (normal(probability) for probability in QUANTILES)
    weights = [(normal(probability) - low) / (high - low) for probability in probabilities]

    def part_quantiles(part: slice) -> Vector:
        quantiles_s = np.empty((len(probabilities), len(law.mean_s[part])))
        for begin in range(part.start, min(part.stop, len(law.mean_s)), _CHUNK):
            chosen = slice(begin, min(begin + _CHUNK, part.stop))
            answers = learned.log_factors(law.features[chosen])
            place = slice(chosen.start - part.start, chosen.stop - part.start)
            for number, (probability, weight) in enumerate(zip(probabilities, weights, strict=True)):
                between = answers[:, 0] * (1.0 - weight) + answers[:, 1] * weight
                beyond = between * law.unit_s[chosen]
                of_law = law_quantile_s(law, _of_accepted(law, probability, chosen, longest_s), chosen)
                quantiles_s[number, place] = np.maximum(0.0, of_law + beyond)
        return quantiles_s

    quantiles = np.concatenate(in_parts(len(law.mean_s), part_quantiles), axis=1) + latency.base_s
    share = law.share
    if has_unlike_flows(model):  # the law has the mean variation of all flows
        share = np.where(model.data.scvs >= model.traffic.arrivals.scv, share, 0.0)
    if np.all(share == 1.0):
        return quantiles
    gamma = np.stack([gamma_rtt_quantile_s(latency, probability) for probability in probabilities])
    return share * quantiles + (1.0 - share) * gamma


def _longest_waits_s(model: NetworkModel, waits: StreamWaits, latency: FlowLatency) -> Vector | None:
    """Return how long packets of each flow wait at most: until the queue where they wait longest is full.

    Waits at the others are in proportion where they are most of all, else independent of it. (flows,)
    None where no queue is ever full.
    """
    if model.capacity is None:
        return None
    full_s = _full_s(model, model.capacity)
    if not np.any(latency.queue_wait_s > OFTEN_FULL * full_s):
        return None
    longest_s, others = _longest_queue(model, waits, full_s)
    return longest_s * (1.0 + others**2 / np.maximum(1.0 - others, 1e-300))


def _most_waits_s(
    model: NetworkModel, waits: StreamWaits, latency: FlowLatency, probabilities: Sequence[float]
) -> Vector:
    """Return quantiles, (probabilities, flows), where the queue in which packets wait longest is full."""
    longest_s, others = _longest_queue(model, waits, _full_s(model, model.capacity or 0))
    mean_s = others * (latency.wait_s + latency.ack_wait_s)
    deviation_s = np.sqrt(latency.variance_s2 * (1.0 - (1.0 - others) ** 2))
    scores = [NormalDist().inv_cdf(probability) for probability in probabilities]
    return np.stack([longest_s + mean_s + max(0.0, score) * deviation_s for score in scores])


def _full_s(model: NetworkModel, capacity: int) -> Vector:
    """Return how long a packet waits in every queue that is full. (queues,)"""
    return capacity * model.queues.utilisation / np.maximum(model.queues.rate_per_s, 1e-300)


def _longest_queue(model: NetworkModel, waits: StreamWaits, full_s: Vector) -> tuple[Vector, Vector]:
    """Return what packets wait in the queue where they wait longest, when it is full, and the share of waits
    in others. (flows,) each"""
    ways = [model.data] if model.acks is None else [model.data, model.acks]
    waited_s = np.concatenate([hop_waits_s(model, way, waits) for way in ways], axis=1)
    routes = np.concatenate([way.routes for way in ways], axis=1)
    longest = np.arange(len(routes)), np.argmax(waited_s, axis=1)
    others = 1.0 - waited_s[longest] / np.maximum(waited_s.sum(axis=1), 1e-300)
    return full_s[routes[longest]], others


def _of_accepted(law: FlowLaw, probability: float, chosen: slice, longest_s: Vector | None) -> float | Vector:
    """Return the probability by the law of queues without end for one among packets that a queue accepts.

    The law is taken as even between some quantiles, and as exponential from its 99th percentile on.
    (chosen,)
    """
    if longest_s is None:
        return probability
    longest = longest_s[chosen]
    marks = np.stack([law_quantile_s(law, p, chosen) for p in (*_MARKS, 0.99, 0.999)])
    far, farther = marks[-2:]
    per_s = np.log(10.0) / np.maximum(farther - far, 1e-300)
    accepted = 1.0 - 0.01 * np.exp(-per_s * np.maximum(longest - far, 0.0))
    below, values = np.zeros_like(longest), (0.0, *_MARKS, 0.99)
    for place, end in enumerate(marks[:-1]):
        share = np.clip((longest - below) / np.maximum(end - below, 1e-300), 0.0, 1.0)
        inside = (longest >= below) & (longest < end)
        accepted = np.where(inside, values[place] + share * (values[place + 1] - values[place]), accepted)
        below = end
    return probability * accepted


def corrected_latency(
    model: NetworkModel, correction: Correction, probabilities: Sequence[float]
) -> CorrectedLatency:
    """Return the latency by a correction, with what full queues lose.

    The correction knows queues of LEARNED_CAPACITY alone: it is asked about those, and the waits are taken to
    the capacity of the model.
    """
    learned = model
    if model.capacity != LEARNED_CAPACITY:
        streams = [model.data] if model.acks is None else [model.data, model.acks]
        queues = model_queues(model.topology, *streams, capacity=LEARNED_CAPACITY)
        learned = replace(model, queues=queues, capacity=LEARNED_CAPACITY)
    corrected = correct(learned, correction)
    waits, latency = corrected.waits, flow_latency(learned, corrected.waits)
    losses = estimate_losses(learned, latency, model.capacity)
    changed = None
    if np.any(losses.factor != 1.0):
        waits = waits_with_losses(learned, waits, losses)
        before_s, latency = latency.wait_s + latency.ack_wait_s, flow_latency(learned, waits)
        now_s = latency.wait_s + latency.ack_wait_s
        changed = np.clip(np.abs(now_s / np.maximum(before_s, 1e-300) - 1.0) / CHANGED, 0.0, 1.0)
    asked = replace(learned, capacity=model.capacity)
    quantiles_s = rtt_quantiles_s(asked, waits, latency, correction.tails, probabilities)
    if changed is not None:
        gamma_s = np.stack([gamma_rtt_quantile_s(latency, probability) for probability in probabilities])
        if model.capacity is not None:
            most_s = _most_waits_s(asked, waits, latency, probabilities)
            gamma_s = np.minimum(gamma_s, latency.base_s + most_s)
        quantiles_s = (1.0 - changed) * quantiles_s + changed * gamma_s
    return CorrectedLatency(
        latency=latency_with_timers(model, latency, losses),
        rtt_quantiles_s=quantiles_s + timer_quantiles_s(model, losses, probabilities),
        seen=corrected.seen,
        lost_share=losses.lost,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkPredictor(Correction):
    """A correction that answers questions about networks."""

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
        """Return the latencies of fat-trees under traffic, one per row.

        Returns: means over flows of the round trip, corrected and by theory, and of its 99th percentile;
                 utilisation of the busiest queue; how much of the network is like training, 0 to 1.
        Raises:  PredictorError: a row is not acceptable; the message names the row, from 0.
        """
        answers: list[dict[str, float]] = []
        for model in network_models(rows):
            corrected = corrected_latency(model, self, QUANTILES)
            theory = flow_latency(model, stream_waits(model))
            answers.append(
                {
                    "rtt_us": float(corrected.latency.rtt_s.mean() * 1e6),
                    "uncorrected_rtt_us": float(theory.rtt_s.mean() * 1e6),
                    "rtt_p99_us": float(corrected.rtt_quantiles_s[1].mean() * 1e6),
                    "busiest_utilisation": float(model.queues.utilisation.max()),
                    "seen_in_training": corrected.seen,
                }
            )
        return answers


def load(files: ModelFiles) -> NetworkPredictor:
    """Load the correction from its files. Raises: PredictorError, KeyError: as that of `correction.py`."""
    correction = load_correction(files)
    return NetworkPredictor(**{field.name: getattr(correction, field.name) for field in fields(Correction)})


def theory_rtt_quantiles_s(
    model: NetworkModel,
    waits: StreamWaits,
    latency: FlowLatency,
    probabilities: Sequence[float],
    schedule: Schedule | None = None,
) -> Vector:
    """Return quantiles of every flow's round trip by theory alone. (probabilities, flows)

    Args: schedule: the packets of a trace.
    """
    if tail_kind(model) is None:
        return mixed_rtt_quantiles_s(model, waits, latency, probabilities, schedule)
    return np.stack([gamma_rtt_quantile_s(latency, probability) for probability in probabilities])


def gamma_rtt_quantile_s(latency: FlowLatency, probability: float) -> Vector:
    """Return `rtt_quantile_s` of `pipelines.network.queueing` from a table, off by 0.1 %. (flows,)"""
    mean = latency.wait_s + latency.ack_wait_s
    return latency.base_s + wait_quantile_s(mean, latency.variance_s2, -np.inf, probability, is_poisson=False)


def law_quantile_s(
    law: FlowLaw, probability: float | Vector, chosen: slice | NDArray[np.int64] = slice(None)
) -> Vector:
    """Return the quantile of the waits of some flows by the law alone. (chosen,)"""
    moments = (law.mean_s[chosen], law.variance_s2[chosen], law.log_no_wait[chosen])
    return wait_quantile_s(*moments, probability, is_poisson=law.is_poisson)


def flow_law(model: NetworkModel, waits: StreamWaits, latency: FlowLatency) -> FlowLaw:
    """Return the law of every flow. Args: waits: corrected ones. latency: from them."""
    data, acks = model.data, model.acks
    by_data = _by_stream(model, waits, data, is_ack=False)
    by_acks = by_data if acks is None else _by_stream(model, waits, acks, is_ack=True)
    kind, pairs = model.traffic.arrivals.kind, model.queues.pairs
    is_batch = kind == "ge"
    byte_s = 8.0 / model.topology.rates_bps

    features = np.zeros((len(latency.base_s), len(TAIL_FEATURES)), np.float32)
    laws = np.zeros((5, len(latency.base_s)))

    def part_law(part: slice) -> None:
        ways, back = data.routes[part], (data if acks is None else acks).routes[part]
        kernels(KERNELS).flow_laws(
            *ways.shape,
            ways,
            back.shape[1],
            back,
            acks is not None,
            data.mean_bytes[part],
            data.scvs[part],
            latency.base_s[part],
            latency.variance_s2[part],
            byte_s,
            by_data,
            by_acks,
            pairs.first,
            pairs.position,
            pairs.entry,
            is_batch,
            kind == "on_off",
            SMALL_WAIT,
            ALONE,
            NEARLY_FULL,
            FULL,
            features[part],
            laws.shape[1],
            part.start,
            laws,
        )

    in_parts(len(latency.base_s), part_law)
    mean, variance, log_no_wait, unit, share = laws
    return FlowLaw(
        features=features,
        mean_s=mean,
        variance_s2=variance,
        log_no_wait=log_no_wait,
        unit_s=unit,
        share=share,
        is_poisson=kind == "poisson",
    )


def _by_stream(model: NetworkModel, waits: StreamWaits, way: Streams, *, is_ack: bool) -> NDArray[np.float32]:
    """Return what flows sum up along their ways, side by side for each stream. (streams, 12)

    The corrected wait; the mean time of sending of the queue; four columns of `_cumulants`; how fast bursts
    come; for acknowledgements how much longer a larger packet of the stream takes, the probability to be
    behind one, and that of those behind one at the queue before; the utilisation, and that by other streams.
    """
    queues, pairs = model.queues, model.queues.pairs
    packet_bytes = float(np.average(way.mean_bytes, weights=way.rates_per_s))
    features = np.zeros((pairs.count, 12))
    features[:, 0] = wait_by_stream_s(model, waits, way, packet_bytes)
    features[:, 1] = (queues.utilisation / np.maximum(queues.rate_per_s, 1e-300))[pairs.queue]
    features[:, 2:6] = _cumulants(model)
    features[:, 10] = queues.utilisation[pairs.queue]
    features[:, 11] = features[:, 10] - queues.load.utilisation
    load = queues.loads[1 if is_ack else 0]
    used = np.flatnonzero(load.rate_per_s > 0)
    features[used, 6] = burst_spread(model, load, used)
    if is_ack:
        service = packet_bytes * (8.0 / model.topology.rates_bps)[pairs.queue]
        meets = (waits.larger_s > service * (1.0 + ONE_SIZE)) & (pairs.before >= 0)
        features[:, 7] = np.where(meets, waits.larger_s - service, 0.0)
        features[:, 8] = np.where(meets, np.minimum(waits.behind, 0.999), 0.0)
        before = np.maximum(queues.utilisation[np.maximum(pairs.before, 0)], 1e-9)
        features[:, 9] = np.minimum(1.0, features[:, 8] / before)
    return features.astype(np.float32)  # half the memory to walk through


def _cumulants(model: NetworkModel) -> Vector:
    """Return what streams add to the first three cumulants and to the logarithm of no wait. (streams, 4)"""
    queues, pairs = model.queues, model.queues.pairs
    jobs = np.zeros((3, pairs.count))
    for load in queues.loads:
        rate = load.rate_per_s
        service, second = (v / np.maximum(rate, 1e-300) for v in (load.utilisation, load.service2_s))
        square = np.maximum(service * service, 1e-300)
        more = np.maximum(-0.45, load.burst_s / np.maximum(rate, 1e-300) / square / 2.0)  # of a batch
        third, fourth = second * second / np.sqrt(square), second**3 / square  # exact for one size
        jobs[0] += rate * (second + 2 * more * square)
        jobs[1] += rate * (third + 6 * more * service * second + 6 * more**2 * service**3)
        jobs[2] += rate * (
            fourth
            + 2 * more * (4 * service * third + 3 * second**2)
            + 36 * more**2 * square * second
            + 24 * more**3 * square**2
        )
    count = len(queues.utilisation)
    of_queues = np.array([np.bincount(pairs.queue, values, count) for values in jobs], np.float64)
    straight = _of_work(of_queues, queues.utilisation)[:, pairs.queue]
    times = times_before(model)  # a stream has waited for itself over the link before
    waited = _of_work(jobs * times ** np.array([[2], [3], [4]]), queues.load.utilisation * times)
    alone = np.where(pairs.before < 0, 0.0, waited)
    added = straight - alone
    added[:3] = np.maximum(added[:3], 0.0)
    added[3] = np.minimum(added[3], 0.0)
    return added.T


def _of_work(jobs: Vector, utilisation: Vector) -> Vector:
    """Return cumulants of work from rate times moments of jobs, and the logarithm of no work. (4, queues)"""
    used = np.minimum(utilisation, _LIMIT)
    mean, more = jobs[0] / (2.0 * (1.0 - used)), jobs[1] / (3.0 * (1.0 - used))
    skew = 2 * mean**3 + 3 * mean * more + jobs[2] / (4.0 * (1.0 - used))
    return np.stack([mean, mean**2 + more, skew, np.log1p(-used)])
