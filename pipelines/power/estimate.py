"""From a mapped netlist and a data set to power and energy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipelines.identity import content_hash
from pipelines.interface import DataSet
from pipelines.power.encoding import encode_netlist
from pipelines.power.energy import PowerParts, missing_power_data, power_parts
from pipelines.power.engine import ENGINE, engine_version, run_engine
from pipelines.power.errors import PowerError
from pipelines.power.stimulus import Activity, DesignRun, DesignStimulus
from pipelines.synthesis import Liberty, Netlist, analyse_timing
from pipelines.tools import stopwatch

POWER_MODEL = "nldm-1"  # raise when a module of this package gives other numbers for the same run


def tool_version() -> str:
    """Version of the simulator and of the power model: a change of either changes every result's key."""
    return content_hash(engine_version(), POWER_MODEL)[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerResult:
    """Power of a design on one data set; the figures are None unless status is ok.

    Attributes:
        status: ok, timeout (cycle or time limit), tool_error, or infeasible: the netlist ran, but the library
            lacks a part of the power. Then power_mw and energy_nj are None, and so is that part.
        reason: why it is not ok.
        power_mw: internal, switching and leakage power, mean over the run.
        energy_nj: power times cycles times period.
        parts: the parts of the power.
        latency_cycles, returned, outputs, loads, stores: as the netlist computed them, to be compared with
            RTL simulation; see `pipelines.rtlsim.SimulationResult`.
        toggles: changes of all nets in the run; activity: of each net; clock: net that clocks all flip-flops.
        is_endless: whether the cycle limit ended the run.
        tool, tool_version: the simulator, and the hash of it and of the power model.
        wall_s: time of everything; simulate_wall_s: of the simulator.
    """

    status: str
    reason: str | None = None
    power_mw: float | None = None
    energy_nj: float | None = None
    parts: PowerParts | None = None
    latency_cycles: int | None = None
    returned: int | None = None
    outputs: DataSet = field(default_factory=dict[str, NDArray[Any]])
    loads: dict[str, int] = field(default_factory=dict[str, int])
    stores: dict[str, int] = field(default_factory=dict[str, int])
    toggles: int | None = None
    activity: Activity | None = field(default=None, repr=False, compare=False)
    clock: int | None = None
    is_endless: bool = False
    tool: str = ENGINE
    tool_version: str = field(default_factory=tool_version)
    wall_s: float = 0.0
    simulate_wall_s: float = 0.0


def estimate_power(
    netlist: Netlist,
    *,
    liberty: Liberty,
    clock_period_ns: float,
    run: DesignRun,
    folder: Path,
    engine_folder: Path,
    glitches: bool = True,
    timeout_s: float = 120.0,
) -> PowerResult:
    """Simulate a netlist on a data set and find its mean power and its energy.

    Args:
        netlist: of one design, as `parse_netlist` reads it; every cell in the library.
        liberty: the library it was mapped to.
        clock_period_ns: clock period in ns.
        run: the data, and the memories' delays and banks.
        folder: of the simulator's files, for this call alone; made if absent.
        engine_folder: where the simulator's program is kept between calls.
        glitches: whether gates have delays, so that glitches count; else each net changes at most once a
            clock edge.
        timeout_s: limit of the simulation in seconds of processor time.
    Returns: power over the cycles from start to done, and what the netlist computed; or the status and reason
             for which there is none.
    Raises:  ToolMissing: gcc is not installed. PowerError: the period or a memory delay is not positive, the
             netlist cannot be simulated or is no design. SynthesisError: it has a combinational loop.
             KeyError: data lacks an argument.
    Source:  liberty's `internal_power`, `leakage_power` and capacitances; see `energy.py`.
    """
    delays = (run.timing.read_delay_cycles, run.timing.write_delay_cycles)
    if min(delays) < 1:
        raise PowerError(f"memory delays must be at least 1 cycle, got {delays[0]} and {delays[1]}")
    if not clock_period_ns > 0:
        raise PowerError(f"clock_period_ns must be positive, got {clock_period_ns}")
    start = stopwatch()
    timing = analyse_timing(netlist, liberty)
    encoded = encode_netlist(netlist, liberty, timing)
    stimulus = DesignStimulus(encoded=encoded, run=run)
    simulation = run_engine(
        encoded,
        lambda: stimulus.content(delays=glitches),
        folder=folder,
        engine_folder=engine_folder,
        timeout_s=timeout_s,
    )
    if simulation.status != "ok":
        return PowerResult(
            status=simulation.status,
            reason=simulation.reason,
            is_endless=simulation.is_endless,
            wall_s=stopwatch() - start,
            simulate_wall_s=simulation.wall_s,
        )
    found = stimulus.result(simulation.content)
    parts = power_parts(netlist, liberty, timing, found.activity, clock_period_ns=clock_period_ns)
    lacking = missing_power_data(netlist, liberty)
    power_mw = None if lacking is not None else parts.total_mw
    time_us = found.latency_cycles * clock_period_ns * 1e-3
    return PowerResult(
        status="ok" if lacking is None else "infeasible",
        reason=lacking,
        power_mw=power_mw,
        energy_nj=None if power_mw is None else power_mw * time_us,
        parts=parts if liberty.nominal_voltage_v > 0 else None,
        latency_cycles=found.latency_cycles,
        returned=found.returned,
        outputs=found.outputs,
        loads=found.loads,
        stores=found.stores,
        toggles=int(found.activity.toggles.sum()),
        activity=found.activity,
        clock=encoded.clock,
        wall_s=stopwatch() - start,
        simulate_wall_s=simulation.wall_s,
    )
