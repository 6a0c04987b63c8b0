"""Generated designs: outputs equal to Icarus Verilog's, and what they compute."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pipelines.rtl.reuse import RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.designs import DATA_WORDS, FAMILIES, conv2d, mesh, rv32im, sigma, wide
from pipelines.rtl.reuse.riscv import MNEMONICS, demonstration, encode
from tests.rtlreuse.icarus_reference import first_difference
from tests.rtlreuse.riscv_reference import Machine

SMALL = {"conv2d": 32, "sigma": 16, "gemmini": 16, "rv32im": 2, "mesh": 3, "soc_4": 16, "wide": 8}
_LOADS = [m for m in MNEMONICS if m in ("lb", "lh", "lw", "lbu", "lhu")]
_STORES, _BRANCHES = ["sb", "sh", "sw"], ["beq", "bne", "blt", "bge", "bltu", "bgeu"]
_PLAIN = [m for m in MNEMONICS if m not in (*_LOADS, *_STORES, *_BRANCHES, "jal", "jalr", "lui", "auipc")]
build = partial(build_reuse, top="top", compiler="g++", is_quick=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize("family", SMALL)
def test_outputs_equal_icarus(family: str, programs: Path, tmp_path: Path) -> None:
    design = FAMILIES[family](SMALL[family])
    program = build(design.verilog, folder=programs)
    result = Simulator(program).run(300, seed=5, is_traced=True)
    assert result.outputs is not None
    assert len(np.unique(result.outputs, axis=0)) > 20
    assert first_difference(program, design.verilog, design.top, result, tmp_path) is None


def random_program(seed: int, *, has_division: bool) -> list[int]:
    """Instructions of all kinds in a loop of 120; branches skip one instruction."""
    draw = random.Random(seed)
    words = [encode("lui", r, draw.randrange(1 << 20)) for r in range(1, 8)]
    plain = [m for m in _PLAIN if has_division or m not in ("div", "divu", "rem", "remu")]
    while len(words) < 118:
        rd, a, b = draw.randrange(1, 12), draw.randrange(12), draw.randrange(12)
        kind = draw.random()
        if kind < 0.1:
            words.append(encode(draw.choice(_LOADS), rd, 0, 4 * draw.randrange(DATA_WORDS)))
        elif kind < 0.2:
            words.append(encode(draw.choice(_STORES), rd, 0, 4 * draw.randrange(DATA_WORDS)))
        elif kind < 0.3:
            words.append(encode(draw.choice(_BRANCHES), a, b, 8))
        elif kind < 0.35:
            words.append(encode(draw.choice(["lui", "auipc"]), rd, draw.randrange(1 << 20)))
        else:
            name = draw.choice(plain)
            is_immediate = name.endswith(("i", "iu"))
            last = draw.randrange(32 if name in ("slli", "srli", "srai") else 4096) if is_immediate else b
            words.append(encode(name, rd, a, last))
    return [*words, encode("addi", 0, 0, 0), encode("jal", 0, -4 * 119)]


@pytest.fixture(scope="session")
def core(programs: Path) -> Simulator:
    return Simulator(build(rv32im(1).verilog, folder=programs))


def test_core_runs_programs_like_the_interpreter(programs: Path) -> None:
    program = random_program(1, has_division=True)
    simulator = Simulator(build(rv32im(1, program).verilog, folder=programs))
    expected = Machine(program, DATA_WORDS, io=77).run(1200)
    retired = 0
    for cycle in range(6000):
        out = simulator.step({"rst": int(cycle < 2), "seed": 77})
        if out["retired"] and cycle > 2:
            assert (out["pc"], out["rd"], out["value"]) == next(expected, None)
            retired += 1
            if retired == 1200:
                return
    raise AssertionError(f"only {retired} instructions")


def test_demonstration_sorts(core: Simulator) -> None:
    """The interpreter sorts, and the core writes the same numbers to its interface."""
    machine = Machine(demonstration(has_division=True), DATA_WORDS, io=5)
    list(machine.run(2600))
    words = [machine.data[i] for i in range(16)]
    assert machine.written[:16] != words
    core.reset()
    written: list[int] = []
    for cycle in range(6000):
        out = core.step({"rst": int(cycle < 2), "seed": 5})
        if out["sum"] != (written[-1] if written else 0):
            written.append(int(str(out["sum"])))
    assert written[:17] == machine.written[:17]


def test_wide_core_commits_what_the_interpreter_executes(programs: Path) -> None:
    program = random_program(2, has_division=False)
    design = wide(8, 2, program)
    simulator = Simulator(build(design.verilog, folder=programs))
    machine = Machine(program, DATA_WORDS, io=9)
    digests = [0]
    for done in machine.run(800):
        digest = digests[-1]
        if done.rd:
            digest = ((digest << 1 | digest >> 31) & 0xFFFFFFFF) ^ done.value ^ done.rd
        digests.append(digest)
    committed = 0
    for cycle in range(800):
        out = simulator.step({"rst": int(cycle < 2), "seed": 9})
        committed = int(str(out["committed"]))
        if committed > 780:
            break
        assert out["digest"] == digests[committed], cycle
    assert committed > 250


def test_convolution_gives_sums_of_windows(programs: Path) -> None:
    """Filter f multiplies pixel window (r, c) by the weight of tap 4 r + c, r counting lines back."""
    simulator = Simulator(build(conv2d(16).verilog, folder=programs))
    draw = random.Random(4)
    weights = [draw.randrange(-128, 128) for _ in range(16)]
    simulator.step({"rst": 1, "valid": 0})
    simulator.step({"rst": 0, "load": 1, "weights": sum((w & 255) << 8 * t for t, w in enumerate(weights))})
    simulator.step({"load": 0, "valid": 1})
    pixels = [0] + [draw.randrange(256) for _ in range(6 * 64)]
    sums = [simulator.step({"pixel": p})["sums"] for p in pixels[1:]]
    at = 4 * 64 + 20  # a pixel whose window is inside
    lag = next(
        lag
        for lag in range(40)
        if sums[at + lag]
        == sum(weights[4 * r + c] * pixels[1 + at - 64 * r - c] for r in range(4) for c in range(4)) % 2**32
    )
    for n in range(at, at + 30):
        window = sum(weights[4 * r + c] * pixels[1 + n - 64 * r - c] for r in range(4) for c in range(4))
        assert sums[n + lag] == window % 2**32


def test_sparse_array_gives_the_selected_row(programs: Path) -> None:
    simulator = Simulator(build(sigma(16).verilog, folder=programs))
    rows, columns = [1] * 3 + [2] * 5 + [4] * 4 + [9] * 4, list(range(16))
    values = [3 * k - 20 for k in range(16)]
    vector = [(37 * k) % 256 - 128 for k in range(16)]
    for k in reversed(range(16)):
        simulator.step({"load": 1, "row": rows[k], "column": columns[k], "value": values[k] & 255})
    packed = sum((v & 255) << 8 * k for k, v in enumerate(vector))
    for row in (2, 4):
        for _ in range(8):
            out = simulator.step({"load": 0, "vector": packed, "selected": row})
        products = [v * vector[c] for r, c, v in zip(rows, columns, values, strict=True) if r == row]
        assert out["inner"] == sum(products) % 2**32


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mesh(17), "side of a mesh: 17; accepted: 2 to 16"),
        (lambda: sigma(12), "elements of a reduction tree: 12; accepted: powers of 2"),
        (lambda: conv2d(24), "elements: 24; accepted: multiples of 16"),
        (lambda: wide(24), "entries of a core: 24; accepted: powers of 2 from 4"),
    ],
)
def test_designs_reject_sizes(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(RtlError) as error:
        make()
    assert str(error.value) == message
