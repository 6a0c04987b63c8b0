"""Early variants of instances give the netlist of Yosys' own order; ports wider than an expression."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipelines.rtl.reuse import RtlError, Simulator, build_cxxrtl, build_reuse, languages, netlist
from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.languages import SYSTEMVERILOG, VERILOG, read_commands
from pipelines.silicon.synthesis import DERIVE_INSTANCES

CHILD = """
module leaf #(parameter W = 4) (input [W-1:0] a, output [W-1:0] y); assign y = ~a; endmodule
module child #(parameter W = 4) (input [W-1:0] a, input signed [W-1:0] b, output [W-1:0] y, output c);
  wire [W-1:0] n;
  leaf #(W) u (a, n);
  assign y = n ^ b, c = a[W-1];
endmodule
"""


def without(top: str, language: str, unroll_limit: int | None = None) -> list[str]:
    commands = read_commands(top, language, unroll_limit)
    return [command for command in commands if not command.startswith(DERIVE_INSTANCES)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "text",
    [
        "module top (input [7:0] p, q, output [7:0] y, output c); child #(8) u (p, q, y, c); endmodule",
        "module top (input [6:0] p, input signed [2:0] q, output [7:0] y, output c);"
        " child #(.W(8)) u (.a(p), .b(q), .y(y), .c(c)); endmodule",
        "module top (input [7:0] p, output [7:0] y, output c); child #(8) u (.a(p), .b(-1), .y(y), .c(c));"
        " endmodule",
        # A signed constant and a signed part of an array are extended by their sign.
        "module top (input [7:0] p, output [7:0] y, output c); generate genvar i;"
        " for (i = 0; i < 1; i = i + 1) begin : g"
        " child #(.W(8)) u (.a(p), .b(3'sb101), .y(y), .c(c)); end endgenerate endmodule",
        "module top (input [7:0] p, output [7:0] y, output c); wire signed [2:0] s [0:1];"
        " assign s[0] = p[2:0]; generate genvar i; for (i = 0; i < 1; i = i + 1) begin : g"
        " child #(.W(8)) u (.a(p), .b(s[i]), .y(y), .c(c)); end endgenerate endmodule",
        "module top (input [3:0] p, output [3:0] y, output c); child u (.a(p), .b(p), .y(y)); endmodule",
        "module top (input [3:0] p, output [3:0] y); assign y = p; endmodule"
        " module unused (input a); child #(.NONE(3)) u (.a(a)); endmodule",
        FAMILIES["gemm_os"](2).verilog,
        FAMILIES["gemmini"](4).verilog,
    ],
)
def test_early_variants_do_not_change_the_netlist(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{CHILD}\n{text}" if "child" in text else text
    early = netlist.read_verilog(text, top="top")
    assert any(command.startswith(DERIVE_INSTANCES) for command in read_commands("top", VERILOG))
    monkeypatch.setattr(languages, "read_commands", without)
    assert hashes(early) == hashes(netlist.read_verilog(text, top="top"))


WIDER = """
module child #(parameter W = 4) (input [W-1:0] a, input signed [W-1:0] b, output [W-1:0] y, z);
  assign y = a, z = b;
endmodule
module top (input clk, input [6:0] p, input signed [2:0] q, output [7:0] y, z, output [15:0] v, w);
  child #(8) u (.a(p + p), .b(-q), .y(y), .z(z));
  generate genvar i; for (i = 0; i < 2; i = i + 1) begin : g
    child #(.W(8)) u (.a(~p), .b(q - i), .y(v[8*i +: 8]), .z(w[8*i +: 8]));
  end endgenerate
