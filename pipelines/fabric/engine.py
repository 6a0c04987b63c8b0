"""Compiled programs of this package: numbers in, numbers out."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipelines.compiling import compiled_program
from pipelines.fabric.errors import FabricError
from pipelines.tools import run_tool

_FLAGS = ("-std=c++17", "-O2")
Number = TypeVar("Number", np.int64, np.float64)


def run_engine(
    name: str, source: Path, content: NDArray[Number], *, engine_folder: Path, timeout_s: float
) -> NDArray[Number]:
    """Run a program on an array of 64-bit numbers.

    Args:   engine_folder: folder of compiled programs, one per version.
    Returns: the array that it wrote, of the same type.
    Raises: ToolMissing: g++ is not installed. FabricError: the program failed or took too long.
    """
    program = compiled_program(engine_folder, engine=name, sources=(source,), flags=_FLAGS, error=FabricError)
    with tempfile.TemporaryDirectory(prefix="fabric-") as folder_name:
        folder = Path(folder_name)
        (folder / "problems").write_bytes(content.tobytes())
        argv = [os.fspath(program), "problems", "results"]
        run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
        if run.returncode != 0:
            raise FabricError(f"the {name} failed: {run.last_words()}")
        result: NDArray[Any] = np.frombuffer((folder / "results").read_bytes(), content.dtype)
    return result
