"""Predictors by level: errors, certainty, and what the page says is missing."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from report_examples import stored_predictors

from pipelines.dataset.reports import Report, draw_page, read_report
from pipelines.dataset.reports.inventory import Entry
from pipelines.dataset.reports.levels import read_levels


def _entry(predictor: str, level: str, **changes: str) -> Entry:
    at = {"version": "v", "target": "area_um2", "split": "by_kernel_v1", **changes}
    return Entry(predictor=predictor, level=level, scores={}, costs={}, **at)


@pytest.fixture
def report(example: Path) -> Report:
    return read_report(example, name="x", stored=stored_predictors())


def _section(report: Report) -> str:
    return draw_page(report).partition('<section id="levels">')[2].partition("</section>")[0]


def test_a_certainty_belongs_to_one_target_of_the_version_on_the_leaderboard(report: Report) -> None:
    assert report.levels is not None
    known = {
        (row.entry.predictor, row.entry.target): row.certainty is not None for row in report.levels.entries
    }
    assert known == {
        ("better", "area_um2"): True,
        ("better", "latency_cycles"): False,
        ("worse", "area_um2"): False,
        ("worse", "latency_cycles"): False,
    }


def test_a_training_of_another_version_has_no_say() -> None:
    [better, _] = stored_predictors()
    levels = read_levels([_entry("better", "hls", version="another")], [better])
    assert levels is not None
    assert [row.certainty for row in levels.entries] == [None]
    assert levels.uncertain == ("better (hls)",)


def test_missing_levels_and_curves_are_named(report: Report) -> None:
    assert report.levels is not None
    assert report.levels.absent == ("text", "static", "run")
    assert report.levels.uncertain == ("worse (hls)",)
    section = _section(report)
    assert "No predictor here has level text, static, run." in section
    assert "hence no curve, for worse (hls)" in section


def test_the_curve_has_the_errors_of_the_most_certain_answers(report: Report) -> None:
    section = _section(report)
    [drawing] = re.findall(r"<svg.*?</svg>", section, re.DOTALL)
    assert "better: 2.0 % at 10 %, 4.0 % at 50 %, 12.5 % at 100 %" in drawing
    [line] = re.findall(r'<path d="M([^"]*)" class="curve level-hls">', drawing)
    places = [tuple(map(float, place.split())) for place in line.split("L")]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    risks = [risk for _, risk in stored_predictors()[0].certainties["area_um2"].curve]
    slopes = [
        (y - at) / (risk - before)
        for (risk, before), ((_, y), (_, at)) in zip(pairwise(risks), pairwise(places), strict=True)
    ]
    assert slopes == pytest.approx([slopes[0]] * 2, rel=0.01)
    assert slopes[0] < 0  # down is more


def test_errors_and_intervals_are_in_the_table(report: Report) -> None:
    [row] = [
        row
        for row in re.findall(r"<tr>.*?</tr>", _section(report))
        if "better 00000000" in row and ">Area<" in row
    ]
    assert re.findall(r">([^<>]+)</td>", row)[-3:] == ["90 %", "80 %", "1.50"]


def test_stored_errors_stand_for_an_absent_leaderboard(example: Path) -> None:
    (example / "leaderboard" / "all.parquet").unlink()
    levels = read_report(example, name="x", stored=stored_predictors()).levels
    assert levels is not None
    assert [(row.entry.predictor, row.entry.level) for row in levels.entries] == [("alone", "text")]
    assert levels.absent == ("static", "hls", "run")


def test_predictors_of_other_things_are_no_level() -> None:
    assert read_levels([_entry("routenet", "network")], []) is None
    assert read_levels([], stored_predictors()[:1]) is None


def test_a_second_predictor_of_a_level_has_another_line(example: Path) -> None:
    [better, _] = stored_predictors()
    twins = [
        better,
        type(better)(predictor="worse", version="0" * 32, entries=(), certainties=better.certainties),
    ]
    section = _section(read_report(example, name="x", stored=twins))
    assert 'class="curve level-hls"' in section
    assert 'class="curve level-hls another"' in section


def test_a_page_without_predictors_has_no_levels(example: Path) -> None:
    (example / "leaderboard" / "all.parquet").unlink()
    assert 'id="levels"' not in draw_page(read_report(example, name="x"))
