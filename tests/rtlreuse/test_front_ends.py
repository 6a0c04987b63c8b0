"""Which reader reads a design, and ports of all engines: arrays, reserved names, and Verilator's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
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
    verilator,
)
from pipelines.rtl.reuse.languages import as_verilog
from pipelines.rtl.reuse.verilator_ports import Member, header_ports, members, ports_of_model

OUTPUTS = ("reuse", "verilator", "cxxrtl")


def outputs(program: Program) -> dict[str, list[int]]:
    """Values of 50 cycles by output."""
    with closing(Simulator(program)) as simulator:
        rng = np.random.default_rng(3)
        rows = [
            simulator.step(
                {port: int(rng.integers(1 << min(w, 62))) for port, w in program.ports.inputs.items()}
            )
            for _ in range(50)
        ]
    return {port: [int(np.asarray(row[port])) for row in rows] for port in program.ports.outputs}


ARRAYS = """
module top (
  input logic clk, input logic [7:0] a [0:3], input logic [2:0] b [5:4], input logic [70:0] w [2],
  output logic [7:0] y [0:1][2:0], output logic [9:0] s, output logic [70:0] v [1:0], input logic interrupt);
  always_ff @(posedge clk) begin
    y[0][0] <= a[0]; y[0][1] <= a[1] + interrupt; y[0][2] <= a[2];
    y[1][0] <= ~a[3]; y[1][1] <= a[0] ^ a[1]; y[1][2] <= 8'(b[4]);
    s <= {b[5], b[4], a[3][3:0]};
    v[0] <= w[0] + 1; v[1] <= w[1] ^ w[0];
  end
endmodule
"""
RESERVED = """
module top (input clk, input interrupt, input class, input [3:0] operator, input [69:0] \\a.b , input new__x,
            output reg [3:0] delete, output reg private, output reg [69:0] int);
  always @(posedge clk) begin
    delete <= operator + interrupt; private <= class ^ new__x; int <= \\a.b + operator;
  end
endmodule
"""


@pytest.mark.parametrize(
    ("text", "language", "reader"),
    [
        (ARRAYS, SYSTEMVERILOG, "slang"),
        (f'`begin_keywords "1364-2005"\n{RESERVED}\n`end_keywords', VERILOG, "slang"),
        (f'`begin_keywords "1364-2005"\n{RESERVED.replace(" int", " whole")}', VERILOG, "yosys"),
    ],
)
def test_engines_agree_on_ports(
    text: str, language: str, reader: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"top": "top", "folder": programs, "language": language, "is_quick": True}
    built = {engine: ENGINES[engine](text, **options) for engine in OUTPUTS}
    expected = outputs(built["reuse"])
    assert {program.front_end for program in built.values()} == {reader}
    for engine, program in built.items():
        assert outputs(program) == expected, engine

    def refuse(*_: object, **__: object) -> None:
        raise RtlError("no")

    monkeypatch.setattr(verilator, "read_design", refuse)
    own = ENGINES["verilator"](text, **options)
    assert (own.front_end, own.ports) == ("verilator", built["reuse"].ports)
    assert list(own.ports.inputs) == list(built["reuse"].ports.inputs)
    assert outputs(own) == expected


def test_verilator_simulates_what_readers_refuse(programs: Path) -> None:
    """Latches are refused by the elaboration."""
    text = "module top (input clk, input en, input d, output reg q, output reg r);"
    text += " always @* if (en) q = d; always @(posedge clk) r <= q; endmodule"
    with pytest.raises(RtlError, match=r"^latch: q in top"):
        ENGINES["reuse"](text, top="top", folder=programs)
    program = ENGINES["verilator"](text, top="top", folder=programs, is_quick=True)
    assert (program.front_end, program.ports.clock, dict(program.ports.inputs)) == (
        "verilator",
        "clk",
        {"en": 1, "d": 1},
    )
    with closing(Simulator(program)) as simulator:
        steps = [simulator.step({"en": en, "d": d}) for en, d in ((1, 1), (0, 0), (1, 0), (0, 1))]
    assert steps == [{"q": 1, "r": 0}, {"q": 1, "r": 1}, {"q": 0, "r": 1}, {"q": 0, "r": 0}]


def test_verilator_says_its_first_error(programs: Path) -> None:
    text = "module top (input a, output y);\n assign y = $nothing(a);\n assign y = none;\nendmodule\n"
    with pytest.raises(RtlError, match=r"^verilator_bin failed: %Error: \S*design\.sv:2"):
        ENGINES["verilator"](text, top="top", folder=programs)


LOOP = """
module top (input clk, output reg [3:0] q); reg [3:0] m [0:4999]; integer i; reg [12:0] at = 0;
  initial for (i = 0; i < 5000; i = i + 1) m[i] = i;
  always @(posedge clk) begin at <= at + 1; q <= m[at]; end
