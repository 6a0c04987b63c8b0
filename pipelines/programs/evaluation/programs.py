"""The evaluation programs as rows, the frozen list of them, and keeping them out of training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.programs.errors import ProgramError
from pipelines.programs.polybench_catalogue import (
    POLYBENCH_DATA_TYPES,
    POLYBENCH_SIZES,
    POLYBENCH_SUITE,
    polybench_program,
    polybench_programs,
)
from pipelines.programs.rows import CUSTOM_SIZE, program_row
from pipelines.schemas import OK, REJECTED, ProgramRow

FROZEN_FILE = Path(__file__).parent / "frozen.json"


@cache
def frozen_hashes() -> Mapping[str, str]:
    """Return the name of an evaluation program by its syntax tree hash."""
    rows: dict[str, dict[str, str]] = json.loads(FROZEN_FILE.read_text(encoding="utf-8"))
    return {row["ast_hash"]: name for name, row in sorted(rows.items(), reverse=True)}


def find_duplicate(program: ProgramRow) -> str | None:
    """Find the evaluation program that equals a program except for spelling, None when there is none."""
    return frozen_hashes().get(program.ast_hash or "")


def untyped_name(name: str) -> str:
    """Return the name of a program without the element type at its end: atax for atax-int."""
    base, _, data_type = name.rpartition("-")
    return base if base and data_type in POLYBENCH_DATA_TYPES else name


def reject_duplicates(programs: Sequence[ProgramRow]) -> list[ProgramRow]:
    """Return the programs, every ok one that equals an evaluation program as a rejected row."""
    return [_refused(program) if program.status == OK else program for program in programs]


def _refused(program: ProgramRow) -> ProgramRow:
    duplicate = find_duplicate(program)
    if duplicate is None:
        return program
    reason = (
        f"a generated program must differ from every evaluation program by its syntax tree, got {duplicate}"
    )
    return replace(program, status=REJECTED, reason=reason)


MODERN, STATIONARY = "modern", "stationary"
EVALUATION_SUITES = (MODERN, STATIONARY, POLYBENCH_SUITE)
STAGE = "evaluation"
_MODERN_FOLDER = Path(__file__).parent / "modern"

STATIONARY_OPERANDS = ("weight", "input", "output")
STATIONARY_TYPES = ("int", "float")
_STATIONARY_SIZES = {"NI": 12, "NJ": 16, "NK": 12, "TILE": 4}
_STATIONARY_FOLDER = Path(__file__).parent / "stationary"


def evaluation_programs(
    suite: str, *, sizes: Sequence[str] = ("mini",), data_types: Sequence[str] = ("int", "float")
) -> list[ProgramRow]:
    """Return the programs of a suite.

    Args:    suite: of EVALUATION_SUITES. sizes, data_types: of PolyBench.
    Returns: rows of stage evaluation, in a fixed order.
    Raises:  ProgramError: there is no such suite, size or data type.
    """
    if suite == MODERN:
        return [modern_program(name) for name in modern_workloads()]
    if suite == STATIONARY:
        return [
            stationary_program(operand, data_type)
            for operand in STATIONARY_OPERANDS
            for data_type in STATIONARY_TYPES
        ]
    if suite != POLYBENCH_SUITE:
        raise ProgramError(f"unknown evaluation suite: {suite}; accepted: {', '.join(EVALUATION_SUITES)}")
    return polybench_programs(sizes=sizes, data_types=data_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationWorkload:
    """A workload of the evaluation of predictors.

    Attributes:
        name: as in the suite, without the data type.
        data_types: element types; PolyBench has one program per type, at size mini.
    """

    name: str
    suite: str
    data_types: tuple[str, ...]

    def programs(self) -> list[ProgramRow]:
        """Return its rows, one per data type."""
        if self.suite == POLYBENCH_SUITE:
            return [polybench_program(self.name, size="mini", data_type=t) for t in self.data_types]
        return [modern_program(self.name)]


_TEN = (
    *("adi", "atax", "bicg", "correlation", "covariance", "deriche", "fdtd-2d", "heat-3d", "jacobi-2d"),
    "seidel-2d",
)
_FOURTEEN = {
    "image-norm-cnn": "float",
    "residual-depthwise": "int8",
    "pyramid-fusion": "int8",
    "cbam": "int16",
    "anchor-roialign": "int8",
    "gan-superresolution": "int16",
    "dense-skip": "float",
    "dilated-aggregation": "float",
    "bevformer": "int8",
    "bert-base": "int8",
    "albert": "int8",
    "t5-base": "int8",
    "roberta": "int8",
    "llama": "int8",
}
EVALUATION_WORKLOADS: tuple[EvaluationWorkload, ...] = (
    *(EvaluationWorkload(name=n, suite=POLYBENCH_SUITE, data_types=("int", "float")) for n in _TEN),
    *(EvaluationWorkload(name=n, suite=MODERN, data_types=(t,)) for n, t in _FOURTEEN.items()),
)
"""The 24 workloads on which predictors are judged; the list is frozen.

