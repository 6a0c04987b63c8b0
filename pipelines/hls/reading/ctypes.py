"""The types of C on LP64: scalars, pointers, arrays and structures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pipelines.interface import (
    DOUBLE,
    FLOAT,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ScalarType,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """An arithmetic type; `boolean` is _Bool: an unsigned byte that conversion makes 0 or 1."""

    type: ScalarType
    boolean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """No value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """The address of a `target`."""

    target: CType


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayOf:
    """`size` elements; None when the declaration leaves the size open."""

    element: CType
    size: int | None


@dataclass(slots=True, kw_only=True, eq=False)
class Struct:
    """A structure: each declaration makes another type.

    Attributes:
        members: by name, in order; empty until the structure is defined.
        layout: None until the structure is defined.
    """

    tag: str
    members: dict[str, CType] = field(default_factory=dict[str, "CType"])
    layout: Layout | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How an object lies in memory as gcc has it on x86-64.

    Attributes:
        size, alignment: in bytes.
        parts: numbers, pointers, and arrays of either that it is split into.
        numbers: how many there are, those of arrays included; number_types: theirs.
    """

    size: int
    alignment: int
    parts: int
    numbers: int
    number_types: frozenset[ScalarType]


CType = Scalar | Void | Pointer | ArrayOf | Struct

VOID = Void()
BOOL = Scalar(type=UINT8, boolean=True)
INT = Scalar(type=INT32)
CHAR = Scalar(type=INT8)
SIZE = UINT64

_SPECIFIERS: dict[str, ScalarType] = {
    "char": INT8,
    "char signed": INT8,
    "char unsigned": UINT8,
    "short": INT16,
    "short unsigned": UINT16,
    "": INT32,
    "unsigned": UINT32,
    "long": INT64,
    "long unsigned": UINT64,
    "long long": INT64,
    "long long unsigned": UINT64,
    "float": FLOAT,
    "double": DOUBLE,
}

_ALIASES = {"__signed__": "signed", "__signed": "signed"}


def specified_type(names: list[str]) -> CType | None:
    """The type that keywords such as `unsigned long int` spell in any order, None when they spell none.

    Source: ISO C11 6.7.2; char is signed, long has 64 bits, as gcc has them on x86-64.
    """
    words = sorted(_ALIASES.get(name, name) for name in names)
    if words == ["void"]:
        return VOID
    if words == ["_Bool"]:
        return BOOL
    kept = [w for w in words if w != "int"]
    if "char" not in kept:
        kept = [w for w in kept if w != "signed"]
    found = _SPECIFIERS.get(" ".join(kept))
    if found is None or (len(words) - len(kept) > 2) or ("int" in words and found.floating):
        return None
    return Scalar(type=found)


def promoted(kind: ScalarType) -> ScalarType:
    """Integer promotion: types narrower than int become int (C11 6.3.1.1)."""
    return INT32 if not kind.floating and kind.width_bits < 32 else kind


def common_type(left: ScalarType, right: ScalarType) -> ScalarType:
    """The usual arithmetic conversions (C11 6.3.1.8)."""
    if left.floating or right.floating:
        return DOUBLE if DOUBLE in (left, right) else FLOAT
    left, right = promoted(left), promoted(right)
    if left.width_bits != right.width_bits:
        return left if left.width_bits > right.width_bits else right
    return left if not left.signed else right


def layout_of(kind: CType) -> Layout | None:
    """The layout of a type, None when it is not complete; a structure has its own since it was defined."""
    match kind:
        case Scalar():
            size = kind.type.width_bits // 8
            return Layout(size=size, alignment=size, parts=1, numbers=1, number_types=frozenset((kind.type,)))
        case Pointer():
            return Layout(size=8, alignment=8, parts=1, numbers=0, number_types=frozenset())
        case ArrayOf():
            element = layout_of(kind.element)
            if element is None or kind.size is None:
                return None
            size, numbers = element.size * kind.size, element.numbers * kind.size
            return replace(element, size=size, numbers=numbers)
        case Struct():
            return kind.layout
        case Void():
            return None


def structure_layout(members: Iterable[Layout]) -> Layout:
    """The layout of a structure from those of its members."""
    size, alignment, parts, numbers = 0, 1, 0, 0
    number_types: frozenset[ScalarType] = frozenset()
    for member in members:
        size = -(-size // member.alignment) * member.alignment + member.size
        alignment = max(alignment, member.alignment)
        parts += member.parts
        numbers += member.numbers
        number_types |= member.number_types
    return Layout(
        size=-(-size // alignment) * alignment,
        alignment=alignment,
        parts=parts,
        numbers=numbers,
        number_types=number_types,
    )


def spelled(kind: CType) -> str:
    """A type as messages name it."""
    match kind:
        case Scalar():
            return "_Bool" if kind.boolean else kind.type.c_name
        case Void():
            return "void"
        case Pointer():
            return f"{spelled(kind.target)} *"
        case ArrayOf():
            return f"{spelled(kind.element)}[{'' if kind.size is None else kind.size}]"
        case Struct():
            return f"struct {kind.tag}"
