"""Arrays in registers hold the same values as the arrays."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import INT32
from pipelines.hls.transforms.partition import partition_array
from pipelines.hls.transforms.registers import arrays_to_registers


def read(body: str) -> ir.Function:
    return read_function(f"int f(int n, int A[8]) {{ {body} }}", top="f")


def local_arrays(function: ir.Function) -> list[str]:
    return [a.name for a in function.arrays if not a.external]


def test_constant_indices_become_variables() -> None:
    before = read("int T[4]; T[0] = n; T[3] = T[0] * 2; if (n > 3) T[3] += 1; return T[3];")
    after = arrays_to_registers(before, 4)
    assert local_arrays(after) == []
    assert not any(isinstance(e, ir.Select) for e in ir.all_expressions(after.body))
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(4)])


def test_large_arrays_and_other_indices_stay_memories() -> None:
    before = read("int T[4]; T[0] = n; T[n & 3] = 4; return T[3];")
    assert arrays_to_registers(before, 4) is before
    constant = read("int T[4]; T[0] = n; return T[0];")
    assert arrays_to_registers(constant, 3) is constant


def test_a_marked_array_is_selected_from() -> None:
    before = read(
        "int T[3][5]; for (int i = 0; i < 3; i++) for (int j = 0; j < 5; j++) T[i][j] = A[i] + j;"
        " int s = 0; int i = 0; while (i < 15 && T[i / 5][i % 5] != n) i++;"
        " if (n > 0) T[n & 1][(n >> 1) & 3] = 7; return i + T[2][n & 3] * 3 + T[1][T[0][0] & 3];"
    )
    after = arrays_to_registers(partition_array(before, "T", "complete", None, 0), 0)
    assert local_arrays(after) == []
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(8)])


def test_initial_values_are_assigned_first() -> None:
    table = ir.Array(name="T", type=INT32, shape=(4,), external=False, initial=(5, 6, 7, 8), registers=True)
    parameter = ir.Variable(name="n")
    index = ir.Binary(operator="and", left=ir.Read(variable=parameter), right=ir.Constant(value=3))
    store = ir.Store(array=table, indices=(ir.Constant(value=2),), value=ir.Constant(value=9), line=1)
    value = ir.Load(array=table, indices=(index,), line=1)
    before = ir.Function(
        name="f",
        parameters=(parameter,),
        arrays=(table,),
        returns=INT32,
        body=(store, ir.Return(value=value, line=1)),
    )
    after = arrays_to_registers(before)
    assert after.arrays == ()
    assert_same_meaning(before, after, [{"n": INT32.dtype.type(k)} for k in range(4)])


def test_registers_rejects_a_marked_array_that_is_too_large() -> None:
    before = read("int T[2000]; T[n & 7] = 4; return T[3];")
    marked = replace(before, arrays=tuple(replace(a, registers=a.name == "T") for a in before.arrays))
    with pytest.raises(NotApplicable, match=r"^T has 2000 elements; at most 1024 are kept in registers$"):
        arrays_to_registers(marked)


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=6))
def test_registers_keep_the_meaning_of_random_nests(seeds: list[int]) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        before = read_function(random_nest(Random(seed)), top="nest")
        after = arrays_to_registers(partition_array(before, "T", "complete", None, 0))
        assert local_arrays(after) == []
        data = tuple(draw_arguments(before, k) for k in range(2))
        comparisons.append(Comparison(functions=(before, after), data_sets=data, label=f"seed {seed}"))
    assert_all_same_meaning(comparisons)
