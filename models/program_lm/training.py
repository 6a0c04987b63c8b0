"""The trained model: options, the corpus, the key of a training, and its place in the content cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from models.program_lm.examples import BLOCK_TOKENS, Example, examples_of
from models.program_lm.reading import read_program
from models.program_lm.vocabulary import TOKENS
from pipelines.cache import ContentCache
from pipelines.identity import content_hash, text_sha256
from pipelines.programs.ast import AstOptions, generate_program
from pipelines.programs.dataflow import DataflowOptions
from pipelines.programs.dataflow.emission import Emission
from pipelines.programs.dataflow.program import draw_graph
from pipelines.schemas import write_bytes_atomically

if TYPE_CHECKING:
    from models.program_lm.fit import OnStep
    from models.program_lm.network import ProgramLm

NAME = "program-lm"
HELD_OUT = 20
"""One program in so many is not trained on."""
_VERSION = "460650beeb7811a431afe44e547a1aca"
"""Raised by hand when the same options would train another network; see `pipelines.hls._VERSION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How the embedded model is trained.

    Attributes:
        programs: of the corpus, half of them of the AST stage, half of the dataflow stage.
        examples: of a program at most.
        width, layers, heads: of the network.
        steps, batch_size, learning_rate, weight_decay: see fit.Schedule.

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
class TrainedModel:
    """A network in prediction mode and the record of its training.

    Attributes:
        key: hash of all that it depends on.
        record: losses, held-out loss and accuracy, parameters, examples.
    """

    network: ProgramLm
    key: str
    record: dict[str, Any]


def corpus(options: TrainingOptions, seed: int) -> Iterator[str]:
    """Sources of the first two stages in turns, at their default options and seeds of their own."""
    for number in range((options.programs + 1) // 2):
        yield generate_program(seed=_corpus_seed(seed), number=number, options=AstOptions()).source
        yield Emission(draw_graph(number, seed=_corpus_seed(seed), options=DataflowOptions())).source()


def _corpus_seed(seed: int) -> int:
    """A seed that nobody gives a stage, so that the model is not asked about what it was trained on."""
    return int(content_hash(NAME, seed)[:12], 16)


def corpus_examples(options: TrainingOptions, seed: int) -> tuple[list[Example], list[Example]]:
    """Examples to train on, and examples of programs held out."""
    parts: tuple[list[Example], list[Example]] = [], []
    for number, source in enumerate(corpus(options, seed)):
        generator = Random(int(content_hash(NAME, seed, number), 16))  # noqa: S311
        found = examples_of(read_program(source), most=options.examples, generator=generator)
        parts[number % HELD_OUT == HELD_OUT - 1].extend(found)
    return parts


@lru_cache(maxsize=8)
def training_key(options: TrainingOptions, seed: int) -> str:
    """Hash of all that a training depends on: options, seed, the corpus, this code and its libraries."""
    tools = {name: version(name) for name in ("torch", "lightning")}
    sources = text_sha256("\0".join(corpus(options, seed)))
    return content_hash(NAME, asdict(options), seed, _VERSION, tools, sources)


def trained_model(
    options: TrainingOptions, *, seed: int, cache: ContentCache, on_step: OnStep | None = None
) -> TrainedModel:
    """The model, from the cache or trained now.

    Args:    on_step: is told (step, steps, loss) while it trains.
    Raises:  OSError: the cache is not writable.
    """
    from models.program_lm.network import Size, load_weights, untrained

    key = training_key(options, seed)
    size = Size(
        width=options.width,
        layers=options.layers,
        heads=options.heads,
        tokens=len(TOKENS),
        block=BLOCK_TOKENS,
    )
    record = cache.get(NAME, key)
    weights = cache.folder / NAME / key[:2] / f"{key}.safetensors"
    if (
        record is None
        or not weights.is_file()
        or text_sha256(weights.read_bytes().hex()) != record["weights"]
    ):
        record = _train(options, size, seed, key, cache, weights, on_step or _ignore)
    network = untrained(size, seed)
    load_weights(network, weights.read_bytes())
    return TrainedModel(network=network, key=key, record=record)


def _ignore(step: int, steps: int, loss: float) -> None:
    del step, steps, loss


def _train(
    options: TrainingOptions,
    size: Any,
    seed: int,
    key: str,
    cache: ContentCache,
    weights: Path,
    on_step: OnStep,
) -> dict[str, Any]:
    from models.program_lm.fit import Schedule, fit_network
    from models.program_lm.network import weights_bytes

    examples, held_out = corpus_examples(options, seed)
    schedule = Schedule(
        steps=options.steps,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        weight_decay=options.weight_decay,
    )
    fit = fit_network(examples, held_out or examples, size, schedule, seed=seed, on_step=on_step)
    content = weights_bytes(fit.network)
    record: dict[str, Any] = {
        "examples": len(examples),
        "held_out_examples": len(held_out),
        "parameters": sum(p.numel() for p in fit.network.parameters()),
        "losses": list(fit.losses),
        "held_out_loss": fit.held_out_loss,
        "held_out_accuracy": fit.held_out_accuracy,
        "weights": text_sha256(content.hex()),
    }
    write_bytes_atomically(weights, content)
    cache.put(NAME, key, json.loads(json.dumps(record)))
    return record
