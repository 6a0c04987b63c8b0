"""Profiled loop ranges: from rows of runs, from a run of a question, and a network trained on them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from labelled_nests import NESTS, QUICK

from models.base import PredictorError
from models.labelled import Selection, load_labelled_designs
from models.query import ALL_TARGETS, Query
from models.tenset_mlp import PROFILED
from models.tenset_mlp.features import facts_of
from models.tenset_mlp.profile import copies_of, profiled_facts, profiled_loops, with_profiles
from pipelines.schemas import LoopRunRow, table_spec, write_table

ENGINE = {"liberty": "osu018", "engine_options": "{}"}
TRIANGLE = """void top(int A[16]) {
  for (int i = 0; i < 11; i++) for (int j = 0; j < i; j++) A[j] += i; }
"""
QUERY = Query(
    source=TRIANGLE,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
)
OUTER, INNER = NESTS[-1].loops()[:2]


def test_only_unknown_trips_are_replaced_and_copies_count_together() -> None:
    loops = [OUTER, replace(INNER, trip_count=None)]
    counted = [("L0", 99, 1), ("L1", 10, 4), ("L1_u1", 6, 4), ("L1_epilogue", 8, 8)]
    outer, inner = profiled_loops(loops, counted, {"L1": 2})
    assert outer == OUTER
    assert inner.trip_count == (2 * 10 + 2 * 6 + 8) // 8


def test_copies_are_those_of_unrolling() -> None:
    directives = '[{"kind": "unroll", "loop": "L0", "value": 3}, {"kind": "parallel", "loop": "L1"}]'
    assert copies_of(directives, [OUTER, INNER]) == {"L0": 3, "L1": INNER.trip_count}


def test_a_question_has_the_trips_of_its_run() -> None:
    facts = facts_of(TRIANGLE, "top")
    assert [loop.trip_count for loop in facts.loops] == [11, None]
    assert [loop.trip_count for loop in profiled_facts(facts, QUERY, ENGINE).loops] == [11, 5]


@pytest.mark.slow
def test_designs_have_the_median_over_their_runs(compiled_data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(compiled_data_dir / "tables", folder / "tables")
    designs = load_labelled_designs(folder, Selection())
    last = next(d for d in designs if d.query.directives == "[]" and len(d.loops) > 1)
    unknown = replace(last, loops=(last.loops[0], replace(last.loops[1], trip_count=None), *last.loops[2:]))
    row = LoopRunRow(
        design_id=last.design_id,
        data_id="data",
        loop="L1",
        suite="tests",
        iterations=14,
        entries=2,
        branches=0,
        branches_taken=0,
    )
    write_table(folder, table_spec("loop_runs"), [row], "tests")
    (profiled,) = with_profiles(folder, [unknown])
    assert profiled.loops[1].trip_count == 7
    assert with_profiles(folder, [last]) == [last]
    outcome = PROFILED.train(folder, QUICK, seed=1)
    assert {row.level for row in outcome.leaderboard} == {"run"}
    assert {row.target for row in outcome.leaderboard} == set(ALL_TARGETS)
    with pytest.raises(PredictorError, match=r"^row 1: "):
        PROFILED.load(outcome.folder).predict([QUERY, replace(QUERY, source="void f(")])
