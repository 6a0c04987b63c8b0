"""The first answer: the README's example, the choice of the model, the words of `simfoundry predict`.

Choices of the example, each written before its prediction was seen (no directives, memory delay 2, 10 ns):

1. A plain 16-tap FIR filter over 64 samples. Its label lay in every interval (area 15 % and flip-flops 6 %
   off, cycles exact), but its text has 79 tokens and 10 names, and the shortest training program 81 and 12.
   So it is not inside the range of training.
2. The same filter with a rounded shift of the sum, as fixed-point filters have. Chosen for its features,
   which all lie inside the range of training; so like the first that its result could be expected. Then:
   area 107,000 of 125,000 um2, 141 of 150 flip-flops, 5,251 cycles exactly; the label lies in every interval.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from invoking import invoke

import simfoundry as sf
from assets.errors import FoundryError
from models.base import PredictorError
from models.catalogue import predictor_named
from models.champions import label_predictors
from models.model_files import OUTCOME_FILE, read_model
from models.query import ALL_TARGETS
from pipelines.base.tools import ToolMissing
from pipelines.c import HlsError
from simfoundry.commands.predict_text import QUANTITIES, prediction_text, subject_of

FIR = """\
void fir(int x[79], int h[16], int y[64]) {
  const int half = 1 << 7;
  for (int n = 0; n < 64; n++) {
    int sum = half;
    for (int k = 0; k < 16; k++) sum += h[k] * x[n + k];
    y[n] = sum >> 8;
  }
}
"""
SCALE = "void scale(int a[8]) { for (int i = 0; i < 8; i++) a[i] = 3 * a[i]; }\n"
KEYS = {"model", "confidence", "outside_training", "version", "release", "level", "intervals", "note"}
NEAR = 0.25
"""Largest deviation of area, flip-flops and cycles of the README's example."""


def _labels(answer: dict[str, Any]) -> dict[str, float]:
    [run] = answer["runs"]
    return {name: float({**answer["label"], **run}[name]) for name in ALL_TARGETS}


def test_labels_of_the_example_lie_in_the_intervals(project: Path) -> None:
    labels, answer = _labels(sf.label(FIR)), sf.predict(FIR)
    assert answer["outside_training"] == ""
    assert answer["note"].startswith("inside what was learned: ")
    for target, label in labels.items():
        assert answer[f"{target}_low"] <= label <= answer[f"{target}_high"], target
    for target in ("area_um2", "flip_flop_count", "latency_cycles"):
        assert answer[target] == pytest.approx(labels[target], rel=NEAR), target


def test_a_kernel_smaller_than_any_learned_says_so(project: Path) -> None:
    """Its adder is its longest path, so it stays large; see docs/hls.md, "Estimates before synthesis"."""
    answer = sf.predict(SCALE)
    assert answer["note"] == (
        "outside what was learned: the size of the design beyond the range of the "
        "training programs; the values may be farther off than the intervals say"
    )
    label = sf.label(SCALE, targets=["area"])["label"]["area_um2"]
    assert answer["area_um2"] < label <= answer["area_um2_high"]
    assert answer["engine_area_um2"] == pytest.approx(0.68 * label, rel=0.01)


