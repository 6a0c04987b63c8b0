"""Counts and estimates agree with the text and grow with the design."""

from __future__ import annotations

import re

import pytest

from pipelines.c import Directive
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.hls.report import state_count
from pipelines.hls.units.timing import unit_timing

MIXED = """
int f(int n, short A[16], float F[16])
{
    int t[48] = {0};
    float s = 0.0f;
    for (int i = 0; i < 16; i++) { t[i] = A[i] * n; s += F[i] * 0.5f; }
    for (int i = 0; i < 48; i++) if (t[i] > 3) A[i & 15] = t[i] / n;
    return (int)s;
}
"""


def compiled(source: str, **directive: object) -> CompiledDesign:
    directives = (Directive(**directive),) if directive else ()  # type: ignore[arg-type]
    return compile_program(source, top="f", options=HlsOptions(directives=directives))


def returned(expression: str) -> CompiledDesign:
    return compiled(f"int f(int a, int b, int c, int d, unsigned char e) {{ return {expression}; }}")


def register_bits(verilog: str) -> int:
    """Bits of all registers of the top module except the state."""
    top = verilog[verilog.index("module f_hw") :]
    declarations = re.findall(r"\breg (?:\[(\d+):(\d+)\] )?(\w+)(?: \[0:(\d+)\])?", top)
    return sum(
        (int(high or 0) - int(low or 0) + 1) * (int(last or 0) + 1)
        for high, low, name, last in declarations
        if name != "state"
    )


@pytest.mark.parametrize("pipeline", [False, True])
def test_registers_are_those_of_the_text(pipeline: bool) -> None:
    design = compiled(MIXED, kind="pipeline", loop="L0") if pipeline else compiled(MIXED)
    inside = sum(unit_timing(b.unit, "osu018").flip_flop_count for b in design.scheduled.units)
    states = state_count(design.scheduled)
    state_bits = states if states < 32 else (states - 1).bit_length()
    pipelined = [s for s in design.scheduled.schedules if s.interval_cycles is not None]
    loops = 2 * len(pipelined)  # whether to go on, and a last stage that does nothing
    counted = design.report.register_bits - inside - state_bits
    assert abs(counted - register_bits(design.verilog)) <= loops


def test_area_and_registers_follow_the_width() -> None:
    narrow, wide = returned("(a & 15) * (b & 15)"), returned("a * b")
    assert narrow.report.estimated_area_um2 * 2 < wide.report.estimated_area_um2


def test_constant_operands_cost_less() -> None:
    assert returned("a + 1").report.estimated_area_um2 < returned("a + b").report.estimated_area_um2
    assert returned("a < 9").report.estimated_area_um2 < returned("a < b").report.estimated_area_um2


def test_sums_of_sums_run_one_carry() -> None:
    paths = [returned(e).report.critical_path_ns for e in ("a + b", "a + b + c", "(a + b) ^ ((a + c) & d)")]
    one, two, _ = paths
    assert one < two < one + 1.0


def test_longer_chains_have_longer_paths() -> None:
    paths = [
        returned(e).report.critical_path_ns
        for e in ("a & b", "a + b", "(a + b) < c ? d : a", "((a + b) < c ? d : a) - (b ^ c)")
    ]
    assert paths == sorted(paths)
    assert len(set(paths)) == len(paths)


def test_table_costs_less_than_a_memory() -> None:
    table = "static const int T[64] = {1, 2, 3, 99};int f(int x) { return T[x & 63]; }"
    memory = "int f(int x) { int T[64]; for (int i = 0; i < 64; i++) T[i] = x; return T[x & 63]; }"
    small, large = compiled(table).report, compiled(memory).report
    assert small.estimated_area_um2 * 4 < large.estimated_area_um2
    assert small.register_bits < large.register_bits - 64 * 32 + 200
