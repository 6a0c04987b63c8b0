"""Prompts as blocks {G, Op, Params, data} with a block of features, and as arrays of tokens.

Blocks stand in the order graph, operators, parameters, features, data. A block only ever reads blocks before
it (`network.reads`), so a causal language model can read the same prompt, and other parameters or data leave
the long blocks as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.canonical import canonical_query
from models.labelled import Query
from models.numeric_lm.data import question_loops
from models.numeric_lm.tokens import PromptTokenizer, Tokens
from pipelines.dataset.records import data_text, operator_classes, source_prompt

MOST_TOKENS = 16384
"""Tokens of a prompt; the longest of the evaluation has some 4,500."""


MOST_CHARACTERS = 1 << 18
"""Characters of a source; a longer one has more tokens than `MOST_TOKENS` and is refused unread."""


class Kind(IntEnum):
    """Kind of a block."""

    GRAPH = 0
    OPERATOR = 1
    PARAMS = 2
    FEATURES = 3
    DATA = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a prompt.

    Attributes:
        dynamic: of an operator: its control flow depends on data (class II of LLMulator section 5.2).
        features: lines of name and number, in the place of a text.
    """

    kind: Kind
    text: str = ""
    dynamic: bool = False
    features: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EncodedPrompt:
    """A prompt as arrays of one row per token.

    Attributes:
        ids, magnitudes: see `tokens.Tokens`. position: place in the block, from 0.
        block: number of the block. kind: its `Kind`. dynamic: whether its control flow depends on data.
    """

    ids: NDArray[np.int32]
    magnitudes: NDArray[np.float32]
    position: NDArray[np.int32]
    block: NDArray[np.int32]
    kind: NDArray[np.int32]
    dynamic: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)


def blocks_of(
    query: Query, *, features: Mapping[str, float], liberty: str, program: bool = True
) -> tuple[Block, ...]:
    """Return the prompt of a question.

    Args:   features: of the level; zeros are left out. program: with the text of the program, made canonical.
            liberty: cell library.
    Raises: ValueError: the source, the directives or the data cannot be read.
    """
    if program:
        query = _canonical(query)
    prompt = source_prompt(
        query.source,
        query.top,
        question_loops(query),
        directives=query.directives,
        dynamic=_classes(query.source, query.top) if program else {},
        params={
            "read": str(query.memory_read_delay_cycles),
            "write": str(query.memory_write_delay_cycles),
            "clock": f"{query.clock_period_ns:g}",
            "liberty": liberty,
        },
        data=data_text(query.data),
    )
    params = "\n".join([*(f"{name} {value}" for name, value in prompt.params.items()), *prompt.mapping])
    blocks: list[Block] = []
    if program:
        blocks.append(Block(kind=Kind.GRAPH, text=prompt.graph))
        blocks += [
            Block(kind=Kind.OPERATOR, text=operator.text, dynamic=bool(operator.dynamic))
            for operator in prompt.operators
        ]
    blocks.append(Block(kind=Kind.PARAMS, text=params))
    lines = tuple((name, number_text(value)) for name, value in features.items() if value)
    if lines:
        blocks.append(Block(kind=Kind.FEATURES, features=lines))
    if prompt.data:
        said = "\n".join(f"{name} {value}" for name, value in prompt.data.items())
        blocks.append(Block(kind=Kind.DATA, text=said))
    return tuple(blocks)


_classes = lru_cache(maxsize=4096)(operator_classes)
_canonical = lru_cache(maxsize=1024)(canonical_query)


def number_text(value: float) -> str:
    """Return a number of the features: plain decimals with four significant digits, without a sign."""
    size = abs(value)
    if size >= 1000:
        return str(round(size))
    return f"{size:.4g}" if size >= 1e-3 else f"{size:.4f}".rstrip("0").rstrip(".") or "0"


class PromptEncoder:
    """Blocks to arrays. Texts that many designs share are encoded once."""

    def __init__(self, tokenizer: PromptTokenizer) -> None:
        self.tokenizer = tokenizer
        self._of_text = lru_cache(maxsize=16384)(tokenizer.encode)

    def encode(self, blocks: Sequence[Block]) -> EncodedPrompt:
        """Return the arrays of a prompt.

        Raises: PredictorError: it is too long.
        """
        parts = [self._tokens(block) for block in blocks]
        counts = [len(part) for part in parts]
        if sum(counts) > MOST_TOKENS:
            raise PredictorError(f"program too long: {sum(counts)} tokens; accepted: up to {MOST_TOKENS}")
        repeats = np.array(counts)
        return EncodedPrompt(
            ids=np.concatenate([part.ids for part in parts]),
            magnitudes=np.concatenate([part.magnitudes for part in parts]),
            position=np.concatenate([np.arange(n, dtype=np.int32) for n in counts]),
            block=np.repeat(np.arange(len(parts), dtype=np.int32), repeats),
            kind=np.repeat(np.array([block.kind for block in blocks], np.int32), repeats),
            dynamic=np.repeat(np.array([block.dynamic for block in blocks]), repeats),
        )

    def _tokens(self, block: Block) -> Tokens:
        if block.features:
            return self.tokenizer.encode_features(block.features)
        return self._of_text(block.text)
