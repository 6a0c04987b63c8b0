# ruff: noqa: ARG001 (all entries of a table have one signature)
"""A design in MLIR's hw, comb and seq dialects, for CIRCT's Arc passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pipelines.rtl.reuse.blocks import TOP, Block, Child, Memory, PinKey
from pipelines.rtl.reuse.elaboration import Design
from pipelines.rtl.reuse.ir import Node, mask

MODEL = "design"
"""Name of the top module in the text."""


def mlir_text(design: Design) -> str:
    """Return one module per block, instances as they are."""
    writer = _Writer(design)
    return "\n".join(line for name in design.blocks for line in writer.module(name)) + "\n"


class _Writer:
    def __init__(self, design: Design) -> None:
        self.design = design
        self.names = {name: f"b{i}" for i, name in enumerate(design.blocks)} | {design.top: MODEL}

    def module(self, name: str) -> Iterator[str]:
        block = self.design.blocks[name]
        outputs = [key for key in block.outputs if key.child == TOP]
        ports = ["in %clk: !seq.clock"]
        ports += [f"in %{self._pin(key)}: i{w}" for key, w in _inputs(block)]
        ports += [f"out {self._port(key)}: i{block.nodes[block.outputs[key]].width}" for key in outputs]
        for i, memory in enumerate(block.memories):
            yield from _writes(block, self.memory(name, i), memory)
        private = "" if name == self.design.top else "private "
        yield f"hw.module {private}@{self.names[name]}({', '.join(ports)}) {{"
        needed = _needed(block)
        for number in needed:
            yield from (f"  {line}" for line in self._node(block, number))
        for i, register in enumerate(block.registers):
            yield from (f"  {line}" for line in _register(block, i, register.next, register.initial))
        for i, memory in enumerate(block.memories):
            yield from (f"  {line}" for line in _memory(block, i, self.memory(name, i), memory, needed))
        for number, child in enumerate(block.children):
            yield f"  {self._instance(block, number, child)}"
        values = ", ".join(f"%n{block.outputs[key]}" for key in outputs)
        types = ", ".join(f"i{block.nodes[block.outputs[key]].width}" for key in outputs)
        yield f"  hw.output {values} : {types}" if outputs else "  hw.output"
        yield "}"

    def memory(self, block: str, memory: int) -> str:
        return f"{self.names[block]}_m{memory}"

    def _port(self, key: PinKey) -> str:
        """Return the name of a word of a port: by position, as names of Verilog may be keywords."""
        return f"w{_position(key)}"

    def _pin(self, key: PinKey) -> str:
        return f"in_{_position(key)}"

    def _node(self, block: Block, number: int) -> Iterator[str]:
        node = block.nodes[number]
        if node.op in ("register", "memread"):
            return
        if node.op == "input":
            key = block.pins[node.value]
            source = f"%{self._pin(key)}" if key.child == TOP else f"%c{key.child}_{_position(key)}"
            yield f"%n{number} = comb.or {source} : i{node.width}"
            return
        yield from _operation(block, number, node)

    def _instance(self, block: Block, number: int, child: Child) -> str:
        inner = self.design.blocks[child.block]
        ports = ["clk: %clk: !seq.clock"]
        ports += [
            f"{self._pin(key)}: %n{block.outputs[key._replace(child=number)]}: i{width}"
            for key, width in _inputs(inner)
        ]
        keys = [key for key in inner.outputs if key.child == TOP]
        results = ", ".join(f"%c{number}_{_position(key)}" for key in keys)
        types = ", ".join(f"{self._port(key)}: i{inner.nodes[inner.outputs[key]].width}" for key in keys)
        return (
            f'{results} = hw.instance "u{number}" @{self.names[child.block]}({", ".join(ports)}) -> ({types})'
        )


def _position(key: PinKey) -> str:
    """Return a port's name as letters and digits, and the number of its word."""
    return f"{key.port.encode().hex()}_{key.limb}"


def port_name(port: str, limb: int, *, is_input: bool) -> str:
    """Return the name in the text of a word of a port."""
    return f"{'in_' if is_input else 'w'}{_position(PinKey(TOP, port, limb))}"


def _inputs(block: Block) -> Iterator[tuple[PinKey, int]]:
    """Yield the input ports of a block's module, with their widths."""
    widths = {n.value: n.width for n in block.nodes if n.op == "input"}
    for number, key in enumerate(block.pins):
        if key.child == TOP:
            yield key, widths[number]


def initial_memories(design: Design) -> dict[str, tuple[int, ...]]:
    """Return the first words of every memory that does not start at 0, by its name in the text."""
    writer = _Writer(design)
    return {
        writer.memory(name, i): memory.initial
        for name, block in design.blocks.items()
        for i, memory in enumerate(block.memories)
        if memory.initial
    }


