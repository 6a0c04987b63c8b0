"""Labels of designs in the cells of other libraries: rows of their own in table `labels`, of tool
`pyosys_<library>`.

The Verilog is the one that was scheduled for the library of the context, so these rows say what the same
design costs in another technology. They have no power.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pipelines.hls import TOOL, HlsError
from pipelines.labelling.flows import recompile, rtl_of
from pipelines.labelling.options import LabelContext
from pipelines.labelling.runs import is_audited
from pipelines.labelling.synthesis import (
    SYNTHESIS_TOOL,
    HasVerilog,
    LabelFigures,
    mapped_designs,
    synthesise,
)
from pipelines.schemas import OK, TOOL_ERROR, DesignRow, LabelRow, ProgramRow
from pipelines.synthesis import SynthesisError
from pipelines.tools import ToolMissing
from pipelines.workers import Outcome, ProgressCallback, run_all, silent


def in_library(context: LabelContext, liberty: Path) -> LabelContext:
    """The same context with the cells of another library."""
    return replace(context, target=replace(context.target, liberty=liberty))


def library_tool(context: LabelContext) -> str:
    """Name of the tool in rows of the context's library, when it is another one than that of the release."""
    return f"{SYNTHESIS_TOOL}_{context.liberty}"


def label_in_libraries(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    labels: Sequence[LabelRow],
    context: LabelContext,
    *,
    on_progress: ProgressCallback = silent,
) -> list[LabelRow]:
    """Label designs that have an ok label in the cells of `other_libraries` too.

    Only those: their Verilog was proved to do what the program does.

    Args:    labels: of the designs, by the project's own synthesis.
    Returns: one row per library and design of the share `other_library_fraction`; a failure is a status.
    """
    options = context.options
    by_program = {program.program_id: program for program in programs}
    ok = mapped_designs(labels)
    chosen = [
        d for d in designs if d.design_id in ok and is_audited(d.design_id, options.other_library_fraction)
    ]
    return [
        row
        for liberty in options.other_libraries
        for row in run_all(
            f"labels in {liberty.stem}",
            [(by_program[design.program_id], design) for design in chosen],
            partial(_label, context=in_library(context, liberty)),
            workers=options.workers,
            cost=lambda item: item[1].estimated_area_um2 or 0.0,
            on_progress=on_progress,
        )
    ]


def _label(item: tuple[ProgramRow, DesignRow], *, context: LabelContext) -> Outcome[LabelRow]:
    program, design = item

    def verilog() -> HasVerilog:
        return recompile(program, design) if design.tool == TOOL else rtl_of(program, design, context)

    try:
        figures = synthesise(design, verilog, context)
    except (ToolMissing, SynthesisError, HlsError, OSError) as error:
        figures = LabelFigures(status=TOOL_ERROR, reason=str(error))
    row = replace(figures.row(design, context.liberty), tool=library_tool(context))
    return Outcome(result=row, failed=row.status != OK, name=program.name)
