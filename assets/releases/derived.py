"""Tables that a release has left out, made again and compared with their hashes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from assets.deployments import writing_to
from assets.releases.batches import all_steps, whole_steps
from assets.releases.making import ReleaseMaking, answer_of, open_making
from assets.resources import ProgressResource
from assets.step import read_rows
from pipelines.base.identity import text_sha256
from pipelines.base.workers import Outcome, run_all
from pipelines.c import HlsError
from pipelines.dataset.releases import (
    ReleaseError,
)
from pipelines.hls import TOOL, compile_program, options_of
from pipelines.schemas import (
    OK,
    DesignRow,
    ProgramRow,
    write_bytes_atomically,
)


def make_derived(name: str, *, progress: ProgressResource, rtl: Path | None = None) -> dict[str, Any]:
    """Make the tables that a release has left out, and compare each file with its hash in the manifest.

    Args:    progress: hears of every step; rtl: folder for the Verilog of each design, which is compared,
             too; None makes none.
    Returns: the answer of `make_release`, with a line of `problems` per file that differs.
    Raises:  ReleaseError: no such release, or it is damaged. FoundryError: see `make_release`.
    """
    making = open_making(name, progress)
    if making.restore() is None:
        raise ReleaseError(f"no such release: {making.folder}")
    with writing_to(making.settings.deployment.data_dir):
        for step in (*all_steps(making.settings), *whole_steps(making.settings)):
            for table in (table for table in step.tables if table in making.contents.derived):
                making.remake(step, table)
        if rtl is not None:
            making.problems += _wrong_rtl(making, rtl)
    return answer_of(making)


def _wrong_rtl(making: ReleaseMaking, folder: Path) -> Iterator[str]:
    """Yield the designs of the engine whose Verilog is not that of the release; the others become files."""
    folder.mkdir(parents=True, exist_ok=True)
    for partition in making.contents.finished.get("designs", ()):
        programs = {row.program_id: row for row in read_rows(making.settings, "programs", partition)}
        rows = read_rows(making.settings, "designs", partition)
        designs = [(row, programs[row.program_id]) for row in rows if row.tool == TOOL and row.status == OK]
        title = f"Verilog {partition}"
        problems = run_all(
            title,
            designs,
            partial(_checked_rtl, folder),
            workers=making.settings.configuration.run.workers or os.cpu_count() or 1,
            on_progress=making.progress.listener(title, lambda _: None),
        )
        making.progress.ended(title, failure=None)
        wrong = [problem for problem in problems if problem is not None]
        equal = len(designs) - len(wrong)
        making.made.append(f"{title}, {equal} of {len(designs)} designs equal to the release's")
        yield from wrong


def _checked_rtl(folder: Path, pair: tuple[DesignRow, ProgramRow]) -> Outcome[str | None]:
    """Check a design's Verilog: return its problem, or write the file."""
    design, program = pair
    problem = None
    try:
        compiled = compile_program(
            program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
        )
    except HlsError as error:
        problem = f"design {design.design_id} must compile: {error}"
    else:
        if text_sha256(compiled.verilog) == design.rtl_sha256:
            write_bytes_atomically(folder / f"{design.design_id}.v", compiled.verilog.encode())
        else:
            problem = f"design {design.design_id} must have the Verilog {design.rtl_sha256}, got another"
    return Outcome(result=problem, failed=problem is not None, name=design.design_id)
