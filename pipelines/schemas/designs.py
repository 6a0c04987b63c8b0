"""Tables of designs: a program under one configuration, and the outcome of each directive."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table
from pipelines.schemas.status import STATUSES


@table("designs", stage="designs")
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
    hls_wall_s: float | None = column("Time from source to Verilog.", unit="s", measured=True)


@table("directive_outcomes", stage="designs")
@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveOutcomeRow:
    """One directive of one design: applied or not, and why."""

    design_id: str = column("Design the directive belongs to.", key=True, references="designs")
    directive: str = column("The directive as canonical JSON.", key=True)
    applied: bool = column("Whether the directive shaped the design.")
    reason: str = column("Effect of the directive, or why it was not applied.")
