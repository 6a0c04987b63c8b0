"""The PolyBench/C 4.2.1 programs: sizes, data types and input specifications.

The programs have the original's shape: a main, an initialisation, macros for sizes and for the data type,
loops between `#pragma scop`. A row's source has its local headers inlined and its macros set; <polybench.h>
and <math.h> are the project's own.

The data keeps int arithmetic in range at sizes mini and small, and float and double free of infinities.
Values of at most 16 and factors below 5 keep sums of products below 2^27; 2mm stays below
50 * (4 * 70 * 256) * 16 = 2^26, 3mm with values of at most 4 below 50 * (60 * 16) * (80 * 16) = 2^26, and
gemver with values of at most 2 below 2^24. Systems of equations are drawn so that elimination and
substitution stay bounded (specification.py). In fixed point a value of 1 is 2^FRACTION_BITS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.programs.errors import ProgramError
from pipelines.programs.rows import program_row
from pipelines.schemas import ProgramRow

POLYBENCH_SUITE = "polybench"
POLYBENCH_SIZES = ("mini", "small")
POLYBENCH_DATA_TYPES = ("int", "float", "double")

_FOLDER = Path(__file__).parent / "polybench"
_LOCAL_INCLUDE = re.compile(r'^#include "([a-z0-9_-]+\.h)"\n', re.MULTILINE)

Inputs = Mapping[str, Mapping[str, Any]]
Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolybenchKernel:
    """A program of the suite; its C text is polybench/<name>.c and polybench/<name>.h.

    Attributes:
        name: as in the suite; the top function is kernel_<name> with - as _.
        sizes: value of each size macro at mini and small. The argument of the same name in lower case
            has that value.
        integer: input specification when the data type is int, from the sizes.
        floating: the same for float and double.
    """

    name: str
    sizes: Mapping[str, tuple[int, int]]
    integer: Callable[[Sizes], Inputs] = field(default=lambda _: {})
    floating: Callable[[Sizes], Inputs] = field(default=lambda _: {})

    @property
    def top(self) -> str:
        """Name of the top function."""
        return "kernel_" + self.name.replace("-", "_")


def polybench_programs(*, sizes: Sequence[str], data_types: Sequence[str]) -> list[ProgramRow]:
    """Return the rows of all programs at some sizes and data types, in the order of the table.

    Raises: ProgramError: an unknown size or data type.
    """
    return [
        polybench_program(kernel.name, size=size, data_type=data_type)
        for kernel in POLYBENCH_KERNELS
        for size in sizes
        for data_type in data_types
    ]


def polybench_program(name: str, *, size: str = "mini", data_type: str = "float") -> ProgramRow:
    """Return the row of a program.

    Args:
        name: of POLYBENCH_KERNELS.
        size: of POLYBENCH_SIZES.
        data_type: of POLYBENCH_DATA_TYPES.

    Raises: ProgramError: an unknown name, size or data type.
    """
    kernels = {k.name: k for k in POLYBENCH_KERNELS}
    _require_known("name", name, tuple(kernels))
    _require_known("size", size, POLYBENCH_SIZES)
    _require_known("data type", data_type, POLYBENCH_DATA_TYPES)
    kernel = kernels[name]
    sizes = {macro: values[POLYBENCH_SIZES.index(size)] for macro, values in kernel.sizes.items()}
    drawn = kernel.integer if data_type == "int" else kernel.floating
    constants = {macro.lower(): _constant(value) for macro, value in sizes.items()}
    return program_row(
        name=f"{name}-{data_type}",
        suite=POLYBENCH_SUITE,
        stage="evaluation",
        size=size,
        parameters=sizes,
        source=_source(name, size=size, data_type=data_type),
        top=kernel.top,
        inputs={**constants, **drawn(sizes)},
        operators=(name,),
    )


def _source(name: str, *, size: str, data_type: str) -> str:
    macros = f"#define {size.upper()}_DATASET\n#define DATA_TYPE_IS_{data_type.upper()}\n"
    return macros + _inlined(f"{name}.c")


@cache
def _inlined(file: str) -> str:
    text = (_FOLDER / file).read_text(encoding="utf-8")
    return _LOCAL_INCLUDE.sub(lambda include: _inlined(include[1]), text)


def _require_known(what: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise ProgramError(f"unknown {what}: {value}; accepted: {', '.join(accepted)}")


# ---- input data ------------------------------------------------------------------------------------


def _constant(value: float) -> Mapping[str, Any]:
    return {"kind": "constant", "value": value}


def _uniform(low: float, high: float) -> Mapping[str, Any]:
    return {"kind": "uniform", "low": low, "high": high}


def _always(inputs: Inputs) -> Callable[[Sizes], Inputs]:
    return lambda _: inputs


_Q10 = 1 << 10
_Q14 = 1 << 14
_FACTOR = _uniform(1, 5)
_ALPHA_BETA = _always({"alpha": _FACTOR, "beta": _FACTOR})
_HUNDREDS = _uniform(-100, 100)
_UNIT_Q10 = _uniform(-_Q10, _Q10)
_DISTANCES = _uniform(1, 1000)


def _fields(kind: Mapping[str, Any], *names: str) -> Callable[[Sizes], Inputs]:
    return _always(dict.fromkeys(names, kind))


def _reflections(scale: int, denominator: int) -> Mapping[str, Any]:
    """Return the correlations so small that the Toeplitz matrix has a dominant diagonal."""
    bound = scale / denominator
    return _uniform(-int(bound), int(bound)) if scale > 1 else _uniform(-bound, bound)


_LOWER = _always({"L": {"kind": "dominant_lower", "low": -3, "high": 4}, "b": _uniform(-10_000, 10_000)})
_LOWER_FLOATING = _always({"L": {"kind": "dominant_lower", "low": -1.0, "high": 1.0}})
_DEFINITE = _always({"A": {"kind": "positive_definite", "low": -3, "high": 4}})
_DEFINITE_FLOATING = _always({"A": {"kind": "positive_definite", "low": -1.0, "high": 1.0}})
_PRODUCT = _always({"A": {"kind": "lu_product", "low": -3, "high": 4}})
_PRODUCT_FLOATING = _always({"A": {"kind": "lu_product", "low": -1.0, "high": 1.0}})
_SEQUENCE = _always({"seq": _uniform(0, 4), "table": _constant(0)})

_M_N = {"M": (20, 60), "N": (30, 80)}
_STATISTICS = {"M": (28, 80), "N": (32, 100)}
_RECTANGLE = {"M": (38, 116), "N": (42, 124)}
_SQUARE = {"N": (40, 120)}

POLYBENCH_KERNELS = (
    PolybenchKernel(
        name="2mm",
        sizes={"NI": (16, 40), "NJ": (18, 50), "NK": (22, 70), "NL": (24, 80)},
        integer=_ALPHA_BETA,
    ),
    PolybenchKernel(
        name="3mm",
        sizes={"NI": (16, 40), "NJ": (18, 50), "NK": (20, 60), "NL": (22, 70), "NM": (24, 80)},
        integer=_fields(_uniform(-4, 5), "A", "B", "C", "D"),
    ),
    PolybenchKernel(name="adi", sizes={"TSTEPS": (20, 40), "N": (20, 60)}, integer=_fields(_UNIT_Q10, "u")),
    PolybenchKernel(name="atax", sizes=_RECTANGLE),
    PolybenchKernel(name="bicg", sizes=_RECTANGLE),
    PolybenchKernel(name="cholesky", sizes=_SQUARE, integer=_DEFINITE, floating=_DEFINITE_FLOATING),
    PolybenchKernel(
        name="correlation",
        sizes=_STATISTICS,
        integer=lambda s: {"float_n": _constant(s["N"] * _Q10), "data": _uniform(-2 * _Q10, 2 * _Q10)},
        floating=lambda s: {"float_n": _constant(s["N"])},
    ),
    PolybenchKernel(
        name="covariance",
        sizes=_STATISTICS,
        integer=lambda s: {"float_n": _constant(s["N"]), "data": _HUNDREDS},
        floating=lambda s: {"float_n": _constant(s["N"])},
    ),
    PolybenchKernel(
        name="deriche",
        sizes={"W": (64, 192), "H": (64, 128)},
        integer=_always({"alpha": _constant(_Q10 // 4), "imgIn": _uniform(0, _Q10)}),
        floating=_always({"alpha": _constant(0.25), "imgIn": _uniform(0.0, 1.0)}),
    ),
    PolybenchKernel(name="doitgen", sizes={"NQ": (8, 20), "NR": (10, 25), "NP": (12, 30)}),
    PolybenchKernel(
        name="durbin",
        sizes=_SQUARE,
        integer=lambda s: {"r": _reflections(_Q14, 2 * s["N"])},
        floating=lambda s: {"r": _reflections(1, 2 * s["N"])},
    ),
    PolybenchKernel(
        name="fdtd-2d",
        sizes={"TMAX": (20, 40), "NX": (20, 60), "NY": (30, 80)},
        integer=_fields(_UNIT_Q10, "ex", "ey", "hz", "_fict_"),
    ),
    PolybenchKernel(
        name="floyd-warshall",
        sizes={"N": (60, 180)},
        integer=_fields(_DISTANCES, "path"),
        floating=_fields(_uniform(0.0, 1.0), "path"),
    ),
    PolybenchKernel(name="gemm", sizes={"NI": (20, 60), "NJ": (25, 70), "NK": (30, 80)}, integer=_ALPHA_BETA),
    PolybenchKernel(
        name="gemver",
        sizes=_SQUARE,
        integer=_always(
            {"alpha": _uniform(1, 3), "beta": _uniform(1, 3)}
            | {name: _uniform(-2, 3) for name in ("A", "u1", "v1", "u2", "v2", "w", "x", "y", "z")}
        ),
    ),
    PolybenchKernel(name="gesummv", sizes={"N": (30, 90)}, integer=_ALPHA_BETA),
    PolybenchKernel(name="gramschmidt", sizes=_M_N, integer=_fields(_UNIT_Q10, "A")),
    PolybenchKernel(
        name="heat-3d", sizes={"TSTEPS": (20, 40), "N": (10, 20)}, integer=_fields(_UNIT_Q10, "A", "B")
    ),
    PolybenchKernel(
        name="jacobi-1d", sizes={"TSTEPS": (20, 40), "N": (30, 120)}, integer=_fields(_UNIT_Q10, "A", "B")
    ),
    PolybenchKernel(
        name="jacobi-2d", sizes={"TSTEPS": (20, 40), "N": (30, 90)}, integer=_fields(_UNIT_Q10, "A", "B")
    ),
    PolybenchKernel(name="lu", sizes=_SQUARE, integer=_PRODUCT, floating=_PRODUCT_FLOATING),
    PolybenchKernel(name="ludcmp", sizes=_SQUARE, integer=_PRODUCT, floating=_PRODUCT_FLOATING),
    PolybenchKernel(name="mvt", sizes=_SQUARE),
    PolybenchKernel(name="nussinov", sizes={"N": (60, 180)}, integer=_SEQUENCE, floating=_SEQUENCE),
    PolybenchKernel(
        name="seidel-2d",
        sizes={"TSTEPS": (20, 40), "N": (40, 120)},
        integer=_fields(_uniform(-10_000, 10_000), "A"),
    ),
    PolybenchKernel(name="symm", sizes=_M_N, integer=_ALPHA_BETA),
    PolybenchKernel(name="syr2k", sizes=_M_N, integer=_ALPHA_BETA),
    PolybenchKernel(name="syrk", sizes=_M_N, integer=_ALPHA_BETA),
    PolybenchKernel(name="trisolv", sizes=_SQUARE, integer=_LOWER, floating=_LOWER_FLOATING),
    PolybenchKernel(name="trmm", sizes=_M_N, integer=_fields(_FACTOR, "alpha")),
)
