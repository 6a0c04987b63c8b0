"""Differential: cycles, accesses and outputs of the model against Verilator, outputs against native C."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from batches import Hardware, Outcome, simulate_all
from every_type import PROGRAMS
from hls_support import options_for
from random_programs import random_program, typed_program

from pipelines.c import Directive
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import NativeRun, run_native
from pipelines.programs import SUITES, draw_data, kernel_programs
from pipelines.rtl.simulation import MemoryTiming

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


@dataclass(frozen=True)
class Case:
    """A program under options on one data set."""

    source: str
    top: str
    options: HlsOptions
    inputs: str = "{}"
    seed: int = 1


def _kernel(name: str) -> Case:
    program = KERNELS[name]
    delay = 1 + sorted(KERNELS).index(name) % 5
    options = options_for(program.source, program.top, pipeline=True, delay=delay)
    return Case(program.source, program.top, options, program.inputs)


def _random(seed: int) -> Case:
    program = random_program(2000 + seed)
    source, top = program.source, program.top
    options = options_for(source, top, pipeline=seed % 4 != 0, delay=1 + seed % 4, period=3.0 + seed)
    return Case(source, top, options, program.inputs, seed=seed)


def _trips(count: int) -> Case:
    inputs = f'{{"n": {{"kind": "constant", "value": {count}}}}}'
    return Case(TRIPS, "f", options_for(TRIPS, "f", pipeline=True, delay=3), inputs)


def _every_type(name: str) -> Case:
    source = PROGRAMS[name]
    inputs = '{"n": {"kind": "constant", "value": 20}}' if "int n" in source else "{}"
    return Case(source, "f", options_for(source, "f", pipeline=name != "early exit", delay=2), inputs)


CASES = {
    **{
        f"kernel {n}": _kernel(n)
        for n in ("gemm", "trisolv", "jacobi-2d", "histogram", "collatz", "spmv-csr")
    },
    **{f"random {seed}": _random(seed) for seed in range(4)},
    **{f"trips {count}": _trips(count) for count in (-3, 1, 9)},
    **{f"types {name}": _every_type(name) for name in PROGRAMS},
    **{name: Case(GEMM, "gemm", HlsOptions(directives=asked)) for name, asked in DIRECTIVES.items()},
}


@dataclass(frozen=True)
class Results:
    """What the model, hardware and native C give for a case."""

    counted: CycleResult
    simulated: Outcome
    native: NativeRun


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, runtime_folder: Path) -> dict[str, Results]:
    """Results of every case; all hardware in one build."""
    folder = tmp_path_factory.mktemp("cases")
    designs: dict[int, Hardware] = {}
    ran: dict[str, tuple[CycleResult, NativeRun]] = {}
    for number, (name, case) in enumerate(CASES.items()):
        compiled = compile_program(case.source, top=case.top, options=case.options)
        data: DataSet = draw_data(compiled.interface, case.inputs, seed=case.seed)
        timing = MemoryTiming(
            read_delay_cycles=case.options.memory_read_delay_cycles,
            write_delay_cycles=case.options.memory_write_delay_cycles,
        )
        designs[number] = Hardware(compiled=compiled, data=data, timing=timing)
        counted = count_cycles(compiled, data, folder=folder / "model")
        ran[name] = counted, run_native(case.source, compiled.interface, data, folder=folder / "native")
    simulated = simulate_all(designs, folder, runtime_folder)
    return {
        name: Results(counted=ran[name][0], simulated=simulated[number], native=ran[name][1])
        for number, name in enumerate(CASES)
    }


@pytest.mark.parametrize("name", CASES)
def test_the_model_the_design_and_native_c_agree(name: str, results: dict[str, Results]) -> None:
    counted, simulated, native = results[name].counted, results[name].simulated, results[name].native
    assert (counted.status, simulated.problem, native.status) == ("ok", None, "ok")
    assert counted.latency_cycles == simulated.cycles
    assert (counted.loads, counted.stores) == (simulated.loads, simulated.stores)
    assert counted.returned == simulated.returned == native.returned
    for array, expected in native.outputs.items():
        np.testing.assert_array_equal(counted.outputs[array], expected, err_msg=array)
        np.testing.assert_array_equal(simulated.outputs[array], expected, err_msg=array)


@pytest.mark.parametrize("count", [-3, 1, 9])
def test_loops_have_their_iterations(count: int, results: dict[str, Results]) -> None:
    assert results[f"trips {count}"].counted.iterations["L0"] == max(0, count)


@pytest.mark.parametrize("name", list(DIRECTIVES))
def test_a_cached_array_is_fetched_once(name: str, results: dict[str, Results]) -> None:
    counted = results[name].counted
    fetched = 4 * 16**3 if name != "cache" else 4 * 16**2
    assert (counted.bytes_read["B"], counted.bytes_written["C"]) == (fetched, 4 * 16**2)


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_of_every_type_equal_native_c(seed: int, tmp_path: Path) -> None:
    row = typed_program(seed).row
    options = options_for(
        row.source, row.top, pipeline=seed % 3 != 0, delay=1 + seed % 4, period=4.0 + seed % 9
    )
    compiled = compile_program(row.source, top=row.top, options=options)
    data = draw_data(compiled.interface, row.inputs, seed=seed)
    native = run_native(row.source, compiled.interface, data, folder=tmp_path / "native")
    assert native.status == "ok", native.reason
    found = count_cycles(compiled, data, folder=tmp_path / "model")
    assert found.status == "ok", found.reason
    assert found.returned == native.returned
    for name, expected in native.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], expected, err_msg=name)
