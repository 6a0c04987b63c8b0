"""Table files that are what the same inputs gave before, so that a step need not make them again.

Why: reading and writing the graphs of ten thousand designs takes half a minute, hashing their files one
second.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from assets.settings import Settings
from pipelines.identity import content_hash
from pipelines.schemas import table_path, table_spec

KIND = "unchanged"


def inputs_key(
    settings: Settings, step: str, version: str, tables: Sequence[str], partition: str
) -> str | None:
    """What a step's files of a partition follow from; None when an input is not there.

    Args: version: of all code and options that the files depend on; tables: that the step reads.
    """
    hashes = [_file_hash(_path(settings, table, partition)) for table in tables]
    if None in hashes:
        return None
    return content_hash(step, partition, version, hashes)


def unchanged_rows(settings: Settings, key: str | None, partition: str) -> Mapping[str, int] | None:
    """Rows by table of the files that a step wrote of these inputs, when they are there byte for byte.

    Args: key: of the inputs, see `inputs_key`.
    """
    written = None if key is None else settings.cache.get(KIND, key)
    if written is None:
        return None
    paths = {table: _path(settings, table, partition) for table in written}
    if any(_file_hash(path) != written[table] for table, path in paths.items()):
        return None
    if not all(_path(settings, t, partition, measured=True).is_file() for t in written if _has_times(t)):
        return None
    return {table: pq.read_metadata(path).num_rows for table, path in paths.items()}


def keep_written(
    settings: Settings, key: str | None, tables: Sequence[str], partition: str, statuses: Iterable[str] = ()
) -> None:
    """Remember the files that a step has just written of some inputs, when it would write the same again.

    Args:   statuses: of the rows; see `ContentCache.keep`.
    Raises: OSError: the disk is full or not writable.
    """
    if key is not None:
        written = {table: _file_hash(_path(settings, table, partition)) for table in tables}
        settings.cache.keep(KIND, key, written, *set(statuses))


def _path(settings: Settings, table: str, partition: str, *, measured: bool = False) -> Path:
    return table_path(settings.deployment.data_dir, table_spec(table), partition, measured=measured)


def _has_times(table: str) -> bool:
    return table_spec(table).has_measured


def _file_hash(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return None
