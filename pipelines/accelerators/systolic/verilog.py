"""Verilog of an accelerator: its core with ports of at most 64 bits, and the core between memories."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from pipelines.accelerators.systolic.hardware import Hardware

CORE, BENCH = "accelerator_core", "accelerator_bench"
_WORD = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port of module `accelerator`; width in bits."""

    name: str
    width: int
    is_input: bool

    @property
    def parts(self) -> tuple[tuple[str, int, int], ...]:
        """Ports of the core: name, lowest bit and width; wide ones are cut in words."""
        if self.width <= _WORD:
            return ((self.name, 0, self.width),)
        starts = range(0, self.width, _WORD)
        return tuple((f"{self.name}_{i}", s, min(_WORD, self.width - s)) for i, s in enumerate(starts))


def ports(hardware: Hardware) -> tuple[Port, ...]:
    """Return the ports of the accelerator but its clock."""
    h = hardware
    s_row = h.scratchpad_bits - (h.scratchpad_banks.bit_length() - 1)
    a_row = h.accumulator_address_bits - (h.accumulator_banks.bit_length() - 1)
    s_word, a_word = h.lanes * h.input_bits, h.columns * h.accumulator_bits
    inputs = {
        "rst": 1,
        "command_valid": 1,
        "command": 64,
        "rd_valid": 1,
        "rd_data": 8 * h.dma_bytes,
        "s_rdata": h.scratchpad_banks * s_word,
        "a_rdata": h.accumulator_banks * a_word,
    }
    outputs = {
        "command_ready": 1,
        "idle": 1,
        "rd_request": 1,
        "rd_address": 24,
        "wr_request": 1,
        "wr_address": 24,
        "wr_data": 8 * h.dma_bytes,
        "wr_count": 8,
        "s_re": h.scratchpad_banks,
        "s_raddr": h.scratchpad_banks * s_row,
        "s_we": h.scratchpad_banks,
        "s_waddr": s_row,
        "s_wdata": s_word,
        "a_re": h.accumulator_banks,
        "a_raddr": h.accumulator_banks * a_row,
        "a_we": h.accumulator_banks,
        "a_waddr": a_row,
        "a_wdata": a_word,
    }
    return tuple(
        Port(name=name, width=width, is_input=is_input)
        for group, is_input in ((inputs, True), (outputs, False))
        for name, width in group.items()
    )


OBSERVED = ("wr_request", "wr_address", "wr_data", "wr_count", "s_re", "s_we", "a_re", "a_we")
"""Outputs of the core that the bench shows."""


def core_inputs(hardware: Hardware) -> tuple[str, ...]:
    """Return the input ports of the core but its clock."""
    return tuple(name for port in ports(hardware) if port.is_input for name, _, _ in port.parts)


def core_verilog(hardware: Hardware) -> str:
    """Return the accelerator without its memories, module `accelerator_core`."""
    return _library() + _core(hardware)


def bench_verilog(hardware: Hardware, *, memory_bits: int, program_bits: int) -> str:
    """Return core between its memories, external memory and a memory of commands, module `accelerator_bench`.

    Args: memory_bits: external memory has 2 to this power words of 8 bytes; program_bits: commands likewise.
    """
    return core_verilog(hardware) + _bench(hardware, memory_bits, program_bits)


def _library() -> str:
    return files("pipelines.accelerators.systolic").joinpath("systolic.v").read_text(encoding="utf-8")


def _range(width: int) -> str:
    return f"[{width - 1}:0] "


def _core(hardware: Hardware) -> str:
    header = ["input clk"]
    wires: list[str] = []
    pins = [".clk(clk)"]
    for port in ports(hardware):
        direction = "input" if port.is_input else "output"
        header += [f"{direction} {_range(width)}{name}" for name, _, width in port.parts]
        pins.append(f".{port.name}({port.name})")
        if len(port.parts) > 1:
            names = ", ".join(name for name, _, _ in reversed(port.parts))
            joined = f"{{{names}}}"
            left, right = (port.name, joined) if port.is_input else (joined, port.name)
            wires += [f"  wire {_range(port.width)}{port.name};", f"  assign {left} = {right};"]
    values = ", ".join(f".{name}({value})" for name, value in hardware.verilog_parameters().items())
    lines = [
        f"\nmodule {CORE} ({', '.join(header)});",
        *wires,
        f"  accelerator #({values}) top (",
        f"    {', '.join(pins)});",
        "endmodule\n",
    ]
    return "\n".join(lines)


