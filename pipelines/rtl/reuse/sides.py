"""Division of a design between a processor and a GPU, after HeteroRTL (chapter 4 of the dissertation).

The dissertation puts processing elements on the GPU and cores on the processor. Here a unit is a function of
a block at one level (or its next state), and a model of the time of a cycle decides: lanes fill the GPU, and
every launch and every exchange between the sides costs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.base.summation import ordered_sum
from pipelines.rtl.reuse.emission import Emitter
from pipelines.rtl.reuse.expressions import size_of
from pipelines.rtl.reuse.placement import ArrayKey
from pipelines.rtl.reuse.structure import CONSTANT, ENVIRONMENT, Source

CPU, GPU = 0, 1
SIDES = (CPU, GPU)


class Unit(NamedTuple):
    """A function of a block at a level; the next state is behind all levels."""

    level: int
    block: str
    number: int


class Word(NamedTuple):
    """A word of an array: the array's C++ name and the slot."""

    array: str
    slot: int


class Crossing(NamedTuple):
    """A word that a side makes and the other one reads, after a level."""

    level: int
    side: int
    word: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Nanoseconds of a model of both sides; guesses of usual machines, to be measured on the one at hand.

    Attributes:
        cpu_operation, gpu_operation: of one lane of the CPU, and of all lanes that the GPU has at once.
        gpu_lanes: their number. launch: of a kernel. exchange: of a synchronisation. byte: of a copied one.
    """

    cpu_operation: float = 0.08
    gpu_operation: float = 0.7
    gpu_lanes: int = 100_000
    launch: float = 1_500.0
    exchange: float = 12_000.0
    byte: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A side for every unit. Attributes: crossings: sorted. cycle_ns: by the model."""

    side_of: Mapping[Unit, int]
    crossings: Sequence[Crossing]
    cycle_ns: float


