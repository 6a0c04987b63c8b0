"""The compiler's cycles against those of labelled networks, on the release."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.compile_power.data import read_pairs

RELEASE = Path(__file__).resolve().parents[2] / "releases/accelerators-v2"


def test_timed_cycles_are_within_a_tenth_of_the_labels() -> None:
    pairs = [pair for pair in read_pairs([RELEASE]) if pair.cycles is not None]
    ratios = np.array([pair.estimated_cycles / (pair.cycles or 1) for pair in pairs])
    assert len(pairs) >= 1500
    assert np.abs(ratios - 1).mean() <= 0.1
