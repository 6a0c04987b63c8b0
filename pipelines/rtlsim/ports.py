"""The ports of a module, read from the header of its Verilog text.

A test bench drives only what is there: a design whose loads of an array were all removed has no read port.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CONTROL_PORTS = ("clk", "rst", "start", "done")

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PORT = re.compile(
    r"^(?:(input|output)\s+)?(?:(?:wire|reg|logic)\s+)?(?:signed\s+)?(?:\[\s*(\d+)\s*:\s*0\s*\]\s*)?(\w+)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One port: `output` is seen from the module."""

    name: str
    output: bool
    width_bits: int


def module_ports(verilog: str, module: str) -> dict[str, Port]:
    """Ports of a module by name, in order.

    Args:    verilog: text; module: one of its modules, with an ANSI header whose ranges are `[n:0]`.
    Returns: nothing for a module that is not there or has another kind of header.
    """
    text = _COMMENT.sub(" ", verilog)
    header = re.search(rf"\bmodule\s+{re.escape(module)}\s*\(([^()]*)\)\s*;", text)
    found: dict[str, Port] = {}
    direction, width = "input", "0"
    for item in header.group(1).split(",") if header else ():
        matched = _PORT.match(" ".join(item.split()))
        if matched is None:
            return {}
        if matched.group(1) is not None:  # a bare name has the direction and the width of the one before
            direction, width = matched.group(1), matched.group(2) or "0"
        name = matched.group(3)
        found[name] = Port(name=name, output=direction == "output", width_bits=int(width) + 1)
    return found


def missing_control(ports: dict[str, Port]) -> str | None:
    """Why a module cannot be driven, None when it can."""
    missing = [name for name in CONTROL_PORTS if name not in ports]
    return (
        f"a design must have the ports {', '.join(CONTROL_PORTS)}, got none of {missing}" if missing else None
    )
