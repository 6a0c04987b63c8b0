"""What a step declares, and making its tables: read, call one engine function, write.

Dagster's assets, DVC's stages and `simfoundry stage` all derive from these declarations (assets/steps/).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assets.checks import CheckRule
from assets.engines import TOOLS_OF_ALL, Constant, Engine
from assets.errors import FoundryError
from assets.settings import Configuration, Listener, Settings, ignore_progress
from assets.shared_tables import file_hash, publish_shards, pull_tables
from pipelines.base.identity import content_hash
from pipelines.schemas import OK, read_arrow, read_table, table_path, table_spec, write_arrow, write_table

REASON_LENGTH = 100
ENVIRONMENT_SIGNS = ("not found on PATH", "No space left", "Disk quota", "File too large")
"""Parts of reasons that blame the machine and not the design."""

KIND = "unchanged"
"""Kind of cache entries that say which files a step wrote from which inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """How the rows of a table are spread over files.

    Attributes:
        name: of the kind; steps of one kind are made together, a Dagster run per partition.
        names: of the files under a configuration, in order.
        is_whole: whether there is one file, so that Dagster needs no partitions.
    """

    name: str
    names: Callable[[Configuration], tuple[str, ...]]
    is_whole: bool = False


def whole(file: str | Callable[[Configuration], str] = "all") -> Partitioning:
    """Return one file, of that name."""
    name = file if callable(file) else lambda _: file
    return Partitioning(name=WHOLE, names=lambda configuration: (name(configuration),), is_whole=True)


WHOLE = "whole"
SKIPPED = "skipped"
"""Note of a step that could not be made of the rows that there are, and need not be: the reason."""


