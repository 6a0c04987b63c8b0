"""Libraries of `simfoundry verilate`: benches print with them what they print with Verilator's models."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.base.tools import ToolMissing
from pipelines.rtl.reuse import SYSTEMVERILOG, VERILOG, RtlError
from pipelines.rtl.reuse.projects import Project, ProjectFiles, read_project
from pipelines.rtl.reuse.verilated import Model, write_model
from pipelines.rtl.reuse.verilator import find_verilator
from tests.rtlreuse.model_benches import (
    LIMIT_S,
    Run,
    random_bench,
    run_with_ours,
    run_with_verilator,
    vcd_values,
)
from tests.rtlreuse.test_clocking import BOTH, FALLING, GATED

BENCHES = Path(__file__).with_name("benches")
PROJECTS = Path(__file__).with_name("projects")


def _project(name: str) -> Project:
    if name == "filter":
        return read_project(ProjectFiles(files=[BENCHES / "filter.sv"], top="filter"))
    return read_project(ProjectFiles(files=(), near_lists=[PROJECTS / name / f"{name}.f"]))


def _require_verilator() -> None:
    try:
        find_verilator()
    except ToolMissing as error:
        pytest.skip(str(error))


def _both(text: str, top: str, bench: str, language: str, programs: Path, scratch: Path) -> tuple[Run, Run]:
    """Run a bench with our library and with Verilator's model."""
    _require_verilator()
    name = "design.sv" if language == SYSTEMVERILOG else "design.v"
    ours = run_with_ours(text, top=top, bench=bench, scratch=scratch, language=language)
    other = run_with_verilator(text, top=top, bench=bench, scratch=scratch, programs=programs, name=name)
    return ours, other


