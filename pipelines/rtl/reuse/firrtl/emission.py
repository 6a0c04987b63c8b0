"""Lowered modules as Verilog."""

from __future__ import annotations

from collections.abc import Container, Iterator

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl.design import LoweredDesign, ModuleView, lower
from pipelines.rtl.reuse.firrtl.graph import CONST, INVALID, SIGNAL, Operation
from pipelines.rtl.reuse.firrtl.inference import is_asynchronous
from pipelines.rtl.reuse.firrtl.keywords import KEYWORDS
from pipelines.rtl.reuse.firrtl.lowering import LoweredMemory, LoweredModule, LoweredRegister
from pipelines.rtl.reuse.firrtl.syntax import SINT

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%",
    "lt": "<", "leq": "<=", "gt": ">", "geq": ">=", "eq": "==", "neq": "!=",
    "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_PREFIX = {"not": "~", "andr": "&", "orr": "|", "xorr": "^", "neg": "-", "pad": "", "cvt": ""}


def firrtl_to_verilog(text: str, *, top: str, external: Container[str] = ()) -> str:
    """Return the Verilog of a module and all that it instantiates; one Verilog module per FIRRTL module.

    Ports that are bundles or vectors become one port per ground element, named like Chisel's: `io_in_valid`.

    Args:   external: Verilog modules that an extmodule may stand for.
    Raises: RtlError: not FIRRTL, not supported, a module without a definition, or a combinational loop.
    """
    design = lower(text, top, external)
    writers = [_Writer(each, design) for each in design.own()]
    return "\n".join(line for writer in writers for line in writer.lines()) + "\n"


