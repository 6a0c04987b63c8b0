"""The kernels: suite, sizes and input specification of each.

A size is chosen by the cost of simulating the hardware: small stays below about 50 thousand
cycles at a memory delay of 15 cycles, medium has 24 to 32 elements per dimension, large about 64.
Extents have many divisors, so that directives which divide them have several choices.

The data keeps int32 arithmetic exact. With E elements per dimension and values in [-a, a], a sum of
products stays below E a^2: matrices of -16 .. 15 and factors of 1 .. 4 keep 2mm, the largest, below
64 * (4 * 64 * 256) * 16 = 2^26 at size large; 3mm, a product of products, draws -4 .. 3 and stays
below 64 * (64 * 16)^2 = 2^26. The matrix of trisolv has a dominant diagonal: no |x| exceeds the
largest |b|. A Collatz sequence that starts below 1000 peaks at 250504.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SUITES = ("linear_algebra", "stencil", "irregular")
SIZES = ("small", "medium", "large")

Inputs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel of the catalogue; its C text is kernels/<name>.c.

    Attributes:
        name: file name without suffix; the top function is kernel_<name> with - as _.
        suite: one of SUITES.
        sizes: value of each size macro, by macro, in the order of SIZES.
        inputs: input specification; a text value that names a size macro stands for its value.
    """

    name: str
    suite: str
    sizes: Mapping[str, tuple[int, int, int]]
    inputs: Inputs

    @property
    def top(self) -> str:
        """Name of the top function."""
        return "kernel_" + self.name.replace("-", "_")


def _uniform(low: int, high: int | str) -> Mapping[str, Any]:
    return {"kind": "uniform", "low": low, "high": high}


_SCALE = _uniform(1, 5)
_ALPHA_BETA: Inputs = {"alpha": _SCALE, "beta": _SCALE}
_NARROW = _uniform(-4, 4)
_WIDE = _uniform(-10_000, 10_000)

KERNELS = (
    Kernel(
        name="gemm",
        suite="linear_algebra",
        sizes={"NI": (8, 24, 60), "NJ": (10, 28, 64), "NK": (12, 32, 72)},
        inputs=_ALPHA_BETA,
    ),
    Kernel(
        name="2mm",
        suite="linear_algebra",
        sizes={"NI": (8, 24, 60), "NJ": (8, 28, 64), "NK": (8, 32, 64), "NL": (8, 30, 60)},
        inputs=_ALPHA_BETA,
    ),
    Kernel(
        name="3mm",
        suite="linear_algebra",
        sizes={
            "NI": (8, 24, 60),
            "NJ": (6, 28, 64),
            "NK": (8, 32, 64),
            "NL": (6, 24, 60),
            "NM": (8, 30, 64),
        },
        inputs={"A": _NARROW, "B": _NARROW, "C": _NARROW, "D": _NARROW},
    ),
    Kernel(
        name="atax",
        suite="linear_algebra",
        sizes={"M": (12, 28, 60), "N": (16, 32, 64)},
        inputs={},
    ),
    Kernel(
        name="bicg",
        suite="linear_algebra",
        sizes={"M": (12, 28, 60), "N": (16, 32, 64)},
        inputs={},
    ),
    Kernel(name="mvt", suite="linear_algebra", sizes={"N": (16, 32, 64)}, inputs={}),
    Kernel(name="gesummv", suite="linear_algebra", sizes={"N": (12, 30, 64)}, inputs=_ALPHA_BETA),
    Kernel(
        name="syrk",
        suite="linear_algebra",
        sizes={"M": (10, 24, 60), "N": (12, 32, 64)},
        inputs=_ALPHA_BETA,
    ),
    Kernel(
        name="doitgen",
        suite="linear_algebra",
        sizes={"NR": (4, 24, 60), "NQ": (4, 24, 60), "NP": (8, 24, 64)},
        inputs={},
    ),
    Kernel(
        name="trisolv",
        suite="linear_algebra",
        sizes={"N": (16, 32, 64)},
        inputs={"L": {"kind": "dominant_lower", "low": -3, "high": 4}, "b": _WIDE},
    ),
    Kernel(
        name="jacobi-1d",
        suite="stencil",
        sizes={"TSTEPS": (8, 16, 32), "N": (16, 32, 64)},
        inputs={"A": _WIDE, "B": _WIDE},
    ),
    Kernel(
        name="jacobi-2d",
        suite="stencil",
        sizes={"TSTEPS": (4, 8, 16), "N": (8, 26, 64)},
        inputs={"A": _WIDE, "B": _WIDE},
    ),
    Kernel(
        name="histogram",
        suite="irregular",
        sizes={"N": (48, 240, 960), "BINS": (8, 24, 64)},
        inputs={
            "low": _uniform(-30, -10),
            "width": _uniform(3, 8),
            "value": _uniform(-64, 448),
        },
    ),
    Kernel(
        name="insertion-sort",
        suite="irregular",
        sizes={"N": (16, 32, 64)},
        inputs={"a": _WIDE},
    ),
    Kernel(
        name="collatz",
        suite="irregular",
        sizes={"N": (16, 32, 64)},
        inputs={"start": _uniform(1, 1000)},
    ),
    Kernel(
        name="spmv-csr",
        suite="irregular",
        sizes={"ROWS": (12, 28, 64), "COLUMNS": (16, 32, 60), "NONZEROS": (48, 240, 960)},
        inputs={
            "first": {"kind": "csr_rows", "nonzeros": "NONZEROS"},
            "column": _uniform(0, "COLUMNS"),
        },
    ),
)
