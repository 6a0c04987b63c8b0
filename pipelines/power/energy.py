"""Power of a netlist from its activity and the energies of transitions in liberty's tables.

Switching: a transition of a net costs half of C V^2, C being the mean of its rising and falling load.
Internal: `rise_power` of a pin is the energy of one rising transition of it, `fall_power` that of one falling
one; a net that changes n times rises n / 2 times and falls n / 2 times, so it costs n (rise + fall) / 2. Of
several tables of an output, each related input counts as often as it is likely to have caused the change:
its own changes times the probability that the output follows it.
Leakage: of each state, weighted with the state's probability where the library has states.

Pins of a cell are taken as independent in those probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.base.summation import ordered_sum
from pipelines.power.functions import (
    PowerError,
    parse_function,
    sensitivity_table,
    table_probability,
    truth_table,
)
from pipelines.power.stimulus import Activity
from pipelines.silicon.synthesis import (
    FALL,
    RISE,
    Cell,
    CellGroup,
    InternalPower,
    Liberty,
    Netlist,
    Pin,
    Table,
    TableStack,
    Timing,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_FIRST_NET = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerParts:
    """Mean power of a netlist in mW.

    Attributes:
        internal_mw: inside cells, at transitions of their pins; None when a cell has no tables of it.
        switching_mw: charging the nets that cells drive.
        leakage_mw: of all cells; None when the library lacks it for a cell.
        input_net_mw: charging the nets that input ports drive, mainly the clock. Their drivers are outside
            the design, so it belongs to no part and not to the sum.
    """

    internal_mw: float | None
    switching_mw: float
    leakage_mw: float | None
    input_net_mw: float

    def __post_init__(self) -> None:
        parts = (self.internal_mw, self.switching_mw, self.leakage_mw, self.input_net_mw)
        if not all(part is None or math.isfinite(part) for part in parts):
            raise PowerError(
                "energies of the library grow beyond what a double holds; accepted: tables of smaller slopes"
            )

    @property
    def total_mw(self) -> float | None:
        """Internal, switching and leakage power; None when the library lacks a part."""
        if self.internal_mw is None or self.leakage_mw is None:
            return None
        return self.internal_mw + self.switching_mw + self.leakage_mw


@lru_cache(maxsize=4096)
def _table_of(text: str) -> tuple[int, tuple[str, ...]]:
    expression = parse_function(text)
    return truth_table(expression, expression.pins), expression.pins


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellActivity:
    """Cells of one type and the activity of their pins.

    Attributes:
        toggles: changes of each net in the time counted, (nets,).
        ones: share of time at 1, (nets,).
    """

    cell: Cell
    group: CellGroup
    timing: Timing
    toggles: Floats
    ones: Floats

    def nets(self, pin: str) -> Indices:
        """Return net of each cell's pin, (cells,); net 0, which never changes, where it is unconnected."""
        connected = self.group.pins.get(pin)
        count = len(self.group.names)
        return np.zeros(count, np.intp) if connected is None else np.where(connected < 0, 0, connected)

    def changes(self, pin: str) -> Floats:
        """Return the changes of a pin, (cells,)."""
        return self.toggles[self.nets(pin)]

    def probability(self, text: str | None) -> Floats:
        """Return the probability that an expression of pins holds, (cells,); 1 without one."""
        if text is None:
            return np.ones(len(self.group.names))
        table, pins = _table_of(text)
        return np.broadcast_to(
            table_probability(table, [self.ones[self.nets(p)] for p in pins]), len(self.group.names)
        )

    def follows(self, output: Pin, pin: str) -> Floats:
        """Return the probability that an output changes with an input pin, (cells,)."""
        table, pins = _table_of(output.function or "0")
        if pin not in pins:
            return np.zeros(len(self.group.names))
        change = sensitivity_table(table, pins.index(pin), len(pins))
        return table_probability(change, [self.ones[self.nets(p)] for p in pins])

    def energy(self, table: Table | None, slew: Floats, load: Floats) -> Floats:
        """Return the energies of a table in pJ, (cells,); 0 without a table."""
        if table is None:
            return np.zeros(slew.size)
        return TableStack([table]).at(np.zeros(slew.size, np.intp), slew, load)


