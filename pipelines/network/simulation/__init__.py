"""Packet-level simulation: the project's own event simulator for UDP, and ns-3.

Belongs here: scenarios, both engines, rows of a run. Does not: models of latency (`queueing`).
"""

from pipelines.network.simulation.engine import (
    ENGINE,
    SimulationFailed,
    build_simulator,
    engine_version,
    simulate,
)
from pipelines.network.simulation.scenario import (
    HopSums,
    QueueSums,
    Scenario,
    SimulationOptions,
    SimulationResult,
    make_scenario,
    read_result,
    scenario_bytes,
)

__all__ = [
    "ENGINE",
    "HopSums",
    "QueueSums",
    "Scenario",
    "SimulationFailed",
    "SimulationOptions",
    "SimulationResult",
    "build_simulator",
    "engine_version",
    "make_scenario",
    "read_result",
    "scenario_bytes",
    "simulate",
]
