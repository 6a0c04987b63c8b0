"""The module around a Handshake design: the ports and the protocol of the engine's own designs.

Every argument is a token that is offered until it is accepted; done is high when every result has arrived.
Each load and store of the program has its own channels; those of one array share its ports by fixed priority.
A channel has at most one access in progress.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.c import ir
from pipelines.circt.calyx import LOCAL_TIMING, port_lines, wrapper_name
from pipelines.circt.verilog import address_bits, memory_lines, range_text
from pipelines.rtl.simulation import MemoryTiming, Port

_MEMORY = re.compile(
    r"^ *(?:(?P<name>%\w+)(?::\d+)? = )?extmemory\[ld = (?P<loads>\d+), st = (?P<stores>\d+)\] "
    r"\((?P<argument>%\w+) : memref<(?P<size>\d+)x(?P<type>i\d+)>\) \((?P<operands>[^)]*)\).*\n",
    re.MULTILINE,
)
_HEAD = re.compile(
    r"handshake\.func @(?P<top>\w+)\((?P<arguments>.*), \.\.\.\) -> (?P<results>.*) attributes .*"
)
_RETURN = re.compile(r"^ *return (?P<values>.*) : (?P<types>.*)\n", re.MULTILINE)


@dataclass(slots=True)
class _Channels:
    """Channels into and out of the function, as (name, type, value)."""

    inputs: list[tuple[str, str, str]]
    outputs: list[tuple[str, str, str]]
    lines: list[str]


def _memory_channels(memory: re.Match[str], number: int, channels: _Channels) -> dict[str, str]:
    """Add the channels of a memory; returns the replacement of each of its results."""
    name, kind = memory["name"], memory["type"]
    loads, stores = int(memory["loads"]), int(memory["stores"])
    operands = memory["operands"].split(", ")
    address = f"i{(int(memory['size']) - 1).bit_length()}"
    replaced: dict[str, str] = {}

    def send_address(port: str, value: str) -> None:
        channels.lines.append(f"    %{port}_addr = arith.index_cast {value} : index to {address}\n")
        channels.outputs.append((f"{port}_addr", address, f"%{port}_addr"))

    for k in range(stores):
        port = f"m{number}_st{k}"
        channels.outputs.append((f"{port}_data", kind, operands[2 * k]))
        send_address(port, operands[2 * k + 1])
        channels.inputs.append((f"{port}_done", "none", f"%{port}_done"))
        result = f"{name}#{loads + k}" if loads or stores > 1 else name  # a single result has no number
        replaced[result] = f"%{port}_done"
    for k in range(loads):
        port = f"m{number}_ld{k}"
        send_address(port, operands[2 * stores + k])
        channels.inputs.append((f"{port}_data", kind, f"%{port}_data"))
        channels.lines.append(f"    %{port}_got = join %{port}_data : {kind}\n")
        replaced[f"{name}#{k}"] = f"%{port}_data"
        replaced[f"{name}#{loads + stores + k}"] = f"%{port}_got"
    return replaced


def memory_channels(text: str) -> str:
    """Return the function with channels instead of memories.

    Args: text: output of the lowering from cf, one function whose memories are arguments in order.
    """
    head = _HEAD.search(text)
    if head is None:
        return text
    arguments = [a.partition(": ")[::2] for a in head["arguments"].split(", ")]
    order = [name for name, kind in arguments if kind.startswith("memref")]
    channels = _Channels([], [], [])
    replaced: dict[str, str] = {}
    for memory in _MEMORY.finditer(text):
        replaced |= _memory_channels(memory, order.index(memory["argument"]), channels)
    body = _MEMORY.sub("", text)
    body = re.sub(r"%\w+(?:#\d+)?", lambda m: replaced.get(m.group(), m.group()), body)
    kept = [(name, kind) for name, kind in arguments if not kind.startswith("memref")]
    body = body.replace(head.group(), _head_text(head, kept, channels), 1)
    return _RETURN.sub(lambda m: _return_text(m, channels), body)


def _head_text(head: re.Match[str], kept: list[tuple[str, str]], channels: _Channels) -> str:
    inputs = [f"{name}: {kind}" for name, kind in kept]
    inputs += [f"{value}: {kind}" for _, kind, value in channels.inputs]
    declared = [r for r in head["results"].strip("()").split(", ") if r]
    results = [*declared, *(kind for _, kind, _ in channels.outputs)]
    names = [f"in{k}" for k in range(len(kept))] + [name for name, _, _ in channels.inputs]
    outputs = [f"out{k}" for k in range(len(declared))] + [name for name, _, _ in channels.outputs]
    quoted = [", ".join(f'"{n}"' for n in ports) for ports in (names, outputs)]
    attributes = f"attributes {{argNames = [{quoted[0]}], resNames = [{quoted[1]}]}}"
    return (
        f"handshake.func @{head['top']}({', '.join(inputs)}, ...) -> ({', '.join(results)}) {attributes} {{"
    )


def _return_text(returned: re.Match[str], channels: _Channels) -> str:
    values = [returned["values"], *(value for _, _, value in channels.outputs)]
    types = [returned["types"], *(kind for _, kind, _ in channels.outputs)]
    return "".join(channels.lines) + f"    return {', '.join(values)} : {', '.join(types)}\n"


CHANNEL_MODULES = """\
module handshake_load #(parameter WIDTH = 32, READ = 1) (
    input clk, input rst,
    input asks, output idle, input granted, input [WIDTH-1:0] rdata,
    output valid, input ready, output [WIDTH-1:0] data
);
  // Counts down from the address to its data, which is offered until it is taken.
  reg [15:0] left;
  reg fresh;
  reg [WIDTH-1:0] held;
  assign idle = left == 0;
  assign valid = left == 1;
  assign data = fresh ? rdata : held;
  always @(posedge clk) begin
    fresh <= left == 2 || (granted && READ == 1);
    if (fresh) held <= rdata;
    if (rst) left <= 0;
    else if (granted) left <= READ;
    else if (left > 1 || (valid && ready)) left <= left - 1;
  end