def energy_entries(pin: Pin) -> list[InternalPower]:
    """Return the internal energies of a pin, one for each related pin: a group may name several."""
    return [
        replace(entry, related_pin=related)
        for entry in pin.internal_power
        for related in ((entry.related_pin or "").split() or [None])
    ]


def transition_energy_pj(cells: CellActivity, entry: InternalPower, pin: Pin) -> Floats:
    """Return the mean energy of a rising and a falling transition of a pin by one entry, (cells,)."""
    net = cells.nets(pin.name)
    if entry.related_pin is None:  # an input: its own transition, no load
        slew, load = cells.timing.transition_ns[net], np.zeros((net.size, 2))
    else:
        slew = _related_slew(cells, entry.related_pin, pin)
        load = cells.timing.load_pf[net]
    rise = cells.energy(entry.rise, slew[:, RISE], load[:, RISE])
    fall = cells.energy(entry.fall, slew[:, FALL], load[:, FALL])
    return (rise + fall) / 2


def _related_slew(cells: CellActivity, related: str, pin: Pin) -> Floats:
    """Return the transition of the related input for a rising and a falling output, (cells, 2)."""
    slew = cells.timing.transition_ns[cells.nets(related)]
    senses = {arc.sense for arc in pin.arcs if arc.related_pin == related}
    if senses == {"negative_unate"}:
        return slew[:, ::-1]
    if senses == {"positive_unate"}:
        return slew
    return np.repeat(slew.mean(axis=1, keepdims=True), 2, axis=1)


def _state_shares(cells: CellActivity, conditions: Sequence[str | None]) -> list[Floats]:
    """Return the share of each condition; entries without a condition get the remaining time."""
    shares = [cells.probability(c) for c in conditions]
    if all(c is None for c in conditions):
        return shares
    covered = np.zeros(len(cells.group.names))
    for c, share in zip(conditions, shares, strict=True):
        covered = covered + share * (c is not None)
    rest = np.clip(1.0 - covered, 0.0, 1.0)
    return [rest if c is None else s for c, s in zip(conditions, shares, strict=True)]


def _cause_shares(cells: CellActivity, pin: Pin, entries: Sequence[InternalPower]) -> list[Floats]:
    """Return share of an output's changes that each entry's related input has caused; they add up to 1."""
    weights: list[Floats] = []
    for entry in entries:
        related = entry.related_pin or ""
        if cells.cell.is_sequential:
            clocked = related in cells.cell.pins and cells.cell.pins[related].is_clock
            weight = np.full(len(cells.group.names), float(clocked))
        else:
            weight = cells.changes(related) * cells.follows(pin, related)
        weights.append(weight * cells.probability(entry.when))
    total = np.sum(weights, axis=0)
    even = np.full(len(cells.group.names), 1.0 / len(entries))
    return [np.where(total > 0, w / np.where(total > 0, total, 1.0), even) for w in weights]


def _pin_internal_pj(cells: CellActivity, pin: Pin) -> float:
    """Return the internal energy of all transitions of one pin."""
    entries = energy_entries(pin)
    own = [e for e in entries if e.related_pin is None]
    related = [e for e in entries if e.related_pin is not None]
    shares = list(zip(own, _state_shares(cells, [e.when for e in own]), strict=True))
    if related:
        shares += zip(related, _cause_shares(cells, pin, related), strict=True)
    changes = cells.changes(pin.name)
    return ordered_sum(float((changes * s * transition_energy_pj(cells, e, pin)).sum()) for e, s in shares)


