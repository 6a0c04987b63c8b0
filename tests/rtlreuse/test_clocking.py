"""Gated clocks and falling edges: outputs equal to those of event-driven engines, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.rtl.reuse import ENGINES, SYSTEMVERILOG, VERILOG, RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.building import read_design
from pipelines.rtl.reuse.clocking import ONE_CLOCK
from pipelines.rtl.reuse.elaboration import Design
from pipelines.rtl.reuse.projects import ProjectFiles, read_project
from pipelines.rtl.reuse.schedules import read_clocks
from pipelines.rtl.reuse.state import read_checkpoint, write_checkpoint
from tests.support.random_designs import bundle

GATE = """
module gate(input logic clk_i, input logic en_i, input logic test_i, output logic clk_o);
  logic en;
  always_latch if (clk_i == 1'b0) en <= en_i | test_i;
  assign clk_o = clk_i & en;
endmodule
"""
PART = """
module part(input logic clk, input logic rst_n, input logic [7:0] d, output logic [7:0] q, m);
  logic [7:0] mem [0:3];
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) q <= 1; else q <= q + d;
  always_ff @(posedge clk) mem[d[1:0]] <= q;
  assign m = mem[d[3:2]];
endmodule
"""
GATED = f"""{GATE}{PART}
module top(input logic clk, input logic rst_n, input logic a, input logic b, input logic [7:0] d,
           output logic [7:0] q, r, s, m, n, o);
  logic g, h, k;
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) k <= 0; else k <= a ^ q[0];
  gate u1(clk, a | k, 1'b0, g);
  gate u2(g, b, q[3], h);
  part p0(clk, rst_n, d, q, m);
  part p1(g, rst_n, q, r, n);
  part p2(h, rst_n, r, s, o);
endmodule
"""
FALLING = """
module half(input logic clk, input logic rst_n, input logic [7:0] d, output logic [7:0] q);
  always_ff @(negedge clk or negedge rst_n) if (!rst_n) q <= 3; else q <= d + 1;
endmodule
module top(input logic clk, input logic rst_n, input logic [7:0] d, output logic [7:0] x, y, z, w, m);
  logic [7:0] mem [0:7];
  wire nclk = ~clk;
  always_ff @(posedge clk) x <= y + d;
  half u(clk, rst_n, x ^ d, y);
  half v(nclk, rst_n, y + z, z);
  always_ff @(negedge clk) w <= w + z;
  always @(negedge clk) mem[d[2:0]] <= x;
  assign m = mem[w[2:0]];
endmodule
"""
BOTH = """
module top(input logic clk, input logic rst_n, input logic a, input logic [7:0] d,
           output logic [7:0] q, y, output logic l, h);
  logic en, g, hi;
  always_latch if (!clk) en = a ^ q[1] ^ y[0];
  assign g = en & clk;
  always_ff @(posedge g or negedge rst_n) if (!rst_n) q <= 1; else q <= q + d;
  always_ff @(negedge clk) y <= y + q;
  assign l = en;
  always_latch if (clk) hi = d[0] ^ q[0];
  assign h = hi;
endmodule
"""
CONSTANT = f"""{GATE}
module count(input logic c, input logic [7:0] d, output logic [7:0] q);
  always_ff @(posedge c) q <= q + d;
endmodule
module top(input logic clk, input logic a, input logic [7:0] d, output logic [7:0] q, r, s, t, u, v);
  logic g, h, k, on;
  always_latch if (!clk) on = 1;
  gate u1(clk, 1'b1, 1'b0, g);
  gate u2(clk, 1'b0, 1'b0, h);
  gate u3(clk, a, 1'b0, k);
  count c0(g, d, q);
  count c1(h, d, r);
  count c2(k, d, s);
  count c3(1'b0, d, t);
  count c4(, d, u);
  count c5(clk & on, d, v);
endmodule
"""
"""Gates that are always open or closed, a clock that is tied to 0, and an open one."""
CHOSEN = """
module top(input clk, input a, input t, input [3:0] d, output reg [3:0] q, r, s, output reg l);
  wire en = t ? 1'b1 : a;
  reg m;
  always @(clk or en) if (!clk) l = en;
  always @* if (!clk) begin if (d[0]) m = 0; else if (d[1]) m = 1; else m = a ^ q[1]; end
  always @(posedge (clk & l)) q <= q + d;
  always @(posedge (clk & m)) r <= r ^ d;
  always @(negedge clk) s <= s + q;
endmodule
"""
"""Yosys' reader of Verilog makes resets of the choices of constants."""


def digests(
    text: str, engine: str, programs: Path, stimuli: int = 1, language: str = SYSTEMVERILOG
) -> list[int]:
    program = ENGINES[engine](
        text, top="top", folder=programs, language=language, is_quick=True, stimuli=stimuli
    )
    with closing(Simulator(program)) as simulator:
        return [int(value) for value in simulator.run(2000, seed=5).digests]


@pytest.mark.parametrize(
    ("text", "engines"),
    [
        (GATED, ("verilator",)),
        (FALLING, ("verilator", "cxxrtl")),
        (BOTH, ("verilator",)),
        pytest.param(CONSTANT, ("verilator",), marks=pytest.mark.slow),
    ],
)
def test_engines_agree_on_clocks(text: str, engines: tuple[str, ...], programs: Path) -> None:
    for stimuli in (1, 3):
        own = digests(text, "reuse", programs, stimuli)
        assert own[0] != 0
        for engine in engines if stimuli == 1 else engines[:1]:
            assert digests(text, engine, programs, stimuli) == own, engine


@pytest.mark.slow
def test_engines_agree_on_latches_with_a_choice_of_constants(programs: Path) -> None:
    own = digests(CHOSEN, "reuse", programs, language=VERILOG)
    assert own == digests(CHOSEN, "verilator", programs, language=VERILOG)
    assert read_design(CHOSEN, top="top", language=VERILOG, timeout_s=60).front_end == "yosys"


def test_gates_of_constants_are_accepted() -> None:
    """Found by random design 40047: an AND of the clock and a constant; 40062: a reset of a latch."""
    assert read(CONSTANT).has_gates
    for seed in (40047, 40062):
        design = bundle([seed])
        read_design(design.verilog, top="top", language=VERILOG, timeout_s=60, files=design.files)


def test_states_apart_have_falling_edges(programs: Path) -> None:
    digests = set[tuple[int, ...]]()
    for is_apart in (False, True):
        program = build_reuse(
            FALLING, top="top", folder=programs, language=SYSTEMVERILOG, stimuli=3, is_apart=is_apart
        )
        with closing(Simulator(program)) as simulator:
            digests.add(tuple(int(value) for value in simulator.run(500, seed=5).digests))
    assert len(digests) == 1


FIFO = Path(__file__).with_name("projects") / "fifo"


@pytest.mark.parametrize("periods", [("1", "1"), ("2", "3:1"), ("5:4", "2"), ("1", "7:3")])
def test_engines_agree_on_several_clocks(
    periods: tuple[str, str], programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIFO)
    project = read_project(ProjectFiles(files=(), lists=[Path("fifo.f")]))
    clocks = read_clocks([f"write_clk={periods[0]}", f"read_clk={periods[1]}"])
    by_engine = dict[str, list[int]]()
    for engine in ("reuse", "verilator", "cxxrtl"):
        program = ENGINES[engine](
            project.text, top=project.top, folder=programs, is_quick=True, clocks=clocks, stimuli=2
        )
        assert (program.ports.clock, [*program.ports.clocks]) == (None, ["write_clk", "read_clk"])
        with closing(Simulator(program)) as simulator:
            by_engine[engine] = [int(value) for value in simulator.run(1000, seed=2).digests]
    assert by_engine["reuse"] == by_engine["verilator"] == by_engine["cxxrtl"]


SEVERAL = """
module top(input logic write_clk, read_clk, input logic [7:0] d, output logic [7:0] p, q);
  always_ff @(posedge write_clk) p <= p + d;
  always_ff @(posedge read_clk) q <= q ^ p;
endmodule
"""


def test_clocks_go_on_in_their_phase_from_a_checkpoint(programs: Path, tmp_path: Path) -> None:
    clocks = read_clocks(["write_clk=2", "read_clk=3:1"])
    program = build_reuse(
        SEVERAL, top="top", folder=programs, language=SYSTEMVERILOG, is_quick=True, clocks=clocks
    )
    with closing(Simulator(program)) as whole, closing(Simulator(program)) as first:
        expected = list(whole.run(507, seed=5).digests)
        first.run(100, seed=5)
        write_checkpoint(first, tmp_path / "state")
    with closing(Simulator(program)) as second:
        read_checkpoint(second, tmp_path / "state")
        assert list(second.run(407).digests) == expected


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"threads": 2}, "several threads"),
        ({"batch": 4, "threads": 2}, "several threads and several cycles per task"),
        ({"is_skipping": True}, "activity skipping"),
        ({"is_counting": True}, "toggle counts"),
    ],
)
def test_options_of_one_clock_reject_several(options: Mapping[str, Any], what: str, programs: Path) -> None:
    clocks = read_clocks(["write_clk=2", "read_clk=3:1"])
    accepted = "engine verilator or cxxrtl, or reuse without"
    with pytest.raises(RtlError, match=f"^--clock with {what}; accepted: {accepted}$"):
        build_reuse(SEVERAL, top="top", folder=programs, language=SYSTEMVERILOG, clocks=clocks, **options)


