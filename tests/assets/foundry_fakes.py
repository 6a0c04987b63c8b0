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
from pipelines.fabric.dataset import FabricTables, PlacementGroup
from pipelines.network.runs import NetworkTables, RunGroup
from pipelines.pragmas.search import exploration_ids
from pipelines.rtl.reuse.dataset import SimulationGroup
from pipelines.schemas import (
    CROSS_CHECKS,
    OK,
    AcceleratorLabelRow,
    AcceleratorRow,
    CdfgEdgeRow,
    CdfgNodeRow,
    CompiledNetworkRow,
    CrossCheckRow,
    DesignRow,
    DirectiveOutcomeRow,
    FabricEdgeRow,
    FabricGraphRow,
    FabricNodeRow,
    FeatureRow,
    LabelRow,
    LeaderboardRow,
    LoopProfileRow,
    LoopRow,
    NetworkFlowRow,
    NetworkHopRow,
    NetworkRunRow,
    PlacementRow,
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


def _filled(table: str, values: dict[str, Any]) -> dict[str, Any]:
    """Values for every declared column; those not given are null, or zero where null is not allowed."""
    zeros: dict[str, Any] = {"string": "", "int64": 0, "double": 0.0, "bool": False}
    columns = table_spec(table).columns
    defaults = {c.name: None if c.nullable else zeros.get(str(c.arrow_type), ()) for c in columns}
    return {**defaults, **values}


def make_design(program: ProgramRow, delay: int, **changes: Any) -> DesignRow:
    values: dict[str, Any] = {
        "design_id": content_hash(program.program_id, delay),
        "program_id": program.program_id,
        "suite": program.suite,
        "directives": "[]",
        "memory_read_delay_cycles": delay,
        "memory_write_delay_cycles": delay,
        "clock_period_ns": 10.0,
        "liberty": "osu018",
        "tool": "simfoundry-hls",
        "tool_version": "1",
        "status": "ok",
        "reason": None,
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
    }
    return DesignRow(**_filled("designs", {**values, **changes}))


def make_label(design: DesignRow, **changes: Any) -> LabelRow:
    values: dict[str, Any] = {
        "design_id": design.design_id,
        "tool": "pyosys",
        "tool_version": "0.70",
        "suite": design.suite,
        "liberty": "osu018",
        "status": "ok",
        "reason": None,
        "area_um2": 1000.0 + design.memory_read_delay_cycles,
        "flip_flop_count": 40,
        "cell_count": 100,
        "cells_by_type": "{}",
        "delay_ns": 3.0,
        "leakage_mw": 1e-4,
        "synthesis_wall_s": 0.5,
    }
    return LabelRow(**_filled("labels", {**values, **changes}))


def make_run(design: DesignRow, **changes: Any) -> RunRow:
    values: dict[str, Any] = {
        "design_id": design.design_id,
        "data_id": "d0",
        "suite": design.suite,
        "engine": "cycle_model",
        "engine_version": "1",
        "seed": 0,
        "status": "ok",
        "reason": None,
        "latency_cycles": 100 * design.memory_read_delay_cycles,
        "outputs_equal": True,
        "power_status": "ok",
        "power_mw": 2.0,
        "energy_nj": 2.0 * design.memory_read_delay_cycles,
        "build_wall_s": 0.1,
        "simulate_wall_s": 0.1,
        "native_wall_s": 0.1,
    }
    return RunRow(**_filled("runs", {**values, **changes}))


def plan_designs(
    programs: Sequence[ProgramRow], space: Any, *, on_progress: Callable[[Progress], None], **_: Any
) -> DesignTables:
    designs = [make_design(p, delay) for p in programs if p.status == OK for delay in space.memory_delays]
    total = len(designs)
    on_progress(Progress(step="designs", done=total, total=total, failed=0, latest="last"))
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


def make_check(design: DesignRow, check: str, **changes: Any) -> CrossCheckRow:
    values: dict[str, Any] = {
        "design_id": design.design_id,
        "data_id": "d0",
        "check": check,
        "suite": design.suite,
        "status": "ok",
        "value": 2.0,
        "reference": 2.0,
        "deviation": 0.0,
        "allowed": 0.0,
        "passed": True,
        "tool": "opensta",
        "tool_version": "1",
    }
    return CrossCheckRow(**_filled("cross_checks", {**values, **changes}))


def cross_check_designs(
    programs: Any, designs: Sequence[DesignRow], made: LabelTables, **_: Any
) -> list[CrossCheckRow]:
    return [make_check(designs[0], check) for check in CROSS_CHECKS]


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
    common = {"status": "ok", "trips_known": True}
    return [
        FeatureRow(
            **_filled(
                "features",
                {
                    **common,
                    "design_id": design.design_id,
                    "suite": design.suite,
                    "estimated_cycles": 100 * design.memory_read_delay_cycles,
                },
            )
        )
        for design in designs
        if design.status == "ok"
    ], []


def extract_run_features(
    programs: Any, designs: Sequence[DesignRow], runs: Sequence[RunRow], **_: Any
) -> list[RunFeatureRow]:
    return [
        RunFeatureRow(
            **_filled(
                "run_features",
                {
                    "design_id": run.design_id,
                    "data_id": run.data_id,
                    "suite": run.suite,
                    "status": "ok",
                    "cycles": run.latency_cycles,
                },
            )
        )
        for run in runs
        if run.status == "ok" and run.design_id in {design.design_id for design in designs}
    ]


def runtime_data(program: ProgramRow, run: RunRow, cache: Any) -> dict[str, str]:
    return {"n": str(run.seed)}


def make_facts(program: ProgramRow) -> ProgramFactsRow:
    return ProgramFactsRow(
        program_id=program.program_id,
        suite=program.suite,
        source_lines=10,
        source_tokens=50,
        loop_count=2,
        loop_depth=2,
        operation_count=3,
        operations='{"add":1,"load":2}',
        array_operation_share=1.0,
        dynamic_class="I",
    )


def make_loop(program: ProgramRow) -> LoopRow:
    counts = dict.fromkeys(
        ("load_count", "store_count", "arithmetic_count", "branch_count", "array_count"), 1
    )
    return LoopRow(
        program_id=program.program_id,
        loop_index=0,
        suite=program.suite,
        loop="L0",
        parent_index=None,
        depth=1,
        kind="for",
        iterator="i",
        trip_count=8,
        step=1,
        line=1,
        is_innermost=True,
        **counts,
    )


def make_node(design: DesignRow, index: int) -> CdfgNodeRow:
    return CdfgNodeRow(
        design_id=design.design_id,
        node_index=index,
        suite=design.suite,
        block="b0",
        opcode="add",
        width_bits=32,
        array=None,
        line=1,
        start_cycle=index,
        latency_cycles=1,
        loop=None,
    )


def make_edge(design: DesignRow, target: int = 1) -> CdfgEdgeRow:
    return CdfgEdgeRow(
        design_id=design.design_id,
        edge_index=0,
        suite=design.suite,
        source_index=0,
        target_index=target,
        kind="data",
        distance=0,
    )


def make_network_run(run_id: str, **changes: Any) -> NetworkRunRow:
    values: dict[str, Any] = {
        "run_id": run_id,
        "group": "small-16",
        "network": "fat-tree-16",
        "protocol": "udp",
        "is_acknowledged": True,
        "status": "ok",
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
    }
    return NetworkRunRow(**_filled("network_runs", {**values, **changes}))


def make_network_flow(run_id: str, flow: int, **changes: Any) -> NetworkFlowRow:
    values: dict[str, Any] = {
        "run_id": run_id,
        "flow": flow,
        "packet_count": 10,
        "drop_count": 0,
        "delay_mean_ns": 700,
        "rtt_mean_ns": 1500,
        "base_ns": 1000,
        "entropy_ns": 1600,
        "tree_ns": 1400,
    }
    return NetworkFlowRow(**_filled("network_flows", {**values, **changes}))


def make_network_hop(run_id: str, flow: int, hop: int, **changes: Any) -> NetworkHopRow:
    values: dict[str, Any] = {
        "run_id": run_id,
        "flow": flow,
        "hop": hop,
        "packet": ("data", "ack")[hop],
        "packet_count": 10,
        "wait_mean_ns": 250,
        "entropy_wait_ns": 300,
        "tree_wait_ns": 200,
    }
    return NetworkHopRow(**_filled("network_hops", {**values, **changes}))


def simulate_runs(group: RunGroup, *, on_progress: Callable[[Progress], None], **_: Any) -> NetworkTables:
    runs = sorted(content_hash(group.name, number) for number in range(2))
    on_progress(Progress(step="network", done=2, total=2, failed=0, latest="last"))
    flows = [make_network_flow(run, flow) for run in runs for flow in (0, 1)]
    hops = [make_network_hop(run, flow, hop) for run in runs for flow in (0, 1) for hop in (0, 1)]
    return NetworkTables(
        runs=[make_network_run(run, group=group.name) for run in runs],
        flows=table_spec("network_flows").to_arrow(flows),
        hops=table_spec("network_hops").to_arrow(hops),
    )


def make_placements(
    group: PlacementGroup, *, on_progress: Callable[[Progress], None], **_: Any
) -> FabricTables:
    on_progress(Progress(step="fabric", done=1, total=1, failed=0, latest="gemm 0"))
    graph = content_hash(group.name)
    of_graph: dict[str, Any] = {
        "graph_id": graph,
        "group": group.name,
        "fabric": group.fabric.name,
        "configuration": group.fabric.model_dump_json(),
        "family": "gemm",
        "name": "gemm_0000.0",
        "layer": graph,
        "status": "ok",
        "node_count": 2,
        "edge_count": 1,
        "slowest_cycles": 10,
    }
    nodes: list[dict[str, Any]] = [
        {"graph_id": graph, "node": number, "name": kind, "kind": kind, "unit_type": unit, "work": 1.0}
        for number, (kind, unit) in enumerate((("gemm", "compute"), ("buffer", "memory")))
    ]
    placement: dict[str, Any] = {
        "placement_id": content_hash(graph, "placement"),
        "graph_id": graph,
        "units": "0 1",
        "routes": "e",
        "status": "ok",
        "throughput": 0.5,
        "wall_s": 0.1,
    }
    edge: dict[str, Any] = {"graph_id": graph, "source": 0, "target": 1, "words": 1.0}
    return FabricTables(
        graphs=[FabricGraphRow(**_filled("fabric_graphs", of_graph))],
        nodes=[FabricNodeRow(**_filled("fabric_nodes", node)) for node in nodes],
        edges=[FabricEdgeRow(**_filled("fabric_edges", edge))],
        placements=[PlacementRow(**_filled("placements", placement))],
    )


def make_accelerators(
    group: AcceleratorGroup, *, on_progress: Callable[[Progress], None], **_: Any
) -> AcceleratorTables:
    on_progress(Progress(step="accelerators", done=1, total=1, failed=0, latest="one"))
    key = content_hash(group.name)
    ids = {"compiled_id": key, "accelerator_id": key, "status": "ok"}
    compiled = {"group": group.name, "family": "mlp", "scale": "tiny", "dataflow": "weight"}
    compiled |= {f"split_{name}": "train" for name in ("random", "scale", "arch1", "arch2")}
    label = {"outputs_equal": True, "energy_nj": 1.0, "core_energy_nj": 1.0, "layer_energy_nj": (1.0,)}
    label |= {"layer_cycles": (1,), "latency_cycles": 1, "memory_energy_nj": 0.0, "power_mw": 1.0}
    hardware = {"configuration": "{}", "accelerator_id": key, "status": "ok"}
    return AcceleratorTables(
        accelerators=[AcceleratorRow(**_filled("accelerators", hardware))],
        compiled=[CompiledNetworkRow(**_filled("compiled_networks", ids | compiled))],
        labels=[AcceleratorLabelRow(**_filled("accelerator_labels", ids | label))],
    )


def make_simulations(
    group: SimulationGroup, *, on_progress: Callable[[Progress], None], **_: Any
) -> list[SimulationRow]:
    on_progress(Progress(step="simulations", done=1, total=1, failed=0, latest="chain 1"))
    values: dict[str, Any] = {
        "simulation_id": content_hash(group.name),
        "design": content_hash("chain"),
        "family": "chain",
        "design_size": 1,
        "engine": "reuse",
        "cycles": group.cycles,
        "stimuli": 1,
        "status": "ok",
        "digest": "d",
    }
    return [SimulationRow(**_filled("simulations", values))]


def make_pragma_design(exploration: str, step: int, **changes: Any) -> PragmaDesignRow:
    values: dict[str, Any] = {
        "exploration_id": exploration,
        "step": step,
        "kernel": "gemm-float",
        "method": "nlp_dse",
        "target": "simfoundry",
        "decision": "evaluated",
        "configuration": "{}",
        "bound_cycles": 100.0 + step,
        "status": "ok",
        "latency_cycles": 200 - step,
        "applied": True,
        "best_cycles": 200 - step,
    }
    return PragmaDesignRow(**_filled("pragma_designs", {**values, **changes}))


def explore_suite(
    options: Any, suites: Any, *, cache: Any, on_progress: Callable[[Progress], None]
) -> list[PragmaDesignRow]:
    on_progress(Progress(step="pragmas", done=1, total=1, failed=0, latest="gemm by nlp_dse"))
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
