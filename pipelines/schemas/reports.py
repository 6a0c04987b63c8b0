"""Tables about programs as sets: properties of each program, and distributions of each stage's programs."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table


@table("program_facts", stage="features")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFactsRow:
    """Properties of a program, from its text and its structured representation, calls inlined."""

    program_id: str = column("Program.", key=True, references="programs")
    suite: str = column("Suite of the program.")
    source_lines: int = column("Lines of the source that are not blank.")
    source_tokens: int = column("Tokens of the source: names, numbers, strings, signs; none in comments.")
    loop_count: int = column("Loops.")
    loop_depth: int = column("Depth of the deepest loop nest, 0 without loops.")
    operation_count: int = column("Operators and array accesses written, loop headers apart.")
    operations: str = column("JSON object: operators and array accesses written, by kind.")
    array_operation_share: float | None = column(
        "Share of executed operations in statements that access an array; null without operations."
    )


STATISTICS = ("count", "share", "mean", "quantile", "distance")


@table("stage_reports", stage="features")
@dataclass(frozen=True, slots=True, kw_only=True)
class StageReportRow:
    """One figure about the programs of a stage, in long form."""

    stage: str = column("Stage of the programs.", key=True)
    measure: str = column(
        "What is measured: `programs`, `rejected`, a column of program_facts or programs, `operations` "
        "(operators and accesses by kind) or `operators` (names of operators in programs).",
        key=True,
    )
    statistic: str = column(
        "Count of programs, share, mean or quantile of the measure over programs that are ok, or distance of "
        "its distribution from that of the evaluation programs.",
        key=True,
        choices=STATISTICS,
    )
    bin: str = column(
        "Subject of the figure: a state of programs, a reason, a value, a kind, the level of a quantile, or "
        "the kind of distance.",
        key=True,
    )
    value: float = column("The figure.")
