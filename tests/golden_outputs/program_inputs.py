"""Inputs of the engines that write, read and describe programs: suites, variants, features, records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine_outputs import Folders, Output, outcome
from labelled_rows import label_of, run_of

from pipelines import programs
from pipelines.base.cache import ContentCache
from pipelines.c import Directive, read_function, read_interface
from pipelines.dataset import records
from pipelines.dataset.features import (
    FeatureRows,
    Graphs,
    extract_design_features,
    extract_features,
    extract_loops,
    extract_run_features,
    graph_rows,
    import_features,
)
from pipelines.dataset.splits import evaluation_twins, freeze_split
from pipelines.dataset.variants import check_variant
from pipelines.hls import HlsOptions, TransformOptions, compile_program, design_row, innermost_loops
from pipelines.programs import ast, dataflow, evaluation, llm
from pipelines.schemas import DesignRow, ProgramRow, SplitRow
from tests.support.labelling import label_options

# ---- suites -----------------------------------------------------------------------------------------------


def _text(rows: list[ProgramRow]) -> object:
    return [
        [
            r.name,
            r.suite,
            r.stage,
            r.size,
            r.top,
            r.source,
            r.inputs,
            r.parameters,
            r.operators,
            r.graph,
            r.status,
        ]
        for r in rows
    ]


def generator_outputs(folders: Folders) -> Iterator[Output]:
    """Programs of every suite, their data, facts, trees and statistics."""
    folder = folders.scratch
    yield from _drawn_outputs()
    small = programs.kernel_programs(suites=programs.SUITES, sizes=("small",))
    yield "kernels", _text(small)
    polybench = [
        programs.polybench_program(name, size="mini", data_type=kind)
        for name, kind in (("gemm", "int"), ("cholesky", "float"), ("nussinov", "int"), ("ludcmp", "double"))
    ]
    yield "polybench", _text(polybench)
    yield "machsuite", _text(list(programs.machsuite_programs(sizes=programs.MACHSUITE_SIZES[:1])))
    modern = evaluation.evaluation_programs("modern")
    stationary = evaluation.evaluation_programs("stationary")
    yield "modern", _text(modern)
    yield "stationary", _text(stationary)
    yield "frozen", sorted(programs.frozen_hashes())
    sample = [*small[:4], *polybench[:1], *stationary[:1]]
    yield "trees", [programs.ast_hash_or_none(p.source, p.top) for p in (*small, *polybench)]
    yield (
        "no tree",
        [programs.ast_hash_or_none(text, "f") for text in ("int f(", "int g(void) { return 1; }")],
    )
    facts = [programs.program_facts(p) for p in sample]
    yield "facts with class", [replace(f, program_id="") for f in facts]
    rejected = replace(small[0], program_id="x", status="rejected", reason="a 'b' 12 c")
    yield "reports", programs.stage_reports([*sample, rejected], facts)
    twin = replace(stationary[0], suite="ast", stage="ast", program_id="y")
    yield "twins", [r.status for r in evaluation.reject_duplicates([twin, small[0]])]
    options = programs.SuiteOptions(
        sizes=("small",), ast=programs.Generation(count=1), dataflow=programs.Generation(count=1)
    )
    for suite in ("ast", "dataflow", "irregular", "llm", "none"):
        yield f"suite {suite}", outcome(lambda s=suite: [r.name for r in programs.suite_programs(s, options)])
    cache = ContentCache(folder=folder / "cache")
    for visit in ("first", "second"):
        yield f"{visit} time", _text(programs.cached_programs("irregular", options, cache))
        yield f"{visit} hash", programs.cached_ast_hash(small[0], cache)
    yield from _data_outputs(folder, [*small[::4], *polybench, *modern[:2]])
    yield from _file_outputs(folder)


def _drawn_outputs() -> Iterator[Output]:
    yield "ast", _text(ast.ast_programs(count=12, seed=1, options=ast.AstOptions()))
    for name, options in {
        "floats": ast.AstOptions(data_types=("float", "double")),
        "plain": ast.AstOptions(operators=("+", "*"), control_share=0.0, helper_probability=0.0),
        "deep": ast.AstOptions(loop_depth_weights=(0, 0, 0, 0, 1)),
        "out of bounds": ast.AstOptions(source_bytes=(5990, 6000)),
    }.items():
        yield f"ast {name}", _text(ast.ast_programs(count=2, seed=2, options=options))
    for number, changes in enumerate(
        (
            {"data_types": ("int128_t",)},
            {"data_types": ()},
            {"operators": ("?",)},
            {"control_share": 2.0},
            {"loop_depth_weights": (0,)},
            {"source_bytes": (10, 1)},
        )
    ):
        yield (
            f"wrong ast options {number}",
            outcome(
                lambda c=changes: ast.AstOptions(**c)  # type: ignore[arg-type]
            ),
        )
    yield "dataflow", _text(dataflow.dataflow_programs(count=12, seed=0, options=dataflow.DataflowOptions()))
    sweeping = dataflow.DataflowOptions(runtime_share=1.0)
    rows = dataflow.dataflow_programs(count=3, seed=3, options=sweeping)
    yield "dataflow of run-time sizes", _text(rows)
    yield "swept inputs", [dataflow.swept_inputs(row) for row in rows]
    names = [operator.name for operator in dataflow.OPERATORS]
    for element in ("int16", "float"):
        only = dataflow.DataflowOptions(data_types=(element,))
        for first in range(0, len(names), 9):
            row = dataflow.operators_program(names[first : first + 9], seed=1, options=only)
            yield f"operators {element} {first}", _text([row])
    yield (
        "unknown operator",
        outcome(lambda: dataflow.operators_program(["none"], seed=1, options=dataflow.DataflowOptions())),
    )


def _data_outputs(folder: Path, rows: list[ProgramRow]) -> Iterator[Output]:
    for row in rows:
        interface = read_interface(row.source, row.top)
        data = programs.draw_data(interface, row.inputs, seed=2)
        yield f"data {row.name} {row.suite}", [data, len(programs.data_id(data))]
    source = "void f(int A[3][3], float x[3], unsigned char r[4], int n) { A[0][0] = n + r[1]; x[0] = 1; }"
    interface = read_interface(source, "f")
    specifications: tuple[object, ...] = (
        {
            "A": {"kind": "dominant_lower", "low": -3, "high": 4},
            "x": {"kind": "uniform", "low": 0, "high": 1},
        },
        {
            "A": {"kind": "positive_definite", "low": -3, "high": 4},
            "x": {"kind": "sorted", "low": 0, "high": 1},
        },
        {"A": {"kind": "lu_product", "low": -3, "high": 4}, "r": {"kind": "csr_rows", "nonzeros": 5}},
        {"A": {"kind": "permutation"}, "x": {"kind": "constant", "value": 2.5}},
        {
            "A": {"kind": "values", "values": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]},
            "n": {"kind": "values", "values": 3},
        },
        {"x": {"kind": "permutation"}},
        {"x": {"kind": "csr_rows", "nonzeros": 5}},
        {"A": {"kind": "csr_rows", "nonzeros": 5}},
        {"x": {"kind": "lu_product", "low": 0, "high": 1}},
        {"A": {"kind": "constant", "value": 0.5}},
        {"r": {"kind": "constant", "value": 300}},
        {"A": {"kind": "uniform", "low": 3, "high": 3}},
        {"x": {"kind": "uniform", "low": -1e300, "high": 1e300}},
        {"A": {"kind": "values", "values": [[1, 2], [4, 5, 6], [7, 8, 9]]}},
        {"A": {"kind": "values", "values": 3}},
        {"n": {"kind": "values", "values": True}},
        {"x": {"kind": "values", "values": ["a", 1, 2]}},
        {"z": {"kind": "permutation"}},
        {"A": {"kind": "odd"}},
        [],
    )
    texts = [*map(json.dumps, specifications), "{", '{"A": 1, "A": 2}', '{"x": NaN}', "[" * 5000]
    for number, text in enumerate(texts):
        yield f"specification {number}", outcome(lambda t=text: programs.draw_data(interface, t, seed=1))
    for number, content in enumerate(
        ('{"A": [[1,2,3],[4,5,6],[7,8,9]], "x": [1,2,3], "r": [1,2,3,4], "n": 5}', "{}", "x")
    ):
        path = folder / f"data{number}.json"
        path.write_text(content)
        yield f"data file {number}", outcome(lambda path=path: programs.load_data(path, interface))


def _file_outputs(folder: Path) -> Iterator[Output]:
    path = folder / "f.c"
    path.write_text('#include "part.h"\nint f(int a[4]) { return a[0] + PART; }\n')
    (folder / "part.h").write_text("#pragma once\n#define PART 3\n")
    yield "file", outcome(lambda: _text([programs.program_from_file(path, top="f")]))
    yield "no file", outcome(lambda: programs.program_from_file(folder / "none.c", top="f"))


# ---- variants ---------------------------------------------------------------------------------------------

_PARENT = "int f(int a[8], int n) { int s = n; for (int i = 0; i < 8; i++) s += a[i]; return s; }"
_VARIANTS = {
    "reordered": "int f(int a[8], int n) { for (int i = 7; i >= 0; i--) n += a[i]; return n; }",
    "same": _PARENT.replace("s", "t"),
    "other interface": "int f(int a[9], int n) { return a[8] + n; }",
    "writes nothing": "void f(int a[8], int n) { int s = a[0] + n; s++; }",
    "not C": "int f(int a[8], int n) { return",
    "outside the subset": "int f(int a[8], int n) { return f(a, n - 1); }",
    "too many cycles": "int f(int a[8], int n) { for (int i = 0; i < 90000; i++) n ^= a[i & 7]; return n; }",
    "undefined": "int f(int a[8], int n) { return a[0] / (n - n); }",
    "long": "#define A(x) x x x x x x x x\n#define B(x) A(A(x))\nint f(int n) { B(B(n++;)) return n; }",
}


def variant_outputs(folders: Folders) -> Iterator[Output]:
    """Verdicts on variants of a program."""
    path = folders.scratch / "parent.c"
    path.write_text(_PARENT)
    parent = programs.program_from_file(path, top="f")
    cache = ContentCache(folder=folders.scratch / "cache")
    limits = llm.CheckLimits(data_seeds=(0,), most_cycles=20_000)
    for name, source in _VARIANTS.items():
        verdict = check_variant(source, parent, limits, cache)
        yield name, [verdict.status, verdict.ast_hash, verdict.cycles]
    again = check_variant(_VARIANTS["reordered"], parent, limits, cache)
    yield "from the cache", [again.status, again.ast_hash, again.cycles]
    small = replace(limits, most_area_um2=100.0)
    yield "large", check_variant(_VARIANTS["reordered"], parent, small, cache).status
    data = replace(parent, inputs='{"a": {"kind": "constant", "value": 0.5}}')
    yield "no data", check_variant(_VARIANTS["reordered"], data, limits, cache).status
    for number, changes in enumerate(({"most_cycles": 0}, {"data_seeds": ()})):
        yield f"wrong limits {number}", outcome(lambda c=changes: llm.CheckLimits(**c))  # type: ignore[arg-type]


# ---- features ---------------------------------------------------------------------------------------------


def _design(program: ProgramRow, options: HlsOptions) -> DesignRow:
    compiled = compile_program(program.source, top=program.top, options=options)
    return design_row(program, options, compiled, 0.0)


def _kernels() -> dict[str, ProgramRow]:
    return {p.name: p for p in programs.kernel_programs(suites=programs.SUITES, sizes=("small",))}


def feature_outputs(folders: Folders) -> Iterator[Output]:
    """Loops, graphs, facts and splits of kernels and of programs of other kinds."""
    kernels = _kernels()
    cache = ContentCache(folder=folders.scratch / "cache")
    for name in ("gemm", "collatz", "insertion-sort", "spmv-csr", "trisolv", "histogram"):
        program = kernels[name]
        yield f"loops {name}", extract_loops(program)
        loops = innermost_loops(read_function(program.source, top=program.top))
        options = HlsOptions(directives=tuple(Directive(kind="pipeline", loop=loop) for loop in loops))
        compiled = compile_program(program.source, top=program.top, options=options)
        yield f"graph {name}", graph_rows(design_row(program, options, compiled, 0.0), compiled)
    program = kernels["atax"]
    broken = replace(kernels["gemm"], source="int f(", program_id="x")
    refused = replace(kernels["gemm"], status="rejected")
    designs = [_design(program, HlsOptions()), replace(_design(program, HlsOptions()), tool="bambu")]
    tables = extract_features([program, broken, refused], designs, cache=cache, options=label_options())
    yield "tables with class", [tables.program_facts, tables.loops, tables.cdfg_nodes, tables.cdfg_edges]
    again = extract_features([program], designs, cache=cache, options=label_options())
    yield (
        "tables with class from the cache",
        [again.program_facts, again.loops, again.cdfg_nodes, again.cdfg_edges],
    )
    other = ContentCache(folder=folders.scratch / "other")
    graphs = Graphs(nodes=tables.cdfg_nodes, edges=tables.cdfg_edges)
    rows = FeatureRows(
        program=program,
        designs=designs[:1],
        program_facts=[f for f in tables.program_facts if f.program_id == program.program_id],
        loops=[row for row in tables.loops if row.program_id == program.program_id],
        graphs=graphs,
    )
    for name, given in {
        "kept": rows,
        "kept again": rows,
        "without graphs": replace(rows, graphs=None),
        "other version": replace(rows, designs=[replace(designs[0], tool_version="0")]),
    }.items():
        yield name, dict(import_features(given, other))
    everything = programs.kernel_programs(suites=programs.SUITES, sizes=programs.SIZES)
    evaluated = evaluation.evaluation_programs("stationary")[:2]
    split = freeze_split([*everything, *evaluated])
    yield "split", sorted((row.split, row.group, row.part) for row in split)
    yield "split extended", len(freeze_split(everything, existing=split[:5]))
    yield "twins", len(evaluation_twins([*everything[:5], *evaluated]))
    pair = [row for row in split if row.group == split[0].group][:2]
    moved = [replace(row, part=part) for row, part in zip(pair, ("train", "test"), strict=True)]
    yield "wrong split", outcome(lambda: freeze_split([], existing=moved))
    yield "unknown split", outcome(lambda: freeze_split([], name="random"))


def knowledge_outputs(folders: Folders) -> Iterator[Output]:
    """Features, loop profiles and features of a run of kernels, with and without branches on data."""
    kernels, cache = _kernels(), ContentCache(folder=folders.scratch / "cache")
    chosen = [kernels[name] for name in ("atax", "collatz")]
    designs = [_design(program, HlsOptions()) for program in chosen]
    features, loops = extract_design_features(chosen, designs, cache=cache, options=label_options(workers=1))
    yield "designs", [features, loops]
    runs = [run_of(design, 0) for design in designs]
    yield "runs", extract_run_features(chosen, designs, runs, cache=cache, options=label_options(workers=1))


# ---- records ----------------------------------------------------------------------------------------------


def record_outputs(folders: Folders) -> Iterator[Output]:
    """Records of designs, read back, and texts that are no records."""
    kernels = _kernels()
    drawn = [
        *ast.ast_programs(count=1, seed=0, options=ast.AstOptions()),
        *dataflow.dataflow_programs(count=2, seed=0, options=dataflow.DataflowOptions()),
    ]
    chosen = [kernels["gemm"], kernels["collatz"], kernels["spmv-csr"], *drawn]
    designs = [_design(p, o) for p in chosen for o in (HlsOptions(), _mapped(p))]
    rows = records.LabelledRows(
        programs=chosen,
        loops=[loop for p in chosen for loop in extract_loops(p)],
        program_facts=[programs.program_facts(p) for p in chosen],
        designs=designs,
        labels=[label_of(d, n) for n, d in enumerate(designs)],
        runs=[run_of(d, n, has_power=n % 3 != 2) for n, d in enumerate(designs)],
        loop_runs=[],
        splits=[SplitRow(split="s", program_id=p.program_id, group=p.name, part="train") for p in chosen],
    )
    texts = records.make_records(rows, split="s", data_text=lambda program, run: {"n": "12", "A": "uniform"})
    yield "records", [[r.format, r.suite, r.stage, r.split, r.part, r.prompt, r.completion] for r in texts]
    yield "prompts", [records.read_prompt(r.prompt) for r in texts[:6]]
    yield "completions", [records.read_completion(r.completion) for r in texts[:6]]
    yield "written again", [records.write_prompt(records.read_prompt(r.prompt)) == r.prompt for r in texts]
    for ending in ("jsonl", "parquet"):
        path = folders.scratch / f"records.{ending}"
        yield f"file {ending}", outcome(lambda path=path: _through(path, texts))
    for number, line in enumerate(("x", "{}", '{"a": "b"}')):
        path = folders.scratch / f"wrong{number}.jsonl"
        path.write_text(f"{line}\n")
        yield f"wrong line {number}", outcome(lambda path=path: records.read_records(path))
    yield "other suffix", outcome(lambda: records.write_records(folders.scratch / "records.txt", texts))
    for number, text in enumerate(
        ("", "x", texts[0].prompt[:40], texts[0].prompt.replace("12", "12\n\n"), "<a>\n</b>")
    ):
        yield f"wrong prompt {number}", outcome(lambda t=text: records.read_prompt(t))
        yield f"wrong completion {number}", outcome(lambda t=text: records.read_completion(t))
    yield (
        "no place",
        outcome(lambda: records.make_records(replace(rows, splits=()), split="s", data_text=lambda p, r: {})),
    )
    program = kernels["gemm"]
    interface = read_interface(program.source, program.top)
    data = programs.draw_data(interface, program.inputs, seed=0)
    cache = ContentCache(folder=folders.scratch / "cache")
    run = replace(run_of(designs[0], 0), data_id=programs.data_id(data))
    yield (
        "unknown data",
        outcome(lambda: records.runtime_data(program, run_of(designs[0], 1), cache)),
    )
    sweeping = dataflow.dataflow_programs(
        count=1, seed=3, options=dataflow.DataflowOptions(runtime_share=1.0)
    )[0]
    swept = programs.draw_data(
        read_interface(sweeping.source, sweeping.top), programs.swept_inputs(sweeping)[-1], seed=0
    )
    last = replace(run_of(designs[0], 0), data_id=programs.data_id(swept))
    yield "swept data", outcome(lambda: records.runtime_data(sweeping, last, cache))
    for visit in ("first", "second"):
        yield f"{visit} runtime data", outcome(lambda: records.runtime_data(program, run, cache))
        yield f"{visit} records", outcome(lambda: _remembered(rows, folders.scratch, cache))


def _through(path: Path, rows: list[Any]) -> object:
    records.write_records(path, rows)  # type: ignore[arg-type]
    return sorted(records.read_records(path), key=lambda row: (row.prompt, row.format))


def _remembered(rows: records.LabelledRows, folder: Path, cache: ContentCache) -> object:
    """Columns of records from a cache; their order follows ids, which hash versions."""
    file = folder / "table"
    file.write_text("content")
    table = records.cached_records(
        [file],
        {},
        lambda: records.make_records(rows, split="s", data_text=lambda p, r: {}),
        split="s",
        limit=10**6,
        cache=cache,
    )
    return sorted(
        zip(table.column("prompt").to_pylist(), table.column("completion").to_pylist(), strict=True)
    )


def _mapped(program: ProgramRow) -> HlsOptions:
    function = read_function(program.source, top=program.top)
    loops = innermost_loops(function)
    directives = [Directive(kind="pipeline", loop=loop) for loop in loops[:1]]
    directives += [Directive(kind="unroll", loop=loop, value=2) for loop in loops[1:2]]
    directives += [
        Directive(kind="partition", variable=a.name, style="cyclic", value=2, dimension=1)
        for a in function.arrays[:1]
    ]
    return HlsOptions(directives=tuple(directives), transforms=TransformOptions(unsafe_math=True))
