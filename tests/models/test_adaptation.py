"""Adaptation to another tool: which correction is chosen, its files, the file of labels, the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assets.errors import FoundryError
from models.catalogue import predictor_named
from models.intervals import CALIBRATING
from models.lightgbm.adaptation import adapt
from models.lightgbm.trees import TreePredictor, load
from models.model_files import read_outcome
from models.query import ALL_TARGETS
from simfoundry.commands.adapt import adaptation_text, answer_adapt, read_labels
from simfoundry.commands.predict import predict_file
from simfoundry.questions import AdaptQuestion

HLS = predictor_named("lightgbm-hls")
ROWS = 48


@pytest.fixture(scope="module")
def predictor() -> TreePredictor:
    """The weights that come with the project."""
    loaded = HLS.load(HLS.shipped_folder)
    assert isinstance(loaded, TreePredictor)
    return loaded


@pytest.fixture(scope="module")
def features(predictor: TreePredictor) -> np.ndarray:
    """Features between the ends of the ranges of training."""
    shares = np.random.default_rng(1).uniform(size=(ROWS, len(predictor.names)))
    return predictor.low + shares * (predictor.high - predictor.low)


GROUPS = [f"program {n // 2}" for n in range(ROWS)]


def test_another_unit_is_a_constant_factor(predictor: TreePredictor, features: np.ndarray) -> None:
    before = predictor.predict_matrix(features)[:, predictor.targets.index("area_um2")]
    noise = np.exp(np.random.default_rng(2).normal(0, 0.03, ROWS))
    adapted, said = adapt(predictor, features, {"area_um2": before * noise / 200}, GROUPS)
    own = said["area_um2"]
    assert (own.labels, own.method) == (ROWS, "constant")
    assert own.error_before > 100
    assert own.error_after < 0.05
    after = adapted.predict_matrix(features)
    np.testing.assert_allclose(after[:, predictor.targets.index("area_um2")], before / 200, rtol=0.05)
    others = [n for n, target in enumerate(predictor.targets) if target != "area_um2"]
    np.testing.assert_array_equal(after[:, others], predictor.predict_matrix(features)[:, others])
    assert {(r.part, r.family, r.group in GROUPS) for r in own.residuals} == {(CALIBRATING, "labels", True)}


def test_labels_that_the_predictor_knows_change_nothing(
    predictor: TreePredictor, features: np.ndarray
) -> None:
    column = predictor.targets.index("delay_ns")
    noise = np.exp(np.random.default_rng(3).normal(0, 0.1, ROWS))
    labels = {"delay_ns": predictor.predict_matrix(features)[:, column] * noise}
    adapted, said = adapt(predictor, features, labels, GROUPS)
    assert said["delay_ns"].method == "none"
    np.testing.assert_array_equal(adapted.predict_matrix(features), predictor.predict_matrix(features))


def test_a_ratio_that_follows_a_feature_is_learned_by_trees_and_kept_in_files(
    predictor: TreePredictor, features: np.ndarray
) -> None:
    column, name = predictor.targets.index("power_mw"), predictor.names.index("log_memory_port_count")
    is_large = features[:, name] > np.median(features[:, name])
    labels = {"power_mw": predictor.predict_matrix(features)[:, column] * np.where(is_large, 4.0, 0.5)}
    adapted, said = adapt(predictor, features, labels, GROUPS)
    assert said["power_mw"].method == "trees"
    assert said["power_mw"].error_after < 0.5 * said["power_mw"].error_before
    again = load(adapted.files)
    np.testing.assert_array_equal(again.predict_matrix(features), adapted.predict_matrix(features))


def test_too_few_labels_are_refused(predictor: TreePredictor, features: np.ndarray) -> None:
    labels = {"area_um2": np.where(np.arange(ROWS) < 3, 1.0, np.nan)}
    with pytest.raises(
        ValueError, match="area_um2 must have at least 4 labels of two programs or more, got 3"
    ):
        adapt(predictor, features, labels, GROUPS)
    with pytest.raises(ValueError, match="labels of area_um2 must lie within a factor of 1e"):
        adapt(predictor, features, {"area_um2": np.geomspace(1e-9, 1e9, ROWS)}, GROUPS)
    with pytest.raises(ValueError, match="got 48 of 1"):
        adapt(predictor, features, {"area_um2": np.ones(ROWS)}, ["one"] * ROWS)


SOURCE = """void f(int a[{n}], int b[{n}]) {{ for (int i = 0; i < {n}; i++) b[i] = a[i] * {n}; }}
"""


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of labels of six programs beside it."""
    folder = tmp_path_factory.mktemp("labels")
    lines = ["file,top,directives,area_um2"]
    for n in range(6):
        (folder / f"p{n}.c").write_text(SOURCE.format(n=8 * n + 8))
        directives = json.dumps([{"kind": "pipeline", "loop": "L0", "value": 1}]) if n % 2 else ""
        quoted = '"' + directives.replace('"', '""') + '"'
        lines.append(f"p{n}.c,f,{quoted},{100 + n}")
    path = folder / "labels.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_file_of_labels_gives_a_model_that_answers_in_its_unit(labels: Path, tmp_path: Path) -> None:
    answer = answer_adapt(AdaptQuestion(labels=labels, out=tmp_path / "adapted"))
    assert set(answer["targets"]) == {"area_um2"}
    assert answer["targets"]["area_um2"]["labels"] == 6
    assert adaptation_text(answer).splitlines()[1].startswith("area_um2")
    said = predict_file(
        file=labels.parent / "p2.c",
        top="f",
        directives=None,
        memory_delay=2,
        clock=10.0,
        model=str(tmp_path / "adapted"),
    )
    assert said["area_um2"] == pytest.approx(102, rel=0.6)
    assert said["area_um2_low"] < said["area_um2"] < said["area_um2_high"]
    assert said["release"].endswith("adapted to labels.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,area\np0.c,1\n", "must have column file, others once each of"),
        ("file,top\np0.c,f\n", "must have a column of labels"),
        ("file,area_um2\n", "must have 1 to 10,000 rows, got 0"),
        ("file,area_um2\np0.c,1,2\n", ":2: a row must have as many values"),
        ("file,area_um2\np0.c,-1\n", ":2: area_um2 must be a number above 0, got '-1'"),
        ("file,area_um2\np0.c,nan\n", ":2: area_um2 must be a number above 0"),
        ("file,memory_delay,area_um2\np0.c,two,1\n", ":2: memory_delay must be 1 to 1000, got 'two'"),
        ("file,directives,area_um2\np0.c,{},1\n", ":2: directives must be a JSON list"),
        ("file,clock_ns,area_um2\np0.c,1e9,1\n", ":2: clock_ns must be 0.1 to 1000, got 1e+09"),
        ("file;area_um2\np0.c;1\n", "with commas between"),
        ("file,area_um2\nabsent.c,1\n", ":2: "),
    ],
)
def test_what_is_no_file_of_labels_is_refused(labels: Path, text: str, message: str) -> None:
    path = labels.with_name("bad.csv")
    path.write_text(text)
    with pytest.raises(FoundryError) as error:
        read_labels(path, ALL_TARGETS)
    assert message in str(error.value)


