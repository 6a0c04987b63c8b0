"""What was made: rows by table, suite, stage and status; versions; failures and their reasons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.reports.samples import (
    STAGE_ORDER,
    UNKNOWN_STAGE,
    Samples,
    design_stages,
    program_stages,
)
from pipelines.reports.tables import TableSet
from pipelines.schemas import OK, STATUSES, TableSpec

BY_DESIGN = ("labels", "runs")
REASON_LENGTH = 160
REASONS_SHOWN = 40
TABLE_STAGES = ("programs", "designs", "labels", "features")
"""Order of tables by the stage that makes them; other stages follow."""

ATTEMPT_TABLES = ("programs", "designs", "labels", "runs", "power")
"""What has a status; power is a second attempt in each row of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCount:
    """Rows of a table and what one row is."""

    table: str
    rows: int
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCount:
    """Rows of a suite and stage: (ok, all) by table."""

    suite: str
    stage: str
    counts: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCount:
    """Rows that one version of a tool made."""

    table: str
    tool: str
    version: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusCount:
    """Rows of a table and stage by status."""

    table: str
    stage: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureReason:
    """Rows that failed for one reason; numbers in reasons do not tell them apart.

    Attributes:
        reason: the first of them by name, cut at REASON_LENGTH characters.
    """

    table: str
    stage: str
    status: str
    reason: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What was made, and what failed."""

    tables: tuple[TableCount, ...]
    suites: tuple[SuiteCount, ...]
    versions: tuple[VersionCount, ...]
    statuses: tuple[StatusCount, ...]
    reasons: tuple[FailureReason, ...]
    program_count: int
    design_count: int
    labelled_count: int
    evaluation_program_count: int


def take_inventory(tables: TableSet, programs: Samples, designs: Samples) -> Inventory:
    """Count the rows of all tables."""
    attempts = _Attempts(tables)
    return Inventory(
        tables=tuple(_table_counts(tables)),
        suites=tuple(attempts.suites()),
        versions=tuple(_versions(tables)),
        statuses=tuple(attempts.statuses()),
        reasons=tuple(attempts.reasons()),
        program_count=len(programs.ids),
        design_count=len(designs.ids),
        labelled_count=sum(designs.is_ok),
        evaluation_program_count=programs.stages.count("evaluation"),
    )


def _table_counts(tables: TableSet) -> list[TableCount]:
    """Tables in the order of the stages that make them; those this version does not know last."""
    known = [n for n in TableSpec.registry if n in tables.contents]
    stages = {n: TableSpec.registry[n].stage for n in known}
    order = dict.fromkeys((*TABLE_STAGES, *sorted(stages.values())))
    place = {stage: index for index, stage in enumerate(order)}
    names = sorted(known, key=lambda n: place[stages[n]]) + sorted(set(tables.contents) - set(known))
    meanings = {n: TableSpec.registry[n].description for n in known}
    return [TableCount(table=n, rows=tables.row_count(n), meaning=meanings.get(n, "")) for n in names]


def _versions(tables: TableSet) -> list[VersionCount]:
    columns = {
        "designs": (("tool", "tool_version"),),
        "labels": (("tool", "tool_version"),),
        "runs": (
            ("engine", "engine_version"),
            ("audit_engine", "audit_engine_version"),
            ("power_engine", "power_engine_version"),
        ),
        "network_runs": (("tool", "tool_version"),),
    }
    found: Counter[tuple[str, str, str]] = Counter()
    for table, pairs in columns.items():
        for tool, version in pairs:
            found.update(
                (table, name, number)
                for name, number in zip(tables.texts(table, tool), tables.texts(table, version), strict=True)
                if name
            )
    return [VersionCount(table=t, tool=n, version=v, rows=rows) for (t, n, v), rows in sorted(found.items())]


class _Attempts:
    """Table, suite, stage, status and reason of every row that is an attempt."""

    def __init__(self, tables: TableSet) -> None:
        by_program, by_design = program_stages(tables), design_stages(tables)
        self.rows: Counter[tuple[str, str, str, str, str]] = Counter()
        for name in ATTEMPT_TABLES:
            table = "runs" if name == "power" else name
            prefix = "power_" if name == "power" else ""
            keyed, stage_of = ("design_id", by_design) if table in BY_DESIGN else ("program_id", by_program)
            columns = [tables.texts(table, c) for c in (keyed, "suite", f"{prefix}status", f"{prefix}reason")]
            for identity, suite, status, reason in zip(*columns, strict=True):
                if status:
                    self.rows[name, suite, stage_of.get(identity, UNKNOWN_STAGE), status, reason] += 1

    def suites(self) -> list[SuiteCount]:
        counts: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
        for (table, suite, stage, status, _), rows in self.rows.items():
            entry = counts.setdefault((suite, stage), {})
            ok, total = entry.get(table, (0, 0))
            entry[table] = (ok + rows * (status == OK), total + rows)
        places = sorted(counts, key=lambda place: (_stage_place(place[1]), place[0]))
        return [SuiteCount(suite=suite, stage=stage, counts=counts[suite, stage]) for suite, stage in places]

    def statuses(self) -> list[StatusCount]:
        counts: dict[tuple[str, str], Counter[str]] = {}
        for (table, _, stage, status, _), rows in self.rows.items():
            counts.setdefault((table, stage), Counter())[status] += rows
        places = sorted(counts, key=lambda p: (ATTEMPT_TABLES.index(p[0]), _stage_place(p[1])))
        return [
            StatusCount(table=table, stage=stage, counts=_in_order_of_statuses(counts[table, stage]))
            for table, stage in places
        ]

    def reasons(self) -> list[FailureReason]:
        counts: Counter[tuple[str, str, str, str]] = Counter()
        said: dict[tuple[str, str, str, str], str] = {}
        for (table, _, stage, status, reason), rows in sorted(self.rows.items()):
            if status != OK:
                same, text = tell_reason(reason)
                counts[table, stage, status, same] += rows
                said.setdefault((table, stage, status, same), text)
        order = sorted(counts, key=lambda k: (-counts[k], k))
        return [
            FailureReason(table=k[0], stage=k[1], status=k[2], reason=said[k], rows=counts[k]) for k in order
        ]


def tell_reason(reason: str) -> tuple[str, str]:
    """What a reason has in common with those that differ in numbers only, and how the page shows it."""
    text = " ".join(reason.split()) or "no reason was given"
    shown = text if len(text) <= REASON_LENGTH else text[: REASON_LENGTH - 1] + "…"
    return re.sub(r"\d+(\.\d+)?", "#", text), shown


def _in_order_of_statuses(counts: Counter[str]) -> dict[str, int]:
    """Counts of every status, those of another version last."""
    return {status: counts[status] for status in (*STATUSES, *sorted(set(counts) - set(STATUSES)))}


def _stage_place(stage: str) -> tuple[int, str]:
    return (STAGE_ORDER.index(stage) if stage in STAGE_ORDER else len(STAGE_ORDER), stage)
