"""Yosys' own count of a netlist's cells, and its reports as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.silicon.synthesis import SynthesisError, find_liberty, recount_cells
from pipelines.silicon.synthesis.recount import cell_models, parse_recount

NETLIST = """
module top(n2, n3, n4, o0);
  input n2; input n3; input n4; output o0;
  wire n5; wire n6; wire n7;
  DFFPOSX1 r0 (.CLK(n2), .D(n3), .Q(n5));
  DFFSR r1 (.CLK(n2), .D(n4), .Q(n6), .R(1'b1), .S(1'b1));
  NAND2X1 g0 (.A(n5), .B(n6), .Y(n7));
  assign o0 = n7;
endmodule
"""


def test_cells_are_counted_with_their_area(tmp_path: Path) -> None:
    found = recount_cells(NETLIST, liberty=find_liberty("osu018"), folder=tmp_path / "run")
    assert (found.cell_count, found.flip_flop_count) == (3, 2)
    assert found.area_um2 == 96 + 176 + 24


def test_recount_rejects_a_netlist_of_other_cells(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match=r"^yosys did not count a netlist's cells: .*NOSUCH"):
        recount_cells(NETLIST.replace("NAND2X1", "NOSUCH"), liberty=find_liberty(None), folder=tmp_path)


def library_report(each: int) -> bytes:
    """Cells of a library, as of a yosys that reads a flip-flop as so many cells of its own."""
    kinds = {"\\one_flip_flop": each, "\\FF2": 2 * each, "\\INV": 0}
    modules = {name: {"num_cells_by_type": {"$_DFF_P_": count}} for name, count in kinds.items()}
    return json.dumps({"modules": modules}).encode()


AREA = b"   Chip area for module '\\top': 7.500000\n"


@pytest.mark.parametrize("each", [1, 2])
def test_a_cell_of_two_flip_flops_counts_twice(each: int) -> None:
    design = {"modules": {"\\top": {"num_cells_by_type": {"FF2": 3, "INV": 1}}}}
    found = parse_recount(library_report(each), json.dumps(design).encode(), AREA)
    assert (found.area_um2, found.cell_count, found.flip_flop_count) == (7.5, 4, 6)


@pytest.mark.parametrize("report", [b"", b"[]", b'{"modules": {}}'])
def test_recount_rejects_another_report(report: bytes) -> None:
    with pytest.raises(SynthesisError, match="not a report of yosys' stat: "):
        parse_recount(library_report(1), report, AREA)


@pytest.mark.parametrize(
    ("area", "rule"),
    [
        (b"", "no chip area"),
        (b"   Chip area for module '\\top': nan\n", "no chip area"),
        (b"   Area for cell type \\FF2 is unknown!\n" + AREA, "area of .FF2 is unknown"),
        (b"   Chip area for module '\\top': 1.2.3\n", "chip area '1.2.3'"),
    ],
)
def test_recount_rejects_an_area_that_is_none(area: bytes, rule: str) -> None:
    design = b'{"modules": {"\\\\top": {"num_cells_by_type": {"FF2": 3}}}}'
    with pytest.raises(SynthesisError, match=f"not a report of yosys' stat: {rule}"):
        parse_recount(library_report(1), design, area)


def test_models_of_cells_are_verilog_with_registers_that_start_at_random(tmp_path: Path) -> None:
    models = cell_models(find_liberty("osu018"), folder=tmp_path)
    assert "module NAND2X1(" in models
    assert " = $random;" in models
