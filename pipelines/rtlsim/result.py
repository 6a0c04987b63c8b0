"""What a simulation gave, whichever simulator ran it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.interface import DataSet
from pipelines.rtlsim.exchange import Observed
from pipelines.tools import PROCESSOR, ToolRun


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """What a simulation gave.

    Attributes:
        status: ok, timeout (limit of cycles or of processor time) or tool_error.
        latency_cycles: from the cycle of start to the cycle of done.
        returned: value of the function: a number, or the bits of a floating one as an unsigned number.
        outputs: every written array, in its own type.
        loads, stores: accesses to each array argument, by name.
        build_wall_s, simulate_wall_s: elapsed times in seconds.
    """

    status: str
    reason: str | None
    latency_cycles: int | None
    returned: int | None
    outputs: DataSet
    build_wall_s: float
    simulate_wall_s: float
    loads: dict[str, int] = field(default_factory=dict[str, int])
    stores: dict[str, int] = field(default_factory=dict[str, int])


def failed_run(what: str, run: ToolRun) -> tuple[str, str]:
    """Status and reason of a tool that failed or ran past its limit of processor time or of cycles."""
    if run.timed_out and run.machine_fault is None:
        limit = "limit of processor time" if run.limit == PROCESSOR else "time limit"
        return "timeout", f"{what} ran past its {limit}"
    return "tool_error", " ".join(f"{what}: {run.last_words()}".split())


def failed_simulation(
    what: str, run: ToolRun, build_wall_s: float, simulate_wall_s: float = 0.0
) -> SimulationResult:
    """The result of a simulation in which a tool failed or ran past its limit."""
    status, reason = failed_run(what, run)
    return SimulationResult(
        status=status,
        reason=reason,
        latency_cycles=None,
        returned=None,
        outputs={},
        build_wall_s=build_wall_s,
        simulate_wall_s=simulate_wall_s,
    )


def observed_simulation(observed: Observed, build_wall_s: float, simulate_wall_s: float) -> SimulationResult:
    """The result of a simulation that came to its end."""
    return SimulationResult(
        status="ok",
        reason=None,
        latency_cycles=observed.latency_cycles,
        returned=observed.returned,
        outputs=observed.outputs,
        build_wall_s=build_wall_s,
        simulate_wall_s=simulate_wall_s,
        loads=observed.loads,
        stores=observed.stores,
    )