def test_the_answer_is_a_line_per_target(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "fir.c"
    file.write_text(FIR)
    result = invoke("predict", str(file))
    lines = result.stdout.splitlines()
    assert lines[0].startswith(
        "fir: lightgbm-hls@champion, level hls, trained on releases/v2, reference error "
    )
    assert [line.split("  ")[0] for line in lines[1:6]] == [q.name for q in QUANTITIES.values()]
    answer = json.loads(invoke("predict", str(file), "--json").stdout)
    ends = {f"{target}{end}" for target in ALL_TARGETS for end in ("", "_low", "_high")}
    assert answer.keys() >= KEYS | ends | {f"engine_{target}" for target in ALL_TARGETS}
    assert answer["area_um2"] != round(answer["area_um2"], 2)  # full precision


def test_the_answer_in_words() -> None:
    answer = {
        "model": "m@champion",
        "level": "hls",
        "release": "v1",
        "top": "f",
        "reference_error": 0.0825,
        "note": "as others",
        "fallback_reason": "n@champion: gone",
    }
    for target, value in zip(QUANTITIES, (6071.6, 14.65, 5250.6, 0.5, 3.842), strict=True):
        answer |= {target: value, f"{target}_low": value * 0.769, f"{target}_high": value * 1.3}
    answer["engine_area_um2"] = 1266700.0
    assert prediction_text(answer).splitlines() == [
        "f: m@champion, level hls, trained on v1, reference error 8.2%",
        "area          6,070 µm² (4,670 to 7,890)  engine's estimate 1,270,000 µm²",
        "flip-flops    15 (11 to 19)",
        "cycles        5,251 (4,038 to 6,826)",
        "power         0.500 mW (0.385 to 0.650)",
        "longest path  3.84 ns (2.95 to 4.99)",
        "as others",
        "a better model did not answer: n@champion: gone",
    ]


def test_the_answer_in_words_without_intervals_and_estimates() -> None:
    answer = {"model": "m@a", "level": "text", "top": "f", "area_um2": 12.0, "engine_reason": "no tool"}
    assert prediction_text(answer).splitlines() == [
        "f: m@a, level text, trained on unknown data",
        "area  12.0 µm²",
        "no engine's estimate: no tool",
    ]


def test_every_feature_has_words() -> None:
    assert set(QUANTITIES) == set(ALL_TARGETS)
    shipped = [spec for spec in label_predictors() if (spec.shipped_folder / OUTCOME_FILE).is_file()]
    cards = [read_model(spec.shipped_folder)[1].card for spec in shipped]
    names = {name for card in cards for name in card.get("low", card["features"])}
    assert len(names) > 100
    assert [name for name in sorted(names) if subject_of(name) == name] == []


Ask = Callable[[dict[str, Exception]], list[str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Let models fail as told, the others answer; returns the names of those that are asked."""

    def prepare(failures: dict[str, Exception]) -> list[str]:
        names: list[str] = []

        def ask(name: str, *_: object) -> dict[str, Any]:
            names.append(name)
            if name in failures:
                raise failures[name]
            return {"area_um2": 1.0}

        monkeypatch.setattr("simfoundry.commands.predict.ask_model", ask)
        return names

    return prepare


def test_the_best_champion_answers_alone(project: Path, asked: Ask) -> None:
    names = asked({})
    answer = sf.predict(FIR)
    assert names == ["lightgbm-hls"]
    assert (answer["model"], answer["fallback_reason"]) == ("lightgbm-hls@champion", "")


def test_a_model_that_cannot_be_loaded_is_replaced_by_the_next(project: Path, asked: Ask) -> None:
    names = asked({"lightgbm-hls": PredictorError("lightgbm is not installed")})
    answer = sf.predict(FIR)
    assert names == ["lightgbm-hls", "numeric-lm-hls"]
    assert answer["fallback_reason"] == "lightgbm-hls@champion: lightgbm is not installed"


@pytest.mark.parametrize("error", [FoundryError("no schedule"), ToolMissing("no schedule")])
def test_a_level_that_refuses_the_program_is_left_out(project: Path, asked: Ask, error: Exception) -> None:
    names = asked({"lightgbm-hls": error})
    answer = sf.predict(FIR)
    assert names == ["lightgbm-hls", "lightgbm-static"]
    assert answer["fallback_reason"] == "lightgbm-hls@champion: no schedule"


def test_when_no_champion_answers_the_reasons_are_one_line(project: Path, asked: Ask) -> None:
    names = ("lightgbm-hls", "lightgbm-static", "lightgbm-text")
    asked({name: FoundryError("no") for name in names})
    with pytest.raises(
        FoundryError, match=r"^no champion can answer \S+: lightgbm-hls@champion, lightgbm-static@"
    ) as e:
        sf.predict(FIR)
    assert str(e.value).endswith("lightgbm-static@champion, lightgbm-text@champion: no")


def test_an_unexpected_error_is_no_reason_to_ask_another_model(project: Path, asked: Ask) -> None:
    asked({"lightgbm-hls": KeyError("a fault of ours")})
    with pytest.raises(KeyError):
        sf.predict(FIR)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("void f(int a[4]) { a[0] = 1 }\n", sf.Options(), "a program must be C11, got a syntax error"),
        (SCALE, sf.Options(clock_ns=0.0), "clock_period_ns must be 0.1 to 1000, got 0.0"),
        (SCALE, sf.Options(memory_delay=-1), "memory_read_delay_cycles must be 1 to 1000, got -1"),
        (
            SCALE,
            sf.Options(directives=[{"kind": "pipeline", "loop": "L9"}]),
            "a directive's loop must be one of L0, got 'L9'",
        ),
        (
            "int f(int a) { return a; } int g(int a) { return a; }\n",
            sf.Options(),
            "without --top a file must define program or kernel_program, .*, got f, g",
        ),
    ],
    ids=["syntax", "clock", "delay", "directive", "two functions"],
)
def test_predict_rejects_what_synthesis_refuses(
    project: Path, asked: Ask, source: str, options: Any, message: str
) -> None:
    names = asked({})
    with pytest.raises(HlsError, match=f"^{message}"):
        sf.predict(source, options=options)
    assert names == []


def test_predict_rejects_a_damaged_folder(project: Path, tmp_path: Path) -> None:
    shipped = predictor_named("lightgbm-text").shipped_folder
    for name in ("model.json", "outcome.json"):
        (tmp_path / name).write_bytes((shipped / name).read_bytes())
    (tmp_path / "weights.safetensors").write_bytes(b"0")
    with pytest.raises(PredictorError, match=r"^damaged file: .*weights\.safetensors does not have the hash"):
        sf.predict(SCALE, model=str(tmp_path))
