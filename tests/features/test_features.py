"""Loops, graphs and splits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.features import extract_features, extract_loops, graph_rows
from pipelines.dataset.splits import SplitError, freeze_split
from pipelines.hls import HlsOptions, compile_program, design_row
from pipelines.programs import SIZES, SUITES, kernel_programs
from pipelines.schemas import ProgramRow, table_spec
from tests.support.labelling import label_options

PROGRAMS = kernel_programs(suites=SUITES, sizes=("small",))


def named(name: str) -> ProgramRow:
    return next(p for p in PROGRAMS if p.name == name)


def test_loops_of_gemm() -> None:
    loops = extract_loops(named("gemm"))
    assert [(r.loop, r.depth, r.parent_index, r.iterator, r.is_innermost) for r in loops] == [
        ("L0", 1, None, "i", False),
        ("L1", 2, 0, "j", False),
        ("L2", 3, 1, "k", True),
    ]
    sizes = json.loads(named("gemm").parameters)
    assert [(r.kind, r.trip_count, r.step) for r in loops] == [
        ("for", sizes[name], 1) for name in ("NI", "NJ", "NK")
    ]
    inner = loops[2]
    assert (inner.load_count, inner.store_count, inner.array_count) == (2, 0, 2)
    assert inner.arithmetic_count == 2
    assert all(r.trip_count for r in loops)


def test_a_loop_with_unknown_trips_says_so() -> None:
    kinds = {(r.kind, r.trip_count is None) for r in extract_loops(named("collatz"))}
    assert ("while", True) in kinds


@pytest.mark.parametrize("name", ["gemm", "insertion-sort", "spmv-csr", "trisolv"])
def test_graph_edges_join_nodes_and_keep_time(name: str) -> None:
    program = named(name)
    compiled = compile_program(program.source, top=program.top, options=HlsOptions())
    design = design_row(program, HlsOptions(), compiled, 0.0)
    nodes, edges = graph_rows(design, compiled)
    assert [n.node_index for n in nodes] == list(range(len(nodes)))
    assert [e.edge_index for e in edges] == list(range(len(edges)))
    by_index = {n.node_index: n for n in nodes}
    for edge in edges:
        source, target = by_index[edge.source_index], by_index[edge.target_index]
        if edge.kind == "data" and edge.distance == 0:
            assert source.block == target.block
            if target.opcode != "write":  # a write may follow a reader of the old value in the same cycle
                assert source.start_cycle + source.latency_cycles <= target.start_cycle
        if edge.kind == "control":
            assert source.opcode in ("jump", "branch")
    assert sum(n.opcode == "finish" for n in nodes) == 1
    for table, rows in (("cdfg_nodes", nodes), ("cdfg_edges", edges)):
        spec = table_spec(table)
        assert spec.violations(spec.to_arrow(rows)) == []


def test_features_are_the_same_from_the_cache(tmp_path: Path) -> None:
    program = named("atax")
    compiled = compile_program(program.source, top=program.top, options=HlsOptions())
    design = design_row(program, HlsOptions(), compiled, 0.0)
    cache = ContentCache(folder=tmp_path)
    made = [extract_features([program], [design], cache=cache, options=label_options()) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0].loops
    assert made[0].cdfg_nodes.num_rows


def test_a_refused_program_has_no_loops_and_stops_nothing(tmp_path: Path) -> None:
    from dataclasses import replace

    broken = replace(named("gemm"), source="int f(", program_id="x")
    made = extract_features([broken], [], cache=ContentCache(folder=tmp_path), options=label_options())
    assert made.loops == []


def test_split_keeps_all_sizes_of_a_kernel_together() -> None:
    programs = kernel_programs(suites=SUITES, sizes=SIZES)
    rows = freeze_split(programs)
    assert len(rows) == len(programs)
    sides = {(r.group, r.part) for r in rows}
    assert len(sides) == len(PROGRAMS)
    assert {part for _, part in sides} == {"train", "validation", "test"}


def test_every_suite_trains_and_is_tested() -> None:
    suites = {p.program_id: p.suite for p in PROGRAMS}
    rows = freeze_split(PROGRAMS)
    for part in ("train", "test"):
        assert {suites[r.program_id] for r in rows if r.part == part} == set(SUITES)


def test_split_of_a_subset_moves_nothing() -> None:
    everything = {r.program_id: r.part for r in freeze_split(PROGRAMS)}
    first = freeze_split(PROGRAMS[:5])
    assert all(everything[r.program_id] == r.part for r in first)
    assert {r.program_id: r.part for r in freeze_split(PROGRAMS, existing=first)} == everything


def test_split_rejects_a_group_on_two_sides_and_unknown_names() -> None:
    from dataclasses import replace

    rows = freeze_split(kernel_programs(suites=("stencil",), sizes=SIZES))
    moved = [replace(rows[0], part="train"), *(replace(r, part="test") for r in rows[1:])]
    with pytest.raises(SplitError, match=r"^a group must be on one side of by_kernel_v1, got"):
        freeze_split([], existing=moved)
    with pytest.raises(
        SplitError, match=r"^split must be one of by_kernel_v1, by_kernel_v2, by_kernel_v3, got 'random'$"
    ):
        freeze_split([], name="random")


def test_only_designs_of_the_engine_have_a_graph(tmp_path: Path) -> None:
    program = named("collatz")
    compiled = compile_program(program.source, top=program.top, options=HlsOptions())
    own = design_row(program, HlsOptions(), compiled, 0.0)
    other = replace(own, design_id="0" * 32, tool="circt-calyx", engine_options="{}")
    cache = ContentCache(folder=tmp_path)
    made = extract_features([program], [other, own], cache=cache, options=label_options())
    assert set(made.cdfg_nodes.column("design_id").to_pylist()) == {own.design_id}
    assert made.loops == extract_features([program], [], cache=cache, options=label_options()).loops
