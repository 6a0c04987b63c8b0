"""Programs in the manner of MachSuite: their sizes and input specifications.

They cover constructs of C besides loops over arrays: structs, while loops, bounds from memory, local
arrays, constant tables, switch, break, continue, early return, calls, and all integer widths. Data keeps
every index in its array and every conversion exact in range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.programs.errors import ProgramError
from pipelines.programs.rows import program_row
from pipelines.schemas import ProgramRow

MACHSUITE_SUITE = "machsuite"
MACHSUITE_SIZES = ("mini", "small")

_FOLDER = Path(__file__).parent / "machsuite"

Inputs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachsuiteKernel:
    """A program of the suite; its C text is machsuite/<name>.c.

    Attributes:
        name: file name without suffix; the top function is the name with - as _.
        sizes: value of each size macro at mini and small; mini equals the text without macros.
        inputs: input specification; a text value that names a size macro stands for its value.
    """

    name: str
    sizes: Mapping[str, tuple[int, int]]
    inputs: Inputs = field(default_factory=dict[str, Mapping[str, Any]])

    @property
    def top(self) -> str:
        """Name of the top function."""
        return self.name.replace("-", "_")


def machsuite_programs(*, sizes: Sequence[str]) -> list[ProgramRow]:
    """Return the rows of all programs at some sizes, in the order of the table.

    Raises: ProgramError: an unknown size.
    """
    for size in sizes:
        if size not in MACHSUITE_SIZES:
            raise ProgramError(f"unknown size: {size}; accepted: {', '.join(MACHSUITE_SIZES)}")
    return [_row(kernel, size) for kernel in MACHSUITE_KERNELS for size in sizes]


def machsuite_suite(sizes: Sequence[str]) -> list[ProgramRow]:
    """Return rows of all programs at the chosen sizes that they have, or at mini."""
    own = tuple(size for size in sizes if size in MACHSUITE_SIZES)
    return machsuite_programs(sizes=own or MACHSUITE_SIZES[:1])


def _row(kernel: MachsuiteKernel, size: str) -> ProgramRow:
    parameters = {macro: values[MACHSUITE_SIZES.index(size)] for macro, values in kernel.sizes.items()}
    defines = "".join(f"#define {macro} {value}\n" for macro, value in parameters.items())
    return program_row(
        name=kernel.name,
        suite=MACHSUITE_SUITE,
        stage="kernel",
        size=size,
        parameters=parameters,
        source=defines + _text(kernel.name),
        top=kernel.top,
        inputs={
            argument: {k: parameters.get(v, v) if isinstance(v, str) else v for k, v in kind.items()}
            for argument, kind in kernel.inputs.items()
        },
    )


@cache
def _text(name: str) -> str:
    return (_FOLDER / f"{name}.c").read_text(encoding="utf-8")


# ---- input data ------------------------------------------------------------------------------------


def _uniform(low: float | str, high: float | str) -> Mapping[str, Any]:
    return {"kind": "uniform", "low": low, "high": high}


def _constant(value: float | str) -> Mapping[str, Any]:
    return {"kind": "constant", "value": value}


_BYTE = _uniform(0, 256)
_WORD = _uniform(0, 1 << 32)
_COST = _uniform(0.0, 8.0)
_LETTER = _uniform(ord("a"), ord("e"))


def _word(operation: int, target: int = 0, left: int = 0, right: int = 0, constant: int = 0) -> int:
    return operation << 24 | target << 20 | left << 16 | right << 12 | (constant & 0xFFF)


# Sums and products of memory[0 .. 9] into memory[10] and memory[11], until register 1 reaches 10.
_SUM_AND_PRODUCT = (
    _word(11, 2, constant=10),
    _word(11, 4, constant=1),
    _word(8, 5, 1),
    _word(1, 3, 3, 5),
    _word(5, 5, 5, 6, 0),
    _word(3, 4, 4, 5),
    _word(1, 1, 1, 0, 1),
    _word(10, 0, 1, 2, -6),
    _word(9, 0, 0, 3, 10),
    _word(9, 0, 0, 4, 11),
    _word(0),
    _word(255),
    *(_word(0),) * 4,
)

MACHSUITE_KERNELS = (
    MachsuiteKernel(
        name="adpcm", sizes={"SAMPLES": (64, 512)}, inputs={"samples": _uniform(-20_000, 20_000)}
    ),
    MachsuiteKernel(name="aes", sizes={"BLOCKS": (2, 16)}, inputs={"key": _BYTE, "data": _BYTE}),
    MachsuiteKernel(
        name="bfs",
        sizes={"NODES": (32, 128), "EDGES": (96, 512)},
        inputs={
            "start": _uniform(0, "NODES"),
            "first": {"kind": "csr_rows", "nonzeros": "EDGES"},
            "target": _uniform(0, "NODES"),
        },
    ),
    MachsuiteKernel(
        name="crc32", sizes={"BYTES": (64, 1024)}, inputs={"message": _BYTE, "length": _constant("BYTES")}
    ),
    MachsuiteKernel(name="fft", sizes={"POINTS": (32, 256)}),
    MachsuiteKernel(name="gemm-blocked", sizes={"N": (16, 32), "BLOCK": (4, 8)}),
    MachsuiteKernel(
        name="huffman",
        sizes={"BYTES": (32, 256), "SYMBOLS": (64, 1024)},
        inputs={"data": _BYTE, "count": _constant("SYMBOLS")},
    ),
    MachsuiteKernel(
        name="kmp",
        sizes={"PATTERN": (4, 4), "TEXT": (256, 2048)},
        inputs={"pattern": _LETTER, "text": _LETTER},
    ),
    MachsuiteKernel(
        name="machine",
        sizes={"CODE": (16, 16), "MEMORY": (16, 16), "STEPS": (400, 4000)},
        inputs={"code": {"kind": "values", "values": list(_SUM_AND_PRODUCT)}, "memory": _uniform(0, 1000)},
    ),
    MachsuiteKernel(
        name="md-knn",
        sizes={"ATOMS": (16, 64), "NEIGHBOURS": (4, 16)},
        inputs={"position": _uniform(0.0, 8.0), "neighbour": _uniform(0, "ATOMS")},
    ),
    MachsuiteKernel(
        name="nw", sizes={"A_LENGTH": (16, 48), "B_LENGTH": (16, 48)}, inputs={"a": _LETTER, "b": _LETTER}
    ),
    MachsuiteKernel(name="radix-sort", sizes={"N": (32, 256)}, inputs={"a": _WORD}),
    MachsuiteKernel(name="sha256", sizes={"BLOCKS": (1, 8)}, inputs={"message": _BYTE, "digest": _WORD}),
    MachsuiteKernel(
        name="spmv-crs",
        sizes={"ROWS": (16, 64), "COLUMNS": (16, 64), "NONZEROS": (64, 512)},
        inputs={"first": {"kind": "csr_rows", "nonzeros": "NONZEROS"}, "column": _uniform(0, "COLUMNS")},
    ),
    MachsuiteKernel(
        name="stencil3d",
        sizes={"ROWS": (6, 16), "COLUMNS": (6, 16), "HEIGHT": (8, 16)},
        inputs={
            "c0": _uniform(-(1 << 16), 1 << 16),
            "c1": _uniform(-(1 << 14), 1 << 14),
            "from": _uniform(-(1 << 24), 1 << 24),
        },
    ),
    MachsuiteKernel(
        name="viterbi",
        sizes={"STATES": (8, 16), "TOKENS": (8, 16), "STEPS": (16, 64)},
        inputs={
            "observed": _uniform(0, "TOKENS"),
            "start": _COST,
            "transition": _COST,
            "emission": _COST,
        },
    ),
)
