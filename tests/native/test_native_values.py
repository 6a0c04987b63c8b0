"""The native runner on floating values, static top functions and programs with a main of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import (
    Argument,
    DataSet,
    Interface,
    ScalarType,
    canonical_values,
    same_values,
)
from pipelines.native import NativeRun, run_native

FLOAT = ScalarType(width_bits=32, floating=True)
DOUBLE = ScalarType(width_bits=64, floating=True)


def argument(name: str, kind: ScalarType, *shape: int) -> Argument:
    return Argument(name=name, type=kind, shape=shape, read=True, written=bool(shape))


def run_float(body: str, folder: Path, values: list[float], x: float = 0.5) -> NativeRun:
    """Run `static float f(float a[n], double x)`; the body is line 2."""
    interface = Interface(
        top="f", arguments=(argument("a", FLOAT, len(values)), argument("x", DOUBLE)), returns=FLOAT
    )
    data: DataSet = {"a": np.array(values, np.float32), "x": np.array(x)}
    source = f"#include <math.h>\nstatic float f(float a[{len(values)}], double x) {{ {body} }}\n"
    return run_native(source, interface, data, folder=folder)


def test_run_native_passes_floating_arrays_scalars_and_results(tmp_path: Path) -> None:
    run = run_float("a[1] = a[0] + (float)x; return -a[0];", tmp_path, [1.25, 0.0])
    assert run.status == "ok"
    assert run.outputs["a"].dtype == np.float32
    assert run.outputs["a"].tolist() == [1.25, 1.75]
    assert run.returned == int(np.float32(-1.25).view(np.uint32))


def test_run_native_gives_the_bits_of_a_double(tmp_path: Path) -> None:
    interface = Interface(top="f", arguments=(argument("x", DOUBLE),), returns=DOUBLE)
    run = run_native("double f(double x) { return x / 3; }", interface, {"x": np.array(1.0)}, folder=tmp_path)
    assert run.returned == int(np.float64(1 / 3).view(np.uint64))


def test_run_native_keeps_subnormals_and_signed_zeros(tmp_path: Path) -> None:
    run = run_float("a[0] = a[0] / 4; a[1] = -a[1]; return 0;", tmp_path, [2.0**-126, 0.0])
    assert run.outputs["a"].tobytes() == np.array([2.0**-128, -0.0], np.float32).tobytes()


def test_run_native_gives_one_nan(tmp_path: Path) -> None:
    run = run_float("a[0] = a[1] / a[1]; a[1] = -a[0]; return a[0];", tmp_path, [1.0, 0.0])
    assert run.status == "ok"
    assert run.outputs["a"].view(np.uint32).tolist() == [0x7FC00000] * 2
    assert run.returned == 0x7FC00000


@pytest.mark.parametrize("x", [1e12, float("nan"), float("-inf")])
def test_run_native_rejects_a_conversion_out_of_range(tmp_path: Path, x: float) -> None:
    run = run_float("return (float)(int)x;", tmp_path, [0.0], x)
    assert run.status == "rejected"
    assert run.reason is not None
    assert "outside the range of representable values of type 'int' (kernel.c:2)" in run.reason


def test_run_native_rejects_floats_from_uninitialised_variables(tmp_path: Path) -> None:
    run = run_float("float b[2]; b[0] = 1; a[0] = b[(int)a[0]]; return 0;", tmp_path, [1.0])
    assert run.reason is not None
    assert "must not depend on uninitialised variables, got different outputs in a" in run.reason


def test_run_native_takes_a_program_with_a_main(tmp_path: Path) -> None:
    source = """#include <stdio.h>
#include <stdlib.h>
static int f(int n) { return abs(n); }
int main(int argc, char **argv) { printf("%d", f(argc)); free(malloc(1)); return 9; }
"""
    interface = Interface(top="f", arguments=(argument("n", ScalarType()),), returns=ScalarType())
    run = run_native(source, interface, {"n": np.array(-4, np.int32)}, folder=tmp_path)
    assert (run.reason, run.returned) == (None, 4)


def test_run_native_takes_macros_that_look_like_the_harness(tmp_path: Path) -> None:
    source = (
        "#define values 1\n#define result 2\n#define int32_t nonsense\nint f(int n) { return n + values; }"
    )
    interface = Interface(top="f", arguments=(argument("n", ScalarType()),), returns=ScalarType())
    run = run_native(source, interface, {"n": np.array(4, np.int32)}, folder=tmp_path)
    assert (run.reason, run.returned) == (None, 5)


def test_run_native_rejects_a_header_of_the_system(tmp_path: Path) -> None:
    interface = Interface(top="f", arguments=(), returns=ScalarType())
    run = run_native("#include <pthread.h>\nint f(void) { return 1; }", interface, {}, folder=tmp_path)
    assert run.status == "rejected"
    assert run.reason is not None
    assert "pthread.h: No such file" in run.reason


def test_canonical_values_have_one_nan() -> None:
    odd = np.array([0xFFC00001, 0x3F800000], np.uint32).view(np.float32)
    assert canonical_values(odd).view(np.uint32).tolist() == [0x7FC00000, 0x3F800000]
    assert canonical_values(np.arange(3)).tolist() == [0, 1, 2]


def test_same_values_compares_bits_but_for_nan() -> None:
    nan = np.array([0xFFC00001], np.uint32).view(np.float32)
    assert same_values(nan, np.array([np.nan], np.float32))
    assert not same_values(np.array([0.0]), np.array([-0.0]))
    assert not same_values(np.array([1.0]), np.array([1.0], np.float32))
    assert not same_values(np.zeros(2), np.zeros((2, 1)))