def _leakage_mw(cells: CellActivity) -> float:
    cell = cells.cell
    if cell.leakage_mw is None:
        return 0.0
    states = [s for s in cell.leakage_by_state if s.when is not None]
    if not states:
        return cell.leakage_mw * len(cells.group.names)
    shares = _state_shares(cells, [*(s.when for s in states), None])
    values = [*(s.leakage_mw for s in states), cell.leakage_mw]
    return ordered_sum(float((share * v).sum()) for share, v in zip(shares, values, strict=True))


def missing_power_data(netlist: Netlist, liberty: Liberty) -> str | None:
    """Return the data of the cells of a netlist that a library lacks, None when power is complete."""
    used = [liberty.cells[name] for name in sorted(netlist.groups)]
    if liberty.nominal_voltage_v <= 0:
        return f"library {liberty.name} has no nom_voltage above 0"
    for what, lacking in (
        ("internal_power", [c.name for c in used if _lacks_internal_power(c)]),
        ("cell_leakage_power or leakage_power", [c.name for c in used if c.leakage_mw is None]),
    ):
        if lacking:
            return f"library {liberty.name} has no {what} for cells {', '.join(lacking)}"
    return None


def _lacks_internal_power(cell: Cell) -> bool:
    """Tell whether a cell with transitions has no energy for them."""
    has_inputs = any(p.direction == "input" for p in cell.pins.values())
    return has_inputs and not any(p.internal_power for p in cell.pins.values())


def cell_activities(
    netlist: Netlist, liberty: Liberty, timing: Timing, activity: Activity
) -> Iterator[CellActivity]:
    """Yield the cells of each type with their pins' activity."""
    for type_name, group in netlist.groups.items():
        yield CellActivity(
            cell=liberty.cells[type_name],
            group=group,
            timing=timing,
            toggles=activity.toggles.astype(np.float64),
            ones=activity.ones / max(activity.cycles, 1),
        )


def driven_nets(netlist: Netlist, liberty: Liberty) -> NDArray[np.bool_]:
    """Tell whether a cell drives each net, (nets,)."""
    driven = np.zeros(netlist.net_count, bool)
    for type_name, group in netlist.groups.items():
        for name, nets in group.pins.items():
            pin = liberty.cells[type_name].pins.get(name)
            if pin is not None and pin.direction == "output":
                driven[nets[nets >= _FIRST_NET]] = True
    return driven


@np.errstate(over="ignore", invalid="ignore")  # overflows are refused in `PowerParts`
def power_parts(
    netlist: Netlist,
    liberty: Liberty,
    timing: Timing,
    activity: Activity,
    *,
    clock_period_ns: float,
) -> PowerParts:
    """Return the mean power of a netlist over the cycles of an activity.

    Args:    timing: of this netlist, for loads and transitions.
    Returns: mW; see the module for the energy of each transition.
    Raises:  PowerError: it exceeds the range of a double.
    """
    time_ns = activity.cycles * clock_period_ns  # pJ / ns = mW
    net_pj = 0.5 * timing.load_pf.mean(axis=1) * liberty.nominal_voltage_v**2 * activity.toggles
    driven = driven_nets(netlist, liberty)
    driven[:_FIRST_NET] = False
    internal_pj = leakage_mw = 0.0
    for cells in cell_activities(netlist, liberty, timing, activity):
        leakage_mw += _leakage_mw(cells)
        internal_pj += ordered_sum(
            _pin_internal_pj(cells, p) for p in cells.cell.pins.values() if p.internal_power
        )
    used = [liberty.cells[name] for name in netlist.groups]
    return PowerParts(
        internal_mw=None if any(map(_lacks_internal_power, used)) else internal_pj / time_ns,
        switching_mw=float(net_pj[driven].sum()) / time_ns,
        leakage_mw=None if any(c.leakage_mw is None for c in used) else leakage_mw,
        input_net_mw=float(net_pj[_FIRST_NET:][~driven[_FIRST_NET:]].sum()) / time_ns,
    )
