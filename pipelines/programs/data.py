"""Input data of a program: drawn from its specification, or read from a file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.base import files
from pipelines.base.identity import content_hash
from pipelines.c.signature import Argument, DataSet, Interface, Structure
from pipelines.programs.errors import ProgramError
from pipelines.programs.specification import (
    ArgumentKind,
    Uniform,
    default_kind,
    kind_of,
    read_json_object,
    read_specification,
    values_of,
)


def read_text(path: Path, *, what: str, limit_bytes: int) -> str:
    """Return the text of a regular file in UTF-8, not empty and not larger than a limit.

    Args:    what: what the file is, for messages.
    Raises:  ProgramError: the file is missing, unreadable, empty, too large, or not text.
    """
    text = files.read_text(path, what=what, most_bytes=limit_bytes, error=ProgramError)
    if not text.strip():
        raise ProgramError(f"empty {what}: {path}")
    return text


DATA_LIMIT_BYTES = 48 << 20
LIST_LIMIT = 1 << 22
_FEW = 100_000  # additional marks: later checks of shapes give better messages


def draw_data(interface: Interface, inputs: str, *, seed: int) -> DataSet:
    """Draw a value for every argument of a program.

    Each argument has its own generator, seeded by the seed and the argument's name: its values do
    not depend on the other arguments or their order. Written arrays are drawn too, so that a
    result never depends on memory that happens to be zero.

    Args:
        interface: the program's arguments.
        inputs: JSON input specification, {argument: {"kind": ...}}; see docs/programs.md. An
            argument that it does not name is uniform -16 .. 15 (0 .. 15 when unsigned, -1 .. 1 when
            floating), an object of static storage its initialiser.
        seed: any integer.

    Returns: arrays of each argument's shape and type, by name, in the interface's order.
    Raises:  ProgramError: an unknown argument or kind, or a kind that does not fit the argument.
    """
    specification = read_specification(inputs)
    _require_known(interface, specification.keys())
    return {a.name: _draw(a, specification, seed) for a in interface.arguments}


def _draw(argument: Argument, specification: Mapping[str, ArgumentKind], seed: int) -> NDArray[Any]:
    kind = kind_of(argument, specification)
    if kind is None:
        return argument.initial_values
    generator = argument_generator(seed, argument)
    if argument.structure is not None and argument.name not in specification:
        return _draw_structures(argument, argument.structure, generator)
    return kind.draw(argument, generator)


def _draw_structures(
    argument: Argument, structure: Structure, generator: np.random.Generator
) -> NDArray[Any]:
    """Draw the memory of structures, each member drawn as an argument of its type; gaps are zero."""
    count = argument.element_count * argument.type.width_bits // 8 // structure.size_bytes
    memory = np.zeros((count, structure.size_bytes), np.uint8)
    for member in structure.members:
        own = replace(argument, type=member.type, shape=(count, member.count), structure=None)
        kind = Uniform(kind="uniform", low=0, high=2) if member.boolean else default_kind(own)
        drawn = np.ascontiguousarray(kind.draw(own, generator)).view(np.uint8)
        memory[:, member.offset_bytes : member.offset_bytes + drawn.shape[1]] = drawn
    return memory.reshape(-1).view(argument.type.dtype).reshape(argument.shape)


def load_data(data: Path | Mapping[str, Any], interface: Interface) -> DataSet:
    """Read a data set, {argument: nested lists or one number}, from a JSON file unless it is given itself.

    Every argument needs a value, except an array that is only written, which starts as zeros, and an object
    of static storage, which starts as its initialiser.

    Returns: arrays of each argument's shape and type, by name, in the interface's order.
    Raises:  ProgramError: the file cannot be read, or its values do not fit the interface.
    """
    text = (
        read_text(data, what="data file", limit_bytes=DATA_LIMIT_BYTES)
        if isinstance(data, Path)
        else _json_text(data)
    )
    try:
        _check_marks(text, interface)
        values = read_json_object(text)
        _require_known(interface, values.keys())
        return {a.name: _value_of(a, values) for a in interface.arguments}
    except ProgramError as error:
        raise ProgramError(f"{error} ({data})" if isinstance(data, Path) else str(error)) from error


def _json_text(data: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(data))
    except (TypeError, ValueError) as error:
        raise ProgramError(f"data of a program are numbers and lists of them by argument: {error}") from error


def _check_marks(text: str, interface: Interface) -> None:
    """Refuse more values and lists than the arguments have; decoding takes 30 times the size of the text."""
    shapes = [a.shape for a in interface.arguments]
    lists = sum(math.prod(shape[:level]) for shape in shapes for level in range(len(shape)))
    values = sum(a.element_count for a in interface.arguments)
    for mark, most in (("{", 1), ("[", min(lists, LIST_LIMIT)), (",", values + lists + len(shapes))):
        count = text.count(mark)
        if count > max(most, _FEW):
            raise ProgramError(
                f"data of {interface.top} has {values} values in {lists} lists, so at most {most} times "
                f"{mark!r}, got {count}"
            )


def data_id(data: DataSet) -> str:
    """Return the identity of a data set: the same names, types, shapes and values give the same id."""
    return content_hash(
        {name: [str(values.dtype), list(values.shape), _digest(values)] for name, values in data.items()}
    )


def _digest(values: NDArray[Any]) -> str:
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(little.tobytes()).hexdigest()


def argument_generator(seed: int, argument: Argument, *purpose: str) -> np.random.Generator:
    """Return the random numbers of an argument; others for each purpose."""
    return np.random.Generator(np.random.PCG64(int(content_hash(seed, argument.name, *purpose), 16)))


def _value_of(argument: Argument, values: dict[str, object]) -> NDArray[Any]:
    if argument.name in values:
        return values_of(argument, values[argument.name])
    if argument.static is not None or (argument.is_array and not argument.read):
        return argument.initial_values
    raise ProgramError(f"data has no value for argument {argument.name}, which is read")


def _require_known(interface: Interface, names: Iterable[str]) -> None:
    known = [a.name for a in interface.arguments]
    for name in names:
        if name not in known:
            raise ProgramError(
                f"unknown argument of {interface.top}: {name}; accepted: "
                f"{', '.join(known) or 'none, it has no arguments'}"
            )