def _needed(block: Block) -> list[int]:
    """Return the nodes that outputs and registers need, in order."""
    seen: set[int] = set()
    stack = [*block.outputs.values(), *(r.next for r in block.registers)]
    stack += [n for m in block.memories for w in m.writes for n in (w.address, w.data, w.mask)]
    while stack:
        number = stack.pop()
        if number not in seen:
            seen.add(number)
            stack += block.nodes[number].args
    registers = [i for i, n in enumerate(block.nodes) if n.op == "register"]
    return sorted(seen | set(registers))


def _register(block: Block, register: int, following: int, initial: int) -> Iterator[str]:
    """Yield a register that starts at 0: it keeps its value exclusive-or its initial value."""
    node = next(i for i, n in enumerate(block.nodes) if n.op == "register" and n.value == register)
    width = block.nodes[node].width
    if not initial:
        yield f"%n{node} = seq.compreg %n{following}, %clk : i{width}"
        return
    yield f"%i{register} = hw.constant {initial} : i{width}"
    yield f"%x{register} = comb.xor %n{following}, %i{register} : i{width}"
    yield f"%r{register} = seq.compreg %x{register}, %clk : i{width}"
    yield f"%n{node} = comb.xor %r{register}, %i{register} : i{width}"


def _address_width(block: Block, number: int, memory: Memory) -> int:
    """Return the widest address of a memory's ports."""
    nodes = [w.address for w in memory.writes]
    nodes += [n.args[0] for n in block.nodes if n.op == "memread" and n.value == number]
    return max((block.nodes[n].width for n in nodes), default=1)


def _writes(block: Block, name: str, memory: Memory) -> Iterator[str]:
    """Yield the functions that pass on the operands of write ports, as the dialect wants them."""
    number = int(name.rpartition("_m")[2])
    types = [f"i{_address_width(block, number, memory)}", f"i{memory.width}", "i1", f"i{memory.width}"]
    arguments = ", ".join(f"%{i}: {kind}" for i, kind in zip("adem", types, strict=True))
    for i in range(len(memory.writes)):
        yield f"arc.define @{name}_w{i}({arguments}) -> ({', '.join(types)}) {{"
        yield f"  arc.output %a, %d, %e, %m : {', '.join(types)}"
        yield "}"


def _memory(block: Block, number: int, name: str, memory: Memory, needed: Sequence[int]) -> Iterator[str]:
    """Yield a memory and its ports; passes keep no order of writes, so what later ones write is masked."""
    width = _address_width(block, number, memory)
    kind = f"<{memory.size} x i{memory.width}, i{width}>"
    yield f'%m{number} = arc.memory {kind} {{name = "{name}"}}'
    if memory.writes:
        yield f"%m{number}_e = hw.constant true"
    for i, write in enumerate(memory.writes):
        to = f"%m{number}_{i}"
        yield from _resize(to, f"%n{write.address}", block.nodes[write.address].width, width)
    for i, write in enumerate(memory.writes):
        to = f"%m{number}_{i}"
        later = [(f"%m{number}_{i + 1 + j}", f"%n{w.mask}") for j, w in enumerate(memory.writes[i + 1 :])]
        yield from _won(to, f"%n{write.mask}", later, address_width=width, width=memory.width)
        operands = f"{to}, %n{write.data}, %m{number}_e, {to}_m"
        types = f"i{width}, i{memory.width}, i1, i{memory.width}"
        yield (
            f"arc.memory_write_port %m{number}, @{name}_w{i}({operands}) "
            f"clock %clk enable mask latency 1 : {kind}, {types}"
        )
    for reader in needed:
        node = block.nodes[reader]
        if node.op == "memread" and node.value == number:
            to, [address] = f"%m{number}_r{reader}", node.args
            yield from _resize(to, f"%n{address}", block.nodes[address].width, width)
            yield f"%n{reader} = arc.memory_read_port %m{number}[{to}] : {kind}"


def _won(
    to: str, mask_name: str, later: Sequence[tuple[str, str]], *, address_width: int, width: int
) -> Iterator[str]:
    """Yield the mask of a write without the bits that later ports write at the same address."""
    yield f"{to}_1 = hw.constant -1 : i{width}"
    masks = [mask_name]
    for i, (address, other) in enumerate(later):
        yield f"{to}_s{i} = comb.icmp eq {to}, {address} : i{address_width}"
        yield f"{to}_k{i} = comb.xor {other}, {to}_1 : i{width}"
        yield f"{to}_w{i} = comb.mux {to}_s{i}, {to}_k{i}, {to}_1 : i{width}"
        masks.append(f"{to}_w{i}")
    yield f"{to}_m = comb.and {', '.join(masks)} : i{width}"


# ---- operations ------------------------------------------------------------------------------------------


def _operation(block: Block, number: int, node: Node) -> Iterator[str]:
    args = [f"%n{a}" for a in node.args]
    widths = [block.nodes[a].width for a in node.args]
    yield from _FORMS[node.op](f"%n{number}", node, args, widths)


_Form = Callable[[str, Node, Sequence[str], Sequence[int]], Iterator[str]]


