"""Checks of tables as they are on disk, as plain functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.checked_files import CheckedFile, CheckRule
from assets.network_quality import NETWORK_RULES
from assets.pragma_quality import PRAGMA_RULES
from pipelines.cyclemodel import ENGINE
from pipelines.features import EVALUATION, evaluation_twins
from pipelines.labelling import CROSS_CHECK_LIMITS
from pipelines.programs import cached_ast_hash
from pipelines.schemas import OK, ProgramRow, read_arrow, table_path, table_spec

PROBLEM_LIMIT = 20

REFERENCES: Mapping[str, tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]] = {
    "designs": ((("program_id",), "programs", ("program_id",)),),
    "directive_outcomes": ((("design_id",), "designs", ("design_id",)),),
    "labels": ((("design_id",), "designs", ("design_id",)),),
    "runs": ((("design_id",), "designs", ("design_id",)),),
    "cross_checks": ((("design_id", "data_id"), "runs", ("design_id", "data_id")),),
    "program_facts": ((("program_id",), "programs", ("program_id",)),),
    "loops": ((("program_id",), "programs", ("program_id",)),),
    "cdfg_nodes": ((("design_id",), "designs", ("design_id",)),),
    "cdfg_edges": (
        (("design_id", "source_index"), "cdfg_nodes", ("design_id", "node_index")),
        (("design_id", "target_index"), "cdfg_nodes", ("design_id", "node_index")),
    ),
    "splits": ((("program_id",), "programs", ("program_id",)),),
    "network_flows": ((("run_id",), "network_runs", ("run_id",)),),
    "network_hops": ((("run_id", "flow"), "network_flows", ("run_id", "flow")),),
    "records": (
        (("design_id",), "labels", ("design_id",)),
        (("design_id", "data_id"), "runs", ("design_id", "data_id")),
    ),
}
"""Columns of a table that name a row of another: columns, other table, its columns."""


def rules_of(table: str) -> tuple[CheckRule, ...]:
    """The rules of a table, blocking ones first."""
    spec = table_spec(table)
    names = {column.name for column in spec.columns}
    rules = [_SCHEMA, _UNIQUE_KEY]
    rules += [_FOREIGN_KEYS] if table in REFERENCES else []
    rules += _OWN_RULES.get(table, [])
    rules += [_FAILURE_RATE] if "status" in names else []
    return tuple(rules)


def schema_problems(file: CheckedFile) -> list[str]:
    """Ways in which the file, or its wall-clock sibling, does not fit the declared schema."""
    spec = table_spec(file.table)
    problems = spec.violations(file.content)
    if not spec.has_measured or problems:
        return problems
    beside = read_arrow(table_path(file.data_dir, spec, file.partition, measured=True))
    keys = list(spec.key)
    if not beside.select(keys).equals(file.content.select(keys)):
        problems.append("the measured file must have the same keys as the table, got others")
    return problems


def repeated_keys(file: CheckedFile) -> list[str]:
    """Keys that stand in more than one row."""
    spec = table_spec(file.table)
    keys = spec.key
    if spec.is_sorted(file.content):
        return []
    counts = file.content.group_by(list(keys)).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts.column("count_all"), 1)).to_pylist()
    return [f"{keys} must be unique, got {_tuple(row, keys)} {row['count_all']} times" for row in repeated]


def dangling_references(file: CheckedFile) -> list[str]:
    """Rows that name a row of another table that is not there."""
    problems: list[str] = []
    for columns, other, other_columns in REFERENCES[file.table]:
        known = file.neighbour_columns(other).select(list(other_columns)).rename_columns(list(columns))
        values = sorted(_tuple(row, columns) for row in _lost(file.content.select(list(columns)), known))
        problems += [f"{columns} must be in {other}, got {value}" for value in values]
    return problems


def _lost(named: pa.Table, known: pa.Table) -> list[dict[str, Any]]:
    """Rows of one table, each once, that are not in another with the same columns."""
    names = named.column_names
    if len(names) == 1:  # five times as fast as the join
        once = named.column(names[0]).unique()
        return [{names[0]: v} for v in once.filter(pc.invert(pc.is_in(once, known.column(0)))).to_pylist()]
    return named.group_by(names).aggregate([]).join(known, keys=names, join_type="left anti").to_pylist()


def unequal_runs(file: CheckedFile) -> list[str]:
    """Runs called ok whose outputs differ from native C."""
    return [
        f"an ok run must equal native C, got design {row['design_id']} data {row['data_id']}"
        for row in file.content.to_pylist()
        if row["status"] == OK and row["outputs_equal"] is not True
    ]


def unproven_labels(file: CheckedFile) -> list[str]:
    """Labels called ok whose design has no run, or a run that is not ok and equal to native C."""
    runs: defaultdict[str, list[bool]] = defaultdict(list)
    for run in file.neighbour("runs"):
        runs[run["design_id"]].append(run["status"] == OK and run["outputs_equal"] is True)
    return [
        f"an ok label must have only runs equal to native C, got {len(found)} runs, "
        f"{found.count(False)} of them not, for design {row['design_id']}"
        for row in file.content.to_pylist()
        if row["status"] == OK
        for found in [runs[row["design_id"]]]
        if not found or not all(found)
    ]


def failed_cross_checks(file: CheckedFile, checks: Sequence[str]) -> list[str]:
    """Figures of some checks that differ from the other tool's by more than is allowed."""
    return [
        f"{row['check']} must be within {row['allowed']:.2%} of {row['tool']}, "
        f"got {row['value']} against {row['reference']} for design {row['design_id']}"
        + (f" ({row['reason']})" if row["reason"] else "")
        for row in file.content.to_pylist()
        if row["check"] in checks and row["status"] == OK and not _passes(row)
    ]


