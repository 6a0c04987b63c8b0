"""The leaderboard page, printed from the baselines of releases and from the entries of docs/leaderboard/.

python -m assets.leaderboard_page docs/leaderboard.md
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assets.engines import ROOT
from assets.errors import FoundryError
from models.catalogue import PredictorSpec, predictors
from models.options import JUDGED_PARTS, LABEL_LEVELS
from models.scoring.entries import ENTRY_BYTES, Entry
from pipelines.base.files import read_bounded
from pipelines.dataset.releases import (
    MANIFEST_FILE,
    Baseline,
    Manifest,
    read_baselines,
    read_manifest,
    tables_hash,
)
from pipelines.schemas import write_bytes_atomically
from pipelines.schemas.documentation import markdown_table

PAGE = ROOT / "docs" / "leaderboard.md"
ENTRIES_FOLDER = ROOT / "docs" / "leaderboard"
RELEASES_FOLDER = ROOT / "releases"
TARGETS: Mapping[str, str] = {
    "area_um2": "area",
    "flip_flop_count": "flip-flops",
    "latency_cycles": "cycles",
    "latency_cycles, trip counts known": "cycles, trips known",
    "latency_cycles, others": "cycles, others",
    "power_mw": "power",
    "delay_ns": "longest path",
}
"""Columns of errors by target."""
_INTRODUCTION = """\
# Leaderboard

Printed by `make docs` from `releases/*/baselines.json` and the entries in `docs/leaderboard/`. One row per
predictor and level of information.

