"""Bambu: its report is read from text, its runner is driven by a stand-in and by the tool when installed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pipelines.bambu import (
    BambuError,
    BambuOptions,
    bench_text,
    command_line,
    failure_reason,
    is_installed,
    parse_report,
    run_bambu,
    tool_version,
)
from pipelines.base.tools import ToolMissing
from pipelines.c.signature import INT32, Argument, Interface

REPORT = """
Version: PandA 2023.1 - Revision 04336c4
  Scheduling Information of function scale:
    Number of control steps: 7
    Minimum slack: 2.25
    Estimated max frequency (MHz): 129.03
  State Transition Graph Information of function scale:
    Number of operations: 15
    Number of states: 5
  Module Binding Information for function scale:
    Number of modules instantiated: 21
    Number of performance conflicts: 3
    Estimated resources area (no Muxes and address logic): 400
    Estimated area of MUX21: 12.5
    Total estimated area: 412.5
    Estimated number of DSPs: 3
  Total number of flip-flops in function scale: 97
  Scheduling Information of function main_kernel:
    Minimum slack: 0.75
    Estimated max frequency (MHz): 108.1
    Number of states: 9
    Number of modules instantiated: 30
    Number of performance conflicts: 0
    Estimated resources area (no Muxes and address logic): 250
    Estimated area of MUX21: 7.5
    Number of allocated multiplexers (2-to-1 equivalent): 8
    Estimated number of DSPs: 0
  Total number of flip-flops in function main_kernel: 64
1. Simulation completed with SUCCESS; Execution time 1043 cycles;
  Total cycles             : 1043 cycles
  Number of executions     : 1
