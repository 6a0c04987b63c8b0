"""Tables of labels: static ones per design, and dynamic ones per design and input data set."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.checks import AUDIT, IDENTITY, NATIVE, STA, YOSYS
from pipelines.schemas.columns import STATUSES, column, table


@table(
    "labels",
    stage="labels",
    tool_columns=(("tool", "tool_version"),),
    hashes="designs",
    card=(
        "area_um2",
        "cell_count",
        "flip_flop_count",
        "delay_ns",
        "leakage_mw",
        "lut_count",
        "dsp_count",
        "bram_count",
    ),
    checked_by={
        "design_id": IDENTITY,
        "status": f"{NATIVE}; netlist simulated where power is",
        "area_um2 flip_flop_count": f"{YOSYS}; FPGA: tests, another yosys",
        "cell_count cells_by_type": "area and flip-flops are sums over them, see there",
        "delay_ns": f"{STA}, within 2 %",
        "lut_count": "tests: another yosys and mapper, within 25 %",
        "dsp_count": "tests: another yosys, equal",
        "bram_count": "tests: memories of known size",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """A design's static labels from logic synthesis."""

    design_id: str = column("Design that was synthesised.", key=True, references="designs")
    tool: str = column("Logic synthesis tool.", key=True)
    tool_version: str = column("Version of the tool.")
    suite: str = column("Suite of the program.")
    liberty: str = column("Name of the standard-cell library, or family of FPGAs.")
    status: str = column("Outcome of the whole attempt, checks of the netlist included.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    area_um2: float | None = column("Standard-cell area.", unit="um2", target=True)
    flip_flop_count: int | None = column(
        "Cells with an ff group in the liberty, or flip-flops of the FPGA.", target=True
    )
    cell_count: int | None = column("Standard cells, or cells of the FPGA.")
    cells_by_type: str | None = column("JSON object: cells of each type.")
    delay_ns: float | None = column("Longest path, register to register or port.", unit="ns", target=True)
    leakage_mw: float | None = column(
        "Leakage of all cells, each at its value for the cell as a whole; null when the library has none.",
        unit="mW",
    )
    lut_count: int | None = column("LUTs of the FPGA, of logic, shift registers and distributed RAM.")
    dsp_count: int | None = column("DSP blocks of the FPGA.")
    bram_count: int | None = column("Block RAM of the FPGA, in units of 18 Kib.")
    synthesis_wall_s: float | None = column(
        "Time of logic synthesis and timing analysis.", unit="s", measured=True
    )


DRAWN = "drawn"
DATA_KINDS = (DRAWN, "sweep", "uniform", "sparse", "sorted", "skewed", "constant", "adversarial")


@table(
    "runs",
    stage="labels",
    tool_columns=(
        ("engine", "engine_version"),
        ("audit_engine", "audit_engine_version"),
        ("power_engine", "power_engine_version"),
    ),
    card=("latency_cycles", "power_mw", "energy_nj"),
    checked_by={
        "design_id": IDENTITY,
        "outputs_equal": NATIVE,
        "latency_cycles": f"{AUDIT}; every row with power: the mapped netlist; cross-checked sample: Icarus",
        "bytes_read bytes_written": f"{AUDIT}; every row with power: the mapped netlist",
        "audit_latency_cycles": "every audited row: the cycle model",
        "power_mw energy_nj": "sum of parts; see internal_power_mw and switching_power_mw",
        "switching_power_mw": f"{STA} with the same activity of every pin, within 3 %",
        "internal_power_mw": f"{STA} with the same activity under its rule, within 5 %",
        "toggle_count": "tests: a plain simulation in Python; of a share of cycles: within 2 %",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A design run on one input data set and compared with native C."""

    design_id: str = column("Design that was run.", key=True, references="designs")
    data_id: str = column("Hash of the input data.", key=True)
    suite: str = column("Suite of the program.")
    engine: str = column("Engine that counted the cycles.")
    engine_version: str = column("Version of that engine.")
    seed: int = column("Seed of the input data.")
    data_kind: str | None = column(
        "Kind of the data set, see docs/programs.md; null for data from elsewhere and in rows of releases "
        "that only have drawn data.",
        choices=DATA_KINDS,
    )
    status: str = column("Outcome of the run.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    latency_cycles: int | None = column("Cycles from start to done.", unit="cycles", target=True)
    outputs_equal: bool | None = column(
        "Whether every output equals native C: bit by bit, or within the rounding that unsafe_math allows."
    )
    bytes_read: int | None = column("Bytes loaded from external arrays.", unit="bytes")
    bytes_written: int | None = column("Bytes stored to external arrays.", unit="bytes")
    audited: bool = column("Whether the Verilog was also simulated on the same data and compared.")
    audit_engine: str | None = column("Simulator of the Verilog, when audited.")
    audit_engine_version: str | None = column("Version of that simulator.")
    audit_latency_cycles: int | None = column(
        "Cycles from start to done in the simulated Verilog.", unit="cycles"
    )
    power_status: str | None = column(
        "Outcome of power estimation; infeasible when the library lacks a part; null when not requested.",
        choices=STATUSES,
    )
    power_reason: str | None = column("Why power_status is not ok.")
    power_engine: str | None = column("Engine that simulated the netlist.")
    power_engine_version: str | None = column("Version of that engine and of the power model.")
    glitches: bool | None = column("Whether gates had delays, so that glitches count.")
    timed_cycles: int | None = column(
        "Cycles in which gates had delays; the glitches of the others are scaled from them.", unit="cycles"
    )
    power_mw: float | None = column(
        "Mean power of the run: internal, switching and leakage.", unit="mW", target=True
    )
    energy_nj: float | None = column("Power times cycles times clock period.", unit="nJ", target=True)
    internal_power_mw: float | None = column("Power spent inside cells at transitions.", unit="mW")
    switching_power_mw: float | None = column("Power that charges the nets of cells.", unit="mW")
    leakage_power_mw: float | None = column(
        "Leakage power, with the states of cells weighted by their share of the run.", unit="mW"
    )
    toggle_count: int | None = column("Changes of all nets of the netlist in the run.")
    build_wall_s: float | None = column("Time to build the counting engine.", unit="s", measured=True)
    simulate_wall_s: float | None = column("Time to count.", unit="s", measured=True)
    audit_build_wall_s: float | None = column(
        "Time to build the simulator of the Verilog.", unit="s", measured=True
    )
    audit_simulate_wall_s: float | None = column("Time to simulate the Verilog.", unit="s", measured=True)
    native_wall_s: float | None = column(
        "Time to compile and run native C, sanitizers included.", unit="s", measured=True
    )
    power_wall_s: float | None = column(
        "Time to simulate the netlist and to estimate power.", unit="s", measured=True
    )


@table(
    "inputs",
    stage="labels",
    release="optional",
    checked_by={
        "data_id": "tests: one row per data set of each run",
        "type shape element_count minimum maximum mean zero_share distinct_count is_sorted values": (
            "tests: data of which these figures are known"
        ),
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class InputRow:
    """An argument of an input data set."""

    suite: str = column("Suite of the programs that run on it.", key=True)
    data_id: str = column("Hash of the input data.", key=True)
    argument: str = column("Name of the argument.", key=True)
    type: str = column("Type of the scalar or of an element, as NumPy names it.")
    shape: str = column("JSON list: elements of each dimension; empty for a scalar.")
    element_count: int = column("Elements; 1 for a scalar.")
    minimum: float = column("Smallest element.")
    maximum: float = column("Largest element.")
    mean: float = column("Mean of the elements.")
    zero_share: float = column("Share of elements that are zero.")
    distinct_count: int = column("Distinct elements.")
    is_sorted: bool = column("Whether the elements ascend in C order, equal ones included.")
    values: str | None = column("JSON list: the elements in C order; null when there are more than 64.")


@table(
    "loop_runs",
    stage="labels",
    checked_by={
        "iterations entries branches branches_taken": "tests: loops in Python, on data of several kinds",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRunRow:
    """A loop of a scheduled design in a run, from the executions of blocks that the cycle model counts."""

    design_id: str = column("Design that was run.", key=True)
    data_id: str = column("Hash of the input data.", key=True, references="runs")
    loop: str = column("Name of the loop in the scheduled design, as in cdfg_nodes.", key=True)
    suite: str = column("Suite of the program.")
    iterations: int = column("Iterations of the loop in the whole run.")
    entries: int = column("Times the loop was reached, with or without an iteration.")
    branches: int = column(
        "Executions of conditional branches directly in the loop; tests of loops, selections and predicated "
        "operations apart."
    )
    branches_taken: int | None = column(
        "Those whose condition was true; null where executions of blocks do not determine it."
    )


CROSS_CHECKS = (
    "netlist_outputs",
    "netlist_icarus",
    "latency_cycles",
    "area_um2",
    "flip_flop_count",
    "delay_ns",
    "switching_power_mw",
    "internal_power_mw",
)


@table(
    "cross_checks",
    stage="labels",
    checked_by={
        "reference": "another tool's own figure",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CrossCheckRow:
    """A figure of a sampled design against another tool."""

    design_id: str = column("Design of the sample.", key=True)
    data_id: str = column("Hash of the input data of its run.", key=True, references="runs")
    check: str = column("What is compared.", key=True, choices=CROSS_CHECKS)
    suite: str = column("Suite of the program.")
    status: str = column(
        "Outcome of the comparison; infeasible when the library lacks required data.", choices=STATUSES
    )
    reason: str | None = column("Why the check could not run, or which values differ.")
    value: float | None = column("The project's figure, in the unit of the check's name.")
    reference: float | None = column("The other tool's figure.")
    deviation: float | None = column("Value over reference, less 1.")
    allowed: float = column("Largest deviation of either sign that passes.")
    passed: bool | None = column("Whether it passes; null unless status is ok.")
    tool: str = column("The other tool.")
    tool_version: str | None = column("Version of the other tool; null when it is missing.")
    check_wall_s: float | None = column(
        "Time of the other tool, for all of its checks.", unit="s", measured=True
    )
