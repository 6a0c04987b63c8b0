"""Rows that fit the tables, and engines that give them in no time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from assets.settings import Settings, ignore_progress
from assets.steps import STEPS
from models.catalogue import PredictorSpec
from pipelines.accelerators.dataset import AcceleratorGroup, AcceleratorTables
from pipelines.base.identity import content_hash
from pipelines.base.workers import Progress
from pipelines.dataset.features import FeatureTables
from pipelines.dataset.labelling import DesignTables, LabelTables
from pipelines.fabric import Fabric, PlacementGroup
from pipelines.fabric.dataset import FabricTables
from pipelines.network.runs import NetworkTables, RunGroup
from pipelines.pragmas.search import exploration_ids
from pipelines.rtl.reuse.dataset import SimulationGroup
from pipelines.schemas import (
    CROSS_CHECKS,
    OK,
    CdfgEdgeRow,
    CdfgNodeRow,
    CrossCheckRow,
    DesignRow,
    DirectiveOutcomeRow,
    FeatureRow,
    InputRow,
    LabelRow,
    LeaderboardRow,
    LoopProfileRow,
    LoopRow,
    NetworkFlowRow,
    NetworkHopRow,
    NetworkRunRow,
    PragmaDesignRow,
    ProgramFactsRow,
    ProgramRow,
    RunFeatureRow,
    RunRow,
    SimulationRow,
    table_spec,
)

FEW_OVERRIDES = (
    "hls.memory_delay=[2,10]",
    "hls.pipeline=[false]",
    "run.workers=1",
    "models.trained=[tenset-mlp]",
)


OK_ROW = {"status": "ok"}
VALUES: dict[str, dict[str, Any]] = {
    "designs": {
        **OK_ROW,
        "directives": "[]",
        "clock_period_ns": 10.0,
        "liberty": "osu018",
        "tool": "simfoundry-hls",
        "tool_version": "1",
        "rtl_sha256": "0" * 64,
        "rtl_bytes": 100,
        "state_count": 3,
        "module_count": 1,
        "multiplexer_count": 1,
        "multiplexer_area_um2": 1.0,
        "estimated_area_um2": 2.0,
        "critical_path_ns": 3.0,
        "functional_unit_count": 1,
        "register_bits": 32,
        "memory_port_conflict_count": 0,
        "initiation_intervals": "{}",
        "hls_wall_s": 0.25,
    },
    "labels": {
        **OK_ROW,
        "tool": "pyosys",
        "tool_version": "0.70",
        "liberty": "osu018",
        "flip_flop_count": 40,
        "cell_count": 100,
        "cells_by_type": "{}",
        "delay_ns": 3.0,
        "leakage_mw": 1e-4,
        "synthesis_wall_s": 0.5,
    },
    "runs": {
        **OK_ROW,
        "data_id": "d0",
        "engine": "cycle_model",
        "engine_version": "1",
        "outputs_equal": True,
        "power_status": "ok",
        "power_mw": 2.0,
        **dict.fromkeys(("build_wall_s", "simulate_wall_s", "native_wall_s"), 0.1),
    },
    "cross_checks": {
        **OK_ROW,
        "data_id": "d0",
        "value": 2.0,
        "reference": 2.0,
        "deviation": 0.0,
        "passed": True,
        "tool": "opensta",
        "tool_version": "1",
    },
    "program_facts": {
        "source_lines": 10,
        "source_tokens": 50,
        "loop_count": 2,
        "loop_depth": 2,
        "operation_count": 3,
        "operations": '{"add":1,"load":2}',
        "array_operation_share": 1.0,
        "dynamic_class": "I",
    },
    "loops": {
        "loop": "L0",
        "depth": 1,
        "kind": "for",
        "iterator": "i",
        "trip_count": 8,
        "step": 1,
        "line": 1,
        "is_innermost": True,
        **dict.fromkeys(("load_count", "store_count", "arithmetic_count", "branch_count", "array_count"), 1),
    },
    "cdfg_nodes": {"block": "b0", "opcode": "add", "width_bits": 32, "line": 1, "latency_cycles": 1},
    "cdfg_edges": {"kind": "data"},
    "features": {**OK_ROW, "trips_known": True},
    "run_features": OK_ROW,
    "network_runs": {
        **OK_ROW,
        "group": "small-16",
        "network": "fat-tree-16",
        "protocol": "udp",
        "is_acknowledged": True,
        "tool": "network-simulator",
        "tool_version": "1",
        "flow_count": 2,
        "packet_count": 20,
        "drop_count": 1,
        "offered_utilisation": 0.5,
        "busiest_utilisation": 0.5,
        "delay_mean_ns": 700.0,
        "rtt_mean_ns": 1500.0,
        "wall_s": 0.5,
    },
    "network_flows": {
        "packet_count": 10,
        "delay_mean_ns": 700,
        "rtt_mean_ns": 1500,
        "base_ns": 1000,
        "entropy_ns": 1600,
        "tree_ns": 1400,
    },
    "network_hops": {"packet_count": 10, "wait_mean_ns": 250, "entropy_wait_ns": 300, "tree_wait_ns": 200},
    "fabric_graphs": {
        **OK_ROW,
        "family": "gemm",
        "name": "gemm_0000.0",
        "node_count": 2,
        "edge_count": 1,
        "slowest_cycles": 10,
    },
    "fabric_nodes": {"work": 1.0},
    "fabric_edges": {"source": 0, "target": 1, "words": 1.0},
    "placements": {**OK_ROW, "units": "0 1", "routes": "e", "throughput": 0.5, "wall_s": 0.1},
    "accelerators": {**OK_ROW, "configuration": "{}"},
    "compiled_networks": {
        **OK_ROW,
        **{"family": "mlp", "scale": "tiny", "dataflow": "weight"},
        **{f"split_{name}": "train" for name in ("random", "scale", "arch1", "arch2")},
    },
    "accelerator_labels": {
        **OK_ROW,
        **{"outputs_equal": True, "energy_nj": 1.0, "core_energy_nj": 1.0, "layer_energy_nj": (1.0,)},
        **{"layer_cycles": (1,), "latency_cycles": 1, "memory_energy_nj": 0.0, "power_mw": 1.0},
    },
    "simulations": {
        **OK_ROW,
        "design": content_hash("chain"),
        "family": "chain",
        "design_size": 1,
        "engine": "reuse",
        "stimuli": 1,
        "digest": "d",
    },
    "pragma_designs": {
        **OK_ROW,
        "kernel": "gemm-float",
        "method": "nlp_dse",
        "target": "simfoundry",
        "decision": "evaluated",
        "configuration": "{}",
        "applied": True,
    },
}
"""Values of rows by table that are the same in all of them."""


def make_row(table: str, **values: Any) -> Any:
    """A row of a table: other columns have the value of `VALUES`, are null, or zero where null is refused."""
    zeros: dict[str, Any] = {"string": "", "int64": 0, "double": 0.0, "bool": False}
    spec = table_spec(table)
    defaults = {c.name: None if c.nullable else zeros.get(str(c.arrow_type), ()) for c in spec.columns}
    return spec.row(**{**defaults, **VALUES[table], **values})


def of_design(design: DesignRow, changes: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"design_id": design.design_id, "suite": design.suite, **values, **changes}


def make_design(program: ProgramRow, delay: int, **changes: Any) -> DesignRow:
    identity = {"design_id": content_hash(program.program_id, delay), "program_id": program.program_id}
    delays = dict.fromkeys(("memory_read_delay_cycles", "memory_write_delay_cycles"), delay)
    return make_row("designs", **identity | {"suite": program.suite} | delays | changes)


def make_label(design: DesignRow, **changes: Any) -> LabelRow:
    area_um2 = 1000.0 + design.memory_read_delay_cycles
    return make_row("labels", **of_design(design, changes, area_um2=area_um2))


def make_run(design: DesignRow, **changes: Any) -> RunRow:
    delay = design.memory_read_delay_cycles
    return make_row("runs", **of_design(design, changes, latency_cycles=100 * delay, energy_nj=2.0 * delay))


def make_check(design: DesignRow, check: str, **changes: Any) -> CrossCheckRow:
    return make_row("cross_checks", **of_design(design, changes, check=check))


def make_facts(program: ProgramRow) -> ProgramFactsRow:
    return make_row("program_facts", program_id=program.program_id, suite=program.suite)


def make_loop(program: ProgramRow) -> LoopRow:
    return make_row("loops", program_id=program.program_id, suite=program.suite)


def make_node(design: DesignRow, index: int) -> CdfgNodeRow:
    return make_row("cdfg_nodes", **of_design(design, {}, node_index=index, start_cycle=index))


def make_edge(design: DesignRow, target: int = 1) -> CdfgEdgeRow:
    return make_row("cdfg_edges", **of_design(design, {}, target_index=target))


def make_network_run(run_id: str, **changes: Any) -> NetworkRunRow:
    return make_row("network_runs", run_id=run_id, **changes)


def make_network_flow(run_id: str, flow: int, **changes: Any) -> NetworkFlowRow:
    return make_row("network_flows", run_id=run_id, flow=flow, **changes)


def make_network_hop(run_id: str, flow: int, hop: int, **changes: Any) -> NetworkHopRow:
    place = {"run_id": run_id, "flow": flow, "hop": hop, "packet": ("data", "ack")[hop]}
    return make_row("network_hops", **place | changes)


def make_pragma_design(exploration: str, step: int, **changes: Any) -> PragmaDesignRow:
    cycles = {"bound_cycles": 100.0 + step, "latency_cycles": 200 - step, "best_cycles": 200 - step}
    return make_row("pragma_designs", **{"exploration_id": exploration, "step": step} | cycles | changes)


def _tell(on_progress: Callable[[Progress], None], step: str, total: int = 1) -> None:
    on_progress(Progress(step=step, done=total, total=total, failed=0, latest="last"))


def plan_designs(
    programs: Sequence[ProgramRow], space: Any, *, on_progress: Callable[[Progress], None], **_: Any
) -> DesignTables:
    designs = [make_design(p, delay) for p in programs if p.status == OK for delay in space.memory_delay]
    _tell(on_progress, "designs", len(designs))
    outcome = '{"kind":"pipeline","loop":"L0"}'
    return DesignTables(
        designs=designs,
        directive_outcomes=[
            DirectiveOutcomeRow(design_id=d.design_id, directive=outcome, applied=True, reason="interval 2")
            for d in designs
        ],
    )


def label_designs(programs: Any, designs: Sequence[DesignRow], **_: Any) -> LabelTables:
    return LabelTables(labels=[make_label(d) for d in designs], runs=[make_run(d) for d in designs])


def cross_check_designs(
    programs: Any, designs: Sequence[DesignRow], made: LabelTables, **_: Any
) -> list[CrossCheckRow]:
    return [make_check(designs[0], check) for check in CROSS_CHECKS]


def describe_inputs(programs: Any, designs: Any, runs: Any, options: Any, **_: Any) -> list[InputRow]:
    return []


def extract_features(programs: Sequence[ProgramRow], designs: Sequence[DesignRow], **_: Any) -> FeatureTables:
    return FeatureTables(
        program_facts=[make_facts(p) for p in programs if p.status == OK],
        loops=[make_loop(p) for p in programs if p.status == OK],
        cdfg_nodes=[make_node(d, index) for d in designs for index in (0, 1)],
        cdfg_edges=[make_edge(d) for d in designs],
    )


def extract_design_features(
    programs: Sequence[ProgramRow], designs: Sequence[DesignRow], **_: Any
) -> tuple[list[FeatureRow], list[LoopProfileRow]]:
    return [
        make_row("features", **of_design(d, {}, estimated_cycles=100 * d.memory_read_delay_cycles))
        for d in designs
        if d.status == "ok"
    ], []


def extract_run_features(
    programs: Any, designs: Sequence[DesignRow], runs: Sequence[RunRow], **_: Any
) -> list[RunFeatureRow]:
    known = {design.design_id for design in designs}
    return [
        make_row(
            "run_features",
            **{"design_id": run.design_id, "data_id": run.data_id, "suite": run.suite},
            cycles=run.latency_cycles,
        )
        for run in runs
        if run.status == "ok" and run.design_id in known
    ]


def runtime_data(program: ProgramRow, run: RunRow, cache: Any) -> dict[str, str]:
    return {"n": str(run.seed)}


def simulate_runs(group: RunGroup, *, on_progress: Callable[[Progress], None], **_: Any) -> NetworkTables:
    runs = sorted(content_hash(group.name, number) for number in range(2))
    _tell(on_progress, "network", 2)
    flows = [make_network_flow(run, flow) for run in runs for flow in (0, 1)]
    hops = [make_network_hop(run, flow, hop) for run in runs for flow in (0, 1) for hop in (0, 1)]
    return NetworkTables(
        runs=[make_network_run(run, group=group.name) for run in runs],
        flows=table_spec("network_flows").to_arrow(flows),
        hops=table_spec("network_hops").to_arrow(hops),
    )


def make_placements(
    group: PlacementGroup, machine: Fabric, *, on_progress: Callable[[Progress], None], **_: Any
) -> FabricTables:
    _tell(on_progress, "fabric")
    graph = {"graph_id": content_hash(group.name)}
    fabric = {"fabric": machine.name, "configuration": machine.model_dump_json()}
    nodes = (("gemm", "compute"), ("buffer", "memory"))
    return FabricTables(
        graphs=[make_row("fabric_graphs", **graph, **fabric, group=group.name, layer=graph["graph_id"])],
        nodes=[
            make_row("fabric_nodes", **graph, node=number, name=kind, kind=kind, unit_type=unit)
            for number, (kind, unit) in enumerate(nodes)
        ],
        edges=[make_row("fabric_edges", **graph)],
        placements=[
            make_row("placements", **graph, placement_id=content_hash(graph["graph_id"], "placement"))
        ],
    )


def make_accelerators(
    group: AcceleratorGroup, *, on_progress: Callable[[Progress], None], **_: Any
) -> AcceleratorTables:
    _tell(on_progress, "accelerators")
    key = content_hash(group.name)
    ids = {"compiled_id": key, "accelerator_id": key}
    return AcceleratorTables(
        accelerators=[make_row("accelerators", accelerator_id=key)],
        compiled=[make_row("compiled_networks", **ids, group=group.name)],
        labels=[make_row("accelerator_labels", **ids)],
    )


def make_simulations(
    group: SimulationGroup, *, on_progress: Callable[[Progress], None], **_: Any
) -> list[SimulationRow]:
    _tell(on_progress, "simulations")
    return [make_row("simulations", simulation_id=content_hash(group.name), cycles=group.cycles)]


def explore_suite(
    options: Any, suites: Any, *, cache: Any, on_progress: Callable[[Progress], None]
) -> list[PragmaDesignRow]:
    _tell(on_progress, "pragmas")
    names = sorted(exploration_ids(options, suites, cache))
    return [make_pragma_design(name, step) for name in names for step in (0, 1)]


def train(spec: PredictorSpec, data_dir: Path, options: Any, *, seed: int, loggers: Any = ()) -> Any:
    del loggers
    row = LeaderboardRow(
        predictor=spec.name,
        version="v",
        level=spec.task.level,
        target="area_um2",
        split=getattr(options, "split", "by_kernel_v2"),
        part="test",
        metric="mape",
        value=0.25,
        interval_low=0.2,
        interval_high=0.3,
        row_count=4,
    )
    return SimpleNamespace(leaderboard=[row], workloads=(), costs=None)


def fill_tables(settings: Settings, kept: Path, *, without: Sequence[str] = ()) -> Settings:
    """Make every table of the fixture `settings` but those of some steps; the first time only."""
    folder, data_dir = kept / "-".join(("made", *without)), settings.deployment.data_dir
    if not folder.exists():
        for step in (s for s in STEPS if s.is_active(settings) and s.name not in without):
            for partition in step.partitions(settings):
                step.make(settings, partition, ignore_progress)
        shutil.copytree(data_dir, folder)
    elif not data_dir.exists():
        shutil.copytree(folder, data_dir)
    return settings
