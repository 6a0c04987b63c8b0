"""The content-addressed store of finished work: a key hashes everything the result depends on.

Belongs here: put and get of JSON values and of columns under a key, whole or not at all. Does not: what
goes into a key; each engine decides that from its inputs and tool versions.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from pipelines.schemas import write_bytes_atomically


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentCache:
    """Finished results under a folder, one compressed file a key: JSON, or Arrow for many rows."""

    folder: Path

    def _path(self, kind: str, key: str, ending: str = "json.gz") -> Path:
        if not key.isalnum():
            raise ValueError(f"a key must be letters and digits, got {key[:80]!r}")
        return self.folder / kind / key[:2] / f"{key}.{ending}"

    def get(self, kind: str, key: str) -> Any | None:
        """The value stored under a key, or None; a damaged entry counts as absent."""
        try:
            return json.loads(gzip.decompress(self._path(kind, key).read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, zlib.error):
            return None

    def put(self, kind: str, key: str, value: Any) -> None:
        """Store a JSON value; a reader never sees half of it.

        Raises: OSError: the disk is full or not writable.
        """
        text = json.dumps(value, separators=(",", ":"))
        write_bytes_atomically(self._path(kind, key), gzip.compress(text.encode(), 5, mtime=0))

    def get_table(self, kind: str, key: str) -> pa.Table | None:
        """The columns stored under a key, or None; a damaged entry counts as absent."""
        try:
            content = self._path(kind, key, "arrow").read_bytes()
            return ipc.open_stream(content).read_all()
        except (OSError, pa.ArrowException):
            return None

    def put_table(self, kind: str, key: str, value: pa.Table) -> None:
        """Store columns; a reader never sees half of them.

        Raises: OSError: the disk is full or not writable.
        """
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, value.schema, options=ipc.IpcWriteOptions(compression="zstd")) as stream:
            stream.write_table(value)
        write_bytes_atomically(self._path(kind, key, "arrow"), sink.getvalue().to_pybytes())
