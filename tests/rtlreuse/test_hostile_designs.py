"""Small texts that ask for endless or huge designs: one line each, before memory or time is spent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipelines.rtl.reuse import ir, languages
from pipelines.rtl.reuse.building import read_design
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.hierarchy import children_first
from pipelines.rtl.reuse.languages import FIRRTL, VERILOG, as_verilog

SELF = "module top(input clk, input [7:0] a, output [7:0] y); top u(clk, a, y); endmodule"
INCLUDES_ITSELF = f'`include "design.sv"\n{SELF}'
TREE = """
module r #(parameter N = 30) (input [7:0] a, output [7:0] y);
  wire [7:0] p, q;
  generate if (N > 0) begin r #(N - 1) u(a, p); r #(N - 1) v(a ^ N, q); assign y = p + q; end
  else assign y = a; endgenerate
endmodule
module top(input [7:0] a, output [7:0] y); r u(a, y); endmodule"""
MEMORY = """
module top(input clk, input [7:0] a, output reg [7:0] y);
  reg [63:0] m [0:(1 << {bits}) - 1];
  always @(posedge clk) begin m[a] <= a; y <= m[a]; end
endmodule"""
HEAD = """circuit Top :
  module Inner :
    input a : UInt<8>
    output y : UInt<8>
    y <= a
  module Top :
    input clock : Clock
    input a : UInt<8>
    output y : UInt<8>
"""
LINE = len(HEAD.splitlines()) + 1


def _firrtl(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


def _read(text: str, *, stimuli: int = 1) -> None:
    read_design(text, top="top", language=VERILOG, timeout_s=60.0, stimuli=stimuli)


@pytest.mark.parametrize(
    ("text", "stimuli", "message"),
    [
        (SELF, 1, "module contains itself: top -> top"),
        (INCLUDES_ITSELF, 1, 'the design includes itself: `include "design.sv"'),
        (TREE, 1, "1073741823 instances, most of module r; accepted: at most 1048576"),
        (
            MEMORY.format(bits=30),
            1,
            "Yosys rejects the design: 68719476736 bits of memories; accepted: at most 536870912; "
            "the largest is m in top",
        ),
        (
            MEMORY.format(bits=18),
            4096,
            "4096 stimuli of 2097153 bytes of registers and memories: 8589938688 bytes; "
            "accepted: at most 4294967296 bytes",
        ),
    ],
)
def test_a_design_without_end_is_refused(text: str, stimuli: int, message: str) -> None:
    with pytest.raises(RtlError) as refused:
        _read(text, stimuli=stimuli)
    assert str(refused.value) == message


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop",
    [
        "genvar i; generate for (i = 0; i < 1; i = i) begin : g wire [7:0] w = a; end endgenerate",
        "integer i; always @(posedge clk) for (i = 0; i < 100000000; i = i + 1) y = y + a;",
    ],
)
def test_a_loop_without_end_is_refused_within_a_part_of_the_memory(
    loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "_READING_SHARE", 12)
    with pytest.raises(RtlError) as refused:
        _read(f"module top(input clk, input [7:0] a, output reg [7:0] y); {loop} endmodule")
    said = (
        "Yosys rejects the design: yosys needs more than 341 MiB of memory; accepted: less, or a higher limit"
    )
    assert str(refused.value) == said


def test_the_memory_for_reading_is_no_limit_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_READING_SHARE", 32)
    _read(MEMORY.format(bits=19))


def test_a_module_of_too_many_operations_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir, "MOST_NODES", 4)
    with pytest.raises(RtlError) as refused:
        _read("module top(input [199:0] a, b, output [199:0] y); assign y = a * b; endmodule")
    assert str(refused.value) == (
        "module top has more than 4 operations on words of 64 bits; accepted: fewer"
    )


def test_a_large_memory_of_one_stimulus_is_accepted() -> None:
    _read(MEMORY.format(bits=12))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (('y <= UInt<8>("h")',), f"FIRRTL line {LINE}: not a number: '': y <= UInt<8>(\"h\")"),
        (("y <= bits(a, 3)",), "numbers are missing: bits"),
        (("y <= or(a)",), "operands of or: 1; accepted: 2"),
        (("y <= not(a, a)",), "operands of not: 2; accepted: 1"),
        (("inst u of Top", "y <= a"), "module contains itself: Top -> Top"),
        (("wire w : UInt<8>", "w <= w", "y <= w"), "combinational loop: Top.w -> Top.w"),
        (
            ("wire v : UInt<8>", "wire w : UInt<8>", "v <= not(w)", "w <= tail(add(v, a), 1)", "y <= w"),
            "combinational loop: Top.v -> Top.w -> Top.v",
        ),
        (
            ("inst i of Inner", "i.a <= i.y", "y <= a"),
            "combinational loop: Top.i_y -> Top.i_a -> Top.i_y",
        ),
        (
            ("cmem m : UInt<8>[256]", "wire w : UInt<8>", "infer mport p = m[w], clock", "w <= p", "y <= w"),
            "combinational loop: Top.m_p_addr -> Top.m_p_data -> Top.w -> Top.m_p_addr",
        ),
        (
            (f"y <= {'not(' * 2000}a{')' * 2000}",),
            f"FIRRTL line {LINE}: nested too deep: y <= {'not(' * 18}not",
        ),
        (
            ("wire v : UInt<8>[1000000000]", "y <= v[a]"),
            f"FIRRTL line {LINE}: a type of 1000000000 elements; accepted: at most 1048576: "
            "wire v : UInt<8>[1000000000]",
        ),
    ],
)
def test_a_circuit_without_end_is_refused(lines: tuple[str, ...], message: str) -> None:
    with pytest.raises(RtlError) as refused:
        as_verilog(_firrtl(*lines), "Top", FIRRTL)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "lines",
    [
        ("reg r : UInt<8>, clock", "r <= not(r)", "y <= r"),
        ("wire w : UInt<8>", "inst i of Inner", "i.a <= a", "w <= i.y", "y <= w"),
        ("reg r : UInt<8>, clock", "inst i of Inner", "i.a <= r", "r <= i.y", "y <= r"),
        ("smem m : UInt<8>[256]", "wire w : UInt<8>", "read mport p = m[w], clock", "w <= p", "y <= w"),
    ],
)
def test_a_register_ends_a_loop(lines: tuple[str, ...]) -> None:
    as_verilog(_firrtl(*lines), "Top", FIRRTL)


def test_children_come_before_their_parents() -> None:
    children = {"top": ["b", "a"], "a": ["c"], "b": ["c"], "c": []}
    assert children_first(children.__getitem__, "top") == ["c", "a", "b", "top"]
    with pytest.raises(RtlError, match=r"module contains itself: a -> c -> a$"):
        children_first({**children, "c": ["a"]}.__getitem__, "top")


def test_yosys_says_that_it_needs_more_than_the_command_has() -> None:
    text = (
        "module top(input clk, input [7:0] a, output reg [7:0] y); integer i;"
        "always @(posedge clk) for (i = 0; i < 100000000; i = i + 1) y = y + a; endmodule"
    )
    program = f"""
import sys
from pipelines.base.limited import watched
watched(700 << 20, say=lambda problem: sys.stderr.write(problem), more="", exit_by_signal=128, failed=3)
from pipelines.rtl.reuse.building import read_design
try:
    read_design({text!r}, top="top", language="verilog", timeout_s=60.0)
except ValueError as error:
    sys.exit(str(error))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stderr.startswith("Yosys rejects the design: yosys needs more than "), run.stderr
