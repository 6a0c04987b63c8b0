"""What a reviewer asks of labels, answered from the rows: leaks, selection, physics, cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import pyarrow as pa

from pipelines.schemas import OK, to_frame
from pipelines.schemas.documentation import markdown_table

Tables = Mapping[str, pa.Table]

READ = ("programs", "designs", "labels", "runs", "splits")
"""Tables that the section needs; a release without one of them has no section."""
_TOLERANCE = 1e-9
_JUDGED = ("test", "evaluation", "fields")

_TEXT = """\
## Questions of a reviewer

**Do programs leak from training into the parts that are judged?** `simfoundry release check NAME` compares
groups, texts, syntax trees and near-duplicates. In the last split here, `SPLIT`, GROUPS groups and TREES
syntax trees are both in training and in a judged part.

**How were designs selected for labels?** All designs are simulated. Mapped to cells are all designs of
programs that people wrote, and of generated programs a share that is drawn by the hash of the design's id
(`synthesis.fraction`; `synthesis.demanding_fraction` of designs with a large estimated area); `params.yaml`
has the shares. Mapped are designs in the library that they are scheduled for; power is known on one data set
at least.

SELECTION
**Is the physics consistent?**

PHYSICS
A path beyond the clock period is no fault of a label but a property of the design.

**What did a label cost?** Elapsed seconds of each step are in `measured/`, by key. They differ between
machines, so this card has none:

    SELECT median(synthesis_wall_s), avg(synthesis_wall_s) FROM 'releases/NAME/measured/labels/*.parquet'
    SELECT median(power_wall_s), avg(power_wall_s) FROM 'releases/NAME/measured/runs/*.parquet'

**What failed?** The section Failures has the commonest reasons. A row is never removed because it failed.
"""


def review_text(name: str, tables: Tables) -> str:
    """Return the section; nothing for a release without one of the tables `READ`.

    Args: name: of the release. tables: rows of each released table, all partitions.
    """
    if not set(READ) <= set(tables):
        return ""
    frames = {table: to_frame(tables[table]) for table in READ}
    split = str(frames["splits"]["split"].max())
    parts = frames["splits"].filter(split=split).select("program_id", "group", "part")
    programs = frames["programs"].filter(status=OK).join(parts, on="program_id")
    values = {
        "NAME": name,
        "SPLIT": split,
        "GROUPS": _on_both_sides(programs, "group"),
        "TREES": _on_both_sides(programs, "ast_hash"),
        "SELECTION": markdown_table(_SELECTION, _selection(programs, frames)),
        "PHYSICS": markdown_table(("statement", "rows", "rows where it does not hold"), _physics(frames)),
    }
    text = _TEXT
    for key, value in values.items():
        text = text.replace(key, value)
    return text


def _on_both_sides(programs: pl.DataFrame, column: str) -> str:
    """Return how many values of a column training and the judged parts share."""
    trained, judged = (
        set(programs.filter(pl.col("part").is_in(parts))[column].drop_nulls())
        for parts in (("train",), _JUDGED)
    )
    return f"{len(trained & judged):,}"


_SELECTION = ("part", "stage", "programs", "designs", "mapped", "with power")


def _selection(programs: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> list[Sequence[str]]:
    """Return the ok programs and designs, and the designs with area and with power, by part and stage."""
    mapped = _mapped(frames).select("design_id").unique()
    powered = frames["runs"].filter(pl.col("power_mw").is_not_null()).select("design_id").unique()
    designs = frames["designs"].filter(status=OK).select("design_id", "program_id")
    designs = designs.join(mapped.with_columns(mapped=1), on="design_id", how="left")
    designs = designs.join(powered.with_columns(powered=1), on="design_id", how="left")
    rows = programs.select("program_id", "part", "stage").join(designs, on="program_id", how="left")
    counts = rows.group_by("part", "stage").agg(
        pl.col("program_id").n_unique(), pl.col("design_id").count(), pl.col("mapped", "powered").sum()
    )
    return [
        (part, stage, *(f"{n:,}" for n in numbers))
        for part, stage, *numbers in counts.sort("part", "stage").iter_rows()
    ]


def _mapped(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the labels with area in the library that the design is scheduled for, beside its design."""
    labels = frames["labels"].filter(pl.col("area_um2").is_not_null())
    designs = frames["designs"].select("design_id", "liberty", "clock_period_ns", "register_bits")
    return labels.join(designs, on=["design_id", "liberty"])


def _physics(frames: Mapping[str, pl.DataFrame]) -> list[Sequence[str]]:
    """Return statements about the figures, with the rows that they are about and those that break them.

    A row without the figure breaks a statement, too.
    """
    clocks = frames["designs"].select("design_id", "clock_period_ns")
    runs = frames["runs"].filter(pl.col("power_mw").is_not_null()).join(clocks, on="design_id")
    labels = _mapped(frames)
    total = pl.sum_horizontal("internal_power_mw", "switching_power_mw", "leakage_power_mw")
    energy_nj = pl.col("power_mw") * pl.col("latency_cycles") * pl.col("clock_period_ns") / 1000
    ok = frames["runs"].filter(status=OK)
    statements = (
        ("`power_mw` is the sum of its three parts", runs, _near(pl.col("power_mw"), total)),
        ("`energy_nj` is power times cycles times period", runs, _near(pl.col("energy_nj"), energy_nj)),
        ("`leakage_power_mw` is below `power_mw`", runs, pl.col("leakage_power_mw") < pl.col("power_mw")),
        (
            "the longest path fits in the clock period",
            labels,
            pl.col("delay_ns") <= pl.col("clock_period_ns"),
        ),
        ("a mapped design has at most the flip-flops of its registers", labels, _REGISTERS),
        ("a run that is ok has cycles", ok, pl.col("latency_cycles") > 0),
    )
    return [
        (text, f"{rows.height:,}", f"{rows.filter((~holds).fill_null(True)).height:,}")
        for text, rows, holds in statements
    ]


_REGISTERS = pl.col("flip_flop_count") <= pl.col("register_bits")


def _near(value: pl.Expr, expected: pl.Expr) -> pl.Expr:
    return (value - expected).abs() <= _TOLERANCE * expected.abs()
