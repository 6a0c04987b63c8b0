"""The embedded model as a provider: it needs neither a network nor weights from elsewhere.

The model follows no instructions: of a prompt it takes the last block of C and answers with a variant of it.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from random import Random
from typing import TYPE_CHECKING

from models.program_lm import NAME, EditOptions, TrainingOptions
from models.program_lm.symbols import SourceError
from models.program_lm.training import trained_model, training_key
from pipelines.base.cache import ContentCache
from pipelines.base.identity import canonical_json, content_hash, text_sha256
from pipelines.programs.llm import Prices, ProviderError, Reply

if TYPE_CHECKING:
    from models.program_lm.fitting import OnStep
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
        """Prices of tokens."""
        return self._prices

    @property
    def model(self) -> str:
        """Its name with the beginning of the training's key."""
        return f"{NAME}-{training_key(self._training, self._seed)[:12]}"

    def trained(self) -> TrainedModel:
        """Return the model, trained when it has to be."""
        if self._trained is None:
            self._trained = trained_model(
                self._training, seed=self._seed, cache=self._cache, on_step=self._on_step
            )
        return self._trained

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """Return a variant of the prompt's program in a block of C.

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
