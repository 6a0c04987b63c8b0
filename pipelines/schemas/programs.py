"""Tables of programs: generated and imported programs, and their parts of splits."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table
from pipelines.schemas.status import STATUSES

STAGES = ("kernel", "ast", "dataflow", "llm", "evaluation")


@table("programs", stage="programs")
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


@table("splits", stage="features")
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRow:
    """The part of a named, frozen split that a program is in."""

    split: str = column("Name of the split, for example by_kernel_v1.", key=True)
    program_id: str = column("Program.", key=True, references="programs")
    group: str = column("Group; all programs of a group are in the same part.")
    part: str = column("Part of the split.", choices=("train", "validation", "test", "evaluation"))
