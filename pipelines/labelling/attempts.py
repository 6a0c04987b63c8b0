"""One attempt: each step of a design's way, from the cache when it was done before.

Belongs here: what each step depends on (its cache key), the order of the steps, and failures as rows. Does
not: runs and their truth checks (`counting.py`), many designs at once.

What follows from the inputs is remembered: success, a rejected program, a time limit that was passed,
hardware that differs from native C. A tool that failed, or is missing, or found the disk full makes a row
but is not remembered: the next run tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from pipelines.cache import ContentCache
from pipelines.hls import (
    CompiledDesign,
    HlsError,
    HlsOptions,
    compile_program,
    design_id,
    design_row,
    options_of,
    outcome_rows,
)
from pipelines.identity import canonical_json, content_hash, text_sha256
from pipelines.interface import DataSet, Interface
from pipelines.labelling.counting import RunRequest, attempt_run
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.scratch import scratch_folder
from pipelines.programs import ProgramError, draw_data
from pipelines.rtlsim import SimulatorError
from pipelines.schemas import (
    OK,
    REJECTED,
    TOOL_ERROR,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    ProgramRow,
    RunRow,
)
from pipelines.synthesis import (
    SynthesisError,
    SynthesisResult,
    Target,
    liberty_hash,
    synthesize_design,
)
from pipelines.synthesis import tool_version as synthesis_version
from pipelines.tools import ToolMissing, stopwatch

SYNTHESIS_TOOL = "pyosys"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDesign:
    """Everything one attempt gave."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]
    label: LabelRow
    runs: tuple[RunRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsAttempt:
    """Outcome of high-level synthesis; `compiled` is None when it came from the cache or failed."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]
    compiled: CompiledDesign | None = None


def liberty_name(target: Target) -> str:
    """Name of a target's library, as rows know it."""
    return target.liberty.stem.removesuffix("_stdcells")


# ---- high-level synthesis --------------------------------------------------------------------------


def attempt_hls(program: ProgramRow, options: HlsOptions, cache: ContentCache) -> HlsAttempt:
    """Compile a design, or find what became of it before."""
    key = design_id(program, options)
    stored = cache.get("hls", key)
    if stored is not None:
        return HlsAttempt(
            design=DesignRow(**stored["design"]),
            outcomes=tuple(DirectiveOutcomeRow(**o) for o in stored["outcomes"]),
        )
    start = stopwatch()
    try:
        compiled = compile_program(program.source, top=program.top, options=options, file=f"{program.name}.c")
    except HlsError as error:
        row = design_row(program, options, (REJECTED, str(error)), stopwatch() - start)
        attempt = HlsAttempt(design=row, outcomes=())
    else:
        row = design_row(program, options, compiled, stopwatch() - start)
        outcomes = tuple(outcome_rows(program, options, compiled))
        attempt = HlsAttempt(design=row, outcomes=outcomes, compiled=compiled)
    stored = {
        "design": asdict(attempt.design),
        "outcomes": [asdict(o) for o in attempt.outcomes],
    }
    cache.put("hls", key, stored)
    return attempt


def compile_again(program: ProgramRow, design: DesignRow) -> CompiledDesign:
    """The compiled design of a row.

    Raises: HlsError: the compiler gives other Verilog than the row says.
    """
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    found = text_sha256(compiled.verilog)
    if found != design.rtl_sha256:
        raise HlsError(f"a design must compile to the Verilog {design.rtl_sha256}", found)
    return compiled


# ---- logic synthesis -------------------------------------------------------------------------------


def attempt_synthesis(
    design: DesignRow,
    compiled: Callable[[], CompiledDesign],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
) -> dict[str, Any]:
    """Area, flip-flops, cells and delay of a design's Verilog, as fields of a label row."""
    key = content_hash(
        design.rtl_sha256,
        liberty_hash(target.liberty),
        synthesis_version(),
        options.synthesis_timeout_s,
    )
    stored = cache.get("synthesis", key)
    if stored is not None:
        return stored
    text = compiled()
    with scratch_folder(cache) as folder:
        result = synthesize_design(
            text.verilog,
            top=text.module,
            target=target,
            folder=folder,
            timeout_s=options.synthesis_timeout_s,
        )
    fields = _synthesis_fields(result)
    if result.status != TOOL_ERROR:
        cache.put("synthesis", key, fields)
    return fields


def _synthesis_fields(result: SynthesisResult) -> dict[str, Any]:
    ok = result.status == OK
    return {
        "status": result.status,
        "reason": result.reason,
        "area_um2": result.area_um2,
        "flip_flop_count": result.flip_flop_count,
        "cell_count": result.cell_count,
        "cells_by_type": canonical_json(result.cells_by_type) if ok else None,
        "delay_ns": result.delay_ns,
        "synthesis_wall_s": result.wall_s,
    }


# ---- a whole design --------------------------------------------------------------------------------


def _empty_label(design: DesignRow, target: Target) -> LabelRow:
    return LabelRow(
        design_id=design.design_id,
        tool=SYNTHESIS_TOOL,
        tool_version=synthesis_version(),
        suite=design.suite,
        liberty=liberty_name(target),
        status=OK,
        reason=None,
        area_um2=None,
        flip_flop_count=None,
        cell_count=None,
        cells_by_type=None,
        delay_ns=None,
        synthesis_wall_s=None,
    )


def label_attempt(
    program: ProgramRow,
    design: DesignRow,
    interface: Interface | None,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    data: DataSet | None = None,
) -> tuple[LabelRow, tuple[RunRow, ...]]:
    """Truth checks, then logic synthesis, of a design that HLS made.

    Args:    interface: of the program, None when HLS failed; data: one data set instead of drawn ones.
    Returns: the label row, ok only when every run is ok, and one run row a data set.
    """
    label = _empty_label(design, target)
    if design.status != OK or interface is None:
        reason = f"high-level synthesis: {design.reason}"
        return replace(label, status=design.status, reason=reason), ()
    made: list[CompiledDesign] = []

    def compiled() -> CompiledDesign:
        if not made:
            made.append(compile_again(program, design))
        return made[0]

    runs: list[RunRow] = []
    try:
        with scratch_folder(cache) as builds:
            for seed in options.data_seeds if data is None else (0,):
                request = RunRequest(
                    program=program,
                    design=design,
                    compiled=compiled,
                    interface=interface,
                    data=draw_data(interface, program.inputs, seed=seed) if data is None else data,
                    builds=builds,
                    seed=seed,
                )
                runs.append(attempt_run(request, cache=cache, options=options))
        failed = [r for r in runs if r.status != OK]
        if failed:
            return replace(label, status=failed[0].status, reason=failed[0].reason), tuple(runs)
        fields = attempt_synthesis(design, compiled, target=target, cache=cache, options=options)
        return replace(label, **fields), tuple(runs)
    except ProgramError as error:
        return replace(label, status=REJECTED, reason=str(error)), tuple(runs)
    except (ToolMissing, SimulatorError, SynthesisError, HlsError, OSError) as error:
        return replace(label, status=TOOL_ERROR, reason=f"{error}"), tuple(runs)


def label_design(
    program: ProgramRow,
    configuration: HlsOptions,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    data: DataSet | None = None,
) -> LabelledDesign:
    """Label one program under one configuration.

    Args:    data: values of every argument; None draws them from the program's specification.
    Returns: the design's row, its directives' outcomes, its label and its runs; a failure is a status.
    """
    attempt = attempt_hls(program, configuration, cache)
    compiled = attempt.compiled
    if compiled is None and attempt.design.status == OK:
        compiled = compile_again(program, attempt.design)
    label, runs = label_attempt(
        program,
        attempt.design,
        compiled.interface if compiled else None,
        target=target,
        cache=cache,
        options=options,
        data=data,
    )
    return LabelledDesign(design=attempt.design, outcomes=attempt.outcomes, label=label, runs=runs)
