"""A predictor with a new task costs two files, which are found by themselves."""

from __future__ import annotations

from pathlib import Path

from scratch_tree import ROOT, copy_tree, run_script

ADDED = {
    "models/program_size/__init__.py": '''\
"""Length of the C text of a program, from the name of its top function."""

from __future__ import annotations

from dataclasses import dataclass

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.model_files import ModelFiles
from models.tasks import Column, Reference, ReferenceSet, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Attributes: factor: of the median."""

    factor: float = 1.0


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.program_size.median import reference_set

    return reference_set(reference)


def _train(data: TrainingInput) -> Trained:
    from models.program_size.median import train

    return train(data)


def _load(files: ModelFiles) -> object:
    from models.program_size.median import MedianLength

    return MedianLength(**files.card)


PREDICTOR = PredictorSpec(
    name="program-size",
    version="1",
    description="The median length of the training programs.",
    task=Task(
        name="program-size",
        tables=("programs",),
        targets={"source_bytes": "B"},
        level="text",
        metric="absolute percentage error, at most 100 %",
        baseline="100 B",
        question=(Column(name="top", kind="string", example="scale"),),
        reference=Reference(
            release="releases/v1", split="by_kernel_v1", parts=("test",), minimum_programs=5
        ),
        reference_set=_reference_set,
    ),
    options=Options,
    train_with=_train,
    load_with=_load,
    answers=(Column(name="source_bytes", unit="B"),),
    libraries=("numpy",),
)
''',
    "models/program_size/median.py": '''\
"""The median length, and the reference set of the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.model_files import ModelFiles
from models.reference_sets import Vector, mean_errors, reference_set_of, relative_errors
from models.tasks import Reference, ReferenceSet, table_files
from pipelines.schemas import read_arrow


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianLength:
    """A trained predictor."""

    source_bytes: float

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the same length for each row."""
        for number, row in enumerate(rows):
            if not isinstance(row.get("top"), str) or not row["top"].isidentifier():
                raise PredictorError(f"row {number}: top must be a name, got {row.get('top')}")
        return [{"source_bytes": self.source_bytes} for _ in rows]


def _rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return [row for path in table_files(folder, table) for row in read_arrow(path).to_pylist()]


def train(data: TrainingInput) -> Trained:
    """Compute the median."""
    lengths = [len(row["source"]) for folder in data.data_dirs for row in _rows(folder, "programs")]
    median = data.options.factor * float(np.median(lengths))
    return Trained(files=ModelFiles(card={"source_bytes": median}, arrays={}), seen_groups=[])


def reference_set(reference: Reference) -> ReferenceSet:
    """Read the programs of the test part."""
    groups = {
        row["program_id"]: row["group"]
        for row in _rows(reference.folder, "splits")
        if row["split"] == reference.split and row["part"] in reference.parts
    }
    rows = [row for row in _rows(reference.folder, "programs") if row["program_id"] in groups]
    names, actual = [row["program_id"] for row in rows], np.array([len(row["source"]) for row in rows])

    def errors(predicted: Vector) -> Vector:
        return mean_errors(names, relative_errors(predicted, actual))[1]

    def score(predictor: Any) -> Vector:
        answers = predictor.answer([{"top": row["top"]} for row in rows])
        return errors(np.array([answer["source_bytes"] for answer in answers]))

    return reference_set_of(sorted(names), groups, errors(np.full(len(rows), 100.0)), score)
''',
}
USE = """\
import sys
from pathlib import Path

from assets.configuration import compose_configuration
from assets.steps import STEPS
from models.catalogue import predictor_named
from models.conformance import check_predictor
from models.gate import score

spec, release = predictor_named("program-size"), Path("releases/v1")
print([finding.check for finding in check_predictor(spec, release) if finding.problem])
outcome = spec.train(release, folder=Path(sys.argv[1]) / "trained")
predictor = spec.load(outcome.folder)
reference = spec.task.reference
errors = score(reference.name, "", spec.task.reference_set(reference), predictor)
print(errors.error < errors.baseline_error, len(errors.groups) >= reference.minimum_programs)
print("program_size" in {step.asset for step in STEPS})
print(compose_configuration(()).models.program_size.factor)
"""


def test_a_predictor_is_trained_checked_scored_and_a_step(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    copy_tree(tree, ADDED)
    (tree / "releases").symlink_to(ROOT / "releases")
    assert run_script(tree, USE, str(tmp_path)) == ["[]", "True True", "True", "1.0"]
