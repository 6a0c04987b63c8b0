"""Outputs of every cycle are those of Verilator and of Icarus Verilog."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipelines.hls import HlsOptions, compile_program
from pipelines.rtl.reuse import RtlError, Simulator, build_reuse, build_verilator
from pipelines.rtl.reuse.designs import DesignSource, chain, gemm
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.structure import analyse
from tests.rtlreuse.icarus_reference import first_difference
from tests.support.random_designs import bundle

HIERARCHY = """
module core #(parameter W = 8, parameter D = 4) (input clk, input rst, input [W-1:0] a, input en,
    input [$clog2(D)-1:0] wa, ra, output reg [W-1:0] q, output [W-1:0] m, output c);
  reg [W-1:0] mem [0:D-1];
  integer k;
  initial for (k = 0; k < D; k = k + 1) mem[k] = k * 5;
  assign m = mem[ra];
  always @(posedge clk) begin
    if (en) mem[wa] <= a;
    if (rst) q <= 0; else if (en) q <= $signed(q) >>> 1 ^ (a * 3);
  end
  assign c = ^(a & q);
endmodule
module top (input clk, input rst, input [15:0] x, input [99:0] wide, output [15:0] y, output reg [7:0] z,
    output [63:0] ms, output [99:0] sum);
  genvar i;
  wire [15:0] t [0:4];
  wire [3:0] cc;
  assign t[0] = x;
  generate for (i = 0; i < 4; i = i + 1) begin : g
    core #(.W(16), .D(8)) u (.clk(clk), .rst(rst), .a(t[i]), .en(cc[(i+1)%4] | x[i]), .wa(x[2:0]),
      .ra(x[5:3]), .q(t[i+1]), .m(ms[16*i +: 16]), .c(cc[i]));
  end endgenerate
  assign y = t[4];
  assign sum = wide * {84'b0, x} + (wide >> x[6:0]);
  always @(posedge clk or posedge rst)
    if (rst) z <= 8'hff;
    else case (x[1:0])
      0: z <= z + 1;
      1: z[3:0] <= x[3:0];
      2: z <= z / 3;
      default: z <= {z[6:0], z[7]};
    endcase
endmodule
"""

# Sums that run through a row combinationally, and requests that run against them.
COMBINATIONAL_ROW = """
module element (input clk, input [7:0] d, input [8:0] below, input next, output [8:0] above, output prev);
  reg [7:0] kept = 3;
  always @(posedge clk) if (next) kept <= d ^ below[7:0];
  assign above = below + kept;
  assign prev = next ^ kept[0];
endmodule
module top (input clk, input [127:0] d, input r, output [8:0] s, output p);
  wire [8:0] b [0:16];
  wire n [0:16];
  genvar i;
  assign b[0] = 9'd1;
  assign n[16] = r;
  assign s = b[16];
  assign p = n[0];
  generate for (i = 0; i < 16; i = i + 1) begin : g
    element u (.clk(clk), .d(d[8*i +: 8]), .below(b[i]), .above(b[i+1]), .next(n[i+1]), .prev(n[i]));
  end endgenerate
endmodule
"""

NEXT = """
module top (input clk, input [3:0] d, output reg [3:0] q);
  always @(posedge clk) q <= d + 1;
endmodule
"""

ONE_WORD = """
module top (input clk, input we, input [7:0] d, output [7:0] q);
  reg [7:0] m [0:0]; initial m[0] = 9;
  always @(posedge clk) if (we) m[0] <= d + q;
  assign q = m[0];
endmodule
"""

KERNEL = """
int kernel(int n, int A[16]) {
  int sum = 0;
  for (int i = 0; i < 16; i++) { sum += A[i] * n + (sum >> 3); A[i] = sum; }
  return sum / 7;
}
"""

PASSED_CLOCK = """
module gate (input c, input spare, output o, output p); assign o = c; assign p = spare; endmodule
module both (input a, input b, input [7:0] d, output reg [7:0] p, output reg [7:0] q, output o);
  always @(posedge a) p <= d + q;
  always @(posedge b) q <= d ^ p;
  assign o = b;
endmodule
module domain (input clk, input v, input [7:0] d, output [7:0] y, output w, output clk_out);
  wire c, passed; wire [7:0] p, q;
  gate g (clk, v, c, w);
  both u (clk, c, d, p, q, passed);
  gate h (passed, v, clk_out, );
  assign y = p + q;
endmodule
module top (input clk, input v, input [7:0] d, output [7:0] y, output reg [7:0] z, output w);
  wire inner;
  domain u (clk, v, d, y, w, inner);
  always @(posedge inner) z <= y + v;
endmodule
"""

DESIGNS = {
    "passed_clock": DesignSource(verilog=PASSED_CLOCK),
    "hierarchy": DesignSource(verilog=HIERARCHY),
    "combinational_row": DesignSource(verilog=COMBINATIONAL_ROW),
    "gemm_os": gemm(4, 9),
    "gemm_ws": gemm(9, 3, is_weight_stationary=True),
    "chain": chain(11),
}


def hls_design() -> DesignSource:
    design = compile_program(KERNEL, top="kernel", options=HlsOptions())
    return DesignSource(verilog=design.verilog, top=design.module)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", DESIGNS)
def test_outputs_equal_icarus(name: str, programs: Path, tmp_path: Path) -> None:
    design = DESIGNS[name]
    program = build_reuse(design.verilog, top=design.top, folder=programs)
    result = Simulator(program).run(150, seed=3, is_traced=True)
    assert first_difference(program, design.verilog, design.top, result, tmp_path) is None


@pytest.mark.sample(2)
@pytest.mark.parametrize("stimuli", [1, 5])
def test_outputs_equal_verilator(stimuli: int, programs: Path) -> None:
    """One bundle, because Verilator takes seconds per design."""
    design = DESIGNS["hierarchy"]
    ours = build_reuse(design.verilog, top=design.top, folder=programs, stimuli=stimuli)
    theirs = build_verilator(design.verilog, top=design.top, folder=programs, stimuli=stimuli)
    for seed in range(3):
        expected = Simulator(theirs).run(2000, seed=seed).digests.tolist()
        assert Simulator(ours).run(2000, seed=seed).digests.tolist() == expected
        assert len(set(expected)) == stimuli


def test_outputs_of_hls_designs_equal_verilator(programs: Path) -> None:
    design = hls_design()
    ours = build_reuse(design.verilog, top=design.top, folder=programs)
    theirs = build_verilator(design.verilog, top=design.top, folder=programs, is_quick=True)
    expected = Simulator(theirs).run(3000, seed=1).digests.tolist()
    assert Simulator(ours).run(3000, seed=1).digests.tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize(("stimuli", "is_apart"), [(2, True), (16, False)])
def test_stimuli_are_independent(stimuli: int, is_apart: bool, programs: Path) -> None:
    """Stimulus k of many gives what it gives alone."""
    for name in ("gemm_os", "combinational_row", "hierarchy"):
        design = DESIGNS[name]
        build = partial(build_reuse, design.verilog, top=design.top, folder=programs, is_quick=True)
        many = Simulator(build(stimuli=stimuli, is_apart=is_apart))
        alone = Simulator(build())
        traced = many.run(100, seed=7, is_traced=True)
        assert traced.inputs is not None
        assert traced.outputs is not None
        for k in range(stimuli):
            alone.reset()
            outputs = alone.play(traced.inputs[:, :, k : k + 1]).outputs
            assert outputs is not None
            assert (outputs[:, :, 0] == traced.outputs[:, :, k]).all()


@pytest.mark.slow
def test_a_trial_takes_one_of_both_layouts_of_stimuli(programs: Path) -> None:
    design = DESIGNS["gemm_os"]
    options: dict[str, Any] = {"top": design.top, "folder": programs, "stimuli": 2}
    both = [build_reuse(design.verilog, **options, is_apart=own) for own in (False, True)]
    lanes, apart = (Simulator(program).run(200, seed=7).digests.tolist() for program in both)
    assert lanes == apart
    assert build_reuse(design.verilog, **options).path in {program.path for program in both}
    with pytest.raises(RtlError, match=r"^states apart with toggle counts, .*; accepted: lanes$"):
        build_reuse(design.verilog, **options, is_apart=True, threads=2)


@pytest.mark.sample(4)
@pytest.mark.parametrize("first", [1, 7, 13, 19])
def test_random_designs_equal_icarus(first: int, programs: Path, tmp_path: Path) -> None:
    """Bundles of 6 designs; `tests/benchmarks/rtl_fuzzing.py` compares thousands with more engines."""
    design = bundle(range(first, first + 6))
    program = build_reuse(design.verilog, top=design.top, folder=programs, is_quick=True)
    result = Simulator(program).run(60, seed=first, is_traced=True)
    assert first_difference(program, design.verilog, design.top, result, tmp_path) is None


@pytest.mark.slow
def test_induction_variables_of_gcc_are_off(programs: Path, tmp_path: Path) -> None:
    """A random design that GCC 12.2 gave wrong code for at -O1."""
    text = Path(__file__).with_name("induction_variables.v").read_text()
    program = build_reuse(text, top="top", folder=programs, is_quick=True, compiler="g++")
    result = Simulator(program).run(60, seed=22, is_traced=True)
    assert first_difference(program, text, "top", result, tmp_path) is None


@pytest.mark.parametrize("text", [ONE_WORD])
def test_small_designs_equal_icarus(text: str, programs: Path, tmp_path: Path) -> None:
    program = build_reuse(text, top="top", folder=programs, is_quick=True)
    result = Simulator(program).run(60, seed=1, is_traced=True)
    assert first_difference(program, text, "top", result, tmp_path) is None


def test_systolic_array_has_one_evaluator_and_few_copies() -> None:
    """16 x 16 elements are lanes of one block; only words at the edges are moved."""
    design = gemm(16, 16)
    structure = analyse(elaborate(read_verilog(design.verilog, top="top")))
    placement = place(structure)
    sizes = sorted(len(lanes) for lanes in structure.lanes.values())
    assert sizes == [1, 256]
    assert len(placement.moves) == 3 * 16
    assert structure.highest_level == 1


def test_step_gives_outputs_before_the_edge(programs: Path) -> None:
    simulator = Simulator(build_reuse(NEXT, top="top", folder=programs))
    assert [simulator.step({"d": n})["q"] for n in (3, 15, 0)] == [0, 4, 0]
    assert simulator.step()["q"] == 1


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"e": 1}, "unknown input: e; accepted: d"),
        ({"d": 16}, "value of d: 16; accepted: 0 to 15"),
        ({"d": [1, 2]}, "2 values of d; accepted: 1 or 1"),
    ],
)
def test_step_rejects_inputs(inputs: dict[str, object], message: str, programs: Path) -> None:
    simulator = Simulator(build_reuse(NEXT, top="top", folder=programs))
    with pytest.raises(RtlError) as error:
        simulator.step(inputs)  # type: ignore[arg-type]
    assert str(error.value) == message
