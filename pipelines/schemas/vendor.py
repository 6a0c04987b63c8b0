"""Tables of imported vendor results: a kernel under directives through a vendor's tool, and its loops."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.checks import VENDOR
from pipelines.schemas.columns import REST, STATUSES, column, table


@table(
    "vendor_designs",
    stage="vendor",
    release="internal",
    checked_by={
        REST: VENDOR,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class VendorDesignRow:
    """A kernel under directives as a vendor's tool reported it; nothing here was measured by this project."""

    kernel: str = column("Kernel, or top function of the report.", key=True)
    tool: str = column(
        "Tool of the last stage, with its version: vitis-2020.2, vivado-2019.1; merlin-<toolchain> when "
        "the source transformation before HLS failed.",
        key=True,
    )
    directives: str = column("The directives, as canonical JSON of what the source says.", key=True)
    suite: str = column("Suite the source names; empty for a report.")
    source: str = column("Format it was imported from.", choices=("merlin_vitis", "csynth"))
    toolchain: str = column("Tool as the source names it.")
    tool_version: str = column("Version of the tool.")
    stage: str = column("Last stage of the attempt.", choices=("transform", "hls"))
    vendor_status: str = column("Outcome in the source's own word.")
    status: str = column("Outcome in this project's vocabulary.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok, or which values an ok row lacks.")
    directives_by_loop: str | None = column(
        "JSON list of the same directives by loop index, when the positions are known."
    )
    fits: bool | None = column("Whether the resources fit the part.")
    part: str | None = column("Part the design is for.")
    clock_period_ns: float | None = column("Requested clock period.", unit="ns")
    clock_uncertainty_ns: float | None = column("Margin the tool kept of the clock period.", unit="ns")
    estimated_clock_period_ns: float | None = column("Clock period the tool estimates.", unit="ns")
    latency_cycles: int | None = column("Cycles of one call; the worst case for a report.", unit="cycles")
    latency_best_cycles: int | None = column("Cycles in the best case.", unit="cycles")
    latency_average_cycles: int | None = column("Cycles in the average case.", unit="cycles")
    interval_min_cycles: int | None = column("Minimum cycles between two starts.", unit="cycles")
    interval_max_cycles: int | None = column("Maximum cycles between two starts.", unit="cycles")
    dsp_count: int | None = column("DSP blocks.")
    bram_count: int | None = column("Block RAMs of 18 Kbit.")
    lut_count: int | None = column("Look-up tables.")
    ff_count: int | None = column("Flip-flops of the fabric.")
    uram_count: int | None = column("UltraRAM blocks.")
    dsp_available: int | None = column("DSP blocks of the part.")
    bram_available: int | None = column("Block RAMs of 18 Kbit of the part.")
    lut_available: int | None = column("Look-up tables of the part.")
    ff_available: int | None = column("Flip-flops of the part.")
    uram_available: int | None = column("UltraRAM blocks of the part.")
    dsp_utilization: float | None = column("DSP blocks as a share of the part.")
    bram_utilization: float | None = column("Block RAMs as a share of the part.")
    lut_utilization: float | None = column("Look-up tables as a share of the part.")
    ff_utilization: float | None = column("Flip-flops as a share of the part.")


@table(
    "vendor_loops",
    stage="vendor",
    release="internal",
    checked_by={
        REST: VENDOR,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class VendorLoopRow:
    """A loop of a vendor's kernel: as scheduled in a report, or as written with the places of directives."""

    kernel: str = column("Kernel, or top function of the report.", key=True)
    tool: str = column("Tool of the design; merlin for loops as they are written.", key=True)
    directives: str = column("Directives of the design; {} for loops as they are written.", key=True)
    loop_index: int = column("Position of the loop in the source of the rows, from 0.", key=True)
    module: str = column("Module of the report the loop stands in; the kernel for loops as written.")
    loop: str = column("Name of the loop, or its iterator.")
    parent_index: int | None = column("Index of the enclosing loop.")
    depth: int = column("Nesting depth inside the module, 1 for an outermost loop.")
    trip_count_min: int | None = column("Minimum iterations, when known.")
    trip_count_max: int | None = column("Maximum iterations, when known.")
    latency_min_cycles: int | None = column("Minimum cycles of the whole loop.", unit="cycles")
    latency_max_cycles: int | None = column("Maximum cycles of the whole loop.", unit="cycles")
    iteration_latency_cycles: int | None = column("Maximum cycles of one iteration.", unit="cycles")
    interval_cycles: int | None = column("Initiation interval of a pipelined loop.", unit="cycles")
    pipeline_depth_cycles: int | None = column("Cycles from the first to the last stage.", unit="cycles")
    pipelined: bool | None = column("Whether the tool pipelined the loop.")
    pipeline_directive: str | None = column("Name of the pipeline directive at the loop.")
    tile_directive: str | None = column("Name of the tile directive at the loop.")
    parallel_directive: str | None = column("Name of the parallel directive at the loop.")
