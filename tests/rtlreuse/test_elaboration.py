"""What is accepted, what is rejected, and which modules are shared."""

from __future__ import annotations

import pytest

from pipelines.rtl.reuse import CombinationalLoop, RtlError
from pipelines.rtl.reuse.clocking import ONE_CLOCK
from pipelines.rtl.reuse.elaboration import Design, elaborate
from pipelines.rtl.reuse.ir import Builder, Piece
from pipelines.rtl.reuse.languages import SYSTEMVERILOG, VERILOG
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.structure import analyse


def read(text: str) -> Design:
    design = elaborate(read_verilog(text, top="top"))
    analyse(design)
    return design


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "module top (input e, input d, output reg q); always @* if (e) q = d; endmodule",
            "latch: q in top (design.sv:1); accepted: the latch of a clock gate, or --engine verilator",
        ),
        (
            "module top (inout d); endmodule",
            "inout port: top.d; accepted: input and output",
        ),
        (
            "module top (input clk, input e, input d, output reg q); wire g = clk & e;"
            " always @(posedge g) q <= d; endmodule",
            "gated clock: g in top (design.sv:1); accepted: an input port of one bit",
        ),
        (
            "module top (input a, input b, input d, output reg p, output reg q);"
            " always @(posedge a) p <= d; always @(posedge b) q <= d; endmodule",
            f"several clocks in top: a, b; accepted: {ONE_CLOCK}",
        ),
        (
            "module pair (input a, input b, input d, output reg p, output reg q);"
            " always @(posedge a) p <= d; always @(posedge b) q <= d; endmodule\n"
            "module top (input a, input b, input d, output p, output q); pair u (a, b, d, p, q); endmodule",
            f"several clocks in top: a, b; accepted: {ONE_CLOCK}",
        ),
        (
            "module top (input clk, input d, output reg q, output c); assign c = clk;"
            " always @(posedge clk) q <= d; endmodule",
            "clock used as data: clk in top",
        ),
        (
            "module top (input clk, a, b, output reg q); wire g;\n"
            " always @(posedge clk) q <= a;\n always @(posedge clk) q <= b; endmodule",
            "several drivers: q in top (design.sv:2)",
        ),
        (
            "module top (input clk, a, output x, y); reg p, r;\n"
            " always @* p = r ^ a;\n always @* r = p & a; assign x = p; assign y = r; endmodule",
            "combinational loop: y -> x -> y (design.sv:3)",
        ),
    ],
)
def test_elaborate_rejects(text: str, message: str) -> None:
    with pytest.raises(RtlError) as error:
        read(text)
    assert str(error.value) == message


def test_a_block_that_keeps_a_signal_is_named() -> None:
    text = "module top (input a, b, output logic q);\n always_comb if (a) q = b; endmodule"
    with pytest.raises(CombinationalLoop) as error:
        elaborate(read_verilog(text, top="top", language=SYSTEMVERILOG))
    assert str(error.value) == (
        "combinational loop: q -> q (design.sv:2); a block that does not assign a signal in every case "
        "keeps its value, as a latch does"
    )


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        ("other u (.a(a));", "no module other; instance u in top (design.sv:4)"),
        ("inner #(.W(2)) u (.z(a));", "module inner has no port z; instance u in top (design.sv:4)"),
        (
            "genvar i; for (i = 0; i < 2; i = i + 1) begin : g\n other u [1:0] (.a(a)); end",
            "no module other; instance g[1].u[1] in top (design.sv:5)",
        ),
    ],
)
def test_read_verilog_names_instances_that_nothing_matches(instance: str, message: str) -> None:
    inner = "module inner #(parameter W = 1) (input a); /* other u (\n */ endmodule\n"
    with pytest.raises(RtlError) as error:
        read(f"{inner}module top (input a, output b);\n {instance}\nendmodule")
    assert str(error.value) == f"Yosys rejects the design: {message}"


def test_read_verilog_rejects_names_of_other_characters() -> None:
    with pytest.raises(RtlError, match=r"^top is not a Verilog identifier"):
        read_verilog("", top="top; shell ls")


