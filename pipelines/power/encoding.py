"""Input of the simulator: truth tables, levels, flip-flops and delays of a mapped netlist.

Nets keep their numbers; additional virtual nets are inside cells, such as the state of a flip-flop of which
only the inverted output is connected, or the inverse of a reset pin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.power.functions import MAX_VARIABLES, Expression, PowerError, parse_function, truth_table
from pipelines.silicon.synthesis import (
    FALL,
    RISE,
    Cell,
    CellGroup,
    FlipFlop,
    Liberty,
    Netlist,
    Pin,
    TableStack,
    Timing,
    TimingArc,
)

Numbers = NDArray[np.int32]

TICK_NS = 0.001
NO_NET = -1
_CONSTANT_NETS = 2
_MAX_TICKS = 1 << 24
_EDGES = ("rising_edge", "falling_edge")
_UNATE = {"positive_unate": (0,), "negative_unate": (1,)}  # whether the input's direction is the other one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EncodedNetlist:
    """A netlist for the simulator.

    Attributes:
        netlist: the encoded netlist.
        net_count: nets, virtual ones included.
        clock: the net that clocks all flip-flops; None without flip-flops.
        gate_count, flip_flop_count: simulated elements; a cell with two outputs is two gates.
        content: bytes of the netlist file.
    """

    netlist: Netlist
    net_count: int
    clock: int | None
    gate_count: int
    flip_flop_count: int
    content: bytes


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Expression:
    return parse_function(text)


def _substituted(expression: Expression, name: str, by: Expression) -> Expression:
    if expression.operator == "pin" and expression.name == name:
        return by
    operands = tuple(_substituted(o, name, by) for o in expression.operands)
    return Expression(operator=expression.operator, name=expression.name, operands=operands)


def _ticks(delay_ns: NDArray[np.float64]) -> Numbers:
    return np.clip(np.rint(delay_ns / TICK_NS), 1, _MAX_TICKS).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Gates:
    """Gates with one truth table: output nets (gates,), input nets (gates, 6), ticks (gates, 2, 6)."""

    table: int
    output: Numbers
    inputs: Numbers
    ticks: Numbers


@dataclass(slots=True)
class _Builder:
    """Collects the gates and flip-flops of a netlist, one cell type at a time."""

    netlist: Netlist
    timing: Timing | None
    net_count: int
    gates: list[_Gates] = field(default_factory=list[_Gates])
    # state, data, clear, preset, edge, rising and falling ticks: each (flip-flops, 7)
    flip_flops: list[Numbers] = field(default_factory=list[Numbers])
    clocks: list[Numbers] = field(default_factory=list[Numbers])

    def virtual_nets(self, count: int) -> Numbers:
        first = self.net_count
        self.net_count += count
        return np.arange(first, first + count, dtype=np.int32)

    def delays(self, arcs: Sequence[TimingArc], sources: Numbers, targets: Numbers) -> Numbers:
        """Return ticks of arcs from pin to pin, rising and falling, (cells, 2); the mean of several arcs."""
        delays_ns = np.zeros((targets.size, 2), np.float64)
        if self.timing is None or not arcs:
            return _ticks(delays_ns)
        real = targets < self.netlist.net_count  # a virtual net has neither load nor transition
        known = np.where(real, targets, 0)
        for direction in (RISE, FALL):
            values = [
                _arc_delay(self.timing, arc, sources, known, direction)
                for arc in arcs
                if (arc.delay_rise if direction == RISE else arc.delay_fall) is not None
            ]
            if values:
                delays_ns[:, direction] = np.where(real, np.mean(values, axis=0), 0.0)
        return _ticks(delays_ns)

    def add_gates(self, pin: Pin | None, expression: Expression, nets: Mapping[str, Numbers]) -> Numbers:
        """Add gates that compute an expression of pins; they have the delays of the pin's arcs.

        Returns: the output nets: of the pin where it is connected, else virtual ones.
        """
        variables = expression.pins
        table = truth_table(expression, variables)
        size = next(iter(nets.values())).size
        output = nets.get(pin.name) if pin is not None else None
        chosen = np.flatnonzero(output != NO_NET) if output is not None else np.arange(size)
        target = self.virtual_nets(size) if output is None else output[chosen]
        inputs = np.full((chosen.size, MAX_VARIABLES), NO_NET, np.int32)
        ticks = np.ones((chosen.size, 2, MAX_VARIABLES), np.int32)
        for k, name in enumerate(variables):
            source = nets[name][chosen]
            inputs[:, k] = np.where(source == NO_NET, 0, source)
            arcs = [a for a in pin.arcs if a.related_pin == name and a.kind.startswith("comb")] if pin else []
            ticks[:, :, k] = self.delays(arcs, inputs[:, k], target)
        self.gates.append(_Gates(table=table, output=target, inputs=inputs, ticks=ticks))
        return target

    def control_net(self, text: str, nets: Mapping[str, Numbers]) -> Numbers:
        """Return the nets of an expression inside a cell: of the pin itself, or of a gate behind it."""
        expression = _parsed(text)
        if expression.operator == "pin":
            source = nets[expression.name]
            return np.where(source == NO_NET, 0, source).astype(np.int32)
        return self.add_gates(None, expression, nets)

    def add_flip_flops(self, cell: Cell, ff: FlipFlop, nets: dict[str, Numbers]) -> str:
        """Return flip-flops of one `ff` group; the name of the output that is their state, "" for none."""
        size = next(iter(nets.values())).size
        outputs = [p for p in cell.pins.values() if p.function and p.name in nets]
        own = [p for p in outputs if _is_state(p, ff)]
        virtual = self.virtual_nets(size)
        state = np.where(nets[own[0].name] == NO_NET, virtual, nets[own[0].name]) if own else virtual
        nets[ff.state] = state.astype(np.int32)  # an enable holds it: next_state names it too
        none = np.full(size, NO_NET, np.int32)
        clear = self.control_net(ff.clear, nets) if ff.clear else none
        preset = self.control_net(ff.preset, nets) if ff.preset else none
        data = self.control_net(ff.next_state, nets)
        clock, edge = _clock_of(cell, ff)
        self.clocks.append(nets[clock])
        ticks = np.ones((size, 2), np.int32)
        if own:
            arcs = [a for a in own[0].arcs if a.kind in _EDGES]
            ticks = self.delays(arcs, np.zeros(size, np.int32), state.astype(np.int32))
        columns = (state, data, clear, preset, np.full(size, edge), ticks[:, RISE], ticks[:, FALL])
        self.flip_flops.append(np.stack(columns, axis=1).astype(np.int32))
        return own[0].name if own else ""

    def add_sequential(self, cell: Cell, nets: dict[str, Numbers]) -> None:
        """Add a type's flip-flops of all cells, and gates for outputs that are not the state itself."""
        direct = {self.add_flip_flops(cell, ff, nets) for ff in cell.flip_flops}
        for pin in cell.pins.values():
            if pin.function and pin.name in nets and pin.name not in direct:
                expression = _parsed(pin.function)
                for ff in cell.flip_flops:
                    inverse = Expression(operator="not", operands=(_parsed(ff.state),))
                    if ff.state_inverted:
                        expression = _substituted(expression, ff.state_inverted, inverse)
                self.add_gates(pin, expression, nets)

    def add_type(self, cell: Cell, group: CellGroup) -> None:
        nets = {name: n.astype(np.int32) for name, n in group.pins.items() if name in cell.pins}
        count = len(group.names)
        for name, pin in cell.pins.items():
            if pin.direction == "input":
                nets.setdefault(name, np.full(count, NO_NET, np.int32))
        if cell.is_latch or any(p.three_state for p in cell.pins.values()):
            raise PowerError(f"a netlist must have no latches or three-state drivers, got {cell.name}")
        if cell.flip_flops:
            self.add_sequential(cell, nets)
            return
        for pin in cell.pins.values():
            if pin.direction == "output" and pin.name in nets:
                if pin.function is None:
                    raise PowerError(f"output without a function: {cell.name}.{pin.name}")
                self.add_gates(pin, _parsed(pin.function), nets)


