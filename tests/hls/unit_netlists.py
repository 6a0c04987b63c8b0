"""Functional units as netlists of standard cells, in Icarus, against the C compiler's arithmetic.

A unit is synthesised alone with the project's own recipe; the netlist with the library's cell models gets new
operands of `unit_vectors.hpp` in every cycle; every result must equal native C in all bits.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from unit_bench import (
    _BENCH,
    NATIVE_FLAGS,
    Check,
    _draw_text,
    _must,
    _typed,
    c_type,
    native_text,
    wrapper_text,
)

from pipelines.base.tools import find_tool
from pipelines.silicon.synthesis import Target, synthesize_design, yosys

WORKER = Path(yosys.__file__).with_name("worker.py")
OPERANDS = "ab"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetlistOutcome:
    """Cells of a netlist, vectors applied to it, results that differ from C, and the first of them."""

    name: str
    cells: int
    vectors: int
    mismatches: int
    examples: str


def vectors_text(check: Check, count: int, seed: int) -> str:
    """C++ program that prints operands and result, 16 hexadecimal digits each, one line per vector."""
    used = OPERANDS[: len(check.operands)]
    types = ", ".join(c_type(t) for t in check.operands)
    values = ", ".join(_typed(t, n) for t, n in zip(check.operands, used, strict=True))
    draws = " ".join(f"{n} = {_draw_text(check, i, 'a')};" for i, n in enumerate(used))
    expected = f"native_0({values})"
    if check.result.floating:
        expected = f"to_bits<{check.result.c_name}, {check.result.bits_c_name}>({expected})"
    return f"""{_BENCH}
extern "C" {c_type(check.result)} native_0({types});
extern "C" int valid_0({types});
int main() {{
  Stream s{{{seed} * 2654435761u + 1}};
  for (int i = 0; i < {count}; ++i) {{
    uint64_t a = 0, b = 0;
    do {{ {draws} }} while (!valid_0({values}));
    std::printf("%016llx%016llx%016llx\\n", (long long)a, (long long)b, (long long)(uint64_t){expected});
  }}
}}
"""


def icarus_text(check: Check, count: int) -> str:
    """Verilog test bench: one vector per cycle, compared in the cycle in which its result is due."""
    pins = "".join(
        f".u0_{p}({n}[{w - 1}:0]), " for n, (p, w) in zip(OPERANDS, check.unit.ports, strict=False)
    )
    late, high = check.unit.latency_cycles - 1, check.unit.output[1] - 1
    return f"""
module test;
  reg [191:0] vectors [0:{count - 1}];
  reg [191:0] now;
  reg clk;
  reg [63:0] a, b;
  wire [{high}:0] y;
  integer i;
  bench dut ({pins}.clk(clk), .rst(1'b0), .u0_y(y));
  initial begin
    $readmemh("vectors.hex", vectors);
    clk = 0;
    for (i = 0; i < {count + late}; i = i + 1) begin
      if (i < {count}) {{a, b}} = vectors[i][191:64];
      #100 clk = 1;
      #100 clk = 0;
      if (i >= {late}) begin
        now = vectors[i-{late}];
        $display("%s %h %h %h", y === now[{high}:0] ? "equal" : "differs", now[191:128], now[127:64], y);
      end
    end
  end
endmodule
"""


def synthesise_unit(check: Check, target: Target, folder: Path) -> int:
    """Write the netlist of a check's unit as `mapped.v`.

    Returns: its cells.
    Raises:  RuntimeError: synthesis failed.
    """
    result = synthesize_design(
        wrapper_text([check]), top="bench", target=target, folder=folder, timeout_s=900
    )
    if result.cell_count is None:
        raise RuntimeError(f"{check.name} must synthesise, got {result.status}: {result.reason}")
    (folder / "write.txt").write_text(f"read_json {yosys.NETLIST_FILE}\nwrite_verilog -noexpr mapped.v\n")
    _must([sys.executable, str(WORKER), "write.txt", "write.log"], folder, 300)
    return result.cell_count


def check_netlist(check: Check, count: int, target: Target, folder: Path, seed: int = 1) -> NetlistOutcome:
    """Synthesise a pipelined unit and simulate its netlist, in an empty folder.

    Raises: RuntimeError: a tool failed.
    """
    cells = synthesise_unit(check, target, folder)
    (folder / "native.c").write_text(native_text([check]))
    (folder / "vectors.cpp").write_text(vectors_text(check, count, seed))
    (folder / "test.v").write_text(icarus_text(check, count))
    _must([find_tool("gcc", "gcc"), *NATIVE_FLAGS, "-c", "native.c", "-o", "native.o"], folder, 120)
    argv = [find_tool("g++", "g++"), "-O1", "-w", "-std=gnu++17", "-I", str(Path(__file__).parent)]
    _must([*argv, "vectors.cpp", "native.o", "-o", "vectors", "-lm"], folder, 120)
    (folder / "vectors.hex").write_text(_must(["./vectors"], folder, 120))
    models = str(target.liberty.with_suffix(".v"))
    argv = [find_tool("iverilog", "iverilog"), "-g2012", "-o", "test.vvp", "test.v", "mapped.v", models]
    _must(argv, folder, 300)
    lines = _must([find_tool("vvp", "iverilog"), "-n", "test.vvp"], folder, 36000).splitlines()
    wrong = [line for line in lines if not re.match(r" *equal ", line)]
    return NetlistOutcome(
        name=check.name,
        cells=cells,
        vectors=len(lines),
        mismatches=len(wrong),
        examples="; ".join(wrong[:4]),
    )
