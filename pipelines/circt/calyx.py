"""Calyx: its MLIR text between two passes, and the module around a design with the ports of the engine's own.

A rewriting function takes and returns the text of one module with one component, printed by MLIR.

A Calyx group holds its enable until it sees done. An access is passed to the memory once, in the first
cycle of its enable; done comes with the data, or when the next access may follow a write. The enable may stay
for one cycle after a read, because the group ends only when its register has the data. Data stays until the
next read: a memory with one load gets no register in the design.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.c import ir
from pipelines.circt.verilog import address_bits, memory_lines, range_text
from pipelines.rtl.simulation import MemoryTiming, Port

_COMBINATIONAL = re.compile(r"^ *calyx\.comb_group @\w+ \{\n(.*?)^ *\}\n", re.DOTALL | re.MULTILINE)
_PARALLEL = re.compile(r"^( *)calyx\.par \{\n((?: *calyx\.enable @\w+\n)+) *\}\n", re.MULTILINE)
_MEMORY = re.compile(r"^ *(%\S+(?:, %\S+)*) = calyx\.seq_mem @(\w+) .*\} : (.*)\n", re.MULTILINE)
_GROUP = re.compile(r"^( *)calyx\.group @\w+ \{\n(.*?)^\1\}\n", re.DOTALL | re.MULTILINE)
_ACCESS = re.compile(r"^ *calyx\.assign (%\w+)\.content_en = %true : i1\n", re.MULTILINE)
_DONE = re.compile(r"^ *calyx\.group_done (%\w+\.done) : i1\n", re.MULTILINE)
_CLOCKED = re.compile(r"(%[\w.]+)\.clk, (?:(%[\w.]+)\.reset,)?")
_MEMORY_INPUTS = ("read_data", "read_done", "write_done")
_WIRES = "calyx.wires {\n"


def join_parallel_groups(text: str) -> str:
    """Make groups that run in parallel one group; the lowering to a state machine does not support `par`."""
    while (parallel := _PARALLEL.search(text)) is not None:
        indent, enables = parallel.groups()
        names: list[str] = re.findall(r"@(\w+)", enables)
        text = text[: parallel.start()] + f"{indent}calyx.enable @{names[0]}\n" + text[parallel.end() :]
        text = _join(text, names)
    return text


def _join(text: str, names: list[str]) -> str:
    """Return the text in which the first of these groups replaces all of them."""
    lines: dict[str, None] = {}
    done: list[str] = []
    for name in reversed(names):
        group = re.search(rf"^( *)calyx\.group @{name} \{{\n(.*?)^\1\}}\n", text, re.DOTALL | re.MULTILINE)
        if group is None:
            continue
        done += _DONE.findall(group.group(2))
        lines |= dict.fromkeys(_DONE.sub("", group.group(2)).splitlines(keepends=True))
        text = text[: group.start()] + text[group.end() :]
    body = "".join(lines)
    both = f"%all = comb.and {', '.join(done)} : i1\ncalyx.group_done %all ? %true : i1\n"
    if len(done) == 1:
        both = f"calyx.group_done {done[0]} : i1\n"
    return text.replace(_WIRES, f"{_WIRES}calyx.group @{names[0]} {{\n{body}{both}}}\n", 1)


def evaluate_always(text: str) -> str:
    """Compute the conditions of loops in every cycle; the lowering to a state machine evaluates no group.

    The cells in those groups have no other use.
    """
    bodies = _COMBINATIONAL.findall(text)
    text = re.sub(r" with @\w+", "", _COMBINATIONAL.sub("", text))
    return text.replace(_WIRES, _WIRES + "".join(bodies), 1)


def separate_accesses(text: str) -> str:
    """Give memories that have one enable and a write bit an enable per kind of access.

    CIRCT 1.100 and later prints `content_en`, `write_en` and `done`; the rest of this package works with
    `read_en`, `read_done`, `write_en` and `write_done`, the ports of 1.62.
    """
    text = _GROUP.sub(_one_kind_of_access, text)
    for line in [match.group() for match in _MEMORY.finditer(text) if ".content_en" in match.group()]:
        names, _, types = line.partition(" = ")
        separate = re.sub(r"(%\w+)\.done\b", r"\1.read_done, \1.write_done", names)
        separate = separate.replace(".content_en", ".read_en")
        text = text.replace(line, f"{separate} = {types.rstrip()}, i1\n", 1)
    return text


def _one_kind_of_access(group: re.Match[str]) -> str:
    text = group.group()
    for memory in _ACCESS.findall(text):
        writes = f"{memory}.write_en = %true" in text
        # A write keeps its `write_en`; `content_en` of a read becomes `read_en`.
        unused = "content_en = %true" if writes else "write_en = %false"
        text = re.sub(rf"^ *calyx\.assign {memory}\.{unused} : i1\n", "", text, flags=re.MULTILINE)
        text = text.replace(f"{memory}.content_en", f"{memory}.read_en")
        text = re.sub(rf"{memory}\.done\b", f"{memory}.{'write' if writes else 'read'}_done", text)
    return text


def memories_outside(text: str) -> str:
    """Make the ports of sequential memories ports of the component, `%mem_0.addr0` as `%mem_0_addr0`.

    The lowering to hardware has no such memory, and its own external memories have no read enable. Unused
    ports are left out.
    """
    inputs: list[str] = []
    outputs: list[str] = []
    for names, memory, types in _MEMORY.findall(text):
        for name, kind in zip(names.split(", "), types.split(", "), strict=True):
            part = name.partition(".")[2]
            used = len(re.findall(rf"{re.escape(name)}(?![\w.])", text)) > 1
            if used:
                port = f"%{memory}_{part}: {kind}"
                (inputs if part in _MEMORY_INPUTS else outputs).append(port)
    text = re.sub(r"%(mem_\d+)\.(?=\w)", r"%\1_", _MEMORY.sub("", text))
    head = re.search(r"calyx\.component @\w+\(", text)
    if head is None or not (inputs or outputs):
        return text
    text = text[: head.end()] + "".join(f"{p}, " for p in inputs) + text[head.end() :]
    return text.replace(" -> (", " -> (" + "".join(f"{p}, " for p in outputs), 1)


def connect_clocks(text: str) -> str:
    """Give every cell the component's clock and reset; the lowering to hardware does not."""
    lines: list[str] = []
    for line in text.splitlines():
        cell = _CLOCKED.search(line) if " = calyx." in line else None
        if cell is not None:
            lines.append(f"calyx.assign {cell.group(1)}.clk = %clk : i1\n")
        if cell is not None and cell.group(2) is not None:
            lines.append(f"calyx.assign {cell.group(2)}.reset = %reset : i1\n")
    return text.replace(_WIRES, _WIRES + "".join(lines), 1)


