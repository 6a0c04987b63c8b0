"""Selective answers: which level answers, what is said of the others, and the label as last resort."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from invoking import invoke

import simfoundry as sf
from assets.errors import FoundryError
from models.base import PredictorError
from models.query import ALL_TARGETS
from simfoundry.commands.predict_text import LABEL, prediction_text
from simfoundry.commands.selective import (
    Level,
    Within,
    answer_within,
    label_level,
    label_values,
    widest,
)

PROGRAM = "void f(int a[4], int b[4]) { for (int i = 0; i < 4; i++) b[i] = a[i] + 1; }\n"


def answer(factor: float) -> dict[str, Any]:
    """An answer whose intervals reach a factor up and down."""
    return {
        f"{target}{end}": value
        for target in ALL_TARGETS
        for end, value in (("", 100.0), ("_low", 100.0 / factor), ("_high", 100.0 * factor))
    }


def level(name: str, ask: Callable[[], dict[str, Any]]) -> Level:
    return Level(name=name, model=f"{name}@champion", ask=ask)


def refusing() -> dict[str, Any]:
    raise PredictorError("row 0: a program must be C11")


def never() -> dict[str, Any]:
    raise AssertionError("this level was asked")


def test_the_cheapest_level_that_is_narrow_enough_answers() -> None:
    levels = [
        level("text", lambda: answer(3.0)),
        level("static", lambda: answer(1.15)),
        level("hls", never),
    ]
    said = answer_within(levels, Within(within=0.2))
    assert (said["level"], said["model"], said["is_within"]) == ("static", "static@champion", True)
    assert [(step["level"], round(step["widest"], 2)) for step in said["steps"]] == [
        ("text", 2.0),
        ("static", 0.15),
    ]


def test_the_narrowest_answers_where_none_is_narrow_enough() -> None:
    levels = [
        level("text", lambda: answer(2.0)),
        level("static", refusing),
        level("hls", lambda: answer(3.0)),
    ]
    said = answer_within(levels, Within(within=0.2))
    assert (said["level"], said["is_within"]) == ("text", False)
    assert said["steps"][1]["reason"] == "a program must be C11"
    nothing = answer_within([level("text", lambda: {"area_um2": 1.0})], Within(within=0.2))
    assert nothing["steps"][0]["widest"] is None
    assert prediction_text(nothing).endswith("(no interval of area)")
    assert prediction_text(said).splitlines()[-1].startswith("no level is within 20%; asked: text ")


def test_a_label_that_takes_longer_than_the_budget_is_not_asked() -> None:
    models = [level("text", lambda: answer(2.0))]
    large, small = (label_level(never, lambda area=area: area) for area in (1e6, 1e3))
    said = answer_within([*models, large], Within(within=0.1, budget_s=20.0))
    assert said["steps"][1]["reason"] == "it takes some 27 s, 20 s of the budget are left"
    with pytest.raises(AssertionError):
        answer_within([*models, small], Within(within=0.1, budget_s=20.0))
    with pytest.raises(FoundryError, match=r"^no level can answer: label: it takes some 27 s, 20 s "):
        answer_within([large], Within(within=0.1, budget_s=20.0))


def test_no_level_is_begun_after_the_budget_but_the_first_always_is() -> None:
    said = answer_within(
        [level("text", lambda: answer(2.0)), level("static", never)], Within(within=0.1, budget_s=0.0)
    )
    assert [step.get("reason") for step in said["steps"]] == [None, "the budget is spent"]
    assert said["level"] == "text"


def test_only_chosen_targets_count_and_a_missing_one_is_as_wide_as_can_be() -> None:
    own = {**answer(3.0), "area_um2_low": 95.0, "area_um2_high": 105.0}
    assert widest(own, ("area_um2",)) == (pytest.approx(100 / 95 - 1), "area_um2")
    assert widest(own, ALL_TARGETS)[0] == pytest.approx(2.0)
    assert widest({"area_um2": 5.0}, ("area_um2",)) == (math.inf, "area_um2")


def test_a_label_is_exact_and_a_failed_one_is_a_reason() -> None:
    rows = {
        "label": {"status": "ok", "area_um2": 10.0, "flip_flop_count": 3, "delay_ns": 2.0},
        "runs": [{"latency_cycles": 7, "power_mw": None}],
    }
    values = label_values(rows)
    assert widest(values, ("area_um2", "latency_cycles", "delay_ns")) == (0.0, "area_um2")
    assert "power_mw" not in values
    said = answer_within([label_level(lambda: rows)], Within(within=0.1, targets=("latency_cycles",)))
    assert (said["level"], said["latency_cycles"], said["is_within"]) == (LABEL, 7, True)
    drawn = label_values({**rows, "varies_with_data": True})
    assert (drawn["latency_cycles"], widest(drawn, ("latency_cycles",))[0]) == (7, math.inf)
    assert "--data gives yours" in drawn["note"]
    failed = {"label": {"status": "timeout", "reason": "60 s"}, "runs": []}
    with pytest.raises(FoundryError, match=r"^no level can answer: label: timeout: 60 s$"):
        answer_within([label_level(lambda: failed)], Within(within=0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "2"], "--budget and --targets need --within"),
        (["--within", "0.2", "--model", "lightgbm-hls@champion"], "accepted: it without --model"),
        (["--within", "0.2", "--targets", "area"], "unknown target: 'area'; accepted: area_um2"),
        (["--within", "0.2", "--targets", ","], "unknown target: ''; accepted: area_um2"),
        (["--within", "0"], "0"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[str], message: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(PROGRAM)
    result = invoke("predict", file, *options)
    assert result.exit_code != 0
    assert message in result.output


ENDLESS = "int f(int x) { while (1) { x++; } return x; }\n"
SEARCH = "int f(int a[16]) { int i = 0; while (i < 16 && a[i] > 3) i++; return i; }\n"


def test_a_program_without_end_is_not_labelled_and_its_loop_is_named(tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(ENDLESS)
    result = invoke("predict", file, "--within", "0.1", "--json")
    said = json.loads(result.output)
    assert said["steps"][-1]["reason"].endswith("a run does not end within 50,000,000 cycles")
    assert "L0 (line 1)" in prediction_text(said)
    first = json.loads(invoke("predict", file, "--within", "0.1", "--budget", "0", "--json").output)
    assert (first["level"], first["unknown_loops"]) == ("text", [{"loop": "L0", "line": 1}])


def test_a_label_of_drawn_data_is_no_certain_answer(tmp_path: Path) -> None:
    file, data = tmp_path / "f.c", tmp_path / "data.json"
    file.write_text(SEARCH)
    drawn = json.loads(
        invoke("predict", file, "--within", "1e-9", "--targets", "latency_cycles", "--json").output
    )
    assert not drawn["is_within"]
    data.write_text(json.dumps({"a": [9] * 16}))
    own = invoke("predict", file, "--within", "1e-9", "--targets", "latency_cycles", "--data", data, "--json")
    assert json.loads(own.output)["is_within"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"within": -1}, "within must be a positive number, got -1"),
        ({"within": "a"}, "within must be a positive number, got 'a'"),
        ({"within": 0.2, "budget_s": -1}, "budget_s must be a positive number, got -1"),
        ({"within": 0.2, "targets": "area_um2"}, "targets must be a list of names, got 'area_um2'"),
    ],
)
def test_python_refuses_what_the_command_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FoundryError, match=f"^{message}$"):
        sf.predict(PROGRAM, **options)
