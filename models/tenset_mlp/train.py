"""Training: labelled designs to normalised features and log targets, and a network fitted to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import BatchSampler, RandomSampler, TensorDataset

from models.catalogue import Trained, TrainingInput
from models.labelled import LabelledDesign, count_parts, training_designs
from models.leaderboard import predictions_of
from models.query import ALL_TARGETS
from models.regression import Typicality
from models.scheduled import engine_options
from models.tasks import DatasetError
from models.tenset_mlp import TrainOptions
from models.tenset_mlp.features import COMPACT, ProgramFacts, facts_of, features_of
from models.tenset_mlp.network import CostMlp, arrays_of, untrained_network
from models.tenset_mlp.predictor import Matrix, ModelCard, TensetMlpPredictor, make_card
from models.tenset_mlp.profile import with_profiles
from models.training import Fit, LabelRegression, fit


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignMatrices:
    """Features and labels of designs.

    Attributes:
        names: feature names, in column order.
        features: (designs, features).
        target_names: those that training designs have.
        targets: (designs, targets), in their order and units; NaN where unknown.
        parts: side of the split of every design.
    """

    names: tuple[str, ...]
    features: Matrix
    target_names: tuple[str, ...]
    targets: Matrix
    parts: tuple[str, ...]

    def rows_of(self, part: str) -> np.ndarray:
        """Return the indices of the designs of one part."""
        return np.flatnonzero(np.asarray(self.parts) == part)


def train(data: TrainingInput, level: str) -> Trained:
    """Train on the frozen split, on what the front end reads and at level run on profiled loop ranges.

    Raises: DatasetError: the tables cannot be trained on. SchemaError: a table file is damaged.
    """
    options: TrainOptions = data.options
    designs: Sequence[LabelledDesign] = training_designs(data.data_dirs, options)
    engine: Mapping[str, str] = {}
    if level == "run":
        engine = engine_options(data.data_dirs[0], designs)
        designs = with_profiles(data.data_dirs[0], designs)
    matrices = matrices_of(designs, options.features)
    rows = matrices.rows_of("train")
    card = make_card(
        matrices.names,
        matrices.features[rows],
        matrices.target_names,
        matrices.targets[rows],
        level=level,
        engine=engine,
        hidden_sizes=options.hidden_sizes,
        dropout=options.dropout,
        split=options.split,
        seen_groups=sorted({d.group for d in designs if d.part in ("train", "validation")}),
        dataset_hash=data.dataset_hash,
    )
    groups = len({d.group for d in designs if d.part == "validation"})
    fitted = fit_network(
        matrices, card, data, patience=options.patience if groups >= options.stopping_groups else None
    )
    typicality = Typicality.measure(card.features, matrices.features[rows], data.seed)
    predictor = TensetMlpPredictor(card, arrays_of(fitted.network), typicality)
    return Trained(
        files=predictor.files,
        seen_groups=card.seen_groups,
        curves=fitted.curves,
        summary={
            "kept_epoch": float(fitted.epoch),
            "parameter_count": float(sum(p.numel() for p in fitted.network.parameters())),
            **count_parts(designs),
        },
        predictions=predictions_of(designs, predictor.predict_matrix(matrices.features), card.targets),
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


def matrices_of(designs: Sequence[LabelledDesign], choice: str) -> DesignMatrices:
    """Return the features of every design, each program's source read once.

    Args:   choice: compact or full.
    Raises: DatasetError: a labelled design's source or directives cannot be read.
    """
    facts: dict[str, ProgramFacts] = {}
    rows: list[dict[str, float]] = []
    for design in designs:
        query = design.query
        try:
            if design.program_id not in facts:
                facts[design.program_id] = facts_of(query.source, query.top, design.loops)
            own = replace(facts[design.program_id], loops=design.loops)
            rows.append(features_of(own, query))
        except ValueError as error:
            raise DatasetError(f"no features of design {design.design_id}: {error}") from error
    names = COMPACT if choice == "compact" else tuple(rows[0])
    known = {t for d in designs if d.part == "train" for t in d.labels}
    targets = tuple(target for target in ALL_TARGETS if target in known)
    return DesignMatrices(
        names=names,
        features=np.array([[row[n] for n in names] for row in rows], dtype=np.float64),
        target_names=targets,
        targets=np.array([[d.labels.get(t, np.nan) for t in targets] for d in designs], dtype=np.float64),
        parts=tuple(d.part for d in designs),
    )


def fit_network(
    matrices: DesignMatrices, card: ModelCard, data: TrainingInput, *, patience: int | None
) -> Fit[CostMlp]:
    """Fit a network to the training part; the test part is never handed to the trainer.

    Args: patience: see `models.training.fit`.
    """
    options: TrainOptions = data.options
    features = torch.from_numpy(card.normalise(matrices.features))
    targets = torch.from_numpy(card.normalise_targets(matrices.targets))
    parts = {
        part: TensorDataset(features[rows], targets[rows])  # (rows, features), (rows, targets)
        for part in ("train", "validation")
        for rows in [torch.from_numpy(matrices.rows_of(part))]
    }
    generator = torch.Generator().manual_seed(data.seed)
    order = BatchSampler(
        RandomSampler(parts["train"], generator=generator), options.batch_size, drop_last=False
    )

    def batches(epoch: int) -> Iterator[tuple[Tensor, ...]]:
        del epoch
        return (parts["train"][rows] for rows in order)

    def build() -> LabelRegression[CostMlp]:
        sizes = (len(card.features), len(card.targets), card.hidden_sizes, card.dropout)
        network = untrained_network(*sizes, data.seed)
        return LabelRegression(
            network, learning_rate=options.learning_rate, weight_decay=options.weight_decay
        )

    return fit(
        build,
        batches,
        epochs=options.max_epochs,
        seed=data.seed,
        validation=[parts["validation"][:]] if len(parts["validation"]) else [],
        patience=patience,
        generator=generator,
        loggers=data.loggers,
        checkpoints=data.checkpoints,
    )