class Markdown(str):
    """A note that Dagster renders as Markdown."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a step's function returns.

    Attributes:
        rows: by table; columns for tables with millions of rows.
        notes: anything else worth showing, by name; texts, numbers or Markdown.
    """

    rows: Mapping[str, Sequence[Any] | pa.Table]
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: everything that Dagster, DVC and the command line need to know of it.

    Attributes:
        name: of the step.
        description: one sentence.
        run: settings, partition, progress listener -> tables.
        tables: that it writes.
        reads: tables that it needs.
        partitioned: how its tables are spread over files.
        stage: DVC stage and Dagster group; that of its tables unless given.
        asset: key of its one asset; without it each table is an asset.
        pool: Dagster's pool; dagster.yaml admits one step of a pool at a time.
        configuration: groups of the configuration that it declares, by name: a `Group`, or a dataclass of its
            engine.
        parameters: keys of params.yaml that its rows depend on.
        engines: whose version constants and tools its rows depend on.
        files: committed files and folders that its rows depend on.
        version: hash of the code and options that the files of a partition follow from; with it, files of
            unchanged inputs are left as they are.
        state: what else its tables follow from, such as the model registry; None when it is not known.
        checks: rules beyond the general ones, by table.
        plots: columns drawn in the metadata, by table.
        require: called before any work; raises when the configuration or the machine cannot do.
        is_active: whether `simfoundry run` makes it under a configuration.
        needs_all: whether it can only be made when all that it reads was made.
        persist: tables whose files the step reads before it writes them.
        is_recorded: whether it is part of a DVC stage; not a step whose tables depend on earlier runs.
        is_locked: whether dvc.lock has its tables by their hash; not trained figures, which differ between
            machines.
    """

    name: str
    description: str
    run: Callable[[Settings, str, Listener], Output]
    tables: tuple[str, ...]
    reads: tuple[str, ...] = ()
    partitioned: Partitioning = field(default_factory=whole)
    stage: str = ""
    asset: str | None = None
    pool: str | None = None
    configuration: Mapping[str, type[Any]] = field(default_factory=dict[str, type[Any]])
    parameters: tuple[str, ...] = ()
    engines: tuple[Engine, ...] = ()
    files: tuple[str, ...] = ()
    version: Callable[[Settings, str], str] | None = None
    state: Callable[[Settings], Any] | None = None
    checks: Mapping[str, Sequence[CheckRule]] = field(default_factory=dict[str, Sequence[CheckRule]])
    plots: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    require: Callable[[Settings], None] | None = None
    is_active: Callable[[Settings], bool] = lambda settings: True  # noqa: ARG005
    needs_all: bool = True
    persist: tuple[str, ...] = ()
    is_recorded: bool = True
    is_locked: bool = True

    def __post_init__(self) -> None:
        if not self.stage:
            object.__setattr__(self, "stage", table_spec(self.tables[0]).stage)

    def partitions(self, settings: Settings) -> tuple[str, ...]:
        """Return the names of the table files that it writes under these settings."""
        return self.partitioned.names(settings.configuration)

    @property
    def recorded(self) -> tuple[str, ...]:
        """Tables that DVC records."""
        return self.tables if self.is_recorded and self.is_locked else ()

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Version constants that its rows depend on, in order of file and name."""
        return tuple(sorted({constant for engine in self.engines for constant in engine.constants}))

    @property
    def tools(self) -> tuple[str, ...]:
        """Tools whose version its rows depend on, by name."""
        return tuple(sorted({*TOOLS_OF_ALL, *(tool for engine in self.engines for tool in engine.tools)}))

    @property
    def assets(self) -> tuple[str, ...]:
        """Keys of its Dagster assets."""
        return (self.asset,) if self.asset else self.tables

    def title(self, partition: str) -> str:
        """Return the step and the partition, for people."""
        return self.name if partition == "all" else f"{self.name} {partition}"

    def make(self, settings: Settings, partition: str, listen: Listener = ignore_progress) -> StepSummary:
        """Write the tables of a partition; files that the same inputs gave before are left as they are.

        With a catalogue, what others published of its tables and of those that it reads is fetched first, and
        the files are published when all of them are in place.

        Raises: FoundryError: a table that it reads is not there, or the catalogue does not answer.
                SchemaError: a table is damaged.
        """
        pull_tables(settings.deployment, (*self.reads, *self.tables))
        key = self.inputs_key(settings, partition)
        unchanged = unchanged_rows(settings, key, partition)
        if unchanged is not None:
            publish_shards(settings.deployment, dict.fromkeys(unchanged, (partition,)))
            return self._summary(settings, partition, unchanged)
        output = self.run(settings, partition, listen)
        summary = write_output(settings, self.name, partition, output)
        publish_shards(settings.deployment, dict.fromkeys(output.rows, (partition,)))
        keep_written(settings, key, tuple(output.rows), partition, _statuses(output.rows.values()))
        return summary

    def inputs_key(self, settings: Settings, partition: str) -> str | None:
        """Return hash of everything that the files of a partition follow from; None if it is not known."""
        if self.version is None:
            return None
        hashes = [file_hash(_path(settings, table, partition)) for table in self.reads]
        if None in hashes:
            return None
        return content_hash(self.name, partition, self.version(settings, partition), hashes)

    def _summary(self, settings: Settings, partition: str, rows: Mapping[str, int]) -> StepSummary:
        """Return the summary of files that were left as they are."""
        failures: Counter[tuple[str, str, str]] = Counter()
        for table in rows:
            spec = table_spec(table)
            if "status" in spec.schema().names:
                failures += count_failures(
                    table, spec.from_arrow(read_arrow(_path(settings, table, partition)))
                )
        return StepSummary(step=self.name, partition=partition, rows=rows, failures=dict(failures))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSummary:
    """What a step did.

    Attributes:
        step: name of the step.
        partition: name of the table files it wrote.
        rows: rows written, by table.
        failures: rows that are not ok, by table, status and reason.
        notes: anything else worth showing, by name.
    """

    step: str
    partition: str
    rows: Mapping[str, int]
    failures: Mapping[tuple[str, str, str], int] = field(default_factory=dict[tuple[str, str, str], int])
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_rows(settings: Settings, table: str, partition: str) -> list[Any]:
    """Read the rows of one file of a table that an earlier step made.

    Raises: FoundryError: it is not there. SchemaError: it is damaged.
    """
    spec = table_spec(table)
    try:
        return read_table(settings.deployment.data_dir, spec, [partition])
    except FileNotFoundError as error:
        raise FoundryError(
            f"table {table} has no file {_path(settings, table, partition)}; "
            f"run `simfoundry stage {spec.stage}` first"
        ) from error


