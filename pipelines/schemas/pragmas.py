"""Table of explorations: a configuration of directives that a search tried, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.checks import NATIVE
from pipelines.schemas.columns import STATUSES, column, table

DECISIONS = ("evaluated", "repeated", "pruned", "no_design")


@table(
    "pragma_designs",
    stage="pragmas",
    group="pragmas",
    checked_by={
        "bound_cycles space_bound_cycles proven": "tests: brute force on small programs",
        "latency_cycles": f"{NATIVE}, cycles as in runs",
        "area_um2": "as labels.area_um2 where measured by this project",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PragmaDesignRow:
    """A configuration tried in an exploration: bound, measured latency, resources."""

    exploration_id: str = column("Hash of program, target, evaluator, method and options.", key=True)
    step: int = column("Step of the exploration, from 0.", key=True)
    program_id: str = column("Program that was explored.")
    suite: str = column("Suite of the program.")
    kernel: str = column("Name of the program.")
    size: str = column("Size of the program.")
    method: str = column("Search: nlp_dse, bottleneck, random or exhaustive.")
    target: str = column("Target of the bound.")
    evaluator: str = column("Tool and version of the measurement.")
    most_partitions: int | None = column("Maximum partitions per array in the sub-problem; null = unbounded.")
    fine_only: bool = column("Whether only loops inside pipelined loops may be unrolled.")
    configuration: str | None = column(
        "JSON of the configuration: loops as [pipeline, interval, unroll, tile], and caches."
    )
    decision: str = column("Outcome of the step.", choices=DECISIONS)
    bound_cycles: float | None = column("Lower bound on the configuration's latency.", unit="cycles")
    space_bound_cycles: float | None = column(
        "Lower bound proven for all configurations of the sub-problem.", unit="cycles"
    )
    proven: bool = column("Whether the solver proved that the configuration's bound is the minimum.")
    status: str = column("Outcome of the measurement; ok when the step needs none.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    latency_cycles: int | None = column("Measured cycles of one call.", unit="cycles")
    applied: bool | None = column("Whether the tool applied every directive.")
    not_applied: str | None = column("JSON list of the directives that the tool did not apply, with reasons.")
    dsp_count: int | None = column("DSP blocks, where the evaluator knows them.")
    area_um2: float | None = column("Estimated area, where the evaluator knows it.", unit="um2")
    strips: bool | None = column("Whether factors were written as strips in the text, not as directives.")
    best_cycles: int | None = column("Minimum measured latency after the step.", unit="cycles")
    solver_wall_s: float | None = column("Time in the solver.", unit="s", measured=True)
    measure_wall_s: float | None = column("Time to measure the design.", unit="s", measured=True)
    elapsed_wall_s: float | None = column(
        "Time of the search so far; concurrent measurements count once.", unit="s", measured=True
    )
