"""The Verilator test bench: memory timing, limits, and failures as a status."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.base.tools import CLOCK, PROCESSOR, ToolMissing, ToolRun
from pipelines.c.signature import INT32, Argument, Interface
from pipelines.rtl.simulation import MemoryTiming, SimulationResult, failed_run, simulate_design

INTERFACE = Interface(
    top="probe",
    arguments=(
        Argument(name="A", type=INT32, shape=(4,), read=True, written=True),
        Argument(name="n", type=INT32, shape=(), read=True, written=False),
    ),
    returns=INT32,
)

# Writes n to A[1] in cycle 1, then reads A[1] in cycle READ and samples in cycle SAMPLE.
PROBE = """
module probe_hw (input clk, input rst, input start, output done, input signed [31:0] s_n,
  output reg signed [31:0] result, output m_A_re, output [{bits}:0] m_A_raddr, input signed [31:0] m_A_rdata,
  output m_A_we, output [{bits}:0] m_A_waddr, output signed [31:0] m_A_wdata);
  reg [7:0] t;
  assign m_A_we = (t == 1);
  assign m_A_waddr = {address};
  assign m_A_wdata = s_n;
  assign m_A_re = (t == {read});
  assign m_A_raddr = 1;
  assign done = (t == 40);
  always @(posedge clk) begin
    if (rst) t <= 0;
    else if (start || t != 0) t <= t + {step};
    if (t == {sample}) result <= m_A_rdata;
  end
endmodule
"""


def simulate(
    tmp_path: Path, runtime_folder: Path, *, timeout_s: float = 120.0, **changes: int
) -> SimulationResult:
    fields = {"bits": 1, "address": 1, "read": 4, "sample": 7, "step": 1} | changes
    folder = tmp_path / "run"
    folder.mkdir()
    return simulate_design(
        PROBE.format(**fields),
        module="probe_hw",
        interface=INTERFACE,
        data={"A": np.array([5, 6, 7, 8], np.int32), "n": np.array(99, np.int32)},
        timing=MemoryTiming(read_delay_cycles=3, write_delay_cycles=3),
        folder=folder,
        runtime_folder=runtime_folder,
        timeout_s=timeout_s,
        cycle_limit=1000,
    )


def test_a_read_sees_a_write_from_its_delay_on(tmp_path: Path, runtime_folder: Path) -> None:
    result = simulate(tmp_path, runtime_folder)
    assert (result.status, result.returned, result.latency_cycles) == ("ok", 99, 40)
    np.testing.assert_array_equal(result.outputs["A"], [5, 99, 7, 8])


def test_a_read_one_cycle_earlier_sees_the_old_element(tmp_path: Path, runtime_folder: Path) -> None:
    assert simulate(tmp_path, runtime_folder, read=3, sample=6).returned == 6


@pytest.mark.sample(2)
@pytest.mark.parametrize("sample", [6, 8])
def test_data_stands_for_one_cycle_only(tmp_path: Path, runtime_folder: Path, sample: int) -> None:
    assert simulate(tmp_path, runtime_folder, sample=sample).returned not in (6, 99)


def test_an_element_outside_the_array_is_a_tool_error(tmp_path: Path, runtime_folder: Path) -> None:
    result = simulate(tmp_path, runtime_folder, bits=2, address=4)
    assert result.status == "tool_error"
    assert "the design touches an element outside array A at cycle 1" in (result.reason or "")


def test_a_design_that_never_ends_is_a_timeout(tmp_path: Path, runtime_folder: Path) -> None:
    result = simulate(tmp_path, runtime_folder, step=0)
    assert (result.status, result.reason) == ("timeout", "the simulation ran past its time limit")


def test_a_machine_without_time_is_a_tool_error(tmp_path: Path, runtime_folder: Path) -> None:
    result = simulate(tmp_path, runtime_folder, timeout_s=1e-5)
    reason = "verilator: the machine was too busy: no end within 0.0001 s by the clock"
    assert (result.status, result.reason) == ("tool_error", reason)


@pytest.mark.parametrize(
    ("run", "status", "reason"),
    [
        (
            ToolRun(returncode=None, stdout="", stderr="", wall_s=9.0, limit=PROCESSOR),
            "timeout",
            "g++ ran past its limit of processor time",
        ),
        (
            ToolRun(returncode=None, stdout="", stderr="", wall_s=9.0, limit=CLOCK, machine_fault="busy"),
            "tool_error",
            "g++: busy",
        ),
        (ToolRun(returncode=1, stdout="", stderr="no\nway", wall_s=9.0), "tool_error", "g++: no way"),
    ],
    ids=["processor", "clock", "failure"],
)
def test_a_tool_that_fails_is_a_status_and_a_reason(run: ToolRun, status: str, reason: str) -> None:
    assert failed_run("g++", run) == (status, reason)


def test_a_register_without_reset_is_noticed(tmp_path: Path, runtime_folder: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    text = PROBE.format(bits=1, address=1, read=4, sample=7, step=1)
    forgetful = text.replace("if (t == 7) result <= m_A_rdata;", "result <= result;")
    assert forgetful != text
    result = simulate_design(
        forgetful,
        module="probe_hw",
        interface=INTERFACE,
        data={"A": np.zeros(4, np.int32), "n": np.array(0, np.int32)},
        timing=MemoryTiming(read_delay_cycles=1, write_delay_cycles=1),
        folder=folder,
        runtime_folder=runtime_folder,
        cycle_limit=1000,
    )
    assert result.status == "ok"
    assert result.returned != 0


def test_verilog_that_is_none_is_a_tool_error(tmp_path: Path, runtime_folder: Path) -> None:
    result = simulate_design(
        "module probe_hw (input clk; endmodule",
        module="probe_hw",
        interface=INTERFACE,
        data={"A": np.zeros(4, np.int32), "n": np.array(0, np.int32)},
        timing=MemoryTiming(read_delay_cycles=1, write_delay_cycles=1),
        folder=tmp_path,
        runtime_folder=runtime_folder,
    )
    assert result.status == "tool_error"
    assert "syntax error" in (result.reason or "")


def test_simulation_rejects_a_machine_without_verilator(
    tmp_path: Path, runtime_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.rtl.simulation import verilator

    verilator._verilator_root.cache_clear()
    verilator.engine_version.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"^verilator_bin not found on PATH; install"):
        simulate(tmp_path, runtime_folder)
