"""Class I and class II of programs: whether control flow depends on data."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.c import HlsError
from pipelines.dataset.features import control_class
from pipelines.programs import kernel_programs, program_from_file

CLASS_I = {
    "transposition": """
void f(int A[4][6], int B[6][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            B[j][i] = A[i][j];
}""",
    "triangle": """
int f(int A[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++)
        for (int j = i; j < 8; j++)
            if ((i + j) % 3 == 0)
                s += A[j];
    return s;
}""",
    "gather": "int f(int A[8], int at[4])\n{\n    int s = 0;\n"
    "    for (int i = 0; i < 4; i++) s += A[at[i] & 7];\n    return s;\n}",
    "division": "int f(int A[8], int n)\n{\n    int s = 0;\n"
    "    for (int i = 0; i < 8; i++) s += A[i] / (n | 1);\n    return s;\n}",
    "table of constants": "int f(int A[8])\n{\n    static const int last[3] = {2, 5, 7};\n    int s = 0;\n"
    "    for (int k = 0; k < 3; k++)\n        for (int i = 0; i < last[k]; i++) s += A[i];\n    return s;\n}",
}
CLASS_II = {
    "sorting": """
void f(int A[8])
{
    for (int i = 1; i < 8; i++) {
        int v = A[i], j = i;
        while (j > 0 && A[j - 1] > v) {
            A[j] = A[j - 1];
            j--;
        }
        A[j] = v;
    }
}""",
    "bound by a scalar": "int f(int A[8], int n)\n{\n    int s = 0;\n"
    "    for (int i = 0; i < (n & 7); i++) s += A[i];\n    return s;\n}",
    "bound by an element": "int f(int A[8], int rows[3])\n{\n    int s = 0;\n"
    "    for (int i = rows[0] & 7; i < 8; i++) s += A[i];\n    return s;\n}",
    "branch": "int f(int A[8])\n{\n    int s = 0;\n"
    "    for (int i = 0; i < 8; i++) if (A[i] > 0) s += A[i];\n    return s;\n}",
    "early exit": "int f(int A[8], int key)\n{\n    for (int i = 0; i < 8; i++)\n"
    "        if (A[i] == key) return i;\n    return -1;\n}",
    "through a local array": "int f(int A[8])\n{\n    int count[4] = {0};\n    int s = 0;\n"
    "    for (int i = 0; i < 8; i++) count[A[i] & 3]++;\n"
    "    for (int i = 0; i < count[1]; i++) s += i;\n    return s;\n}",
    "through a called function": "static int big(int v)\n{\n    if (v > 9) return 1;\n    return 0;\n}\n"
    "int f(int A[4])\n{\n    return big(A[2]);\n}",
}


def class_of(source: str, tmp_path: Path) -> str:
    path = tmp_path / "f.c"
    path.write_text(source + "\n")
    return control_class(program_from_file(path, top="f"))


@pytest.mark.parametrize("source", CLASS_I.values(), ids=CLASS_I.keys())
def test_control_flow_that_is_the_same_on_all_data_is_class_1(source: str, tmp_path: Path) -> None:
    assert class_of(source, tmp_path) == "I"


@pytest.mark.parametrize("source", CLASS_II.values(), ids=CLASS_II.keys())
def test_control_flow_that_depends_on_data_is_class_2(source: str, tmp_path: Path) -> None:
    assert class_of(source, tmp_path) == "II"


def test_control_class_rejects_what_the_front_end_rejects(tmp_path: Path) -> None:
    with pytest.raises(HlsError):
        class_of("int f(int n)\n{\n    return f(n);\n}", tmp_path)


def test_kernels_have_their_class() -> None:
    rows = kernel_programs(suites=("linear_algebra",), sizes=("small",))
    assert {control_class(row) for row in rows} <= {"I", "II"}
    assert control_class(next(row for row in rows if row.name == "gemm")) == "I"
