"""Designs with their features and targets as tensors; see `simfoundry.loaders.torch_dataset`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Dataset

from models.labelled import LabelledDesign


class Item(NamedTuple):
    """A design, or a batch of them with a further first dimension.

    Attributes:
        features: (features,), float32, NaN where the table has no value.
        targets: (targets,), float32, NaN where the design has no label of the target.
        mask: (targets,), true where there is one.
    """

    features: Tensor
    targets: Tensor
    mask: Tensor


class DesignDataset(Dataset[Item]):
    """Items of designs.

    Attributes:
        designs: in the order of the items. feature_names, target_names: columns of the tensors.
        features, targets, mask: of all designs, (designs, ...).
        left_out: number of designs of the part that have none of the targets.
    """

    def __init__(
        self,
        designs: Sequence[LabelledDesign],
        rows: Mapping[str, Sequence[float]],
        *,
        features: Sequence[str],
        targets: Sequence[str],
        left_out: int,
    ) -> None:
        """Take designs, their features by id, and the names of features and targets."""
        self.designs = tuple(designs)
        self.feature_names, self.target_names = tuple(features), tuple(targets)
        self.left_out = left_out
        self.features = torch.tensor([rows[design.design_id] for design in designs], dtype=torch.float32)
        labels = [[design.labels.get(target, torch.nan) for target in targets] for design in designs]
        self.targets = torch.tensor(labels, dtype=torch.float32)
        self.mask = ~torch.isnan(self.targets)

    def __len__(self) -> int:
        return len(self.designs)

    def __getitem__(self, index: int) -> Item:
        return Item(self.features[index], self.targets[index], self.mask[index])
