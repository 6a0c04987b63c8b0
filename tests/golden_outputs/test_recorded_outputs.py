"""Comparison with recorded results: what fails, what it says, and what an update may write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_outputs import ROOT, Engine, Folders, Output, check_outputs, hashed_outputs, version_constants
from engines import ENGINES, HLS
from value_hash import value_hash

from assets.steps import STEPS

RERUN = "pytest tests/golden_outputs -k 'adder' --update-golden"
WITHOUT_RECORD = {
    # Columns of steps around engines.
    ("pipelines/dataset/labelling/configurations.py", "_VERSION"),
    ("pipelines/dataset/labelling/cross_checks.py", "_VERSION"),
    ("pipelines/dataset/labelling/synthesis.py", "_LABEL_VERSION"),
    ("pipelines/dataset/labelling/synthesis.py", "_POWER_VERSION"),
    ("pipelines/rtl/reuse/auditing.py", "_VERSION"),
    # A trained model.
    ("models/program_lm/__init__.py", "VERSION"),
    ("models/program_lm/provider.py", "_SAMPLING_VERSION"),
}


@dataclass(frozen=True)
class Result:
    sum: float
    reason: str
    wall_s: float


def _no_outputs(folders: Folders) -> Iterator[Output]:
    yield "one", Result(3.0, "", 0.1)
    yield "one", Result(3.0, "", 0.1)


ENGINE = Engine(name="adder", package="adder", outputs=_no_outputs)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "adder").mkdir()
    (tmp_path / "adder" / "engine.py").write_text('_VERSION = "1"\n')
    return tmp_path


def check(root: Path, outputs: dict[str, str], *, update: bool = False) -> None:
    check_outputs(ENGINE, outputs, update=update, records=root, root=root)


def test_recorded_results_pass(root: Path) -> None:
    check(root, {"b": "2", "a": "1"}, update=True)
    assert json.loads((root / "adder.json").read_text()) == {"version": "1", "outputs": {"a": "1", "b": "2"}}
    check(root, {"a": "1", "b": "2"})


@pytest.mark.parametrize("update", [False, True])
def test_other_results_of_one_version_are_refused(root: Path, update: bool) -> None:
    check(root, {"a": "1"}, update=True)
    message = r"changed for 1 of 1 inputs \(a\) but not its version: raise _VERSION in adder/engine\.py, then"
    with pytest.raises(pytest.fail.Exception, match=message):
        check(root, {"a": "2"}, update=update)


def test_another_version_asks_for_an_update(root: Path) -> None:
    check(root, {"a": "1"}, update=True)
    (root / "adder" / "engine.py").write_text('_VERSION = "2"\n')
    message = (
        rf"the version of adder changed \(_VERSION in adder/engine\.py\): record its results with {RERUN}"
    )
    with pytest.raises(pytest.fail.Exception, match=message):
        check(root, {"a": "2"})
    check(root, {"a": "2"}, update=True)
    check(root, {"a": "2"})


def test_new_inputs_ask_for_an_update(root: Path) -> None:
    check(root, {"a": "1"}, update=True)
    with pytest.raises(AssertionError, match="if that is right: pytest"):
        check(root, {"a": "1", "b": "2"})


def test_a_missing_record_names_its_update(root: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=rf"is missing; make it with: {RERUN}"):
        check(root, {"a": "1"})


def test_a_constant_is_found_where_it_moved(root: Path) -> None:
    (root / "adder" / "engine.py").rename(root / "adder" / "versions.py")
    assert [c.file.name for c in version_constants(ENGINE, root)] == ["versions.py"]


def test_a_constant_of_two_modules_is_refused(root: Path) -> None:
    (root / "adder" / "other.py").write_text('_VERSION = "1"\n')
    message = r"modules of adder with a constant _VERSION: adder/engine\.py, adder/other\.py; accepted: one"
    with pytest.raises(LookupError, match=message):
        version_constants(ENGINE, root)


def test_two_inputs_of_one_name_are_refused(root: Path) -> None:
    folders = Folders(scratch=root, runtimes=root, engines=root)
    with pytest.raises(ValueError, match="inputs of adder with one name: one"):
        hashed_outputs(ENGINE, folders)


def test_reasons_and_times_do_not_count() -> None:
    first = value_hash({"x": Result(1.0, "so", 2.0), "y": np.arange(3)})
    assert value_hash({"y": np.arange(3), "x": Result(1.0 + 1e-15, "other", 3.0)}) == first
    assert value_hash({"y": np.arange(3), "x": Result(1.1, "so", 2.0)}) != first
    assert value_hash({"y": np.arange(3.0), "x": Result(1.0, "so", 2.0)}) != first


def test_values_of_unknown_types_are_refused() -> None:
    with pytest.raises(TypeError, match="a value without a canonical form: object"):
        value_hash([object()])


@pytest.mark.parametrize("module", ["pipelines.adder", "tests.adder"])
def test_a_sum_of_floats_in_an_engine_is_refused(module: str) -> None:
    names: dict[str, object] = {"__name__": module}
    exec("def add(values): return sum(values)", names)
    add: Any = names["add"]
    assert add([1, 2]) == 3
    if module.startswith("pipelines"):
        with pytest.raises(
            AssertionError, match=r"sum of floats \(<string>:1\); use pipelines\.base\.summation"
        ):
            add([1, 2.0])
    else:
        assert add([1, 2.0]) == 3


def test_constants_that_dvc_reads_have_recorded_results() -> None:
    """A constant of a locked table is one of an engine whose results are recorded, or of a step around it."""
    recorded = {
        (constant.file.relative_to(ROOT).as_posix(), constant.name)
        for engine in (HLS, *ENGINES)
        for constant in version_constants(engine)
    }
    read = {(c.file, c.name) for step in STEPS if step.is_locked for c in step.constants}
    assert read - recorded == WITHOUT_RECORD
