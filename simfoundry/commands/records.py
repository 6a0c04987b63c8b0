"""`simfoundry records`: records of the tables as one file, and the lengths of their prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from assets.configuration import read_parameters
from assets.deployments import find_deployment
from assets.errors import FoundryError
from pipelines.dataset.records import (
    LENGTH_COLUMNS,
    PromptLengths,
    prompt_lengths,
    require_suffix,
    write_records,
)
from pipelines.schemas import RecordRow, read_arrow, table_path, table_spec, to_frame
from simfoundry.commands.aligned import aligned_lines


def export_records(
    *, out: Path, formats: Sequence[str], parts: Sequence[str], split: str | None
) -> dict[str, int]:
    """Write records to a file.

    Args:    formats, parts: those wanted, all when empty; split: its name, that of params.yaml when None.
    Returns: records by part and format, `train direct` for example.
    Raises:  FoundryError: there are no records. RecordError: the file's suffix. OSError: not writable.
    """
    require_suffix(out)
    path = _file_of(split)
    records: list[RecordRow] = table_spec("records").from_arrow(read_arrow(path))
    kept = [r for r in records if r.format in (formats or [r.format]) and r.part in (parts or [r.part])]
    write_records(out, kept)
    return dict(sorted(Counter(f"{r.part} {r.format}" for r in kept).items()))


def measure_lengths(
    *, formats: Sequence[str], parts: Sequence[str], split: str | None
) -> list[PromptLengths]:
    """Return lengths of the prompts of records by format, stage and part; arguments as for `export_records`.

    Raises: FoundryError: there are no records.
    """
    rows = to_frame(read_arrow(_file_of(split), columns=list(LENGTH_COLUMNS))).lazy()
    for column, accepted in (("format", formats), ("part", parts)):
        rows = rows.filter(pl.col(column).is_in(accepted)) if accepted else rows
    return prompt_lengths(rows)


def lengths_text(lengths: Sequence[PromptLengths]) -> str:
    """Return the lengths as text."""
    head = ("format", "stage", "part", "records", "5 %", "median", "95 %", "maximum", "left out")
    rows = [
        (
            *(of.format, of.stage, of.part, f"{of.records:,}"),
            *(f"{value:,.0f}" for value in (of.p5, of.median, of.p95, of.maximum, of.left_out)),
        )
        for of in lengths
    ]
    return "\n".join(["Characters of prompts", *aligned_lines([head, *rows])])


def _file_of(split: str | None) -> Path:
    """Return the file of the records of a split.

    Raises: FoundryError: there is none.
    """
    deployment = find_deployment()
    name = split or read_parameters(deployment.project).features.split
    path = table_path(deployment.data_dir, table_spec("records"), name)
    if not path.is_file():
        raise FoundryError(
            f"records must be made before they are written, got no file {path}; "
            "run `simfoundry stage records` first"
        )
    return path