def _passes(row: Mapping[str, Any]) -> bool:
    """Whether a check's row says that it passed, and its figures say so, too."""
    value, reference = row["value"], row["reference"]
    if row["passed"] is not True or value is None or reference is None:
        return False
    limit = CROSS_CHECK_LIMITS[row["check"]]
    return row["allowed"] <= limit and abs(value - reference) <= limit * abs(reference)


def unknown_powers(file: CheckedFile) -> list[str]:
    """Whether the share of ok runs without power is above the configured one."""
    configuration = file.settings.configuration
    wanted = ENGINE if configuration.labelling.power else None  # designs of other tools have no power
    rows = [
        r
        for r in file.content.to_pylist()
        if r["status"] == OK and (r["power_status"] is not None or r["engine"] == wanted)
    ]
    limit = configuration.quality.max_failure_fraction
    lacking = [r for r in rows if r["power_status"] != OK or r["power_mw"] is None]
    if len(lacking) <= limit * len(rows):
        return []
    return [
        f"at most {limit:.0%} of ok runs may lack their power, got {len(lacking)} of {len(rows)}, "
        f"the first because {lacking[0]['power_reason']}"
    ]


def split_leaks(file: CheckedFile) -> list[str]:
    """Programs without a place, and groups, names or sources that stand on two sides."""
    places = {row["program_id"]: row for row in file.content.to_pylist()}
    programs = file.neighbour("programs")
    problems = [
        f"every program must have a place, got none for {p['program_id']} ({p['name']})"
        for p in programs
        if p["program_id"] not in places
    ]
    problems += _two_sides("group", ((r["group"], r["part"]) for r in places.values()))
    placed = [(p, places[p["program_id"]]["part"]) for p in programs if p["program_id"] in places]
    problems += _two_sides("program name", ((p["name"], part) for p, part in placed))
    problems += _two_sides("source", ((p["source"], part) for p, part in placed))
    return problems


def mixed_evaluation_programs(file: CheckedFile) -> list[str]:
    """Programs for training that equal an evaluation program, and evaluation programs in another part."""
    rows = file.content.to_pylist() if file.table == "programs" else file.neighbour("programs")
    programs = [ProgramRow(**row) for row in rows]
    problems = evaluation_twins(programs, partial(cached_ast_hash, cache=file.settings.cache))
    parts = {r["program_id"]: r["part"] for r in file.content.to_pylist()} if file.table == "splits" else {}
    return problems + [
        f"an evaluation program must be in part {EVALUATION}, got {p.name} in {part}"
        for p in programs
        for part in [parts.get(p.program_id)]
        if part is not None and p.stage == EVALUATION and part != EVALUATION
    ]


