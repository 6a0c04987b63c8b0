"""Branches compute what all nodes compute, and blocks that are built again have the same outputs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.rtl.reuse import Simulator, build_reuse
from pipelines.rtl.reuse.blocks import Block, PinKey
from pipelines.rtl.reuse.branches import DEEPEST, ZERO, Branch, Item, nodes_of, plan
from pipelines.rtl.reuse.ir import LEAVES, Builder, Node, evaluate
from pipelines.rtl.reuse.simplify import with_logic_of_bits, with_shared_conditions

INPUTS = 6


def random_nodes(rng: random.Random, count: int) -> list[Node]:
    """Nodes of one and of eight bits; the first are inputs, then constants."""
    nodes = [Node("input", 1 if i < 3 else 8, (), i) for i in range(INPUTS)]
    nodes += [Node("const", 1, (), 1), Node("const", 8, (), 5)]

    def pick(width: int) -> int:
        recent = [n for n in range(len(nodes)) if nodes[n].width == width]
        return rng.choice(recent[-12:] if rng.random() < 0.7 else recent)

    for _ in range(count):
        width = rng.choice((1, 8))
        op = rng.choice(("mux", "mux", "and", "or", "xor", "eq" if width == 1 else "add"))
        if op == "mux":
            args = (pick(1), pick(width), pick(width))
        else:
            args = (pick(8), pick(8)) if op == "eq" else (pick(width), pick(width))
        nodes.append(Node(op, width, args))
    return nodes


def values_of(nodes: Sequence[Node], inputs: Sequence[int]) -> list[int]:
    values: list[int] = []
    for node in nodes:
        if node.op == "input":
            values.append(inputs[node.value])
        elif node.op == "const":
            values.append(node.value)
        else:
            args = [values[a] for a in node.args]
            values.append(evaluate(node, args, [nodes[a].width for a in node.args]))
    return values


def run(items: Iterable[Item], nodes: Sequence[Node], known: dict[int, int], inputs: Sequence[int]) -> None:
    """Compute items; a value of a branch is known in it alone."""
    for item in items:
        if isinstance(item, Branch):
            side = 0 if known[item.condition] else 1
            inner = dict(known)
            run((item.yes, item.no)[side], nodes, inner, inputs)
            for node, values in item.choices.items():
                known[node] = inner[node] = 0 if values[side] == ZERO else inner[values[side]]
        elif nodes[item].op == "input":
            known[item] = inputs[nodes[item].value]
        else:
            args = [known[a] for a in nodes[item].args]
            known[item] = evaluate(nodes[item], args, [nodes[a].width for a in nodes[item].args])


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_computes_the_values_of_its_roots(seed: int) -> None:
    rng = random.Random(seed)
    nodes = random_nodes(rng, 120)
    computed = [n for n, node in enumerate(nodes) if node.op != "const"]
    roots = [*rng.sample(computed, 6), len(nodes) - 1]
    items = plan(nodes, computed, (), roots)
    order = [node for item in items for node in nodes_of(item)]
    assert len(order) == len(set(order))
    constants = {n: node.value for n, node in enumerate(nodes) if node.op == "const"}
    for _ in range(10):
        inputs = [rng.getrandbits(8) if i >= 3 else rng.getrandbits(1) for i in range(INPUTS)]
        known = dict(constants)
        run(items, nodes, known, inputs)
        expected = values_of(nodes, inputs)
        assert [known[root] for root in roots] == [expected[root] for root in roots]


def test_what_one_side_needs_is_in_its_branch_and_choices_by_one_condition_share_it() -> None:
    build = Builder()
    condition, a, b, c = (build.add(Node("input", w, (), i)) for i, w in enumerate((1, 8, 8, 8)))
    product, total = build.binary("mul", a, b), build.binary("add", b, c)
    first, second = (
        build.mux(condition, product, a),
        build.mux(condition, build.binary("xor", product, a), total),
    )
    computed = range(len(build.nodes))
    [branch] = [i for i in plan(build.nodes, computed, (), [first, second]) if isinstance(i, Branch)]
    assert branch.condition == condition
    assert set(branch.choices) == {first, second}
    assert product in branch.yes
    assert total in branch.no


@pytest.mark.parametrize("rewrite", [with_logic_of_bits, with_shared_conditions])
def test_blocks_built_again_have_the_same_outputs(rewrite: Callable[[Block], Block]) -> None:
    for seed in range(30):
        rng = random.Random(seed)
        build = Builder()
        bits = [build.add(Node("input", 1, (), i)) for i in range(8)]
        words = [build.add(Node("input", 8, (), i)) for i in range(8, 11)]
        for _ in range(60):
            kind = rng.randrange(4)
            if kind == 0:
                bits.append(build.binary("and", *rng.choices(bits, k=2)))
            elif kind == 1:
                bits.append(build.binary("or", *rng.choices(bits, k=2)))
            elif kind == 2:
                bits.append(build.compare("eq", *rng.sample(words, 2)))
            else:
                joined = rng.choice(bits)
                for part in rng.choices([*bits, *words], k=rng.randrange(1, 5)):
                    joined = build.make("concat", build.width(joined) + build.width(part), (joined, part))
                width = build.width(joined)
                bits.append(build.compare("eq", joined, build.const(rng.getrandbits(width), width)))
        block = Block(
            name="top",
            nodes=build.nodes,
            pins=[],
            outputs={PinKey(-1, "y", i): node for i, node in enumerate(bits)},
            children=[],
            registers=[],
            memories=[],
        )
        other = rewrite(block)
        assert all(n < i for i, node in enumerate(other.nodes) if node.op not in LEAVES for n in node.args)
        for _ in range(20):
            inputs = [rng.getrandbits(1 if i < 8 else 8) for i in range(11)]
            old, new = values_of(block.nodes, inputs), values_of(other.nodes, inputs)
            assert [old[n] for n in block.outputs.values()] == [new[n] for n in other.outputs.values()]


def test_a_chain_of_choices_longer_than_brackets_may_nest_is_built(programs: Path) -> None:
    length = 4 * DEEPEST + 50
    text = f"""
