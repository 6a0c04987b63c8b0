"""The Verilog of designs causes no warning in Verilator, Icarus Verilog or Yosys."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.c import Directive
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from tests.support.case_files import sources_of

FILE = Path(__file__).parent / "cases" / "sources" / "verilog.c"
PROGRAMS = {name: f"\n{source}" for name, source in sources_of(FILE).items()}
OWN_FILE = "-Wno-DECLFILENAME"  # all modules of a design are in one file


def design_of(name: str, *, pipeline: bool) -> CompiledDesign:
    loops = ("L0",) if name != "loops" else ("L1",)
    chosen = tuple(Directive(kind="pipeline", loop=loop) for loop in loops if pipeline)
    return compile_program(PROGRAMS[name], top="f", options=HlsOptions(directives=chosen))


def said_by(arguments: list[str], folder: Path) -> str:
    """Output of a tool; the test is skipped when it is not installed."""
    if shutil.which(arguments[0]) is None:
        pytest.skip(f"{arguments[0]} is not installed")
    run = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return run.stdout + run.stderr


@pytest.fixture(
    params=[(n, p) for n in sorted(PROGRAMS) for p in (False, True)], ids=lambda p: f"{p[0]}-{p[1]}"
)
def design(request: pytest.FixtureRequest, tmp_path: Path) -> CompiledDesign:
    name, pipeline = request.param
    compiled = design_of(name, pipeline=pipeline)
    (tmp_path / "design.v").write_text(compiled.verilog)
    return compiled


def test_verilator_has_nothing_to_warn_of_but_unused_inputs(design: CompiledDesign, tmp_path: Path) -> None:
    said = said_by(
        ["verilator", "--lint-only", "-Wall", OWN_FILE, "--top-module", design.module, "design.v"], tmp_path
    )
    unused = [line for line in said.splitlines() if line.startswith("%Warning-UNUSEDSIGNAL")]
    others = [line for line in said.splitlines() if line.startswith("%") and line not in unused]
    # Inputs that a program does not read, and unit results wider than their numbers.
    own = [line for line in unused if not any(f"'{p}" in line for p in ("s_", "m_")) and "_y'" not in line]
    assert [line for line in others if "Exiting due to" not in line] == []
    assert own == []


def test_icarus_has_nothing_to_warn_of(design: CompiledDesign, tmp_path: Path) -> None:
    said = said_by(
        ["iverilog", "-g2005", "-Wall", "-s", design.module, "-o", "design.vvp", "design.v"], tmp_path
    )
    assert said == ""


@pytest.mark.sample(3)
def test_yosys_has_nothing_to_warn_of(design: CompiledDesign, tmp_path: Path) -> None:
    script = f"read_verilog design.v; hierarchy -check -top {design.module}; proc; opt; check -assert"
    assert said_by(["yosys", "-q", "-p", script], tmp_path) == ""


def test_every_state_says_where_it_comes_from(design: CompiledDesign) -> None:
    states = [line for line in design.verilog.splitlines() if " localparam " in line and " S_" in line]
    assert len(states) == design.report.state_count
    assert all("// " in line for line in states)


@pytest.mark.parametrize("name", ["integers", "floating"])
def test_top_module_is_what_it_was(name: str, golden: Callable[[str, str], None]) -> None:
    compiled = design_of(name, pipeline=True)
    golden(f"hls/{name}_pipelined.v", compiled.verilog[compiled.verilog.index("module f_hw") :])


AGAIN = """
int f(int x)
{
    int t[40] = {3, 1, 4, 1, 5};
    short z[64] = {0};
    for (int i = 0; i < 40; i++) { t[i] += x * i; z[(x + i) & 63] += t[i]; }
    return t[x & 31] * 100 + z[(x * 7) & 63];
}
"""

BENCH = """
module bench;
  reg clk = 0, rst = 1, start = 0;
  reg [31:0] x = 32'd9;
  wire done;
  wire [31:0] result;
  f_hw dut (.clk(clk), .rst(rst), .start(start), .done(done), .s_x(x), .result(result));
  always #5 clk = !clk;
  integer k;
  initial begin
    repeat (2) @(negedge clk);
    rst = 0;
    for (k = 0; k < 3; k = k + 1) begin
      x = k == 1 ? 32'd5 : 32'd9;
      start = 1; @(negedge clk); start = 0;
      while (!done) @(negedge clk);
      @(negedge clk);
      $display("%0d", $signed(result));
    end
    $finish;
  end
endmodule
"""


def reference(x: int) -> int:
    t, z = [3, 1, 4, 1, 5] + [0] * 35, [0] * 64
    for i in range(40):
        t[i] += x * i
        z[(x + i) & 63] += t[i]
    return t[x & 31] * 100 + z[(x * 7) & 63]


def test_design_that_is_started_again_begins_anew(tmp_path: Path) -> None:
    compiled = compile_program(AGAIN, top="f", options=HlsOptions())
    (tmp_path / "design.v").write_text(compiled.verilog)
    (tmp_path / "bench.v").write_text(BENCH)
    assert (
        said_by(["iverilog", "-g2005", "-s", "bench", "-o", "b.vvp", "bench.v", "design.v"], tmp_path) == ""
    )
    said = said_by(["vvp", "-n", "b.vvp"], tmp_path)
    assert [int(line) for line in said.splitlines() if line.lstrip("-").isdigit()] == [
        reference(9),
        reference(5),
        reference(9),
    ]
