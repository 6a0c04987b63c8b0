"""Runs of Bambu on a C program, and its report."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from pipelines.base.bounds import MEMORY_DELAY_CYCLES
from pipelines.base.summation import ordered_sum
from pipelines.base.tools import find_tool, run_tool
from pipelines.c.signature import DataSet, Interface


class BambuError(ValueError):
    """An option or an input that Bambu cannot be given, or a number that it cannot mean."""


LARGEST = 1e15
_NUMBER = r"\s*[:=]?\s*([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
_VERSION_LINE = re.compile(r"^\s*Version:\s*(.+?)\s*$", re.MULTILINE)
_ERROR = re.compile(r"^\s*(?:error\s*->|.*\berror:)\s*(.+?)\s*$", re.MULTILINE)
_CYCLES = (
    re.compile(r"^\s*Total cycles\s*:\s*(\d+)\s*cycles", re.MULTILINE),
    re.compile(r"Simulation completed with success.*?(?:execution time|cycles)\D*(\d+)", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BambuReport:
    """Counts of one synthesis; None where Bambu said nothing.

    Attributes:
        module_count: modules instantiated; conflict_count: performance conflicts.
        estimated_area, multiplexer_area: Bambu's own units, multiplexers apart.
        multiplexer_count: multiplexers allocated; state_count: states of all controllers.
        flip_flop_count: of the datapath; dsp_count: estimated.
        minimum_slack_ns: smallest over the functions; frequency_mhz: smallest estimated maximum.
        latency_cycles: of the simulation, when one was asked for.
    """

    version: str | None
    module_count: int | None
    conflict_count: int | None
    estimated_area: float | None
    multiplexer_area: float | None
    multiplexer_count: int | None
    state_count: int | None
    flip_flop_count: int | None
    dsp_count: int | None
    minimum_slack_ns: float | None
    frequency_mhz: float | None
    latency_cycles: int | None


def _numbers(text: str, label: str) -> list[float]:
    return [_number(n) for n in re.findall(r"^\s*" + label + _NUMBER, text, re.MULTILINE)]


def _number(text: str) -> float:
    """Return the number; a row has no more than whole numbers of 64 bits, and no infinity."""
    number = float(text)
    if number > LARGEST:
        raise BambuError(f"bambu printed the number {text[:40]}; accepted: at most {LARGEST:g}")
    return number


def _total(text: str, label: str) -> float | None:
    numbers = _numbers(text, label)
    return ordered_sum(numbers) if numbers else None


def _count(text: str, label: str) -> int | None:
    total = _total(text, label)
    return None if total is None else round(total)


def _smallest(text: str, label: str) -> float | None:
    return min(_numbers(text, label), default=None)


def parse_report(text: str) -> BambuReport:
    """Read the report Bambu prints on standard output.

    Args:    text: the whole output, of any verbosity; lines it does not know are skipped.
    Returns: sums over the functions of the design.
    Raises:  BambuError: a number is larger than a row can hold.
    Source:  LLMulator, Figure 8, for the counts.
    """
    version = _VERSION_LINE.search(text)
    cycles = next((m for m in (form.search(text) for form in _CYCLES) if m), None)
    return BambuReport(
        version=version[1] if version else None,
        module_count=_count(text, "Number of modules instantiated"),
        conflict_count=_count(text, "Number of performance conflicts"),
        estimated_area=_total(text, r"Estimated resources area(?: \(no Muxes and address logic\))?"),
        multiplexer_area=_total(text, "Estimated area of MUX21"),
        multiplexer_count=_count(text, "Number of allocated multiplexers(?: \\(2-to-1 equivalent\\))?"),
        state_count=_count(text, "Number of states"),
        flip_flop_count=_count(text, r"Total number of flip-flops in function \w+"),
        dsp_count=_count(text, "Estimated number of DSPs"),
        minimum_slack_ns=_smallest(text, "Minimum slack"),
        frequency_mhz=_smallest(text, r"Estimated max frequency \(MHz\)"),
        latency_cycles=round(_number(cycles[1])) if cycles else None,
    )


def failure_reason(text: str) -> str | None:
    """Return the first error Bambu named, None when there is none."""
    error = _ERROR.search(text)
    return error[1] if error else None


EXECUTABLE = "bambu"
TOOL = "bambu"
ENGINE = "bambu-verilator"
_VERSION = "18cdb68e"
"""Raise it when this package gives Bambu other arguments or reads its results differently."""
PACKAGE = "https://github.com/ferrandi/PandA-bambu"


@dataclass(frozen=True, slots=True, kw_only=True)
class BambuOptions:
    """One configuration.

    Attributes:
        memory_read_delay_cycles, memory_write_delay_cycles: of external memories
            (`--mem-delay-read`, `--mem-delay-write`; LLMulator section 6.3).
        clock_period_ns: clock period of the schedule.
        device: Bambu's name of the device; None = default.
        simulate: run the generated test bench with Verilator and compare outputs bit by bit.
    """

    memory_read_delay_cycles: int = 2
    memory_write_delay_cycles: int = 2
    clock_period_ns: float = 10.0
    device: str | None = None
    simulate: bool = True

    def __post_init__(self) -> None:
        least, most = MEMORY_DELAY_CYCLES
        for name in ("memory_read_delay_cycles", "memory_write_delay_cycles"):
            value = getattr(self, name)
            if not least <= value <= most:
                raise BambuError(f"{name} must be {least} to {most}, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BambuResult:
    """Result of one run.

    Attributes:
        status: ok, timeout or tool_error.
        verilog: text of the design, None when there is none.
        wall_s: elapsed time in seconds.
    """

    status: str
    reason: str | None
    report: BambuReport | None
    verilog: str | None
    wall_s: float


def is_installed(environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether Bambu is on the PATH (of a given environment, or of this process)."""
    path = None if environment is None else environment.get("PATH", os.defpath)
    return shutil.which(EXECUTABLE, path=path) is not None


