"""Trip counts that data fix: counted, read at every level but text; loops that stay unknown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from assets.errors import FoundryError
from models.query import Query
from models.scheduled import know_query
from models.tenset_mlp.features import facts_of, features_of
from models.trips import known_trips, source_loop, with_trips
from pipelines.c import read_interface
from pipelines.cyclemodel import count_cycles_of
from pipelines.hls import HlsOptions, compile_program
from pipelines.programs import load_data
from simfoundry.commands.predict import _open_ended, engine_answer, question_of, unknown_loops
from simfoundry.commands.predict_text import prediction_text

SEARCH = """/* Cycles depend on the data. */
int search(const int a[64], int key) {
    int i = 0;
    while (i < 64 && a[i] != key) i++;
    return i;
}
"""
ENGINE = {"liberty": "osu018", "engine_options": "{}"}
DATA = {"a": list(range(64)), "key": 37}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "search.c"
    path.write_text(SEARCH)
    return path


def _asked(program: Path, data: dict[str, object] | None) -> Query:
    values = program.with_suffix(".json")
    values.write_text(json.dumps(data))
    place = None if data is None else values
    return question_of(file=program, top=None, directives=None, memory_delay=2, clock=10.0, data=place)


def test_a_loop_without_data_is_named_with_its_line(program: Path) -> None:
    query = _asked(program, None)
    assert query.trips == ""
    known = know_query(query, ENGINE, "hls")
    assert unknown_loops(query, known) == [{"loop": "L0", "line": 4}]
    assert known.trips == "unknown"


def test_the_estimate_with_data_is_that_of_a_run(program: Path, tmp_path: Path) -> None:
    query = _asked(program, DATA)
    assert json.loads(query.trips) == {"L0": 37}
    known = know_query(query, ENGINE, "hls")
    assert unknown_loops(query, known) == []
    compiled = compile_program(SEARCH, top="search", options=HlsOptions())
    values = load_data(DATA, read_interface(SEARCH, "search"))
    [run] = count_cycles_of(compiled, [values], folder=tmp_path)
    assert run.latency_cycles is not None
    assert known.knowledge.features.estimated_cycles == pytest.approx(run.latency_cycles, rel=0.1)


ENDLESS = """unsigned f(unsigned m) {
    unsigned n = 0;
    for (unsigned i = 0; i != m; i += 2)
        n ^= i;
    return n;
}
"""


@pytest.mark.parametrize("is_data", [True, False], ids=["data", "range"])
def test_a_run_without_end_is_no_count(tmp_path: Path, is_data: bool) -> None:
    path = tmp_path / "f.c"
    path.write_text(ENDLESS if is_data else f"#pragma simfoundry range m=1000000007:1000000008\n{ENDLESS}")
    query = _asked(path, {"m": 1000000007} if is_data else None)
    line = 3 if is_data else 4
    answer = engine_answer(query)
    assert answer["unknown_loops"] == [{"loop": "L0", "line": line}]
    assert answer["not_ended"] == {
        "loop": "L0",
        "line": line,
        "trip_count": None,
        "cycle_limit": 50_000_000,
    }
    known = know_query(query, ENGINE, "hls")
    assert (known.trips, known.knowledge.features.trips_known) == ("unknown", False)
    columns = ("latency_cycles_low", "latency_cycles", "latency_cycles_high")
    limited = _open_ended(answer | dict(zip(columns, (3.0, 4e7, 6e7), strict=True)), is_plain=True)
    assert [limited[name] for name in columns] == [5e7, 5e7, None]
    text = prediction_text(answer)
    assert f"did not end within 50,000,000 cycles: it was in loop L0 (line {line})" in text
    assert "assumed at 8" not in text


def test_a_constant_trip_count_above_the_limit_is_known(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "int f(int a[4]) { int s = 0; for (long i = 0; i < 1000000000000L; i++) s += a[i & 3]; return s; }"
    )
    answer = engine_answer(_asked(path, None))
    assert answer["unknown_loops"] == []
    late = {"loop": "L0", "line": 1, "trip_count": 10**12, "cycle_limit": 50_000_000}
    assert answer["not_ended"] == late
    columns = ("latency_cycles_low", "latency_cycles", "latency_cycles_high")
    values = dict(zip(columns, (3.0, 4e7, 6e7), strict=True))
    plain, directed = (_open_ended(answer | values, is_plain=is_plain) for is_plain in (True, False))
    assert [plain[name] for name in columns] == [1e12, 1e12, None]
    assert [directed[name] for name in columns] == [5e7, 5e7, None]
    text = prediction_text(plain)
    assert "1,000,000,000,000 or more " in text
    assert (
        "in loop L0 (line 1), whose trip count is 1,000,000,000,000; the cycles above are the least" in text
    )


def test_a_run_level_refuses_a_run_without_end(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(ENDLESS)
    reason = r"the run did not end within 50,000,000 cycles; it was in loop L0 \(line 3\)$"
    with pytest.raises(ValueError, match=reason):
        know_query(_asked(path, {"m": 1000000007}), ENGINE, "run")


def test_a_run_is_on_the_values_of_the_data(program: Path, tmp_path: Path) -> None:
    """The key stands in the last place of the array, where drawn data do not have it."""
    data: dict[str, object] = {"a": [*range(1000, 1063), 5], "key": 5}
    known = know_query(_asked(program, data), ENGINE, "run")
    compiled = compile_program(SEARCH, top="search", options=HlsOptions())
    values = load_data(data, read_interface(SEARCH, "search"))
    [run] = count_cycles_of(compiled, [values], folder=tmp_path)
    assert known.run is not None
    assert known.run.cycles == run.latency_cycles
    drawn = know_query(_asked(program, None), ENGINE, "run")
    assert drawn.run is not None
    assert drawn.run.cycles != run.latency_cycles


def test_values_of_floats_reach_a_run_with_all_digits(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "int f(double x, const float a[2]) { int n = 0; while (x > a[0]) { x -= a[1]; n++; } return n; }"
    )
    query = _asked(path, {"x": 1.00049, "a": [1.0, 0.0001]})
    known = know_query(query, ENGINE, "run")
    rounded = know_query(_asked(path, {"x": 1.0, "a": [1.0, 0.0001]}), ENGINE, "run")
    assert known.run is not None
    assert rounded.run is not None
    assert (known.run.cycles or 0) > (rounded.run.cycles or 0)


def test_a_loop_that_ends_names_no_limit(program: Path) -> None:
    assert "not_ended" not in engine_answer(_asked(program, DATA))


def test_ranges_of_the_source_give_trips(program: Path) -> None:
    program.write_text(f"#pragma simfoundry range a=0:4 key=0:4\n{SEARCH}")
    assert 1 <= known_trips(_asked(program, None))["L0"] < 16


def test_entries_take_turns_around_a_mean(tmp_path: Path) -> None:
    """A mean of 2.5 over eight entries is twenty iterations, whatever one entry has."""
    source = """void f(const unsigned a[8], unsigned b[8]) {
        for (int i = 0; i < 8; i++) { unsigned n = 0; for (unsigned x = a[i]; x; x >>= 1) n++; b[i] = n; }
    }
    """
    query = Query(
        source=source,
        top="f",
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
        trips='{"L1": 2.5}',
    )
    loops = know_query(query, ENGINE, "hls").knowledge.loops
    [inner] = [loop for loop in loops if loop.loop == "L1"]
    assert (inner.entries, inner.iterations, inner.bounds) == (8, 20, "varying")


def test_features_of_the_front_end_read_trips() -> None:
    facts = facts_of(SEARCH, "search")
    query = Query(
        source=SEARCH,
        top="search",
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
        trips='{"L0": 37}',
    )
    known = replace(facts, loops=with_trips(facts.loops, query))
    assert features_of(facts, query)["unknown_bound_count"] == 1
    assert features_of(known, query)["unknown_bound_count"] == 0


def test_copies_of_loops_are_those_of_the_source() -> None:
    assert source_loop("L1_e", ["L1", "L10"]) == "L1"
    assert source_loop("L10", ["L1", "L10"]) == "L10"
    assert source_loop("x", ["L1"]) is None


def test_trips_reject_what_is_no_object() -> None:
    query = Query(
        source="",
        top="",
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
        trips="[1]",
    )
    with pytest.raises(ValueError, match=r"^trips must be a JSON object of numbers, got '\[1\]'$"):
        known_trips(query)


def test_data_outside_an_array_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "int f(int n, const int a[64]) {\n int s = 0;\n for (int i = 0; i < n; i++) s += a[i];\n return s; }"
    )
    assert _asked(path, {"n": 64, "a": list(range(64))}).trips
    message = (
        rf"^the data of {re.escape(str(tmp_path))}/f\.json do not suit the program: "
        r"C must have defined behaviour, got index out of bounds reading a \(f\.c:3\), in `.*`; keep .*$"
    )
    with pytest.raises(FoundryError, match=message):
        _asked(path, {"n": 65, "a": list(range(64))})
