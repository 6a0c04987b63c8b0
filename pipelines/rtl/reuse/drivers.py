"""Nets that an assignment drives besides something else, which the cells of a netlist do not show.

Yosys joins the two nets of an assignment, and a net that is joined with a constant is the constant: of
`assign q = 1'b0; assign q = a;` an input `a` is left that is 0. Instances that
only pass bits on are joined likewise. Several drivers that are all cells are seen in the netlist, see
`raw_modules`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pipelines.rtl.reuse.errors import RtlError, SeveralDrivers

DRIVERS = "drivers.il"
_WRITE = (f"write_rtlil -selected {DRIVERS}", "select -clear")
WRITE_DRIVERS = {
    # Nets with names, what drives them, and processes.
    "verilog": ("select w:* w:$* %d %ci1 p:* %u", *_WRITE),
    # Assignments are cells here; nets that they or instances drive, and what drives these nets.
    "systemverilog": ("select c:* t:$* %d t:$buf %u %co1 %ci1 o:* %u", *_WRITE),
}
"""Commands of Yosys behind its readers, by language."""
_SOURCE = re.compile(r'attribute \\src "([^"|]*?:\d+)[^"]*"')
_WIRE = re.compile(r"wire (?P<about>.* )?(?P<name>\\\S+)")
_WIDTH = re.compile(r"\bwidth (\d+)")
_CONNECTION = re.compile(r"(?:connect|update) (\{[^}]*\}|\S+(?: \[[\d:]+\])?) (.*)")
_PART = re.compile(r"(\\\S+)(?: \[(\d+)(?::(\d+))?\])?")
_OUTPUTS = ("\\Y", "\\Q")
"""Outputs of Yosys' own cells."""


class _Drive(NamedTuple):
    """Bits of a net that something drives; of an assignment with its text, else without."""

    low: int
    high: int
    text: str
    place: str
    is_instance: bool = False


@dataclass(slots=True)
class _Module:
    """What a dump says about a module: nets with names, and what drives them."""

    name: str
    widths: dict[str, int] = field(default_factory=dict[str, int])
    places: dict[str, str] = field(default_factory=dict[str, str])
    outputs: set[str] = field(default_factory=set[str])
    drives: dict[str, list[_Drive]] = field(default_factory=lambda: defaultdict(list))
    instances: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])

    def add_wire(self, about: str, name: str, place: str) -> None:
        width = _WIDTH.search(about)
        self.widths[name], self.places[name] = int(width[1]) if width else 1, place
        if "output" in about:
            self.outputs.add(name)
        elif "input" in about:
            self.drive(name, "", "")

    def drive(self, signal: str, text: str, place: str, *, is_instance: bool = False) -> None:
        for name, first, last in _PART.findall(signal):
            if name in self.widths:
                high = int(first) if first else self.widths[name] - 1
                low = int(last or first or 0)
                self.drives[name].append(_Drive(low, high, text, place, is_instance))


class Conflict(NamedTuple):
    """Bits of a net with several drivers; error says so."""

    module: str
    net: str
    low: int
    high: int
    error: RtlError


def conflicts(dump: str) -> Iterator[Conflict]:
    """Yield nets with an assignment and another driver, or with several instances that drive them.

    The error is `SeveralDrivers` for the former; the latter may be instances on a modport of which no two
    assign the same member.

    Args: dump: what `WRITE_DRIVERS` wrote.
    """
    modules = {module.name: module for module in _modules(dump)}
    for module in modules.values():
        for kind, port, signal, place in module.instances:
            if kind in modules and port in modules[kind].outputs:
                module.drive(signal, "", place, is_instance=True)
        for net, drives in module.drives.items():
            instances = [drive._replace(text=str(i)) for i, drive in enumerate(drives) if drive.is_instance]
            if (second := _second(drives)) is not None:
                yield _conflict(module, net, second, SeveralDrivers)
            elif (second := _second(instances)) is not None:
                yield _conflict(module, net, second, RtlError)


def _conflict(module: _Module, net: str, drive: _Drive, kind: type[RtlError]) -> Conflict:
    place = drive.place or module.places[net]
    where = f" ({place})" if place else ""
    name = module.name.removeprefix("$paramod").lstrip("\\").partition("\\")[0].partition("$")[0]
    error = kind(f"several drivers: {net[1:]} in {name}{where}; accepted: one")
    return Conflict(module=module.name, net=net[1:], low=drive.low, high=drive.high, error=error)


def is_read(conflict: Conflict, written: Mapping[str, Any]) -> bool:
    """Tell whether a cell or a port of the module reads the bits of a conflict.

    Blocks share the variables of their loops, which slang drives from each of them and nothing reads.

    Args: written: JSON of the design as slang reads it.
    """
    module = written["modules"][conflict.module]
    bits = set(module["netnames"][conflict.net]["bits"][conflict.low : conflict.high + 1])
    readers = [port["bits"] for port in module["ports"].values() if port["direction"] == "output"]
    for cell in module["cells"].values():
        directions = cell["port_directions"]
        readers += [pins for port, pins in cell["connections"].items() if directions[port] != "output"]
    return any(not bits.isdisjoint(pins) for pins in readers)


def _second(drives: Iterable[_Drive]) -> _Drive | None:
    """Return a driver of bits that have another one, if one of both is an assignment."""
    distinct = {drive[:3]: drive for drive in drives}
    assigned = driven = -1
    for drive in sorted(distinct.values()):
        if drive.low <= assigned or (drive.text and drive.low <= driven):
            return drive
        if drive.text:
            assigned = max(assigned, drive.high)
        else:
            driven = max(driven, drive.high)
    return None


def _modules(dump: str) -> Iterator[_Module]:
    """Read a dump: modules, of which the nets come before what drives them."""
    module, cell, place, pins = _Module(""), "", "", dict[str, str]()
    is_initial = False
    for line in dump.splitlines():
        depth, text = len(line) - len(line.lstrip(" ")), line.strip()
        if text.startswith("attribute"):
            source = _SOURCE.match(text)
            place = source[1] if source and depth <= 2 else place
        elif text.startswith("module "):
            module = _Module(text.removeprefix("module ").lstrip("\\"))
            yield module
        elif depth == 2 and (wire := _WIRE.fullmatch(text)):
            module.add_wire(wire["about"] or "", wire["name"], place)
            place = ""
        elif depth == 2 and text.startswith(("cell ", "process ")):
            cell, pins = text.split(" ")[1], {}
        elif text.startswith("sync "):
            is_initial = text == "sync init"
        elif connection := _CONNECTION.fullmatch(text):
            signal, value = connection[1], connection[2]
            if depth == 2:
                module.drive(signal, text, "")
            elif text.startswith("connect"):
                pins[signal] = value
            elif not is_initial:
                module.drive(signal, "", place)
        elif depth == 2 and text == "end":
            _close(module, cell, pins, place)
            cell, pins, place = "", {}, ""


def _close(module: _Module, cell: str, pins: dict[str, str], place: str) -> None:
    """Add what a cell drives: of an assignment, another cell of Yosys, or an instance."""
    if cell == "$buf":
        module.drive(pins["\\Y"], " ".join((pins["\\Y"], pins["\\A"])), place)
    elif cell.startswith("$") and not cell.startswith("$paramod"):
        for port in pins.keys() & _OUTPUTS:
            module.drive(pins[port], "", place)
    else:
        kind = cell.lstrip("\\")
        module.instances += [(kind, port, signal, place) for port, signal in pins.items()]
