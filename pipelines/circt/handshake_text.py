"""Handshake in MLIR's text form: its external memories as channels of the function.

The wheel's own pass for it (`handshake-lower-extmem-to-hw`) ends the process on memories with more than one
load.

For array number a, load k has a channel `m<a>_ld<k>_addr` out of the function and `m<a>_ld<k>_data` into
it; store k `m<a>_st<k>_addr` and `m<a>_st<k>_data` out and `m<a>_st<k>_done` in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    """Add the channels of a memory; what each of its results is replaced by."""
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
    """The function with channels instead of memories.

    Args: text: of what the lowering from cf gives, one function whose memories are arguments in order.
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
    body = _replace(body, replaced)
    kept = [(name, kind) for name, kind in arguments if not kind.startswith("memref")]
    body = body.replace(head.group(), _head_text(head, kept, channels), 1)
    return _RETURN.sub(lambda m: _return_text(m, channels), body)


def _replace(text: str, replaced: dict[str, str]) -> str:
    return re.sub(r"%\w+(?:#\d+)?", lambda m: replaced.get(m.group(), m.group()), text)


def _head_text(head: re.Match[str], kept: list[tuple[str, str]], channels: _Channels) -> str:
    inputs = [f"{name}: {kind}" for name, kind in kept]
    inputs += [f"{value}: {kind}" for _, kind, value in channels.inputs]
    given = [r for r in head["results"].strip("()").split(", ") if r]
    results = [*given, *(kind for _, kind, _ in channels.outputs)]
    names = [f"in{k}" for k in range(len(kept))] + [name for name, _, _ in channels.inputs]
    outputs = [f"out{k}" for k in range(len(given))] + [name for name, _, _ in channels.outputs]
    quoted = [", ".join(f'"{n}"' for n in found) for found in (names, outputs)]
    attributes = f"attributes {{argNames = [{quoted[0]}], resNames = [{quoted[1]}]}}"
    return (
        f"handshake.func @{head['top']}({', '.join(inputs)}, ...) -> ({', '.join(results)}) {attributes} {{"
    )


def _return_text(found: re.Match[str], channels: _Channels) -> str:
    values = [found["values"], *(value for _, _, value in channels.outputs)]
    types = [found["types"], *(kind for _, kind, _ in channels.outputs)]
    return "".join(channels.lines) + f"    return {', '.join(values)} : {', '.join(types)}\n"
