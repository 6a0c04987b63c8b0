"""The types of C on LP64, and C's constants with their types and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from pipelines.c import ir
from pipelines.c.signature import (
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
    Member,
    ScalarType,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """An arithmetic type; `boolean` marks _Bool: an unsigned byte that conversions set to 0 or 1.

    Attributes:
        bits: of a bit-field, whose `type` is the declared one; 0 for other numbers. shift: its lowest bit in
            the number of that type in memory that holds it.
    """

    type: ScalarType
    boolean: bool = False
    bits: int = 0
    shift: int = 0

    @property
    def value_type(self) -> ScalarType:
        """Type of a value that is read: an int for a bit-field that fits (C11 6.3.1.1)."""
        return INT32 if 0 < self.bits < 32 else self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """No value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function, whatever its parameters and result are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """The address of a `target`."""

    target: CType


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayOf:
    """An array of `size` elements; None when the declaration leaves the size open."""

    element: CType
    size: int | None


UNNAMED = "simfoundry_unnamed_"
"""Begins the name of a member without one; its members are found through it."""


@dataclass(slots=True, kw_only=True, eq=False)
class Struct:
    """A structure: each declaration makes another type.

    Attributes:
        members: by name, in order; empty until the structure is defined.
        layout: None until the structure is defined.
        union: the members lie over each other.
        positions: of a structure with bit-fields, the first byte of each member or of the number that has it.
        offsets: of a structure whose layout attributes change, the first byte of each member. packed: a
            member may lie at an address that its type does not allow elsewhere.
        key: of its definition in the syntax tree. as_bytes: objects are memory, as those of unions are.
    """

    tag: str
    union: bool = False
    key: int = 0
    as_bytes: bool = False
    members: dict[str, CType] = field(default_factory=dict[str, "CType"])
    layout: Layout | None = None
    positions: dict[str, int] = field(default_factory=dict[str, int])
    offsets: dict[str, int] = field(default_factory=dict[str, int])
    packed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Memory layout of an object as in gcc on x86-64.

    Attributes:
        size, alignment: in bytes.
        parts: number of numbers, pointers and arrays of either that it is split into.
        numbers: number of numbers, arrays included; number_types: their types.
    """

    size: int
    alignment: int
    parts: int
    numbers: int
    number_types: frozenset[ScalarType]


CType = Scalar | Void | Pointer | ArrayOf | Struct | Function

VOID = Void()
FUNCTION = Function()
BOOL = Scalar(type=UINT8, boolean=True)
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
    """Return the type of keywords such as `unsigned long int` in any order, None when they spell none.

    Source: ISO C11 6.7.2; char is signed, long has 64 bits, as in gcc on x86-64.
    """
    words = sorted(_ALIASES.get(name, name) for name in names)
    if words == ["void"]:
        return VOID
    if words == ["_Bool"]:
        return BOOL
    kept = [w for w in words if w != "int"]
    if "char" not in kept:
        kept = [w for w in kept if w != "signed"]
    kind = _SPECIFIERS.get(" ".join(kept))
    if kind is None or (len(words) - len(kept) > 2) or ("int" in words and kind.floating):
        return None
    return Scalar(type=kind)


def layout_of(kind: CType) -> Layout | None:
    """Return the layout of a type, None when it is incomplete."""
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
        case Void() | Function():
            return None


def union_layout(members: Iterable[Layout]) -> Layout:
    """Return the layout of a union: an array of the narrowest numbers of its members."""
    layouts = list(members)
    alignment = max((m.alignment for m in layouts), default=1)
    size = -(-max((m.size for m in layouts), default=0) // alignment) * alignment
    types = [t for m in layouts for t in m.number_types]
    width_bits = min((t.width_bits for t in types), default=8)
    return Layout(
        size=size,
        alignment=alignment,
        parts=1,
        numbers=8 * size // width_bits,
        number_types=frozenset((ScalarType(width_bits=width_bits, signed=False),)),
    )


def has_union(kind: CType) -> bool:
    """Tell whether a type is or holds a union, a structure with bit-fields, or one that is used as bytes."""
    match kind:
        case ArrayOf():
            return has_union(kind.element)
        case Struct():
            own = kind.union or kind.as_bytes or bool(kind.positions)
            return own or any(has_union(member) for member in kind.members.values())
        case _:
            return False


def leading_member(kind: Struct) -> str:
    """Return the member of a union that stands for all its bytes: one of the largest, a structure only for
    want of others.
    """

    def rank(name: str) -> tuple[int, bool]:
        layout = layout_of(kind.members[name])
        return (0 if layout is None else layout.size, not isinstance(kind.members[name], Struct))

    return max(kind.members, key=rank)


def structure_layout(members: Iterable[Layout]) -> Layout:
    """Compute the layout of a structure from its members' layouts."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """How attributes align a member.

    Attributes:
        natural: of its type, in bytes. own: of the member itself; 0 without it. packed: as near as possible.
        pack: largest one that `#pragma pack` allows; 0 for any.
    """

    natural: int
    own: int = 0
    packed: bool = False
    pack: int = 0

    @property
    def bytes(self) -> int:
        """The alignment."""
        least = (self.own or 1) if self.packed else max(self.natural, self.own)
        return min(least, self.pack) if self.pack else least


def attributed_layout(
    layout: Layout, members: Iterable[tuple[str, Layout, Alignment]], *, aligned: int, union: bool
) -> tuple[Layout, dict[str, int]]:
    """Return the layout of a structure or union with attributes, and the first byte of each member.

    Args:    layout: of the same without attributes; aligned: of the whole, 0 without it.
    Source:  gcc 12, as measured: `tests/hls/cases/programs/layouts.c` compares sizes and offsets.
    """
    end, size, alignment = 0, 0, max(aligned, 1)
    offsets: dict[str, int] = {}
    for name, own, at in members:
        end = 0 if union else -(-end // at.bytes) * at.bytes
        offsets[name] = end
        end += own.size
        size, alignment = max(size, end), max(alignment, at.bytes)
    size = -(-size // alignment) * alignment
    numbers = layout.numbers
    if union and layout.size:
        numbers = layout.numbers * size // layout.size
    return replace(layout, size=size, alignment=alignment, numbers=numbers), offsets


def bit_field_layout(
    members: Iterable[tuple[str, CType, int | None]],
    alignments: Mapping[str, Alignment] | None = None,
    *,
    packed: bool = False,
    pack: int = 0,
    aligned: int = 0,
) -> tuple[Layout, dict[str, CType], dict[str, int]]:
    """Return the layout of a structure with bit-fields.

    Args:    members: name, type and bits of each, None for no bit-field; a bit-field may have no name.
             alignments: of members with attributes. packed, pack, aligned: of the structure, see `Alignment`.
    Returns: the layout, the types and the first bytes of the members; see `Struct.positions`. A bit-field
             that lies in no number has no position.
    Source:  System V ABI, AMD64 supplement, "Bit-Fields": one never crosses a boundary of its declared type;
             with attributes gcc 12, as `tests/hls/cases/programs/layouts.c` measures.
    """
    starts: list[tuple[str, CType, int | None, int]] = []
    end, alignment = 0, max(aligned, 1)  # end in bits
    for name, kind, bits in members:
        own = layout_of(kind)
        assert own is not None
        at = (alignments or {}).get(name) or Alignment(natural=own.alignment, packed=packed, pack=pack)
        unit = 8 * (at.bytes if bits != 0 else own.alignment)
        crosses = bits is not None and end % unit + bits > unit
        if bits is None or bits == 0 or (crosses and not at.packed and not at.pack):
            end = -(-end // unit) * unit
        if name:
            starts.append((name, kind, bits, end))
            alignment = max(alignment, at.bytes)
        end += 8 * own.size if bits is None else bits
    size = -(-end // (8 * alignment)) * alignment
    kinds: dict[str, CType] = {}
    positions: dict[str, int] = {}
    widths = [t.width_bits for _, kind, _, _ in starts if (own := layout_of(kind)) for t in own.number_types]
    unit = min(widths, default=8)  # bits per element of the memory
    is_regular = 8 * size % unit == 0 and all(
        _holder(kind, bits, start, size, kind.type.width_bits)
        if bits and isinstance(kind, Scalar)
        else start % unit == 0
        for _, kind, bits, start in starts
    )
    for name, kind, bits, start in starts:
        if not bits or not isinstance(kind, Scalar):
            kinds[name], positions[name] = kind, start // 8
            continue
        own_bits = kind.type.width_bits
        step = own_bits if is_regular else 8
        holder = _holder(kind, bits, start, size, step)
        first = start // step * step
        number = replace(kind.type, width_bits=holder or own_bits)
        kinds[name] = replace(kind, type=number, bits=bits, shift=start - first)
        if holder:
            positions[name] = first // 8
    layouts = [own for own in map(layout_of, kinds.values()) if own is not None]
    layout = Layout(
        size=size,
        alignment=alignment,
        parts=sum(own.parts for own in layouts),
        numbers=sum(own.numbers for own in layouts),
        number_types=frozenset(number for own in layouts for number in own.number_types)
        | frozenset(() if is_regular else (UINT8,)),
    )
    return layout, kinds, positions


def _holder(kind: Scalar, bits: int, start: int, size: int, step: int) -> int:
    """Return the width of the number that holds a bit-field, from the last multiple of `step` bits on; 0
    without one.

    It is the declared one, or another where the value has the type of an int in each.
    """
    declared = kind.type.width_bits
    first = start // step * step
    widths = (declared, *(w for w in (8, 16, 32, 64) if step < declared and bits < 32))
    return next((w for w in widths if start - first + bits <= w and first + w <= 8 * size), 0)


def memory_unit(kind: Struct) -> ScalarType:
    """Return the numbers that a structure or union is stored as in memory."""
    widths = () if kind.layout is None else (t.width_bits for t in kind.layout.number_types)
    return ScalarType(width_bits=min(widths, default=8), signed=False)


def has_pointer(kind: CType) -> bool:
    """Tell whether a type is or holds a pointer."""
    match kind:
        case Pointer():
            return True
        case ArrayOf():
            return has_pointer(kind.element)
        case Struct():
            return any(has_pointer(member) for member in kind.members.values())
        case _:
            return False


def memory_members(kind: CType, offset_bytes: int = 0) -> Iterator[Member]:
    """Yield the numbers of a type in memory order; of a union, its leading member's."""
    match kind:
        case Scalar():
            yield Member(offset_bytes=offset_bytes, type=kind.type, boolean=kind.boolean)
        case ArrayOf(element=Scalar() as scalar):
            count = kind.size or 0
            yield Member(offset_bytes=offset_bytes, type=scalar.type, count=count, boolean=scalar.boolean)
        case ArrayOf():
            element = layout_of(kind.element)
            size = 0 if element is None else element.size
            for number in range(kind.size or 0):
                yield from memory_members(kind.element, offset_bytes + number * size)
        case Struct():
            names = (leading_member(kind),) if kind.union else tuple(kind.members)
            held = {own for name in names for own in _bytes_of_bits(kind, name)}
            yield from (Member(offset_bytes=offset_bytes + own, type=UINT8) for own in sorted(held))
            for name in (name for name in names if not _bytes_of_bits(kind, name)):
                yield from memory_members(kind.members[name], offset_bytes + member_offset(kind, name))
        case _:
            return


