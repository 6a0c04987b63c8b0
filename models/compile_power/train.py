"""Training in two stages: encoders on compiled pairs without labels, then trunk and heads on labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.compile_power import FitOptions
from models.compile_power.baselines import fit_loads, start_logarithms
from models.compile_power.data import (
    Pair,
    Tree,
    hardware_tokens,
    network_tokens,
    read_fixed_pairs,
    read_pairs,
    tree_of,
    wl_similarity,
)
from models.compile_power.intervals import Labelled, fit_weights, hardware_columns
from models.compile_power.network import (
    CompilePower,
    Graphs,
    HardwareEncoder,
    Normalisation,
    PowerHeads,
    SoftwareEncoder,
    SoftwareTrainer,
    contrastive_loss,
    embed,
    hardware_graphs,
    heads_logarithms,
    software_graphs,
)
from models.leaderboard import Prediction
from models.training import Loggers, Training, fit
from pipelines.accelerators import Hardware
from pipelines.base.identity import content_hash

_PRETRAIN_BATCH, _TREE_BATCH = 64, 24
_FOLD_NAMES = {"train": "train", "test": "test"}


def train(data: TrainingInput, *, is_fixed: bool) -> Trained:
    """Train on one split of accelerators or of fixed-point pipelines; the other part is predicted.

    Raises: PredictorError: there are too few labels.
    """
    options: FitOptions = replace(data.options, has_hardware=False) if is_fixed else data.options
    pairs = (read_fixed_pairs if is_fixed else read_pairs)(data.data_dirs)
    model, curves = fit_power(pairs, options, seed=data.seed, loggers=data.loggers)
    judged = [
        pair for pair in pairs if pair.power_mw is not None and pair.parts[options.split] in _FOLD_NAMES
    ]
    return Trained(
        files=model.files,
        seen_groups=sorted({pair.compiled_id for pair in judged if pair.parts[options.split] == "train"}),
        curves=curves,
        summary={"labels": float(len(judged)), "pairs": float(len(pairs))},
        predictions=predictions_of(model, judged, options.split),
        split=options.split,
    )


def predictions_of(model: CompilePower, pairs: Sequence[Pair], split: str) -> list[Prediction]:
    """Return the power and energy of labelled pairs, as measured and as predicted."""
    predicted = np.exp(model.logarithms(pairs)) if pairs else np.zeros((0, 2))
    return [
        Prediction(
            design_id=pair.compiled_id,
            group=pair.group,
            part=pair.parts[split],
            target=target,
            actual=float(getattr(pair, target)),
            predicted=float(answers[place]),
        )
        for pair, answers in zip(pairs, predicted, strict=True)
        for place, target in enumerate(("power_mw", "energy_nj"))
    ]


def fit_power(
    pairs: Sequence[Pair],
    options: FitOptions,
    *,
    seed: int,
    loggers: Loggers | None = None,
    encoders: tuple[SoftwareEncoder, HardwareEncoder] | None = None,
) -> tuple[CompilePower, dict[str, list[float]]]:
    """Pre-train the encoders on all pairs but tested ones, freeze them, and train the heads.

    Args:   encoders: of the same sizes, pre-trained before; none are trained then.
    Raises: PredictorError: fewer than 8 labels in the training part.
    """
    seen = [pair for pair in pairs if pair.power_mw is None or pair.parts[options.split] == "train"]
    labelled = [pair for pair in seen if pair.power_mw is not None]
    if len(labelled) < 8:
        raise PredictorError(
            f"{len(labelled)} labels in the training part of split {options.split}; needed: 8"
        )
    curves: dict[str, list[float]] = {}
    if encoders is None:
        trainer, curves["software_loss"] = pretrain_software(seen, options, seed, loggers)
        configurations = [pair.hardware for pair in seen if pair.hardware is not None]
        hardware, curves["hardware_loss"] = pretrain_hardware(configurations, options, seed, loggers)
        encoders = trainer.encoder, hardware
    software, hardware = encoders
    settings: dict[str, Any] = {
        name: getattr(options, name) for name in ("width", "layers", "has_hardware", "wl_rounds", "members")
    }
    features = embed(software, hardware, labelled, settings)
    heads = _fit_heads(features, labelled, options, seed, loggers)
    curves["train_loss"] = heads.curve
    if labelled[0].hardware is None:
        settings["loads"] = heads.loads
    model = CompilePower(
        software=software,
        hardware=hardware,
        members=heads.members,
        normalisation=heads.normalisation,
        labelled=Labelled.of(labelled),
        weights=calibrated(features, labelled, options, seed),
        settings=settings,
        about=f"{len(labelled)} labels and {len(seen)} compiled pairs, split {options.split}, seed {seed}",
    )
    return model, curves


# ---- stage 1 ---------------------------------------------------------------------------------------


class _SoftwareBatch(NamedTuple):
    graphs: Graphs
    layers: Tensor
    parameters: Tensor | None


class _SoftwareFit(Training[SoftwareTrainer]):
    def loss(self, batch: _SoftwareBatch) -> Tensor:
        return self.network(batch.graphs, batch.layers, batch.parameters)


def pretrain_software(
    pairs: Sequence[Pair], options: FitOptions, seed: int, loggers: Loggers | None = None
) -> tuple[SoftwareTrainer, list[float]]:
    """Return the encoder and decoders by reconstruction; drawn weights when there are no epochs."""
    categories, is_fixed = pairs[0].counts.shape[1], pairs[0].hardware is None
    sizes = {"width": options.width, "layers": options.layers, "heads": options.heads}
    sizes["categories"] = categories
    if options.software_epochs == 0:
        torch.manual_seed(seed)
        return SoftwareTrainer(**sizes).eval(), []
    generator = torch.Generator().manual_seed(seed)

    def batches(epoch: int) -> Iterator[_SoftwareBatch]:
        del epoch
        order = torch.randperm(len(pairs), generator=generator).tolist()
        for start in range(0, len(order), _PRETRAIN_BATCH):
            chosen = [pairs[i] for i in order[start : start + _PRETRAIN_BATCH]]
            yield _SoftwareBatch(
                software_graphs(chosen),
                _padded([network_tokens(pair) for pair in chosen]),
                None if is_fixed else _padded([hardware_tokens(pair) for pair in chosen]),
            )

    steps = -(-len(pairs) // _PRETRAIN_BATCH) * options.software_epochs
    fitted = fit(
        lambda: _SoftwareFit(
            SoftwareTrainer(**sizes), learning_rate=2e-3, weight_decay=1e-4, cycle_steps=steps
        ),
        batches,
        epochs=options.software_epochs,
        seed=seed,
        gradient_limit=1.0,
        generator=generator,
        loggers=loggers,
        part="software",
    )
    return fitted.network, fitted.curves["train_loss"]


def _padded(sequences: Sequence[list[int]]) -> Tensor:
    longest = max(map(len, sequences))
    return torch.tensor([[*sequence, *[-1] * (longest - len(sequence))] for sequence in sequences])


class _HardwareBatch(NamedTuple):
    graphs: Graphs
    similarity: Tensor


class _HardwareFit(Training[HardwareEncoder]):
    def __init__(self, network: HardwareEncoder, options: FitOptions, steps: int) -> None:
        super().__init__(network, learning_rate=1e-3, weight_decay=1e-4, cycle_steps=steps)
        self._options = options

    def loss(self, batch: _HardwareBatch) -> Tensor:
        options = self._options
        return contrastive_loss(
            self.network(batch.graphs),
            batch.similarity,
            temperature=options.temperature,
            similar=options.similar,
        )


def pretrain_hardware(
    configurations: Sequence[Hardware], options: FitOptions, seed: int, loggers: Loggers | None = None
) -> tuple[HardwareEncoder, list[float]]:
    """Return encoder of module trees by the contrastive loss; drawn weights without anything to contrast."""
    distinct = list(dict.fromkeys(configurations))
    sizes = {"width": options.width, "layers": options.layers}
    if options.hardware_epochs == 0 or len(distinct) < 3:
        torch.manual_seed(seed)
        return HardwareEncoder(**sizes).eval(), []
    trees = [tree_of(configuration, options.wl_rounds) for configuration in distinct]
    similarity = similarities(trees)
    generator = torch.Generator().manual_seed(seed)

    def batches(epoch: int) -> Iterator[_HardwareBatch]:
        del epoch
        order = torch.randperm(len(trees), generator=generator).tolist()
        for start in range(0, len(order), _TREE_BATCH):
            chosen = order[start : start + _TREE_BATCH]
            if len(chosen) > 1:
                own = similarity[chosen][:, chosen]
                yield _HardwareBatch(hardware_graphs([trees[i] for i in chosen]), own)

    steps = -(-len(trees) // _TREE_BATCH) * options.hardware_epochs
    fitted = fit(
        lambda: _HardwareFit(HardwareEncoder(**sizes), options, steps),
        batches,
        epochs=options.hardware_epochs,
        seed=seed,
        gradient_limit=1.0,
        generator=generator,
        loggers=loggers,
        part="hardware",
    )
    return fitted.network, fitted.curves["train_loss"]


def similarities(trees: Sequence[Tree]) -> Tensor:
    """Return (trees, trees) WL similarity."""
    result = torch.eye(len(trees))
    for i, one in enumerate(trees):
        for j in range(i):
            result[i, j] = result[j, i] = wl_similarity(one.words, trees[j].words)
    return result


# ---- stage 2 ---------------------------------------------------------------------------------------


class _Batch(NamedTuple):
    features: Tensor
    targets: Tensor


class _Heads(NamedTuple):
    members: tuple[PowerHeads, ...]
    normalisation: Normalisation
    loads: tuple[float, ...]
    curve: list[float]

    def logarithms(self, features: Tensor, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Return (pairs, 2) logarithms of power and energy."""
        return heads_logarithms(self.members, self.normalisation, features) + start_logarithms(
            pairs, self.loads
        )


