"""Activity skipping gives the outputs of a run without it, and knows what a value depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.rtl.reuse import RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.activity import Dependences
from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.state import load_memory
from pipelines.rtl.reuse.structure import analyse


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("family", "size", "stimuli"),
    [("gemm_os", 5, 1), ("wide", 8, 2), ("gemmini", 16, 2), ("rv32im", 3, 1), ("mesh", 2, 1)],
)
def test_outputs_do_not_depend_on_skipping(family: str, size: int, stimuli: int, programs: Path) -> None:
    text = FAMILIES[family](size).verilog
    options = {"top": "top", "folder": programs, "compiler": "g++", "stimuli": stimuli, "is_quick": True}
    plain, skipping = (
        Simulator(build_reuse(text, **options)),
        Simulator(build_reuse(text, **options, is_skipping=True)),
    )
    for seed in (2, 3):
        expected = plain.run(300, seed=seed, is_traced=True)
        found = skipping.run(300, seed=seed, is_traced=True)
        assert expected.outputs is not None
        assert found.outputs is not None
        assert (found.outputs == expected.outputs).all()
    for _ in range(20):  # the same inputs, so that parts fall asleep
        assert skipping.step() == plain.step()


# Two halves that share nothing; the second one counts for ever.
HALVES = """
module top (input clk, input [7:0] x, input e, input [2:0] a, output [7:0] y, z);
  half #(.STEP(0)) u (.clk(clk), .e(e), .x(x), .a(a), .y(y));
  half #(.STEP(1)) v (.clk(clk), .e(1'b0), .x(8'd0), .a(3'd0), .y(z));
endmodule
module half #(parameter STEP = 0) (input clk, input e, input [7:0] x, input [2:0] a, output [7:0] y);
  reg [7:0] words [0:7];
  reg [7:0] count = 0;
  always @(posedge clk) begin if (e) words[a] <= x; count <= count + STEP; end
  assign y = words[a] ^ count;
endmodule
"""


def test_values_depend_on_what_they_read() -> None:
    """Elements of a systolic array: themselves, their neighbours and what feeds the array, not the others."""
    structure = analyse(elaborate(read_verilog(FAMILIES["gemm_os"](16).verilog, top="top")))
    dependences = Dependences(structure, place(structure))
    for unit in (unit for unit in dependences.units if len(unit.instances) == 32):
        for instance, _ in unit.instances:
            flags = dependences.state(instance)
            assert flags >> dependences.unit_of[instance] & 1
            assert (flags & (1 << len(dependences.units)) - 1).bit_count() <= 4 < len(dependences.units)


def test_a_word_from_outside_wakes_what_sleeps(programs: Path) -> None:
    simulator = Simulator(build_reuse(HALVES, top="top", folder=programs, is_skipping=True, is_quick=True))
    simulator.step({"x": 7, "e": 1, "a": 2})
    simulator.step({"e": 0})
    assert simulator.step() == {"y": 7, "z": 2}
    layout = simulator.program.layout
    assert layout is not None
    [name, *_] = [n for n, places in layout.places.items() if places[0].words and ".u." in n]
    load_memory(simulator, name, [9], first=2)
    assert simulator.step() == {"y": 9, "z": 3}


def test_skipping_rejects_threads(programs: Path) -> None:
    with pytest.raises(RtlError) as error:
        build_reuse(HALVES, top="top", folder=programs, is_skipping=True, threads=2)
    assert str(error.value) == (
        "activity skipping with toggle counts, threads or cycles per task; accepted: alone"
    )
