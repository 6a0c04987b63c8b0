"""The declaration language of tables: what derives from a declaration, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest

from pipelines.schemas import SchemaError, TableSpec, table_spec
from pipelines.schemas.columns import column, table


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reading of a meter."""

    meter: str = column("Meter.", key=True)
    hour: int = column("Hour of the day.", unit="h", key=True)
    power_mw: float | None = column("Mean power.", unit="mW")
    quality: str = column("How sure.", choices=("good", "poor"))
    tags: tuple[str, ...] = column("Free words.")
    read_wall_s: float | None = column("Time to read.", unit="s", measured=True)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> TableSpec:
    monkeypatch.setattr(TableSpec, "registry", dict(TableSpec.registry))
    table("readings", stage="labels", checked_by={})(Reading)
    return table_spec("readings")


SIMULATOR_MEASURES = ("program_bytes", "state_bytes", "build_cpu_s", "cycle_cpu_ns", "machine")
ROW = Reading(meter="a", hour=1, power_mw=2.5, quality="good", tags=("x", "y"), read_wall_s=0.25)


def test_schema_carries_type_unit_and_description(readings: TableSpec) -> None:
    field = readings.schema().field("power_mw")
    assert field.type == pa.float64()
    assert field.nullable
    assert field.metadata == {b"unit": b"mW", b"description": b"Mean power."}
    assert readings.schema().field("tags").type == pa.list_(pa.string())
    assert not readings.schema().field("hour").nullable


def test_measured_columns_stand_apart_with_the_key(readings: TableSpec) -> None:
    assert readings.schema().names == ["meter", "hour", "power_mw", "quality", "tags"]
    assert readings.schema(measured=True).names == ["meter", "hour", "read_wall_s"]
    assert readings.has_measured
    assert not table_spec("programs").has_measured


def test_description_is_the_first_line_of_the_docstring(readings: TableSpec) -> None:
    assert readings.description == "One reading of a meter."


def test_rows_come_back_as_they_were_but_for_measures(readings: TableSpec) -> None:
    rows = [ROW, replace(ROW, hour=2, power_mw=None, tags=())]
    back = readings.from_arrow(readings.to_arrow(rows))
    assert back == [replace(row, read_wall_s=None) for row in rows]


def test_order_of_rows_does_not_matter(readings: TableSpec) -> None:
    rows = [replace(ROW, meter=m, hour=h) for m in "ba" for h in (3, 10, 2)]
    table_ = readings.to_arrow(rows)
    assert table_ == readings.to_arrow(rows[::-1])
    assert table_.column("meter").to_pylist() == list("aaabbb")
    assert table_.column("hour").to_pylist() == [2, 3, 10, 2, 3, 10]


def test_an_empty_table_still_has_its_schema(readings: TableSpec) -> None:
    assert readings.to_arrow([]).schema == readings.schema()
    assert readings.violations(readings.to_arrow([])) == []


def test_to_arrow_rejects_a_missing_value(readings: TableSpec) -> None:
    broken = replace(ROW, quality=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SchemaError, match=r"^readings\.quality has no value$"):
        readings.to_arrow([broken])


def test_to_arrow_rejects_a_word_outside_the_vocabulary(readings: TableSpec) -> None:
    message = r"^unknown readings\.quality: 'fine'; accepted: good, poor$"
    with pytest.raises(SchemaError, match=message):
        readings.to_arrow([replace(ROW, quality="fine")])


def _changed(content: pa.Table, name: str, values: list[object], type_: pa.DataType) -> pa.Table:
    index = content.column_names.index(name)
    return content.set_column(index, name, pa.array(values, type=type_))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_to_arrow_rejects_numbers_that_are_not_finite(number: float, readings: TableSpec) -> None:
    accepted = "accepted: finite numbers, and null where there is none"
    for column_name, measured in (("power_mw", False), ("read_wall_s", True)):
        message = rf"^readings\.{column_name} is {number} in meter='a', hour=1; {accepted}$"
        with pytest.raises(SchemaError, match=message):
            readings.to_arrow([replace(ROW, **{column_name: number})], measured=measured)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_violations_names_columns_that_are_not_finite(number: float, readings: TableSpec) -> None:
    good = readings.to_arrow([ROW, replace(ROW, hour=2, power_mw=None)])
    table = good.set_column(2, good.schema.field(2), pa.array([number, None]))
    accepted = "accepted: finite numbers, and null where there is none"
    assert readings.violations(table) == [
        f"column power_mw has 1 values that are NaN or infinite; {accepted}"
    ]


