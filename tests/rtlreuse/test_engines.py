"""The other engines: outputs equal to ours, and all that a design brings along runs confined."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.rtl.reuse import (
    ENGINES,
    SYSTEMVERILOG,
    VERILOG,
    CombinationalLoop,
    Ports,
    Program,
    RtlError,
    Simulator,
    build_cxxrtl,
    build_reuse,
    build_verilator,
    language_of,
)
from pipelines.rtl.reuse.building import read_design
from pipelines.rtl.reuse.languages import as_verilog
from tests.rtlreuse.icarus_reference import first_difference
from tests.rtlreuse.test_outputs import HIERARCHY

ARC_PACKAGES = all(importlib.util.find_spec(name) for name in ("pycde", "mlir", "llvm"))

# Packages, structures, enumerations, generate loops, unpacked ports and an unnamed memory.
SYSTEM_VERILOG = """
package types;
  typedef struct packed { logic [7:0] x; logic signed [7:0] y; } pair_t;
  typedef enum logic [1:0] {IDLE, RUN, STOP} state_t;
endpackage
module pe import types::*; #(parameter int W = 8) (input logic clk, rst_n, input pair_t i, output pair_t o);
  state_t s;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin o <= '0; s <= IDLE; end
    else begin
      unique case (s)
        IDLE: s <= RUN;
        RUN: s <= i.x[0] ? STOP : RUN;
        default: s <= IDLE;
      endcase
      o.x <= i.x + i.y; o.y <= s == RUN ? i.y >>> 1 : W'(3) ^ i.y;
    end
endmodule
module top import types::*; (input logic clk, rst_n, we, input pair_t i, input logic [2:0] a,
    output pair_t o, output logic [7:0] m);
  pair_t c [6];
  assign c[0] = i;
  for (genvar k = 0; k < 5; k++) begin : g
    pe #(.W(8)) u (.clk, .rst_n, .i(c[k]), .o(c[k+1]));
  end
  assign o = c[5];
  logic [7:0] mem [8];
  always_ff @(posedge clk) if (we) mem[a] <= i.x;
  assign m = mem[a];
endmodule
"""

# Ports of one memory that write and read the same words; the later write wins bit by bit.
WRITE_PORTS = """
module top (input clk, input [1:0] a, b, r, input [7:0] x, y, input e, g, s, output [7:0] q, output p);
  reg [7:0] m [0:3];
  reg n [0:3];
  integer i;
  initial for (i = 0; i < 4; i = i + 1) begin m[i] = i; n[i] = 0; end
  always @(posedge clk) begin
    if (e) m[a] <= m[b] ^ x;
    if (g) m[b] <= m[a] + y;
    if (s) m[r][5:2] <= x[3:0];
    n[a] <= y[0];
    if (g) n[b] <= n[r];
  end
  assign q = m[r], p = n[r];
endmodule
"""


def digests(program: Program) -> list[int]:
    return Simulator(program).run(1000, seed=2).digests.tolist()


@pytest.fixture(scope="module")
def hierarchy(programs: Path) -> Program:
    return build_reuse(HIERARCHY, top="top", folder=programs, stimuli=2, is_apart=False)


def test_cxxrtl_equals_reuse(hierarchy: Program, programs: Path) -> None:
    theirs = build_cxxrtl(
        HIERARCHY, top="top", folder=programs, stimuli=2, ports=hierarchy.ports, is_quick=True
    )
    assert digests(theirs) == digests(hierarchy)


@pytest.mark.skipif(not ARC_PACKAGES, reason="needs the packages of the extra arc")
def test_arc_equals_reuse(hierarchy: Program, programs: Path) -> None:
    """With memories, their initial content, wide words and asynchronous resets."""
    theirs = ENGINES["arc"](HIERARCHY, top="top", folder=programs, stimuli=2)
    assert digests(theirs) == digests(hierarchy)


@pytest.mark.skipif(not ARC_PACKAGES, reason="needs the packages of the extra arc")
def test_arc_keeps_the_order_of_writes(programs: Path) -> None:
    """Its passes do not; engine arc once differed on an out-of-order core."""
    ours = build_reuse(WRITE_PORTS, top="top", folder=programs, compiler="g++")
    assert digests(ENGINES["arc"](WRITE_PORTS, top="top", folder=programs)) == digests(ours)


def test_writes_of_a_memory_are_in_order(programs: Path, tmp_path: Path) -> None:
    program = build_reuse(WRITE_PORTS, top="top", folder=programs, compiler="g++")
    result = Simulator(program).run(300, seed=2, is_traced=True)
    assert first_difference(program, WRITE_PORTS, "top", result, tmp_path) is None


# IEEE 1364-2005, 5.4.1: an index is self-determined, so it wraps. Icarus Verilog 11 computes it wider.
WRAPPING_INDEX = """
module top (input clk, input [2:0] a, d, input [7:0] x, output [7:0] q, output [7:0] r);
  reg [7:0] m [0:7];
  reg [7:0] n [0:4];
  integer i;
  initial for (i = 0; i < 8; i = i + 1) m[i] = 0;
  initial for (i = 0; i < 5; i = i + 1) n[i] = 9;
  always @(posedge clk) begin m[a + d] <= x; n[a] <= x; end
  assign q = m[a];
  assign r = n[a];