def _arc_delay(
    timing: Timing, arc: TimingArc, sources: Numbers, targets: Numbers, direction: int
) -> NDArray[np.float64]:
    """Return delay of one arc to a direction of its output, (cells,); the mean of both input directions."""
    table = arc.delay_rise if direction == RISE else arc.delay_fall
    if table is None:
        return np.zeros(targets.size)
    stack, which = TableStack([table]), np.zeros(targets.size, np.intp)
    turns = _UNATE.get(arc.sense, (0, 1)) if arc.kind not in _EDGES else (0,)
    load = timing.load_pf[targets, direction]
    slews = [timing.transition_ns[sources, direction ^ turn] for turn in turns]
    return np.mean([stack.at(which, slew, load) for slew in slews], axis=0)


def _is_state(pin: Pin, ff: FlipFlop) -> bool:
    if not pin.function:
        return False
    expression = _parsed(pin.function)
    return expression.operator == "pin" and expression.name == ff.state


def _clock_of(cell: Cell, ff: FlipFlop) -> tuple[str, int]:
    """Return the clock pin and edge: 0 rising, 1 falling."""
    expression = _parsed(ff.clocked_on)
    falling = expression.operator == "not"
    inner = expression.operands[0] if falling else expression
    if inner.operator != "pin":
        raise PowerError(f"a flip-flop must be clocked by a pin, got {ff.clocked_on!r} in {cell.name}")
    return inner.name, int(falling)