"""

INTERFACE = Interface(
    top="kernel",
    arguments=(
        Argument(name="n", type=INT32, shape=(), read=True, written=False),
        Argument(name="A", type=INT32, shape=(2, 2), read=True, written=True),
    ),
    returns=None,
)
DATA = {"n": np.int32(3), "A": np.array([[1, -2], [3, 4]], dtype=np.int32)}


def test_report_sums_the_functions_and_takes_the_worst_slack() -> None:
    report = parse_report(REPORT)
    assert report.version == "PandA 2023.1 - Revision 04336c4"
    assert (report.module_count, report.conflict_count, report.dsp_count) == (51, 3, 3)
    assert (report.estimated_area, report.multiplexer_area) == (650.0, 20.0)
    assert (report.multiplexer_count, report.state_count, report.flip_flop_count) == (8, 14, 161)
    assert (report.minimum_slack_ns, report.frequency_mhz) == (0.75, 108.1)
    assert report.latency_cycles == 1043


def test_report_of_other_text_has_nothing() -> None:
    report = parse_report("bash: bambu: command not found")
    assert report.module_count is None
    assert report.latency_cycles is None


@pytest.mark.parametrize("number", ["1e999", "1e16", "9" * 5000])
@pytest.mark.parametrize(
    "line", ["Number of states: 5", "Minimum slack: 2.25", "Total cycles             : 1043"]
)
def test_report_rejects_numbers_that_no_row_holds(line: str, number: str) -> None:
    label, _, _ = line.rpartition(" ")
    if "cycles" in line and "e" in number:
        number = "9" * 20
    text = REPORT.replace(line, f"{label} {number}")
    assert text != REPORT
    message = f"^bambu printed the number {number[:40]}; accepted: at most 1e\\+15$"
    with pytest.raises(BambuError, match=message):
        parse_report(text)


def test_a_run_that_prints_such_a_number_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, "echo 'Number of states: 1e999'")
    assert (result.status, result.report) == ("tool_error", None)
    assert result.reason == "bambu printed the number 1e999; accepted: at most 1e+15"


def test_failure_names_the_first_error() -> None:
    assert failure_reason("  error -> Function f not found\n error -> other") == "Function f not found"
    assert failure_reason("all is well") is None


def test_command_line_carries_top_delays_and_clock() -> None:
    options = BambuOptions(memory_read_delay_cycles=10, memory_write_delay_cycles=5, simulate=False)
    arguments = command_line("kernel", options)
    assert "--top-fname=kernel" in arguments
    assert "--mem-delay-read=10" in arguments
    assert "--mem-delay-write=5" in arguments
    assert "--simulate" not in arguments
    assert "--max-ulp=0" in command_line("kernel", BambuOptions())


def test_test_bench_lists_every_argument() -> None:
    assert '<testbench n="3" A="{1,-2,3,4}"/>' in bench_text(INTERFACE, DATA)


def test_test_bench_rejects_missing_data() -> None:
    with pytest.raises(BambuError, match=r"^data has no value for argument A$"):
        bench_text(INTERFACE, {"n": np.int32(1)})


def test_options_rejects_a_delay_of_zero() -> None:
    with pytest.raises(BambuError, match=r"^memory_write_delay_cycles must be 1 to 1000, got 0$"):
        BambuOptions(memory_write_delay_cycles=0)


def stand_in(folder: Path, script: str) -> None:
    """An executable called bambu that prints what the real one would."""
    path = folder / "bambu"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, *, timeout_s: float = 20):
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    stand_in(tools, script)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return run_bambu(
        "void kernel(int n, int A[2][2]) {}",
        interface=INTERFACE,
        data=DATA,
        options=BambuOptions(),
        folder=work,
        timeout_s=timeout_s,
    )


def test_runner_reads_report_and_verilog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "echo 'module kernel(); endmodule' > kernel.v; echo 'Total cycles : 12 cycles'"
    result = run(tmp_path, monkeypatch, script)
    assert (result.status, result.reason) == ("ok", None)
    assert result.report is not None
    assert result.report.latency_cycles == 12
    assert result.verilog == "module kernel(); endmodule\n"


def test_runner_turns_a_failure_into_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, "echo 'error -> Function kernel not found' >&2; exit 1")
    assert (result.status, result.reason) == ("tool_error", "Function kernel not found")


@pytest.mark.parametrize(
    ("script", "timeout_s", "status", "reason"),
    [
        ("while :; do :; done", 1, "timeout", "bambu took more than 1 s of processor time"),
        (
            "sleep 60",
            0.01,
            "tool_error",
            "bambu: the machine was too busy: no end within 0.1 s by the clock",
        ),
    ],
)
def test_runner_is_limited_in_processor_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    timeout_s: float,
    status: str,
    reason: str,
) -> None:
    result = run(tmp_path, monkeypatch, script, timeout_s=timeout_s)
    assert (result.status, result.reason) == (status, reason)


def test_runner_rejects_output_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever errors are named in it: it is not all that the tool said."""
    result = run(tmp_path, monkeypatch, "yes 'error -> Function kernel not found'")
    assert (result.status, result.reason) == ("tool_error", "bambu: wrote more than 4 MiB")


def test_runner_rejects_a_simulation_without_cycles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, "exit 0")
    assert result.reason == "bambu's simulation printed no cycles"


def test_runner_without_simulation_needs_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "test ! -e testbench.xml && echo 'Number of states: 3'")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    work = tmp_path / "work"
    work.mkdir()
    options = BambuOptions(simulate=False)
    result = run_bambu(
        "void kernel(int n, int A[2][2]) {}",
        interface=INTERFACE,
        data=None,
        options=options,
        folder=work,
        timeout_s=20,
    )
    assert result.status == "ok"
    assert result.report is not None
    assert result.report.state_count == 3


def test_tool_version_is_what_bambu_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "echo 'Version: PandA 2024.10'")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert tool_version().startswith("PandA 2024.10+")


def test_tool_version_rejects_a_missing_bambu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"^bambu not found on PATH"):
        tool_version()


@pytest.mark.skipif(not is_installed(), reason="bambu is not on the PATH")
def test_installed_bambu_synthesises_a_loop(tmp_path: Path) -> None:
    source = "void kernel(int n, int A[2][2]) { for (int i = 0; i < 2; i++) A[i][0] += n; }"
    result = run_bambu(
        source, interface=INTERFACE, data=DATA, options=BambuOptions(), folder=tmp_path, timeout_s=300
    )
    assert result.status == "ok", result.reason
