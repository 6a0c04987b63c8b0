"""Rows of the catalogue and of user files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.base.identity import content_hash
from pipelines.programs import SIZES, SUITES, ProgramError, kernel_programs, program_from_file
from pipelines.programs.catalogue import KERNELS
from pipelines.schemas import ProgramRow, table_spec

C_TEXT = "void top(int a[4]) { a[0] = 1; }\n"


def all_kernels() -> list[ProgramRow]:
    return kernel_programs(suites=SUITES, sizes=SIZES)


def test_catalogue_has_sixteen_kernels_at_three_sizes() -> None:
    rows = all_kernels()
    assert len(rows) == 48
    assert len({r.name for r in rows}) == 16
    assert len({r.program_id for r in rows}) == 48


def test_every_kernel_file_is_in_the_catalogue(repository: Path) -> None:
    files = {p.stem for p in (repository / "pipelines" / "programs" / "kernels").glob("*.c")}
    assert files == {k.name for k in KERNELS}


def test_program_ids_are_stable(golden: Callable[[str, str], None]) -> None:
    lines = [f"{r.name} {r.size} {r.program_id}\n" for r in all_kernels()]
    golden("programs/program_ids.txt", "".join(lines))


def test_program_id_hashes_source_top_and_inputs() -> None:
    row = all_kernels()[0]
    assert row.program_id == content_hash(row.source, row.top, row.inputs)


def test_rows_fit_the_programs_table() -> None:
    table = table_spec("programs").to_arrow(all_kernels())
    assert table.num_rows == 48


@pytest.mark.parametrize("suite", SUITES)
def test_kernel_programs_selects_by_suite_and_size(suite: str) -> None:
    rows = kernel_programs(suites=[suite], sizes=["medium"])
    assert [r.name for r in rows] == [k.name for k in KERNELS if k.suite == suite]
    assert {r.size for r in rows} == {"medium"}


def test_source_begins_with_the_size_macros_and_names_the_top() -> None:
    row = kernel_programs(suites=["linear_algebra"], sizes=["large"])[0]
    assert row.source.startswith("#define NI 60\n#define NJ 64\n#define NK 72\n/* C = alpha A B")
    assert json.loads(row.parameters) == {"NI": 60, "NJ": 64, "NK": 72}
    assert all(f" {r.top}(" in r.source for r in all_kernels())


def test_size_macros_are_those_the_kernel_has_defaults_for() -> None:
    for row in all_kernels():
        assert re.findall(r"#ifndef (\w+)", row.source) == re.findall(
            r"^#define (\w+)", row.source.partition("/*")[0], re.MULTILINE
        )


def test_default_macros_are_the_small_size() -> None:
    for row in kernel_programs(suites=SUITES, sizes=["small"]):
        defines, _, kernel = row.source.partition("/*")
        assert re.findall(r"#define .*", kernel) == re.findall(r"#define .*", defines)


def test_inputs_name_only_arguments_and_no_macro_is_left() -> None:
    for row in all_kernels():
        for argument, kind in json.loads(row.inputs).items():
            assert re.search(rf"\bint {argument}\b", row.source), (row.name, argument)
            assert {type(v) for k, v in kind.items() if k != "kind"} <= {int}


def test_kernel_programs_rejects_unknown_suite() -> None:
    message = "unknown suite: sparse; accepted: linear_algebra, stencil, irregular"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        kernel_programs(suites=["sparse"], sizes=SIZES)


def test_kernel_programs_rejects_unknown_size() -> None:
    message = "unknown size: huge; accepted: small, medium, large"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        kernel_programs(suites=SUITES, sizes=["huge"])


def test_program_from_file_keeps_the_text(tmp_path: Path) -> None:
    path = tmp_path / 'it\'s a; "file".c'
    path.write_text(C_TEXT)
    row = program_from_file(path, top="top", inputs='{"a": {"value": 3, "kind": "constant"}}')
    assert (row.name, row.suite, row.size, row.stage) == (path.stem, "user", "custom", "evaluation")
    assert row.source == C_TEXT
    assert row.inputs == '{"a":{"kind":"constant","value":3}}'


def test_program_from_file_has_one_id_for_one_meaning_of_the_inputs(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(C_TEXT)
    first = program_from_file(path, top="top", inputs='{"a": {"kind": "constant", "value": 3}}')
    second = program_from_file(path, top="top", inputs='{ "a":{"value":3,"kind":"constant"} }')
    assert first.program_id == second.program_id
    assert first.program_id != program_from_file(path, top="top").program_id


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"cannot read the C source .*a\.c: No such file or directory"),
        (b"", r"empty C source: .*a\.c"),
        (b" \n\n", r"empty C source: .*a\.c"),
        (b"int x;\nint \xe9;", r"C source is not UTF-8: byte 0xe9 \(.*a\.c:2\)"),
        (b"int x;\n\0", r"C source is not text: zero byte \(.*a\.c:2\)"),
        (
            b"/" * ((4 << 20) + 1),
            r"cannot read the C source .*a\.c: 4194305 bytes; accepted: a regular file of at most 4 MiB",
        ),
    ],
)
def test_program_from_file_rejects_what_is_not_c_text(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "a.c"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ProgramError, match=f"^{message}$"):
        program_from_file(path, top="top")


def test_program_from_file_accepts_exactly_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(C_TEXT + " " * ((4 << 20) - len(C_TEXT)))
    assert program_from_file(path, top="top").source_bytes == 4 << 20


def test_program_from_file_rejects_what_is_not_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.c")
    for path, kind in {
        tmp_path: "a folder",
        tmp_path / "pipe.c": "a pipe",
        Path("/dev/zero"): "a character device",
    }.items():
        message = f"cannot read the C source {path}: {kind}; accepted: a regular file of at most 4 MiB"
        with pytest.raises(ProgramError, match=f"^{message}$"):
            program_from_file(path, top="top")


@pytest.mark.parametrize("top", ["", "2mm", "a b", "f;", "f\n", "é"])
def test_program_from_file_rejects_a_top_that_is_no_c_name(tmp_path: Path, top: str) -> None:
    path = tmp_path / "a.c"
    path.write_text(C_TEXT)
    message = re.escape(f"top function is not a C name: {top!r}")
    with pytest.raises(ProgramError, match=f"^{message}$"):
        program_from_file(path, top=top)


def test_program_from_file_rejects_a_broken_specification(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(C_TEXT)
    with pytest.raises(ProgramError, match=r"inputs are not JSON: Expecting value: line 1"):
        program_from_file(path, top="top", inputs="nonsense")
