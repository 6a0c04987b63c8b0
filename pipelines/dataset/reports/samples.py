"""Programs and designs as frames: what several tables say of one thing, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.dataset.reports.tables import TableSet, finite
from pipelines.schemas import OK

STAGE_ORDER = ("kernel", "ast", "dataflow", "llm", "evaluation")
UNKNOWN_STAGE = "unknown"
EVALUATION = "evaluation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A column of the page: its name in the tables, and its name on the page.

    Attributes:
        unit: on the page. factor: from the unit of the table to that of the page.
    """

    column: str
    title: str
    unit: str = ""
    factor: float = 1.0

    def values(self) -> pl.Expr:
        """Return the column in the unit of the page."""
        return pl.col(self.column) * self.factor

    def is_in(self, frame: pl.DataFrame) -> bool:
        """Tell whether some row has a value."""
        return self.column in frame.columns and frame[self.column].count() > 0


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
"""Labels of a design in the order of the page."""

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

_OUTERMOST_COUNTS = ("load_count", "store_count", "arithmetic_count", "branch_count")


def in_stage_order(stages: Iterable[str]) -> list[str]:
    """Return the stages in the order of generation, unknown ones last by name."""
    present = sorted(set(stages))
    return [s for s in STAGE_ORDER if s in present] + [s for s in present if s not in STAGE_ORDER]


def sample_programs(tables: TableSet) -> pl.DataFrame:
    """Sample every program in order of its id.

    Returns: `program_id`, `stage`, `is_ok`, and one column of floats per number that the program's row and
             its loops have.
    """
    programs = _distinct(tables, "programs", "program_id", texts=("stage", "status"))
    if isinstance(tables.contents.get("programs", pl.DataFrame()).schema.get("operators"), pl.List):
        operators = tables.contents["programs"].lazy().with_row_index("row")
        counts = operators.select("row", operator_count=pl.col("operators").list.len().cast(pl.Float64))
        programs = programs.drop("operator_count", strict=False).join(counts, on="row", how="left")
    programs = programs.with_columns(
        stage=pl.col("stage").replace("", UNKNOWN_STAGE), is_ok=pl.col("status") == OK
    )
    if tables.row_count("loops"):
        loops = _loop_columns(tables)
        columns = [name for name in loops.collect_schema().names() if name != "program_id"]
        programs = programs.drop(columns, strict=False).join(loops, on="program_id", how="left")
        # A program that is ok and has no row of a loop has no loop.
        programs = programs.with_columns(
            pl.when("is_ok").then(pl.col(columns).fill_null(0.0)).otherwise(pl.col(columns))
        )
    return programs.drop("row", "status").sort("program_id").collect()


def sample_designs(tables: TableSet, programs: pl.DataFrame) -> pl.DataFrame:
    """Sample every design in order of its id: its own numbers, its labels, its runs, and its program's
    columns.

    A design is ok when it, its labels and all of its runs are and it has at least one of both. Numbers of
    runs are medians over the data sets that are ok. Where several synthesis tools labelled a design, the
    first by name counts.

    Returns: `design_id`, `program_id`, `stage`, `is_ok`, and columns of floats.
    """
    designs = _distinct(tables, "designs", "design_id", texts=("program_id",)).drop("row")
    taken = {*designs.collect_schema().names(), "seed"}
    for table in ("labels", "runs"):
        numbers = [n for n in tables.number_columns(table) if n not in taken and not n.endswith("wall_s")]
        designs = designs.join(_label_columns(tables, table, numbers), on="design_id", how="left")
        taken |= set(numbers)
    known = programs.lazy().drop("is_ok")
    shared = [n for n in known.collect_schema().names() if n != "program_id"]
    designs = designs.drop(shared, strict=False).join(known, on="program_id", how="left")
    if tables.has_column("cdfg_nodes", "design_id"):
        nodes = tables.scan("cdfg_nodes", texts=("design_id",)).group_by("design_id")
        counts = nodes.agg(operation_count=pl.len().cast(pl.Float64))
        designs = designs.drop("operation_count", strict=False).join(counts, on="design_id", how="left")
    statuses = [_statuses(tables, table) for table in ("designs", "labels", "runs")]
    ok = (
        pl.concat(statuses)
        .group_by("design_id")
        .agg(is_ok=pl.col("is_ok").all() & (pl.len() == len(statuses)))
    )
    return (
        designs.join(ok, on="design_id", how="left")
        .with_columns(pl.col("stage").fill_null(UNKNOWN_STAGE), pl.col("is_ok").fill_null(False))
        .sort("design_id")
        .collect()
    )


def _distinct(tables: TableSet, table: str, key: str, *, texts: Sequence[str]) -> pl.LazyFrame:
    """Return texts and all numbers of the last row of each key."""
    numbers = [name for name in tables.number_columns(table) if name not in (key, *texts)]
    frame = tables.scan(table, texts=(key, *texts), numbers=numbers)
    return frame.unique(key, keep="last", maintain_order=True)


def _loop_columns(tables: TableSet) -> pl.LazyFrame:
    """Return number, greatest depth and counts of outermost loops (inner ones included) by program."""
    known = tables.number_columns("loops")
    counts = [name for name in _OUTERMOST_COUNTS if name in known]
    greatest = {"loop_depth": "depth", "array_count": "array_count"}
    loops = tables.scan("loops", texts=("program_id",), numbers=("depth", "array_count", *counts))
    return loops.group_by("program_id").agg(
        pl.len().cast(pl.Float64).alias("loop_count"),
        *(pl.col(column).max().alias(name) for name, column in greatest.items() if column in known),
        *(pl.col(name).filter(pl.col("depth") == 1).sum() for name in counts),
    )


def _statuses(tables: TableSet, table: str) -> pl.LazyFrame:
    """Return whether every row of a design is ok, and the power of its runs if asked for.

    For labels, only the row of the first tool by name counts.
    """
    rows = tables.scan(table, texts=("design_id", "status", "power_status", "tool"))
    if table == "labels":
        rows = rows.filter(pl.col("tool") == pl.col("tool").min().over("design_id"))
    is_ok = (pl.col("status") == OK) & pl.col("power_status").is_in(["", OK])
    return rows.group_by("design_id").agg(is_ok=is_ok.all())


def _label_columns(tables: TableSet, table: str, numbers: Sequence[str]) -> pl.LazyFrame:
    """Return numbers of each design's ok rows: the first tool's labels, the median over runs' data sets."""
    rows = tables.scan(table, texts=("design_id", "status", "tool"), numbers=numbers)
    grouped = (
        rows.filter(pl.col("status") == OK).sort("tool", "row").group_by("design_id", maintain_order=True)
    )
    values = [pl.col(name) for name in numbers]
    return grouped.agg(v.first() if table == "labels" else v.median() for v in values)


def finite_values(frame: pl.DataFrame, quantity: Quantity) -> pl.Series:
    """Return the values of a quantity in the unit of the page, without holes."""
    return frame.select(finite(quantity.values()).drop_nulls()).to_series()
