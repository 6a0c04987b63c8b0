"""Verilog around a flow: memories inside a wrapper, and what CIRCT exports as one file."""

from __future__ import annotations

import re

from pipelines.c import ir
from pipelines.circt.expressions import memory_size


def address_bits(array: ir.Array) -> int:
    """Return the bits of the address of an array's memory."""
    return (memory_size(array) - 1).bit_length()


def range_text(width_bits: int) -> str:
    """Return a Verilog range of a width, with a space after it; nothing for one bit."""
    return "" if width_bits == 1 else f"[{width_bits - 1}:0] "


def memory_lines(array: ir.Array) -> list[str]:
    """Return a memory in registers: data one cycle after the address, writes seen in the next cycle.

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


_PART = re.compile(r'^// ----- 8< ----- FILE "[^"]*" ----- 8< -----\n', re.MULTILINE)
_PLACE = re.compile(r"[ \t]*// -:.*$", re.MULTILINE)
_INCLUDE = re.compile(r"^`include .*\n", re.MULTILINE)
_STATE_CASE = re.compile(r"^( *)always_comb begin\n( *)case \(state_reg\)\n", re.MULTILINE)


def one_file(text: str) -> str:
    """Return the exported text with included parts first and without comments on locations."""
    text = _PLACE.sub("", text)
    parts = _PART.split(text)
    return _INCLUDE.sub("", "\n".join([*parts[1:], parts[0]]))


def defaults_for_states(text: str) -> str:
    """Return the default values for the outputs of a state machine in unused states."""
    case = _STATE_CASE.search(text)
    if case is None:
        return text
    end = text.find("endmodule", case.end())
    start = text.rfind("\nmodule ", 0, case.start())
    outputs = re.findall(r"^\s*reg\s+(output_\d+);", text[start:end], re.MULTILINE)
    indent = case.group(2)
    lines = [f"{indent}state_next = state_reg;\n", *(f"{indent}{name} = 1'b0;\n" for name in outputs)]
    place = case.start() + text[case.start() :].index("\n") + 1
    return text[:place] + "".join(lines) + text[place:]


def exported_verilog(text: str) -> str:
    """Return the exported Verilog as one file."""
    return defaults_for_states(one_file(text))
