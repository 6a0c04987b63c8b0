"""Scores of predictors on a release: equal to those in this process, and no way to the answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from labelled_nests import SPLIT

import models
from models.base import PredictorError
from models.catalogue import PredictorSpec, predictor_named
from models.labelled import Selection, load_labelled_designs
from models.leaderboard import Prediction
from models.model_files import PREDICTIONS_FILE
from models.options import make_options
from models.predictor_files import predictor_of_file
from models.scoring.confined import Answer, ScoreLimits, Subject
from models.scoring.entries import Entry
from models.scoring.score import errors_of, predictions_of, score_predictor, split_cycles
from models.scoring.training_tables import write_training_tables
from models.tasks import DatasetError, TooFewRows
from pipelines.dataset.releases import Baseline
from pipelines.dataset.releases.manifest import MANIFEST_FILE, Manifest, Toolset, manifest_bytes
from pipelines.schemas import from_frame, table_spec
from simfoundry.cli import simfoundry

MEDIAN = Path(__file__).with_name("median_predictor.py")
TRAINING = "    designs = training_designs(data.data_dirs, data.options)\n"
ANSWERING = "        read_function(query.source, top=query.top)\n"


@pytest.fixture(scope="module")
def release(lasting_data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the labelled nests."""
    folder = tmp_path_factory.mktemp("releases") / "nests"
    shutil.copytree(lasting_data_dir / "tables", folder / "tables")
    tools = Toolset(tools={}, liberties={})
    manifest = Manifest(format=1, name="nests", toolset=tools, rows={}, left_out={}, files=())
    (folder / MANIFEST_FILE).write_bytes(manifest_bytes(manifest))
    return folder


def median(**replaced: str) -> Subject:
    """The median predictor, with a statement before its training or its answers."""
    text = MEDIAN.read_text()
    for place, statement in {
        TRAINING: replaced.get("training", ""),
        ANSWERING: replaced.get("answering", ""),
    }.items():
        assert place in text
        indent = place[: len(place) - len(place.lstrip())]
        text = text.replace(place, f"{indent}{statement}\n{place}" if statement else place)
    return Subject(label="my/median.py", content=text.encode(), settings={"split": SPLIT})


def score(subject: Subject, release: Path, **limits: float) -> Entry:
    return score_predictor(subject, release, split=SPLIT, limits=ScoreLimits(**limits))  # type: ignore[arg-type]


def in_process(spec: PredictorSpec[Any], release: Path, folder: Path, settings: Mapping[str, Any]) -> Any:
    """Errors on part test of a training of this process that sees the whole release."""
    outcome = spec.train(release, make_options(spec.options, settings), folder=folder, keep_costs=False)
    stored = json.loads((outcome.folder / PREDICTIONS_FILE).read_bytes())
    predictions = [Prediction(**row) for row in stored if row["part"] == "test"]
    return errors_of(spec.name, split_cycles(predictions, release), SPLIT)


def percentages(errors: Sequence[Baseline]) -> list[float | None]:
    """The errors without rank correlations, which a constant has not."""
    return [row.value for row in errors if row.metric != "spearman"]


def test_a_constant_has_the_errors_of_a_training_in_this_process(release: Path, tmp_path: Path) -> None:
    entry = score(median(), release)
    spec = predictor_of_file(MEDIAN)
    assert entry.errors == in_process(spec, release, tmp_path / "model", {"split": SPLIT})
    assert (entry.predictor, entry.level, entry.origin, entry.parts) == (
        "median",
        "static",
        "file",
        ("test",),
    )
    assert (dict(entry.designs), entry.failures) == ({"test": 16}, ())
    assert {row.target for row in entry.coverage} == {"area_um2", "flip_flop_count", "latency_cycles"}
    assert all(row.share is not None and row.row_count == 16 for row in entry.coverage)
    assert entry.training_s is not None
    assert entry.training_s > 0.1
    assert entry.answer_s is not None


