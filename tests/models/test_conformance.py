"""The conformance check of predictors: one that keeps every rule, and one that breaks each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIG_IGN
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from median_predictor import PREDICTOR, MedianPredictor, Options, train

from models.base import Estimate
from models.catalogue import PredictorSpec, Trained, TrainingInput, predictors
from models.conformance import CHECKS, Finding, check_predictor
from models.declarations import declaration_problem
from models.labelled import Query
from models.model_files import ModelFiles
from simfoundry.cli import simfoundry
from simfoundry.commands.check import check

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


class _Reversed(MedianPredictor):
    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**self.medians, "area_um2_low": 3e9, "area_um2_high": 2e9} for _ in rows]


class _Partial(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        values = {name: value for name, value in self.medians.items() if name != "area_um2"}
        return [Estimate(values=values, outside_training=()) for _ in queries]


class _Silent(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        return None  # type: ignore[return-value]


class _Mute(MedianPredictor):
    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [None for _ in rows]  # type: ignore[misc]


class _Short(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        return super().predict(queries)[:1]


class _Single(MedianPredictor):
    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        values = {name: np.float32(value) for name, value in self.medians.items()}
        return [Estimate(values=values, outside_training=()) for _ in queries]  # type: ignore[arg-type]


class _Bare:
    """A predictor without the method `predict`."""

    def __init__(self, medians: Mapping[str, float]) -> None:
        self.answer = MedianPredictor(medians=medians).answer


class _Odd(BaseException):
    pass


class _Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def _odd(data: TrainingInput) -> Trained:
    raise _Odd("odd")


def _unreadable(data: TrainingInput) -> Trained:
    raise _Unreadable


def _interrupted(data: TrainingInput) -> Trained:
    raise KeyboardInterrupt


def _drawn(data: TrainingInput) -> Trained:
    noise = int.from_bytes(os.urandom(8), "big")
    return replace(train(data), files=ModelFiles(card={"medians": {}, "noise": noise}, arrays={}))


def _with_array_in_card(data: TrainingInput) -> Trained:
    return replace(train(data), files=ModelFiles(card={"medians": np.ones(3)}, arrays={}))


def _with_predicted(data: TrainingInput, value: Any) -> Trained:
    trained = train(data)
    return replace(trained, predictions=[replace(one, predicted=value) for one in trained.predictions])


def _with_words(data: TrainingInput) -> Trained:
    return _with_predicted(data, "12")


def _with_a_huge_number(data: TrainingInput) -> Trained:
    return _with_predicted(data, 10**400)


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


@dataclass(kw_only=True)
class _Thawed:
    factor: float = 1.0


@dataclass(frozen=True, kw_only=True)
class _Nested(Options):
    sizes: tuple[tuple[int, ...], ...] = ((1, 2),)


@dataclass(frozen=True, kw_only=True)
class _Required(Options):
    width: int


def _loading(kind: type[MedianPredictor]) -> PredictorSpec[Any]:
    return replace(PREDICTOR, load_with=lambda files: kind(medians=files.card["medians"]))


def test_a_predictor_that_keeps_the_rules_passes(lasting_data_dir: Path) -> None:
    findings = check_predictor(PREDICTOR, lasting_data_dir, QUICK)
    assert [(finding.check, finding.problem) for finding in findings] == [(name, "") for name in CHECKS]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("spec", "check", "problem"),
    [
        (
            replace(PREDICTOR, options=_Required),
            "options",
            "option width of _Required has no default; accepted: width: TYPE = VALUE",
        ),
        (
            replace(PREDICTOR, options=_Thawed),
            "options",
            "options are no frozen dataclass: _Thawed; accepted: @dataclass(frozen=True, kw_only=True) above",
        ),
        (
            replace(PREDICTOR, options=_Unlike),
            "options-json",
            "option words is no JSON: frozenset({'a'}) of type frozenset; accepted: finite numbers, text",
        ),
        (
            replace(PREDICTOR, options=_Nested),
            "options-json",
            "option sizes does not survive JSON: ((1, 2),) of type tuple became ([1, 2],) of type tuple; acc",
        ),
        (replace(PREDICTOR, options=_Forgetful), "key", "the training key does not follow option factor"),
        (
            replace(PREDICTOR, train_with=_drawn),
            "repetition",
            "two trainings with one seed differ in model.json (the card of the ModelFiles); accepted: equal ",
        ),
        (
            replace(PREDICTOR, train_with=_with_array_in_card),
            "training",
            "PredictorError: card of the ModelFiles: Object of type ndarray is not JSON serializable; accept",
        ),
        (
            replace(PREDICTOR, train_with=_with_words),
            "training",
            "PredictorError: predicted area_um2 of prediction 0: '12' of type str; accepted: a finite number",
        ),
        (
            replace(PREDICTOR, train_with=_with_a_huge_number),
            "training",
            "PredictorError: predicted area_um2 of prediction 0: 1000000",
        ),
        (
            replace(PREDICTOR, train_with=_without_weights),
            "loading",
            "KeyError: 'medians' (median_predictor.py:",
        ),
        (replace(PREDICTOR, train_with=_ending), "training", "SystemExit: 0 (test_conformance.py:"),
        (
            replace(PREDICTOR, train_with=lambda data: None),
            "training",
            "PredictorError: train_with returned None; accepted: a Trained (test_conformance.py:",
        ),
        (replace(PREDICTOR, options=_Undecorated), "options", "_Undecorated is no dataclass itself, so more"),
        (
            replace(PREDICTOR, options=_Worded),
            "options",
            "ValueError: option factor: Input should be a valid",
        ),
        (replace(PREDICTOR, train_with=_interrupted), "training", "KeyboardInterrupt (test_conformance.py:"),
        (replace(PREDICTOR, train_with=_odd), "training", "_Odd: odd (test_conformance.py:"),
        (
            replace(PREDICTOR, train_with=_unreadable),
            "training",
            "_Unreadable: an error whose text cannot be",
        ),
        (
            replace(PREDICTOR, load_with=lambda files: None),
            "loading",
            "PredictorError: load_with returned None; accepted: an object with a method answer(rows) (test_c",
        ),
        (
            _loading(_Silent),
            "answers",
            "PredictorError: predict returned None; accepted: a list, one Estimate per query (test_conf",
        ),
        (
            _loading(_Mute),
            "answers",
            "PredictorError: answer returned None at place 0; accepted: one dict of columns per row",
        ),
        (
            _loading(_Partial),
            "answers",
            "area_um2 is missing from an answer; accepted: ",
        ),
        (_loading(_Short), "answers", "2 rows got 1 answers; accepted: one per row"),
        (_loading(_Single), "answers", "area_um2 is no finite number: np.float32("),
        (
            replace(PREDICTOR, load_with=lambda files: _Bare(files.card["medians"])),
            "costs",
            "training predicts designs, but the loaded predictor has no method predict(queries)",
        ),
        (_loading(_Broken), "answers", "area_um2 is no finite number: nan"),
        (_loading(_Random), "answers", "area_um2"),
        (_loading(_Outside), "intervals", "area_um2 "),
        (
            _loading(_Reversed),
            "intervals",
            "the lower end is above the upper end: area_um2_low 3e+09, area_um2_high 2e+09; area_um2 is ",
        ),
        (_loading(_Guessing), "refusals", "a row of wrong words is answered: '?' in source, top"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_predictor_that_breaks_a_rule_fails_its_check(
    lasting_data_dir: Path,
    spec: PredictorSpec[Any],
    check: str,
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("models.conformance.getsignal", lambda _: SIG_IGN)  # as in the process of the checks
    findings = {f.check: f.problem for f in check_predictor(spec, lasting_data_dir, QUICK)}
    assert findings[check].startswith(problem)
    assert next(name for name, text in findings.items() if text) == check


def test_an_interrupt_of_the_user_is_no_finding(lasting_data_dir: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        check_predictor(replace(PREDICTOR, train_with=_interrupted), lasting_data_dir, QUICK)


def test_a_count_below_1_is_named_where_its_ends_are_reversed(lasting_data_dir: Path) -> None:
    settings = {**QUICK, "factor": 0.0}
    findings = {f.check: f.problem for f in check_predictor(PREDICTOR, lasting_data_dir, settings)}
    ends = "latency_cycles_low 1, latency_cycles_high 0"
    assert f"latency_cycles is 0, so that its ends are reversed: {ends}; accepted: 1 or more" in (
        findings["intervals"].replace("flip_flop_count", "latency_cycles")
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"name": "Tenset_MLP"},
            "name: 'Tenset_MLP' is taken by predictor tenset-mlp of the project; accepted",
        ),
        (
            {"name": "my median"},
            "name: 'my median'; accepted: letters, digits, - and _, a letter first, at mo",
        ),
        ({"name": "../up"}, "name: '../up'; accepted: letters"),
        ({"name": ""}, "name: ''; accepted: letters"),
        ({"name": "median\n"}, "name: 'median\\n'; accepted: letters"),
        ({"name": 5}, "name: 5 of type int; accepted: letters"),
        ({"version": 1}, 'version: 1 of type int; accepted: text in quotes, as "1"'),
        ({"description": " "}, "description: ' '; accepted: text in quotes"),
        (
            {"options": Options()},
            "options: an object of Options; accepted: the class of the options, Options without ()",
        ),
        ({"options": 5}, "options: 5 of type int; accepted: the class of the options"),
        ({"task": None}, "task: None of type NoneType; accepted: a Task"),
        ({"load_with": None}, "load_with: None of type NoneType; accepted: a function"),
        ({"libraries": "numpy"}, "libraries: 'numpy'; accepted: a tuple of distributions, as (\"numpy\",)"),
        ({"libraries": ("no-such",)}, "libraries: no such distribution is installed: 'no-such'; accepted: "),
        (
            {"task": replace(PREDICTOR.task, level="deep")},
            "task: level 'deep'; accepted: text, static, hls, run",
        ),
        ({"answers": ()}, "answers: () of type tuple; accepted: a tuple of Column, one at least"),
        ({"answers": PREDICTOR.answers * 2}, "answers: column area_um2 is declared twice"),
    ],
)
def test_a_wrong_declaration_is_refused(fields: dict[str, Any], problem: str) -> None:
    assert declaration_problem(replace(PREDICTOR, **fields)).startswith(problem)


def test_the_predictors_of_the_project_are_declared_right() -> None:
    assert [declaration_problem(spec) for spec in predictors()] == [""] * len(predictors())


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
        ("bad.py", "1 / 0\n", "fails when it is run: ZeroDivisionError: division by zero (bad.py:1)"),
        ("ends.py", "raise SystemExit(0)\n", "fails when it is run: SystemExit: 0 (ends.py:1)"),
        ("interrupts.py", "\nraise KeyboardInterrupt\n", "is run: KeyboardInterrupt (interrupts.py:2)"),
        ("syntax.py", "\n\ndef x(:\n", "fails when it is run: SyntaxError: invalid syntax (syntax.py:3)"),
        ("other.py", "\nPREDICTOR = 5\n", "no predictor: PREDICTOR is 5 (other.py:2); accepted: a file that"),
        ("gone.py", "import os\nos._exit(0)\n", "the process ended with exit status 0 when the file was run"),
        ("text.txt", "", "no file of Python: "),
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


def _written(folder: Path, old: str, new: str) -> Path:
    """Write the median predictor with a part of its text replaced, and return its file."""
    text = Path(__file__).with_name("median_predictor.py").read_text()
    assert old in text
    file = folder / "mine.py"
    file.write_text(text.replace(old, new))
    return file


def _check(file: Path, data_dir: Path, *words: str) -> Result:
    options = ["--data", str(data_dir), "-o", "bootstrap_resamples=10", *words]
    return CliRunner().invoke(simfoundry, ["check", str(file), *options])


LOAD = "    return MedianPredictor(medians"


@pytest.mark.parametrize(
    ("statement", "ending"),
    [
        ("__import__('os')._exit(0)", "ended with exit status 0"),
        ("__import__('os').kill(__import__('os').getpid(), 9)", "ended by SIGKILL"),
    ],
)
def test_a_process_that_vanishes_is_a_finding(
    statement: str, ending: str, lasting_data_dir: Path, tmp_path: Path
) -> None:
    file = _written(tmp_path, LOAD, f"    {statement}\n{LOAD}")
    result = _check(file, lasting_data_dir)
    *done, problem, left = result.stdout.splitlines()
    assert (result.exit_code, done[-1]) == (1, "repetition: ok")
    assert problem == f"loading: the process {ending}; accepted: a return, or an exception"
    assert left == "not checked, because of loading: answers, intervals, costs, refusals"


def test_a_predictor_may_start_processes_and_write_to_standard_output(
    lasting_data_dir: Path, tmp_path: Path
) -> None:
    lines = (
        "    from concurrent.futures import ProcessPoolExecutor",
        "    with ProcessPoolExecutor(1) as pool:",
        "        print(pool.submit(abs, -1).result())",
        "    __import__('os').write(1, b'raw')",
    )
    result = _check(_written(tmp_path, LOAD, "\n".join((*lines, LOAD))), lasting_data_dir, "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["unchecked"]) == (0, [])


def test_processes_that_a_predictor_leaves_end_with_the_checks(
    lasting_data_dir: Path, tmp_path: Path
) -> None:
    note = tmp_path / "process"
    start = f"    open({str(note)!r}, 'w').write(str(__import__('subprocess').Popen(['sleep', '60']).pid))\n"
    assert _check(_written(tmp_path, LOAD, start + LOAD), lasting_data_dir).exit_code == 0
    stat = Path("/proc") / note.read_text() / "stat"
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_each_result_is_reported_before_the_next_check_ends(lasting_data_dir: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    sleep = "    deadline = __import__('time').monotonic() + 60\n"
    late = "        assert __import__('time').monotonic() < deadline\n"
    wait = f"{sleep}    while not __import__('os').path.exists({str(gate)!r}):\n{late}"
    file = _written(tmp_path, LOAD, wait + LOAD)
    names: list[str] = []

    def report(finding: Finding) -> None:
        names.append(finding.check)
        if finding.check == "repetition":  # loading, and what follows, waits for the report
            gate.touch()

    check(str(file), data=lasting_data_dir, settings=["bootstrap_resamples=10"], report=report)
    assert names == list(CHECKS)


def test_a_wrong_field_is_named_with_its_line(lasting_data_dir: Path, tmp_path: Path) -> None:
    file = _written(tmp_path, 'version="1"', "version=1")
    line = 1 + file.read_text().splitlines().index("    version=1,")
    first = _check(file, lasting_data_dir).stdout.splitlines()[0]
    assert first == f'declaration: version: 1 of type int; accepted: text in quotes, as "1" (mine.py:{line})'


def test_a_wrong_task_is_a_finding_of_its_declaration(lasting_data_dir: Path, tmp_path: Path) -> None:
    file = _written(tmp_path, "    task=TASK", '    task="labels"')
    result = _check(file, lasting_data_dir)
    assert result.exit_code == 1
    assert result.stdout.startswith("declaration: task: 'labels'; accepted: a Task (mine.py:")
    assert "Traceback" not in result.stderr


def test_an_early_error_has_its_place_in_json(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("\n1 / 0\n")
    result = CliRunner().invoke(simfoundry, ["check", str(file), "--json"])
    assert json.loads(result.stderr)["where"] == "bad.py:2"