class _Writer(ModuleView):
    def __init__(self, module: LoweredModule, design: LoweredDesign) -> None:
        super().__init__(module, design)
        self.names = self._names()

    def _names(self) -> dict[int, str]:
        taken = {*self.module.signals}
        names: dict[int, str] = {}
        for number in self.nodes:
            hint = self.graph.names.get(number, "")
            if not hint or hint in taken or hint in KEYWORDS or not (hint[0].isalpha() or hint[0] == "_"):
                hint = f"_n{number}"
                while hint in taken:
                    hint += "_"
            taken.add(hint)
            names[number] = hint
        return names

    def lines(self) -> Iterator[str]:
        ports = [f"input {_range(self.width(n))}{n}" for n in self.module.inputs if self.width(n)]
        ports += [f"output {_range(self.width(n))}{n}" for n in self.module.outputs if self.width(n)]
        yield f"module {self.module.name} ("
        yield ",\n".join(f"  {port}" for port in ports)
        yield ");"
        yield from (f"  {line}" for line in self._body())
        yield "endmodule"

    def _body(self) -> Iterator[str]:
        border = {*self.module.inputs, *self.module.outputs}
        for signal in self.module.signals.values():
            if signal.width and signal.name not in border:
                kind = "reg" if signal.name in self.registers else "wire"
                yield f"{kind} {_range(signal.width)}{signal.name};"
        for number in self.nodes:
            node = self.graph.nodes[number]
            if node.op not in (CONST, SIGNAL) and self.widths[number]:
                yield f"wire {_range(self.widths[number])}{self.names[number]} = {self._operation(node)};"
        yield from self._assignments()
        for register in self.module.registers:
            if register.signal.width:
                yield self._register(register)
        for memory in self.module.memories:
            yield from self._memory(memory)
        for name, (child, pins) in self.module.instances.items():
            inner = self.design.modules[child].signals
            connected = ", ".join(f".{port}({pin})" for port, pin in pins.items() if inner[port].width)
            yield f"{self.design.verilog_type(child)} {name}_instance ({connected});"

    def _assignments(self) -> Iterator[str]:
        driven = self.driven_elsewhere()
        for signal in self.module.signals.values():
            if not signal.width or signal.name in driven:
                continue
            if signal.value is None:
                raise RtlError(f"FIRRTL module {self.module.name}: no value: {signal.name}")
            yield f"assign {signal.name} = {self._value(signal.value, is_signed=signal.kind == SINT)};"

    def _value(self, node: int, *, is_signed: bool = False) -> str:
        if node == INVALID or not self.widths[node]:
            return "1'h0"
        operation = self.graph.nodes[node]
        if operation.op == CONST:
            value, width = operation.numbers
            text = f"{width}'h{value:x}"
        else:
            text = operation.name if operation.op == SIGNAL else self.names[node]
        return f"$signed({text})" if is_signed else text

    def _operation(self, node: Operation) -> str:
        """Return an expression; it is extended to the width of the wire that it is assigned to."""
        args = [self._value(a, is_signed=node.is_signed) for a in node.args]
        if node.op in _INFIX:
            return f"{args[0]} {_INFIX[node.op]} {args[1]}"
        if node.op in _PREFIX:
            return f"{_PREFIX[node.op]}{args[0]}"
        if node.op == "mux":
            return f"{self._value(node.args[0])} ? {args[1]} : {args[2]}"
        if node.op in ("dshl", "dshr"):
            sign = ">>>" if node.is_signed else ">>"
            return f"{args[0]} {'<<' if node.op == 'dshl' else sign} {self._value(node.args[1])}"
        if node.op == "cat":
            return f"{{{', '.join(self._value(a) for a in node.args if self.widths[a])}}}"
        if node.op == "shl":
            zeros = f", {node.numbers[0]}'h0" if node.numbers[0] else ""
            return f"{{{self._value(node.args[0])}{zeros}}}"
        return self._selection(node)

    def _selection(self, node: Operation) -> str:
        [arg] = node.args
        width = self.widths[arg]
        first = node.numbers[0]
        high, low = {
            "bits": lambda: (first, node.numbers[1]),
            "head": lambda: (width - 1, width - first),
            "tail": lambda: (width - first - 1, 0),
            "shr": lambda: (width - 1, first if first < width else width - 1),
        }[node.op]()
        if node.op == "shr" and first >= width and not node.is_signed:
            return "1'h0"
        operation = self.graph.nodes[arg]
        if operation.op == CONST:
            return f"{high - low + 1}'h{operation.numbers[0] >> low & ((1 << (high - low + 1)) - 1):x}"
        if high >= width:
            raise RtlError(f"FIRRTL module {self.module.name}: bit {high} of {width} bits")
        name = self._value(arg)
        return name if (high, low) == (width - 1, 0) else f"{name}[{high}:{low}]"

    def _register(self, register: LoweredRegister) -> str:
        name, is_signed = register.signal.name, register.signal.kind == SINT
        following = INVALID if register.signal.value is None else register.signal.value
        event, step = (
            f"posedge {self._value(register.clock)}",
            f"{name} <= {self._value(following, is_signed=is_signed)};",
        )
        if register.reset is None or register.initial is None:
            return f"always @({event}) {step}"
        reset = self._value(register.reset)
        if is_asynchronous(self.module, register.reset, register.reset_kind, self.design.asynchronous):
            event += f" or posedge {reset}"
        initial = self._value(register.initial, is_signed=is_signed)
        return f"always @({event}) if ({reset}) {name} <= {initial}; else {step}"

    def _memory(self, memory: LoweredMemory) -> Iterator[str]:
        for i, (path, width) in enumerate(memory.words):
            if not width:
                continue
            name = f"{memory.name}{path}"
            yield f"reg {_range(width)}{name} [0:{memory.size - 1}];"
            for number, port in enumerate(memory.reads):
                address = port.address
                if memory.read_latency:
                    address = f"{name}_address{number}"
                    yield f"reg {_range(self.width(port.address))}{address};"
                    clock = self._value(INVALID if port.clock is None else port.clock)
                    yield f"always @(posedge {clock}) if ({port.enable}) {address} <= {port.address};"
                yield f"assign {port.data[i]} = {name}[{address}];"
            for port in memory.writes:
                yield (
                    f"always @(posedge {self._value(port.clock)}) if ({port.enable} & {port.mask[i]}) "
                    f"{name}[{port.address}] <= {port.data[i]};"
                )


def _range(width: int) -> str:
    return "" if width == 1 else f"[{width - 1}:0] "
