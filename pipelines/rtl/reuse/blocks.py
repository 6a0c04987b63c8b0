"""Cells of a unique module to the nodes of a block, on demand from its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.rtl.reuse.cells import BITWISE, STORAGE, make_cell
from pipelines.rtl.reuse.errors import CombinationalLoop, RtlError
from pipelines.rtl.reuse.ir import LIMB, Builder, Node, Piece, Signal, mask
from pipelines.rtl.reuse.netlist import Netlist
from pipelines.rtl.reuse.raw_modules import Bit, Cell, Driver, RawModule, bits_value
from pipelines.rtl.reuse.words import Words

_OFFSET_SIGN = 31
"""Bit of the sign of a memory's first address. The netlist lacks the signs of the addresses themselves."""
_CHOICES = {"$mux", "$pmux", "$bwmux"}
_KEPT = "; a block that does not assign a signal in every case keeps its value, as a latch does"
TOP = -1
"""Child number of the pins that are ports of the block's own module."""


class PinKey(NamedTuple):
    """A word at the border of a block: of a port of its module (child -1) or of a port of a child."""

    child: int
    port: str
    limb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """A word that keeps its value between cycles; `next` is a node.

    Attributes:
        low: lowest bit of the register of which it is a part; the name ends in it if it is not 0.
        indices: of its first bit in the signal of its name, which may have several registers.
    """

    name: str
    width: int
    initial: int
    next: int
    low: int = 0
    indices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePort:
    """A write at the clock edge: nodes of the address, the data and the mask of bits."""

    address: int
    data: int
    mask: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Words of at most 64 bits; ports write in order."""

    name: str
    width: int
    size: int
    initial: tuple[int, ...]
    writes: tuple[WritePort, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """An instance of another block: its name below this block, and its block's name."""

    name: str
    block: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The logic of a unique module with that of the modules that joined it.

    Attributes:
        nodes: in order of dependence.
        pins: input pins: ports of the module, and outputs of children; by number.
        outputs: node of every output port of the module, and of every input port of a child.
    """

    name: str
    nodes: Sequence[Node]
    pins: Sequence[PinKey]
    outputs: Mapping[PinKey, int]
    children: Sequence[Child]
    registers: Sequence[Register]
    memories: Sequence[Memory]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Scope:
    """A module within the block that is built: the block's own, or one that joined it."""

    module: RawModule
    path: str
    parent: _Scope | None = None
    instance: int = TOP
    inner: dict[int, _Scope] = field(default_factory=dict[int, "_Scope"])


class _Part(NamedTuple):
    """What one evaluation gives: a cell's output, a read port of a memory, or a bit of a bitwise cell."""

    scope: _Scope
    cell: int
    part: int


WHOLE = -1


class _SplitNeeded(Exception):
    """A loop of words that may be none of bits: the cells to evaluate bit by bit."""

    def __init__(self, cells: set[tuple[str, int]]) -> None:
        super().__init__()
        self.cells = cells


def build_block(
    netlist: Netlist,
    name: str,
    joined: frozenset[str],
    clocks: Mapping[str, frozenset[str]],
    blocks: Mapping[str, Block],
) -> Block:
    """Return the block of a module.

    Args:   joined: modules that are part of their parents. clocks: ports that are clocks, by module.
            blocks: of its children.
    Raises: RtlError: the module is rejected. CombinationalLoop: within it.
    """
    split: set[tuple[str, int]] = set()
    while True:
        try:
            return _BlockBuilder(netlist, name, joined, clocks, blocks, frozenset(split)).build()
        except _SplitNeeded as needed:
            split |= needed.cells


