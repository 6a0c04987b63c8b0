"""The HLS front end and gcc's preprocessor see the same top function in every program of the suites."""

from __future__ import annotations

from functools import cache

import pytest
from program_support import interface_of

from pipelines.c import read_interface
from pipelines.programs import POLYBENCH_KERNELS, machsuite_programs, polybench_programs
from pipelines.programs.machsuite_catalogue import MACHSUITE_KERNELS, MACHSUITE_SUITE
from pipelines.programs.polybench_catalogue import POLYBENCH_SUITE
from pipelines.schemas import ProgramRow


@cache
def programs() -> dict[str, ProgramRow]:
    rows = polybench_programs(sizes=["mini"], data_types=["float"]) + machsuite_programs(sizes=["mini"])
    return {f"{row.suite} {row.name}": row for row in rows}


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "name",
    [
        *(f"{POLYBENCH_SUITE} {kernel.name}-float" for kernel in POLYBENCH_KERNELS),
        *(f"{MACHSUITE_SUITE} {kernel.name}" for kernel in MACHSUITE_KERNELS),
    ],
)
def test_front_end_reads_the_program(name: str) -> None:
    row = programs()[name]
    read, wanted = read_interface(row.source, top=row.top), interface_of(row)
    assert [(a.name, a.type, a.shape) for a in read.arguments] == [
        (a.name, a.type, a.shape) for a in wanted.arguments
    ]
    assert read.returns == wanted.returns
    assert any(a.written for a in read.arrays) or read.returns is not None
