"""Bounds of release pragmas-v1: those that the present composition gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.dataset.releases import open_release
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import configuration_of_key

RELEASE = Path(__file__).resolve().parents[2] / "releases/pragmas-v1"


@pytest.mark.slow
def test_bounds_of_the_release_are_those_of_the_present_composition() -> None:
    """Of every eighth program; version 5 changed rows by up to a factor of seven."""
    release, target = open_release(RELEASE), read_target("simfoundry")
    programs = {p.program_id: p for g in release.partitions("programs") for p in release.rows("programs", g)}
    rows = [row for row in release.rows("pragma_designs", "all") if row.configuration is not None]
    chosen = set(sorted({row.program_id for row in rows})[::8])
    summaries = {name: summarise(programs[name].source, programs[name].top) for name in chosen}
    own = [row for row in rows if row.program_id in chosen]
    assert len(own) > 300
    for row in own:
        assert row.configuration is not None
        present = bound(summaries[row.program_id], configuration_of_key(row.configuration), target)
        assert row.bound_cycles == present.latency_cycles, (row.kernel, row.step)
