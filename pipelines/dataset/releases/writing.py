"""Writing a release from the tables of a project.

The same rows give the same bytes. Bytes depend on the version of pyarrow, which is pinned, and on nothing
else of the machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.base.folders import replacing_folder
from pipelines.dataset.releases.baselines import BASELINES_FILE, read_valid_baselines
from pipelines.dataset.releases.card import Reproduction, about_release, card_text
from pipelines.dataset.releases.croissant import CROISSANT_FILE, croissant_bytes
from pipelines.dataset.releases.manifest import (
    FORMAT,
    MANIFEST_FILE,
    MEASURED_FILE,
    FileEntry,
    Manifest,
    MeasuredManifest,
    ReleaseError,
    Toolset,
    manifest_bytes,
)
from pipelines.dataset.releases.reading import CARD_FILE, PARAMETERS_FILE
from pipelines.schemas import SchemaError, fill_columns, read_arrow, table_path, table_spec, tables_of_role

SIZE_LIMIT_BYTES = 30 << 20
ROWS_A_SHARD = 25_000
COMPRESSION_LEVEL = 19
DISTINCT_SHARE = 0.5
"""Distinct values over rows from which a column of numbers has no dictionary."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_LARGEST_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """What goes into a release.

    Attributes:
        name: of the release and its folder.
        partitions: of each table, in order; a table without any is not released.
        parameters: text of the configuration.
        size_limit_bytes: of all files together.
        rows_a_shard: most rows of one file.
        left_out: tables that are not in the release, and why; pending, derived, catalogue: see `Manifest`.
        keeps_shards: whether files of the present release that hold the same rows stay as they are, which
            takes less time than compressing them again.
    """

    name: str
    partitions: Mapping[str, Sequence[str]]
    parameters: bytes
    toolset: Toolset
    reproduction: Reproduction
    size_limit_bytes: int = SIZE_LIMIT_BYTES
    rows_a_shard: int = ROWS_A_SHARD
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    pending: tuple[str, ...] | None = None
    derived: Mapping[str, Mapping[str, str]] | None = None
    catalogue: str | None = None
    keeps_shards: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRelease:
    """A release that was written.

    Attributes:
        bytes: of all files.
    """

    folder: Path
    manifest: Manifest
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    entry: FileEntry
    content: bytes = field(repr=False)

    @staticmethod
    def of(path: str, content: bytes, piece: pa.Table, table: str, partition: str) -> _File:
        """Return a shard with its entry in the manifest."""
        entry = FileEntry(
            path=path,
            sha256=hashlib.sha256(content).hexdigest(),
            bytes=len(content),
            table=table,
            partition=partition,
            rows=piece.num_rows,
        )
        return _File(entry=entry, content=content)


def released_tables() -> tuple[str, ...]:
    """Return names of the tables that releases have: all but imported ones and those made from the others."""
    return tables_of_role("released", "optional")


def derived_tables() -> tuple[str, ...]:
    """Return the names of the tables that follow from others; a release may have hashes for their rows."""
    return (*optional_tables(), *tables_of_role("derived"))


def optional_tables() -> tuple[str, ...]:
    """Return the tables that a too large release leaves out, in this order; programs give them again."""
    return tuple(reversed(tables_of_role("optional")))


def write_release(data_dir: Path, releases: Path, options: ReleaseOptions) -> WrittenRelease:
    """Write a release, whole or not at all; one of the same name is replaced.

    Args:    data_dir: with the tables; releases: folder of releases.
    Raises:  ReleaseError: the name is not one, a table lacks a partition, the folder is something else, or
             the release is larger than the limit even without the optional tables. SchemaError: a table is
             damaged.
    """
    if not _NAME.fullmatch(options.name):
        raise ReleaseError(
            f"a release's name must be letters, digits, dots, dashes and underscores, got {options.name!r}"
        )
    folder = releases / options.name
    if folder.exists() and not (folder / MANIFEST_FILE).is_file():
        raise ReleaseError(f"a release's folder must be a release or new, got something else ({folder})")
    tables = {
        table: {partition: _read(data_dir, table, partition) for partition in partitions}
        for table, partitions in options.partitions.items()
        if partitions
    }
    shelf = _Shelf(folder=folder if options.keeps_shards else None, rows=options.rows_a_shard)
    measured = _measured_files(data_dir, tables, shelf)
    files = _table_files(tables, shelf)
    left_out = dict(options.left_out)
    written: list[_File] = []
    for table in ("", *optional_tables()):
        if table in tables:
            files = [f for f in files if f.entry.table != table]
            del tables[table]
            limit = options.size_limit_bytes / (1 << 20)
            left_out[table] = f"with it the release is larger than {limit:g} MiB"
        kept = read_valid_baselines(folder, [file.entry for file in files])
        more = [] if kept is None else [_text_file(BASELINES_FILE, kept)]
        manifest, written = _complete(tables, [*files, *more], measured, left_out, options)
        size = sum(len(f.content) for f in written)
        if size <= options.size_limit_bytes:
            _replace(folder, written)
            return WrittenRelease(folder=folder, manifest=manifest, bytes=size)
    raise ReleaseError(_too_large(written, options.size_limit_bytes))


# ---- files -----------------------------------------------------------------------------------------

Partitions = Mapping[str, Mapping[str, pa.Table]]


def _read(data_dir: Path, table: str, partition: str, *, measured: bool = False) -> pa.Table:
    spec = table_spec(table)
    path = table_path(data_dir, spec, partition, measured=measured)
    try:
        content = fill_columns(read_arrow(path), spec.schema(measured=measured))
    except FileNotFoundError as error:
        raise ReleaseError(
            f"a release must have every file of {table}, got no {path}; run `simfoundry run` first"
        ) from error
    problems = [] if measured else spec.violations(content)
    if problems:
        raise ReleaseError(f"table {table} must fit its schema: {'; '.join(problems)} ({path})")
    return content.cast(spec.schema(measured=measured))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shelf:
    """Shards of tables; an earlier release's in `folder` stay when they hold the same rows."""

    folder: Path | None
    rows: int

    def files(self, room: str, table: str, partition: str, content: pa.Table) -> Iterator[_File]:
        for number, piece in enumerate(shards(content, self.rows)):
            path = f"{room}/{table}/{partition}-{number:04d}.parquet"
            yield _File.of(
                path, self._reusable_bytes(path, piece) or shard_bytes(piece), piece, table, partition
            )

    def _reusable_bytes(self, path: str, piece: pa.Table) -> bytes | None:
        if self.folder is None or not (self.folder / path).is_file():
            return None
        try:
            present = read_arrow(self.folder / path)
        except SchemaError:
            return None
        later = [name for name in piece.column_names if name not in present.column_names]
        if any(piece.column(name).null_count < piece.num_rows for name in later):
            return None
        piece = piece.drop_columns(later)  # declared later, and null as every reader fills them
        is_same = present.schema.equals(piece.schema, check_metadata=True) and present.equals(piece)
        return (self.folder / path).read_bytes() if is_same else None


