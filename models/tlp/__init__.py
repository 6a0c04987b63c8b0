"""TLP: a transformer over a sequence of primitives that regresses normalised labels (Zhai et al. 2023).

Our reading of the baseline in LLMulator section 7.1 ("a language model-based method ... a direct regression
model that outputs fixed normalized performance values and does not use a pre-trained model, which is not a
decoder-only structure"): TLP reads a tensor program as the sequence of its schedule primitives, each a type
with numbers and names, and lets self-attention regress the cost. A program here has no schedule but its own
text and its directives, so a primitive is one statement, loop header or brace of the text, or one directive;
parameters are its operators, numbers and names. Belongs here: primitives, the network, its training. Does
not: anything but text is read. Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.label_tasks import all_labels_task, label_answers
from models.options import Count, Decay, Dropout, LabelOptions, Rate, check_ranges, require

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.tlp.predictor import PrimitivePredictor

_VERSION = "2"
"""Raised by hand when the same tables, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How to train.

    Attributes:
        most_primitives: of a sequence; later ones are left out, as TLP crops.
        width, layers, heads: of the encoder.
        dropout: share of activations silenced in training.
        learning_rate, weight_decay: of AdamW.
        batch_size: designs per step.
        max_epochs: passes over the training part. patience: epochs without a better validation loss.
        threads: of training.
    """

    most_primitives: Count = 256
    width: Count = 64
    layers: Count = 2
    heads: Count = 4
    dropout: Dropout = 0.1
    learning_rate: Rate = 1e-3
    weight_decay: Decay = 0.05
    batch_size: Count = 32
    max_epochs: Count = 40
    patience: Count = 10
    threads: Count = 1

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        check_ranges(self)
        require("width", self.width, self.width % self.heads == 0, f"multiples of {self.heads} heads")


def _train(data: TrainingInput) -> Trained:
    from models.tlp.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> PrimitivePredictor:
    from models.tlp.predictor import PrimitivePredictor

    return PrimitivePredictor.of_files(files)


_TASK = all_labels_task("text")
PREDICTOR = PredictorSpec(
    name="tlp",
    version=_VERSION,
    description="A transformer over the primitives of a program's text (TLP, after Zhai et al. 2023).",
    task=_TASK,
    options=TrainOptions,
    train_with=_train,
    load_with=_load,
    answers=label_answers(_TASK),
    libraries=("torch", "lightning", "numpy"),
    requirements=("polars", "pyarrow", "pydantic"),
)
