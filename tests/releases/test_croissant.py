"""Croissant descriptions and the head of the card; tests/benchmarks/croissant.py asks MLCommons' reader."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from pipelines.dataset.releases import load_release
from pipelines.dataset.releases.card import about_release, main_table
from pipelines.dataset.releases.croissant import CROISSANT_FILE, croissant_bytes, hub_header
from pipelines.schemas import table_spec

SHIPPED = sorted((Path(__file__).parents[2] / "releases").iterdir())


def test_every_table_of_a_release_is_a_record_set_of_its_files(repository: Path) -> None:
    manifest = load_release(repository / "releases" / "pragmas-v1").manifest
    content = json.loads(croissant_bytes(manifest, "Searches."))
    assert [records["name"] for records in content["recordSet"]] == list(manifest.rows)
    files = {f["@id"]: f for f in content["distribution"] if f["@type"] == "cr:FileObject"}
    assert {name: f["sha256"] for name, f in files.items()} == {
        f.path: f.sha256 for f in manifest.files if f.table is not None
    }
    sets = {f["@id"]: f for f in content["distribution"] if f["@type"] == "cr:FileSet"}
    for records in content["recordSet"]:
        spec = table_spec(records["name"])
        assert [f["name"] for f in records["field"]] == [c.name for c in spec.columns if not c.measured]
        for field in records["field"]:
            source = sets[field["source"]["fileSet"]["@id"]]
            assert {place["@id"] for place in source["containedIn"]} <= set(files)


@pytest.mark.parametrize("release", SHIPPED)
def test_the_description_of_a_release_has_the_columns_of_its_files(release: Path) -> None:
    manifest = load_release(release).manifest
    content = json.loads((release / CROISSANT_FILE).read_bytes())
    files = {f.table: f.path for f in reversed(manifest.files) if f.table is not None}
    described = {r["name"]: [f["name"] for f in r["field"]] for r in content["recordSet"]}
    assert described == {table: pq.read_schema(release / path).names for table, path in files.items()}


@pytest.mark.parametrize("release", SHIPPED)
def test_a_release_says_what_its_main_table_is_about(release: Path) -> None:
    manifest = load_release(release).manifest
    about = about_release(manifest)
    assert about in " ".join((release / "README.md").read_text(encoding="utf-8").split())
    assert json.loads((release / CROISSANT_FILE).read_text(encoding="utf-8"))["description"] == about
    assert main_table(manifest) in manifest.rows


def test_the_head_of_the_card_names_a_configuration_per_table(repository: Path) -> None:
    manifest = load_release(repository / "releases" / "pragmas-v1").manifest
    head = hub_header(manifest)
    assert head.startswith("---\n")
    content = yaml.safe_load(head.split("---\n")[1])
    assert content["license"] == "apache-2.0"
    assert {c["config_name"]: c["data_files"] for c in content["configs"]} == {
        name: f"tables/{name}/*.parquet" for name in manifest.rows
    }
