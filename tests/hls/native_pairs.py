"""The front end against gcc: the structured IR printed as C must compute what the program computes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.c.frontend import interface_of, read_function
from pipelines.c.signature import Argument, DataSet, Interface, canonical_array
from pipelines.c.text.preprocess import INCLUDE_FOLDER
from pipelines.native.runner import kernel_text
from tests.hls.ctext import c_text

_FLAGS = ("-std=gnu11", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fwrapv")
_MEMORY = ("-fno-strict-aliasing", "-ftrivial-auto-var-init=zero")


def _entry(interface: Interface, called: str, *, whole: bool) -> str:
    """A function that calls any program through plain addresses of arrays.

    Args: whole: the program has its objects of static storage; else they are arguments.
    """
    names = [f"a{number}" for number in range(len(interface.arguments))]
    kinds = ["void *" if a.is_array else f"{a.type.c_name} " for a in interface.arguments]
    parameters = ", ".join(k + n for k, n in zip(kinds, names, strict=True)) or "void"
    result = interface.returns.c_name if interface.returns else "void"
    before, after, passed, symbols = [], [], [], []
    for number, (argument, name) in enumerate(zip(interface.arguments, names, strict=True)):
        if argument.static is None or not whole:
            passed.append(name)
            continue
        own = f"(void *)&{argument.static.name}"
        if argument.static.end is not None:
            own = f"simfoundry_object_{number}"
            symbols.append(f"extern void *const {own};\n")
        size = argument.element_count * argument.type.dtype.itemsize
        value = name if argument.is_array else f"&{name}"
        before.append(f"    __builtin_memcpy({own}, {value}, {size});\n")
        after.append(f"    __builtin_memcpy({value}, {own}, {size});\n")
    call = f"{called}({', '.join(passed)});\n"
    answer = f"    {result} answer = {call}" if interface.returns else f"    {call}"
    return (
        f"\n#include <stdint.h>\n{''.join(symbols)}{result} entry_point({parameters})\n{{\n"
        f"{''.join(before)}{answer}{''.join(after)}{'    return answer;' if interface.returns else ''}\n}}\n"
    )


def _compile(text: str, path: Path) -> Path:
    source = path.with_suffix(".c")
    source.write_text(text)
    argv = ["gcc", *_FLAGS, *_MEMORY, "-isystem", str(INCLUDE_FOLDER), "-o", str(path), str(source)]
    subprocess.run(argv, check=True, capture_output=True, text=True)
    return path


def _draw(argument: Argument, generator: np.random.Generator) -> NDArray[Any]:
    """Small values of an argument, which index the tests' arrays after a mask; initialisers of objects."""
    if argument.static is not None:
        return argument.initial_values
    if argument.type.floating:
        return (generator.standard_normal(argument.shape) * 8).astype(argument.type.dtype)
    low = -100 if argument.type.signed else 0
    return generator.integers(low, 100, argument.shape).astype(argument.type.dtype)


def _call(library: Path, interface: Interface, data: DataSet, run: int) -> tuple[DataSet, Any]:
    """One call in a fresh copy of the library: static variables start at their initialisers."""
    fresh = library.with_name(f"{run}_{library.name}")
    shutil.copy(library, fresh)
    values = {name: np.ascontiguousarray(value.copy()) for name, value in data.items()}
    entry = ctypes.CDLL(str(fresh)).entry_point
    entry.restype = None
    if interface.returns is not None:
        entry.restype = np.ctypeslib.as_ctypes_type(interface.returns.dtype)
    arguments = [
        values[a.name].ctypes.data_as(ctypes.c_void_p)
        if a.is_array
        else np.ctypeslib.as_ctypes_type(a.type.dtype)(values[a.name].item())
        for a in interface.arguments
    ]
    return values, entry(*arguments)


def check_front_end(
    source: str, top: str, folder: Path, *, runs: int = 5, data: list[DataSet] | None = None
) -> None:
    """Assert that a program and its IR, both compiled by gcc, give the same arrays and results."""
    function = read_function(source, top=top)
    interface = interface_of(function)
    original = _compile(
        kernel_text(source, interface) + _entry(interface, top, whole=True), folder / "original.so"
    )
    text = c_text(function, name="read_program")
    read = _compile(text + _entry(interface, "read_program", whole=False), folder / "read.so")
    generator = np.random.default_rng(0)
    sets = data or [{a.name: _draw(a, generator) for a in interface.arguments} for _ in range(runs)]
    for run, values in enumerate(sets):
        expected, expected_result = _call(original, interface, values, run)
        got, got_result = _call(read, interface, values, run)
        for name, array in expected.items():
            argument = next(a for a in interface.arguments if a.name == name)
            first, second = (canonical_array(argument, values) for values in (got[name], array))
            np.testing.assert_array_equal(first, second, err_msg=name)
        np.testing.assert_array_equal(got_result, expected_result)
