"""Parameters of the systolic accelerator, and its hierarchy of modules."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.accelerators.errors import AcceleratorError
from pipelines.base.files import read_yaml
from pipelines.base.identity import content_hash
from pipelines.base.validation import describe_invalid

Dataflow = Literal["weight", "output", "both"]
Activation = Literal["none", "relu", "clip"]
_Power = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
GENERATOR_VERSION = "2"
"""Raised by hand when the same parameters give other Verilog."""


class Hardware(BaseModel, frozen=True):
    """A configuration of the accelerator; every field changes the RTL but the last two.

    Attributes:
        rows, columns: of the mesh. tile_rows, tile_columns: elements between two pipeline registers.
        dataflow: weight or output stationary, or both, chosen per network.
        weight_buffers: 2 = the next weights are shifted in while the present ones are used.
        input_bits, accumulator_bits: of operands and of sums.
        scratchpad_rows, scratchpad_banks: rows of max(rows, columns) operands.
        accumulator_rows, accumulator_banks: rows of `columns` sums.
        load_queue, execute_queue, store_queue: commands that wait at each unit.
        dma_bytes: per beat of external memory. dma_requests: beats under way.
        transposer: whether the load unit gathers elements that lie apart; else the host transposes.
        scale_lanes, scale_bits: sums rescaled per cycle; bits of the factor, 0 = shift only.
        pooling: whether stores take the maximum of a window; else the host does.
        activation: what stores clip to: nothing more than the range, from 0 (relu), to a range of choice.
        memory_latency_cycles: of external memory. clock_period_ns: of power.
    """

    model_config = ConfigDict(extra="forbid")

    rows: Annotated[int, Field(ge=2, le=64)] = 4
    columns: Annotated[int, Field(ge=2, le=64)] = 4
    tile_rows: Annotated[int, Field(ge=1)] = 1
    tile_columns: Annotated[int, Field(ge=1)] = 1
    dataflow: Dataflow = "weight"
    weight_buffers: Annotated[int, Field(ge=1, le=2)] = 2
    input_bits: Annotated[int, Field(ge=4, le=8)] = 8
    accumulator_bits: Annotated[int, Field(ge=16, le=32)] = 32
    scratchpad_rows: int = 128
    scratchpad_banks: int = 2
    accumulator_rows: int = 64
    accumulator_banks: int = 1
    load_queue: Annotated[int, Field(ge=1, le=16)] = 4
    execute_queue: Annotated[int, Field(ge=1, le=16)] = 4
    store_queue: Annotated[int, Field(ge=1, le=16)] = 2
    dma_bytes: Literal[1, 2, 4, 8] = 4
    dma_requests: Annotated[int, Field(ge=1, le=64)] = 8
    transposer: bool = True
    scale_lanes: Annotated[int, Field(ge=1)] = 1
    scale_bits: Annotated[int, Field(ge=0, le=16)] = 8
    pooling: bool = True
    activation: Activation = "relu"
    memory_latency_cycles: Annotated[int, Field(ge=1, le=200)] = 8
    clock_period_ns: Annotated[float, Field(gt=0)] = 20.0

    @model_validator(mode="after")
    def _consistent(self) -> Hardware:
        for name in ("scratchpad_rows", "scratchpad_banks", "accumulator_rows", "accumulator_banks"):
            if getattr(self, name) not in _Power:
                raise ValueError(f"{name}: {getattr(self, name)}; accepted: powers of two up to 65536")
        pairs = (("rows", "tile_rows"), ("columns", "tile_columns"), ("columns", "scale_lanes"))
        for whole, part in pairs:
            if getattr(self, whole) % getattr(self, part):
                raise ValueError(
                    f"{part}: {getattr(self, part)}; accepted: divisors of {getattr(self, whole)}"
                )
        least = 4 * max(self.rows, self.columns)
        if self.scratchpad_rows < 2 * least or self.scratchpad_banks * 4 > self.scratchpad_rows:
            raise ValueError(f"scratchpad_rows: {self.scratchpad_rows}; accepted: at least {2 * least}")
        if self.accumulator_rows < 2 * self.rows or self.accumulator_banks * 4 > self.accumulator_rows:
            raise ValueError(f"accumulator_rows: {self.accumulator_rows}; accepted: at least {2 * self.rows}")
        return self

    @property
    def lanes(self) -> int:
        """Operands of a row of the scratchpad."""
        return max(self.rows, self.columns)

    @property
    def largest(self) -> int:
        """Largest operand; the smallest is its negative."""
        return (1 << (self.input_bits - 1)) - 1

    @property
    def accelerator_id(self) -> str:
        """Identity of the configuration."""
        return content_hash(GENERATOR_VERSION, self.model_dump())

    @property
    def scratchpad_bits(self) -> int:
        """Bits of address of the scratchpad."""
        return int(log2(self.scratchpad_rows))

    @property
    def accumulator_address_bits(self) -> int:
        """Bits of address of the accumulator."""
        return int(log2(self.accumulator_rows))

    def flows(self) -> tuple[str, ...]:
        """Return the dataflows that the mesh supports."""
        return ("weight", "output") if self.dataflow == "both" else (self.dataflow,)

    def verilog_parameters(self) -> dict[str, int]:
        """Return the parameters of module `accelerator`."""
        return {
            "IN": self.input_bits,
            "ACC": self.accumulator_bits,
            "ROWS": self.rows,
            "COLS": self.columns,
            "TILE_ROWS": self.tile_rows,
            "TILE_COLS": self.tile_columns,
            "WS": int(self.dataflow != "output"),
            "OS": int(self.dataflow != "weight"),
            "SHADOW": self.weight_buffers - 1,
            "LANES": self.lanes,
            "BYTES": self.dma_bytes,
            "INFLIGHT": self.dma_requests,
            "GATHER": int(self.transposer),
            "LOAD_QUEUE": self.load_queue,
            "EXECUTE_QUEUE": self.execute_queue,
            "STORE_QUEUE": self.store_queue,
            "SA": self.scratchpad_bits,
            "S_BANK_BITS": int(log2(self.scratchpad_banks)),
            "AA": self.accumulator_address_bits,
            "A_BANK_BITS": int(log2(self.accumulator_banks)),
            "SCALERS": self.scale_lanes,
            "SCALE_BITS": self.scale_bits,
            "POOL": int(self.pooling),
            "ACTIVATION": ("none", "relu", "clip").index(self.activation),
        }


def read_hardware(path: Path) -> Hardware:
    """Read a configuration from a YAML file.

    Raises: AcceleratorError: no such file, not YAML, unknown keys or values.
    """
    content = read_yaml(path, what="hardware", error=AcceleratorError)
    try:
        return Hardware.model_validate({} if content is None else content)
    except ValidationError as error:
        raise AcceleratorError(describe_invalid(error, Hardware, path)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A node of the hierarchy tree.

    Attributes:
        kind: module, without its parameters.
        size: bits of state and width that the parameters give, for the node's label.
        parent: index of the module that instantiates it; -1 for the top.
    """

    kind: str
    size: int
    parent: int


