"""Partitioning keeps the meaning of a program, and known banks are accessed directly."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import Directive, ir, read_function
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import INT32, BankDimension
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.transforms.partition import partition_array


def read(body: str, arguments: str = "int n, int A[12], int M[6][10]") -> ir.Function:
    return read_function(f"int f({arguments}) {{ {body} }}", top="f")


def accesses(function: ir.Function) -> dict[str, int]:
    """Accesses in the text, by array."""
    counts: Counter[str] = Counter()
    counts.update(e.array.name for e in ir.all_expressions(function.body) if isinstance(e, ir.Load))
    counts.update(s.array.name for s in ir.walk_statements(function.body) if isinstance(s, ir.Store))
    return dict(sorted(counts.items()))


def check(before: ir.Function, after: ir.Function) -> None:
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(3)])


DIRECT = {
    "a step of the factor": (
        "for (int i = 0; i < 12; i += 4) { A[i] = i; A[i + 1] = 2; A[i + 3] = 5; } return 0;",
        ("A", "cyclic", 4, 1),
        {"A__0": 1, "A__1": 1, "A__3": 1},
    ),
    "a step of three": (
        "for (int i = 1; i < 10; i += 3) { A[i] = i; A[i + 1] += 2; } return 0;",
        ("A", "cyclic", 3, 1),
        {"A__1": 1, "A__2": 2},
    ),
    "a multiple": (
        "for (int i = 0; i < 6; i++) A[2 * i + 1] += A[2 * i]; return 0;",
        ("A", "cyclic", 2, 1),
        {"A__0": 1, "A__1": 2},
    ),
    "blocks by range": (
        "for (int i = 0; i < 6; i++) A[i] += A[i + 6]; return 0;",
        ("A", "block", 2, 1),
        {"A__0": 2, "A__1": 1},
    ),
    "constants": ("A[3] = n; return A[5];", ("A", "complete", None, 1), {"A__3": 1, "A__5": 1}),
    "another dimension": (
        "for (int i = 0; i < 6; i++) for (int j = 0; j < 10; j += 2) M[i][j + 1] = M[i][j]; return 0;",
        ("M", "cyclic", 2, 2),
        {"M__0": 1, "M__1": 1},
    ),
    "a triangle": (
        "for (int i = 0; i < 6; i++) for (int j = 2 * i; j < 10; j += 2) M[i][j] += 3; return 0;",
        ("M", "cyclic", 2, 2),
        {"M__0": 2},
    ),
    "some of the banks": (
        "for (int i = 0; i < 12; i += 2) A[i] = i; return 0;",
        ("A", "cyclic", 4, 1),
        {"A__0": 1, "A__2": 1},
    ),
    "some of the blocks": (
        "for (int i = 0; i < 6; i++) A[i + 2] = i; return 0;",
        ("A", "block", 3, 1),
        {"A__0": 1, "A__1": 1},
    ),
}


@pytest.mark.parametrize("name", DIRECT)
def test_an_access_goes_to_the_banks_it_may_mean(name: str) -> None:
    body, (array, style, factor, dimension), expected = DIRECT[name]
    before = read(body)
    after = partition_array(before, array, style, factor, dimension)
    assert accesses(after) == expected
    check(before, after)


def test_an_access_that_is_never_reached_goes_to_one_bank() -> None:
    # At most three iterations leave none for a body of four.
    source = """
    int f(int A[5]) {
        int s = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++)
                for (int k = 0; k <= j; k++) s += A[k];
        return s;
    }
    """
    directives = (
        Directive(kind="partition", variable="A", style="block", value=4, dimension=1),
        Directive(kind="pipeline", loop="L2"),
        Directive(kind="unroll", loop="L2", value=4),
    )
    compiled = compile_program(source, top="f", options=HlsOptions(directives=directives))
    assert [bank.port for bank in compiled.banks] == ["A__0", "A__1", "A__2"]


def test_a_direct_access_needs_no_division() -> None:
    after = partition_array(
        read("for (int i = 0; i < 12; i += 4) for (int j = 0; j < 2; j++) A[4 * j + i + 3] = 1; return 0;"),
        "A",
        "cyclic",
        4,
    )
    used = {e.operator for e in ir.all_expressions(after.body) if isinstance(e, ir.Binary)}
    assert used == {"shr", "add"}


def test_a_direct_access_to_one_of_three_banks_needs_no_division() -> None:
    before = read("int i; for (i = 10; i > 1; i -= 3) { A[i] = i; A[i - 1] += 2; } return i;")
    after = partition_array(before, "A", "cyclic", 3)
    used = {e.operator for e in ir.all_expressions(after.body) if isinstance(e, ir.Binary)}
    assert used == {"mul", "add", "sub"}
    check(before, after)


def test_an_unknown_bank_is_selected() -> None:
    before = read("A[n & 7] += 5; return A[(n * n) & 3];")
    after = partition_array(before, "A", "cyclic", 2)
    assert accesses(after) == {"A__0": 3, "A__1": 3}
    assert all(e.predicate is not None for e in ir.all_expressions(after.body) if isinstance(e, ir.Load))
    check(before, after)


def test_partitions_of_several_dimensions_compose() -> None:
    before = read(
        "int s = 0; for (int i = 0; i < 6; i++) for (int j = 0; j < 10; j++) s += M[i][j] * j; return s;"
    )
    after = partition_array(partition_array(before, "M", "block", 2, 1), "M", "cyclic", 3, 2)
    assert after == partition_array(
        partition_array(before, "M", "block", 2, dimension=1), "M", "cyclic", 3, dimension=2
    )
    assert [a.name for a in after.arrays if a.argument == "M"] == [
        f"M__{block}__{bank}" for block in range(2) for bank in range(3)
    ]
    last = after.banks[-1]
    assert (last.port, last.argument, last.shape) == ("M__1__2", "M", (6, 10))
    assert last.dimensions == (
        BankDimension(style="block", factor=2, number=1, size=3),
        BankDimension(style="cyclic", factor=3, number=2, size=4),
    )
    assert (last.read, last.written) == (True, False)
    check(before, after)


def test_a_local_array_partitioned_completely_is_kept_in_registers() -> None:
    before = read("int T[2][3]; for (int i = 0; i < 6; i++) T[i / 3][i % 3] = i; return T[1][n & 1];")
    after = partition_array(before, "T", "complete", None, 0)
    assert [a.name for a in after.arrays if a.registers] == ["T"]
    assert all(s.array.registers for s in ir.walk_statements(after.body) if isinstance(s, ir.Store))
    check(before, after)


@pytest.mark.parametrize("style", ["cyclic", "block"])
def test_a_table_is_dealt_with_its_values(style: str) -> None:
    table = ir.Array(name="T", type=INT32, shape=(7,), external=False, initial=tuple(3 * i for i in range(7)))
    parameter = ir.Variable(name="n")
    index = ir.Binary(operator="and", left=ir.Read(variable=parameter), right=ir.Constant(value=3))
    value = ir.Load(array=table, indices=(index,), line=1)
    before = ir.Function(
        name="f",
        parameters=(parameter,),
        arrays=(table,),
        returns=INT32,
        body=(ir.Return(value=value, line=1),),
    )
    after = partition_array(before, "T", style, 3)
    values = [a.initial for a in after.arrays]
    if style == "cyclic":
        assert values == [(0, 9, 18), (3, 12, 0), (6, 15, 0)]
    else:
        assert values == [(0, 3, 6), (9, 12, 15), (18, 0, 0)]
    assert_same_meaning(before, after, [{"n": INT32.dtype.type(k)} for k in range(7)])


REJECTED = [
    (("Z", "cyclic", 2, 1), "no array is named Z; there are A, M"),
    (("A", "cyclic", 2, 2), r"A has dimensions 1 to 1 \(0 for all\), got 2"),
    (("A", "round", 2, 1), "the style of a partition must be one of cyclic, block, complete, got 'round'"),
    (("A", "cyclic", None, 1), "a cyclic partition must have a factor of at least 1, got None"),
    (("A", "block", 0, 1), "a block partition must have a factor of at least 1, got 0"),
]


@pytest.mark.parametrize(("arguments", "message"), REJECTED)
def test_partition_rejects(arguments: tuple[str, str, int | None, int], message: str) -> None:
    with pytest.raises(NotApplicable, match=f"^{message}$"):
        partition_array(read("return A[0] + M[0][0];"), *arguments)


def test_partition_rejects_a_second_one_of_a_dimension_and_too_many_banks() -> None:
    before = read("return A[0] + B[0][0];", "int A[12], int B[64][64]")
    once = partition_array(before, "A", "cyclic", 2)
    with pytest.raises(NotApplicable, match=r"^dimension 1 of A is partitioned already$"):
        partition_array(once, "A", "block", 2)
    with pytest.raises(NotApplicable, match=r"^B would have 4096 banks; at most 1024 are made$"):
        partition_array(before, "B", "complete", None, 0)


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=6))
def test_partitions_keep_the_meaning_of_random_nests(seeds: list[int]) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        random = Random(seed)
        before = after = read_function(random_nest(random), top="nest")
        for name in random.sample("ABVKT", 3):
            after = partition_array(
                after,
                name,
                random.choice(("cyclic", "block", "complete")),
                random.choice((2, 3, 4, 5)),
                random.choice((0, 1, 2) if name in "AB" else (0, 1)),
            )
        data = tuple(draw_arguments(before, k) for k in range(2))
        comparisons.append(Comparison(functions=(before, after), data_sets=data, label=f"seed {seed}"))
    assert_all_same_meaning(comparisons)
