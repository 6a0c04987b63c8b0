"""Rows by table, suite, stage and status; versions; failures and their reasons; checks; time; leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.base.summation import ordered_sum
from pipelines.dataset.reports.samples import EVALUATION, LABELS, STAGE_ORDER, UNKNOWN_STAGE
from pipelines.dataset.reports.statistics import Quantiles, quantiles_of
from pipelines.dataset.reports.tables import TableSet
from pipelines.schemas import OK, STATUSES, TableSpec

REASON_LENGTH = 160
REASONS_SHOWN = 40
CHECK_REASONS_SHOWN = 3
TABLE_STAGES = ("programs", "designs", "labels", "features")
"""Order of tables by the stage that makes them; other stages follow."""

ATTEMPT_TABLES = ("programs", "designs", "labels", "runs", "power")
"""Rows with a status by suite; power is a second attempt in each row of runs."""

PARTS = ("test", "evaluation", "validation", "train")
SECONDS_PER_HOUR = 3600.0
WALL_SUFFIX = "_wall_s"


# ---- rows ------------------------------------------------------------------------------------------


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
    """Rows of one version of a tool."""

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
    """Rows of all tables, and failures."""

    tables: tuple[TableCount, ...]
    suites: tuple[SuiteCount, ...]
    versions: tuple[VersionCount, ...]
    statuses: tuple[StatusCount, ...]
    reasons: tuple[FailureReason, ...]
    program_count: int
    design_count: int
    labelled_count: int
    evaluation_program_count: int


def take_inventory(tables: TableSet, programs: pl.DataFrame, designs: pl.DataFrame) -> Inventory:
    """Count the rows of all tables."""
    attempts = _attempts(tables, programs, designs)
    return Inventory(
        tables=tuple(_table_counts(tables)),
        suites=tuple(_suites(attempts)),
        versions=tuple(_versions(tables)),
        statuses=tuple(_statuses(attempts)),
        reasons=tuple(_reasons(attempts)),
        program_count=programs.height,
        design_count=designs.height,
        labelled_count=int(designs["is_ok"].sum()),
        evaluation_program_count=int((programs["stage"] == EVALUATION).sum()),
    )


def _table_counts(tables: TableSet) -> list[TableCount]:
    """Return the tables in the order of the stages that make them; those this version does not know last."""
    known = [n for n in TableSpec.registry if n in tables.contents]
    stages = {n: TableSpec.registry[n].stage for n in known}
    order = dict.fromkeys((*TABLE_STAGES, *sorted(stages.values())))
    place = {stage: index for index, stage in enumerate(order)}
    names = sorted(known, key=lambda n: place[stages[n]]) + sorted(set(tables.contents) - set(known))
    meanings = {n: TableSpec.registry[n].description for n in known}
    return [TableCount(table=n, rows=tables.row_count(n), meaning=meanings.get(n, "")) for n in names]


def _versions(tables: TableSet) -> list[VersionCount]:
    rows = pl.concat(
        tables.scan(spec.name, texts=(tool, version)).select(
            table=pl.lit(spec.name), tool=pl.col(tool), version=pl.col(version)
        )
        for spec in TableSpec.registry.values()
        for tool, version in spec.tool_columns
    )
    key = ("table", "tool", "version")
    counts = rows.filter(pl.col("tool") != "").group_by(key).agg(rows=pl.len()).sort(key)
    return [VersionCount(**row) for row in counts.collect().to_dicts()]


def _attempts(tables: TableSet, programs: pl.DataFrame, designs: pl.DataFrame) -> pl.DataFrame:
    """Return the number of attempts by table, suite, stage, status and reason, in this order."""
    pieces: list[pl.LazyFrame] = []
    for name in attempted_tables(tables):
        table, prefix = ("runs", "power_") if name == "power" else (name, "")
        columns = tables.contents[table].columns if table in tables.contents else []
        is_of_design = "design_id" in columns and "program_id" not in columns
        key, known = ("design_id", designs) if is_of_design else ("program_id", programs)
        rows = tables.scan(table, texts=(key, "suite", f"{prefix}status", f"{prefix}reason"))
        rows = rows.join(known.lazy().select(key, "stage"), on=key, how="left")
        pieces.append(
            rows.select(
                "suite",
                pl.col("stage").fill_null(UNKNOWN_STAGE),
                table=pl.lit(name),
                status=pl.col(f"{prefix}status"),
                reason=pl.col(f"{prefix}reason"),
            )
        )
    key = ("table", "suite", "stage", "status", "reason")
    rows = pl.concat(pieces).filter(pl.col("status") != "")
    return rows.group_by(key).agg(rows=pl.len()).sort(key).collect()


def attempted_tables(tables: TableSet) -> list[str]:
    """Return the tables whose rows have a status, those in ATTEMPT_TABLES first."""
    others = sorted(
        name
        for name, content in tables.contents.items()
        if "status" in content.columns and name not in ATTEMPT_TABLES
    )
    return [*ATTEMPT_TABLES, *others]


def _suites(attempts: pl.DataFrame) -> list[SuiteCount]:
    attempts = attempts.filter(pl.col("table").is_in(ATTEMPT_TABLES))
    ok = pl.col("rows").filter(pl.col("status") == OK).sum()
    counts = attempts.group_by("suite", "stage", "table").agg(ok=ok, total=pl.col("rows").sum())
    by_place: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
    for suite, stage, table, passed, total in counts.iter_rows():
        by_place.setdefault((suite, stage), {})[table] = (passed, total)
    places = sorted(by_place, key=lambda place: (_stage_rank(place[1]), place[0]))
    return [SuiteCount(suite=suite, stage=stage, counts=by_place[suite, stage]) for suite, stage in places]


def _statuses(attempts: pl.DataFrame) -> list[StatusCount]:
    """Count every status, statuses of another version last."""
    counts = attempts.group_by("table", "stage", "status").agg(pl.col("rows").sum()).sort("status")
    by_place: dict[tuple[str, str], dict[str, int]] = {}
    for table, stage, status, rows in counts.iter_rows():
        by_place.setdefault((table, stage), dict.fromkeys(STATUSES, 0))[status] = rows
    places = sorted(by_place, key=lambda p: (_table_rank(p[0]), _stage_rank(p[1])))
    return [StatusCount(table=table, stage=stage, counts=by_place[table, stage]) for table, stage in places]


def _reasons(attempts: pl.DataFrame) -> list[FailureReason]:
    reasons = count_reasons(attempts.filter(pl.col("status") != OK), ("table", "stage", "status"))
    return [FailureReason(**row) for row in reasons.to_dicts()]


def count_reasons(rows: pl.DataFrame, places: Sequence[str]) -> pl.DataFrame:
    """Sum the column `rows` of failures by place and reason, the commonest first.

    Reasons that differ in numbers only count as one. The page shows the first of them in the order of the
    frame, cut at REASON_LENGTH characters.

    Returns: the places, `reason` and `rows`.
    """
    text = pl.col("reason").str.replace_all(r"\s+", " ").str.strip_chars().replace("", "no reason was given")
    cut = pl.concat_str(text.str.slice(0, REASON_LENGTH - 1), pl.lit("…"))
    shown = pl.when(text.str.len_chars() <= REASON_LENGTH).then(text).otherwise(cut)
    key = (*places, "same")
    return (
        rows.lazy()
        .with_columns(reason=shown, same=text.str.replace_all(r"\d+(\.\d+)?", "#"))
        .group_by(key, maintain_order=True)
        .agg(pl.col("reason").first(), pl.col("rows").sum())
        .sort("rows", *key, descending=[True, *[False] * len(key)])
        .drop("same")
        .collect()
    )


def _table_rank(table: str) -> tuple[int, str]:
    return (ATTEMPT_TABLES.index(table) if table in ATTEMPT_TABLES else len(ATTEMPT_TABLES), table)


def _stage_rank(stage: str) -> tuple[int, str]:
    return (STAGE_ORDER.index(stage) if stage in STAGE_ORDER else len(STAGE_ORDER), stage)


# ---- checks ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One figure against one tool.

    Attributes:
        compared: rows whose comparison was made; passed: those within what is allowed.
        unmade: rows whose comparison could not be made.
        allowed: largest deviation of either sign that passes, the widest of the rows.
        deviations: value over reference less one, of the rows that were compared; None without any.
        worst: the greatest of them, either sign.
        reasons: the commonest reasons of rows that were not made or did not pass, with their number.
    """

    check: str
    tools: tuple[str, ...]
    compared: int
    passed: int
    unmade: int
    allowed: float
    deviations: Quantiles | None
    worst: float | None
    reasons: tuple[tuple[str, int], ...]


