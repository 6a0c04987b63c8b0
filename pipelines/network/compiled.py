"""Numeric loops as machine code, and work on many flows in several threads.

Loops of estimates are C, compiled once and called without numba, whose import and cache take 0.5 s. Loops
that draw random numbers or read traces are numba's.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from pipelines.base.compiling import compiled_program
from pipelines.network.errors import NetworkError

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

PART = 1 << 18
"""Flows per part. It is a constant, so that sums over parts are equal on all machines."""
_FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-lm")
"""Without contraction, products are rounded before they are added: equal bits on all machines."""
_FUNCTION = re.compile(r"^(void|int64_t|uint64_t) (\w+)\(([^)]*)\) \{$", re.MULTILINE)
_SCALARS = {"int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "double": ctypes.c_double, "void": None}
_ARRAYS = {
    f"{name} *": np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS")
    for name, kind in (
        ("int64_t", np.int64),
        ("int32_t", np.int32),
        ("uint16_t", np.uint16),
        ("double", np.float64),
        ("float", np.float32),
    )
}


@cache
def kernels(source: Path) -> Any:
    """Return the functions of a C file, compiled once; arguments are checked against its prototypes.

    Raises: ToolMissing: gcc is not installed. NetworkError: it does not compile the file.
    """
    program = compiled_program(
        compiled_folder(source),
        engine=f"{source.parent.name}-{source.stem}",
        sources=(source,),
        flags=_FLAGS,
        error=NetworkError,
        compiler="gcc",
    )
    library = ctypes.CDLL(os.fspath(program))
    for kind, name, parameters in _FUNCTION.findall(source.read_text()):
        function = getattr(library, name)
        function.argtypes = [_argument(" ".join(text.split())) for text in parameters.split(",")]
        function.restype = _SCALARS[kind]
    return library


def _argument(text: str) -> Any:
    """Return the type of a parameter such as `const double *waits_s`."""
    kind = text.removeprefix("const ").rstrip("abcdefghijklmnopqrstuvwxyz_0123456789").rstrip()
    return _ARRAYS[kind] if kind.endswith("*") else _SCALARS[kind]


def compiled_folder(source: Path) -> Path:
    """Return folder of what is made once of a source file: that of bytecode beside it, else the user's."""
    own = source.parent / "__pycache__"
    if os.access(own if own.exists() else source.parent, os.W_OK):
        return own
    return Path.home() / ".cache" / "simfoundry"


def compiled(function: Function) -> Function:
    """Return the function as machine code by numba, compiled at its first call and kept on disk for later
    processes.

    It releases the interpreter lock while it runs.
    """

    @cache
    def compiler() -> Any:
        import numba  # lazy import: takes 0.3 s

        return numba.njit(cache=True, nogil=True)(function)  # pyright: ignore[reportUnknownMemberType]

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return compiler()(*arguments)

    return cast("Function", call)


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
