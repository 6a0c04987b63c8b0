"""Designs with their targets as a data set of torch; see `simfoundry.loaders.torch_dataset`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.utils.data import Dataset

from models.labelled import LabelledDesign
from models.query import Query


class DesignDataset(Dataset[tuple[Query, torch.Tensor]]):
    """Questions with targets. (targets,)

    Attributes:
        left_out: number of designs of the part that lack a target.
    """

    def __init__(self, chosen: Sequence[LabelledDesign], targets: Sequence[str], *, left_out: int) -> None:
        """Take designs that have all targets."""
        self.left_out = left_out
        self._queries = [design.query for design in chosen]
        rows = [[design.labels[target] for target in targets] for design in chosen]
        self._values = torch.tensor(rows, dtype=torch.float32)

    def __len__(self) -> int:
        return len(self._queries)

    def __getitem__(self, index: int) -> tuple[Query, torch.Tensor]:
        return self._queries[index], self._values[index]
