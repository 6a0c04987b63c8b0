"""Gated clocks and falling edges of one clock as enables of registers, before modules are compared.

A register behind a clock gate (a latch that is transparent while the clock is low, and an AND) keeps its
value unless the latch is 1 when the clock rises. The latch is transparent then and when outputs are
sampled, so it is a wire, and the gated clock is the enable. With falling edges a cycle has two events: the
clock falls behind the inputs, but for the first cycle, and rises behind the outputs. The port of the clock
is then an input that is 1 in the second event: registers of an edge are enabled in its event, and a latch
keeps its value in the other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from pipelines.rtl.reuse.cells import IGNORED, STORAGE
from pipelines.rtl.reuse.clock_nets import (
    LATCH,
    TIED,
    as_latch,
    clock_edges,
    direct_clocks,
    first_net,
    is_driven_inside,
    known_data,
    origin_of,
    port_behind,
    wire_input,
)
from pipelines.rtl.reuse.enables import EnabledModule, Event, wire_cell
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.hierarchy import children_first
from pipelines.rtl.reuse.raw_modules import EVENT, Bit, Cell, RawModule
from pipelines.rtl.reuse.schedules import NO_CLOCKS, Clock, no_clocks

ONE_CLOCK = "one, or --clock NAME=PERIOD[:PHASE] for each"
_GATES = ("$and", "$logic_and")


class _Kind(Enum):
    """What a net carries: the clock, its inverse, a clock behind gates, or one that is tied to 0."""

    CLOCK = "clock"
    INVERSE = "inverse"
    GATED = "gated"
    TIED = "tied"


_INVERSE = {_Kind.CLOCK: _Kind.INVERSE, _Kind.INVERSE: _Kind.CLOCK}
_Ports = frozenset[tuple[str, _Kind]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocked:
    """Modules in which every register has the one clock.

    Attributes:
        clock: port of the top; None where nothing was changed. has_falling: two events per cycle.
        has_gates: registers had gated clocks. clocks: with periods, which are inputs now.
    """

    modules: Mapping[str, RawModule]
    clock: str | None = None
    has_falling: bool = False
    has_gates: bool = False
    clocks: Mapping[str, Clock] = field(default_factory=no_clocks)


def with_one_clock(
    modules: Mapping[str, RawModule], top: str, clocks: Mapping[str, Clock] = NO_CLOCKS
) -> Clocked:
    """Return modules without gated clocks, falling edges and latches of clock gates.

    A design without them is returned as it is. With periods, ports of clocks become inputs that are 1 in the
    cycles at whose end the clock rises, and registers are enabled by them.

    Args:   clocks: periods by port, all or none.
    Raises: RtlError: several clocks without periods, a clock that is used as data, or gated in another way.
    """
    order = children_first(
        lambda name: dict.fromkeys(c.kind for c in modules[name].cells if c.kind in modules), top
    )
    direct = direct_clocks(modules, order, has_latches=False)
    of_registers = direct[top]
    if clocks:
        return _with_periods(modules, top, clocks, direct)
    if len(of_registers) > 1:
        raise RtlError(f"several clocks in {top}: {', '.join(sorted(of_registers))}; accepted: {ONE_CLOCK}")
    if not any(_needs_change(modules[name], direct) for name in order):
        return Clocked(modules=modules)
    candidates = of_registers or direct_clocks(modules, order, has_latches=True)[top]
    if len(candidates) != 1:
        return Clocked(modules=modules)
    [clock] = candidates
    ports = frozenset({(clock, _Kind.CLOCK)})
    rewriter = _Rewriter(modules, direct, has_falling=False)
    rewriter.rewrite(top, ports)
    if rewriter.uses_falling:
        rewriter = _Rewriter(modules, direct, has_falling=True)
        rewriter.rewrite(top, ports)
    if not rewriter.has_registers:
        return Clocked(modules=modules)
    return Clocked(
        modules=rewriter.made,
        clock=clock,
        has_falling=rewriter.has_falling,
        has_gates=rewriter.uses_gates,
    )


def _with_periods(
    modules: Mapping[str, RawModule], top: str, clocks: Mapping[str, Clock], direct: Mapping[str, set[str]]
) -> Clocked:
    """Return modules whose registers are enabled by the ports of clocks with periods."""
    ports = [port for port, bits in modules[top].inputs.items() if len(bits) == 1]
    if unknown := sorted(clocks.keys() - set(ports)):
        accepted = ", ".join(sorted(direct[top]) or ports) or "none"
        raise RtlError(f"unknown clock: {unknown[0]}; accepted: {accepted}")
    if missing := sorted(direct[top] - clocks.keys()):
        raise RtlError(f"clock without a period: {missing[0]}; accepted: {ONE_CLOCK}")
    rewriter = _Rewriter(modules, direct, has_falling=True, has_periods=True)
    rewriter.rewrite(top, frozenset((name, _Kind.CLOCK) for name in clocks))
    return Clocked(modules=rewriter.made, clocks=clocks)


def _needs_change(module: RawModule, direct: Mapping[str, set[str]]) -> bool:
    return any(
        cell.kind == LATCH
        or any(first_net(cell, port) in TIED for port in direct.get(cell.kind, ()))
        or (cell.kind in STORAGE and any(net in TIED for net, _ in clock_edges(cell)))
        or (cell.kind in STORAGE and any(not rising for _, rising in clock_edges(cell)))
        or (cell.kind in STORAGE and any(is_driven_inside(module, net) for net, _ in clock_edges(cell)))
        for cell in module.cells
    )


def _is_gate(cell: Cell) -> bool:
    """Tell whether a cell is an AND of two bits."""
    return cell.kind in _GATES and all(len(bits) == 1 for bits in cell.pins.values())


class _Rewriter:
    """Rewrites modules for what their ports carry; a module with several uses becomes several.

    Attributes:
        direct: clock ports of registers by module.
        uses_falling: a register takes the falling edge, or a latch is transparent while the clock is high.
        uses_gates: a register has a gated clock. has_registers: there are registers at all.
    """

    def __init__(
        self,
        modules: Mapping[str, RawModule],
        direct: Mapping[str, set[str]],
        *,
        has_falling: bool,
        has_periods: bool = False,
    ) -> None:
        self.direct = direct
        self.modules, self.has_falling, self.has_periods = modules, has_falling, has_periods
        self.uses: dict[tuple[str, _Ports], _Module] = {}
        self.names: dict[tuple[str, _Ports], str] = {}
        self.made: dict[str, RawModule] = {}
        self.uses_falling = self.uses_gates = self.has_registers = False

    def use(self, name: str, ports: _Ports) -> _Module:
        """Return what the nets of a module carry for these clock ports."""
        if (name, ports) not in self.uses:
            self.uses[name, ports] = _Module(self, self.modules[name], ports)
        return self.uses[name, ports]

    def rewrite(self, name: str, ports: _Ports) -> str:
        """Return the name of the module for these clock ports."""
        key = (name, ports)
        if key not in self.names:
            if not self.names and (clocks := self.use(*key).outputs()):  # of the top module
                raise RtlError(f"clock used as data: {min(port for port, _ in clocks)} in {name}")
            number = sum(other == name for other, _ in self.names)
            self.names[key] = name if number == 0 else f"{name}$clocked{number}"
            self.made[self.names[key]] = replace(self.use(*key).rewritten(), name=self.names[key])
        return self.names[key]


class _Module(EnabledModule):
    def __init__(self, rewriter: _Rewriter, module: RawModule, ports: _Ports) -> None:
        super().__init__(module)
        self.rewriter = rewriter
        self.kinds: dict[Bit, _Kind] = {module.inputs[port][0]: kind for port, kind in ports}
        # Ports of the clock and of its inverse become ports of the clock, which is one.
        self.clock: Bit = next((net for net, kind in self.kinds.items() if kind in _INVERSE), EVENT)
        self.latches: dict[Bit, Cell] = {}
        self._follow()

    # ---- what nets carry -----------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Find nets that carry the clock, in any order of cells."""
        is_changed = True
        while is_changed:
            before = len(self.kinds) + len(self.latches)
            for cell in self.module.cells:
                self._follow_cell(cell)
            is_changed = len(self.kinds) + len(self.latches) > before

    def _follow_cell(self, cell: Cell) -> None:
        if (wire := wire_input(cell)) is not None and wire[0] in self.kinds:
            net, is_inverting = wire
            kind = _INVERSE.get(self.kinds[net]) if is_inverting else self.kinds[net]
            if kind is not None:
                self.kinds[cell.pins["Y"][0]] = kind
        elif (latch := self._clocked_latch(cell)) is not None:
            self.latches |= dict.fromkeys(latch.pins["Q"], latch)
        elif _is_gate(cell) and self._gate(cell) is not None:
            self.kinds[cell.pins["Y"][0]] = _Kind.GATED
        elif _is_gate(cell) and self._is_tied(cell):
            self.kinds[cell.pins["Y"][0]] = _Kind.TIED
        elif self.rewriter.has_periods:
            return  # no clock leaves a module
        elif cell.kind in self.rewriter.modules and (ports := self._child_ports(cell)):
            for port, kind in self.rewriter.use(cell.kind, ports).outputs():
                if cell.pins.get(port):
                    self.kinds[cell.pins[port][0]] = kind

    def _gate(self, cell: Cell) -> str | None:
        """Return the port of the clock of an AND of a clock and a latch of the right phase."""
        for port, other in (("A", "B"), ("B", "A")):
            clock, enable = cell.pins[port][0], cell.pins[other][0]
            latch = self.latches.get(enable)
            if self.kinds.get(clock) not in (_Kind.CLOCK, _Kind.GATED) or latch is None:
                continue
            if self._is_low(latch) and self._is_closed(latch, clock):
                return port
        return None

    def _is_tied(self, cell: Cell) -> bool:
        """Tell whether an input of an AND is tied to 0."""
        nets = (cell.pins[port][0] for port in ("A", "B"))
        return any(net in TIED or self.kinds.get(net) is _Kind.TIED for net in nets)

    def _is_low(self, latch: Cell) -> bool:
        """Tell whether a latch is transparent while the clock is low."""
        kind = self.kinds[latch.pins["EN"][0]]
        return latch.is_set("EN_POLARITY") == (kind is _Kind.INVERSE)

    def _is_closed(self, latch: Cell, clock: Bit) -> bool:
        """Tell whether a latch is closed while a net is high: its clock is that net, or has no gates."""
        own = latch.pins["EN"][0]
        nets = {origin_of(self.module, net)[0] for net in (own, clock)}
        return self.kinds[own] is not _Kind.GATED or len(nets) == 1

    def _child_ports(self, cell: Cell) -> _Ports:
        module = self.rewriter.modules[cell.kind]
        ports = [port for port, bits in module.inputs.items() if len(bits) == 1]
        known = {port: self.kinds[net] for port in ports if (net := first_net(cell, port)) in self.kinds}
        tied = (port for port in self.rewriter.direct[cell.kind] if first_net(cell, port) in TIED)
        return frozenset((known | dict.fromkeys(tied, _Kind.TIED)).items())

    def outputs(self) -> _Ports:
        """Return the output ports that carry a clock."""
        return frozenset(
            (port, self.kinds[bits[0]])
            for port, bits in self.module.outputs.items()
            if len(bits) == 1 and self.kinds.get(bits[0], _Kind.TIED) is not _Kind.TIED
        )

    # ---- new cells -----------------------------------------------------------------------------------------

    def rewritten(self) -> RawModule:
        """Return the module in which every register has the clock itself."""
        for cell in self.module.cells:
            for net, rises in clock_edges(cell) if cell.kind in STORAGE else ():
                self.event(net, rises=rises)
        cells = [new for cell in self.module.cells for new in self._rewritten(cell)]
        return RawModule(
            name=self.module.name,
            inputs=self.module.inputs,
            outputs=self.module.outputs,
            cells=cells,
            initial=self.module.initial,
            names=self.module.names,
        )

    def _rewritten(self, cell: Cell) -> Iterator[Cell]:
        if cell.kind in self.rewriter.modules:
            ports = self._child_ports(cell)
            clocks = {port: (self._source(cell.pins[port][0]),) for port, kind in ports if kind in _INVERSE}
            yield replace(cell, kind=self.rewriter.rewrite(cell.kind, ports), pins={**cell.pins, **clocks})
        elif cell.kind == "$mem_v2":
            self._require_no_clock(cell)
            yield from self.memory(cell)
        elif cell.kind in STORAGE and clock_edges(cell):
            self._require_no_clock(cell)
            yield from self.register(cell)
        elif (latch := self._clocked_latch(cell)) is not None and not self.rewriter.has_periods:
            yield from self._latch(latch)
        elif _is_gate(cell) and self.kinds.get(cell.pins["Y"][0]) is _Kind.GATED:
            port = self._gate(cell) or "A"
            is_constant = self.kinds[cell.pins[port][0]] is _Kind.CLOCK and not self.rewriter.has_falling
            yield replace(cell, pins={**cell.pins, port: ("1",)}) if is_constant else cell
        elif _is_gate(cell) and self.kinds.get(cell.pins["Y"][0]) is _Kind.TIED:
            yield wire_cell(cell.name, "$pos", {"A": ("0",), "Y": cell.pins["Y"]})
        elif cell.kind == "$mux" and cell.pins["S"][0] in self.kinds and (known := known_data(cell)):
            yield wire_cell(cell.name, "$pos", {"A": known, "Y": cell.pins["Y"]})
        elif not (wire_input(cell) and cell.pins["Y"][0] in self.kinds):
            self._require_no_clock(cell)
            yield cell

    def _require_no_clock(self, cell: Cell) -> None:
        data = (port for port in cell.pins if port not in (*cell.outputs, "CLK", "WR_CLK", "EN"))
        used = (bit for port in data for bit in cell.pins[port])
        net = next((bit for bit in used if self.kinds.get(bit, _Kind.TIED) is not _Kind.TIED), None)
        if net is not None and cell.kind not in IGNORED:
            raise RtlError(f"clock used as data: {self._shown(net)} in {self.module.name}")

    def _shown(self, net: Bit) -> str:
        return self.module.names.get(net, str(net))

    def event(self, net: Bit, *, rises: bool) -> Event | None:
        """Return the net that enables an edge and the value at which it does; None for the clock alone."""
        kind = _Kind.TIED if net in TIED else self.kinds.get(net)
        self.rewriter.has_registers = True
        if kind is _Kind.TIED and rises:
            return "0", True
        if self.rewriter.has_periods and (kind is not _Kind.CLOCK or not rises):
            what = "falling edge" if kind in _INVERSE else "gated or divided clock"
            raise RtlError(
                f"{what}: {self._shown(net)} in {self.module.name}; accepted with --clock: rising edges of "
                "ports"
            )
        if kind in (None, _Kind.TIED) or (kind is _Kind.GATED and not rises):
            driver = self.module.driving_cell(net)
            is_divided = driver is not None and driver.kind in STORAGE
            what = (
                "divided clock" if is_divided else "gated clock" if rises else "falling edge of a gated clock"
            )
            place = driver.place if driver else ""
            raise RtlError(
                f"{what}: {self._shown(net)} in {self.module.name}{place}; accepted: an input port of one "
                "bit, or the AND of a clock and a latch that is transparent while the clock is low"
            )
        if kind is _Kind.GATED:
            self.rewriter.uses_gates = True
            return net, True
        is_rising = rises == (kind is _Kind.CLOCK)
        self.rewriter.uses_falling |= not is_rising
        return (self._source(net), is_rising) if self.rewriter.has_falling else None

    def _source(self, net: Bit) -> Bit:
        """Return the input net of the clock that a net carries."""
        port = port_behind(self.module, net) if self.rewriter.has_periods else None
        return self.clock if port is None else self.module.inputs[port[0]][0]

    def _clocked_latch(self, cell: Cell) -> Cell | None:
        """Return a latch of a clock that is not tied."""
        latch = as_latch(cell)
        kind = _Kind.TIED if latch is None else self.kinds.get(latch.pins["EN"][0], _Kind.TIED)
        return None if kind is _Kind.TIED else latch

    def _latch(self, cell: Cell) -> Iterator[Cell]:
        self._require_no_clock(cell)
        data, output, is_low = cell.pins["D"], cell.pins["Q"], self._is_low(cell)
        self.rewriter.uses_falling |= not is_low
        if not self.rewriter.has_falling:
            yield wire_cell(f"{cell.name}$wire", "$pos", {"A": data, "Y": output})
            return
        if self.kinds[cell.pins["EN"][0]] is _Kind.GATED:
            raise RtlError(
                f"latch of a gated clock with falling edges: {self._shown(output[0])} in {self.module.name}; "
                "accepted: of the clock itself"
            )
        yield from self.latch(cell, (self.clock, is_low))
