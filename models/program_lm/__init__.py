"""The embedded language model of programs: a small decoder-only transformer sampled under a grammar.

Belongs here: reading programs as tokens, the grammar, the network, its training, variants, the provider and a
server for it. Does not: what becomes of variants. Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.tasks import EXAMPLE_SOURCE, Column, Reference, ReferenceSet, Task
from pipelines.base.summation import ordered_sum

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.program_lm.generator import VariantGenerator

NAME = "program-lm"
VERSION = "460650beeb7811a431afe44e547a1aca"
"""Raised by hand when the same options would train another network; see `pipelines.hls._VERSION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How the embedded model is trained.

    Attributes:
        programs: of the corpus, half of them of the AST stage, half of the dataflow stage.
        examples: of a program at most.
        width, layers, heads: of the network.
        steps: of `batch_size` examples each; examples repeat when there are fewer.
        learning_rate: after the warm-up; it falls to a tenth along a cosine. weight_decay: of AdamW.

    Raises: ValueError: an option that is not above 0.
    """

    programs: int = 2000
    examples: int = 12
    width: int = 144
    layers: int = 4
    heads: int = 4
    steps: int = 1200
    batch_size: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.05

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value > 0:
                raise ValueError(f"{name} must be above 0, got {value}")
        if self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads {self.heads}, got {self.width}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOptions:
    """How variants are drawn.

    Attributes:
        edits: least and most sites that are replaced.
        temperature: of sampling; 1 is the model's own distribution.
        kind_weights: of expression, condition, statement and loop.
        insert_probability: that a statement is put between others instead of replacing one.
    """

    edits: tuple[int, int] = (2, 5)
    temperature: float = 0.9
    kind_weights: tuple[float, float, float, float] = (4, 1, 2, 3)
    insert_probability: float = 0.3

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        if not 1 <= self.edits[0] <= self.edits[1] <= 20:
            raise ValueError(f"edits must be 1 <= least <= most <= 20, got {self.edits}")
        if not 0.05 <= self.temperature <= 5:
            raise ValueError(f"temperature must be 0.05 .. 5, got {self.temperature}")
        if (
            len(self.kind_weights) != 4
            or min(self.kind_weights) < 0
            or not ordered_sum(self.kind_weights) > 0
        ):
            raise ValueError(f"kind_weights must be four weights >= 0, one above 0, got {self.kind_weights}")
        if not 0 <= self.insert_probability <= 1:
            raise ValueError(f"insert_probability must be 0 .. 1, got {self.insert_probability}")


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.program_lm.reference import program_reference  # lazy import: reads tables

    return program_reference(reference)


PROGRAM_VARIANTS = Task(
    name="program-variants",
    tables=("programs", "splits"),
    targets={},
    level="programs",
    metric="share of programs of which no accepted variant is generated",
    baseline="a network with random weights under the same grammar",
    question=(
        Column(name="source", kind="string", example=EXAMPLE_SOURCE),
        Column(name="seed", kind="long", example=0),
    ),
    reference=Reference(release="releases/v1", split="by_kernel_v1", parts=("test",), minimum_programs=50),
    reference_set=_reference_set,
)


def _train(data: TrainingInput) -> Trained:
    from models.program_lm.training import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> VariantGenerator:
    from models.program_lm.generator import load

    return load(files)


PREDICTOR = PredictorSpec(
    name=NAME,
    version=VERSION,
    description="A small transformer that generates variants of C programs under a grammar.",
    task=PROGRAM_VARIANTS,
    options=TrainingOptions,
    train_with=_train,
    load_with=_load,
    answers=(Column(name="variant", kind="string"),),
    libraries=("torch", "lightning"),
    requirements=("pycparser", "scipy"),
)
