"""Equivalence of functions: structured IR as C, compiled once for many functions, run on data.

`assert_same_meaning(before, after, data_sets)` tests one transformation; `assert_all_same_meaning` tests many
in one compilation. Every element of every array argument and the result must be equal to the last bit (one
not-a-number equals another). Array accesses are checked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.base.tools import run_tool
from pipelines.c import ir
from pipelines.c.signature import DataSet
from tests.hls.ctext import PRELUDE, c_function

TIMEOUT_S = 60.0
_FLAGS = ("-std=c11", "-w", "-ffp-contract=off", "-ftrivial-auto-var-init=zero", "-fno-math-errno")
_CHECKS = ("-fsanitize=address,bounds", "-fno-sanitize-recover=all")

_DRIVER = """
#include <stdio.h>
#include <stdlib.h>

static void *argument(FILE *inputs, size_t bytes)
{
    void *place = malloc(bytes);
    if (place == NULL || fread(place, 1, bytes, inputs) != bytes) {
        exit(3);
    }
    return place;
}

static void keep(FILE *outputs, void *place, size_t bytes, int is_array)
{
    if (is_array && fwrite(place, 1, bytes, outputs) != bytes) {
        exit(4);
    }
    free(place);
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Functions that must be equivalent to the first one on data sets."""

    functions: tuple[ir.Function, ...]
    data_sets: tuple[DataSet, ...]
    label: str = ""


def draw_arguments(function: ir.Function, seed: int) -> DataSet:
    """A value for every parameter: small integers, a few extreme ones, and plain numbers."""
    generator = np.random.default_rng(seed)
    data: DataSet = {}
    for parameter in function.parameters:
        shape = parameter.shape if isinstance(parameter, ir.Array) else ()
        dtype = parameter.type.dtype
        if parameter.type.floating:
            data[parameter.name] = np.asarray(generator.normal(scale=8.0, size=shape), dtype)
            continue
        limits = np.iinfo(dtype)
        small = generator.integers(-16 if limits.min < 0 else 0, 16, size=shape)
        wide = generator.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
        rare = generator.random(size=shape) < (0.1 if shape else 0.0)
        data[parameter.name] = np.asarray(np.where(rare, wide, small.astype(dtype)), dtype)
    return data


def assert_same_meaning(before: ir.Function, after: ir.Function, data_sets: Sequence[DataSet]) -> None:
    """Both functions give bit-equal outputs and results on every data set."""
    assert_all_same_meaning([Comparison(functions=(before, after), data_sets=tuple(data_sets))])


def assert_all_same_meaning(comparisons: Sequence[Comparison]) -> None:
    """`assert_same_meaning` for many functions in one compilation."""
    with tempfile.TemporaryDirectory() as name:
        outputs = _run(comparisons, Path(name))
    for comparison in comparisons:
        for data in comparison.data_sets:
            expected = _read_outputs(comparison.functions[0], data, outputs)
            for number, function in enumerate(comparison.functions[1:], 1):
                actual = _read_outputs(function, data, outputs)
                for key, value in expected.items():
                    np.testing.assert_array_equal(
                        actual[key], value, err_msg=f"{comparison.label} function {number}: {key}"
                    )


def _run(comparisons: Sequence[Comparison], folder: Path) -> _Reader:
    """Compile and run every function on every data set; their outputs one after the other."""
    definitions = [PRELUDE]
    calls: list[str] = []
    inputs: list[bytes] = []
    for group, comparison in enumerate(comparisons):
        for number, function in enumerate(comparison.functions):
            name = f"function_{group}_{number}"
            definitions += [c_function(function, name=name), _call(function, name)]
        for data in comparison.data_sets:
            content = b"".join(np.ascontiguousarray(data[p.name]).tobytes() for p in _parameters(comparison))
            for number in range(len(comparison.functions)):
                inputs.append(content)
                calls.append(f"    call_function_{group}_{number}(inputs, outputs);")
    main = "\n".join(
        [
            "int main(void)\n{",
            '    FILE *inputs = fopen("inputs.bin", "rb"), *outputs = fopen("outputs.bin", "wb");',
            *calls,
            "    return fclose(outputs);\n}\n",
        ]
    )
    (folder / "functions.c").write_text("\n".join([*definitions[:1], _DRIVER, *definitions[1:], main]))
    (folder / "inputs.bin").write_bytes(b"".join(inputs))
    built = run_tool(
        ("gcc", *_FLAGS, *_CHECKS, "functions.c", "-lm", "-o", "functions"), folder=folder, timeout_s=300.0
    )
    assert built.returncode == 0, built.last_words(2000)
    ran = run_tool(
        ("./functions",),
        folder=folder,
        timeout_s=TIMEOUT_S,
        environment={"ASAN_OPTIONS": "detect_leaks=0:color=never"},
        memory_bytes=None,
    )
    assert not ran.timed_out, "a function does not end"
    assert ran.returncode == 0, ran.stderr[:2000]
    return _Reader((folder / "outputs.bin").read_bytes())


def _parameters(comparison: Comparison) -> tuple[ir.Variable | ir.Array, ...]:
    signatures = {
        tuple((p.name, p.type, p.shape if isinstance(p, ir.Array) else ()) for p in f.parameters)
        for f in comparison.functions
    }
    assert len(signatures) == 1, f"{comparison.label}: the signature changed: {signatures}"
    return comparison.functions[0].parameters


def _bytes_of(parameter: ir.Variable | ir.Array) -> int:
    count = parameter.element_count if isinstance(parameter, ir.Array) else 1
    return count * parameter.type.width_bits // 8


def _call(function: ir.Function, name: str) -> str:
    """A C function that reads the arguments, calls the function, and writes arrays and result."""
    lines = [f"static void call_{name}(FILE *inputs, FILE *outputs)", "{"]
    values: list[str] = []
    for number, parameter in enumerate(function.parameters):
        lines.append(f"    void *a{number} = argument(inputs, {_bytes_of(parameter)});")
        values.append(
            f"a{number}" if isinstance(parameter, ir.Array) else f"*({parameter.type.c_name} *)a{number}"
        )
    call = f"{name}({', '.join(values)});"
    if function.returns is None:
        lines.append(f"    {call}")
    else:
        lines.append(f"    {function.returns.c_name} result = {call}")
        lines.append("    fwrite(&result, sizeof result, 1, outputs);")
    for number, parameter in enumerate(function.parameters):
        is_array = int(isinstance(parameter, ir.Array))
        lines.append(f"    keep(outputs, a{number}, {_bytes_of(parameter)}, {is_array});")
    return "\n".join([*lines, "}"]) + "\n"


@dataclass(slots=True)
class _Reader:
    content: bytes
    offset: int = 0

    def take(self, kind: np.dtype[np.generic], count: int) -> np.ndarray:
        values = np.frombuffer(self.content, kind, count, self.offset)
        self.offset += values.nbytes
        return values


def _read_outputs(function: ir.Function, data: DataSet, outputs: _Reader) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    if function.returns is not None:
        arrays["the result"] = _exact(outputs.take(function.returns.dtype, 1))
    for parameter in function.parameters:
        if isinstance(parameter, ir.Array):
            values = outputs.take(parameter.type.dtype, parameter.element_count)
            arrays[parameter.name] = _exact(values).reshape(parameter.shape)
    return arrays


def _exact(values: np.ndarray) -> np.ndarray:
    """Bits of floating values, each not-a-number the same; integers as they are."""
    if values.dtype.kind != "f":
        return values
    bits = values.view(f"u{values.dtype.itemsize}").copy()
    bits[np.isnan(values)] = np.iinfo(bits.dtype).max
    return bits
