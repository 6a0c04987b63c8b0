"""Runs of the cycle model: batches, limits, and failures as a status."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.base.tools import ToolMissing
from pipelines.c import Directive
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import (
    ControlEstimate,
    CycleModel,
    build_model,
    count_cycles,
    count_cycles_of,
    estimate_cycles,
    run_model,
    runner,
)
from pipelines.dataset.features import late_loop_of
from pipelines.hls import CompiledDesign, HlsOptions, TransformOptions, compile_program
from pipelines.rtl.simulation import MemoryTiming, simulate_design

SUM = """
int total(int n, short A[8], short B[8])
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += A[i];
        if (A[i] > 4)
            B[i] = s;
    }
    return s;
}
"""


@pytest.fixture(scope="module")
def compiled() -> CompiledDesign:
    options = HlsOptions(directives=(Directive(kind="pipeline", loop="L0"),))
    return compile_program(SUM, top="total", options=options)


def data(count: int) -> DataSet:
    return {"n": np.array(count, np.int32), "A": np.arange(8, dtype=np.int16), "B": np.zeros(8, np.int16)}


def test_a_batch_gives_what_single_runs_give(compiled: CompiledDesign, tmp_path: Path) -> None:
    counts = (0, 8, 3, 8)
    batch = count_cycles_of(compiled, [data(n) for n in counts], folder=tmp_path / "batch")
    assert [r.returned for r in batch] == [0, 28, 3, 28]
    for count, result in zip(counts, batch, strict=True):
        single = count_cycles(compiled, data(count), folder=tmp_path / "single")
        assert (single.latency_cycles, single.block_visits) == (result.latency_cycles, result.block_visits)
        np.testing.assert_array_equal(single.outputs["B"], result.outputs["B"])


def test_accesses_are_counted_when_they_happen(compiled: CompiledDesign, tmp_path: Path) -> None:
    result = count_cycles(compiled, data(8), folder=tmp_path)
    assert result.iterations == {"L0": 8}
    assert (result.loads, result.stores) == ({"A": 8, "B": 0}, {"A": 0, "B": 3})
    assert (result.bytes_read, result.bytes_written) == ({"A": 16, "B": 0}, {"A": 0, "B": 6})


def test_a_build_is_found_again(compiled: CompiledDesign, tmp_path: Path) -> None:
    first = count_cycles(compiled, data(8), folder=tmp_path / "a", build_folder=tmp_path / "builds")
    again = count_cycles(compiled, data(8), folder=tmp_path / "b", build_folder=tmp_path / "builds")
    assert first.build_wall_s > 0
    assert again.build_wall_s == 0
    assert again.latency_cycles == first.latency_cycles
    assert [p.name.split("-")[0] for p in (tmp_path / "builds").iterdir()] == ["model"]


def test_the_cycle_limit_is_that_of_the_simulator(
    compiled: CompiledDesign, tmp_path: Path, runtime_folder: Path
) -> None:
    latency = count_cycles(compiled, data(8), folder=tmp_path).latency_cycles
    assert latency is not None
    for limit, status in ((latency, "ok"), (latency - 1, "timeout")):
        found = count_cycles(compiled, data(8), folder=tmp_path, cycle_limit=limit)
        (tmp_path / f"rtl{limit}").mkdir()
        simulated = simulate_design(
            compiled.verilog,
            module=compiled.module,
            interface=compiled.interface,
            data=data(8),
            timing=MemoryTiming(read_delay_cycles=2, write_delay_cycles=2),
            folder=tmp_path / f"rtl{limit}",
            runtime_folder=runtime_folder,
            cycle_limit=limit,
        )
        assert (found.status, simulated.status) == (status, status)


def test_an_endless_design_is_a_timeout(tmp_path: Path) -> None:
    source = "int f(int x) { while (x != 7) x = x | 1; return x; }"
    endless = compile_program(source, top="f", options=HlsOptions())
    result = count_cycles(endless, {"x": np.array(2, np.int32)}, folder=tmp_path, cycle_limit=10_000)
    assert (result.status, result.reason) == ("timeout", "the cycle model ran past its cycle limit")
    assert late_loop_of(endless, result) == "L0"
    [ended] = count_cycles_of(endless, [{"x": np.array(7, np.int32)}], folder=tmp_path, cycle_limit=10_000)
    assert late_loop_of(endless, ended) is None


@pytest.mark.parametrize(
    ("bounds", "late"),
    [("1 << 30, 8", "L0"), ("8, 1 << 30", "L1"), ("8, 8", None)],
    ids=["outer", "inner", ""],
)
def test_the_loop_that_an_estimate_does_not_leave_is_named(
    tmp_path: Path, bounds: str, late: str | None
) -> None:
    outer, inner = bounds.split(", ")
    source = (
        f"unsigned f(unsigned a[4]) {{ unsigned s = 0; for (int i = 0; i < {outer}; i++)"
        f" for (int k = 0; k < {inner}; k++) s = s * 3 + a[k & 3] + (unsigned)i; return s; }}"
    )
    plain = replace(HlsOptions(), transforms=TransformOptions(flatten_perfect_nests=False))
    compiled = compile_program(source, top="f", options=plain)
    estimate = estimate_cycles(compiled, folder=tmp_path, cycle_limit=100_000)
    assert isinstance(estimate, ControlEstimate)
    assert estimate.late_loop == late


def test_a_model_is_limited_in_processor_time(tmp_path: Path) -> None:
    source = "int f(int x) { while (x != 7) x = x | 1; return x; }"
    endless = compile_program(source, top="f", options=HlsOptions())
    data = {"x": np.array(2, np.int32)}
    built = build_model(endless, folder=tmp_path)
    assert isinstance(built, CycleModel)
    (result,) = run_model(built, [data], folder=tmp_path, timeout_s=1.0, cycle_limit=1 << 40)
    assert (result.status, result.reason) == (
        "timeout",
        "the cycle model ran past its limit of processor time",
    )
    (result,) = run_model(built, [data], folder=tmp_path, timeout_s=1e-5, cycle_limit=1 << 40)
    assert (result.status, result.reason) == (
        "tool_error",
        "the cycle model: the machine was too busy: no end within 0.0001 s by the clock",
    )


def test_a_machine_without_time_for_gcc_is_a_tool_error(compiled: CompiledDesign, tmp_path: Path) -> None:
    result = count_cycles(compiled, data(8), folder=tmp_path, timeout_s=1e-5)
    assert (result.status, result.reason) == (
        "tool_error",
        "gcc: the machine was too busy: no end within 0.0001 s by the clock",
    )


def test_counting_rejects_data_that_lack_an_argument(compiled: CompiledDesign, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="B"):
        count_cycles(compiled, {k: v for k, v in data(1).items() if k != "B"}, folder=tmp_path)


def test_counting_rejects_a_machine_without_gcc(
    compiled: CompiledDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.engine_version.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"^gcc not found on PATH"):
        build_model(compiled, folder=tmp_path)


def test_a_compiler_that_fails_is_a_tool_error(
    compiled: CompiledDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "COMPILER_FLAGS", ("-std=c11", "-no-such-option"))
    result = count_cycles(compiled, data(1), folder=tmp_path)
    assert result.status == "tool_error"
    assert (result.reason or "").startswith("gcc: ")
