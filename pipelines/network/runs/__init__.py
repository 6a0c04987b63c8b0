"""Simulated runs as rows: groups of runs, their simulation, tables.

Belongs here: configurations of runs and their rows. Does not: simulators (`simulation`), theory (`queueing`).
"""

from pipelines.network.runs.groups import FAT_TREE, NETWORKS, TWO_TIER, NetworkRun, RunGroup, run_of, runs_of
from pipelines.network.runs.simulate import NetworkTables, runs_version, simulate_runs
from pipelines.network.runs.tables import PacketSums, model_of, run_tables, stream_numbers, sum_packets

__all__ = [
    "FAT_TREE",
    "NETWORKS",
    "TWO_TIER",
    "NetworkRun",
    "NetworkTables",
    "PacketSums",
    "RunGroup",
    "model_of",
    "run_of",
    "run_tables",
    "runs_of",
    "runs_version",
    "simulate_runs",
    "stream_numbers",
    "sum_packets",
]
