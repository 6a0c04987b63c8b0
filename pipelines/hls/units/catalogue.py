"""Which functional unit an operation needs, its ports and cycles, and its Verilog.

Every unit reads its operands in the cycle in which an operation starts and has the result on its output
`latency_cycles` later, for one cycle. A unit with `busy_cycles` of 1 takes new operands every cycle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipelines.c.errors import HlsError
from pipelines.c.signature import ScalarType

Port = tuple[str, int]
"""Name and width in bits of a port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionalUnit:
    """A functional-unit type: operations with equal units may share an instance.

    Attributes:
        kind: short name such as `mul` or `dadd`; not unique among widths.
        module: name of the Verilog module; parameters: name and value per parameter of an instance.
        ports: operand ports in order; output: the result's port. Narrower operands must be extended.
        latency_cycles: from operands to result; 0 for a combinational unit.
        busy_cycles: from one start to the next; 1 for a pipelined or combinational unit.
        clocked: has a port `clk`.
        started: has ports `rst` and `go`; `go` is high in the cycle of the operands. Its result stays.
        mode: one-bit port that is read with the operands and chooses the operation, if any.
    """

    kind: str
    module: str
    parameters: tuple[tuple[str, int], ...]
    ports: tuple[Port, ...]
    output: Port
    latency_cycles: int
    busy_cycles: int = 1
    clocked: bool = True
    started: bool = False
    mode: str | None = None


def mode_value(opcode: str) -> int:
    """Return the value of the mode port for an operation: 1 for `sub` and `rem`, else 0."""
    return int(opcode in ("sub", "rem"))


def float_format(scalar: ScalarType) -> tuple[int, int]:
    """Return the bits of exponent and of fraction of a floating type."""
    return (8, 23) if scalar.width_bits == 32 else (11, 52)


def _format_parameters(scalar: ScalarType) -> tuple[tuple[str, int], ...]:
    exponent, fraction = float_format(scalar)
    return (("EXPONENT", exponent), ("FRACTION", fraction))


# ---- integer units --------------------------------------------------------------------------------

MULTIPLIER_ONE_STAGE_BITS = 16
"""Widest product in one stage; wider ones register the products of halves."""


def multiplier_stages(width_bits: int) -> int:
    """Return the latency of an integer product in cycles."""
    return 1 if width_bits <= MULTIPLIER_ONE_STAGE_BITS else 2


def integer_multiplier(width_bits: int) -> FunctionalUnit:
    """Return the low half of the product of two integers, signed or not; one per cycle."""
    stages = multiplier_stages(width_bits)
    return FunctionalUnit(
        kind="mul",
        module="integer_multiply",
        parameters=(("WIDTH", width_bits), ("STAGES", stages)),
        ports=(("a", width_bits), ("b", width_bits)),
        output=("y", width_bits),
        latency_cycles=stages,
    )


def integer_divider(scalar: ScalarType) -> FunctionalUnit:
    """Return quotient, or remainder in mode 1, of two integers; one bit per cycle, not pipelined."""
    width = scalar.width_bits
    return FunctionalUnit(
        kind="div",
        module="integer_divide",
        parameters=(("WIDTH", width), ("SIGNED", int(scalar.signed))),
        ports=(("a", width), ("b", width)),
        output=("y", width),
        latency_cycles=width + 2,
        busy_cycles=width + 2,
        started=True,
        mode="remainder",
    )


def reciprocal(divisor: int, scalar: ScalarType) -> tuple[int, int]:
    """Return factor M and shift p with n / |divisor| = (n M >> p) + (n < 0) for every n of an integer type.

    Raises:  HlsError: the divisor is zero.
    Source:  Granlund and Montgomery 1994, theorems 4.2 (unsigned) and 5.1 (signed): with N bits of
             magnitude and p = N + ceil(log2 d), M = floor(2^p / d) + 1 keeps 0 < M d - 2^p <= 2^(p - N).
    """
    if divisor == 0:
        raise HlsError("a constant divisor must not be zero", "0")
    magnitude = abs(divisor)
    magnitude_bits = scalar.width_bits - int(scalar.signed)
    shift = max(1, magnitude_bits + (magnitude - 1).bit_length())
    return (1 << shift) // magnitude + 1, shift


def constant_divider(divisor: int, scalar: ScalarType) -> FunctionalUnit:
    """Return the quotient of an integer by a constant, truncated toward zero; one per cycle."""
    factor, shift = reciprocal(divisor, scalar)
    width = scalar.width_bits
    return FunctionalUnit(
        kind="divc",
        module="constant_divide",
        parameters=(
            ("WIDTH", width),
            ("SIGNED", int(scalar.signed)),
            ("BITS", factor.bit_length()),
            ("FACTOR", factor),
            ("SHIFT", shift),
            ("NEGATE", int(divisor < 0)),
        ),
        ports=(("a", width),),
        output=("y", width),
        latency_cycles=2,
    )