def component_text(text: str) -> str:
    """Return the output of the lowering from scf, rewritten for the lowering to a state machine."""
    return join_parallel_groups(evaluate_always(memories_outside(separate_accesses(text))))


LOCAL_TIMING = MemoryTiming(read_delay_cycles=1, write_delay_cycles=1)

ACCESS_MODULE = """\
module calyx_access #(parameter WIDTH = 32, READ = 1, WRITE = 1) (
    input clk, input rst,
    input read_en, output read_done, output [WIDTH-1:0] read_data, input write_en, output write_done,
    output re, input [WIDTH-1:0] rdata, output we
);
  // An access starts in the first cycle of its enable and is counted down to its done.
  reg [15:0] left;
  reg reading, rest;
  reg [WIDTH-1:0] held;
  assign re = left == 0 && !rest && read_en;
  assign we = left == 0 && write_en;
  assign read_done = left == 1 && reading;
  assign write_done = left == 1 && !reading;
  assign read_data = read_done ? rdata : held;
  always @(posedge clk) begin
    rest <= read_done;
    if (read_done) held <= rdata;
    if (rst) begin
      left <= 0;
      reading <= 0;
      rest <= 0;
    end else if (re || we) begin
      left <= re ? READ : WRITE;
      reading <= re;
    end else if (left != 0) left <= left - 1;
  end
endmodule
"""


def wrapper_name(top: str) -> str:
    """Return the name of the module around a design."""
    return f"{top}_hw"


def port_lines(
    function: ir.Function, read: Sequence[ir.Array], written: Sequence[ir.Array], *, scalars: bool = True
) -> list[str]:
    """Return the ports of the wrapper, one per line, in the engine's own names."""
    lines = ["input clk", "input rst", "input start", "output done"]
    for parameter in function.parameters if scalars else ():
        if isinstance(parameter, ir.Variable):
            lines.append(f"input {range_text(parameter.type.width_bits)}s_{parameter.name}")
    if function.returns is not None:
        lines.append(f"output {range_text(function.returns.width_bits)}result")
    for array in function.arrays:
        address, data = range_text(address_bits(array)), range_text(array.type.width_bits)
        name = f"m_{array.name}"
        if array.external and array in read:
            lines += [f"output {name}_re", f"output {address}{name}_raddr", f"input {data}{name}_rdata"]
        if array.external and array in written:
            lines += [f"output {name}_we", f"output {address}{name}_waddr", f"output {data}{name}_wdata"]
    return lines