def _bytes_of_bits(kind: Struct, name: str) -> range:
    """Return the bytes of a structure that hold a bit-field."""
    member = kind.members[name]
    if not isinstance(member, Scalar) or not member.bits:
        return range(0)
    first = 8 * member_offset(kind, name) + member.shift
    return range(first // 8, (first + member.bits - 1) // 8 + 1)


def member_offset(kind: Struct, name: str) -> int:
    """Return the bytes from the start of a structure to a member; to the number that holds a bit-field."""
    if kind.positions:
        return kind.positions[name]
    if kind.offsets:
        return kind.offsets[name]
    offset = 0
    for member, own in kind.members.items():
        layout = layout_of(own)
        assert layout is not None
        offset = -(-offset // layout.alignment) * layout.alignment
        if member == name:
            break
        offset += layout.size
    return 0 if kind.union else offset


def spelled(kind: CType) -> str:
    """Return the name of a type in messages."""
    match kind:
        case Scalar():
            return "_Bool" if kind.boolean else kind.type.c_name
        case Void():
            return "void"
        case Function():
            return "function"
        case Pointer():
            return f"{spelled(kind.target)} *"
        case ArrayOf():
            return f"{spelled(kind.element)}[{'' if kind.size is None else kind.size}]"
        case Struct():
            return f"{'union' if kind.union else 'struct'} {kind.tag}"


_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)([uUlL]*)$")
_SUFFIXES = {"": (False, 32), "u": (True, 32), "l": (False, 64), "ll": (False, 64)} | dict.fromkeys(
    ("ul", "lu", "ull", "llu"), (True, 64)
)
_DECIMAL = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?$")
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$")
_SIMPLE_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "e": 27}
_CHARACTER = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(.))|([^\\])", re.DOTALL)
_STRING_PART = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_LARGEST_EXPONENT = 100_000