def test_clocks_rise_at_the_end_of_their_cycles(programs: Path) -> None:
    text = "module top(input a, input b, output reg [7:0] p, q, output reg [7:0] r);"
    text += " initial p = 0; initial q = 0; always @(posedge a) p <= p + 1;"
    text += " always @(posedge b) begin q <= q + 1; r <= p; end endmodule"
    clocks = read_clocks(["a=2", "b=3:1"])
    program = ENGINES["reuse"](text, top="top", folder=programs, is_quick=True, clocks=clocks)
    with closing(Simulator(program)) as simulator:
        steps = [simulator.step() for _ in range(7)]
    assert [step["p"] for step in steps] == [0, 1, 1, 2, 2, 3, 3]
    assert [step["q"] for step in steps] == [0, 0, 1, 1, 1, 2, 2]
    assert [step["r"] for step in steps] == [0, 0, 1, 1, 1, 2, 2]


TWO = "module top(input a, input b, input d, output reg p, output reg q); %s endmodule"


@pytest.mark.parametrize(
    ("body", "clocks", "message"),
    [
        ("always @(posedge a) p <= d; always @(posedge b) q <= d;", ["a=1"], "clock without a period: b; "),
        ("always @(posedge a) p <= d;", ["c=1"], "unknown clock: c; accepted: a"),
        (
            "always @(negedge a) p <= d;",
            ["a=2"],
            "falling edge: a in top; accepted with --clock: rising edges",
        ),
        (
            "reg h; always @(posedge a) h <= ~h; always @(posedge h) q <= d;",
            ["a=2"],
            "gated or divided clock: h in top; accepted with --clock: rising edges of ports",
        ),
        ("always @(posedge a) p <= b;", ["a=1", "b=1"], "clock used as data: b in top"),
    ],
)
def test_clocks_with_periods_reject(body: str, clocks: list[str], message: str) -> None:
    with pytest.raises(RtlError) as error:
        read_design(TWO % body, top="top", language=VERILOG, timeout_s=60, clocks=read_clocks(clocks))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("text", ["a", "a=0", "a=-1", "a=2:2", "a=x", "=2", "a=1.5", "a=2:"])
