"""Operations of the control/data-flow graph as C expressions.

An integer value is a number in a C variable that is wide enough, signed as its type is. Sums, products and
bitwise operators are taken modulo 2^32 or 2^64 of the sign-extended operands, quotients, right shifts and
comparisons of the numbers themselves; then the result wraps to its type, which may be of any width from 1
to 64. No operation traps: undefined operations of C may be computed and not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipelines.c import cdfg, ir
from pipelines.c.signature import ScalarType


class CycleModelError(RuntimeError):
    """A scheduled design that has no cycle model; a design's own failure is a status instead."""


_RING = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_FLOATING = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def container(kind: ScalarType) -> str:
    """Return the C type of a variable that holds a value."""
    if kind.floating:
        return kind.c_name
    return f"{'' if kind.signed else 'u'}int{32 if kind.width_bits <= 32 else 64}_t"


def wrapped(text: str, kind: ScalarType) -> str:
    """Return an integer C expression modulo 2^width, as a number of the type."""
    size = 32 if kind.width_bits <= 32 else 64
    spare = size - kind.width_bits
    if spare == 0:
        return f"({container(kind)})({text})"
    if kind.signed:
        return f"(int{size}_t)((uint{size}_t)({text}) << {spare}) >> {spare}"
    mask = (1 << kind.width_bits) - 1
    return f"(uint{size}_t)({text}) & {mask:#x}{'ull' if size == 64 else 'u'}"


def _floating_literal(number: float, suffix: str) -> str:
    if math.isnan(number):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(number):
        return f"({'-' if number < 0 else ''}__builtin_inf{suffix}())"
    return f"({number.hex()}{suffix})"


def literal(value: int, kind: ScalarType) -> str:
    """Return a constant that may also stand in a table; a floating constant is given by its bits."""
    if kind.floating:
        return _floating_literal(ir.float_of_bits(value, kind), "f" if kind.width_bits == 32 else "")
    suffix = "u" if kind.width_bits <= 32 else "ull"
    if value >= 0:
        return f"({container(kind)}){value}{suffix}"
    size = 32 if kind.width_bits <= 32 else 64
    return f"({container(kind)}){value % (1 << size):#x}{suffix}"


def number_type(kinds: Sequence[ScalarType]) -> str:
    """Return the C type in which integers of these types can be compared: `i32`, `u32`, `i64` or `u64`.

    An unsigned 64-bit value is compared with non-negative values only: both have one type in C.
    """
    if all(k.width_bits <= 32 if k.signed else k.width_bits < 32 for k in kinds):
        return "i32"
    if all(k.width_bits <= 32 and not k.signed for k in kinds):
        return "u32"
    return "u64" if any(k.width_bits == 64 and not k.signed for k in kinds) else "i64"


def _c_type(short: str) -> str:
    return f"{'u' if short[0] == 'u' else ''}int{short[1:]}_t"


def _ring(operator: str, operands: Sequence[str], kind: ScalarType) -> str:
    size = 32 if kind.width_bits <= 32 else 64
    modular = [f"(uint{size}_t){o}" for o in operands]
    return wrapped(f" {_RING[operator]} ".join(modular), kind)


def _shift(
    operation: cdfg.Operation, operands: Sequence[str], kinds: Sequence[ScalarType], kind: ScalarType
) -> str:
    value, amount = operands
    if operation.opcode == "shl":
        return wrapped(f"sf_shl((uint64_t){value}, (uint64_t){amount})", kind)
    short = "u64" if number_type(kinds[:1])[0] == "u" else "i64"
    return wrapped(f"sf_shr_{short}(({_c_type(short)}){value}, (uint64_t){amount})", kind)


def _quotient(opcode: str, operands: Sequence[str], kinds: Sequence[ScalarType], kind: ScalarType) -> str:
    short = number_type(kinds)
    left, right = (f"({_c_type(short)}){o}" for o in operands)
    return wrapped(f"sf_{opcode}_{short}({left}, {right})", kind)


