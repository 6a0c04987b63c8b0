"""Proof of a release: what must hold of its tables, a line each, with the figure and its limit.

Nothing is taken from the card or from another check: every line is computed from the rows. What a release
cannot answer, because it lacks a table or a column, is a line with the status `absent`, which is no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from pipelines.dataset.releases.loading import ReleaseTables
from pipelines.dataset.releases.near_duplicates import nearest
from pipelines.dataset.releases.toolset import NOT_RECORDED, lacking_tools
from pipelines.dataset.splits import (
    EVALUATION,
    EXCLUDED,
    LEARNED_PARTS,
    SEEN_DELAYS,
    HashOf,
    evaluation_twins,
    source_hash,
)
from pipelines.programs import untyped_name
from pipelines.schemas import OK, ProgramRow, TableSpec, table_spec

PASS, FAIL, ABSENT = "pass", "fail", "absent"
TRAINING = "train"
FIRST_SPLIT = "by_kernel_v1"
NEAR = 0.8
"""Share of common text from which two programs are near-duplicates."""
TARGETS: Mapping[str, str] = {
    column.name: spec.name for spec in TableSpec.registry.values() for column in spec.columns if column.target
}
"""Table by target of a predictor."""

EXAMPLES = 3
KEY_PROBLEM = "key "
"""How `TableSpec.violations` begins what it says of keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floors:
    """Least numbers of a release, and the other limits of the lines.

    Attributes:
        programs, designs, runs: that are ok; powered: share of ok designs with power on some data set.
        wholly_powered: designs with power on every data set, of several; fpga: designs with FPGA labels.
        other_libraries: designs with labels in the cells of another library.
        clocked: designs with a clock other than the commonest; class_2: share of ok programs.
        class_1_runs: ok runs of each design of class I, which prove that data do not change its cycles.
        checked: share of ok designs whose cycles, and of mapped ones whose area, another tool confirmed.
        failed: largest share of failed designs.
    """

    programs: int = 2000
    designs: int = 6000
    runs: int = 30_000
    powered: float = 1.0
    wholly_powered: int = 500
    fpga: int = 3000
    other_libraries: int = 1000
    clocked: int = 1000
    class_2: float = 0.15
    class_1_runs: int = 3
    checked: float = 0.03
    failed: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One statement about a release.

    Attributes:
        group: of lines; name: what is checked; status: pass, fail or absent.
        figure: what was found; limit: what passes.
    """

    group: str
    name: str
    status: str
    figure: str
    limit: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the line as an object."""
        return asdict(self)


def check_release(
    tables: ReleaseTables, floors: Floors | None = None, *, hash_of: HashOf = source_hash
) -> list[CheckLine]:
    """Return every line, in order of their groups. Files are compared with their hashes by
    `load_release(verify)`.

    Args:   hash_of: of the syntax tree of a program; one with a cache takes a tenth of the time.
    Raises: ReleaseError: a file cannot be read.
    """
    limits = floors or Floors()
    lines: list[CheckLine] = []
    for check in (_finished, _tools, _schema, _references, _leaks):
        lines += check(tables)
    lines += _twins(tables, hash_of)
    for check in (_coverage, _sample):
        lines += check(tables)
    return [*lines, *_truth(tables, limits), *_checked_share(tables, limits), *_counts(tables, limits)]


def _line(group: str, name: str, passes: bool, figure: str, limit: str = "") -> CheckLine:
    return CheckLine(group=group, name=name, status=PASS if passes else FAIL, figure=figure, limit=limit)


def _absent(group: str, name: str, lacking: str) -> CheckLine:
    return CheckLine(group=group, name=name, status=ABSENT, figure=f"no {lacking} in this release")


def _lacking(tables: ReleaseTables, **columns: str) -> str | None:
    """Return the first table or column, by table, that the release lacks or that has no value in any row."""
    for table, names in columns.items():
        if table not in tables:
            return f"table {table}"
        declared = table_spec(table).schema().names
        for name in names.split():
            if name not in declared or not _value(tables[table].select(pl.col(name).count())):
                return f"values of {table}.{name}"
    return None


def _value(rows: pl.LazyFrame) -> Any:
    return rows.collect().item()


def _examples(values: Iterator[Any] | list[Any]) -> str:
    shown = [str(value) for value in values]
    more = f" and {len(shown) - EXAMPLES} more" if len(shown) > EXAMPLES else ""
    return "; ".join(shown[:EXAMPLES]) + more


# ---- tables ----------------------------------------------------------------------------------------


