"""Labels of designs in the cells of other libraries: rows of their own in table `labels`, of tool
`pyosys_<library>`.

The Verilog is the one that was scheduled for the library of the context, so these rows say what the same
design costs in another technology. They have no power.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pipelines.base.tools import ToolMissing
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import HlsError
from pipelines.dataset.labelling.flows import recompile, rtl_of
from pipelines.dataset.labelling.fpga import lacking_elsewhere
from pipelines.dataset.labelling.options import LabelContext, LabelOptions, library_name
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    HasVerilog,
    LabelFigures,
    synthesise,
)
from pipelines.hls import TOOL
from pipelines.schemas import OK, TOOL_ERROR, DesignRow, LabelRow, ProgramRow
from pipelines.silicon.synthesis import XILINX_TOOL, SynthesisError, xilinx_version
from pipelines.silicon.synthesis import tool_version as synthesis_version


def in_library(context: LabelContext, liberty: Path) -> LabelContext:
    """Return the context with the cells of another library."""
    return replace(context, target=replace(context.target, liberty=liberty))


def library_tool(context: LabelContext) -> str:
    """Return the tool's name in rows of the context's library, if this is not the library of the release."""
    return _tool_of(context.target.liberty)


def _tool_of(liberty: Path) -> str:
    return f"{SYNTHESIS_TOOL}_{library_name(liberty)}"


def elsewhere_versions(options: LabelOptions) -> dict[str, str]:
    """Return the version of each tool that maps designs to other cells than the project's synthesis."""
    libraries = {_tool_of(liberty): synthesis_version() for liberty in options.other_libraries}
    return {XILINX_TOOL: xilinx_version(), **libraries}


def label_in_libraries(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    labels: Sequence[LabelRow],
    context: LabelContext,
    *,
    on_progress: ProgressCallback = silent,
) -> list[LabelRow]:
    """Label designs that have an ok label in the cells of `other_libraries` too.

    Only those: all their runs equal native C.

    Args:    labels: of the designs, by the project's own synthesis.
    Returns: one row per library and design of `lacking_library_labels`; a failure is a status.
    """
    options = context.options
    by_program = {program.program_id: program for program in programs}
    return [
        row
        for liberty in options.other_libraries
        for asked in [lacking_library_labels(designs, labels, liberty, options)]
        for row in run_all(
            f"labels in {liberty.stem}",
            [(by_program[d.program_id], d) for d in designs if d.design_id in asked],
            partial(_label, context=in_library(context, liberty)),
            workers=options.workers,
            cost=lambda item: item[1].estimated_area_um2 or 0.0,
            on_progress=on_progress,
        )
    ]


def lacking_library_labels(
    designs: Iterable[DesignRow], labels: Iterable[LabelRow], liberty: Path, options: LabelOptions
) -> set[str]:
    """Return the designs that are to have a label in the cells of another library and have none, by id.

    Args: labels: of all tools.
    """
    shares = options.other_library_fraction, options.other_library_unmapped_fraction
    return lacking_elsewhere(designs, labels, _tool_of(liberty), shares, options)


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
