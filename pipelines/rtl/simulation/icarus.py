"""Icarus Verilog: the same protocol as the Verilator test bench, as a check of one simulator by another.

Icarus models undefined bits, so it detects outputs that depend on registers without a value. It is an
interpreter: use Verilator where time matters.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from pipelines.base.tools import ToolRun, find_tool, run_tool
from pipelines.c.signature import Argument, Bank, DataSet, Interface
from pipelines.rtl.simulation.exchange import (
    Observed,
    SimulationResult,
    banks_of,
    decode_output,
    failed_simulation,
    observed_simulation,
    written_arrays,
)
from pipelines.rtl.simulation.harness import MemoryTiming, Port, missing_control, module_ports

ICARUS = "icarus"
LIMIT_MESSAGE = "the cycle limit is reached"
GARBAGE = "64'hA5A5A5A5A5A5A5A5"


@cache
def icarus_version() -> str:
    """Return the version of the `iverilog` on PATH.

    Raises: ToolMissing: it is not installed.
    """
    argv = [find_tool("iverilog", "iverilog"), "-V"]
    run = run_tool(argv, folder=Path("/"), timeout_s=30, memory_bytes=None)
    return run.stdout.removeprefix("Icarus Verilog version ").partition(" (")[0]


@dataclass(slots=True)
class _Bench:
    """The text of one test bench; only ports that the design has are driven."""

    interface: Interface
    module: str
    banks: Sequence[Bank]
    ports: dict[str, Port]
    timing: MemoryTiming

    def argument_of(self, bank: Bank) -> Argument:
        return next(a for a in self.interface.arrays if a.name == bank.argument)

    def has(self, bank: Bank, last: str) -> bool:
        return f"m_{bank.port}_{last}" in self.ports

    def signals(self) -> list[str]:
        lines = [
            f"  {'wire' if p.output else 'reg'} [{p.width_bits - 1}:0] {p.name};" for p in self.ports.values()
        ]
        connections = ", ".join(f".{name}({name})" for name in self.ports)
        return [*lines, f"  {self.module} dut ({connections});"]

    def storage(self) -> list[str]:
        lines = ["  integer cycle, limit, slot, place, file, k;", "  reg running;"]
        for a in self.interface.arguments:
            lines.append(f"  reg [{a.type.width_bits - 1}:0] a_{a.name} [0:{a.element_count - 1}];")
        for b in self.banks:
            width = self.argument_of(b).type.width_bits
            for side, delay in (("r", self.timing.read_delay_cycles), ("w", self.timing.write_delay_cycles)):
                lines.append(f"  reg [{width - 1}:0] {side}value_{b.port} [0:{delay}];")
                lines.append(f"  reg [{delay}:0] {side}due_{b.port};")
                lines.append(f"  integer {side}count_{b.port};")
            lines.append(f"  integer wplace_{b.port} [0:{self.timing.write_delay_cycles}];")
        return lines

    def element_function(self, bank: Bank) -> list[str]:
        """Return a function from an address in a bank to the element; -1 past the array's end."""
        lines = [
            f"  function integer element_{bank.port}(input integer address);",
            "    integer rest, index;",
        ]
        lines += ["    begin", f"      element_{bank.port} = 0; rest = address;"]
        stride = 1
        for size, dimension in reversed(list(zip(bank.shape, bank.dimensions, strict=True))):
            first, step = dimension.element(0), dimension.element(1) - dimension.element(0)
            lines.append(f"      index = {first} + {step} * (rest % {dimension.size});")
            lines.append(f"      rest = rest / {dimension.size};")
            lines.append(f"      if (index >= {size}) element_{bank.port} = -1;")
            lines.append(f"      else if (element_{bank.port} >= 0)")
            lines.append(f"        element_{bank.port} = element_{bank.port} + index * {stride};")
            stride *= size
        lines.append(f"      if (address >= {bank.element_count}) element_{bank.port} = -1;")
        return [*lines, "    end", "  endfunction"]

    def start_lines(self) -> list[str]:
        lines = ['    if (!$value$plusargs("limit=%d", limit)) limit = 1000000;']
        lines += [f'    $readmemh("in_{a.name}.hex", a_{a.name});' for a in self.interface.arguments]
        for a in self.interface.scalars:
            if f"s_{a.name}" in self.ports:
                lines.append(f"    s_{a.name} = a_{a.name}[0];")
        for b in self.banks:
            lines.append(
                f"    rdue_{b.port} = 0; wdue_{b.port} = 0; rcount_{b.port} = 0; wcount_{b.port} = 0;"
            )
        lines.append("    clk = 0; rst = 1; start = 0; #1;")
        lines.append("    for (k = 0; k < 2; k = k + 1) begin clk = 1; #1; clk = 0; #1; end")
        return [*lines, "    rst = 0; running = 1; cycle = 0;"]

    def settle_lines(self, bank: Bank) -> list[str]:
        """Return the events of a cycle: a write becomes visible, data of a read arrive."""
        lines: list[str] = []
        name, width = bank.port, self.argument_of(bank).type.width_bits
        if self.has(bank, "we"):
            lines += [
                f"      slot = cycle % {self.timing.write_delay_cycles + 1};",
                f"      if (wdue_{name}[slot]) a_{bank.argument}[wplace_{name}[slot]] = wvalue_{name}[slot];",
                f"      wdue_{name}[slot] = 0;",
            ]
        if self.has(bank, "rdata"):
            lines += [
                f"      slot = cycle % {self.timing.read_delay_cycles + 1};",
                f"      m_{name}_rdata = rdue_{name}[slot] ? rvalue_{name}[slot]",
                f"        : {width}'d0 | ({GARBAGE} ^ cycle);",
                f"      rdue_{name}[slot] = 0;",
            ]
        return lines

    def access_lines(self, bank: Bank, side: str) -> list[str]:
        """Return the requests of a design at one port in a cycle."""
        name = bank.port
        enable, address = f"m_{name}_{side}e", f"m_{name}_{side}addr"
        delay = self.timing.read_delay_cycles if side == "r" else self.timing.write_delay_cycles
        moved = (
            [f"rvalue_{name}[slot] = a_{bank.argument}[place];"]
            if side == "r"
            else [f"wvalue_{name}[slot] = m_{name}_wdata;", f"wplace_{name}[slot] = place;"]
        )
        return [
            f'        if (^{enable} === 1\'bx) stop("undefined {enable}");',
            f"        if ({enable} === 1'b1) begin",
            f'          if (^{address} === 1\'bx) stop("undefined {address}");',
            f"          place = element_{name}({address});",
            f'          if (place < 0) stop("the design touches an element outside array {name}");',
            f"          slot = (cycle + {delay}) % {delay + 1};",
            *(f"          {line}" for line in moved),
            f"          {side}due_{name}[slot] = 1;",
            f"          {side}count_{name} = {side}count_{name} + 1;",
            "        end",
        ]

    def cycle_lines(self) -> list[str]:
        lines = ["    while (running) begin", "      start = cycle == 0;"]
        for b in self.banks:
            lines += self.settle_lines(b)
        lines += ["      #1;", "      if (done === 1'b1) running = 0;"]
        lines.append(f'      else if (cycle >= limit) stop("{LIMIT_MESSAGE}");')
        lines.append("      else begin")
        for b in self.banks:
            for side in ("r", "w"):
                if self.has(b, f"{side}e"):
                    lines += self.access_lines(b, side)
        return [
            *lines,
            "        clk = 1; #1; clk = 0; #1;",
            "        cycle = cycle + 1;",
            "      end",
            "    end",
        ]

    def output_lines(self) -> list[str]:
        result = "result" if "result" in self.ports else "1'b0"
        lines = ['    file = $fopen("output.txt", "w");', f'    $fdisplay(file, "%0d %h", cycle, {result});']
        lines += [f'    $fdisplay(file, "%0d %0d", rcount_{b.port}, wcount_{b.port});' for b in self.banks]
        for a in written_arrays(self.interface):
            lines.append(f"    for (k = 0; k < {a.element_count}; k = k + 1)")
            lines.append(f'      $fdisplay(file, "%h", a_{a.name}[k]);')
        return [*lines, "    $fclose(file);", "    $finish;"]

    def text(self) -> str:
        lines = ["`timescale 1ns / 1ns", "module bench;", *self.signals(), *self.storage()]
        for b in self.banks:
            lines += self.element_function(b)
        lines += [
            "  task stop(input [8*80-1:0] reason);",
            "    begin",
            '      $display("%0s at cycle %0d", reason, cycle);',
            "      $finish;",
            "      #1;",
            "    end",
            "  endtask",
        ]
        lines += ["  initial begin", *self.start_lines(), *self.cycle_lines(), *self.output_lines(), "  end"]
        return "\n".join([*lines, "endmodule", ""])


