"""Records: labelled designs of all suites as text for language models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pydantic import Field

from assets.engines import HLS, PROGRAMS, RECORDS
from assets.settings import Group, Listener, Settings
from assets.step import Output, Step, read_rows
from assets.steps.splits import BY_SPLIT
from assets.suites import partitions
from pipelines.dataset.records import (
    CONTEXT_LIMIT,
    LabelledRows,
    cached_records,
    make_records,
    runtime_data,
)
from pipelines.schemas import table_path, table_spec

SOURCES = ("programs", "loops", "program_facts", "designs", "labels", "runs", "loop_runs")


class Records(Group):
    """How records are written."""

    context_characters: int = Field(default=CONTEXT_LIMIT, ge=1)


def make_record_table(settings: Settings, partition: str, listen: Listener) -> Output:
    """Return the labelled designs of all suites as records, each program in its part of the split."""
    del listen  # seconds at most
    places = read_rows(settings, "splits", partition)
    suites = partitions(settings.configuration)
    pieces = [_records_of(settings, partition, suite, places) for suite in suites]
    spec = table_spec("records")
    table = pa.concat_tables([spec.schema().empty_table(), *pieces])
    return Output(rows={"records": table.sort_by([(name, "ascending") for name in spec.key])})


def _records_of(settings: Settings, split: str, suite: str, places: Sequence[Any]) -> pa.Table:
    """Return the records of the designs of one suite or shard."""
    data_dir = settings.deployment.data_dir
    programs = read_rows(settings, "programs", suite)
    limit = settings.group(Records).context_characters

    def make() -> list[Any]:
        others = {table: read_rows(settings, table, suite) for table in SOURCES if table != "programs"}
        rows = LabelledRows(programs=programs, **others, splits=places)
        data_text = partial(runtime_data, cache=settings.cache)
        return make_records(rows, split=split, data_text=data_text, limit=limit)

    own = {program.program_id for program in programs}
    paths = [table_path(data_dir, table_spec(table), suite) for table in SOURCES]
    if not all(path.is_file() for path in paths):
        return table_spec("records").to_arrow(make())  # raises an error that names the absent table
    parts = {row.program_id: row.part for row in places if row.split == split and row.program_id in own}
    return cached_records(paths, parts, make, split=split, limit=limit, cache=settings.cache)


STEP = Step(
    name="records",
    description="Labelled designs as text for language models: prompts, completions, reasoning.",
    run=make_record_table,
    tables=("records",),
    reads=(*SOURCES, "splits"),
    partitioned=BY_SPLIT,
    configuration={"records": Records},
    parameters=("features", "records"),
    plots={"records": ("prompt_characters",)},
    engines=(HLS, PROGRAMS, RECORDS),
)
