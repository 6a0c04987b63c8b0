"""Class I and class II of programs: whether control flow depends on data."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.c import HlsError
from pipelines.dataset.features import control_class
from pipelines.programs import kernel_programs, program_from_file
from tests.support.case_files import Case, case_parameters

CASES = case_parameters(Path(__file__).parent / "cases", ("class",))


def class_of(source: str, tmp_path: Path) -> str:
    path = tmp_path / "f.c"
    path.write_text(source + "\n")
    return control_class(program_from_file(path, top="f"))


@pytest.mark.parametrize("case", CASES)
def test_control_flow_that_depends_on_data_is_class_2(case: Case, tmp_path: Path) -> None:
    assert class_of(case.source, tmp_path) == case.value("class")


def test_control_class_rejects_what_the_front_end_rejects(tmp_path: Path) -> None:
    with pytest.raises(HlsError):
        class_of("int f(int n)\n{\n    return f(n);\n}", tmp_path)


def test_kernels_have_their_class() -> None:
    rows = kernel_programs(suites=("linear_algebra",), sizes=("small",))
    assert {control_class(row) for row in rows} <= {"I", "II"}
    assert control_class(next(row for row in rows if row.name == "gemm")) == "I"
