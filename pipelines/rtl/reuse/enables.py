"""Registers, memories and latches that an event enables instead of a clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipelines.rtl.reuse.clock_nets import clock_edges
from pipelines.rtl.reuse.raw_modules import EVENT, Bit, Cell, RawModule

Event = tuple[Bit, bool]
"""A net, and its value at which registers take their data."""


class EnabledModule:
    """A module whose registers become ones that an event enables. Attributes: clock: net of those without."""

    def __init__(self, module: RawModule) -> None:
        self.module = module
        self.clock: Bit = EVENT
        nets = [bit for cell in module.cells for bits in cell.pins.values() for bit in bits]
        self.last_net = max((net for net in (*nets, *module.names) if isinstance(net, int)), default=0)

    def event(self, net: Bit, *, rises: bool) -> Event | None:
        """Return the event of an edge of a clock net; None for every edge of the clock."""
        raise NotImplementedError

    def new_nets(self, number: int) -> Iterator[int]:
        """Yield nets that nothing has."""
        for _ in range(number):
            self.last_net += 1
            yield self.last_net

    def register(self, cell: Cell) -> Iterator[Cell]:
        """Yield a register that keeps its value without the event of its clock edge."""
        [(net, rises)] = clock_edges(cell)
        event = self.event(net, rises=rises)
        if event is None:
            yield replace(cell, pins={**cell.pins, "CLK": (self.clock,)}, parameters=_rising(cell))
            return
        enabled, data = self.choice(event, cell.pins["Q"], cell.pins["D"])
        yield enabled
        yield replace(cell, pins={**cell.pins, "CLK": (EVENT,), "D": data}, parameters=_rising(cell))

    def memory(self, cell: Cell) -> Iterator[Cell]:
        """Yield a memory that writes nothing without the event of its clock edge."""
        clocks, enables = list(cell.pins["WR_CLK"]), list(cell.pins["WR_EN"])
        width, polarity = cell.number("WIDTH"), cell.number("WR_CLK_POLARITY")
        for i in range(cell.number("WR_PORTS")):
            if not cell.number("WR_CLK_ENABLE") >> i & 1:
                continue
            event = self.event(clocks[i], rises=bool(polarity >> i & 1))
            if event is None:
                clocks[i] = self.clock
                continue
            part = slice(i * width, (i + 1) * width)
            enabled, enables[part] = self.choice(event, ["0"] * width, enables[part])
            clocks[i] = EVENT
            yield enabled
        parameters = {**cell.parameters, "WR_CLK_POLARITY": "1" * max(1, len(clocks))}
        pins = {**cell.pins, "WR_CLK": tuple(clocks), "WR_EN": tuple(enables)}
        yield replace(cell, pins=pins, parameters=parameters)

    def latch(self, cell: Cell, event: Event) -> Iterator[Cell]:
        """Yield a latch that an event opens: a choice between its data and a register with its last value."""
        data, output = cell.pins["D"], cell.pins["Q"]
        kept = tuple(self.new_nets(len(output)))
        chosen, _ = self.choice(event, kept, data, output)
        yield chosen
        yield keeping_cell(f"{cell.name}$kept", output, kept)

    def choice(
        self, event: Event, off: Sequence[Bit], on: Sequence[Bit], output: Sequence[Bit] = ()
    ) -> tuple[Cell, tuple[Bit, ...]]:
        """Return a choice by an event, and its output nets."""
        net, value = event
        result = tuple(output) or tuple(self.new_nets(len(on)))
        low, high = (off, on) if value else (on, off)
        name = f"$clocking${self.last_net}${result[0]}"
        pins = {"A": tuple(low), "B": tuple(high), "S": (net,), "Y": result}
        return wire_cell(name, "$mux", pins), result


def keeping_cell(name: str, data: tuple[Bit, ...], output: tuple[Bit, ...]) -> Cell:
    """Return a register that takes its data in every event."""
    return Cell(
        name=name,
        kind="$dff",
        parameters={"CLK_POLARITY": "1", "WIDTH": f"{len(output):b}"},
        pins={"CLK": (EVENT,), "D": data, "Q": output},
        outputs=("Q",),
    )


def _rising(cell: Cell) -> dict[str, str]:
    return {**cell.parameters, "CLK_POLARITY": "1"}


def wire_cell(name: str, kind: str, pins: Mapping[str, tuple[Bit, ...]]) -> Cell:
    """Return a cell that works bit by bit."""
    width = f"{len(pins['Y']):b}"
    names = ("WIDTH", "A_WIDTH", "B_WIDTH", "Y_WIDTH")
    return Cell(
        name=name,
        kind=kind,
        parameters={"A_SIGNED": "0", **dict.fromkeys(names, width)},
        pins=pins,
        outputs=("Y",),
    )