class _HeadsFit(Training[PowerHeads]):
    """MSE of power plus lambda times MSE of energy: equation 7, of normalised logarithms."""

    def __init__(self, network: PowerHeads, options: FitOptions, steps: int) -> None:
        super().__init__(
            network,
            learning_rate=options.learning_rate,
            weight_decay=options.weight_decay,
            cycle_steps=steps,
        )
        self._weight = options.energy_weight

    def loss(self, batch: _Batch) -> Tensor:
        power, energy = ((self.network(batch.features) - batch.targets) ** 2).mean(dim=0)
        return power + self._weight * energy


def _fit_heads(
    features: Tensor, pairs: Sequence[Pair], options: FitOptions, seed: int, loggers: Loggers | None = None
) -> _Heads:
    """Return members, each on another part of the labels."""
    loads = fit_loads(pairs) if pairs[0].hardware is None else ()
    targets = torch.from_numpy((_labels(pairs) - start_logarithms(pairs, loads)).astype(np.float32))
    known = Normalisation(features.mean(0), features.std(0) + 1e-3, targets.mean(0), targets.std(0) + 1e-6)
    inputs = (features - known.feature_mean) / known.feature_deviation
    outputs = (targets - known.target_mean) / known.target_deviation
    members: list[PowerHeads] = []
    curve: list[float] = []
    for member in range(options.members):
        generator = torch.Generator().manual_seed(seed * 1000 + member)
        order = torch.randperm(len(pairs), generator=generator)
        kept = order[max(1, round(options.validation_share * len(pairs))) :]
        network, curve = _fit_member(inputs[kept], outputs[kept], options, seed * 1000, member, loggers)
        members.append(network)
    return _Heads(tuple(members), known, loads, curve)


