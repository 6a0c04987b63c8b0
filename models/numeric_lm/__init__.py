"""Numeric language model: a program, its parameters and data as text in, digits of five labels out.

Belongs here: tokens, prompts, the network, digits and their search, training (LLMulator sections 4 and 5.2).
Does not: metrics, the registry, calibration. Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from models.catalogue import ENGINE_REQUIREMENTS, PredictorSpec, Trained, TrainingInput
from models.label_tasks import Level, labels_and_power_task
from models.options import (
    Count,
    Decay,
    Dropout,
    LabelOptions,
    Range,
    Rate,
    Weight,
    check_ranges,
    one_of,
    require,
)
from models.tasks import Column

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.numeric_lm.predictor import NumericPredictor

BASES = (2, 10, 16)
ANSWERS = ("digits", "scientific")
_VERSION = "3"
"""Raised by hand when the same tables, options and seed would train another network."""
_STACKED_VERSION = "4"
"""The same at levels text and static."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How to train.

    Attributes:
        share: of the training groups, drawn by the seed; the learning curve.
        base: of the digits. answer: digits in fixed form, or sign, exponent and mantissa.
        ratio: answer with the ratio to the engine's estimate; at levels hls and run only.
        stacked: answer with the ratio to an estimate of boosted trees, which learn from all programs whatever
            the share; at levels text and static only, and where training has two groups.
        isolated: numbers apart from symbols, one token per digit (LLMulator section 4.1).
        magnitudes: add an embedding of the magnitude of each number.
        program: text of the program in the prompt; at level text it is always there.
        features: the level's features in the prompt; without them level hls gives the estimates alone.
        vocabulary: tokens of the byte-level BPE.
        backbone: compact, smollm2 (installed by `make LM=1 setup`), or a folder of a causal language model in
            Hugging Face's layout.
        lora_rank: of the adapters of such a model; 0 leaves it as it is, encodes each block alone and keeps
            its states beside the folder.
        undirected: weight of a second target, the logarithm of the ratio of a label to that of the same run
            without directives; 0 for none.
        width, layers, heads: of the compact encoder. decoder_width, decoder_layers: of the decoder of digits.
        dropout: share of activations silenced in training.
        learning_rate: highest one of the cycle. weight_decay: of AdamW.
        batch_tokens: of a step, padding included. accumulate: steps per update.
        precision: 32-true or bf16-mixed. accelerator: cpu, gpu, or auto for a GPU where there is one.
        runs: of each design in an epoch, drawn anew; an epoch is a pass over designs.
        max_epochs: passes over the training part. patience: epochs without a better validation loss.
        curriculum_epochs: first epochs that visit the stages in the order ast, dataflow, llm (section 6.1);
            later epochs are shuffled.
        data_dropout: share of examples that an epoch shows without data; a question may lack them.
        threads: of training.
        beams: prefixes that the search keeps.
    """

    share: Annotated[float, Range("above 0 to 1", lambda value: 0 < value <= 1)] = 1.0
    base: Annotated[int, one_of(*BASES)] = 10
    answer: Annotated[str, one_of(*ANSWERS)] = "digits"
    ratio: bool = True
    stacked: bool = False
    isolated: bool = True
    magnitudes: bool = True
    program: bool = True
    features: bool = True
    vocabulary: Annotated[int, Range("at least 300", lambda value: value >= 300)] = 1024
    backbone: str = "compact"
    lora_rank: Annotated[int, Range("at least 0", lambda value: value >= 0)] = 8
    undirected: Weight = 0.0
    width: int = 128
    layers: Count = 3
    heads: int = 4
    decoder_width: int = 128
    decoder_layers: Count = 2
    dropout: Dropout = 0.15
    learning_rate: Rate = 1e-3
    weight_decay: Decay = 0.05
    batch_tokens: Count = 16384
    accumulate: Count = 1
    precision: Annotated[str, one_of("32-true", "bf16-mixed")] = "32-true"
    accelerator: Annotated[str, one_of("cpu", "gpu", "auto")] = "cpu"
    runs: Count = 1
    max_epochs: Count = 20
    patience: Count = 6
    curriculum_epochs: int = 1
    data_dropout: Annotated[float, Range("from 0 to 1", lambda value: 0 <= value <= 1)] = 0.1
    threads: Count = 1
    beams: Count = 8

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        check_ranges(self)
        for name in ("width", "decoder_width"):
            size = getattr(self, name)
            require(name, size, size > 0 and size % (2 * self.heads) == 0, f"multiples of {2 * self.heads}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedOptions(TrainOptions):
    """How to train at levels text and static, where no estimate of the engine is known."""

    stacked: bool = True


def _train(data: TrainingInput, *, level: str) -> Trained:
    from models.numeric_lm.train import train  # lazy import: loads what training needs

    return train(data, level)


def _load(files: ModelFiles) -> NumericPredictor:
    from models.numeric_lm.predictor import load

    return load(files)


_CORRECTION = (
    ", as a ratio to the engine's estimate; without program text (`program=false`, as the shipped weights) "
    "it is a correction of that estimate"
)


def _spec(level: Level, features: str) -> PredictorSpec:
    is_stacked = level in ("text", "static")
    task = labels_and_power_task(level)
    task = replace(
        task,
        name=f"labels-power-delay-{level}",
        targets={**task.targets, "delay_ns": "ns"},
    )
    per_target = ("low", "high", "digit_confidence")
    return PredictorSpec(
        name=f"numeric-lm-{level}",
        version=_STACKED_VERSION if is_stacked else _VERSION,
        description=f"A numeric language model of source text, parameters, data{features}, "
        f"which answers digit by digit (LLMulator, section 4){_CORRECTION if level == 'hls' else ''}.",
        task=task,
        options=StackedOptions if is_stacked else TrainOptions,
        train_with=partial(_train, level=level),
        load_with=_load,
        answers=(
            *(Column(name=name, unit=unit) for name, unit in task.targets.items()),
            *(
                Column(name=f"{name}_{figure}", unit="1" if figure.endswith("confidence") else unit)
                for name, unit in task.targets.items()
                for figure in per_target
            ),
            *(Column(name=f"{name}_digits", kind="string") for name in task.targets),
            Column(name="confidence"),
            Column(name="level", kind="string"),
            Column(name="outside_training", kind="string"),
        ),
        libraries=("torch", "lightning", "tokenizers", "numpy", "lightgbm"),
        requirements=ENGINE_REQUIREMENTS,
    )


PREDICTORS = (
    _spec("text", ""),
    _spec("static", " and what the front end reads"),
    _spec("hls", " and what high-level synthesis gives"),
    _spec("run", ", what high-level synthesis gives and a run of the cycle model"),
)
