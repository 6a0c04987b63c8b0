"""Inputs of the network engines: topologies, traffic, traces, theory, simulation, rows of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from engine_outputs import Folders, Output, outcome

from pipelines.base.cache import ContentCache
from pipelines.network import queueing, runs, simulation, topology, traffic
from pipelines.network.routing import ROUTINGS, Routing, route_flows
from pipelines.network.simulation.scenario import read_result, scenario_bytes

TREE = topology.fat_tree(topology.FatTree(pods=4))
DEFAULT = runs.RunGroup(
    name="default", patterns=("all_to_all",), loads=(0.5,), duration_s=0.1, warm_up_s=0.02
)
GROUPS = (
    runs.RunGroup(
        name="grid",
        patterns=("all_to_all", "incast"),
        loads=(0.5,),
        sizes=("bimodal",),
        acknowledged=(True, False),
        duration_s=0.1,
        warm_up_s=0.02,
    ),
    runs.RunGroup(
        name="drawn",
        samples=4,
        loads=(0.1, 0.9),
        scvs=(1.5, 8.0),
        arrivals=("poisson", "ge", "on_off"),
        sizes=("fixed", "uniform", "empirical"),
        routings=ROUTINGS,
        duration_s=0.1,
        warm_up_s=0.02,
        queue_capacity=8,
    ),
    runs.RunGroup(
        name="two_tier",
        network="two_tier",
        edges=4,
        cores=2,
        hosts_per_edge=2,
        patterns=("broadcast",),
        loads=(0.4,),
        arrivals=("poisson",),
        sizes=("fixed",),
        duration_s=0.1,
        warm_up_s=0.02,
    ),
    runs.RunGroup(name="no_packets", loads=(0.1,), duration_s=0.0002, warm_up_s=0.0001, sizes=("fixed",)),
)
TCP_GROUP = replace(DEFAULT, name="tcp", protocols=("tcp",), sizes=("fixed",), arrivals=("poisson",))
TRACE_HEADER = "time_s,source,destination,bytes\n"
WRONG_TRACES = (
    "",
    TRACE_HEADER,
    "time,source,destination,bytes\n1,0,1,9\n",
    f"{TRACE_HEADER}x,0,1,9\n",
    f"{TRACE_HEADER}1,0,1\n",
    f"{TRACE_HEADER}-1,0,1,9\n",
    f"{TRACE_HEADER}1,0,0,9\n",
    f"{TRACE_HEADER}1,0,99,9\n",
    f"{TRACE_HEADER}1,0,1,-9\n",
    f"{TRACE_HEADER}1,0.5,1,9\n",
    f"{TRACE_HEADER}nan,0,1,9\n",
)
NODES = [{"id": "a", "host": True}, {"id": "s", "tier": 2}, {"id": "b", "host": True}]
LINKS = [{"source": end, "target": "s", "rate_bps": 10**7, "delay_ns": 5} for end in "ab"]
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="h" for="node" attr.name="host" attr.type="boolean"/>
<key id="t" for="node" attr.name="tier" attr.type="int"/>
<key id="r" for="edge" attr.name="rate_bps" attr.type="int"/>
<graph edgedefault="undirected">
<node id="a"><data key="h">true</data></node><node id="b"><data key="h">true</data></node>
<node id="s"><data key="t">2</data></node>
<edge source="a" target="s"><data key="r">10000000</data></edge>
<edge source="b" target="s"><data key="r">20000000</data></edge>
</graph></graphml>
"""


def _simulated(group: runs.RunGroup, folders: Folders, cache: ContentCache) -> runs.NetworkTables:
    (cache.folder).mkdir(exist_ok=True)
    if not (cache.folder / "engines").exists():
        (cache.folder / "engines").symlink_to(folders.engines, target_is_directory=True)
    return runs.simulate_runs(group, cache=cache, workers=1, timeout_s=60.0, on_progress=lambda _: None)


def _tables(tables: runs.NetworkTables) -> object:
    """Rows in an order that does not depend on ids, which hash versions."""
    rows = sorted(tables.runs, key=lambda row: row.configuration)
    order = {row.run_id: place for place, row in enumerate(rows)}

    def numbered(table: pa.Table) -> list[list[Any]]:
        listed = [{**row, "run_id": order[row["run_id"]]} for row in table.to_pylist()]
        return sorted((list(row.values()) for row in listed), key=lambda values: values[:4])

    return [rows, numbered(tables.flows), numbered(tables.hops)]


