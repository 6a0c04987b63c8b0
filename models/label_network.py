"""Predictors of labels by a network over what is read of a query: reading, answering, files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import nn

from models.base import Estimate, LabelPredictor, PredictorError, read_rows
from models.labelled import Query
from models.model_files import ModelFiles
from models.regression import Matrix, TargetScale, Typicality
from models.training import network_arrays


class Summarised(Protocol):
    """What a network reads of a program."""

    @property
    def summary(self) -> Matrix:
        """Features by which programs are compared with training. (features,)"""
        ...


Example = TypeVar("Example", bound=Summarised)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkPredictor(LabelPredictor, Generic[Example]):
    """Answers queries with a trained network.

    Attributes:
        network_class: makes an untrained network from its sizes.
        features: what this version reads, by kind; "summary" names the features of a summary.
        what: those features in words, for messages.
        sizes: arguments of the network.
    """

    network_class: ClassVar[type[nn.Module]]
    features: ClassVar[Mapping[str, Sequence[str]]]
    what: ClassVar[str]
    network: nn.Module
    sizes: Mapping[str, Any]
    scale: TargetScale
    typicality: Typicality

    @abstractmethod
    def read(self, query: Query) -> Example:
        """Read a query. Raises: ValueError: it cannot be read."""

    @abstractmethod
    def batches(self, examples: Sequence[Example]) -> Iterable[list[int]]:
        """Return the places of examples in batches."""

    @abstractmethod
    def join(self, examples: Sequence[Example]) -> Any:
        """Return the input of the network for a batch."""

    @property
    def further_card(self) -> dict[str, Any]:
        """Arguments of the class beside the network's, as JSON."""
        return {}

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return self.scale.names

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """Return one estimate per query, in order. Raises: PredictorError: a query cannot be read."""
        if not queries:
            return []
        examples = read_rows(self.read, queries)
        summaries = np.stack([example.summary for example in examples])
        return self.typicality.estimates(summaries, self.targets, self.predict_examples(examples))

    def predict_examples(self, examples: Sequence[Example]) -> Matrix:
        """Return targets of examples: (examples, targets)."""
        outputs = np.empty((len(examples), len(self.targets)), np.float64)
        with torch.inference_mode():
            for rows in self.batches(examples):
                outputs[rows] = self.network(self.join([examples[row] for row in rows])).numpy()
        return self.scale.restore(outputs)

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        card = {"features": self._read_features(), "sizes": dict(self.sizes), "scale": self.scale.card()}
        weights = {name: values.numpy() for name, values in self.network.state_dict().items()}
        return ModelFiles(card={**card, **self.further_card}, arrays={**weights, **self.typicality.arrays()})

    @classmethod
    def of_files(cls, files: ModelFiles) -> Self:
        """Return the predictor of its files.

        Raises: PredictorError: it reads other features than this version. RuntimeError: other shapes.
        """
        card = dict(files.card)
        if card.pop("features", None) != cls._read_features():
            raise PredictorError(f"{cls.what} are not those of this version; train again")
        network = cls.network_class(**card["sizes"])
        scale = TargetScale.of_card(card.pop("scale"))
        network.load_state_dict(network_arrays(files.arrays))
        return cls(
            **card,
            scale=scale,
            network=network.eval(),
            typicality=Typicality.of_arrays(cls.features["summary"], files.arrays),
        )

    @classmethod
    def _read_features(cls) -> dict[str, list[str]]:
        return {name: list(values) for name, values in cls.features.items()}
