"""Simulating a group of runs, several at a time, each cached by its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolMissing, stopwatch
from pipelines.base.workers import Outcome, ProgressCallback, run_all
from pipelines.network.errors import NetworkError
from pipelines.network.runs.groups import NetworkRun, RunGroup, runs_of
from pipelines.network.runs.tables import PacketSums, run_tables, sum_packets
from pipelines.network.simulation import (
    ENGINE,
    SimulationFailed,
    engine_version,
    make_scenario,
    ns3,
    simulate,
)
from pipelines.network.topology import Topology
from pipelines.network.traffic import TCP, Traffic, draw_schedule
from pipelines.schemas import OK, TIMEOUT, TOOL_ERROR, NetworkRunRow, table_spec

STEP = "network"
NO_VERSION = "none"
_KIND, _ENGINES = "network", "engines"
_RUNS_VERSION = "57ba378f1b9e60cc294b0239e11b2cd8"
"""Raise it when the rows of a group change; also when a constant below or a simulator's version is raised."""
_PACKETS_VERSION = "b7c1eff1a266b2619a4aa1c3be82e8c2"
"""Raise it when topologies, routes, drawn packets or their sums change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkTables:
    """Rows of a group of runs, sorted by key.

    Attributes: flows, hops: tables network_flows and network_hops.
    """

    runs: list[NetworkRunRow]
    flows: pa.Table
    hops: pa.Table


@once
def runs_version() -> str:
    """Return version of all that the rows of given groups depend on beside the groups: this package, ns-3."""
    return content_hash(_RUNS_VERSION, _ns3_version())


def simulate_runs(
    group: RunGroup,
    *,
    cache: ContentCache,
    workers: int,
    timeout_s: float,
    on_progress: ProgressCallback,
) -> NetworkTables:
    """Simulate the runs of a group; a run that fails is a row with its reason.

    Args:   workers: runs at a time. timeout_s: processor time of each.
    Raises: NetworkError: a value of the group is out of range.
    """
    simulated = run_all(
        STEP,
        runs_of(group, timeout_s=timeout_s),
        partial(_simulate, group=group.name, cache=cache),
        workers=workers,
        in_threads=True,
        on_progress=on_progress,
    )
    return _joined(simulated)


def _simulate(run: NetworkRun, *, group: str, cache: ContentCache) -> Outcome[_Simulated]:
    simulated = _cached_run(run, group, cache)
    row = simulated.row
    return Outcome(result=simulated, failed=row.status != OK, name=f"{row.network} {row.pattern}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Simulated:
    row: NetworkRunRow
    flows: pa.Table
    hops: pa.Table


def _joined(simulated: Sequence[_Simulated]) -> NetworkTables:
    ordered = sorted(simulated, key=lambda one: one.row.run_id)
    empty = {name: table_spec(name).schema().empty_table() for name in ("network_flows", "network_hops")}
    return NetworkTables(
        runs=[one.row for one in ordered],
        flows=pa.concat_tables([empty["network_flows"], *(one.flows for one in ordered)]),
        hops=pa.concat_tables([empty["network_hops"], *(one.hops for one in ordered)]),
    )


def _ns3_version() -> str:
    return ns3.engine_version() if ns3.find_ns3() is not None else NO_VERSION


def _cached_run(run: NetworkRun, group: str, cache: ContentCache) -> _Simulated:
    """Return the rows of a run, its packets summed anew only when the cache has no sums."""
    tool = ns3.ENGINE if run.protocol == TCP else ENGINE
    version = _ns3_version() if run.protocol == TCP else engine_version()
    run_id = content_hash(run.configuration(), tool, version)
    topology = run.topology()
    traffic = run.traffic(topology)
    common: dict[str, Any] = {"run_id": run_id, "group": group, "tool": tool, "tool_version": version}
    common |= _of_configuration(run, topology, traffic)
    key = content_hash(run_id, _PACKETS_VERSION)
    start = stopwatch()
    try:
        sums, wall_s = _recalled(cache, key) or (None, None)
        if sums is None:
            sums = _simulated(run, topology, traffic, cache.folder / _ENGINES)
            wall_s = stopwatch() - start
            _keep(cache, key, sums, wall_s)
    except (NetworkError, ToolMissing) as error:
        timed_out = isinstance(error, SimulationFailed) and error.timed_out
        outcome: dict[str, Any] = {"status": TIMEOUT if timed_out else TOOL_ERROR, "reason": str(error)}
        row = NetworkRunRow(**common, **_NOTHING, **outcome, wall_s=stopwatch() - start)
        empty = [table_spec(name).schema().empty_table() for name in ("network_flows", "network_hops")]
        return _Simulated(row=row, flows=empty[0], hops=empty[1])
    offered, flows, hops = run_tables(run, run_id, sums)
    measured: dict[str, Any] = {**sums.summary, "offered_utilisation": offered, "wall_s": wall_s}
    return _Simulated(row=NetworkRunRow(**common, **measured, status=OK, reason=None), flows=flows, hops=hops)


def _recalled(cache: ContentCache, key: str) -> tuple[PacketSums, float] | None:
    kept: Any = cache.get(_KIND, key)
    flows, hops = cache.get_table(f"{_KIND}-flows", key), cache.get_table(f"{_KIND}-hops", key)
    if kept is None or flows is None or hops is None:
        return None
    return PacketSums(summary=kept["summary"], flows=flows, hops=hops), kept["wall_s"]


def _keep(cache: ContentCache, key: str, sums: PacketSums, wall_s: float) -> None:
    """Store a run; one that failed is tried again."""
    cache.put_table(f"{_KIND}-flows", key, sums.flows)
    cache.put_table(f"{_KIND}-hops", key, sums.hops)
    cache.put(_KIND, key, {"summary": sums.summary, "wall_s": wall_s})


def _simulated(run: NetworkRun, topology: Topology, traffic: Traffic, folder: Path) -> PacketSums:
    schedule = draw_schedule(traffic, duration_s=run.duration_s, seed=run.seed)
    scenario = make_scenario(topology, traffic, schedule, routing=run.routing, options=run.options)
    engine = ns3.simulate_in_ns3 if run.protocol == TCP else simulate
    return sum_packets(scenario, engine(scenario, engine_folder=folder))


_NOTHING: Mapping[str, None] = dict.fromkeys(
    (
        "packet_count",
        "drop_count",
        "offered_utilisation",
        "busiest_utilisation",
        "delay_mean_ns",
        "rtt_mean_ns",
        "rtt_p50_ns",
        "rtt_p99_ns",
    )
)


def _of_configuration(run: NetworkRun, topology: Topology, traffic: Traffic) -> dict[str, Any]:
    """Return the columns that follow from a run's configuration."""
    mean_bytes, size_scv = run.sizes.moments(traffic.header_bytes)
    return {
        "network": topology.name,
        "hosts": topology.host_count,
        "queues": topology.queue_count,
        "pattern": run.pattern.kind,
        "load": run.pattern.load,
        "density": run.pattern.density,
        "arrivals": run.arrivals.kind,
        "arrival_scv": run.arrivals.scv,
        "sizes": run.sizes.kind,
        "mean_bytes": mean_bytes,
        "size_scv": size_scv,
        "protocol": run.protocol,
        "is_acknowledged": run.options.has_acks or run.protocol == TCP,
        "routing": run.routing.kind,
        "routing_seed": run.routing.seed,
        "seed": run.seed,
        "queue_capacity": run.options.queue_capacity,
        "duration_s": run.duration_s,
        "warm_up_s": run.options.warm_up_s,
        "configuration": run.configuration(),
        "flow_count": len(traffic.sources),
    }