def _constant_quotient(
    operation: cdfg.Operation, operands: Sequence[str], kinds: Sequence[ScalarType], kind: ScalarType
) -> str:
    divisor = operation.value or 0
    unsigned = ScalarType(width_bits=max(1, divisor.bit_length()), signed=False)
    signed = ScalarType(width_bits=max(1, (-divisor - 1).bit_length() + 1))
    own = signed if divisor < 0 else unsigned
    return _quotient("div", (*operands, literal(divisor, own)), (*kinds, own), kind)


def _compared(operator: str, operands: Sequence[str], kinds: Sequence[ScalarType]) -> str:
    left, right = operands
    if not kinds[0].floating:
        left, right = (f"({_c_type(number_type(kinds))}){o}" for o in operands)
    return f"{left} {_COMPARISONS[operator]} {right}"


def _cast(operand: str, source: ScalarType, kind: ScalarType) -> str:
    """Return a value converted as C does it; floating to integer by gcc's conversion for the type."""
    if kind.floating:
        return f"({kind.c_name}){operand}"
    if source.floating:
        return wrapped(f"({container(kind)}){operand}", kind)
    return wrapped(operand, kind)


def _bits(operand: str, source: ScalarType, kind: ScalarType) -> str:
    """Reinterpret bits as another type; an integer side may be narrower than the floating one."""
    if kind.floating:
        if source.floating:
            return operand
        return f"sf_{kind.c_name}_of((uint{kind.width_bits}_t){operand})"
    return wrapped(f"sf_bits_of_{source.c_name}({operand})" if source.floating else operand, kind)


def _floating(operation: cdfg.Operation, operands: Sequence[str], kind: ScalarType) -> str:
    match operation.opcode:
        case "neg":
            return f"-{operands[0]}"
        case "abs" | "sqrt":
            name = "fabs" if operation.opcode == "abs" else "sqrt"
            return f"__builtin_{name}{'f' if kind.width_bits == 32 else ''}({operands[0]})"
        case opcode if opcode in _FLOATING:
            return f" {_FLOATING[opcode]} ".join(operands)
        case opcode:
            raise CycleModelError(f"unknown floating operation: {opcode}; accepted: {', '.join(_FLOATING)}")


def _integer(
    operation: cdfg.Operation, operands: Sequence[str], kinds: Sequence[ScalarType], kind: ScalarType
) -> str:
    match operation.opcode:
        case opcode if opcode in _RING:
            return _ring(opcode, operands, kind)
        case "neg":
            return wrapped(f"0 - (uint64_t){operands[0]}", kind)
        case "not":
            return wrapped(f"~(uint64_t){operands[0]}", kind)
        case "shl" | "shr":
            return _shift(operation, operands, kinds, kind)
        case "div" | "rem":
            return _quotient(operation.opcode, operands, kinds, kind)
        case "divc":
            return _constant_quotient(operation, operands, kinds, kind)
        case opcode:
            raise CycleModelError(f"unknown operation: {opcode}")


def expression(operation: cdfg.Operation, operands: Sequence[str], kinds: Sequence[ScalarType]) -> str:
    """Return C expression of an operation that computes.

    Args:    operands: C names of its operands' values; kinds: their types.
    Returns: text whose value, converted to the container of the operation's type, is the result.
    Raises:  CycleModelError: the operation computes no value.
    """
    kind = operation.type
    if kind is None:
        raise CycleModelError(f"an operation that computes has no type: {operation.opcode}")
    match operation.opcode:
        case opcode if opcode in _COMPARISONS:
            return _compared(opcode, operands, kinds)
        case "cast":
            return _cast(operands[0], kinds[0], kind)
        case "bits":
            return _bits(operands[0], kinds[0], kind)
        case "select":
            chosen = operands[1:] if kind.floating else [wrapped(o, kind) for o in operands[1:]]
            return f"{operands[0]} ? {chosen[0]} : {chosen[1]}"
        case _ if kind.floating:
            return _floating(operation, operands, kind)
        case _:
            return _integer(operation, operands, kinds, kind)