def _tools(tables: ReleaseTables) -> Iterator[CheckLine]:
    """Check that the manifest names the version of each tool that the rows follow from."""
    tools = tables.manifest.toolset.tools
    lacking = lacking_tools(tables, tools)
    unknown = sorted(tool for tool, version in tools.items() if version == NOT_RECORDED)
    figure = f"lacking: {_examples(lacking)}" if lacking else f"{len(tools)} named"
    figure += f", {NOT_RECORDED}: {', '.join(unknown)}" if unknown else ""
    yield _line("files", "versions of tools in the manifest", not lacking, figure, "all of the rows")


def _finished(tables: ReleaseTables) -> Iterator[CheckLine]:
    pending = tables.manifest.pending or ()
    yield _line("files", "all partitions", not pending, _examples(list(pending)) or "none pending")
    lacking = [name for name in tables.manifest.left_out if name not in (tables.manifest.derived or {})]
    yield _line("files", "hash of each table left out", not lacking, _examples(lacking) or "all have one")


def _schema(tables: ReleaseTables) -> Iterator[CheckLine]:
    for name in tables:
        spec = table_spec(name)
        content = tables.arrow(name)
        problems = spec.violations(content)
        wrong = [problem for problem in problems if not problem.startswith(KEY_PROBLEM)]
        yield _line("schema", name, not wrong, _examples(wrong) or f"{content.num_rows:,} rows")
        repeated = 0
        if len(wrong) < len(problems):  # two partitions may have one row, such as that of a data set
            distinct = tables[name].group_by(spec.key).agg(rows=pl.struct(pl.all()).n_unique())
            repeated = _value(distinct.select((pl.col("rows") > 1).sum()))
        yield _line("keys", name, not repeated, f"{repeated} keys with two different rows", "0")


def _references(tables: ReleaseTables) -> Iterator[CheckLine]:
    for name in tables:
        for reference in table_spec(name).references:
            title = f"{name}.{reference.columns[-1]} in {reference.table}"
            if reference.table not in tables:
                yield _absent("references", title, f"table {reference.table}")
                continue
            known = tables[reference.table].select(
                pl.col(key).alias(own) for key, own in zip(reference.keys, reference.columns, strict=True)
            )
            rows = tables[name].select(reference.columns).drop_nulls().unique()
            count = _value(rows.join(known, on=reference.columns, how="anti").select(pl.len()))
            yield _line("references", title, not count, f"{count} without a row", "0")


# ---- leaks -----------------------------------------------------------------------------------------


def _leaks(tables: ReleaseTables) -> Iterator[CheckLine]:
    lacking = _lacking(tables, programs="program_id", splits="part")
    if lacking is not None:
        yield _absent("leaks", "split", lacking)
        return
    programs = tables["programs"].filter(pl.col("status") == OK)
    for (split,) in tables["splits"].select("split").unique().sort("split").collect().iter_rows():
        places = tables["splits"].filter(pl.col("split") == split)
        lost = _value(programs.join(places, on="program_id", how="anti").select(pl.len()))
        yield _line("leaks", f"{split}: place of each program", not lost, f"{lost} without one", "0")
        placed = places.filter(pl.col("part") != EXCLUDED).join(programs, on="program_id")
        for what, column in (("group", "group"), ("source", "source"), ("syntax tree", "ast_hash")):
            yield _one_side(f"{split}: {what} on one side", placed, column)
        yield _one_side(f"{split}: variants with their ancestor", placed, "root", "name")
        yield _near_duplicates(split, placed)
        yield _namesakes(split, placed)
        wrong = placed.filter((pl.col("part") == EVALUATION) != (pl.col("stage") == EVALUATION))
        wrong = wrong.join(placed.filter(pl.col("stage") == EVALUATION), on="group", how="anti")
        count = _value(wrong.select(pl.len()))
        yield _line("leaks", f"{split}: evaluation programs apart", not count, f"{count} misplaced", "0")


def _near_duplicates(split: str, placed: pl.LazyFrame) -> CheckLine:
    """Check that no program outside training shares most of its text with one of training."""
    rows = placed.select("name", "source", "part").sort("name", "source").collect()
    sides = [rows.filter((pl.col("part") == TRAINING) == is_training) for is_training in (False, True)]
    held_out, training = sides
    shares, at = nearest(held_out["source"].to_list(), training["source"].to_list())
    near = [
        f"{name} and {training['name'][place]} ({share:.2f})"
        for name, share, place in zip(held_out["name"], shares.tolist(), at.tolist(), strict=True)
        if share >= NEAR
    ]
    figure = f"{len(near)} of {held_out.height}" + (f": {_examples(near)}" if near else "")
    title = f"{split}: held-out programs near training"
    return _line("leaks", title, not near, figure, f"0 with {NEAR:.0%} of the text")


