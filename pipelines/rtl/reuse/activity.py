"""Activity skipping: a function of a block runs only for lanes of which something that it reads changed.

Lanes of a block are divided into units. A flag per unit says that a register or memory of it changed at the
last clock edge, a flag per word of the inputs that it differs from the last cycle. What a function depends on
through combinational logic is known ahead, so a test of flags decides; values between blocks are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.rtl.reuse.emission import Emitter
from pipelines.rtl.reuse.placement import ArrayKey, Placement
from pipelines.rtl.reuse.ranges import runs_of
from pipelines.rtl.reuse.structure import CONSTANT, ENVIRONMENT, Source, Structure, words_of

MOST_UNITS = 8
"""Units of a block."""
_FLAG_BITS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Some lanes of a block. Attributes: instances: with their slots, in order."""

    block: str
    instances: tuple[tuple[int, int], ...]


class Dependences:
    """Flags that values depend on, as bits: those of units first, then those of words of the inputs."""

    def __init__(self, structure: Structure, placement: Placement) -> None:
        self.structure = structure
        self.units: list[Unit] = []
        for block, lanes in structure.lanes.items():
            placed = list(zip(lanes, placement.slots[block], strict=True))
            size = -(-len(placed) // MOST_UNITS)
            for start in range(0, len(placed), size):
                self.units.append(Unit(block=block, instances=tuple(placed[start : start + size])))
        self.unit_of = {i: number for number, unit in enumerate(self.units) for i, _ in unit.instances}
        self.flags = len(self.units) + len(words_of(structure.design.inputs))
        self._class_of = {
            (block, node): number
            for block, classes in structure.classes.items()
            for number, found in enumerate(classes)
            for node in found.nodes
        }
        self.classes: dict[tuple[int, int], int] = {}
        for _, instance, number in sorted(self._levels()):
            pins = structure.classes[structure.instances[instance].block][number].pins
            self.classes[instance, number] = self._pins(instance, pins)

    def _levels(self) -> Iterator[tuple[int, int, int]]:
        for block, classes in self.structure.classes.items():
            for number, found in enumerate(classes):
                for instance, level in zip(self.structure.lanes[block], found.levels, strict=True):
                    yield level, instance, number

    def state(self, instance: int) -> int:
        """Return the flags that the next state depends on."""
        return self._pins(instance, -1)

    def _pins(self, instance: int, pins: int) -> int:
        flags = 1 << self.unit_of[instance]
        for pin, source in enumerate(self.structure.sources[instance]):
            if pins >> pin & 1:
                flags |= self._source(source)
        return flags

    def _source(self, source: Source) -> int:
        if source.instance == CONSTANT:
            return 0
        if source.instance == ENVIRONMENT:
            return 1 << (len(self.units) + source.node)
        block = self.structure.instances[source.instance].block
        if self.structure.design.blocks[block].nodes[source.node].op == "register":
            return 1 << self.unit_of[source.instance]
        return self.classes[source.instance, self._class_of[block, source.node]]


class ActivityEmitter(Emitter):
    """Writes a translation unit that skips; registers have two buffers, equal in units without a change."""

    def __init__(self, structure: Structure, placement: Placement, stimuli: int) -> None:
        super().__init__(structure, placement, stimuli, is_counting=False, is_skipping=True)
        self.dependences = Dependences(structure, placement)
        self.flag_words = -(-self.dependences.flags // _FLAG_BITS)
        self.foreign_slots = {(move.target, move.target_slot) for move in placement.moves}

    def _struct(self) -> Iterator[str]:
        for line in super()._struct():
            yield f"  int wrote; u64 dirty[{self.flag_words}];\n}};" if line == "};" else line

    def _initialise(self) -> Iterator[str]:
        yield "#define ACTIVITY"
        yield "static void touch(State& st) { memset(st.dirty, 0xff, sizeof st.dirty); }"
        for line in super()._initialise():
            yield f"  touch(st);\n{line}" if line == "}" else line

    def _set_input(self, number: int, word: str) -> str:
        flag = len(self.dependences.units) + number
        return (
            f"  for (int s = 0; s < STIMULI; s++) {{ const auto w = {word};"
            f" if (st.in{number}[s] != w) {_raise('st.dirty', flag)} st.in{number}[s] = w; }}"
        )

    def _call(self, name: str, number: int, slots: Sequence[int]) -> Iterator[str]:
        """Yield the calls of a class of outputs, unit by unit; neighbours with equal flags are one."""
        instance_at = dict(zip(self.placement.slots[name], self.structure.lanes[name], strict=True))
        groups: list[tuple[int, int, list[int]]] = []
        for slot in slots:
            unit = self.dependences.unit_of[instance_at[slot]]
            flags = self.dependences.classes[instance_at[slot], number]
            if groups and groups[-1][0] == unit:
                groups[-1] = (unit, groups[-1][1] | flags, [*groups[-1][2], slot])
            else:
                groups.append((unit, flags, [slot]))
        joined: list[tuple[int, list[int]]] = []
        for _, flags, part in groups:
            if joined and joined[-1][0] == flags:
                joined[-1][1].extend(part)
            else:
                joined.append((flags, part))
        for flags, part in joined:
            calls = " ".join(line.strip() for line in super()._call(name, number, part))
            yield f"  if ({self._test(flags)}) {{ {calls} }}"

    def _test(self, flags: int) -> str:
        parts = [(i, flags >> _FLAG_BITS * i & (1 << _FLAG_BITS) - 1) for i in range(self.flag_words)]
        return " | ".join(f"(st.dirty[{i}] & {part:#x}ull)" for i, part in parts if part)

    def _advance(self) -> Iterator[str]:
        yield "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
        yield f"  u64 next[{self.flag_words}] = {{0}};"
        for number, unit in enumerate(self.dependences.units):
            block = self.blocks[unit.block]
            if not (block.registers or block.memories):
                continue
            flags = 0
            for instance, _ in unit.instances:
                flags |= self.dependences.state(instance)
            phase = len(self.phases[unit.block]) - 1
            yield f"  if ({self._test(flags)}) {{ st.wrote = 0;"
            slots = [slot for _, slot in unit.instances]
            yield from (f"  {line}" for line in super()._call(unit.block, phase, slots))
            yield "    bool changed = st.wrote;"
            yield from (f"    {line}" for line in self._comparisons(unit))
            yield f"    if (changed) {_raise('next', number)} }}"
        yield "  memcpy(st.dirty, next, sizeof next);"

    def _comparisons(self, unit: Unit) -> Iterator[str]:
        """Yield both buffers of the unit's registers, without slots that hold words of others."""
        n = self.stimuli
        for i in range(len(self.blocks[unit.block].registers)):
            key = ArrayKey("register", unit.block, i)
            node = self.register_node(self.blocks[unit.block], i)
            stored = ArrayKey("node", unit.block, node) if node is not None else key
            slots = [slot for _, slot in unit.instances if (stored, slot) not in self.foreign_slots]
            for low, high in runs_of(slots, range(self.placement.extents[unit.block])):
                now, following = (f"{self.base(key, is_next=b)} + {low * n}" for b in (False, True))
                size = f"{(high - low) * n} * sizeof(*({self.base(key)}))"
                yield f"changed = changed || memcmp({now}, {following}, {size});"


def _raise(array: str, flag: int) -> str:
    return f"{array}[{flag // _FLAG_BITS}] |= {1 << flag % _FLAG_BITS:#x}ull;"
