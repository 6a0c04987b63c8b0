"""Tables of designs and features: designs, outcomes of directives, loop nests, control/data-flow graphs."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.checks import AUDIT, ESTIMATE, IDENTITY, NATIVE
from pipelines.schemas.columns import STATUSES, column, table


@table(
    "designs",
    stage="designs",
    tool_columns=(("tool", "tool_version"),),
    hashes="programs",
    card=("state_count", "functional_unit_count", "register_bits"),
    checked_by={
        "design_id": IDENTITY,
        "rtl_sha256": f"{NATIVE} (cycle model); {AUDIT}; every row with power: the netlist simulator",
        "memory_read_delay_cycles memory_write_delay_cycles": "audited sample: memories of the bench",
        "initiation_intervals": "tests: a checker of schedules, and cycles in Verilator",
        "register_bits": "tests: registers in the text of the Verilog",
        "estimated_area_um2 critical_path_ns": ESTIMATE,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRow:
    """A program under one configuration, with the outcome of high-level synthesis."""

    design_id: str = column("Hash of program, configuration and HLS version.", key=True)
    program_id: str = column("Program that was synthesised.", references="programs")
    suite: str = column("Suite of the program.")
    directives: str = column("JSON list of directives, canonical order.")
    memory_read_delay_cycles: int = column("Cycles from address to data.", unit="cycles")
    memory_write_delay_cycles: int = column("Cycles from a write until a read sees it.", unit="cycles")
    clock_period_ns: float = column("Clock period of the schedule.", unit="ns")
    liberty: str = column("Name of the standard-cell library the design is for.")
    delay_library: str = column("Library of the operator delays that the schedule uses.")
    engine_options: str = column(
        "JSON object: options of the engine (reassociate floats, arrays as registers, unit limits)."
    )
    tool: str = column("High-level synthesis tool.")
    tool_version: str = column("Version of the tool.")
    status: str = column("Outcome of high-level synthesis.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok: rule, value, file and line.")
    rtl_sha256: str | None = column("Hash of the Verilog text.")
    rtl_bytes: int | None = column("Length of the Verilog text.", unit="bytes")
    state_count: int | None = column("States of the controller.")
    module_count: int | None = column("Modules instantiated.")
    multiplexer_count: int | None = column("Multiplexers, as 2-to-1 equivalents.")
    multiplexer_area_um2: float | None = column(
        "Estimated area of the multiplexers in the liberty.", unit="um2"
    )
    estimated_area_um2: float | None = column(
        "Area estimated before logic synthesis from operators, registers and multiplexers.",
        unit="um2",
    )
    critical_path_ns: float | None = column(
        "Estimate of the longest register-to-register path before logic synthesis.", unit="ns"
    )
    functional_unit_count: int | None = column("Functional units after sharing.")
    register_bits: int | None = column("Bits of datapath and controller registers.", unit="bits")
    memory_port_conflict_count: int | None = column(
        "Cycles that memory accesses wait for their port, summed over accesses."
    )
    initiation_intervals: str | None = column(
        "JSON object: initiation interval in cycles of each pipelined loop."
    )
    is_constant: bool | None = column(
        "Whether the hardware reads no input, so that every run has the same results; null in earlier rows."
    )
    hls_wall_s: float | None = column("Time from source to Verilog.", unit="s", measured=True)


@table("directive_outcomes", stage="designs", checked_by={})
@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveOutcomeRow:
    """One directive of one design: applied or not, and why."""

    design_id: str = column("Design the directive belongs to.", key=True, references="designs")
    directive: str = column("The directive as canonical JSON.", key=True)
    applied: bool = column("Whether the directive shaped the design.")
    reason: str = column("Effect of the directive, or why it was not applied.")


@table(
    "loops",
    stage="features",
    checked_by={
        "loop depth parent_index iterator is_innermost kind trip_count step": (
            "tests: loops of kernels, written down by hand"
        ),
        "load_count store_count arithmetic_count array_count": "tests: loops of kernels, counted by hand",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRow:
    """A loop of a program, in source order."""

    program_id: str = column("Program.", key=True, references="programs")
    loop_index: int = column("Position of the loop in source order, from 0.", key=True)
    suite: str = column("Suite of the program.")
    loop: str = column("Name directives use for the loop.")
    parent_index: int | None = column("Index of the enclosing loop.")
    depth: int = column("Nesting depth, 1 for an outermost loop.")
    kind: str = column("Counted, or ended by a condition.", choices=("for", "while"))
    iterator: str | None = column("Name of the loop variable of a counted loop.")
    trip_count: int | None = column("Iterations when known before running.")
    step: int | None = column("Increment of the loop variable.")
    line: int = column("Line of the loop in the source.")
    is_innermost: bool = column("Whether the loop contains no other loop.")
    load_count: int = column("Array loads written in the loop body, nested loops included.")
    store_count: int = column("Array stores written in the loop body, nested loops included.")
    arithmetic_count: int = column("Arithmetic operations written in the body, nested included.")
    branch_count: int = column("Conditions written in the body, nested included.")
    array_count: int = column("Different arrays the body touches, nested included.")


@table(
    "cdfg_nodes",
    stage="features",
    release="optional",
    report=("design_id",),
    checked_by={
        "start_cycle latency_cycles": "tests: a checker of schedules",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CdfgNodeRow:
    """An operation of a design's control/data-flow graph."""

    design_id: str = column("Design.", key=True, references="designs")
    node_index: int = column("Index of the operation, from 0.", key=True)
    suite: str = column("Suite of the program.")
    block: str = column("Basic block the operation stands in.")
    opcode: str = column("Kind of operation.")
    width_bits: int = column("Width of the result, 0 for none.", unit="bits")
    array: str | None = column("Array of a memory access.")
    line: int | None = column("Line in the C source.")
    start_cycle: int = column("Cycle of the block in which the operation starts.", unit="cycles")
    latency_cycles: int = column("Cycles until the result is available, 0 when chained.", unit="cycles")
    loop: str | None = column("Innermost loop the operation stands in.")


@table(
    "cdfg_edges",
    stage="features",
    release="optional",
    report=("design_id",),
    checked_by={
        "distance": "tests: distances found by running the loops",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CdfgEdgeRow:
    """A dependence between two operations of a design."""

    design_id: str = column("Design.", key=True)
    edge_index: int = column("Index of the edge, from 0.", key=True)
    suite: str = column("Suite of the program.")
    source_index: int = column("Operation that comes first.", references="cdfg_nodes.node_index")
    target_index: int = column("Operation that depends on it.", references="cdfg_nodes.node_index")
    kind: str = column("What the edge carries.", choices=("data", "memory", "control"))
    distance: int = column("Loop iterations between the two, 0 within one iteration.")
