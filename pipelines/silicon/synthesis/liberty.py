"""A standard-cell library: data of each cell from liberty, in ns, pF, V, mW and pJ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class SynthesisError(RuntimeError):
    """Misuse of the engine, or a file that breaks a rule; the message names file, line and rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Factors from units of the file to the units used here."""

    time_ns: float
    capacitance_pf: float
    voltage_v: float
    leakage_mw: float

    @property
    def energy_pj(self) -> float:
        """Internal energy is in capacitance times voltage squared, as liberty defines it."""
        return self.capacitance_pf * self.voltage_v**2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A look-up table; an axis that the file leaves out has the single point 0.

    Attributes:
        first: shape (rows,): input transition in ns; of a constraint, the transition of the clock.
        second: shape (columns,): output load in pF; of a constraint, the transition of the data.
        values: shape (rows, columns): ns, or pJ for energies.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimingArc:
    """How a transition at `related_pin` reaches the pin that has the arc."""

    related_pin: str
    sense: str
    kind: str
    when: str | None
    delay_rise: Table | None
    delay_fall: Table | None
    transition_rise: Table | None
    transition_fall: Table | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Constraint:
    """A set-up, hold, recovery or removal time of the pin that has it, against `related_pin`."""

    related_pin: str
    kind: str
    when: str | None
    rise: Table | None
    fall: Table | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InternalPower:
    """Energy spent inside the cell per transition of a pin, in pJ."""

    related_pin: str | None
    when: str | None
    rise: Table | None
    fall: Table | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pin:
    """A pin of a cell; capacitances in pF."""

    name: str
    direction: str
    rise_capacitance_pf: float
    fall_capacitance_pf: float
    capacitance_pf: float
    max_capacitance_pf: float | None
    function: str | None
    three_state: str | None
    is_clock: bool
    arcs: tuple[TimingArc, ...]
    constraints: tuple[Constraint, ...]
    internal_power: tuple[InternalPower, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipFlop:
    """A liberty `ff` group: state variables and the expressions that drive them."""

    state: str
    state_inverted: str | None
    next_state: str
    clocked_on: str
    clear: str | None
    preset: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLeakage:
    """Leakage in one state of the inputs."""

    when: str | None
    leakage_mw: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """A standard cell.

    Attributes:
        flip_flops: its `ff` groups; empty for anything that is not a flip-flop.
        is_latch: it has a `latch` group.
        leakage_mw: the value for the cell as a whole, or the mean over states when there is none; None when
            the library has neither.
    """

    name: str
    area_um2: float
    pins: Mapping[str, Pin]
    flip_flops: tuple[FlipFlop, ...]
    is_latch: bool
    leakage_mw: float | None
    leakage_by_state: tuple[StateLeakage, ...]

    @property
    def is_sequential(self) -> bool:
        """Whether the cell holds state."""
        return bool(self.flip_flops) or self.is_latch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Liberty:
    """A standard-cell library."""

    name: str
    units: Units
    nominal_voltage_v: float
    cells: Mapping[str, Cell]

    @property
    def smallest_buffer(self) -> str | None:
        """Name of the buffer of least area, the first by name of several; None without buffers."""
        buffers = [c for c in self.cells.values() if _computes(c, "{}")]
        return min(buffers, key=lambda c: (c.area_um2, c.name)).name if buffers else None

    @property
    def has_inverter(self) -> bool:
        """Whether a cell inverts: without one abc maps to netlists that compute something else."""
        return any(_computes(c, "!{}", "{}'") for c in self.cells.values())


def _computes(cell: Cell, *functions: str) -> bool:
    """Tell whether a cell has one input and one of some functions of it."""
    inputs = [p.name for p in cell.pins.values() if p.direction == "input"]
    outputs = [p for p in cell.pins.values() if p.direction == "output"]
    if cell.is_sequential or len(inputs) != 1 or len(outputs) != 1 or outputs[0].three_state:
        return False
    own = (outputs[0].function or "").translate(_NO_MARKS)
    return own in [function.format(inputs[0]) for function in functions]


_NO_MARKS = str.maketrans("", "", "() ")


Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class TableStack:
    """Tables padded to one size. Outside its index a table continues with the slope of its edge."""

    def __init__(self, tables: Sequence[Table]) -> None:
        rows = max((t.first.size for t in tables), default=1) + 1
        columns = max((t.second.size for t in tables), default=1) + 1
        self.rows = np.array([t.first.size for t in tables], np.intp)
        self.columns = np.array([t.second.size for t in tables], np.intp)
        self.first = np.full((len(tables), rows), np.inf)  # (tables, rows)
        self.second = np.full((len(tables), columns), np.inf)  # (tables, columns)
        self.values = np.zeros((len(tables), rows, columns))  # (tables, rows, columns)
        for i, t in enumerate(tables):
            self.first[i, : t.first.size] = t.first
            self.second[i, : t.second.size] = t.second
            # one more row and column, so that a single point has a neighbour
            self.values[i] = np.pad(
                t.values, ((0, rows - t.first.size), (0, columns - t.second.size)), mode="edge"
            )

    def at(self, table: Indices, x: Floats, y: Floats) -> Floats:
        """Return the values of tables at points, each argument and the result (points,).

        Source: OpenSTA `TableModel.cc`, `Table2::findValue`: bilinear, linear beyond the edges.
        """
        i, a = _position(self.first[table], self.rows[table], x)
        j, b = _position(self.second[table], self.columns[table], y)
        v = self.values
        low = v[table, i, j] * (1 - a) + v[table, i + 1, j] * a
        high = v[table, i, j + 1] * (1 - a) + v[table, i + 1, j + 1] * a
        return low * (1 - b) + high * b


def _position(axes: Floats, sizes: Indices, x: Floats) -> tuple[Indices, Floats]:
    """Return the segment of each point on its axis (points, size), and how far along it, both (points,)."""
    segment = np.clip((axes <= x[:, None]).sum(axis=1) - 1, 0, np.maximum(sizes - 2, 0))
    rows = np.arange(x.size)
    start = axes[rows, segment]
    end = np.where(sizes > 1, axes[rows, np.minimum(segment + 1, axes.shape[1] - 1)], start + 1.0)
    return segment, np.where(sizes > 1, (x - start) / (end - start), 0.0)