def run_outputs(folders: Folders) -> Iterator[Output]:
    """Rows of groups of runs, from the simulator and from the cache, and the theory beside them."""
    cache = ContentCache(folder=folders.scratch / "cache")
    for group in GROUPS:
        yield group.name, _tables(_simulated(group, folders, cache))
    yield "grid from the cache", _tables(_simulated(GROUPS[0], folders, cache))
    yield (
        "run of a configuration",
        [
            runs.run_of(json.loads(run.configuration())).configuration()
            for group in GROUPS
            for run in runs.runs_of(group)
        ],
    )
    yield "no configuration", outcome(lambda: runs.run_of({}))
    model = runs.model_of(runs.runs_of(GROUPS[1])[0])
    ways = model.data.routes
    yield "stream numbers", runs.stream_numbers(model, ways[:, 0], ways[:, 1])
    wrong: tuple[dict[str, object], ...] = (
        {"name": "a b"},
        {"name": "a", "network": "ring"},
        {"name": "a", "loads": ()},
        {"name": "a", "sizes": ("odd",)},
        {"name": "a", "samples": 0},
        {"name": "a", "duration_s": 0.5},
    )
    for number, changes in enumerate(wrong):
        yield f"wrong group {number}", outcome(lambda c=changes: runs.RunGroup(**c))  # type: ignore[arg-type]


def tcp_outputs(folders: Folders) -> Iterator[Output]:
    """Rows of a TCP run in ns-3."""
    yield "tcp", _tables(_simulated(TCP_GROUP, folders, ContentCache(folder=folders.scratch / "cache")))


def _scenario(load: float = 0.5, **options: object) -> simulation.Scenario:
    flows = traffic.traffic_of(
        TREE,
        traffic.Pattern(load=load, density=0.4, seed=3),
        arrivals=traffic.Arrivals(kind="ge", scv=20.0),
        sizes=traffic.PacketSizes(kind="uniform", mean_bytes=500, spread=0.5),
    )
    schedule = traffic.draw_schedule(flows, duration_s=0.05, seed=1)
    settings = simulation.SimulationOptions(warm_up_s=0.01, **options)  # type: ignore[arg-type]
    return simulation.make_scenario(TREE, flows, schedule, options=settings)


def simulation_outputs(folders: Folders) -> Iterator[Output]:
    """What the packet simulator counts, and scenarios that are rejected."""
    for name, options in {
        "acknowledged": {},
        "one way": {"has_acks": False},
        "short queues": {"queue_capacity": 2},
    }.items():
        scenario = _scenario(**options)
        yield f"{name} file", scenario_bytes(scenario)
        yield name, simulation.simulate(scenario, engine_folder=folders.engines)
    yield "no result", outcome(lambda: read_result(b"", _scenario()))
    yield (
        "no packets",
        outcome(
            lambda: simulation.make_scenario(
                TREE,
                _scenario().traffic,
                _scenario().schedule,
                options=simulation.SimulationOptions(warm_up_s=9.0),
            )
        ),
    )
    yield "wrong queue", outcome(lambda: simulation.SimulationOptions(queue_capacity=-1))
    yield "wrong warm-up", outcome(lambda: simulation.SimulationOptions(warm_up_s=-1.0))
    yield (
        "past its limit",
        outcome(lambda: simulation.simulate(_scenario(timeout_s=1e-5), engine_folder=folders.engines)),
    )


def workload_outputs(folders: Folders) -> Iterator[Output]:
    """Topologies, routes, flows, packets, traces and queueing estimates."""
    yield from _topology_outputs(folders.scratch)
    yield from _traffic_outputs()
    yield from _trace_outputs(folders.scratch)
    yield from _queueing_outputs()