class Divider:
    """Finds units, what they read and write, and a good division."""

    def __init__(self, emitter: Emitter, costs: Costs | None = None) -> None:
        self.emitter, self.costs = emitter, costs or Costs()
        self.structure, self.blocks = emitter.structure, emitter.blocks
        self.bytes = {array.name: size_of(array.width) // 8 for array in emitter.arrays.values()}
        self._slot_of = {
            instance: slot
            for block, lanes in self.structure.lanes.items()
            for instance, slot in zip(lanes, emitter.placement.slots[block], strict=True)
        }
        self.last = self.structure.highest_level + 1
        self.lanes: dict[Unit, list[tuple[int, int]]] = defaultdict(list)  # instances and slots
        for block, lanes in self.structure.lanes.items():
            placed = list(zip(lanes, emitter.placement.slots[block], strict=True))
            for number, found in enumerate(self.structure.classes[block]):
                for lane, level in zip(placed, found.levels, strict=True):
                    self.lanes[Unit(level, block, number)].append(lane)
            if self.blocks[block].registers or self.blocks[block].memories:
                state = Unit(self.last, block, len(self.structure.classes[block]))
                self.lanes[state] = placed
        self.units = sorted(self.lanes)
        self.writer = {word: unit for unit in self.units for word in self._writes(unit)}
        self.reads = {unit: frozenset(self._reads(unit)) for unit in self.units}
        self.groups = self._groups()

    # ---- what a unit writes and reads --------------------------------------------------------------------

    def is_state(self, unit: Unit) -> bool:
        """Tell whether a unit is the next state of its block."""
        return unit.level == self.last

    def _name(self, key: ArrayKey) -> str:
        return self.emitter.arrays[key].name

    def _writes(self, unit: Unit) -> Iterator[Word]:
        phase = self.emitter.phases[unit.block][unit.number]
        keys = [ArrayKey("node", unit.block, node) for node in phase.stored]
        if self.is_state(unit):
            keys += [
                ArrayKey("register", unit.block, i) for i in range(len(self.blocks[unit.block].registers))
            ]
        for key in keys:
            for _, slot in self.lanes[unit]:
                yield Word(self._name(key), slot)

    def _reads(self, unit: Unit) -> Iterator[Word]:
        """Yield the words that other units write, directly and by way of pins."""
        block = self.blocks[unit.block]
        phase = self.emitter.phases[unit.block][unit.number]
        own = [ArrayKey("node", unit.block, node) for node in phase.loaded]
        pins: list[int] = []
        for number in phase.order:
            node = block.nodes[number]
            if node.op == "register":
                own.append(ArrayKey("register", unit.block, node.value))
            elif node.op == "input":
                pins.append(node.value)
        for instance, slot in self.lanes[unit]:
            for key in own:
                yield Word(self._name(key), slot)
            for pin in pins:
                yield from self.source(self.structure.sources[instance][pin])

    def source(self, source: Source) -> Iterator[Word]:
        """Yield the word of a pin's source; none of the environment and of constants."""
        if source.instance in (CONSTANT, ENVIRONMENT):
            return
        block = self.structure.instances[source.instance].block
        yield Word(self._name(ArrayKey("node", block, source.node)), self._slot_of[source.instance])

    def _groups(self) -> list[list[Unit]]:
        """Return the units that stay together: a block's with those whose memories they read and write."""
        groups: dict[object, list[Unit]] = defaultdict(list)
        for unit in self.units:
            groups[unit.block if self.blocks[unit.block].memories else unit].append(unit)
        return list(groups.values())

    # ---- the model -----------------------------------------------------------------------------------------

    def divide(self, *, largest: int = 256) -> Division:
        """Return the best of all on one side, and of moving groups while the model gains.

        Args: largest: groups that are tried one by one; more are tried by block.
        """
        groups = self.groups
        if len(groups) > largest:
            by_block: dict[str, list[Unit]] = defaultdict(list)
            for unit in self.units:
                by_block[unit.block].append(unit)
            groups = list(by_block.values())
        best: Division | None = None
        for start in SIDES:
            found = self._climb(dict.fromkeys(self.units, start), groups)
            if best is None or found.cycle_ns < best.cycle_ns:
                best = found
        assert best is not None
        return best

    def _climb(self, side_of: dict[Unit, int], groups: Sequence[Sequence[Unit]]) -> Division:
        current = self.judge(side_of)
        while True:
            tried: list[Division] = []
            for group in groups:
                moved = {unit: 1 - current.side_of[unit] for unit in group}
                tried.append(self.judge({**current.side_of, **moved}))
            # A block moves as a whole where single units only add exchanges.
            for block in self.blocks:
                for side in SIDES:
                    moved = {unit: side for unit in self.units if unit.block == block}
                    tried.append(self.judge({**current.side_of, **moved}))
            best = min(tried, key=lambda division: division.cycle_ns)
            if best.cycle_ns >= current.cycle_ns:
                return current
            current = best

    def judge(self, side_of: Mapping[Unit, int]) -> Division:
        """Return a division with its crossings and the time of a cycle."""
        crossings = self.crossings(side_of)
        costs = self.costs
        time: dict[tuple[int, int], float] = defaultdict(float)
        for unit in self.units:
            time[unit.level, side_of[unit]] += self.unit_ns(unit, side_of[unit])
        total = ordered_sum(max(time[level, CPU], time[level, GPU]) for level in range(self.last + 1))
        total += costs.exchange * len({crossing.level for crossing in crossings})
        total += costs.byte * sum(self.bytes_of(crossing.word) for crossing in crossings)
        return Division(side_of=dict(side_of), crossings=crossings, cycle_ns=total)

    def unit_ns(self, unit: Unit, side: int) -> float:
        """Return the time of a unit on a side."""
        operations = len(self.emitter.phases[unit.block][unit.number].order)
        lanes = len(self.lanes[unit]) * self.emitter.stimuli
        if side == CPU:
            return operations * lanes * self.costs.cpu_operation
        waves = -(-lanes // self.costs.gpu_lanes)
        return self.costs.launch + operations * waves * self.costs.gpu_operation

    def crossings(self, side_of: Mapping[Unit, int]) -> list[Crossing]:
        """Return the words that cross; the outputs of the design are read by the CPU."""
        needed: set[Crossing] = set()
        for unit in self.units:
            self._add(needed, side_of, side_of[unit], self.reads[unit])
        for source in self.structure.outputs:
            self._add(needed, side_of, CPU, self.source(source))
        return sorted(needed)

    def _add(
        self, needed: set[Crossing], side_of: Mapping[Unit, int], reader: int, words: Iterable[Word]
    ) -> None:
        for word in words:
            writer = self.writer[word]
            if side_of[writer] != reader:
                needed.add(Crossing(writer.level, side_of[writer], word))

    def bytes_of(self, word: Word) -> int:
        """Return the bytes of a word for all stimuli."""
        return self.bytes[word.array] * self.emitter.stimuli
