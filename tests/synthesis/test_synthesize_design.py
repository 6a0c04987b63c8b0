"""A whole design through logic synthesis: labels, equivalence, repeatability, and every bad outcome."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sample_designs import ADDER, COUNTER, DESIGNS, DOT_PRODUCT, SMALL_LIBERTY

from pipelines.base.tools import run_tool
from pipelines.silicon.synthesis import (
    SynthesisError,
    SynthesisResult,
    Target,
    load_liberty,
    synthesize_design,
    tool_version,
    yosys,
)

ARITHMETIC = """
module arithmetic(input signed [11:0] a, input signed [11:0] b, input [3:0] s,
                  output signed [11:0] low, output signed [23:0] full, output [23:0] unsigned_full,
                  output [11:0] scaled, output signed [15:0] negated, output [11:0] shifted,
                  output less, output [5:0] narrow);
  assign low = a * b;
  assign full = a * b;
  assign unsigned_full = $unsigned(a) * $unsigned(b);
  assign scaled = a * 12'd100;
  assign negated = a * -16'sd7;
  assign shifted = a >>> s;
  assign less = a < b;
  assign narrow = a[5:0] * b[5:0];
endmodule
"""

BENCH = """
module bench;
  reg [27:0] vectors [0:255];
  reg [11:0] a, b;
  reg [3:0] s;
  wire [11:0] low, scaled, shifted;
  wire [23:0] full, unsigned_full;
  wire [15:0] negated;
  wire less;
  wire [5:0] narrow;
  arithmetic dut(a, b, s, low, full, unsigned_full, scaled, negated, shifted, less, narrow);
  integer i;
  initial begin
    $readmemh("vectors.hex", vectors);
    for (i = 0; i < 256; i = i + 1) begin
      {a, b, s} = vectors[i];
      #100 $display("%h %h %h %h %h %h %h %h", low, full, unsigned_full, scaled, negated,
                    shifted, less, narrow);
    end
  end
