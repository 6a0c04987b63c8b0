"""Registers with an asynchronous reset that slang makes constants.

Slang does so where the clocked part of the block assigns nothing, as under a condition that is never true;
the value of the reset is lost then. In the same text with resets at the clock edge such a register stays one,
while a variable that nothing assigns, or that another branch of a generate assigns, is a constant in both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

CONSTANTS = "constants.json"
WRITE_CONSTANTS = ("select t:$buf t:$buf %co1 %u", f"write_json -selected {CONSTANTS}", "select -clear")
"""Commands of Yosys behind slang's: they write what is assigned without an operation."""
LOST_RESET = "unsupported by slang: an asynchronous reset of a register that nothing else assigns"
_TWO_EDGES = re.compile(r"@\s*\(\s*((?:pos|neg)edge\b[^()]*?)(?:,|\bor\b)\s*(?:pos|neg)edge\b[^)]*\)")
_LOOP = re.compile(r"\bfor\s*\([^;]*;[^;]*;")
"""The beginning of a loop, in whose condition `<=` assigns nothing."""
_CLOCKED = re.compile(
    r"(?:^|[;:)]|\bbegin|\bbegin\s*:\s*\w+|\belse)\s*([A-Za-z_]\w*)\b(?:\s*\[[^\]]*\]|\.\w+)*\s*<=",
    re.MULTILINE | re.ASCII,
)
Register = tuple[str, str]
"""Module and name."""


def has_resets(code: str) -> bool:
    """Tell whether a text without comments has a block with two edges."""
    return _TWO_EDGES.search(code) is not None


def with_synchronous_resets(text: str) -> str:
    """Return a text in which every block has its first edge alone."""
    return _TWO_EDGES.sub(lambda match: f"@({match[1].strip()})" + "\n" * match[0].count("\n"), text)


def constant_registers(written: Mapping[str, Any], code: str) -> set[Register]:
    """Return the constants that have the name of a register.

    Args: written: JSON of `WRITE_CONSTANTS`. code: Verilog without comments.
    """
    clocked = set(_CLOCKED.findall(_LOOP.sub(";", code)))
    registers = set[Register]()
    for module, content in written["modules"].items():
        constants = {
            bit
            for cell in content["cells"].values()
            if cell["type"] == "$buf" and all(isinstance(bit, str) for bit in cell["connections"]["A"])
            for bit in cell["connections"]["Y"]
        }
        for net, entry in content["netnames"].items():
            name = net.rpartition(".")[2]
            if name in clocked and not constants.isdisjoint(entry["bits"]):
                registers.add((module, name))
    return registers
