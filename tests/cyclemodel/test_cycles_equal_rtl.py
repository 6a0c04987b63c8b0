"""Differential: cycles, accesses and outputs of the model against Verilator, outputs against native C."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from every_type import PROGRAMS
from hls_support import options_for
from random_programs import random_program
from typed_programs import typed_program

from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.hls import Directive, HlsOptions, compile_program
from pipelines.interface import DataSet
from pipelines.native import run_native
from pipelines.programs import SUITES, draw_data, kernel_programs
from pipelines.rtlsim import MemoryTiming, simulate_design

KERNELS = {p.name: p for p in kernel_programs(suites=SUITES, sizes=("small",))}

# Loops that do not run, run once, or end when data says so.
TRIPS = """
int f(int n, int A[16], int B[16])
{
    int s = 0;
    for (int i = 0; i < n; i++) s += A[i & 15] * 3;
    int k = 0;
    while (k < 16 && A[k] != 7) { B[k] = s / (A[k] * A[k] + 1); k++; }
    do { s ^= k; k--; } while (k > 4);
    for (int i = 4; i >= n; i--) B[i & 15] += i;
    return s;
}
"""


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

PIPELINE = Directive(kind="pipeline", loop="L2")
DIRECTIVES = {
    "cyclic banks": (
        PIPELINE,
        Directive(kind="unroll", loop="L2", value=4),
        Directive(kind="partition", variable="A", style="cyclic", value=4, dimension=2),
        Directive(kind="partition", variable="B", style="cyclic", value=4, dimension=1),
    ),
    "banks with a rest": (
        PIPELINE,
        Directive(kind="partition", variable="A", style="block", value=3, dimension=2),
        Directive(kind="partition", variable="C", style="cyclic", value=3, dimension=0),
    ),
    "an epilogue": (Directive(kind="unroll", loop="L2", value=5),),
    "cache": (Directive(kind="cache", loop="L0", variable="B"), PIPELINE),
}


def check(
    source: str,
    top: str,
    options: HlsOptions,
    folder: Path,
    runtime: Path,
    *,
    inputs: str = "{}",
    seed: int = 1,
) -> CycleResult:
    """Count the cycles of a program; the simulated design and native C must agree."""
    compiled = compile_program(source, top=top, options=options)
    data: DataSet = draw_data(compiled.interface, inputs, seed=seed)
    found = count_cycles(compiled, data, folder=folder / "model")
    assert found.status == "ok", found.reason
    native = run_native(source, compiled.interface, data, folder=folder / "native")
    assert native.status == "ok", native.reason
    (folder / "rtl").mkdir()
    simulated = simulate_design(
        compiled.verilog,
        module=compiled.module,
        interface=compiled.interface,
        data=data,
        timing=MemoryTiming(
            read_delay_cycles=options.memory_read_delay_cycles,
            write_delay_cycles=options.memory_write_delay_cycles,
        ),
        banks=compiled.banks,
        folder=folder / "rtl",
        runtime_folder=runtime,
    )
    assert simulated.status == "ok", simulated.reason
    assert found.latency_cycles == simulated.latency_cycles
    assert (found.loads, found.stores) == (simulated.loads, simulated.stores)
    assert found.returned == simulated.returned == native.returned
    for name, expected in native.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], expected, err_msg=name)
        np.testing.assert_array_equal(simulated.outputs[name], expected, err_msg=name)
    return found


@pytest.mark.parametrize("name", ["gemm", "trisolv", "jacobi-2d", "histogram", "collatz", "spmv-csr"])
def test_kernel_takes_the_cycles_that_its_rtl_takes(name: str, tmp_path: Path, runtime_folder: Path) -> None:
    program = KERNELS[name]
    number = sorted(KERNELS).index(name)
    options = options_for(program.source, program.top, pipeline=True, delay=1 + number % 5)
    check(program.source, program.top, options, tmp_path, runtime_folder, inputs=program.inputs)


@pytest.mark.parametrize("seed", range(4))
def test_random_program_takes_the_cycles_that_its_rtl_takes(
    seed: int, tmp_path: Path, runtime_folder: Path
) -> None:
    source = random_program(2000 + seed)
    options = options_for(source, "fuzz", pipeline=seed % 4 != 0, delay=1 + seed % 4, period=3.0 + seed)
    check(source, "fuzz", options, tmp_path, runtime_folder, seed=seed)


@pytest.mark.parametrize("count", [-3, 1, 9])
def test_loops_of_any_trip_count(count: int, tmp_path: Path, runtime_folder: Path) -> None:
    inputs = f'{{"n": {{"kind": "constant", "value": {count}}}}}'
    options = options_for(TRIPS, "f", pipeline=True, delay=3)
    found = check(TRIPS, "f", options, tmp_path, runtime_folder, inputs=inputs)
    assert found.iterations["L0"] == max(0, count)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_programs_of_every_type(name: str, tmp_path: Path, runtime_folder: Path) -> None:
    source = PROGRAMS[name]
    inputs = '{"n": {"kind": "constant", "value": 20}}' if "int n" in source else "{}"
    options = options_for(source, "f", pipeline=name != "early exit", delay=2)
    check(source, "f", options, tmp_path, runtime_folder, inputs=inputs)


@pytest.mark.parametrize("name", list(DIRECTIVES))
def test_designs_under_directives(name: str, tmp_path: Path, runtime_folder: Path) -> None:
    found = check(GEMM, "gemm", HlsOptions(directives=DIRECTIVES[name]), tmp_path, runtime_folder)
    fetched_once = 4 * 16**3 if name != "cache" else 4 * 16**2
    assert (found.bytes_read["B"], found.bytes_written["C"]) == (fetched_once, 4 * 16**2)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_of_every_type_equal_native_c(seed: int, tmp_path: Path) -> None:
    source = typed_program(seed).text
    options = options_for(source, "fuzz", pipeline=seed % 3 != 0, delay=1 + seed % 4, period=4.0 + seed % 9)
    compiled = compile_program(source, top="fuzz", options=options)
    data = draw_data(compiled.interface, "{}", seed=seed)
    native = run_native(source, compiled.interface, data, folder=tmp_path / "native")
    assert native.status == "ok", native.reason
    found = count_cycles(compiled, data, folder=tmp_path / "model")
    assert found.status == "ok", found.reason
    assert found.returned == native.returned
    for name, expected in native.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], expected, err_msg=name)
