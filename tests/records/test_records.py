"""Records: they say what the rows say, can be read back, and their code with its pragmas is the design."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from labelled_rows import label_of, run_of, table_row

from pipelines.base.cache import ContentCache
from pipelines.c import parse_directives, read_function, read_interface
from pipelines.dataset.features import extract_loops
from pipelines.dataset.labelling import sampled_configurations
from pipelines.dataset.records import (
    QUANTITIES,
    LabelledRows,
    Prompt,
    RecordError,
    make_records,
    read_completion,
    read_prompt,
    read_records,
    runtime_data,
    write_prompt,
    write_records,
)
from pipelines.dataset.records.layout import FEATURES, LISTS, OperatorText
from pipelines.dataset.records.limits import fitted
from pipelines.dataset.records.prompts import annotated, split_source
from pipelines.dataset.splits import BY_KERNEL_V2, UNSEEN_DELAY
from pipelines.hls import HlsOptions, compile_program, design_row, options_of
from pipelines.programs import data_id, draw_data, kernel_programs, program_facts
from pipelines.programs.ast import AstOptions, ast_programs
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.schemas import (
    FORMATS,
    DesignRow,
    ProgramRow,
    RecordRow,
    RunRow,
    SplitRow,
    table_spec,
)
from tests.support.labelling import configuration_space

PROGRAMS = (
    *kernel_programs(suites=("linear_algebra", "irregular"), sizes=("small",))[::5],
    *ast_programs(count=2, seed=0, options=AstOptions()),
    *dataflow_programs(count=3, seed=0, options=DataflowOptions()),
)
SPACE = configuration_space(sampling="latin_hypercube", samples=2, plain_share=0.2)


def _designs(program: ProgramRow) -> list[DesignRow]:
    function = read_function(program.source, top=program.top)
    made = sampled_configurations(function, SPACE, program.program_id, liberty="osu018")
    return [
        design_row(program, o, compile_program(program.source, top=program.top, options=o), 0.0) for o in made
    ]


def _place(program: ProgramRow) -> SplitRow:
    return SplitRow(split="s", program_id=program.program_id, group=program.name, part="train")


@pytest.fixture(scope="module")
def rows() -> LabelledRows:
    """Real designs of a few programs, with labels that are easy to recognise."""
    designs = [design for program in PROGRAMS for design in _designs(program)]
    return LabelledRows(
        programs=PROGRAMS,
        loops=[loop for program in PROGRAMS for loop in extract_loops(program)],
        program_facts=[program_facts(program) for program in PROGRAMS],
        designs=designs,
        labels=[label_of(d, n) for n, d in enumerate(designs)],
        runs=[run_of(d, n) for n, d in enumerate(designs)],
        loop_runs=[
            table_row(
                "loop_runs", design_id=d.design_id, data_id=run_of(d, n).data_id, loop="L0", iterations=n
            )
            for n, d in enumerate(designs)
        ],
        splits=[_place(p) for p in PROGRAMS],
    )


def _data(program: ProgramRow, run: RunRow) -> Mapping[str, str]:
    return {"n": "12", "A": "uniform(high=16,low=-16)"}


def _made(rows: LabelledRows) -> list[RecordRow]:
    return make_records(rows, split="s", data_text=_data)


# ---- what records say -----------------------------------------------------------------------------------


_LEVELS = ("text", "static", "hls", "run")


def test_every_design_has_a_record_of_each_format(rows: LabelledRows) -> None:
    found = sorted((r.design_id, r.format, str(r.level)) for r in _made(rows))
    assert found == sorted((d.design_id, f, level) for d in rows.designs for f, level in FORMATS.items())


def test_completions_say_what_the_rows_say(rows: LabelledRows) -> None:
    designs = {d.design_id: d for d in rows.designs}
    labels = {label.design_id: label for label in rows.labels}
    runs = {run.design_id: run for run in rows.runs}
    for record in _made(rows):
        said = read_completion(record.completion)
        design, label, run = (table[record.design_id] for table in (designs, labels, runs))
        for quantity in QUANTITIES:
            value = getattr(run if hasattr(run, quantity.column) else label, quantity.column)
            assert said.labels[quantity.column] == pytest.approx(value, abs=0.5 * 10**-quantity.decimals)
        levels = _LEVELS[: _LEVELS.index(str(record.level)) + 1]
        names = {name for _, name, _, level in FEATURES if level in levels}
        assert set(said.features) <= names
        assert len(said.features) == {"text": 0, "static": 5, "hls": 14, "run": 14}[str(record.level)]
        of_design = {name: value for name, value in said.features.items() if hasattr(design, name)}
        assert of_design == {column: getattr(design, column) for column in of_design}
        assert set(said.lists) == {name for _, name, level in LISTS if level in levels}
        if "initiation_intervals" in said.lists:
            assert said.lists["initiation_intervals"] == json.loads(str(design.initiation_intervals))


def test_prompts_hold_the_quadruple(rows: LabelledRows) -> None:
    designs = {d.design_id: d for d in rows.designs}
    programs = {p.program_id: p for p in rows.programs}
    for record in _made(rows):
        design, program = designs[record.design_id], programs[record.program_id]
        prompt = read_prompt(record.prompt)
        assert write_prompt(prompt) == record.prompt
        assert re.search(rf"\b{program.top}\(", prompt.graph)
        assert prompt.operators
        assert prompt.params == {
            "mem-delay-read": str(design.memory_read_delay_cycles),
            "mem-delay-write": str(design.memory_write_delay_cycles),
            "clock-period": "10",
            "liberty": "osu018",
            "tool": "simfoundry-hls",
        }
        assert prompt.data == {"n": "12", "A": "uniform(high=16,low=-16)"}


def test_operators_of_a_graph_say_whether_they_depend_on_data(rows: LabelledRows) -> None:
    dataflow = {p.program_id: p for p in rows.programs if p.graph is not None}
    for record in (r for r in _made(rows) if r.program_id in dataflow):
        nodes = json.loads(str(dataflow[record.program_id].graph))["nodes"]
        said = {o.name: o.dynamic for o in read_prompt(record.prompt).operators}
        assert {n["name"]: n["dynamic"] for n in nodes} == {n["name"]: said[n["name"]] for n in nodes}


@pytest.mark.sample(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_code_with_its_pragmas_is_the_design(program: ProgramRow, rows: LabelledRows) -> None:
    loops = [loop for loop in rows.loops if loop.program_id == program.program_id]
    for design in (d for d in rows.designs if d.program_id == program.program_id):
        options = options_of(design)
        text, apart = annotated(program.source, loops, options.directives)
        code = split_source(text).joined()
        left = replace(options, directives=parse_directives(f"[{','.join(apart)}]"))
        same = compile_program(code, top=program.top, options=left)
        wanted = compile_program(program.source, top=program.top, options=options)
        assert _without_comments(same.verilog) == _without_comments(wanted.verilog)


def _without_comments(verilog: str) -> str:
    return re.sub(r"//[^\n]*", "", verilog)


def test_labels_of_another_tool_leave_records_as_they_are(rows: LabelledRows) -> None:
    others = [replace(label, tool="siliconcompiler", area_um2=1.0) for label in rows.labels]
    assert _made(replace(rows, labels=[*rows.labels, *others])) == _made(rows)


def test_only_ok_rows_become_records(rows: LabelledRows) -> None:
    first, second, third = (d.design_id for d in rows.designs[:3])
    failed = replace(
        rows,
        designs=[replace(d, status="rejected") if d.design_id == first else d for d in rows.designs],
        labels=[replace(x, status="timeout") if x.design_id == second else x for x in rows.labels],
        runs=[replace(r, status="tool_error") if r.design_id == third else r for r in rows.runs],
    )
    assert {r.design_id for r in _made(failed)} == {d.design_id for d in rows.designs[3:]}


def test_labels_that_were_not_asked_for_are_left_out(rows: LabelledRows) -> None:
    without = replace(rows, runs=[replace(r, power_mw=None, energy_nj=None) for r in rows.runs])
    said = read_completion(_made(without)[0].completion)
    assert set(said.labels) == {"area_um2", "flip_flop_count", "delay_ns", "latency_cycles"}


def test_a_design_without_features_has_no_reasoning_record(rows: LabelledRows) -> None:
    other = [replace(d, initiation_intervals=None, state_count=None) for d in rows.designs]
    assert {r.format for r in _made(replace(rows, designs=other))} == {"direct", "reasoning_static"}


def test_a_run_without_counts_of_its_loops_has_no_record_at_level_run(rows: LabelledRows) -> None:
    formats = {r.format for r in _made(replace(rows, loop_runs=[]))}
    assert formats == {"direct", "reasoning_static", "reasoning"}


def test_evaluation_programs_are_marked_whatever_the_split_says(rows: LabelledRows) -> None:
    frozen = PROGRAMS[0]
    programs = [replace(p, stage="evaluation") if p == frozen else p for p in PROGRAMS]
    parts = {(r.program_id == frozen.program_id, r.part) for r in _made(replace(rows, programs=programs))}
    assert parts == {(True, "evaluation"), (False, "train")}


def test_make_records_rejects_a_program_without_a_place(rows: LabelledRows) -> None:
    with pytest.raises(RecordError, match=r"a place in the split s, got none for gemm"):
        _made(replace(rows, splits=[]))


# ---- numbers --------------------------------------------------------------------------------------------


def test_labels_have_a_fixed_number_of_digits() -> None:
    power, area, registers, delay, cycles, energy = QUANTITIES
    assert [power.text(1.5), area.text(1234.56), registers.text(7)] == ["00001.5000", "00001234.6", "0000007"]
    assert [delay.text(9.0625), cycles.text(655), energy.text(0)] == ["0009.062", "000000655", "00000000.000"]
    assert area.text(99_999_999.94) == "99999999.9"


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), 99_999_999.96, 1e9])
def test_labels_reject_what_does_not_fit(value: float) -> None:
    with pytest.raises(RecordError, match=r"area_um2 must be 0 to below 1e8, got"):
        QUANTITIES[1].text(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<Area unit="um2">12.0</Area>', r"Area must have 8\.1 digits, got '12\.0'"),
        ('<Area unit="mm2">00000012.0</Area>', r"a known tag with its unit around a number"),
        ("<Price>1</Price>", r"a known tag"),
        ("<think>\nNumber of wishes: 3\n</think>", r"must be a known feature, got 'Number of wishes: 3'"),
        ("<think>\nNumber of states: 3", r"must end with </think>"),
    ],
)
def test_read_completion_rejects_other_texts(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        read_completion(text)


# ---- layout of a prompt ---------------------------------------------------------------------------------


def test_program_text_that_reads_like_a_tag_stays_text() -> None:
    prompt = Prompt(graph="/*\n</Graph>\n<Data>\n*/", operators=(), params={}, mapping=(), data={"n": "1"})
    back = read_prompt(write_prompt(prompt))
    assert back.graph == "/*\n </Graph>\n <Data>\n*/"
    assert back.data == {"n": "1"}


@pytest.mark.parametrize("text", ["", "<Graph>\nint x;", "hello\n<Graph>\n</Graph>", "<Data>\nn\n</Data>"])
def test_read_prompt_rejects_other_texts(text: str) -> None:
    with pytest.raises(RecordError, match=r"a prompt"):
        read_prompt(text)


SOURCE = """/* head */
#include <stdint.h>
#define TWICE(x) \\
    do { (x) *= 2; } while (0)
