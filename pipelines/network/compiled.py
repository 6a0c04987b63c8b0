"""Numeric functions compiled to machine code, and work on many flows in several threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

PART = 1 << 18
"""Flows per part. It is a constant, so that sums over parts are equal on all machines."""


def compiled(function: Function) -> Function:
    """The function as machine code, compiled at its first call and kept on disk for later processes.

    It releases the interpreter lock while it runs.
    """
    compiler: Any = numba.njit(cache=True, nogil=True)  # pyright: ignore[reportUnknownMemberType]
    return cast("Function", compiler(function))


def in_parts(count: int, work: Callable[[slice], Result]) -> list[Result]:
    """Run a function on parts of the flows, one thread per processor.

    Args:    work: a compiled function on the flows of a slice.
    Returns: results in the order of the parts; one part for no flows.
    """
    parts = [slice(begin, min(begin + PART, count)) for begin in range(0, max(count, 1), PART)]
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, parts))