def read_integer(text: str) -> ir.Constant | None:
    """Read an integer constant; None when it is malformed or fits no type (C11 6.4.4.1)."""
    match = _INTEGER.match(text)
    if match is None or match[2].lower() not in _SUFFIXES or "lL" in match[2] or "Ll" in match[2]:
        return None
    digits = match[1]
    decimal = digits[0] != "0"
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    value = int(digits, 8) if octal else int(digits, 0)
    unsigned, width_bits = _SUFFIXES[match[2].lower()]
    for kind in (INT32, UINT32, INT64, UINT64):
        if kind.width_bits < width_bits or (unsigned and kind.signed):
            continue
        if decimal and not unsigned and not kind.signed:
            continue
        if value < 1 << (kind.width_bits - kind.signed):
            return ir.Constant(value=value, type=kind)
    return None


def read_floating(text: str) -> ir.Constant | None:
    """Read a floating constant, rounded once to its type; None when malformed or long double."""
    kind = DOUBLE
    digits = text
    hexadecimal = text[:2] in ("0x", "0X")
    if text[-1:] in "fF" and (not hexadecimal or "p" in text.lower()):
        kind, digits = FLOAT, text[:-1]
    elif text[-1:] in "lL":
        return None
    if hexadecimal:
        return _read_hexadecimal(digits, kind)
    match = _DECIMAL.match(digits)
    if match is None:
        return None
    near = float(digits)
    exponent = int((match[1] or "0")[:7])
    if kind == DOUBLE or near == 0.0 or abs(exponent) > 400:
        return ir.float_constant(near, kind)
    return _rounded(Fraction(digits), kind)


