"""What the dataflow stage is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.programs.errors import ProgramError

DATA_TYPES = ("int8", "int16", "int32", "float")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowOptions:
    """Bounds and shares of the dataflow stage.

    Attributes:
        data_types: of tensors, one a program; integers accumulate in 32 bits.
        minimum_operators, maximum_operators: nodes of a graph.
        minimum_cycles, cycle_budget: limits of a program's estimated cycles, memory delay 2, no directives.
        cell_budget: limit of a program's estimated standard cells, no directives.
        local_bits: limit of all local arrays of a program; larger intermediates are external buffers.
        buffers: every intermediate is an external buffer.
        mutation_share: probability that an operator's loop trees are mutated; 0 gives the plain order.
        runtime_share: probability that a loop which may end at a run-time scalar does.
        macro_share: probability that a program's constants are macros, not literals.
        reorder_sums: whether mutations may change the order in which floating terms are summed.

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

    def __post_init__(self) -> None:
        _require(bool(self.data_types), "data_types must name at least one type", self.data_types)
        for name in self.data_types:
            if name not in DATA_TYPES:
                valid = ", ".join(DATA_TYPES)
                raise ProgramError(f"a data type must be one of the stage, got {name}; valid: {valid}")
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


def _require(holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise ProgramError(f"{rule}, got {value}")
