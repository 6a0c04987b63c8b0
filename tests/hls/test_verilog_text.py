"""Pieces of Verilog: numbers keep their value at any width, by Icarus Verilog's own arithmetic."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from pipelines.c.arithmetic import value_range
from pipelines.c.signature import ScalarType
from pipelines.hls.verilog_text import (
    Net,
    Operand,
    constant_product,
    literal,
    literal_value,
    shifted_left,
    signed_digits,
    signed_literal,
    steer,
)


def displayed(lines: list[str], folder: Path) -> list[int]:
    """Output of Icarus for statements."""
    if shutil.which("iverilog") is None:
        pytest.skip("iverilog is not installed")
    text = "module t;\n" + "\n".join(lines) + "\nendmodule\n"
    (folder / "t.v").write_text(text)
    subprocess.run(["iverilog", "-g2005", "-o", "t.vvp", "t.v"], cwd=folder, check=True, timeout=60)
    run = subprocess.run(
        ["vvp", "-n", "t.vvp"], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    )
    return [int(word) for word in run.stdout.split()]


def random_values(count: int) -> list[tuple[Net, int, Random]]:
    """Nets of any width with a number on them, sometimes wider than the number's type."""
    random = Random(5)
    values: list[tuple[Net, int, Random]] = []
    for index in range(count):
        kind = ScalarType(width_bits=random.randint(1, 40), signed=random.random() < 0.5)
        low, high = value_range(kind)
        value = random.choice([low, high, 0, random.randint(low, high)])
        net_bits = kind.width_bits + random.choice([0, 0, random.randint(0, 9)])
        values.append((Net(name=f"n{index}", net_bits=net_bits, type=kind), value, random))
    return values


def declared(net: Net, value: int, random: Random) -> str:
    """The net with its number in the low bits and anything above."""
    own = net.type.width_bits
    bits = (value & ((1 << own) - 1)) | (random.getrandbits(net.net_bits) >> own << own)
    width = f"[{net.net_bits - 1}:0] " if net.net_bits > 1 else ""
    return f"wire {width}{net.name} = {literal(bits & ((1 << net.net_bits) - 1), net.net_bits)};"


def test_value_keeps_its_number_at_any_width(tmp_path: Path) -> None:
    lines: list[str] = []
    shown: list[str] = []
    expected: list[int] = []
    for net, value, random in random_values(150):
        width, low = random.randint(1, 50), random.choice([0, 0, random.randint(0, 45)])
        lines.append(declared(net, value, random))
        lines.append(f"wire [{width - 1}:0] w_{net.name} = {net.shifted(low, width)};")
        shown.append(f'$display("%0d", w_{net.name});')
        expected.append((value >> low) & ((1 << width) - 1))
    assert displayed([*lines, "initial #1 begin", *shown, "end"], tmp_path) == expected


def test_constant_products_are_products(tmp_path: Path) -> None:
    lines: list[str] = []
    shown: list[str] = []
    expected: list[int] = []
    for net, value, random in random_values(150):
        width, factor = random.randint(1, 48), random.choice([3, 7, -1, 10, 255, -6, random.getrandbits(20)])
        operand = Operand(type=net.type, net=net)
        lines.append(declared(net, value, random))
        lines.append(f"wire [{width - 1}:0] w_{net.name} = {constant_product(operand, factor, width)};")
        shown.append(f'$display("%0d", w_{net.name});')
        expected.append(value * factor & ((1 << width) - 1))
    assert displayed([*lines, "initial #1 begin", *shown, "end"], tmp_path) == expected


@pytest.mark.parametrize("value", [0, 1, 2, 3, 7, 10, 255, -1, -6, 1 << 40, 0x5A3C96A5])
def test_signed_digits_add_up_and_are_few(value: int) -> None:
    digits = signed_digits(value)
    assert sum(sign << shift for shift, sign in digits) == value
    places = sorted(shift for shift, _ in digits)
    assert all(second - first >= 2 for first, second in pairwise(places))


def test_numbers_are_written_with_their_width() -> None:
    assert [literal(5, 8), literal(-1, 8), literal(1 << 20, 32)] == ["8'd5", "8'd255", "32'h100000"]
    assert [signed_literal(v, 8) for v in (5, -5, -128)] == ["8'sd5", "-8'sd5", "8'sh80"]
    assert [literal_value(literal(v, 40)) for v in (0, 77, 1 << 33)] == [0, 77, 1 << 33]
    assert literal_value("v_x") is None


def test_shift_beyond_the_width_is_zero() -> None:
    net = Net(name="a", net_bits=4, type=ScalarType(width_bits=4, signed=False))
    assert shifted_left(Operand(type=net.type, net=net), 9, 8) == "8'd0"


def test_equal_sources_are_selected_once() -> None:
    assert steer([("p", "a"), ("q", "a")], 8) == "a"
    assert steer([("p", "a"), ("q", "b"), ("r", "a")], 8) == "({8{(p || r)}} & a)\n      | ({8{q}} & b)"