Source: LLMulator, Tables 2 and 3: ten kernels of PolyBench and the fourteen blocks.
"""


def evaluation_workloads() -> list[ProgramRow]:
    """Return the programs of the 24 workloads: 20 of PolyBench and 14 of Table 2."""
    return [row for workload in EVALUATION_WORKLOADS for row in workload.programs()]


def every_evaluation_program() -> list[ProgramRow]:
    """Return the programs of all suites, PolyBench at every size and data type."""
    return [
        row
        for suite in EVALUATION_SUITES
        for row in evaluation_programs(suite, sizes=POLYBENCH_SIZES, data_types=POLYBENCH_DATA_TYPES)
    ]


@cache
def modern_workloads() -> Mapping[str, Mapping[str, Any]]:
    """Return sizes, input specification and graph of operators of each modern workload, by name.

    The graph has the dynamic parameters: the base value of each, and the ends of its sweep of -50 to +50 %.
    """
    return json.loads((_MODERN_FOLDER / "workloads.json").read_text(encoding="utf-8"))


def modern_program(name: str) -> ProgramRow:
    """Return the row of a modern workload at the base values of its dynamic parameters."""
    workload = modern_workloads()[name]
    return program_row(
        name=name,
        suite=MODERN,
        stage=STAGE,
        size=CUSTOM_SIZE,
        parameters=workload["sizes"],
        source=(_MODERN_FOLDER / f"{name}.c").read_text(encoding="utf-8"),
        top=name.replace("-", "_"),
        inputs=workload["inputs"],
        operators=tuple(node["operator"] for node in workload["graph"]["nodes"]),
        graph=workload["graph"],
    )


def stationary_program(operand: str, data_type: str) -> ProgramRow:
    """Return C = alpha A B + beta C with a tile of one operand held in registers.

    Integers stay in range: values of at most 16 and factors below 5 keep sums below 12 * 4 * 256 + 4 * 16.

    Args:    operand: of STATIONARY_OPERANDS. data_type: of STATIONARY_TYPES.
    Source:  LLMulator, section 7.4: TPU v1 holds weights, Eyeriss inputs, ShiDianNao outputs.
    """
    name = f"{operand}-stationary"
    macros = [f"#define {key} {value}\n" for key, value in _STATIONARY_SIZES.items()]
    factor: dict[str, Any] = {"kind": "uniform", "low": 1, "high": 5}
    return program_row(
        name=f"{name}-{data_type}",
        suite=STATIONARY,
        stage=STAGE,
        size=CUSTOM_SIZE,
        parameters=_STATIONARY_SIZES,
        source="".join(macros)
        + f"#define DATA_TYPE {data_type}\n\n"
        + (_STATIONARY_FOLDER / f"{name}.c").read_text(encoding="utf-8"),
        top=name.replace("-", "_"),
        inputs={"alpha": factor, "beta": factor},
        operators=("gemm",),
    )
