"""A netlist to blocks: which modules join their parents, and the clock of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pipelines.rtl.reuse.blocks import TOP, Block, build_block
from pipelines.rtl.reuse.cells import IGNORED, LATCH, STORAGE, rejection
from pipelines.rtl.reuse.clocking import ONE_CLOCK
from pipelines.rtl.reuse.driven_clocks import Drive
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.hierarchy import children_first
from pipelines.rtl.reuse.netlist import Netlist
from pipelines.rtl.reuse.raw_modules import EVENT, Bit, Cell, RawModule
from pipelines.rtl.reuse.resets import require_equal_pulses
from pipelines.rtl.reuse.schedules import Clock, no_clocks

_LATCHES = "; accepted: the latch of a clock gate, or --engine verilator"
SMALL_NODES = 8
"""A combinational module of at most so many cells joins its parents: its pins would cost more."""
COPIED_CELLS = 2048
"""Most cells that such a module may have in all its copies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Blocks by name.

    Attributes:
        top: name of the block at the top. inputs, outputs: widths of its ports, without the clock.
        clock: name of the clock port, None for a design without storage. front_end: what read the design.
        has_falling: a cycle has two events, and the clock is the last input, 1 in the second one.
        has_gates: there were gated clocks, which are enables now.
        clocks: with periods; they are the last inputs, 1 in cycles at whose end they rise.
        drive: of clocks that a caller toggles; they are the last inputs.
    """

    blocks: Mapping[str, Block]
    top: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    clock: str | None
    front_end: str = ""
    has_falling: bool = False
    has_gates: bool = False
    clocks: Mapping[str, Clock] = field(default_factory=no_clocks)
    drive: Drive | None = None


def elaborate(netlist: Netlist, joined: frozenset[str] = frozenset()) -> Design:
    """Return the blocks of a netlist.

    Args:   joined: modules that are no blocks of their own, besides those that would cost more as such.
    Raises: RtlError: latch, gated clock, and all else that is rejected; CombinationalLoop within a module.
    """
    top = netlist.modules[netlist.top]
    clocks = _clocks(netlist)
    require_equal_pulses(netlist)
    joined |= _joined(netlist)
    blocks: dict[str, Block] = {}
    for name in children_first(_sites(netlist).__getitem__, netlist.top):
        if name not in joined:
            blocks[name] = build_block(netlist, name, joined, clocks, blocks)
    _drop_unused(blocks, netlist.top)
    clock = netlist.clock or next(iter(clocks[netlist.top]), None)
    drive = netlist.drive
    of_clocks = drive.ports if drive else [*netlist.clocks] if clock is None else [clock]
    inputs = {port: len(bits) for port, bits in top.inputs.items() if port not in of_clocks}
    if netlist.has_falling or netlist.clocks or drive:
        inputs |= {port: len(top.inputs[port]) for port in of_clocks}
    return Design(
        blocks=blocks,
        top=netlist.top,
        inputs=inputs,
        outputs={port: len(bits) for port, bits in top.outputs.items()},
        clock=clock,
        front_end=netlist.front_end,
        has_falling=netlist.has_falling,
        has_gates=netlist.has_gates,
        clocks=netlist.clocks,
        drive=drive,
    )


def instance_counts(design: Design) -> Counter[str]:
    """Return the instances of every block."""
    children = {name: Counter(c.block for c in block.children) for name, block in design.blocks.items()}
    counts = Counter({design.top: 1})
    for name in reversed(children_first(children.__getitem__, design.top)):
        for child, number in children[name].items():
            counts[child] += counts[name] * number
    return counts


def state_bytes(block: Block) -> int:
    """Return the bytes of the registers and memories of one instance, in words of whole bytes."""
    words = [(r.width, 1) for r in block.registers] + [(m.width, m.size) for m in block.memories]
    return sum(-(-width // 8) * number for width, number in words)


def _drop_unused(blocks: dict[str, Block], top: str) -> None:
    """Remove blocks without an instance that an output needs."""
    used: set[str] = set()
    waiting = [top]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += [child.block for child in blocks[name].children]
    for name in set(blocks) - used:
        del blocks[name]


def _sites(netlist: Netlist) -> dict[str, Counter[str]]:
    """Count the instances of other modules in every module."""
    modules = netlist.modules
    return {name: Counter(c.kind for c in m.cells if c.kind in modules) for name, m in modules.items()}


# ---- which modules join their parents ------------------------------------------------------------------


def _joined(netlist: Netlist) -> frozenset[str]:
    """Return the modules that are no blocks of their own."""
    modules = netlist.modules
    sites = _sites(netlist)
    order = children_first(sites.__getitem__, netlist.top)[::-1]
    counts = Counter({netlist.top: 1})
    for name in order:
        for child, number in sites[name].items():
            counts[child] += counts[name] * number
    parents = Counter(child for name in order for child in sites[name])
    own = {
        n: sum(c.kind not in modules and c.kind not in IGNORED for c in m.cells) for n, m in modules.items()
    }
    joined: set[str] = set()
    for name in reversed(order):
        is_single = parents[name] == 1 and all(sites[p][name] <= 1 for p in order)
        children_joined = set(sites[name]) <= joined
        is_small = children_joined and _is_combinational(modules[name]) and own[name] <= SMALL_NODES
        if name != netlist.top and (
            is_single or own[name] == 0 or (is_small and own[name] * counts[name] <= COPIED_CELLS)
        ):
            joined.add(name)
    return frozenset(joined)


def _is_combinational(module: RawModule) -> bool:
    return not any(cell.kind in STORAGE for cell in module.cells)


# ---- clocks --------------------------------------------------------------------------------------------


def _clocks(netlist: Netlist) -> dict[str, frozenset[str]]:
    """Return the ports of every module that are clocks, after checking that one net of the top drives all.

    Raises: RtlError: a clock that is gated, falling or one of several.
    """
    clocks: dict[str, frozenset[str]] = {}
    for name in children_first(_sites(netlist).__getitem__, netlist.top):
        module = netlist.modules[name]
        used = (net for cell in module.cells for net in _clock_nets(cell, module, clocks))
        nets = dict.fromkeys(net for net in used if net != EVENT)
        if len(nets) > 1 and name == netlist.top:
            several = ", ".join(sorted(module.names.get(net, str(net)) for net in nets))
            raise RtlError(f"several clocks in {name}: {several}; accepted: {ONE_CLOCK}")
        clocks[name] = frozenset(_clock_port(module, net) for net in nets)
    return clocks


def _clock_nets(cell: Cell, module: RawModule, clocks: Mapping[str, frozenset[str]]) -> Iterator[Bit]:
    if cell.kind in clocks:
        for port in sorted(clocks[cell.kind]):
            yield cell.pins[port][0] if cell.pins.get(port) else "x"
        return
    reason = rejection(cell.kind)
    if reason is not None:
        name = module.names.get(_output_net(cell), cell.name)
        accepted = _LATCHES if reason == LATCH else ""
        raise RtlError(f"{reason}: {name} in {module.name}{cell.place}{accepted}")
    if cell.kind == "$mem_v2":
        yield from _memory_clocks(cell, module)
    elif cell.kind in STORAGE and "CLK" in cell.pins:
        if not cell.is_set("CLK_POLARITY"):
            raise RtlError(f"falling clock edge: {cell.name} in {module.name}; accepted: rising")
        yield cell.pins["CLK"][0]


def _output_net(cell: Cell) -> Bit:
    pins = [bits for port, bits in cell.pins.items() if port in cell.outputs and bits]
    return pins[0][0] if pins else "x"


def _memory_clocks(cell: Cell, module: RawModule) -> Iterator[Bit]:
    ports = cell.number("WR_PORTS")
    enabled, polarity = cell.number("WR_CLK_ENABLE"), cell.number("WR_CLK_POLARITY")
    for i in range(ports):
        if not enabled >> i & 1:
            raise RtlError(f"latch: memory {cell.name} in {module.name} is written without a clock")
        if not polarity >> i & 1:
            raise RtlError(f"falling clock edge: memory {cell.name} in {module.name}; accepted: rising")
        yield cell.pins["WR_CLK"][i]


def _clock_port(module: RawModule, net: Bit) -> str:
    driver = module.drivers.get(net)
    if driver is None or driver.cell != TOP or len(module.inputs[driver.port]) != 1:
        name = module.names.get(net, str(net))
        cell = module.driving_cell(net)
        place = cell.place if cell else ""
        raise RtlError(f"gated clock: {name} in {module.name}{place}; accepted: an input port of one bit")
    return driver.port
