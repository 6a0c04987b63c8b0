from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from invoking import invoke

from assets.dagster_assets import build_asset
from assets.deployments import Deployment
from assets.pages import page_path, write_page
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from assets.steps.report import label_summary

_invoke = partial(invoke, "report")


@pytest.fixture
def made(settings: Settings, engines: Any) -> Settings:
    """Tables of one suite."""
    for name in ("programs", "designs", "labels"):
        step_named(name).make(settings, "stencil", ignore_progress)
    return settings


def test_report_writes_one_page_into_the_data_folder(made: Settings, deployment: Deployment) -> None:
    found = _invoke()
    assert found.exit_code == 0, found.output
    assert found.output.splitlines()[0] == "2 programs, 4 designs, 4 fully labelled"
    assert found.output.splitlines()[-1] == f"page: {deployment.data_dir / 'report.html'}"
    assert page_path(deployment).read_text().startswith("<!DOCTYPE html>")


def test_report_of_a_release_says_its_name(made: Settings, deployment: Deployment, tmp_path: Path) -> None:
    release = tmp_path / "first"
    (deployment.data_dir / "tables").rename(release)
    out = tmp_path / "there" / "page.html"
    found = _invoke("--release", str(release), "--out", str(out), "--json")
    assert found.exit_code == 0, found.output
    answer = json.loads(found.output)
    assert (answer["page"], answer["bytes"]) == (str(out), out.stat().st_size)
    assert answer["name"] == "Release first"
    assert answer["inventory"]["labelled_count"] == 4
    assert answer["distributions"][0]["stages"][0]["quantiles"]["count"] == 4
    assert "points" not in answer["estimates"][0]
    assert "<h1>Release first</h1>" in out.read_text()


def test_report_of_a_release_lies_in_the_data_folder_by_default(
    made: Settings, deployment: Deployment, tmp_path: Path
) -> None:
    release = tmp_path / "first"
    (deployment.data_dir / "tables").rename(release)
    assert _invoke("--release", str(release)).exit_code == 0
    assert (deployment.data_dir / "report-first.html").is_file()
    assert not (deployment.data_dir / "report.html").exists()
    assert [p.name for p in release.iterdir() if p.is_file()] == []


def test_report_rejects_a_page_that_cannot_be_written(made: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = _invoke("--out", str(tmp_path / "file" / "page.html"))
    assert found.exit_code == 1
    assert "a page must be a file that can be written, got " in found.output


def test_the_asset_says_where_the_page_is_and_what_it_shows(made: Settings, deployment: Deployment) -> None:
    result = dg.materialize(
        [build_asset(step_named("report"), None)],
        resources={
            "foundry": FoundryResource(project=str(deployment.project)),
            "progress": ProgressResource(),
        },
    )
    assert result.success
    (event,) = result.asset_materializations_for_node("make_report")
    metadata = {name: entry.value for name, entry in event.metadata.items()}
    assert metadata["path"] == str(page_path(deployment))
    assert (metadata["programs"], metadata["designs"], metadata["labelled"]) == (2, 4, 4)
    assert metadata["labels"] == label_summary(write_page(deployment).report)
    assert "| area_um2 | kernel | 4 |" in str(metadata["labels"])
