"""Structured IR to graph: blocks, addresses, division by constants, initial values, dead code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from graph_support import Interpreter

from pipelines.c import ir, read_function
from pipelines.c.cdfg import Cdfg, Finish
from pipelines.c.signature import INT32, UINT32, ScalarType
from pipelines.hls import HlsOptions
from pipelines.hls.cleanup import clean
from pipelines.hls.lowering import lower
from pipelines.hls.narrowing import narrow
from pipelines.hls.plan import transform


def graph_of(source: str) -> Cdfg:
    """A program transformed without directives and lowered."""
    options = HlsOptions().transforms
    function = transform(read_function(source, top="f"), (), options).function
    return lower(function, {})


def opcodes(graph: Cdfg) -> Counter[str]:
    return Counter(o.opcode for b in graph.blocks for o in b.operations)


def run(graph: Cdfg, **arguments: object) -> int | None:
    return Interpreter(graph, {k: np.asarray(v) for k, v in arguments.items()}).run()


@pytest.mark.parametrize(
    ("shape", "operators"),
    [
        ("[16]", set()),
        ("[8][16]", {"shl", "or"}),
        ("[7][16]", {"shl", "or"}),
        ("[8][10]", {"mul", "add"}),
    ],
)
def test_address_of_rows_of_a_power_of_two_needs_no_adder(shape: str, operators: set[str]) -> None:
    subscripts = "[i][j]" if shape.count("[") == 2 else "[j]"
    graph = graph_of(f"int f(int i, int j, int A{shape}) {{ return A{subscripts}; }}")
    assert set(opcodes(graph)) - {"read", "load", "cast", "const"} == operators


def test_address_is_row_major() -> None:
    source = "int f(int i, int j, int k, short A[3][4][5]) { return A[i][j][k]; }"
    values = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
    for graph in (graph_of(source), narrow(graph_of(source))):
        for i, j, k in ((0, 0, 0), (2, 3, 4), (1, 2, 3), (2, 0, 1)):
            assert run(graph, i=i, j=j, k=k, A=values) == values[i, j, k]


@pytest.mark.parametrize("kind", ["int", "unsigned int", "signed char", "long long"])
@pytest.mark.parametrize("divisor", [1, 2, 8, -4, 64])
def test_division_by_a_power_of_two_truncates_toward_zero(kind: str, divisor: int) -> None:
    scalar = {
        "int": INT32,
        "unsigned int": UINT32,
        "signed char": ScalarType(width_bits=8),
        "long long": ScalarType(width_bits=64),
    }[kind]
    if divisor < 0 and not scalar.signed:
        return
    low = -(1 << (scalar.width_bits - 1)) if scalar.signed else 0
    for operator in "/%":
        source = f"long long f({kind} x) {{ return x {operator} ({kind})({divisor}); }}"
        graph = graph_of(source)
        assert not {"div", "rem", "divc"} & set(opcodes(graph))
        for value in (low, low + 1, low + 7, 0, 1, 7, 8, 100):
            magnitude = abs(value) // abs(divisor) * (1 if (value < 0) == (divisor < 0) else -1)
            expected = magnitude if operator == "/" else value - magnitude * divisor
            assert run(graph, x=scalar.dtype.type(value)) == expected
            assert run(narrow(graph), x=scalar.dtype.type(value)) == expected


def test_bound_that_is_loaded_is_loaded_once() -> None:
    source = "void f(int n[2], int A[8]) { for (int i = 0; i < n[1]; i++) A[i] = i; }"
    graph = graph_of(source)
    (load,) = [(b, o) for b in graph.blocks for o in b.operations if o.opcode == "load"]
    assert load[0].index not in load[0].successors


def test_accumulator_that_nobody_reads_is_gone() -> None:
    source = "void f(int A[8]) { int s = 0; for (int i = 0; i < 8; i++) { s += A[i]; A[i] = i; } }"
    assert "load" not in opcodes(graph_of(source))


def test_local_memory_that_nobody_reads_is_gone() -> None:
    source = "void f(int x, int A[64]) { int t[64]; for (int i = 0; i < 64; i++) { t[i] = x; A[i] = i; } }"
    assert opcodes(graph_of(source))["store"] == 1


def test_element_of_a_table_at_a_known_place_is_a_constant() -> None:
    source = "static const int T[4] = {5, 6, 7}; int f(int x) { return T[1] + T[3] + x; }"
    graph = graph_of(source)
    assert "load" not in opcodes(graph)
    assert run(graph, x=1) == 7


def test_memory_with_initial_values_is_filled_in_each_run() -> None:
    values = tuple(range(3, 15))
    index = ir.Variable(name="i")
    array = ir.Array(name="t", type=INT32, shape=(3, 4), external=False, initial=values)
    place = (ir.Read(variable=index), ir.Constant(value=2))
    body = (
        ir.Store(
            array=array,
            indices=place,
            value=ir.Binary(
                operator="add",
                left=ir.Load(array=array, indices=place, line=1),
                right=ir.Constant(value=100),
            ),
            line=1,
        ),
        ir.Return(value=ir.Load(array=array, indices=place, line=2), line=2),
    )
    function = ir.Function(name="f", parameters=(index,), arrays=(array,), returns=INT32, body=body)
    graph = lower(function, {})
    interpreter = Interpreter(graph, {"i": np.int32(1)})
    assert [interpreter.run(), interpreter.run()] == [109, 109]
    tables = [a for a in graph.function.arrays if a.initial is not None]
    assert [t.initial for t in tables] == [values]


def test_memory_that_starts_with_zeros_needs_no_table() -> None:
    source = """
    int f(int x) { int t[64] = {0}; for (int i = 0; i < 9; i++) t[(x + i) & 63] += i; return t[x & 63]; }
    """
    graph = graph_of(source)
    assert all(a.initial is None for a in graph.function.arrays)
    assert run(graph, x=5) == 0


def test_straight_line_is_one_block() -> None:
    source = "int f(int x) { int y = 0; do { y += x; if (x > 3) break; y *= 2; } while (0); return y; }"
    graph = graph_of(source)
    ends = [b for b in graph.blocks if isinstance(b.terminator, Finish)]
    assert len(ends) == 1
    assert [run(graph, x=v) for v in (3, 4)] == [6, 4]


def test_blocks_are_in_program_order() -> None:
    source = """
    int f(int x) {
        int s = 0;
        for (int i = 0; i < x; i++) { if (i == 7) break; s += i; }
        if (s > 5) { for (int j = 0; j < 3; j++) s ^= j * x; } else { s = -s; }
        return s;
    }
    """
    lines = [b.line for b in graph_of(source).blocks if b.line]
    assert lines == sorted(lines)


def test_cleaning_a_clean_graph_changes_nothing() -> None:
    source = "int f(int n, int A[8]) { int s = 0; for (int i = 0; i < n; i++) s += A[i & 7]; return s; }"
    graph = graph_of(source)
    assert clean(graph) == graph


def test_deep_expression_is_lowered() -> None:
    total: ir.Expression = ir.Read(variable=ir.Variable(name="x"))
    for _ in range(300):
        total = ir.Binary(operator="add", left=total, right=ir.Constant(value=1))
    function = ir.Function(
        name="f",
        parameters=(ir.Variable(name="x"),),
        arrays=(),
        returns=INT32,
        body=(ir.Return(value=total, line=1),),
    )
    assert run(lower(function, {}), x=np.int32(2)) == 302
