"""Measured figures: rows, pages that are printed from them, commands, and what the README quotes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import click
import pytest

from assets.errors import FoundryError
from assets.figures import (
    AREAS,
    Figure,
    engine_versions,
    read_figures,
    replace_figure,
    write_figures,
)
from assets.results_pages import pages, write_pages
from models.catalogue import predictors
from simfoundry.cli import simfoundry
from tests.benchmarks import network_estimates, people_programs, pragma_area, quick_commands
from tests.benchmarks.recording import record

ROWS = read_figures()
ROW = Figure(
    figure="C to Verilog: gemm",
    area="hls",
    section="High-level synthesis",
    value=0.02,
    unit="s",
    goal="0.1 s",
    command="python -m tests.benchmarks.hls_figures",
    commit="0123456789ab",
    engines={"hls": "1"},
    machine="2 cores",
    date="2026-11-29",
    summary="performance",
)
QUOTE = re.compile(r"\[([^\]]+)\]\(docs/results/(\w+)\.md#([\w-]+)\)")


# ---- pages -------------------------------------------------------------------------------------------


def test_committed_pages_are_the_printed_ones(repository: Path) -> None:
    for path, text in pages(ROWS, engine_versions()).items():
        committed = (repository / "docs" / path).read_text(encoding="utf-8")
        assert committed == text, f"run `make docs` and commit docs/{path}"


def test_page_of_results_is_short(repository: Path) -> None:
    assert len((repository / "docs" / "results.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_a_row_that_is_older_than_its_engine_is_marked_on_every_page(tmp_path: Path) -> None:
    printed = pages([ROW], {"hls": "2"})
    mark = "to be measured again (engine hls 1, now 2)"
    marked = {"results.md", "results/hls.md", "attempts/to-measure.md"}
    assert {path for path, text in printed.items() if mark in text} == marked
    assert not any("engine hls" in text for text in pages([ROW], {"hls": "1"}).values())
    write_pages(tmp_path, [ROW])
    assert "engine hls 1, now " in (tmp_path / "results.md").read_text(encoding="utf-8")


def test_a_page_has_unit_interval_goal_and_what_is_missed() -> None:
    row = replace(ROW, interval="0.01 to 0.03", missed=True)
    page = pages([row], {"hls": "1"})["results/hls.md"]
    assert "0.02 s (0.01 to 0.03) **missed** | 0.1 s | 2026-11-29 |" in page
    assert f"    {ROW.command}\n\nMachine: 2 cores.\n" in page


def test_several_values_of_a_row_are_columns() -> None:
    row = replace(ROW, value={"build, s": 1.5, "KiB": "12, 40"}, unit="")
    page = pages([row], {"hls": "1"})["results/hls.md"]
    assert "| figure | build, s | KiB | goal | date |" in page
    assert "C to Verilog: gemm | 1.5 | 12, 40 | 0.1 s |" in page


# ---- rows ---------------------------------------------------------------------------------------------


def test_rows_are_written_and_read(tmp_path: Path) -> None:
    write_figures([ROW], path := tmp_path / "figures.jsonl")
    assert read_figures(path) == [ROW]
    newer = replace(ROW, value=0.01)
    replace_figure(newer, path)
    replace_figure(other := replace(ROW, figure="C to Verilog: deriche"), path)
    assert read_figures(path) == [newer, other]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goals": "1"}, "not a figure; accepted: an object of area, command, .*:1"),
        ({"area": "metal"}, "unknown area: metal; accepted: main_job, "),
        ({"summary": "first"}, "unknown summary: first; accepted: LLMulator, "),
    ],
)
def test_reading_rejects_what_is_no_figure(tmp_path: Path, change: dict[str, str], message: str) -> None:
    write_figures([ROW], path := tmp_path / "figures.jsonl")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FoundryError, match=message):
        read_figures(path)


def test_reading_rejects_two_rows_of_one_name(tmp_path: Path) -> None:
    write_figures([ROW, ROW], path := tmp_path / "figures.jsonl")
    with pytest.raises(FoundryError, match="two figures have the name"):
        read_figures(path)


def test_a_benchmark_replaces_its_row(tmp_path: Path) -> None:
    write_figures([replace(ROW, interval="0.01 to 0.03", missed=True)], path := tmp_path / "figures.jsonl")
    record(ROW.area, ROW.figure, 0.01, path=path)
    (row,) = read_figures(path)
    assert replace(row, commit=ROW.commit, machine=ROW.machine, date=ROW.date) == replace(
        ROW, value=0.01, engines={"hls": engine_versions()["hls"]}
    )
    assert re.fullmatch(r"[0-9a-f]{12}(\+changes)?", row.commit)
    assert re.match(r"\d+ cores, \d+ GiB, ", row.machine)
    record("hls", "another", 1, new=replace(ROW, figure="another"), path=path)
    assert [one.figure for one in read_figures(path)] == [ROW.figure, "another"]


def test_a_benchmark_cannot_replace_a_row_that_is_not_there(tmp_path: Path) -> None:
    write_figures([ROW], path := tmp_path / "figures.jsonl")
    with pytest.raises(SystemExit, match="no figure 'gone' of area hls in "):
        record("hls", "gone", 1, path=path)


@pytest.mark.parametrize(
    ("area", "figures"),
    [
        ("hls", [f"programs {name}" for name in people_programs.GOAL]),
        ("directives", [pragma_area.FIGURE]),
        ("main_job", [quick_commands.CACHED, *(f"`{text}`" for text, _ in quick_commands.COMMANDS)]),
        ("network", [figure for figure, _ in network_estimates.FIGURES.values()]),
    ],
)
def test_figures_of_benchmarks_have_rows(area: str, figures: Sequence[str]) -> None:
    assert set(figures) <= {row.figure for row in ROWS if row.area == area}


def test_engines_of_rows_are_known() -> None:
    assert {name for row in ROWS for name in row.engines} <= engine_versions().keys()


# ---- commands -----------------------------------------------------------------------------------------


def test_commands_of_rows_parse(repository: Path) -> None:
    faults = {
        row.command: fault for row in ROWS if (fault := command_fault(shlex.split(row.command), repository))
    }
    assert faults == {}


@pytest.mark.parametrize(
    "command",
    [
        "python -m tests.benchmarks.gone",
        "python -m tests.benchmarks.main_job --gone",
        "python tests/benchmarks/gone.py",
        "simfoundry gone",
        "simfoundry release gone",
        "simfoundry predict fir.c --gone",
        "simfoundry train gone",
        "simfoundry train lightgbm-hls -o gone=1",
        "make gone",
        "rm gone",
    ],
)
def test_a_command_that_does_not_exist_is_found(repository: Path, command: str) -> None:
    assert "gone" in command_fault(command.split(), repository)


def command_fault(words: Sequence[str], repository: Path) -> str:
    """The first word of a command that names no script, module, sub-command or option; empty when all do."""
    program, *rest = words
    if program == "python":
        file = f"{rest[1].replace('.', '/')}.py" if rest[0] == "-m" else rest[0]
        return _script_fault(repository / file, rest)
    if program == "simfoundry":
        return _simfoundry_fault(rest)
    if program == "make":
        makefile = (repository / "Makefile").read_text(encoding="utf-8")
        return next((target for target in rest if f"\n{target}:" not in makefile), "")
    if program == "pytest":
        return next((path for path in rest if not (repository / path).exists()), "")
    return "" if program == "git" else " ".join(words)


def _script_fault(script: Path, words: Sequence[str]) -> str:
    if not script.is_file():
        return script.name
    text = script.read_text(encoding="utf-8")
    options = (word.partition("=")[0] for word in words if word.startswith("--"))
    return next((option for option in options if f'"{option}"' not in text), "")


def _simfoundry_fault(words: Sequence[str]) -> str:
    command: click.Command = simfoundry
    rest = list(words)
    while isinstance(command, click.Group) and rest:
        inner = command.get_command(click.Context(command), rest[0])
        if inner is None:
            return rest[0]
        command = inner
        rest.pop(0)
    accepted = {option for parameter in command.params for option in parameter.opts}
    unknown = [word for word in rest if word.startswith("-") and word.partition("=")[0] not in accepted]
    if not unknown and command.name == "train":
        specs = {spec.name: {one.name for one in fields(spec.options)} for spec in predictors()}
        if rest[0] not in specs:
            return rest[0]
        options = [word for flag, word in pairwise(rest) if flag == "-o"]
        unknown = [word for word in options if word.partition("=")[0] not in specs[rest[0]]]
    return unknown[0] if unknown else ""


# ---- README -------------------------------------------------------------------------------------------


def test_readme_quotes_present_figures(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert "docs/attempts" not in readme
    assert len(QUOTE.findall(readme)) == readme.count("docs/results/") > 0
    assert quote_faults(readme, ROWS) == []


@pytest.mark.parametrize(
    ("row", "readme", "fault"),
    [
        (replace(ROW, engines={}), "[0.02](docs/results/hls.md#c-to-verilog-gemm)", []),
        (replace(ROW, engines={}), "[0.03](docs/results/hls.md#c-to-verilog-gemm)", ["0.03: not a value"]),
        (replace(ROW, engines={}), "[0.02](docs/results/hls.md#gone)", ["0.02: no such figure"]),
        (ROW, "[0.02](docs/results/hls.md#c-to-verilog-gemm)", ["0.02: to be measured again"]),
    ],
)
def test_a_wrong_quote_is_found(row: Figure, readme: str, fault: list[str]) -> None:
    assert [one[: len(two)] for one, two in zip(quote_faults(readme, [row]), fault, strict=True)] == fault


def quote_faults(readme: str, rows: Sequence[Figure]) -> list[str]:
    """Quotes `[VALUE](docs/results/AREA.md#FIGURE)` whose figure is missing, stale, or has another value."""
    known = {(row.area, row.anchor): row for row in rows}
    faults: list[str] = []
    for quoted, area, anchor in QUOTE.findall(readme):
        row = known.get((area, anchor))
        if row is None:
            faults.append(f"{quoted}: no such figure")
        elif mark := row.stale_mark(engine_versions()):
            faults.append(f"{quoted}: {mark}")
        elif quoted not in {v if isinstance(v, str) else f"{v:,}" for v in row.values.values()}:
            faults.append(f"{quoted}: not a value of {row.figure}")
    return faults


def test_every_area_has_rows() -> None:
    assert {row.area for row in ROWS} == set(AREAS)
