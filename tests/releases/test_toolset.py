"""Manifests name the version of each tool of their rows; slack is derived where rows are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.dataset.releases import ReleaseTables, load_release
from pipelines.dataset.releases.checking import FAIL, PASS, check_release
from pipelines.dataset.releases.toolset import NOT_RECORDED, lacking_tools
from pipelines.schemas.timing import timing_of

RELEASES = Path(__file__).resolve().parents[2] / "releases"
PERIODS_NS = (5.0, 10.0, 20.0, 40.0)
NAMES = sorted(path.parent.name for path in RELEASES.glob("*/manifest.json"))


def without(tables: ReleaseTables, tool: str, version: str | None = None) -> ReleaseTables:
    """A release whose manifest lacks a tool, or names it with another version."""
    tools = {name: own for name, own in tables.manifest.toolset.tools.items() if name != tool}
    tools |= {} if version is None else {tool: version}
    toolset = tables.manifest.toolset.model_copy(update={"tools": tools})
    return replace(tables, manifest=tables.manifest.model_copy(update={"toolset": toolset}))


@pytest.mark.parametrize("name", NAMES)
def test_every_release_names_the_tools_of_its_rows(name: str) -> None:
    tables = load_release(RELEASES / name)
    assert lacking_tools(tables, tables.manifest.toolset.tools) == []


@pytest.mark.parametrize(
    ("name", "tool", "version", "found"),
    [
        ("fixed-v2", "da4ml", None, "da4ml"),
        ("accelerators-v2", "pyosys", None, "pyosys"),
        ("rtl-v1", "rtl-verilator", None, "rtl-verilator"),
        ("v1", "verilator", None, "verilator 5.006+44ae777a"),
        ("v1", "verilator", "5.042+44ae777a", "verilator 5.006+44ae777a"),
    ],
)
def test_a_manifest_without_a_tool_is_found(name: str, tool: str, version: str | None, found: str) -> None:
    tables = without(load_release(RELEASES / name), tool, version)
    assert lacking_tools(tables, tables.manifest.toolset.tools) == [found]


def test_check_has_a_line_of_tools() -> None:
    title = "versions of tools in the manifest"
    tables = load_release(RELEASES / "rtl-v1")
    [line] = [line for line in check_release(tables) if line.name == title]
    assert (line.status, NOT_RECORDED in line.figure) == (PASS, True)
    [line] = [line for line in check_release(without(tables, "rtl-arc")) if line.name == title]
    assert (line.status, line.figure.partition(",")[0]) == (FAIL, "lacking: rtl-arc")


@pytest.mark.parametrize(
    ("name", "table"),
    [("v1", "labels"), ("accelerators-v2", "accelerators"), ("fixed-v2", "fixed_networks")],
)
def test_slack_of_every_longest_path_of_a_release(name: str, table: str) -> None:
    rows = load_release(RELEASES / name)[table]
    timed = rows.select("delay_ns", "slack_ns", "timing_met").drop_nulls("delay_ns").collect()
    assert timed.height
    assert timed.select((pl.col("delay_ns") + pl.col("slack_ns")).round(6).is_in(PERIODS_NS).all()).item()
    assert timed.filter(pl.col("timing_met") != (pl.col("slack_ns") >= 0)).is_empty()
    assert rows.select("slack_ns").collect().height == load_release(RELEASES / name).arrow(table).num_rows


def test_slack_is_unknown_without_a_longest_path_and_0_meets_the_clock() -> None:
    assert timing_of(5.0, None) == {"slack_ns": None, "timing_met": None}
    assert timing_of(5.0, 5.0) == {"slack_ns": 0.0, "timing_met": True}
    assert timing_of(5.0, 5.5) == {"slack_ns": -0.5, "timing_met": False}
