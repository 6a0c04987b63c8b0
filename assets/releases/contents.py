"""What a release has and what it lacks, beside the tables of the project that it is made in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assets.label_settings import label_options
from assets.releases.batches import Batch, all_steps, whole_steps
from assets.settings import Settings
from assets.step import Step, read_rows
from assets.steps import STEPS
from assets.suites import options_of_shard, shard_named, suite_options
from pipelines.dataset.labelling import LabelTables, label_targets
from pipelines.dataset.labelling.synthesis import is_mapped
from pipelines.dataset.releases import (
    Release,
    derived_tables,
)
from pipelines.programs import AST
from pipelines.programs.ast import lacks_discarded
from pipelines.schemas import (
    SchemaError,
    read_arrow,
    table_path,
    table_spec,
)

PROGRAMS = "programs"
LABELS = "labels"
"""The step that maps designs to cells."""


@dataclass(slots=True, kw_only=True)
class ReleaseContents:
    """The partitions that a release has.

    Attributes:
        settings: of the release. finished: its partitions by table. derived: see `Manifest`.
    """

    settings: Settings
    finished: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    derived: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _mapped: set[str] = field(default_factory=set[str])
    _attempted: set[str] = field(default_factory=set[str])

    def take_up(self, release: Release) -> bool:
        """Start from the partitions of a release.

        Returns: whether the project has all of them with the same rows.
        """
        self.finished = {table: list(release.partitions(table)) for table in release.tables()}
        self.derived = {t: dict(hashes) for t, hashes in (release.manifest.derived or {}).items()}
        return all(
            self._holds(table, partition, release.arrow(table, partition))
            for table, partitions in self.finished.items()
            for partition in partitions
        )

    def _holds(self, table: str, partition: str, content: Any) -> bool:
        try:
            return read_arrow(self.path(table, partition)).equals(content)
        except (FileNotFoundError, SchemaError):
            return False

    def path(self, table: str, partition: str) -> Path:
        """Give the file of a partition in the project."""
        return table_path(self.settings.deployment.data_dir, table_spec(table), partition)

    def is_done(self, step: Step, partition: str) -> bool:
        """Tell whether every table of a step has that partition, or its hash where it is derived."""
        is_there = all(
            partition in self.finished.get(table, ()) or partition in self.derived.get(table, ())
            for table in step.tables
        )
        if is_there and step.name == PROGRAMS:
            return self._has_attempts(partition)
        return is_there and (step.name != LABELS or self._is_mapped(partition))

    def _has_attempts(self, partition: str) -> bool:
        """Tell whether an AST shard's programs have the discarded attempts that the configuration keeps."""
        shard = shard_named(partition, self.settings.configuration)
        if shard.suite == AST and partition not in self._attempted:
            ast = options_of_shard(suite_options(self.settings), shard)
            rows = read_rows(self.settings, PROGRAMS, partition)
            if lacks_discarded(rows, **asdict(ast.ast), options=ast.ast_options):
                return False
            self._attempted.add(partition)
        return True

    def _is_mapped(self, partition: str) -> bool:
        """Tell whether the labels of a partition have figures of every design that is to be mapped."""
        if partition in self._mapped:
            return True
        names = ("designs", "labels", "runs", "cross_checks")
        designs, labels, runs, checks = (read_rows(self.settings, table, partition) for table in names)
        tables = LabelTables(labels=labels, runs=runs, cross_checks=checks)
        options = label_options(self.settings)
        if any(target.lacking(designs, tables, options) for target in label_targets(options)):
            return False
        self._mapped.add(partition)
        return True

    def lacking(self, batch: Batch) -> list[Step]:
        """Return the steps of a batch that lack a table, and those that read what they make."""
        steps: list[Step] = []
        changed: set[str] = set()
        for step in batch.steps:
            if changed & set(step.reads) or not self.is_done(step, batch.partition):
                steps.append(step)
                changed |= set(step.tables)
        return steps

    def keep(self, table: str, partition: str) -> None:
        """Count a partition that was made as finished, a derived one by its hash."""
        if table in derived_tables():
            self.derived.setdefault(table, {})[partition] = digest_of(self.path(table, partition))
        elif partition not in self.finished.setdefault(table, []):
            self.finished[table].append(partition)

    def leave_out_derived(self) -> None:
        """Count every derived table by its hashes alone; an earlier version of its release had rows of it."""
        for table in derived_tables():
            for partition in self.finished.pop(table, ()):
                self.keep(table, partition)

    def mapped_labels(self, partition: str) -> set[tuple[str, str]]:
        """Return the design and tool of each finished ok label with figures."""
        if partition not in self.finished.get("labels", ()):
            return set()
        rows = read_rows(self.settings, "labels", partition)
        return {(row.design_id, row.tool) for row in rows if is_mapped(row)}

    def forget_followers(self, step: Step) -> None:
        """Forget the whole tables that follow from a step's tables, which has made other rows."""
        changed = set(step.tables)
        for follower in whole_steps(self.settings):
            if changed & set(follower.reads):
                changed |= set(follower.tables)
                for table in follower.tables:
                    self.finished.pop(table, None)
                    self.derived.pop(table, None)

    @property
    def pending(self) -> tuple[str, ...]:
        """Partitions that lack a table, whole tables at the end."""
        lacking = [
            partition
            for step in (*all_steps(self.settings), *whole_steps(self.settings))
            for partition in step.partitions(self.settings)
            if not self.is_done(step, partition)
        ]
        return tuple(dict.fromkeys(lacking))

    def in_order(self) -> dict[str, tuple[str, ...]]:
        """Return the finished partitions of each table in the order of the steps, whenever they were made."""
        steps = {table: step for step in STEPS for table in step.tables if table in self.finished}
        return {
            table: tuple(p for p in step.partitions(self.settings) if p in self.finished[table])
            for table, step in steps.items()
        }

    def ready(self) -> Iterator[tuple[Step, str]]:
        """Give whole steps that lack a table and have all that they read, each with the name of its file.

        A step becomes ready when the caller has made the ones before it.
        """
        whole = whole_steps(self.settings)
        makers = {table: s for s in (*all_steps(self.settings), *whole) for table in s.tables}
        for step in whole:
            is_ready = all(
                self.is_done(makers[table], partition)
                for table in step.reads
                for partition in makers[table].partitions(self.settings)
            )
            for partition in step.partitions(self.settings) if is_ready else ():
                if not self.is_done(step, partition):
                    yield step, partition


def digest_of(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