endmodule
"""


def test_a_limit_of_unrolling_goes_to_slang_and_without_one_yosys_reads(programs: Path) -> None:
    options = {"top": "top", "folder": programs, "language": SYSTEMVERILOG, "is_quick": True}
    limited = ENGINES["reuse"](LOOP, **options, unroll_limit=6000)
    other = ENGINES["reuse"](LOOP, **options)
    assert (limited.front_end, other.front_end) == ("slang", "yosys")
    theirs = ENGINES["verilator"](LOOP, **options, unroll_limit=6000)
    assert outputs(limited) == outputs(other) == outputs(theirs)


def test_elements_of_arrays_are_placed_as_in_packed_arrays() -> None:
    member = Member(name="d", width=8, sizes=(2, 3), is_ascending=(True, False))
    assert [*member.elements()] == [
        ("d[0][0]", 24),
        ("d[0][1]", 32),
        ("d[0][2]", 40),
        ("d[1][0]", 0),
        ("d[1][1]", 8),
        ("d[1][2]", 16),
    ]


HEADER = (
    "VL_IN8(&clk,0,0);VL_IN8(&rst_n,0,0);VL_INW(&__SYM__class,69,0,3);VL_OUT16((&y)[2],9,0);VL_IN8(&ck2,0,0);"
)


def test_ports_of_a_model_are_those_of_its_header() -> None:
    header = header_ports(HEADER)
    text = "module top (clk, class, ck2, rst_n, y); output [9:0] y [N];"
    known = members(header, text, "top")
    sources = ['act("@(posedge clk or negedge rst_n)\\n")']
    assert ports_of_model(header, known, sources) == Ports(
        inputs={"class": 70, "ck2": 1, "rst_n": 1}, outputs={"y": 20}, clock="clk"
    )


def test_later_versions_have_arrays_without_a_direction() -> None:
    arrays = "VlUnpacked<VlUnpacked<CData/*7:0*/, 3>, 2> &y;", "VlUnpacked<VlWide<3>/*70:0*/, 2> &a;"
    header = "".join(f"  {line}\n" for line in ("VL_IN8(&clk,0,0);", *arrays))
    text = "module other (input y); endmodule module top "
    text += "(input clk, input [70:0] a [0:1], output [7:0] y [1:0][3]);"
    ports = header_ports(header, text, "top")
    assert [(port.name, port.direction, port.width, port.sizes) for port in ports] == [
        ("clk", "IN", 1, ()),
        ("y", "OUT", 8, (2, 3)),
        ("a", "IN", 71, (2,)),
    ]
    assert members(ports, text, "top")["y"].is_ascending == (False, True)
    with pytest.raises(
        RtlError, match=r"^direction of unpacked array port y; accepted: input or output in its"
    ):
        header_ports(header, "module top (y);", "top")


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        (
            "y [A:B]",
            "",
            "order of unpacked array port y; accepted: a range at its name with a number at one end, ",
        ),
        (
            "y [0:1]",
            "@(posedge clk) @(negedge ck2)",
            "several inputs whose edges matter: clk, ck2; accepted: one, or "
            "--clock NAME=PERIOD[:PHASE] for each clock",
        ),
    ],
)
def test_ports_of_a_model_rejects(text: str, source: str, message: str) -> None:
    header = header_ports(HEADER)
    with pytest.raises(RtlError) as error:
        ports_of_model(header, members(header, f"module top (clk, ck2, output {text});", "top"), [source])
    assert str(error.value).startswith(message)


BRANCHES = """
module top #(parameter P = 0) (
  input clk, input rst_n, input d, output logic q, output logic [3:0] r, output s);
  logic kept, never;
  if (P) begin : g
    always_ff @(posedge clk, negedge rst_n) if (!rst_n) r <= 0; else r <= {r, d};
  end else begin : h
    assign r = 5;
  end
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin kept <= 1; if (P) never <= 1; end
    else begin kept <= d; if (P) never <= q; end
  assign q = kept ^ never, s = r[0];
