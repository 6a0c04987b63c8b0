"""A reconfigurable fabric: a grid of tiles, each with a switch and a unit for computing or for memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipelines.base.files import read_yaml
from pipelines.base.validation import describe_invalid
from pipelines.fabric.errors import FabricError

UnitType = Literal["compute", "memory"]
LETTERS: dict[str, UnitType] = {"C": "compute", "M": "memory"}
SIDE_LIMIT = 64
_Finite = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class OperationRate(BaseModel):
    """How one kind of operation runs on the unit type that can do it.

    Attributes:
        unit: type of unit.
        rate: operations per cycle of one unit.
        delay_cycles: from the end of a sample's work to its output.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: UnitType
    rate: _Finite
    delay_cycles: int = Field(default=0, ge=0, le=1_000_000)


class Fabric(BaseModel):
    """A fabric, as its YAML file says.

    Attributes:
        pattern: rows of letters C (compute) and M (memory) that are repeated over the grid.
        link_words: words per cycle of a link between neighbouring switches; port_words: between a unit and
            its switch, in each direction.
        hop_cycles: latency of a link or port.
        memory_slots: operations that one memory unit takes; they share its ports.
        operations: by kind of operation.
        packets, hop_packets: see `pipelines.fabric.simulation.Problem`.
        compute_samples, memory_samples: that a buffer of such a unit at an end of an edge holds; an input
            buffer holds one more per stage that the edge skips.
        stage_cycles, stage_words, is_fused, fan_out: compiler rules, see `pipelines.fabric.layers.lower`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100)
    rows: int = Field(ge=1, le=SIDE_LIMIT)
    columns: int = Field(ge=1, le=SIDE_LIMIT)
    pattern: tuple[str, ...] = Field(min_length=1)
    link_words: _Finite
    port_words: _Finite
    hop_cycles: int = Field(default=1, ge=0, le=1000)
    memory_slots: int = Field(default=1, ge=1, le=64)
    operations: dict[str, OperationRate] = Field(min_length=1)
    packets: int = Field(default=8, ge=1, le=1000)
    hop_packets: int = Field(default=2, ge=1, le=1000)
    compute_samples: int = Field(default=1, ge=1, le=1000)
    memory_samples: int = Field(default=2, ge=1, le=1000)
    stage_cycles: _Finite = 65536.0
    stage_words: _Finite = 1e15
    is_fused: bool = True
    fan_out: int = Field(default=4, ge=1, le=64)

    @field_validator("pattern")
    @classmethod
    def _require_units(cls, pattern: tuple[str, ...]) -> tuple[str, ...]:
        wrong = sorted({letter for row in pattern for letter in row} - set(LETTERS))
        if wrong or not all(pattern):
            raise FabricError(f"unknown unit in pattern: {', '.join(wrong) or 'empty row'}; accepted: C, M")
        return pattern

    @cached_property
    def unit_types(self) -> tuple[UnitType, ...]:
        """Type of every unit, row by row."""
        rows = len(self.pattern)
        return tuple(
            LETTERS[self.pattern[r % rows][c % len(self.pattern[r % rows])]]
            for r in range(self.rows)
            for c in range(self.columns)
        )

    @cached_property
    def links(self) -> Links:
        """Directed links between switches, and the ports."""
        return _links(self.rows, self.columns)

    def slots(self, unit: int) -> int:
        """Return the operations that a unit takes."""
        return self.memory_slots if self.unit_types[unit] == "memory" else 1

    def room(self, unit_type: UnitType) -> int:
        """Return the operations that all units of a type take together."""
        return sum(self.slots(unit) for unit, kind in enumerate(self.unit_types) if kind == unit_type)

    def buffer_samples(self, kind: str) -> int:
        """Return the samples that a buffer of an operation holds."""
        is_memory = self.operation(kind).unit == "memory"
        return self.memory_samples if is_memory else self.compute_samples

    def operation(self, kind: str) -> OperationRate:
        """Return the rate of a kind of operation.

        Raises: FabricError: no unit can do it.
        """
        if kind not in self.operations:
            raise FabricError(f"unknown operation: {kind}; accepted: {', '.join(sorted(self.operations))}")
        return self.operations[kind]


@dataclass(frozen=True, slots=True)
class Links:
    """Directed links of a fabric.

    A unit u has the ports 2u (to its switch) and 2u + 1 (from its switch); links between switches follow.

    Attributes:
        ends: switches that a link leaves and reaches; of a port its own switch twice.
        neighbours: by switch, link and switch of every way out.
    """

    ends: tuple[tuple[int, int], ...]
    neighbours: tuple[tuple[tuple[int, int], ...], ...]

    def is_port(self, link: int) -> bool:
        """Tell whether a link joins a unit with its switch."""
        return link < 2 * len(self.neighbours)


def _links(rows: int, columns: int) -> Links:
    tiles = rows * columns
    ends = [(unit, unit) for unit in range(tiles) for _ in range(2)]
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(tiles)]
    for tile in range(tiles):
        row, column = divmod(tile, columns)
        for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if 0 <= r < rows and 0 <= c < columns:
                neighbours[tile].append((len(ends), r * columns + c))
                ends.append((tile, r * columns + c))
    return Links(tuple(ends), tuple(map(tuple, neighbours)))


def read_fabric(path: Path) -> Fabric:
    """Read the fabric of a YAML file.

    Raises: FabricError: no such file, not YAML, or not a fabric; the message names the field.
    """
    content = read_yaml(path, what="fabric", error=FabricError)
    try:
        fabric = Fabric.model_validate(content)
    except ValidationError as error:
        raise FabricError(describe_invalid(error, Fabric, path)) from error
    for needed in sorted({rate.unit for rate in fabric.operations.values()}):
        if needed not in fabric.unit_types:
            raise FabricError(f"fabric without {needed} units ({path}): its operations need some")
    return fabric
