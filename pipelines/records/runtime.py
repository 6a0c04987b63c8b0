"""The runtime data of a run in words: `name=value` for every argument (LLMulator section 3)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.cache import ContentCache
from pipelines.hls import read_interface, tool_version
from pipelines.identity import content_hash
from pipelines.programs import data_id, draw_data, swept_inputs
from pipelines.records.errors import RecordError
from pipelines.records.numbers import plain_number
from pipelines.schemas import ProgramRow, RunRow


def runtime_data(program: ProgramRow, run: RunRow, cache: ContentCache) -> Mapping[str, str]:
    """Runtime inputs of a run by argument: values of scalars, and what elements of arrays are drawn from.

    Scalars come first. An array is described as in the input specification, `uniform(low=-16,high=16)`;
    `any` when its specification says nothing.

    Raises: RecordError: no data set of the program has the run's identity.
    """
    key = content_hash(program.program_id, run.data_id, run.seed, tool_version(), "record-data-1")
    stored = cache.get("record_data", key)
    if stored is None:
        stored = _described(program, run)
        cache.put("record_data", key, stored)
    return stored


def _described(program: ProgramRow, run: RunRow) -> dict[str, str]:
    interface = read_interface(program.source, program.top)
    for inputs in _specifications(program):
        data = draw_data(interface, inputs, seed=run.seed)
        if data_id(data) != run.data_id:
            continue
        kinds: dict[str, dict[str, Any]] = json.loads(inputs)
        scalars = {a.name: plain_number(data[a.name].item()) for a in interface.scalars}
        return scalars | {a.name: _kind(kinds.get(a.name)) for a in interface.arrays}
    raise RecordError(
        f"a run must be on data of its program, got data {run.data_id} for {program.name} and seed {run.seed}"
    )


def _specifications(program: ProgramRow) -> Iterator[str]:
    """The program's input specification, and those of its sweep."""
    yield program.inputs
    if program.graph is not None and '"scalars"' in program.graph:
        yield from swept_inputs(program)


def _kind(specification: Mapping[str, Any] | None) -> str:
    if specification is None:
        return "any"
    details = {k: v for k, v in specification.items() if k not in ("kind", "values")}
    return f"{specification['kind']}({','.join(f'{k}={v}' for k, v in sorted(details.items()))})"
