"""Training a correction with Lightning: simulated runs in, perceptrons of streams and of flows out.

Streams. The weight of a sample is its packets times its wait, or theory's where that is longer: an error of
its logarithm counts as it adds to latencies, and so does a wait of nothing that theory makes long. The weight
of a run is the fourth root of the number of its samples, for streams of a large network say much the same.
Squared waits and the plain root were tried: bursts at low load were 5 to 7 % off in place of 2 %.

Flows. A simulated percentile of n packets is the k-th smallest, k = ceil(p n). What lies below it is p only
in the mean of many packets: where the tail is exponential its mean is that of probability 1 - exp(psi(n - k +
1) - psi(n + 1)), psi being the digamma function, and what the law gives for p beyond that is added to the
target. Half of what the mean wait of the run is off by is taken from the target, in proportion: a run that
drew more load than asked for has a longer tail too.

Training learns from drawn groups alone: short runs of everything, and long ones of one packet size. The
results are measured on the grid of chapter 5's experiments, which has seeds, routes and sizes of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import polygamma  # pyright: ignore[reportAttributeAccessIssue]
from torch import Tensor, nn

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.queue_correction import FitOptions
from models.queue_correction.correction import Correction, correct, correction_files
from models.queue_correction.data import SimulatedRun, groups_of, read_runs
from models.queue_correction.features import SMALL_WAIT, is_of_one_rate
from models.queue_correction.tails import BURSTY, KINDS, POISSON, FlowLaw, flow_law, law_quantile_s, tail_kind
from models.training import Loggers, Training, fit
from pipelines.network.queueing import flow_latency
from pipelines.network.queueing.latency import QUANTILES

DRAWN_GROUPS = ("sampled-16", "sampled-54", "sampled-128", "sampled-two-tier", "sampled-drawn")
LONG_GROUPS = (
    "long-16",
    "long-16-one-sided",
    "long-16-incast",
    "long-two-tier",
    "long-two-tier-one-sided",
    "long-54",
    "long-54-one-sided",
    "long-128",
    "long-128-one-sided",
)
"""Groups of `conf/network/long.yaml`."""
SAMPLE_LIMIT = 4000
"""Samples of one run that are used, drawn evenly; others repeat what these say."""
SMALL_SPREAD = 0.01
"""Squared coefficients of variation of waits below are as good as none."""
LEAST_OPEN = 0.25
"""Share of an answer that counts, from which it is learned: below, theory is as good as exact."""
STREAM_WEIGHT_LIMIT = 200.0
"""Weight of one sample over the mean, at most."""
FLOW_LIMIT = 400
"""Flows of one run that are used, drawn evenly."""
LEAST_PACKETS = 100
"""Packets of a flow: below, its 99th percentile is as good as its longest."""
ENOUGH_PACKETS = 1_000_000
"""More do not add to the weight of a flow."""
NEARLY_FULL = 0.95
RUN_NOISE = 0.5
"""How much of a run's own deviation of the mean wait is taken from its quantiles."""
OUTLIERS = 0.002
"""Share of targets on either side that does not widen the bounds of answers."""
MEMBERS = 2
"""Perceptrons trained apart from each other's seeds, whose mean answers."""
FLOW_WEIGHT_LIMIT = 50.0
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """What is fitted. (samples, features), (samples, 2), (samples,)

    Attributes: targets: logarithms as `correction.py` has them; NaN where no packet waited.
    """

    features: NDArray[np.float32]
    targets: NDArray[np.float32]
    weights: NDArray[np.float32]


def train(data: TrainingInput) -> Trained:
    """Train on all drawn and long groups that the tables hold.

    Raises: PredictorError: no such group, or a file is missing.
    """
    groups = {
        folder / "tables": [g for g in (*DRAWN_GROUPS, *LONG_GROUPS) if g in groups_of(folder / "tables")]
        for folder in data.data_dirs
    }
    names = [name for some in groups.values() for name in some]
    if not names:
        accepted = ", ".join((*DRAWN_GROUPS, *LONG_GROUPS))
        raise PredictorError(
            f"no group to learn from in {', '.join(map(str, data.data_dirs))}; accepted: {accepted}"
        )
    runs = [run for tables, some in groups.items() for run in read_runs(tables, some)]
    correction = train_correction(runs, names, options=data.options, seed=data.seed, loggers=data.loggers)
    return Trained(files=correction_files(correction), seen_groups=names, summary={"runs": float(len(runs))})


def train_correction(
    runs: Sequence[SimulatedRun],
    names: Sequence[str],
    *,
    options: FitOptions | None = None,
    seed: int = 0,
    loggers: Loggers | None = None,
) -> Correction:
    """Train a correction of runs, and then what quantiles are beyond their law with its waits.

    Args: names: of their groups, for people.
    """
    samples = training_samples(runs, seed=seed)
    about = f"{len(runs)} runs of {', '.join(names)}, {len(samples.targets)} streams, seed {seed}"
    correction = fit_correction(samples, options or FitOptions(), seed=seed, about=about, loggers=loggers)
    return replace(correction, tails=fit_tails(runs, correction, seed=seed))


