"""Interface of a program: its top function's arguments and result.

Shared by the engines that must agree on it: the C front end reads it, input data is drawn for it,
native C and the RTL test bench are driven by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarType:
    """An arithmetic type of C.

    Attributes:
        width_bits: 8, 16, 32 or 64; of a floating type 32 or 64. Inside the compiler integers may have any
            width from 1 to 64.
        signed: two's complement when true; true for floating types.
        floating: IEEE-754 binary32 or binary64.
    """

    width_bits: int = 32
    signed: bool = True
    floating: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the same values."""
        letter = "f" if self.floating else "i" if self.signed else "u"
        return np.dtype(f"{letter}{self.width_bits // 8}")

    @property
    def c_name(self) -> str:
        """The name of the type in C, of fixed width for integers."""
        if self.floating:
            return "float" if self.width_bits == 32 else "double"
        return f"{'' if self.signed else 'u'}int{self.width_bits}_t"

    @property
    def bits_c_name(self) -> str:
        """The unsigned type in C that holds the bits of a value."""
        return f"uint{self.width_bits}_t"


INT8 = ScalarType(width_bits=8)
INT16 = ScalarType(width_bits=16)
INT32 = ScalarType(width_bits=32, signed=True)
INT64 = ScalarType(width_bits=64)
UINT8 = ScalarType(width_bits=8, signed=False)
UINT16 = ScalarType(width_bits=16, signed=False)
UINT32 = ScalarType(width_bits=32, signed=False)
UINT64 = ScalarType(width_bits=64, signed=False)
FLOAT = ScalarType(width_bits=32, floating=True)
DOUBLE = ScalarType(width_bits=64, floating=True)


def promoted(kind: ScalarType) -> ScalarType:
    """Return the integer promotion: types narrower than int become int (C11 6.3.1.1)."""
    return INT32 if not kind.floating and kind.width_bits < 32 else kind


