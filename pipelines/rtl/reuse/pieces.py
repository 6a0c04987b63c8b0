"""Large functions of one lane in pieces that are called one after the other.

A compiler takes more than linear time for a long function without branches, and keeps many of its values in
memory for thousands of operations. Pieces follow the cones of next states, each of which is stored early.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipelines.rtl.reuse.body import Body, Step
from pipelines.rtl.reuse.branches import nodes_of
from pipelines.rtl.reuse.expressions import type_of

LARGE = 12_000
"""Operations from which on a function is divided; with 9,600 one function takes 797 ns, pieces 910."""
_PIECE = 5000
"""Operations of a piece, if no branch has more; of 47,000, pieces of 500 take 3.7 us, these 2.8."""


def function_in_pieces(function: str, body: Body) -> Iterator[str]:
    """Yield a function of a block with one lane.

    Values that a later piece needs are passed in a structure; memories are written in the last piece.
    """
    pieces = [*_divided(body.steps()), []]
    homes = {node: number for number, piece in enumerate(pieces) for step in piece for node in _nodes(step)}
    read = [{node for step in piece for node in _read(body, step)} for piece in pieces]
    read[-1] |= {node for node in body.written() if body.block.nodes[node].op != "const"}
    stored = _stored(body, pieces)
    passed = {
        node
        for number, nodes in enumerate(read)
        for node in nodes
        if homes[node] != number and (not body.is_leaf(node) or stored.get(node, number) < number)
    }
    yield f"struct {function}_words {{"
    yield from (f"  {_typed(body, node)};" for node in sorted(passed, key=lambda node: (homes[node], node)))
    yield "};"
    for number, piece in enumerate(pieces):
        body.forget_pointers()
        outside = sorted(node for node in read[number] if homes[node] != number)
        lines = [f"const {_typed(body, n)} = w.n{n};" if n in passed else body.value_line(n) for n in outside]
        for step in piece:
            lines += body.step_lines(step)
            lines += (f"w.n{node} = n{node};" for node in _nodes(step) if node in passed)
        if number == len(pieces) - 1:
            lines += body.write_lines()
        yield f"__attribute__((noinline)) static void {function}_{number}"
        yield f"    (State& st, {function}_words& w, const int k) {{"
        yield "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
        yield from (f"  {line}" for line in (*body.pointers, *lines))
        yield "}"
    yield f"static void {function}(State& st, const int lo, const int hi) {{"
    yield f"  {function}_words w;"
    yield "  for (int k = lo; k < hi; k++) {"
    yield from (f"    {function}_{number}(st, w, k);" for number in range(len(pieces)))
    yield "  }"
    yield "}"


def _divided(steps: Iterable[Step]) -> Iterator[list[Step]]:
    piece: list[Step] = []
    size = 0
    for step in steps:
        piece.append(step)
        size += sum(1 for _ in _nodes(step)) + len(step.stores)
        if size >= _PIECE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _stored(body: Body, pieces: Sequence[Sequence[Step]]) -> Mapping[int, int]:
    """Return the piece in which a register is overwritten, by the node that reads it."""
    registers = {node.value: n for n, node in enumerate(body.block.nodes) if node.op == "register"}
    stored: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        for step in piece:
            for key, _ in step.stores:
                if key.kind == "register" and not body.state.arrays[key].is_double:
                    stored[registers.get(key.number, -1)] = number
            stored |= {body.stored[node][1]: number for node in _nodes(step) if node in body.stored}
    return stored


def _nodes(step: Step) -> Iterator[int]:
    if step.item is not None:
        yield from nodes_of(step.item)


def _typed(body: Body, node: int) -> str:
    return f"{type_of(body.block.nodes[node].width)} n{node}"


def _read(body: Body, step: Step) -> Iterator[int]:
    nodes = body.block.nodes
    computed = (arg for node in _nodes(step) if not body.is_leaf(node) for arg in nodes[node].args)
    for node in (*computed, *(node for _, node in step.stores)):
        if nodes[node].op != "const":
            yield node
