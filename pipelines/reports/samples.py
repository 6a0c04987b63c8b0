"""Designs and programs as columns: what several tables say about one thing, side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipelines.reports.measures import median_of
from pipelines.reports.tables import FloatArray, TableSet
from pipelines.schemas import OK

STAGE_ORDER = ("kernel", "ast", "dataflow", "llm", "evaluation")
UNKNOWN_STAGE = "unknown"
EVALUATION = "evaluation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A column of the page: its name in the tables, and how the page calls it.

    Attributes:
        unit: on the page. factor: from the unit of the table to that of the page.
    """

    column: str
    title: str
    unit: str = ""
    factor: float = 1.0


LABELS = (
    Quantity(column="area_um2", title="Area", unit="µm²"),
    Quantity(column="flip_flop_count", title="Flip-flops"),
    Quantity(column="cell_count", title="Cells"),
    Quantity(column="delay_ns", title="Longest path", unit="ns"),
    Quantity(column="leakage_mw", title="Leakage", unit="nW", factor=1e6),
    Quantity(column="latency_cycles", title="Latency", unit="cycles"),
    Quantity(column="power_mw", title="Power", unit="mW"),
    Quantity(column="energy_nj", title="Energy", unit="nJ"),
)
"""What a design is labelled with, in the order of the page."""

DESIGN_FEATURES = (
    Quantity(column="estimated_area_um2", title="Estimated area", unit="µm²"),
    Quantity(column="critical_path_ns", title="Estimated path", unit="ns"),
    Quantity(column="state_count", title="States"),
    Quantity(column="functional_unit_count", title="Functional units"),
    Quantity(column="register_bits", title="Register bits"),
    Quantity(column="multiplexer_count", title="Multiplexers"),
    Quantity(column="operation_count", title="Graph operations"),
    Quantity(column="rtl_bytes", title="Verilog", unit="bytes"),
    Quantity(column="memory_port_conflict_count", title="Port conflicts"),
    Quantity(column="memory_read_delay_cycles", title="Memory delay", unit="cycles"),
)

