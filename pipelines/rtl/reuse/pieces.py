"""Large functions of one lane in pieces that are called one after the other.

A compiler takes more than linear time for a long function without branches, and keeps many of its values in
memory for thousands of operations. Pieces follow the cones of next states, each of which is stored at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, Protocol

from pipelines.rtl.reuse.elaboration import Block
from pipelines.rtl.reuse.expressions import type_of
from pipelines.rtl.reuse.placement import ArrayKey

LARGE = 4000
"""Operations from which on pieces are faster: with 4,500, 606 in place of 675 ns; with 2,600, 409 and 318."""
_PIECE = 500
"""Steps of a piece."""


class Statements(Protocol):
    """What `emission.Body` gives: the statements of a function, one by one.

    Attributes: pointers: declarations that the lines since the last `forget_pointers` need.
    """

    block: Block
    is_state: bool
    pointers: list[str]

    def computed(self) -> list[int]:
        """Return the nodes that are loaded or computed, in order of dependence."""
        ...

    def stores(self) -> Iterator[tuple[ArrayKey, int]]:
        """Yield every array that is stored to, with the node of its value."""
        ...

    def is_leaf(self, number: int) -> bool:
        """Return whether a node is loaded, not computed."""
        ...

    def forget_pointers(self) -> None:
        """Empty `pointers`."""
        ...

    def value_line(self, number: int) -> str:
        """Return the statement that computes a node."""
        ...

    def store_line(self, key: ArrayKey, node: int) -> str:
        """Return the statement that stores a node in an array."""
        ...

    def write_lines(self) -> Iterator[str]:
        """Yield the statements that write to memories."""
        ...


class _Step(NamedTuple):
    """The computation of a node, or its store to an array."""

    node: int
    target: ArrayKey | None = None


def function_in_pieces(function: str, body: Statements) -> Iterator[str]:
    """Yield a function of a block with one lane whose next states do not overwrite present ones.

    Values that a later piece needs are passed in a structure; memories are written in the last piece.
    """
    body.computed()
    steps = list(_steps(body))
    pieces = [steps[first : first + _PIECE] for first in range(0, len(steps), _PIECE)]
    homes = {s.node: number for number, piece in enumerate(pieces) for s in piece if s.target is None}
    read = [{node for step in piece for node in _read(body, step)} for piece in pieces]
    read.append(set(_read_by_writes(body)))
    passed = {
        node for number, nodes in enumerate(read) for node in nodes if homes.get(node, number) != number
    }
    yield f"struct {function}_words {{"
    yield from (f"  {_typed(body, node)};" for node in sorted(passed, key=lambda node: (homes[node], node)))
    yield "};"
    for number in range(len(read)):
        body.forget_pointers()
        if number < len(pieces):
            lines = list(_piece(body, pieces[number], homes, number, passed))
        else:
            lines = [*_loads(body, sorted(read[number]), homes), *body.write_lines()]
        yield f"__attribute__((noinline)) static void {function}_{number}"
        yield f"    (State& st, {function}_words& w, const int k) {{"
        yield "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
        yield from (f"  {line}" for line in (*body.pointers, *lines))
        yield "}"
    yield f"static void {function}(State& st, const int lo, const int hi) {{"
    yield f"  {function}_words w;"
    yield "  for (int k = lo; k < hi; k++) {"
    yield from (f"    {function}_{number}(st, w, k);" for number in range(len(read)))
    yield "  }"
    yield "}"


def _piece(
    body: Statements, piece: Sequence[_Step], homes: Mapping[int, int], number: int, passed: Set[int]
) -> Iterator[str]:
    known: set[int] = set()
    for step in piece:
        outside = [n for n in _read(body, step) if n not in known and homes.get(n) != number]
        known.update(outside)
        yield from _loads(body, outside, homes)
        if step.target is not None:
            yield body.store_line(step.target, step.node)
            continue
        yield body.value_line(step.node)
        if step.node in passed:
            yield f"w.n{step.node} = n{step.node};"


def _loads(body: Statements, nodes: Iterable[int], homes: Mapping[int, int]) -> Iterator[str]:
    """Yield the values of other pieces and of arrays."""
    for node in nodes:
        yield f"const {_typed(body, node)} = w.n{node};" if node in homes else body.value_line(node)


def _typed(body: Statements, node: int) -> str:
    return f"{type_of(body.block.nodes[node].width)} n{node}"


def _read(body: Statements, step: _Step) -> Iterator[int]:
    nodes = body.block.nodes
    args = dict.fromkeys([step.node] if step.target is not None else nodes[step.node].args)
    return (arg for arg in args if nodes[arg].op != "const")


def _read_by_writes(body: Statements) -> Iterator[int]:
    for memory in body.block.memories if body.is_state else ():
        for write in memory.writes:
            for node in (write.address, write.data, write.mask):
                if body.block.nodes[node].op != "const":
                    yield node


def _steps(body: Statements) -> Iterator[_Step]:
    """Yield a node follows its arguments, depth first, and its store follows it."""
    done: set[int] = set()
    for target, node in body.stores():
        yield from _cone(body, node, done)
        yield _Step(node, target)
    for node in _read_by_writes(body):
        yield from _cone(body, node, done)


def _cone(body: Statements, root: int, done: set[int]) -> Iterator[_Step]:
    stack = [(root, False)]
    while stack:
        node, has_arguments = stack.pop()
        if node in done or body.block.nodes[node].op == "const" or body.is_leaf(node):
            continue
        if has_arguments:
            done.add(node)
            yield _Step(node)
            continue
        stack.append((node, True))
        stack += [(arg, False) for arg in reversed(body.block.nodes[node].args)]
