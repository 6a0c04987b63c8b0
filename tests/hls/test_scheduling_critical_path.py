"""The estimated longest path is near the one after logic synthesis."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.c import Directive
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.critical_path import interpolated_ns
from pipelines.hls.operators import OperatorLibrary
from pipelines.silicon.synthesis import Target, find_liberty, synthesize_design

SUM = "int f(int a, int b, int A[8]) { return A[a & 7] + A[b & 7] + a; }"
PRODUCT = "int f(int n, int A[8]) { int s = 0; L: for (int i = 0; i < 8; i++) s += A[i] * n; return s; }"
CHOICE = "int f(int n, int A[8]) { L: for (int i = 0; i < 8; i++) if (A[i] > n) n = A[i] + i; return n; }"
COUNTER = """
int f(int n, int A[8]) { int s = 0; L: while (n > 0) { n = n - A[n & 7]; s = s + 1; } return s; }
"""
QUEUE = """
int f(int A[64])
{
    int queue[64], tail = 0, s = 0;
    L: for (int i = 0; i < 64; i++) if (A[i] > 5) queue[tail++] = i;
    while (tail > 0) s ^= queue[--tail];
    return s;
}
"""
PIPELINED = HlsOptions(directives=(Directive(kind="pipeline", loop="L"),))


@pytest.mark.parametrize(
    ("source", "pipelined"),
    [(SUM, False), (PRODUCT, True), (CHOICE, True), (COUNTER, False), (QUEUE, True)],
)
def test_estimate_is_near_synthesis(source: str, pipelined: bool, tmp_path: Path) -> None:
    directives = (Directive(kind="pipeline", loop="L"),) if pipelined else ()
    compiled = compile_program(source, top="f", options=HlsOptions(directives=directives))
    target = Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    result = synthesize_design(compiled.verilog, top=compiled.module, target=target, folder=tmp_path)
    assert result.delay_ns == pytest.approx(compiled.report.critical_path_ns, rel=0.15)


def test_a_faster_clock_makes_shorter_paths() -> None:
    paths = [
        compile_program(SUM, top="f", options=HlsOptions(clock_period_ns=period)).report.critical_path_ns
        for period in (10.0, 2.5)
    ]
    assert paths[1] < paths[0]


def test_a_counter_is_slower_than_alone_beside_a_longer_path() -> None:
    alone, beside = (
        compile_program(source, top="f", options=HlsOptions()).report.critical_path_ns
        for source in ("int f(int a) { return a + 1; }", COUNTER)
    )
    assert alone + 0.8 < beside


def test_a_condition_that_comes_late_makes_the_path_longer() -> None:
    stores = "int f(int n, int A[8]) {{ int t[64]; L: for (int i = 0; i < 8; i++) {} return t[n & 63]; }}"
    bodies = ("t[i] = n;", "if (A[i] * 5 + n > 9) t[i] = n;")
    always, sometimes = (
        compile_program(stores.format(body), top="f", options=PIPELINED).report.critical_path_ns
        for body in bodies
    )
    assert always + 0.5 < sometimes


@pytest.mark.parametrize(("width", "expected"), [(8, 1.0), (4, 0.5), (12, 1.5), (16, 2.0), (70, 2.0)])
def test_delays_lie_between_those_of_measured_widths(width: int, expected: float) -> None:
    library = OperatorLibrary(
        liberty="none", clock_to_q_ns=0.0, setup_ns=0.0, table={"add": {8: (1.0, 0.0), 16: (2.0, 0.0)}}
    )
    assert interpolated_ns(library, "add", width) == expected
