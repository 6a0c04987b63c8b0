"""Training with Lightning: graphs of labelled designs in, a predictor out, the same bits on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.catalogue import Trained, TrainingInput
from models.gnnhls import TrainOptions
from models.gnnhls.graphs import SUMMARY, DesignGraph, rows_of_graphs, table_graphs, vocabulary_of
from models.gnnhls.network import GraphNetwork, GraphTensors, joined
from models.gnnhls.predictor import GraphPredictor, batches_of
from models.labelled import LabelledDesign, training_designs
from models.leaderboard import predictions_of
from models.regression import TargetScale, Typicality
from models.scheduled import engine_options
from models.training import Fit, LabelRegression, fit, regression_outcome

Example = tuple[GraphTensors, Tensor]


def train(data: TrainingInput) -> Trained:
    """Train on the frozen split.

    Raises: DatasetError: the tables cannot be trained on. SchemaError: a table file is damaged.
    """
    options: TrainOptions = data.options
    folder = data.data_dirs[0]
    designs = training_designs(data.data_dirs, options)
    learned = [design for design in designs if design.part == "train"]
    rows_of_all = rows_of_graphs(folder, [design.design_id for design in designs])
    vocabulary = vocabulary_of(rows_of_all, learned)
    graphs = table_graphs(rows_of_all, designs, vocabulary, loop_bounds=options.loop_bounds)
    scale = TargetScale.measure(learned)
    rows = [n for n, design in enumerate(designs) if design.part == "train"]
    typicality = Typicality.measure(
        SUMMARY,
        np.stack([graphs[n].summary for n in rows]),
        data.seed,
    )
    sizes: dict[str, Any] = {
        "opcodes": len(vocabulary),
        "layer": options.layer,
        "width": options.width,
        "layers": options.layers,
        "dropout": options.dropout,
        "targets": len(scale.names),
    }
    fitted = fit_network(designs, graphs, scale, sizes, data)
    predictor = GraphPredictor(
        network=fitted.network,
        sizes=sizes,
        vocabulary=vocabulary,
        scale=scale,
        typicality=typicality,
        engine=engine_options(folder, designs),
        loop_bounds=options.loop_bounds,
    )
    predictions = predictions_of(designs, predictor.predict_examples(graphs), predictor.targets)
    return regression_outcome(designs, fitted, predictor.files, predictions, options)


def fit_network(
    designs: Sequence[LabelledDesign],
    graphs: Sequence[DesignGraph],
    scale: TargetScale,
    sizes: dict[str, Any],
    data: TrainingInput,
) -> Fit[GraphNetwork]:
    """Fit a network to the training part; the test part is never handed to the trainer."""
    options: TrainOptions = data.options
    targets = torch.from_numpy(scale.normalise(designs))
    rows = {part: [n for n, d in enumerate(designs) if d.part == part] for part in ("train", "validation")}
    generator = torch.Generator().manual_seed(data.seed)

    def examples(order: Sequence[int]) -> Iterator[Example]:
        for batch in batches_of(graphs, order, options.batch_nodes):
            yield joined([graphs[row] for row in batch]), targets[batch]

    def batches(epoch: int) -> Iterator[Example]:
        del epoch
        places = torch.randperm(len(rows["train"]), generator=generator).tolist()
        return examples([rows["train"][place] for place in places])

    def build() -> LabelRegression[GraphNetwork]:
        network = GraphNetwork(**sizes)
        network.measure([graphs[row] for row in rows["train"]])
        return LabelRegression(
            network, learning_rate=options.learning_rate, weight_decay=options.weight_decay
        )

    return fit(
        build,
        batches,
        epochs=options.max_epochs,
        seed=data.seed,
        validation=list(examples(rows["validation"])),
        patience=options.patience if rows["validation"] else None,
        gradient_limit=1.0,
        threads=options.threads,
        generator=generator,
        loggers=data.loggers,
        checkpoints=data.checkpoints,
    )