endmodule
"""


@pytest.mark.parametrize(
    "build", [build_reuse, build_cxxrtl, pytest.param(build_verilator, marks=pytest.mark.slow)]
)
def test_index_of_a_memory_wraps_and_beyond_its_end_are_zeros(
    build: Callable[..., Program], programs: Path
) -> None:
    simulator = Simulator(build(WRAPPING_INDEX, top="top", folder=programs, is_quick=True))
    assert simulator.step({"a": 7, "d": 2, "x": 5})["r"] == 0
    assert simulator.step({"a": 1, "d": 0}) == {"q": 5, "r": 9}


@pytest.mark.slow
def test_system_verilog_equals_verilator(programs: Path) -> None:
    ours = build_reuse(SYSTEM_VERILOG, top="top", folder=programs, language=SYSTEMVERILOG, is_quick=True)
    theirs = build_verilator(
        SYSTEM_VERILOG,
        top="top",
        folder=programs,
        language=SYSTEMVERILOG,
        ports=ours.ports,
        is_quick=True,
    )
    assert digests(ours) == digests(theirs)


@pytest.mark.slow
def test_verilator_with_two_threads_has_the_same_outputs(programs: Path) -> None:
    alone, both = (
        build_verilator(WRAPPING_INDEX, top="top", folder=programs, is_quick=True, threads=threads)
        for threads in (1, 2)
    )
    assert alone.path != both.path
    assert digests(alone) == digests(both)


def test_equal_instances_of_system_verilog_are_one_block() -> None:
    """Its front end makes a module per instance."""
    design = read_design(SYSTEM_VERILOG, top="top", language=SYSTEMVERILOG, timeout_s=60)
    assert len(design.blocks) == 2
    assert len(design.blocks["top"].children) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "module top (input logic e, d, output logic q); always_latch if (e) q = d; endmodule",
            "latch: q in top",
        ),
        ("module top (inout wire d, input logic e); assign d = e; endmodule", "inout port: top.d; "),
        (
            "module top (input logic clk, e, d, output logic q); wire g = clk & e;"
            " always_ff @(posedge g) q <= d; endmodule",
            "gated clock: g in top (design.sv:1); ",
        ),
        (
            "module top (input logic a, b, d, output logic p, q);"
            " always_ff @(posedge a) p <= d; always_ff @(posedge b) q <= d; endmodule",
            "several clocks in top: a, b; ",
        ),
        (
            "module top (input logic d, output logic q); assign q = e; endmodule",
            "Yosys rejects the design: design.sv:1: ERROR: use of undeclared identifier 'e'",
        ),
    ],
)
def test_system_verilog_rejects(text: str, message: str) -> None:
    with pytest.raises(RtlError) as error:
        read_design(text, top="top", language=SYSTEMVERILOG, timeout_s=60)
    assert str(error.value).startswith(message)


def test_loop_of_system_verilog_is_named() -> None:
    text = "module top (input logic a, output logic y); logic p, q;"
    text += " assign p = a & q; assign q = ~p; assign y = p | a; endmodule"
    with pytest.raises(CombinationalLoop) as error:
        read_design(text, top="top", language=SYSTEMVERILOG, timeout_s=60)
    assert set(error.value.signals) == {"p", "q"}


def test_language_follows_the_name_of_a_file() -> None:
    assert language_of(Path("a/b.v")) == VERILOG
    with pytest.raises(
        RtlError, match=r"^unknown language: b.vhd; accepted: names that end in .v, .sv, .vh, .svh, .fir$"
    ):
        language_of(Path("a/b.vhd"))


# ---- confinement ------------------------------------------------------------------------------------------

INTRUDER = """
module top (input clk, input d, output reg q);
  initial begin
    $system("echo x > %s");
    $c("if (FILE* f = fopen(\\"%s\\", \\"w\\")) fclose(f);");
  end
  always @(posedge clk) begin q <= d; $c("if (FILE* f = fopen(\\"/etc/passwd\\", \\"r\\")) abort();"); end
