"""Slots of lanes in arrays, and how the lanes of a pin read their sources, without copies where possible."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.rtl.reuse.blocks import Block
from pipelines.rtl.reuse.structure import CONSTANT, ENVIRONMENT, Source, Structure


class ArrayKey(NamedTuple):
    """An array of words, one per slot.

    `kind` is `node` (a node of a block that others read), `pin` (copied words of a pin) or `input` (a word of
    the design's inputs; one slot, `block` is empty).
    """

    kind: str
    block: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a pin reads: slot i reads `array[i - distance]`, or all slots read `array[slot]`.

    Attributes: constant: the value of a pin that has the same one everywhere.
    """

    array: ArrayKey | None
    distance: int = 0
    slot: int | None = None
    constant: int | None = None


class Move(NamedTuple):
    """A word copied after all classes of a level: from an array's slot, or a constant, to an array's slot."""

    level: int
    target: ArrayKey
    target_slot: int
    source: ArrayKey | None
    source_slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where everything lies.

    Attributes:
        slots: by block and lane. extents: slots of a block's arrays, padding lanes included.
        accesses: by block and pin. moves: see `Move`.
        margins: of an array, slots in front of slot 0 and behind the last one.
    """

    slots: Mapping[str, Sequence[int]]
    extents: Mapping[str, int]
    accesses: Mapping[str, Sequence[Access]]
    moves: Sequence[Move]
    margins: Mapping[ArrayKey, tuple[int, int]]


_MOST_EXCEPTIONS = 0.34
"""Share of lanes that may read something else than the array at the common distance."""
_FEW_LANES = 8  # for which copies cost next to nothing
_MOST_PADDING = 0.25
"""Padding lanes per lane, at most."""


def place(structure: Structure) -> Placement:
    """Return the slots with padding lanes where they avoid copies, and the access of every pin."""
    padded = {name: _padded_slots(structure, name) for name in structure.lanes}
    return _Placer(structure, padded).place()


def read_inside(block: Block) -> frozenset[int]:
    """Return the nodes that the block itself reads, so that their word of a lane must be that lane's own."""
    inside = {arg for node in block.nodes for arg in node.args}
    inside |= {register.next for register in block.registers}
    for memory in block.memories:
        inside |= {n for write in memory.writes for n in (write.address, write.data, write.mask)}
    return frozenset(inside)


def _padded_slots(structure: Structure, block: str) -> list[int]:
    """Return the slots of lanes, one left free where a chain of neighbours begins and none precedes."""
    lanes, content = structure.lanes[block], structure.design.blocks[block]
    plain = list(range(len(lanes)))
    if content.memories or len(lanes) < _FEW_LANES:
        return plain
    inside = read_inside(content)
    starts: set[int] = set()
    for pin in range(len(content.pins)):
        for step in (1, -1):
            starts |= _chain_starts(structure, block, pin, step, inside)
    if len(starts) > len(lanes) * _MOST_PADDING:
        return plain
    slots: list[int] = []
    for lane in plain:
        slots.append((slots[-1] + 1 if slots else 0) + (lane in starts))
    return slots


def _chain_starts(structure: Structure, block: str, pin: int, step: int, inside: frozenset[int]) -> set[int]:
    """Return the lanes that need a free slot before them, as another neighbour's word would lie there."""
    lanes = structure.lanes[block]
    lane_of = {instance: lane for lane, instance in enumerate(lanes)}
    sources = [structure.sources[instance][pin] for instance in lanes]
    chained = [s.node if lane_of.get(s.instance) == lane - step else None for lane, s in enumerate(sources)]
    nodes = Counter(node for node in chained if node is not None)
    if not nodes or nodes.most_common(1)[0][1] < len(lanes) * (1 - _MOST_EXCEPTIONS):
        return set()
    node = nodes.most_common(1)[0][0]
    used = structure.used[block][node]
    broken = [lane for lane, found in enumerate(chained) if found is None and 0 <= lane - step < len(lanes)]
    needed = [lane for lane in broken if node in inside or lanes[lane - step] in used]
    return {lane if step == 1 else lane + 1 for lane in needed}


class _Placer:
    def __init__(self, structure: Structure, slots: Mapping[str, Sequence[int]]) -> None:
        self.structure, self.slots = structure, slots
        self.slot_of = {
            instance: slots[block][lane]
            for block, lanes in structure.lanes.items()
            for lane, instance in enumerate(lanes)
        }
        self.level_of: dict[tuple[int, int], int] = {}
        for block, classes in structure.classes.items():
            for found in classes:
                for instance, level in zip(structure.lanes[block], found.levels, strict=True):
                    for node in found.nodes:
                        self.level_of[instance, node] = level
        self.class_levels = {
            ArrayKey("node", c.block, node): set(c.levels)
            for classes in structure.classes.values()
            for c in classes
            for node in c.nodes
        }
        self.inside = {name: read_inside(block) for name, block in structure.design.blocks.items()}
        self.stored: dict[tuple[ArrayKey, int], Source] = {}
        self.moves: list[Move] = []
        self.margins: dict[ArrayKey, tuple[int, int]] = defaultdict(lambda: (0, 0))

    def place(self) -> Placement:
        """Return the accesses of all pins."""
        accesses = {
            block: [self._access(block, pin) for pin in range(len(content.pins))]
            for block, content in self.structure.design.blocks.items()
        }
        extents = {block: slots[-1] + 1 for block, slots in self.slots.items()}
        return Placement(
            slots=self.slots,
            extents=extents,
            accesses=accesses,
            moves=self.moves,
            margins=dict(self.margins),
        )

    def _word(self, source: Source) -> tuple[ArrayKey | None, int]:
        """Return the array and slot of a source; no array and the value for a constant."""
        if source.instance == CONSTANT:
            return None, source.node
        if source.instance == ENVIRONMENT:
            return ArrayKey("input", "", source.node), 0
        block = self.structure.instances[source.instance].block
        return ArrayKey("node", block, source.node), self.slot_of[source.instance]

    def _access(self, block: str, pin: int) -> Access:
        lanes = self.structure.lanes[block]
        sources = [self.structure.sources[instance][pin] for instance in lanes]
        if len(set(sources)) == 1:
            array, slot = self._word(sources[0])
            return Access(array=None, constant=slot) if array is None else Access(array=array, slot=slot)
        shifted = self._shifted(block, sources)
        if shifted is not None:
            return shifted
        target = ArrayKey("pin", block, pin)
        for slot, source in zip(self.slots[block], sources, strict=True):
            self._move(target, slot, source)
        return Access(array=target)

    def _shifted(self, block: str, sources: Sequence[Source]) -> Access | None:
        """Return direct access at a constant distance, if every other lane's word can lie where it looks."""
        slots = self.slots[block]
        words = [self._word(source) for source in sources]
        distances = Counter(
            (array, slot - at)
            for slot, (array, at) in zip(slots, words, strict=True)
            if array is not None and array.kind == "node"
        )
        if not distances:
            return None
        (array, distance), count = distances.most_common(1)[0]
        if count < len(sources) * (1 - _MOST_EXCEPTIONS):
            return None
        exceptions = [
            (slot - distance, source)
            for slot, source, word in zip(slots, sources, words, strict=True)
            if word != (array, slot - distance)
        ]
        if exceptions and not self._can_store(array, exceptions):
            return None
        for slot, source in exceptions:
            if (array, slot) not in self.stored:
                self.stored[array, slot] = source
                self._move(array, slot, source)
        self._widen(array, slots[0] - distance, slots[-1] - distance)
        return Access(array=array, distance=distance)

    def _widen(self, array: ArrayKey, first: int, last: int) -> None:
        front, back = self.margins[array]
        end = self.slots[array.block][-1]
        self.margins[array] = (max(front, -first), max(back, last - end))

    def _can_store(self, array: ArrayKey, exceptions: Sequence[tuple[int, Source]]) -> bool:
        """Tell whether nobody reads those slots, and no class overwrites them after the word is stored."""
        slots = self.slots[array.block]
        levels = self.class_levels.get(array, set())
        if len(levels) > 1:
            return False
        used = self.structure.used[array.block][array.number]
        taken = set(slots) if array.number in self.inside[array.block] else {self.slot_of[i] for i in used}
        lowest = max(levels, default=0)
        return all(
            slot not in taken
            and self.stored.get((array, slot), source) == source
            and (self._level(source) >= lowest or not 0 <= slot <= slots[-1])
            for slot, source in exceptions
        )

    def _level(self, source: Source) -> int:
        return self.level_of.get((source.instance, source.node), 0) if source.instance >= 0 else 0

    def _move(self, target: ArrayKey, slot: int, source: Source) -> None:
        array, at = self._word(source)
        self.moves.append(Move(self._level(source), target, slot, array, at))
