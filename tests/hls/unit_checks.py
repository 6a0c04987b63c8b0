"""Every operation of the functional units with its C expression."""

from __future__ import annotations

from collections.abc import Iterator

from unit_bench import Check

from pipelines.c.signature import DOUBLE, FLOAT, INT32, ScalarType
from pipelines.hls.units.catalogue import (
    FunctionalUnit,
    constant_divider,
    mode_value,
    unit_for,
)

_BINARY = {"add": "a + b", "sub": "a - b", "mul": "a * b", "div": "a / b"}
_COMPARE = {"lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b", "eq": "a == b", "ne": "a != b"}
_C_INTEGERS = tuple(
    ScalarType(width_bits=width, signed=signed) for width in (8, 16, 32, 64) for signed in (True, False)
)


def required(opcode: str, operand: ScalarType, result: ScalarType) -> FunctionalUnit:
    """The unit of an operation, which must have one."""
    unit = unit_for(opcode, operand, result)
    if unit is None:
        raise LookupError(f"{opcode} must have a unit, got none")
    return unit


def name_of(scalar: ScalarType) -> str:
    """Short name: float, i32, u7."""
    letter = "i" if scalar.signed else "u"
    return scalar.c_name if scalar.floating else f"{letter}{scalar.width_bits}"


def arithmetic_checks() -> Iterator[Check]:
    """Sum, difference, product, quotient and square root of both formats."""
    for scalar in (FLOAT, DOUBLE):
        for opcode, text in _BINARY.items():
            yield Check(
                name=f"{scalar.c_name} {opcode}",
                unit=required(opcode, scalar, scalar),
                operands=(scalar, scalar),
                result=scalar,
                c=text,
                mode=mode_value(opcode),
            )
        yield Check(
            name=f"{scalar.c_name} sqrt",
            unit=required("sqrt", scalar, scalar),
            operands=(scalar,),
            result=scalar,
            c="root_of_float(a)" if scalar == FLOAT else "root_of_double(a)",
        )


def comparison_checks() -> Iterator[Check]:
    """The six comparisons of both formats."""
    for scalar in (FLOAT, DOUBLE):
        for opcode, text in _COMPARE.items():
            unit = required(opcode, scalar, INT32)
            yield Check(
                name=f"{scalar.c_name} {opcode}",
                unit=unit,
                operands=(scalar, scalar),
                result=INT32,
                c=text,
            )


def in_range(scalar: ScalarType) -> str:
    """C condition under which a floating `a` can be converted to an integer type."""
    bits = scalar.width_bits - int(scalar.signed)
    if not scalar.signed:
        return f"a > -1.0 && a < 0x1p{bits}"
    low = f"a >= -0x1p{bits}" if bits > 52 else f"a > -0x1p{bits} - 1.0"
    return f"{low} && a < 0x1p{bits}"


def conversion_checks() -> Iterator[Check]:
    """Between the formats, and between each format and every integer type of C."""
    for source, target in ((FLOAT, DOUBLE), (DOUBLE, FLOAT)):
        yield conversion(source, target)
    for scalar in (FLOAT, DOUBLE):
        for integer in _C_INTEGERS:
            yield conversion(integer, scalar)
            yield conversion(scalar, integer)


def conversion(source: ScalarType, target: ScalarType) -> Check:
    """One conversion; integers of any width."""
    return Check(
        name=f"{name_of(source)} to {name_of(target)}",
        unit=required("cast", source, target),
        operands=(source,),
        result=target,
        c=f"({target.c_name})a" if target.width_bits in (8, 16, 32, 64) else "a",
        valid=in_range(target) if source.floating and not target.floating else "1",
    )


def multiplier_check(width: int) -> Check:
    """Low half of a product of any width."""
    scalar = ScalarType(width_bits=width, signed=False)
    return Check(
        name=f"{name_of(scalar)} mul",
        unit=required("mul", scalar, scalar),
        operands=(scalar, scalar),
        result=scalar,
        c="a * b",
    )


def divider_check(scalar: ScalarType, opcode: str) -> Check:
    """Quotient or remainder of any width."""
    return Check(
        name=f"{name_of(scalar)} {opcode}",
        unit=required(opcode, scalar, scalar),
        operands=(scalar, scalar),
        result=scalar,
        c="a / b" if opcode == "div" else "a % b",
        mode=mode_value(opcode),
        valid="b != 0 && !(a == INT64_MIN && b == -1)" if scalar.signed else "b != 0",
    )


def constant_check(scalar: ScalarType, divisor: int) -> Check:
    """Quotient by a constant."""
    text = f"({divisor + 1}ll - 1)" if scalar.signed else f"{divisor}ull"
    return Check(
        name=f"{name_of(scalar)} / {divisor}",
        unit=constant_divider(divisor, scalar),
        operands=(scalar,),
        result=scalar,
        c=f"a / {text}",
    )
