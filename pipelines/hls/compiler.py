"""The passes in order: from C and options to a compiled design.

Belongs here: the public function of the engine, its options and its result. Does not: any pass itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pipelines.hls import ir
from pipelines.hls.cdfg import Cdfg
from pipelines.hls.design import ScheduledDesign, bind_units
from pipelines.hls.directives import DirectiveOutcome, directive_json
from pipelines.hls.errors import HlsError
from pipelines.hls.frontend import interface_of, read_function
from pipelines.hls.ifconversion import convert_ifs, is_convertible
from pipelines.hls.lowering import lower
from pipelines.hls.modulo import modulo_schedule
from pipelines.hls.operators import TimingModel, delay_library, load_library
from pipelines.hls.report import RtlReport, report_design
from pipelines.hls.schedule import BlockSchedule, build_graph, list_schedule
from pipelines.hls.verilog import module_name, write_verilog
from pipelines.identity import canonical_json
from pipelines.interface import Interface

TOOL = "simfoundry-hls"


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsOptions:
    """One hardware configuration.

    Attributes:
        memory_read_delay_cycles: cycles from an address to its data, external arrays.
        memory_write_delay_cycles: cycles from a store until a load sees it, external arrays.
        directives: on loops, added to those in the source; the same kind on the same loop replaces it.
        clock_period_ns: period the schedule is made for.
        liberty: name of the cell library the design is for; see `operators.delay_library`.
    """

    memory_read_delay_cycles: int = 2
    memory_write_delay_cycles: int = 2
    directives: tuple[ir.Directive, ...] = ()
    clock_period_ns: float = 10.0
    liberty: str = "osu018"

    def __post_init__(self) -> None:
        for name in ("memory_read_delay_cycles", "memory_write_delay_cycles"):
            value = getattr(self, name)
            if not 1 <= value <= 1000:
                raise HlsError(f"{name} must be 1 to 1000", str(value))
        if not 0.1 <= self.clock_period_ns <= 1000.0:
            raise HlsError("clock_period_ns must be 0.1 to 1000", str(self.clock_period_ns))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledDesign:
    """Verilog and everything that is known about it before logic synthesis.

    Attributes:
        verilog: text; module: name of its top module.
        interface: of the C function, with what it reads and writes.
        outcomes: what became of every directive.
        intervals: achieved initiation interval of each pipelined loop, by loop name.
    """

    verilog: str
    module: str
    function: ir.Function
    interface: Interface
    scheduled: ScheduledDesign
    outcomes: tuple[DirectiveOutcome, ...]
    intervals: dict[str, int]
    report: RtlReport


@cache
def tool_version() -> str:
    """Version of this engine: a hash of its own files, so that a change never meets old results."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.json"), *folder.glob("include/*.h")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def read_program(source: str, *, top: str, file: str = "program.c") -> ir.Function:
    """Read C as structured IR; see `frontend.read_function`."""
    return read_function(source, top=top, file=file)


def loops_of(function: ir.Function) -> list[ir.For | ir.While]:
    """Every loop, in source order."""
    return [s for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)]


def innermost_loops(function: ir.Function) -> list[str]:
    """Names of the loops that contain no loop."""
    return [loop.name for loop in loops_of(function) if not _inner_loops(loop)]


def _inner_loops(loop: ir.For | ir.While) -> list[str]:
    return [s.name for s in ir.walk_statements(loop.body) if isinstance(s, ir.For | ir.While)]


def _merge(function: ir.Function, given: Sequence[ir.Directive], file: str) -> list[ir.Directive]:
    """Directives of the source and of the options; the options win."""
    loops = {loop.name: loop for loop in loops_of(function)}
    merged = {(d.kind, d.loop): d for loop in loops.values() for d in loop.directives}
    for directive in given:
        if directive.loop not in loops:
            known = ", ".join(loops) or "none"
            raise HlsError(f"a directive's loop must be one of {known}", repr(directive.loop), file=file)
        merged[directive.kind, directive.loop] = directive
    return sorted(merged.values(), key=directive_json)


def _obstacle(loop: ir.For | ir.While) -> str | None:
    """Why a loop cannot be pipelined, None when it can."""
    inner = _inner_loops(loop)
    if inner:
        return f"loop {loop.name} contains loop {inner[0]}; only innermost loops are pipelined"
    for statement in ir.walk_statements(loop.body):
        if isinstance(statement, ir.If) and not is_convertible(statement):
            nested = (*statement.then, *statement.otherwise)
            if not all(isinstance(s, ir.Assign | ir.Store | ir.If) for s in nested):
                return f"line {statement.line}: the condition holds more than assignments"
    return None