@pytest.mark.parametrize(
    ("name", "last", "traced"),
    [
        ("fifo", "after: full 0 empty 1", ()),
        ("uart", "Simulate me!", ("TOP.clk", "TOP.received", "TOP.uart.line_out", "TOP.uart.tx.shift")),
        ("filter", "", ("TOP.sum", "TOP.filter.ticks", "TOP.filter.next_carry", "TOP.filter.taps.sum")),
    ],
)
def test_benches_print_the_same_text(
    name: str,
    last: str,
    traced: tuple[str, ...],
    programs: Path,
    folder_for_all: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if name != "filter":
        monkeypatch.chdir(PROJECTS / name)
    project = _project(name)
    bench = (BENCHES / f"{name}.cpp").read_text("utf-8")
    ours, other = _both(project.text, project.top, bench, project.language, programs, folder_for_all)
    assert ours.text == other.text
    assert ours.text.splitlines()[-1].startswith(last)
    own_values, other_values = vcd_values(ours.vcd), vcd_values(other.vcd)
    common = own_values.keys() & other_values.keys()
    assert common >= set(traced)
    for path in common:
        assert own_values[path] == other_values[path], path


DIVIDED = """
module top(input clk, input rst, input [7:0] d, output reg [7:0] p, q, r, output reg d2, d4, output c);
  always @(posedge clk or posedge rst) if (rst) d2 <= 0; else d2 <= ~d2;
  always @(posedge d2 or posedge rst) if (rst) d4 <= 0; else d4 <= ~d4;
  always @(posedge clk) p <= p + d;
  always @(posedge d2) q <= q + p;
  always @(negedge d4) r <= r + q;
  assign c = clk ^ d[0];
endmodule
"""
SEVERAL = """
module part(input clk, input clk2, input rst_n, input [7:0] d, output logic [7:0] q, r);
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) q <= 5; else q <= q + d;
  always_ff @(negedge clk2) r <= q ^ r ^ d;
endmodule
module top(input a, input b, input rst_n, input en, input [7:0] d,
           output [7:0] q, r, s, t, u, v, output l);
  wire nb = ~b, g = a & en;
  logic lat;
  always_latch if (en) lat = d[0];
  assign l = lat ^ b;
  part p0(a, b, rst_n, d, q, r);
  part p1(nb, a, rst_n, r, s, t);
  part p2(g, nb, rst_n & d[7], t, u, v);
endmodule
"""
LOADED = """
module top(input clk, input load, input rst_n, input [7:0] d, output reg [7:0] q, output reg [7:0] s);
  reg [1:0] sync;
  always @(posedge clk or posedge load) if (load) q <= d; else q <= q + 1;
  always @(posedge clk or negedge rst_n) if (!rst_n) sync <= 0; else sync <= {sync[0], 1'b1};
  always @(posedge clk or negedge sync[1]) if (!sync[1]) s <= 9; else s <= s + d;
endmodule
"""
SYNCHRONOUS = """
module top(input clk, input rst, input [69:0] a, output reg [99:0] w, output x);
  assign x = ^a ^ w[3];
  always @(posedge clk) if (rst) w <= 1; else w <= w + {30'b1, a};
endmodule
"""


def _bytes(names: str) -> dict[str, int]:
    return dict.fromkeys(names, 8)


@pytest.mark.parametrize(
    ("text", "inputs", "outputs", "clocks"),
    [
        (SYNCHRONOUS, {"rst": 1, "a": 70}, {"w": 100, "x": 1}, "clk"),
        (GATED, {"rst_n": 1, "a": 1, "b": 1, "d": 8}, _bytes("qrsmno"), "clk"),
        (FALLING, {"rst_n": 1, "d": 8}, _bytes("xyzwm"), "clk"),
        (BOTH, {"rst_n": 1, "a": 1, "d": 8}, {**_bytes("qy"), "l": 1, "h": 1}, "clk"),
        (DIVIDED, {"rst": 1, "d": 8}, {**_bytes("pqr"), "d2": 1, "d4": 1, "c": 1}, "clk"),
        (SEVERAL, {"rst_n": 1, "en": 1, "d": 8}, {**_bytes("qrstuv"), "l": 1}, "a b"),
        (LOADED, {"load": 1, "rst_n": 1, "d": 8}, _bytes("qs"), "clk"),
    ],
    ids=["synchronous", "gated", "falling", "both", "divided", "several", "loaded"],
)
def test_evaluations_in_any_order_give_equal_outputs(
    text: str,
    inputs: dict[str, int],
    outputs: dict[str, int],
    clocks: str,
    programs: Path,
    folder_for_all: Path,
) -> None:
    bench = random_bench(inputs, outputs, clocks.split(), evals=1000)
    ours, other = _both(text, "top", bench, SYSTEMVERILOG, programs, folder_for_all)
    assert len(set(ours.text.splitlines())) > 50
    assert ours.text.splitlines() == other.text.splitlines()


def _model(text: str, *, top: str = "top", language: str = VERILOG, prefix: str = "") -> Model:
    return write_model(text, top=top, prefix=prefix, timeout_s=LIMIT_S, language=language)


def test_model_has_names_and_types_of_verilator() -> None:
    ports = "input a__b, input [7:0] b, input [8:0] c, input [31:0] d, input [32:0] e, input [64:0] f"
    text = f"module top({ports}, input interrupt, \\x+y , output o);"
    model = _model(f"{text} assign o = a__b ^ interrupt ^ f[64] ^ \\x+y ; endmodule")
    header = model.files["Vtop.h"].decode()
    for line in (
        "CData a___05Fb;",
        "CData b;",
        "SData c;",
        "IData d;",
        "QData e;",
        "VlWide<3> f;",
        "CData __SYM__interrupt;",
        "CData x__02by;",
    ):
        assert f"  {line}\n" in header
    assert (model.name, model.library, [*model.clocks]) == ("Vtop", "libVtop.a", [])


def test_model_names_clocks_and_not_resets() -> None:
    assert [*_model(SEVERAL, language=SYSTEMVERILOG).clocks] == ["a", "b"]
    assert [*_model(SYNCHRONOUS).clocks] == ["clk"]


@pytest.mark.parametrize(
    ("text", "prefix", "message"),
    [
        (
            "module top(input eval, output o); assign o = eval; endmodule",
            "",
            r"^port eval of top; accepted: ",
        ),
        (SYNCHRONOUS, "9", r"^--prefix 9; accepted: a name of C\+\+$"),
        (
            "module top(input c, s, r, d, output reg q);"
            " always @(posedge c or posedge s or posedge r) if (r) q <= 0; else if (s) q <= 1; else q <= d;"
            " endmodule",
            "",
            r"^asynchronous set and reset by two signals: q in top; accepted: one reset to a constant",
        ),
        ("module top(inout a); endmodule", "", r"^inout port: top.a"),
    ],
)
def test_model_rejects_what_it_cannot_have(text: str, prefix: str, message: str) -> None:
    with pytest.raises(RtlError, match=message):
        _model(text, prefix=prefix)


COUNTER = """
module top(input clk, input [7:0] d, output reg [7:0] q);
  initial q = 3;
  always @(posedge clk) q <= q + d;
endmodule
"""
TWO_MODELS = """
#include "Vtop.h"
#include "Vother.h"
#include "verilated_vcd_c.h"
#include <memory>
int main() {
  VerilatedContext context;
  const std::unique_ptr<Vtop> a(new Vtop(&context, "a")), b(new Vtop(&context, "b"));
  Vother c("c");
  VerilatedVcdC vcd;
  a->trace(&vcd, 99), b->trace(&vcd, 99), c.trace(&vcd, 99);
  vcd.open("wave.vcd");
  a->d = 1, b->d = 2;
  for (int i = 0; i < 7; i++) {
    a->clk = c.clk = i & 1, b->clk = i & 2 ? 1 : 0;
    c.d = a->q;
    a->eval(), b->eval(), c.eval();
    vcd.dump(context.time()), context.timeInc(1);
  }
  printf("%s %s %d %d %d\\n", a->name(), c.modelName(), a->q, b->q, c.q);
}
"""


def test_models_live_side_by_side(folder_for_all: Path) -> None:
    other = _model(COUNTER.replace("q + d", "q ^ d"), prefix="Vother")
    parts = {name: content for name, content in other.files.items() if name.startswith("Vother")}
    run = run_with_ours(COUNTER, top="top", bench=TWO_MODELS, scratch=folder_for_all, parts=parts)
    assert run.text == "a Vother 6 7 1\n"
    values = vcd_values(run.vcd)
    assert values["a.q"] == values["a.top.q"] == [(0, 3), (1, 4), (3, 5), (5, 6)]
    assert values["b.q"] == [(0, 3), (2, 5), (6, 7)]
    assert values["c.top.q"] == [(0, 3), (1, 0), (3, 4), (5, 1)]


def test_inner_clocks_that_do_not_settle_end_the_program(folder_for_all: Path) -> None:
    text = (
        "module top(input c, output reg a, b); initial a = 0; initial b = 0; wire g = c ^ a ^ b;"
        " always @(posedge g) a <= ~a; always @(negedge g) b <= ~b; endmodule"
    )
    bench = '#include "Vtop.h"\nint main() { Vtop top; top.eval(); top.c = 1; top.eval(); }'
    with pytest.raises(AssertionError, match="the clocks inside the design do not settle"):
        run_with_ours(text, top="top", bench=bench, scratch=folder_for_all)


FIRST = """
module sub(input c, output reg [3:0] q); initial q = 0; always @(posedge c) q <= q + 1; endmodule
module top(input clk, input en, input rst_n, output [3:0] a, b, e, f, h, output reg [3:0] r, s);
  wire g = clk & en, n = ~clk, o = ~(clk & en);
  reg t;
  initial t = 1;
  always @(posedge clk) t <= ~t;
  sub s0(g, a);
  sub s1(n, b);
  sub s2(clk, e);
  sub s3(o, f);
  sub s4(t, h);
  initial r = 0;
  initial s = 0;
  always @(posedge clk or negedge rst_n) if (!rst_n) r <= 5; else r <= r + 1;
  always @(posedge clk or posedge t) if (t) s <= 7; else s <= s + 1;
endmodule
"""


def test_the_first_evaluation_has_the_edges_of_verilator(programs: Path, folder_for_all: Path) -> None:
    values = " ".join(f'printf("%d ", top.{port});' for port in "abefhrs")
    bench = f"""
#include "Vtop.h"
int main() {{
  for (int first = 0; first < 8; first++) {{
    Vtop top;
    top.clk = first & 1, top.en = first >> 1 & 1, top.rst_n = first >> 2;
    for (int i = 0; i < 5; i++) {{
      top.eval();
      {values}
      top.clk = !top.clk;
    }}
    printf("\\n");
  }}
}}
"""
    ours, other = _both(FIRST, "top", bench, VERILOG, programs, folder_for_all)
    assert ours.text == other.text
