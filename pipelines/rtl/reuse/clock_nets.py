"""What a clock passes through in a module: wires, inverters and latches, and the ports that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipelines.rtl.reuse.cells import STORAGE
from pipelines.rtl.reuse.raw_modules import Bit, Cell, RawModule

TIED = ("0", "x", "z")
"""Constant nets that never rise; undefined bits are 0."""
WIRES = ("$buf", "$pos", "$not", "$logic_not")
INVERTING = ("$not", "$logic_not")
LATCH = "$dlatch"


def needs_change(module: RawModule) -> bool:
    """Tell whether a module has latches, or a clock that is no port or has a falling edge."""
    return any(
        cell.kind == LATCH
        or (
            cell.kind in STORAGE
            and any(not rises or is_driven_inside(module, net) for net, rises in clock_edges(cell))
        )
        for cell in module.cells
    )


def first_net(cell: Cell, port: str) -> Bit:
    """Return the first net of a port of an instance; an open port is undefined."""
    return next(iter(cell.pins.get(port, ())), "x")


def is_driven_inside(module: RawModule, net: Bit) -> bool:
    """Tell whether a cell of a module drives a net."""
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


def as_latch(cell: Cell) -> Cell | None:
    """Return a latch, also one of a constant, which is read as a flip-flop that its reset alone changes."""
    if cell.kind == LATCH:
        return cell
    if cell.kind != "$adff" or "CLK" in cell.pins:
        return None
    value = cell.number("ARST_VALUE")
    data = tuple(str(value >> i & 1) for i in range(len(cell.pins["Q"])))
    parameters = {"WIDTH": cell.parameters["WIDTH"], "EN_POLARITY": cell.parameters["ARST_POLARITY"]}
    pins = {"D": data, "Q": cell.pins["Q"], "EN": cell.pins["ARST"]}
    return replace(cell, kind=LATCH, parameters=parameters, pins=pins)


def known_data(cell: Cell) -> tuple[Bit, ...] | None:
    """Return the data of a choice that has no other: a latch reads it while it is transparent alone."""
    low, high = cell.pins["A"], cell.pins["B"]
    if all(bit == "x" for bit in low):
        return high
    return low if all(bit == "x" for bit in high) else None
