"""Tokens of prompts: symbols apart from numbers, one token per digit, byte-level BPE for the rest.

Source: LLMulator section 4.1. Each digit of a number carries the magnitude of the whole number, from which
the network makes an embedding (ours).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from models.base import PredictorError

_NUMBER = re.compile(
    r"(?<![\w.])(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?P<suffix>[uUlLfF]*)(?![\w.])"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_AROUND_MARKS = re.compile(r" ?([^\w\s#]) ?")
_WORDS = r" ?[A-Za-z_][A-Za-z_0-9]*| ?[0-9]| ?[^\sA-Za-z_0-9]+|\s+"
NO_NUMBER = math.nan


def isolated(text: str) -> str:
    """Return a text with each number apart from the symbols around it: "-128" becomes " - 128".

    Comments go, and spaces that C does not need.
    """
    return "".join(f" {piece}" if is_number else piece for piece, is_number in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield texts between numbers, without needless spaces, and numbers without their suffix of type."""
    text = _SPACE.sub(" ", _COMMENT.sub(" ", text)).strip()
    end = 0
    for match in _NUMBER.finditer(text):
        yield from _between(text[end : match.start()])
        yield text[match.start() : match.start("suffix")], True
        end = match.end()
    yield from _between(text[end:])


def _between(text: str) -> Iterator[tuple[str, bool]]:
    short = _AROUND_MARKS.sub(r"\1", text)
    if short.strip():
        yield re.sub(r"([-+])$", r" \1", short), False


def magnitude(number: str) -> float:
    """Return the decimal logarithm of 1 + a number, from its text in C."""
    value = float(int(number, 16)) if number[:2] in ("0x", "0X") else float(number)
    return math.log10(1.0 + min(value, 1e30))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tokens:
    """A text as tokens.

    Attributes:
        ids: (tokens,). magnitudes: (tokens,), of the number that a token belongs to, NaN outside numbers.
    """

    ids: NDArray[np.int32]
    magnitudes: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ids)


class PromptTokenizer:
    """Text to tokens, by the vocabulary of the compact model or of a Hugging Face folder.

    Args: isolates: keep numbers apart and cut them into digits; else the vocabulary decides (the ablation).
    """

    def __init__(self, tokenizer: Tokenizer, *, isolates: bool = True) -> None:
        self._tokenizer, self._isolates = tokenizer, isolates
        self._of_digit = lru_cache(maxsize=256)(self._digit_ids)
        self._of_name = lru_cache(maxsize=4096)(self._name_ids)

    @property
    def size(self) -> int:
        """Tokens of the vocabulary."""
        return self._tokenizer.get_vocab_size()

    def as_json(self) -> str:
        """Return the vocabulary in the layout of `tokenizer.json`."""
        return self._tokenizer.to_str()

    def encode(self, text: str) -> Tokens:
        """Return the tokens of a text."""
        if not self._isolates:
            short = _SPACE.sub(" ", _COMMENT.sub(" ", text)).strip()
            ids = self._tokenizer.encode(short, add_special_tokens=False).ids
            return _tokens(ids, [NO_NUMBER] * len(ids))
        pieces = list(_pieces(text))
        texts = [piece for piece, is_number in pieces if not is_number]
        encoded = iter(self._tokenizer.encode_batch(texts, add_special_tokens=False))
        ids: list[int] = []
        magnitudes: list[float] = []
        for piece, is_number in pieces:
            own = self._number_ids(piece) if is_number else next(encoded).ids
            ids += own
            magnitudes += [magnitude(piece) if is_number else NO_NUMBER] * len(own)
        return _tokens(ids, magnitudes)

    def encode_features(self, features: Iterable[tuple[str, str]]) -> Tokens:
        """Return the tokens of lines of a name and a number. A name of the compact model is one token."""
        ids: list[int] = []
        magnitudes: list[float] = []
        for name, number in features:
            named = self._of_name(name)
            digits = self._number_ids(number) if self._isolates else list(self._of_name(f" {number}"))
            ids += [*named, *digits]
            known = magnitude(number.lstrip("-")) if self._isolates else NO_NUMBER
            magnitudes += [NO_NUMBER] * len(named) + [known] * len(digits)
        return _tokens(ids, magnitudes)

    def _number_ids(self, number: str) -> list[int]:
        """Return one token per digit, point or exponent mark; the first has the protective space in front."""
        return [i for place, mark in enumerate(number) for i in self._of_digit(mark if place else f" {mark}")]

    def _digit_ids(self, mark: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(mark, add_special_tokens=False).ids)

    def _name_ids(self, name: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(name, add_special_tokens=False).ids)


def _tokens(ids: Sequence[int], magnitudes: Sequence[float]) -> Tokens:
    return Tokens(ids=np.array(ids, np.int32), magnitudes=np.array(magnitudes, np.float32))


def train_tokenizer(
    texts: Iterable[str], names: Sequence[str], *, size: int, isolates: bool
) -> PromptTokenizer:
    """Train a byte-level BPE of a corpus.

    Args: names: of features, one token each. size: of the vocabulary, at least 256 + the names.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # pyright: ignore[reportAttributeAccessIssue]
        [
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()  # pyright: ignore[reportAttributeAccessIssue]
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<pad>", *names],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    digits = [f" {n}" for n in range(10)] * 1000 if isolates else []  # a digit with its space is one token
    tokenizer.train_from_iterator([*((isolated(t) if isolates else t) for t in texts), *digits], trainer)
    return PromptTokenizer(tokenizer, isolates=isolates)


def load_tokenizer(text: str, *, isolates: bool) -> PromptTokenizer:
    """Load the tokenizer of its JSON. Raises: PredictorError: the text is no tokenizer."""
    try:
        return PromptTokenizer(Tokenizer.from_str(text), isolates=isolates)
    except Exception as error:  # the library raises Exception itself
        raise PredictorError(f"not a tokenizer: {str(error)[:100]}") from error