def common_type(left: ScalarType, right: ScalarType) -> ScalarType:
    """Return the usual arithmetic conversions (C11 6.3.1.8)."""
    if left.floating or right.floating:
        return DOUBLE if DOUBLE in (left, right) else FLOAT
    left, right = promoted(left), promoted(right)
    if left.width_bits != right.width_bits:
        return left if left.width_bits > right.width_bits else right
    return left if not left.signed else right


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Numbers of one type in a structure, one after the other.

    Attributes:
        offset_bytes: of the first from the start of the structure.
        boolean: they are 0 or 1.
    """

    offset_bytes: int
    type: ScalarType
    count: int = 1
    boolean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The numbers of a structure whose members have several types, in memory order; gaps have none."""

    size_bytes: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticObject:
    """An object of static storage that the top function, with what it calls, reads or writes.

    Attributes:
        name: as written in C.
        initial: its memory at the start of the program; empty when all of it is zero.
        end: of a static variable of a function, the offset in the program's text after its declaration; None
            for an object of the file, which the text after the program can name.
    """

    name: str
    initial: bytes = b""
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of the top function, or an object of static storage that it uses like one.

    Attributes:
        name: as written in C.
        type: of the scalar or of an element.
        shape: of the array in elements, C order; empty for a scalar passed by value.
        read: the function may read it.
        written: the function may write it; an array that is written is an output.
        structure: what its elements are parts of, when they are the memory of structures.
        static: the object, when it is no argument in C.
    """

    name: str
    type: ScalarType
    shape: tuple[int, ...]
    read: bool
    written: bool
    structure: Structure | None = None
    static: StaticObject | None = None

    @property
    def is_array(self) -> bool:
        """Whether the argument is an array in external memory."""
        return bool(self.shape)

    @property
    def element_count(self) -> int:
        """Elements of the array; 1 for a scalar."""
        return prod(self.shape)

    @property
    def initial_values(self) -> NDArray[Any]:
        """Values at the start of the program: from the object's initialiser, else zeros."""
        if self.static is None or not self.static.initial:
            return np.zeros(self.shape, self.type.dtype)
        little = self.type.dtype.newbyteorder("<")
        values = np.frombuffer(self.static.initial, little).astype(self.type.dtype)
        return values.reshape(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """The top function's name, its arguments in order and then the objects of static storage that it uses,
    and the type of the result (None for void)."""

    top: str
    arguments: tuple[Argument, ...]
    returns: ScalarType | None

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """The array arguments, in order."""
        return tuple(a for a in self.arguments if a.is_array)

    @property
    def scalars(self) -> tuple[Argument, ...]:
        """The scalar arguments, in order."""
        return tuple(a for a in self.arguments if not a.is_array)

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The arguments that a call in C has, in order."""
        return tuple(a for a in self.arguments if a.static is None)

    @property
    def has_outputs(self) -> bool:
        """Whether anything leaves the design: an array, an object, or a returned value."""
        return self.returns is not None or any(a.written for a in self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankDimension:
    """How one dimension of an array is distributed over banks.

    Attributes:
        style: `cyclic` (element e lies in bank e mod factor at e div factor), `block` (in bank e div size at
            e mod size), or `whole` (not distributed).
        factor: banks in this dimension; 1 for `whole`.
        number: of this bank, 0 .. factor - 1.
        size: elements of the bank in this dimension.
    """

    style: str
    factor: int
    number: int
    size: int

    def element(self, local: int) -> int:
        """Return the index in the array of an index in the bank."""
        if self.style == "cyclic":
            return local * self.factor + self.number
        return self.number * self.size + local if self.style == "block" else local


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """One memory port pair of the design: a whole array argument, or one bank of it.

    Attributes:
        port: name in the design's ports (`m_<port>_re`, ...).
        argument: the array argument whose elements lie there.
        shape: of the array as the dimensions below see it: the argument's own shape, or (element_count,).
        dimensions: one for each dimension of `shape`.
        read, written: whether the design has the port's read and write side.
    """

    port: str
    argument: str
    shape: tuple[int, ...]
    dimensions: tuple[BankDimension, ...]
    read: bool = True
    written: bool = True

    @property
    def element_count(self) -> int:
        """Addresses of the bank; some may lie past the end of the array."""
        return prod(d.size for d in self.dimensions)


def whole_bank(argument: Argument) -> Bank:
    """Return the bank of an array that is not partitioned."""
    dimensions = tuple(BankDimension(style="whole", factor=1, number=0, size=n) for n in argument.shape)
    return Bank(
        port=argument.name,
        argument=argument.name,
        shape=argument.shape,
        dimensions=dimensions,
        read=argument.read,
        written=argument.written,
    )


DataSet = dict[str, NDArray[Any]]
"""Values of every argument by name: an array of the argument's shape and type, 0-d for a scalar."""


def finite_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the finite numbers of a row of values; one zero where there is none."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return values
    finite = values[np.isfinite(values)]
    return finite if finite.size else np.zeros(1, values.dtype)


def canonical_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values, with every NaN replaced by the positive quiet NaN without payload."""
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return values
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values)


def canonical_array(argument: Argument, values: NDArray[Any]) -> NDArray[Any]:
    """Return values of an argument with canonical NaN; bytes of structures that no member has are zero."""
    structure = argument.structure
    if structure is None:
        return canonical_values(values)
    memory = np.ascontiguousarray(values).view(np.uint8).reshape(-1, structure.size_bytes)
    kept = np.zeros_like(memory)
    for member in structure.members:
        last = member.offset_bytes + member.count * member.type.dtype.itemsize
        part = np.ascontiguousarray(memory[:, member.offset_bytes : last]).view(member.type.dtype)
        kept[:, member.offset_bytes : last] = canonical_values(part).view(np.uint8)
    return kept.reshape(-1).view(values.dtype).reshape(values.shape)


def same_values(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Tell whether two arrays have equal type, shape and values: floating ones bit by bit, all NaN equal."""
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and canonical_values(first).tobytes() == canonical_values(second).tobytes()
    )
