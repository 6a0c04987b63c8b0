"""Inputs of RTL simulation: random designs, SystemVerilog and FIRRTL."""

from __future__ import annotations

from collections.abc import Iterator

from engine_outputs import Folders, Output

from pipelines.rtl.reuse import FIRRTL, SYSTEMVERILOG, VERILOG, Simulator, build_reuse
from tests.support.random_designs import bundle

_SYSTEM_VERILOG = """
typedef struct packed { logic [7:0] x; logic signed [3:0] y; } pair_t;
module pe (input logic clk, input pair_t i, output pair_t o);
  always_ff @(posedge clk) begin o.x <= i.x * 3; o.y <= i.y >>> 1; end
endmodule
module top (input logic clk, input pair_t i, output pair_t o);
  pair_t c [4];
  assign c[0] = i, o = c[3];
  for (genvar k = 0; k < 3; k++) begin : g pe u (.clk, .i(c[k]), .o(c[k+1])); end
endmodule
"""
_FIRRTL = """
circuit top :
  module top :
    input clock : Clock
    input reset : UInt<1>
    input io : { a : SInt<9>, i : UInt<2>, flip sum : SInt<12>}

    reg kept : SInt<10>[4], clock with :
      reset => (reset, kept)
    when orr(io.i) :
      kept[io.i] <= add(io.a, SInt<3>(-2))
    io.sum <= add(kept[0], add(kept[io.i], kept[1]))
"""


def simulation_outputs(folders: Folders) -> Iterator[Output]:
    """Digests of all outputs of 500 cycles, of two stimuli."""
    designs = {
        "random": (bundle(range(4)).verilog, VERILOG),
        "systemverilog": (_SYSTEM_VERILOG, SYSTEMVERILOG),
        "firrtl": (_FIRRTL, FIRRTL),
    }
    for name, (text, language) in designs.items():
        program = build_reuse(
            text, top="top", folder=folders.engines, stimuli=2, language=language, is_quick=True
        )
        yield name, Simulator(program).run(500, seed=7).digests.tolist()
