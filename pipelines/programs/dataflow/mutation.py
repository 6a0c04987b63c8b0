"""Mutations of loop trees: order, tiles, steps, cyclic steps and direction.

A chain is a perfect nest of loops. Inside a chain

* parallel and reduction loops are permuted as far as their bounds allow; serial loops keep their place;
* any loop is cut into tiles, the loop over tiles can then be permuted;
* a parallel or reduction loop takes cyclic steps: phase p = 0 .. S - 1, then p, p + S, p + 2 S, ...;
* a parallel or reduction loop runs backwards;
* an innermost loop takes longer steps with as many copies of its body.

Where sums must keep their order, reduction loops keep their order among themselves and are neither reversed
nor taken in cyclic steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from pipelines.programs.dataflow.tree import Branch, Loop, Node, Statement, While

MAXIMUM_CHAIN = 7
COPIED_STATEMENTS = 3

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutations:
    """What a mutation may do.

    Attributes:
        permute, tile, cyclic, reverse, unroll: probability of each, per loop or chain.
        keep_sums: keep the order in which terms are summed.
        tile_suffix: of the variable of a loop over tiles.
        constant: the text of a constant by its role and value (a literal or a new macro).
    """

    constant: Callable[[str, int], str]
    permute: float = 0.7
    tile: float = 0.3
    cyclic: float = 0.1
    reverse: float = 0.08
    unroll: float = 0.25
    keep_sums: bool = False
    tile_suffix: str = "_t"


def mutate(nodes: Sequence[Node], mutations: Mutations, generator: Random) -> tuple[Node, ...]:
    """Return an equivalent loop tree, except for the rounding of floating sums.

    Args:    nodes: loop tree whose loops have the properties of their kinds.
    Returns: the mutated tree; it may be unchanged.
    Source:  loop trees in the manner of TileFlow (Zheng et al., MICRO 2023), here without memory levels.
    """
    return tuple(_mutate_node(node, mutations, generator) for node in nodes)


def _mutate_node(node: Node, mutations: Mutations, generator: Random) -> Node:
    if isinstance(node, Loop):
        return _mutate_chain(node, mutations, generator)
    if isinstance(node, While):
        return replace(node, body=mutate(node.body, mutations, generator))
    if isinstance(node, Branch):
        return replace(
            node,
            body=mutate(node.body, mutations, generator),
            otherwise=mutate(node.otherwise, mutations, generator),
        )
    return node


def _mutate_chain(outermost: Loop, mutations: Mutations, generator: Random) -> Node:
    chain, body = chain_of(outermost)
    body = mutate(body, mutations, generator)
    chain = _split(chain, mutations, generator)
    if generator.random() < mutations.permute:
        chain = permuted(chain, generator, keep_sums=mutations.keep_sums)
    chain = [_reversed(loop, mutations, generator) for loop in chain]
    if generator.random() < mutations.unroll:
        chain[-1], body = _longer_step(chain[-1], body, mutations, generator)
    for loop in reversed(chain):
        body = (replace(loop, body=body),)
    return body[0]


def chain_of(outermost: Loop) -> tuple[list[Loop], tuple[Node, ...]]:
    """Return the loops of a perfect nest and the body of the innermost."""
    chain = [outermost]
    while len(chain[-1].body) == 1 and isinstance(inner := chain[-1].body[0], Loop):
        chain.append(inner)
    return chain, chain[-1].body


# ---- tiles and steps -------------------------------------------------------------------------------


def _split(chain: list[Loop], mutations: Mutations, generator: Random) -> list[Loop]:
    result: list[Loop] = []
    room = MAXIMUM_CHAIN - len(chain)
    for loop in chain:
        parts = _split_loop(loop, mutations, generator) if room > 0 else [loop]
        room -= len(parts) - 1
        result += parts
    return result


def _split_loop(loop: Loop, mutations: Mutations, generator: Random) -> list[Loop]:
    if loop.trips < 4 or loop.step != "1":
        return [loop]
    chance = generator.random()
    if chance < mutations.tile:
        sizes = [s for s in range(2, loop.trips // 2 + 1) if loop.trips % s == 0]
        size = (
            generator.choice(sizes)
            if sizes and generator.random() < 0.7
            else generator.randint(2, loop.trips - 1)
        )
        return tiled(loop, size, mutations)
    if chance < mutations.tile + mutations.cyclic and _may_reorder(loop, mutations):
        return cyclic(loop, generator.randint(2, min(4, loop.trips // 2)), mutations)
    return [loop]


def tiled(loop: Loop, size: int, mutations: Mutations) -> list[Loop]:
    """Return the loop over tiles and the loop over one tile."""
    text = mutations.constant(f"TILE_{loop.variable}", size)
    over = loop.variable + mutations.tile_suffix
    whole = loop.exact and loop.trips % size == 0
    end = f"{over} + {text}"
    return [
        replace(loop, variable=over, step=text, trips=-(-loop.trips // size)),
        replace(
            loop,
            start=over,
            stop=end if whole else f"MIN({end}, {loop.stop})",
            trips=size,
            exact=whole,
        ),
    ]


def cyclic(loop: Loop, stride: int, mutations: Mutations) -> list[Loop]:
    """Return a loop over phases and a loop in strides from one."""
    text = mutations.constant(f"STRIDE_{loop.variable}", stride)
    phase = loop.variable + "_p"
    first = phase if loop.start == "0" else f"{loop.start} + {phase}"
    return [
        replace(loop, variable=phase, start="0", stop=text, trips=stride, exact=True),
        replace(loop, start=first, step=text, trips=-(-loop.trips // stride), exact=False),
    ]


def _longer_step(
    loop: Loop, body: tuple[Node, ...], mutations: Mutations, generator: Random
) -> tuple[Loop, tuple[Node, ...]]:
    factors = [f for f in (2, 3, 4) if loop.trips % f == 0 and loop.trips > f]
    simple = [n for n in body if isinstance(n, Statement) and not n.declares]
    plain = loop.exact and loop.step == "1" and not loop.down
    if not factors or len(simple) != len(body) or len(body) > COPIED_STATEMENTS or not plain:
        return loop, body
    factor = generator.choice(factors)
    copies = [
        Statement(text=shifted(node.text, loop.variable, by)) for by in range(factor) for node in simple
    ]
    step = mutations.constant(f"STEP_{loop.variable}", factor) if generator.random() < 0.2 else str(factor)
    return replace(loop, step=step, trips=loop.trips // factor), tuple(copies)


def shifted(text: str, variable: str, by: int) -> str:
    """Return a statement for the iteration `by` later."""
    if by == 0:
        return text

    def later(use: re.Match[str]) -> str:
        moved = f"{variable} + {by}"
        return f"[{moved}]" if use[0].startswith("[") else f"({moved})"

    return re.sub(rf"\[{variable}\]|\b{variable}\b", later, text)


# ---- order -----------------------------------------------------------------------------------------


def permuted(chain: Sequence[Loop], generator: Random, *, keep_sums: bool) -> list[Loop]:
    """Return a legal order of a chain: loops stay inside their bounds' loops, none passes a serial loop."""
    result: list[Loop] = []
    run: list[Loop] = []
    for loop in chain:
        if loop.kind == "serial":
            result += [*_shuffled(run, generator, keep_sums), loop]
            run = []
        else:
            run.append(loop)
    return result + _shuffled(run, generator, keep_sums)


def _shuffled(run: Sequence[Loop], generator: Random, keep_sums: bool) -> list[Loop]:
    left = list(run)
    result: list[Loop] = []
    while left:
        free = [n for n, loop in enumerate(left) if not _held(loop, left, n, keep_sums)]
        result.append(left.pop(generator.choice(free)))
    return result


def _held(loop: Loop, left: Sequence[Loop], place: int, keep_sums: bool) -> bool:
    """Tell whether a loop depends on another remaining one."""
    named = set(_NAME.findall(f"{loop.start} {loop.stop}"))
    if any(other.variable in named for other in left if other is not loop):
        return True
    return keep_sums and loop.kind == "reduction" and any(o.kind == "reduction" for o in left[:place])


def _may_reorder(loop: Loop, mutations: Mutations) -> bool:
    return loop.kind == "parallel" or (loop.kind == "reduction" and not mutations.keep_sums)


def _reversed(loop: Loop, mutations: Mutations, generator: Random) -> Loop:
    turns = generator.random() < mutations.reverse
    simple = loop.step == "1" and " " not in loop.stop
    if turns and simple and _may_reorder(loop, mutations):
        return replace(loop, down=True)
    return loop
