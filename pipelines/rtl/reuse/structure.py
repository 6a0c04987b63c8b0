"""Instances of blocks, the source of every pin, classes of outputs and the levels of evaluation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pipelines.base.limited import reading
from pipelines.rtl.reuse.blocks import TOP, Block
from pipelines.rtl.reuse.elaboration import Design, instance_counts
from pipelines.rtl.reuse.errors import CombinationalLoop
from pipelines.rtl.reuse.ir import LEAVES, LIMB
from pipelines.rtl.reuse.simplify import with_logic_of_bits, with_shared_conditions

ENVIRONMENT = -1
"""Instance number of the inputs of the design."""
CONSTANT = -2
"""Instance number of a constant; the node is its value."""


class Source(NamedTuple):
    """What a pin reads: a node of an instance, a word of the inputs, or a constant."""

    instance: int
    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An instance of a block; `children` are numbers of instances, in the order of the block's children."""

    block: str
    path: str
    parent: int
    child: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputClass:
    """Nodes of a block that other instances read and that need the same pins within a cycle.

    Attributes:
        pins: set of pins as bits. levels: by lane of the block; a class is evaluated after its sources.
    """

    block: str
    nodes: tuple[int, ...]
    pins: int
    levels: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A design without hierarchy.

    Attributes:
        lanes: instances of every block, in the order of their lanes.
        classes: of every block, each after those whose pins are a subset of its own.
        outputs: sources of the words of the design's outputs, in order.
    """

    design: Design
    instances: Sequence[Instance]
    lanes: Mapping[str, Sequence[int]]
    sources: Sequence[Sequence[Source]]
    classes: Mapping[str, Sequence[OutputClass]]
    outputs: Sequence[Source]

    @cached_property
    def used(self) -> Mapping[str, Mapping[int, frozenset[int]]]:
        """By block and node: instances whose node another instance or an output reads."""
        used: dict[str, dict[int, set[int]]] = {name: defaultdict(set) for name in self.design.blocks}
        for source in (*self.outputs, *(s for pins in self.sources for s in pins)):
            if source.instance >= 0:
                used[self.instances[source.instance].block][source.node].add(source.instance)
        return {b: {n: frozenset(i) for n, i in nodes.items()} for b, nodes in used.items()}

    @property
    def highest_level(self) -> int:
        """0 when nothing but registers drives pins and outputs."""
        levels = [max(c.levels) for classes in self.classes.values() for c in classes]
        return max(levels, default=0)


def words_of(ports: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Return the words of 64 bits of ports: name, number of the word, width."""
    return [(p, i, min(LIMB, w - LIMB * i)) for p, w in ports.items() for i in range(-(-w // LIMB))]


def analyse(design: Design) -> Structure:
    """Return instances, sources, classes and levels of a design.

    Raises: CombinationalLoop: through several blocks.
    """
    with reading(f"design {design.top}"):
        counts = instance_counts(design)
        blocks = {name: with_logic_of_bits(block) for name, block in design.blocks.items()}
        blocks |= {name: with_shared_conditions(blocks[name]) for name in blocks if counts[name] == 1}
        return _analysed(replace(design, blocks=blocks))


def _analysed(design: Design) -> Structure:
    instances = _instances(design)
    resolver = _Resolver(design, instances)
    sources = [
        [resolver.pin(number, pin) for pin in range(len(design.blocks[instance.block].pins))]
        for number, instance in enumerate(instances)
    ]
    top = design.blocks[design.top]
    outputs = [resolver.node(0, node) for key, node in top.outputs.items() if key.child == TOP]
    masks = {name: _pin_masks(block) for name, block in design.blocks.items()}
    exported = _exported(design, instances, sources, outputs)
    levels = _Levels(design, instances, sources, masks)
    lanes: dict[str, list[int]] = {name: [] for name in design.blocks}
    for number in sorted(range(len(instances)), key=lambda n: _natural(instances[n].path)):
        lanes[instances[number].block].append(number)
    classes: dict[str, list[OutputClass]] = {}
    for name, numbers in lanes.items():
        found = _classes(name, sorted(exported[name]), masks[name], numbers, levels)
        order = sorted(range(len(numbers)), key=lambda i: [c.levels[i] for c in found])
        lanes[name] = [numbers[i] for i in order]
        classes[name] = [_reordered(c, order) for c in found]
    return Structure(
        design=design, instances=instances, lanes=lanes, sources=sources, classes=classes, outputs=outputs
    )


def _natural(path: str) -> list[tuple[int, int, str]]:
    """Return the names by their numbers: u2 before u10."""
    return [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split(r"(\d+)", path)]


def _instances(design: Design) -> list[Instance]:
    waiting: list[tuple[str, str, int, int]] = [(design.top, design.top, -1, -1)]
    made: list[tuple[str, str, int, int]] = []
    children: dict[int, list[int]] = defaultdict(list)
    for number, (block, path, parent, child) in enumerate(waiting):
        made.append((block, path, parent, child))
        if parent >= 0:
            children[parent].append(number)
        waiting += [
            (c.block, f"{path}.{c.name}", number, i) for i, c in enumerate(design.blocks[block].children)
        ]
    return [
        Instance(block=block, path=path, parent=parent, child=child, children=tuple(children[number]))
        for number, (block, path, parent, child) in enumerate(made)
    ]


class _Resolver:
    """Follows wires through instances to what drives them."""

    def __init__(self, design: Design, instances: Sequence[Instance]) -> None:
        self.design, self.instances = design, instances
        self.inputs = {(port, limb): i for i, (port, limb, _) in enumerate(words_of(design.inputs))}

    def pin(self, instance: int, pin: int) -> Source:
        """Return what a pin reads."""
        passed: dict[tuple[int, int], None] = {}
        while True:
            if (instance, pin) in passed:
                blocks = self.design.blocks
                names = [_pin_name(self.instances[i], blocks, p) for i, p in passed]
                raise CombinationalLoop(names, blocks=_inner_blocks([self.instances[i] for i, _ in passed]))
            passed[instance, pin] = None
            here = self.instances[instance]
            key = self.design.blocks[here.block].pins[pin]
            if key.child == TOP:
                if here.parent < 0:
                    return Source(ENVIRONMENT, self.inputs[key.port, key.limb])
                instance, key = here.parent, key._replace(child=here.child)
            else:
                instance, key = here.children[key.child], key._replace(child=TOP)
            block = self.design.blocks[self.instances[instance].block]
            node = block.outputs[key]
            content = block.nodes[node]
            if content.op == "const":
                return Source(CONSTANT, content.value)
            if content.op != "input":
                return Source(instance, node)
            pin = content.value

    def node(self, instance: int, node: int) -> Source:
        """Return a node, or what the pin behind it reads."""
        content = self.design.blocks[self.instances[instance].block].nodes[node]
        if content.op == "const":
            return Source(CONSTANT, content.value)
        return self.pin(instance, content.value) if content.op == "input" else Source(instance, node)


def _pin_name(instance: Instance, blocks: Mapping[str, Block], pin: int) -> str:
    key = blocks[instance.block].pins[pin]
    inner = "" if key.child == TOP else f"{blocks[instance.block].children[key.child].name}."
    return f"{instance.path}.{inner}{key.port}"


def _inner_blocks(instances: Sequence[Instance]) -> set[str]:
    """Return the blocks of instances, without that of an instance that contains all others."""
    blocks = {instance.path: instance.block for instance in instances}
    outer = min(blocks, key=len)
    if len(blocks) > 1 and all(path == outer or path.startswith(f"{outer}.") for path in blocks):
        del blocks[outer]
    return set(blocks.values())


def _pin_masks(block: Block) -> list[int]:
    """Return for every node the pins that it depends on within a cycle, as bits."""
    masks: list[int] = []
    for node in block.nodes:
        bits = 1 << node.value if node.op == "input" else 0
        for arg in node.args:
            bits |= masks[arg]
        masks.append(bits)
    return masks


def _exported(
    design: Design,
    instances: Sequence[Instance],
    sources: Sequence[Sequence[Source]],
    outputs: Sequence[Source],
) -> Mapping[str, set[int]]:
    exported: dict[str, set[int]] = {name: set() for name in design.blocks}
    for source in (*outputs, *(s for pins in sources for s in pins)):
        if source.instance >= 0:
            exported[instances[source.instance].block].add(source.node)
    return exported


class _Levels:
    """Level of every (instance, set of pins): one more than the highest level of what the pins read."""

    def __init__(
        self,
        design: Design,
        instances: Sequence[Instance],
        sources: Sequence[Sequence[Source]],
        masks: Mapping[str, Sequence[int]],
    ) -> None:
        self.design, self.instances, self.sources, self.masks = design, instances, sources, masks
        self.known: dict[tuple[int, int], int] = {}

    def level(self, instance: int, mask: int) -> int:
        """Return the depth first without recursion.

        Raises: CombinationalLoop.
        """
        start = (instance, mask)
        path: dict[tuple[int, int], Iterator[tuple[int, int]]] = {}
        if start not in self.known:
            path[start] = self._needed(start)
        while path:
            current, following = next(reversed(path.items()))
            key = next((k for k in following if k not in self.known), None)
            if key is None:
                self.known[current] = 1 + max((self.known[k] for k in self._needed(current)), default=0)
                del path[current]
            elif key in path:
                self._report([*path][[*path].index(key) :])
            else:
                path[key] = self._needed(key)
        return self.known[start]

    def _needed(self, key: tuple[int, int]) -> Iterator[tuple[int, int]]:
        instance, mask = key
        for pin in _bits(mask):
            source = self.sources[instance][pin]
            if source.instance >= 0:
                block = self.instances[source.instance].block
                if self.design.blocks[block].nodes[source.node].op != "register":
                    yield source.instance, self.masks[block][source.node]

    def _report(self, loop: Sequence[tuple[int, int]]) -> None:
        names: list[str] = []
        for (instance, mask), (following, inner) in zip(loop, [*loop[1:], loop[0]], strict=True):
            pin = next(
                p
                for p in _bits(mask)
                if (source := self.sources[instance][p]).instance == following
                and self.masks[self.instances[following].block][source.node] == inner
            )
            names.append(_pin_name(self.instances[instance], self.design.blocks, pin))
        raise CombinationalLoop(names[::-1], blocks=_inner_blocks([self.instances[i] for i, _ in loop]))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _classes(
    block: str, exported: Sequence[int], masks: Sequence[int], lanes: Sequence[int], levels: _Levels
) -> list[OutputClass]:
    """Return the classes of a block's exported nodes; those with the same levels in all lanes are one."""
    nodes = levels.design.blocks[block].nodes
    by_mask: dict[int, list[int]] = defaultdict(list)
    for node in exported:
        if nodes[node].op not in LEAVES:
            by_mask[masks[node]].append(node)
    by_levels: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for mask in by_mask:
        by_levels[tuple(levels.level(instance, mask) for instance in lanes)].append(mask)
    classes: list[OutputClass] = []
    for found, merged in by_levels.items():
        members = tuple(sorted(node for mask in merged for node in by_mask[mask]))
        pins = 0
        for mask in merged:
            pins |= mask
        classes.append(OutputClass(block=block, nodes=members, pins=pins, levels=found))
    return sorted(classes, key=lambda c: (c.pins.bit_count(), c.levels))


def _reordered(output_class: OutputClass, order: Sequence[int]) -> OutputClass:
    return OutputClass(
        block=output_class.block,
        nodes=output_class.nodes,
        pins=output_class.pins,
        levels=tuple(output_class.levels[i] for i in order),
    )
