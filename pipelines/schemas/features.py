"""Tables of what is known of a design before logic synthesis; each column has a level of information."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pipelines.schemas.columns import STATUSES, column, table

_text, _static = partial(column, level="text"), partial(column, level="static")
_hls, _run = partial(column, level="hls"), partial(column, level="run")
BOUNDS = ("constant", "varying", "data")


@table(
    "features",
    stage="features",
    checked_by={
        "estimated_cycles": "every row of known trips: the cycle model, within 0.2 %",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRow:
    """What is known of a design without running it."""

    design_id: str = column("Design.", key=True, references="designs")
    suite: str = column("Suite of the program.")
    status: str = column("Outcome of the estimate of cycles.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    source_bytes: int = _text("Length of the source.", unit="bytes")
    source_lines: int = _text("Lines of the source that are not blank.")
    source_tokens: int = _text("Tokens of the source.")
    directive_count: int = _text("Directives of the configuration.")
    memory_read_delay_cycles: int = _text("Cycles from address to data.", unit="cycles")
    memory_write_delay_cycles: int = _text("Cycles from a write until a read sees it.", unit="cycles")
    clock_period_ns: float = _text("Clock period of the schedule.", unit="ns")
    loop_count: int = _static("Loops of the source.")
    loop_depth: int = _static("Depth of the deepest loop nest, 0 without loops.")
    known_loop_count: int = _static("Loops of the source whose trip count is a constant.")
    operation_count: int = _static("Operators and array accesses written, loop headers apart.")
    argument_bits: int = _static("Bits of all arguments, arrays included.", unit="bits")
    estimated_cycles: int | None = _hls(
        "Block lengths times trip counts; exact when trips_known. A loop whose end depends on data counts as "
        "8 iterations, and another branch on data is taken every second time.",
        unit="cycles",
    )
    trips_known: bool | None = _hls("Whether no branch depends on data.")
    estimated_area_um2: float = _hls("Area from operators, registers and multiplexers.", unit="um2")
    estimated_flip_flop_count: int = _hls(
        "Register bits of the report, less those that nothing depends on across blocks."
    )
    register_bits: int = _hls("Bits of datapath and controller registers.", unit="bits")
    critical_path_ns: float = _hls("Estimate of the longest register-to-register path.", unit="ns")
    estimated_power_mw: float | None = _hls(
        "Clock power of the estimated flip-flops, and the energy of the estimated executions at the mean "
        "toggles of each kind and width.",
        unit="mW",
    )
    state_count: int = _hls("States of the controller.")
    block_count: int = _hls("Basic blocks.")
    module_count: int = _hls("Modules instantiated.")
    functional_unit_count: int = _hls("Functional units after sharing.")
    multiplexer_count: int = _hls("Multiplexers, as 2-to-1 equivalents.")
    multiplexer_area_um2: float = _hls("Estimated area of the multiplexers.", unit="um2")
    adder_count: int = _hls("Adders and subtracters, shared units counted once.")
    multiplier_count: int = _hls("Multipliers of two unknown factors, shared units counted once.")
    divider_count: int = _hls("Dividers and square roots, shared units counted once.")
    float_unit_count: int = _hls("Functional units of floating values.")
    register_count: int = _hls("Registers of variables and of values.")
    memory_port_count: int = _hls("Read and write ports of arrays, local ones included.")
    memory_port_conflict_count: int = _hls("Cycles by which accesses wait for a port.")
    local_memory_bits: int = _hls("Bits of local arrays that are stored to.", unit="bits")


@table(
    "loop_profiles",
    stage="features",
    checked_by={
        "depth bounds": "tests: loops of kernels, written down by hand",
        "entries iterations": "tests: programs of known counts; see features.estimated_cycles",
        "iteration_cycles interval_cycles": "see features.estimated_cycles",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopProfileRow:
    """A loop of a scheduled design; copies that transformations made are loops of their own."""

    design_id: str = column("Design.", key=True, references="designs")
    block: str = column("Block that an iteration starts with.", key=True)
    suite: str = column("Suite of the program.")
    loop: str = column("Name of the loop; copies have a suffix.", level="hls")
    depth: int = _hls("1 for an outermost loop.")
    iteration_cycles: int = _hls(
        "Cycles of an iteration of a pipelined loop; of another one the cycles of all its blocks, each once.",
        unit="cycles",
    )
    interval_cycles: int | None = _hls("Initiation interval; null when not pipelined.", unit="cycles")
    entries: int = _hls("How often the loop is entered, by the estimate.")
    iterations: int = _hls("Iterations over all entries, by the estimate.")
    bounds: str = _hls(
        "Trip count: constant, varying with an outer loop, or dependent on data.", choices=BOUNDS
    )


@table(
    "run_features",
    stage="features",
    checked_by={
        "cycles": "every row: the same run in table runs, equal",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class RunFeatureRow:
    """What one run of the cycle model counts of a design on its first data set."""

    design_id: str = column("Design.", key=True, references="designs")
    data_id: str = column("Hash of the input data.", key=True, references="runs")
    suite: str = column("Suite of the program.")
    status: str = column("Outcome of the run.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    cycles: int | None = _run("Cycles from start to done.", unit="cycles")
    executions: str | None = _run("JSON object: executed operations by kind and width, as add_16.")
    toggles: str | None = _run(
        "JSON object: changed bits of the results of executed operations, of stores of the value, likewise."
    )
    register_toggles: int | None = _run("Changed bits of registers outside functional units.")
    memory_toggles: int | None = _run("Changed bits of addresses and data at the ports of arrays.")
    load_count: int | None = _run("Loads from array arguments.")
    store_count: int | None = _run("Stores to array arguments.")
    clock_power_mw: float | None = _run("Power of the clock pins of the estimated flip-flops.", unit="mW")
    register_power_mw: float | None = _run("Power of toggles of registers.", unit="mW")
    enable_power_mw: float | None = _run("Power of enables of registers.", unit="mW")
    unit_power_mw: float | None = _run("Power of functional units.", unit="mW")
    operator_power_mw: float | None = _run("Power of combinational operators.", unit="mW")
    selection_power_mw: float | None = _run("Power of selections of sources.", unit="mW")
    memory_power_mw: float | None = _run("Power of local arrays.", unit="mW")
    controller_power_mw: float | None = _run("Power of the controller.", unit="mW")
    port_power_mw: float | None = _run("Power of output ports.", unit="mW")
    estimated_power_mw: float | None = _run("Sum of the parts and leakage.", unit="mW")
