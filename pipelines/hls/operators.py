"""Delay, area and latency of operators, from measurements in a standard-cell library.

Belongs here: how long an operation takes in cycles and nanoseconds, and how much area it is expected to
need. Does not: when it starts. The numbers are data (`operator_delays_*.json`), measured by synthesising
each operator alone with the flow that labels designs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.hls.cdfg import Operation
from pipelines.hls.errors import HlsError

MULTIPLIER_LATENCY_CYCLES = 2
"""Half products are registered, then their sum: two stages."""

DIVIDER_LATENCY_CYCLES = 34
"""One cycle to take the operands, 32 quotient bits, one cycle for the signs; not pipelined."""

CONSTANT_DIVIDER_LATENCY_CYCLES = 2
"""The wide product is registered, then the corrected quotient: two stages."""

LOCAL_READ_DELAY_CYCLES = 1
LOCAL_WRITE_DELAY_CYCLES = 1

_TABLE_NAMES = {
    "add": "add",
    "sub": "sub",
    "neg": "sub",
    "lt": "lt",
    "le": "lt",
    "gt": "lt",
    "ge": "lt",
    "eq": "eq",
    "ne": "eq",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "not": "xor",
    "select": "mux2",
    "shl": "shl",
    "shr": "shr",
    "mul": "mul",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorLibrary:
    """Measured operators of one standard-cell library.

    Attributes:
        liberty: name of the library.
        clock_to_q_ns, setup_ns: of its flip-flop.
        table: operator -> width in bits -> (delay in ns, area in um2).
    """

    liberty: str
    clock_to_q_ns: float
    setup_ns: float
    table: Mapping[str, Mapping[int, tuple[float, float]]]

    def _entry(self, name: str, width_bits: int) -> tuple[float, float]:
        widths = self.table[name]
        fitting = [w for w in sorted(widths) if w >= width_bits] or [max(widths)]
        return widths[fitting[0]]

    def delay_ns(self, name: str, width_bits: int = 32) -> float:
        """Combinational delay of the smallest measured operator that is wide enough."""
        return self._entry(name, width_bits)[0]

    def area_um2(self, name: str, width_bits: int = 32) -> float:
        """Area, scaled linearly from the measured width."""
        widths = self.table[name]
        fitting = [w for w in sorted(widths) if w >= width_bits] or [max(widths)]
        return widths[fitting[0]][1] * width_bits / fitting[0]


DEFAULT_LIBRARY = "osu018"


def measured_libraries() -> tuple[str, ...]:
    """Names of the libraries whose operators were measured."""
    paths = Path(__file__).parent.glob("operator_delays_*.json")
    return tuple(sorted(p.stem.removeprefix("operator_delays_") for p in paths))


def delay_library(liberty: str) -> str:
    """The measured library that schedules designs for a liberty: itself, or the default one.

    Which one it was stands in the design's row.
    """
    return liberty if liberty in measured_libraries() else DEFAULT_LIBRARY


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How an operation behaves in time.

    Attributes:
        latency_cycles: cycles from start until the value is there; 0 for combinational.
        delay_ns: combinational delay from its inputs, to its output when the latency is 0, else to the
            register or port that takes them.
        busy_cycles: cycles during which its unit takes no other operation.
    """

    latency_cycles: int
    delay_ns: float
    busy_cycles: int = 1


@cache
def load_library(liberty: str) -> OperatorLibrary:
    """The measured operators of a liberty, by name.

    Raises: HlsError: no measurement of that liberty is there.
    """
    known = measured_libraries()
    if liberty not in known:
        raise HlsError(f"operator delays must be of one of {', '.join(known)}", repr(liberty))
    path = Path(__file__).parent / f"operator_delays_{liberty}.json"
    content: dict[str, Any] = json.loads(path.read_text())
    table = {
        name: {int(w): (float(v["delay_ns"]), float(v["area_um2"])) for w, v in widths.items()}
        for name, widths in content["operators"].items()
    }
    return OperatorLibrary(
        liberty=liberty,
        clock_to_q_ns=float(content["clock_to_q_ns"]),
        setup_ns=float(content["setup_ns"]),
        table=table,
    )


