"""Pieces of Verilog text: numbers, nets, and a value taken to another width.

Every net is unsigned in the text; what its bits mean is a `ScalarType`. Widths always agree: a value is
extended or cut where it is used, by its own sign, so that no simulator or synthesiser has to guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipelines.interface import ScalarType

BIT = ScalarType(width_bits=1, signed=False)
_LARGEST_DECIMAL = 1 << 16
_LITERAL = re.compile(r"\d+'([dh])([0-9a-f]+)")
_WORD = re.compile(r"[A-Za-z_]\w*")


def literal(value: int, width_bits: int) -> str:
    """The low bits of an integer as an unsigned number of a width."""
    value &= (1 << width_bits) - 1
    return f"{width_bits}'d{value}" if value < _LARGEST_DECIMAL else f"{width_bits}'h{value:x}"


def literal_value(text: str) -> int | None:
    """The number that `literal` wrote, None for any other expression."""
    found = _LITERAL.fullmatch(text)
    return None if found is None else int(found[2], 10 if found[1] == "d" else 16)


def signed_literal(value: int, width_bits: int) -> str:
    """A signed number of a width."""
    if value == -(1 << (width_bits - 1)):
        return f"{width_bits}'sh{1 << (width_bits - 1):x}"
    return f"-{width_bits}'sd{-value}" if value < 0 else f"{width_bits}'sd{value}"


def range_text(width_bits: int) -> str:
    """Range of a vector with the blank after it, nothing for one bit."""
    return f"[{width_bits - 1}:0] " if width_bits > 1 else ""


def slice_text(name: str, net_bits: int, high: int, low: int) -> str:
    """Bits high to low of a net, the net itself when these are all."""
    if low == 0 and high == net_bits - 1:
        return name
    return f"{name}[{high}]" if high == low else f"{name}[{high}:{low}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """A value on a net.

    Attributes:
        name: of the net; net_bits: its width, at least that of `type`.
        type: meaning of the low bits; higher ones of the net are not looked at.
    """

    name: str
    net_bits: int
    type: ScalarType

    def shifted(self, low: int, width_bits: int) -> str:
        """The value without its `low` lowest bits, extended or cut to a width."""
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
        """The value extended by its sign, or cut, to a width."""
        return self.shifted(0, width_bits)


@dataclass(slots=True)
class Section:
    """Text of one part of a module, in the order in which a module needs it.

    Attributes:
        declarations: of registers and of wires that are driven elsewhere; values: wires with what drives
            them, each after those it looks at; assignments: everything else outside the clocked process.
    """

    declarations: list[str] = field(default_factory=list[str])
    values: list[str] = field(default_factory=list[str])
    assignments: list[str] = field(default_factory=list[str])
    updates: list[str] = field(default_factory=list[str])

    def wire(self, name: str, width_bits: int, expression: str | None = None) -> None:
        """A wire and what drives it, when that is an expression."""
        self.declarations.append(f"  wire {range_text(width_bits)}{name};")
        if expression is not None:
            self.assignments.append(f"  assign {name} = {expression};")

    def value(self, name: str, width_bits: int, expression: str) -> None:
        """A wire with what drives it, which is declared already."""
        self.values.append(f"  wire {range_text(width_bits)}{name} = {expression};")

    def register(self, name: str, width_bits: int) -> None:
        """A register."""
        self.declarations.append(f"  reg {range_text(width_bits)}{name};")

    def on_clock(self, text: str) -> None:
        """A statement of the clocked process."""
        self.updates.append(f"    {text}")

    def words(self) -> frozenset[str]:
        """Every name that a value, an assignment or a clocked statement mentions."""
        texts = (*self.values, *self.assignments, *self.updates)
        return frozenset(word for text in texts for word in _WORD.findall(text))

    def mentions(self, name: str) -> bool:
        """Whether a value, an assignment or a clocked statement has a text in it."""
        return any(name in text for text in (*self.values, *self.assignments, *self.updates))

    def add(self, other: Section) -> None:
        """Append another section."""
        self.declarations += other.declarations
        self.values += other.values
        self.assignments += other.assignments
        self.updates += other.updates


def any_of(conditions: Iterable[str]) -> str:
    """High when one of the signals is; each named once."""
    return " || ".join(dict.fromkeys(conditions))


def steer(sources: Sequence[tuple[str, str]], width_bits: int) -> str:
    """AND-OR selection among (condition, value) whose conditions exclude each other.

    Equal values are selected once; a single one needs no condition.
    """
    conditions: dict[str, list[str]] = {}
    for when, value in sources:
        conditions.setdefault(value, []).append(when)
    if len(conditions) == 1:
        return sources[0][1]
    terms: list[str] = []
    for value, whens in conditions.items():
        found = list(dict.fromkeys(whens))
        gate = found[0] if len(found) == 1 else "(" + " || ".join(found) + ")"
        terms.append(f"({gate} & {value})" if width_bits == 1 else f"({{{width_bits}{{{gate}}}}} & {value})")
    return "\n      | ".join(terms)