Splits are frozen: the part of a program follows from its name and its near-duplicates, and never changes
([releases](releases.md#checks-of-a-release)). Predictors learn from the parts `train` and `validation`
alone. `test` has programs of the suites, `evaluation` the workloads of papers, `fields` kernels of fields
that no model learns from. Levels: `text` sees the source, `static` what a front end reads, `hls` what
high-level synthesis gives, `run` that and a run of the cycle model, where cycles are known and not
predicted.

Judged are designs with a memory delay of 2, 5 or 10 cycles (15 is the part `unseen_delay`) and labels of the
project's own synthesis; cycles are the median over drawn data.
Errors are mean / median absolute percentage errors over designs; lower is better. A design without an
answer counts as an error of 100 %. `inside` is the share of labels inside the intervals of the answers,
from the least to the largest over the targets; intervals are made for 90 % of programs unlike those of
training. Costs are processor seconds, with the start of Python: of the training, and per answer. Rows of
`baselines.json` have neither.

A further collection, `tests/benchmarks/untouched`, is no part of a release: its labels are made at releases
only, once per release, by those who make it ([suite](programs.md)). No entry is scored on it.

## An entry of your own

1. Write a file that binds `PREDICTOR` ([a predictor](extending.md#a-predictor)), and check it:
   `simfoundry check mine.py --data FOLDER`.
2. `simfoundry score mine.py --release v2 --json > docs/leaderboard/v2-mine.json`
   ([what it sees](cli.md#score-on-a-release)).
3. `make docs`, and propose the entry with the file: the entry has its SHA-256. A reviewer runs the same
   command: errors must be equal, costs need not. A predictor must keep to its level (one of level `text`
   starts no high-level synthesis) and carry no knowledge of judged programs.

An entry belongs to the tables that it was scored on. When a release changes, its entries must be scored
again; the page is not printed before. An entry of a predictor of the project says so when the predictor has
another version since.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One predictor at one level on one release.

    Attributes: entry: None for a row of `baselines.json`. source: where it comes from, in Markdown.
    """

    predictor: str
    level: str
    source: str
    errors: tuple[Baseline, ...]
    entry: Entry | None = None


def leaderboard_page(releases: Path = RELEASES_FOLDER, entries: Path = ENTRIES_FOLDER) -> str:
    """Return the text of the page.

    Raises: FoundryError: an entry is damaged, stands twice, or is of other tables than its release has.
            ReleaseError: the baselines of a release are damaged.
    """
    scored = read_entries(entries)
    manifests = {path.parent.name: read_manifest(path.parent) for path in releases.glob(f"*/{MANIFEST_FILE}")}
    for path, entry in scored.items():
        _require_tables(path, entry, manifests)
    parts = [_INTRODUCTION]
    for name in sorted(manifests):
        rows = _rows(read_baselines(releases / name, manifests[name]), name, scored)
        for split in sorted({error.split for row in rows for error in row.errors}, reverse=True):
            parts.append(_section(name, split, rows))
    return "\n".join(parts)


def read_entries(folder: Path) -> dict[Path, Entry]:
    """Return the entries in a folder by file. Raises: FoundryError: one is damaged, or stands twice."""
    entries: dict[Path, Entry] = {}
    keys: dict[tuple[str, ...], Path] = {}
    for path in sorted(folder.glob("*.json")):
        content = read_bounded(path, what="entry", most_bytes=ENTRY_BYTES, error=FoundryError)
        try:
            entry = Entry.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise FoundryError(f"no entry: {place}: {first['msg']} ({path})") from error
        key = (entry.release, entry.split, entry.predictor, entry.level)
        if key in keys:
            raise FoundryError(f"two entries of {entry.predictor}, level {entry.level}: {keys[key]}, {path}")
        keys[key] = path
        entries[path] = entry
    return entries


def _require_tables(path: Path, entry: Entry, manifests: Mapping[str, Manifest]) -> None:
    manifest = manifests.get(entry.release)
    if manifest is None:
        raise FoundryError(f"no release {entry.release} ({path}); accepted: {', '.join(sorted(manifests))}")
    if entry.tables != tables_hash(manifest.files):
        raise FoundryError(f"entry of other tables than release {entry.release} has: {path}; score it again")


def _rows(baselines: Iterable[Baseline], release: str, scored: Mapping[Path, Entry]) -> list[Row]:
    """Return the rows of a release; an entry stands for the baseline of its predictor on its parts."""
    specs = {spec.name: spec for spec in predictors()}
    rows = [
        Row(
            predictor=entry.predictor,
            level=entry.level,
            source=f"[{entry.origin}]({path.parent.name}/{path.name}){_age(entry, specs)}",
            errors=entry.errors,
            entry=entry,
        )
        for path, entry in scored.items()
        if entry.release == release
    ]
    taken = {(row.predictor, part) for row in rows if row.entry for part in row.entry.parts}
    baselines = [row for row in baselines if (row.predictor, row.part) not in taken]
    for name in dict.fromkeys(row.predictor for row in baselines):
        errors = tuple(row for row in baselines if row.predictor == name)
        level = specs[name].task.level if name in specs else ""
        rows.append(Row(predictor=name, level=level, source="baselines.json", errors=errors))
    return sorted(rows, key=_order)


def _age(entry: Entry, specs: Mapping[str, PredictorSpec[Any]]) -> str:
    """Say that a registered predictor has another version than the one that was scored."""
    spec = specs.get(entry.predictor) if entry.origin != "file" else None
    if spec is None or spec.version == entry.version:
        return ""
    return f", to be scored again (version {entry.version}, now {spec.version})"


def _order(row: Row) -> tuple[int, str]:
    return (LABEL_LEVELS.index(row.level) if row.level in LABEL_LEVELS else -1, row.predictor)  # type: ignore[arg-type]


def _section(release: str, split: str, rows: Sequence[Row]) -> str:
    blocks = [f"## Release {release}, split `{split}`\n"]
    for part in JUDGED_PARTS:
        pairs = [(row, [e for e in row.errors if (e.split, e.part) == (split, part)]) for row in rows]
        shown = [(row, errors) for row, errors in pairs if errors]
        if shown:
            counts = _counts(error for _, errors in shown for error in errors)
            blocks += [f"Part `{part}`. Designs: {counts}.\n", _table(shown, part)]
    return "\n".join(blocks)


def _counts(errors: Iterable[Baseline]) -> str:
    rows = {error.target: error.row_count for error in errors}
    return ", ".join(f"{rows[target]:,} with {name}" for target, name in TARGETS.items() if target in rows)


def _table(rows: Sequence[tuple[Row, Sequence[Baseline]]], part: str) -> str:
    present = {error.target for _, errors in rows for error in errors}
    targets = [target for target in TARGETS if target in present]
    head = (
        *("level", "predictor", "designs"),
        *(f"{TARGETS[target]}, %" for target in targets),
        *("inside, %", "training, s", "answer, s", "without answer", "from"),
    )
    cells: list[tuple[str, ...]] = []
    for row, errors in rows:
        values = {(error.target, error.metric): error.value for error in errors}
        shown = (_errors(values.get((t, "mape")), values.get((t, "median_ape"))) for t in targets)
        count = f"{max(error.row_count for error in errors):,}"
        cells.append((row.level, f"`{row.predictor}`", count, *shown, *_further(row, part), row.source))
    return markdown_table(head, cells)


def _errors(mean: float | None, median: float | None) -> str:
    return "" if mean is None or median is None else f"{100 * mean:.1f} / {100 * median:.1f}"


def _further(row: Row, part: str) -> tuple[str, str, str, str]:
    """Return shares inside, both costs, and designs without an answer; empty for a baseline."""
    entry = row.entry
    if entry is None:
        return "", "", "", ""
    shares = [100 * c.share for c in entry.coverage if c.part == part and c.share is not None]
    inside = f"{min(shares):.0f} to {max(shares):.0f}" if shares else ""
    costs = ("" if cost is None else f"{cost:.3g}" for cost in (entry.training_s, entry.answer_s))
    failed = sum(failure.row_count for failure in entry.failures if failure.part == part)
    return inside, *costs, f"{failed:,}"  # type: ignore[return-value]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the leaderboard page.")
    parser.add_argument("page", type=Path)
    write_bytes_atomically(parser.parse_args().page, leaderboard_page().encode())
