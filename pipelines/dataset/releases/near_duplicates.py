"""Programs of two sides that share most of their text, found apart from the rule that groups them.

Tokens are those of the source with every name and number made equal; the similarity of two programs is the
exact share of common runs of `RUN_TOKENS` tokens (Jaccard), not an estimate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

RUN_TOKENS = 8
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\w\s]")
_KEPT = frozenset(
    (
        *("for", "while", "if", "else", "do", "return", "break", "continue"),
        *("const", "static", "float", "double", "int", "char", "void"),
    )
)


def token_runs(source: str) -> set[str]:
    """Return the distinct runs of tokens of a C source; a shorter one is a run itself."""
    words = _TOKEN.findall(_COMMENT.sub(" ", _DIRECTIVE.sub("", source)))
    plain = [_plain(word) for word in words]
    count = max(1, len(plain) - RUN_TOKENS + 1)
    return {" ".join(plain[i : i + RUN_TOKENS]) for i in range(count)}


def _plain(word: str) -> str:
    if word in _KEPT:
        return word
    return "n" if word[0].isdigit() else "v" if word[0].isalpha() or word[0] == "_" else word


def nearest(sources: Sequence[str], others: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the most similar of the others for each source.

    Returns: similarity from 0 to 1, and position, each (sources,); zeros without others.
    """
    if not others:
        return np.zeros(len(sources)), np.zeros(len(sources), dtype=np.int64)
    numbers: dict[str, int] = {}
    left, right = ([_numbered(token_runs(s), numbers) for s in side] for side in (sources, others))
    one, other = (_matrix(side, len(numbers)) for side in (left, right))
    common = np.asarray((one @ other.T).todense(), dtype=np.float64)  # (sources, others)
    sizes = [np.array([len(runs) for runs in side], dtype=np.float64) for side in (left, right)]
    shares = common / (sizes[0][:, None] + sizes[1][None, :] - common)
    return shares.max(axis=1), shares.argmax(axis=1)


def _numbered(runs: set[str], numbers: dict[str, int]) -> list[int]:
    return [numbers.setdefault(run, len(numbers)) for run in runs]


def _matrix(sides: Sequence[Sequence[int]], width: int) -> sparse.csr_matrix:
    """Return one row per program, a one per run that it has."""
    ends = np.cumsum([0, *(len(runs) for runs in sides)])
    columns = np.array([number for runs in sides for number in runs], dtype=np.int64)
    return sparse.csr_matrix(
        (np.ones(len(columns), dtype=np.int32), columns, ends), shape=(len(sides), width)
    )
