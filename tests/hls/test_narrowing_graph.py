"""Width narrowing of whole graphs: the widths that programs need, and the same numbers as before."""

from __future__ import annotations

import numpy as np
import pytest
from graph_support import Interpreter
from random_programs import typed_program

from pipelines.c import interface_of, read_function
from pipelines.c.cdfg import Block, Cdfg, Operation
from pipelines.c.signature import DataSet
from pipelines.hls import HlsOptions
from pipelines.hls.lowering import lower
from pipelines.hls.narrowing import narrow
from pipelines.hls.plan import transform
from pipelines.hls.ranges import analyse_ranges
from pipelines.programs import draw_data
from pipelines.schemas import ProgramRow


def graph_of(source: str, top: str = "f") -> Cdfg:
    """A program lowered and not yet narrowed."""
    function = read_function(source, top=top)
    program = transform(function, (), HlsOptions().transforms)
    return lower(program.function, program.intervals)


def widths(graph: Cdfg) -> dict[str, str]:
    """Type of each variable's register, `u4` or `s5`."""
    return {v.name: f"{'s' if v.type.signed else 'u'}{v.type.width_bits}" for v in graph.variables}


def only(graph: Cdfg, opcode: str) -> list[Operation]:
    return [o for b in graph.blocks for o in b.operations if o.opcode == opcode]


@pytest.mark.parametrize(
    ("body", "variable", "width"),
    [
        ("for (int i = 0; i < 16; i++) A[i] = i;", "i", "u4"),
        ("for (int i = 0; i <= 16; i++) A[i] = i;", "i", "u5"),
        ("for (int i = 15; i >= 0; i--) A[i] = i;", "i", "u4"),
        ("for (int i = -3; i < 3; i++) A[i + 3] = i;", "i", "s3"),
        ("for (int i = 0; i != 12; i += 3) A[i] = i;", "i", "u4"),
        ("int i; for (i = 0; i < 16; i++) if (A[i] == n) break; A[31] = i;", "i", "u5"),
        ("for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) A[i + j] = n;", "j", "u3"),
        ("for (int i = 0; i < 8; i++) for (int j = i; j < 8; j++) A[j] = A[i];", "j", "u3"),
        ("for (int i = 0; i < n; i++) A[i & 15] = i;", "i", "u31"),
        ("int k = n & 63; while (k > 2) { A[k & 31] = k; k = k >> 1; }", "k", "u6"),
        ("unsigned char c = 250; do { A[c & 31] = c; c++; } while (c != 3);", "c", "u8"),
        (
            "int m = 0; for (int i = 0; i < 8; i++) { int v = A[i] & 127; m = v > m ? v : m; } A[9] = m;",
            "m",
            "u7",
        ),
        ("int s = 0; for (int i = 0; i < 8; i++) s += A[i]; A[0] = s;", "s", "s32"),
        ("int i = 1; while (i >= 0 && A[i] > n) { A[i + 1] = A[i]; i--; } A[0] = i;", "i", "s2"),
    ],
)
def test_variable_has_the_width_its_numbers_need(body: str, variable: str, width: str) -> None:
    graph = narrow(graph_of(f"void f(int n, int A[32]) {{ {body} }}"))
    assert widths(graph)[variable] == width


@pytest.mark.parametrize(
    ("expression", "opcode", "width"),
    [
        ("(x & 15) + (y & 15)", "add", 5),
        ("(x & 255) * (y & 15)", "mul", 12),
        ("(x & 255) - (y & 255)", "sub", 9),
        ("u * u", "mul", 16),
        ("(x & 255) / 16", "shr", 4),
        ("(x & 255) % 10", "divc", 5),
        ("x % y", "rem", 32),
        ("~(x & 7)", "not", 4),
        ("-(x & 7)", "neg", 4),
        ("(x & 1) << (y & 3)", "shl", 4),
        ("x < y", "lt", 1),
        ("x < 0 ? 0 : (x > 99 ? 99 : x)", "select", 7),
    ],
)
def test_operation_has_the_width_its_numbers_need(expression: str, opcode: str, width: int) -> None:
    graph = narrow(graph_of(f"int f(int x, int y, unsigned char u) {{ return {expression}; }}"))
    widths = [o.type.width_bits for o in only(graph, opcode) if o.type is not None]
    assert max(widths) == width