@pytest.mark.slow
def test_trees_have_the_errors_of_a_training_in_this_process(release: Path, tmp_path: Path) -> None:
    settings = {"split": SPLIT, "trees": 20}
    spec = predictor_named("lightgbm-text")
    entry = score(Subject(label=spec.name, name=spec.name, settings=settings), release)
    expected = in_process(spec, release, tmp_path / "model", settings)
    assert expected
    assert [(row.target, row.part, row.metric, row.row_count) for row in entry.errors] == [
        (row.target, row.part, row.metric, row.row_count) for row in expected
    ]
    assert percentages(entry.errors) == pytest.approx(percentages(expected))
    assert (entry.origin, entry.sha256) == ("project", None)


def test_training_tables_hold_learned_designs_alone(release: Path, tmp_path: Path) -> None:
    write_training_tables(release, tmp_path, split=SPLIT, level="text")
    every = load_labelled_designs(release, Selection(split=SPLIT))
    learned = load_labelled_designs(tmp_path, Selection(split=SPLIT))
    assert learned == tuple(d for d in every if d.part in ("train", "validation"))
    judged = {d.program_id for d in every if d.part == "test"} | {
        d.design_id for d in every if d.part == "test"
    }
    assert len(judged) > 10
    for path in (tmp_path / "tables").rglob("*.parquet"):
        for column in pl.read_parquet(path).select(pl.col(pl.String)).iter_columns():
            assert judged.isdisjoint(column.to_list()), (path, column.name)


def test_tables_without_a_test_part_are_refused_unless_it_is_withheld(release: Path, tmp_path: Path) -> None:
    write_training_tables(release, tmp_path, split=SPLIT, level="text")
    (tmp_path / "withheld.txt").unlink()
    with pytest.raises(TooFewRows, match=r"^no labelled designs in part test of split by_kernel_v2"):
        load_labelled_designs(tmp_path, Selection(split=SPLIT))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("__import__('socket').create_connection(('127.0.0.1', 80))", "PermissionError: [Errno 1] Operation"),
        ("open('{release}/tables/labels/tests.parquet')", "FileNotFoundError: [Errno 2] No such file or dir"),
        ("open('{models}/tenset_mlp/trained/model.json')", "FileNotFoundError: [Errno 2] No such file or di"),
        ("open('{release}/escaped', 'w')", "FileNotFoundError: [Errno 2] No such file or directory"),
        ("open('/usr/lib/escaped', 'w')", "OSError: [Errno 30] Read-only file system"),
        ("(data.data_dirs[0] / 'withheld.txt').write_text('')", "[Errno 30] Read-only file system"),
        ("__import__('os')._exit(0)", "the training leaves no model"),
        ("__import__('os').kill(__import__('os').getpid(), 9)", "the training ends with SIGKILL (killed)"),
        ("return None", "the training fails: PredictorError: train_with returned None; accepted: a Trained"),
    ],
    ids=["network", "labels", "weights", "outside", "system", "tables", "exit", "signal", "shape"],
)
def test_a_training_that_does_what_it_must_not_is_one_error(
    statement: str, problem: str, release: Path
) -> None:
    places = {"{release}": str(release), "{models}": str(Path(models.__file__).parent)}
    for word, place in places.items():
        statement = statement.replace(word, place)
    with pytest.raises(PredictorError) as caught:
        score(median(training=statement), release)
    text = str(caught.value)
    assert text.startswith("my/median.py: the training ")
    assert problem in text
    assert "\n" not in text
    assert list(release.parent.rglob("escaped")) == []


@pytest.mark.slow
def test_a_training_that_sleeps_forever_is_ended(release: Path) -> None:
    endless = median(training="__import__('time').sleep(1e6)")
    with pytest.raises(PredictorError, match=r"^my/median.py: the training takes more than 0.25 minutes$"):
        score(endless, release, training_s=15)