def test_a_program_that_the_level_refuses_is_named(labels: Path) -> None:
    path = labels.with_name("top.csv")
    path.write_text("file,top,area_um2\np0.c,g,1\n")
    with pytest.raises(FoundryError, match=r"top\.csv:2: .*\(p0\.c\)$"):
        answer_adapt(AdaptQuestion(labels=path))


def test_only_trees_adapt(labels: Path) -> None:
    question = AdaptQuestion(labels=labels)
    with pytest.raises(FoundryError, match="only boosted trees adapt, not tenset-mlp"):
        answer_adapt(replace(question, model="tenset-mlp@champion"))


def test_few_labels_widen_earlier_intervals_and_never_narrow_them(labels: Path, tmp_path: Path) -> None:
    answer_adapt(AdaptQuestion(labels=labels, out=tmp_path / "one"))
    earlier, own = read_outcome(HLS.shipped_folder), read_outcome(tmp_path / "one")
    assert earlier is not None
    assert own is not None
    before, after = (out.calibration["area_um2"]["kinds"][""]["width"] for out in (earlier, own))
    assert after >= before
    assert own.calibration["delay_ns"] == earlier.calibration["delay_ns"]
    again = answer_adapt(AdaptQuestion(labels=labels, model=str(tmp_path / "one"), out=tmp_path / "two"))
    assert again["targets"]["area_um2"]["error_before"] < 1
    twice = read_outcome(tmp_path / "two")
    assert twice is not None
    assert twice.source == own.source
