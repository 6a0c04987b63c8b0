"""Records of a partition from the cache, when the same code made them of the same tables before.

Why: writing a record takes 4 ms, and a run writes those of all designs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache as once
from pathlib import Path

import pyarrow as pa

from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.programs import code_version
from pipelines.schemas import RecordRow, table_spec

KIND = "records"
_VERSION = "4f13dc8c2623bd9f8c3ab25f22959da7f79d1e93782d17bd790f2ccf8872fb4e"
"""Raise it when the same tables give other records."""


def remembered_records(
    files: Sequence[Path],
    places: Mapping[str, str],
    make: Callable[[], Sequence[RecordRow]],
    *,
    split: str,
    cache: ContentCache,
) -> pa.Table:
    """Records as columns, in order of their key.

    Args:   files: the tables they are made of; places: part of the split by program, of these programs alone;
            make: makes them from these.
    Raises: what `make` raises. OSError: a file is not there, or the disk is full.
    """
    spec = table_spec("records")
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    key = content_hash(split, hashes, sorted(places.items()), _version())
    stored = cache.get_table(KIND, key)
    if stored is None or not stored.schema.equals(spec.schema(), check_metadata=False):
        stored = spec.to_arrow(make())
        cache.put_table(KIND, key, stored)
    return stored


@once
def _version() -> str:
    """Version of this package, and of what reads programs and draws data."""
    return content_hash(_VERSION, code_version())
