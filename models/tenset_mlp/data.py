"""Training data as tensors: labelled designs to normalised features and log targets, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from lightning.pytorch import LightningDataModule
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

from models.labelled import TARGETS, DatasetError, LabelledDesign
from models.tenset_mlp.facts import ProgramFacts, facts_of
from models.tenset_mlp.features import COMPACT, features_of
from models.tenset_mlp.scaling import Matrix, ModelCard


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignMatrices:
    """Features and labels of designs.

    Attributes:
        names: feature names, in column order.
        features: (designs, features).
        targets: (designs, targets), in the order of TARGETS and their units.
        parts: side of the split of every design.
    """

    names: tuple[str, ...]
    features: Matrix
    targets: Matrix
    parts: tuple[str, ...]

    def rows_of(self, part: str) -> np.ndarray:
        """Indices of the designs of one part."""
        return np.flatnonzero(np.asarray(self.parts) == part)


def matrices_of(designs: Sequence[LabelledDesign], choice: str) -> DesignMatrices:
    """Features of every design, each program's source read once.

    Args:   choice: of FEATURE_CHOICES.
    Raises: DatasetError: a labelled design's source or directives cannot be read.
    """
    facts: dict[str, ProgramFacts] = {}
    rows: list[dict[str, float]] = []
    for design in designs:
        query = design.query
        try:
            if design.program_id not in facts:
                facts[design.program_id] = facts_of(query.source, query.top, design.loops)
            rows.append(features_of(facts[design.program_id], query))
        except ValueError as error:
            raise DatasetError(f"design {design.design_id} must have features: {error}") from error
    names = COMPACT if choice == "compact" else tuple(rows[0])
    return DesignMatrices(
        names=names,
        features=np.array([[row[n] for n in names] for row in rows], dtype=np.float64),
        targets=np.array([[d.labels[t] for t in TARGETS] for d in designs], dtype=np.float64),
        parts=tuple(d.part for d in designs),
    )


class DesignData(LightningDataModule):
    """Train and validation batches. The test part is never handed to the trainer."""

    def __init__(self, matrices: DesignMatrices, card: ModelCard, *, batch_size: int, seed: int) -> None:
        super().__init__()
        self._batch_size = batch_size
        self._generator = torch.Generator().manual_seed(seed)
        features = torch.from_numpy(card.normalise(matrices.features))
        targets = torch.from_numpy(card.normalise_targets(matrices.targets))
        self._parts = {
            part: TensorDataset(features[rows], targets[rows])  # (rows, features), (rows, targets)
            for part in ("train", "validation")
            for rows in [torch.from_numpy(matrices.rows_of(part))]
        }

    def train_dataloader(self) -> DataLoader:
        """Shuffled batches; rows are taken a batch at a time, not one by one."""
        data = self._parts["train"]
        order = RandomSampler(data, generator=self._generator)
        batches = BatchSampler(order, self._batch_size, drop_last=False)
        return DataLoader(data, sampler=batches, batch_size=None)

    def val_dataloader(self) -> DataLoader:
        """The whole validation part as one batch; it may be empty."""
        data = self._parts["validation"]
        return DataLoader(data, batch_size=max(1, len(data)))
