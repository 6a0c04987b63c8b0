"""The compiler's cycles against labels of the release, and what its groups share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.compile_power.data import read_pairs
from pipelines.schemas import read_arrow

RELEASE = Path(__file__).resolve().parents[2] / "releases/accelerators-v2"


def test_timed_cycles_are_within_a_tenth_of_the_labels() -> None:
    pairs = [pair for pair in read_pairs([RELEASE]) if pair.cycles is not None]
    ratios = np.array([pair.estimated_cycles / (pair.cycles or 1) for pair in pairs])
    assert len(pairs) >= 1500
    assert np.abs(ratios - 1).mean() <= 0.1


def test_held_out_labels_share_neither_configurations_nor_networks_with_others() -> None:
    tables = (read_arrow(p) for p in sorted((RELEASE / "tables/compiled_networks").glob("*.parquet")))
    rows = [row for table in tables for row in table.to_pylist()]
    held_out = [row for row in rows if row["group"] in ("default-held-out", "default-larger")]
    others = [row for row in rows if row["group"] in ("labelled", "default-hardware")]
    networks, hardware = (
        [{tuple(row[name] for name in names) for row in part} for part in (held_out, others)]
        for names in (("family", "scale", "seed"), ("accelerator_id",))
    )
    assert not networks[0] & networks[1]
    assert not hardware[0] & hardware[1]
    assert {row["split_random"] for row in held_out} == {"none"}
    near_default = {row["accelerator_id"] for row in rows if row["group"].startswith("default-")}
    assert len(near_default) >= 40