endmodule
"""


@pytest.mark.parametrize(
    "instance", ["child #(8) u (p + p, q, y, z);", "child #(8) u (.a(p + p), .y(y));", "late u (p + p, y);"]
)
def test_a_wider_port_is_found_by_name_and_by_place(instance: str, tmp_path: Path) -> None:
    top = f"module top (input clk, input [6:0] p, q, output [7:0] y, z); {instance} endmodule"
    late = "module late (input [7:0] a, output [7:0] y); assign y = a; endmodule"
    text = f"{top}\n{WIDER.partition('module top')[0]}{late}"
    with closing(Simulator(build_reuse(text, top="top", folder=tmp_path, is_quick=True))) as simulator:
        assert simulator.step({"p": 100})["y"] == 200


@pytest.mark.parametrize("build", [build_reuse, build_cxxrtl])
def test_an_expression_is_computed_in_the_width_of_its_port(build: Any, tmp_path: Path) -> None:
    with closing(Simulator(build(WIDER, top="top", folder=tmp_path, is_quick=True))) as simulator:
        outputs = simulator.step({"p": 100, "q": 4})  # q is -4
    assert (outputs["y"], outputs["z"], outputs["v"]) == (200, 4, 0x9B9B)
    assert outputs["w"] == (0xFB << 8 | 0xFC)


@pytest.mark.parametrize(("last", "sum_width"), [(3, 7), (0, 7), (3, 31)])
def test_an_array_of_instances_with_a_narrower_expression_is_rejected(last: int, sum_width: int) -> None:
    text = (
        f"{CHILD} module top (input [{sum_width - 1}:0] p, q, output [{8 * last + 7}:0] y);"
        f" leaf #(8) u[{last}:0] (.a(p + q), .y(y)); endmodule"
    )
    with pytest.raises(RtlError, match=r"Array cell `top\.u.[01].' has invalid port vs. signal size"):
        netlist.read_verilog(text, top="top")


def test_a_parameter_that_a_module_lacks_is_named() -> None:
    text = (
        f"{CHILD} module top (input [3:0] a, output [3:0] y); child #(.NONE(8)) u (.a(a), .y(y)); endmodule"
    )
    with pytest.raises(RtlError, match="in cell `u' does not have a parameter named 'NONE'"):
        netlist.read_verilog(text, top="top")


@pytest.mark.slow
def test_cxxrtl_compiles_a_long_chain_of_choices(tmp_path: Path) -> None:
    chain = " : ".join(f"a == {i} ? 9'd{511 - i}" for i in range(400))
    text = f"module top (input clk, input [8:0] a, output [8:0] y); assign y = {chain} : 9'd7; endmodule"
    with closing(Simulator(build_cxxrtl(text, top="top", folder=tmp_path, is_quick=True))) as simulator:
        assert [simulator.step({"a": a})["y"] for a in (0, 399, 400)] == [511, 112, 7]


def hashes(found: netlist.Netlist) -> list[str]:
    """Of the structure of each module, sorted."""
    kept: dict[str, str] = {}
    for name in netlist._children_first(found.modules, found.top):
        kept[name] = netlist._hash(found.modules[name], kept)
    return sorted(kept.values())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("$random", "unsupported system task '\\$random'"),
        ("b", "use of undeclared identifier 'b'"),
    ],
)
@pytest.mark.parametrize("build", [build_reuse, build_cxxrtl])
def test_a_name_that_nothing_declares_is_refused(build: Any, name: str, reason: str, tmp_path: Path) -> None:
    text = f"module top(input clk, input [7:0] a, output [7:0] r); assign r = a + {name}; endmodule"
    with pytest.raises(RtlError, match=reason):
        build(text, top="top", folder=tmp_path)


def test_a_top_module_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(RtlError, match=r"^no module nope; accepted: leaf, child$"):
        build_reuse(CHILD, top="nope", folder=tmp_path)


def test_a_net_between_instances_needs_no_declaration(tmp_path: Path) -> None:
    text = """module inv(input a, output y); assign y = ~a; endmodule
module top(input a, output r); inv u(.a(a), .y(net)); inv w(.a(net), .y(r)); endmodule"""
    assert build_reuse(text, top="top", folder=tmp_path).ports.outputs == {"r": 1}


POWERS = """
module top (input [3:0] a, b, input signed [3:0] c, d, output [7:0] q, r, output signed [7:0] s,
            output [79:0] t);
  assign q = a ** b, r = a ** 3, s = c ** d, t = {a, b, a} ** b;
endmodule
"""


def _power(base: int, exponent: int) -> int:
    """IEEE 1364-2005, table 5-6; 0 for the undefined power of 0."""
    if exponent >= 0:
        return base**exponent
    return base**-exponent if base in (1, -1) else 0


@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
def test_powers_of_variables(language: str, programs: Path) -> None:
    program = build_reuse(POWERS, top="top", folder=programs, is_quick=True, language=language)
    with closing(Simulator(program)) as simulator:
        for a in range(16):
            for b in (0, 1, 2, 3, 7, 8, 11, 15):
                c, d = (a ^ 8) - 8, (b ^ 8) - 8
                wide = (a << 8 | b << 4 | a) ** b % 2**80
                expected = {"q": a**b % 256, "r": a**3 % 256, "s": _power(c, d) % 256, "t": wide}
                assert simulator.step({"a": a, "b": b, "c": c % 16, "d": d % 16}) == expected


def test_what_slang_does_not_implement_is_refused_with_its_line() -> None:
    text = "module top (input clk, a, output reg q);\n always @(posedge clk) begin\n fork q <= a; join\n"
    with pytest.raises(RtlError, match=r"^Yosys rejects the design: design\.sv:3: ERROR: "):
        netlist.read_verilog(f"{text} end endmodule", top="top", language=SYSTEMVERILOG)