def _read_hexadecimal(digits: str, kind: ScalarType) -> ir.Constant | None:
    match = _HEXADECIMAL.match(digits)
    if match is None or not match[1] + match[2]:
        return None
    exponent = int(match[3])
    mantissa = int(match[1] + match[2], 16)
    if abs(exponent) > _LARGEST_EXPONENT:
        return ir.float_constant(float("inf") if exponent > 0 and mantissa else 0.0, kind)
    return _rounded(Fraction(mantissa) * Fraction(2) ** (exponent - 4 * len(match[2])), kind)


def _rounded(exact: Fraction, kind: ScalarType) -> ir.Constant:
    """Return a non-negative number rounded once, to nearest even, to a floating type."""
    if exact == 0:
        return ir.Constant(value=0, type=kind)
    precision, lowest, highest = (24, -149, 127) if kind == FLOAT else (53, -1074, 1023)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    unit = max(exponent - precision + 1, lowest)
    mantissa = round(exact / Fraction(2) ** unit)
    if mantissa.bit_length() + unit > highest + 1:
        return ir.float_constant(float("inf"), kind)
    return ir.float_constant(float(mantissa * Fraction(2) ** unit), kind)


def _character_values(text: str) -> list[int] | None:
    """Return the values of the characters of a quoted text, as bytes."""
    values: list[int] = []
    for match in _CHARACTER.finditer(text):
        octal, hexadecimal, simple, plain = match.groups()
        if octal is not None:
            values.append(int(octal, 8))
        elif hexadecimal is not None:
            values.append(int(hexadecimal, 16))
        elif simple is not None:
            values.append(_SIMPLE_ESCAPES.get(simple, ord(simple)))
        else:
            values.extend(plain.encode())
    return values if all(v < 256 for v in values) else None


_WIDE = {"L": INT32, "u": UINT16, "U": UINT32}
"""Types of wide characters by prefix, on Linux."""


def read_character(text: str) -> ir.Constant | None:
    """Read a character constant, as gcc reads it: an int with the value of a signed char; an int of the bytes
    of two to four characters; a wide character in its type. None when it is none of these.
    """
    prefix, _, rest = text.partition("'")
    if prefix in _WIDE:
        return _read_wide(rest[:-1], _WIDE[prefix])
    values = _character_values(rest[:-1]) if not prefix else None
    if values is None or not 1 <= len(values) <= 4:
        return None
    value = int.from_bytes(bytes(values), "big")
    width_bits = 8 if len(values) == 1 else 32
    return ir.Constant(value=value - (1 << width_bits) if value >> (width_bits - 1) else value)


def is_later_character(text: str) -> bool:
    """Tell whether a character constant is wide or of several bytes, which an earlier engine refused."""
    return not text.startswith("'") or len(_character_values(text[1:-1]) or ()) > 1


def _read_wide(text: str, kind: ScalarType) -> ir.Constant | None:
    """Read a wide character constant; None when it is not one character of the type."""
    match = _CHARACTER.fullmatch(text)
    if match is None:
        return None
    octal, hexadecimal, simple, plain = match.groups()
    if octal is not None or hexadecimal is not None:
        value = int(octal, 8) if octal is not None else int(hexadecimal, 16)
    else:
        value = ord(plain) if simple is None else _SIMPLE_ESCAPES.get(simple, ord(simple))
    return ir.Constant(value=value, type=kind) if value < 1 << (kind.width_bits - kind.signed) else None


def read_string(text: str) -> tuple[int, ...] | None:
    """Read the bytes of a string with its final zero, as signed chars; None for wide or malformed strings."""
    parts = _STRING_PART.findall(text)
    if not text.startswith('"') or _STRING_PART.sub("", text).strip():
        return None
    values: list[int] = []
    for part in parts:
        characters = _character_values(part)
        if characters is None:
            return None
        values.extend(characters)
    return tuple(v - 256 if v > 127 else v for v in (*values, 0))
