"""Databases of Merlin and Vitis results: every attempt a row, its outcome kept; kernels, loops and places."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from measured_children import read_in_child

from pipelines.dataset.vendor import VendorError, merge_rows, read_merlin
from pipelines.schemas import VendorDesignRow, table_spec

ROW = {
    "suite": "poly",
    "kernel": "gemm",
    "tool": "vitis-2021.1",
    "stage": "hls",
    "status": "ok",
    "fits": True,
    "directives": '{"__TILE__L0": 4, "__PIPE__L1": "flatten"}',
    "latency_cycles": 1000.0,
    "dsp_count": 5.0,
    "bram_count": 0.0,
    "lut_count": 10.0,
    "ff_count": 20.0,
    "dsp_utilization": 0.25,
}
LOOP = {"parent": None, "iterator": "i", "lower": "0", "cmp": "<", "upper": "64", "step": "i++"}
KERNELS = {
    "poly/gemm": {
        "arrays": {},
        "loops": [
            LOOP | {"tile": "__TILE__L0"},
            LOOP | {"parent": 0, "iterator": "j", "pipeline": "__PIPE__L1", "parallel": "__PARA__L1"},
        ],
    }
}


def database(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "some_designs.parquet"
    pq.write_table(pa.Table.from_pylist([dict(ROW) | row for row in rows]), path)
    return path


def kernels(folder: Path, content: Any) -> Path:
    path = folder / "some_kernels.json"
    path.write_text(json.dumps(content))
    return path


def test_every_attempt_is_a_row_with_its_outcome(tmp_path: Path) -> None:
    words = ("ok", "timeout", "early_reject", "analysis_error", "unavailable", "duplicate")
    none = {"latency_cycles": None, "dsp_count": float("nan")}
    rows = [
        {"status": word, "directives": json.dumps({"x": n}), **({} if word == "ok" else none)}
        for n, word in enumerate(words)
    ]
    found = read_merlin(database(tmp_path, *rows)).designs
    assert [row.vendor_status for row in found] == list(words)
    assert [row.status for row in found] == [
        "ok",
        "timeout",
        "rejected",
        "tool_error",
        "tool_error",
        "rejected",
    ]
    assert found[0].latency_cycles == 1000
    assert all(row.latency_cycles is None and row.reason for row in found[1:])
    assert found[1].reason == "hls: the tool ran past its time limit"


def test_numbers_names_and_directives_of_a_row(tmp_path: Path) -> None:
    (row,) = read_merlin(database(tmp_path, {})).designs
    assert (row.kernel, row.tool, row.tool_version, row.suite) == ("gemm", "vitis-2021.1", "2021.1", "poly")
    assert row.directives == '{"__PIPE__L1":"flatten","__TILE__L0":4}'
    assert (row.dsp_count, row.bram_count, row.lut_count, row.ff_count) == (5, 0, 10, 20)
    assert (row.fits, row.dsp_utilization, row.lut_utilization) == (True, 0.25, None)
    assert row.directives_by_loop is None


def test_an_attempt_that_the_transformation_ended_is_a_row_beside_that_of_hls(tmp_path: Path) -> None:
    path = database(tmp_path, {}, {"stage": "transform", "status": "early_reject", "latency_cycles": None})
    designs = read_merlin(path).designs
    assert [row.tool for row in designs] == ["vitis-2021.1", "merlin-vitis-2021.1"]
    assert {row.toolchain for row in designs} == {"vitis-2021.1"}
    spec = table_spec("vendor_designs")
    assert spec.violations(spec.to_arrow(designs)) == []


def test_kernels_give_loops_and_the_places_of_directives(tmp_path: Path) -> None:
    found = read_merlin(database(tmp_path, {}), kernels=kernels(tmp_path, KERNELS))
    (row,) = found.designs
    assert json.loads(row.directives_by_loop or "") == [
        {"kind": "tile", "loop_index": 0, "value": 4},
        {"kind": "pipeline", "loop_index": 1, "value": "flatten"},
    ]
    outer, inner = found.loops
    assert (outer.kernel, outer.loop, outer.depth, outer.tile_directive) == ("gemm", "i", 1, "__TILE__L0")
    assert (inner.parent_index, inner.depth, inner.parallel_directive) == (0, 2, "__PARA__L1")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("loop", "trips"),
    [
        ({}, 64),
        ({"upper": "128 + 1"}, 129),
        ({"lower": "((unsigned char )1)", "cmp": "<=", "upper": "13", "step": "++i"}, 13),
        ({"upper": "15", "cmp": "<=", "step": "i += 4"}, 4),
        ({"lower": "60 - 2", "cmp": ">=", "upper": "1", "step": "i--"}, 58),
        ({"upper": "2 * 8", "step": "i = i + 2"}, 8),
        ({"upper": "n"}, None),
        ({"lower": "j + 1"}, None),
        ({"step": "i *= 2"}, None),
        ({"cmp": "!="}, None),
        ({"step": "i--"}, None),
        ({"upper": "__import__('os')"}, None),
        ({"lower": "9", "upper": "3"}, 0),
        ({"upper": str(2**63 - 1)}, 2**63 - 1),
        ({"upper": "9223372036854775807 * 9223372036854775807"}, None),
        ({"step": f"i += {'9' * 5000}"}, None),
    ],
)
def test_trip_counts_of_loops_with_constant_bounds(
    tmp_path: Path, loop: dict[str, str], trips: int | None
) -> None:
    content = {"a/k": {"loops": [LOOP | loop]}}
    (row,) = read_merlin(database(tmp_path, {}), kernels=kernels(tmp_path, content)).loops
    assert (row.trip_count_min, row.trip_count_max) == (trips, trips)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"status": "fine"}, r"status must be one of ok, duplicate, .*, got 'fine' \(.*parquet, row 0\)"),
        ({"stage": "cosim"}, r"stage must be one of transform, hls, got 'cosim' \("),
        (
            {"directives": "[1]"},
            r"directives must be a JSON object of texts and whole numbers, got '\[1\]' \(",
        ),
        ({"directives": '{"a": 1.5}'}, r"directives must be a JSON object"),
        ({"directives": "{"}, r"directives must be a JSON object"),
        ({"kernel": None}, r"column kernel must be text, got null|kernel must have a value"),
        ({"latency_cycles": 1.5}, r"latency_cycles must be a whole number of at least 0, got 1.5 \("),
        ({"lut_count": float("inf")}, r"lut_count must be a whole number of at least 0, got inf \("),
        ({"ff_count": -1.0}, r"ff_count must be a whole number of at least 0, got -1.0 \("),
        ({"dsp_utilization": -0.5}, r"dsp_utilization must be a number of at least 0, got -0.5 \("),
        ({"bram_count": "many"}, r"column bram_count must be a number, got string \("),
    ],
)
def test_a_database_rejects_rows_that_break_the_format(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(VendorError, match=message):
        read_merlin(database(tmp_path, row))


def test_a_database_rejects_files_that_are_not_one(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 no")
    with pytest.raises(VendorError, match=r"^a database has damaged content \(.*x\.parquet\)$"):
        read_merlin(path)
    pq.write_table(pa.table({"kernel": ["a"]}), path)
    with pytest.raises(VendorError, match=r"^a database must have the column suite, got kernel \("):
        read_merlin(path)
    absent = tmp_path / "absent.parquet"
    with pytest.raises(VendorError, match=f"^cannot read the database {absent}: No such file or directory$"):
        read_merlin(absent)


def test_a_database_and_its_kernels_are_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    right = database(tmp_path, {})
    for path, kind in {Path("/dev/zero"): "a character device", tmp_path / "pipe": "a pipe"}.items():
        accepted = "accepted: a regular file of at most"
        with pytest.raises(
            VendorError, match=f"^cannot read the database {path}: {kind}; {accepted} 256 MiB$"
        ):
            read_merlin(path)
        with pytest.raises(VendorError, match=f"^cannot read the kernels {path}: {kind}; {accepted} 64 MiB$"):
            read_merlin(right, kernels=path)


def test_a_text_that_stands_in_every_row_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000), [" " * (1 << 20)])
    columns = {name: [value] * 20_000 for name, value in ROW.items()} | {"directives": texts}
    pq.write_table(pa.table(columns), path, store_schema=False)
    assert path.stat().st_size < 1 << 20
    said, peak_bytes = read_in_child("pipelines.dataset.vendor", "read_merlin", path)
    assert said == f"VendorError: a database has more than 128 MiB of text in all rows ({path})"
    assert peak_bytes < 1 << 30


def test_a_database_rejects_rows_and_pages_beyond_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = database(tmp_path, {}, {}, {})
    monkeypatch.setattr("pipelines.dataset.vendor.merlin.ROW_LIMIT", 2)
    with pytest.raises(VendorError, match=rf"^a database has 3 rows; accepted: at most 2 \({path}\)$"):
        read_merlin(path)


def test_kernels_reject_more_loops_than_any_program_has(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text("{" + '"a":{"loops":[' + "{}," * 100_000 + "{}]}}")
    message = rf"^kernels must have at most 100000 JSON objects of 20 fields, got more \({path}\)$"
    with pytest.raises(VendorError, match=message):
        read_merlin(database(tmp_path, {}), kernels=path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], r"kernels must be JSON objects with loops, got at the file: "),
        ({"a/k": {}}, r"kernels must be JSON objects with loops, got at a/k\.loops: Field required"),
        (
            {"a/k": {"loops": [{**LOOP, "parent": 0}]}},
            r"the parent of loop 0 of a/k must be an earlier loop, got 0",
        ),
    ],
)
def test_kernels_reject_other_forms(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(VendorError, match=message):
        read_merlin(database(tmp_path, {}), kernels=kernels(tmp_path, content))


def test_a_second_import_replaces_rows_of_the_same_key(tmp_path: Path) -> None:
    spec = table_spec("vendor_designs")
    first = read_merlin(database(tmp_path, {}, {"directives": "{}"})).designs
    second = read_merlin(database(tmp_path, {"latency_cycles": 7.0})).designs
    merged, replaced = merge_rows(spec, first, second)
    assert (len(merged), replaced) == (2, 1)
    assert {row.latency_cycles for row in merged} == {7, 1000}
    assert merge_rows(spec, merged, second) == (merged, 0)
    with pytest.raises(
        VendorError, match=r"^one import must have one row of vendor_designs a key, got two that differ"
    ):
        merge_rows(spec, [], [*first, *second])


@pytest.mark.slow
def test_the_public_database_keeps_every_attempt(shared_folder: Path) -> None:
    path = shared_folder / "data" / "merlin_vitis_designs.parquet"
    if not path.is_file():
        pytest.skip("needs ../shared/data/merlin_vitis_designs.parquet, which is not there")
    given = pq.read_table(path)
    found = read_merlin(path, kernels=path.with_name("merlin_vitis_kernels.json"))
    assert len(found.designs) == given.num_rows
    words = Counter(given.column("status").to_pylist())
    assert Counter(row.vendor_status for row in found.designs) == words
    known = sum(v is not None and v == v for v in given.column("latency_cycles").to_pylist())
    assert sum(row.latency_cycles is not None for row in found.designs) == known
    spec = table_spec("vendor_designs")
    assert spec.violations(spec.to_arrow(found.designs)) == []
    unplaced = {row.kernel for row in found.designs if not _all_placed(row)}
    assert unplaced == {"aes", "stencil-3d"}  # whose kernels lack some places


def _all_placed(row: VendorDesignRow) -> bool:
    return len(json.loads(row.directives_by_loop or "[]")) == len(json.loads(row.directives))