def failure_fraction(content: pa.Table) -> float:
    """Share of rows that are not ok, 0 for an empty table."""
    statuses: list[str] = content.column("status").to_pylist()
    return sum(status != OK for status in statuses) / max(len(statuses), 1)


def too_many_failures(file: CheckedFile) -> list[str]:
    """Whether the share of failed rows is above the configured one."""
    limit = file.settings.configuration.quality.max_failure_fraction
    found = failure_fraction(file.content)
    if found <= limit:
        return []
    return [f"at most {limit:.0%} of rows may have failed, got {found:.1%}"]


def _two_sides(what: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    sides: defaultdict[str, set[str]] = defaultdict(set)
    for value, part in pairs:
        sides[value].add(part)
    return [
        f"a {what} must stand on one side of the split, got {value[:60]!r} on {sorted(parts)}"
        for value, parts in sides.items()
        if len(parts) > 1
    ]


def _tuple(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[c] for c in columns)


_SCHEMA = CheckRule(
    name="schema",
    description="Columns, types and vocabularies are the declared ones.",
    blocking=True,
    problems=schema_problems,
)
_UNIQUE_KEY = CheckRule(
    name="unique_key",
    description="No key stands in two rows.",
    blocking=True,
    problems=repeated_keys,
)
_FOREIGN_KEYS = CheckRule(
    name="foreign_keys",
    description="Every row that is referred to is there.",
    blocking=True,
    problems=dangling_references,
)
_RUNS_EQUAL = CheckRule(
    name="equals_native_c",
    description="Every ok run gave the outputs of the same C compiled natively.",
    blocking=True,
    problems=unequal_runs,
)
_LABELS_EQUAL = CheckRule(
    name="equals_native_c",
    description="Every ok label belongs to a design whose runs all equal native C.",
    blocking=True,
    problems=unproven_labels,
)
_POWER_KNOWN = CheckRule(
    name="power_known",
    description="The share of ok runs without power is below quality.max_failure_fraction.",
    blocking=False,
    problems=unknown_powers,
)


def _cross_check_rule(name: str, description: str, *checks: str) -> CheckRule:
    return CheckRule(
        name=name,
        description=description,
        blocking=True,
        problems=partial(failed_cross_checks, checks=checks),
    )


_CROSS_CHECKED = [
    _cross_check_rule(
        "netlist_equals_rtl",
        "Each mapped netlist of the sample computes what its Verilog does.",
        "netlist_outputs",
    ),
    _cross_check_rule(
        "cycle_model_equals_verilator",
        "The cycle model counts the cycles of the simulated Verilog.",
        "latency_cycles",
    ),
    _cross_check_rule(
        "counts_equal_yosys_stat",
        "Area and flip-flops of the sample are those that yosys counts.",
        "area_um2",
        "flip_flop_count",
    ),
    _cross_check_rule("delay_equals_opensta", "Delays are within 2 % of OpenSTA.", "delay_ns"),
    _cross_check_rule(
        "switching_power_equals_opensta",
        "Switching power is within 3 % of OpenSTA with the same activity.",
        "switching_power_mw",
    ),
    _cross_check_rule(
        "internal_power_equals_opensta",
        "Internal power is within 5 % of OpenSTA with the same activity, under the rule that it follows.",
        "internal_power_mw",
    ),
]
_NO_LEAK = CheckRule(
    name="no_leak",
    description="No program, name or source stands on two sides of the split.",
    blocking=True,
    problems=split_leaks,
)
_EVALUATION_APART = CheckRule(
    name="evaluation_apart",
    description="No program for training equals an evaluation program by its normalised syntax tree.",
    blocking=True,
    problems=mixed_evaluation_programs,
)
_FAILURE_RATE = CheckRule(
    name="failure_rate",
    description="The share of failed rows is below quality.max_failure_fraction.",
    blocking=False,
    problems=too_many_failures,
)
_OWN_RULES: Mapping[str, Sequence[CheckRule]] = {
    "runs": [_RUNS_EQUAL, _POWER_KNOWN],
    "labels": [_LABELS_EQUAL],
    "cross_checks": _CROSS_CHECKED,
    "splits": [_NO_LEAK, _EVALUATION_APART],
    "programs": [_EVALUATION_APART],
    **NETWORK_RULES,
    **PRAGMA_RULES,
}