def _bench(hardware: Hardware, memory_bits: int, program_bits: int) -> str:
    all_ports = ports(hardware)
    wires = [
        f"  wire {_range(width)}{name};"
        for port in all_ports
        for name, _, width in port.parts
        if name != "rst"
    ]
    pins = ", ".join([".clk(clk)", *(f".{n}({n})" for port in all_ports for n, _, _ in port.parts)])
    shown = [(f"in_{n}", n, w) for port in all_ports if port.is_input for n, _, w in port.parts]
    shown += [(f"out_{p.name}", p.name, p.width) for p in all_ports if p.name in OBSERVED]
    outputs = ", ".join(f"output {_range(width)}{name}" for name, _, width in shown)
    latency = hardware.memory_latency_cycles
    return "\n".join(
        [
            f"module {BENCH} (input clk, input rst, input load, input load_program,",
            "  input [23:0] load_address, input [63:0] load_data, input run, input [23:0] commands,",
            f"  output done, {outputs});",
            *wires,
            f"  {CORE} core ({pins});",
            *(f"  assign {name} = {source};" for name, source, _ in shown),
            f"  reg [63:0] memory [0:{(1 << memory_bits) - 1}];",
            f"  reg [63:0] program [0:{(1 << program_bits) - 1}];",
            "  reg [23:0] place;",
            "  always @(posedge clk) begin",
            f"    if (load && !load_program) memory[load_address[{memory_bits - 1}:0]] <= load_data;",
            f"    if (load && load_program) program[load_address[{program_bits - 1}:0]] <= load_data;",
            "    if (rst) place <= 0;",
            "    else if (command_valid && command_ready) place <= place + 1;",
            "  end",
            "  assign command_valid = run && place < commands;",
            f"  assign command = command_valid ? program[place[{program_bits - 1}:0]] : 64'd0;",
            "  assign done = run && place >= commands && idle;",
            f"  reg [{latency * 25 - 1}:0] asked;",
            "  always @(posedge clk)",
            "    if (rst) asked <= 0; else asked <= {asked, rd_request, rd_address};",
            f"  wire [23:0] at = asked[{latency * 25 - 2} -: 24];",
            f"  wire [{memory_bits - 1}:0] word = at[{memory_bits + 2}:3];",
            "  wire [127:0] pair = {memory[word + 1'b1], memory[word]} >> {at[2:0], 3'd0};",
            f"  assign rd_valid = asked[{latency * 25 - 1}];",
            f"  assign rd_data = rd_valid ? pair[{8 * hardware.dma_bytes - 1}:0] : 0;",
            *_memory("s", hardware.scratchpad_banks, hardware.scratchpad_rows, all_ports),
            *_memory("a", hardware.accumulator_banks, hardware.accumulator_rows, all_ports),
            "endmodule\n",
        ]
    )


def _memory(prefix: str, banks: int, rows: int, all_ports: tuple[Port, ...]) -> list[str]:
    """Return the banks with one read port, whose data comes one cycle later and stays, and one write port."""
    by_name = {port.name: port for port in all_ports}
    word, address = by_name[f"{prefix}_wdata"].width, by_name[f"{prefix}_waddr"].width
    lines = [f"  wire {_range(banks * word)}{prefix}_read;", f"  wire {_range(word)}{prefix}_written;"]
    lines.append(f"  assign {prefix}_written = {_joined(by_name[f'{prefix}_wdata'])};")
    addresses = _joined(by_name[f"{prefix}_raddr"])
    lines.append(f"  wire {_range(banks * address)}{prefix}_places = {addresses};")
    for bank in range(banks):
        name = f"{prefix}_bank{bank}"
        place = f"{prefix}_places[{bank * address} +: {address}]"
        lines += [
            f"  reg {_range(word)}{name} [0:{rows // banks - 1}];",
            f"  reg {_range(word)}{name}_out;",
            "  always @(posedge clk) begin",
            f"    if ({prefix}_re[{bank}]) {name}_out <= {name}[{place}];",
            f"    if ({prefix}_we[{bank}]) {name}[{prefix}_waddr] <= {prefix}_written;",
            "  end",
            f"  assign {prefix}_read[{bank * word} +: {word}] = {name}_out;",
        ]
    for name, start, width in by_name[f"{prefix}_rdata"].parts:
        lines.append(f"  assign {name} = {prefix}_read[{start} +: {width}];")
    return lines


def _joined(port: Port) -> str:
    names = ", ".join(name for name, _, _ in reversed(port.parts))
    return f"{{{names}}}"
