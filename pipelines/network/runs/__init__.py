"""Simulated runs as rows: groups of runs, their simulation, tables.

Belongs here: configurations of runs and their rows. Does not: simulators (`simulation`), theory (`queueing`).
"""

from pipelines.network.runs.groups import FAT_TREE, TWO_TIER, NetworkRun, RunGroup, run_of, runs_of
from pipelines.network.runs.simulate import NetworkTables, runs_version, simulate_runs
from pipelines.network.runs.tables import model_of, stream_numbers

__all__ = [
    "FAT_TREE",
    "TWO_TIER",
    "NetworkRun",
    "NetworkTables",
    "RunGroup",
    "model_of",
    "run_of",
    "runs_of",
    "runs_version",
    "simulate_runs",
    "stream_numbers",
]
