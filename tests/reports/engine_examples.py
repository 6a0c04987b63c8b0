"""Rows of a few accelerators, placements, RTL simulations and runs under TCP."""

from __future__ import annotations

from typing import Any

Rows = dict[str, list[dict[str, Any]]]

_OK = {"status": "ok", "reason": None}
_REFUSED = {"status": "rejected", "reason": "too many weights"}


def accelerator_rows() -> Rows:
    """Three compiled networks with two labels, and two fixed-point pipelines with one."""
    network = {"accelerator_id": "a", "dataflow": "weight", "parameter_count": 100, "multiplications": 400}
    label = {"accelerator_id": "a", "tool": "netlist-simulator", "tool_version": "1", "outputs_equal": True}
    fixed = {"parameter_count": 40, "reuse_factor": 1, "family": "rnn"}
    return {
        "compiled_networks": [
            {"compiled_id": "c0", "family": "mlp", "estimated_cycles": 99, **network, **_OK},
            {"compiled_id": "c1", "family": "mlp", "estimated_cycles": 220, **network, **_OK},
            {"compiled_id": "c2", "family": "cnn", "estimated_cycles": 10, **network, "dataflow": "output"}
            | _OK,
        ],
        "accelerator_labels": [
            {"compiled_id": "c0", "latency_cycles": 100, "power_mw": 20.0, "energy_nj": 40.0, **label, **_OK}
            | {"memory_energy_nj": 4.0},
            {"compiled_id": "c1", "latency_cycles": 200, "power_mw": 30.0, "energy_nj": 60.0, **label, **_OK}
            | {"memory_energy_nj": 6.0, "outputs_equal": False},
            {"compiled_id": "c2", **_REFUSED},
        ],
        "fixed_networks": [
            {"fixed_id": "f0", **fixed, **_OK, "power_mw": 5.0, "energy_nj": 0.5, "area_um2": 900.0}
            | {"delay_ns": 4.0, "latency_cycles": 3, "outputs_equal": True, "tool": "netlist-simulator"},
            {"fixed_id": "f1", **fixed, **_REFUSED},
        ],
    }


def fabric_rows() -> Rows:
    """A graph with four placements, whose second-best the heuristic ranks first."""
    graph = {"graph_id": "g", "fabric": "past", "family": "ffn", "node_count": 6, "edge_count": 5}
    ranked = ((0, 0.2, 0.1), (8, 0.4, 0.3), (9, 0.6, 0.9), (9, 0.8, 0.5))
    return {
        "fabric_graphs": [graph | _OK | {"stage_count": 2, "slowest_cycles": 300}],
        "placements": [
            {"placement_id": f"p{n}", "graph_id": "g", "moves": moves, "throughput": throughput, **_OK}
            | {"heuristic_throughput": heuristic, "overuse": 1.5 if n == 0 else 0.0}
            for n, (moves, throughput, heuristic) in enumerate(ranked)
        ],
    }


def simulation_rows() -> Rows:
    """Two designs by three engines; in the second design one engine has other outputs."""
    times_ns = {"verilator": (200.0, 400.0), "reuse": (50.0, 300.0), "arc": (100.0, 800.0)}
    return {
        "simulations": [
            {"simulation_id": f"{engine}{n}", "design": f"d{n}", "family": "mesh", "engine": engine, **_OK}
            | {"cycles": 10, "stimuli": 1, "seed": 0, "cycle_cpu_ns": time_ns, "build_wall_s": 2.0}
            | {"digest": "odd" if (engine, n) == ("arc", 1) else "same", "machine": "m", "register_bits": 8}
            | {"instance_nodes": 9, "program_bytes": 1000}
            for engine, times in times_ns.items()
            for n, time_ns in enumerate(times)
        ]
    }


def protocol_rows() -> Rows:
    """One scenario under UDP and TCP, one under UDP alone, and a run that failed."""

    def run(run_id: str, protocol: str, rtt_us: float, **changes: Any) -> dict[str, Any]:
        row = {"run_id": run_id, "network": "rack", "hosts": 4, "pattern": "incast", "arrivals": "poisson"}
        row |= {"load": 0.5, "protocol": protocol, "is_acknowledged": True, "flow_count": 1, **_OK}
        row |= {"packet_count": 200, "drop_count": 4 if protocol == "tcp" else 0, "rtt_p99_ns": 9000.0}
        row |= {"rtt_mean_ns": rtt_us * 1000, "offered_utilisation": 0.5, "busiest_utilisation": 0.5}
        return row | {"tool": "ns3-simulator", "tool_version": "1"} | changes

    failed = {"status": "timeout", "reason": "the simulation took longer than 60 s"}
    runs = [
        run("u", "udp", 20.0),
        run("t", "tcp", 30.0),
        run("other", "udp", 90.0, load=0.9),
        run("unacknowledged", "udp", 90.0, is_acknowledged=False),
        run("late", "tcp", 500.0, **failed),
    ]
    flow = {"flow": 0, "delay_mean_ns": 1000.0, "entropy_ns": 9000, "tree_ns": 8000}
    flows = [{"run_id": row["run_id"], "rtt_mean_ns": row["rtt_mean_ns"], **flow} for row in runs]
    return {"network_runs": runs, "network_flows": flows}


def engine_rows() -> Rows:
    """Everything together."""
    return {**accelerator_rows(), **fabric_rows(), **simulation_rows(), **protocol_rows()}
