"""Training with Lightning: sequences of labelled designs in, a predictor out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.labelled import LabelledDesign, training_designs
from models.leaderboard import predictions_of
from models.regression import TargetScale, Typicality
from models.tasks import DatasetError
from models.tlp import TrainOptions
from models.tlp.network import PrimitiveTransformer, SequenceTensors, padded
from models.tlp.predictor import PrimitivePredictor, batches_by_length
from models.tlp.primitives import SUMMARY, ProgramSequence, sequence_of
from models.training import Fit, LabelRegression, fit, regression_outcome

Example = tuple[SequenceTensors, Tensor]


def train(data: TrainingInput) -> Trained:
    """Train on the frozen split.

    Raises: DatasetError: the tables cannot be trained on. SchemaError: a table file is damaged.
    """
    options: TrainOptions = data.options
    designs = training_designs(data.data_dirs, options)
    sequences = _sequences(designs, options.most_primitives)
    learned = [n for n, design in enumerate(designs) if design.part == "train"]
    scale = TargetScale.measure([designs[n] for n in learned])
    typicality = Typicality.measure(
        SUMMARY,
        np.stack([sequences[n].summary for n in learned]),
        data.seed,
    )
    sizes: dict[str, Any] = {
        "most": options.most_primitives,
        "width": options.width,
        "layers": options.layers,
        "heads": options.heads,
        "dropout": options.dropout,
        "targets": len(scale.names),
    }
    fitted = fit_network(designs, sequences, scale, sizes, data)
    predictor = PrimitivePredictor(network=fitted.network, sizes=sizes, scale=scale, typicality=typicality)
    predictions = predictions_of(designs, predictor.predict_examples(sequences), predictor.targets)
    return regression_outcome(designs, fitted, predictor.files, predictions, options)


def _sequences(designs: Sequence[LabelledDesign], most: int) -> list[ProgramSequence]:
    sequences: list[ProgramSequence] = []
    for design in designs:
        try:
            sequences.append(sequence_of(design.query, most))
        except PredictorError as error:
            raise DatasetError(f"no primitives of design {design.design_id}: {error}") from error
    return sequences


def fit_network(
    designs: Sequence[LabelledDesign],
    sequences: Sequence[ProgramSequence],
    scale: TargetScale,
    sizes: dict[str, Any],
    data: TrainingInput,
) -> Fit[PrimitiveTransformer]:
    """Fit a network to the training part; the test part is never handed to the trainer."""
    options: TrainOptions = data.options
    targets = torch.from_numpy(scale.normalise(designs))
    rows = {part: [n for n, d in enumerate(designs) if d.part == part] for part in ("train", "validation")}
    generator = torch.Generator().manual_seed(data.seed)

    def example(batch: Sequence[int]) -> Example:
        return padded([sequences[row] for row in batch]), targets[list(batch)]

    def batches(epoch: int) -> Iterator[Example]:
        """Yield the batches of similar length, in a drawn order."""
        del epoch
        drawn = torch.randperm(len(rows["train"]), generator=generator).tolist()
        groups = list(batches_by_length(sequences, [rows["train"][n] for n in drawn], options.batch_size))
        for place in torch.randperm(len(groups), generator=generator).tolist():
            yield example(groups[place])

    def build() -> LabelRegression[PrimitiveTransformer]:
        network = PrimitiveTransformer(**sizes)
        return LabelRegression(
            network, learning_rate=options.learning_rate, weight_decay=options.weight_decay
        )

    checked = batches_by_length(sequences, rows["validation"], options.batch_size)
    return fit(
        build,
        batches,
        epochs=options.max_epochs,
        seed=data.seed,
        validation=[example(batch) for batch in checked],
        patience=options.patience if rows["validation"] else None,
        gradient_limit=1.0,
        threads=options.threads,
        generator=generator,
        loggers=data.loggers,
        checkpoints=data.checkpoints,
    )
