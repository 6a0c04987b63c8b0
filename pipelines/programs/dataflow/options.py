"""Options of the dataflow stage, element types of tensors, and the ranges their values stay in."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.programs.dialects import require_weights
from pipelines.programs.errors import ProgramError
from pipelines.programs.mix import require_mix

DATA_TYPES = ("int8", "int16", "int32", "float")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowOptions:
    """Bounds and shares of the dataflow stage.

    Attributes:
        data_types: of tensors, one per program; integers accumulate in 32 bits.
        minimum_operators, maximum_operators: nodes of a graph.
        minimum_cycles, cycle_budget: limits of a program's estimated cycles, memory delay 2, no directives.
        cell_budget: limit of a program's estimated standard cells, no directives.
        local_bits: limit of all local arrays of a program; larger intermediates are external buffers.
        buffers: every intermediate is an external buffer.
        mutation_share: probability that an operator's loop trees are mutated; 0 gives the plain order.
        runtime_share: probability that a suitable loop ends at a run-time scalar.
        macro_share: probability that a program's constants are macros, not literals.
        reorder_sums: whether mutations may change the order in which floating terms are summed.
        dimension_scale: bounds of a program's factor on the sizes of new tensors, drawn log-uniformly.
        control_weight: weight of the family `control` (`operators/control.py`), beside FAMILY_WEIGHTS.
        even_cells: an operator takes at most three equal shares of the remaining cells, so that graphs of
            many operators fit.
        tries: graphs drawn per program until one has enough operators and cycles.
        dialect_weights: of each of `pipelines.programs.dialects.DIALECTS`; empty for the stage's own texts.
        dialect_first: number of the first program that a dialect is drawn for.
        mix: parts of the programs with options of their own; the remaining programs have these options.

    Raises: ProgramError: a value out of its range.
    """

    data_types: tuple[str, ...] = DATA_TYPES
    minimum_operators: int = 1
    maximum_operators: int = 8
    minimum_cycles: int = 200
    cycle_budget: int = 40_000
    cell_budget: int = 10_000
    local_bits: int = 512
    buffers: bool = False
    mutation_share: float = 0.8
    runtime_share: float = 0.4
    macro_share: float = 0.6
    reorder_sums: bool = True
    dimension_scale: tuple[float, float] = (1.0, 1.0)
    control_weight: float = 0.0
    even_cells: bool = False
    tries: int = 8
    dialect_weights: tuple[float, ...] = ()
    dialect_first: int = 0
    mix: tuple[DataflowPart, ...] = ()

    def __post_init__(self) -> None:
        _require(bool(self.data_types), "data_types must name at least one type", self.data_types)
        for name in self.data_types:
            if name not in DATA_TYPES:
                valid = ", ".join(DATA_TYPES)
                raise ProgramError(f"unknown data type: {name}; accepted: {valid}")
        operators = (self.minimum_operators, self.maximum_operators)
        _require(
            1 <= self.minimum_operators <= self.maximum_operators <= 32,
            "operators must be 1 <= minimum <= maximum <= 32",
            operators,
        )
        _require(self.cycle_budget >= 1000, "cycle_budget must be at least 1000", self.cycle_budget)
        _require(self.cell_budget >= 1000, "cell_budget must be at least 1000", self.cell_budget)
        _require(
            0 <= self.minimum_cycles < self.cycle_budget,
            "minimum_cycles must be at least 0 and below cycle_budget",
            self.minimum_cycles,
        )
        _require(self.local_bits >= 0, "local_bits must not be negative", self.local_bits)
        for name in ("mutation_share", "runtime_share", "macro_share"):
            share: float = getattr(self, name)
            _require(0.0 <= share <= 1.0, f"{name} must be 0 .. 1", share)
        low, high = self.dimension_scale
        _require(0 < low <= high <= 64, "dimension_scale must be 0 < low <= high <= 64", (low, high))
        _require(0 <= self.control_weight <= 1000, "control_weight must be 0 .. 1000", self.control_weight)
        _require(1 <= self.tries <= 1000, "tries must be 1 .. 1000", self.tries)
        require_weights(self.dialect_weights)
        _require(self.dialect_first >= 0, "dialect_first must be at least 0", self.dialect_first)
        require_mix(self.mix)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowPart:
    """A share of the programs and its options; options that are not given have their defaults."""

    share: float
    options: DataflowOptions


def _require(holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise ProgramError(f"{rule}, got {value}")


INT32_MAX = 2**31 - 1


class Unsuitable(Exception):
    """An operator cannot take these tensors; the graph generator draws another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """The type of a program's tensors.

    Attributes:
        name: as in the options.
        c_names: spellings in C.
        bits: of one element.
        limit: magnitude that an operator's results are scaled down to.
        inputs, weights: magnitudes that external data may be drawn with.
    """

    name: str
    c_names: tuple[str, ...]
    bits: int
    limit: int
    inputs: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def floating(self) -> bool:
        """Whether elements are floating numbers."""
        return self.name == "float"

    @property
    def narrow(self) -> bool:
        """Whether sums need a wider type than elements have."""
        return self.bits < 32


ELEMENTS = {
    e.name: e
    for e in (
        Element(
            name="int8",
            c_names=("int8_t", "signed char"),
            bits=8,
            limit=127,
            inputs=(16, 64, 127),
            weights=(8, 32, 127),
        ),
        Element(
            name="int16",
            c_names=("int16_t", "short"),
            bits=16,
            limit=4095,
            inputs=(16, 100, 1000),
            weights=(4, 16, 100),
        ),
        Element(
            name="int32",
            c_names=("int", "int32_t"),
            bits=32,
            limit=4095,
            inputs=(16, 100, 1000),
            weights=(4, 16, 100),
        ),
        Element(name="float", c_names=("float",), bits=32, limit=4096, inputs=(1, 4), weights=(1, 1)),
    )
}


@dataclass(frozen=True, slots=True)
class Range:
    """An interval that holds every value, ends included."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends))

    def hull(self, other: Range) -> Range:
        """Return the smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def accumulated(self, count: int) -> Range:
        """Return the range of a sum of at most `count` terms, and of all its partial sums."""
        return Range(min(0, self.low * count), max(0, self.high * count))


ZERO = Range(0, 0)


def symmetric(magnitude: float) -> Range:
    """Return -magnitude .. magnitude."""
    return Range(-magnitude, magnitude)


def require_int32(range_: Range) -> None:
    """Refuse ranges that exceed 32-bit sums.

    Raises: Unsuitable: the range exceeds 2^31 - 1 in magnitude.
    """
    if range_.magnitude > INT32_MAX:
        raise Unsuitable(f"a sum must fit int32, got up to {range_.magnitude}")
