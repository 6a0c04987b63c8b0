"""Clock nets of a module, and registers that an event enables instead of a clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipelines.rtl.reuse.cells import STORAGE
from pipelines.rtl.reuse.raw_modules import EVENT, Bit, Cell, RawModule

WIRES = ("$buf", "$pos", "$not", "$logic_not")
INVERTING = ("$not", "$logic_not")
LATCH = "$dlatch"
Event = tuple[Bit, bool]
"""A net, and its value at which registers take their data."""


def needs_change(module: RawModule) -> bool:
    """Tell whether a module has latches, or a clock that is no port or has a falling edge."""
    return any(
        cell.kind == LATCH
        or (
            cell.kind in STORAGE
            and any(not rises or _is_driven_inside(module, net) for net, rises in clock_edges(cell))
        )
        for cell in module.cells
    )


def _is_driven_inside(module: RawModule, net: Bit) -> bool:
    driver = module.drivers.get(net)
    return driver is not None and driver.cell >= 0


def clock_edges(cell: Cell) -> list[tuple[Bit, bool]]:
    """Return the clock nets of a register or memory, each with whether its edge rises."""
    if cell.kind == "$mem_v2":
        polarity = cell.number("WR_CLK_POLARITY")
        enabled = cell.number("WR_CLK_ENABLE")
        ports = range(cell.number("WR_PORTS"))
        return [(cell.pins["WR_CLK"][i], bool(polarity >> i & 1)) for i in ports if enabled >> i & 1]
    return [(cell.pins["CLK"][0], cell.is_set("CLK_POLARITY"))] if "CLK" in cell.pins else []


def direct_clocks(
    modules: Mapping[str, RawModule],
    order: Sequence[str],
    *,
    has_latches: bool = False,
    has_resets: bool = False,
) -> dict[str, set[str]]:
    """Return input ports that are clocks of registers through wires and inverters.

    Args: has_latches, has_resets: also enables of latches, and asynchronous resets.
    """
    direct: dict[str, set[str]] = {}
    for name in order:
        module = modules[name]
        nets = [*_clock_uses(module, direct, has_latches=has_latches)]
        nets += [reset for cell in module.cells if has_resets and (reset := reset_net(cell)) is not None]
        ports = (port_behind(module, net) for net in nets)
        direct[name] = {port[0] for port in ports if port is not None}
    return direct


def _clock_uses(module: RawModule, direct: Mapping[str, set[str]], *, has_latches: bool) -> Iterator[Bit]:
    for cell in module.cells:
        if cell.kind in direct:
            yield from (cell.pins[port][0] for port in direct[cell.kind] if cell.pins.get(port))
        elif cell.kind in STORAGE:
            yield from (net for net, _ in clock_edges(cell))
        elif cell.kind == LATCH and has_latches:
            yield cell.pins["EN"][0]


def reset_net(cell: Cell) -> Bit | None:
    """Return the asynchronous reset or load of a register; None if it has none."""
    pin = next((pin for pin in ("ARST", "ALOAD") if pin in cell.pins), None)
    return None if pin is None else cell.pins[pin][0]


def port_behind(module: RawModule, net: Bit) -> tuple[str, bool] | None:
    """Return the input port of one bit that a net is, or is the inverse of, and whether it is the inverse."""
    origin, is_inverse = origin_of(module, net)
    driver = module.drivers.get(origin)
    if driver is None or driver.cell >= 0 or len(module.inputs[driver.port]) > 1:
        return None
    return driver.port, is_inverse


def origin_of(module: RawModule, net: Bit) -> tuple[Bit, bool]:
    """Return the net before wires and inverters, and whether a net is its inverse; any net of a loop."""
    is_inverse = False
    for _ in range(len(module.cells)):
        driver = module.drivers.get(net)
        step = None if driver is None or driver.cell < 0 else wire_input(module.cells[driver.cell])
        if step is None:
            break
        net, is_inverse = step[0], is_inverse != step[1]
    return net, is_inverse


def wire_input(cell: Cell) -> tuple[Bit, bool] | None:
    """Return the input of a wire or an inverter of one bit, and whether it inverts; None for other cells."""
    if cell.kind in WIRES and len(cell.pins["A"]) == len(cell.pins["Y"]) == 1:
        return cell.pins["A"][0], cell.kind in INVERTING
    if cell.kind == "$mux" and (*cell.pins["A"], *cell.pins["B"]) in (("0", "1"), ("1", "0")):
        return cell.pins["S"][0], cell.pins["A"] == ("1",)
    return None


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
