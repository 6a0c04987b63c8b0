"""`sf.Simulation`: a design step by step, with registers and memories by name."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simfoundry as sf
from assets.errors import FoundryError
from pipelines.rtl.reuse import RtlError
from simfoundry.questions import RunQuestion
from tests.rtlreuse.model_benches import vcd_values

TEXT = """
module part #(parameter WIDTH = 100) (input clk, input rst, input [WIDTH-1:0] d, output reg [WIDTH-1:0] sum,
  output odd);
  reg [7:0] count;
  assign odd = ^count;
  always @(posedge clk) if (rst) begin sum <= 0; count <= 0; end
    else begin sum <= sum + d; count <= count + 1; end
endmodule
module top #(parameter STEP = 1) (
  input clk, input rst, input [99:0] d, input [1:0] address,
  output [99:0] sum, output [7:0] word, output [99:0] twice, output odd
);
  reg [7:0] words [0:3];
  assign word = words[address], twice = d << 1;
  part u(.clk(clk), .rst(rst), .d(d), .sum(sum), .odd(odd));
  always @(posedge clk) words[address] <= words[address] + STEP;
endmodule
"""


@pytest.fixture
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("design.v").write_text(TEXT, "utf-8")
    return Path("design.v")


def test_a_step_is_a_clock_cycle(design: Path) -> None:
    large = 3 << 90
    with sf.Simulation(design) as sim:
        assert sim.step(rst=1) == {"sum": 0, "word": 0, "twice": 0, "odd": 0}
        assert sim.step(rst=0, d=large) == {"sum": 0, "word": 1, "twice": 3 << 91, "odd": 0}
        assert sim.step()["sum"] == large  # inputs keep their values
        assert (sim["sum"], sim["d"], sim["top.u.sum"], sim.cycle) == (large, large, 2 * large, 3)
        assert sim.run(5)["sum"] == 6 * large
        assert sim.peek("top.u.count") == 7
        sim.reset()
        assert (sim.cycle, sim["d"], sim["sum"], sim.step()["sum"]) == (0, 0, 0, 0)
        assert (sim.inputs, sim.memories) == ({"rst": 1, "d": 100, "address": 2}, ["top.words"])
        assert {"top.u.sum", "top.u.count"} == {*sim.registers}


def test_registers_and_memories_are_written(design: Path) -> None:
    with sf.Simulation(design, parameter=["STEP=5"]) as sim:
        sim["top.u.sum"] = (1 << 99) + 1
        sim["top.words"] = [9, 8, 7, 6]
        sim.poke("top.words", {2: 100})
        sim["address"] = 2
        assert sim.step() == {"sum": (1 << 99) + 1, "word": 100, "twice": 0, "odd": 0}
        assert sim["top.words"] == [9, 8, 105, 6]
        sim["top.words[3]"] = 1
        assert (sim["top.words[2]"], sim["top.words[3]"]) == (105, 1)
        with pytest.raises(RtlError, match=r"^element 4 of top.words; accepted: 0 to 3$"):
            sim.peek("top.words[4]")
        with pytest.raises(RtlError, match=r"^1 words from 4 for memory top.words; accepted: up to 4$"):
            sim.poke("top.words[4]", 1)


def test_words_of_a_memory_may_have_more_than_64_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "module m(input clk, input [1:0] i, input [129:0] d, output [129:0] q); reg [129:0] w [0:3];"
        " assign q = w[i]; always @(posedge clk) w[i] <= d; endmodule"
    )
    Path("m.v").write_text(text, "utf-8")
    with sf.Simulation("m.v") as sim:
        sim.step(i=3, d=(5 << 128) - 1 & (1 << 130) - 1)
        sim["m.w"] = {1: (1 << 129) + 7}
        assert sim["m.w"] == [0, (1 << 129) + 7, 0, (5 << 128) - 1 & (1 << 130) - 1]
        assert sim.step(i=1) == {"q": (1 << 129) + 7}
        with pytest.raises(RtlError, match=r"^word 0 of m.w: 0x4\w+; accepted: 0 to 0x3f+$"):
            sim["m.w"] = [1 << 130]


def test_words_are_counted_from_the_lowest_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "module m(input clk, input [2:0] a, input [7:0] d, output [7:0] q); reg [7:0] up [4:7], down [7:4];"
    )
    rest = " always @(posedge clk) begin up[a] <= d; down[a] <= d; end assign q = up[a] ^ down[a]; endmodule"
    Path("m.v").write_text(text + rest, "utf-8")
    with sf.Simulation("m.v") as sim:
        for address in (4, 5, 6, 7):
            sim.step(a=address, d=10 * address)
        assert sim["m.up"] == sim["m.down"] == [40, 50, 60, 70]
        sim["m.up[1]"] = 9
        assert (sim["m.down[1]"], sim.step(a=5)["q"]) == (50, 50 ^ 9)


ARRAYS = """
module m (input logic clk, rst, input logic [1:0] i, input logic [7:0] d, output logic [7:0] q);
  logic [7:0] up [4];
  logic [7:0] down [3:0];
  always_ff @(posedge clk or posedge rst)
    if (rst) for (int k = 0; k < 4; k++) begin up[k] <= '0; down[k] <= '0; end
    else begin up[i] <= d; down[i] <= d; end
  assign q = up[i] ^ down[~i];
