"""A user's own labels as a suite: this project's designs and features beside another tool's labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from assets.configuration import read_parameters, write_parameters
from assets.database import write_database
from assets.deployments import Deployment, replacing_suite, writing_to
from assets.errors import FoundryError
from assets.label_settings import label_options
from assets.own_suites import ImportedSuite, clear_suite, require_own_name, suite_places
from assets.settings import Settings
from assets.steps import step_named
from assets.user_programs import read_user_program
from pipelines.base.limited import reading
from pipelines.base.workers import Outcome, run_all
from pipelines.c import HlsError, default_top, parse_directives
from pipelines.dataset.labelling import CountedDesign, ToolContext, count_design
from pipelines.dataset.vendor import LabelledSource, VendorError, read_labelled_table
from pipelines.hls import HlsOptions
from pipelines.programs import ProgramError, program_from_file
from pipelines.schemas import OK, LabelRow, ProgramRow, RunRow, table_spec, write_table

FOLLOWING_STEPS = ("inputs", "features", "design_features", "run_features")
STAGE = "kernel"
ENGINE = "this project's engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of the user's table with its program and configuration."""

    label: LabelledSource
    program: ProgramRow
    options: HlsOptions


def import_labelled_table(deployment: Deployment, path: Path, suite: str) -> ImportedSuite:
    """Write the tables of a suite from a table of labels; it replaces an earlier one at the end.

    Every program is compiled by the project's engine under the row's directives and run on drawn data, so
    that predictors of every level have their features; area, cycles and power come from the user's tool.

    Raises: VendorError: the table is not acceptable. FoundryError: a program or its directives are not, the
            suite is that of the inbox, or another process writes to it. ToolMissing: gcc is not installed.
    """
    require_own_name(suite)
    rows = _rows(path, suite)
    own = deployment.of_suite(suite)
    settings = Settings(configuration=read_parameters(deployment.project), deployment=own)
    with writing_to(own.data_dir):
        with replacing_suite(own) as new:
            clear_suite(new)
            counted = _count(settings, rows)
            tables = _tables(rows, counted)
            for name, content in tables.items():
                write_table(new.data_dir, table_spec(name), content, suite)
            counts = {name: len(content) for name, content in tables.items()}
            for step in FOLLOWING_STEPS:
                counts |= step_named(step).make(replace(settings, deployment=new), suite).rows
            write_parameters(new.parameters_folder, settings.configuration)
        write_database(own.data_dir)
    labels: Sequence[LabelRow] = tables["labels"]
    return ImportedSuite(
        suite=suite,
        folder=own.data_dir,
        rows=counts,
        statuses=Counter(label.status for label in labels),
        parts=Counter(place.part for place in tables["splits"]),
        reasons=Counter(str(label.reason) for label in labels if label.status != OK),
    )


def _rows(path: Path, suite: str) -> list[_Row]:
    """Return every row with its program; a program that cannot be read ends the import."""
    known: dict[tuple[str | None, ...], ProgramRow] = {}
    rows: list[_Row] = []
    seen: dict[tuple[Any, ...], int] = {}
    with reading(f"the table {path}"):
        labels = read_labelled_table(path)
    for number, label in enumerate(labels, 1):
        key = (label.source, label.file, label.name, label.top)
        try:
            with reading(f"row {number} of {path}"):
                program = known.get(key) or _program(label, path.parent, suite)
                directives = parse_directives(label.directives)
        except (ProgramError, HlsError, VendorError) as error:
            raise FoundryError(f"{error} ({path}, row {number})") from error
        known[key] = program
        options = HlsOptions(
            memory_read_delay_cycles=label.memory_read_delay_cycles,
            memory_write_delay_cycles=label.memory_write_delay_cycles,
            clock_period_ns=label.clock_period_ns,
            directives=directives,
        )
        rows.append(_Row(label=label, program=program, options=options))
        first = seen.setdefault((program.program_id, options, label.tool), number)
        if first != number:
            raise FoundryError(
                f"the same program, configuration and tool in rows {first} and {number} ({path})"
            )
    return rows


