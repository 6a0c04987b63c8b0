"""Modules as Yosys writes them: cells, nets and what drives them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pipelines.rtl.reuse.errors import RtlError

Bit = int | str
"""Number of a net, or one of the texts 0, 1, x, z and `EVENT`."""
EVENT = "event"
"""What a clock pin has instead of a net when the data of its register say whether the clock has an edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell or an instance.

    Attributes:
        kind: type of Yosys, with `$`; name of a module for an instance.
        parameters: as bits, highest first. pins: nets by port. outputs: names of output ports.
        source: file and line of the design, for messages; empty if they are not known.
    """

    name: str
    kind: str
    parameters: Mapping[str, str]
    pins: Mapping[str, tuple[Bit, ...]]
    outputs: tuple[str, ...]
    source: str = ""

    @property
    def place(self) -> str:
        """File and line behind a message, in brackets."""
        return f" ({self.source})" if self.source else ""

    def number(self, parameter: str) -> int:
        """Return a parameter as a number; undefined bits are 0."""
        return bits_value(self.parameters[parameter])

    def is_set(self, parameter: str) -> bool:
        """Tell whether a parameter is there and not 0."""
        return parameter in self.parameters and self.number(parameter) != 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """What drives a net: a bit of a cell's output port, or of an input port of the module (cell -1)."""

    cell: int
    port: str
    offset: int


@dataclass(frozen=True, kw_only=True)
class RawModule:
    """A module as Yosys writes it.

    Attributes:
        inputs, outputs: nets of the ports by name.
        initial: values of nets of registers. names: of nets, for messages.
    """

    name: str
    inputs: Mapping[str, tuple[Bit, ...]]
    outputs: Mapping[str, tuple[Bit, ...]]
    cells: Sequence[Cell]
    initial: Mapping[Bit, int]
    names: Mapping[Bit, str] = field(repr=False)

    @cached_property
    def drivers(self) -> Mapping[Bit, Driver]:
        """The driver of every net."""
        drivers: dict[Bit, Driver] = {}
        ports = [(-1, name, bits) for name, bits in self.inputs.items()]
        ports += [(i, port, cell.pins[port]) for i, cell in enumerate(self.cells) for port in cell.outputs]
        for cell, port, bits in ports:
            for offset, bit in enumerate(bits):
                if isinstance(bit, str):
                    continue
                if bit in drivers:
                    place = self.cells[cell].place if cell >= 0 else ""
                    raise RtlError(f"several drivers: {self.names.get(bit, bit)} in {self.name}{place}")
                drivers[bit] = Driver(cell=cell, port=port, offset=offset)
        return drivers

    def driving_cell(self, net: Bit) -> Cell | None:
        """Return the cell that drives a net; None for a port or nothing."""
        driver = self.drivers.get(net)
        return None if driver is None or driver.cell < 0 else self.cells[driver.cell]


def bits_value(bits: str) -> int:
    """Return the value of bits, highest first; undefined ones are 0."""
    return int("0" + re.sub("[^01]", "0", bits), 2)
