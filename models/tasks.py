"""Tasks: what predictors answer, from which tables, and the reference set that they are judged on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipelines.schemas import tables_of_role

if TYPE_CHECKING:
    from models.reference_sets import ReferenceSet

Level = Literal["text", "static", "hls", "run"]
"""What a predictor of labels may look at: source text, what a front end reads, what high-level synthesis
gives, that and a run of the cycle model."""
LABEL_LEVELS: tuple[Level, ...] = ("text", "static", "hls", "run")
"""Levels of predictors of labels, least information first."""
LABEL_TABLES = ("programs", "loops", "designs", "labels", "runs", "splits")
DERIVED_TABLES = ("features", "loop_profiles", "run_features")
"""Tables that follow from programs, designs and runs; the release v1 has none of them."""


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
    """

    name: str
    kind: Literal["string", "long", "double"] = "double"
    unit: str = ""
    example: str | int | float | None = None
    required: bool = True


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
    """Hash of tables as they are on disk; equal content has equal bytes.

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
    """Whether a folder has files of a table."""
    return any((data_dir / "tables" / name).glob("*.parquet"))


def table_files(data_dir: Path, name: str) -> list[Path]:
    """Parquet files of a table.

    Raises: DatasetError: there are none.
    """
    files = sorted((data_dir / "tables" / name).glob("*.parquet"))
    if not files:
        raise DatasetError(
            f"no Parquet files of table {name} ({data_dir / 'tables' / name}); "
            "make the data first with `simfoundry run`"
        )
    return files


def _judge_labels(
    reference: Reference, *, has_power: bool = False, knows_estimates: bool = False
) -> ReferenceSet:
    from models.query import POWER, TARGETS
    from models.reference_sets import label_reference  # lazy import: reads tables

    targets = (*TARGETS, POWER) if has_power else TARGETS
    return label_reference(reference, targets, knows_estimates=knows_estimates)


_power_reference = partial(_judge_labels, has_power=True)
_hls_reference = partial(_judge_labels, has_power=True, knows_estimates=True)


def labels_task(level: Level, question: tuple[Column, ...] = ()) -> Task:
    """Area, flip-flops and cycles of a program under one configuration, at a level of information."""
    return Task(
        name=f"labels-{level}",
        tables=LABEL_TABLES,
        targets=_LABELS,
        level=level,
        metric="absolute percentage error, at most 100 %, mean over targets and designs of a program",
        baseline="median of each target over the training part",
        question=question or QUERY,
        reference=Reference(
            release="releases/v2",
            split="by_kernel_v2",
            parts=("test", "evaluation"),
            minimum_programs=100,
        ),
        reference_set=_judge_labels,
    )


def labels_and_power_task(level: Level) -> Task:
    """The same labels and power.

    At levels hls and run the trivial answers to area and flip-flops are the engine's own estimates.
    """
    task = labels_task(level)
    of_hls = level in ("hls", "run")
    hls = ("features", "loop_profiles")
    derived = {"hls": hls, "run": (*hls, "run_features")}
    return replace(
        task,
        name=f"labels-power-{level}",
        tables=(*task.tables, *derived.get(level, ())),
        question=RUN_QUERY if level == "run" else task.question,
        targets={**_LABELS, "power_mw": "mW"},
        baseline="the engine's own estimate of area and flip-flops; "
        "median of cycles and of power over the training part"
        if of_hls
        else task.baseline,
        reference_set=_hls_reference if of_hls else _power_reference,
    )


def all_labels_task(level: Level, *, tables: tuple[str, ...] = LABEL_TABLES) -> Task:
    """The same labels, power and the longest path.

    Args: tables: read for training.
    """
    task = labels_and_power_task(level)
    return replace(
        task,
        name=f"labels-power-delay-{level}",
        tables=tables,
        targets={**task.targets, "delay_ns": "ns"},
    )


_LABELS = {"area_um2": "um2", "flip_flop_count": "1", "latency_cycles": "cycle"}
EXAMPLE_SOURCE = "void scale(int x[8]) { for (int i = 0; i < 8; i++) x[i] = 3 * x[i]; }\n"
QUERY = (
    Column(name="source", kind="string", example=EXAMPLE_SOURCE),
    Column(name="top", kind="string", example="scale"),
    Column(name="memory_read_delay_cycles", kind="long", unit="cycle", example=2),
    Column(name="memory_write_delay_cycles", kind="long", unit="cycle", example=2),
    Column(name="clock_period_ns", unit="ns", example=10.0),
    Column(name="directives", kind="string", example="[]"),
    Column(name="data", kind="string", example="", required=False),
    Column(name="trips", kind="string", example="", required=False),
    Column(name="unsafe_math", kind="long", example=0, required=False),
)
"""Fields of `models.labelled.Query` but the input specification."""
RUN_QUERY = (*QUERY, Column(name="inputs", kind="string", example="{}"))
"""Fields of `models.labelled.Query`."""


def label_answers(task: Task, *further: Column) -> tuple[Column, ...]:
    """Return the columns of an answer of a predictor of labels."""
    values = (Column(name=name, unit=unit) for name, unit in task.targets.items())
    ends = (Column(name="confidence"), Column(name="outside_training", kind="string"))
    return (*values, *further, *ends)