def write_output(settings: Settings, step: str, partition: str, output: Output) -> StepSummary:
    """Write the tables of a partition."""
    failures: Counter[tuple[str, str, str]] = Counter()
    for table, content in output.rows.items():
        if isinstance(content, pa.Table):
            write_arrow(settings.deployment.data_dir, table_spec(table), content, partition)
            continue
        write_table(settings.deployment.data_dir, table_spec(table), content, partition)
        failures += count_failures(table, content)
    return StepSummary(
        step=step,
        partition=partition,
        rows={table: len(content) for table, content in output.rows.items()},
        failures=dict(failures),
        notes=output.notes,
    )


def count_failures(table: str, rows: Sequence[Any]) -> Counter[tuple[str, str, str]]:
    """Return the rows that are not ok, or whose power is not, by table, status and reason."""
    failures: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        power = getattr(row, "power_status", None)
        if getattr(row, "status", OK) != OK:
            failures[table, row.status, _short(row.reason or "no reason")] += 1
        elif power not in (None, OK):
            failures[table, power, _short(f"power: {row.power_reason or 'no reason'}")] += 1
    return failures


def _short(reason: str) -> str:
    """Return the beginning of a reason, and what in the rest of it blames the machine."""
    text = " ".join(reason.split())
    begin, rest = text[:REASON_LENGTH], text[REASON_LENGTH:]
    sign = next((sign for sign in ENVIRONMENT_SIGNS if sign in text and sign not in begin), None)
    return f"{begin} ... {sign}" if rest and sign else begin


def _statuses(tables: Iterable[Sequence[Any] | pa.Table]) -> set[str]:
    rows = (row for content in tables if not isinstance(content, pa.Table) for row in content)
    return {row.status for row in rows if hasattr(row, "status")}


# ---- files that the same inputs gave before --------------------------------------------------------
# Reading and writing the graphs of ten thousand designs takes half a minute, hashing their files one second.


def unchanged_rows(settings: Settings, key: str | None, partition: str) -> Mapping[str, int] | None:
    """Return rows by table of the files that a step wrote of these inputs, when they are there byte for byte.

    Args: key: of the inputs, see `Step.inputs_key`.
    """
    written = None if key is None else settings.cache.get(KIND, key)
    if written is None:
        return None
    paths = {table: _path(settings, table, partition) for table in written}
    if any(file_hash(path) != written[table] for table, path in paths.items()):
        return None
    if not all(_is_of(pq.read_schema(path), table_spec(table).schema()) for table, path in paths.items()):
        return None
    timed = [table for table in written if table_spec(table).has_measured]
    if not all(_path(settings, table, partition, measured=True).is_file() for table in timed):
        return None
    return {table: pq.read_metadata(path).num_rows for table, path in paths.items()}


def _is_of(schema: pa.Schema, declared: pa.Schema) -> bool:
    """Tell whether a file has the declared columns, descriptions included.

    Parquet names the values of a list otherwise than Arrow does, which a comparison with metadata would see.
    """
    return schema.equals(declared) and all(
        one.metadata == other.metadata for one, other in zip(schema, declared, strict=True)
    )


def keep_written(
    settings: Settings, key: str | None, tables: Sequence[str], partition: str, statuses: Iterable[str] = ()
) -> None:
    """Keep the hashes of the files that a step has just written, when it would write the same again.

    Args:   key: of the inputs, None when they are not known; statuses: of the rows, see `ContentCache.keep`.
    Raises: OSError: the disk is full or not writable.
    """
    if key is None:
        return
    written = {table: file_hash(_path(settings, table, partition)) for table in tables}
    settings.cache.keep(KIND, key, written, *set(statuses))


def _path(settings: Settings, table: str, partition: str, *, measured: bool = False) -> Path:
    return table_path(settings.deployment.data_dir, table_spec(table), partition, measured=measured)


def tree_hash(path: Path) -> str:
    """Return the hash of the files of a folder, compiled Python aside, or of a file.

    Raises: FileNotFoundError: there are none; a hash of nothing would never change.
    """
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    files = [file for file in files if file.is_file() and "__pycache__" not in file.parts]
    if not files:
        raise FileNotFoundError(f"no such folder of code: {path}")
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(path.parent)} {file_hash(file)}\n".encode())
    return digest.hexdigest()
