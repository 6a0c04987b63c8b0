"""Blocks built again: with other nodes, or with comparisons of joined bits as logic of these bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipelines.rtl.reuse.blocks import Block, WritePort
from pipelines.rtl.reuse.ir import LEAVES, Builder, Node, mask

_LEAST_BITS = 2
"""Single bits from which on a comparison costs less as logic than their joining."""
Rewrite = Callable[[Builder, Sequence[int], Node], int | None]
"""Returns the node that replaces an old one; None keeps it.

Its arguments are the new numbers of the nodes before it, and the old node with new arguments."""


def rebuild(block: Block, rewrite: Rewrite) -> Block:
    """Return a block whose nodes are folded again."""
    build = Builder(block.name)
    numbers: list[int] = []
    for node in block.nodes:
        fresh = node._replace(args=tuple(numbers[a] for a in node.args))
        other = rewrite(build, numbers, fresh)
        if other is not None:
            numbers.append(other)
        elif node.op in LEAVES or node.op == "memread":
            numbers.append(build.add(fresh))
        else:
            numbers.append(build.make(*fresh))
    return replace(
        block,
        nodes=build.nodes,
        outputs={pin: numbers[node] for pin, node in block.outputs.items()},
        registers=[replace(r, next=numbers[r.next]) for r in block.registers],
        memories=[
            replace(
                memory,
                writes=tuple(
                    WritePort(address=numbers[w.address], data=numbers[w.data], mask=numbers[w.mask])
                    for w in memory.writes
                ),
            )
            for memory in block.memories
        ],
    )


def with_logic_of_bits(block: Block) -> Block:
    """Return a block that compares single bits with a constant without joining them first.

    A word of bits that others use, too, stays whole.
    """
    uses = Counter(arg for node in block.nodes for arg in node.args)
    own = {number for number, node in enumerate(block.nodes) if node.op == "concat" and uses[number] == 1}

    def rewrite(build: Builder, numbers: Sequence[int], node: Node) -> int | None:
        if node.op != "eq":
            return None
        word, value = block.nodes[len(numbers)].args
        if build.constant(node.args[1]) is None:
            word, value = value, word
            node = node._replace(args=node.args[::-1])
        known = build.constant(node.args[1])
        return None if known is None or word not in own else _compare(build, node.args[0], known)

    return rebuild(block, rewrite)


def _compare(build: Builder, word: int, known: int) -> int | None:
    parts = list(_parts(build, word, 0))
    bits = [part for part, _ in parts if build.width(part) == 1]
    if len(bits) < _LEAST_BITS:
        return None
    none, every = build.const(0, 1), build.const(1, 1)
    for part, low in parts:
        width = build.width(part)
        value = known >> low & mask(width)
        if width == 1 and not value:
            none = build.binary("or", none, part)
        else:
            every = build.binary("and", every, build.compare("eq", part, build.const(value, width)))
    return build.binary("and", every, build.invert(none))


def _parts(build: Builder, word: int, low: int) -> Iterator[tuple[int, int]]:
    """Yield the words that are joined, each with its lowest bit."""
    node = build.nodes[word]
    if node.op != "concat":
        yield word, low
        return
    first, second = node.args
    yield from _parts(build, first, low)
    yield from _parts(build, second, low + build.width(first))


# ---- conditions of many ----------------------------------------------------------------------------------

_LEAST_SHARED = 4
"""Conjunctions that have a condition in common, from which on it is put in front."""


def with_shared_conditions(block: Block) -> Block:
    """Return a block with conjunctions that begin with what the fewest others have in common with them.

    An entry of a queue that waits for one of several results compares its tag with all of them: it does so
    only if it waits. The condition in front can become a branch around all comparisons.
    """
    conjunctions = _conjunctions(block)
    shared = Counter(term for terms in conjunctions.values() for term in terms)

    def rewrite(build: Builder, numbers: Sequence[int], node: Node) -> int | None:  # noqa: ARG001
        terms = conjunctions.get(len(numbers), ())
        first = min(
            (term for term in terms if shared[term] >= _LEAST_SHARED),
            key=lambda term: (shared[term], term),
            default=None,
        )
        if first is None:
            return None
        rest = build.const(1, 1)
        for term in terms:
            rest = rest if term == first else build.binary("and", rest, numbers[term])
        return build.binary("and", numbers[first], rest)

    return rebuild(block, rewrite)


def _conjunctions(block: Block) -> dict[int, tuple[int, ...]]:
    """Return the different terms of conjunctions of bits, in order, by their last nodes."""
    nodes = block.nodes
    uses = Counter(arg for node in nodes for arg in node.args)
    uses.update(block.outputs.values())
    uses.update(register.next for register in block.registers)
    uses.update(n for memory in block.memories for w in memory.writes for n in (w.address, w.data, w.mask))
    is_and = [node.op == "and" and node.width == 1 for node in nodes]
    terms: dict[int, tuple[int, ...]] = {}
    for number, node in enumerate(nodes):
        if is_and[number]:
            parts = (terms.pop(a) if is_and[a] and uses[a] == 1 else (a,) for a in node.args)
            terms[number] = tuple(dict.fromkeys(term for part in parts for term in part))
    return terms