def test_only_the_low_bits_of_an_address_are_computed() -> None:
    graph = narrow(graph_of("int f(int x, int y, int A[8][10]) { return A[x * y & 7][(x + y) & 7]; }"))
    assert {o.type.width_bits for o in only(graph, "mul") if o.type is not None} == {7, 3}


def test_bits_that_a_product_with_an_even_constant_loses_are_not_computed() -> None:
    graph = narrow(graph_of("int f(int x, int y, int A[128]) { return A[(x + y) * 24 & 127]; }"))
    assert {o.type.width_bits for o in only(graph, "add") if o.type is not None} == {4}


def test_value_that_is_used_whole_keeps_its_width() -> None:
    graph = narrow(graph_of("int f(int x, int A[8]) { int z = x + 1; return A[z & 7] + z; }"))
    assert {o.type.width_bits for o in only(graph, "add") if o.type is not None} == {32}


@pytest.mark.parametrize(
    ("expression", "opcode"),
    [
        ("(x & 7) + ((y & 1) & 6)", "and"),
        ("(unsigned char)(x & 7) + 0 * y", "mul"),
        ("(x & 7) > 9 ? y : x", "select"),
        ("((x & 3) == 7) + y", "eq"),
        ("(x & 255) / 4", "divc"),
        ("(x & 255) % 4", "rem"),
        ("(long long)(x & 1023) * 2 < 5000 ? x : y", "lt"),
    ],
)
def test_operation_that_changes_nothing_is_gone(expression: str, opcode: str) -> None:
    graph = narrow(graph_of(f"int f(int x, int y) {{ return {expression}; }}"))
    assert only(graph, opcode) == []


@pytest.mark.parametrize(
    ("source", "array", "width"),
    [
        ("int T[64]; for (int i = 0; i < 64; i++) T[i] = A[i & 31] & 7; A[0] = T[n & 63];", "T", "u3"),
        ("int T[64]; for (int i = 0; i < 64; i++) T[i] = -i; A[0] = T[n & 63];", "T", "s7"),
        ("int T[64] = {0}; for (int i = 0; i < 64; i++) T[i & n]++; A[0] = T[n & 63];", "T", "s32"),
        ("static const int C[4] = {3, 9, 70}; A[0] = C[n & 3];", "C", "u7"),
        ("static const int C[4] = {3, 9, -70, 1}; A[0] = C[n & 3] + 1;", "C", "s8"),
    ],
)
def test_local_memory_has_the_width_its_numbers_need(source: str, array: str, width: str) -> None:
    graph = narrow(graph_of(f"void f(int n, int A[32]) {{ {source} }}"))
    (kind,) = [a.type for a in graph.function.arrays if a.name.startswith(array) and not a.external]
    assert f"{'s' if kind.signed else 'u'}{kind.width_bits}" == width
    symbols = [o.symbol for b in graph.blocks for o in b.operations if o.name.startswith(array)]
    assert symbols
    assert all(getattr(s, "type", None) == kind for s in symbols)


def test_branch_that_is_never_taken_is_gone() -> None:
    source = "int f(int x) { int y = x & 7; int s = 0; while (y > 20) { s += y; y = y * 3; } return s; }"
    graph = narrow(graph_of(source))
    assert len(graph.blocks) == 1


def data_of(row: ProgramRow, graph: Cdfg, seed: int) -> DataSet:
    """Arguments of a program, and its arguments' values for each bank of a partition."""
    data = draw_data(interface_of(read_function(row.source, top=row.top)), row.inputs, seed=seed)
    for array in graph.function.arrays:
        if array.external and array.name not in data:
            data[array.name] = np.resize(data[array.argument or ""].reshape(-1), array.element_count)
    return data


@pytest.mark.parametrize("seed", range(20, 32))
def test_numbers_stay_in_their_ranges_and_the_same(seed: int) -> None:
    row = typed_program(seed).row
    graph = graph_of(row.source, row.top)
    ranges = analyse_ranges(graph)
    data = data_of(row, graph, seed)

    def low_of(block: Block, operation: Operation) -> int:
        return (ranges.values[block.index][operation.index] or (0, 0))[0]

    def within(block: Block, operation: Operation, value: int) -> None:
        own = ranges.values[block.index][operation.index]
        assert own is None or own[0] <= value <= own[1], (block.name, operation)

    before, after = Interpreter(graph, data, within, low_of), Interpreter(narrow(graph), data)
    assert before.run() == after.run()
    for array in graph.function.arrays:
        if array.external:
            assert before.memory[array.name] == after.memory[array.name], array.name
