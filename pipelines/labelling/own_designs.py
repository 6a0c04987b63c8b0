"""Designs of the project's own engine: compiled, and run on data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

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
from pipelines.identity import text_sha256
from pipelines.interface import DataSet, Interface
from pipelines.labelling.counting import RunRequest, attempt_run
from pipelines.labelling.cross_checks import cross_check
from pipelines.labelling.netlist_power import CountedRun, attempt_power
from pipelines.labelling.options import LabelOptions
from pipelines.schemas import (
    REJECTED,
    TOOL_ERROR,
    CrossCheckRow,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    ProgramRow,
    RunRow,
)
from pipelines.synthesis import Target
from pipelines.tools import stopwatch


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsAttempt:
    """Outcome of high-level synthesis by any tool."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]


def attempt_hls(program: ProgramRow, options: HlsOptions, cache: ContentCache) -> HlsAttempt:
    """Compile a design, or find what became of it before."""
    return compile_design(program, options, cache)[0]


def compile_design(
    program: ProgramRow, options: HlsOptions, cache: ContentCache
) -> tuple[HlsAttempt, CompiledDesign | None]:
    """As `attempt_hls`, with the compiled design when it was compiled now."""
    there = recall_hls(program, options, cache)
    if there is not None:
        return there, None
    compiled: CompiledDesign | None = None
    start = stopwatch()
    try:
        compiled = compile_program(program.source, top=program.top, options=options, file=f"{program.name}.c")
    except HlsError as error:
        row = design_row(program, options, (REJECTED, str(error)), stopwatch() - start)
        attempt = HlsAttempt(design=row, outcomes=())
    except Exception as error:  # a fault of the engine costs one design, not the run, and is tried again
        reason = f"the engine failed: {type(error).__name__}: {error}"
        row = design_row(program, options, (TOOL_ERROR, reason), stopwatch() - start)
        return HlsAttempt(design=row, outcomes=()), None
    else:
        row = design_row(program, options, compiled, stopwatch() - start)
        outcomes = tuple(outcome_rows(program, options, compiled))
        attempt = HlsAttempt(design=row, outcomes=outcomes)
    stored = {
        "design": asdict(attempt.design),
        "outcomes": [asdict(o) for o in attempt.outcomes],
    }
    cache.keep("hls", attempt.design.design_id, stored, attempt.design.status)
    return attempt, compiled


def recall_hls(program: ProgramRow, options: HlsOptions, cache: ContentCache) -> HlsAttempt | None:
    """What became of a design before, in whatever suite its program was; None when it was never compiled."""
    stored = cache.get("hls", design_id(program, options))
    if stored is None:
        return None
    return HlsAttempt(
        design=replace(DesignRow(**stored["design"]), suite=program.suite),
        outcomes=tuple(DirectiveOutcomeRow(**o) for o in stored["outcomes"]),
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDesign:
    """A design of the engine, of which the Verilog is made when something needs it.

    Attributes:
        interface: of the program.
        made: the compiled design, once it is there.
    """

    program: ProgramRow
    design: DesignRow
    interface: Interface
    cache: ContentCache
    options: LabelOptions
    made: list[CompiledDesign] = field(default_factory=list[CompiledDesign])

    def rtl(self) -> CompiledDesign:
        """The compiled design; raises what `compile_again` raises."""
        if not self.made:
            self.made.append(compile_again(self.program, self.design))
        return self.made[0]

    def run(self, data: DataSet, *, seed: int, builds: Path) -> RunRow:
        """Count its cycles on one data set.

        Args:   builds: folder for what is built once for all data sets.
        Raises: ToolMissing, SimulatorError, HlsError, OSError: a tool cannot be run.
        """
        return attempt_run(self._request(data, seed, builds), cache=self.cache, options=self.options)

    def power(self, row: RunRow, data: DataSet, *, target: Target, builds: Path) -> RunRow:
        """The row of a run that is ok, with the power of the mapped netlist on the same data.

        Raises: what `attempt_power` raises.
        """
        counted = CountedRun(request=self._request(data, row.seed, builds), row=row, target=target)
        return attempt_power(counted, cache=self.cache, options=self.options)

    def cross_check(
        self, label: LabelRow, row: RunRow, data: DataSet, *, target: Target, builds: Path
    ) -> tuple[CrossCheckRow, ...]:
        """Compare its figures on one data set with other tools; see `cross_check`."""
        counted = CountedRun(request=self._request(data, row.seed, builds), row=row, target=target)
        return cross_check(counted, label, cache=self.cache, options=self.options)

    def _request(self, data: DataSet, seed: int, builds: Path) -> RunRequest:
        return RunRequest(
            program=self.program,
            design=self.design,
            compiled=self.rtl,
            interface=self.interface,
            data=data,
            builds=builds,
            seed=seed,
        )
