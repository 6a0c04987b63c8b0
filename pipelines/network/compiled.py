"""Compiling numeric functions, seen by the type checker as what they were.

Belongs here: the decorator. Does not: any function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code, compiled at its first call and kept on disk for later processes."""
    compiler: Any = numba.njit(cache=True)  # pyright: ignore[reportUnknownMemberType]
    return cast("Function", compiler(function))
