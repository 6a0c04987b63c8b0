"""Verilog of the memories inside a wrapper: local arrays and tables of constants."""

from __future__ import annotations

from pipelines.circt.expressions import memory_size
from pipelines.hls import ir


def address_bits(array: ir.Array) -> int:
    """Bits of the address of an array's memory."""
    return (memory_size(array) - 1).bit_length()


def range_text(width_bits: int) -> str:
    """A Verilog range of a width, with a space after it; nothing for one bit."""
    return "" if width_bits == 1 else f"[{width_bits - 1}:0] "


def memory_lines(array: ir.Array) -> list[str]:
    """A memory in registers: data one cycle after the address, writes seen in the next cycle.

    It is driven by `m_<name>_re`, `_raddr`, `_we`, `_waddr` and `_wdata` and drives `_rdata`, all declared
    elsewhere.
    """
    name, width = array.name, array.type.width_bits
    lines = [f"  reg {range_text(width)}cells_{name} [0:{memory_size(array) - 1}];"]
    lines += [f"  reg {range_text(width)}data_{name};", f"  assign m_{name}_rdata = data_{name};"]
    lines += [
        "  always @(posedge clk) begin",
        f"    if (m_{name}_re) data_{name} <= cells_{name}[m_{name}_raddr];",
        f"    if (m_{name}_we) cells_{name}[m_{name}_waddr] <= m_{name}_wdata;",
        "  end",
    ]
    if array.initial:
        mask = (1 << width) - 1
        values = [*array.initial, *[0] * (memory_size(array) - len(array.initial))]
        lines.append("  initial begin")
        lines += [f"    cells_{name}[{k}] = {width}'d{v & mask};" for k, v in enumerate(values)]
        lines.append("  end")
    return lines