def _joined(parts: Sequence[NDArray[np.int32]], shape: tuple[int, ...]) -> Numbers:
    return np.concatenate(parts) if parts else np.zeros((0, *shape), np.int32)


def _levels(output: Numbers, inputs: Numbers, net_count: int) -> Numbers:
    """Return the level of each gate: 0 behind flip-flops and ports, else one more than its deepest driver."""
    driver = np.full(net_count + 1, NO_NET, np.int64)  # the last entry is that of no net
    driver[output] = np.arange(output.size)
    sources = driver[inputs]  # (gates, 6), -1 where no gate drives
    gates, pins = np.nonzero(sources >= 0)
    source, target = sources[gates, pins], gates
    order = np.argsort(source, kind="stable")
    starts = np.searchsorted(source[order], np.arange(output.size + 1))
    targets, waiting = target[order], np.bincount(target, minlength=output.size)
    level = np.zeros(output.size, np.int32)
    frontier, depth, done = np.flatnonzero(waiting == 0), 0, 0
    while frontier.size:
        level[frontier] = depth
        done += frontier.size
        counts = starts[frontier + 1] - starts[frontier]
        first = np.repeat(starts[frontier] - np.cumsum(counts) + counts, counts)
        reached, times = np.unique(targets[first + np.arange(counts.sum())], return_counts=True)
        waiting[reached] -= times
        frontier, depth = reached[waiting[reached] == 0], depth + 1
    if done < output.size:
        raise PowerError(f"netlist has a combinational loop before {output.size - done} gates")
    return level


def _one_clock(netlist: Netlist, clocks: Numbers, gate_inputs: Numbers) -> int | None:
    nets = np.unique(clocks)
    if nets.size == 0:
        return None
    ports = [n for n, bits in netlist.inputs.items() if nets[0] in bits]
    if nets.size > 1 or not ports:
        raise PowerError(
            f"all flip-flops must be clocked by one input port, got {nets.size} clock nets, "
            f"the first of which belongs to {', '.join(ports) or 'no port'}"
        )
    if (gate_inputs == nets[0]).any():
        raise PowerError(f"the clock must reach flip-flops only, got gates at port {ports[0]}")
    return int(nets[0])


def _check_drivers(netlist: Netlist, outputs: Numbers) -> None:
    inputs = [np.asarray(n, np.int32) for n in netlist.inputs.values()]
    drivers = np.concatenate([outputs, *inputs]) if inputs else outputs
    if np.unique(drivers).size != drivers.size or (outputs < _CONSTANT_NETS).any():
        raise PowerError("a net has several drivers")


def encode_netlist(netlist: Netlist, liberty: Liberty, timing: Timing | None = None) -> EncodedNetlist:
    """Encode a mapped netlist for the simulator.

    Args:    timing: of the netlist, for simulation with delays; without it every delay is one tick.
    Returns: gates in order of level; inputs that are not connected are 0.
    Raises:  PowerError: a cell is not in the library, or is a latch or three-state driver, or has more than
             six inputs; a flip-flop is not clocked by the one clock port; there is a combinational loop.
    """
    alien = [t for t in netlist.groups if t not in liberty.cells]
    if alien:
        raise PowerError(f"cells not in library {liberty.name}: {', '.join(alien)}")
    builder = _Builder(netlist=netlist, timing=timing, net_count=netlist.net_count)
    for type_name, group in netlist.groups.items():
        builder.add_type(liberty.cells[type_name], group)
    return _encoded(builder)


def _encoded(builder: _Builder) -> EncodedNetlist:
    netlist, gates = builder.netlist, builder.gates
    output = _joined([g.output for g in gates], ())
    inputs = _joined([g.inputs for g in gates], (MAX_VARIABLES,))
    ticks = _joined([g.ticks for g in gates], (2, MAX_VARIABLES))
    tables = np.repeat(np.array([g.table for g in gates], np.uint64), [g.output.size for g in gates])
    flip_flops = _joined(builder.flip_flops, (7,))
    clock = _one_clock(netlist, _joined(builder.clocks, ()), inputs)
    _check_drivers(netlist, np.concatenate([output, flip_flops[:, 0]]))
    level = _levels(output, inputs, builder.net_count)
    order = np.argsort(level, kind="stable")
    depth = int(level.max(initial=-1)) + 1
    head = np.array([builder.net_count, output.size, len(flip_flops), depth], "<i4")
    parts = (
        level[order],
        output[order],
        inputs[order],
        *flip_flops[:, :5].T,
        ticks[order],
        flip_flops[:, 5:],
    )
    content = b"".join(np.ascontiguousarray(p, "<i4").tobytes() for p in parts)
    return EncodedNetlist(
        netlist=netlist,
        net_count=builder.net_count,
        clock=clock,
        gate_count=int(output.size),
        flip_flop_count=len(flip_flops),
        content=head.tobytes() + np.ascontiguousarray(tables[order], "<u8").tobytes() + content,
    )