def is_power_of_two(value: int) -> bool:
    """Whether a constant has one bit set."""
    return value > 0 and value & (value - 1) == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingModel:
    """Timing of every operation under one configuration.

    Attributes:
        library: measured operators.
        clock_period_ns: the period the schedule must meet.
        read_delay_cycles, write_delay_cycles: of external arrays.
        waited_arrays: arrays that are loaded somewhere, so that a store must be waited for.
        unwaited_stores: some external array is stored and never loaded; the last block waits for those.
    """

    library: OperatorLibrary
    clock_period_ns: float
    read_delay_cycles: int
    write_delay_cycles: int
    waited_arrays: frozenset[str]
    unwaited_stores: bool = False

    @property
    def budget_ns(self) -> float:
        """Time for logic between two registers: the period less the flip-flop and one selection."""
        overhead = self.library.clock_to_q_ns + self.library.setup_ns + self.library.delay_ns("mux2")
        return self.clock_period_ns - overhead

    def of(self, operation: Operation, operations: tuple[Operation, ...]) -> Timing:
        """Timing of one operation of a block."""
        steering = self.library.delay_ns("mux4")
        match operation.opcode:
            case "const" | "read":
                return Timing(latency_cycles=0, delay_ns=0.0)
            case "write":
                return Timing(latency_cycles=1, delay_ns=0.0)
            case "load":
                return Timing(latency_cycles=self._read_delay(operation), delay_ns=steering)
            case "store":
                return Timing(latency_cycles=self.store_visible_cycles(operation), delay_ns=steering)
            case "mul":
                return self._product(operation, operations, steering)
            case "div" | "rem":
                return Timing(
                    latency_cycles=DIVIDER_LATENCY_CYCLES,
                    delay_ns=steering,
                    busy_cycles=DIVIDER_LATENCY_CYCLES,
                )
            case "divc":
                return Timing(
                    latency_cycles=CONSTANT_DIVIDER_LATENCY_CYCLES,
                    delay_ns=self.library.delay_ns("mul", 32),
                )
            case "shl" | "shr" if operations[operation.operands[1]].opcode == "const":
                return Timing(latency_cycles=0, delay_ns=0.0)
            case _:
                width = 32 if operation.type is None else operation.type.width_bits
                return Timing(
                    latency_cycles=0,
                    delay_ns=self.library.delay_ns(_TABLE_NAMES[operation.opcode], width),
                )

    def _read_delay(self, operation: Operation) -> int:
        external = getattr(operation.symbol, "external", True)
        return self.read_delay_cycles if external else LOCAL_READ_DELAY_CYCLES

    def store_visible_cycles(self, operation: Operation) -> int:
        """Cycles from a store until a load of the same array sees it."""
        external = getattr(operation.symbol, "external", True)
        return self.write_delay_cycles if external else LOCAL_WRITE_DELAY_CYCLES

    def _product(self, operation: Operation, operations: tuple[Operation, ...], steering: float) -> Timing:
        factor = constant_factor(operation, operations)
        if factor is None:
            delay = steering + self.library.delay_ns("mul", 16)
            return Timing(latency_cycles=MULTIPLIER_LATENCY_CYCLES, delay_ns=delay)
        terms = max(1, signed_digit_count(factor))
        levels = (terms - 1).bit_length()
        return Timing(latency_cycles=0, delay_ns=levels * self.library.delay_ns("add"))


def constant_factor(operation: Operation, operations: tuple[Operation, ...]) -> int | None:
    """The constant a product multiplies by, None when neither operand is one."""
    for index in operation.operands:
        if operations[index].opcode == "const":
            return operations[index].value
    return None


def signed_digit_count(value: int) -> int:
    """Non-zero digits of the canonical signed-digit form: shifted terms a constant product adds."""
    value, count = abs(value), 0
    while value:
        if value & 1:
            digit = 2 - (value & 3)
            value -= digit
            count += 1
        value >>= 1
    return count


def uses_unit(operation: Operation, operations: tuple[Operation, ...]) -> str | None:
    """Kind of the shared functional unit an operation needs: `mul`, `div`, or None."""
    if operation.opcode in ("div", "rem"):
        return "div"
    if operation.opcode == "mul" and constant_factor(operation, operations) is None:
        return "mul"
    return None