def test_read_clocks_rejects(text: str) -> None:
    with pytest.raises(RtlError) as error:
        read_clocks([text])
    form = "NAME=PERIOD or NAME=PERIOD:PHASE in cycles, a phase below the period"
    assert str(error.value) == f"--clock {text}; accepted: {form}"


def test_read_clocks_rejects_a_clock_twice() -> None:
    with pytest.raises(RtlError, match=r"^--clock a=2: a has a period already; accepted: one$"):
        read_clocks(["a=1", "a=2"])


def read(text: str) -> Design:
    return read_design(text, top="top", language=SYSTEMVERILOG, timeout_s=60)


def test_a_gated_clock_is_an_enable_and_costs_no_event() -> None:
    design = read(GATED)
    assert (design.clock, design.has_gates, design.has_falling) == ("clk", True, False)
    assert "clk" not in design.inputs
    falling = read(FALLING)
    assert (falling.has_gates, falling.has_falling, list(falling.inputs)[-1]) == (False, True, "clk")


def test_an_and_of_words_is_no_gate(programs: Path) -> None:
    """Found by random design 40054: the lowest bits of both words are 0."""
    text = "module top(input clk, output reg [4:0] q, output p); initial q = 0; assign p = q && q;"
    text += " always @(negedge clk) q <= 5'h16; endmodule"
    program = ENGINES["reuse"](text, top="top", folder=programs, language=VERILOG, is_quick=True)
    with closing(Simulator(program)) as simulator:
        assert [simulator.step() for _ in range(2)] == [{"q": 0, "p": 0}, {"q": 22, "p": 1}]


