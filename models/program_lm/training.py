"""The trained model: the corpus, the key of a training, its place in the content cache."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from models.catalogue import Trained, TrainingInput
from models.program_lm import NAME, VERSION, TrainingOptions
from models.program_lm.examples import BLOCK_TOKENS, Example, examples_of
from models.program_lm.reading import read_program
from models.program_lm.symbols import SourceError
from models.program_lm.vocabulary import TOKENS
from models.tasks import TooFewRows, table_files
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash, text_sha256
from pipelines.dataset.splits import places_by_name
from pipelines.programs.ast import AstOptions, generate_program
from pipelines.programs.dataflow import DataflowOptions
from pipelines.programs.dataflow.emission import Emission
from pipelines.programs.dataflow.program import draw_graph
from pipelines.schemas import read_table, table_spec, write_bytes_atomically

if TYPE_CHECKING:
    from models.program_lm.fitting import Fit, OnStep
    from models.program_lm.network import ProgramLm, Size
    from models.training import Loggers

SPLIT = "by_kernel_v1"
"""Split by name that the reference set has."""
HELD_OUT = 20
"""One program in so many is not trained on."""


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
    """Yield the sources of the first two stages in turns, at their default options and seeds of their own."""
    for number in range((options.programs + 1) // 2):
        yield generate_program(seed=_corpus_seed(seed), number=number, options=AstOptions()).source
        yield Emission(draw_graph(number, seed=_corpus_seed(seed), options=DataflowOptions())).source()


def _corpus_seed(seed: int) -> int:
    """Return a seed that no stage has, so that the model is not asked about what it was trained on."""
    return int(content_hash(NAME, seed)[:12], 16)


def corpus_examples(options: TrainingOptions, seed: int) -> tuple[list[Example], list[Example]]:
    """Return the examples to train on, and examples of programs held out."""
    parts: tuple[list[Example], list[Example]] = [], []
    for number, source in enumerate(corpus(options, seed)):
        generator = Random(int(content_hash(NAME, seed, number), 16))  # noqa: S311
        examples = examples_of(read_program(source), most=options.examples, generator=generator)
        parts[number % HELD_OUT == HELD_OUT - 1].extend(examples)
    return parts


@lru_cache(maxsize=8)
def training_key(options: TrainingOptions, seed: int) -> str:
    """Return hash of all that a training depends on: options, seed, corpus, this code and its libraries."""
    tools = {name: version(name) for name in ("torch", "lightning")}
    sources = text_sha256("\0".join(corpus(options, seed)))
    return content_hash(NAME, asdict(options), seed, VERSION, tools, sources)


def trained_model(
    options: TrainingOptions, *, seed: int, cache: ContentCache, on_step: OnStep | None = None
) -> TrainedModel:
    """Return the model, from the cache or trained now.

    Args:    on_step: is told (step, steps, loss) while it trains.
    Raises:  OSError: the cache is not writable.
    """
    from models.program_lm.network import load_weights, untrained

    key = training_key(options, seed)
    record = cache.get(NAME, key)
    weights = cache.folder / NAME / key[:2] / f"{key}.safetensors"
    if (
        record is None
        or not weights.is_file()
        or text_sha256(weights.read_bytes().hex()) != record["weights"]
    ):
        record = _train_into(cache, options, seed, key, weights, on_step or _ignore)
    network = untrained(size_of(options), seed)
    load_weights(network, weights.read_bytes())
    return TrainedModel(network=network, key=key, record=record)


def size_of(options: TrainingOptions) -> Size:
    """Return the size of the network of some options."""
    from models.program_lm.network import Size

    return Size(
        width=options.width,
        layers=options.layers,
        heads=options.heads,
        tokens=len(TOKENS),
        block=BLOCK_TOKENS,
    )


def table_examples(
    data_dirs: Sequence[Path], options: TrainingOptions, seed: int
) -> tuple[list[Example], list[Example], list[str]]:
    """Return the examples of programs in tables: the training part, and the validation part as held out.

    Programs that the model cannot read give none. At most `options.programs` programs of a part are read.

    Returns: examples to train on, examples held out, and the groups of both parts.
    Raises:  DatasetError: a table is missing. TooFewRows: no program of the training part can be read.
    """
    parts: dict[str, list[Example]] = {"train": [], "validation": []}
    groups: set[str] = set()
    for folder in data_dirs:
        table_files(folder, "programs")
        places = [row for row in places_by_name(folder, SPLIT) if row.part in parts]
        sources = {r.program_id: r.source for r in read_table(folder, table_spec("programs"))}
        counts: Counter[str] = Counter()
        for place in sorted(places, key=lambda row: row.program_id):
            counts[place.part] += 1
            if counts[place.part] > options.programs or place.program_id not in sources:
                continue
            groups.add(place.group)
            generator = Random(int(content_hash(NAME, seed, place.program_id), 16))  # noqa: S311
            with suppress(SourceError):
                program = read_program(sources[place.program_id])
                parts[place.part] += examples_of(program, most=options.examples, generator=generator)
    if not parts["train"]:
        raise TooFewRows(f"no program that the model reads in part train of split {SPLIT}")
    return parts["train"], parts["validation"], sorted(groups)


def train(data: TrainingInput) -> Trained:
    """Train on programs of the training part.

    Raises: DatasetError: a table is missing. TooFewRows: no program of the training part can be read.
    """
    from models.program_lm.network import network_files

    examples, held_out, groups = table_examples(data.data_dirs, data.options, data.seed)

    fitted, record = _fitted(
        examples, held_out, data.options, data.seed, checkpoints=data.checkpoints, loggers=data.loggers
    )
    return Trained(
        files=network_files(fitted.network),
        seen_groups=groups,
        curves={"train_loss": fitted.losses},
        summary={name: float(record[name]) for name in ("examples", "held_out_loss", "held_out_accuracy")},
    )


def _ignore(step: int, steps: int, loss: float) -> None:
    del step, steps, loss


def _fitted(
    examples: Sequence[Example],
    held_out: Sequence[Example],
    options: TrainingOptions,
    seed: int,
    *,
    on_step: OnStep = _ignore,
    checkpoints: Path | None,
    loggers: Loggers | None = None,
) -> tuple[Fit, dict[str, Any]]:
    """Return a trained network, and the record of its training."""
    from models.program_lm.fitting import fit_network

    fitted = fit_network(
        examples,
        held_out or examples,
        size_of(options),
        options,
        seed=seed,
        on_step=on_step,
        checkpoints=checkpoints,
        loggers=loggers,
    )
    return fitted, {
        "examples": len(examples),
        "held_out_examples": len(held_out),
        "parameters": sum(p.numel() for p in fitted.network.parameters()),
        "losses": list(fitted.losses),
        "held_out_loss": fitted.held_out_loss,
        "held_out_accuracy": fitted.held_out_accuracy,
    }


def _train_into(
    cache: ContentCache, options: TrainingOptions, seed: int, key: str, weights: Path, on_step: OnStep
) -> dict[str, Any]:
    """Train, and write weights and record into the cache."""
    from models.program_lm.network import weights_bytes

    parts = corpus_examples(options, seed)
    fitted, record = _fitted(
        *parts, options, seed, on_step=on_step, checkpoints=weights.with_suffix(".checkpoints")
    )
    content = weights_bytes(fitted.network)
    record["weights"] = text_sha256(content.hex())
    write_bytes_atomically(weights, content)
    cache.put(NAME, key, json.loads(json.dumps(record)))
    return record