def tool_version() -> str:
    """Return the version of Bambu as it names itself, and of this package.

    Raises: ToolMissing: Bambu is not on the PATH.
    """
    return _version_of(find_tool(EXECUTABLE, PACKAGE))


@cache
def _version_of(executable: str) -> str:
    run = run_tool([executable, "--version"], folder=Path("/"), timeout_s=60)
    named = parse_report(f"{run.stdout}\n{run.stderr}").version or "unknown"
    return f"{named}+{_VERSION}"


def command_line(top: str, options: BambuOptions) -> list[str]:
    """Return the arguments of Bambu for `program.c` in the working folder, the executable excluded."""
    arguments = [
        "program.c",
        f"--top-fname={top}",
        f"--clock-period={options.clock_period_ns:g}",
        f"--mem-delay-read={options.memory_read_delay_cycles}",
        f"--mem-delay-write={options.memory_write_delay_cycles}",
        "-v3",
    ]
    if options.device is not None:
        arguments.append(f"--device-name={options.device}")
    if options.simulate:
        arguments += ["--simulate", "--simulator=VERILATOR", "--generate-tb=testbench.xml", "--max-ulp=0"]
    return arguments


def bench_text(interface: Interface, data: DataSet) -> str:
    """Return Bambu's XML test bench: one attribute per argument, arrays in braces in C order.

    Raises: BambuError: an argument has no value.
    """
    attributes: list[str] = []
    for argument in interface.arguments:
        if argument.name not in data:
            raise BambuError(f"data has no value for argument {argument.name}")
        values: list[float | int] = np.asarray(data[argument.name]).reshape(-1).tolist()
        text = ",".join(repr(v) for v in values)
        attributes.append(f"{argument.name}={quoteattr('{' + text + '}' if argument.is_array else text)}")
    head = '<?xml version="1.0"?>\n<function>\n  <testbench '
    return head + " ".join(attributes) + "/>\n</function>\n"


def run_bambu(
    source: str,
    *,
    interface: Interface,
    data: DataSet | None,
    options: BambuOptions,
    folder: Path,
    timeout_s: float,
) -> BambuResult:
    """Synthesise a program with Bambu, and simulate it on request.

    Args:    source: C text without includes of local files; data: None when nothing is simulated; folder:
             empty, private to this call.
    Returns: the report and the Verilog, or status and reason of the failure.
    Raises:  ToolMissing: Bambu is not on the PATH. BambuError: the data does not fit the interface.
    """
    executable = find_tool(EXECUTABLE, PACKAGE)
    (folder / "program.c").write_text(source)
    if options.simulate:
        (folder / "testbench.xml").write_text(bench_text(interface, data or {}))
    argv = [executable, *command_line(interface.top, options)]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    text = f"{run.stdout}\n{run.stderr}"
    try:
        report = parse_report(text)
    except BambuError as error:
        return BambuResult(
            status="tool_error", reason=str(error), report=None, verilog=None, wall_s=run.wall_s
        )
    if run.timed_out and run.machine_fault is None:
        status, reason = "timeout", f"bambu took more than {timeout_s:g} s of processor time"
    elif run.returncode != 0:
        named = failure_reason(text) if run.limit is None else None
        status, reason = "tool_error", named or f"bambu: {run.last_words(200)}"
    elif options.simulate and report.latency_cycles is None:
        status, reason = "tool_error", "bambu's simulation printed no cycles"
    else:
        status, reason = "ok", None
    design = folder / f"{interface.top}.v"
    return BambuResult(
        status=status,
        reason=reason,
        report=report,
        verilog=design.read_text() if design.is_file() else None,
        wall_s=run.wall_s,
    )