endmodule
"""


def test_what_a_design_runs_sees_no_file_of_its_user(programs: Path, tmp_path: Path) -> None:
    """A task that Verilator passes on to the shell or to C++ writes and reads nothing outside its box."""
    target = tmp_path / "written"
    ports = Ports(inputs={"d": 1}, outputs={"q": 1}, clock="clk")
    text = INTRUDER % (target, target)
    program = build_verilator(text, top="top", folder=programs, ports=ports, is_quick=True)
    simulator = Simulator(program)
    assert [simulator.step({"d": 1})["q"] for _ in range(2)] == [0, 1]
    assert not target.exists()


def test_simulator_that_ends_says_why(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(Path("/bin/false").read_bytes())
    program.chmod(0o755)
    ports = Ports(inputs={}, outputs={}, clock=None)
    with pytest.raises(RtlError, match=r"^the simulator ended: no output \(program\)$"):
        Simulator(Program(path=program, ports=ports, engine="reuse", stimuli=1))


def test_closed_simulator_leaves_no_process(hierarchy: Program) -> None:
    simulator = Simulator(hierarchy)
    simulator.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(simulator._session._request)


# Found by random design 1204: Icarus and Verilator extend the sign, Yosys' own reader writes zeros.
SIGNED_PART = """
module top (input clk, input [7:0] a, input i, output [63:0] y);
  reg [63:0] m [0:1];
  initial begin m[0] = 0; m[1] = 0; end
  always @(posedge clk) m[i][63:16] <= $signed(a);
  assign y = m[i];
endmodule
"""


@pytest.mark.parametrize("place", ["63:16", "{i, 4'd0} +: 48", "n[4:0] +: 48"])
def test_verilog_that_writes_a_part_of_a_word_is_read_as_system_verilog(place: str) -> None:
    text = SIGNED_PART.replace("63:16", place)
    assert as_verilog(text, "top", VERILOG) == (text, SYSTEMVERILOG)
    assert as_verilog(text.replace("m[i][", "// m[i]["), "top", VERILOG)[1] == VERILOG


@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
def test_a_part_of_a_word_of_memory_takes_the_sign_of_what_is_written(language: str, programs: Path) -> None:
    simulator = Simulator(build_reuse(SIGNED_PART, top="top", folder=programs, language=language))
    simulator.step({"a": 0x80, "i": 0})
    assert simulator.step({"a": 0x80, "i": 0})["y"] == 0xFFFF_FFFF_FF80_0000


@pytest.mark.parametrize("engine", ["reuse", "cxxrtl"])
def test_a_register_that_only_gets_a_constant_starts_as_zero(engine: str, programs: Path) -> None:
    """Yosys would make it that constant; found on the Rocket core, whose modules may also be empty."""
    text = "module empty (input clk); endmodule"
    text += " module top (input clk, input r, output reg [1:0] q); empty u (clk);"
    text += " always @(posedge clk) if (r) q <= 3; else q <= 3; endmodule"
    with closing(Simulator(ENGINES[engine](text, top="top", folder=programs))) as simulator:
        assert [int(simulator.step({"r": 1})["q"]) for _ in range(3)] == [0, 3, 3]
