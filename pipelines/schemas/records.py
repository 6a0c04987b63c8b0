"""Table of records: designs and their labels as text for language models."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table

FORMATS = {"direct": "text", "reasoning_static": "static", "reasoning": "hls", "reasoning_run": "run"}
"""Level of information of each layout of a completion."""


@table(
    "records",
    stage="records",
    release="derived",
    report=("format", "stage", "part", "prompt_characters", "left_out"),
    checked_by={
        "prompt completion": "tests: read back, and their code with its pragmas is the design",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """A labelled design on one input data set as a prompt and its completion."""

    design_id: str = column("Design.", key=True, references="labels")
    data_id: str = column("Hash of the input data.", key=True, references="runs")
    format: str = column("Layout of the completion.", key=True, choices=tuple(FORMATS))
    level: str | None = column(
        "What the prompt and the reasoning fragment know.", choices=tuple(FORMATS.values())
    )
    program_id: str = column("Program.")
    suite: str = column("Suite of the program.")
    stage: str = column("Stage that generated or imported the program.")
    split: str = column("Name of the split.")
    part: str = column(
        "Part of the design in the split: that of its program, unseen_delay for a memory delay that training "
        "lacks; evaluation for programs that are never trained on."
    )
    prompt: str = column("Graph function, operator functions, hardware parameters and runtime data.")
    completion: str = column("Labels as tagged numbers; after the reasoning fragment where there is one.")
    prompt_characters: int | None = column("Length of the prompt.", unit="characters")
    left_out: str | None = column(
        "What the prompt lacks because of the context limit: elements, comments, bodies; null for nothing."
    )
