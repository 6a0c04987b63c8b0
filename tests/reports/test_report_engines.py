"""Sections of grouped rows: accelerators, place and route, RTL simulation, TCP."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_examples import (
    Rows,
    accelerator_rows,
    engine_rows,
    fabric_rows,
    protocol_rows,
    simulation_rows,
)
from report_examples import example_rows
from test_report_page import (
    test_drawings_say_what_they_show,
    test_every_element_is_closed_and_every_id_is_unique,
    test_labels_of_an_axis_do_not_overlap,
    test_marks_and_texts_are_inside_their_drawing,
    test_names_of_quantities_and_stages_are_not_cut,
    test_tables_have_captions_and_headers,
)

from pipelines.dataset.reports import draw_page, read_report
from pipelines.dataset.reports.engines import SECTIONS
from pipelines.dataset.reports.grouped import ROWS_SHOWN, SectionFigures

Write = Callable[[Path, Any], Path]
Read = Callable[[Rows], SectionFigures]


@pytest.fixture
def read_section(tmp_path: Path, write_rows: Write) -> Read:
    def read(rows: Rows) -> SectionFigures:
        [section] = read_report(write_rows(tmp_path, rows), name="x").grouped
        return section

    return read


def _table(section: SectionFigures, caption: str) -> dict[tuple[str, ...], dict[str, float | None]]:
    """Numbers by group and title of the one table whose caption begins so."""
    [table] = [table for table in section.tables if table.caption.startswith(caption)]
    titles = [title for title, _ in table.columns]
    return {group: dict(zip(titles, numbers, strict=True)) for group, numbers in table.rows}


def _medians(section: SectionFigures, title: str) -> dict[str, float]:
    [chart] = [chart for chart in section.charts if chart.title == title]
    return {spread.stage: spread.quantiles.median for spread in chart.spreads}


def test_networks_and_labels_are_counted_by_family(read_section: Read) -> None:
    section = read_section(accelerator_rows())
    assert (section.name, section.count) == ("accelerators", 5)
    networks = _table(section, "Networks compiled")
    assert networks[("mlp",)]["Labelled"] == 2
    assert networks[("cnn",)]["Labels failed"] == 1
    assert networks[("cnn",)]["Weight stationary"] == 0
    [(family, labels)] = _table(section, "Labels of networks").items()
    assert family == ("mlp",)
    assert labels["Outputs equal"] == 0.5
    assert labels["Power (mW)"] == 25
    assert labels["In memories"] == pytest.approx(0.1)


def test_the_compilers_cycles_deviate_from_the_simulated_ones(read_section: Read) -> None:
    labels = _table(read_section(accelerator_rows()), "Labels of networks")[("mlp",)]
    low, high = 99 / 100 - 1, 220 / 200 - 1
    assert labels["Compiler's cycles median"] == pytest.approx((low + high) / 2)
    assert labels["Compiler's cycles 95 %"] == pytest.approx(low + 0.95 * (high - low))


def test_fixed_point_pipelines_have_figures_of_their_labels(read_section: Read) -> None:
    section = read_section(accelerator_rows())
    pipelines = _table(section, "Networks as fixed-point")[("rnn",)]
    assert (pipelines["Networks"], pipelines["Ok"], pipelines["Labelled"]) == (2, 1, 1)
    assert (pipelines["Area (µm²)"], pipelines["Path (ns)"]) == (900, 4)
    assert _medians(section, "Area of pipelines") == {"rnn": 900}
    assert _medians(section, "Cycles on accelerators") == {"mlp": 150}


def test_the_placement_of_the_heuristic_is_beside_the_best(read_section: Read) -> None:
    section = read_section(fabric_rows())
    [graph] = _table(section, "Throughput over the placements").values()
    assert graph["Best"] == pytest.approx(0.8)
    assert graph["Chosen"] == pytest.approx(0.6)
    assert graph["Mean of medians"] == pytest.approx(0.5)
    assert graph["Rank correlation"] == pytest.approx(0.8)
    [placements] = _table(section, "Placements").values()
    assert (placements["Placements"], placements["Overused"]) == (4, 0.25)
    assert _medians(section, "Simulated, by origin") == pytest.approx({"annealed": 0.6, "random": 0.2})


def test_a_graph_without_placements_is_counted(read_section: Read) -> None:
    section = read_section({"fabric_graphs": fabric_rows()["fabric_graphs"]})
    assert [table.caption for table in section.tables] == ["Graphs by fabric and family"]
    assert section.charts == ()


def test_times_of_engines_are_over_the_reference_on_the_same_design(read_section: Read) -> None:
    section = read_section(simulation_rows())
    engines = _table(section, "Simulations by engine")
    assert engines[("reuse",)]["Ratio median"] == pytest.approx((0.25 + 0.75) / 2)
    assert engines[("verilator",)]["Ratio median"] == 1
    assert {engine: row["Fastest of"] for (engine,), row in engines.items()} == {
        "arc": 0,
        "reuse": 2,
        "verilator": 0,
    }
    assert _table(section, "Families of designs")[("mesh",)]["arc"] == pytest.approx((0.5 + 2) / 2)


def test_times_of_another_machine_have_no_ratio(read_section: Read) -> None:
    rows = simulation_rows()
    for row in rows["simulations"]:
        row["machine"] = "a" if row["engine"] == "verilator" else "b"
    engines = _table(read_section(rows), "Simulations by engine")
    assert engines[("reuse",)]["Ratio median"] is None


def test_designs_whose_engines_disagree_are_not_equal(read_section: Read) -> None:
    family = _table(read_section(simulation_rows()), "Families of designs")[("mesh",)]
    assert (family["Designs"], family["Compared"], family["Outputs equal"]) == (2, 2, 1)


def test_runs_under_tcp_are_beside_the_same_scenario_under_udp(read_section: Read) -> None:
    section = read_section(protocol_rows())
    [(scenario, row)] = _table(section, "TCP beside UDP").items()
    assert scenario == ("rack", "incast", "poisson", "50 %")
    assert (row["Runs UDP"], row["Runs TCP"]) == (1, 1)
    assert (row["Mean (µs) UDP"], row["Mean (µs) TCP"]) == (20, 30)
    assert row["TCP over UDP"] == pytest.approx(0.5)
    assert (row["Lost UDP"], row["Lost TCP"]) == (0, pytest.approx(0.02))
    assert _medians(section, "Round trips of flows, Poisson") == {"TCP 50 %": 30, "UDP 50 %": 20}


def test_a_scenario_without_udp_has_no_ratio(read_section: Read) -> None:
    rows = protocol_rows()
    rows["network_runs"] = [row for row in rows["network_runs"] if row["run_id"] != "u"]
    [row] = _table(read_section(rows), "TCP beside UDP").values()
    assert (row["Mean (µs) UDP"], row["TCP over UDP"]) == (None, None)
    assert row["Mean (µs) TCP"] == 30


def test_networks_without_tcp_have_no_section_of_it(tmp_path: Path, write_rows: Write) -> None:
    rows = protocol_rows()
    rows["network_runs"] = [row for row in rows["network_runs"] if row["protocol"] == "udp"]
    report = read_report(write_rows(tmp_path, rows), name="x")
    assert report.networks is not None
    assert report.grouped == ()


def test_many_groups_are_cut_and_the_page_says_so(tmp_path: Path, write_rows: Write) -> None:
    [graph] = fabric_rows()["fabric_graphs"]
    graphs = [graph | {"graph_id": f"g{n}", "family": f"f{n:03}"} for n in range(ROWS_SHOWN + 2)]
    report = read_report(write_rows(tmp_path, {"fabric_graphs": graphs}), name="x")
    assert "And 2 more groups." in draw_page(report)


@pytest.fixture
def page(tmp_path: Path, write_rows: Write) -> str:
    return draw_page(read_report(write_rows(tmp_path / "all", engine_rows()), name="x"))


def test_the_page_of_engines_has_their_sections_and_none_on_designs(page: str) -> None:
    names = re.findall(r'<h2 id="(\w+)-heading">', page)
    assert names == ["made", "networks", *(section.name for section in SECTIONS), "failures", "time"]
    assert "fully labelled" not in page


def test_sections_of_tables_without_rows_are_left_out(
    example: Path, tmp_path: Path, write_rows: Write
) -> None:
    assert read_report(example, name="x").grouped == ()
    rows = {**example_rows(5), **simulation_rows()}
    page = draw_page(read_report(write_rows(tmp_path / "both", rows), name="x"))
    names = re.findall(r'<h2 id="(\w+)-heading">', page)
    assert names[-4:] == ["simulation", "time", "levels", "leaderboard"]
    assert "accelerators" not in names
    assert "generation" in names


def test_hostile_names_of_groups_stay_text(tmp_path: Path, write_rows: Write) -> None:
    hostile = '"><img src=x onerror=alert(1)>'
    rows = engine_rows()
    for table in ("compiled_networks", "fabric_graphs", "simulations", "network_runs"):
        for row in rows[table]:
            row |= {name: hostile for name in ("family", "fabric", "pattern") if name in row}
    assert "<img" not in draw_page(read_report(write_rows(tmp_path, rows), name="x"))


def test_the_page_of_engines_is_well_formed(page: str) -> None:
    test_every_element_is_closed_and_every_id_is_unique(page)
    test_tables_have_captions_and_headers(page)
    test_marks_and_texts_are_inside_their_drawing(page)
    test_labels_of_an_axis_do_not_overlap(page)
    test_names_of_quantities_and_stages_are_not_cut(page)
    test_drawings_say_what_they_show(page)
