"""Facts of programs and the report on stages."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipelines.programs import kernel_programs, program_facts, stage_reports
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.programs.rows import program_row
from pipelines.programs.statistics import general_reason, total_variation, wasserstein
from pipelines.schemas import ProgramFactsRow, ProgramRow, table_spec


def _program(source: str, *, name: str = "p", stage: str = "ast", **inputs: object) -> ProgramRow:
    return program_row(
        name=name,
        suite="ast",
        stage=stage,
        size="custom",
        parameters={},
        source=source,
        top="f",
        inputs=inputs,
    )


def _facts(source: str, **inputs: object) -> ProgramFactsRow:
    return program_facts(_program(source, **inputs))


def test_facts_of_a_nest() -> None:
    source = """// a sum
int f(int a[8][4]) {
    int s = 0;

    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++)
            s += a[i][j] * 3;
    while (s > 100)
        s = s / 2;
    return s;
}
"""
    facts = _facts(source)
    assert (facts.loop_count, facts.loop_depth) == (3, 2)
    assert facts.source_lines == 10
    assert json.loads(facts.operations) == {"add": 1, "div": 1, "gt": 1, "load": 1, "mul": 1}
    assert facts.operation_count == 5
    # 32 times (load, *, +) on the array; 8 times > and / assumed of the loop that depends on data.
    assert facts.array_operation_share == pytest.approx(96 / (96 + 16))


def test_tokens_leave_comments_out_and_count_signs_of_two_characters_once() -> None:
    source = "int f(int n) { /* no; token */ return n <<= 2, n >= 0x1F ? 1.5e-3f : 'a'; } // \"end\"\n"
    # int f ( int n ) { return n <<= 2 , n >= 0x1F ? 1.5e-3f : 'a' ; }
    assert _facts(source).source_tokens == 21


@pytest.mark.parametrize(
    ("bound", "inputs", "trips"),
    [
        ("n", {"n": {"kind": "constant", "value": 6}}, 6),
        ("n", {"n": {"kind": "uniform", "low": 4, "high": 8}}, 6),
    ],
)
def test_iterations_follow_scalars(bound: str, inputs: dict, trips: int) -> None:
    source = f"""
int f(int n, int b[1]) {{
    int s = 1;
    for (int i = 0; i < {bound}; i++)
        s = s * 3;
    b[0] = s;
    return s;
}}
"""
    assert _facts(source, **inputs).array_operation_share == pytest.approx(1 / (1 + trips))


def test_iterations_follow_variables_and_are_assumed_of_data() -> None:
    source = """
int f(int n, int b[1]) {
    int s = 1;
    int m = BOUND;
    for (int i = 0; i < m; i++)
        s = s * 3;
    b[0] = s;
    return s;
}
"""
    six = {"n": {"kind": "constant", "value": 6}}
    computed = _facts(source.replace("BOUND", "n / 2 + 1"), **six)
    assert computed.array_operation_share == pytest.approx(1 / (1 + 2 + 4))
    loaded = _facts(source.replace("BOUND", "b[0]"), **six)
    assert loaded.array_operation_share == pytest.approx(2 / (2 + 8))


def test_a_triangle_runs_half_its_square() -> None:
    triangle = """
int f(int a[9]) {
    int s = 0;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < i; j++)
            s = s + 1;
    a[0] = s;
    return s;
}
"""
    assert _facts(triangle).array_operation_share == pytest.approx(1 / (1 + 36))


def test_dataflow_programs_work_on_arrays() -> None:
    rows = dataflow_programs(count=12, seed=3, options=DataflowOptions())
    shares = [program_facts(p).array_operation_share or 0.0 for p in rows]
    assert sum(shares) / len(shares) > 0.85


# ---- the report -----------------------------------------------------------------------------------------

KERNELS = [replace(p, stage="evaluation") for p in kernel_programs(suites=("stencil",), sizes=("small",))]


def _report(programs: list[ProgramRow]) -> dict[tuple[str, str, str, str], float]:
    facts = [program_facts(p) for p in programs if p.status == "ok"]
    rows = stage_reports(programs, facts)
    assert table_spec("stage_reports").violations(table_spec("stage_reports").to_arrow(rows)) == []
    return {(r.stage, r.measure, r.statistic, r.bin): r.value for r in rows}


def test_the_report_counts_what_was_asked_made_refused_and_repeated() -> None:
    good = _program("int f(int a[4]) { return a[0] + 1; }", name="a")
    again = _program("int f(int b[4])\n{ return b[0] + 1; }", name="b")
    twice = [replace(good, ast_hash="h"), replace(again, ast_hash="h")]
    refused = [
        replace(
            good,
            program_id=str(n),
            status="rejected",
            reason=f"cells must be at most 10000, got {n} (p{n}.c)",
        )
        for n in range(3)
    ]
    found = _report([*twice, *refused])
    counts = {key[3]: value for key, value in found.items() if key[1] == "programs"}
    assert counts == {"asked": 5, "ok": 2, "duplicate": 1, "rejected": 3}
    assert [(key[3], value) for key, value in found.items() if key[1] == "rejected"] == [
        ("cells must be at most …, got … (…)", 3)
    ]


def test_the_report_has_quantiles_shares_and_no_distance_without_evaluation_programs() -> None:
    programs = [
        _program(
            f"void f(int a[9]) {{ {'for (int i = 0; i < 9; i++)' * (n > 0)} a[0] += {n + 1}; }}", name=f"p{n}"
        )
        for n in range(4)
    ]
    found = _report(programs)
    assert found["ast", "loop_depth", "quantile", "0.50"] == 1.0
    assert found["ast", "loop_depth", "mean", "all"] == 0.75
    assert found["ast", "loop_depth", "share", "0"] == 0.25
    assert found["ast", "operations", "share", "add"] == pytest.approx(1 / 3)
    assert found["ast", "operators", "count", "p2"] == 1
    assert not [key for key in found if key[2] == "distance"]


def test_distances_to_the_evaluation_programs_are_zero_for_the_same_programs() -> None:
    same = [replace(p, stage="ast", program_id=f"{n:x}") for n, p in enumerate(KERNELS)]
    found = _report([*KERNELS, *same])
    distances = {key: value for key, value in found.items() if key[2] == "distance"}
    assert {key[0] for key in distances} == {"ast"}
    assert {key[1] for key in distances} >= {"loop_depth", "source_bytes", "operations", "operators"}
    assert set(distances.values()) == {0.0}


def test_distances_grow_with_the_difference() -> None:
    assert wasserstein([0.0] * 20, [1.0] * 20) == 1.0
    assert wasserstein([0.0, 1.0] * 20, [0.0, 1.0] * 20) == 0.0
    assert wasserstein([0, 4], [1, 5]) == pytest.approx(1 / 4.6)
    assert wasserstein([2.0], [2.0]) == 0.0
    assert wasserstein([0.0, 0.1, 0.3], [0.7, 0.9, 1.1]) == float("0.716510903427")
    assert total_variation({"a": 1.0}, {"b": 1.0}) == 1.0
    assert total_variation({"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.75}) == 0.25


def test_reasons_are_told_without_names_and_numbers() -> None:
    assert general_reason("a loop must end, got 'L7'  (ast_00012.c:31)") == "a loop must end, got … (…)"
