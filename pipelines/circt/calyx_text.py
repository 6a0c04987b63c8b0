"""Calyx in MLIR's text form, from what one pass gives to what the next one takes.

Each function takes and gives the text of one module with one component, printed by MLIR.
"""

from __future__ import annotations

import re

_COMBINATIONAL = re.compile(r"^ *calyx\.comb_group @\w+ \{\n(.*?)^ *\}\n", re.DOTALL | re.MULTILINE)
_PARALLEL = re.compile(r"^( *)calyx\.par \{\n((?: *calyx\.enable @\w+\n)+) *\}\n", re.MULTILINE)
_MEMORY = re.compile(r"^ *(%\S+(?:, %\S+)*) = calyx\.seq_mem @(\w+) .*\} : (.*)\n", re.MULTILINE)
_DONE = re.compile(r"^ *calyx\.group_done (%\w+\.done) : i1\n", re.MULTILINE)
_CLOCKED = re.compile(r"(%[\w.]+)\.clk, (?:(%[\w.]+)\.reset,)?")
_MEMORY_INPUTS = ("read_data", "read_done", "write_done")
_WIRES = "calyx.wires {\n"


def join_parallel_groups(text: str) -> str:
    """Make groups that run in parallel one group; the lowering to a state machine knows no `par`."""
    while (found := _PARALLEL.search(text)) is not None:
        indent, enables = found.groups()
        names: list[str] = re.findall(r"@(\w+)", enables)
        text = text[: found.start()] + f"{indent}calyx.enable @{names[0]}\n" + text[found.end() :]
        text = _join(text, names)
    return text


def _group(text: str, name: str) -> re.Match[str] | None:
    return re.search(rf"^( *)calyx\.group @{name} \{{\n(.*?)^\1\}}\n", text, re.DOTALL | re.MULTILINE)


def _join(text: str, names: list[str]) -> str:
    """The text in which the first of these groups does what all of them do."""
    lines: dict[str, None] = {}
    done: list[str] = []
    for name in reversed(names):
        group = _group(text, name)
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
    """Compute the conditions of loops all the time; the lowering to a state machine evaluates no group.

    The cells in those groups are used for nothing else.
    """
    bodies = _COMBINATIONAL.findall(text)
    text = re.sub(r" with @\w+", "", _COMBINATIONAL.sub("", text))
    return text.replace(_WIRES, _WIRES + "".join(bodies), 1)


def memories_outside(text: str) -> str:
    """Make the ports of sequential memories ports of the component, `%mem_0.addr0` as `%mem_0_addr0`.

    The lowering to hardware has no such memory, and its own external memories have no read enable. Ports
    that nothing uses are left out.
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
    """What the lowering from scf gave, as the lowering to a state machine takes it."""
    return join_parallel_groups(evaluate_always(memories_outside(text)))