def test_the_clock_falls_behind_the_inputs_and_not_in_the_first_cycle(programs: Path) -> None:
    text = "module top(input clk, input [3:0] d, output reg [3:0] q, r); initial q = 9;"
    text += " always @(negedge clk) q <= d; always @(posedge clk) r <= q; endmodule"
    program = ENGINES["reuse"](text, top="top", folder=programs, language=SYSTEMVERILOG, is_quick=True)
    with closing(Simulator(program)) as simulator:
        steps = [simulator.step({"d": d}) for d in (1, 2, 3)]
    assert [(int(np.asarray(s["q"])), int(np.asarray(s["r"]))) for s in steps] == [(9, 0), (2, 9), (3, 2)]


ACCEPTED = (
    "; accepted: an input port of one bit, or the AND of a clock and a latch that is transparent while the "
    "clock is low"
)
LATCH = "reg l; always_latch if (!clk) l = a; "


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "wire g = clk & a; always @(posedge g) q <= d;",
            "gated clock: g in top (design.sv:1); accepted: an input port of one bit",
        ),
        (
            LATCH + "wire g = clk & ~l; always @(posedge g) q <= d;",
            f"gated clock: g in top (design.sv:1){ACCEPTED}",
        ),
        (
            LATCH.replace("!clk", "clk") + "wire g = clk & l; always @(posedge g) q <= d;",
            f"gated clock: g in top (design.sv:1){ACCEPTED}",
        ),
        (
            LATCH + "wire g = clk && {a, l}; always @(posedge g) q <= d;",
            f"gated clock: g in top (design.sv:1){ACCEPTED}",
        ),
        (
            LATCH + "wire g = clk & l; reg m; always_latch if (!g) m = d; wire h = clk & m; "
            "always @(posedge h) q <= d;",
            f"gated clock: h in top (design.sv:1){ACCEPTED}",
        ),
        (
            LATCH + "wire g = clk & l; always @(negedge g) q <= d;",
            f"falling edge of a gated clock: g in top (design.sv:1){ACCEPTED}",
        ),
        ("always @(negedge clk) q <= d ^ clk;", "clock used as data: clk in top"),
        ("always @(negedge clk) q <= clk;", "clock used as data: clk in top"),
        (
            LATCH + "wire g = clk & l; reg r; always @(posedge g) r <= d; assign q = g;",
            "clock used as data: q in top",
        ),
        (
            "always_latch if (a) q = d;",
            "latch: q in top (design.sv:1); accepted: the latch of a clock gate, or --engine verilator",
        ),
        (
            LATCH.replace("!clk", "d") + "always @(posedge clk) q <= l;",
            "latch: l in top (design.sv:1); accepted: the latch of a clock gate, or --engine verilator",
        ),
        (
            "reg h; always @(posedge clk) h <= ~h; always @(posedge h) q <= d;",
            f"divided clock: h in top (design.sv:1){ACCEPTED}",
        ),
        (
            "wire b = a; reg r; always @(negedge clk) r <= d; always @(posedge b) q <= r;",
            f"several clocks in top: a, clk; accepted: {ONE_CLOCK}",
        ),
    ],
)
def test_clocks_reject(body: str, message: str) -> None:
    with pytest.raises(RtlError) as error:
        read(f"module top(input clk, input a, input d, output reg q); {body} endmodule")
    assert str(error.value) == message


def test_engines_reject_clocks_that_they_get_wrong(programs: Path) -> None:
    with pytest.raises(
        RtlError, match=r"^gated clock clk with engine cxxrtl, which runs its registers behind "
    ):
        ENGINES["cxxrtl"](GATED, top="top", folder=programs, language=SYSTEMVERILOG)
    with pytest.raises(RtlError, match=r"^falling edge of clock clk with several threads; accepted: "):
        ENGINES["reuse"](FALLING, top="top", folder=programs, language=SYSTEMVERILOG, threads=2)
