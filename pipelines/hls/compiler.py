"""The passes in order: from C and options to a compiled design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipelines.base.identity import canonical_json
from pipelines.c import ir
from pipelines.c.cdfg import Cdfg
from pipelines.c.directives import DirectiveOutcome, directive_json
from pipelines.c.engine import check_timing
from pipelines.c.errors import HlsError
from pipelines.c.frontend import interface_of, read_function, require_outputs
from pipelines.c.signature import Bank, Interface, whole_bank
from pipelines.hls.design import ScheduledDesign, bind_units
from pipelines.hls.lowering import lower
from pipelines.hls.modulo import modulo_schedule
from pipelines.hls.narrowing import narrow
from pipelines.hls.operators import TimingModel, delay_library, load_library
from pipelines.hls.plan import (
    Decision,
    TransformOptions,
    directive_outcomes,
    loops_of,
    transform,
)
from pipelines.hls.report import RtlReport, report_design
from pipelines.hls.schedule import BlockSchedule, build_graph, list_schedule
from pipelines.hls.transforms.cache import CacheReport
from pipelines.hls.verilog import module_name, write_verilog


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsOptions:
    """One hardware configuration.

    Attributes:
        memory_read_delay_cycles: cycles from an address to its data, external arrays.
        memory_write_delay_cycles: cycles from a store until a load sees it, external arrays.
        directives: on loops, added to those in the source; the same kind on the same loop replaces it.
        clock_period_ns: period the schedule is made for.
        liberty: name of the cell library the design is for; see `operators.delay_library`.
        transforms: permissions of the transformations, such as floating reassociation.
        unit_limits: largest number of functional units per type, as (type, number).
    """

    memory_read_delay_cycles: int = 2
    memory_write_delay_cycles: int = 2
    directives: tuple[ir.Directive, ...] = ()
    clock_period_ns: float = 10.0
    liberty: str = "osu018"
    transforms: TransformOptions = field(default_factory=TransformOptions)
    unit_limits: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        check_timing(
            memory_read_delay_cycles=self.memory_read_delay_cycles,
            memory_write_delay_cycles=self.memory_write_delay_cycles,
            clock_period_ns=self.clock_period_ns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledDesign:
    """Verilog, and every figure that is known before logic synthesis.

    Attributes:
        verilog: text, empty when it was not asked for; module: name of its top module.
        function: as it was read; transformed: as it was scheduled.
        interface: of the C function, with what it reads and writes.
        outcomes: what became of every directive.
        intervals: achieved initiation interval of each pipelined loop, by loop name.
        banks: memory ports of the module.
        caches: buffers made for off-chip arrays.
    """

    verilog: str
    module: str
    function: ir.Function
    transformed: ir.Function
    interface: Interface
    scheduled: ScheduledDesign
    outcomes: tuple[DirectiveOutcome, ...]
    intervals: dict[str, int]
    report: RtlReport
    banks: tuple[Bank, ...]
    caches: tuple[CacheReport, ...]


def check_program(source: str, *, top: str, options: HlsOptions, file: str) -> None:
    """Check what a compilation reads before it transforms anything.

    Raises: HlsError: the program is outside the accepted subset or has no outputs, or a directive names no
            loop or array.
    """
    function = read_function(source, top=top, file=file)
    require_outputs(interface_of(function), file)
    _merge(function, options.directives, file)


def innermost_loops(function: ir.Function) -> list[str]:
    """Return the names of the loops that contain no loop, in source order."""
    loops = [s for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)]
    return [loop.name for loop in loops if next(loops_of(loop.body), None) is None]


def _merge(function: ir.Function, directives: Sequence[ir.Directive], file: str) -> list[ir.Directive]:
    """Return the directives of the source and of the options; the options win."""
    loops = {
        s.name: s.directives for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)
    }
    merged = {_subject(d): d for own in (*loops.values(), function.directives) for d in own}
    arrays = [a.name for a in function.arrays]
    for directive in directives:
        _check_subject(directive, list(loops), arrays, file)
        merged[_subject(directive)] = directive
    return sorted(merged.values(), key=directive_json)


def _subject(directive: ir.Directive) -> tuple[str, str, str, int | None]:
    """Return the subject of a directive: two directives with one subject exclude each other."""
    return directive.kind, directive.loop, directive.variable, directive.dimension


def _check_subject(directive: ir.Directive, loops: list[str], arrays: list[str], file: str) -> None:
    if directive.loop and directive.loop not in loops:
        known = ", ".join(loops) or "none"
        raise HlsError(f"a directive's loop must be one of {known}", repr(directive.loop), file=file)
    if directive.kind in ("partition", "cache") and directive.variable not in arrays:
        known = ", ".join(arrays) or "none"
        raise HlsError(f"a directive's array must be one of {known}", repr(directive.variable), file=file)


def _schedule(graph: Cdfg, model: TimingModel) -> tuple[BlockSchedule, ...]:
    schedules: list[BlockSchedule] = []
    for block in graph.blocks:
        if block.interval is not None:
            pipelined = modulo_schedule(build_graph(block, model), model, block.interval)
            if pipelined is not None:
                schedules.append(pipelined)
                continue
            block = replace(block, interval=None)
        schedules.append(list_schedule(build_graph(block, model), model))
    return tuple(schedules)


def _pipeline_decisions(
    pipelines: Mapping[str, ir.Directive], graph: Cdfg, schedules: Sequence[BlockSchedule]
) -> list[Decision]:
    """Return the pipelining decisions of loops that still exist; an epilogue of one iteration is no loop."""
    bounds = {s.graph.block.loop: s.bound for s in schedules if s.interval_cycles is not None}
    loops = {block.loop for block in graph.blocks if block.index in block.successors}
    return [
        Decision(
            directive=directive,
            applied=loop in bounds,
            reason=bounds.get(loop, "no interval is feasible"),
        )
        for loop, directive in pipelines.items()
        if loop in loops
    ]


def banks_of(graph: Cdfg, interface: Interface) -> tuple[Bank, ...]:
    """Return the memory ports of a design, in order of its external arrays."""
    arguments = {a.name: a for a in interface.arrays}
    dealt = {b.port: b for b in graph.function.banks}
    banks: list[Bank] = []
    for array in graph.function.arrays:
        if not array.external:
            continue
        bank = dealt.get(array.name) or whole_bank(arguments[array.name])
        read, written = array.name in graph.loaded_arrays, array.name in graph.stored_arrays
        banks.append(replace(bank, read=read, written=written))
    return tuple(banks)


def _output_call_outcomes(function: ir.Function) -> list[DirectiveOutcome]:
    return [
        DirectiveOutcome(
            directive=canonical_json({"kind": "call", "line": line, "text": name}),
            applied=False,
            reason="hardware does not print: the call is left out",
        )
        for name, line in function.left_out
    ]


def _unknown_pragmas(function: ir.Function) -> list[DirectiveOutcome]:
    """Return one outcome per pragma that this engine does not know; scop markers are comments."""
    return [
        DirectiveOutcome(
            directive=canonical_json({"kind": "pragma", "line": line, "text": text}),
            applied=False,
            reason="the pragma is not a directive this engine knows",
        )
        for text, line in function.ignored_pragmas
        if text.strip() not in ("scop", "endscop")
    ]


def compile_program(
    source: str, *, top: str, options: HlsOptions, file: str = "program.c", writes_verilog: bool = True
) -> CompiledDesign:
    """Compile a C function to Verilog.

    Args:    source: C text; top: function; file: name for messages; writes_verilog: without it the design has
             everything but its text.
    Returns: the design. A directive that cannot be applied is an outcome with its reason, never an error.
    Raises:  HlsError: the program is outside the accepted subset or has no outputs, or a directive names no
             loop.
    """
    source_function = read_function(source, top=top, file=file)
    interface = interface_of(source_function)
    require_outputs(interface, file)
    directives = _merge(source_function, options.directives, file)
    program = transform(source_function, directives, options.transforms)
    graph = narrow(lower(program.function, program.intervals))
    model = _timing_model(graph, options)
    schedules = _schedule(graph, model)
    design = ScheduledDesign(graph=graph, schedules=schedules, model=model, units=bind_units(schedules))
    decisions = [*program.decisions, *_pipeline_decisions(program.pipelines, graph, schedules)]
    outcomes = [*directive_outcomes(directives, decisions), *_unknown_pragmas(source_function)]
    outcomes += _output_call_outcomes(source_function)
    return CompiledDesign(
        verilog=write_verilog(design) if writes_verilog else "",
        module=module_name(source_function.name),
        function=source_function,
        transformed=program.function,
        interface=interface,
        scheduled=design,
        outcomes=tuple(sorted(outcomes, key=lambda o: o.directive)),
        intervals={
            s.graph.block.loop or "": s.interval_cycles for s in schedules if s.interval_cycles is not None
        },
        report=report_design(design),
        banks=banks_of(graph, interface),
        caches=program.caches,
    )


def _timing_model(graph: Cdfg, options: HlsOptions) -> TimingModel:
    return TimingModel(
        library=load_library(delay_library(options.liberty)),
        clock_period_ns=options.clock_period_ns,
        read_delay_cycles=options.memory_read_delay_cycles,
        write_delay_cycles=options.memory_write_delay_cycles,
        unit_limits=dict(options.unit_limits),
        waited_arrays=graph.loaded_arrays,
        unwaited_stores=any(
            a.external and a.name in graph.stored_arrays and a.name not in graph.loaded_arrays
            for a in graph.function.arrays
        ),
    )
