"""Table `labels` with rows of several tools: what reads it takes those of the project's own synthesis."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from foundry_fakes import fill_tables, make_label, make_run

from assets.checks import open_file
from assets.dvc_figures import FIGURES
from assets.settings import Settings
from assets.steps.design_features import mapped_by_first_tool
from assets.steps.labels import unknown_powers
from pipelines.cyclemodel import ENGINE
from pipelines.dataset.releases.card import _distributions
from pipelines.dataset.reports import read_tables
from pipelines.dataset.reports.samples import sample_designs, sample_programs
from pipelines.schemas import LabelRow, read_table, table_spec, write_table

SUITE = "stencil"


@pytest.fixture
def made(settings: Settings, engines: Any, kept_tables: Path) -> Settings:
    """Every table of every suite."""
    return fill_tables(settings, kept_tables)


def alone(label: LabelRow) -> LabelRow:
    """A label of cycles alone."""
    names = ("area_um2", "flip_flop_count", "cell_count", "lut_count", "delay_ns", "leakage_mw")
    return replace(label, **dict.fromkeys(names))


def for_fpga(label: LabelRow, **changes: Any) -> LabelRow:
    """A label of the same design for an FPGA."""
    row = replace(label, tool="synth_xilinx", liberty="xc7", area_um2=None, delay_ns=None, leakage_mw=None)
    return replace(row, flip_flop_count=9, cell_count=50, lut_count=30, **changes)


def in_osu035(label: LabelRow) -> LabelRow:
    """A label of the same design in another library."""
    return replace(label, tool="pyosys_osu035", liberty="osu035", area_um2=9e6)


def rows_of(settings: Settings, table: str) -> list[Any]:
    return read_table(settings.deployment.data_dir, table_spec(table), [SUITE])


def write(settings: Settings, table: str, rows: list[Any]) -> None:
    write_table(settings.deployment.data_dir, table_spec(table), rows, SUITE)


def test_designs_of_cycles_alone_are_not_mapped_by_rows_of_other_tools(made: Settings) -> None:
    mapped, other = (make_label(design) for design in rows_of(made, "designs")[:2])
    labels = [mapped, alone(other), for_fpga(mapped), for_fpga(other), in_osu035(other)]
    assert mapped_by_first_tool(labels) == {mapped.design_id}


def test_a_suite_of_another_tool_alone_is_mapped_by_it(made: Settings) -> None:
    labels = [for_fpga(make_label(design)) for design in rows_of(made, "designs")[:2]]
    assert mapped_by_first_tool(labels) == {label.design_id for label in labels}
    nothing = replace(labels[1], flip_flop_count=None, cell_count=None, lut_count=None)
    assert mapped_by_first_tool([labels[0], nothing]) == {labels[0].design_id}


def test_power_may_lack_of_a_design_that_another_library_maps_alone(made: Settings) -> None:
    design = rows_of(made, "designs")[0]
    write(made, "labels", [alone(make_label(design)), in_osu035(make_label(design))])
    write(made, "runs", [make_run(design, engine=ENGINE, power_status=None, power_mw=None)])
    assert unknown_powers(open_file(made, "runs", SUITE)) == []


def test_figures_of_labels_are_those_of_the_own_synthesis(made: Settings) -> None:
    folder = made.deployment.data_dir
    before = dict(FIGURES["labels"].write(folder))
    labels = rows_of(made, "labels")
    more = [*map(in_osu035, labels), *(for_fpga(label, status="timeout") for label in labels)]
    write(made, "labels", [*labels, *more])
    assert dict(FIGURES["labels"].write(folder)) == before
    assert json.loads(before["data/figures/labels.json"])["failed"] == 0


def test_a_failed_label_of_another_tool_leaves_the_design_labelled(made: Settings) -> None:
    labels = rows_of(made, "labels")
    write(made, "labels", [*labels, for_fpga(labels[0], status="timeout"), in_osu035(labels[1])])
    tables = read_tables(made.deployment.data_dir, name="x")
    designs = sample_designs(tables, sample_programs(tables))
    chosen = designs.filter(designs["design_id"].is_in([label.design_id for label in labels]))
    assert chosen["is_ok"].all()
    assert chosen["area_um2"].max() == max(label.area_um2 for label in labels)
    write(made, "labels", [replace(labels[0], status="timeout"), *labels[1:]])
    tables = read_tables(made.deployment.data_dir, name="x")
    assert sample_designs(tables, sample_programs(tables)).filter(design_id=labels[0].design_id)[
        "is_ok"
    ].to_list() == [False]


def test_the_card_shows_quantiles_by_tool_and_library(made: Settings) -> None:
    labels = [make_label(design) for design in rows_of(made, "designs")[:2]]
    spec = table_spec("labels")
    rows = [*labels, for_fpga(labels[0]), in_osu035(labels[0])]
    lines = _distributions({"labels": spec.to_arrow(rows)}).splitlines()
    shown = {tuple(cell.strip() for cell in line.split("|")[1:5]): line for line in lines}
    assert ("labels.area_um2", "pyosys, osu018", "um2", "2") in shown
    assert "9e+06" in next(line for line in lines if "pyosys_osu035" in line and "area_um2" in line)
    assert "synth_xilinx, xc7" in next(line for line in lines if "lut_count" in line)
    assert not any("synth_xilinx" in line for line in lines if "area_um2" in line)