def test_violations_of_a_good_table_are_none(readings: TableSpec) -> None:
    assert readings.violations(readings.to_arrow([ROW, replace(ROW, hour=2)])) == []


def test_violations_names_a_wrong_type_a_missing_and_an_alien_column(readings: TableSpec) -> None:
    good = readings.to_arrow([ROW])
    broken = _changed(good, "hour", ["1"], pa.string())
    broken = broken.drop_columns(["quality"]).append_column("colour", pa.array(["red"]))
    assert readings.violations(broken) == [
        "column quality is missing",
        "column hour is string; accepted: int64",
        "column colour is not declared",
    ]


def test_violations_names_nulls_alien_words_and_repeated_keys(readings: TableSpec) -> None:
    good = readings.to_arrow([ROW, replace(ROW, hour=2)])
    broken = _changed(good, "quality", [None, "fine"], pa.string())
    broken = _changed(broken, "hour", [1, 1], pa.int64())
    assert readings.violations(broken) == [
        "column quality has 1 nulls; accepted: none",
        "unknown values in column quality: fine; accepted: good, poor",
        "key ('meter', 'hour') is repeated 1 times",
    ]


def test_table_spec_rejects_an_unknown_name() -> None:
    with pytest.raises(
        SchemaError, match=r"unknown table: progams; nearest: programs, program_facts, promotions"
    ):
        table_spec("progams")


SUFFIX_UNITS = {"cycles": "cycles", "ns": "ns", "um2": "um2", "mw": "mW", "nj": "nJ", "s": "s"}


@pytest.mark.parametrize("spec", TableSpec.registry.values(), ids=lambda spec: spec.name)
def test_declared_tables_keep_the_naming_rules(spec: TableSpec) -> None:
    assert spec.key, "a table has a key"
    names = [c.name for c in spec.columns]
    assert ("reason" in names) >= ("status" in names), "a status has a reason beside it"
    for c in spec.columns:
        assert c.description.endswith("."), f"{c.name}: a description is a sentence"
        is_measured = f"_{c.name}".endswith("_wall_s") or c.name in SIMULATOR_MEASURES
        assert c.measured == is_measured, f"{c.name}: wall clock and compiled programs are measured"
        assert not (c.measured and not c.nullable), f"{c.name}: a measure may be absent"
        suffix = c.name.rsplit("_", 1)[-1]
        if c.name.endswith("_per_s"):
            assert c.unit == "1/s", f"{c.name}: unit and suffix differ"
        elif suffix in SUFFIX_UNITS:
            assert c.unit == SUFFIX_UNITS[suffix], f"{c.name}: unit and suffix differ"


NAMESAKES = [
    ("network_flows", "source"),
    ("network_flows", "flow"),
    ("fabric_edges", "source"),
    ("fabric_edges", "target"),
    ("fabric_nodes", "stage"),
    ("placements", "interval_cycles"),
]
"""Names that mean something else elsewhere: a host, an operation and a program's text; a number and a tool
flow; a pipeline stage and a stage of the run; a mean over samples and an initiation interval."""


def test_one_quantity_has_one_type_and_unit_everywhere() -> None:
    seen: dict[str, tuple[str, str | None]] = {}
    for spec in TableSpec.registry.values():
        for c in spec.columns:
            shape = (str(c.arrow_type), c.unit)
            if (spec.name, c.name) in NAMESAKES:
                continue
            assert seen.setdefault(c.name, shape) == shape, f"{spec.name}.{c.name}"


def test_repeats_are_counted_in_a_table_of_any_order(readings: TableSpec) -> None:
    rows = [replace(ROW, meter=m, hour=h) for m in "ab" for h in (1, 2, 3)]
    sorted_ = readings.to_arrow(rows)
    turned = sorted_.take([5, 0, 3, 1, 2, 4])
    twice = sorted_.take([0, 1, 1, 2, 3, 4, 5])
    apart = sorted_.take([0, 1, 2, 3, 1])
    assert [readings.is_sorted(t) for t in (sorted_, turned, twice, apart)] == [True, False, False, False]
    assert [readings.repeat_count(t) for t in (sorted_, turned, twice, apart)] == [0, 0, 1, 1]


def test_a_key_without_value_is_no_order(readings: TableSpec) -> None:
    content = readings.to_arrow([ROW, replace(ROW, hour=2), replace(ROW, hour=3)])
    broken = _changed(content, "hour", [1, None, None], pa.int64())
    assert not readings.is_sorted(broken)
    assert readings.repeat_count(broken) == 1
