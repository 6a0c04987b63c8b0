"""A trained correction: the theory's wait of every stream times what a network says, within bounds.

The network has two answers. The first is the logarithm of (wait + s) / (theory + s), where s is `SMALL_WAIT`
mean times of sending, so that waits of nothing neither need nor get large factors. The second is that of the
squared coefficient of variation of waits over theory's, which quantiles need. Both are bounded by what
training saw.

A queue that data packets alone enter, all straight from their host, is the one of theory, whose mean wait is
exact for Poisson arrivals and batches: the first answer counts by the share of load that does not come so.

Where a feature is outside of its range in training, the network is asked at the edge, and the answer fades:
by half for every `FADE` standard deviations outside, summed over features. So the theory stands alone where
nothing alike was seen, and it is kept beside the corrected answer in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.model_files import ModelFiles
from models.queue_correction import PREDICTOR
from models.queue_correction.features import (
    FEATURES,
    SMALL_WAIT,
    TAIL_FEATURES,
    StreamSamples,
    is_of_one_rate,
    samples_of,
    times_before,
    tree_waits,
)
from pipelines.network.queueing import Learned, NetworkModel, StreamWaits, flow_latency

FADE = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correction:
    """A perceptron on features of streams, and those on features of flows (`tails`), which have no more.

    Attributes:
        center, scale: of features in training. (features,)
        least, most: their range. (features,)
        weights, biases: of each layer; the hidden ones are followed by SiLU.
        lowest, highest: range of both logarithms in training. (2,)
        about: what it was trained on, for people.
        tails: by kind of arrivals, a perceptron of what quantiles of round trips are beyond their law
            (`tails.py`); none without training.
    """

    center: NDArray[np.float32]
    scale: NDArray[np.float32]
    least: NDArray[np.float32]
    most: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    lowest: NDArray[np.float32]
    highest: NDArray[np.float32]
    about: str
    tails: Mapping[str, Correction] = field(default_factory=dict[str, "Correction"])

    def predict(self, model: NetworkModel) -> NDArray[np.float64]:
        """Predict the mean round trip of every flow in seconds, delay without acknowledgements. (flows,)"""
        return flow_latency(model, corrected_waits(model, self)).rtt_s

    def log_factors(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the bounded and gated answers of every sample: (samples, features) -> (samples, 2)."""
        return self.answers(features) * self.seen(features)[:, None]

    def answers(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return bounded answers (samples, features) -> (samples, 2); outside of training, at its edge."""
        values = np.clip(features, self.least, self.most)
        values -= self.center
        values /= self.scale
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight  # (samples, width)
            values += bias
            if number + 1 < len(self.weights):
                with np.errstate(over="ignore"):  # of very negative ones nothing is left
                    scale = np.negative(values)
                    values /= np.add(np.exp(scale, out=scale), 1.0, out=scale)
        return np.clip(values, self.lowest, self.highest).astype(np.float64)

    def seen(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the similarity of every sample to the training, 1 to 0: (samples,)."""
        outside = np.maximum(self.least - features, features - self.most)
        return np.exp2(-np.maximum(0.0, outside / self.scale).sum(axis=1) / FADE).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corrected:
    """Waits of a model's streams, corrected.

    Attributes: seen: mean over streams of how much alike was seen in training, 1 to 0.
    """

    waits: StreamWaits
    seen: float


def correct(model: NetworkModel, correction: Correction) -> Corrected:
    """Return the waits by the estimate for trees, corrected."""
    waits = tree_waits(model)
    samples = samples_of(model, waits)
    features = np.concatenate([part.features for part in samples])
    seen = correction.seen(features)
    if not is_of_one_rate(model.topology):  # nothing was learned of others
        times = times_before(model)
        seen *= np.concatenate([times[part.streams] == 1.0 for part in samples])
    scaled = correction.answers(features) * seen[:, None]
    scaled[:, 0] *= 1.0 - np.concatenate([part.exact for part in samples])
    answers = np.split(scaled, [len(samples[0].streams)])
    learned = [_learned(waits.data, *pair) for pair in zip(samples, answers, strict=False)]
    acks = learned[-1] if model.acks is not None else waits.acks
    return Corrected(waits=replace(waits, data=learned[0], acks=acks), seen=float(seen.mean()))


def corrected_waits(model: NetworkModel, correction: Correction) -> StreamWaits:
    """Return the waits of `correct`."""
    return correct(model, correction).waits


def _learned(none: Learned, samples: StreamSamples, answers: NDArray[np.float64]) -> Learned:
    factor, shift, spread = none.factor.copy(), none.shift_s.copy(), none.spread.copy()
    factor[samples.streams], ratio = np.exp(answers).T
    shift[samples.streams] = SMALL_WAIT * samples.service_s * (factor[samples.streams] - 1.0)
    spread[samples.streams] *= ratio
    return Learned(factor=factor, shift_s=shift, spread=spread)


def correction_files(correction: Correction) -> ModelFiles:
    """Return the correction as plain data."""
    tails = correction.tails.items()
    card = {
        "features": FEATURES,
        "tail_features": TAIL_FEATURES,
        "layers": len(correction.weights),
        "about": correction.about,
        "tails": {kind: {"layers": len(tail.weights), "about": tail.about} for kind, tail in tails},
    }
    arrays = _arrays(correction, "")
    for kind, tail in tails:
        arrays |= _arrays(tail, f"{kind}_")
    return ModelFiles(card=card, arrays=arrays)


_RANGES = ("center", "scale", "least", "most", "lowest", "highest")


def _arrays(perceptron: Correction, prefix: str) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {f"{prefix}{name}": getattr(perceptron, name) for name in _RANGES}
    for number, (weight, bias) in enumerate(zip(perceptron.weights, perceptron.biases, strict=True)):
        arrays |= {f"{prefix}weight_{number}": weight, f"{prefix}bias_{number}": bias}
    return arrays


def load(files: ModelFiles) -> Correction:
    """Load the correction from its files.

    Raises: PredictorError: it is of other features than this version computes. KeyError: an array is missing.
    """
    stored = [tuple(files.card.get(name, ())) for name in ("features", "tail_features")]
    if stored != [FEATURES, TAIL_FEATURES]:
        raise PredictorError(
            f"features of the correction are not those of this version ({len(FEATURES)} of streams, "
            f"{len(TAIL_FEATURES)} of flows); train again"
        )
    tails = {
        kind: _perceptron(files, f"{kind}_", of_kind, {}) for kind, of_kind in files.card["tails"].items()
    }
    return _perceptron(files, "", files.card, tails)


def _perceptron(
    files: ModelFiles, prefix: str, card: Mapping[str, Any], tails: dict[str, Correction]
) -> Correction:
    layers = range(card["layers"])
    return Correction(
        **{name: files.arrays[f"{prefix}{name}"] for name in _RANGES},
        weights=tuple(files.arrays[f"{prefix}weight_{number}"] for number in layers),
        biases=tuple(files.arrays[f"{prefix}bias_{number}"] for number in layers),
        about=str(card["about"]),
        tails=tails,
    )


def shipped_correction() -> Correction:
    """Return the correction that comes with the project."""
    return PREDICTOR.load(PREDICTOR.shipped_folder)
