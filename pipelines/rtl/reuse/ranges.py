"""Slots as ranges and affine runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence


def runs_of(slots: Sequence[int], all_slots: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of slots; padding between two of them belongs to the range."""
    following = dict(itertools.pairwise(all_slots))
    start: int | None = None
    for i, slot in enumerate(slots):
        start = slot if start is None else start
        if i + 1 == len(slots) or following.get(slot) != slots[i + 1]:
            yield start, slot + 1
            start = None


def affine_runs(
    pairs: Sequence[tuple[int, int]],
) -> Iterator[tuple[tuple[int, int], tuple[int, int], int]]:
    """Yield the runs of pairs with constant differences: first pair, differences, number of pairs."""
    at = 0
    while at < len(pairs):
        end = at + 1
        step = (1, 1)
        if end < len(pairs):
            step = (pairs[end][0] - pairs[at][0], pairs[end][1] - pairs[at][1])
            while end < len(pairs) and _step(pairs, end) == step:
                end += 1
        yield pairs[at], step, end - at
        at = end


def _step(pairs: Sequence[tuple[int, int]], at: int) -> tuple[int, int]:
    return pairs[at][0] - pairs[at - 1][0], pairs[at][1] - pairs[at - 1][1]
