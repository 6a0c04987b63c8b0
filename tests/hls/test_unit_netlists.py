"""Netlists of floating-point units compute what the units do: by simulation, and proven for small formats."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from unit_checks import arithmetic_checks, conversion
from unit_netlists import WORKER, check_netlist

from pipelines.base.tools import ToolMissing, find_tool, run_tool
from pipelines.c.signature import DOUBLE, FLOAT
from pipelines.hls.units.catalogue import module_texts, unit_for
from pipelines.silicon.synthesis import SynthesisError, Target, find_liberty, synthesize_design


@pytest.fixture(scope="module")
def osu018() -> Target:
    """The library of the Debian package, and Icarus; tests are skipped without them."""
    try:
        find_tool("iverilog", "iverilog")
        return Target(liberty=find_liberty("osu018"), clock_period_ns=8.0)
    except (SynthesisError, ToolMissing) as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_the_netlist_of_float_multiply_equals_c(osu018: Target, tmp_path: Path) -> None:
    check = next(c for c in arithmetic_checks() if c.name == "float mul")
    result = check_netlist(check, 150, osu018, tmp_path)
    assert (result.vectors, result.mismatches) == (150, 0), result.examples
    assert result.cells > 1000


def test_a_wrong_netlist_is_a_mismatch(osu018: Target, tmp_path: Path) -> None:
    check = replace(conversion(FLOAT, DOUBLE), c="(double)a * 2")
    assert check_netlist(check, 100, osu018, tmp_path).mismatches > 30


# ---- proof ----------------------------------------------------------------------------------------

# Both designs get the same inputs from arbitrary states of their registers; after as many cycles as the
# pipeline is long, their outputs must be equal. There is no feedback, so this holds for all later cycles.
PROOF = """read_verilog -sv {design}
hierarchy -check -top small
proc
flatten
opt -full
rename small source
delete source/t:$scopeinfo
design -stash source
read_liberty -overwrite cells.lib
read_json {netlist}
hierarchy -check -top small
flatten
opt_clean
rename small netlist
design -stash netlist
design -copy-from source -as source source
design -copy-from netlist -as netlist netlist
miter -equiv -flatten -make_outputs source netlist both
hierarchy -top both
opt -full
sat -verify -seq {steps} -prove-skip {cycles} -set-def-inputs -prove trigger 0 both
"""

SMALL = {  # exponent and fraction bits, cycles, parameters of the stages
    "add": (5, 6, 2, ""),
    "mul": (4, 4, 2, ""),
    "div": (3, 3, 5, ", .FIRST(1), .DIGITS(1), .STAGES(3)"),
    "sqrt": (4, 5, 3, ", .CUTS(64'h14)"),
}


def small_unit(opcode: str) -> str:
    """Verilog of a unit for a format of a few bits, module `small`."""
    exponent, fraction, _, stages = SMALL[opcode]
    unit = unit_for(opcode, FLOAT, FLOAT)
    assert unit is not None
    wide = f"[{exponent + fraction}:0]"
    names = ["a", "b", "subtract"][: {"sqrt": 1, "add": 3}.get(opcode, 2)]
    inputs = "".join(f", input {'' if n == 'subtract' else wide} {n}" for n in names)
    pins = "".join(f".{n}({n}), " for n in names)
    return (
        module_texts([unit])
        + f"module small (input clk{inputs}, output {wide} y);\n  {unit.module} #(.EXPONENT({exponent}),"
        + f" .FRACTION({fraction}){stages}) unit_0 ({pins}.clk(clk), .y(y));\nendmodule\n"
    )


def prove(opcode: str, folder: Path, netlist: str) -> str:
    """Last words of yosys on the claim that a netlist equals the design in the folder."""
    cycles = SMALL[opcode][2]
    text = PROOF.format(design="design.v", netlist=netlist, cycles=cycles, steps=cycles + 1)
    (folder / "proof.txt").write_text(text)
    run_tool([sys.executable, str(WORKER), "proof.txt", "proof.log"], folder=folder, timeout_s=3600)
    return (folder / "proof.log").read_text()


@pytest.mark.sample(2)
@pytest.mark.parametrize("opcode", sorted(SMALL))
def test_the_netlist_of_a_small_format_is_proven_equal(opcode: str, osu018: Target, tmp_path: Path) -> None:
    result = synthesize_design(small_unit(opcode), top="small", target=osu018, folder=tmp_path)
    assert result.status == "ok", result.reason
    assert "SAT proof finished - no model found: SUCCESS!" in prove(opcode, tmp_path, "netlist.json")


def test_a_wrong_netlist_is_not_proven(osu018: Target, tmp_path: Path) -> None:
    synthesize_design(small_unit("sqrt"), top="small", target=osu018, folder=tmp_path)
    text = (tmp_path / "netlist.json").read_text()
    wrong = text.replace('"type": "NOR2X1"', '"type": "NAND2X1"', 1)
    assert wrong != text
    (tmp_path / "wrong.json").write_text(wrong)
    assert "SAT proof finished - model found: FAIL!" in prove("sqrt", tmp_path, "wrong.json")
