"""Tables on disk: the same rows give the same bytes, whole or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.schemas import (
    LoopRow,
    RunRow,
    SchemaError,
    read_arrow,
    read_table,
    table_path,
    table_spec,
    write_arrow,
    write_bytes_atomically,
    write_table,
)

RUNS = table_spec("runs")
RUN = RunRow(
    design_id="d0",
    data_id="i0",
    suite="linear_algebra",
    engine="cycle_model",
    engine_version="12.2.0+0",
    seed=1,
    data_kind="drawn",
    status="ok",
    reason=None,
    latency_cycles=100,
    outputs_equal=True,
    bytes_read=64,
    bytes_written=8,
    audited=True,
    audit_engine="verilator",
    audit_engine_version="5.006",
    audit_latency_cycles=100,
    power_status="ok",
    power_reason=None,
    power_engine="netlist-simulator",
    power_engine_version="1",
    glitches=True,
    power_mw=2.0,
    energy_nj=2.0,
    internal_power_mw=1.5,
    switching_power_mw=0.4,
    leakage_power_mw=0.1,
    toggle_count=1000,
    timed_cycles=100,
    build_wall_s=1.5,
    simulate_wall_s=0.1,
    native_wall_s=0.3,
    audit_build_wall_s=1.1,
    audit_simulate_wall_s=0.2,
    power_wall_s=0.1,
)


def test_table_has_the_same_bytes_whatever_the_clock_and_the_order(tmp_path: Path) -> None:
    rows = [replace(RUN, design_id=f"d{i}") for i in range(5)]
    slower = [replace(row, build_wall_s=9.0, native_wall_s=None) for row in reversed(rows)]
    first = write_table(tmp_path / "one", RUNS, rows, "linear_algebra")
    second = write_table(tmp_path / "two", RUNS, slower, "linear_algebra")
    assert first.read_bytes() == second.read_bytes()
    measures = [
        read_arrow(table_path(tmp_path / d, RUNS, "linear_algebra", measured=True)) for d in ("one", "two")
    ]
    assert measures[0].column("build_wall_s").to_pylist() == [1.5] * 5
    assert measures[1].column("build_wall_s").to_pylist() == [9.0] * 5


def test_partitions_are_read_in_name_order_or_as_named(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_table(tmp_path, RUNS, [replace(RUN, suite=name)], name)
    assert [r.suite for r in read_table(tmp_path, RUNS)] == ["a", "b"]
    assert [r.suite for r in read_table(tmp_path, RUNS, ["b"])] == ["b"]
    assert read_table(tmp_path, table_spec("loops")) == []


def test_read_table_rejects_a_damaged_file(tmp_path: Path) -> None:
    path = write_table(tmp_path, RUNS, [RUN], "p")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SchemaError) as error:
        read_table(tmp_path, RUNS)
    assert str(error.value).startswith(f"{path} is damaged (")
    assert str(error.value).endswith("delete it and run again: it is rebuilt from the cache")


def test_read_table_rejects_a_file_of_another_table(tmp_path: Path) -> None:
    path = table_path(tmp_path, RUNS, "p")
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table({"design_id": ["d0"]}), path)
    with pytest.raises(SchemaError, match="does not fit table runs: column data_id is "):
        read_table(tmp_path, RUNS)


def test_write_table_rejects_a_bad_row_and_keeps_the_old_file(tmp_path: Path) -> None:
    path = write_table(tmp_path, RUNS, [RUN], "p")
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=r"unknown runs\.status: 'fine'; accepted: ok, "):
        write_table(tmp_path, RUNS, [replace(RUN, status="fine")], "p")
    assert path.read_bytes() == before


def test_read_arrow_of_no_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_arrow(tmp_path / "absent.parquet")


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    write_bytes_atomically(path, b"old")

    def no_space(self: Path, target: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(OSError, match="No space left on device"):
        write_bytes_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_rows_with_every_kind_of_value_survive_the_disk(tmp_path: Path) -> None:
    loop = LoopRow(
        program_id="p",
        loop_index=0,
        suite="s",
        loop="L1",
        parent_index=None,
        depth=1,
        kind="for",
        iterator="i",
        trip_count=8,
        step=1,
        line=3,
        is_innermost=True,
        load_count=2,
        store_count=1,
        arithmetic_count=2,
        branch_count=0,
        array_count=3,
    )
    spec = table_spec("loops")
    write_table(tmp_path, spec, [loop, replace(loop, loop_index=1, trip_count=None)], "s")
    assert read_table(tmp_path, spec) == [loop, replace(loop, loop_index=1, trip_count=None)]


def test_write_arrow_rejects_wall_clock_columns_that_are_not_finite(tmp_path: Path) -> None:
    good = RUNS.to_arrow([RUN], measured=True)
    at = good.column_names.index("build_wall_s")
    bad = good.set_column(at, good.schema.field(at), pa.array([float("nan")]))
    message = (
        "^columns do not fit table runs: column build_wall_s has 1 values that are NaN or infinite; accepted"
    )
    with pytest.raises(SchemaError, match=message):
        write_arrow(tmp_path, RUNS, bad, "linear_algebra", measured=True)
    assert not table_path(tmp_path, RUNS, "linear_algebra", measured=True).exists()