def bench_text(
    interface: Interface,
    module: str,
    timing: MemoryTiming,
    *,
    banks: Sequence[Bank],
    ports: dict[str, Port],
) -> str:
    """Return the Verilog of the test bench, a module `bench`.

    Args: module: top of the design; banks: of every array argument; ports: those the design has.
    """
    return _Bench(interface=interface, module=module, banks=banks, ports=ports, timing=timing).text()


class _Undefined(ValueError):
    """An output has undefined bits."""


def _write_inputs(interface: Interface, data: DataSet, folder: Path) -> None:
    """Write one file of hexadecimal words for each argument."""
    for argument in interface.arguments:
        kind = argument.type
        values = np.ascontiguousarray(data[argument.name], dtype=kind.dtype)
        words = values.reshape(-1).view(f"u{kind.width_bits // 8}").tolist()
        text = "".join(f"{word:x}\n" for word in words)
        (folder / f"in_{argument.name}.hex").write_text(text, encoding="ascii")


def _word(text: str, place: str) -> int:
    """Return a word of the output.

    Raises: _Undefined: it has bits that are not defined.
    """
    if not re.fullmatch(r"[0-9a-f]+", text):
        raise _Undefined(f"outputs must be defined, got {text} in {place}")
    return int(text, 16)


def _read_output(interface: Interface, banks: Sequence[Bank], text: str) -> Observed:
    """Read the contents of the output file: latency, result, the accesses of each bank, the elements of each
    array.

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

    Returns: latency and outputs, or the status and reason of the failure; an output with undefined bits is a
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
