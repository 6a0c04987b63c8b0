"""Delay, area and latency of operators, from measurements in a standard-cell library.

The numbers are data (`operator_delays_*.json`), measured by synthesising each operator alone with the flow
that labels designs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.base.identity import text_sha256
from pipelines.c.arithmetic import value_range
from pipelines.c.cdfg import Operation
from pipelines.c.errors import HlsError
from pipelines.c.signature import ScalarType
from pipelines.hls.units.catalogue import (
    FunctionalUnit,
    constant_divider,
    integer_divider,
    integer_multiplier,
    unit_for,
)
from pipelines.hls.units.timing import unit_timing

LOCAL_READ_DELAY_CYCLES = 1
LOCAL_WRITE_DELAY_CYCLES = 1

_NO_OPERATOR = ("const", "read", "write", "load", "store", "select", "bits")

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
        """Return the combinational delay of the smallest measured operator that is wide enough."""
        return self._entry(name, width_bits)[0]

    def area_um2(self, name: str, width_bits: int = 32) -> float:
        """Return area, scaled linearly from the measured width."""
        widths = self.table[name]
        fitting = [w for w in sorted(widths) if w >= width_bits] or [max(widths)]
        return widths[fitting[0]][1] * width_bits / fitting[0]

    def selection_ns(self, ways: int, width_bits: int) -> float:
        """Return the delay of a selection among sources; more than sixteen sources need several levels."""
        if ways <= 1:
            return 0.0
        fitting = next((n for n in _MULTIPLEXER_WAYS if n >= ways), _MULTIPLEXER_WAYS[-1])
        return self.delay_ns(f"mux{fitting}", width_bits) + self.selection_ns(-(-ways // fitting), width_bits)


_MULTIPLEXER_WAYS = (2, 4, 8, 16)

DEFAULT_LIBRARY = "osu018"


def measured_libraries() -> tuple[str, ...]:
    """Return the names of the libraries whose operators were measured."""
    paths = Path(__file__).parent.glob("operator_delays_*.json")
    return tuple(sorted(p.stem.removeprefix("operator_delays_") for p in paths))


def delay_library(liberty: str) -> str:
    """Return the measured library that schedules designs for a liberty: the liberty itself, or the default.

    The design's row records which one was used.
    """
    return liberty if liberty in measured_libraries() else DEFAULT_LIBRARY


def later_delays(liberty: str) -> tuple[str, ...]:
    """Return what a design for a liberty depends on when its schedule uses other delays than the default's.

    So a library that is measured later gives its designs other ids, and those of the default keep theirs.
    """
    used = delay_library(liberty)
    return () if used == DEFAULT_LIBRARY else (f"delays of {used}", _delays_hash(used))


@cache
def _delays_hash(liberty: str) -> str:
    return text_sha256(_delays_text(liberty))


@cache
def measured_files() -> Mapping[str, str]:
    """Return the name of a measured library by the SHA-256 of its liberty file, where that was recorded."""
    contents = {name: json.loads(_delays_text(name)) for name in measured_libraries()}
    return {own["liberty_sha256"]: name for name, own in contents.items() if "liberty_sha256" in own}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Timing of an operation.

    Attributes:
        latency_cycles: cycles from start until the value is available; 0 for combinational.
        delay_ns: combinational delay from its inputs to its output when the latency is 0, else to the
            register or port that receives them.
        busy_cycles: cycles during which its unit accepts no other operation.
        output_ns: when the value settles within the cycle in which it is ready, if the latency is not 0.
    """

    latency_cycles: int
    delay_ns: float
    busy_cycles: int = 1
    output_ns: float = 0.0


FREE = Timing(latency_cycles=0, delay_ns=0.0)
"""Timing of operations without logic: constants, variables, moved bits."""


def _delays_text(liberty: str) -> str:
    return (Path(__file__).parent / f"operator_delays_{liberty}.json").read_text("utf-8")


