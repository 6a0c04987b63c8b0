"""Yosys' own count of a netlist's cells, and its reports as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.synthesis import SynthesisError, find_liberty, recount_cells
from pipelines.synthesis.netlist import parse_recount

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


def test_a_cell_of_two_flip_flops_counts_twice() -> None:
    library = {"modules": {"\\FF2": {"num_cells_by_type": {"$_DFF_P_": 4}}, "\\INV": {}}}
    design = {"modules": {"\\top": {"area": 7.5, "num_cells_by_type": {"FF2": 3, "INV": 1}}}}
    found = parse_recount(json.dumps(library).encode(), json.dumps(design).encode())
    assert (found.area_um2, found.cell_count, found.flip_flop_count) == (7.5, 4, 6)


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"[]",
        b'{"modules": {}}',
        *(b'{"modules": {"\\top": {"area": %s}}}' % area for area in (b"NaN", b"1e999", b"-25532", b"nan")),
    ],
)
def test_recount_rejects_another_report(report: bytes) -> None:
    with pytest.raises(SynthesisError, match="not a report of yosys' stat: "):
        parse_recount(b'{"modules": {}}', report)
