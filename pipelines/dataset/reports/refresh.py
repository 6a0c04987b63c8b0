"""What a run changed in the tables, and which models it promoted or kept: figures and their page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from pipelines.dataset.reports.drawing.markup import (
    TEXT,
    Column,
    Element,
    count,
    duration,
    element,
    note,
    plural,
    render,
    section,
    tabulate,
)
from pipelines.schemas import OK, TableSpec, fill_columns, read_arrow, to_frame

REASON_LENGTH = 160
REASONS_SHOWN = 40
NO_REASON = "no reason"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChange:
    """Rows of one table before and after a run, by key.

    Attributes:
        rows: now. new, removed: only after, only before. changed: of the same key with other values.
        failed: now. newly_failed: failed now, and absent or not failed before.
    """

    table: str
    rows: int = 0
    new: int = 0
    removed: int = 0
    changed: int = 0
    failed: int = 0
    newly_failed: int = 0

    @property
    def is_change(self) -> bool:
        """Whether any row differs."""
        return bool(self.new or self.removed or self.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFailure:
    """Rows of one table that failed for the same reason and had not failed before."""

    table: str
    status: str
    reason: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDecision:
    """What a run did with one model.

    Attributes: version: that the decision is about; the champion's where nothing was trained anew.
    """

    model: str
    version: str
    decision: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """One run and what it changed.

    Attributes:
        started: time of day as ISO 8601. wall_s: of the whole run.
        problems: what stopped a step. notes: anything else the run said.
    """

    started: str
    wall_s: float
    changes: tuple[TableChange, ...]
    failures: tuple[NewFailure, ...] = ()
    models: tuple[ModelDecision, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)

    @classmethod
    def of_json(cls, content: dict[str, Any]) -> Refresh:
        """Return the refresh that `as_json` gave."""
        return cls(
            started=content["started"],
            wall_s=content["wall_s"],
            changes=tuple(TableChange(**row) for row in content["changes"]),
            failures=tuple(NewFailure(**row) for row in content["failures"]),
            models=tuple(ModelDecision(**row) for row in content["models"]),
            problems=tuple(content["problems"]),
            notes=tuple(content["notes"]),
        )


def compare_tables(before: Path, after: Path) -> tuple[list[TableChange], list[NewFailure]]:
    """Compare the rows of two folders of tables by key; files of equal bytes are not read.

    Args:    before, after: folders with `<table>/<partition>.parquet`.
    Returns: a change per table that has rows on a side; reasons of rows that failed now and not before.
    Raises:  SchemaError: a file is damaged.
    """
    changes: list[TableChange] = []
    failures: list[NewFailure] = []
    for spec in sorted(TableSpec.registry.values(), key=lambda spec: spec.name):
        old, new = (_partitions(folder / spec.name) for folder in (before, after))
        if not old and not new:
            continue
        differing = [name for name in {**old, **new} if not _same(old.get(name), new.get(name))]
        was, now = (_frame(spec, [side[n] for n in differing if n in side]) for side in (old, new))
        untouched = [path for name, path in new.items() if name not in differing]
        rows = sum(pq.read_metadata(path).num_rows for path in new.values())
        change, reasons = _compare(spec, was, now)
        failed = change.failed + sum(_failed_count(spec, path) for path in untouched)
        changes.append(replace(change, rows=rows, failed=failed))
        failures += reasons
    return changes, sorted(failures, key=lambda f: (-f.rows, f.table, f.reason))


def _partitions(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(folder.glob("*.parquet")) if not path.name.startswith(".")}


def _same(one: Path | None, other: Path | None) -> bool:
    if one is None or other is None:
        return False
    if one.samefile(other):
        return True
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()


def _frame(spec: TableSpec, paths: Sequence[Path]) -> pl.DataFrame:
    """Return the rows of files; columns that an older file lacks are null."""
    schema = spec.schema()
    frames = [to_frame(fill_columns(read_arrow(path), schema)) for path in paths]
    rows = pl.concat([to_frame(schema.empty_table()), *frames])
    lists = [name for name, kind in rows.schema.items() if isinstance(kind, pl.List)]
    return rows.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join("\n") for name in lists)


def _has_status(spec: TableSpec) -> bool:
    return {"status", "reason"} <= set(spec.schema().names)


def _failed_count(spec: TableSpec, path: Path) -> int:
    if not _has_status(spec):
        return 0
    statuses = read_arrow(path, columns=["status"]).column("status")
    return sum(status != OK for status in statuses.to_pylist())


def _compare(spec: TableSpec, was: pl.DataFrame, now: pl.DataFrame) -> tuple[TableChange, list[NewFailure]]:
    """Return the counts of rows of the files that differ, and reasons of new failures."""
    key = list(spec.key)
    both = now.join(was, on=key, how="inner", nulls_equal=True).height
    same = now.join(was.unique(), on=now.columns, how="semi", nulls_equal=True).height
    counts = {"new": now.height - both, "removed": was.height - both, "changed": both - same}
    if not _has_status(spec):
        return TableChange(table=spec.name, **counts), []
    failed = now.filter(pl.col("status") != OK)
    newly = failed.join(was.filter(pl.col("status") != OK), on=key, how="anti", nulls_equal=True)
    reason = pl.col("reason").fill_null(NO_REASON).str.replace_all(r"\s+", " ").str.slice(0, REASON_LENGTH)
    reasons = newly.group_by("status", reason).len().iter_rows()
    change = TableChange(table=spec.name, failed=failed.height, newly_failed=newly.height, **counts)
    return change, [NewFailure(table=spec.name, status=s, reason=r, rows=n) for s, r, n in reasons]


# ---- page ------------------------------------------------------------------------------------------

_SECTIONS = {"rows": "Rows", "failures": "New failures", "models": "Models", "runs": "Earlier runs"}


def draw_refresh(refreshes: Sequence[Refresh]) -> str:
    """Draw the page of the last run, the earlier ones below, as one HTML file that needs nothing else.

    Args: refreshes: in order of time, at least one.
    """
    last = refreshes[-1]
    title = f"What the run of {last.started} did"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · Simfoundry"),
        element("style", _drawing_file("page.css")),
    )
    links = [element("li", element("a", text, href=f"#{name}")) for name, text in _SECTIONS.items()]
    header = element("header", element("h1", title), element("p", summary(last), class_="lead"))
    drawn = [_rows(last), _failures(last), _models(last), _runs(refreshes)]
    body = element(
        "body",
        element("nav", element("ul", links), aria_label="Sections"),
        element("main", header, drawn),
        element("script", _drawing_file("page.js")),
    )
    return "<!DOCTYPE html>\n" + render(element("html", head, body, lang="en")) + "\n"


def summary(refresh: Refresh) -> str:
    """Return one line for people."""
    totals = {n: sum(getattr(c, n) for c in refresh.changes) for n in ("new", "changed", "removed")}
    rows = ", ".join(f"{count(number)} {name}" for name, number in totals.items())
    promoted = sum(model.decision == "promoted" for model in refresh.models)
    failed = sum(change.newly_failed for change in refresh.changes)
    return (
        f"{duration(refresh.wall_s)}; rows: {rows}, {count(failed)} newly failed; "
        f"models: {promoted} promoted, {len(refresh.models) - promoted} kept; "
        f"{plural(len(refresh.problems), 'problem')}"
    )


def _rows(refresh: Refresh) -> Element:
    shown = [change for change in refresh.changes if change.is_change]
    numbers = ("rows", "new", "changed", "removed", "failed", "newly_failed")
    columns = [Column(title="Table", kind=TEXT)]
    columns += [Column(title=name.replace("_", " ").capitalize()) for name in numbers]
    cells = [(c.table, *(count(getattr(c, name)) for name in numbers)) for c in shown]
    same = len(refresh.changes) - len(shown)
    return section(
        "rows",
        _SECTIONS["rows"],
        tabulate("Table", columns, cells) if shown else note("Nothing new: every row is as it was."),
        note(f"{plural(same, 'table')} without a change.") if shown and same else None,
    )


def _failures(refresh: Refresh) -> Element:
    kinds = ("Table", "Status", "Reason")
    columns = [*(Column(title=name, kind=TEXT) for name in kinds), Column(title="Rows")]
    shown = refresh.failures[:REASONS_SHOWN]
    cells = [(f.table, f.status, f.reason, count(f.rows)) for f in shown]
    problems = [element("li", problem) for problem in refresh.problems]
    return section(
        "failures",
        _SECTIONS["failures"],
        tabulate("Table", columns, cells) if shown else note("No row failed that had not failed before."),
        element("div", note("Steps that stopped:"), element("ul", problems)) if problems else None,
    )


def _models(refresh: Refresh) -> Element:
    columns = [Column(title=name, kind=TEXT) for name in ("Model", "Version", "Decision", "Why")]
    cells = [(m.model, m.version, m.decision, m.reason) for m in refresh.models]
    return section(
        "models",
        _SECTIONS["models"],
        tabulate("Model", columns, cells) if cells else note("No model is registered."),
    )


def _runs(refreshes: Sequence[Refresh]) -> Element:
    columns = [Column(title="Started", kind=TEXT), Column(title="What it did", kind=TEXT)]
    cells = [(refresh.started, summary(refresh)) for refresh in reversed(refreshes)]
    return section("runs", _SECTIONS["runs"], tabulate("Started", columns, cells))


def _drawing_file(name: str) -> str:
    return files("pipelines.dataset.reports.drawing").joinpath(name).read_text(encoding="utf-8")
