"""Training what quantiles of round trips are beyond their law: simulated runs in, a perceptron a kind out.

A simulated percentile of n packets is the k-th smallest, k = ceil(p n). What lies below it is p only in the
mean of many packets: where the tail is exponential its mean is that of probability 1 - exp(psi(n - k + 1) -
psi(n + 1)), psi being the digamma function, and what the law gives for p beyond that is added to the target.
Half of what the run's mean wait is off by is taken from the target, in proportion: a run that drew more load
than asked for has a longer tail too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import polygamma  # pyright: ignore[reportAttributeAccessIssue]

from models.queue_correction.correction import Correction, correct
from models.queue_correction.data import SimulatedRun
from models.queue_correction.fit import FitOptions, Samples, fit_correction
from models.queue_correction.tails import BURSTY, KINDS, POISSON, FlowLaw, flow_law, law_quantile_s, tail_kind
from pipelines.network.queueing import flow_latency
from pipelines.network.queueing.latency import QUANTILES

FLOW_LIMIT = 400
"""Flows of one run that are used, drawn evenly."""
LEAST_PACKETS = 100
"""Of a flow: below, its 99th percentile is as good as its longest."""
ENOUGH_PACKETS = 1_000_000
"""More do not add to a flow's weight."""
NEARLY_FULL = 0.95
RUN_NOISE = 0.5
"""How much of a run's own deviation of the mean wait is taken from its quantiles."""
OUTLIERS = 0.002
"""Share of targets on either side that does not widen the bounds of answers."""
MEMBERS = 2
"""Perceptrons trained apart from each other's seeds, whose mean answers."""
WEIGHT_LIMIT = 50.0
"""Weight of one flow over the mean, at most."""
_OF_POISSON = FitOptions(
    width=32,
    layers=2,
    epochs=500,
    learning_rate=1e-2,
    weight_decay=0.0,
    batch_size=512,
    loss_width=0.01,
    second_weight=1.0,
)
OPTIONS = {POISSON: _OF_POISSON, BURSTY: replace(_OF_POISSON, epochs=150, batch_size=1024)}


def fit_tails(
    runs: Sequence[SimulatedRun],
    correction: Correction,
    *,
    seed: int,
    options: Mapping[str, FitOptions] = OPTIONS,
) -> dict[str, Correction]:
    """What quantiles are beyond the law, by kind of arrivals; a kind without flows has none."""
    found: dict[str, Correction] = {}
    for kind in KINDS:
        chosen = [run for run in runs if tail_kind(run.model) == kind and _is_stable(run)]
        if not chosen:
            continue
        samples = tail_samples(chosen, correction, seed=seed)
        if len(samples.targets) == 0:
            continue
        about = f"{len(chosen)} runs, {len(samples.targets)} flows, {kind} arrivals, seed {seed}"
        members = [
            fit_correction(samples, options[kind], seed=seed + member, about=about)
            for member in range(MEMBERS)
        ]
        ends = np.quantile(samples.targets, [OUTLIERS, 1.0 - OUTLIERS], axis=0).astype(np.float32)
        found[kind] = replace(mean_of(members), lowest=ends[0], highest=ends[1])
    return found


def _is_stable(run: SimulatedRun) -> bool:
    return float(run.row.offered_utilisation or 0.0) < NEARLY_FULL


def mean_of(members: Sequence[Correction]) -> Correction:
    """One perceptron that answers with the mean of several, whose units it has side by side."""
    first, *inner, outer = zip(*(member.weights for member in members), strict=True)
    biases = list(zip(*(member.biases for member in members), strict=True))
    return replace(
        members[0],
        weights=(
            np.concatenate(first, axis=1),
            *(np.asarray(block_diag(*layer), np.float32) for layer in inner),
            np.concatenate(outer) / np.float32(len(members)),
        ),
        biases=(
            *(np.concatenate(layer) for layer in biases[:-1]),
            np.mean(biases[-1], axis=0, dtype=np.float32),
        ),
    )


def tail_samples(runs: Sequence[SimulatedRun], correction: Correction, *, seed: int) -> Samples:
    """Flows of runs, those of large runs drawn."""
    stream = np.random.Generator(np.random.Philox(key=seed))
    parts = [_samples_of_run(run, correction, stream) for run in runs]
    features, targets, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    weights = np.minimum(WEIGHT_LIMIT, weights / max(1e-300, weights.sum() / max(1, len(weights))))
    return Samples(features=features, targets=targets.astype(np.float32), weights=weights.astype(np.float32))


def _samples_of_run(
    run: SimulatedRun, correction: Correction, stream: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]:
    """Features, targets and weights of flows of a run."""
    waits = correct(run.model, correction).waits
    latency = flow_latency(run.model, waits)
    law = flow_law(run.model, waits, latency)
    packets = _of_flows(run, "packet_count") - _of_flows(run, "drop_count")
    chosen = np.flatnonzero(np.isfinite(run.truth_s) & (packets >= LEAST_PACKETS) & (law.mean_s > 0))
    if len(chosen) > FLOW_LIMIT:
        chosen = np.sort(stream.choice(chosen, FLOW_LIMIT, replace=False))
    expected = np.average(latency.wait_s + latency.ack_wait_s, weights=np.maximum(packets, 1e-9))
    drawn = np.average(np.nan_to_num(run.truth_s - latency.base_s), weights=np.maximum(packets, 1e-9))
    kept = 1.0 - RUN_NOISE * (drawn / expected - 1.0)
    columns: list[NDArray[np.float64]] = []
    measured = np.ones(len(chosen))
    name = "rtt" if run.model.acks is not None else "delay"
    for probability in QUANTILES:
        measured = _of_flows(run, f"{name}_p{round(100 * probability)}_ns")[chosen] / 1e9
        wait = (measured - latency.base_s[chosen]) * kept + _order_bias(law, probability, packets, chosen)
        columns.append((wait - law_quantile_s(law, probability, chosen)) / law.unit_s[chosen])
    weights = np.sqrt(np.minimum(packets[chosen], ENOUGH_PACKETS))
    weights *= np.sqrt(max(1, len(chosen))) / max(1.0, float(weights.sum()))
    weights *= law.unit_s[chosen] / measured  # an error counts as it does in a round trip
    return law.features[chosen], np.column_stack(columns), weights


def _order_bias(
    law: FlowLaw, probability: float, packets: NDArray[np.float64], chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What the law gives for a quantile beyond what it gives for an observed one, of some flows."""
    if probability <= 0.5:  # packets around the median are many
        return np.zeros(len(chosen))
    count = packets[chosen]
    above = polygamma(0, count - np.ceil(probability * count) + 1.0) - polygamma(0, count + 1.0)
    return law_quantile_s(law, probability, chosen) - law_quantile_s(law, -np.expm1(above), chosen)


def _of_flows(run: SimulatedRun, name: str) -> NDArray[np.float64]:
    return np.asarray(run.flows.column(name).to_numpy(zero_copy_only=False), np.float64)