def _topology_outputs(folder: Path) -> Iterator[Output]:
    two_tier = topology.two_tier_tree(
        topology.TwoTierTree(edges=4, cores=2, hosts_per_edge=3, parallel_links=2)
    )
    yield "fat tree", TREE
    yield "two tiers", two_tier
    for kind in ROUTINGS:
        ends = np.arange(8, dtype=np.int32)
        yield f"routes {kind}", route_flows(TREE, ends, ends[::-1].copy(), Routing(kind=kind, seed=2))
    documents: dict[str, object] = {
        "plain": {"nodes": NODES, "links": LINKS},
        "no links": {"nodes": NODES, "links": []},
        "no rate": {"nodes": NODES, "links": [{"source": "a", "target": "s"}]},
        "unknown end": {"nodes": NODES, "links": [{**LINKS[0], "source": "z"}]},
        "tier of a host": {"nodes": [{"id": "a", "host": True, "tier": 1}], "links": []},
        "one name twice": {"nodes": [*NODES, NODES[0]], "links": LINKS},
        "loop": {"nodes": NODES, "links": [*LINKS, {**LINKS[0], "source": "s"}]},
        "no way": {"nodes": NODES, "links": LINKS[:1]},
        "rate": {"nodes": NODES, "links": [{**LINKS[0], "rate_bps": 0}, LINKS[1]]},
        "delay": {"nodes": NODES, "links": [{**LINKS[0], "delay_ns": -1}, LINKS[1]]},
        "tiers": {"nodes": [*NODES[:1], {"id": "s", "tier": 0}], "links": []},
    }
    texts = {f"{name}.json": json.dumps(document) for name, document in documents.items()}
    texts |= {
        "text.json": "text",
        "marks.json": "{" * 3_000_000,
        "tree.graphml": GRAPHML,
        "directed.graphml": GRAPHML.replace("undirected", "directed"),
        "no rate.graphml": GRAPHML.replace('attr.name="rate_bps"', 'attr.name="speed"'),
        "text.graphml": "text",
        "empty.graphml": "<graphml/>",
        "tree.txt": "",
    }
    for name, text in texts.items():
        path = folder / name
        path.write_text(text)
        yield f"file {name}", outcome(lambda path=path: topology.read_topology(path))
    for name, make in {
        "pods": lambda: topology.fat_tree(topology.FatTree(pods=3)),
        "edges": lambda: topology.two_tier_tree(topology.TwoTierTree(edges=0, cores=1, hosts_per_edge=1)),
        "size": lambda: topology.fat_tree(topology.FatTree(pods=1 << 20)),
        "host": lambda: topology.topology_of_links("x", host_count=2, tiers=[0, 0], links=[]),
        "routing": lambda: Routing(kind="magic"),
    }.items():
        yield f"wrong {name}", outcome(make)


def _traffic_outputs() -> Iterator[Output]:
    for pattern in traffic.PAPER_PATTERNS:
        flows = traffic.traffic_of(TREE, traffic.Pattern(kind=pattern, load=0.5))
        yield f"pattern {pattern}", flows
    cases = {
        "poisson fixed": (traffic.Arrivals(), traffic.PacketSizes()),
        "ge uniform": (traffic.Arrivals(kind="ge", scv=4.0), traffic.PacketSizes(kind="uniform")),
        "on off bimodal": (
            traffic.Arrivals(kind="on_off", scv=3.0, on_share=0.3),
            traffic.PacketSizes(kind="bimodal", values_bytes=(64, 1400), shares=(0.6, 0.4)),
        ),
        "on off empirical": (
            traffic.Arrivals(kind="on_off", scv=6.0, on_share=0.8),
            traffic.PacketSizes(kind="empirical", values_bytes=(40, 576, 1500), shares=(0.5, 0.2, 0.3)),
        ),
    }
    for name, (arrivals, sizes) in cases.items():
        flows = traffic.traffic_of(TREE, traffic.Pattern(kind="incast"), arrivals=arrivals, sizes=sizes)
        yield name, [sizes.moments(30), traffic.draw_schedule(flows, duration_s=0.05, seed=9)]
    for number, make in enumerate(
        (
            lambda: traffic.Pattern(kind="ring"),
            lambda: traffic.Pattern(load=2.0),
            lambda: traffic.Pattern(density=0.0),
            lambda: traffic.Arrivals(kind="odd"),
            lambda: traffic.Arrivals(kind="ge", scv=0.5),
            lambda: traffic.Arrivals(kind="on_off", scv=3.0, on_share=2.0),
            lambda: traffic.PacketSizes(kind="odd"),
            lambda: traffic.PacketSizes(mean_bytes=0),
            lambda: traffic.PacketSizes(kind="bimodal", values_bytes=(1,), shares=(0.5, 0.5)),
            lambda: traffic.PacketSizes(kind="uniform", spread=2.0),
            lambda: traffic.draw_schedule(
                traffic.traffic_of(TREE, traffic.Pattern()), duration_s=0.0, seed=1
            ),
        )
    ):
        yield f"wrong traffic {number}", outcome(make)