def _namesakes(split: str, placed: pl.LazyFrame) -> CheckLine:
    """Check that neither train nor validation has an evaluation program's name, element type aside."""
    rows = placed.select("suite", "name", "stage", "part").unique().sort("suite", "name").collect()
    judged = {untyped_name(name) for name in rows.filter(pl.col("stage") == EVALUATION)["name"]}
    learned = rows.filter(pl.col("part").is_in(LEARNED_PARTS), pl.col("stage") != EVALUATION)
    alike = [
        f"{suite}/{name} in {part}"
        for suite, name, part in learned.select("suite", "name", "part").iter_rows()
        if untyped_name(name) in judged
    ]
    figure = f"{len(alike)} of {learned.height}" + (f": {_examples(alike)}" if alike else "")
    return _line("leaks", f"{split}: names of evaluation programs held out", not alike, figure, "0")


def _twins(tables: ReleaseTables, hash_of: HashOf) -> Iterator[CheckLine]:
    title = "training programs differ from evaluation"
    if "programs" not in tables:
        yield _absent("leaks", title, "table programs")
        return
    rows: list[ProgramRow] = table_spec("programs").from_arrow(tables.arrow("programs"))
    twins = evaluation_twins(rows, hash_of)
    yield _line("leaks", title, not twins, _examples(twins) or "none is equal")


def _dicts(rows: pl.LazyFrame) -> list[dict[str, Any]]:
    return rows.collect().to_dicts()


def _one_side(title: str, placed: pl.LazyFrame, column: str, other: str | None = None) -> CheckLine:
    """Check that all rows of one value are in one part; null is `other`, or no value."""
    value = pl.col(column) if other is None else pl.coalesce(column, other)
    parts = placed.select("part", value=value).drop_nulls().group_by("value").agg(pl.col("part").n_unique())
    split = parts.filter(pl.col("part") > 1).sort("value").collect()["value"].to_list()
    figure = f"{len(split)} on two sides" + (f": {_examples([v[:60] for v in split])}" if split else "")
    return _line("leaks", title, not split, " ".join(figure.split()), "0")


# ---- coverage --------------------------------------------------------------------------------------


def target_values(tables: ReleaseTables, target: str) -> pl.LazyFrame:
    """Return the values of a target of ok rows, with program, stage of the program and design.

    Labels are of the commonest tool and library, so that all have one unit of measure.
    """
    table = TARGETS[target]
    rows = tables[table].filter(pl.col("status") == OK)
    rows = _of_one_kind(rows) if table == "labels" else rows
    designs = tables["designs"].select("design_id", "program_id")
    programs = tables["programs"].select("program_id", "stage")
    values = rows.select("design_id", value=pl.col(target).cast(pl.Float64)).drop_nulls()
    return values.join(designs, on="design_id").join(programs, on="program_id")


def _of_one_kind(labels: pl.LazyFrame) -> pl.LazyFrame:
    """Return the labels of the commonest tool and library, of several the first by name."""
    counts = labels.group_by("tool", "liberty").len()
    kind = counts.sort("len", "tool", "liberty", descending=[True, False, False])
    return labels.join(kind.head(1), on=["tool", "liberty"], how="semi")


def _last_split(tables: ReleaseTables) -> str:
    return _value(tables["splits"].select(pl.col("split").max()))


def _places(tables: ReleaseTables) -> pl.LazyFrame:
    """Return the part of each program in the last split by name."""
    places = tables["splits"].filter(pl.col("split") == _last_split(tables))
    return places.select("program_id", "part")


def _seen_designs(tables: ReleaseTables) -> pl.LazyFrame:
    """Return the designs that training and evaluation may have by their memory delays."""
    designs = tables["designs"]
    if _last_split(tables) == FIRST_SPLIT:
        return designs
    delays = pl.col("memory_read_delay_cycles", "memory_write_delay_cycles")
    return designs.filter(pl.all_horizontal(delays.is_in(SEEN_DELAYS)))


