"""Rows of the PolyBench programs and of those in the manner of MachSuite."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.programs import (
    MACHSUITE_SIZES,
    POLYBENCH_DATA_TYPES,
    POLYBENCH_KERNELS,
    POLYBENCH_SIZES,
    Generation,
    ProgramError,
    SuiteOptions,
    machsuite_programs,
    polybench_program,
    polybench_programs,
    suite_programs,
)
from pipelines.schemas import ProgramRow, table_spec


def all_rows() -> list[ProgramRow]:
    polybench = polybench_programs(sizes=POLYBENCH_SIZES, data_types=POLYBENCH_DATA_TYPES)
    return polybench + machsuite_programs(sizes=MACHSUITE_SIZES)


def test_there_are_thirty_polybench_kernels_at_two_sizes_in_three_types() -> None:
    rows = polybench_programs(sizes=POLYBENCH_SIZES, data_types=POLYBENCH_DATA_TYPES)
    assert len(POLYBENCH_KERNELS) == 30
    assert len({r.program_id for r in rows}) == len(rows) == 180
    assert {r.suite for r in rows} == {"polybench"}


def test_rows_fit_the_programs_table() -> None:
    rows = all_rows()
    assert table_spec("programs").to_arrow(rows).num_rows == len({r.program_id for r in rows}) == 212


def test_program_ids_of_the_suites_are_stable(golden: Callable[[str, str], None]) -> None:
    lines = [f"{r.suite} {r.name} {r.size} {r.program_id}\n" for r in all_rows()]
    golden("programs/suite_program_ids.txt", "".join(lines))


@pytest.mark.parametrize("folder", ["polybench", "machsuite"])
def test_every_file_is_in_its_catalogue(folder: str, repository: Path) -> None:
    files = {p.stem for p in (repository / "pipelines" / "programs" / folder).glob("*.c")}
    assert files == {r.operators[0] for r in all_rows() if r.suite == folder}


def test_a_polybench_source_is_complete_but_for_headers_in_angle_brackets() -> None:
    for row in polybench_programs(sizes=["mini"], data_types=["float"]):
        included = re.findall(r"^ *# *include (.*)$", row.source, re.MULTILINE)
        assert set(included) == {"<stdio.h>", "<unistd.h>", "<string.h>", "<math.h>", "<polybench.h>"}
        assert row.source.startswith("#define MINI_DATASET\n#define DATA_TYPE_IS_FLOAT\n")
        assert f"static void {row.top}(" in row.source
        assert "#pragma scop" in row.source
        assert "int main(int argc, char **argv)" in row.source


def test_sizes_of_the_catalogue_are_those_of_the_headers() -> None:
    for kernel in POLYBENCH_KERNELS:
        source = polybench_program(kernel.name).source
        for index, size in enumerate(POLYBENCH_SIZES):
            block = re.search(rf"#ifdef {size.upper()}_DATASET\n((?:#define \w+ \d+\n)+)#endif", source)
            assert block
            found = {name: int(value) for name, value in re.findall(r"#define (\w+) (\d+)", block[1])}
            assert found == {name: values[index] for name, values in kernel.sizes.items()}


def test_size_arguments_have_their_value() -> None:
    row = polybench_program("gemm", size="small", data_type="int")
    inputs = json.loads(row.inputs)
    assert {n: inputs[n]["value"] for n in ("ni", "nj", "nk")} == {"ni": 60, "nj": 70, "nk": 80}
    assert json.loads(row.parameters) == {"NI": 60, "NJ": 70, "NK": 80}


def test_machsuite_defaults_are_the_mini_size() -> None:
    for row in machsuite_programs(sizes=["mini"]):
        defines, _, text = row.source.partition("/*")
        defaults = re.findall(r"#ifndef \w+\n(#define .*)\n#endif", text)
        assert defaults == defines.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "saxpy"}, r"unknown name: saxpy; accepted: 2mm, 3mm, adi, .*, trmm"),
        ({"name": "gemm", "size": "huge"}, "unknown size: huge; accepted: mini, small"),
        ({"name": "gemm", "data_type": "half"}, "unknown data type: half; accepted: int, float, double"),
    ],
)
def test_polybench_program_rejects_what_is_not_there(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ProgramError, match=f"^{message}$"):
        polybench_program(**arguments)


def test_machsuite_programs_rejects_an_unknown_size() -> None:
    message = "unknown size: huge; accepted: mini, small"
    with pytest.raises(ProgramError, match=f"^{message}$"):
        machsuite_programs(sizes=["huge"])


def test_machsuite_is_a_suite_at_the_sizes_that_it_has() -> None:
    def sizes(*asked: str) -> set[str]:
        generation = Generation(count=0)
        options = SuiteOptions(sizes=("small",), ast=generation, dataflow=generation, polybench_sizes=asked)
        rows = suite_programs("machsuite", options)
        assert len({row.name for row in rows}) == 16
        assert all(row.status == "ok" and row.stage == "kernel" for row in rows)
        return {row.size for row in rows}

    assert sizes("mini", "small", "large") == {"mini", "small"}
    assert sizes("large") == {"mini"}