# ---- floating-point units -------------------------------------------------------------------------

FLOAT_ADD_STAGES = 2
FLOAT_MULTIPLY_STAGES = 2
CONVERT_STAGES = 1

_DIVIDE_DIGITS = {32: (2, 3, 4), 64: (1, 3, 9)}
"""By width: digits of two bits in the first stage, in each of the next stages, and the number of those."""

_ROOT_CUTS = {32: (7, 12, 17, 21), 64: (6, 11, 16, 20, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51)}
"""By width: rows of the square root, one bit each, after which registers stand."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
"""Comparisons of floating values, in the order of the module's parameter."""


def _letter(scalar: ScalarType) -> str:
    return "f" if scalar.width_bits == 32 else "d"


def _float_unit(
    name: str,
    module: str,
    scalar: ScalarType,
    *,
    operands: str,
    latency_cycles: int,
    parameters: tuple[tuple[str, int], ...] = (),
    mode: str | None = None,
) -> FunctionalUnit:
    return FunctionalUnit(
        kind=_letter(scalar) + name,
        module=module,
        parameters=_format_parameters(scalar) + parameters,
        ports=tuple((port, scalar.width_bits) for port in operands),
        output=("y", scalar.width_bits),
        latency_cycles=latency_cycles,
        mode=mode,
    )


def float_adder(scalar: ScalarType) -> FunctionalUnit:
    """Return the sum, or difference in mode 1, of two floating values."""
    return _float_unit(
        "add", "float_add", scalar, operands="ab", latency_cycles=FLOAT_ADD_STAGES, mode="subtract"
    )


def float_multiplier(scalar: ScalarType) -> FunctionalUnit:
    """Return the product of two floating values."""
    return _float_unit("mul", "float_multiply", scalar, operands="ab", latency_cycles=FLOAT_MULTIPLY_STAGES)


def float_divider(scalar: ScalarType) -> FunctionalUnit:
    """Return the quotient of two floating values."""
    first, digits, stages = _DIVIDE_DIGITS[scalar.width_bits]
    shape = (("FIRST", first), ("DIGITS", digits), ("STAGES", stages))
    return _float_unit(
        "div", "float_divide", scalar, operands="ab", latency_cycles=stages + 2, parameters=shape
    )


def float_square_root(scalar: ScalarType) -> FunctionalUnit:
    """Return the square root of a floating value."""
    cuts = _ROOT_CUTS[scalar.width_bits]
    mask = sum(1 << row for row in cuts)
    return _float_unit(
        "sqrt",
        "float_square_root",
        scalar,
        operands="a",
        latency_cycles=len(cuts) + 1,
        parameters=(("CUTS", mask),),
    )


def float_comparison(opcode: str, scalar: ScalarType) -> FunctionalUnit:
    """Return the comparison of two floating values: one bit, combinational."""
    return FunctionalUnit(
        kind=_letter(scalar) + "cmp",
        module="float_compare",
        parameters=(*_format_parameters(scalar), ("OPERATION", COMPARISONS.index(opcode))),
        ports=(("a", scalar.width_bits), ("b", scalar.width_bits)),
        output=("y", 1),
        latency_cycles=0,
        clocked=False,
    )


# ---- conversions ----------------------------------------------------------------------------------


def _conversion(
    kind: str, parameters: tuple[tuple[str, int], ...], module: str, source: int, target: int
) -> FunctionalUnit:
    return FunctionalUnit(
        kind=kind,
        module=module,
        parameters=parameters,
        ports=(("a", source),),
        output=("y", target),
        latency_cycles=CONVERT_STAGES,
    )


def _from_integer(source: ScalarType, target: ScalarType) -> FunctionalUnit:
    shape = (("WIDTH", source.width_bits), ("SIGNED", int(source.signed)), *_format_parameters(target))
    kind = f"{'s' if source.signed else 'u'}ito{_letter(target)}p"
    return _conversion(kind, shape, "integer_to_float", source.width_bits, target.width_bits)


def _to_integer(source: ScalarType, target: ScalarType) -> FunctionalUnit:
    span = 32 if target.width_bits <= 32 else 64
    shape = (*_format_parameters(source), ("RANGE", span), ("WIDTH", target.width_bits))
    return _conversion(
        f"{_letter(source)}ptoi", shape, "float_to_integer", source.width_bits, target.width_bits
    )


