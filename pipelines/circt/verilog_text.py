"""The SystemVerilog that CIRCT exports, made one file that simulators and synthesis take."""

from __future__ import annotations

import re

_PART = re.compile(r'^// ----- 8< ----- FILE "[^"]*" ----- 8< -----\n', re.MULTILINE)
_PLACE = re.compile(r"[ \t]*// -:.*$", re.MULTILINE)
_INCLUDE = re.compile(r"^`include .*\n", re.MULTILINE)
_STATE_CASE = re.compile(r"^( *)always_comb begin\n( *)case \(state_reg\)\n", re.MULTILINE)


def one_file(text: str) -> str:
    """The exported text with included parts before the others and without comments on places."""
    text = _PLACE.sub("", text)
    parts = _PART.split(text)
    return _INCLUDE.sub("", "\n".join([*parts[1:], parts[0]]))


def defaults_for_states(text: str) -> str:
    """Values for the outputs of a state machine in states that it does not have, where it gives none."""
    found = _STATE_CASE.search(text)
    if found is None:
        return text
    end = text.find("endmodule", found.end())
    start = text.rfind("\nmodule ", 0, found.start())
    outputs = re.findall(r"^\s*reg\s+(output_\d+);", text[start:end], re.MULTILINE)
    indent = found.group(2)
    lines = [f"{indent}state_next = state_reg;\n", *(f"{indent}{name} = 1'b0;\n" for name in outputs)]
    place = found.start() + text[found.start() :].index("\n") + 1
    return text[:place] + "".join(lines) + text[place:]


def exported_verilog(text: str) -> str:
    """What CIRCT exports, as one file."""
    return defaults_for_states(one_file(text))