endmodule
"""


def label(verilog: str, top: str, target: Target, folder: Path) -> SynthesisResult:
    return synthesize_design(verilog, top=top, target=target, folder=folder)


def failure(verilog: str, target: Target, folder: Path) -> str:
    result = label(verilog, "top", target, folder)
    assert result.status == "tool_error"
    assert result.area_um2 is result.delay_ns is result.cell_count is None
    assert result.tool == "pyosys"
    return result.reason or ""


def test_counter_has_its_flip_flops_and_a_plausible_delay(osu018: Target, tmp_path: Path) -> None:
    result = label(COUNTER, "counter", osu018, tmp_path)
    assert result.status == "ok"
    assert result.reason is None
    assert result.flip_flop_count == 8
    assert result.cells_by_type["DFFPOSX1"] == 8
    cells = load_liberty(osu018.liberty).cells
    area = sum(n * cells[t].area_um2 for t, n in result.cells_by_type.items())
    assert result.area_um2 == area
    assert result.cell_count == sum(result.cells_by_type.values())
    assert result.delay_ns is not None
    assert 0.4 < result.delay_ns < 3.0
    assert result.tool_version == tool_version()
    assert result.wall_s > 0


def test_asynchronous_registers_map_to_both_edges(osu018: Target, tmp_path: Path) -> None:
    result = label(DESIGNS["reset_counter"], "reset_counter", osu018, tmp_path)
    assert result.flip_flop_count == 8
    assert result.cells_by_type["DFFSR"] == 8


def test_same_design_gives_the_same_netlist(osu018: Target, tmp_path: Path) -> None:
    results = [label(DOT_PRODUCT, "dot_product", osu018, tmp_path / d) for d in ("one", "two")]
    assert replace(results[0], wall_s=0.0) == replace(results[1], wall_s=0.0)
    first, second = ((tmp_path / d / "netlist.json").read_bytes() for d in ("one", "two"))
    assert first == second


def test_second_run_in_a_folder_takes_nothing_from_the_first(osu018: Target, tmp_path: Path) -> None:
    label(COUNTER, "counter", osu018, tmp_path)
    assert "syntax error" in failure("module top(", osu018, tmp_path)
    assert not (tmp_path / "netlist.json").exists()


def test_folder_and_library_may_have_any_name(osu018: Target, tmp_path: Path) -> None:
    odd = tmp_path / "a b;'c\"d $x -o \\ $(touch pwned)"
    odd.mkdir()
    library = odd / "my lib;'\".lib"
    shutil.copy(osu018.liberty, library)
    plain = label(ADDER, "adder", osu018, tmp_path / "plain")
    result = label(ADDER, "adder", replace(osu018, liberty=library), odd / "work 'n\" ; dir")
    assert replace(result, wall_s=0.0) == replace(plain, wall_s=0.0)
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs iverilog")
def test_netlist_computes_what_the_design_computes(osu018: Target, tmp_path: Path) -> None:
    """Signed, unsigned, truncated, constant and narrow products, which take different ways."""
    assert label(ARITHMETIC, "arithmetic", osu018, tmp_path).status == "ok"
    (tmp_path / "check.txt").write_text("read_json netlist.json\nwrite_verilog -noexpr mapped.v")
    worker = Path(yosys.__file__).with_name("worker.py")
    argv = [sys.executable, str(worker), "check.txt", "log"]
    assert run_tool(argv, folder=tmp_path, timeout_s=60).returncode == 0
    (tmp_path / "bench.v").write_text(BENCH)
    vectors = np.random.default_rng(5).integers(0, 1 << 28, 256)
    (tmp_path / "vectors.hex").write_text("\n".join(f"{v:07x}" for v in vectors))
    cells = str(osu018.liberty.with_suffix(".v"))
    outputs: list[str] = []
    for sources in (["design.v"], ["mapped.v", cells]):
        argv = ["iverilog", "-g2012", "-o", "bench.vvp", "bench.v", *sources]
        assert run_tool(argv, folder=tmp_path, timeout_s=60).returncode == 0
        outputs.append(run_tool(["vvp", "bench.vvp"], folder=tmp_path, timeout_s=60).stdout)
    assert len(outputs[0].splitlines()) == 256
    assert "x" not in outputs[0]
    assert outputs[1] == outputs[0]


def test_multiply_by_a_constant_is_much_smaller_than_a_multiplier(osu018: Target, tmp_path: Path) -> None:
    ports = "input [15:0] a, input [15:0] b, output [15:0] y"
    areas = [
        label(f"module top({ports}); assign y = a * {by}; endmodule", "top", osu018, tmp_path)
        for by in ("100", "b")
    ]
    constant, variable = (r.area_um2 for r in areas)
    assert constant is not None
    assert variable is not None
    assert constant < variable / 4  # through the Booth encoder it is above


def test_high_fan_out_of_a_register_is_buffered(osu018: Target, tmp_path: Path) -> None:
    wide = """module top(input clk, input s, input [255:0] a, input [255:0] b,
                         output reg [255:0] y);
  reg p;
  always @(posedge clk) begin p <= s; y <= p ? a : b; end
endmodule"""
    result = label(wide, "top", osu018, tmp_path)
    assert result.cells_by_type.get("BUFX2", 0) + result.cells_by_type.get("BUFX4", 0) > 10
    assert result.delay_ns is not None
    assert result.delay_ns < 3.0


def test_undefined_bits_become_zero(osu018: Target, tmp_path: Path) -> None:
    loose = """module top(input a, output y, output z);
  wire n;
  assign y = a & n;
  assign z = 1'bx;
endmodule"""
    result = label(loose, "top", osu018, tmp_path)
    assert result.status == "ok"
    assert result.cell_count == 0
    assert result.delay_ns == 0.0


def test_hierarchy_and_simulation_statements_leave_no_cells(osu018: Target, tmp_path: Path) -> None:
    nested = """module invert(input a, output y); assign y = ~a; endmodule
module top(input clk, input a, output reg y);
  wire n;
  invert one(.a(a), .y(n));
  initial $display("start");
  always @(posedge clk) begin y <= n; $display("%b", y); assert (y || !y); end
