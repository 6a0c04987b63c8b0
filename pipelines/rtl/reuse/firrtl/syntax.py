"""The syntax tree of FIRRTL: types, expressions and statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

UINT, SINT, CLOCK, RESET, ASYNC = "UInt", "SInt", "Clock", "Reset", "AsyncReset"


class Ground(NamedTuple):
    """A type without parts; the width is None where it must be inferred."""

    kind: str
    width: int | None


class FieldOf(NamedTuple):
    """A field of a bundle; a flipped one runs against the bundle."""

    name: str
    type: Type
    is_flipped: bool


class Bundle(NamedTuple):
    """A record."""

    fields: tuple[FieldOf, ...]


class Vector(NamedTuple):
    """An array."""

    element: Type
    size: int


Type = Ground | Bundle | Vector


class Ref(NamedTuple):
    """A name."""

    name: str


class Field(NamedTuple):
    """A field of a bundle, or a port of an instance or memory."""

    base: Expression
    name: str


class Index(NamedTuple):
    """An element by number."""

    base: Expression
    number: int


class Access(NamedTuple):
    """An element by a signal."""

    base: Expression
    selector: Expression


class Literal(NamedTuple):
    """A number; the width is None if it is as small as possible."""

    kind: str
    width: int | None
    value: int


class Call(NamedTuple):
    """An operation, its operands and its numbers."""

    operation: str
    operands: tuple[Expression, ...]
    numbers: tuple[int, ...]


Expression = Ref | Field | Index | Access | Literal | Call


class Wire(NamedTuple):
    """A declared wire."""

    name: str
    type: Type


class Register(NamedTuple):
    """A register; reset and initial value are None without a reset."""

    name: str
    type: Type
    clock: Expression
    reset: Expression | None
    initial: Expression | None


class Node(NamedTuple):
    """A named value."""

    name: str
    value: Expression


class Instance(NamedTuple):
    """An instance of a module."""

    name: str
    module: str


class Memory(NamedTuple):
    """A memory. Attributes: ports: reader, writer or readwriter, and name; empty if they are inferred."""

    name: str
    type: Type
    size: int
    read_latency: int
    ports: tuple[tuple[str, str], ...]


class MemoryPort(NamedTuple):
    """A port whose use says what it does: infer, read, write or rdwr."""

    kind: str
    name: str
    memory: str
    selector: Expression
    clock: Expression


class Connect(NamedTuple):
    """A connection; a partial one connects the fields that both sides have."""

    sink: Expression
    value: Expression
    is_partial: bool


class Invalidate(NamedTuple):
    """A sink that may take any value."""

    sink: Expression


class When(NamedTuple):
    """A condition and what it governs."""

    condition: Expression
    then: Sequence[Statement]
    otherwise: Sequence[Statement]


Statement = Wire | Register | Node | Instance | Memory | MemoryPort | Connect | Invalidate | When


class Port(NamedTuple):
    """A port of a module."""

    name: str
    type: Type
    is_input: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module; `external` is the name of the Verilog module that an extmodule stands for, else empty."""

    name: str
    ports: Sequence[Port]
    body: Sequence[Statement]
    external: str = ""
    parameters: Sequence[tuple[str, str]] = ()