def _coverage(tables: ReleaseTables) -> Iterator[CheckLine]:
    """Yield the central 90 % of each target of evaluation designs against the same range of training designs.

    A design counts once, with the mean of its runs: cheap designs have power on more data sets than others.
    """
    for target, table in TARGETS.items():
        lacking = _lacking(tables, **{table: target}, designs="program_id", splits="part")
        if lacking is not None:
            yield _absent("coverage", target, lacking)
            continue
        values = target_values(tables, target).join(_places(tables), on="program_id")
        values = values.join(_seen_designs(tables), on="design_id", how="semi")
        values = values.group_by("design_id", "part").agg(pl.col("value").mean()).collect()
        ranges = [
            values.filter(pl.col("part") == part)["value"].quantile(level, "linear")
            for part in (TRAINING, EVALUATION)
            for level in (0.05, 0.95)
        ]
        if any(value is None for value in ranges):
            yield _absent("coverage", target, f"{target} of parts {TRAINING} and {EVALUATION}")
            continue
        low, high, first, last = (float(value) for value in ranges if value is not None)
        inside = values.filter(pl.col("part") == EVALUATION)["value"].is_between(low, high).mean()
        yield _line(
            "coverage",
            target,
            low <= first and last <= high,
            f"{first:.4g} to {last:.4g}; {float(str(inside)):.0%} of evaluation inside",
            f"within {low:.4g} to {high:.4g}",
        )


# ---- checks of labels ------------------------------------------------------------------------------


def _sample(tables: ReleaseTables) -> Iterator[CheckLine]:
    if "cross_checks" not in tables:
        yield _absent("cross-checks", "sample", "table cross_checks")
        return
    by_check = (
        tables["cross_checks"]
        .group_by("check", "tool")
        .agg(
            rows=pl.len(),
            ok=(pl.col("status") == OK).sum(),
            failed=((pl.col("status") == OK) & ~pl.col("passed").fill_null(False)).sum(),
        )
    )
    for row in _dicts(by_check.sort("check", "tool")):
        figure = f"{row['failed']} of {row['ok']} failed, {row['rows'] - row['ok']} not compared"
        yield _line("cross-checks", f"{row['check']} against {row['tool']}", not row["failed"], figure, "0")


def _checked_share(tables: ReleaseTables, floors: Floors) -> Iterator[CheckLine]:
    """Yield share of designs whose cycles, and of mapped designs whose figures, another tool confirmed."""
    lacking = [name for name in ("labels", "runs", "cross_checks") if name not in tables]
    if lacking:
        yield _absent("cross-checks", "shares of designs", f"table {lacking[0]}")
        return
    ok = _of_one_kind(tables["labels"].filter(pl.col("status") == OK))
    cross = tables["cross_checks"].filter(pl.col("status") == OK)
    audited = tables["runs"].filter(
        pl.col("status") == OK, pl.col("audited"), pl.col("audit_latency_cycles").is_not_null()
    )
    for what, rows, checked in (
        ("cycles", ok, audited),
        ("area", ok.filter(pl.col("area_um2").is_not_null()), cross.filter(pl.col("check") == "area_um2")),
    ):
        designs = rows.select("design_id").unique()
        count = _value(designs.select(pl.len()))
        share = _value(designs.join(checked, on="design_id", how="semi").select(pl.len())) / max(count, 1)
        yield _line(
            "cross-checks",
            f"share of designs with {what}",
            share >= floors.checked,
            f"{share:.1%} of {count}",
            f">= {floors.checked:.1%}",
        )


def _truth(tables: ReleaseTables, floors: Floors) -> Iterator[CheckLine]:
    if "runs" not in tables:
        yield _absent("truth", "runs", "table runs")
        return
    ok = tables["runs"].filter(pl.col("status") == OK)
    unequal = _value(ok.select((~pl.col("outputs_equal").fill_null(False)).sum()))
    yield _line("truth", "outputs equal native C", not unequal, f"{unequal} ok runs with others", "0")
    audited = ok.filter(pl.col("audited"))
    count = _value(audited.select(pl.len()))
    other = _value(
        audited.filter(pl.col("audit_latency_cycles").ne_missing(pl.col("latency_cycles"))).select(pl.len())
    )
    yield _line("truth", "cycles equal simulated Verilog", not other, f"{other} of {count} differ", "0")
    lacking = _lacking(tables, program_facts="dynamic_class")
    if lacking is not None:
        yield _absent("truth", "cycles of class I programs", lacking)
        yield _absent("truth", "runs of class I programs", lacking)
        return
    first = tables["program_facts"].filter(pl.col("dynamic_class") == "I").select("program_id")
    designs = tables["designs"].join(first, on="program_id", how="semi").select("design_id")
    runs = ok.join(designs, on="design_id", how="semi").group_by("design_id")
    counts = runs.agg(runs=pl.len(), cycles=pl.col("latency_cycles").n_unique()).collect()
    several = counts.filter(pl.col("runs") > 1)
    wrong = several.filter(pl.col("cycles") > 1).height
    yield _line(
        "truth", "cycles of class I programs", not wrong, f"{wrong} of {several.height} designs differ", "0"
    )
    few = counts.filter(pl.col("runs") < floors.class_1_runs).height
    figure = f"{few} of {counts.height} designs have fewer"
    yield _line("truth", "runs of class I programs", not few, figure, f">= {floors.class_1_runs} per design")