PROGRAM_FEATURES = (
    Quantity(column="source_bytes", title="Source", unit="bytes"),
    Quantity(column="operator_count", title="Operators"),
    Quantity(column="loop_count", title="Loops"),
    Quantity(column="loop_depth", title="Loop depth"),
    Quantity(column="load_count", title="Array loads"),
    Quantity(column="store_count", title="Array stores"),
    Quantity(column="arithmetic_count", title="Arithmetic"),
    Quantity(column="branch_count", title="Conditions"),
    Quantity(column="array_count", title="Arrays in a nest"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Things of one kind in order of their id.

    Attributes:
        ids: one a thing; `stages` and `is_ok` likewise.
        columns: values by column name, shape (things,), NaN where there is none.
    """

    ids: tuple[str, ...]
    stages: tuple[str, ...]
    is_ok: tuple[bool, ...]
    columns: Mapping[str, FloatArray]

    def has(self, quantity: Quantity) -> bool:
        """Whether some thing has a value."""
        values = self.columns.get(quantity.column)
        return values is not None and bool(np.isfinite(values).any())

    def of(self, quantity: Quantity, keep: Sequence[bool] | None = None) -> FloatArray:
        """Values of a quantity in its unit of the page, of all or of those to keep."""
        values = self.columns[quantity.column] * quantity.factor
        return values if keep is None else values[np.array(keep, dtype=np.bool_)]

    def stage_names(self) -> list[str]:
        """The stages that occur, in the order of the page."""
        return in_stage_order(set(self.stages))


def in_stage_order(stages: Iterable[str]) -> list[str]:
    """Stages as the page lists them: as programs come to be, then others by name."""
    found = sorted(set(stages))
    return [s for s in STAGE_ORDER if s in found] + [s for s in found if s not in STAGE_ORDER]


def program_stages(tables: TableSet) -> dict[str, str]:
    """Stage by program."""
    found = tables.text_by("programs", "program_id", "stage")
    return {key: stage or UNKNOWN_STAGE for key, stage in found.items()}


def design_stages(tables: TableSet) -> dict[str, str]:
    """Stage by design."""
    stage_of = program_stages(tables)
    found = tables.text_by("designs", "design_id", "program_id")
    return {key: stage_of.get(program, UNKNOWN_STAGE) for key, program in found.items()}


def sample_programs(tables: TableSet) -> Samples:
    """Every program, with what its text and its loops say."""
    ids, order = _keys(tables, "programs", "program_id")
    stage_of = program_stages(tables)
    columns = {name: tables.numbers("programs", name)[order] for name in tables.number_columns("programs")}
    operators = tables.values("programs", "operators")
    columns["operator_count"] = np.array([_length(operators[i]) for i in order], dtype=np.float64)
    statuses = tables.text_by("programs", "program_id", "status")
    made = np.array([statuses[key] == OK for key in ids], dtype=np.bool_)
    for name, values in _loop_columns(tables, ids).items():
        without_loops = np.isnan(values) & made & bool(tables.row_count("loops"))
        columns[name] = np.where(without_loops, 0.0, values)
    return Samples(
        ids=tuple(ids),
        stages=tuple(stage_of[key] for key in ids),
        is_ok=tuple(statuses[key] == OK for key in ids),
        columns=columns,
    )


def sample_designs(tables: TableSet, programs: Samples) -> Samples:
    """Every design: what high-level synthesis says, its labels, its runs, and its program's columns.

    A design is ok when it, its labels and all of its runs are and it has some of both. Numbers of runs are
    medians over the data sets that are ok; of several synthesis tools the first by name counts.
    """
    ids, order = _keys(tables, "designs", "design_id")
    stage_of = design_stages(tables)
    columns = {name: tables.numbers("designs", name)[order] for name in tables.number_columns("designs")}
    labels_ok = _group_status(tables, "labels")
    runs_ok = _group_status(tables, "runs")
    designs_ok = _group_status(tables, "designs")
    for table in ("labels", "runs"):
        columns |= _grouped(tables, table, ids, taken={*columns, "seed"})
    program_of = tables.text_by("designs", "design_id", "program_id")
    place = {key: index for index, key in enumerate(programs.ids)}
    for name, values in programs.columns.items():
        padded = np.append(values, np.nan)
        columns[name] = padded[[place.get(program_of[key], -1) for key in ids]] if ids else np.zeros(0)
    columns["operation_count"] = _operation_counts(tables, ids)
    return Samples(
        ids=tuple(ids),
        stages=tuple(stage_of[key] for key in ids),
        is_ok=tuple(all(ok.get(key, False) for ok in (designs_ok, labels_ok, runs_ok)) for key in ids),
        columns=columns,
    )


def _keys(tables: TableSet, table: str, key: str) -> tuple[list[str], list[int]]:
    """Distinct keys in order, and the row of each; of several the last."""
    found = {value: index for index, value in enumerate(tables.texts(table, key))}
    ids = sorted(found)
    return ids, [found[i] for i in ids]


def _length(value: Any) -> float:
    return float(len(value)) if value is not None else float("nan")


def _loop_columns(tables: TableSet, ids: Sequence[str]) -> dict[str, FloatArray]:
    """Loops by program: number, greatest depth, and what outermost loops count, inner ones included."""
    names = ("loop_count", "loop_depth", "load_count", "store_count", "arithmetic_count", "branch_count")
    found: dict[str, dict[str, float]] = {name: defaultdict(float) for name in (*names, "array_count")}
    numbers = {n: tables.numbers("loops", n) for n in ("depth", *names[2:], "array_count")}
    for index, program in enumerate(tables.texts("loops", "program_id")):
        depth = float(numbers["depth"][index])
        found["loop_count"][program] += 1
        found["loop_depth"][program] = max(found["loop_depth"][program], depth)
        arrays = found["array_count"]
        arrays[program] = max(arrays[program], float(numbers["array_count"][index]))
        for name in names[2:]:
            found[name][program] += float(numbers[name][index]) if depth == 1 else 0.0
    return {name: _in_order(values, ids) for name, values in found.items()}


def _in_order(values: Mapping[str, float], ids: Sequence[str]) -> FloatArray:
    return np.array([values.get(key, float("nan")) for key in ids], dtype=np.float64)


def _group_status(tables: TableSet, table: str) -> dict[str, bool]:
    """Whether every row of a design is ok, by design; of runs their power, too, where it was asked for."""
    found: dict[str, bool] = {}
    statuses = tables.texts(table, "status")
    for key, status in zip(tables.texts(table, "design_id"), statuses, strict=True):
        found[key] = found.get(key, True) and status == OK
    if tables.has_column(table, "power_status"):
        powers = tables.texts(table, "power_status")
        for key, power in zip(tables.texts(table, "design_id"), powers, strict=True):
            found[key] = found[key] and power in ("", OK)
    return found


def _grouped(tables: TableSet, table: str, ids: Sequence[str], *, taken: set[str]) -> dict[str, FloatArray]:
    """Number columns of labels or runs by design: the first tool's, or the median over data sets."""
    keys, statuses = tables.texts(table, "design_id"), tables.texts(table, "status")
    tools = tables.texts(table, "tool")
    rows: dict[str, list[int]] = defaultdict(list)
    for index in sorted(range(len(keys)), key=lambda i: (keys[i], tools[i], i)):
        if statuses[index] == OK:
            rows[keys[index]].append(index)
    columns: dict[str, FloatArray] = {}
    names = [n for n in tables.number_columns(table) if n not in taken and not n.endswith("wall_s")]
    for name in names:
        values = tables.numbers(table, name).tolist()
        chosen = {
            key: values[found[0]] if table == "labels" else median_of([values[i] for i in found])
            for key, found in rows.items()
        }
        columns[name] = _in_order(chosen, ids)
    return columns


def _operation_counts(tables: TableSet, ids: Sequence[str]) -> FloatArray:
    counts: dict[str, float] = defaultdict(float)
    if tables.has_column("cdfg_nodes", "design_id"):
        for entry in tables.contents["cdfg_nodes"].column("design_id").value_counts().to_pylist():
            counts[entry["values"]] += entry["counts"]
    return _in_order(counts, ids)