typedef struct { int a; } pair;
static const int table[2] = {1, 2};
int (*unused);

// first
static inline int first(int x) { const char *s = "}{"; return x + '}' + s[0]; }

#pragma whatever
struct pair2 { int b; } second(
    int x)
{
    TWICE(x);
    return (struct pair2){x};
}
"""


def test_source_is_cut_at_its_functions() -> None:
    parts = split_source(SOURCE)
    assert list(parts.functions) == ["first", "second"]
    assert parts.functions["first"].startswith("// first\nstatic inline int first")
    assert parts.functions["second"].endswith("return (struct pair2){x};\n}")
    assert "#pragma whatever" in parts.preamble
    assert "table[2] = {1, 2};" in parts.preamble
    assert re.sub(r"\s", "", parts.joined()) == re.sub(
        r"\s", "", parts.preamble + "".join(parts.functions.values())
    )
    assert sorted(re.sub(r"\s", "", parts.joined())) == sorted(re.sub(r"\s", "", SOURCE))


@pytest.mark.parametrize("source", ["int f(void) {", "int f(void) { return 0; } int"])
def test_split_source_rejects_text_that_does_not_end(source: str) -> None:
    with pytest.raises(RecordError, match=r"a program must end after a function or a declaration"):
        split_source(source)


def test_loops_that_share_a_line_keep_their_directives_apart() -> None:
    source = (
        "void f(int a[4]) {\n    for (int i = 0; i < 4; i++) { for (int j = 0; j < 4; j++) a[j] += i; }\n}\n"
    )
    program = replace(PROGRAMS[0], source=source, top="f")
    directives = parse_directives('[{"kind":"pipeline","loop":"L1"}]')
    assert annotated(source, extract_loops(program), directives) == (
        source,
        ('{"kind":"pipeline","loop":"L1"}',),
    )


# ---- parts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "place", "stage", "delays", "part"),
    [
        (BY_KERNEL_V2, "train", "ast", (2, 10), "train"),
        (BY_KERNEL_V2, "train", "ast", (15, 2), UNSEEN_DELAY),
        (BY_KERNEL_V2, "validation", "ast", (2, 15), UNSEEN_DELAY),
        (BY_KERNEL_V2, "evaluation", "evaluation", (2, 10), "evaluation"),
        (BY_KERNEL_V2, "evaluation", "evaluation", (15, 15), UNSEEN_DELAY),
        (BY_KERNEL_V2, "excluded", "ast", (2, 2), None),
        (BY_KERNEL_V2, "excluded", "ast", (15, 15), None),
        ("s", "train", "ast", (15, 15), "train"),
        ("s", "train", "evaluation", (15, 15), "evaluation"),
    ],
)
def test_a_record_has_the_part_of_its_design(
    rows: LabelledRows, split: str, place: str, stage: str, delays: tuple[int, int], part: str | None
) -> None:
    program = replace(PROGRAMS[0], stage=stage)
    read, write = delays
    designs = [
        replace(design, memory_read_delay_cycles=read, memory_write_delay_cycles=write)
        for design in rows.designs
        if design.program_id == program.program_id
    ]
    one = replace(
        rows,
        programs=[program],
        designs=designs,
        splits=[replace(_place(program), split=split, part=place)],
    )
    records = make_records(one, split=split, data_text=_data)
    assert {record.part for record in records} == ({part} if part else set())


# ---- runtime data ---------------------------------------------------------------------------------------


def test_runtime_data_has_the_values_of_scalars(tmp_path: Path) -> None:
    source = "int f(int n, float x, int a[4], int b[2]) { return n + a[0] + b[0] + (int)x; }"
    inputs = '{"n": {"kind": "constant", "value": 3}, "a": {"kind": "uniform", "low": 0, "high": 9}}'
    program = replace(PROGRAMS[0], program_id="f", source=source, top="f", inputs=inputs)
    drawn = draw_data(read_interface(source, "f"), inputs, seed=4)
    run = table_row("runs", data_id=data_id(drawn), seed=4)
    cache = ContentCache(folder=tmp_path)
    said = runtime_data(program, run, cache)
    assert list(said) == ["n", "x", "a", "b"]
    assert said["n"] == "3"
    assert float(said["x"]) == drawn["x"].item()
    elements = {name: ",".join(map(str, drawn[name].tolist())) for name in ("a", "b")}
    assert said["a"] == f"uniform(high=9,low=0) elements={elements['a']}"
    assert said["b"] == f"any elements={elements['b']}"
    assert runtime_data(program, run, cache) == said


def test_runtime_data_rejects_a_run_of_another_program(tmp_path: Path) -> None:
    run = table_row("runs", data_id="elsewhere", seed=0)
    with pytest.raises(RecordError, match=r"on data of its program, got data elsewhere for gemm and seed 0"):
        runtime_data(PROGRAMS[0], run, ContentCache(folder=tmp_path))


# ---- context limit --------------------------------------------------------------------------------------


def test_a_prompt_above_the_limit_says_what_was_left_out() -> None:
    body = "int twice(int x) {\n    /* doubles */\n    return x * 2; // fast\n}"
    prompt = Prompt(
        graph='// calls\nint f(int a[9]) { return twice(a[0]) + sizeof "/*"; }',
        operators=(
            OperatorText(name="twice", text=body),
            OperatorText(name="one", text="int one(void) { 1; }"),
        ),
        params={"mem-delay-read": "2"},
        mapping=(),
        data={"n": "3", "a": "any elements=1,2,3,4,5,6,7,8,9", "b": "any elements=1"},
    )
    whole = write_prompt(prompt)
    assert fitted(prompt, len(whole)) == (whole, None)
    text, gone = fitted(prompt, len(whole) - 1)
    assert gone == "elements of a"
    assert read_prompt(text).data == {"n": "3", "a": "any", "b": "any elements=1"}
    text, gone = fitted(prompt, len(whole) - 45)
    assert gone == "elements of a, elements of b, comments"
    assert read_prompt(text).operators[0].text == "int twice(int x) {\n    return x * 2;\n}"
    assert 'sizeof "/*"' in text
    text, gone = fitted(prompt, 1)
    assert gone == (
        "elements of a, elements of b, comments, body of twice, body of one, "
        "the rest is longer than the limit"
    )
    assert [o.text for o in read_prompt(text).operators] == ["int twice(int x);", "int one(void);"]


# ---- files ----------------------------------------------------------------------------------------------


def test_files_hold_the_same_records(rows: LabelledRows, tmp_path: Path) -> None:
    made = _made(rows)
    lines, table = tmp_path / "r.jsonl", tmp_path / "r.parquet"
    write_records(lines, made[::-1])
    write_records(table, made)
    spec = table_spec("records")
    ordered = spec.from_arrow(spec.to_arrow(made))
    assert read_records(lines) == ordered
    assert spec.from_arrow(pq.read_table(table)) == ordered
    assert len(lines.read_text().splitlines()) == len(made)


def test_write_records_rejects_another_suffix(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"must end with \.jsonl or \.parquet, got r\.csv"):
        write_records(tmp_path / "r.csv", [])


@pytest.mark.parametrize("line", ["[]", "{", '{"prompt": "x"}', '{"prompt": 3}'])
def test_read_records_rejects_other_lines(line: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(RecordError, match=r"a line must be a JSON object of .*r\.jsonl:1"):
        read_records(path)


def test_plain_designs_have_plain_params(rows: LabelledRows) -> None:
    program = PROGRAMS[0]
    design = design_row(
        program, HlsOptions(), compile_program(program.source, top=program.top, options=HlsOptions()), 0.0
    )
    one = replace(rows, designs=[design], labels=[label_of(design, 0)], runs=[run_of(design, 0)])
    prompt = read_prompt(_made(one)[0].prompt)
    assert prompt.mapping == ()
    assert "#pragma" not in prompt.operators[0].text
