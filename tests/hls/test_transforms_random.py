"""Properties: transformations and their combinations keep the meaning of random programs.

Many programs and variants go through one compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_rules import check_valid
from random_programs import random_nest, typed_program
from transform_steps import cache_partitioned, convert
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import interface_of, ir, read_function
from pipelines.c.analysis.copying import find_loop, loops_inside, replace_statement
from pipelines.c.analysis.simplify import simplify
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import DataSet
from pipelines.hls.transforms.cache import cache_array
from pipelines.hls.transforms.chains import balance_chains
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.forward import forward_stores
from pipelines.hls.transforms.nests import flatten_nest, tile_loop
from pipelines.hls.transforms.parallel import loop_carries_dependence, parallelise
from pipelines.hls.transforms.partition import partition_array
from pipelines.hls.transforms.promote import promote_accumulators
from pipelines.hls.transforms.reduction import reduce_tree
from pipelines.hls.transforms.registers import arrays_to_registers
from pipelines.hls.transforms.unroll import unroll_inner, unroll_loop
from pipelines.programs import draw_data
from pipelines.schemas import ProgramRow

# ---- loops of random programs ---------------------------------------------------------------------------

Step = Callable[[ir.Function, str], ir.Function]


def exits_and_conditions(function: ir.Function, loop: str) -> ir.Function:
    return convert(exits_to_flags(function, loop), loop)


CHAINS: dict[str, tuple[Step, ...]] = {
    "unroll by 2": (lambda f, n: unroll_loop(f, n, 2),),
    "unroll by 3, simplify": (lambda f, n: unroll_loop(f, n, 3), lambda f, _: simplify(f)),
    "unroll": (lambda f, n: unroll_loop(f, n, None), lambda f, _: simplify(f)),
    "tile by 2": (lambda f, n: tile_loop(f, n, 2),),
    "tile by 3, unroll by 2": (lambda f, n: tile_loop(f, n, 3), lambda f, n: unroll_loop(f, n, 2)),
    "simplify, convert": (lambda f, _: simplify(f), exits_and_conditions, lambda f, _: simplify(f)),
    "unroll inner, convert": (unroll_inner, exits_and_conditions, lambda f, _: simplify(f)),
    "flatten, convert": (flatten_nest, exits_and_conditions, lambda f, _: simplify(f)),
    "flatten, simplify, convert": (flatten_nest, lambda f, _: simplify(f), exits_and_conditions),
    "unroll by 2, simplify, convert": (
        lambda f, n: unroll_loop(f, n, 2),
        lambda f, _: simplify(f),
        exits_and_conditions,
    ),
}


def variants(function: ir.Function, chains: Iterator[str]) -> list[tuple[str, ir.Function]]:
    """The results of each chain on each loop to which it applies."""
    loops = [loop.name for loop in loops_inside(function.body)]
    pairs = [("simplify", simplify(function)), ("convert", convert(function, *loops))]
    for loop in loops:
        for _ in range(3):
            name = next(chains)
            changed = function
            for step in CHAINS[name]:
                try:
                    changed = step(changed, loop)
                except NotApplicable:
                    break
                check_valid(changed)
            if changed is not function:
                pairs.append((f"{name} of {loop}", changed))
    return pairs


def comparison(row: ProgramRow, label: str, chains: Iterator[str], sets: int) -> Comparison:
    function = read_function(row.source, top=row.top)
    check_valid(function)
    pairs = variants(function, chains)
    labels = ", ".join(f"{number} {name}" for number, (name, _) in enumerate(pairs, 1))
    return Comparison(
        functions=(function, *(changed for _, changed in pairs)),
        data_sets=drawn_data(function, row, sets),
        label=f"{label}: {labels}",
    )


def drawn_data(function: ir.Function, row: ProgramRow, sets: int) -> tuple[DataSet, ...]:
    interface = interface_of(function)
    return tuple(draw_data(interface, row.inputs, seed=seed) for seed in range(sets))


@pytest.mark.parametrize("part", range(2))
def test_transformations_keep_the_meaning_of_random_programs(part: int) -> None:
    chains = cycle(CHAINS)
    numbers = range(10 * part, 10 * part + 6)
    assert_all_same_meaning([comparison(typed_program(n).row, f"program {n}", chains, 3) for n in numbers])


@settings(max_examples=5, deadline=None)
@given(number=st.integers(0, 1 << 30), chain=st.sampled_from(sorted(CHAINS)))
def test_transformations_keep_the_meaning_of_drawn_programs(number: int, chain: str) -> None:
    assert_all_same_meaning([comparison(typed_program(number).row, chain, cycle([chain]), 2)])


# ---- accesses to memory in random C -------------------------------------------------------------------


def loop_names(function: ir.Function) -> list[str]:
    return [s.name for s in ir.walk_statements(function.body) if isinstance(s, ir.For)]


def cache_at_random(function: ir.Function, random: Random) -> list[ir.Function]:
    is_partitioned = random.random() < 0.3
    loops = sorted(loop_names(function))
    for name in random.sample(loops, min(2, len(loops))):
        try:
            function = tile_loop(function, name, random.choice((2, 3)))
        except NotApplicable:
            continue
    arrays = [a.name for a in function.arrays if a.external]
    for array in random.sample(arrays, min(3, len(arrays))):
        loop = random.choice(sorted(loop_names(function)))
        try:
            function = (
                cache_partitioned(function, array, loop)
                if is_partitioned
                else cache_array(function, array, loop)[0]
            )
        except NotApplicable:
            continue
        is_partitioned = False
    return [function]


def partition_at_random(function: ir.Function, random: Random) -> list[ir.Function]:
    for array in random.sample(function.arrays, min(3, len(function.arrays))):
        style, factor = random.choice(("cyclic", "block", "complete")), random.choice((2, 3, 4, 5))
        dimension = random.randint(0, len(array.shape))
        function = partition_array(function, array.name, style, factor, dimension)
    return [function]


def reorder_at_random(function: ir.Function, random: Random) -> list[ir.Function]:
    functions = [balance_chains(function)]
    for loop in loop_names(function):
        try:
            functions.append(reduce_tree(function, loop, "", random.choice((2, 3, 8))))
        except NotApplicable:
            continue
    return functions


def keep_in_registers(function: ir.Function, _: Random) -> list[ir.Function]:
    local = [array.name for array in function.arrays if not array.external]
    for name in local:
        function = partition_array(function, name, "complete", None, 0)
    after = arrays_to_registers(function)
    assert all(array.external for array in after.arrays)
    return [after] if local else []


def run_backwards(function: ir.Function, _: Random) -> list[ir.Function]:
    return [
        backwards(function, name)
        for name in loop_names(function)
        if find_loop(function, name).trip_count is not None  # type: ignore[union-attr]
        and not loop_carries_dependence(function, name)
    ]


def run_side_by_side(function: ir.Function, random: Random) -> list[ir.Function]:
    functions: list[ir.Function] = []
    for name in loop_names(function):
        factor = random.choice((2, 3))
        after, _ = parallelise(function, name, factor)
        if after != unroll_loop(function, name, factor):
            functions.append(after)
    return functions


NESTS: dict[str, tuple[Callable[[ir.Function, Random], list[ir.Function]], tuple[str, ...], int]] = {
    # name: (variants of a program, kinds of numbers, programs of each kind)
    "cache": (cache_at_random, ("int32_t",), 12),
    "forward": (lambda f, _: [forward_stores(f)], ("int32_t", "float"), 12),
    "partition": (partition_at_random, ("int32_t",), 12),
    "promote": (lambda f, _: [promote_accumulators(f)], ("int32_t", "float"), 12),
    "reorder": (reorder_at_random, ("int32_t",), 12),
    "registers": (keep_in_registers, ("int32_t",), 30),
    "backwards": (run_backwards, ("int32_t",), 30),
    "side by side": (run_side_by_side, ("int32_t", "float"), 30),
}


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 4))])
@pytest.mark.parametrize("name", NESTS)
def test_transformation_keeps_the_meaning_of_random_nests(name: str, part: int) -> None:
    transform, kinds, count = NESTS[name]
    comparisons: list[Comparison] = []
    for kind in kinds:
        for seed in range(count * part, count * (part + 1)):
            random = Random(seed)
            leaves = name != "backwards" and (name != "side by side" or seed % 3 == 0)
            row = random_nest(seed, kind=kind, leaves=leaves)
            before = read_function(row.source, top=row.top)
            functions = (before, *transform(before, random))
            data = drawn_data(before, row, 2)
            if len(functions) > 1:
                label = f"{kind} seed {seed}"
                comparisons.append(Comparison(functions=functions, data_sets=data, label=label))
    assert len(comparisons) >= 3
    assert_all_same_meaning(comparisons)


def backwards(function: ir.Function, loop: str) -> ir.Function:
    """The function with the iterations of a loop of constant trip count in the opposite order."""
    counted = find_loop(function, loop)
    assert isinstance(counted, ir.For)
    marker = ir.Assign(variable=ir.Variable(name="marker"), value=ir.Constant(value=0), line=0)
    marked = ir.For(
        name=counted.name,
        body=(marker, *counted.body),
        line=counted.line,
        variable=counted.variable,
        lower=counted.lower,
        comparison=counted.comparison,
        upper=counted.upper,
        step=counted.step,
    )
    block = ir.Block(label="turned", body=(marked,), line=0)
    whole = unroll_loop(replace_statement(function, counted, (block,)), loop, None)
    container = next(
        s for s in ir.walk_statements(whole.body) if isinstance(s, ir.Block) and s.label == "turned"
    )
    *copies, last = container.body
    starts = [
        k for k, s in enumerate(copies) if isinstance(s, ir.Assign) and s.variable.name.startswith("marker")
    ]
    pieces = [copies[a:b] for a, b in pairwise([*starts, len(copies)])]
    turned = [s for piece in reversed(pieces) for s in piece]
    return replace_statement(whole, container, (*turned, last))


def test_backwards_turns_the_iterations() -> None:
    source = "void f(int V[32]) { for (int i = 1; i < 16; i++) V[i] = V[i - 1] + 1; }"
    before = read_function(source, top="f")
    with pytest.raises(AssertionError):
        assert_same_meaning(before, backwards(before, "L0"), [draw_arguments(before, 1)])
