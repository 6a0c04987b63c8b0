"""The project's own event simulator as a program: built once, run on a scenario."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pipelines.base.compiling import compiled_program
from pipelines.base.tools import ToolRun, run_tool
from pipelines.network.errors import NetworkError
from pipelines.network.simulation.scenario import (
    Scenario,
    SimulationResult,
    read_result,
    scenario_bytes,
)

ENGINE = "network-simulator"
_VERSION = "5d9ca2006cbf"
"""Raise it when the simulator gives a packet of the same scenario another delay."""
_SOURCE = Path(__file__).with_name("simulator.cc")
_HEADER = Path(__file__).with_name("scenario.h")
_FLAGS = ("-std=c++17", "-O2")
_SCENARIO, _RESULT = "scenario.bin", "result.bin"


def engine_version() -> str:
    """Return the version of the simulator, a part of every result's key."""
    return _VERSION


def build_simulator(engine_folder: Path) -> Path:
    """Build the simulator's program, compiled with g++ when it is not in the folder yet.

    Args:   engine_folder: folder of compiled programs, one per version.
    Raises: ToolMissing: g++ is not installed. NetworkError: it does not compile the program.
    """
    return compiled_program(
        engine_folder, engine=ENGINE, sources=(_SOURCE, _HEADER), flags=_FLAGS, error=NetworkError
    )


class SimulationFailed(NetworkError):
    """A simulator did not end with a result.

    Attributes: timed_out: whether its limit of processor time ended it.
    """

    def __init__(self, message: str, *, timed_out: bool) -> None:
        super().__init__(message)
        self.timed_out = timed_out


def simulate(scenario: Scenario, *, engine_folder: Path) -> SimulationResult:
    """Simulate a scenario packet by packet.

    Args:   engine_folder: see `build_simulator`.
    Raises: SimulationFailed: past its time limit, or the program failed. ToolMissing: no g++.
    """
    return run_program([os.fspath(build_simulator(engine_folder))], scenario)


def run_program(program: list[str], scenario: Scenario) -> SimulationResult:
    """Run a simulator's program on the files of a scenario, in a folder of its own.

    Raises: SimulationFailed: see `simulate`.
    """
    with tempfile.TemporaryDirectory(prefix="network-") as name:
        folder = Path(name)
        (folder / _SCENARIO).write_bytes(scenario_bytes(scenario))
        argv = [*program, _SCENARIO, _RESULT]
        run = run_tool(argv, folder=folder, timeout_s=scenario.options.timeout_s, of_processor=True)
        if run.returncode != 0:
            raise _failure(run, scenario)
        return read_result((folder / _RESULT).read_bytes(), scenario)


def _failure(run: ToolRun, scenario: Scenario) -> SimulationFailed:
    if run.timed_out and run.machine_fault is None:
        limit_s = scenario.options.timeout_s
        reason = f"a network simulation took more than {limit_s:g} s of processor time"
        return SimulationFailed(reason, timed_out=True)
    return SimulationFailed(f"the network simulation failed: {run.last_words()}", timed_out=False)
