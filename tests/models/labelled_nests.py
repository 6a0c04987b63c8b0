"""Small programs whose labels follow a known law, as tables on disk, for tests of predictors."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from models.tenset_mlp import TrainOptions
from pipelines.c import parse_directives
from pipelines.dataset.features import graph_rows, know_design, know_run
from pipelines.hls import HlsOptions, compile_program, design_row
from pipelines.schemas import (
    CdfgEdgeRow,
    CdfgNodeRow,
    DesignRow,
    FeatureRow,
    LabelRow,
    LoopProfileRow,
    LoopRow,
    ProgramRow,
    RunFeatureRow,
    RunRow,
    SplitRow,
    read_table,
    table_spec,
    write_table,
)

SPLIT = "by_kernel_v2"
PARTS = {(1, 2): "validation", (2, 2): "test", (3, 1): "test"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """A perfect nest of `depth` loops of `bound` iterations around `statements` multiply-adds."""

    depth: int
    statements: int
    bound: int

    @property
    def name(self) -> str:
        return f"nest-{self.depth}-{self.statements}"

    @property
    def source(self) -> str:
        names = "ijk"[: self.depth]
        heads = "".join(f"for (int {i} = 0; {i} < {self.bound}; {i}++) " for i in names)
        body = " ".join(["C[i] += A[i] * B[i];"] * self.statements)
        n = self.bound
        return f"void top(int A[{n}], int B[{n}], int C[{n}]) {{ {heads}{{ {body} }} }}\n"

    @property
    def program_id(self) -> str:
        return f"{self.name}-{self.bound}"

    def loops(self) -> list[LoopRow]:
        return [
            LoopRow(
                program_id=self.program_id,
                loop_index=index,
                suite="tests",
                loop=f"L{index}",
                parent_index=index - 1 if index else None,
                depth=index + 1,
                kind="for",
                iterator="ijk"[index],
                trip_count=self.bound,
                step=1,
                line=1,
                is_innermost=index == self.depth - 1,
                load_count=3 * self.statements,
                store_count=self.statements,
                arithmetic_count=2 * self.statements,
                branch_count=0,
                array_count=3,
            )
            for index in range(self.depth)
        ]


NESTS = [Nest(depth=d, statements=s, bound=n) for d in (1, 2, 3) for s in (1, 2, 3) for n in (4, 9)]


QUICK = TrainOptions(hidden_sizes=(16,), max_epochs=40, patience=40, bootstrap_resamples=50)


def _program(nest: Nest) -> ProgramRow:
    return ProgramRow(
        program_id=nest.program_id,
        name=nest.name,
        suite="tests",
        stage="kernel",
        size="custom",
        parameters="{}",
        source=nest.source,
        source_bytes=len(nest.source),
        top="top",
        inputs="{}",
        graph=None,
        operators=(),
        parent=None,
        root=None,
        ast_hash=None,
        prompt=None,
        prompt_sha256=None,
        model=None,
        reply_sha256=None,
        prompt_tokens=None,
        completion_tokens=None,
        reply_cost=None,
        status="ok",
        reason=None,
    )


def _design(nest: Nest, design_id: str, delay: int, pipelined: bool) -> DesignRow:
    directive = {"kind": "pipeline", "loop": f"L{nest.depth - 1}"}
    values = dict.fromkeys(table_spec("designs").row.__dataclass_fields__)
    values |= {
        "design_id": design_id,
        "program_id": nest.program_id,
        "suite": "tests",
        "directives": json.dumps([directive] if pipelined else []),
        "memory_read_delay_cycles": delay,
        "memory_write_delay_cycles": delay,
        "clock_period_ns": 10.0,
        "liberty": "osu018",
        "delay_library": "osu018",
        "engine_options": "{}",
        "tool": "simfoundry-hls",
        "tool_version": "1",
        "status": "ok",
    }
    return DesignRow(**values)


def _label(nest: Nest, design_id: str, pipelined: bool) -> LabelRow:
    area = 9000.0 + 4000.0 * nest.statements + 700.0 * nest.depth + 1500.0 * pipelined
    return LabelRow(
        design_id=design_id,
        tool="yosys",
        tool_version="1",
        suite="tests",
        liberty="osu018",
        status="ok",
        reason=None,
        area_um2=area,
        flip_flop_count=int(area / 100),
        cell_count=1,
        cells_by_type="{}",
        delay_ns=1.0,
        leakage_mw=None,
        lut_count=None,
        dsp_count=None,
        bram_count=None,
        synthesis_wall_s=None,
    )


def _run(nest: Nest, design_id: str, delay: int, pipelined: bool) -> RunRow:
    each = 4 * nest.statements if pipelined else 2 * delay + 3 * nest.statements
    return RunRow(
        design_id=design_id,
        data_id="data",
        suite="tests",
        engine="cycle_model",
        engine_version="1",
        seed=0,
        data_kind=None,
        status="ok",
        reason=None,
        latency_cycles=nest.bound**nest.depth * each,
        outputs_equal=True,
        bytes_read=None,
        bytes_written=None,
        audited=False,
        audit_engine=None,
        audit_engine_version=None,
        audit_latency_cycles=None,
        power_status=None,
        power_reason=None,
        power_engine=None,
        power_engine_version=None,
        glitches=None,
        power_mw=None,
        energy_nj=None,
        internal_power_mw=None,
        switching_power_mw=None,
        leakage_power_mw=None,
        toggle_count=None,
        timed_cycles=None,
        build_wall_s=None,
        simulate_wall_s=None,
        native_wall_s=None,
        audit_build_wall_s=None,
        audit_simulate_wall_s=None,
        power_wall_s=None,
    )


def _place(nest: Nest) -> SplitRow:
    part = PARTS.get((nest.depth, nest.statements), "train")
    return SplitRow(split=SPLIT, program_id=nest.program_id, group=nest.name, part=part)


def write_compiled(data_dir: Path, nests: list[Nest]) -> Path:
    """The same tables with what high-level synthesis really gives, and with power."""
    write_tables(data_dir, nests)
    options = HlsOptions()
    programs = {row.program_id: row for row in map(_program, nests)}
    designs: list[DesignRow] = []
    nodes: list[CdfgNodeRow] = []
    edges: list[CdfgEdgeRow] = []
    known: list[FeatureRow] = []
    profiles: list[LoopProfileRow] = []
    counted: list[RunFeatureRow] = []
    scratch = data_dir / "scratch"
    for row in read_table(data_dir, table_spec("designs")):
        program = programs[row.program_id]
        own = replace(
            options,
            memory_read_delay_cycles=row.memory_read_delay_cycles,
            memory_write_delay_cycles=row.memory_write_delay_cycles,
            directives=parse_directives(row.directives),
        )
        compiled = compile_program(program.source, top=program.top, options=own)
        design = replace(design_row(program, own, compiled, 0.0), design_id=row.design_id)
        designs.append(design)
        own_nodes, own_edges = graph_rows(design, compiled)
        nodes += own_nodes
        edges += own_edges
        knowledge = know_design(program, design, folder=scratch, compiled=compiled)
        known.append(knowledge.features)
        profiles += knowledge.loops
        counted.append(know_run(program, design, seed=0, identity="", folder=scratch, compiled=compiled))
    runs = [
        replace(run, power_status="ok", power_mw=1.0 + 0.001 * run.latency_cycles)
        for run in read_table(data_dir, table_spec("runs"))
    ]
    tables = {"designs": designs, "cdfg_nodes": nodes, "cdfg_edges": edges, "runs": runs}
    tables |= {"features": known, "loop_profiles": profiles, "run_features": counted}
    for name, rows in tables.items():
        write_table(data_dir, table_spec(name), rows, "tests")
    return data_dir


def write_tables(data_dir: Path, nests: list[Nest]) -> Path:
    """Write the six tables of labelled nests; the labels follow simple laws."""
    grid = [
        (nest, f"{nest.program_id}-{delay}-{pipelined}", delay, pipelined)
        for nest in nests
        for delay in (2, 10)
        for pipelined in (False, True)
    ]
    tables = {
        "programs": [_program(n) for n in nests],
        "loops": [row for n in nests for row in n.loops()],
        "designs": [_design(n, i, d, p) for n, i, d, p in grid],
        "labels": [_label(n, i, p) for n, i, _, p in grid],
        "runs": [_run(n, i, d, p) for n, i, d, p in grid],
        "splits": [_place(n) for n in nests],
    }
    for name, rows in tables.items():
        write_table(data_dir, table_spec(name), rows, "tests")
    return data_dir