def _trace_outputs(folder: Path) -> Iterator[Output]:
    trace = traffic.generate_trace(traffic.TraceOptions(duration_s=0.05, load=0.1), seed=2)
    yield "generated trace", trace
    for ending in ("csv", "parquet"):
        path = folder / f"trace.{ending}"
        traffic.write_trace(trace, path)
        yield f"read {ending}", traffic.read_trace(path, topology=TREE)
    yield "flows of a trace", traffic.traffic_of_trace(trace, TREE)
    yield "replicated trace", outcome(lambda: traffic.replicate_trace(trace, hosts=20, seed=1))
    yield "no hosts", outcome(lambda: traffic.replicate_trace(trace, hosts=2, seed=1))
    yield "wrong seed", outcome(lambda: traffic.replicate_trace(trace, hosts=20, seed=-1))
    for number, text in enumerate(WRONG_TRACES):
        path = folder / f"wrong{number}.csv"
        path.write_text(text)
        yield f"wrong trace {number}", outcome(lambda path=path: traffic.read_trace(path, topology=TREE))
    table = pa.table({"time_s": ["a"], "source": [0], "destination": [1], "bytes": [9]})
    pq.write_table(table, folder / "wrong.parquet")
    yield "wrong parquet", outcome(lambda: traffic.read_trace(folder / "wrong.parquet"))
    (folder / "trace.txt").write_text("x")
    yield "other ending", outcome(lambda: traffic.read_trace(folder / "trace.txt"))
    yield "no file", outcome(lambda: traffic.read_trace(folder / "none.csv"))
    for number, changes in enumerate(({"duration_s": 0.0}, {"load": 2.0}, {"duration_s": 0.1, "load": 0.0})):
        yield (
            f"wrong options {number}",
            outcome(
                lambda c=changes: traffic.TraceOptions(**c)  # type: ignore[arg-type]
            ),
        )


def _queueing_outputs() -> Iterator[Output]:
    flows = [
        queueing.Flow(rate_per_s=0.2, service_s=1.0),
        queueing.Flow(rate_per_s=2.0, service_s=0.1, arrival_scv=4.0),
        queueing.Flow(rate_per_s=0.1, service_s=2.0, service_scv=1.0),
    ]
    yield "mean lengths", queueing.mean_lengths(flows)
    yield "waits", queueing.waits_s(flows)
    yield (
        "finite",
        [
            queueing.finite_length(busy / (1 - busy) if busy != 1.0 else 1e12, busy, capacity)
            for busy in (0.3, 0.9, 0.999999999, 1.0, 1.4)
            for capacity in (1, 2, 129)
        ],
    )
    yield (
        "variations",
        [
            queueing.merged_scv([1.0, 3.0], [1.0, 4.0]),
            queueing.split_scv(0.3, 4.0),
            queueing.departure_scv(0.7, 4.0, 0.5),
        ],
    )
    for number, make in enumerate(
        (
            lambda: queueing.mean_lengths([queueing.Flow(rate_per_s=1.2, service_s=1.0)]),
            lambda: queueing.Flow(rate_per_s=-1.0, service_s=1.0),
            lambda: queueing.finite_length(1.0, 0.5, 0),
        )
    ):
        yield f"wrong queue {number}", outcome(make)
    for name, acknowledged in (("acknowledged", True), ("one way", False)):
        pattern = traffic.Pattern(load=0.6, density=0.5, seed=1)
        sizes = traffic.PacketSizes(kind="bimodal", values_bytes=(64, 1400), shares=(0.6, 0.4))
        load = traffic.traffic_of(TREE, pattern, arrivals=traffic.Arrivals(kind="ge", scv=4.0), sizes=sizes)
        model = queueing.model_network(TREE, load, has_acks=acknowledged)
        for estimate in queueing.ESTIMATES:
            waits = queueing.stream_waits(model, estimate)
            latency = queueing.flow_latency(model, waits)
            yield (
                f"{name} {estimate}",
                [
                    latency,
                    queueing.hop_waits_s(model, model.data, waits),
                    queueing.wait_by_stream_s(model, waits, model.data, 500.0),
                    queueing.rtt_quantile_s(latency, 0.99),
                ],
            )
