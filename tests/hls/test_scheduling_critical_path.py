"""The estimated longest path is near the one after logic synthesis."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.hls import Directive, HlsOptions, compile_program
from pipelines.synthesis import Target, find_liberty, synthesize_design

SUM = "int f(int a, int b, int A[8]) { return A[a & 7] + A[b & 7] + a; }"
PRODUCT = "int f(int n, int A[8]) { int s = 0; L: for (int i = 0; i < 8; i++) s += A[i] * n; return s; }"
CHOICE = "int f(int n, int A[8]) { L: for (int i = 0; i < 8; i++) if (A[i] > n) n = A[i] + i; return n; }"


@pytest.mark.parametrize(("source", "pipelined"), [(SUM, False), (PRODUCT, True), (CHOICE, True)])
def test_estimate_is_near_synthesis(source: str, pipelined: bool, tmp_path: Path) -> None:
    directives = (Directive(kind="pipeline", loop="L"),) if pipelined else ()
    compiled = compile_program(source, top="f", options=HlsOptions(directives=directives))
    target = Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    result = synthesize_design(compiled.verilog, top=compiled.module, target=target, folder=tmp_path)
    assert result.delay_ns == pytest.approx(compiled.report.critical_path_ns, rel=0.2)


def test_a_faster_clock_makes_shorter_paths() -> None:
    paths = [
        compile_program(SUM, top="f", options=HlsOptions(clock_period_ns=period)).report.critical_path_ns
        for period in (10.0, 2.5)
    ]
    assert paths[1] < paths[0]
