"""`simfoundry verilate`: what it writes and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simfoundry.cli import simfoundry

CACHE = Path(__file__).with_name("projects") / "cache"
FIRRTL = """FIRRTL version 3.3.0
circuit Echo :
  public module Echo :
    input clock : Clock
    input in : UInt<70>
    output out : UInt<70>
    reg kept : UInt<70>, clock
    connect kept, in
    connect out, kept
"""


def verilate(*arguments: str) -> Result:
    return CliRunner().invoke(simfoundry, ["verilate", *arguments])


def test_command_writes_header_source_and_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CACHE)
    result = verilate("-F", "lists/cache.f", "--out", str(tmp_path / "model"), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    names = {path.name for path in (tmp_path / "model").iterdir()}
    own = {f"V{answer['top']}.h", f"V{answer['top']}.cpp", f"libV{answer['top']}.a"}
    assert names == own | {"verilated.h", "verilated_vcd_c.h"}
    assert {Path(file).name for file in answer["files"]} == names
    assert answer["clocks"] == ["clk_i"]


def test_command_takes_firrtl_and_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("echo.fir").write_text(FIRRTL, "utf-8")
    result = verilate("echo.fir", "--out", "model", "--prefix", "Model")
    assert result.exit_code == 0, result.stderr
    assert "link       g++ -I model bench.cpp model/libModel.a" in result.stdout
    assert "VlWide<3> in;" in Path("model/Model.h").read_text("utf-8")


def test_command_rejects_a_folder_with_a_file_of_the_design(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.v").write_text(
        '`include "verilated.h"\nmodule m(input a, output b); assign b = a; endmodule', "utf-8"
    )
    Path("verilated.h").write_text("`define A 1\n", "utf-8")
    result = verilate("m.v", "--out", ".")
    assert result.exit_code == 1
    assert (
        result.stderr
        == "simfoundry: --out .: verilated.h is a file of the design; accepted: another folder\n"
    )
    assert Path("verilated.h").read_text("utf-8") == "`define A 1\n"
    assert not Path("Vm.h").exists()


def test_command_names_the_file_of_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.v").write_text("module bad(input a, output b);\n  assign b = ;\nendmodule\n", "utf-8")
    result = verilate("bad.v", "--out", "model")
    assert result.exit_code == 1
    assert "bad.v:2" in result.stderr
    assert not Path("model").exists()