endmodule

module handshake_store #(parameter WRITE = 1) (
    input clk, input rst, output idle, input granted, output valid, input ready
);
  // Counts down from a write to the cycle in which a read sees it; done is offered until it is taken.
  reg [15:0] left;
  assign idle = left == 0;
  assign valid = left == 1;
  always @(posedge clk) begin
    if (rst) left <= 0;
    else if (granted) left <= WRITE;
    else if (left > 1 || (valid && ready)) left <= left - 1;
  end
endmodule

module handshake_token (input clk, input rst, input start, output valid, input ready);
  // A token that is offered from the start until it is taken.
  reg waits;
  assign valid = start || waits;
  always @(posedge clk) waits <= valid && !ready && !rst;
endmodule
"""


@dataclass(slots=True, kw_only=True)
class _Wrapper:
    """The text of one wrapper; `ports`: of the design inside."""

    function: ir.Function
    ports: Mapping[str, Port]
    timing: MemoryTiming

    def accesses(self, number: int, kind: str) -> list[str]:
        """Return the channels of an array's loads (`ld`) or stores (`st`)."""
        channels: list[str] = []
        while f"m{number}_{kind}{len(channels)}_addr_valid" in self.ports:
            channels.append(f"m{number}_{kind}{len(channels)}")
        return channels

    def declarations(self) -> list[str]:
        """Return a wire for every port of the design except the clock, the reset and the scalars."""
        scalars = {f"in{k}" for k, _ in enumerate(self.scalars)}
        skipped = {"clock", "reset", *scalars}
        return [f"  wire {range_text(p.width_bits)}{n};" for n, p in self.ports.items() if n not in skipped]

    @property
    def scalars(self) -> list[ir.Variable]:
        return [p for p in self.function.parameters if isinstance(p, ir.Variable)]

    def token_lines(self) -> list[str]:
        """Return the tokens of the arguments, the last of which starts the function, and the results."""
        lines: list[str] = []
        for k in range(len(self.scalars) + 1):
            lines.append(f"  handshake_token token_{k} (")
            lines.append(
                f"    .clk(clk), .rst(core_reset), .start(start), .valid(in{k}_valid), .ready(in{k}_ready)"
            )
            lines.append("  );")
        results = [n for n in self.ports if n.startswith("out") and n.endswith("_valid")]
        names = [n.removesuffix("_valid") for n in results]
        for name in names:
            lines += [f"  reg got_{name};", f"  assign {name}_ready = !got_{name};"]
            lines.append(
                f"  always @(posedge clk) got_{name} <= ({name}_valid || got_{name}) && !core_reset;"
            )
        lines.append("  assign done = " + " && ".join(f"({n}_valid || got_{n})" for n in names) + ";")
        returns = self.function.returns
        if returns is not None:
            lines.append(f"  reg {range_text(returns.width_bits)}held_result;")
            lines.append("  always @(posedge clk) if (out0_valid && out0_ready) held_result <= out0;")
            lines.append("  assign result = got_out0 ? held_result : out0;")
        return lines

    def shared_lines(self, channels: list[str], asks: Mapping[str, str]) -> list[str]:
        """Grant signal: the first channel that requests and has no access in progress."""
        lines: list[str] = []
        for k, channel in enumerate(channels):
            lines.append(f"  wire {channel}_idle;")
            lines.append(f"  wire {channel}_asks = {channel}_idle && {asks[channel]};")
            before = "".join(f" && !{c}_asks" for c in channels[:k])
            lines.append(f"  wire {channel}_granted = {channel}_asks{before};")
        return lines

    def chosen(self, channels: list[str], part: str) -> str:
        """Return a signal of the granted channel."""
        text = f"{channels[-1]}_{part}"
        for channel in reversed(channels[:-1]):
            text = f"{channel}_granted ? {channel}_{part} : {text}"
        return text

    def load_lines(self, array: ir.Array, loads: list[str], delay: int) -> list[str]:
        lines = self.shared_lines(loads, {c: f"{c}_addr_valid" for c in loads})
        for c in loads:
            lines.append(f"  assign {c}_addr_ready = {c}_granted;")
            lines.append(f"  handshake_load #(.WIDTH({array.type.width_bits}), .READ({delay})) access_{c} (")
            lines.append(f"    .clk(clk), .rst(core_reset), .asks({c}_asks), .idle({c}_idle),")
            lines.append(f"    .granted({c}_granted), .rdata(m_{array.name}_rdata),")
            lines.append(f"    .valid({c}_data_valid), .ready({c}_data_ready), .data({c}_data)")
            lines.append("  );")
        lines.append(f"  assign m_{array.name}_re = {' || '.join(f'{c}_asks' for c in loads)};")
        lines.append(f"  assign m_{array.name}_raddr = {self.chosen(loads, 'addr')};")
        return lines

    def store_lines(self, array: ir.Array, stores: list[str], delay: int) -> list[str]:
        lines = self.shared_lines(stores, {c: f"{c}_addr_valid && {c}_data_valid" for c in stores})
        for c in stores:
            lines.append(f"  assign {c}_addr_ready = {c}_granted;")
            lines.append(f"  assign {c}_data_ready = {c}_granted;")
            lines.append(f"  handshake_store #(.WRITE({delay})) access_{c} (")
            lines.append(f"    .clk(clk), .rst(core_reset), .idle({c}_idle), .granted({c}_granted),")
            lines.append(f"    .valid({c}_done_valid), .ready({c}_done_ready)")
            lines.append("  );")
        lines.append(f"  assign m_{array.name}_we = {' || '.join(f'{c}_asks' for c in stores)};")
        lines.append(f"  assign m_{array.name}_waddr = {self.chosen(stores, 'addr')};")
        lines.append(f"  assign m_{array.name}_wdata = {self.chosen(stores, 'data')};")
        return lines

    def array_lines(self, number: int, array: ir.Array) -> list[str]:
        """Return the arbiter of the channels of one array, and its memory when it is local."""
        name, timing = array.name, self.timing if array.external else LOCAL_TIMING
        loads, stores = self.accesses(number, "ld"), self.accesses(number, "st")
        lines: list[str] = []
        if not array.external:
            address, data = range_text(address_bits(array)), range_text(array.type.width_bits)
            lines += [f"  wire m_{name}_re, m_{name}_we;", f"  wire {data}m_{name}_rdata, m_{name}_wdata;"]
            lines.append(f"  wire {address}m_{name}_raddr, m_{name}_waddr;")
            lines += [] if loads else [f"  assign m_{name}_re = 1'b0;", f"  assign m_{name}_raddr = 0;"]
            lines += [] if stores else [f"  assign m_{name}_{p} = 0;" for p in ("we", "waddr", "wdata")]
            lines += memory_lines(array)
        lines += self.load_lines(array, loads, timing.read_delay_cycles) if loads else []
        lines += self.store_lines(array, stores, timing.write_delay_cycles) if stores else []
        return lines

    def connections(self) -> list[str]:
        known = {"clock": "clk", "reset": "core_reset"}
        known |= {f"in{k}": f"s_{p.name}" for k, p in enumerate(self.scalars)}
        return [f".{name}({known.get(name, name)})" for name in self.ports]

    def text(self) -> str:
        top, arrays = self.function.name, self.function.arrays
        read = [a for k, a in enumerate(arrays) if self.accesses(k, "ld")]
        written = [a for k, a in enumerate(arrays) if self.accesses(k, "st")]
        lines = [
            f"module {wrapper_name(top)} (",
            "  " + ",\n  ".join(port_lines(self.function, read, written)),
        ]
        lines += [
            ");",
            "  reg finished;",
            "  wire core_reset = rst || finished;",
            "  always @(posedge clk) finished <= done && !rst;",
            *self.declarations(),
            *self.token_lines(),
        ]
        for number, array in enumerate(arrays):
            lines += self.array_lines(number, array)
        lines += [f"  {top} core (", "    " + ",\n    ".join(self.connections()), "  );", "endmodule"]
        return "\n".join([*lines, ""])


def handshake_wrapper(function: ir.Function, ports: Mapping[str, Port], timing: MemoryTiming) -> str:
    """Return the Verilog of the module around a Handshake design, and of the modules that it instantiates.

    Args:    function: as written as MLIR; ports: of the design; timing: of external memories.
    """
    return f"{CHANNEL_MODULES}\n{_Wrapper(function=function, ports=ports, timing=timing).text()}"
