"""A fault of Verilator's optimiser that must stay switched off: trees of exclusive-or of single bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipelines.c.signature import INT32, INT64, Argument, Interface
from pipelines.rtl.simulation import MemoryTiming, simulate_design

# x[38] ^ x[31] ^ x[38] is x[31]; with the optimisation on, Verilator finds otherwise for -1.
TREE = """
module tree_hw (input clk, input rst, input start, output reg done, input signed [63:0] s_x,
  output reg signed [31:0] result);
  wire wrong = {s_x[38:32], s_x[38] ^ s_x[31] ^ s_x[38]} != s_x[38:31];
  always @(posedge clk) begin
    done <= start && !rst;
    result <= {31'd0, wrong};
  end
endmodule
"""


def test_exclusive_or_of_single_bits_is_exact(tmp_path: Path, runtime_folder: Path) -> None:
    found = simulate_design(
        TREE,
        module="tree_hw",
        interface=Interface(
            top="tree",
            arguments=(Argument(name="x", type=INT64, shape=(), read=True, written=False),),
            returns=INT32,
        ),
        data={"x": np.array(-1, np.int64)},
        timing=MemoryTiming(read_delay_cycles=1, write_delay_cycles=1),
        folder=tmp_path,
        runtime_folder=runtime_folder,
        cycle_limit=10,
    )
    assert (found.status, found.returned) == ("ok", 0)