def _labels(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    return np.log([[float(pair.power_mw or 1), float(pair.energy_nj or 1)] for pair in pairs])


def calibrated(
    features: Tensor, pairs: Sequence[Pair], options: FitOptions, seed: int
) -> NDArray[np.float64]:
    """Return weights of intervals: heads of one trunk, trained without each of `held_out_parts`."""
    distances: list[NDArray[np.float64]] = []
    errors: list[NDArray[np.float64]] = []
    kinds: list[str] = []
    groups: list[str] = []
    for kind, places in held_out_parts(pairs, options.folds):
        kept = np.setdiff1d(np.arange(len(pairs)), places)
        known, asked = [pairs[i] for i in kept], [pairs[i] for i in places]
        heads = _fit_heads(features[kept], known, replace(options, members=1), seed)
        labelled = Labelled.of(known)
        distances += [labelled.distances(pair) for pair in asked]
        errors += [*np.abs(heads.logarithms(features[places], asked) - _labels(asked))]
        kinds += [kind] * len(asked)
        groups += [pair.accelerator_id or pair.compiled_id for pair in asked]
    return fit_weights(np.array(distances), np.array(errors), kinds, groups)


def held_out_parts(pairs: Sequence[Pair], folds: int) -> list[tuple[str, NDArray[np.int64]]]:
    """Return the parts of labelled pairs that are left out in turn, with their kind.

    configuration: a share of the configurations, or of pipelines. family: a family of networks. size: the
    larger half and the largest quarter of the networks. range: what is above, or below, the median of a
    column of hardware. A part of more than half of the pairs, or of none, is not left out.
    """
    shares = np.array([int(content_hash(pair.accelerator_id or pair.compiled_id)[:8], 16) for pair in pairs])
    sizes = np.array([sum(pair.parameters) for pair in pairs])
    families = np.array([pair.family for pair in pairs])
    masks = [("configuration", shares % folds == fold) for fold in range(folds)]
    masks += [("family", families == family) for family in sorted(set(families.tolist()))]
    masks += [("size", sizes > np.quantile(sizes, share)) for share in (0.5, 0.75)]
    columns = [hardware_columns(pair) for pair in pairs]
    for name, first in columns[0].items():
        values = np.array([column[name] for column in columns])
        if not isinstance(first, str) and len(set(values.tolist())) > 2:
            middle = np.median(values)
            masks += [("range", values > middle), ("range", values < middle)]
    return [(kind, np.flatnonzero(mask)) for kind, mask in masks if 0 < mask.mean() <= 0.5]


def _fit_member(
    inputs: Tensor, outputs: Tensor, options: FitOptions, seed: int, member: int, loggers: Loggers | None
) -> tuple[PowerHeads, list[float]]:
    seed += member
    generator = torch.Generator().manual_seed(seed)
    steps = -(-len(inputs) // options.batch)

    def batches(epoch: int) -> Iterator[_Batch]:
        del epoch
        order = torch.randperm(len(inputs), generator=generator)
        for chosen in order.split(options.batch):
            yield _Batch(inputs[chosen], outputs[chosen])

    def build() -> _HeadsFit:
        heads = PowerHeads(size=inputs.shape[1], width=options.width, dropout=options.dropout)
        return _HeadsFit(heads, options, steps * options.epochs)

    fitted = fit(
        build,
        batches,
        epochs=options.epochs,
        seed=seed,
        gradient_limit=1.0,
        generator=generator,
        loggers=loggers,
        part=f"member {member}",
    )
    return fitted.network, fitted.curves["train_loss"]
