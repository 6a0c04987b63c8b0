"""Registers, memories, toggle counts and checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.rtl.reuse import RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.state import (
    count_toggles,
    load_memory,
    read_checkpoint,
    read_image,
    read_memory,
    read_register,
    write_checkpoint,
)

TEXT = """
module unit (input clk, input [3:0] a, input we, output [7:0] q, output reg [7:0] r);
  reg [7:0] words [0:15];
  assign q = words[a];
  always @(posedge clk) begin
    if (we) words[a] <= r;
    r <= r ^ q ^ {a, 4'd0};
  end
endmodule
module top (input clk, input [3:0] a, input we, output [7:0] x, output [7:0] y, output [7:0] s);
  wire [7:0] p;
  unit u (.clk(clk), .a(a), .we(we), .q(p), .r(x));
  unit v (.clk(clk), .a(p[3:0]), .we(we), .q(s), .r(y));
endmodule
"""


@pytest.fixture(scope="session")
def counting(programs: Path) -> Simulator:
    program = build_reuse(TEXT, top="top", folder=programs, compiler="g++", stimuli=2, is_counting=True)
    return Simulator(program)


@pytest.fixture(scope="session", params=["lanes", "apart"])
def simulator(request: pytest.FixtureRequest, counting: Simulator, programs: Path) -> Simulator:
    """With both layouts of its stimuli."""
    if request.param == "lanes":
        return counting
    program = build_reuse(TEXT, top="top", folder=programs, compiler="g++", stimuli=2, is_apart=True)
    return Simulator(program)


def test_memory_images_are_what_the_design_reads(simulator: Simulator, tmp_path: Path) -> None:
    image = tmp_path / "image.hex"
    image.write_text("1f 2e // two\n_3d\n")
    simulator.reset()
    load_memory(simulator, "top.v.words", read_image(image), first=2)
    assert read_memory(simulator, "top.v.words")[1][:5] == [0, 0, 0x1F, 0x2E, 0x3D]
    assert read_memory(simulator, "top.u.words") == [[0] * 16] * 2
    load_memory(simulator, "top.u.words", [3])
    assert simulator.step({"a": 0, "we": 0})["s"] == [0x2E, 0x2E]


def test_registers_are_read_by_name(simulator: Simulator) -> None:
    simulator.reset()
    simulator.step({"a": [3, 5], "we": 1})
    assert read_register(simulator, "top.u.r") == [0x30, 0x50]
    simulator.step()
    assert read_register(simulator, "top.u.r") == [0, 0]


def test_toggles_are_changes_between_cycles(counting: Simulator) -> None:
    counting.reset()
    traced = counting.run(50, seed=3, is_traced=True)
    counting.reset()
    result, rows = count_toggles(counting, 50, seed=3)
    assert result.digests.tolist() == traced.digests.tolist()
    assert traced.inputs is not None
    assert traced.outputs is not None
    found = {(row.kind, row.signal): row.toggles for row in rows}
    changes = np.bitwise_count(traced.outputs[1:] ^ traced.outputs[:-1]).sum(axis=(0, 2))
    assert found["output", "x"] == changes[0] > 0
    assert found["input", "a"] == np.bitwise_count(traced.inputs[1:, 0] ^ traced.inputs[:-1, 0]).sum()
    counting.reset()
    registers = [0, *(changes_of(counting, traced.inputs, cycle) for cycle in range(50))]
    assert found["register", "top.v.r"] == sum(registers)


def changes_of(simulator: Simulator, inputs: np.ndarray, cycle: int) -> int:
    before = read_register(simulator, "top.v.r")
    simulator.step({"a": inputs[cycle, 0], "we": inputs[cycle, 1]})
    return sum((a ^ b).bit_count() for a, b in zip(before, read_register(simulator, "top.v.r"), strict=True))


def test_a_checkpoint_goes_on(simulator: Simulator, tmp_path: Path) -> None:
    simulator.reset()
    expected = simulator.run(90, seed=4).digests.tolist()
    simulator.reset()
    simulator.run(40, seed=4)
    write_checkpoint(simulator, tmp_path / "state")
    other = Simulator(simulator.program)
    read_checkpoint(other, tmp_path / "state")
    assert other.run(50, seed=4).digests.tolist() == expected


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_checkpoint_rejects_a_changed_byte(simulator: Simulator, tmp_path: Path, share: float) -> None:
    write_checkpoint(simulator, tmp_path / "state")
    content = bytearray((tmp_path / "state").read_bytes())
    begin = content.index(b"\n") + 1
    content[begin + int(share * (len(content) - begin))] ^= 1
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(RtlError, match=r"^damaged checkpoint: .*state does not have the hash it names"):
        read_checkpoint(simulator, tmp_path / "state")
    (tmp_path / "state").write_bytes(b'{"format": 1, "program": "p", "bytes": 3}\nabc')
    with pytest.raises(RtlError, match=r"^checkpoint of an earlier version, without a hash: .*; write it ag"):
        read_checkpoint(simulator, tmp_path / "state")


def test_state_rejects(counting: Simulator, programs: Path, tmp_path: Path) -> None:
    with pytest.raises(RtlError, match=r"^unknown memory: top.w; there are: top.u.words, top.v.words$"):
        load_memory(counting, "top.w", [1])
    with pytest.raises(RtlError, match=r"^word 0 of top.u.words: 0x100; accepted: 0 to 0xff$"):
        load_memory(counting, "top.u.words", [256])
    with pytest.raises(RtlError, match=r"^17 words from 0 for memory top.u.words; accepted: up to 16$"):
        load_memory(counting, "top.u.words", [0] * 17)
    (tmp_path / "bad.hex").write_text("@0 1\n")
    with pytest.raises(RtlError, match=r"bad.hex:1: address @0; accepted: words alone$"):
        read_image(tmp_path / "bad.hex")
    (tmp_path / "bad.hex").write_text("1\n+2\n")
    with pytest.raises(RtlError, match=r"bad.hex:2: '\+2'; accepted: hexadecimal words"):
        read_image(tmp_path / "bad.hex")
    (tmp_path / "x.hex").write_text("1x z /* 7 */ a_b // c\n")
    assert read_image(tmp_path / "x.hex") == [0x10, 0, 0xAB]
    (tmp_path / "state").write_bytes(b"{}\n")
    with pytest.raises(RtlError, match=r"^not a checkpoint of this design, engine and number of stimuli: "):
        read_checkpoint(counting, tmp_path / "state")