def _plain(name: str) -> _Form:
    def form(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
        yield f"{to} = comb.{name} {', '.join(a)} : i{n.width}"

    return form


def _compare(predicate: str) -> _Form:
    def form(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
        yield f"{to} = comb.icmp {predicate} {a[0]}, {a[1]} : i{w[0]}"

    return form


def _constant(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
    if n.width == 1:
        yield f"{to} = hw.constant {'true' if n.value else 'false'}"
    else:
        yield f"{to} = hw.constant {n.value} : i{n.width}"


def _invert(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
    yield f"{to}_m = hw.constant -1 : i{n.width}"
    yield f"{to} = comb.xor {a[0]}, {to}_m : i{n.width}"


def _shift(name: str) -> _Form:
    """Return a shift whose amount may be the width or more, where the dialect defines nothing."""

    def form(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
        wide = max(n.width, w[1])
        yield from _resize(f"{to}_a", a[0], n.width, wide, is_signed=name == "shrs")
        yield from _resize(f"{to}_b", a[1], w[1], wide)
        last = min(n.width - 1, mask(wide))
        yield f"{to}_w = hw.constant {last} : i{wide}"
        yield f"{to}_o = comb.icmp ugt {to}_b, {to}_w : i{wide}"
        if name == "shrs":
            yield f"{to}_c = comb.mux {to}_o, {to}_w, {to}_b : i{wide}"
            yield f"{to}_s = comb.shrs {to}_a, {to}_c : i{wide}"
        else:
            yield f"{to}_z = hw.constant 0 : i{wide}"
            yield f"{to}_c = comb.mux {to}_o, {to}_z, {to}_b : i{wide}"
            yield f"{to}_t = comb.{name} {to}_a, {to}_c : i{wide}"
            yield f"{to}_s = comb.mux {to}_o, {to}_z, {to}_t : i{wide}"
        yield f"{to} = comb.extract {to}_s from 0 : (i{wide}) -> i{n.width}"

    return form


def _divide(name: str, *, is_signed: bool) -> _Form:
    """Return a division that gives 0 for a divisor of 0; one more bit holds the lowest number by -1."""

    def form(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
        wide = n.width + 1
        yield from _resize(f"{to}_a", a[0], n.width, wide, is_signed=is_signed)
        yield from _resize(f"{to}_b", a[1], n.width, wide, is_signed=is_signed)
        yield f"{to}_z = hw.constant 0 : i{wide}"
        yield f"{to}_1 = hw.constant 1 : i{wide}"
        yield f"{to}_e = comb.icmp eq {to}_b, {to}_z : i{wide}"
        yield f"{to}_d = comb.mux {to}_e, {to}_1, {to}_b : i{wide}"
        yield f"{to}_q = comb.{name} {to}_a, {to}_d : i{wide}"
        yield f"{to}_r = comb.mux {to}_e, {to}_z, {to}_q : i{wide}"
        yield f"{to} = comb.extract {to}_r from 0 : (i{wide}) -> i{n.width}"

    return form


def _resize(to: str, a: str, width: int, wide: int, *, is_signed: bool = False) -> Iterator[str]:
    extra = wide - width
    if extra == 0:
        yield f"{to} = comb.or {a} : i{width}"
    elif is_signed:
        yield f"{to}_t = comb.extract {a} from {width - 1} : (i{width}) -> i1"
        yield f"{to}_u = comb.replicate {to}_t : (i1) -> i{extra}"
        yield f"{to} = comb.concat {to}_u, {a} : i{extra}, i{width}"
    else:
        yield f"{to}_u = hw.constant 0 : i{extra}"
        yield f"{to} = comb.concat {to}_u, {a} : i{extra}, i{width}"


def _parity(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
    yield f"{to} = comb.parity {a[0]} : i{w[0]}"


def _slice(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
    yield f"{to} = comb.extract {a[0]} from {n.value} : (i{w[0]}) -> i{n.width}"


def _concat(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
    yield f"{to} = comb.concat {a[1]}, {a[0]} : i{w[1]}, i{w[0]}"


def _extend(*, is_signed: bool) -> _Form:
    def form(to: str, n: Node, a: Sequence[str], w: Sequence[int]) -> Iterator[str]:
        yield from _resize(to, a[0], w[0], n.width, is_signed=is_signed)

    return form


_FORMS: Mapping[str, _Form] = {
    "const": _constant,
    "and": _plain("and"),
    "or": _plain("or"),
    "xor": _plain("xor"),
    "not": _invert,
    "add": _plain("add"),
    "sub": _plain("sub"),
    "mul": _plain("mul"),
    "mux": _plain("mux"),
    "udiv": _divide("divu", is_signed=False),
    "urem": _divide("modu", is_signed=False),
    "sdiv": _divide("divs", is_signed=True),
    "srem": _divide("mods", is_signed=True),
    "shl": _shift("shl"),
    "shr": _shift("shru"),
    "sar": _shift("shrs"),
    "eq": _compare("eq"),
    "ult": _compare("ult"),
    "slt": _compare("slt"),
    "parity": _parity,
    "slice": _slice,
    "concat": _concat,
    "zext": _extend(is_signed=False),
    "sext": _extend(is_signed=True),
}