@pytest.mark.slow
def test_a_training_that_takes_too_much_memory_is_ended(release: Path) -> None:
    large = median(training="everything = bytearray(2 << 30); everything[::4096] = b'1' * (1 << 19)")
    with pytest.raises(PredictorError, match=r"the training takes more than 1 GiB of memory$"):
        score(large, release, memory_bytes=1 << 30)


def test_failing_answers_are_rows_with_reasons(release: Path) -> None:
    """Half of the designs of part test have four iterations a loop."""
    statements = (
        "few = '< 4' in query.source",
        "if few and query.memory_read_delay_cycles == 2: raise RuntimeError('too few iterations')",
        "if few: return Estimate(values={t: float('nan') for t in self.medians}, outside_training=())",
    )
    entry = score(median(answering="\n        ".join(statements)), release)
    reasons = {failure.reason: failure.row_count for failure in entry.failures}
    assert sorted(reasons.values()) == [4, 4]
    raised, missing = sorted(reasons)
    assert raised.startswith("RuntimeError: too few iterations (median.py:")
    assert missing == "area_um2 is no finite number: nan"
    mape = next(row for row in entry.errors if (row.target, row.metric) == ("area_um2", "mape"))
    assert mape.row_count == 16


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("return 5", "PredictorError: predict returned 5 at place 0; accepted: one Estimate per query"),
        ("return Estimate(values={}, outside_training=())", "area_um2 is missing from the answer"),
        ("__import__('os')._exit(3)", "answering ends with exit status 3"),
        ("__import__('time').sleep(1e6)", "answering takes more than 0.25 minutes"),
    ],
    ids=["shape", "target", "exit", "sleep"],
)
def test_a_predictor_without_any_answer_is_one_error(statement: str, reason: str, release: Path) -> None:
    with pytest.raises(PredictorError, match=r"^my/median.py: no design has an answer: ") as caught:
        score(median(answering=statement), release, answering_s=15)
    assert reason in str(caught.value)


@pytest.mark.slow
def test_a_design_without_an_answer_has_an_error_of_100_percent(release: Path) -> None:
    designs = load_labelled_designs(release, Selection(split=SPLIT))[:2]
    answers = [Answer(reason="none"), Answer(values={"area_um2": designs[1].labels["area_um2"]})]
    errors = errors_of("x", predictions_of(designs, answers, ["area_um2"]), SPLIT)
    assert [row.value for row in errors if row.metric == "mape"] == [0.5]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('version="1"', "version=1", "version: 1 of type int; accepted: text in quotes"),
        ('labels_task("static")', "5", "fails when it is run: AttributeError: 'int' object has no attr"),
        ("PREDICTOR = Predictor", "OTHER = Predictor", "no predictor: PREDICTOR is not bound, or None"),
    ],
)
def test_a_file_that_is_no_predictor_is_refused(old: str, new: str, problem: str, release: Path) -> None:
    text = MEDIAN.read_text()
    assert old in text
    with pytest.raises(PredictorError, match=r"^my/median.py: the file of the predictor fails: ") as caught:
        score(Subject(label="my/median.py", content=text.replace(old, new).encode()), release)
    assert problem in str(caught.value)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("os._exit(0)", "its process leaves no result: output is not a regular file: No such file or dir"),
        (
            "os.symlink('/etc/passwd', 'problem.txt')",
            "its process leaves no result: output is not a regular ",
        ),
        ("os.write(2, b'bye'); os._exit(4)", "the file of the predictor ends with exit status 4: bye"),
        ("os.write(1, bytes(1 << 25))", "the file of the predictor writes too much to standard output"),
    ],
    ids=["exit", "link", "status", "flood"],
)
def test_a_file_that_ends_or_floods_its_process_is_refused(
    statement: str, problem: str, release: Path
) -> None:
    content = f"import os, sys\n{statement}\n".encode()
    with pytest.raises(PredictorError) as caught:
        score(Subject(label="my/median.py", content=content), release)
    assert str(caught.value).startswith(f"my/median.py: {problem}")


