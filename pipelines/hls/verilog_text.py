"""Pieces of Verilog text: numbers, nets, resized values, and the expression of each operation.

Every net is unsigned in the text; a `ScalarType` says what its bits mean. Widths always agree: a value is
extended or cut where it is used, by its own sign, so that no simulator or synthesiser has to guess. A result
is the low bits of its operands' exact result: add, subtract, multiply and bitwise operators work at the width
of the result, comparisons and right shifts at the width of their operands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipelines.c.cdfg import Operation
from pipelines.c.errors import HlsError
from pipelines.c.signature import ScalarType
from pipelines.hls.operators import covering_type

_LARGEST_DECIMAL = 1 << 16
_LITERAL = re.compile(r"\d+'([dh])([0-9a-f]+)")
_WORD = re.compile(r"[A-Za-z_]\w*")


def literal(value: int, width_bits: int) -> str:
    """Return the low bits of an integer as an unsigned number of a width."""
    value &= (1 << width_bits) - 1
    return f"{width_bits}'d{value}" if value < _LARGEST_DECIMAL else f"{width_bits}'h{value:x}"


def literal_value(text: str) -> int | None:
    """Return the number in a text of `literal`, None for any other expression."""
    match = _LITERAL.fullmatch(text)
    return None if match is None else int(match[2], 10 if match[1] == "d" else 16)


def signed_literal(value: int, width_bits: int) -> str:
    """Return a signed number of a width."""
    if value == -(1 << (width_bits - 1)):
        return f"{width_bits}'sh{1 << (width_bits - 1):x}"
    return f"-{width_bits}'sd{-value}" if value < 0 else f"{width_bits}'sd{value}"


def range_text(width_bits: int) -> str:
    """Return the range of a vector with the blank after it, nothing for one bit."""
    return f"[{width_bits - 1}:0] " if width_bits > 1 else ""


def slice_text(name: str, net_bits: int, high: int, low: int) -> str:
    """Return the bits high to low of a net, the net itself when these are all."""
    if low == 0 and high == net_bits - 1:
        return name
    return f"{name}[{high}]" if high == low else f"{name}[{high}:{low}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """A value on a net.

    Attributes:
        name: of the net; net_bits: its width, at least that of `type`.
        type: meaning of the low bits; higher bits of the net are ignored.
    """

    name: str
    net_bits: int
    type: ScalarType

    def shifted(self, low: int, width_bits: int) -> str:
        """Return the value without its `low` lowest bits, extended or cut to a width."""
        own = self.type.width_bits
        signed = self.type.signed and not self.type.floating
        top = slice_text(self.name, self.net_bits, own - 1, own - 1)
        if low >= own:
            return f"{{{width_bits}{{{top}}}}}" if signed else literal(0, width_bits)
        kept = min(width_bits, own - low)
        bits = slice_text(self.name, self.net_bits, low + kept - 1, low)
        extra = width_bits - kept
        if extra == 0:
            return bits
        if not signed:
            return f"{{{literal(0, extra)}, {bits}}}"
        return f"{{{width_bits}{{{top}}}}}" if kept == 1 else f"{{{{{extra}{{{top}}}}}, {bits}}}"

    def resized(self, width_bits: int) -> str:
        """Return the value extended by its sign, or cut, to a width."""
        return self.shifted(0, width_bits)


@dataclass(slots=True)
class Section:
    """Text of one part of a module.

    Attributes:
        declarations: of registers and of wires that are driven elsewhere; values: wires with their drivers,
            each after the wires it reads; assignments: everything else outside the clocked process; updates:
            the clocked process.
    """

    declarations: list[str] = field(default_factory=list[str])
    values: list[str] = field(default_factory=list[str])
    assignments: list[str] = field(default_factory=list[str])
    updates: list[str] = field(default_factory=list[str])

    def wire(self, name: str, width_bits: int, expression: str | None = None) -> None:
        """Add a wire, with its driver when it is an expression."""
        self.declarations.append(f"  wire {range_text(width_bits)}{name};")
        if expression is not None:
            self.assignments.append(f"  assign {name} = {expression};")

    def value(self, name: str, width_bits: int, expression: str) -> None:
        """Add a wire with its driver, which is declared already."""
        self.values.append(f"  wire {range_text(width_bits)}{name} = {expression};")

    def register(self, name: str, width_bits: int) -> None:
        """Add a register."""
        self.declarations.append(f"  reg {range_text(width_bits)}{name};")

    def on_clock(self, text: str) -> None:
        """Add a statement of the clocked process."""
        self.updates.append(f"    {text}")

    def words(self) -> frozenset[str]:
        """Return every name that a value, an assignment or a clocked statement mentions."""
        texts = (*self.values, *self.assignments, *self.updates)
        return frozenset(word for text in texts for word in _WORD.findall(text))

    def mentions(self, name: str) -> bool:
        """Tell whether a value, an assignment or a clocked statement contains a text."""
        return any(name in text for text in (*self.values, *self.assignments, *self.updates))

    def add(self, other: Section) -> None:
        """Append another section."""
        self.declarations += other.declarations
        self.values += other.values
        self.assignments += other.assignments
        self.updates += other.updates


def any_of(conditions: Iterable[str]) -> str:
    """Return the disjunction of signals, each named once."""
    return " || ".join(dict.fromkeys(conditions))


def steer(sources: Sequence[tuple[str, str]], width_bits: int) -> str:
    """Return AND-OR selection among (condition, value) whose conditions exclude each other.

    Equal values are selected once; a single one needs no condition.
    """
    conditions: dict[str, list[str]] = {}
    for when, value in sources:
        conditions.setdefault(value, []).append(when)
    if len(conditions) == 1:
        return sources[0][1]
    terms: list[str] = []
    for value, whens in conditions.items():
        enables = list(dict.fromkeys(whens))
        gate = enables[0] if len(enables) == 1 else "(" + " || ".join(enables) + ")"
        terms.append(f"({gate} & {value})" if width_bits == 1 else f"({{{width_bits}{{{gate}}}}} & {value})")
    return "\n      | ".join(terms)


_SHIFT_AMOUNT_BITS = 6
"""Relevant bits of a shift amount: C leaves amounts beyond the width undefined."""

_INFIX = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """An operand of an operation: a net or a constant.

    Attributes:
        constant: the number, or the bits of a floating one; None for a net.
    """

    type: ScalarType
    net: Net | None = None
    constant: int | None = None

    def resized(self, width_bits: int) -> str:
        """Return the value at a width, by its own sign."""
        if self.net is None:
            return literal(self.constant or 0, width_bits)
        return self.net.resized(width_bits)

    def signed(self, width_bits: int) -> str:
        """Return the value at a width, as a signed expression."""
        if self.net is None:
            return signed_literal(self.constant or 0, width_bits)
        return f"$signed({self.net.resized(width_bits)})"

    def truth(self) -> str:
        """Return one bit that is 1 if the value is not zero."""
        if self.net is None:
            return literal(int(bool(self.constant)), 1)
        width = self.type.width_bits
        return self.net.resized(1) if width == 1 else f"(|{self.net.resized(width)})"


def signed_digits(value: int) -> list[tuple[int, int]]:
    """Return the canonical signed-digit form: (shift, 1 or -1) of each term, the positive ones first."""
    digits: list[tuple[int, int]] = []
    shift = 0
    while value:
        if value & 1:
            digit = 2 - (value & 3)
            digits.append((shift, digit))
            value -= digit
        value >>= 1
        shift += 1
    return sorted(digits, key=lambda d: (-d[1], d[0]))


def shifted_left(operand: Operand, amount: int, width_bits: int) -> str:
    """Return the low bits of a value times a power of two."""
    if amount == 0:
        return operand.resized(width_bits)
    if amount >= width_bits:
        return literal(0, width_bits)
    return f"{{{operand.resized(width_bits - amount)}, {literal(0, amount)}}}"


def _balanced(terms: list[str]) -> str:
    """Return a sum of terms as a tree."""
    if len(terms) == 1:
        return terms[0]
    middle = (len(terms) + 1) // 2
    return f"({_balanced(terms[:middle])} + {_balanced(terms[middle:])})"


def constant_product(operand: Operand, factor: int, width_bits: int) -> str:
    """Return a product with a constant, as shifted terms that are added and subtracted."""
    digits = signed_digits(factor)
    plus = [shifted_left(operand, s, width_bits) for s, d in digits if d > 0 and s < width_bits]
    minus = [shifted_left(operand, s, width_bits) for s, d in digits if d < 0 and s < width_bits]
    if not minus:
        return _balanced(plus).removeprefix("(").removesuffix(")") if plus else literal(0, width_bits)
    return f"{_balanced(plus) if plus else literal(0, width_bits)} - {_balanced(minus)}"


def _comparison(opcode: str, left: Operand, right: Operand) -> str:
    common = covering_type((left.type, right.type))
    width = common.width_bits
    if opcode in ("eq", "ne") or not common.signed:
        return f"{left.resized(width)} {_COMPARE[opcode]} {right.resized(width)}"
    return f"{left.signed(width)} {_COMPARE[opcode]} {right.signed(width)}"


def _shift(opcode: str, value: Operand, amount: Operand, width_bits: int) -> str:
    if amount.constant is not None:
        if opcode == "shl":
            return shifted_left(value, amount.constant, width_bits)
        if value.net is not None:
            return value.net.shifted(amount.constant, width_bits)
        return literal((value.constant or 0) >> amount.constant, width_bits)
    by = amount.resized(min(amount.type.width_bits, _SHIFT_AMOUNT_BITS))
    if opcode == "shl":
        return f"{value.resized(width_bits)} << {by}"
    return (
        f"{value.signed(width_bits)} >>> {by}"
        if value.type.signed
        else f"{value.resized(width_bits)} >> {by}"
    )


def is_wide_shift(opcode: str, value: Operand, amount: Operand, width_bits: int) -> bool:
    """Tell whether a right shift must be wider than its result."""
    return opcode == "shr" and amount.constant is None and value.type.width_bits > width_bits


def _integer_binary(operation: Operation, left: Operand, right: Operand, width_bits: int) -> str:
    match operation.opcode:
        case "shl" | "shr":
            return _shift(operation.opcode, left, right, width_bits)
        case "mul":
            constant, other = (left, right) if left.constant is not None else (right, left)
            return constant_product(other, constant.constant or 0, width_bits)
        case "lt" | "le" | "gt" | "ge" | "eq" | "ne":
            text = _comparison(operation.opcode, left, right)
            return text if width_bits == 1 else f"{{{literal(0, width_bits - 1)}, {text}}}"
        case "add" | "sub" if right.constant is not None and right.constant < 0:
            sign = "-" if operation.opcode == "add" else "+"
            return f"{left.resized(width_bits)} {sign} {literal(-right.constant, width_bits)}"
        case _:
            sign = _INFIX[operation.opcode]
            return f"{left.resized(width_bits)} {sign} {right.resized(width_bits)}"


def _sign_changed(opcode: str, value: Operand, width_bits: int) -> str:
    """Return `neg` and `abs` of a floating value."""
    if value.net is None:
        sign = 1 << (width_bits - 1)
        bits = value.constant or 0
        return literal(bits ^ sign if opcode == "neg" else bits & ~sign, width_bits)
    top = slice_text_of(value.net, width_bits - 1, width_bits - 1)
    rest = slice_text_of(value.net, width_bits - 2, 0)
    return f"{{~{top}, {rest}}}" if opcode == "neg" else f"{{1'd0, {rest}}}"


def slice_text_of(net: Net, high: int, low: int) -> str:
    """Return the bits high to low of a net."""
    return f"{net.name}[{high}]" if high == low else f"{net.name}[{high}:{low}]"


def expression_text(operation: Operation, operands: list[Operand], width_bits: int) -> str:
    """Return the combinational expression of an operation that runs on no functional unit.

    Args:    width_bits: width of the expression: that of the result, or wider for a right shift.
    Raises:  HlsError: a floating operation that has neither expression nor unit.
    """
    match operation.opcode:
        case "select":
            condition, if_true, if_false = operands
            return f"{condition.truth()} ? {if_true.resized(width_bits)} : {if_false.resized(width_bits)}"
        case "bits":
            return operands[0].resized(width_bits)
        case "neg" | "abs" if operands[0].type.floating:
            return _sign_changed(operation.opcode, operands[0], width_bits)
        case opcode if operands[0].type.floating:
            raise HlsError("a floating operation must have a functional unit", opcode, line=operation.line)
        case "cast":
            return operands[0].resized(width_bits)
        case "neg":
            return f"-{operands[0].resized(width_bits)}"
        case "not":
            return f"~{operands[0].resized(width_bits)}"
        case _:
            return _integer_binary(operation, operands[0], operands[1], width_bits)
