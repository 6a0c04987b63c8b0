"""What each function of a block computes: a function per class of outputs, and one for the next state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from pipelines.rtl.reuse.blocks import Block
from pipelines.rtl.reuse.ir import LEAVES, Builder, Node
from pipelines.rtl.reuse.simplify import rebuild
from pipelines.rtl.reuse.structure import OutputClass

_KEPT_OPERATIONS = 3
"""Operations from which on a value is kept for a later function instead of computed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One function.

    Attributes:
        roots: nodes whose values are the purpose of the function.
        stored: nodes that it stores. loaded: nodes that an earlier function stored.
        order: nodes that it computes, in order of dependence, with the leaves that they need.
    """

    roots: tuple[int, ...]
    stored: tuple[int, ...]
    loaded: frozenset[int]
    order: tuple[int, ...]


def state_roots(block: Block) -> list[int]:
    """Return the nodes that the next state needs."""
    roots = [r.next for r in block.registers]
    for memory in block.memories:
        for write in memory.writes:
            roots += [write.address, write.data, write.mask]
    return list(dict.fromkeys(roots))


def phases(block: Block, classes: Sequence[OutputClass]) -> list[Phase]:
    """Return the functions of a block: its classes in order, then the next state."""
    return _Phases(block, classes).make()


class _Phases:
    def __init__(self, block: Block, classes: Sequence[OutputClass]) -> None:
        self.block, self.classes = block, classes
        self.stored: list[dict[int, None]] = [dict.fromkeys(c.nodes) for c in classes] + [{}]
        self.home = {node: i for i, c in enumerate(classes) for node in c.nodes}
        self.computed: dict[int, int] = {}

    def make(self) -> list[Phase]:
        """Make two passes: the first finds what is worth keeping, the second computes the rest."""
        roots = [list(c.nodes) for c in self.classes] + [state_roots(self.block)]
        for number, nodes in enumerate(roots):
            order, _ = self._cone(number, nodes)
            for node in order:
                self.computed.setdefault(node, number)
        result: list[Phase] = []
        for number, nodes in enumerate(roots):
            order, loaded = self._cone(number, nodes)
            result.append(Phase(roots=tuple(nodes), stored=(), loaded=frozenset(loaded), order=tuple(order)))
        return [
            Phase(roots=p.roots, stored=tuple(s), loaded=p.loaded, order=p.order)
            for p, s in zip(result, self.stored, strict=True)
        ]

    def _may_load(self, earlier: int, number: int) -> bool:
        """Tell whether in every lane the earlier function runs before."""
        if earlier >= number:
            return False
        if number == len(self.classes):
            return True
        pins, own = self.classes[earlier].pins, self.classes[number].pins
        return pins & own == pins

    def _cone(self, number: int, roots: Iterable[int]) -> tuple[list[int], set[int]]:
        """Return the nodes to compute, in order, and nodes to load."""
        seen: set[int] = set()
        loaded: set[int] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node in seen or node in loaded:
                continue
            if self._is_loaded(number, node):
                loaded.add(node)
                continue
            seen.add(node)
            stack += self.block.nodes[node].args
        return sorted(seen), loaded

    def _is_loaded(self, number: int, node: int) -> bool:
        if self.block.nodes[node].op in LEAVES:
            return False
        home = self.home.get(node)
        if home is not None:
            return self._may_load(home, number)
        first = self.computed.get(node)
        if first is None or not self._may_load(first, number) or self._is_cheap(node):
            return False
        self.home[node] = first
        self.stored[first][node] = None
        return True

    def _is_cheap(self, node: int) -> bool:
        count = 0
        stack = [node]
        while stack and count < _KEPT_OPERATIONS:
            current = self.block.nodes[stack.pop()]
            if current.op not in LEAVES:
                count += 1
                stack += current.args
        return count < _KEPT_OPERATIONS


MOST_CONDITIONS = 3
"""Conditions that a function is specialised for; it has 2 to that power variants."""
_LARGEST_SPECIALISED = 256  # operations


def shared_conditions(block: Block, phase: Phase, shared_pins: Set[int]) -> list[int]:
    """Return the input nodes of one bit, equal in all lanes, that choose in most multiplexers of a function.

    A function that loads what an earlier one stored, or that is large, has one variant only.
    """
    if phase.loaded or len(phase.order) > _LARGEST_SPECIALISED:
        return []
    uses: Counter[int] = Counter()
    for number in phase.order:
        node = block.nodes[number]
        condition = node.args[0] if node.op == "mux" else -1
        if (
            condition >= 0
            and block.nodes[condition].op == "input"
            and block.nodes[condition].value in shared_pins
        ):
            uses[condition] += 1
    return [node for node, _ in sorted(uses.items(), key=lambda item: (-item[1], item[0]))][:MOST_CONDITIONS]


def specialise(block: Block, values: Mapping[int, int]) -> Block:
    """Return a block whose input nodes of the mapping are constants, folded again."""

    def known(build: Builder, numbers: Sequence[int], node: Node) -> int | None:
        number = len(numbers)
        return build.const(values[number], node.width) if number in values else None

    return rebuild(block, known)


def cone(block: Block, roots: Iterable[int]) -> tuple[int, ...]:
    """Return the nodes that roots need, in order of dependence."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += block.nodes[node].args
    return tuple(sorted(seen))