# ---- counts ----------------------------------------------------------------------------------------


def _counts(tables: ReleaseTables, floors: Floors) -> Iterator[CheckLine]:
    counted: list[tuple[str, Callable[[], float], float, str | None]] = [
        ("programs", lambda: _ok(tables, "programs"), floors.programs, _lacking(tables, programs="status")),
        ("designs", lambda: _ok(tables, "designs"), floors.designs, _lacking(tables, designs="status")),
        ("runs", lambda: _ok(tables, "runs"), floors.runs, _lacking(tables, runs="status")),
        (
            "designs with power on every data set",
            lambda: _wholly_powered(tables),
            floors.wholly_powered,
            _lacking(tables, runs="power_mw"),
        ),
        ("designs with FPGA labels", lambda: _fpga(tables), floors.fpga, _lacking(tables, labels="tool")),
        (
            "designs with labels in another library",
            lambda: _in_other_libraries(tables),
            floors.other_libraries,
            _lacking(tables, labels="tool"),
        ),
        (
            "designs with another clock",
            lambda: _clocked(tables),
            floors.clocked,
            _lacking(tables, designs="clock_period_ns"),
        ),
    ]
    for name, count, least, lacking in counted:
        if lacking is not None:
            yield _absent("counts", name, lacking)
        else:
            value = count()
            yield _line("counts", name, value >= least, f"{value:,.0f}", f">= {least:,.0f}")
    shares: list[tuple[str, Callable[[], float], float, str | None]] = [
        (
            "ok designs with power",
            lambda: _powered(tables),
            floors.powered,
            _lacking(tables, runs="power_mw"),
        ),
        (
            "class II programs",
            lambda: _class_2(tables),
            floors.class_2,
            _lacking(tables, program_facts="dynamic_class"),
        ),
    ]
    for name, share, least, lacking in shares:
        if lacking is not None:
            yield _absent("counts", name, lacking)
        else:
            value = share()
            yield _line("counts", name, value >= least, f"{value:.1%}", f">= {least:.0%}")
    for table in ("designs", "labels", "runs"):
        if table in tables:
            share = _value(tables[table].select((pl.col("status") != OK).mean().fill_null(0.0)))
            yield _line(
                "counts", f"failed {table}", share <= floors.failed, f"{share:.1%}", f"<= {floors.failed:.0%}"
            )


def _ok(tables: ReleaseTables, table: str) -> int:
    return _value(tables[table].select((pl.col("status") == OK).sum()))


def _runs_with_power(tables: ReleaseTables) -> pl.LazyFrame:
    ok = tables["runs"].filter(pl.col("status") == OK)
    powered = (pl.col("power_status") == OK).fill_null(False)
    return ok.group_by("design_id").agg(runs=pl.len(), powered=powered.sum())


def _wholly_powered(tables: ReleaseTables) -> int:
    rows = _runs_with_power(tables)
    return _value(rows.select(((pl.col("runs") > 1) & (pl.col("powered") == pl.col("runs"))).sum()))


def _powered(tables: ReleaseTables) -> float:
    return _value(_runs_with_power(tables).select((pl.col("powered") > 0).mean().fill_null(0.0)))


def _fpga(tables: ReleaseTables) -> int:
    rows = tables["labels"].filter((pl.col("status") == OK) & pl.col("tool").str.contains(FPGA_TOOL))
    return _value(rows.select(pl.col("design_id").n_unique()))


def _in_other_libraries(tables: ReleaseTables) -> int:
    is_one = (pl.col("status") == OK) & pl.col("tool").str.starts_with(OTHER_LIBRARY_TOOL)
    return _value(tables["labels"].filter(is_one).select(pl.col("design_id").n_unique()))


OTHER_LIBRARY_TOOL = "pyosys_"
"""Beginning of the names of tools whose labels are in another library than that of the release."""
FPGA_TOOL = "xilinx"
"""Part of the names of tools whose labels are of an FPGA."""


def _clocked(tables: ReleaseTables) -> int:
    ok = tables["designs"].filter(pl.col("status") == OK).group_by("clock_period_ns").len().collect()
    return int(ok["len"].sum()) - int(str(ok["len"].max() or 0))


def _class_2(tables: ReleaseTables) -> float:
    ok = tables["programs"].filter(pl.col("status") == OK).select("program_id")
    facts = tables["program_facts"].join(ok, on="program_id", how="semi")
    return _value(facts.select((pl.col("dynamic_class") == "II").mean().fill_null(0.0)))