endmodule
"""


@pytest.mark.parametrize("value", [0, 1])
def test_constants_of_other_branches_and_variables_without_values_are_no_lost_registers(
    value: int, programs: Path
) -> None:
    text = BRANCHES.replace("P = 0", f"P = {value}")
    options = {"top": "top", "folder": programs, "language": SYSTEMVERILOG, "is_quick": True}
    expected = outputs(ENGINES["reuse"](text, **options))
    assert len(set(expected["q"])) == 2
    assert set(expected["r"]) == {5} or value
    assert outputs(ENGINES["verilator"](text, **options)) == expected


def test_a_lost_register_beside_a_constant_of_its_name_goes_to_the_next_reader() -> None:
    from pipelines.rtl.reuse.netlist import read_verilog

    lost = "module m (input clk, rst_n, d, output logic r); always_ff @(posedge clk or negedge rst_n)"
    lost += " if (!rst_n) r <= 1; else if (%s) r <= d; endmodule\n"
    text = lost + BRANCHES.replace("r[0];", "r[0] ^ o; wire o; m u (clk, rst_n, d, o);")
    readers = [read_verilog(text % value, top="top", language=SYSTEMVERILOG).front_end for value in "01"]
    assert readers == ["yosys", "slang"]


UNREAD = """
module top (input logic clk, input logic [3:0] a, output logic [3:0] q);
  logic unused_a = ^a &
    a[0];
  always_ff @(posedge clk) q <= a;
endmodule
"""


def test_a_variable_that_marks_nets_as_read_is_accepted(programs: Path) -> None:
    options = {"top": "top", "folder": programs, "language": SYSTEMVERILOG, "is_quick": True}
    built = [ENGINES[engine](UNREAD, **options) for engine in ("reuse", "verilator")]
    assert outputs(built[0]) == outputs(built[1])
    assert built[0].front_end == "slang"


CHECKED = """
module check (input logic clk, input logic [9:0] r, output logic err);
  logic q; always_ff @(posedge clk) q <= r[8];
  assign err = ^r[7:0] ^ q;
endmodule
module queue (input logic clk, input logic [7:0] d, output logic [9:0] o);
  logic e; logic [9:0] w;
  assign w = {%s, d[0], d};
  check c (.clk, .r(w), .err(e));
  assign o = w + 1;
endmodule
module top (input logic clk, input logic [7:0] a, b, output logic [9:0] x, y, output logic z);
  queue u (.clk, .d(a), .o(x));
  queue v (.clk, .d(b), .o(y));
  check k (.clk, .r(x ^ y), .err(z));
endmodule
"""
"""A word that holds what a module reads and what it computes, as the structures of buses do."""


def test_bits_of_a_word_between_modules_are_no_loop(programs: Path) -> None:
    options = {"top": "top", "folder": programs, "language": SYSTEMVERILOG, "is_quick": True}
    built = [ENGINES[engine](CHECKED % "e", **options) for engine in ("reuse", "verilator")]
    assert outputs(built[0]) == outputs(built[1])
    with pytest.raises(CombinationalLoop) as loop:
        ENGINES["reuse"]((CHECKED % "e").replace("^r[7:0]", "^r"), **options)
    assert {name.rpartition(".")[2] for name in loop.value.signals} == {"err", "r"}


@pytest.mark.parametrize(
    ("value", "language"),
    [
        ("s", SYSTEMVERILOG),
        ("s[3]", SYSTEMVERILOG),
        ("-8'sd1", SYSTEMVERILOG),
        ("d[7:0] + s", SYSTEMVERILOG),
        ("d[7:0]", VERILOG),
        ("d[i +: 8]", VERILOG),
        ("{d[3:0], s}", VERILOG),
        ("8'hff", VERILOG),
    ],
)
def test_slang_reads_first_what_may_have_a_sign_in_a_part_of_a_word(value: str, language: str) -> None:
    text = f"module top; always @(posedge clk) if (e) m[i[1:0]][7:0] <= {value}; endmodule"
    assert as_verilog(text, "top", VERILOG)[1] == language
    bit = text.replace("[7:0] <=", "[i[0]] <=")
    assert as_verilog(bit, "top", VERILOG)[1] == VERILOG
    array = bit.replace("always", "reg signed [7:0] m [0:3][0:3]; always")
    assert as_verilog(array, "top", VERILOG)[1] == language
