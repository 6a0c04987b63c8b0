"""From a mapped netlist and a data set to power and energy, by a simulator that is built once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipelines.base.compiling import compiled_program
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolRun, run_tool, stopwatch
from pipelines.c.signature import DataSet
from pipelines.power.encoding import EncodedNetlist, encode_netlist
from pipelines.power.energy import PowerParts, missing_power_data, power_parts
from pipelines.power.functions import PowerError
from pipelines.power.stimulus import Activity, DesignRun, DesignStimulus
from pipelines.silicon.synthesis import Liberty, Netlist, analyse_timing

ENGINE = "netlist-simulator"
_VERSION = "3ef02e9b7812"
"""Raise it when the simulator gives other outputs, cycles or toggles for the same netlist and data."""
_SOURCE = Path(__file__).with_name("simulator.c")
_HEADER = Path(__file__).with_name("simulation.h")
_FLAGS = ("-std=c11", "-O2", "-fno-strict-aliasing")
_NETLIST, _STIMULUS, _RESULT = "netlist.bin", "stimulus.bin", "activity.bin"
_CYCLE_LIMIT = 4


def engine_version() -> str:
    """Return the version of the simulator, a part of every result's key."""
    return _VERSION


def build_engine(engine_folder: Path) -> Path:
    """Build the simulator's program, compiled with gcc when it is not in the folder yet.

    Args:   engine_folder: folder of compiled programs, one per version.
    Raises: ToolMissing: gcc is not installed. PowerError: it does not compile the program.
    """
    return compiled_program(
        engine_folder,
        engine=ENGINE,
        sources=(_SOURCE, _HEADER),
        flags=_FLAGS,
        error=PowerError,
        compiler="gcc",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRun:
    """One run of the simulator.

    Attributes:
        status: ok, timeout (cycle or time limit) or tool_error.
        reason: why the status is not ok.
        content: bytes of the result file; empty unless ok.
        is_endless: whether the cycle limit ended it.
        wall_s: time of the program.
    """

    status: str
    reason: str | None
    content: bytes
    wall_s: float
    is_endless: bool = False


def run_engine(
    encoded: EncodedNetlist,
    stimulus: Callable[[], bytes],
    *,
    folder: Path,
    engine_folder: Path,
    timeout_s: float,
) -> EngineRun:
    """Simulate a netlist.

    Args:    stimulus: gives the bytes of the stimulus file; folder: for this run alone, made if absent;
             engine_folder: see `build_engine`.
    Raises:  ToolMissing, PowerError: the simulator cannot be built, or the stimulus does not fit.
    """
    program = build_engine(engine_folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _NETLIST).write_bytes(encoded.content)
    (folder / _STIMULUS).write_bytes(stimulus())
    argv = [os.fspath(program), _NETLIST, _STIMULUS, _RESULT]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    content = (folder / _RESULT).read_bytes() if run.returncode == 0 else b""
    for name in (_NETLIST, _STIMULUS, _RESULT):
        (folder / name).unlink(missing_ok=True)
    if run.returncode == 0:
        return EngineRun(status="ok", reason=None, content=content, wall_s=run.wall_s)
    return _failed(run)


def _failed(run: ToolRun) -> EngineRun:
    if run.machine_fault is None and (run.timed_out or run.returncode == _CYCLE_LIMIT):
        limit = "time" if run.timed_out else "cycle"
        reason = f"the netlist simulation ran past its {limit} limit"
        return EngineRun(
            status="timeout", reason=reason, content=b"", wall_s=run.wall_s, is_endless=not run.timed_out
        )
    reason = " ".join(f"the netlist simulation: {run.last_words()}".split())
    return EngineRun(status="tool_error", reason=reason, content=b"", wall_s=run.wall_s)


POWER_MODEL = "nldm-1"  # raise when a module of this package gives other numbers for the same run


def tool_version() -> str:
    """Return version of the simulator and of the power model: raising either changes every result's key."""
    return content_hash(engine_version(), POWER_MODEL)[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerResult:
    """Power of a design on one data set; the figures are None unless status is ok.

    Attributes:
        status: ok, timeout (cycle or time limit), tool_error, or infeasible: the netlist ran, but the library
            lacks a part of the power. Then power_mw and energy_nj are None, and so is that part.
        reason: why the status is not ok.
        power_mw: internal, switching and leakage power, mean over the run.
        energy_nj: power times cycles times period.
        parts: the parts of the power.
        latency_cycles, returned, outputs, loads, stores: as the netlist computed them, to be compared with
            RTL simulation; see `pipelines.rtl.simulation.SimulationResult`.
        toggles: changes of all nets in the run; activity: of each net; clock: net that clocks all flip-flops.
        is_endless: whether the cycle limit ended the run.
        tool, tool_version: the simulator, and the hash of it and of the power model.
        wall_s: total time; simulate_wall_s: time of the simulator.
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
    """Simulate a netlist on a data set and estimate its mean power and its energy.

    Args:
        netlist: of one design, as `parse_netlist` reads it; every cell in the library.
        liberty: the library it was mapped to.
        clock_period_ns: clock period in ns.
        run: the data, and the memories' delays and banks.
        folder: of the simulator's files, for this call alone; made if absent.
        engine_folder: where the simulator's program is kept between calls.
        glitches: whether gates have delays, so that glitches count; else each net changes at most once
            per clock edge.
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
    observed = stimulus.result(simulation.content)
    if observed.latency_cycles == 0:
        return PowerResult(
            status="tool_error",
            reason="the netlist is done before its first cycle, so it has no power; its cells may be wrong",
            wall_s=stopwatch() - start,
            simulate_wall_s=simulation.wall_s,
        )
    parts = power_parts(netlist, liberty, timing, observed.activity, clock_period_ns=clock_period_ns)
    lacking = missing_power_data(netlist, liberty)
    power_mw = None if lacking is not None else parts.total_mw
    time_us = observed.latency_cycles * clock_period_ns * 1e-3
    return PowerResult(
        status="ok" if lacking is None else "infeasible",
        reason=lacking,
        power_mw=power_mw,
        energy_nj=None if power_mw is None else power_mw * time_us,
        parts=parts if liberty.nominal_voltage_v > 0 else None,
        latency_cycles=observed.latency_cycles,
        returned=observed.returned,
        outputs=observed.outputs,
        loads=observed.loads,
        stores=observed.stores,
        toggles=int(observed.activity.toggles.sum()),
        activity=observed.activity,
        clock=encoded.clock,
        wall_s=stopwatch() - start,
        simulate_wall_s=simulation.wall_s,
    )
