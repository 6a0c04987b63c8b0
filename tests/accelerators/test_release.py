"""The compiler's cycles against labels of the release, and what its groups share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from models.compile_power.data import read_pairs
from pipelines.accelerators import dataset
from pipelines.accelerators.fixed import dataset as fixed
from pipelines.base.cache import ContentCache
from pipelines.base.workers import silent
from pipelines.dataset.releases import open_release
from pipelines.schemas import read_arrow
from pipelines.silicon.synthesis import find_liberty

RELEASES = Path(__file__).resolve().parents[2] / "releases"
RELEASE = RELEASES / "accelerators-v2"


def _group(release: Path, part: str, name: str) -> dict[str, Any]:
    fields = yaml.safe_load((release / "params.yaml").read_text())[part]["groups"][name]
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


def test_a_group_of_an_imported_release_is_not_labelled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "Labeller", None)  # whatever synthesises fails
    release, name, liberty = open_release(RELEASE), "default-larger", find_liberty("osu018")
    cache = ContentCache(folder=tmp_path)
    tables = dataset.AcceleratorTables(
        accelerators=release.rows("accelerators", name),
        compiled=release.rows("compiled_networks", name),
        labels=release.rows("accelerator_labels", name),
    )
    assert dataset.import_labels(tables, liberty=liberty, cache=cache).total() == 14
    assert dataset.import_labels(tables, liberty=liberty, cache=cache).total() == 0
    again = dataset.make_accelerators(
        dataset.AcceleratorGroup(name=name, **_group(RELEASE, "accelerators", name)),
        tools=dataset.LabelTools(liberty=liberty, folder=tmp_path),
        cache=cache,
        workers=1,
        on_progress=silent,
    )
    assert again == tables


def test_pipelines_of_an_imported_release_are_not_labelled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("da4ml")
    monkeypatch.setattr(fixed, "label_fixed", None)
    release, name, liberty = open_release(RELEASES / "fixed-v2"), "large", find_liberty("osu018")
    cache, rows = ContentCache(folder=tmp_path), release.rows("fixed_networks", name)
    assert fixed.import_labels(rows, liberty=liberty, cache=cache).total() == len(rows) == 10
    again = fixed.make_fixed(
        replace(fixed.FixedGroup(name=name, **_group(release.folder, "fixed", name)), families=("mlp",)),
        liberty=liberty,
        folder=tmp_path,
        cache=cache,
        workers=1,
        on_progress=silent,
    )
    assert again == [row for row in rows if row.family == "mlp"]


def test_labels_of_other_tools_are_not_remembered(tmp_path: Path) -> None:
    rows = [
        replace(row, tool_version="0")
        for row in open_release(RELEASES / "fixed-v2").rows("fixed_networks", "large")
    ]
    pytest.importorskip("da4ml")
    cache = ContentCache(folder=tmp_path)
    assert not fixed.import_labels(rows, liberty=find_liberty("osu018"), cache=cache)


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