@cache
def load_library(liberty: str) -> OperatorLibrary:
    """Load the measured operators of a liberty.

    Raises: HlsError: the liberty was not measured.
    """
    known = measured_libraries()
    if liberty not in known:
        raise HlsError(f"operator delays must be of one of {', '.join(known)}", repr(liberty))
    content: dict[str, Any] = json.loads(_delays_text(liberty))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingModel:
    """Timing of every operation under one configuration.

    Attributes:
        library: measured operators.
        clock_period_ns: the period the schedule must meet.
        read_delay_cycles, write_delay_cycles: of external arrays.
        waited_arrays: arrays that are loaded somewhere, so that the design waits for their stores.
        unwaited_stores: some external array is stored and never loaded; the last block waits for these
            stores.
        unit_limits: largest number of units per class; see `unit_class`.
    """

    library: OperatorLibrary
    clock_period_ns: float
    read_delay_cycles: int
    write_delay_cycles: int
    waited_arrays: frozenset[str]
    unwaited_stores: bool = False
    unit_limits: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        for name, count in self.unit_limits.items():
            if name not in LIMITED_CLASSES:
                raise HlsError(f"a unit limit must be of one of {', '.join(LIMITED_CLASSES)}", repr(name))
            if count < 1:
                raise HlsError(f"the limit of {name} must be at least 1", str(count))

    @property
    def budget_ns(self) -> float:
        """Time for logic between two registers: the period minus the flip-flop and one selection."""
        overhead = self.library.clock_to_q_ns + self.library.setup_ns + self.library.delay_ns("mux2")
        return self.clock_period_ns - overhead

    def of(self, operation: Operation, operations: Sequence[Operation]) -> Timing:
        """Return the timing of one operation of a block."""
        match operation.opcode:
            case "const" | "read" | "bits":
                return FREE
            case "write":
                return Timing(latency_cycles=1, delay_ns=0.0)
            case "load":
                delay = self._read_delay(operation)
                return Timing(latency_cycles=delay, delay_ns=self.library.delay_ns("mux4"))
            case "store":
                delay = self.store_visible_cycles(operation)
                return Timing(latency_cycles=delay, delay_ns=self.library.delay_ns("mux4"))
            case _ if (unit := self.unit_of(operation, operations)) is not None:
                return self._on_unit(unit)
            case _:
                return Timing(latency_cycles=0, delay_ns=self._logic_ns(operation, operations))

    def unit_of(self, operation: Operation, operations: Sequence[Operation]) -> FunctionalUnit | None:
        """Return the functional unit of an operation; under a limit, the one that its class shares."""
        unit = functional_unit(operation, operations)
        if unit is None or unit_class(unit) not in self.unit_limits:
            return unit
        return widest_of_class(unit)

    def _logic_ns(self, operation: Operation, operations: Sequence[Operation]) -> float:
        """Return the delay of a combinational operation without a unit."""
        kind = operation.type
        if kind is None or (kind.floating and operation.opcode != "select"):
            return 0.0
        inputs = [operations[i] for i in operation.operands]
        match operation.opcode:
            case "cast":
                return 0.0
            case "shl" | "shr" if inputs[1].opcode == "const":
                return 0.0
            case "mul":
                terms = max(1, signed_digit_count(constant_factor(operation, operations) or 0))
                return (terms - 1).bit_length() * self.library.delay_ns("add", kind.width_bits)
            case "lt" | "le" | "gt" | "ge" | "eq" | "ne":
                common = covering_type([i.type or kind for i in inputs])
                ordered = "lt" if common.signed else "ult"
                name = "eq" if operation.opcode in ("eq", "ne") else ordered
                return self.library.delay_ns(name, common.width_bits)
            case "select":
                tested = inputs[0].type.width_bits if inputs[0].type is not None else 1
                reduced = self.library.delay_ns("eq", tested) if tested > 1 else 0.0
                return reduced + self.library.delay_ns("mux2", kind.width_bits)
            case "shr" if not (inputs[0].type or kind).signed:
                return self.library.delay_ns("lshr", (inputs[0].type or kind).width_bits)
            case _:
                return self.library.delay_ns(_TABLE_NAMES[operation.opcode], kind.width_bits)

    def _read_delay(self, operation: Operation) -> int:
        external = getattr(operation.symbol, "external", True)
        return self.read_delay_cycles if external else LOCAL_READ_DELAY_CYCLES

    def store_visible_cycles(self, operation: Operation) -> int:
        """Return the cycles from a store until a load of the same array sees it."""
        external = getattr(operation.symbol, "external", True)
        return self.write_delay_cycles if external else LOCAL_WRITE_DELAY_CYCLES

    def _on_unit(self, unit: FunctionalUnit) -> Timing:
        """Return the timing on a unit: logic before the first register; a combinational unit is chained."""
        measured = unit_timing(unit, self.library.liberty)
        if unit.latency_cycles == 0:
            return Timing(latency_cycles=0, delay_ns=measured.input_ns)
        return Timing(
            latency_cycles=unit.latency_cycles,
            delay_ns=self.library.delay_ns("mux4") + measured.input_ns,
            busy_cycles=unit.busy_cycles,
            output_ns=measured.output_ns,
        )


