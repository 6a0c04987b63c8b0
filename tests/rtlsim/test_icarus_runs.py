"""The Icarus test bench: the same protocol, values, banks and failures as with Verilator."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from test_bench_types_and_banks import BANKED, COPY, SAMPLES, TABLE, TIMING
from test_verilator_runs import INTERFACE, PROBE

from pipelines.c.signature import Argument, Bank, BankDimension, Interface, ScalarType
from pipelines.hls import HlsOptions, compile_program
from pipelines.programs import draw_data
from pipelines.rtl.simulation import (
    MemoryTiming,
    SimulationResult,
    simulate_design,
    simulate_with_icarus,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from hls_support import options_for
from random_programs import random_program


def simulate(
    folder: Path, text: str = PROBE, *, timeout_s: float = 120.0, **changes: int
) -> SimulationResult:
    fields = {"bits": 1, "address": 1, "read": 4, "sample": 7, "step": 1} | changes
    return simulate_with_icarus(
        text.format(**fields),
        module="probe_hw",
        interface=INTERFACE,
        data={"A": np.array([5, 6, 7, 8], np.int32), "n": np.array(99, np.int32)},
        timing=MemoryTiming(read_delay_cycles=3, write_delay_cycles=3),
        folder=folder,
        timeout_s=timeout_s,
        cycle_limit=1000,
    )


def test_icarus_keeps_the_delays(tmp_path: Path) -> None:
    result = simulate(tmp_path)
    assert result.status == "ok", result.reason
    assert (result.returned, result.latency_cycles) == (99, 40)
    np.testing.assert_array_equal(result.outputs["A"], [5, 99, 7, 8])
    assert simulate(tmp_path, read=3, sample=6).returned == 6
    assert simulate(tmp_path, sample=6).returned not in (6, 99)
    assert simulate(tmp_path, sample=8).returned not in (6, 99)


def test_icarus_rejects_an_element_outside_the_array(tmp_path: Path) -> None:
    result = simulate(tmp_path, bits=2, address=4)
    assert result.status == "tool_error"
    assert "the design touches an element outside array A at cycle 1" in (result.reason or "")


def test_icarus_rejects_a_design_that_never_ends(tmp_path: Path) -> None:
    result = simulate(tmp_path, step=0)
    assert (result.status, result.reason) == ("timeout", "the simulation ran past its time limit")


def test_a_machine_without_time_for_icarus_is_a_tool_error(tmp_path: Path) -> None:
    result = simulate(tmp_path, timeout_s=1e-5)
    reason = "iverilog: the machine was too busy: no end within 0.0001 s by the clock"
    assert (result.status, result.reason) == ("tool_error", reason)


def test_icarus_rejects_a_result_that_nobody_sets(tmp_path: Path) -> None:
    forgetful = PROBE.replace("if (t == {sample}) result <= m_A_rdata;", "result <= result;")
    assert forgetful != PROBE
    result = simulate(tmp_path, forgetful)
    assert (result.status, result.reason) == (
        "tool_error",
        "icarus: outputs must be defined, got xxxxxxxx in the result",
    )


def test_icarus_rejects_verilog_that_is_none(tmp_path: Path) -> None:
    text = PROBE.replace("assign done = (t == 40);", "assign done = ;")
    result = simulate(tmp_path, text)
    assert result.status == "tool_error"
    assert (result.reason or "").startswith("iverilog: ")


@pytest.mark.parametrize("kind", list(SAMPLES), ids=lambda k: k.c_name)
def test_icarus_passes_values_of_every_type(kind: ScalarType, tmp_path: Path) -> None:
    values = np.array(SAMPLES[kind], kind.dtype)
    interface = Interface(
        top="copy",
        arguments=(
            Argument(name="A", type=kind, shape=(3,), read=True, written=False),
            Argument(name="x", type=kind, shape=(), read=True, written=False),
            Argument(name="B", type=kind, shape=(3,), read=False, written=True),
        ),
        returns=kind,
    )
    result = simulate_with_icarus(
        COPY.format(top=kind.width_bits - 1),
        module="copy_hw",
        interface=interface,
        data={"A": values, "x": values[0], "B": np.zeros(3, kind.dtype)},
        timing=TIMING,
        folder=tmp_path,
    )
    assert result.status == "ok", result.reason
    assert result.outputs["B"].tobytes() == np.array([0, values[2], 0], kind.dtype).tobytes()
    assert (result.loads, result.stores) == ({"A": 1, "B": 0}, {"A": 0, "B": 1})


@pytest.mark.parametrize(("style", "expected"), [("cyclic", 7008), ("block", 6009)])
def test_icarus_knows_banks(style: str, expected: int, tmp_path: Path) -> None:
    whole = BankDimension(style="whole", factor=1, number=0, size=2)
    banks = tuple(
        Bank(
            port=f"A_{n}",
            argument="A",
            shape=(2, 5),
            dimensions=(whole, BankDimension(style=style, factor=2, number=n, size=3)),
        )
        for n in (0, 1)
    )
    result = simulate_with_icarus(
        BANKED.format(address=4),
        module="banked_hw",
        interface=TABLE,
        data={"A": np.arange(10, dtype=np.int32).reshape(2, 5)},
        timing=TIMING,
        banks=banks,
        folder=tmp_path,
    )
    assert result.status == "ok", result.reason
    assert result.outputs["A"].flatten().tolist() == [expected, *range(1, 10)]
    assert (result.loads, result.stores) == ({"A": 2}, {"A": 1})


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(3))
def test_both_simulators_give_the_same(seed: int, tmp_path: Path, runtime_folder: Path) -> None:
    program = random_program(3000 + seed)
    options: HlsOptions = options_for(program.source, program.top, pipeline=seed > 0, delay=1 + seed)
    compiled = compile_program(program.source, top=program.top, options=options)
    given = {
        "verilog": compiled.verilog,
        "module": compiled.module,
        "interface": compiled.interface,
        "data": draw_data(compiled.interface, program.inputs, seed=seed),
        "timing": MemoryTiming(read_delay_cycles=1 + seed, write_delay_cycles=1 + seed),
        "folder": tmp_path,
    }
    one = simulate_design(**given, runtime_folder=runtime_folder)  # type: ignore[arg-type]
    other = simulate_with_icarus(**given)  # type: ignore[arg-type]
    assert one.status == other.status == "ok", (one.reason, other.reason)
    assert (one.latency_cycles, one.returned) == (other.latency_cycles, other.returned)
    assert (one.loads, one.stores) == (other.loads, other.stores)
    for name, values in one.outputs.items():
        np.testing.assert_array_equal(other.outputs[name], values, err_msg=name)
