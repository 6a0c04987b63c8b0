"""The structured IR as MLIR text, and the preparation before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.c import ir
from pipelines.c.frontend import interface_of, read_function
from pipelines.c.signature import INT32, UINT8, same_values
from pipelines.circt.expressions import NotLowered, Values, memory_type
from pipelines.circt.preparation import prepare
from pipelines.circt.writer import BranchingWriter, StructuredWriter, Writer, mlir_text
from pipelines.native import run_native
from pipelines.programs import draw_data
from tests.hls.ctext import c_text

SMALL = """
#include <stdint.h>
int small(int limit, int a[3][5], uint8_t marks[3]) {
    int total = 0;
    for (int i = 0; i < 3; i++) {
        if (a[i][1] < limit) marks[i] = (uint8_t)total;
        else total -= a[i][2] / 3;
    }
    return total;
}
"""

EXITS = """
int leave(int a[4][6], int b[4]) {
    int found = -1;
    for (int i = 0; i < 4; i++) {
        b[i] = 0;
        for (int j = 0; j < 6; j++) {
            if (a[i][j] == 13) continue;
            if (a[i][j] > 8) { found = i * 10 + j; break; }
            b[i] += a[i][j];
            switch (a[i][j] & 3) {
                case 0: b[i] += 1; break;
                case 1: b[i] += 2;
                default: b[i] -= 1;
            }
        }
        if (b[i] < -20) return found;
        b[i] *= 2;
    }
    do { found++; if (found > 7) break; } while (found < 30);
    return found;
}
"""


@pytest.mark.parametrize(("style", "name"), [(StructuredWriter, "scf"), (BranchingWriter, "cf")])
def test_mlir_text_of_a_small_function(
    style: type[Writer], name: str, golden: Callable[[str, str], None]
) -> None:
    golden(f"circt/small_{name}.mlir", mlir_text(prepare(SMALL, top="small"), style=style))


@pytest.mark.parametrize("seed", range(6))
def test_prepare_without_exits_means_the_same(seed: int, tmp_path: Path) -> None:
    interface = interface_of(read_function(EXITS, top="leave"))
    prepared = prepare(EXITS, top="leave")
    assert not any(isinstance(s, ir.Block | ir.Leave) for s in ir.walk_statements(prepared.body))
    data = draw_data(interface, '{"a": {"kind": "uniform", "low": -9, "high": 14}}', seed=seed)
    before = run_native(EXITS, interface, data, folder=tmp_path / "before")
    after = run_native(c_text(prepared, name="leave"), interface, data, folder=tmp_path / "after")
    assert (before.status, after.status) == ("ok", "ok")
    assert after.returned == before.returned
    assert same_values(after.outputs["b"], before.outputs["b"])


@pytest.mark.parametrize("extent", [1, 2, 6, 7, 12, 15])
def test_scaled_is_a_product(extent: int) -> None:
    values = Values({})
    result = values.scaled("%x", extent)
    known = {"%x": 37}
    for line in values.lines:
        name, _, operation = line.partition(" = ")
        operator, operands = operation.split(" : ")[0].split(" ", 1)
        if operator == "arith.constant":
            known[name] = int(operands)
            continue
        left, right = (known[o] for o in operands.split(", "))
        table = {"arith.shli": left << right, "arith.addi": left + right, "arith.muli": left * right}
        known[name] = table[operator]
    assert known[result] == 37 * extent


def test_memory_type_has_an_address() -> None:
    array = ir.Array(name="one", type=UINT8, shape=(1,), external=True)
    assert memory_type(array) == "memref<2xi8>"


def test_quotients_are_exchanged_for_handshake_only() -> None:
    source = "unsigned f(int a, int b, unsigned c) { return (unsigned)(a / b) / c; }"
    function = prepare(source, top="f")
    quotients = [
        [
            line.split(" = ")[1].split(" ")[0]
            for line in mlir_text(function, style=style).split("\n")
            if "div" in line
        ]
        for style in (StructuredWriter, BranchingWriter)
    ]
    assert quotients == [["arith.divsi", "arith.divui"], ["arith.divui", "arith.divsi"]]


def test_mlir_text_rejects_floats() -> None:
    function = prepare("float f(float a) { return a + 1.0f; }", top="f")
    with pytest.raises(NotLowered, match=r"^a program for CIRCT must have integers only .*, got float$"):
        mlir_text(function, style=StructuredWriter)


def test_a_predicated_load_reads_an_element_that_exists() -> None:
    array = ir.Array(name="a", type=INT32, shape=(8,), external=True)
    index, holds = ir.Variable(name="i"), ir.Variable(name="p")
    load = ir.Load(array=array, indices=(ir.Read(variable=index),), line=1, predicate=ir.Read(variable=holds))
    values = Values({"a": "%m"}, values={"i": "%i", "p": "%p"})
    values.load(load)
    assert any("arith.select" in line and "%i" in line for line in values.lines)