def training_samples(runs: Sequence[SimulatedRun], *, seed: int) -> Samples:
    """Return the samples of runs; of large runs, drawn ones."""
    stream = np.random.Generator(np.random.Philox(key=seed))
    parts: list[tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]] = []
    for run in runs:
        chosen = np.flatnonzero((run.packets > 0) & (run.times_before == 1.0))  # see `correct`
        if len(chosen) > SAMPLE_LIMIT:
            chosen = np.sort(stream.choice(chosen, SAMPLE_LIMIT, replace=False))
        service = run.service_s[chosen]
        wait = run.waits_s[chosen] / service + SMALL_WAIT
        target = np.log(wait / (run.theory_s[chosen] / service + SMALL_WAIT))
        open_share = 1.0 - run.exact[chosen]  # of the answer that counts
        target = np.where(open_share > LEAST_OPEN, target / np.maximum(open_share, LEAST_OPEN), np.nan)
        spread = np.log(np.maximum(SMALL_SPREAD, run.spread[chosen]) / run.theory_spread[chosen])
        weight = np.maximum(wait, run.theory_s[chosen] / service + SMALL_WAIT) * run.packets[chosen]
        weight *= len(chosen) ** 0.25 / weight.sum()
        parts.append((run.features[chosen], np.column_stack([target, spread]), weight))
    features, targets, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    weights = np.minimum(STREAM_WEIGHT_LIMIT, weights / weights.mean())
    return Samples(
        features=features.astype(np.float32),
        targets=targets.astype(np.float32),
        weights=weights.astype(np.float32),
    )


def fit_correction(
    samples: Samples, options: FitOptions, *, seed: int, about: str, loggers: Loggers | None = None
) -> Correction:
    """Train a correction; the same arguments give the same bits on one machine."""
    center, scale = samples.features.mean(axis=0), samples.features.std(axis=0) + 1e-6
    columns = ((samples.features - center) / scale, samples.targets, samples.weights)
    values = tuple(torch.from_numpy(column) for column in columns)
    generator = torch.Generator().manual_seed(seed)

    def batches(epoch: int) -> Iterator[tuple[Tensor, ...]]:
        del epoch
        order = torch.randperm(len(values[0]), generator=generator)
        return (tuple(column[rows] for column in values) for rows in order.split(options.batch_size))

    steps = -(-len(values[0]) // options.batch_size)
    fitted = fit(
        partial(_untrained, samples.features.shape[1], options, steps),
        batches,
        epochs=options.epochs,
        seed=seed,
        generator=generator,
        loggers=loggers,
    )
    layers = [layer for layer in fitted.network if isinstance(layer, nn.Linear)]
    return Correction(
        center=center,
        scale=scale,
        least=samples.features.min(axis=0),
        most=samples.features.max(axis=0),
        weights=tuple(np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in layers),
        biases=tuple(layer.bias.detach().numpy().copy() for layer in layers),
        lowest=np.nanmin(samples.targets, axis=0),
        highest=np.nanmax(samples.targets, axis=0),
        about=about,
    )


def _untrained(features: int, options: FitOptions, steps: int) -> _Fit:
    hidden: list[nn.Module] = []
    for inputs in (features, *[options.width] * (options.layers - 1)):
        hidden += [nn.Linear(inputs, options.width), nn.SiLU()]
    return _Fit(nn.Sequential(*hidden, nn.Linear(options.width, 2)), options, steps)


class _Fit(Training[nn.Sequential]):
    """Weighted Huber loss of the logarithm."""

    def __init__(self, network: nn.Sequential, options: FitOptions, steps: int) -> None:
        super().__init__(
            network,
            learning_rate=options.learning_rate,
            weight_decay=options.weight_decay,
            cycle_steps=steps * options.epochs,
        )
        self._options = options

    def loss(self, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Return the loss of a batch: (batch, features), (batch, 2), (batch,)."""
        features, targets, weights = batch
        answers = self.network(features)  # (batch, 2)
        known = torch.isfinite(targets)
        width = self._options.loss_width
        losses = nn.functional.smooth_l1_loss(
            torch.where(known, answers, 0.0), torch.where(known, targets, 0.0), reduction="none", beta=width
        )
        return (weights * (losses[:, 0] + self._options.second_weight * losses[:, 1])).mean()


def fit_tails(
    runs: Sequence[SimulatedRun],
    correction: Correction,
    *,
    seed: int,
    options: Mapping[str, FitOptions] = OPTIONS,
) -> dict[str, Correction]:
    """Fit the quantiles beyond the law by kind of arrivals; a kind without flows has none."""
    perceptrons: dict[str, Correction] = {}
    for kind in KINDS:
        chosen = [
            run
            for run in runs
            if tail_kind(run.model) == kind and _is_stable(run) and is_of_one_rate(run.model.topology)
        ]
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
        perceptrons[kind] = replace(mean_of(members), lowest=ends[0], highest=ends[1])
    return perceptrons


def _is_stable(run: SimulatedRun) -> bool:
    return float(run.row.offered_utilisation or 0.0) < NEARLY_FULL


def mean_of(members: Sequence[Correction]) -> Correction:
    """Return one perceptron that answers with the mean of several, whose units it has side by side."""
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
    """Return the flows of runs as samples; of large runs, drawn ones."""
    stream = np.random.Generator(np.random.Philox(key=seed))
    parts = [_samples_of_run(run, correction, stream) for run in runs]
    features, targets, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    weights = np.minimum(FLOW_WEIGHT_LIMIT, weights / max(1e-300, weights.sum() / max(1, len(weights))))
    return Samples(features=features, targets=targets.astype(np.float32), weights=weights.astype(np.float32))


def _samples_of_run(
    run: SimulatedRun, correction: Correction, stream: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]:
    """Return features, targets and weights of flows of a run."""
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
    """Return the law's quantile minus its observed one, of some flows."""
    if probability <= 0.5:  # packets around the median are many
        return np.zeros(len(chosen))
    count = packets[chosen]
    above = polygamma(0, count - np.ceil(probability * count) + 1.0) - polygamma(0, count + 1.0)
    return law_quantile_s(law, probability, chosen) - law_quantile_s(law, -np.expm1(above), chosen)


def _of_flows(run: SimulatedRun, name: str) -> NDArray[np.float64]:
    return np.asarray(run.flows.column(name).to_numpy(zero_copy_only=False), np.float64)
