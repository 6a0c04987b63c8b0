"""Which steps a run leaves out, because everything that they follow from is as it was.

A step knows itself whether its files follow from the same inputs (`Step.make`), but asking takes the start
of a Dagster run, the import of an engine and all checks again. Here one key per step and partition says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg

from assets.dagster_assets import rules_of
from assets.engines import ROOT, present_tools
from assets.settings import MACHINE_GROUPS, Quality, Settings
from assets.shared_tables import file_hash
from assets.step import Step, keep_written, tree_hash, unchanged_rows
from assets.steps import makers_of
from pipelines.base.identity import content_hash
from pipelines.schemas import read_arrow, table_path, table_spec

_STATUSES = ("status", "power_status")


@dataclass(kw_only=True)
class Unchanged:
    """The steps that need not be made.

    Attributes:
        instance: Dagster's; a step that it never saw is made, so that the UI shows it.
        changed: tables that this run has made.
        left: steps and partitions that were left as they are. asked: number of all.
    """

    settings: Settings
    instance: dg.DagsterInstance
    changed: set[str] = field(default_factory=set[str])
    left: list[str] = field(default_factory=list[str])
    asked: int = 0
    _hashes: dict[tuple[Any, ...], str | None] = field(default_factory=dict[tuple[Any, ...], str | None])

    def pending(self, steps: Iterable[Step], partition: str | None) -> list[Step]:
        """Return steps that are to be made, in order: what they follow from changed, or a step before them.

        Args: partition: of all of them; None for steps with one file.
        """
        pending: list[Step] = []
        for step in steps:
            self.asked += 1
            name = partition or step.partitions(self.settings)[0]
            if self.changed.isdisjoint(step.reads) and self._is_unchanged(step, name):
                self.left.append(step.title(name))
                continue
            pending.append(step)
            self.changed |= set(step.tables)
        return pending

    def keep(self, step: Step, partition: str | None) -> None:
        """Remember what a step was made of, whose blocking checks passed.

        Raises: OSError: the disk is full or not writable.
        """
        name = partition or step.partitions(self.settings)[0]
        paths = [self._path(table, name) for table in step.tables]
        if all(path.is_file() for path in paths):  # else it was skipped
            keep_written(self.settings, self._key(step, name), step.tables, name, _statuses(step, paths))

    def _is_unchanged(self, step: Step, partition: str) -> bool:
        key = None if partition not in self._shown(step) else self._key(step, partition)
        return unchanged_rows(self.settings, key, partition) is not None

    def _shown(self, step: Step) -> set[str]:
        """Return the partitions of a step that Dagster has shown."""
        keys = [dg.AssetKey(key) for key in step.assets]
        if step.partitioned.is_whole:
            seen = self.instance.get_asset_records(keys)
            shown = [record for record in seen if record.asset_entry.last_materialization is not None]
            return set(step.partitions(self.settings)) if len(shown) == len(keys) else set()
        return set.intersection(*(self.instance.get_materialized_partitions(key) for key in keys))

    def _key(self, step: Step, partition: str) -> str | None:
        """Return hash of everything that a partition's files and the outcome of their checks follow from."""
        state = None if step.state is None else step.state(self.settings)
        if step.state is not None and state is None:
            return None
        return content_hash(
            step.name,
            partition,
            {key: self._option(key) for key in step.parameters},
            [(constant.file, constant.name, constant.value) for constant in step.constants],
            {tool: self.tools[tool] for tool in step.tools},
            {path: tree_hash(ROOT / path) for path in step.files},
            [(table, rule.name, rule.description) for table in step.tables for rule in rules_of(table)],
            self.settings.group(Quality).model_dump(mode="json"),
            [(path.parent.name, path.stem, self._hash(path)) for path in self._sources(step, partition)],
            state,
        )

    @cached_property
    def tools(self) -> Mapping[str, str | None]:
        """Present versions of tools."""
        return present_tools(self.settings.configuration)

    @cached_property
    def _options(self) -> Mapping[str, Any]:
        return self.settings.configuration.model_dump(mode="json", exclude={*MACHINE_GROUPS})

    def _option(self, key: str) -> Any:
        content: Any = self._options
        for part in key.split("."):
            content = content[part]
        return content

    def _sources(self, step: Step, partition: str) -> Iterator[Path]:
        """Yield the files that a step reads: of its own partition where a table has it, else of all of it."""
        for table in step.reads:
            kinds = {maker.partitioned.name for maker in makers_of(table)}
            if not step.partitioned.is_whole and step.partitioned.name in kinds:
                yield self._path(table, partition)
            else:
                yield from sorted(p for p in self._path(table, "all").parent.glob("[!.]*.parquet"))

    def _hash(self, path: Path) -> str | None:
        """Return the hash of a table's file, which several steps read."""
        if not path.is_file():
            return None
        state = path.stat()
        identity = (path, state.st_ino, state.st_mtime_ns, state.st_size)
        if identity not in self._hashes:
            self._hashes[identity] = file_hash(path)
        return self._hashes[identity]

    def _path(self, table: str, partition: str) -> Path:
        return table_path(self.settings.deployment.data_dir, table_spec(table), partition)


def _statuses(step: Step, paths: Sequence[Path]) -> Iterator[str]:
    for table, path in zip(step.tables, paths, strict=True):
        columns = [name for name in _STATUSES if name in table_spec(table).schema().names]
        if columns:
            content = read_arrow(path, columns=columns)
            values = (value for name in columns for value in content.column(name).unique().to_pylist())
            yield from (value for value in values if value is not None)
