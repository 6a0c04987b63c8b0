"""Table `inputs`: the data sets that runs name, drawn again from their programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import read_interface
from pipelines.dataset.labelling.options import LabelOptions
from pipelines.programs import find_data_set, input_rows
from pipelines.schemas import DesignRow, InputRow, ProgramRow, RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A program and the kind, seed and identity of each data set that its runs name."""

    program: ProgramRow
    data: tuple[tuple[str | None, int, str], ...]


def describe_inputs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    runs: Sequence[RunRow],
    options: LabelOptions,
    *,
    on_progress: ProgressCallback = silent,
) -> list[InputRow]:
    """Return one row per argument of each data set that runs name; equal data of a suite is there once.

    Raises: ProgramError: a run names a data set that its program does not have.
    """
    program_of = {design.design_id: design.program_id for design in designs}
    data: dict[str, dict[tuple[str | None, int, str], None]] = {}
    for run in runs:
        named = data.setdefault(program_of[run.design_id], {})
        named[run.data_kind, run.seed, run.data_id] = None
    described = run_all(
        "inputs",
        [_Named(program=p, data=tuple(data[p.program_id])) for p in programs if p.program_id in data],
        _describe,
        workers=options.workers,
        on_progress=on_progress,
    )
    rows = (row for own in described for row in own)
    return list({(row.suite, row.data_id, row.argument): row for row in rows}.values())


def _describe(item: _Named) -> Outcome[list[InputRow]]:
    program = item.program
    interface = read_interface(program.source, program.top)
    sets = (find_data_set(program, interface, kind=k, seed=s, identity=i) for k, s, i in item.data)
    rows = [row for one in sets for row in input_rows(one, program.suite)]
    return Outcome(result=rows, failed=False, name=program.name)
