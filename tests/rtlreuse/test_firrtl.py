"""FIRRTL: outputs of every cycle are those of the same design in Verilog; what is rejected, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.rtl.reuse import FIRRTL, CombinationalLoop, RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.firrtl import firrtl_to_verilog
from pipelines.rtl.reuse.languages import as_verilog, with_libraries
from pipelines.rtl.reuse.netlist import read_verilog
from tests.rtlreuse.firrtl_designs import PAIRS


@pytest.mark.parametrize("name", PAIRS)
def test_outputs_equal_verilog(name: str, programs: Path) -> None:
    firrtl, verilog = PAIRS[name]
    ours = build_reuse(firrtl, top="top", folder=programs, language=FIRRTL, is_quick=True)
    plain = build_reuse(verilog, top="top", folder=programs, is_quick=True)
    assert ours.ports == plain.ports
    expected = Simulator(plain).run(3000, seed=4, is_traced=True).outputs
    actual = Simulator(ours).run(3000, seed=4, is_traced=True).outputs
    assert expected is not None
    assert actual is not None
    assert len({tuple(row[:, 0]) for row in expected}) > 1000
    assert (actual == expected).all()


def test_modules_stay_modules() -> None:
    text = firrtl_to_verilog(PAIRS["queue"][0], top="top")
    assert [line for line in text.splitlines() if line.startswith("module ")] == [
        "module Queue (",
        "module top (",
    ]


def design(body: str, ports: str = "input a : UInt<4>\n    output y : UInt<4>") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"circuit top :\n  module top :\n    {ports}\n\n{lines}\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y <= b", "FIRRTL module top: unknown name: b"),
        ("y <= frobnicate(a)", "unknown operation: frobnicate"),
        ("wire w : UInt<4>\ny <= w", "FIRRTL module top: no value: w"),
        ("a <= y", "FIRRTL module top: not a sink: Ref(name='a')"),
        ("y <= bits(a, 7, 4)", "FIRRTL module top: bit 7 of 4 bits"),
        ("wire w : Analog<1>\ny <= a", "FIRRTL line 6: type not supported: Analog: wire w : Analog<1>"),
        ("attach(a, y)", "FIRRTL line 6: not supported: attach: attach(a, y)"),
        ("inst i of other\ny <= a", "unknown module: other"),
        ("wire w : UInt\nw <= add(w, a)\ny <= w", "FIRRTL module top: width grows without end: w"),
        ("y <= ", "FIRRTL line 6: a name is missing before 'the end': y <="),
    ],
)
def test_firrtl_rejects(body: str, message: str) -> None:
    with pytest.raises(RtlError) as error:
        firrtl_to_verilog(design(body), top="top")
    assert str(error.value).startswith(message)


def test_firrtl_rejects_other_text() -> None:
    with pytest.raises(RtlError, match=r"^no FIRRTL: `circuit NAME :` and a module are missing$"):
        firrtl_to_verilog("module top; endmodule", top="top")


OUTSIDE = "inst i of box\ni.clock <= clock\ni.x <= a\ny <= i.z"
CLOCKED = "input clock : Clock\n    input a : UInt<4>\n    output y : UInt<4>"
EXTMODULE = """
  extmodule box :
    input clock : Clock
    input x : UInt<4>
    output z : UInt<4>
    defname = delay
    parameter W = 4
    parameter KIND = "slow"
"""
DELAY = """
module delay #(parameter W = 1, parameter KIND = "") (input clock, input [W-1:0] x, output reg [W-1:0] z);
  always @(posedge clock) z <= KIND == "slow" ? x : ~x;
endmodule
"""


def test_extmodule_is_taken_from_a_library(programs: Path) -> None:
    text = design(OUTSIDE, CLOCKED) + EXTMODULE
    joined = with_libraries(text, language=FIRRTL, libraries=[DELAY])
    simulator = Simulator(build_reuse(joined, top="top", folder=programs, language=FIRRTL, is_quick=True))
    assert [simulator.step({"a": a})["y"] for a in (5, 9, 0)] == [0, 5, 9]


@pytest.mark.parametrize(
    ("libraries", "change", "message"),
    [
        (
            ["module other; endmodule"],
            ("", ""),
            "no definition of delay: extmodule box; accepted: its Verilog, by --library FILE.v",
        ),
        ([DELAY], ("UInt<4>\n    defname", "UInt\n    defname"), "port without a width: z of extmodule box"),
        ([DELAY], ('"slow"', "`x`"), "parameter KIND of extmodule box: `x`; accepted: a number or a text"),
    ],
)
def test_extmodule_is_rejected(libraries: list[str], change: tuple[str, str], message: str) -> None:
    text = design(OUTSIDE, CLOCKED) + EXTMODULE.replace(*change)
    with pytest.raises(RtlError) as error:
        as_verilog(with_libraries(text, language=FIRRTL, libraries=libraries), "top", FIRRTL)
    assert str(error.value) == message


def test_loop_is_named_signal_by_signal(programs: Path) -> None:
    text = design("wire p : UInt<4>\nwire q : UInt<4>\np <= and(a, q)\nq <= not(p)\ny <= q")
    with pytest.raises(CombinationalLoop) as error:
        build_reuse(text, top="top", folder=programs, language=FIRRTL)
    assert set(error.value.signals) == {"top.p", "top.q"}


def test_a_module_that_the_library_has_too_is_rejected() -> None:
    text = design(OUTSIDE, CLOCKED) + EXTMODULE.replace("delay", "outer")
    library = DELAY.replace("delay", "outer").replace("endmodule", "top u (clock); endmodule")
    joined = with_libraries(text, language=FIRRTL, libraries=[library, "module top (input c); endmodule"])
    with pytest.raises(RtlError, match=r"^module top in FIRRTL and in its library"):
        read_verilog(joined, top="top", language=FIRRTL)
