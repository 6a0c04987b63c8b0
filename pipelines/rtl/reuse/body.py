"""The statements of a function of a block: what it loads, computes and stores, in one lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pipelines.rtl.reuse.blocks import Block
from pipelines.rtl.reuse.branches import ZERO, Branch, Item, nodes_of, plan
from pipelines.rtl.reuse.expressions import expression, literal, operand, type_of
from pipelines.rtl.reuse.ir import mask
from pipelines.rtl.reuse.phases import Phase
from pipelines.rtl.reuse.placement import Access, ArrayKey, Placement


@dataclass(slots=True, kw_only=True)
class WordArray:
    """An array of the state: its C++ name, bits per word, slots in front of slot 0, slots in all."""

    name: str
    width: int
    front: int
    slots: int
    is_double: bool = False


class State(Protocol):
    """What a body asks of the state of a simulator.

    Attributes: memories: C++ name of a memory, by block and number. is_skipping: see `activity`.
    """

    stimuli: int
    placement: Placement
    arrays: dict[ArrayKey, WordArray]
    memories: dict[tuple[str, int], str]
    is_skipping: bool

    def base(self, key: ArrayKey, *, is_next: bool = False) -> str:
        """Return the pointer to slot 0 of an array."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An item of a function, None for none, and the arrays that it stores to with the nodes of the values."""

    item: Item | None
    stores: list[tuple[ArrayKey, int]] = field(default_factory=list[tuple[ArrayKey, int]])


