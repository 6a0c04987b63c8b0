"""Properties: transformations and their combinations keep the meaning of random programs.

Many programs and variants go through one compilation; hypothesis draws further ones and shrinks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ir import check_valid, random_function, random_nest
from transform_support import Comparison, assert_all_same_meaning, draw_arguments

from pipelines.c import ir
from pipelines.c.analysis.copying import loops_inside
from pipelines.c.analysis.simplify import simplify
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.ifconversion import convert_ifs
from pipelines.hls.transforms.nests import flatten_nest, tile_loop
from pipelines.hls.transforms.unroll import unroll_inner, unroll_loop

Step = Callable[[ir.Function, str], ir.Function]


def convert(function: ir.Function, loop: str) -> ir.Function:
    return convert_ifs(exits_to_flags(function, loop), frozenset((loop,)))


CHAINS: dict[str, tuple[Step, ...]] = {
    "unroll by 2": (lambda f, n: unroll_loop(f, n, 2),),
    "unroll by 3, simplify": (lambda f, n: unroll_loop(f, n, 3), lambda f, _: simplify(f)),
    "unroll": (lambda f, n: unroll_loop(f, n, None), lambda f, _: simplify(f)),
    "tile by 2": (lambda f, n: tile_loop(f, n, 2),),
    "tile by 3, unroll by 2": (lambda f, n: tile_loop(f, n, 3), lambda f, n: unroll_loop(f, n, 2)),
    "simplify, convert": (lambda f, _: simplify(f), convert, lambda f, _: simplify(f)),
    "unroll inner, convert": (unroll_inner, convert, lambda f, _: simplify(f)),
    "flatten, convert": (flatten_nest, convert, lambda f, _: simplify(f)),
    "flatten, simplify, convert": (flatten_nest, lambda f, _: simplify(f), convert),
    "unroll by 2, simplify, convert": (lambda f, n: unroll_loop(f, n, 2), lambda f, _: simplify(f), convert),
}


def variants(function: ir.Function, chains: Iterator[str]) -> list[tuple[str, ir.Function]]:
    """The results of each chain on each loop to which it applies."""
    loops = [loop.name for loop in loops_inside(function.body)]
    pairs = [("simplify", simplify(function)), ("convert", convert_ifs(function, frozenset(loops)))]
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


def endless(names: list[str]) -> Iterator[str]:
    while True:
        yield from names


def comparison(function: ir.Function, label: str, chains: Iterator[str], sets: int) -> Comparison:
    check_valid(function)
    pairs = variants(function, chains)
    labels = ", ".join(f"{number} {name}" for number, (name, _) in enumerate(pairs, 1))
    return Comparison(
        functions=(function, *(changed for _, changed in pairs)),
        data_sets=tuple(draw_arguments(function, seed) for seed in range(sets)),
        label=f"{label}: {labels}",
    )


@pytest.mark.parametrize("part", range(2))
def test_transformations_keep_the_meaning_of_random_programs(part: int) -> None:
    chains = endless(list(CHAINS))
    programs = [
        random_nest(Random(seed)) if seed % 3 == 0 else random_function(Random(seed), exits=seed % 2 == 0)
        for seed in range(10 * part, 10 * part + 6)
    ]
    assert_all_same_meaning(
        [comparison(p, f"program {number}", chains, 3) for number, p in enumerate(programs)]
    )


@settings(max_examples=5, deadline=None)
@given(random=st.randoms(use_true_random=False), nest=st.booleans(), chain=st.sampled_from(sorted(CHAINS)))
def test_transformations_keep_the_meaning_of_drawn_programs(random: Random, nest: bool, chain: str) -> None:
    function = random_nest(random) if nest else random_function(random)
    assert_all_same_meaning([comparison(function, chain, endless([chain]), 2)])
