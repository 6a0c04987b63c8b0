"""What gcc and the sanitizers say, reduced to one line."""

from __future__ import annotations

import re

from pipelines.interface import Interface
from pipelines.native.harness import TOP_SYMBOL

# Line markers in a program name other files than kernel.c: those that it was put together from.
_COMPILE_ERROR = re.compile(r"^([^:\n]+):(\d+):(?:\d+: (?:fatal )?error| Error): (.*)$", re.MULTILINE)
_OUTSIDE = ("unit.c", "harness.c")
_LINK_ERROR = re.compile(r"(undefined reference to|multiple definition of) [`'](\w+)'")
_RUNTIME_ERROR = re.compile(r"^([^:\n]+):(\d+):\d+: runtime error: (.*)$", re.MULTILINE)
_ADDRESS_ERROR = re.compile(r"ERROR: AddressSanitizer: (\S+)(?: on (?:unknown )?address (0x[0-9a-f]+))?")
_ACCESS = re.compile(r"^(READ|WRITE) of size|caused by a (READ|WRITE) memory access", re.MULTILINE)
_FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ in \S+ (?!\.\./)(?:/box/)?([^:\n]+):(\d+)")
_PLACE = re.compile(r"^(\d{1,6}) ([0-9a-f]{1,16}) ([0-9a-f]{1,16})$", re.MULTILINE | re.ASCII)
_REASON_CHARACTERS = 300


def compile_rejection(messages: str, top: str) -> str | None:
    """Why gcc refused the program, or None when the fault is not the program's."""
    found = _COMPILE_ERROR.search(messages)
    if found:
        return f"C must compile with gcc -std=c11, got {_cut(found[3])} ({_place(found[1], found[2])})"
    found = _LINK_ERROR.search(messages)
    if found and found[2] == TOP_SYMBOL:
        return f"C must define the top function {top}, got none (kernel.c)"
    if found:
        return f"C must be complete in one file, got {found[1]} {found[2]} (kernel.c)"
    return None


def undefined_behaviour(messages: str, places: str, interface: Interface) -> str | None:
    """What a sanitizer found, with its line; None when it found nothing.

    Args:
        messages: standard error of the checked program.
        places: content of arrays.txt: where each array and its guards lie.
        interface: names the arrays.
    """
    found = _RUNTIME_ERROR.search(messages)
    if found:
        return f"{_cut(found[3])} ({_place(found[1], found[2])})"
    found = _ADDRESS_ERROR.search(messages)
    if not found:
        return None
    frame = _FRAME.search(messages)
    if not frame or frame[1] in _OUTSIDE:
        return None  # not in the program: a fault of the harness or of the sanitizer itself
    address = int(found[2], 16) if found[2] else None
    array = _array_at(address, places, interface)
    return f"{_address_fault(found[1], array, messages)} ({_place(frame[1], frame[2])})"


def _place(file: str, line: str) -> str:
    """Where a program is at fault; no line of it when another text shows it: the call, or assembly."""
    return "kernel.c" if file in _OUTSIDE or file.endswith(".s") else f"{file}:{line}"


def _cut(message: str) -> str:
    """A message of a tool, which may quote a program at any length."""
    return message.strip()[:_REASON_CHARACTERS]


def _address_fault(fault: str, array: str | None, messages: str) -> str:
    if fault == "stack-overflow":
        return "local arrays that do not fit the stack"
    found = _ACCESS.search(messages)
    access = {"READ": "reading", "WRITE": "writing"}.get((found[1] or found[2]) if found else "")
    verb = access or "accessing"
    return f"index out of bounds {verb} {array}" if array else f"{fault} {verb} memory"


def _array_at(address: int | None, places: str, interface: Interface) -> str | None:
    """The array around an address; the program may have written other places, which name none."""
    if address is None:
        return None
    for index, first, last in _PLACE.findall(places):
        if int(first, 16) <= address <= int(last, 16) and int(index) < len(interface.arguments):
            return interface.arguments[int(index)].name
    return None
