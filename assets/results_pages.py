"""Pages of measured figures, printed from the rows of docs/results/figures.jsonl.

    python -m assets.results_pages docs

One page has a summary, one page per area has all its rows, and docs/attempts/to-measure.md lists the rows
that are older than an engine that they measure. Errors of baselines come from the release.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from assets.engines import ROOT
from assets.figures import AREAS, PAPERS, SUMMARIES, Figure, Value, engine_versions, read_figures
from pipelines.dataset.releases.baselines import Baseline, read_baselines
from pipelines.dataset.releases.manifest import read_manifest
from pipelines.schemas import write_bytes_atomically
from pipelines.schemas.documentation import markdown_table

MISSED = "**missed**"
_GENERATED = "Printed by `make docs` from `docs/results/figures.jsonl`; benchmarks write its rows."
_SUMMARY = f"""\
# Measured figures

{_GENERATED}
{MISSED} marks a missed goal. A row that is older than an engine that it measures says so. Times depend on the
machine; rows of tables do not. Causes and attempts: [attempts](attempts/).
"""
_BASELINES_RELEASE = "v2"


def pages(rows: Sequence[Figure], present: Mapping[str, str]) -> dict[str, str]:
    """Return the text of every page by its path in `docs/`.

    Args:   rows: all figures. present: version of every engine now, see `engine_versions`.
    """
    areas = {f"results/{area}.md": area_page(area, rows, present) for area in AREAS}
    return {
        "results.md": summary_page(rows, present),
        "attempts/to-measure.md": stale_page(rows, present),
        **areas,
    }


def summary_page(rows: Sequence[Figure], present: Mapping[str, str]) -> str:
    """Return the results page: first the systems of the papers, then other summary figures of the project."""
    papers = [row for name in PAPERS for row in rows if row.summary == name]
    header = ("paper", "figure", "paper's", "ours", "goal", "command")
    cells = [
        (row.summary, _linked(row), row.paper, _measured(row, present), row.goal, f"`{row.command}`")
        for row in papers
    ]
    parts = [_SUMMARY, "## Systems of the five papers\n", markdown_table(header, cells)]
    for name in SUMMARIES[len(PAPERS) :]:
        cells = [
            (_linked(row), _measured(row, present), row.goal, f"`{row.command}`")
            for row in rows
            if row.summary == name
        ]
        parts += [
            f"## {name.capitalize()}\n",
            markdown_table(("figure", "measured", "goal", "command"), cells),
        ]
    links = ", ".join(f"[{title}](results/{area}.md)" for area, title in AREAS.items())
    return "\n".join([*parts, "## All figures\n", f"By area: {links}.\n"])


def area_page(area: str, rows: Sequence[Figure], present: Mapping[str, str]) -> str:
    """Return all figures of an area, in tables of rows with the same section, command, machine and values."""
    parts = [f"# {AREAS[area]}\n", f"{_GENERATED} Causes and attempts: [attempts](../attempts/{area}.md).\n"]
    own = [row for row in rows if row.area == area]
    for section in dict.fromkeys(row.section for row in own):
        if section != AREAS[area]:
            parts.append(f"## {section}\n")
        grouped = groupby((row for row in own if row.section == section), key=_table_key)
        parts += [_table(list(group), present) for _, group in grouped]
    if area == "predictor":
        parts.append(baselines_section(ROOT / "releases" / _BASELINES_RELEASE))
    return "\n".join(parts)


def stale_page(rows: Sequence[Figure], present: Mapping[str, str]) -> str:
    """Return the list of figures that are older than an engine that they measure."""
    stale = [(row, mark) for row in rows if (mark := row.stale_mark(present))]
    cells = [
        (f"[{row.figure}](../results/{row.area}.md#{row.anchor})", AREAS[row.area], mark, f"`{row.command}`")
        for row, mark in stale
    ]
    table = markdown_table(("figure", "area", "engine", "command"), cells)
    return f"# Figures to be measured again\n\n{_GENERATED}\n\n{len(stale)} of {len(rows)} rows.\n\n{table}"


def _table_key(row: Figure) -> tuple[object, ...]:
    return row.command, row.machine, tuple(row.values)


def _table(rows: Sequence[Figure], present: Mapping[str, str]) -> str:
    """Return one table under its command and machine; columns without any value are left out."""
    first = rows[0]
    names = tuple(first.values)
    header = ("figure", *names, "goal", "paper", "date", "")
    cells: list[tuple[str, ...]] = []
    for row in rows:
        values = (_value(row),) if names == ("measured",) else tuple(map(_text, row.values.values()))
        name = f'<a id="{row.anchor}"></a>{row.figure}'
        cells.append((name, *values, row.goal, row.paper, row.date, row.stale_mark(present)))
    used = [i for i in range(len(header)) if any(row[i] for row in cells)]
    table = markdown_table([header[i] for i in used], [[row[i] for i in used] for row in cells])
    return f"    {first.command}\n\nMachine: {first.machine}.\n\n{table}"


def _linked(row: Figure) -> str:
    return f"[{row.figure}](results/{row.area}.md#{row.anchor})"


def _measured(row: Figure, present: Mapping[str, str]) -> str:
    mark = row.stale_mark(present)
    return f"{_value(row)}; {mark}" if mark else _value(row)


def _value(row: Figure) -> str:
    """Return the measurement with unit, interval and the mark of a missed goal, in one cell."""
    if isinstance(row.value, Mapping):
        text = "; ".join(f"{name}: {_text(value)}" for name, value in row.value.items() if value != "")
    else:
        text = f"{_text(row.value)} {row.unit}".rstrip()
    interval = f" ({row.interval})" if row.interval else ""
    missed = f" {MISSED}" if row.missed and MISSED not in text else ""
    return f"{text}{interval}{missed}"


def _text(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:,}"


# ---- releases ------------------------------------------------------------------------------------------


def baselines_section(folder: Path) -> str:
    """Return the errors of the baselines of a release, from its own file, in percent with 95 % intervals."""
    rows = read_baselines(folder, read_manifest(folder))
    header = ("target", "predictor", "part", "designs", "mean error, %", "median error, %", "rank")
    cells: list[tuple[str, ...]] = []
    for (target, predictor, part), group in groupby(rows, key=lambda r: (r.target, r.predictor, r.part)):
        errors = {row.metric: row for row in group}
        first = next(iter(errors.values()))
        metrics = (_percent(errors["mape"]), _percent(errors["median_ape"]), _rank(errors["spearman"]))
        cells.append((f"`{target}`", f"`{predictor}`", part, f"{first.row_count:,}", *metrics))
    return (
        f"## Baselines of release {folder.name}\n\n"
        f"    python -m tests.benchmarks.release_baselines --release releases/{folder.name}\n\n"
        f"From `releases/{folder.name}/baselines.json`, split `{rows[0].split}`; 95 % intervals.\n\n"
        f"{markdown_table(header, cells)}"
    )


def _percent(row: Baseline) -> str:
    if row.value is None or row.interval_low is None or row.interval_high is None:
        return ""
    return f"{row.value:.1%} ({row.interval_low:.1%} to {row.interval_high:.1%})".replace("%", "")


def _rank(row: Baseline) -> str:
    return "" if row.value is None else f"{row.value:.2f}"


def write_pages(docs: Path, rows: Sequence[Figure]) -> None:
    """Write every page below a folder of documentation."""
    for path, text in pages(rows, engine_versions()).items():
        write_bytes_atomically(docs / path, text.encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the pages of measured figures.")
    parser.add_argument("docs", type=Path)
    write_pages(parser.parse_args().docs, read_figures())
