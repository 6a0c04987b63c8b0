"""One attempt: each step of a design's way, from the cache when it was done before.

Belongs here: the order of the steps, logic synthesis, and failures as rows. Does not: designs and their runs
(`own_designs.py`, `other_designs.py`), many designs at once.

What follows from the inputs is remembered: success, a rejected program, a time limit that was passed,
hardware that differs from native C. A tool that failed, or is missing, or found the disk full makes a row
but is not remembered: the next run tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from pipelines.bambu import BambuError
from pipelines.cache import ContentCache
from pipelines.hls import TOOL, HlsError, HlsOptions, read_interface
from pipelines.identity import canonical_json, content_hash
from pipelines.interface import DataSet, Interface
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.other_designs import OtherDesign, attempt_other
from pipelines.labelling.own_designs import HlsAttempt, OwnDesign, attempt_hls
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
from pipelines.tools import ToolMissing

SYNTHESIS_TOOL = "pyosys"


class HasVerilog(Protocol):
    """A design as text."""

    @property
    def verilog(self) -> str:
        """The whole text."""
        ...

    @property
    def module(self) -> str:
        """Name of the top module."""
        ...


class Labelled(Protocol):
    """A design that some tool made, as labelling sees it."""

    def rtl(self) -> HasVerilog:
        """Its Verilog, made again when the cache has it no more."""
        ...

    def run(self, data: DataSet, *, seed: int, builds: Path) -> RunRow:
        """Count its cycles on one data set and compare the outputs with native C."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDesign:
    """Everything one attempt gave."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]
    label: LabelRow
    runs: tuple[RunRow, ...]


def liberty_name(target: Target) -> str:
    """Name of a target's library, as rows know it."""
    return target.liberty.stem.removesuffix("_stdcells")


def attempt_design(
    program: ProgramRow, tool: str, configuration: HlsOptions, *, cache: ContentCache, options: LabelOptions
) -> HlsAttempt:
    """Compile a design with a tool, or find what became of it before.

    Raises: LabellingError: no such tool. ToolMissing: it is not installed.
    """
    if tool == TOOL:
        return attempt_hls(program, configuration, cache)
    return attempt_other(program, tool, configuration, cache=cache, options=options)


# ---- logic synthesis -------------------------------------------------------------------------------


def synthesis_key(design: DesignRow, target: Target, options: LabelOptions) -> str:
    """What logic synthesis of a design depends on."""
    return content_hash(
        design.rtl_sha256,
        liberty_hash(target.liberty),
        synthesis_version(),
        options.synthesis_timeout_s,
    )


def attempt_synthesis(
    design: DesignRow,
    rtl: Callable[[], HasVerilog],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
) -> dict[str, Any]:
    """Area, flip-flops, cells and delay of a design's Verilog, as fields of a label row."""
    key = synthesis_key(design, target, options)
    stored = cache.get("synthesis", key)
    if stored is not None:
        return stored
    text = rtl()
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
    kind = OwnDesign if design.tool == TOOL else OtherDesign
    made: Labelled = kind(program=program, design=design, interface=interface, cache=cache, options=options)
    runs: list[RunRow] = []
    try:
        with scratch_folder(cache) as builds:
            for seed in options.data_seeds if data is None else (0,):
                values = draw_data(interface, program.inputs, seed=seed) if data is None else data
                runs.append(made.run(values, seed=seed, builds=builds))
        failed = [r for r in runs if r.status != OK]
        if failed:
            return replace(label, status=failed[0].status, reason=failed[0].reason), tuple(runs)
        fields = attempt_synthesis(design, made.rtl, target=target, cache=cache, options=options)
        return replace(label, **fields), tuple(runs)
    except ProgramError as error:
        return replace(label, status=REJECTED, reason=str(error)), tuple(runs)
    except (ToolMissing, SimulatorError, SynthesisError, HlsError, BambuError, OSError) as error:
        return replace(label, status=TOOL_ERROR, reason=f"{error}"), tuple(runs)


def label_design(
    program: ProgramRow,
    configuration: HlsOptions,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    tool: str = TOOL,
    data: DataSet | None = None,
) -> LabelledDesign:
    """Label one program under one configuration.

    Args:    tool: one of `TOOLS`; those that are not the engine leave directives out. data: values of every
             argument; None draws them from the program's specification.
    Returns: the design's row, its directives' outcomes, its label and its runs; a failure is a status.
    Raises:  LabellingError: no such tool. ToolMissing: it is not installed.
    """
    attempt = attempt_design(program, tool, configuration, cache=cache, options=options)
    is_made = attempt.design.status == OK
    label, runs = label_attempt(
        program,
        attempt.design,
        read_interface(program.source, program.top) if is_made else None,
        target=target,
        cache=cache,
        options=options,
        data=data,
    )
    return LabelledDesign(design=attempt.design, outcomes=attempt.outcomes, label=label, runs=runs)