@dataclass(slots=True, kw_only=True)
class _Wrapper:
    """The text of one wrapper; `ports`: of the design inside."""

    function: ir.Function
    ports: Mapping[str, Port]
    timing: MemoryTiming

    def has(self, number: int, part: str) -> bool:
        return f"mem_{number}_{part}" in self.ports

    def array_lines(self, number: int, array: ir.Array) -> list[str]:
        """Return signals of one array, the unit that times its accesses, and its memory when it is local."""
        name, memory = array.name, f"mem_{number}"
        address, data = range_text(address_bits(array)), range_text(array.type.width_bits)
        timing = self.timing if array.external else LOCAL_TIMING
        reads, writes = self.has(number, "read_en"), self.has(number, "write_en")
        lines = [f"  wire {memory}_read_en, {memory}_write_en, {memory}_read_done, {memory}_write_done;"]
        lines.append(f"  wire {address}{memory}_addr0;")
        lines.append(f"  wire {data}{memory}_read_data;")
        lines += [] if reads else [f"  assign {memory}_read_en = 1'b0;"]
        lines += [] if writes else [f"  assign {memory}_write_en = 1'b0;"]
        if not array.external:
            lines += [f"  wire m_{name}_re, m_{name}_we;", f"  wire {data}m_{name}_rdata, m_{name}_wdata;"]
            lines.append(f"  wire {address}m_{name}_raddr, m_{name}_waddr;")
        if array.external or reads or writes:
            connected = f".re({f'm_{name}_re' if reads or not array.external else ''}), "
            connected += f".rdata({f'm_{name}_rdata' if reads or not array.external else ''}), "
            connected += f".we({f'm_{name}_we' if writes or not array.external else ''})"
            delays = f".READ({timing.read_delay_cycles}), .WRITE({max(1, timing.write_delay_cycles - 1)})"
            width = array.type.width_bits
            lines.append(f"  calyx_access #(.WIDTH({width}), {delays}) access_{name} (")
            lines.append("    .clk(clk), .rst(core_reset),")
            for part in ("read_en", "read_done", "read_data", "write_en", "write_done"):
                lines.append(f"    .{part}({memory}_{part}),")
            lines.append(f"    {connected}")
            lines.append("  );")
        if reads or not array.external:
            lines.append(f"  assign m_{name}_raddr = {memory}_addr0;")
        if writes or not array.external:
            lines.append(f"  assign m_{name}_waddr = {memory}_addr0;")
        if not array.external:
            lines += [] if writes else [f"  assign m_{name}_wdata = 0;"]
            lines += memory_lines(array)
        return lines

    def connections(self) -> list[str]:
        known = {"clk": "clk", "reset": "core_reset", "go": "start || running", "done": "core_done"}
        scalars = [p for p in self.function.parameters if isinstance(p, ir.Variable)]
        known |= {f"in{k}": f"s_{p.name}" for k, p in enumerate(scalars)}
        known["out0"] = "result"
        for number, array in enumerate(self.function.arrays):
            memory = f"mem_{number}"
            known |= {f"{memory}_write_data": f"m_{array.name}_wdata"}
        return [f".{name}({known.get(name, name)})" for name in self.ports]

    def text(self) -> str:
        top, arrays = self.function.name, self.function.arrays
        read = [a for k, a in enumerate(arrays) if self.has(k, "read_en")]
        written = [a for k, a in enumerate(arrays) if self.has(k, "write_en")]
        ports = port_lines(self.function, read, written)
        lines = [f"module {wrapper_name(top)} (", "  " + ",\n  ".join(ports), ");"]
        lines += [
            "  // The design stays in its last state; it is reset in the cycle after done.",
            "  reg running, finished;",
            "  wire core_done;",
            "  wire core_reset = rst || finished;",
            "  assign done = core_done && running;",
            "  always @(posedge clk) begin",
            "    finished <= done && !rst;",
            "    running <= (start || running) && !done && !rst;",
            "  end",
        ]
        for number, array in enumerate(arrays):
            lines += self.array_lines(number, array)
        lines += [f"  {top} core (", "    " + ",\n    ".join(self.connections()), "  );", "endmodule"]
        return "\n".join([*lines, ""])


def calyx_wrapper(function: ir.Function, ports: Mapping[str, Port], timing: MemoryTiming) -> str:
    """Return the Verilog of the module around a Calyx design, and of the modules that it instantiates.

    Args:    function: as written as MLIR; ports: of the design; timing: of external memories.
    """
    return f"{ACCESS_MODULE}\n{_Wrapper(function=function, ports=ports, timing=timing).text()}"