def read_checks(tables: TableSet) -> list[Check]:
    """Read every check of the table by name."""
    texts = ("check", "status", "reason", "tool", "tool_version")
    rows = tables.scan("cross_checks", texts=texts, numbers=("deviation", "allowed"), flags=("passed",))
    by_check = rows.sort("check").collect().partition_by("check", maintain_order=True)
    return [_check(own) for own in by_check]


def _check(rows: pl.DataFrame) -> Check:
    rows = rows.with_columns(
        is_made=pl.col("status") == OK,
        passed=pl.col("passed").fill_null(False),
        reason=pl.col("reason").str.replace_all(r"\s+", " ").str.strip_chars(),
        tool=pl.concat_str("tool", "tool_version", separator=" ").str.strip_chars(),
    )
    compared = rows.filter("is_made")
    deviations = compared["deviation"].drop_nulls()
    faults = rows.filter(~pl.col("passed")).group_by("reason").agg(rows=pl.len())
    faults = faults.sort("rows", "reason", descending=[True, False]).head(CHECK_REASONS_SHOWN)
    return Check(
        check=rows["check"][0],
        tools=tuple(rows["tool"].unique().sort()),
        compared=compared.height,
        passed=int(compared["passed"].sum()),
        unmade=rows.height - compared.height,
        allowed=float(rows["allowed"].cast(pl.Float64).max() or 0.0),  # pyright: ignore[reportArgumentType]
        deviations=quantiles_of(deviations) if deviations.len() else None,
        worst=max(deviations, key=abs, default=None),
        reasons=tuple(faults.iter_rows()),
    )


