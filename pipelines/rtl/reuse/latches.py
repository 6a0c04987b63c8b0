"""Latches that Yosys wrote in another form, as latches of an enable and data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pipelines.rtl.reuse.clock_nets import LATCH, origin_of
from pipelines.rtl.reuse.raw_modules import Bit, Cell, RawModule

_RESET_LATCH = "$adlatch"


def with_plain_latches(module: RawModule) -> RawModule:
    """Return a module in which no reset of a latch depends on the latch's own enable.

    Yosys reads `if (!clk) q <= test ? 1 : d` as a latch that `!clk & test` resets to 1. While the latch is
    closed such a reset is inactive, so it is a choice of the data.
    """
    latches = [i for i, cell in enumerate(module.cells) if cell.kind == _RESET_LATCH]
    phases = dict[int, str]()
    for i in latches:
        phases |= _phases(module, module.cells[i])
    resets = {i for i in latches if _driver(module, module.cells[i].pins["ARST"][0]) in phases}
    if not resets or not _are_read_by_latches(module, phases, resets):
        return module
    cells = list(module.cells)
    for i, port in phases.items():
        cells[i] = replace(cells[i], pins={**cells[i].pins, port: ("1",)})
    plain = [new for i, cell in enumerate(cells) for new in (_plain(module, cell) if i in resets else [cell])]
    return replace(module, cells=plain)


def _driver(module: RawModule, net: Bit) -> int:
    """Return the number of the cell that drives a net, -1 for none."""
    driver = module.drivers.get(net)
    return -1 if driver is None else driver.cell


def _phases(module: RawModule, latch: Cell) -> Mapping[int, str]:
    """Return ANDs in the reset of a latch, each with the port at which it has the latch's enable."""
    phases = dict[int, str]()
    waiting = [latch.pins["ARST"][0]] if latch.is_set("ARST_POLARITY") else []
    enable, is_inverted = origin_of(module, latch.pins["EN"][0])
    open_level = (enable, is_inverted != latch.is_set("EN_POLARITY"))
    while waiting:
        number = _driver(module, waiting.pop())
        cell = module.cells[number] if number >= 0 else None
        if cell is None or cell.kind != "$and" or len(cell.pins["Y"]) != 1 or number in phases:
            continue
        for port, other in (("A", "B"), ("B", "A")):
            net, is_inverse = origin_of(module, cell.pins[port][0])
            if (net, not is_inverse) == open_level:
                phases[number] = port
                waiting.append(cell.pins[other][0])
                break
    return phases


def _are_read_by_latches(module: RawModule, phases: Mapping[int, str], resets: set[int]) -> bool:
    """Tell whether nothing but resets of these latches depends on ANDs."""
    readers = Counter(bit for bits in module.outputs.values() for bit in bits)
    readers.update(bit for _, bits in _inputs(module) for bit in bits)
    own = Counter(module.cells[i].pins["ARST"][0] for i in resets)
    own.update(module.cells[i].pins["B" if port == "A" else "A"][0] for i, port in phases.items())
    return all(readers[net] == own[net] for i in phases for net in module.cells[i].pins["Y"])


def _inputs(module: RawModule) -> Iterator[tuple[str, tuple[Bit, ...]]]:
    for cell in module.cells:
        yield from ((port, bits) for port, bits in cell.pins.items() if port not in cell.outputs)


def _plain(module: RawModule, latch: Cell) -> Iterator[Cell]:
    """Yield the choice of the data of a latch, and the latch without its reset."""
    data, value, width = latch.pins["D"], latch.number("ARST_VALUE"), len(latch.pins["D"])
    first = 1 + max(bit for bits in _nets(module) for bit in bits if isinstance(bit, int))
    # Nets of several latches differ, as each has its own outputs.
    chosen = tuple(first + bit for bit in latch.pins["Q"] if isinstance(bit, int))
    constant = tuple(str(value >> i & 1) for i in range(width))
    pins = {"A": data, "B": constant, "S": latch.pins["ARST"], "Y": chosen}
    yield Cell(
        name=f"{latch.name}$data",
        kind="$mux",
        parameters={"WIDTH": f"{width:b}"},
        pins=pins,
        outputs=("Y",),
    )
    yield replace(
        latch, kind=LATCH, pins={**{p: b for p, b in latch.pins.items() if p != "ARST"}, "D": chosen}
    )


def _nets(module: RawModule) -> Iterator[tuple[Bit, ...]]:
    yield from (bits for cell in module.cells for bits in cell.pins.values())
    yield from module.inputs.values()
    yield from module.outputs.values()