class _BlockBuilder:
    """Evaluates cells on demand; everything that no output needs is left out."""

    def __init__(
        self,
        netlist: Netlist,
        name: str,
        joined: frozenset[str],
        clocks: Mapping[str, frozenset[str]],
        blocks: Mapping[str, Block],
        split: frozenset[tuple[str, int]],
    ) -> None:
        self.netlist, self.name, self.joined, self.split = netlist, name, joined, split
        self.clocks, self.blocks = clocks, blocks
        self.builder = Builder(name)
        self.words = Words(self.builder)
        self.root = _Scope(module=netlist.modules[name], path="")
        self.values: dict[_Part, Signal] = {}
        self.pins: dict[PinKey, int] = {}
        self.outputs: dict[PinKey, int] = {}
        self.children: dict[tuple[_Scope, int], int] = {}
        self.child_list: list[Child] = []
        self.storage: dict[tuple[_Scope, int], int] = {}  # first register or memory of a cell
        self.register_widths: list[tuple[str, int, int, int, tuple[int, ...]]] = []
        self.register_next: dict[int, int] = {}
        self.memories: list[tuple[str, int, int, tuple[int, ...]]] = []
        self.memory_writes: dict[int, list[WritePort]] = {}
        self.pending: list[tuple[_Scope, int]] = []  # storage and children whose inputs are not evaluated yet

    def build(self) -> Block:
        """Build the block; outputs first, then what they turned out to need."""
        for port, bits in self.root.module.outputs.items():
            self._put(TOP, port, self._signal(self.root, bits))
        while self.pending:
            scope, index = self.pending.pop(0)
            cell = scope.module.cells[index]
            if cell.kind in self.netlist.modules:
                self._finish_child(scope, index, cell)
            elif cell.kind == "$mem_v2":
                self._finish_memory(scope, index, cell)
            else:
                self._finish_register(scope, index, cell)
        registers = [
            Register(
                name=name, width=width, initial=initial, next=self.register_next[i], low=low, indices=indices
            )
            for i, (name, width, initial, low, indices) in enumerate(self.register_widths)
        ]
        memories = [
            Memory(name=name, width=width, size=size, initial=initial, writes=tuple(self.memory_writes[i]))
            for i, (name, width, size, initial) in enumerate(self.memories)
        ]
        return Block(
            name=self.name,
            nodes=self.builder.nodes,
            pins=list(self.pins),
            outputs=self.outputs,
            children=self.child_list,
            registers=registers,
            memories=memories,
        )

    def _put(self, child: int, port: str, signal: Signal) -> None:
        for limb, node in enumerate(signal.limbs if signal.width else ()):
            self.outputs[PinKey(child, port, limb)] = node

    # ---- nets ------------------------------------------------------------------------------------------

    def _resolve(self, scope: _Scope, bit: Bit) -> tuple[_Scope, Driver] | int:
        """Return constant, or the cell or pin that drives a net, through modules that joined the block."""
        passed = 0
        while True:
            if isinstance(bit, str):
                return int(bit == "1")
            driver = scope.module.drivers.get(bit)
            if driver is None:
                return 0  # undriven
            if driver.cell == TOP:
                if scope.parent is None:
                    return scope, driver
                bits = scope.parent.module.cells[scope.instance].pins.get(driver.port, ())
                bit = bits[driver.offset] if driver.offset < len(bits) else "x"
                scope = scope.parent
            else:
                cell = scope.module.cells[driver.cell]
                if cell.kind not in self.joined:
                    return scope, driver
                scope = self._inner(scope, driver.cell, cell)
                bit = scope.module.outputs[driver.port][driver.offset]
            passed += 1
            if passed > 10_000:
                raise CombinationalLoop([scope.path + scope.module.names.get(bit, str(bit))])

    def _inner(self, scope: _Scope, index: int, cell: Cell) -> _Scope:
        if index not in scope.inner:
            module = self.netlist.modules[cell.kind]
            scope.inner[index] = _Scope(
                module=module, path=f"{scope.path}{cell.name}.", parent=scope, instance=index
            )
        return scope.inner[index]

    def _part(self, scope: _Scope, driver: Driver) -> _Part | None:
        """Return what must be evaluated for a driver; None for pins and storage, which depend on nothing."""
        if driver.cell == TOP:
            return None
        cell = scope.module.cells[driver.cell]
        if cell.kind in self.netlist.modules:
            return None
        if cell.kind == "$mem_v2":
            return _Part(scope, driver.cell, driver.offset // cell.number("WIDTH"))
        is_split = (scope.module.name, driver.cell) in self.split
        return _Part(scope, driver.cell, driver.offset if is_split else WHOLE)

    def _signal(self, scope: _Scope, bits: Sequence[Bit]) -> Signal:
        """Return a signal from nets; evaluates what drives them."""
        roots = [self._resolve(scope, bit) for bit in bits]
        self._evaluate(dict.fromkeys(self._needed(roots)))
        return self._join(roots)

    def _needed(self, roots: Sequence[tuple[_Scope, Driver] | int]) -> Iterator[_Part]:
        for root in roots:
            if not isinstance(root, int):
                part = self._part(*root)
                if part is not None and part not in self.values:
                    yield part

    def _join(self, roots: Sequence[tuple[_Scope, Driver] | int]) -> Signal:
        pieces: list[Piece] = []
        for root in roots:
            if isinstance(root, int):
                pieces.append(Piece(self.builder.const(root, 1), 0, 1))
            else:
                pieces.append(self._piece(*root))
        return self.builder.join(_joined_constants(self.builder, pieces))

    def _piece(self, scope: _Scope, driver: Driver) -> Piece:
        part = self._part(scope, driver)
        offset = driver.offset
        if part is None:
            return self._pin(scope, driver)
        signal = self.values[part]
        cell = scope.module.cells[driver.cell]
        if cell.kind == "$mem_v2":
            offset %= cell.number("WIDTH")
        elif part.part != WHOLE:
            offset = 0
        return Piece(signal.limbs[offset // LIMB], offset % LIMB, 1)

    def _pin(self, scope: _Scope, driver: Driver) -> Piece:
        limb, offset = divmod(driver.offset, LIMB)
        if driver.cell == TOP:
            if driver.port in self.clocks[self.name]:
                raise RtlError(f"clock used as data: {driver.port} in {self.name}")
            child, width = TOP, len(scope.module.inputs[driver.port])
        else:
            child = self._child(scope, driver.cell)
            cell = scope.module.cells[driver.cell]
            width = len(self.netlist.modules[cell.kind].outputs[driver.port])
        number = self.pins.setdefault(PinKey(child, driver.port, limb), len(self.pins))
        return Piece(self.builder.add(Node("input", min(LIMB, width - LIMB * limb), (), number)), offset, 1)

    def _child(self, scope: _Scope, index: int) -> int:
        if (scope, index) not in self.children:
            cell = scope.module.cells[index]
            self.children[scope, index] = len(self.child_list)
            self.child_list.append(Child(name=scope.path + cell.name, block=cell.kind))
            self.pending.append((scope, index))
        return self.children[scope, index]

    # ---- evaluation in order of dependence -----------------------------------------------------------------

    def _evaluate(self, parts: Mapping[_Part, None]) -> None:
        """Evaluate parts and what they depend on; depth first without recursion.

        Raises: _SplitNeeded, CombinationalLoop.
        """
        path: dict[_Part, Iterator[_Part]] = {}
        for start in parts:
            if start in self.values:
                continue
            path[start] = self._dependencies(start)
            while path:
                current, following = next(reversed(path.items()))
                part = next((p for p in following if p not in self.values), None)
                if part is None:
                    self.values[current] = self._make(current)
                    del path[current]
                elif part in path:
                    self._report_loop([*path][[*path].index(part) :])
                else:
                    path[part] = self._dependencies(part)

    def _dependencies(self, part: _Part) -> Iterator[_Part]:
        bits = [bit for pins in self._operands(part).values() for bit in pins]
        seen: set[_Part] = set()
        for bit in bits:
            root = self._resolve(part.scope, bit)
            if not isinstance(root, int):
                needed = self._part(*root)
                if needed is not None and needed not in seen:
                    seen.add(needed)
                    yield needed

    def _operands(self, part: _Part) -> Mapping[str, Sequence[Bit]]:
        """Return the nets that a part depends on within the cycle, by port."""
        cell = part.scope.module.cells[part.cell]
        if cell.kind == "$mem_v2":
            bits = cell.number("ABITS")
            return {"RD_ADDR": cell.pins["RD_ADDR"][part.part * bits : (part.part + 1) * bits]}
        if cell.kind in STORAGE:
            return {
                port: cell.pins[port] for port in ("ARST", "ALOAD", "AD", "SET", "CLR") if port in cell.pins
            }
        if part.part == WHOLE:
            return {port: bits for port, bits in cell.pins.items() if port not in cell.outputs}
        return _operand_bits(cell, part.part)

    def _report_loop(self, loop: Sequence[_Part]) -> None:
        new = {
            (p.scope.module.name, p.cell)
            for p in loop
            if p.part == WHOLE and p.scope.module.cells[p.cell].kind in BITWISE
        }
        if new - self.split:
            raise _SplitNeeded(new)
        names, places = list[str](), list[str]()
        for scope, index, part in loop:
            cell = scope.module.cells[index]
            net = cell.pins[cell.outputs[0]][max(part, 0)]
            names.append(scope.path + scope.module.names.get(net, str(net)))
            places.append(cell.place)
        kinds = {scope.module.cells[index].kind for scope, index, _ in loop}
        kept = _KEPT if len(loop) == 1 and kinds <= _CHOICES else ""
        raise CombinationalLoop(names[::-1], places[-1] + kept)

    def _make(self, part: _Part) -> Signal:
        scope, index, number = part
        cell = scope.module.cells[index]
        if cell.kind == "$mem_v2":
            return self._read_memory(part, cell)
        if cell.kind in STORAGE:
            return self._read_register(scope, index, cell)
        operands = self._operands(part)
        pins = {port: [self._resolve(scope, bit) for bit in bits] for port, bits in operands.items()}
        if number != WHOLE:
            cell = _bit_cell(cell)
        return make_cell(self.words, cell, lambda port: self._join(pins[port]))

    # ---- storage -----------------------------------------------------------------------------------------

    def _read_register(self, scope: _Scope, index: int, cell: Cell) -> Signal:
        """Read the output of a flip-flop; an asynchronous input acts at once."""
        kept = self._stored_signal(scope, index, cell)
        return self._asynchronous(scope, cell, kept)

    def _stored_signal(self, scope: _Scope, index: int, cell: Cell) -> Signal:
        nets = cell.pins["Q"]
        width = len(nets)
        if (scope, index) not in self.storage:
            self.storage[scope, index] = len(self.register_widths)
            own, *indices = scope.module.names.get(nets[0], cell.name).split("[")
            numbers = tuple(int(i[:-1]) for i in indices if i[:-1].isdecimal())
            name = scope.path + own
            for low in range(0, width, LIMB):
                part = nets[low : low + LIMB]
                initial = sum(scope.module.initial.get(bit, 0) << i for i, bit in enumerate(part))
                name_of_part = name if low == 0 else f"{name}_{low}"
                self.register_widths.append((name_of_part, len(part), initial, low, numbers))
            self.pending.append((scope, index))
        first = self.storage[scope, index]
        limbs = [
            self.builder.add(Node("register", self.register_widths[first + i][1], (), first + i))
            for i in range(-(-width // LIMB))
        ]
        return Signal(width=width, limbs=tuple(limbs))

    def _asynchronous(self, scope: _Scope, cell: Cell, value: Signal) -> Signal:
        """Return a value after the asynchronous reset of a flip-flop.

        Yosys' other asynchronous cells follow levels where Verilog waits for edges, so engines would differ.
        """
        if cell.kind in ("$aldff", "$dffsr"):
            name = (
                f"{scope.module.names.get(cell.pins['Q'][0], cell.name).split('[')[0]} in {scope.module.name}"
            )
            what = "load of a signal" if cell.kind == "$aldff" else "set and reset by two signals"
            raise RtlError(f"asynchronous {what}: {name}; accepted: one reset to a constant")
        if cell.kind != "$adff":
            return value
        control = self._signal(scope, cell.pins["ARST"])
        active = control if cell.is_set("ARST_POLARITY") else self.words.invert(control)
        reset = self.words.const(cell.number("ARST_VALUE"), value.width)
        return self.words.mux(active.limbs[0], reset, value)

    def _finish_register(self, scope: _Scope, index: int, cell: Cell) -> None:
        data = self._asynchronous(scope, cell, self._signal(scope, cell.pins["D"]))
        first = self.storage[scope, index]
        for i, node in enumerate(data.limbs):
            self.register_next[first + i] = node

    def _memory(self, scope: _Scope, index: int, cell: Cell) -> int:
        """Return the first of the memories, of 64 bits each, that hold a memory's words."""
        if (scope, index) not in self.storage:
            if cell.number("RD_CLK_ENABLE"):
                raise RtlError(f"memory with clocked read port: {cell.name} in {scope.module.name}")
            self.storage[scope, index] = len(self.memories)
            width, size = cell.number("WIDTH"), cell.number("SIZE")
            content = _initial_words(cell, width, size)
            for low in range(0, width, LIMB):
                part = min(LIMB, width - low)
                words = tuple(word >> low & ((1 << part) - 1) for word in content)
                self.memories.append((scope.path + cell.name, part, size, words))
            self.pending.append((scope, index))
        return self.storage[scope, index]

    def _address(self, scope: _Scope, cell: Cell, bits: Sequence[Bit]) -> int:
        if not bits:  # of a memory of one word
            return self.builder.const(0, 1)
        address = self._signal(scope, bits)
        if address.width > LIMB:
            is_beyond = self.words.is_nonzero(self.words.slice(address, LIMB, address.width - LIMB))
            low, largest = self.words.slice(address, 0, LIMB), self.words.const(mask(LIMB), LIMB)
            address = self.words.mux(is_beyond, largest, low)
        first = cell.number("OFFSET") if "OFFSET" in cell.parameters else 0
        if first >> _OFFSET_SIGN:
            raise RtlError(
                f"negative address of a memory: {cell.name} in {scope.module.name}; accepted: 0 and more"
            )
        if first:
            width = max(address.width, (first + cell.number("SIZE")).bit_length())
            offset = self.words.const(first, width)
            address = self.words.add(self.words.extend(address, width), offset, is_difference=True)
        [word] = address.limbs
        return word

    def _read_memory(self, part: _Part, cell: Cell) -> Signal:
        first = self._memory(part.scope, part.cell, cell)
        address = self._address(part.scope, cell, self._operands(part)["RD_ADDR"])
        width = cell.number("WIDTH")
        limbs = [
            self.builder.add(Node("memread", self.memories[first + i][1], (address,), first + i))
            for i in range(-(-width // LIMB))
        ]
        return Signal(width=width, limbs=tuple(limbs))

    def _finish_memory(self, scope: _Scope, index: int, cell: Cell) -> None:
        first, width, bits = self.storage[scope, index], cell.number("WIDTH"), cell.number("ABITS")
        count = -(-width // LIMB)
        for i in range(count):
            self.memory_writes[first + i] = []
        for port in range(cell.number("WR_PORTS")):
            address = self._address(scope, cell, cell.pins["WR_ADDR"][port * bits : (port + 1) * bits])
            data = self._signal(scope, cell.pins["WR_DATA"][port * width : (port + 1) * width])
            enable = self._signal(scope, cell.pins["WR_EN"][port * width : (port + 1) * width])
            for i in range(count):
                write = WritePort(address=address, data=data.limbs[i], mask=enable.limbs[i])
                self.memory_writes[first + i].append(write)

    def _finish_child(self, scope: _Scope, index: int, cell: Cell) -> None:
        child, module = self.children[scope, index], self.netlist.modules[cell.kind]
        for key in self.blocks[cell.kind].pins:
            if key.child == TOP:
                width, bits = len(module.inputs[key.port]), list(cell.pins.get(key.port, ()))
                padded = [*bits[:width], *["0"] * (width - len(bits))]
                part = padded[key.limb * LIMB : (key.limb + 1) * LIMB]
                self.outputs[PinKey(child, key.port, key.limb)] = self._signal(scope, part).limbs[0]


def _joined_constants(builder: Builder, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the neighbouring constant bits as one constant of up to 64 bits, so that words stay words."""
    result: list[Piece] = []
    run: list[int] = []

    def flush() -> None:
        if run:
            for low in range(0, len(run), LIMB):
                part = run[low : low + LIMB]
                value = sum(bit << i for i, bit in enumerate(part))
                result.append(Piece(builder.const(value, len(part)), 0, len(part)))
            run.clear()

    for piece in pieces:
        value = builder.constant(piece.node) if piece.width == 1 else None
        if value is None:
            flush()
            result.append(piece)
        else:
            run.append(value >> piece.low & 1)
    flush()
    return result


def _operand_bits(cell: Cell, bit: int) -> Mapping[str, Sequence[Bit]]:
    """Return the nets that one output bit of a bitwise cell depends on, by port."""
    pins = cell.pins
    if cell.kind == "$mux":
        return {"A": [pins["A"][bit]], "B": [pins["B"][bit]], "S": pins["S"]}
    if cell.kind == "$pmux":
        return {"A": [pins["A"][bit]], "B": pins["B"][bit :: cell.number("WIDTH")], "S": pins["S"]}
    if cell.kind == "$bwmux":
        return {port: [pins[port][bit]] for port in "ABS"}
    ports = [port for port in ("A", "B") if port in pins]
    is_signed = all(cell.is_set(f"{port}_SIGNED") for port in ports)
    return {port: [_extended_bit(pins[port], bit, is_signed)] for port in ports}


def _extended_bit(bits: Sequence[Bit], bit: int, is_signed: bool) -> Bit:
    if bit < len(bits):
        return bits[bit]
    return bits[-1] if is_signed else "0"


def _bit_cell(cell: Cell) -> Cell:
    one = dict.fromkeys(("WIDTH", "A_WIDTH", "B_WIDTH", "Y_WIDTH"), "1")
    return Cell(
        name=cell.name,
        kind=cell.kind,
        parameters={**cell.parameters, **one},
        pins=cell.pins,
        outputs=cell.outputs,
    )


def _initial_words(cell: Cell, width: int, size: int) -> tuple[int, ...]:
    bits = cell.parameters["INIT"]
    given = min(size, -(-len(bits) // width)) if "1" in bits else 0
    words = [
        bits_value(bits[max(0, len(bits) - width * (i + 1)) : len(bits) - width * i]) for i in range(given)
    ]
    return (*words, *(0,) * (size - given)) if any(words) else ()