# ---- time ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """One wall-clock column.

    Attributes:
        step: name of the column without its ending, or of the table when nothing is left.
        meaning: description of the column.
        seconds: of each run of the step.
        share: of the time of all columns.
    """

    table: str
    step: str
    meaning: str
    seconds: Quantiles
    total_s: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All steps, longest first.

    Attributes:
        labelled_count: designs that are ok with all labels.
        designs_per_core_hour: of these; a step's time is of one core, beside other work on the machine.
    """

    steps: tuple[StepTime, ...]
    total_s: float
    labelled_count: int
    designs_per_core_hour: float


def measure_time(tables: TableSet, designs: pl.DataFrame) -> Timing | None:
    """Sum the wall-clock columns of all tables; None when there is none.

    Rows that share one run of a tool (designs of one Verilog text, data sets of one program) have the same
    time, bit by bit, and it counts once.
    """
    columns = [
        (table, name, seconds, float(seconds.sum()))
        for table in sorted(tables.contents)
        for name in tables.number_columns(table)
        if f"_{name}".endswith(WALL_SUFFIX)
        for seconds in [tables.scan(table, numbers=(name,)).collect()[name].drop_nulls().unique().sort()]
    ]
    columns = [column for column in columns if column[3] > 0]
    total = ordered_sum(seconds for *_, seconds in columns)
    if not columns:
        return None
    steps = [
        StepTime(
            table=table,
            step=name.removesuffix(WALL_SUFFIX) if name.endswith(WALL_SUFFIX) else table,
            meaning=_meaning(table, name),
            seconds=quantiles_of(seconds),
            total_s=own,
            share=own / total,
        )
        for table, name, seconds, own in columns
    ]
    labelled = int(designs["is_ok"].sum())
    return Timing(
        steps=tuple(sorted(steps, key=lambda s: (-s.total_s, s.table, s.step))),
        total_s=total,
        labelled_count=labelled,
        designs_per_core_hour=labelled / total * SECONDS_PER_HOUR,
    )


