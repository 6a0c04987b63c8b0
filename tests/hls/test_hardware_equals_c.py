"""Differential: the Verilog of a program, simulated, against the same C compiled natively.

Kernels, random programs and `cases/hardware`, whose keys are

    pipeline: no yes         plain, and with every innermost loop pipelined
    top, delay               the top function; cycles of an access to memory
    data: A = 1 2 3          values of an argument; others are drawn
    intervals: L2 1          initiation intervals by loop, pipelined
    cycles: 4097 7525        least and most cycles, pipelined
    forwards: yes            a value is forwarded, pipelined
    faster: 2                the pipelined design takes less than a half of the cycles
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from batches import Hardware, Outcome, difference, simulate_all
from hls_support import options_for
from random_programs import random_program

from pipelines.c import Directive
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.native import NativeRun, run_native
from pipelines.programs import SUITES, draw_data, kernel_programs
from pipelines.rtl.simulation import MemoryTiming
from tests.support.case_files import read_cases

KERNELS = {p.name: p for p in kernel_programs(suites=SUITES, sizes=("small",))}
CASES = {
    case.name: case
    for case in read_cases(
        Path(__file__).parent / "cases" / "hardware" / "programs.c",
        ("cycles", "data", "delay", "faster", "forwards", "intervals", "pipeline", "top"),
    )
}
RANDOM = {f"random {seed}": seed for seed in range(6)}


def _parameters() -> list[ParameterSet]:
    """Kernels and cases, plain and pipelined, and random programs, a third of them in `make test`."""
    pairs = list(product(sorted(KERNELS), ("no", "yes")))
    pairs += [(name, pipeline) for name, case in CASES.items() for pipeline in case.value("pipeline").split()]
    return [
        pytest.param(
            *pair,
            id=f"{pair[0]}-{pair[1]}".replace(" ", "_"),
            marks=[pytest.mark.slow] if pair == ("2mm", "no") else [],  # 20 s
        )
        for pair in pairs
    ] + [
        pytest.param(name, "yes" if seed % 2 else "no", id=name, marks=[pytest.mark.slow] if seed % 3 else [])
        for name, seed in RANDOM.items()
    ]


PARAMETERS = _parameters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program with its options and data."""

    source: str
    compiled: CompiledDesign
    data: DataSet
    delay: int


def _program(name: str, pipeline: bool) -> Program:
    if name in CASES:
        case = CASES[name]
        source, top, inputs = case.source, case.value("top", "f"), "{}"
        delay, period = int(case.value("delay", "2")), 10.0
    elif name in RANDOM:
        number = RANDOM[name]
        drawn = random_program(1000 + number)
        source, top, inputs = drawn.source, drawn.top, drawn.inputs
        delay, period = 1 + number % 4, 3.0 + number
    else:
        row = KERNELS[name]
        source, top, inputs = row.source, row.top, row.inputs
        delay, period = 3 if pipeline else 2, 10.0
    options = options_for(source, top, pipeline=pipeline, delay=delay, period=period)
    compiled = compile_program(source, top=top, options=options)
    data = draw_data(compiled.interface, inputs, seed=1)
    for line in CASES[name].values("data") if name in CASES else ():
        argument, _, values = line.partition(" = ")
        data[argument] = np.array(values.split(), data[argument].dtype).reshape(data[argument].shape)
    return Program(source=source, compiled=compiled, data=data, delay=delay)


@dataclass(slots=True)
class Results:
    """What native C and hardware give, by program and pipelining; all hardware comes from one build."""

    programs: dict[tuple[str, str], Program]
    native: dict[tuple[str, str], NativeRun]
    hardware: dict[tuple[str, str], Outcome]


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, runtime_folder: Path
) -> Results:
    """Compile and run what the chosen tests of this module need."""
    folder = tmp_path_factory.mktemp("hardware")
    calls = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    keys = [(c.params["name"], c.params["pipeline"]) for c in calls if c is not None]
    programs = {key: _program(key[0], key[1] == "yes") for key in keys}
    designs = {
        number: Hardware(
            compiled=p.compiled,
            data=p.data,
            timing=MemoryTiming(read_delay_cycles=p.delay, write_delay_cycles=p.delay),
        )
        for number, p in enumerate(programs.values())
    }
    natives: dict[str, NativeRun] = {}
    for (name, _), p in programs.items():
        if name not in natives:
            natives[name] = run_native(p.source, p.compiled.interface, p.data, folder=folder / "native")
    simulated = simulate_all(designs, folder, runtime_folder)
    return Results(
        programs=programs,
        native={key: natives[key[0]] for key in programs},
        hardware={key: simulated[number] for number, key in enumerate(programs)},
    )


@pytest.mark.parametrize(("name", "pipeline"), PARAMETERS)
def test_hardware_equals_native_c(name: str, pipeline: str, results: Results) -> None:
    native, simulated = results.native[name, pipeline], results.hardware[name, pipeline]
    assert (native.status, simulated.problem) == ("ok", None), native.reason
    assert difference(Outcome(outputs=native.outputs, returned=native.returned), simulated) is None
    assert simulated.cycles is not None
    case = CASES.get(name)
    if case is None or pipeline == "no":
        return
    if case.values("intervals"):
        intervals = results.programs[name, pipeline].compiled.intervals
        assert " ".join(f"{loop} {n}" for loop, n in intervals.items()) == case.value("intervals")
    if case.values("forwards"):
        schedules = results.programs[name, pipeline].compiled.scheduled.schedules
        assert any(schedule.forwards for schedule in schedules)
    if case.values("cycles"):
        least, most = map(int, case.value("cycles").split())
        assert least <= simulated.cycles <= most
    if case.values("faster"):
        plain = results.hardware[name, "no"].cycles
        assert plain is not None
        assert simulated.cycles * int(case.value("faster")) < plain


GEMM = "\n" + CASES["gemm pipelined takes the cycles that the schedule says"].source


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
