"""Labels of designs in an FPGA: a row of their own in table `labels`, of tool `synth_xilinx`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from pipelines.base.identity import canonical_json, content_hash
from pipelines.base.tools import ToolMissing
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import HlsError
from pipelines.dataset.labelling.flows import recompile, rtl_of
from pipelines.dataset.labelling.options import LabelOptions, ToolContext
from pipelines.dataset.labelling.runs import is_audited
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    HasVerilog,
    LabelFigures,
    is_mapped,
)
from pipelines.hls import TOOL
from pipelines.schemas import OK, TOOL_ERROR, DesignRow, LabelRow, ProgramRow
from pipelines.silicon.synthesis import (
    XILINX_TOOL,
    SynthesisError,
    synthesize_for_fpga,
    xilinx_version,
)

FPGA_KIND = "fpga"


def label_fpga(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    labels: Sequence[LabelRow],
    context: ToolContext,
    *,
    on_progress: ProgressCallback = silent,
) -> list[LabelRow]:
    """Label designs that have an ok label for an FPGA too, when the options ask for it.

    Only those: all their runs equal native C.

    Args:    labels: of the designs, by the project's own synthesis.
    Returns: one row per design of `lacking_fpga_labels`; a failure is a status.
    """
    options = context.options
    by_program = {program.program_id: program for program in programs}
    asked = lacking_fpga_labels(designs, labels, options)
    chosen = [design for design in designs if design.design_id in asked]
    return run_all(
        "FPGA",
        [(by_program[design.program_id], design) for design in chosen],
        partial(_label, context=context),
        workers=options.workers,
        cost=lambda item: item[1].estimated_area_um2 or 0.0,
        on_progress=on_progress,
    )


def lacking_fpga_labels(
    designs: Iterable[DesignRow], labels: Iterable[LabelRow], options: LabelOptions
) -> set[str]:
    """Return the designs that are to have a label for an FPGA and have none, by id.

    Args: labels: of all tools; options: shares of the designs mapped to cells and of those with cycles alone.
    """
    if XILINX_TOOL not in options.synthesis_tools:
        return set()
    shares = options.fpga_fraction, options.fpga_unmapped_fraction
    return lacking_elsewhere(designs, labels, XILINX_TOOL, shares, options)


def lacking_elsewhere(
    designs: Iterable[DesignRow],
    labels: Iterable[LabelRow],
    tool: str,
    shares: tuple[float, float],
    options: LabelOptions,
) -> set[str]:
    """Return the designs with an ok label that are to have one of another tool and have none, by id.

    Args: shares: of the designs mapped to cells, and of those with cycles alone up to `unmapped_most_um2`.
    """
    rows, most_um2 = list(labels), options.unmapped_most_um2
    small = {d.design_id for d in designs if most_um2 is None or (d.estimated_area_um2 or 0.0) <= most_um2}
    mapped, alone = shares
    asked = {
        row.design_id
        for row in rows
        if row.tool == SYNTHESIS_TOOL and row.status == OK
        if is_mapped(row) or row.design_id in small
        if is_audited(row.design_id, mapped if is_mapped(row) else alone)
    }
    return asked - {row.design_id for row in rows if row.tool == tool}


def fpga_key(design: DesignRow, options: LabelOptions) -> str:
    """Hash what the FPGA label of a design depends on."""
    return content_hash(design.rtl_sha256, xilinx_version(), options.synthesis_timeout_s)


def _label(item: tuple[ProgramRow, DesignRow], *, context: ToolContext) -> Outcome[LabelRow]:
    program, design = item
    figures = context.cache.cached(
        FPGA_KIND,
        fpga_key(design, context.options),
        lambda: _synthesise(program, design, context),
        lambda stored: LabelFigures(**stored),
        statuses=lambda figures: (figures.status,),
    )
    row = figures.fpga_row(design)
    return Outcome(result=row, failed=row.status != OK, name=program.name)


def _verilog(program: ProgramRow, design: DesignRow, context: ToolContext) -> HasVerilog:
    return recompile(program, design) if design.tool == TOOL else rtl_of(program, design, context)


def _synthesise(program: ProgramRow, design: DesignRow, context: ToolContext) -> LabelFigures:
    try:
        text = _verilog(program, design, context)
        with context.tool_folder("synthesis") as folder:
            result = synthesize_for_fpga(
                text.verilog,
                top=text.module,
                folder=folder,
                timeout_s=context.options.synthesis_timeout_s,
            )
    except (ToolMissing, SynthesisError, HlsError, OSError) as error:
        return LabelFigures(status=TOOL_ERROR, reason=str(error))
    cells = result.cells_by_type
    return LabelFigures(
        status=result.status,
        reason=result.reason,
        flip_flop_count=result.flip_flop_count,
        cell_count=None if cells is None else sum(cells.values()),
        cells_by_type=None if cells is None else canonical_json(cells),
        lut_count=result.lut_count,
        dsp_count=result.dsp_count,
        bram_count=result.bram_count,
        synthesis_wall_s=result.wall_s,
    )
