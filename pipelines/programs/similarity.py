"""Near-duplicates: programs whose normalised syntax trees, or texts, share most of their words.

Words of a tree are those of the syntax tree hash with names and constants made equal, so that sizes, names
and the order of subscripts do not matter; those of a text are its tokens, with names and numbers made equal.
The similarity of two programs is the share of common runs of `SHINGLE_WORDS` words, estimated by MinHash.

Source: Broder 1997, "On the resemblance and containment of documents".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pipelines.c import HlsError
from pipelines.programs.normalised import syntax_words

SHINGLE_WORDS = 8
HASHES = 256
BAND_ROWS = 4
NEAR = 0.7
"""Similarity from which two programs are near-duplicates. The standard error of an estimate is 0.03."""

_NAME = re.compile(r"\bv\d+\b")
_CONSTANT = re.compile(r"(integer|float|double) .*")
_IGNORED = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\w\s]")
_KEYWORDS = frozenset(
    (
        *("break", "case", "continue", "default", "do", "else", "for", "if", "return", "switch", "while"),
        *("char", "const", "double", "float", "int", "long", "short", "signed", "static", "unsigned", "void"),
    )
)
_GENERATOR = np.random.Generator(np.random.PCG64(20_260))
_FACTORS = _GENERATOR.integers(0, 2**64, HASHES, dtype=np.uint64) | np.uint64(1)
_OFFSETS = _GENERATOR.integers(0, 2**64, HASHES, dtype=np.uint64)

Signature = NDArray[np.uint32]  # (HASHES,)


def signature(source: str, top: str) -> Signature | None:
    """Return MinHash signature of a program; None for text that is not a program."""
    try:
        words = syntax_words(source, top)
    except HlsError:
        return None
    return _minhash([_CONSTANT.sub(r"\1", _NAME.sub("v", word)) for word in words if word != ")"])


def text_signature(source: str) -> Signature:
    """Return MinHash signature of the tokens of a C source, without comments and directives."""
    return _minhash(code_words(source))


def code_words(source: str) -> list[str]:
    """Return the tokens of a C source without comments and directives, names and numbers made equal."""
    return [_plain(word) for word in _TOKEN.findall(_IGNORED.sub(" ", source))]


def _plain(word: str) -> str:
    if word in _KEYWORDS:
        return word
    return "0" if word[0].isdigit() else "v" if word[0].isalpha() or word[0] == "_" else word


def _minhash(plain: Sequence[str]) -> Signature:
    """Return MinHash signature of the runs of some words."""
    runs = {" ".join(plain[i : i + SHINGLE_WORDS]) for i in range(max(1, len(plain) - SHINGLE_WORDS + 1))}
    digests = [blake2b(run.encode(), digest_size=8).digest() for run in sorted(runs)]
    keys = np.frombuffer(b"".join(digests), dtype="<u8")  # (runs,)
    mixed: NDArray[np.uint64] = keys[:, None] * _FACTORS + _OFFSETS  # (runs, HASHES), modulo 2^64
    return np.min(mixed >> np.uint64(32), axis=0).astype(np.uint32)


def similarity(one: Signature, other: Signature) -> float:
    """Return the estimated Jaccard similarity of two programs, 0 to 1."""
    return float(np.count_nonzero(one == other)) / HASHES


def near_pairs(signatures: Sequence[Signature | None], *, least: float = NEAR) -> list[tuple[int, int]]:
    """Return the pairs of positions whose similarity is at least `least`, in order.

    Only pairs that are equal in a band of BAND_ROWS hashes are compared: of pairs at the limit 0.7 all but
    1 in 40 million have such a band.
    """
    bands: defaultdict[tuple[int, bytes], list[int]] = defaultdict(list)
    for place, own in enumerate(signatures):
        if own is not None:
            for start in range(0, HASHES, BAND_ROWS):
                bands[start, own[start : start + BAND_ROWS].tobytes()].append(place)
    candidates = {
        (first, second)
        for places in bands.values()
        for index, first in enumerate(places)
        for second in places[index + 1 :]
    }
    return sorted(
        pair
        for pair in candidates
        for one, other in [(signatures[pair[0]], signatures[pair[1]])]
        if one is not None and other is not None and similarity(one, other) >= least
    )
