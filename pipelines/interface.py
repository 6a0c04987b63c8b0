"""What a program looks like from outside: its top function's arguments and result.

Shared by the engines that must agree on it: the C front end reads it, input data is drawn for it,
native C and the RTL test bench are driven by it. Does not belong here: how any of them does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarType:
    """An integer type of C.

    Attributes:
        width_bits: 8, 16, 32 or 64.
        signed: two's complement when true.
    """

    width_bits: int = 32
    signed: bool = True

    @property
    def dtype(self) -> np.dtype[np.integer]:
        """The NumPy type of the same values."""
        return np.dtype(f"{'i' if self.signed else 'u'}{self.width_bits // 8}")

    @property
    def c_name(self) -> str:
        """The fixed-width name of the type in C."""
        return f"{'' if self.signed else 'u'}int{self.width_bits}_t"


INT32 = ScalarType(width_bits=32, signed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of the top function.

    Attributes:
        name: as written in C.
        type: of the scalar or of an element.
        shape: of the array in elements, C order; empty for a scalar passed by value.
        read: the function may read it.
        written: the function may write it; an array that is written is an output.
    """

    name: str
    type: ScalarType
    shape: tuple[int, ...]
    read: bool
    written: bool

    @property
    def is_array(self) -> bool:
        """Whether the argument is an array in external memory."""
        return bool(self.shape)

    @property
    def element_count(self) -> int:
        """Elements of the array; 1 for a scalar."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """The top function's name, arguments in order, and type of the result (None for void)."""

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


DataSet = dict[str, NDArray[np.integer]]
"""Values of every argument by name: an array of the argument's shape and type, 0-d for a scalar."""