def constant_factor(operation: Operation, operations: Sequence[Operation]) -> int | None:
    """Return the constant a product multiplies by, None when neither operand is one."""
    for index in operation.operands:
        if operations[index].opcode == "const":
            return operations[index].value
    return None


def signed_digit_count(value: int) -> int:
    """Return number of non-zero digits of the canonical signed-digit form: terms of a constant product."""
    value, count = abs(value), 0
    while value:
        if value & 1:
            digit = 2 - (value & 3)
            value -= digit
            count += 1
        value >>= 1
    return count


def smallest_type(low: int, high: int) -> ScalarType:
    """Return the narrowest integer type, of any width, that holds every value from low to high."""
    if low >= 0:
        return ScalarType(width_bits=max(1, high.bit_length()), signed=False)
    return ScalarType(width_bits=max((~low).bit_length(), high.bit_length()) + 1)


def covering_type(types: Iterable[ScalarType]) -> ScalarType:
    """Return the narrowest integer type that holds every value of the given integer types."""
    ranges = [value_range(t) for t in types]
    return smallest_type(min(low for low, _ in ranges), max(high for _, high in ranges))


def _converter_type(scalar: ScalarType) -> ScalarType:
    """Return the integer type of a conversion from or to a floating type: units exist for 32 and 64 bits."""
    if scalar.floating:
        return scalar
    narrow = scalar.width_bits < 32
    return ScalarType(width_bits=32 if scalar.width_bits <= 32 else 64, signed=scalar.signed or narrow)


def functional_unit(operation: Operation, operations: Sequence[Operation]) -> FunctionalUnit | None:
    """Return the functional unit of an operation, None when it is a plain expression or no operator.

    Narrow operands are extended to the unit's ports, so the unit is as wide as the widest operand or result.
    """
    kind = operation.type
    if kind is None or operation.opcode in _NO_OPERATOR:
        return None
    sources = [operations[i].type or kind for i in operation.operands]
    match operation.opcode:
        case "cast":
            if not (kind.floating or sources[0].floating) or kind == sources[0]:
                return None
            return unit_for("cast", _converter_type(sources[0]), _converter_type(kind))
        case _ if sources[0].floating:
            return unit_for(operation.opcode, sources[0], kind)
        case "divc":
            return constant_divider(operation.value or 1, covering_type([*sources, kind]))
        case "mul" if constant_factor(operation, operations) is not None:
            return None
        case "mul":
            return unit_for("mul", kind, kind)
        case "div" | "rem":
            whole = covering_type([*sources, kind])
            return unit_for(operation.opcode, whole, whole)
        case _:
            return None


CLASS_WIDTHS_BITS = (8, 16, 32, 64)
"""Widths in the names of classes of integer units."""


LIMITED_CLASSES = (
    *(f"{kind}_{width}" for kind in ("mul", "div", "udiv") for width in CLASS_WIDTHS_BITS),
    *(f"{letter}{kind}" for letter in "fd" for kind in ("add", "mul", "div", "sqrt")),
)
"""Classes of units that may be limited; see `unit_class`."""


def _class_width(unit: FunctionalUnit) -> int:
    width = unit.ports[0][1]
    return next((w for w in CLASS_WIDTHS_BITS if w >= width), CLASS_WIDTHS_BITS[-1])


def unit_class(unit: FunctionalUnit) -> str:
    """Return the name of a unit in limits: its kind, for integer units with the next width of 8, 16, 32 and
    64 bits.

    For example `mul_32`, `div_32` (signed), `udiv_32`, `fadd`, `dmul`.
    """
    match unit.module:
        case "integer_multiply":
            return f"mul_{_class_width(unit)}"
        case "integer_divide":
            sign = "" if dict(unit.parameters)["SIGNED"] else "u"
            return f"{sign}div_{_class_width(unit)}"
        case _:
            return unit.kind


def sharing_key(unit: FunctionalUnit) -> str:
    """Return the key of units that may be shared: multipliers of one class may differ in width."""
    if unit.module == "integer_multiply":
        return f"{unit_class(unit)} of {unit.latency_cycles}"
    return " ".join([unit.kind, *(f"{name}={value}" for name, value in unit.parameters)])


def widest_of_class(unit: FunctionalUnit) -> FunctionalUnit:
    """Return the unit that can replace every unit of its class."""
    width = _class_width(unit)
    match unit.module:
        case "integer_multiply":
            return integer_multiplier(width)
        case "integer_divide":
            return integer_divider(ScalarType(width_bits=width, signed=bool(dict(unit.parameters)["SIGNED"])))
        case _:
            return unit