def _program(label: LabelledSource, folder: Path, suite: str) -> ProgramRow:
    if label.file is not None:
        path = folder / label.file
        if not path.resolve().is_relative_to(folder.resolve()):
            raise VendorError(f"file: {label.file} is not in the folder of the table")
        program = read_user_program(path, label.top)
    else:
        source = label.source or ""
        top = label.top or default_top(source, label.name or "", file="source")
        program = program_from_file(Path(label.name or top), top=top, source=source)
    return replace(program, suite=suite, stage=STAGE, name=label.name or program.name)


def _count(settings: Settings, rows: Sequence[_Row]) -> list[CountedDesign]:
    """Return the designs and one run of each, by the project's engine."""
    context = ToolContext(cache=settings.cache, options=label_options(settings))
    work = partial(_counted, context=context)
    return run_all("designs", rows, work, workers=context.options.workers or os.cpu_count() or 1)


def _counted(row: _Row, *, context: ToolContext) -> Outcome[CountedDesign]:
    counted = count_design(row.program, row.options, context)
    failed = counted.run is None or counted.run.status != OK
    return Outcome(result=counted, failed=failed, name=row.program.name)


def _tables(rows: Sequence[_Row], counted: Sequence[CountedDesign]) -> dict[str, list[Any]]:
    """Return the rows of every table that is not derived by a step; designs of several tools occur once."""
    pairs = list(zip(rows, counted, strict=True))
    designs = {one.design.design_id: one for one in counted}
    programs = {row.program.program_id: row.program for row in rows}
    return {
        "programs": list(programs.values()),
        "designs": [one.design for one in designs.values()],
        "directive_outcomes": [outcome for one in designs.values() for outcome in one.outcomes],
        "labels": [_label(row, one) for row, one in pairs],
        "runs": list(_runs(pairs)),
        "loop_runs": [loop for one in designs.values() for loop in one.loop_runs],
        "splits": suite_places(list(programs.values())),
    }


def _engine_failure(counted: CountedDesign) -> tuple[str, str] | None:
    """Return the status and reason of a design that this project's engine cannot make or run."""
    row = counted.design if counted.design.status != OK else counted.run
    return None if row is None or row.status == OK else (row.status, f"{ENGINE}: {row.reason}")


def _label(row: _Row, counted: CountedDesign) -> LabelRow:
    label = row.label
    status, reason = _engine_failure(counted) or (label.status, label.reason)
    return LabelRow(
        design_id=counted.design.design_id,
        tool=label.tool,
        tool_version=label.tool_version,
        suite=row.program.suite,
        liberty=label.library,
        status=status,
        reason=reason,
        area_um2=label.area_um2,
        flip_flop_count=label.flip_flop_count,
        cell_count=label.cell_count,
        cells_by_type=None,
        delay_ns=label.delay_ns,
        leakage_mw=label.leakage_mw,
        lut_count=label.lut_count,
        dsp_count=label.dsp_count,
        bram_count=label.bram_count,
        synthesis_wall_s=None,
    )


def _runs(pairs: Sequence[tuple[_Row, CountedDesign]]) -> Iterator[RunRow]:
    """Yield one run per design: the engine's drawn data, the user's cycles and power, compared with nothing.

    The first tool with cycles counts.
    """
    done: set[str] = set()
    for row, counted in pairs:
        run, label = counted.run, row.label
        if run is None or run.design_id in done:
            continue
        done.add(run.design_id)
        if run.status != OK:
            yield run
            continue
        energy_nj = None
        if label.power_mw is not None and label.latency_cycles is not None:
            energy_nj = label.power_mw * label.latency_cycles * label.clock_period_ns / 1e3
        yield replace(
            run,
            engine=label.tool,
            engine_version=label.tool_version,
            status=label.status,
            reason=label.reason,
            latency_cycles=label.latency_cycles,
            outputs_equal=None,
            power_status=None if label.power_mw is None else OK,
            power_mw=label.power_mw,
            energy_nj=energy_nj,
        )
