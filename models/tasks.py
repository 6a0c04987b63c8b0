"""Tasks: what predictors answer, from which tables, and the reference set that they are judged on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pipelines.schemas import tables_of_role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float64]

Medians: TypeAlias = dict[str, list[float]]
"""By target and part, medians as `models.gate.ReferenceErrors` has them."""
LABEL_TABLES = ("programs", "loops", "designs", "labels", "runs", "splits")
DERIVED_TABLES = ("features", "loop_profiles", "run_features")
"""Tables that follow from programs, designs and runs; the release v1 has none of them."""
EXAMPLE_SOURCE = "void scale(int x[8]) { for (int i = 0; i < 8; i++) x[i] = 3 * x[i]; }\n"
"""Program of the questions about programs."""


class DatasetError(ValueError):
    """The tables cannot be trained on: one is missing, a split leaks, or a part is empty."""


class TooFewRows(DatasetError):
    """The tables are right and have rows, but not those that a training needs; a run skips the predictor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a question or an answer.

    Attributes:
        kind: type in a DataFrame.
        unit: of its values.
        example: value of the input example; answers have none.
        required: of a question: it must have the column.
        least, most: of a number in a question; None where the kind alone limits it.
    """

    name: str
    kind: Literal["string", "long", "double"] = "double"
    unit: str = ""
    example: str | int | float | None = None
    required: bool = True
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Rows of a release on which every version of a model is scored. They are never trained on.

    Attributes:
        release: folder, relative to the project's folder.
        split: frozen split in the release; "group" where the parts are groups of runs.
        parts: sides of the split.
        minimum_programs: programs (networks, ...) that a score needs before a model may be promoted.
    """

    release: str
    split: str
    parts: tuple[str, ...]
    minimum_programs: int

    @property
    def name(self) -> str:
        """The reference in words, for tables and cards."""
        return f"{self.release}, {self.split}: {', '.join(self.parts)}"

    @property
    def folder(self) -> Path:
        """Where the release is."""
        return Path(__file__).resolve().parents[1] / self.release


def part_groups(reference: Reference) -> frozenset[str]:
    """Return the groups of a reference whose parts are groups."""
    return frozenset(reference.parts)


def split_groups(reference: Reference) -> frozenset[str]:
    """Return the groups of programs in the parts of a frozen split of table splits."""
    import polars as pl  # lazy import: takes 0.15 s, and most decisions read no table

    from pipelines.schemas import scan_table, table_spec

    own = (pl.col("split") == reference.split) & pl.col("part").is_in(reference.parts)
    rows = scan_table(reference.folder, table_spec("splits")).filter(own).select("group").collect()
    return frozenset(rows["group"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSet:
    """Programs with known answers on which every version of a model is scored.

    Attributes:
        programs: name of every program (a network, where networks are asked about).
        groups: group of every program; programs of one group are not independent.
        baseline_errors: errors of the trivial baseline.
        score: errors of a loaded predictor, in the order of the programs.
        judge: the same, and its medians beside a constant's as in `ReferenceErrors`; None where targets have
            no constants.
    """

    programs: tuple[str, ...]
    groups: tuple[str, ...]
    baseline_errors: tuple[float, ...]
    score: Callable[[Any], Vector]
    judge: Callable[[Any], tuple[Vector, Medians]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question that predictors answer.

    Attributes:
        tables: read for training.
        targets: unit by predicted quantity.
        level: what a predictor may look at: one word, of `Level` where labels are predicted.
        metric: error of one program, a fraction; the mean over programs is compared.
        baseline: the trivial answer that a model has to beat.
        question: columns of the DataFrame that a registered model is asked with.
        reference: None where no release holds one.
        reference_set: builds the programs and errors of a reference.
        reference_groups: groups of a reference, which training must not look at.
    """

    name: str
    tables: tuple[str, ...]
    targets: Mapping[str, str]
    level: str
    metric: str
    baseline: str
    question: tuple[Column, ...]
    reference: Reference | None
    reference_set: Callable[[Reference], ReferenceSet]
    reference_groups: Callable[[Reference], frozenset[str]] = split_groups


def hash_tables(data_dirs: Iterable[Path], tables: Iterable[str]) -> str:
    """Return the hash of tables as they are on disk; equal content has equal bytes.

    Optional tables of releases that a folder lacks are not read: they follow from its programs and designs.

    Returns: first 32 hexadecimal digits of the SHA-256.
    Raises:  DatasetError: a table is missing.
    """
    digest = hashlib.sha256()
    tables, optional = tuple(tables), tables_of_role("optional")
    for folder in data_dirs:
        for name in (t for t in tables if t not in optional or has_table(folder, t)):
            for path in table_files(folder, name):
                digest.update(f"{name}/{path.name}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def has_table(data_dir: Path, name: str) -> bool:
    """Tell whether a folder has files of a table."""
    return any((data_dir / "tables" / name).glob("*.parquet"))


def table_files(data_dir: Path, name: str) -> list[Path]:
    """Return Parquet files of a table.

    Raises: DatasetError: there are none.
    """
    files = sorted((data_dir / "tables" / name).glob("*.parquet"))
    if not files:
        raise DatasetError(
            f"no Parquet files of table {name} ({data_dir / 'tables' / name}); "
            "make the data first with `simfoundry run`"
        )
    return files