def _table_files(tables: Partitions, shelf: _Shelf) -> list[_File]:
    return [
        file
        for table, partitions in tables.items()
        for partition, content in partitions.items()
        for file in shelf.files("tables", table, partition, content)
    ]


def _measured_files(data_dir: Path, tables: Partitions, shelf: _Shelf) -> list[_File]:
    return [
        file
        for table, partitions in tables.items()
        if table_spec(table).has_measured
        for partition in partitions
        for file in shelf.files(
            "measured", table, partition, _read(data_dir, table, partition, measured=True)
        )
    ]


def _text_file(path: str, content: bytes) -> _File:
    digest = hashlib.sha256(content).hexdigest()
    return _File(entry=FileEntry(path=path, sha256=digest, bytes=len(content)), content=content)


def _manifest(
    tables: Partitions, files: Sequence[_File], left_out: Mapping[str, str], options: ReleaseOptions
) -> Manifest:
    return Manifest(
        format=FORMAT,
        name=options.name,
        toolset=options.toolset,
        rows={t: sum(piece.num_rows for piece in content.values()) for t, content in tables.items()},
        left_out=left_out,
        files=tuple(f.entry for f in files),
        pending=options.pending,
        derived=options.derived,
        catalogue=options.catalogue,
    )


def _complete(
    tables: Partitions,
    files: Sequence[_File],
    measured: Sequence[_File],
    left_out: Mapping[str, str],
    options: ReleaseOptions,
) -> tuple[Manifest, list[_File]]:
    """Return the manifest and all files: shards, configuration, card, and the manifests that list them."""
    own = [*files, _text_file(PARAMETERS_FILE, options.parameters)]
    whole = {t: pa.concat_tables(list(content.values())) for t, content in tables.items()}
    card = card_text(_manifest(tables, own, left_out, options), whole, options.reproduction)
    own.append(_text_file(CARD_FILE, card.encode()))
    described = _manifest(tables, own, left_out, options)
    own.append(_text_file(CROISSANT_FILE, croissant_bytes(described, about_release(described))))
    manifest = _manifest(tables, own, left_out, options)
    times = MeasuredManifest(format=FORMAT, files=tuple(f.entry for f in measured))
    return manifest, [
        *own,
        *measured,
        _text_file(MANIFEST_FILE, manifest_bytes(manifest)),
        _text_file(MEASURED_FILE, manifest_bytes(times)),
    ]


def _too_large(files: Sequence[_File], limit: int) -> str:
    largest = sorted(files, key=lambda f: (-len(f.content), f.entry.path))[:_LARGEST_SHOWN]
    named = ", ".join(f"{f.entry.path} {len(f.content) / (1 << 20):.1f}" for f in largest)
    total = sum(len(f.content) for f in files) / (1 << 20)
    return (
        f"a release must have at most {limit / (1 << 20):g} MiB, got {total:.1f} without the optional "
        f"tables; the largest files in MiB: {named}"
    )


def _replace(folder: Path, files: Sequence[_File]) -> None:
    """Write a new folder beside, then put it in the old one's place."""
    with replacing_folder(folder, leftover_age_s=0.0) as new:
        for file in files:
            path = new / file.entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)


# ---- shards ----------------------------------------------------------------------------------------


def shard_bytes(table: pa.Table) -> bytes:
    """Return one shard: one row group, zstd, dictionaries wherever values repeat.

    Numbers that do not repeat have their bytes apart, exponents beside exponents: half of the size in tables
    of measured times.
    """
    sink = pa.BufferOutputStream()
    apart = [
        name
        for name in table.column_names
        if pa.types.is_floating(table.schema.field(name).type)
        and pc.count_distinct(table.column(name)).as_py() > table.num_rows * DISTINCT_SHARE
    ]
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=[name for name in table.column_names if name not in apart],
        column_encoding=dict.fromkeys(apart, "BYTE_STREAM_SPLIT"),
        write_statistics=True,
        row_group_size=max(1, table.num_rows),
        data_page_size=8 << 20,
        dictionary_pagesize_limit=16 << 20,
    )
    return sink.getvalue().to_pybytes()


def shards(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """Yield the pieces of at most `rows` rows in order; an empty table gives one empty piece."""
    for start in range(0, max(1, table.num_rows), rows):
        yield table.slice(start, rows)