endmodule
"""


def test_an_array_of_registers_is_read_by_its_indices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.sv").write_text(ARRAYS, "utf-8")
    with sf.Simulation("m.sv") as sim:
        for index, value in ((0, 10), (1, 11), (3, 13)):
            sim.step(i=index, d=value)
        assert sim["m.up"] == sim["m.down"] == [10, 11, 0, 13]
        sim["m.up"], sim["m.down[2]"] = {0: 7}, 5
        assert (sim["m.up[0]"], sim["m.down"]) == (7, [10, 11, 5, 13])
        assert sim.step(i=0, d=0) == {"q": 7 ^ 13}
        with pytest.raises(RtlError, match=r"^element 4 of m.up; accepted: 0 to 3$"):
            sim.peek("m.up[4]")


def test_the_folder_of_a_waveform_is_checked_first(design: Path) -> None:
    with pytest.raises(RtlError, match=r"^no such folder: none \(vcd none/x.vcd\)$"):
        sf.Simulation(design, vcd="none/x.vcd")


def test_the_waveform_has_every_cycle(design: Path) -> None:
    with sf.Simulation(design, vcd="wave.vcd", signals=["d", "top.u.count"]) as sim:
        sim.step(rst=1)
        for value in (4, 4, 5):
            sim.step(rst=0, d=value)
    values = vcd_values(Path("wave.vcd").read_text("utf-8"))
    assert values["top.d"] == [(0, 0), (10, 4), (30, 5)]
    assert values["top.u.count"] == [(0, 0), (20, 1), (30, 2)]


def test_clocks_have_periods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "module m(input a, input b, output reg [3:0] p, q); always @(posedge a) p <= p + 1;"
    Path("m.v").write_text(f"{text} always @(posedge b) q <= q + 1; endmodule", "utf-8")
    with sf.Simulation("m.v", clock=["a=1", "b=3"]) as sim:
        assert sim.run(7) == {"p": 6, "q": 2}


def test_options_are_those_of_the_command() -> None:
    assert [*inspect.signature(sf.Simulation).parameters] == [field.name for field in fields(RunQuestion)]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda sim: sim.step(e=1), r"^unknown input: e; accepted: rst, d, address$"),
        (lambda sim: sim.step(rst=2), r"^value of rst: 2; accepted: 0 to 1$"),
        (lambda sim: sim.run(0), r"^0 cycles; accepted: 1 or more$"),
        (
            lambda sim: sim.peek("top.u.none"),
            r"^unknown register: top.u.none; there are: top.u.\w+, top.u.\w+; memories: top.words$",
        ),
        (lambda sim: sim.poke("top.u.count", 256), r"^value of top.u.count: 256; accepted: 0 to 255$"),
        (
            lambda sim: sim.poke("top.words", [1] * 5),
            r"^5 words from 0 for memory top.words; accepted: up to 4$",
        ),
        (lambda sim: sim.poke("top.words", 3), r"^unknown register: top.words; "),
        (lambda sim: sim.poke("sum", 3), r"^unknown input: sum; accepted: "),
        (lambda sim: sim.run(2.5), r"^cycles: 2.5; accepted: a whole number$"),
        (lambda sim: sim.step(d="7"), r"^value of d: '7'; accepted: a whole number$"),
        (lambda sim: sim.poke("top.u.count", None), r"^value of top.u.count: None; accepted: a whole number"),
        (lambda sim: sim.poke("top.words", "12"), r"^value of top.words: '12'; accepted: a whole number"),
        (lambda sim: sim.poke("top.words", [1, 2.5]), r"^word of top.words: 2.5; accepted: a whole number"),
        (
            lambda sim: sim.poke("top.words", {-1: 5}),
            r"^1 words from -1 for memory top.words; accepted: up to",
        ),
        (
            lambda sim: sim.poke("top.words", {"a": 5}),
            r"^address of top.words: 'a'; accepted: a whole number",
        ),
    ],
)
def test_simulation_rejects_names_and_values(design: Path, action, message: str) -> None:
    with sf.Simulation(design) as sim, pytest.raises(RtlError, match=message):
        action(sim)


def test_simulation_rejects_an_unknown_option(design: Path) -> None:
    with pytest.raises(TypeError, match=r"^unknown option: cycles; accepted: files, top, file_list, "):
        sf.Simulation(design, cycles=3)


def test_a_single_text_is_a_list_of_one_and_numbers_may_be_of_numpy(design: Path) -> None:
    with sf.Simulation(design, parameter="STEP=5", signals="d") as sim:
        number: Any = np.uint8(1)
        words: Any = np.array([9, 8])
        sim["top.u.count"], sim["top.words"] = number, words
        assert sim.step(address=number)["word"] == 8
        assert sim["top.words"] == [9, 13, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameter": {"STEP": 5}}, r"^parameter: {'STEP': 5}; accepted: a list of text$"),
        ({"define": ["A", 3]}, r"^define: \['A', 3\]; accepted: a list of text$"),
        ({"top": 3}, r"^top: 3; accepted: text$"),
        ({"vcd": 3}, r"^vcd: 3; accepted: text or Path$"),
        ({"unroll_limit": "9"}, r"^unroll_limit: '9'; accepted: a whole number$"),
    ],
)
def test_simulation_rejects_values_of_other_types(design: Path, options, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        sf.Simulation(design, **options)


def test_simulation_rejects_calls_after_its_end(design: Path) -> None:
    with sf.Simulation(design) as sim:
        sim.step()
    for call in (sim.step, sim.reset, lambda: sim["sum"], lambda: sim.poke("d", 3)):
        with pytest.raises(RtlError, match=r"^simulation of top is closed; accepted: calls before close$"):
            call()
    sim.close()