def _between_formats(source: ScalarType, target: ScalarType) -> FunctionalUnit:
    exponent, fraction = float_format(target)
    shape = (*_format_parameters(source), ("TO_EXPONENT", exponent), ("TO_FRACTION", fraction))
    widen = target.width_bits > source.width_bits
    kind, module = ("fpext", "float_widen") if widen else ("fptrunc", "float_narrow")
    return _conversion(kind, shape, module, source.width_bits, target.width_bits)


def converter(source: ScalarType, target: ScalarType) -> FunctionalUnit | None:
    """Return the conversion from or to a floating type; None between integers or equal types.

    A conversion to an integer of at most 32 bits gives the low bits of the conversion to 32 bits, as
    compilers for x86 do, so that narrowing the target to its used bits is safe; wider targets use 64 bits.
    """
    if source.floating and target.floating:
        return None if source == target else _between_formats(source, target)
    if source.floating:
        return _to_integer(source, target)
    return _from_integer(source, target) if target.floating else None


# ---- which one ------------------------------------------------------------------------------------

_FLOAT_UNITS = {
    "add": float_adder,
    "sub": float_adder,
    "mul": float_multiplier,
    "div": float_divider,
    "sqrt": float_square_root,
}


def unit_for(opcode: str, operand_type: ScalarType, result_type: ScalarType) -> FunctionalUnit | None:
    """Return the functional unit of an operation.

    Args:    opcode: of `cdfg`; only `cast` depends on both types, the others on that of the operands.
    Returns: None for a plain combinational expression: integer operators except products and quotients, and
             `neg` and `abs` of a floating value, which change its sign bit.
    """
    if opcode == "cast":
        return converter(operand_type, result_type)
    if operand_type.floating:
        if opcode in COMPARISONS:
            return float_comparison(opcode, operand_type)
        make = _FLOAT_UNITS.get(opcode)
        return None if make is None else make(operand_type)
    match opcode:
        case "mul":
            return integer_multiplier(operand_type.width_bits)
        case "div" | "rem":
            return integer_divider(operand_type)
        case _:
            return None


# ---- text -----------------------------------------------------------------------------------------


_SIZED = {"CUTS": 64}
"""Parameters of a fixed size, in bits."""


def _parameter_text(name: str, value: int) -> str:
    """Return a parameter's value, with its size if fixed or beyond 31 bits, the limit of plain numbers."""
    bits = _SIZED.get(name, value.bit_length())
    return str(value) if bits < 32 else f"{bits}'d{value}"


def instance_text(
    unit: FunctionalUnit,
    name: str,
    operands: Sequence[str],
    output: str,
    go: str | None = None,
    mode: str | None = None,
) -> str:
    """Return the instance of a unit, on one line without indent or line end.

    Args:    name: of the instance; operands: an expression for each of the unit's ports;
             output: wire for the result; go: start of a `started` unit;
             mode: expression for the mode port, see `mode_value`; 0 when left out.
    Raises:  HlsError: the number of operands is not that of the ports, or go is missing.
    """
    if len(operands) != len(unit.ports):
        raise HlsError(f"{unit.module} must have {len(unit.ports)} operands", str(len(operands)))
    if unit.started and go is None:
        raise HlsError(f"{unit.module} must have a start signal", "none")
    pins = [("clk", "clk")] if unit.clocked else []
    if unit.started and go is not None:
        pins += [("rst", "rst"), ("go", go)]
    pins += [(port, text) for (port, _), text in zip(unit.ports, operands, strict=True)]
    if unit.mode is not None:
        pins.append((unit.mode, mode or "1'b0"))
    pins.append((unit.output[0], output))
    values = ", ".join(f".{key}({_parameter_text(key, value)})" for key, value in unit.parameters)
    connected = ", ".join(f".{port}({text})" for port, text in pins)
    return f"{unit.module} #({values}) {name} ({connected});"


@cache
def _module_text(module: str) -> str:
    return files("pipelines.hls.units").joinpath(f"{module}.v").read_text("utf-8")


@cache
def _inner_modules(module: str) -> tuple[str, ...]:
    """Return the modules that a module instantiates, in order of appearance."""
    names = re.findall(r"^ *([a-z_]+) #\(\.", _module_text(module), re.MULTILINE)
    return tuple(dict.fromkeys(names))


def module_texts(units: Iterable[FunctionalUnit]) -> str:
    """Return the Verilog-2005 of every module that units need, each once, instantiated modules first."""
    ordered: dict[str, None] = {}

    def visit(module: str) -> None:
        if module not in ordered:
            for inner in _inner_modules(module):
                visit(inner)
            ordered[module] = None

    for unit in units:
        visit(unit.module)
    return "".join(f"{_module_text(module)}\n" for module in ordered)
