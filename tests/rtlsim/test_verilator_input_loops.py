"""A fault of Verilator's scheduler that the test bench must go round: what it takes for a loop, from inputs.

Belongs here: vectors whose bits depend on other bits of the same vector. There is no loop in them, but
Verilator 5.006 orders whole vectors, computes the rest of such a vector only when it sees the vector change,
and forgets a change that comes from an input.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import INT32, Argument, Interface
from pipelines.rtl.simulation import MemoryTiming, simulate_design, simulate_with_icarus

# The result is the parities of the elements' upper 24 bits, one bit each. A parity is a tree of gates: node n
# is made of nodes 2 n and 2 n + 1 and, from 8 on, of bit n of the element; levels are in `p` and `q` in turn.
PARITIES = """
module parities_hw (input clk, input rst, input start, output done, output reg signed [31:0] result,
  output m_A_re, output [4:0] m_A_raddr, input signed [31:0] m_A_rdata);
  reg [5:0] t;
  wire [31:0] p, q;
  assign m_A_re = t >= 1 && t <= 32;
  assign m_A_raddr = t[4:0] - 5'd1;
  assign done = t == 40;
  genvar n;
  generate
    for (n = 1; n < 32; n = n + 1) begin : nodes
      if (n >= 16) assign p[n] = m_A_rdata[n];
      else if (n >= 8) assign q[n] = m_A_rdata[n] ^ p[2*n] ^ p[2*n+1];
      else if (n >= 4 || n == 1) assign p[n] = q[2*n] ^ q[2*n+1];
      else assign q[n] = p[2*n] ^ p[2*n+1];
    end
  endgenerate
  always @(posedge clk) begin
    if (rst) t <= 0;
    else if (start || t != 0) t <= t + 1;
    if (t >= 2 && t <= 33) result <= {result[30:0], p[1]};
  end
endmodule
"""


@pytest.mark.parametrize("engine", ["verilator", "icarus"])
@pytest.mark.slow
def test_bits_of_a_vector_may_depend_on_others_and_on_inputs(
    engine: str, tmp_path: Path, runtime_folder: Path
) -> None:
    elements = np.random.default_rng(3).integers(-(2**31), 2**31, 32).astype(np.int32)
    parities = [int(e & 0xFFFFFF00).bit_count() % 2 for e in elements.astype(np.uint32)]
    expected = sum(bit << place for place, bit in enumerate(reversed(parities)))
    setting = {
        "module": "parities_hw",
        "interface": Interface(
            top="parities",
            arguments=(Argument(name="A", type=INT32, shape=(32,), read=True, written=False),),
            returns=INT32,
        ),
        "data": {"A": elements},
        "timing": MemoryTiming(read_delay_cycles=1, write_delay_cycles=1),
        "folder": tmp_path,
        "cycle_limit": 100,
    }
    if engine == "verilator":
        found = simulate_design(PARITIES, runtime_folder=runtime_folder, **setting)
    else:
        found = simulate_with_icarus(PARITIES, **setting)
    assert found.status == "ok", found.reason
    assert found.returned is not None
    assert found.returned % 2**32 == expected
