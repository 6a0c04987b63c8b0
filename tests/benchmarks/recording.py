"""Figures of benchmarks as rows of docs/results/figures.jsonl: `--record` of every benchmark that has it.

A figure that has a row keeps what the row says of it: section, unit, goal, paper, command, engines, summary.
Afterwards `make docs` prints the pages.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from assets.engines import ROOT
from assets.figures import FIGURES_FILE, Figure, Value, engine_versions, read_figures, replace_figure
from tests.benchmarks.harness import present_machine

CODE = ("pipelines", "models", "assets", "simfoundry")


def add_record_option(parser: argparse.ArgumentParser) -> None:
    """Add `--record` to the options of a benchmark."""
    parser.add_argument("--record", action="store_true", help="write rows of docs/results/figures.jsonl")


def record(
    area: str,
    figure: str,
    value: Value | Mapping[str, Value],
    *,
    missed: bool = False,
    new: Figure | None = None,
    path: Path = FIGURES_FILE,
) -> None:
    """Write a measurement with the commit, the machine, the day and the present versions of its engines.

    Args:   area, figure: of the row that is replaced.
            new: what the row says of the figure when there is none; its measurement is not read.
    Raises: SystemExit: there is no such row, and `new` is None.
    """
    row = next((r for r in read_figures(path) if (r.area, r.figure) == (area, figure)), new)
    if row is None:
        raise SystemExit(f"no figure {figure!r} of area {area} in {path}")
    present = engine_versions()
    measured = replace(
        row,
        value=value,
        interval="",
        missed=missed,
        commit=present_commit(),
        engines={name: present[name] for name in row.engines},
        machine=present_machine(),
        date=datetime.now(UTC).date().isoformat(),
    )
    replace_figure(measured, path)


def unmeasured(
    *,
    area: str,
    section: str,
    figure: str,
    command: str,
    engines: Sequence[str],
    goal: str = "",
    unit: str = "",
) -> Figure:
    """Return what a new row says of a figure, for `record`. Args: engines: that it depends on, by name."""
    return Figure(
        area=area,
        section=section,
        figure=figure,
        value="",
        unit=unit,
        goal=goal,
        command=command,
        commit="",
        engines=dict.fromkeys(engines, ""),
        machine="",
        date="",
    )


@cache
def present_commit() -> str:
    """The revision of this checkout; `+changes` behind it when code differs from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    return head + ("+changes" if _git("status", "--porcelain", "--", *CODE) else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def record_cells(section: str, figure: str, cells: Mapping[str, Value], command: str) -> None:
    """Record a row of predictors of labels with its cells, in a section of area `predictor`."""
    new = unmeasured(
        area="predictor",
        section=section,
        figure=figure,
        command=command,
        engines=("hls", "knowledge", "lightgbm"),
    )
    record("predictor", figure, cells, new=new)
