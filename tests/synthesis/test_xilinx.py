"""Designs in a 7-series FPGA: counts of each kind of cell, another yosys, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sample_designs import COUNTER, DOT_PRODUCT

from pipelines.base.tools import run_tool
from pipelines.silicon.synthesis import SynthesisError, synthesize_for_fpga
from pipelines.silicon.synthesis.xilinx import read_fpga_report

MEMORY = """
module memory(input clk, input we, input [{high}:0] a, input [15:0] d, output reg [15:0] q);
  reg [15:0] m [0:{last}];
  always @(posedge clk) begin if (we) m[a] <= d; q <= m[a]; end
endmodule
"""
PRODUCT = """
module product(input clk, input signed [{high}:0] a, b, output reg signed [{last}:0] q);
  always @(posedge clk) q <= a * b;
endmodule
"""


def report(**cells: int) -> bytes:
    return json.dumps({"modules": {"\\top": {"num_cells_by_type": cells}}}).encode()


def test_cells_are_counted_by_the_resource_that_they_take() -> None:
    found = read_fpga_report(
        report(
            LUT2=3, LUT6=4, INV=1, SRL16E=2, RAM32M=5, FDRE=6, FDSE=1, CARRY4=9, DSP48E1=7, RAMB18E1=1
        ).replace(b'"RAMB18E1": 1', b'"RAMB18E1": 1, "RAMB36E1": 2'),
        "top",
    )
    assert (found.lut_count, found.flip_flop_count) == (3 + 4 + 1 + 2 + 5 * 4, 7)
    assert (found.dsp_count, found.bram_count) == (7, 1 + 2 * 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (report(LUT2=1, OTHER=2), "cells that family xc7 has no place for: 2 x OTHER"),
        (b"[]", "not a report of yosys' stat: "),
        (b'{"modules": {}}', "not a report of yosys' stat: "),
    ],
)
def test_counting_rejects_other_reports(content: bytes, message: str) -> None:
    with pytest.raises(SynthesisError, match=message):
        read_fpga_report(content, "top")


@pytest.mark.sample(2)
@pytest.mark.parametrize(("bits", "luts", "brams"), [(5, 2 * 4, 0), (12, 0, 4)], ids=["distributed", "block"])
def test_a_memory_takes_luts_or_block_ram(bits: int, luts: int, brams: int, tmp_path: Path) -> None:
    text = MEMORY.format(high=bits - 1, last=2**bits - 1)
    found = synthesize_for_fpga(text, top="memory", folder=tmp_path)
    assert (found.status, found.lut_count, found.bram_count) == ("ok", luts, brams)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("bits", "dsps"), [(8, 1), (18, 1), (25, 2)])
def test_a_product_takes_dsps_of_25_by_18_bits(bits: int, dsps: int, tmp_path: Path) -> None:
    text = PRODUCT.format(high=bits - 1, last=2 * bits - 1)
    found = synthesize_for_fpga(text, top="product", folder=tmp_path)
    assert (found.status, found.dsp_count) == ("ok", dsps)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("top", "text"), [("counter", COUNTER), ("dot_product", DOT_PRODUCT)])
@pytest.mark.slow
def test_counts_agree_with_another_yosys(top: str, text: str, tmp_path: Path) -> None:
    """The whole `synth_xilinx` of the Debian package, with abc9; LUTs are another mapper's."""
    yosys = shutil.which("yosys") or pytest.skip("the Debian package yosys is not installed")
    found = synthesize_for_fpga(text, top=top, folder=tmp_path / "own")
    (tmp_path / "design.v").write_text(text)
    steps = f"synth_xilinx -flatten -noiopad -noclkbuf -top {top}; tee -q -o cells.json stat -json"
    run = run_tool([yosys, "-q", "-p", f"read_verilog -sv design.v; {steps}"], folder=tmp_path, timeout_s=100)
    assert run.returncode == 0, run.stderr
    other = read_fpga_report((tmp_path / "cells.json").read_bytes(), top)
    assert (found.flip_flop_count, found.dsp_count) == (other.flip_flop_count, other.dsp_count)
    assert found.lut_count == pytest.approx(other.lut_count, rel=0.25)


def test_a_design_that_is_no_verilog_is_a_tool_error(tmp_path: Path) -> None:
    found = synthesize_for_fpga("module top(", top="top", folder=tmp_path)
    assert (found.status, found.lut_count) == ("tool_error", None)
    assert "ERROR" in (found.reason or "")


def test_synthesis_for_an_fpga_rejects_a_top_that_is_no_identifier(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match=r"top is not a Verilog identifier .*: 'a b'"):
        synthesize_for_fpga(COUNTER, top="a b", folder=tmp_path)
