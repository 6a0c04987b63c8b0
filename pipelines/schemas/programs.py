"""Tables of programs, their parts of splits, their properties, and distributions of each stage's programs."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.checks import IDENTITY
from pipelines.schemas.columns import STATUSES, column, table

STAGES = ("kernel", "written", "ast", "dataflow", "llm", "evaluation")


@table(
    "programs",
    stage="programs",
    checked_by={
        "program_id source_bytes": IDENTITY,
        "source top inputs": "every program with a run: gcc and its sanitizers",
        "status reason": "programs of a language model: undefined behaviour by gcc's sanitizers",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRow:
    """A program: self-contained C source with its top function and its input data specification."""

    program_id: str = column("Hash of source, top and input specification.", key=True)
    name: str = column("Kernel or generator name; programs of one name differ by size.")
    suite: str = column("Suite the program belongs to; also the Dagster partition.")
    stage: str = column("Stage that generated or imported the program.", choices=STAGES)
    size: str = column("Named size of the kernel: small, medium, large, or custom.")
    parameters: str = column("JSON object of the size macros and their values.")
    source: str = column("Complete C source.")
    source_bytes: int = column("Length of the source.", unit="bytes")
    top: str = column("Name of the function that becomes hardware.")
    inputs: str = column("JSON object: how the data of each argument is drawn.")
    graph: str | None = column("JSON operator graph; null for a single operator.")
    operators: tuple[str, ...] = column("Names of the program's operators.")
    parent: str | None = column("Program this one was derived from.")
    root: str | None = column("Name of its first ancestor; both are in the same part of every split.")
    ast_hash: str | None = column(
        "Hash of the normalised syntax tree of the top function and all that it calls: equal for programs "
        "that differ in names, layout and macros only; null for text that is not a program."
    )
    prompt: str | None = column("Name of the prompt file that asked for this variant.")
    prompt_sha256: str | None = column("SHA-256 of the prompt as it was sent.")
    model: str | None = column("Language model that wrote this variant.")
    reply_sha256: str | None = column("SHA-256 of the model's reply.")
    prompt_tokens: int | None = column("Tokens the model read for this variant, as it counts them.")
    completion_tokens: int | None = column("Tokens the model wrote for it.")
    reply_cost: float | None = column("Cost of both, in the currency of the configured prices.")
    status: str = column("Outcome of the program's generation.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")


@table(
    "splits",
    stage="features",
    checked_by={
        "part": "every row: groups on one side, checked at each run",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRow:
    """The part of a named, frozen split that a program is in."""

    split: str = column("Name of the split, for example by_kernel_v1.", key=True)
    program_id: str = column("Program.", key=True, references="programs")
    group: str = column("Group; all programs of a group are in the same part.")
    part: str = column(
        "Part of the split; excluded: near an evaluation program, of its name, or near two parts; fields: of "
        "a field of suite written that no model is trained or chosen on.",
        choices=("train", "validation", "test", "evaluation", "fields", "excluded"),
    )


@table(
    "program_facts",
    stage="features",
    checked_by={
        "dynamic_class": "class I with several runs: equal cycles on all data",
    },
)
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
    dynamic_class: str | None = column(
        "I when no loop bound, branch or early exit depends on an array or a scalar argument, so that cycles "
        "do not depend on data; else II. Null in rows of earlier releases.",
        choices=("I", "II"),
    )


STATISTICS = ("count", "share", "mean", "quantile", "distance")


@table("stage_reports", stage="features", checked_by={})
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