def test_a_level_below_the_predictors_own_is_refused(release: Path) -> None:
    with pytest.raises(PredictorError, match=r"is of level static, which is above text; accepted: static, "):
        score_predictor(median(), release, split=SPLIT, level="text")


def test_a_part_that_the_split_lacks_is_refused(release: Path) -> None:
    with pytest.raises(DatasetError, match=r"^no part fields in split by_kernel_v2; accepted: test$"):
        score_predictor(median(), release, split=SPLIT, parts=["fields"])


# ---- the command -----------------------------------------------------------------------------------------


def test_the_command_prints_a_table_or_an_entry(release: Path) -> None:
    words = ["score", str(MEDIAN), "--release", str(release), "--part", "test", "-o", "factor=2"]
    text = CliRunner().invoke(simfoundry, words)
    assert text.exit_code == 0, text.stderr
    first, head, _, *rows = text.stdout.splitlines()
    assert first == "median, version 1, level static: release nests, split by_kernel_v2"
    assert " ".join(head.split()) == "part target designs mean error % median error % rank inside %"
    assert rows[0].startswith("test  area_um2         16 ")
    assert rows[-2] == "designs: 16 asked, 0 without an answer, each an error of 100%"
    assert rows[-1].startswith("processor time: training ")
    entry = Entry.model_validate_json(CliRunner().invoke(simfoundry, [*words, "--json"]).stdout)
    assert (entry.settings, entry.seed, entry.release) == ({"factor": 2}, 0, "nests")


@pytest.mark.slow
def test_the_command_scores_a_trained_model_as_it_is(release: Path, tmp_path: Path) -> None:
    spec = predictor_named("tlp")
    settings = {"split": SPLIT, "epochs": 1, "width": 16}
    model = tmp_path / "model"
    expected = in_process(spec, release, model, settings)
    words = ["score", str(model), "--release", str(release)]
    result = CliRunner().invoke(simfoundry, [*words, "--json"])
    assert result.exit_code == 0, result.stderr
    entry = Entry.model_validate_json(result.stdout)
    assert percentages(entry.errors) == pytest.approx(percentages(expected), rel=1e-4)
    assert (entry.origin, entry.training_s) == ("registered", None)
    options = CliRunner().invoke(simfoundry, [*words, "-o", "epochs=2"])
    assert (options.exit_code, "is trained already; accepted: no --option" in options.stderr) == (1, True)


@pytest.mark.slow
def test_the_command_rejects_a_model_that_learned_from_judged_programs(release: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(release, moved)
    spec = predictor_named("loop-rules")
    spec.train(release, make_options(spec.options, {"split": SPLIT}), folder=tmp_path / "model")
    path = next((moved / "tables" / "splits").iterdir())
    swapped = {"train": "test", "test": "train"}
    rows = pl.read_parquet(path).with_columns(pl.col("part").replace(swapped))
    pq.write_table(from_frame(rows, table_spec("splits").schema()), path)
    result = CliRunner().invoke(simfoundry, ["score", str(tmp_path / "model"), "--release", str(moved)])
    assert result.exit_code == 1
    assert "learned from programs of the judged parts, " in result.stderr


def test_the_command_rejects_an_unknown_option_and_a_missing_file(release: Path, tmp_path: Path) -> None:
    words = ["--release", str(release)]
    option = CliRunner().invoke(simfoundry, ["score", str(MEDIAN), *words, "-o", "size=1"])
    assert option.exit_code == 1
    assert (
        "unknown option: size; accepted: split, tool, liberty, bootstrap_resamples, factor" in option.stderr
    )
    absent = CliRunner().invoke(simfoundry, ["score", str(tmp_path / "absent.py"), *words])
    assert absent.exit_code == 1
    assert "cannot read the predictor " in absent.stderr
