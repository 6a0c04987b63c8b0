"""Nets with an assignment and another driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.rtl.reuse.engines import ENGINES
from pipelines.rtl.reuse.errors import RtlError, SeveralDrivers
from pipelines.rtl.reuse.languages import SYSTEMVERILOG, VERILOG
from pipelines.rtl.reuse.netlist import read_verilog

CHILD = "module child #(parameter P = 1) (output o, input i); assign o = i; endmodule\n"


def design(body: str) -> str:
    return f"{CHILD}module top (input clk, input a, input b, output q, output [3:0] w);\n{body}\nendmodule\n"


@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
@pytest.mark.parametrize(
    ("body", "net"),
    [
        ("assign q = a;\nassign q = ~a;", "q"),
        ("assign q = 1'b0;\nassign q = a;", "q"),
        ("assign q = 1'b0;\nassign q = 1'b1;", "q"),
        ("assign w[1:0] = 0;\nassign {w[3], w[1]} = {a, b};", "w"),
        ("reg r; always @(posedge clk) r <= a;\nassign q = r, r = 1'b0;", "r"),
        ("child u (q, a);\nassign q = 1'b0;", "q"),
        ("child #(.P(2)) u (.o(w[2]), .i(a));\nassign w = 4'd5;", "w"),
        ("assign q = a, a = 1'b1;", "a"),
        ("child u (q, a);\nchild v (q, b);", "q"),
    ],
)
def test_read_verilog_rejects_an_assignment_beside_another_driver(body: str, net: str, language: str) -> None:
    with pytest.raises(
        RtlError, match=rf"^several drivers: {net} in top \(design\.sv:[234]\); accepted: one$"
    ):
        read_verilog(design(body), top="top", language=language)


@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
def test_drivers_of_different_bits_and_equal_assignments_are_accepted(language: str) -> None:
    body = """
      assign w[0] = a, w[3:1] = w[2:0];
      assign q = b;
      assign q = b;
      integer i; reg [3:0] x, y; reg z = 1; initial x = 5;
      always @(posedge clk) for (i = 0; i < 4; i = i + 1) x[i] <= a;
      always @(posedge clk) for (i = 0; i < 4; i = i + 1) y[i] <= z;
      reg [3:0] s; always @* begin s = 0; for (i = 0; i < 2; i = i + 1) s[i] = b; end
      reg [3:0] t; always @* begin t = 0; for (i = 0; i < 3; i = i + 1) t[i] = a; end
      wire n; child u (n, a); child #(2) v (.i(1'b0));
    """
    assert read_verilog(design(body), top="top", language=language).top == "top"


def test_no_engine_simulates_several_drivers(programs: Path) -> None:
    for engine in ("verilator", "cxxrtl"):
        with pytest.raises(SeveralDrivers, match=r"^several drivers: q in top"):
            ENGINES[engine](design("assign q = a;\nassign q = ~a;"), top="top", folder=programs)