def _plan_pipelines(
    function: ir.Function, directives: Sequence[ir.Directive]
) -> tuple[dict[str, int], list[DirectiveOutcome]]:
    """Requested intervals by loop, and the outcome of every directive that cannot be applied."""
    loops = {loop.name: loop for loop in loops_of(function)}
    intervals: dict[str, int] = {}
    outcomes: list[DirectiveOutcome] = []
    for directive in directives:
        reason = (
            _obstacle(loops[directive.loop])
            if directive.kind == "pipeline"
            else f"{directive.kind} is not supported; supported: pipeline"
        )
        if reason is None:
            intervals[directive.loop] = directive.value or 1
        else:
            outcomes.append(
                DirectiveOutcome(directive=directive_json(directive), applied=False, reason=reason)
            )
    return intervals, outcomes


def _schedule(graph: Cdfg, model: TimingModel) -> tuple[BlockSchedule, ...]:
    found: list[BlockSchedule] = []
    for block in graph.blocks:
        if block.interval is not None:
            pipelined = modulo_schedule(build_graph(block, model), model, block.interval)
            if pipelined is not None:
                found.append(pipelined)
                continue
            block = replace(block, interval=None)
        found.append(list_schedule(build_graph(block, model), model))
    return tuple(found)


def _pipeline_outcomes(
    directives: Sequence[ir.Directive],
    planned: dict[str, int],
    schedules: Sequence[BlockSchedule],
) -> list[DirectiveOutcome]:
    bounds = {s.graph.block.loop: s.bound for s in schedules if s.interval_cycles is not None}
    return [
        DirectiveOutcome(
            directive=directive_json(d),
            applied=d.loop in bounds,
            reason=bounds.get(d.loop, "no interval is feasible, or the loop never runs"),
        )
        for d in directives
        if d.kind == "pipeline" and d.loop in planned
    ]


def _unknown_pragmas(function: ir.Function) -> list[DirectiveOutcome]:
    """An outcome for every pragma that is no directive of this engine; scop markers are comments."""
    return [
        DirectiveOutcome(
            directive=canonical_json({"kind": "pragma", "line": line, "text": text}),
            applied=False,
            reason="the pragma is not a directive this engine knows",
        )
        for text, line in function.ignored_pragmas
        if text.strip() not in ("scop", "endscop")
    ]


def compile_program(source: str, *, top: str, options: HlsOptions, file: str = "program.c") -> CompiledDesign:
    """Compile a C function to Verilog.

    Args:    source: C text; top: function; file: name for messages.
    Returns: the design. A directive that cannot be applied is an outcome with its reason, never an error.
    Raises:  HlsError: the program is outside the accepted subset, or a directive names no loop.
    """
    function = read_function(source, top=top, file=file)
    directives = _merge(function, options.directives, file)
    planned, outcomes = _plan_pipelines(function, directives)
    graph = lower(convert_ifs(function, frozenset(planned)), planned)
    model = TimingModel(
        library=load_library(delay_library(options.liberty)),
        clock_period_ns=options.clock_period_ns,
        read_delay_cycles=options.memory_read_delay_cycles,
        write_delay_cycles=options.memory_write_delay_cycles,
        waited_arrays=graph.loaded_arrays,
        unwaited_stores=any(
            a.external and a.name in graph.stored_arrays and a.name not in graph.loaded_arrays
            for a in function.arrays
        ),
    )
    schedules = _schedule(graph, model)
    design = ScheduledDesign(graph=graph, schedules=schedules, model=model, units=bind_units(schedules))
    outcomes += _pipeline_outcomes(directives, planned, schedules)
    outcomes += _unknown_pragmas(function)
    return CompiledDesign(
        verilog=write_verilog(design),
        module=module_name(function.name),
        function=function,
        interface=interface_of(function),
        scheduled=design,
        outcomes=tuple(sorted(outcomes, key=lambda o: o.directive)),
        intervals={
            s.graph.block.loop or "": s.interval_cycles for s in schedules if s.interval_cycles is not None
        },
        report=report_design(design),
    )