class Body:
    """The statements of one lane.

    Attributes:
        pointers: declarations that the lines since the last `forget_pointers` need. is_alone: one lane.
        stored: registers that the sides of a branch store, by the multiplexer of their next value, with the
                node of their present one.
    """

    def __init__(self, state: State, name: str, block: Block, phase: Phase, *, is_state: bool) -> None:
        self.state, self.name, self.block = state, name, block
        self.phase, self.is_state = phase, is_state
        self.pointers: list[str] = []
        self.names: dict[int, str] = {}
        self.is_alone = state.stimuli == state.placement.extents[name] == 1
        self.has_broadcast = False
        self._known: dict[str, str] = {}
        self.stored: dict[int, tuple[ArrayKey, int]] = {}
        self._order: dict[int, int] = {}

    def lines(self) -> list[str]:
        """Return all statements: values, writes to memories, stores."""
        if self.is_alone:
            return [*(line for step in self.steps() for line in self.step_lines(step)), *self.write_lines()]
        values = [self.value_line(number) for number in self.computed()]
        stores = [self.store_line(key, node) for key, node in self.stores()]
        return [*values, *self.write_lines(), *stores]

    # ---- one lane, which may go its own way --------------------------------------------------------------

    def steps(self) -> list[Step]:
        """Return the items of a function, each with what can be stored once it is known.

        A register is stored where its next value is known and its present one has been read.
        """
        items = plan(self.block.nodes, self.computed(), self.phase.loaded, self.roots())
        places = {node: place for place, item in enumerate(items) for node in nodes_of(item)}
        self._order = {node: place for place, node in enumerate(places)}
        reads = {self.block.nodes[n].value: n for n in places if self.block.nodes[n].op == "register"}
        uses = Counter(a for n in places if n not in self.phase.loaded for a in self.block.nodes[n].args)
        uses.update(self.roots())
        steps = [Step(item=None), *(Step(item=item) for item in items)]
        for key, node in self.stores():
            own = reads.get(key.number, -1) if key.kind == "register" else -1
            if own >= 0 and node in places and not self.state.arrays[key].is_double:
                self._store_in_branches(items[places[node]], key, node, own, uses)
            if node not in self.stored:
                steps[1 + max(places.get(node, -1), places.get(own, -1))].stores.append((key, node))
        return steps

    def step_lines(self, step: Step) -> Iterator[str]:
        """Yield the statements of a step."""
        if step.item is not None:
            yield from self._item_lines(step.item)
        yield from (self.store_line(key, node) for key, node in step.stores)

    def _store_in_branches(
        self, item: Item, key: ArrayKey, node: int, own: int, uses: Mapping[int, int]
    ) -> None:
        """Store a register in the sides of a branch that change it.

        Its next value has no other use, and its present one has been read before.
        """
        is_free = uses[node] == 1 and self._order[own] < self._order[node]
        if isinstance(item, int) or not is_free or self.block.nodes[node].op != "mux":
            return
        self.stored[node] = (key, own)
        for items, value in zip((item.yes, item.no), item.choices[node], strict=True):
            inner = next((i for i in items if isinstance(i, Branch) and value in i.choices), None)
            if inner is not None:
                self._store_in_branches(inner, key, value, own, uses)

    def roots(self) -> list[int]:
        """Return the nodes that are stored or written, in order."""
        return [*(node for _, node in self.stores()), *self.written()]

    def written(self) -> list[int]:
        """Return the nodes that writes to memories read."""
        return [
            node
            for memory in (self.block.memories if self.is_state else ())
            for write in memory.writes
            for node in (write.address, write.data, write.mask)
        ]

    def _item_lines(self, item: Item) -> Iterator[str]:
        """Yield the definition of a node's value, or a branch with what only its sides need."""
        if isinstance(item, int):
            yield self.value_line(item)
            return
        for node in item.choices:
            if node not in self.stored:
                yield f"{type_of(self.block.nodes[node].width)} n{node};"
        for side, items in enumerate((item.yes, item.no)):
            yield "} else {" if side else f"if ({self._operand(item.condition)}) {{"
            yield from (line for inner in items for line in self._item_lines(inner))
            for node, values in item.choices.items():
                yield from self._choice(node, values[side])
        yield "}"

    def computed(self) -> list[int]:
        """Return the nodes that are loaded or computed, in order of dependence; constants are not."""
        nodes = sorted({*self.phase.order, *self.phase.loaded})
        variables = [number for number in nodes if self.block.nodes[number].op != "const"]
        self.names |= {number: f"n{number}" for number in variables}
        return variables

    def stores(self) -> Iterator[tuple[ArrayKey, int]]:
        """Yield the arrays that the function stores to, and the nodes."""
        yield from ((ArrayKey("node", self.name, node), node) for node in self.phase.stored)
        for i, register in enumerate(self.block.registers if self.is_state else ()):
            key = ArrayKey("register", self.name, i)
            following = self.block.nodes[register.next]
            keeps = (following.op, following.value) == ("register", i)
            if not keeps or self.state.arrays[key].is_double:
                yield key, register.next

    def _choice(self, node: int, value: int) -> Iterator[str]:
        """Yield what a side of a branch does for a choice: it names its value, or stores it."""
        if node not in self.stored:
            yield f"n{node} = {'0' if value == ZERO else self._operand(value)};"
            return
        key, own = self.stored[node]
        if value != own and value not in self.stored:
            yield self.store_line(key, value)

    def forget_pointers(self) -> None:
        """Begin another function: pointers are declared anew where they are used."""
        self.pointers.clear()
        self._known.clear()

    def value_line(self, number: int) -> str:
        """Return the definition of a node's value."""
        return f"const {type_of(self.block.nodes[number].width)} n{number} = {self._value(number)};"

    def store_line(self, key: ArrayKey, node: int) -> str:
        """Return the store of a node's value."""
        return f"{self._pointer(key, is_written=True)}[k] = {self._operand(node)};"

    def is_leaf(self, number: int) -> bool:
        """Tell whether a node is read from an array and not computed."""
        return number in self.phase.loaded or self.block.nodes[number].op in {"register", "input"}

    def _operand(self, number: int) -> str:
        return operand(self.block, number, self.names)

    def _value(self, number: int) -> str:
        node = self.block.nodes[number]
        if number in self.phase.loaded:
            return f"{self._pointer(ArrayKey('node', self.name, number))}[k]"
        if node.op == "register":
            return f"{self._pointer(ArrayKey('register', self.name, node.value))}[k]"
        if node.op == "input":
            return self._pin(self.state.placement.accesses[self.name][node.value], node.width)
        if node.op == "memread":
            return self._read(number)
        return expression(self.block, number, self.names)

    def _pin(self, access: Access, width: int) -> str:
        if access.array is None:
            return literal(access.constant or 0, width)
        if access.slot is None:
            return f"{self._pointer(access.array, distance=access.distance)}[k]"
        n = self.state.stimuli
        pointer = self._pointer(access.array, distance=-access.slot)
        if n == 1:
            return f"{pointer}[0]"
        self.has_broadcast = True
        return f"{pointer}[s]"

    def _read(self, number: int) -> str:
        node = self.block.nodes[number]
        memory = self.block.memories[node.value]
        address = self._operand(node.args[0])
        text = f"st.{self.state.memories[self.name, node.value]}[(size_t)k * {memory.size} + {address}]"
        if mask(self.block.nodes[node.args[0]].width) < memory.size:
            return text
        return f"{address} < {memory.size} ? {text} : ({type_of(node.width)})0"

    def write_lines(self) -> Iterator[str]:
        """Yield the lines that write memories."""
        for i, memory in enumerate(self.block.memories if self.is_state else ()):
            name = self.state.memories[self.name, i]
            for write in memory.writes:
                address, data = self._operand(write.address), self._operand(write.data)
                bits = self.block.nodes[write.mask]
                is_inside = mask(self.block.nodes[write.address].width) < memory.size
                check = "" if is_inside else f" && {address} < {memory.size}"
                word = f"st.{name}[(size_t)k * {memory.size} + {address}]"
                kind = type_of(memory.width)
                enable = self._operand(write.mask)
                told = " st.wrote = 1;" if self.state.is_skipping else ""
                if (bits.op == "sext" and self.block.nodes[bits.args[0]].width == 1) or bits.width == 1:
                    yield f"if ({enable}{check}) {{ {word} = {data};{told} }}"
                else:
                    mixed = f"({word} & ~{enable}) | ({data} & {enable})"
                    yield f"if ({enable}{check}) {{ {word} = ({kind})({mixed});{told} }}"

    def _pointer(self, key: ArrayKey, *, distance: int = 0, is_written: bool = False) -> str:
        array = self.state.arrays[key]
        base = self.state.base(key, is_next=is_written)
        offset = -distance * self.state.stimuli
        text = f"{base} + {offset}" if offset >= 0 else f"{base} - {-offset}"
        if text not in self._known:
            name = self._known[text] = f"p{len(self._known)}"
            constant = "" if is_written or not array.is_double else "const "
            self.pointers.append(f"{constant}{type_of(array.width)}* const {name} = {text};")
        return self._known[text]
