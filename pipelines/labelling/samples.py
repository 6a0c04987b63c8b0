"""The sample of labelled designs whose figures are compared with other tools.

It is a pass of its own over rows, made in every run, whatever of the labels came from the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pipelines.cache import ContentCache
from pipelines.hls import TOOL, read_interface
from pipelines.labelling.cross_checks import is_cross_checked, recall_cross_check
from pipelines.labelling.netlists import SYNTHESIS_TOOL
from pipelines.labelling.options import LabelOptions, ProgressCallback, silent
from pipelines.labelling.own_designs import OwnDesign
from pipelines.labelling.pool import Outcome, run_all
from pipelines.labelling.scratch import scratch_folder
from pipelines.labelling.tables import LabelTables
from pipelines.programs import draw_data
from pipelines.schemas import CrossCheckRow, DesignRow, LabelRow, ProgramRow, RunRow
from pipelines.synthesis import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampled:
    """A design of the sample, and what labelling made of it."""

    program: ProgramRow
    design: DesignRow
    label: LabelRow
    run: RunRow


def cross_check_designs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    made: LabelTables,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> list[CrossCheckRow]:
    """Compare labelled designs of the engine that belong to the sample with other tools.

    Args:    made: the labels and runs of the designs.
    Returns: rows of `cross_check`, of the first data set of each design.
    Raises:  OSError: the disk is full.
    """
    sample = _sample(programs, designs, made, options)

    known = [
        recall_cross_check(s.design, s.run, s.label, target=target, cache=cache, options=options)
        for s in sample
    ]
    missing = [item for item, rows in zip(sample, known, strict=True) if rows is None]
    found = run_all(
        "cross-checks",
        missing,
        partial(_cross_check, target=target, cache=cache, options=options),
        workers=options.workers,
        on_progress=on_progress,
    )
    return [row for rows in (*(rows for rows in known if rows is not None), *found) for row in rows]


def _sample(
    programs: Sequence[ProgramRow], designs: Sequence[DesignRow], made: LabelTables, options: LabelOptions
) -> list[_Sampled]:
    first = options.data_seeds[0]
    runs = {run.design_id: run for run in made.runs if run.seed == first}
    labels = {label.design_id: label for label in made.labels if label.tool == SYNTHESIS_TOOL}
    by_id = {program.program_id: program for program in programs}
    return [
        _Sampled(
            program=by_id[design.program_id],
            design=design,
            label=labels[design.design_id],
            run=runs[design.design_id],
        )
        for design in designs
        if design.tool == TOOL and design.design_id in runs and is_cross_checked(design.design_id, options)
    ]


def _cross_check(
    item: _Sampled, *, target: Target, cache: ContentCache, options: LabelOptions
) -> Outcome[tuple[CrossCheckRow, ...]]:
    program = item.program
    interface = read_interface(program.source, program.top)
    data = draw_data(interface, program.inputs, seed=item.run.seed)
    own = OwnDesign(program=program, design=item.design, interface=interface, cache=cache, options=options)
    with scratch_folder(cache) as builds:
        rows = own.cross_check(item.label, item.run, data, target=target, builds=builds)
    return Outcome(result=rows, failed=not all(row.passed for row in rows), name=program.name)
