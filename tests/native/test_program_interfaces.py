"""The HLS front end and gcc's preprocessor see the same top function in every program of the suites."""

from __future__ import annotations

import pytest
from program_support import interface_of

from pipelines.hls import read_interface
from pipelines.programs import machsuite_programs, polybench_programs
from pipelines.schemas import ProgramRow

ROWS = polybench_programs(sizes=["mini"], data_types=["float"]) + machsuite_programs(sizes=["mini"])


@pytest.mark.sample(4)
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_front_end_reads_the_program(row: ProgramRow) -> None:
    read, wanted = read_interface(row.source, top=row.top), interface_of(row)
    assert [(a.name, a.type, a.shape) for a in read.arguments] == [
        (a.name, a.type, a.shape) for a in wanted.arguments
    ]
    assert read.returns == wanted.returns
    assert any(a.written for a in read.arrays) or read.returns is not None
