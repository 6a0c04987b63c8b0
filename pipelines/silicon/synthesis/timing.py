"""Static timing of a mapped netlist: delays from register or port to the next register or port.

The model is the one of OpenSTA for a netlist without wires: loads are pin capacitances, every
output port carries 0.02 pF, inputs switch at time 0 with zero transition, the clock reaches every
register at time 0 with zero transition, and the slowest arrival and the slowest transition at a net
are kept separately for rising and falling. Paths from asynchronous set and clear are not followed,
as by default there. Constant nets carry no transition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipelines.silicon.synthesis.liberty import (
    Cell,
    Floats,
    Indices,
    Liberty,
    SynthesisError,
    Table,
    TableStack,
    TimingArc,
)
from pipelines.silicon.synthesis.netlist import CellGroup, Netlist
from pipelines.silicon.synthesis.yosys import OUTPUT_LOAD_PF

RISE, FALL = 0, 1

# A node is a net and a direction of change: 2 * net + RISE or FALL; arrays over nodes are
# (2 * nets,). The constant nets never change, so a node of theirs is free to stand for the clock.
_FIRST_NET = 2
_CLOCK = 0

_UNATE = {
    "positive_unate": ((RISE, RISE), (FALL, FALL)),
    "negative_unate": ((RISE, FALL), (FALL, RISE)),
}
_NON_UNATE = ((RISE, RISE), (RISE, FALL), (FALL, RISE), (FALL, FALL))
_COMBINATIONAL = {
    "combinational": (RISE, FALL),
    "combinational_rise": (RISE,),
    "combinational_fall": (FALL,),
}
_CLOCKED = ("rising_edge", "falling_edge")
_SETUP = ("setup_rising", "setup_falling")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timing:
    """The timing of a netlist.

    Attributes:
        delay_ns: longest path: from a register's clock or an input port to an output port, or to a
            register's data with its set-up time. 0 when there is no path.
        clock_to_q_ns: slowest register output, as loaded in this netlist; 0 without registers.
        arrival_ns, transition_ns: (nets, 2), rising and falling; arrival is -inf where nothing
            arrives.
        load_pf: (nets, 2), load seen by a rising and by a falling driver.
    """

    delay_ns: float
    clock_to_q_ns: float
    arrival_ns: Floats
    transition_ns: Floats
    load_pf: Floats


class _Tables:
    """Numbers for tables, so that edges can name them in arrays."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.tables: list[Table] = []

    def number(self, table: Table) -> int:
        if id(table) not in self.numbers:
            self.numbers[id(table)] = len(self.tables)
            self.tables.append(table)
        return self.numbers[id(table)]

    def stack(self) -> TableStack:
        return TableStack(self.tables)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Edges:
    """Timing arcs between nodes, each array (edges,); register outputs are driven by _CLOCK."""

    source: Indices
    target: Indices
    delay: Indices
    transition: Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Edges of one arc of one cell type, for all cells of the type."""

    source: Indices
    target: Indices
    delay: int
    transition: int


def _nodes(nets: Indices, direction: int) -> Indices:
    return 2 * nets + direction


def _joined(blocks: list[_Block]) -> _Edges:
    def column(values: list[Indices]) -> Indices:
        return np.concatenate(values) if values else np.zeros(0, np.intp)

    return _Edges(
        source=column([b.source for b in blocks]),
        target=column([b.target for b in blocks]),
        delay=column([np.full(b.source.size, b.delay, np.intp) for b in blocks]),
        transition=column([np.full(b.source.size, b.transition, np.intp) for b in blocks]),
    )


def _tables_of(arc: TimingArc, direction: int) -> tuple[Table | None, Table | None]:
    if direction == RISE:
        return arc.delay_rise, arc.transition_rise
    return arc.delay_fall, arc.transition_fall


def _arcs(cell: Cell, group: CellGroup) -> Iterator[tuple[Indices, Indices, TimingArc]]:
    """Yield the source nets, target nets and arc, for every arc whose two pins are connected somewhere."""
    for name, pin in cell.pins.items():
        if name not in group.pins:
            continue
        for arc in pin.arcs:
            if arc.related_pin in group.pins:
                yield group.pins[arc.related_pin], group.pins[name], arc


def _arc_blocks(source: Indices, target: Indices, arc: TimingArc, tables: _Tables) -> Iterator[_Block]:
    live = (source >= _FIRST_NET) & (target >= _FIRST_NET)
    if arc.kind in _CLOCKED:  # the active edge starts both directions of the output
        source, pairs, transitions = (
            np.zeros_like(source),
            ((_CLOCK, RISE), (_CLOCK, FALL)),
            (RISE, FALL),
        )
    else:
        pairs, transitions = _UNATE.get(arc.sense, _NON_UNATE), _COMBINATIONAL.get(arc.kind, ())
    for before, after in pairs:
        delay, transition = _tables_of(arc, after)
        if after in transitions and delay is not None and transition is not None:
            yield _Block(
                source=_nodes(source[live], before),
                target=_nodes(target[live], after),
                delay=tables.number(delay),
                transition=tables.number(transition),
            )


def _loads(netlist: Netlist, liberty: Liberty) -> Floats:
    """Return the capacitance at each node in pF, (2 * nets,)."""
    load = np.zeros((netlist.net_count, 2))
    for type_name, group in netlist.groups.items():
        for name, nets in group.pins.items():
            pin = liberty.cells[type_name].pins.get(name)
            if pin is not None:
                there = np.bincount(nets[nets >= 0], minlength=netlist.net_count)
                load[:, RISE] += there * pin.rise_capacitance_pf
                load[:, FALL] += there * pin.fall_capacitance_pf
    for nets in netlist.outputs.values():
        load += np.bincount(nets, minlength=netlist.net_count)[:, None] * OUTPUT_LOAD_PF
    return load.reshape(-1)


def _levels(edges: _Edges, node_count: int) -> Indices:
    """Return the longest distance of each node from a node without sources, in edges."""
    level = np.zeros(node_count, np.intp)
    waiting = np.bincount(edges.target, minlength=node_count)
    order = np.argsort(edges.source, kind="stable")
    starts = np.searchsorted(edges.source[order], np.arange(node_count + 1))
    targets = edges.target[order]
    frontier = np.flatnonzero(waiting == 0)
    depth = 0
    while frontier.size:
        level[frontier] = depth
        counts = starts[frontier + 1] - starts[frontier]
        first = np.repeat(starts[frontier] - np.cumsum(counts) + counts, counts)
        reached, times = np.unique(targets[first + np.arange(counts.sum())], return_counts=True)
        waiting[reached] -= times
        frontier = reached[waiting[reached] == 0]
        depth += 1
    if (waiting > 0).any():
        raise SynthesisError(
            f"netlist has a combinational loop, {int((waiting > 0).sum()) // 2} nets are in it or behind it"
        )
    return level


@dataclass(frozen=True, slots=True, eq=False)
class _Wave:
    """Arrival and transition of every node, filled level by level."""

    arrival: Floats
    transition: Floats
    load: Floats
    stack: TableStack

    def pass_edges(self, edges: _Edges, chosen: Indices) -> None:
        """Bring the chosen edges, sorted by target, to their targets: the slowest wins."""
        source, target = edges.source[chosen], edges.target[chosen]
        slew, load = self.transition[source], self.load[target]
        arrival = self.arrival[source] + self.stack.at(edges.delay[chosen], slew, load)
        transition = np.maximum(self.stack.at(edges.transition[chosen], slew, load), 0.0)
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        self.arrival[target[starts]] = np.maximum.reduceat(arrival, starts)
        self.transition[target[starts]] = np.maximum.reduceat(transition, starts)


def _propagate(wave: _Wave, edges: _Edges) -> None:
    level = _levels(edges, wave.arrival.size)[edges.target]
    order = np.lexsort((edges.target, level))
    sizes = np.bincount(level, minlength=1)[1:]  # a target is at least one edge deep
    for chosen in np.split(order, np.cumsum(sizes)[:-1]) if sizes.size else ():
        wave.pass_edges(edges, chosen)


def _edges(netlist: Netlist, liberty: Liberty, tables: _Tables) -> _Edges:
    return _joined(
        [
            block
            for type_name, group in netlist.groups.items()
            for source, target, arc in _arcs(liberty.cells[type_name], group)
            for block in _arc_blocks(source, target, arc, tables)
        ]
    )


def _setup_ends(wave: _Wave, netlist: Netlist, liberty: Liberty) -> Iterator[Floats]:
    """Yield the arrival with set-up time at registers' data pins, an array a constraint and direction."""
    for type_name, group in netlist.groups.items():
        for name, pin in liberty.cells[type_name].pins.items():
            nets = group.pins.get(name, np.zeros(0, np.intp))
            nets = nets[nets >= _FIRST_NET]
            for constraint in (c for c in pin.constraints if c.kind in _SETUP):
                for direction, table in ((RISE, constraint.rise), (FALL, constraint.fall)):
                    if table is not None and nets.size:
                        node = _nodes(nets, direction)
                        slew, which = wave.transition[node], np.zeros(node.size, np.intp)
                        setup = TableStack([table]).at(which, np.zeros(node.size), slew)
                        yield wave.arrival[node] + setup