def hierarchy(hardware: Hardware) -> list[Module]:
    """Return the modules of the accelerator, parents before children, memories included.

    A test compares kinds and numbers with what Yosys elaborates.
    """
    modules = [Module(kind="accelerator", size=0, parent=-1)]

    def add(kind: str, size: int, parent: int) -> int:
        modules.append(Module(kind=kind, size=size, parent=parent))
        return len(modules) - 1

    h = hardware
    for depth in (h.load_queue, h.execute_queue, h.store_queue):
        add("command_queue", 64 * depth, 0)
    for _ in range(4):
        add("token_count", 8, 0)
    add("load_unit", h.lanes * h.input_bits * h.dma_bytes, 0)
    add("bank_select", h.scratchpad_banks, 0)
    execute = add("execute_unit", h.columns * h.accumulator_bits, 0)
    add("bank_select", h.accumulator_banks, 0)
    add("store_unit", h.scale_lanes * h.accumulator_bits * max(1, h.scale_bits), 0)
    mesh = add("mesh", h.rows * h.columns, execute)
    flow = {"weight": "ws", "output": "os", "both": "wos"}[h.dataflow]
    for row in range(h.rows):
        add("stage_delay", (row // h.tile_rows) * (h.input_bits + 1), mesh)
        for column in range(h.columns):
            ends = f"{int((row + 1) % h.tile_rows == 0)}{int((column + 1) % h.tile_columns == 0)}"
            kind = f"element_{flow}{h.weight_buffers}_{ends}"
            add(kind, h.input_bits * h.input_bits * h.accumulator_bits, mesh)
    last = h.columns // h.tile_columns - 1
    for column in range(h.columns):
        if h.dataflow != "weight":
            add("stage_delay", column // h.tile_columns * h.input_bits, mesh)
        if h.dataflow != "output":
            add("stage_delay", (last - column // h.tile_columns) * h.accumulator_bits, mesh)
    for _ in range(h.scratchpad_banks):
        add("memory", h.scratchpad_rows // h.scratchpad_banks * h.lanes * h.input_bits, 0)
    for _ in range(h.accumulator_banks):
        add("memory", h.accumulator_rows // h.accumulator_banks * h.columns * h.accumulator_bits, 0)
    return modules
