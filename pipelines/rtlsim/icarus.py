"""Icarus Verilog: the same protocol as the Verilator test bench, as a check of one simulator by another.

Icarus knows undefined bits, so an output that depends on a register nobody set is seen. It interprets: use
Verilator where time matters.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from pipelines.interface import Bank, DataSet, Interface
from pipelines.rtlsim.exchange import Observed, banks_of, decode_output, written_arrays
from pipelines.rtlsim.harness import MemoryTiming
from pipelines.rtlsim.icarus_bench import LIMIT_MESSAGE, bench_text
from pipelines.rtlsim.ports import missing_control, module_ports
from pipelines.rtlsim.result import SimulationResult, failed_simulation, observed_simulation
from pipelines.tools import ToolRun, find_tool, run_tool


class _Undefined(ValueError):
    """An output has bits that nobody set."""


@cache
def icarus_version() -> str:
    """Version of Icarus Verilog.

    Raises: ToolMissing: not installed.
    """
    run = run_tool(
        [find_tool("iverilog", "iverilog"), "-V"], folder=Path("/"), timeout_s=20, of_processor=True
    )
    found = re.search(r"version (\S+)", run.stdout)
    return found.group(1) if found else "unknown"


def _write_inputs(interface: Interface, data: DataSet, folder: Path) -> None:
    """One file of hexadecimal words for each argument."""
    for argument in interface.arguments:
        kind = argument.type
        values = np.ascontiguousarray(data[argument.name], dtype=kind.dtype)
        words = values.reshape(-1).view(f"u{kind.width_bits // 8}").tolist()
        text = "".join(f"{word:x}\n" for word in words)
        (folder / f"in_{argument.name}.hex").write_text(text, encoding="ascii")


def _word(text: str, place: str) -> int:
    """A word of the output.

    Raises: _Undefined: it has bits that are not defined.
    """
    if not re.fullmatch(r"[0-9a-f]+", text):
        raise _Undefined(f"outputs must be defined, got {text} in {place}")
    return int(text, 16)


def _read_output(interface: Interface, banks: Sequence[Bank], text: str) -> Observed:
    """What the output file says: latency, result, the accesses of each bank, the elements of each array.

    Raises: _Undefined: a bit of an output is not defined.
    """
    words = iter(text.split())
    cycles, result = int(next(words)), next(words)
    head = struct.pack("<QQ", cycles, _word(result, "the result") if interface.returns else 0)
    counts = struct.pack(f"<{2 * len(banks)}q", *(int(next(words)) for _ in range(2 * len(banks))))
    arrays: list[bytes] = []
    for argument in written_arrays(interface):
        places = (f"element {k} of array {argument.name}" for k in range(argument.element_count))
        bits = [_word(next(words), place) for place in places]
        arrays.append(np.array(bits, dtype=f"<u{argument.type.width_bits // 8}").tobytes())
    return decode_output(interface, banks, head + counts + b"".join(arrays))


def _refused(reason: str, build_wall_s: float, simulate_wall_s: float = 0.0) -> SimulationResult:
    run = ToolRun(returncode=1, stdout="", stderr=reason, wall_s=0.0)
    return failed_simulation("icarus", run, build_wall_s, simulate_wall_s)


def simulate_with_icarus(
    verilog: str,
    *,
    module: str,
    interface: Interface,
    data: DataSet,
    timing: MemoryTiming,
    folder: Path,
    banks: Sequence[Bank] | None = None,
    timeout_s: float = 120.0,
    cycle_limit: int = 50_000_000,
) -> SimulationResult:
    """Simulate a design on one data set with Icarus Verilog; like `simulate_design`.

    Returns: latency and outputs, or the status and reason of what failed; an output with undefined bits is a
             tool_error.
    Raises:  ToolMissing: Icarus is not installed.
    """
    all_banks = banks_of(interface, banks or ())
    ports = module_ports(verilog, module)
    missing = missing_control(ports)
    if missing is not None:
        return _refused(missing, 0.0)
    (folder / "design.v").write_text(verilog)
    (folder / "bench.v").write_text(bench_text(interface, module, timing, banks=all_banks, ports=ports))
    _write_inputs(interface, data, folder)
    argv = [find_tool("iverilog", "iverilog"), "-g2005", "-s", "bench", "-o", "bench.vvp"]
    built = run_tool([*argv, "design.v", "bench.v"], folder=folder, timeout_s=timeout_s, of_processor=True)
    if built.returncode != 0:
        return failed_simulation("iverilog", built, built.wall_s)
    argv = [find_tool("vvp", "iverilog"), "-n", "bench.vvp", f"+limit={min(cycle_limit, 2**31 - 1)}"]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    output = folder / "output.txt"
    if LIMIT_MESSAGE in run.stdout:
        run = ToolRun(returncode=None, stdout="", stderr="", wall_s=run.wall_s)
    if run.returncode != 0 or not output.is_file():
        return failed_simulation("the simulation", run, built.wall_s, run.wall_s)
    try:
        observed = _read_output(interface, all_banks, output.read_text(encoding="ascii"))
    except _Undefined as error:
        return _refused(str(error), built.wall_s, run.wall_s)
    return observed_simulation(observed, built.wall_s, run.wall_s)
