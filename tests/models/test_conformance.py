"""The conformance check of predictors: one that keeps every rule, and one that breaks each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from median_predictor import PREDICTOR, MedianPredictor, Options, train

from models.base import Estimate
from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.conformance import CHECKS, check_predictor
from models.labelled import Query
from models.model_files import ModelFiles
from simfoundry.cli import simfoundry

QUICK = {"bootstrap_resamples": 10}


class _Broken(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        values = {**self.medians, "area_um2": float("nan")}
        return [Estimate(values=values, outside_training=()) for _ in queries]


class _Random(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        values = ({**self.medians, "area_um2": 1.0 + n} for n, _ in enumerate(queries))
        return [Estimate(values=own, outside_training=()) for own in values]


class _Guessing(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        return [Estimate(values=self.medians, outside_training=()) for _ in queries]


class _Outside(MedianPredictor):
    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**self.medians, "area_um2_low": 2e9, "area_um2_high": 3e9} for _ in rows]


def _drawn(data: TrainingInput) -> Trained:
    noise = int.from_bytes(os.urandom(8), "big")
    return replace(train(data), files=ModelFiles(card={"medians": {}, "noise": noise}, arrays={}))


def _without_weights(data: TrainingInput) -> Trained:
    return replace(train(data), files=ModelFiles(card={}, arrays={}))


def _ending(data: TrainingInput) -> Trained:
    raise SystemExit(0)


class _Undecorated(Options):
    more: float = 1.0


@dataclass(frozen=True, kw_only=True)
class _Worded(Options):
    factor: float = "one"  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class _Forgetful(Options):
    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", 1.0)


@dataclass(frozen=True, kw_only=True)
class _Unlike(Options):
    words: frozenset[str] = frozenset({"a"})


@dataclass(frozen=True, kw_only=True)
class _Required(Options):
    width: int


def _loading(kind: type[MedianPredictor]) -> PredictorSpec[Any]:
    return replace(PREDICTOR, load_with=lambda files: kind(medians=files.card["medians"]))


def test_a_predictor_that_keeps_the_rules_passes(lasting_data_dir: Path) -> None:
    findings = check_predictor(PREDICTOR, lasting_data_dir, QUICK)
    assert [(finding.check, finding.problem) for finding in findings] == [(name, "") for name in CHECKS]


@pytest.mark.parametrize(
    ("spec", "check", "problem"),
    [
        (replace(PREDICTOR, options=_Required), "options", "TypeError: "),
        (replace(PREDICTOR, options=_Unlike), "options-json", "TypeError: "),
        (replace(PREDICTOR, options=_Forgetful), "key", "the training key does not follow option factor"),
        (
            replace(PREDICTOR, train_with=_drawn),
            "repetition",
            "two trainings with one seed differ in model.j",
        ),
        (
            replace(PREDICTOR, train_with=_without_weights),
            "training",
            "PredictorError: not a predictor of med",
        ),
        (replace(PREDICTOR, train_with=_ending), "training", "SystemExit: 0 (test_conformance.py:"),
        (
            replace(PREDICTOR, train_with=lambda data: None),
            "training",
            "PredictorError: train_with must return",
        ),
        (replace(PREDICTOR, options=_Undecorated), "options", "_Undecorated is no dataclass itself, so more"),
        (
            replace(PREDICTOR, options=_Worded),
            "options",
            "ValueError: option factor: Input should be a valid",
        ),
        (_loading(_Broken), "answers", "area_um2 is no finite number: nan"),
        (_loading(_Random), "answers", "area_um2"),
        (_loading(_Outside), "intervals", "area_um2 "),
        (_loading(_Guessing), "refusals", "a row of wrong words is answered: '?' in source, top, directives"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_predictor_that_breaks_a_rule_fails_its_check(
    lasting_data_dir: Path, spec: PredictorSpec[Any], check: str, problem: str
) -> None:
    findings = {f.check: f.problem for f in check_predictor(spec, lasting_data_dir, QUICK)}
    assert findings[check].startswith(problem)


def test_the_command_checks_the_predictor_of_a_file(lasting_data_dir: Path) -> None:
    file = Path(__file__).with_name("median_predictor.py")
    words = ["check", str(file), "--data", str(lasting_data_dir), "-o", "bootstrap_resamples=10"]
    result = CliRunner().invoke(simfoundry, words)
    assert (result.exit_code, result.stdout.splitlines()) == (0, [f"{name}: ok" for name in CHECKS])


def test_the_command_fails_where_a_rule_is_broken(lasting_data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    good = Path(__file__).with_name("median_predictor.py").read_text()
    talking = good.replace(
        "        read_function(query.source, top=query.top)\n", "        print(query.top)\n"
    )
    file.write_text(f"{talking}\nprint('ends')\n")
    words = ["check", str(file), "--data", str(lasting_data_dir), "-o", "bootstrap_resamples=10", "--json"]
    result = CliRunner().invoke(simfoundry, words)
    problems = {check["check"]: check["problem"] for check in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 1
    assert [name for name, problem in problems.items() if problem] == ["refusals"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "factor"], "option without a value: factor; accepted: factor=VALUE, once"),
        (["-o", "factor=1", "-o", "factor=2"], "option twice: factor=2; accepted: factor=VALUE, once"),
        (["-o", "size=1"], "unknown option: size=1; accepted: split, tool, "),
        (["--data", "absent"], "no such folder: absent (--data); accepted: a folder with tables/"),
    ],
)
def test_the_command_rejects_wrong_options(words: list[str], message: str, lasting_data_dir: Path) -> None:
    file = Path(__file__).with_name("median_predictor.py")
    result = CliRunner().invoke(simfoundry, ["check", str(file), "--data", str(lasting_data_dir), *words])
    assert result.exit_code == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.py", None, "no such file: "),
        ("empty.py", "", "no predictor: "),
        ("bad.py", "1 / 0\n", "fails when it is run: ZeroDivisionError: division by zero"),
        ("ends.py", "raise SystemExit(0)\n", "fails when it is run: SystemExit: 0"),
    ],
)
def test_the_command_rejects_files_without_a_predictor(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    result = CliRunner().invoke(simfoundry, ["check", str(tmp_path / name)])
    assert result.exit_code == 1
    assert message in result.stderr
