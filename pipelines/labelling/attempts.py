"""One attempt: each step of a design's way, from the cache when it was done before.

What follows from the inputs is remembered: success, a rejected program, a time limit that was passed,
hardware that differs from native C. A tool that failed, or is missing, or found the disk full makes a row
but is not remembered: the next run tries again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pipelines.bambu import BambuError
from pipelines.cache import ContentCache
from pipelines.hls import TOOL, HlsError, HlsOptions, read_interface
from pipelines.interface import DataSet, Interface
from pipelines.labelling.netlists import SYNTHESIS_TOOL, HasVerilog, attempt_synthesis
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.other_designs import OtherDesign, attempt_other
from pipelines.labelling.own_designs import HlsAttempt, OwnDesign, attempt_hls
from pipelines.labelling.scratch import scratch_folder
from pipelines.power import PowerError
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
from pipelines.synthesis import SynthesisError, Target
from pipelines.synthesis import tool_version as synthesis_version
from pipelines.tools import ToolMissing


class Labelled(Protocol):
    """A design that some tool made, as labelling sees it."""

    def rtl(self) -> HasVerilog:
        """Its Verilog, made again when the cache has it no more."""
        ...

    def run(self, data: DataSet, *, seed: int, builds: Path) -> RunRow:
        """Count its cycles on one data set and compare the outputs with native C."""
        ...

    def power(self, row: RunRow, data: DataSet, *, target: Target, builds: Path) -> RunRow:
        """The row of a run that is ok, with the power of the mapped netlist on the same data."""
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
        leakage_mw=None,
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
    steps = _Steps(made=made, design=design, label=label, target=target, cache=cache, options=options)
    try:
        seeds = options.data_seeds if data is None else (0,)
        drawn = [draw_data(interface, program.inputs, seed=s) for s in seeds] if data is None else [data]
        return steps.label_with(list(zip(seeds, drawn, strict=True))), tuple(steps.runs)
    except ProgramError as error:
        return replace(label, status=REJECTED, reason=str(error)), tuple(steps.runs)
    except (ToolMissing, SimulatorError, SynthesisError, HlsError, BambuError, PowerError, OSError) as error:
        return replace(label, status=TOOL_ERROR, reason=f"{error}"), tuple(steps.runs)
    except Exception as error:  # a fault of an engine costs one design, not the run, and is tried again
        reason = f"an engine failed: {type(error).__name__}: {error}"
        return replace(label, status=TOOL_ERROR, reason=reason), tuple(steps.runs)


@dataclass(slots=True, kw_only=True)
class _Steps:
    """The steps of one design after high-level synthesis; `runs` are the rows so far."""

    made: Labelled
    design: DesignRow
    label: LabelRow
    target: Target
    cache: ContentCache
    options: LabelOptions
    runs: list[RunRow] = field(default_factory=list[RunRow])

    def label_with(self, data: Sequence[tuple[int, DataSet]]) -> LabelRow:
        """Run the design on each data set, a pair of seed and values; then the label, if all runs are ok."""
        with scratch_folder(self.cache) as builds:
            for seed, values in data:
                self.runs.append(self.made.run(values, seed=seed, builds=builds))
            if self._failed() is not None:
                return self._label({})
            fields = attempt_synthesis(
                self.design, self.made.rtl, target=self.target, cache=self.cache, options=self.options
            )
            if fields["status"] == OK and self.options.power:
                for index, (_, values) in enumerate(data):
                    row = self.runs[index]
                    self.runs[index] = self.made.power(row, values, target=self.target, builds=builds)
            return self._label(fields)

    def _label(self, fields: Mapping[str, Any]) -> LabelRow:
        failed = self._failed()
        if failed is not None:
            return replace(self.label, status=failed.status, reason=failed.reason)
        return replace(self.label, **fields)

    def _failed(self) -> RunRow | None:
        return next((run for run in self.runs if run.status != OK), None)


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