def _meaning(table: str, name: str) -> str:
    spec = TableSpec.registry.get(table)
    columns = spec.columns if spec is not None else ()
    return next((c.description for c in columns if c.name == name), "")


# ---- leaderboard -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A metric with its 95 % interval, and the number of rows that it was computed over."""

    value: float
    low: float
    high: float
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A predictor on a target and split.

    Attributes:
        version: digits of the hash of its training inputs.
        level: of information; figures of different levels are not compared.
        scores: by (part, metric).
        costs: parameter_count, training_wall_s and predict_wall_s, where they are known.
    """

    predictor: str
    version: str
    level: str
    target: str
    split: str
    scores: dict[tuple[str, str], Score]
    costs: dict[str, float]

    @property
    def test_error(self) -> float:
        """MAPE on the test side as a fraction; infinite when there is none."""
        score = self.scores.get(("test", "mape"))
        return float("inf") if score is None else score.value


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadError:
    """Mean error of a predictor on a target of a program of the evaluation suite, a fraction."""

    predictor: str
    level: str
    target: str
    workload: str
    value: float


def read_workload_errors(tables: TableSet) -> list[WorkloadError]:
    """Return the errors by target, level, predictor and program."""
    names = ("target", "level", "predictor", "workload")
    rows = tables.scan("workload_errors", texts=names, numbers=("value",))
    rows = rows.filter(pl.col("value").is_not_null()).select(*names, "value").sort(*names)
    return [WorkloadError(**row) for row in rows.collect().iter_rows(named=True)]


def _read_costs(tables: TableSet) -> dict[tuple[str, str], dict[str, float]]:
    """Read the known costs by predictor and version."""
    numbers = ("parameter_count", "training_wall_s", "predict_wall_s")
    rows = tables.scan("predictor_costs", texts=("predictor", "version"), numbers=numbers)
    return {
        (row["predictor"], row["version"]): {n: row[n] for n in numbers if row[n] is not None}
        for row in rows.select("predictor", "version", *numbers).collect().iter_rows(named=True)
    }


LEVELS = ("text", "static", "hls", "run")


def read_leaderboard(tables: TableSet) -> list[Entry]:
    """Read the entries by split, target and level in the order of the page, the smallest test error first."""
    keys = ("predictor", "version", "level", "target", "split")
    numbers = ("value", "interval_low", "interval_high", "row_count")
    rows = tables.scan("leaderboard", texts=(*keys, "part", "metric"), numbers=numbers)
    costs = _read_costs(tables)
    rows = rows.filter(pl.col("value").is_not_null()).select(
        *keys,
        "part",
        "metric",
        "value",
        pl.coalesce("interval_low", "value").alias("low"),
        pl.coalesce("interval_high", "value").alias("high"),
        pl.col("row_count").fill_null(0.0).cast(pl.Int64),
    )
    entries: dict[tuple[str, ...], dict[tuple[str, str], Score]] = {}
    for *key, part, metric, value, low, high, count in rows.collect().iter_rows():
        scores = entries.setdefault(tuple(key), {})
        scores[part, metric] = Score(value=value, low=low, high=high, row_count=count)
    return sort_entries(
        Entry(**dict(zip(keys, key, strict=True)), scores=scores, costs=costs.get((key[0], key[1]), {}))
        for key, scores in entries.items()
    )


def sort_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries by split, target and level in the order of the page, the smallest test error first."""
    order = {q.column: index for index, q in enumerate(LABELS)}
    return sorted(
        entries,
        key=lambda e: (
            e.split,
            order.get(e.target, len(order)),
            e.target,
            LEVELS.index(e.level) if e.level in LEVELS else len(LEVELS),
            e.test_error,
            e.predictor,
            e.version,
        ),
    )