def test_loop_within_a_module_is_named_signal_by_signal() -> None:
    text = "module top (input a, output y); wire p, q; assign p = a & q; assign q = ~p; assign y = p | a;"
    text += " endmodule"
    with pytest.raises(CombinationalLoop) as error:
        read(text)
    assert set(error.value.signals) == {"p", "q"}
    assert str(error.value).endswith(" (design.sv:1)")


def test_loop_through_modules_is_named_pin_by_pin() -> None:
    text = """
module a (input clk, input [7:0] x, output [7:0] y);
  reg [7:0] r; always @(posedge clk) r <= x; assign y = x + r;
endmodule
module top (input clk, output [7:0] y);
  wire [7:0] p, q;
  a u (.clk(clk), .x(q), .y(p));
  a v (.clk(clk), .x(p), .y(q));
  assign y = q;
endmodule
"""
    with pytest.raises(CombinationalLoop) as error:
        read(text)
    assert str(error.value) in (
        "combinational loop: top.u.x -> top.v.x -> top.u.x",
        "combinational loop: top.v.x -> top.u.x -> top.v.x",
    )


def test_vector_that_feeds_its_own_higher_bits_is_no_loop() -> None:
    text = """
module top (input [7:0] g, input [7:0] p, output [8:0] c);
  assign c = {g | p & c[7:0], 1'b0};
endmodule
"""
    assert read(text).clock is None


def test_modules_that_differ_in_names_only_are_one_block() -> None:
    part = "module {0} (input clk, input [7:0] x, output [7:0] y); reg [7:0] {1}; assign y = {1};"
    part += " always @(posedge clk) {1} <= x + 3; endmodule\n"
    text = part.format("one", "kept") + part.format("two", "other")
    text += """
module top (input clk, input [7:0] x, output [7:0] y);
  wire [7:0] a, b, c;
  one u (.clk(clk), .x(x), .y(a));
  two v (.clk(clk), .x(a), .y(b));
  one w (.clk(clk), .x(b), .y(c));
  assign y = c;
endmodule
"""
    design = read(text)
    assert len(design.blocks) == 2


def test_wiring_and_single_modules_join_their_parents() -> None:
    text = """
module inner (input clk, input [7:0] x, output reg [7:0] y); always @(posedge clk) y <= x + 1; endmodule
module wires (input clk, input [15:0] x, output [15:0] y);
  inner u (.clk(clk), .x(x[7:0]), .y(y[15:8]));
  inner v (.clk(clk), .x(x[15:8]), .y(y[7:0]));
endmodule
module single (input clk, input [7:0] x, output reg [7:0] y); always @(posedge clk) y <= x ^ y; endmodule
module top (input clk, input [15:0] x, output [15:0] y, output [7:0] z);
  wires w (.clk(clk), .x(x), .y(y));
  single s (.clk(clk), .x(x[7:0]), .y(z));
endmodule
"""
    design = read(text)
    assert set(design.blocks) == {"top", "inner"}
    assert [c.name for c in design.blocks["top"].children] == ["w.v", "w.u"]


@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
def test_registers_have_their_own_names(language: str) -> None:
    text = """
module top (input clk, input d, output p, output reg q, output r);
  reg held; wire first = held, second = q;
  assign p = held, r = second;
  always @(posedge clk) begin held <= d; q <= first; end
endmodule
"""
    netlist = read_verilog(text, top="top", language=language)
    assert {register.name for register in elaborate(netlist).blocks["top"].registers} == {"held", "q"}


def test_builder_folds() -> None:
    build = Builder()
    word = build.add(build.nodes[build.const(0, 1)]._replace(op="input", width=16, value=0))
    low, high = build.slice(word, 0, 8), build.slice(word, 8, 8)
    assert build.join([Piece(low, 0, 8), Piece(high, 0, 8)]).limbs == (word,)
    assert build.slice(build.extend(low, 32), 0, 8) == low
    assert build.constant(build.binary("add", build.const(200, 8), build.const(100, 8))) == 44
    assert build.constant(build.make("sar", 8, (build.const(0x80, 8), build.const(9, 4)))) == 0xFF
    assert build.invert(build.invert(low)) == low
