"""Large functions of one lane are divided, and give the outputs that they give undivided."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipelines.rtl.reuse import Simulator, build_reuse, emission, pieces
from pipelines.rtl.reuse.designs import FAMILIES
from tests.support.random_designs import bundle

WRITTEN_TWICE = """
module top (input clk, input [3:0] a, b, input [15:0] x, y, input v, w, output reg [15:0] q, output [15:0] m,
    output reg [15:0] kept = 9);
  reg [15:0] mem [0:15];
  assign m = mem[a ^ b];
  always @(posedge clk) begin
    q <= mem[a] + mem[b] * x - (v ? y : q);
    if (v) mem[a] <= x ^ q;
    if (w) mem[b][7:0] <= y[7:0];
    if (v & w) kept <= q + kept;
  end
endmodule
"""
"""A memory is read in the cycle in which it is written, twice at one place when `a` is `b`."""


@pytest.mark.parametrize(
    ("design", "options"),
    [
        ("written twice", {}),
        ("written twice", {"threads": 2, "batch": 2}),
        ("written twice", {"is_counting": True}),
        ("written twice", {"is_skipping": True}),
        pytest.param("wide", {"threads": 2}, marks=pytest.mark.slow),
        ("random", {}),
    ],
)
@pytest.mark.slow
def test_outputs_do_not_depend_on_pieces(
    design: str, options: dict[str, Any], programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "written twice": WRITTEN_TWICE,
        "wide": FAMILIES["wide"](8).verilog,
        "random": bundle(range(7000, 7003)).verilog,
    }
    whole = _run(texts[design], programs, options)
    monkeypatch.setattr(emission, "LARGE", 5)
    monkeypatch.setattr(pieces, "_PIECE", 7)
    divided = _run(texts[design], programs, options)
    assert divided[1] == whole[1]
    assert divided[0] != whole[0], "the design has no function in pieces"


def _run(text: str, folder: Path, options: dict[str, Any]) -> tuple[Path, list[Any]]:
    program = build_reuse(text, top="top", folder=folder, is_quick=True, **options)
    with closing(Simulator(program)) as simulator:
        return program.path, simulator.run(300, seed=5).digests.tolist()
