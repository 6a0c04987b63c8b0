"""The embedded model as a provider: it needs neither a network nor weights from elsewhere.

The model follows no instructions: of a prompt it takes the last block of C and answers with a variant of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from random import Random
from typing import TYPE_CHECKING, Any

from models.base import PredictorError
from models.program_lm import NAME, EditOptions, TrainingOptions
from models.program_lm.symbols import SourceError
from models.program_lm.training import trained_model, training_key
from pipelines.cache import ContentCache
from pipelines.identity import canonical_json, content_hash, text_sha256
from pipelines.programs.llm import Prices, ProviderError, Reply

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.program_lm.fitting import OnStep
    from models.program_lm.network import ProgramLm
    from models.program_lm.training import TrainedModel

_BLOCK = re.compile(r"```c\n(.*?)\n```", re.DOTALL)
_SAMPLING_VERSION = "c85c727c572430d94d6b4eae3dcbce08"
"""Raised by hand when the same network would draw other variants."""


class EmbeddedProvider:
    """The project's own small model.

    Args:
        training: how it is trained; it is, on its first prompt, unless the cache has it.
        editing: how variants are drawn.
        seed: of the training.
        cache: where its weights are kept.
        on_step: is told (step, steps, loss) while it trains.
    """

    def __init__(
        self,
        *,
        cache: ContentCache,
        training: TrainingOptions | None = None,
        editing: EditOptions | None = None,
        seed: int = 0,
        on_step: OnStep | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._cache = cache
        self._training = training or TrainingOptions()
        self._editing = editing or EditOptions()
        self._seed = seed
        self._on_step = on_step
        self._prices = prices or Prices()
        self._trained: TrainedModel | None = None

    @property
    def identity(self) -> str:
        """The training's key, how variants are drawn, and the code that draws them."""
        key = training_key(self._training, self._seed)
        return canonical_json([NAME, key, asdict(self._editing), _SAMPLING_VERSION])

    @property
    def prices(self) -> Prices:
        """Of tokens."""
        return self._prices

    @property
    def model(self) -> str:
        """Its name with the beginning of the training's key."""
        return f"{NAME}-{training_key(self._training, self._seed)[:12]}"

    def trained(self) -> TrainedModel:
        """The model, trained when it has to be."""
        if self._trained is None:
            self._trained = trained_model(
                self._training, seed=self._seed, cache=self._cache, on_step=self._on_step
            )
        return self._trained

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """A variant of the prompt's program in a block of C.

        Raises: ProviderError: the prompt has no program that the model can read.
        """
        from models.program_lm.editing import draw_variant

        blocks = _BLOCK.findall(prompt)
        if not blocks:
            raise ProviderError("the embedded model needs a prompt with a block of C, got none")
        network = self.trained().network
        generator = Random(int(content_hash(NAME, seed, text_sha256(prompt)), 16))  # noqa: S311
        try:
            variant = draw_variant(blocks[-1] + "\n", network, self._editing, generator)
        except SourceError as error:
            raise ProviderError(f"the embedded model must be able to read a program, got: {error}") from error
        counts = variant.read_tokens, variant.made_tokens
        return Reply(
            text=f"```c\n{variant.source.strip()}\n```\n",
            model=self.model,
            prompt_tokens=counts[0],
            completion_tokens=counts[1],
            cost=self._prices.cost(*counts),
        )


def load(files: ModelFiles) -> ProgramLm:
    """The network of its files.

    Raises: PredictorError: it is of another vocabulary. RuntimeError, KeyError: not such a network.
    """
    import torch

    from models.program_lm.network import ProgramLm, Size
    from models.program_lm.vocabulary import TOKENS

    size = Size(**files.card["size"])
    if size.tokens != len(TOKENS):
        raise PredictorError(f"vocabulary of {size.tokens} tokens is not that of this version; train again")
    network = ProgramLm(size)
    network.load_state_dict({name: torch.from_numpy(values) for name, values in files.arrays.items()})
    return network.eval()


def answer_programs(network: ProgramLm, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """A variant of the program of every row, by its seed.

    Raises: PredictorError: a program cannot be read; the message names the row, from 0.
    """
    from models.program_lm.editing import draw_variant

    answers: list[dict[str, str]] = []
    for place, row in enumerate(rows):
        source = str(row["source"])
        generator = Random(int(content_hash(NAME, int(row["seed"]), text_sha256(source)), 16))  # noqa: S311
        try:
            variant = draw_variant(source, network, EditOptions(), generator)
        except SourceError as error:
            raise PredictorError(f"row {place}: {error}") from error
        answers.append({"variant": variant.source})
    return answers
