"""Parts of a design for threads: what each owns, and what it computes besides to run several cycles alone.

A part repeats the logic and the neighbours' cycles that its own registers need (RepCut, Wang and Beamer,
ASPLOS 2023, repeats logic within a cycle; here it goes on through earlier cycles of a batch).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.rtl.reuse.structure import Structure


@dataclass(frozen=True, slots=True, kw_only=True)
class SubCycle:
    """A cycle of a batch.

    Attributes:
        states: instances whose next state is computed. classes: evaluated, by instance and number.
        valid: instances of which at least what is read is valid.
    """

    states: frozenset[int]
    classes: frozenset[tuple[int, int]]
    valid: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a thread does in a batch.

    Attributes:
        own: instances. outputs: numbers of words of the design's outputs.
        whole: instances of others whose state it needs at the beginning.
        registers: nodes of instances of others that it reads at the beginning.
    """

    own: frozenset[int]
    outputs: tuple[int, ...]
    cycles: tuple[SubCycle, ...]
    whole: frozenset[int]
    registers: frozenset[tuple[int, int]]


def partition(structure: Structure, parts: int, batch: int) -> list[Part]:
    """Return the parts of about equal numbers of operations, neighbours by name together."""
    owners = _owners(structure, parts)
    return [_Needs(structure, owners, part).part(batch) for part in range(parts)]


def replication(structure: Structure, found: Sequence[Part]) -> float:
    """Return the evaluated lanes, weighted by operations, over the case of one part and cycle per batch."""
    blocks, instances = structure.design.blocks, structure.instances
    batch = len(found[0].cycles)
    done = sum(
        len(blocks[instances[i].block].nodes) for part in found for cycle in part.cycles for i in cycle.states
    )
    once = sum(len(blocks[i.block].nodes) for i in instances if _has_state(structure, i.block))
    return done / (once * batch)


def _has_state(structure: Structure, block: str) -> bool:
    content = structure.design.blocks[block]
    return bool(content.registers or content.memories)


def _owners(structure: Structure, parts: int) -> list[int]:
    """Return the part of every instance: ranges of each block's lanes."""
    owners = [0] * len(structure.instances)
    for lanes in structure.lanes.values():
        for place, instance in enumerate(lanes):
            owners[instance] = place * parts // len(lanes)
    return owners


class _Needs:
    def __init__(self, structure: Structure, owners: Sequence[int], number: int) -> None:
        self.structure, self.owners, self.number = structure, owners, number
        self.own = frozenset(i for i, owner in enumerate(owners) if owner == number)
        self.class_of = {
            (block, node): number
            for block, classes in structure.classes.items()
            for number, found in enumerate(classes)
            for node in found.nodes
        }

    def part(self, batch: int) -> Part:
        """Build a part from the last cycle of a batch to the first."""
        needed, cycles, registers = self.own, list[SubCycle](), frozenset[tuple[int, int]]()
        for _ in range(batch):
            cycle, registers = self._cycle(needed)
            cycles.append(cycle)
            needed = cycle.valid | self.own
        active = cycles[-1].states | {i for i, _ in cycles[-1].classes}
        whole = frozenset(active - self.own)
        return Part(
            own=self.own,
            outputs=tuple(self._outputs()),
            cycles=tuple(reversed(cycles)),
            whole=whole,
            registers=frozenset(r for r in registers if r[0] not in active and r[0] not in self.own),
        )

    def _outputs(self) -> list[int]:
        """Return the words whose source it owns; inputs and constants belong to part 0."""
        return [
            i
            for i, source in enumerate(self.structure.outputs)
            if (self.owners[source.instance] if source.instance >= 0 else 0) == self.number
        ]

    def _cycle(self, needed: frozenset[int]) -> tuple[SubCycle, frozenset[tuple[int, int]]]:
        states = {i for i in needed if _has_state(self.structure, self.structure.instances[i].block)}
        registers: set[tuple[int, int]] = set()
        classes: set[tuple[int, int]] = set()
        waiting: list[tuple[int, int]] = []

        def read(instance: int, pins: int) -> None:
            for pin, source in enumerate(self.structure.sources[instance]):
                if pins >> pin & 1 and source.instance >= 0:
                    reach(source.instance, source.node)

        def reach(instance: int, node: int) -> None:
            block = self.structure.instances[instance].block
            if self.structure.design.blocks[block].nodes[node].op == "register":
                registers.add((instance, node))
            else:
                waiting.append((instance, self.class_of[block, node]))

        for instance in states:
            block = self.structure.instances[instance].block
            waiting += [(instance, number) for number in range(len(self.structure.classes[block]))]
            read(instance, -1)
        for number in self._outputs():
            source = self.structure.outputs[number]
            if source.instance >= 0:
                reach(source.instance, source.node)
        while waiting:
            instance, number = waiting.pop()
            if (instance, number) in classes:
                continue
            classes.add((instance, number))
            found = self.structure.classes[self.structure.instances[instance].block]
            pins = found[number].pins
            waiting += [(instance, e) for e in range(number) if found[e].pins & pins == found[e].pins]
            read(instance, pins)
        valid = states | {i for i, _ in classes} | {i for i, _ in registers}
        cycle = SubCycle(states=frozenset(states), classes=frozenset(classes), valid=frozenset(valid))
        return cycle, frozenset(registers)
