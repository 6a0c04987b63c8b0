"""Mutated loop trees visit the same iterations, and sums keep their order where they must."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from pipelines.programs.dataflow.mutation import Mutations, cyclic, mutate, permuted, shifted, tiled
from pipelines.programs.dataflow.tree import (
    Extent,
    Loop,
    Node,
    Statement,
    Style,
    body_text,
    loop,
    nest,
    shape_of,
    statement,
)
from tests.programs.loop_depths import depth_of

PLAIN = Style(macros=False, braces=False, spelling=0, tile_suffix="_t")
ALWAYS = Mutations(constant=lambda _, value: str(value), permute=1.0, tile=0.6, cyclic=0.2, reverse=0.2)


def value_of(text: str, known: dict[str, int]) -> int:
    """A bound: numbers, variables, sums, differences and MIN."""
    if text.startswith("MIN("):
        first, second = text[4:-1].split(", ", 1)
        return min(value_of(first, known), value_of(second, known))
    total, sign = 0, 1
    for word in text.split():
        if word in "+-":
            sign = 1 if word == "+" else -1
        else:
            total += sign * (int(word) if word.isdigit() else known[word])
    return total


def visits(nodes: tuple[Node, ...], known: dict[str, int]) -> list[tuple[int, ...]]:
    """The subscripts of every statement `v[...][...];`, in order."""
    found: list[tuple[int, ...]] = []
    for node in nodes:
        if isinstance(node, Statement):
            found.append(tuple(value_of(i, known) for i in re.findall(r"\[(.*?)\]", node.text)))
        elif isinstance(node, Loop):
            start, stop = value_of(node.start, known), value_of(node.stop, known)
            order = range(start, stop, value_of(node.step, known))
            for value in reversed(order) if node.down else order:
                found += visits(node.body, known | {node.variable: value})
    return found


def size(value: int) -> Extent:
    return Extent(size=value, text=str(value))


def product() -> tuple[Node, ...]:
    """Two parallel loops around two reductions."""
    inner = nest([("r", size(6)), ("s", size(4))], "reduction", statement("v[i][j][r][s]"))
    return nest([("i", size(8)), ("j", size(5))], "parallel", *inner)


@pytest.mark.parametrize("seed", range(60))
def test_a_mutated_nest_visits_every_iteration_once(seed: int) -> None:
    mutated = mutate(product(), ALWAYS, Random(seed))
    assert Counter(visits(mutated, {})) == Counter(visits(product(), {}))


def test_mutations_change_most_nests() -> None:
    orders = {tuple(visits(mutate(product(), ALWAYS, Random(seed)), {})) for seed in range(60)}
    assert len(orders) > 50


@pytest.mark.parametrize("seed", range(60))
def test_sums_keep_their_order_when_they_must(seed: int) -> None:
    keep = Mutations(constant=ALWAYS.constant, permute=1.0, tile=0.6, cyclic=0.2, reverse=0.2, keep_sums=True)
    order: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for visit in visits(mutate(product(), keep, Random(seed)), {}):
        order.setdefault(visit[:2], []).append(visit[2:])
    plain = [(r, s) for r in range(6) for s in range(4)]
    assert len(order) == 40
    assert all(terms == plain for terms in order.values())


@pytest.mark.parametrize("seed", range(40))
def test_serial_loops_keep_their_place_and_order(seed: int) -> None:
    body = loop("j", size(6), "parallel", statement("v[t][i][j]"))
    nodes = (loop("t", size(4), "serial", loop("i", size(6), "parallel", body)),)
    found = visits(mutate(nodes, ALWAYS, Random(seed)), {})
    assert [visit[0] for visit in found] == sorted(visit[0] for visit in found)
    assert Counter(found) == Counter(visits(nodes, {}))


@pytest.mark.parametrize("seed", range(40))
def test_a_triangle_keeps_its_bounds(seed: int) -> None:
    inner = Loop(
        variable="j", stop="i + 1", kind="parallel", trips=7, exact=False, body=(statement("v[i][j]"),)
    )
    nodes = (loop("i", size(7), "parallel", inner),)
    found = visits(mutate(nodes, ALWAYS, Random(seed)), {})
    assert Counter(found) == Counter((i, j) for i in range(7) for j in range(i + 1))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("length", [1, 5, 9])
def test_a_run_time_length_is_kept(seed: int, length: int) -> None:
    rows = Extent(size=9, text="n", runtime=True)
    nodes = nest([("i", rows), ("j", size(4))], "parallel", statement("v[i][j]"))
    found = visits(mutate(nodes, ALWAYS, Random(seed)), {"n": length})
    assert Counter(found) == Counter((i, j) for i in range(length) for j in range(4))


def test_a_tile_that_does_not_divide_ends_at_the_bound() -> None:
    (whole,) = nest([("i", size(10))], "parallel", statement("v[i]"))
    assert isinstance(whole, Loop)
    outer, inner = tiled(whole, 4, ALWAYS)
    assert (outer.variable, outer.step, outer.trips) == ("i_t", "4", 3)
    assert (inner.start, inner.stop, inner.exact) == ("i_t", "MIN(i_t + 4, 10)", False)
    assert tiled(whole, 5, ALWAYS)[1].stop == "i_t + 5"


def test_cyclic_steps_are_a_loop_over_phases() -> None:
    (whole,) = nest([("i", size(10))], "parallel", statement("v[i]"))
    assert isinstance(whole, Loop)
    phase, stride = cyclic(whole, 3, ALWAYS)
    assert (phase.variable, phase.stop, stride.start, stride.step) == ("i_p", "3", "i_p", "3")


def test_permutation_reaches_every_legal_order() -> None:
    (outermost,) = product()
    assert isinstance(outermost, Loop)
    chain = [outermost]
    while isinstance(inner := chain[-1].body[0], Loop):
        chain.append(inner)
    found = {"".join(x.variable for x in permuted(chain, Random(s), keep_sums=False)) for s in range(400)}
    assert len(found) == 24
    kept = {"".join(x.variable for x in permuted(chain, Random(s), keep_sums=True)) for s in range(400)}
    assert kept == {order for order in found if order.index("r") < order.index("s")}


def test_copies_of_a_statement_are_shifted() -> None:
    assert (
        shifted("out[i] += x[i + 1] * w[2 * i];", "i", 1) == "out[i + 1] += x[(i + 1) + 1] * w[2 * (i + 1)];"
    )
    assert shifted("out[i] = 0;", "i", 0) == "out[i] = 0;"
    assert shifted("out[ii][i] = i_t;", "i", 2) == "out[ii][i + 2] = i_t;"


def test_text_and_shape_of_a_tree() -> None:
    nodes = nest([("i", size(3)), ("j", size(2))], "parallel", statement("v[i][j] = 0"))
    assert body_text(nodes, PLAIN) == (
        "    for (int i = 0; i < 3; i++)\n        for (int j = 0; j < 2; j++)\n            v[i][j] = 0;\n"
    )
    assert shape_of(nodes) == [["i", 3, "1", [["j", 2, "1", []]]]]
    assert depth_of(nodes) == 2
