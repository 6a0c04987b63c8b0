"""Lowered modules as cells and nets, without Verilog and its reader between.

Selections, extensions and joined values are other nets; everything else is a cell of the kinds of Yosys.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl.design import LoweredDesign, ModuleView, lower
from pipelines.rtl.reuse.firrtl.graph import CONST, INVALID, SIGNAL, Operation
from pipelines.rtl.reuse.firrtl.inference import is_asynchronous
from pipelines.rtl.reuse.firrtl.lowering import LoweredMemory, LoweredModule, LoweredRegister
from pipelines.rtl.reuse.firrtl.syntax import SINT
from pipelines.rtl.reuse.raw_modules import Bit, Cell, RawModule

Bits = tuple[Bit, ...]
_KINDS = {
    "add": "$add", "sub": "$sub", "mul": "$mul", "div": "$div", "rem": "$mod", "lt": "$lt", "leq": "$le",
    "gt": "$gt", "geq": "$ge", "eq": "$eq", "neq": "$ne", "and": "$and", "or": "$or", "xor": "$xor",
    "not": "$not", "andr": "$reduce_and", "orr": "$reduce_or", "xorr": "$reduce_xor", "neg": "$neg",
    "dshl": "$shl", "dshr": "$shr",
}  # fmt: skip

_SHIFTS = ("$shl", "$shr", "$sshr")


def firrtl_to_modules(
    text: str, *, top: str, external: Container[str] = ()
) -> tuple[dict[str, RawModule], LoweredDesign]:
    """Return the modules of a circuit, but those that are defined elsewhere, and the lowered circuit.

    Args:   external: Verilog modules that an extmodule may stand for.
    Raises: RtlError: not FIRRTL, not supported, a module without a definition, or a combinational loop.
    """
    design = lower(text, top, external)
    return {module.name: _Module(module, design).raw() for module in design.own()}, design


def number(value: int) -> str:
    """Return a parameter of a cell."""
    return f"{value:032b}"


class _Module(ModuleView):
    def __init__(self, module: LoweredModule, design: LoweredDesign) -> None:
        super().__init__(module, design)
        self.cells: list[Cell] = []
        self.names: dict[Bit, str] = {}
        self.last_net = 1
        self.bits: dict[int, Bits] = {}
        self.elsewhere = self.driven_elsewhere()
        self.sources = {name: self._source(name) for name, width in self.signal_widths.items() if width}
        own = {source: self._nets_of(source) for source in dict.fromkeys(self.sources.values())}
        self.signals = {name: own[source] for name, source in self.sources.items()}

    def raw(self) -> RawModule:
        """Return the module."""
        for node in self.nodes:
            self.bits[node] = self._bits(node)
        for name in self.signals:
            self._connect(name)
        for register in self.module.registers:
            if register.signal.width:
                self._register(register)
        for memory in self.module.memories:
            for place, (path, width) in enumerate(memory.words):
                if width:
                    self._memory(memory, place, f"{memory.name}{path}", width)
        for name, (child, pins) in self.module.instances.items():
            self._instance(f"{name}_instance", child, pins)
        return RawModule(
            name=self.module.name,
            inputs={n: self.signals[n] for n in self.module.inputs if n in self.signals},
            outputs={n: self.signals[n] for n in self.module.outputs if n in self.signals},
            cells=self.cells,
            initial={},
            names=self.names,
        )

    # ---- nets --------------------------------------------------------------------------------------------

    def _new(self, width: int) -> Bits:
        first = self.last_net + 1
        self.last_net += width
        return tuple(range(first, first + width))

    def _source(self, name: str) -> str:
        """Return the signal that a signal is another name of: its value, without a change of width."""
        seen = {name}
        while name not in self.elsewhere:
            value = self.module.signals[name].value
            node = None if value in (None, INVALID) else self.graph.nodes[value]
            if (
                node is None
                or node.op != SIGNAL
                or node.name in seen
                or self.width(node.name) != self.width(name)
            ):
                break
            name = node.name
            seen.add(name)
        return name

    def _nets_of(self, name: str) -> Bits:
        """Return the nets of a signal, or the bits of its value if that is a constant."""
        signal = self.module.signals[name]
        if name not in self.elsewhere and signal.value not in (None, INVALID):
            node = self.graph.nodes[signal.value]
            if node.op == CONST:
                return _fit(_constant(node), self.width(name), is_signed=signal.kind == SINT)
        nets = self._new(self.width(name))
        self.names |= {net: name if len(nets) == 1 else f"{name}[{i}]" for i, net in enumerate(nets)}
        return nets

    def _connect(self, name: str) -> None:
        """Connect a signal to its value."""
        signal = self.module.signals[name]
        is_net = any(isinstance(bit, int) for bit in self.signals[name])
        if name in self.elsewhere or self.sources[name] != name or not is_net:
            return
        if signal.value is None:
            raise RtlError(f"FIRRTL module {self.module.name}: no value: {name}")
        value = self._extended(signal.value, self.width(name), is_signed=signal.kind == SINT)
        self._cell("$pos", {"A": value}, self.signals[name])

    def _cell(self, kind: str, pins: dict[str, Bits], output: Bits, *, is_signed: bool = False) -> Bits:
        """Add a cell with output Y."""
        sign = str(int(is_signed))
        parameters = {f"{port}_WIDTH": number(len(bits)) for port, bits in pins.items()}
        parameters |= {f"{port}_SIGNED": sign for port in pins}
        if kind in _SHIFTS:
            parameters["B_SIGNED"] = "0"
        if kind == "$mux":
            parameters = {"WIDTH": number(len(output))}
        self.cells.append(
            Cell(
                name=f"${kind}${len(self.cells)}",
                kind=kind,
                parameters={**parameters, "Y_WIDTH": number(len(output))},
                pins={**pins, "Y": output},
                outputs=("Y",),
            )
        )
        return output

    def _value(self, node: int) -> Bits:
        """Return the bits of a node; one of no bits, or any value, is 0."""
        return ("0",) if node == INVALID or not self.widths[node] else self.bits[node]

    def _extended(self, node: int, width: int, *, is_signed: bool) -> Bits:
        return _fit(self._value(node), width, is_signed=is_signed and node != INVALID)

    def _net(self, name: str, width: int) -> Bits:
        """Return the bits of a signal, with zeros up to a width."""
        return _fit(self.signals.get(name, ("0",)), width)

    # ---- operations --------------------------------------------------------------------------------------

    def _bits(self, number_of_node: int) -> Bits:
        node, width = self.graph.nodes[number_of_node], self.widths[number_of_node]
        if not width:
            return ()
        if node.op == CONST:
            return _constant(node)
        if node.op == SIGNAL:
            return self.signals[node.name]
        if node.op in ("mux", "pad", "cvt"):
            args = [self._extended(a, width, is_signed=node.is_signed) for a in node.args[-2:]]
            if node.op != "mux":
                return args[0]
            pins = {"A": args[1], "B": args[0], "S": self._value(node.args[0])[:1]}
            return self._cell("$mux", pins, self._new(width))
        if node.op in ("cat", "shl", "shr", "bits", "head", "tail"):
            return self._selection(node, width)
        kind = "$sshr" if node.op == "dshr" and node.is_signed else _KINDS[node.op]
        pins = dict(zip("AB", map(self._value, node.args), strict=False))
        return self._cell(kind, pins, self._new(width), is_signed=node.is_signed)

    def _selection(self, node: Operation, width: int) -> Bits:
        if node.op == "cat":
            return tuple(bit for a in reversed(node.args) if self.widths[a] for bit in self.bits[a])
        value, first = self._value(node.args[0]), node.numbers[0]
        if node.op == "shl":
            return ("0",) * (width - len(value)) + value
        if node.op == "shr":
            rest = value[first:] or (value[-1:] if node.is_signed else ("0",))
            return rest[:width]
        low = {"bits": node.numbers[-1], "head": len(value) - first, "tail": 0}[node.op]
        if low < 0 or low + width > len(value):
            raise RtlError(f"FIRRTL module {self.module.name}: bit {low + width - 1} of {len(value)} bits")
        return value[low : low + width]

    # ---- storage and instances ---------------------------------------------------------------------------

    def _register(self, register: LoweredRegister) -> None:
        signal = register.signal
        width, is_signed = self.width(signal.name), signal.kind == SINT
        following = INVALID if signal.value is None else signal.value
        data = self._extended(following, width, is_signed=is_signed)
        clock, output = self._value(register.clock)[:1], self.signals[signal.name]
        if register.reset is None or register.initial is None:
            self._flip_flop(signal.name, "$dff", {"CLK": clock, "D": data}, output)
            return
        reset = self._value(register.reset)[:1]
        initial = self._extended(register.initial, width, is_signed=is_signed)
        if not is_asynchronous(self.module, register.reset, register.reset_kind, self.design.asynchronous):
            data = self._cell("$mux", {"A": data, "B": initial, "S": reset}, self._new(width))
            self._flip_flop(signal.name, "$dff", {"CLK": clock, "D": data}, output)
        elif all(bit in ("0", "1") for bit in initial):
            value = "".join(map(str, reversed(initial)))
            more = {"ARST_POLARITY": "1", "ARST_VALUE": value}
            self._flip_flop(signal.name, "$adff", {"CLK": clock, "D": data, "ARST": reset}, output, more)
        else:
            pins = {"CLK": clock, "D": data, "ALOAD": reset, "AD": initial}
            self._flip_flop(signal.name, "$aldff", pins, output, {"ALOAD_POLARITY": "1"})

    def _flip_flop(
        self, name: str, kind: str, pins: dict[str, Bits], output: Bits, more: dict[str, str] | None = None
    ) -> None:
        parameters = {"WIDTH": number(len(output)), "CLK_POLARITY": "1", **(more or {})}
        self.cells.append(
            Cell(name=name, kind=kind, parameters=parameters, pins={**pins, "Q": output}, outputs=("Q",))
        )

    def _memory(self, memory: LoweredMemory, place: int, name: str, width: int) -> None:
        ports = (*memory.reads, *memory.writes)
        bits = max([1, *(self.width(port.address) for port in ports)])
        addresses = [self._read_address(memory, name, i, bits) for i in range(len(memory.reads))]
        enables = [self._both(p.enable, p.mask[place]) for p in memory.writes]
        clocks = [self._value(p.clock)[0] for p in memory.writes]
        pins: dict[str, Sequence[Bits]] = {
            "RD_ADDR": addresses,
            "RD_DATA": [self.signals[p.data[place]] for p in memory.reads],
            "WR_ADDR": [self._net(p.address, bits) for p in memory.writes],
            "WR_DATA": [self._net(p.data[place], width) for p in memory.writes],
            "WR_EN": [enable * width for enable in enables],
            "WR_CLK": [(clock,) for clock in clocks],
        }
        every = "1" * max(1, len(memory.writes))
        self.cells.append(
            Cell(
                name=name,
                kind="$mem_v2",
                parameters={
                    "SIZE": number(memory.size), "WIDTH": number(width), "ABITS": number(bits),
                    "OFFSET": number(0), "INIT": "x", "RD_PORTS": number(len(memory.reads)),
                    "RD_CLK_ENABLE": "0", "WR_PORTS": number(len(memory.writes)),
                    "WR_CLK_ENABLE": every, "WR_CLK_POLARITY": every,
                },
                pins={port: tuple(bit for part in parts for bit in part) for port, parts in pins.items()},
                outputs=("RD_DATA",),
            )
        )  # fmt: skip

    def _read_address(self, memory: LoweredMemory, name: str, place: int, bits: int) -> Bits:
        """Return the address of a read port: of the cycle before, if the memory has a latency."""
        port = memory.reads[place]
        address = self._net(port.address, bits)
        if not memory.read_latency:
            return address
        clock = self._value(INVALID if port.clock is None else port.clock)[:1]
        kept = self._new(bits)
        self.names |= {net: f"{name}_address{place}[{i}]" for i, net in enumerate(kept)}
        data = self._cell("$mux", {"A": kept, "B": address, "S": self._net(port.enable, 1)}, self._new(bits))
        self._flip_flop(f"{name}_address{place}", "$dff", {"CLK": clock, "D": data}, kept)
        return kept

    def _both(self, first: str, second: str) -> Bits:
        return self._cell("$and", {"A": self._net(first, 1), "B": self._net(second, 1)}, self._new(1))

    def _instance(self, name: str, child: str, pins: dict[str, str]) -> None:
        inner = self.design.modules[child]
        own = {port: self.signals[pin] for port, pin in pins.items() if inner.signals[port].width}
        outputs = tuple(port for port in own if port in set(inner.outputs))
        kind = _wrapped(child) if child in self.design.outside else child
        self.cells.append(Cell(name=name, kind=kind, parameters={}, pins=own, outputs=outputs))


def _constant(node: Operation) -> Bits:
    value, width = node.numbers
    return tuple(str(value >> i & 1) for i in range(width))


def _wrapped(extmodule: str) -> str:
    """Return the module with the ports of an extmodule, whose own name may be that of the Verilog inside."""
    return f"{extmodule}__wrapped"


def _fit(bits: Bits, width: int, *, is_signed: bool = False) -> Bits:
    """Return bits, lowest first, cut or extended to a width."""
    fill = bits[-1] if is_signed and bits else "0"
    return (*bits[:width], *(fill,) * (width - len(bits)))


def wrapper(design: LoweredDesign, top: str) -> str:
    """Return Verilog of a module per extmodule, and of a top that instantiates all of them."""
    return "\n".join(_wrapper_lines(design, top)) + "\n"


def _wrapper_lines(design: LoweredDesign, top: str) -> Iterator[str]:
    instances: list[str] = []
    ports: list[str] = []
    for name in design.outside:
        module = design.modules[name]
        own = [(n, "input") for n in module.inputs] + [(n, "output") for n in module.outputs]
        declared = [f"{direction} [{(module.signals[n].width or 1) - 1}:0]" for n, direction in own]
        yield f"module {_wrapped(name)} ("
        yield ",\n".join(f"  {kind} {n}" for kind, (n, _) in zip(declared, own, strict=True))
        yield ");"
        connected = ", ".join(f".{n}({n})" for n, _ in own)
        yield f"  {design.verilog_type(name)} inner ({connected});"
        yield "endmodule"
        ports += [f"  {kind} {name}__{n}" for kind, (n, _) in zip(declared, own, strict=True)]
        instances.append(f"  {_wrapped(name)} of_{name} ({', '.join(f'.{n}({name}__{n})' for n, _ in own)});")
    yield f"module {top} ("
    yield ",\n".join(ports)
    yield ");"
    yield from instances
    yield "endmodule"
