"""Written programs on which intervals are measured: whole sets, and shares inside that mean what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tests.benchmarks.written_programs as written
from tests.benchmarks.written_programs import SETS, designs, inside_text, judge, questions

FOLDERS = {name: Path(written.__file__).parent / name for name in SETS}


@pytest.mark.parametrize("name", SETS)
def test_set_has_two_designs_of_each_program(name: str) -> None:
    listed = [(file.stem, number) for file, number, _ in designs(FOLDERS[name])]

    stems = sorted(file.stem for file in FOLDERS[name].glob("*.c"))
    assert listed == [(stem, number) for stem in stems for number in (0, 1)]
    assert sorted(json.loads((FOLDERS[name] / "designs.json").read_text())) == stems


def test_blind_set_is_large_and_apart_from_the_other() -> None:
    texts = {name: [file.read_text() for file in folder.glob("*.c")] for name, folder in FOLDERS.items()}
    stems = {name: {file.stem for file in folder.glob("*.c")} for name, folder in FOLDERS.items()}

    assert len(stems["written_blind"]) >= 60
    assert not stems["written"] & stems["written_blind"]
    assert not set(texts["written"]) & set(texts["written_blind"])


def test_question_is_that_of_predict(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("void f(int y[4]) { for (int i = 0; i < 4; i++) y[i] = 3 * i; }\n")
    second = {"clock_ns": 5.0, "directives": [{"kind": "pipeline", "loop": "L0"}]}
    (tmp_path / "designs.json").write_text(json.dumps({"f": second}))

    (plain, first), (other, last) = questions(tmp_path)

    assert (plain, first["directives"], first["clock_period_ns"]) == ("f-0", "[]", 10.0)
    assert (other, json.loads(last["directives"]), last["clock_period_ns"]) == (
        "f-1",
        second["directives"],
        5.0,
    )


def test_share_inside_is_over_labels_and_names_the_missed_side() -> None:
    labels = {f"p{n}-0": {"area_um2": 100.0 + n} for n in range(10)}
    answer = {"area_um2": 100.0, "area_um2_low": 90.0, "confidence": 0.5}

    def text(high: float) -> str:
        answers = {name: {**answer, "area_um2_high": high} for name in (*labels, "unlabelled-0")}
        return inside_text(judge(labels, answers, "area_um2"))

    assert text(104.0) == "50% of 10 **missed** (below)"
    assert text(108.0) == "90% of 10"
    assert text(109.0) == "100% of 10 **missed** (above)"


def test_error_is_relative_to_the_label() -> None:
    answer = {"area_um2": 150.0, "area_um2_low": 75.0, "area_um2_high": 300.0, "confidence": 0.25}

    (one,) = judge({"p-1": {"area_um2": 200.0}}, {"p-1": answer}, "area_um2")

    assert (one.program, one.actual, one.confidence) == ("p", 200.0, 0.25)
    assert np.allclose([one.error, one.factor], [0.25, 2.0])
