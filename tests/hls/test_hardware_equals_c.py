"""Differential: the Verilog of a program, simulated, against the same C compiled natively."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from batches import Hardware, Outcome, difference, simulate_all
from hls_support import options_for
from random_programs import random_program

from pipelines.c import Directive
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import NativeRun, run_native
from pipelines.programs import SUITES, draw_data, kernel_programs
from pipelines.rtl.simulation import MemoryTiming
from pipelines.schemas import ProgramRow

KERNELS = {p.name: p for p in kernel_programs(suites=SUITES, sizes=("small",))}
EVERY_KERNEL = list(product(sorted(KERNELS), (False, True)))
Check = Callable[..., tuple[object, int]]

GEMM = """
void gemm(int A[16][16], int B[16][16], int C[16][16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            int s = C[i][j];
            for (int k = 0; k < 16; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}
"""


def _options(program: ProgramRow, *, pipeline: bool) -> HlsOptions:
    return options_for(program.source, program.top, pipeline=pipeline, delay=3 if pipeline else 2)


@pytest.fixture(scope="module")
def kernel_results(
    tmp_path_factory: pytest.TempPathFactory, runtime_folder: Path
) -> dict[tuple[str, bool], tuple[NativeRun, Outcome]]:
    """What native C and hardware give for every kernel, plain and pipelined; all hardware in one build."""
    designs: dict[int, Hardware] = {}
    natives: dict[str, NativeRun] = {}
    folder = tmp_path_factory.mktemp("kernels")
    for number, (name, pipeline) in enumerate(EVERY_KERNEL):
        program, options = KERNELS[name], _options(KERNELS[name], pipeline=pipeline)
        compiled = compile_program(program.source, top=program.top, options=options)
        data = draw_data(compiled.interface, program.inputs, seed=1)
        delay = options.memory_read_delay_cycles
        timing = MemoryTiming(read_delay_cycles=delay, write_delay_cycles=delay)
        designs[number] = Hardware(compiled=compiled, data=data, timing=timing)
        if name not in natives:
            natives[name] = run_native(program.source, compiled.interface, data, folder=folder / "native")
    found = simulate_all(designs, folder, runtime_folder)
    return {key: (natives[key[0]], found[number]) for number, key in enumerate(EVERY_KERNEL)}


@pytest.mark.parametrize(("name", "pipeline"), EVERY_KERNEL)
def test_kernel_equals_native_c(
    name: str, pipeline: bool, kernel_results: dict[tuple[str, bool], tuple[NativeRun, Outcome]]
) -> None:
    native, simulated = kernel_results[name, pipeline]
    assert (native.status, simulated.problem) == ("ok", None)
    assert difference(Outcome(outputs=native.outputs, returned=native.returned), simulated) is None
    assert simulated.cycles is not None


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
def test_random_program_equals_native_c(seed: int, check_against_native: Check) -> None:
    program = random_program(1000 + seed)
    source, top = program.source, program.top
    options = options_for(source, top, pipeline=seed % 2 == 1, delay=1 + seed % 4, period=3.0 + seed)
    check_against_native(source, top, options, inputs=program.inputs)


def test_gemm_pipelined_takes_the_cycles_the_schedule_says(check_against_native: Check) -> None:
    compiled, cycles = check_against_native(GEMM, "gemm", options_for(GEMM, "gemm", pipeline=True))
    assert compiled.intervals == {"L2": 1}  # type: ignore[attr-defined]
    # 256 times: 16 iterations and their drain, one state to start and a few to store.
    assert 256 * 16 < cycles <= 7525


def test_pipelining_never_costs_cycles_here(check_against_native: Check) -> None:
    plain = check_against_native(GEMM, "gemm", options_for(GEMM, "gemm", pipeline=False))[1]
    fast = check_against_native(GEMM, "gemm", options_for(GEMM, "gemm", pipeline=True))[1]
    assert fast * 2 < plain


def test_division_and_remainder_truncate_toward_zero(check_against_native: Check) -> None:
    source = """
    void f(int A[8], int B[8], int Q[8], int R[8], int C[8])
    {
        for (int i = 0; i < 8; i++) {
            Q[i] = A[i] / B[i];
            R[i] = A[i] % B[i];
            C[i] = A[i] / -7 + A[i] % 10;
        }
    }
    """
    values = np.array([7, -7, 2**31 - 1, -(2**31), 0, -1, 100, -100], np.int32)
    divisors = np.array([2, -2, -3, 7, 5, 1, -1, 2**31 - 1], np.int32)
    data = {"A": values, "B": divisors} | {k: np.zeros(8, np.int32) for k in "QRC"}
    for pipeline in (False, True):
        check_against_native(source, "f", options_for(source, "f", pipeline=pipeline), data=data)


def test_local_array_and_result_value(check_against_native: Check) -> None:
    source = """
    int f(int A[8])
    {
        int t[8];
        for (int i = 0; i < 8; i++) t[7 - i] = A[i] * A[i];
        int sum = 0;
        for (int i = 0; i < 8; i++) sum = sum * 3 + t[i];
        return sum;
    }
    """
    for pipeline in (False, True):
        check_against_native(source, "f", options_for(source, "f", pipeline=pipeline))


def test_guarded_element_outside_the_array_is_not_fetched(check_against_native: Check) -> None:
    source = """
    void f(int A[5], int B[5])
    {
        for (int i = 0; i < 5; i++)
            B[i] = (i > 0 && A[i - 1] > 2 ? A[i - 1] : 0) + (i < 4 ? A[i + 1] : 7);
    }
    """
    for pipeline in (False, True):
        check_against_native(source, "f", options_for(source, "f", pipeline=pipeline))


NESTED_CONDITIONS = """
int f(int A[16], int B[16])
{
    int x = 1, s = 0;
    for (int i = 0; i < 16; i++) {
        if (A[i] > 3) {
            x = 5;
            if (A[i] > 6)
                x = 7;
        }
        s += x;
        B[i] = s;
    }
    return s;
}
"""

OWN_LOWER_BOUND = """
int f(int n, int p__1)
{
    int i = 1, s = 0;
    for (i = i + 1; i < n; i++) {
        if (p__1 > i)
            s += i;
    }
    return s + i * 100;
}
"""


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("source", [NESTED_CONDITIONS, OWN_LOWER_BOUND], ids=["nested", "own lower bound"])
def test_programs_that_were_once_wrong(source: str, pipeline: bool, check_against_native: Check) -> None:
    inputs = '{"n": {"kind": "constant", "value": 3}, "p__1": {"kind": "constant", "value": 9}}'
    options = options_for(source, "f", pipeline=pipeline)
    check_against_native(source, "f", options, inputs=inputs if "int n" in source else "{}")


def test_last_store_is_visible_when_done(check_against_native: Check) -> None:
    source = "void f(int A[4]) { for (int i = 0; i < 4; i++) A[i] = i; }"
    for pipeline in (False, True):
        check_against_native(source, "f", options_for(source, "f", pipeline=pipeline, delay=15))


def test_names_that_verilog_keeps_for_itself(check_against_native: Check) -> None:
    source = "int module(int reg, int wire[4], int state[4]) { state[1] = wire[2]; return reg + 1; }"
    check_against_native(source, "module", HlsOptions())


def test_verilog_of_gemm_is_what_it_was(golden: Callable[[str, str], None]) -> None:
    compiled = compile_program(GEMM, top="gemm", options=options_for(GEMM, "gemm", pipeline=True))
    golden("hls/gemm_pipelined.v", compiled.verilog)


def test_same_input_gives_the_same_verilog() -> None:
    for pipeline in (False, True):
        options = options_for(GEMM, "gemm", pipeline=pipeline)
        texts = {compile_program(GEMM, top="gemm", options=options).verilog for _ in range(2)}
        assert len(texts) == 1


def test_the_last_word_of_a_cached_array_ends_with_the_array(tmp_path: Path) -> None:
    """600 elements are 37 words of 512 bits and a half: lanes past the end must not be fetched."""
    source = (
        "int f(int A[20][30]) { int s = 0;"
        " for (int i = 0; i < 20; i++) for (int j = 0; j < 30; j++) s += A[i][j] * j; return s; }"
    )
    options = HlsOptions(
        directives=(
            Directive(kind="cache", loop="L0", variable="A"),
            Directive(kind="pipeline", loop="L1"),
            Directive(kind="flatten", loop="L1"),
        )
    )
    compiled = compile_program(source, top="f", options=options)
    data = draw_data(compiled.interface, "{}", seed=3)
    native = run_native(source, compiled.interface, data, folder=tmp_path / "native")
    counted = count_cycles(compiled, data, folder=tmp_path)
    assert (counted.status, counted.reason) == ("ok", None)
    assert counted.returned == native.returned
