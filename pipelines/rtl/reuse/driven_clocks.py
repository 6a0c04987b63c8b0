"""Clocks that a test bench toggles: edges of any net, as enables of registers, before modules are compared.

A clock or asynchronous reset that is an input port through wires and inverters becomes a port of two bits:
its level, and the level before. A register takes its data where the two are an edge. Any other net that is a
clock or a reset has a register with its last value beside it: after the registers of one edge the design is
evaluated again, and output `MOVED` tells whether such a net has an edge then. So gated and divided clocks
need no special care; those are the steps of an event-driven simulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pipelines.rtl.reuse.cells import IGNORED, STORAGE
from pipelines.rtl.reuse.clock_nets import (
    LATCH,
    clock_edges,
    direct_clocks,
    needs_change,
    origin_of,
    port_behind,
    reset_net,
    wire_input,
)
from pipelines.rtl.reuse.enables import EnabledModule, Event, keeping_cell, wire_cell
from pipelines.rtl.reuse.hierarchy import children_first
from pipelines.rtl.reuse.raw_modules import Bit, Cell, RawModule

MOVED = "$moved"
"""Output of one bit: a clock or reset that is no port has an edge."""
_CONSTANTS = ("0", "1", "x", "z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """What the driver of a design's clocks and resets has to know.

    Attributes:
        ports: input ports of two bits, the level and the level before. clocks: those that are clocks.
        rising, falling: ports whose edge matters. levels: ports that are data, too.
        has_latches: every evaluation has a next state. has_deltas: there is output `MOVED`.
    """

    ports: tuple[str, ...]
    clocks: tuple[str, ...]
    rising: frozenset[str]
    falling: frozenset[str]
    levels: frozenset[str]
    has_latches: bool
    has_deltas: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """How a module uses its ports of clocks.

    Attributes: edges: port and whether its rising edge matters. levels: ports that are data, too.
    """

    edges: frozenset[tuple[str, bool]]
    levels: frozenset[str]


def with_driven_clocks(
    modules: Mapping[str, RawModule], top: str
) -> tuple[Mapping[str, RawModule], Drive | None]:
    """Return modules in which edges enable registers, and how to drive them.

    A design whose registers have one clock, its rising edge and no asynchronous reset stays as it is: None.
    """
    order = children_first(
        lambda name: dict.fromkeys(c.kind for c in modules[name].cells if c.kind in modules), top
    )
    clocks = direct_clocks(modules, order)[top]
    direct = direct_clocks(modules, order, has_resets=True)
    rewritten: dict[str, _Driven] = {}
    for name in order:
        rewritten[name] = _Driven(modules[name], direct, rewritten)
    main = rewritten[top]
    has_more = any(_has_more(modules[name]) for name in order)
    is_plain = len(clocks) <= 1 and not main.uses.levels and not has_more
    if is_plain:
        return modules, None
    drive = Drive(
        ports=tuple(port for port in modules[top].inputs if port in direct[top]),
        clocks=tuple(port for port in modules[top].inputs if port in clocks),
        rising=frozenset(port for port, rises in main.uses.edges if rises),
        falling=frozenset(port for port, rises in main.uses.edges if not rises),
        levels=main.uses.levels,
        has_latches=any(cell.kind == LATCH for name in order for cell in modules[name].cells),
        has_deltas=main.moved is not None,
    )
    return {name: driven.result for name, driven in rewritten.items()}, drive


def _has_more(module: RawModule) -> bool:
    """Tell whether a module needs more than the rising edge of one port."""
    return needs_change(module) or any(reset_net(cell) is not None for cell in module.cells)


class _Driven(EnabledModule):
    """A module with its clock ports widened.

    Attributes: result: the module. uses: of its clock ports. moved: net of its output `MOVED`, if it has one.
    """

    def __init__(
        self, module: RawModule, direct: Mapping[str, set[str]], children: Mapping[str, _Driven]
    ) -> None:
        super().__init__(module)
        self.children, self.ports = children, direct
        self.before = {port: next(self.new_nets(1)) for port in sorted(direct[module.name])}
        self.kept: dict[Bit, Bit] = {}
        self.events: dict[tuple[Bit, bool], Bit] = {}
        self.edges, self.levels = set[tuple[str, bool]](), set[str]()
        self.added: list[Cell] = []
        cells = [new for cell in module.cells for new in self._rewritten(cell)]
        self._read_outputs()
        self.moved = self._moved(cells)
        self.uses = _Uses(edges=frozenset(self.edges), levels=frozenset(self.levels))
        self.result = self._result([*cells, *self.added])

    def _rewritten(self, cell: Cell) -> Iterator[Cell]:
        if cell.kind in self.children:
            yield self._instance(cell)
        elif cell.kind == "$mem_v2":
            self._read(cell, "WR_CLK")
            yield from self.memory(cell)
        elif reset_net(cell) is not None:
            self._read(cell, "CLK", "ARST", "ALOAD")
            yield from self._resettable(cell)
        elif cell.kind in STORAGE and clock_edges(cell):
            self._read(cell, "CLK")
            yield from self.register(cell)
        else:
            if wire_input(cell) is None:
                self._read(cell)
            yield from self._latch(cell) if cell.kind == LATCH else [cell]

    def _resettable(self, cell: Cell) -> Iterator[Cell]:
        """Yield a register that takes its reset value or its data at an edge of its reset or its clock."""
        pin = "ARST" if "ARST" in cell.pins else "ALOAD"
        reset, is_high = cell.pins[pin][0], cell.is_set(f"{pin}_POLARITY")
        value = tuple(cell.parameters["ARST_VALUE"][::-1]) if pin == "ARST" else cell.pins["AD"]
        chosen, data = self.choice((reset, is_high), cell.pins["D"], value)
        yield chosen
        event, _ = self.event(reset, rises=is_high)
        for net, rises in clock_edges(cell):
            event = self._cell("$or", A=event, B=self.event(net, rises=rises)[0])
        enabled, data = self.choice((event, True), cell.pins["Q"], data)
        yield enabled
        yield keeping_cell(cell.name, data, cell.pins["Q"])

    def _latch(self, cell: Cell) -> Iterator[Cell]:
        yield from self.latch(cell, (cell.pins["EN"][0], cell.is_set("EN_POLARITY")))

    def _result(self, cells: list[Cell]) -> RawModule:
        module = self.module
        inputs = {
            port: (*bits, self.before[port]) if port in self.before else bits
            for port, bits in module.inputs.items()
        }
        outputs = module.outputs if self.moved is None else {**module.outputs, MOVED: (self.moved,)}
        initial = {kept: module.initial[net] for net, kept in self.kept.items() if net in module.initial}
        return RawModule(
            name=module.name,
            inputs=inputs,
            outputs=outputs,
            cells=cells,
            initial={**module.initial, **initial},
            names=module.names,
        )

    # ---- events --------------------------------------------------------------------------------------------

    def event(self, net: Bit, *, rises: bool) -> Event:
        """Return the net that is 1 where a net has an edge."""
        if net in _CONSTANTS:
            return "0", True
        if (net, rises) not in self.events:
            if (port := self._clock_port(net)) is not None:
                self.edges.add((port[0], rises != port[1]))
            off, on = (self._before(net), net) if rises else (net, self._before(net))
            self.events[net, rises] = self._cell("$and", A=self._inverse(off), B=on)
        return self.events[net, rises], True

    def _clock_port(self, net: Bit) -> tuple[str, bool] | None:
        port = port_behind(self.module, net)
        return port if port is not None and port[0] in self.before else None

    def _before(self, net: Bit) -> Bit:
        """Return the value of a net before this event; at first 0, of an inverted net 1."""
        if net in _CONSTANTS:
            return net
        port = self._clock_port(net)
        origin, is_inverse = origin_of(self.module, net)
        before = self._kept(origin) if port is None else self.before[port[0]]
        return self._inverse(before) if is_inverse else before

    def _kept(self, net: Bit) -> Bit:
        """Return a register with the last value of a net."""
        if net not in self.kept:
            [self.kept[net]] = self.new_nets(1)
            self.added.append(keeping_cell(f"$before${net}", (net,), (self.kept[net],)))
        return self.kept[net]

    def _inverse(self, net: Bit) -> Bit:
        return self._cell("$not", A=net)

    def _cell(self, kind: str, **pins: Bit) -> Bit:
        [output] = self.new_nets(1)
        nets = {**{port: (net,) for port, net in pins.items()}, "Y": (output,)}
        self.added.append(wire_cell(f"$driven${output}", kind, nets))
        return output

    def _moved(self, cells: list[Cell]) -> Bit | None:
        """Return the net that is 1 where a clock inside has an edge; None without such clocks."""
        moved = [self._cell("$xor", A=net, B=kept) for net, kept in self.kept.items()]
        moved += [cell.pins[MOVED][0] for cell in cells if MOVED in cell.outputs]
        if not moved:
            return None
        result = moved[0]
        for net in moved[1:]:
            result = self._cell("$or", A=result, B=net)
        return result

    # ---- ports ---------------------------------------------------------------------------------------------

    def _instance(self, cell: Cell) -> Cell:
        child = self.children[cell.kind]
        pins = dict(cell.pins)
        for port, bits in cell.pins.items():
            if port not in child.before:
                self._read_nets(bits if port not in cell.outputs else ())
            elif bits:
                self._pass_on(child, port, bits[0])
                pins[port] = (bits[0], self._before(bits[0]))
        if child.moved is None:
            return replace(cell, pins=pins)
        return replace(cell, pins={**pins, MOVED: tuple(self.new_nets(1))}, outputs=(*cell.outputs, MOVED))

    def _pass_on(self, child: _Driven, port: str, net: Bit) -> None:
        """Note how a child uses a port that a clock port of this module reaches."""
        if (own := self._clock_port(net)) is not None:
            self.edges |= {(own[0], rises != own[1]) for name, rises in child.uses.edges if name == port}
        if port in child.uses.levels:
            self._read_nets((net,))

    def _read(self, cell: Cell, *clocks: str) -> None:
        """Note which clock ports a cell reads as data."""
        if cell.kind not in IGNORED:
            for port, bits in cell.pins.items():
                if port not in (*cell.outputs, *clocks):
                    self._read_nets(bits)

    def _read_outputs(self) -> None:
        for bits in self.module.outputs.values():
            self._read_nets(bits)

    def _read_nets(self, nets: tuple[Bit, ...]) -> None:
        ports = (self._clock_port(net) for net in nets)
        self.levels |= {port[0] for port in ports if port is not None}
