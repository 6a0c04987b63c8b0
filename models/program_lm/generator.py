"""The trained predictor: programs to variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import torch

from models.base import PredictorError, read_rows
from models.model_files import ModelFiles
from models.program_lm import NAME, EditOptions
from models.program_lm.editing import draw_variant
from models.program_lm.network import ProgramLm, Size
from models.program_lm.symbols import SourceError
from models.program_lm.vocabulary import TOKENS
from pipelines.base.identity import content_hash, text_sha256


class VariantGenerator(ProgramLm):
    """The network as a predictor."""

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
        """Return a variant of the program of every row, by its seed.

        Raises: PredictorError: a program cannot be read; the message names the row, from 0.
        """
        return read_rows(self._variant, rows, (SourceError,))

    def _variant(self, row: Mapping[str, Any]) -> dict[str, str]:
        source = str(row["source"])
        generator = Random(int(content_hash(NAME, int(row["seed"]), text_sha256(source)), 16))  # noqa: S311
        return {"variant": draw_variant(source, self, EditOptions(), generator).source}


def load(files: ModelFiles) -> VariantGenerator:
    """Load the network from its files.

    Raises: PredictorError: it is of another vocabulary. RuntimeError, KeyError: not such a network.
    """
    size = Size(**files.card["size"])
    if size.tokens != len(TOKENS):
        raise PredictorError(f"vocabulary of {size.tokens} tokens is not that of this version; train again")
    network = VariantGenerator(size)
    network.load_state_dict({name: torch.from_numpy(values) for name, values in files.arrays.items()})
    return network.eval()
