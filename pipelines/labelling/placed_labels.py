"""Labels of the same designs by SiliconCompiler, as rows with a tool and a library of their own.

Only designs with an ok label are given to it: their Verilog was proved to do what the program does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pipelines import siliconcompiler
from pipelines.cache import ContentCache
from pipelines.hls import TOOL, HlsError, read_interface
from pipelines.identity import content_hash
from pipelines.labelling.netlists import SYNTHESIS_TOOL, HasVerilog
from pipelines.labelling.options import LabelOptions, ProgressCallback, silent
from pipelines.labelling.other_designs import rtl_of
from pipelines.labelling.own_designs import OwnDesign
from pipelines.labelling.pool import Outcome, run_all
from pipelines.labelling.scratch import tool_folder
from pipelines.schemas import OK, TOOL_ERROR, DesignRow, LabelRow, ProgramRow
from pipelines.siliconcompiler import SiliconCompilerError, run_flow
from pipelines.synthesis import SynthesisResult
from pipelines.tools import ToolMissing

SYNTHESIS_TOOLS = (SYNTHESIS_TOOL, siliconcompiler.TOOL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A design, and its label by the project's own synthesis."""

    program: ProgramRow
    design: DesignRow
    label: LabelRow


def place_designs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    labels: Sequence[LabelRow],
    *,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> list[LabelRow]:
    """Label designs that have an ok label with SiliconCompiler too, when the options ask for it.

    Args:    labels: of the designs, by the project's own synthesis.
    Returns: one row a design; a failure is a status.
    Raises:  ToolMissing: it is asked for and not installed.
    """
    if siliconcompiler.TOOL not in options.synthesis_tools:
        return []
    siliconcompiler.require_flow()
    by_program = {program.program_id: program for program in programs}
    by_design = {design.design_id: design for design in designs}
    items = [
        _Placed(program=by_program[design.program_id], design=design, label=label)
        for label in labels
        for design in [by_design[label.design_id]]
        if label.status == OK and label.tool == SYNTHESIS_TOOL
    ]

    work = partial(_place, cache=cache, options=options)
    return run_all("placement", items, work, workers=options.workers, on_progress=on_progress)


def _place(item: _Placed, *, cache: ContentCache, options: LabelOptions) -> Outcome[LabelRow]:
    version = siliconcompiler.tool_version()
    period_ns = item.design.clock_period_ns
    key = content_hash(item.design.rtl_sha256, period_ns, version, options.placement_timeout_s)
    fields = cache.get("placement", key)
    if fields is None:
        try:
            result = _run(item, cache=cache, options=options)
        except (ToolMissing, SiliconCompilerError, HlsError, OSError) as error:
            result = SynthesisResult(status=TOOL_ERROR, reason=str(error))
        fields = _fields(result)
        cache.keep("placement", key, fields, result.status)
    row = replace(
        item.label,
        tool=siliconcompiler.TOOL,
        tool_version=version,
        liberty=siliconcompiler.LIBRARY,
        **fields,
    )
    return Outcome(result=row, failed=row.status != OK, name=item.program.name)


def _run(item: _Placed, *, cache: ContentCache, options: LabelOptions) -> SynthesisResult:
    text = _verilog(item, cache, options)
    with tool_folder(cache, siliconcompiler.TOOL, options) as folder:
        return run_flow(
            text.verilog,
            top=text.module,
            clock_period_ns=item.design.clock_period_ns,
            folder=folder,
            cache_folder=cache.folder / siliconcompiler.TOOL,
            timeout_s=options.placement_timeout_s,
        )


def _verilog(item: _Placed, cache: ContentCache, options: LabelOptions) -> HasVerilog:
    program, design = item.program, item.design
    if design.tool != TOOL:
        return rtl_of(program, design, cache=cache, options=options)
    interface = read_interface(program.source, program.top)
    own = OwnDesign(program=program, design=design, interface=interface, cache=cache, options=options)
    return own.rtl()


def _fields(result: SynthesisResult) -> dict[str, Any]:
    return {
        "status": result.status,
        "reason": result.reason,
        "area_um2": result.area_um2,
        "flip_flop_count": result.flip_flop_count,
        "cell_count": result.cell_count,
        "cells_by_type": None,
        "delay_ns": result.delay_ns,
        "leakage_mw": result.leakage_mw,
        "synthesis_wall_s": result.wall_s,
    }