module top (input clk, input [{length - 1}:0] wanted, input [15:0] x, output reg [15:0] q);
  integer i;
  reg [15:0] next;
  always @* begin
    next = q;
    for (i = {length - 1}; i >= 0; i = i - 1) if (wanted[i]) next = x * q + i;
  end
  always @(posedge clk) q <= next + 1;
endmodule
"""
    program = build_reuse(text, top="top", folder=programs, is_quick=True)
    with closing(Simulator(program)) as simulator:
        value = 0
        for first in (0, 3, length - 1, 200, None):
            asked = 0 if first is None else (1 << first) | (1 << length - 1)
            assert simulator.step({"wanted": asked, "x": 7})["q"] == value
            value = (value if first is None else 7 * value + first) + 1 & 0xFFFF


def test_a_register_that_a_branch_stores_is_read_before(programs: Path) -> None:
    text = """
module top (input clk, input a, b, input [15:0] x, output [15:0] y, output reg [15:0] q);
  reg [15:0] r = 3, s = 5;
  assign y = r ^ s;
  always @(posedge clk) begin
    if (a) r <= b ? x * s + 1 : x - s;
    if (a | b) s <= a ? r + x : s * r;
    q <= b ? r * s + q : q;
  end
endmodule
"""
    rng = random.Random(1)
    r, s, q = 3, 5, 0
    with closing(Simulator(build_reuse(text, top="top", folder=programs, is_quick=True))) as simulator:
        for _ in range(200):
            a, b, x = rng.getrandbits(1), rng.getrandbits(1), rng.getrandbits(16)
            outputs = simulator.step({"a": a, "b": b, "x": x})
            assert (outputs["y"], outputs["q"]) == (r ^ s, q)
            following = (x * s + 1 if b else x - s) & 0xFFFF if a else r
            other = (r + x if a else s * r) & 0xFFFF if a or b else s
            q = (r * s + q) & 0xFFFF if b else q
            r, s = following, other
