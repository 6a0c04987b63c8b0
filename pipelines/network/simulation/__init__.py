"""Packet-level simulation: the project's own event simulator for UDP, and ns-3.

Belongs here: scenarios, both engines, rows of a run. Does not: models of latency (`queueing`).
"""

from pipelines.network.simulation.engine import ENGINE, SimulationFailed, engine_version, simulate
from pipelines.network.simulation.scenario import (
    HopSums,
    Scenario,
    SimulationOptions,
    SimulationResult,
    make_scenario,
)

__all__ = [
    "ENGINE",
    "HopSums",
    "Scenario",
    "SimulationFailed",
    "SimulationOptions",
    "SimulationResult",
    "engine_version",
    "make_scenario",
    "simulate",
]