def _port_ends(wave: _Wave, netlist: Netlist) -> Iterator[Floats]:
    for nets in netlist.outputs.values():
        live = nets[nets >= _FIRST_NET]
        yield np.maximum(wave.arrival[_nodes(live, RISE)], wave.arrival[_nodes(live, FALL)])


def _check_finite(wave: _Wave, ends: list[Floats]) -> None:
    """Refuse times that overflowed; an arrival of -inf means that no signal arrives."""
    times = [wave.arrival, np.abs(wave.transition), *ends]
    if not all((t < np.inf).all() for t in times):
        raise SynthesisError(
            "delays of the library grow beyond what a double holds; accepted: tables of smaller slopes"
        )


def _latest(ends: Iterator[Floats]) -> float:
    latest = max((float(e.max(initial=-np.inf)) for e in ends), default=-np.inf)
    return max(latest, 0.0)


def analyse_timing(netlist: Netlist, liberty: Liberty) -> Timing:
    """Return the arrival times of a mapped netlist and its longest path.

    Args:    netlist: every cell type must be in the library.
    Returns: delays in ns; see `Timing`. A path between registers of opposite clock edges counts
             with its own length, not doubled.
    Raises:  SynthesisError: there is a combinational loop, or a time is beyond what a double holds.
    Source:  the non-linear delay model of liberty, evaluated as OpenSTA does (`GateTableModel`:
             delay and transition from input transition and load, negative transitions taken as
             zero).
    """
    tables = _Tables()
    edges = _edges(netlist, liberty, tables)
    nodes = 2 * netlist.net_count
    wave = _Wave(np.full(nodes, -np.inf), np.zeros(nodes), _loads(netlist, liberty), tables.stack())
    wave.arrival[_CLOCK] = 0.0
    for nets in netlist.inputs.values():
        wave.arrival[_nodes(nets, RISE)] = wave.arrival[_nodes(nets, FALL)] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        _propagate(wave, edges)
        ends = [*_setup_ends(wave, netlist, liberty), *_port_ends(wave, netlist)]
    _check_finite(wave, ends)
    started = edges.target[edges.source == _CLOCK]
    wave.arrival[_CLOCK] = -np.inf
    return Timing(
        delay_ns=_latest(iter(ends)),
        clock_to_q_ns=float(wave.arrival[started].max(initial=0.0)),
        arrival_ns=wave.arrival.reshape(-1, 2),
        transition_ns=wave.transition.reshape(-1, 2),
        load_pf=wave.load.reshape(-1, 2),
    )