endmodule"""
    result = label(nested, "top", osu018, tmp_path)
    assert result.flip_flop_count == 1
    assert result.cell_count == 2  # and one inverter


@pytest.mark.parametrize(
    ("verilog", "reason"),
    [
        ("", "ERROR: Module `top' not found!"),
        ("module top(input a, output y);\nassign y = a +;\nendmodule", "design.v:2: ERROR: syntax"),
        ("module other(input a, output y); assign y = a; endmodule", "Module `top' not found"),
        ("module top(input a); missing m(.a(a)); endmodule", "missing"),
        (
            "module top(input e, input [1:0] d, output reg [1:0] y); always @* if (e) y = d;endmodule",
            "design has latches: 2 x LATCH; give every signal a value on every path",
        ),
        ("module top(input a, e, inout t); assign t = e ? a : 1'bz; endmodule", "1 x $_TBUF_"),
        (
            "(* blackbox *) module ram(input a, output y); endmodule\n"
            "module top(input a, output y); ram r(a, y); endmodule",
            "cells not in library osu018_stdcells: 1 x ram",
        ),
        (
            "module top(input a, output y); wire n; assign n = ~(a & m); wire m;"
            "assign m = ~(n & a); assign y = m; endmodule",
            "netlist has a combinational loop, 2 nets are in",
        ),
    ],
)
def test_synthesize_design_rejects_as_a_row(
    verilog: str, reason: str, osu018: Target, tmp_path: Path
) -> None:
    assert reason in failure(verilog, osu018, tmp_path)


def test_a_library_without_an_inverter_is_refused(small_liberty: Path, tmp_path: Path) -> None:
    text = small_liberty.read_text().replace("!A", "A")
    small_liberty.write_text(text)
    target = Target(liberty=small_liberty, clock_period_ns=10.0)
    reason = "library without an inverter: small.lib; abc would map to a wrong netlist"
    assert failure("module top(input a, output y); assign y = ~a; endmodule", target, tmp_path) == reason


def test_time_limit_is_a_status(osu018: Target, tmp_path: Path) -> None:
    """Of processor time: a multiplier that takes much more than its second."""
    wide = "module top(input [255:0] a, input [255:0] b, output [511:0] y); assign y = a * b; endmodule"
    result = synthesize_design(wide, top="top", target=osu018, folder=tmp_path, timeout_s=1)
    assert result.status == "timeout"
    assert result.reason == "yosys or abc took more than 1 s of processor time"


@pytest.mark.parametrize("top", ["", "a b", "x; delete", "1st", "a\nb", "-help", "été"])
def test_synthesize_design_rejects_a_top_that_is_no_identifier(
    top: str, osu018: Target, tmp_path: Path
) -> None:
    with pytest.raises(SynthesisError, match="top is not a Verilog identifier"):
        label(COUNTER, top, osu018, tmp_path)


def test_synthesize_design_rejects_a_library_that_is_gone(tmp_path: Path) -> None:
    target = Target(liberty=tmp_path / "gone.lib", clock_period_ns=5.0)
    with pytest.raises(SynthesisError, match=r"^cannot read the liberty file .*gone.lib: No such file"):
        label(COUNTER, "counter", target, tmp_path / "work")


def test_library_without_gates_is_an_error_of_the_tool(tmp_path: Path) -> None:
    path = tmp_path / "few.lib"
    path.write_text(SMALL_LIBERTY)
    target = Target(liberty=path, clock_period_ns=5.0)
    assert label(ADDER, "adder", target, tmp_path / "work").status == "tool_error"


def test_version_changes_with_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tool_version()
    assert re.fullmatch(r"\d+\.\d+\S*\+recipe\.[0-9a-f]{8}", before)
    monkeypatch.setattr(yosys, "_VERSION", "00000000")
    assert tool_version() != before


def test_commands_hold_no_text_from_outside_but_the_top() -> None:
    one, other = yosys.commands("aaa"), yosys.commands("bbb")
    assert [c.replace("aaa", "bbb") for c in one] == list(other)
    assert sum("aaa" in c for c in one) == 1
