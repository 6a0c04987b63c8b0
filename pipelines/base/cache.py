"""The content-addressed store of finished work: a key hashes everything the result depends on."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import pyarrow as pa
from pyarrow import ipc

from pipelines.base.sealing import SealedStore, read_sealed, write_sealed
from pipelines.schemas import is_lasting

Item = TypeVar("Item")
Value = TypeVar("Value")

READERS = 32
"""Entries that are read from a shared store at a time."""


def _no_statuses(_: object) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentCache:
    """Finished results under a folder, one compressed file per key: JSON, or Arrow for many rows.

    Every file carries the hash of its content. A damaged one is logged, counts as absent and is made again.

    Attributes:
        folder: of this machine; compiled engines, slots and scratch folders stay there.
        shared: store of the same entries for several machines. What the folder lacks is read there and
            kept in the folder; what is made is written to both.
    """

    folder: Path
    shared: SealedStore | None = None

    def cached(
        self,
        kind: str,
        key: str,
        make: Callable[[], Value],
        read: Callable[[Any], Value],
        *,
        statuses: Callable[[Value], Iterable[str | None]] = _no_statuses,
    ) -> Value:
        """Return the value stored under a key; where there is none, it is made and stored.

        Args:    make: gives a JSON value, a dataclass or a sequence of dataclasses; read: the value of what
                 was stored, dataclasses as objects; statuses: of all parts of the value, see `keep`.
        Raises:  what `make` raises; nothing is stored then. OSError: the disk is full or not writable.
        """
        stored = self.get(kind, key)
        if stored is not None:
            return read(stored)
        value = make()
        self.keep(kind, key, json_value(value), *statuses(value))
        return value

    def cached_table(self, kind: str, key: str, schema: pa.Schema, make: Callable[[], pa.Table]) -> pa.Table:
        """Return columns stored under a key; where there are none of this schema, they are made and stored.

        Raises: what `make` raises. OSError: the disk is full or not writable.
        """
        stored = self.get_table(kind, key)
        if stored is None or not stored.schema.equals(schema, check_metadata=False):
            replaced = stored is not None
            stored = make()
            self._write(_name(kind, key, "arrow"), _arrow_bytes(stored), replace=replaced)
        return stored

    def get(self, kind: str, key: str) -> Any | None:
        """Return the value stored under a key, or None."""
        content = self._read(_name(kind, key))
        return None if content is None else json.loads(gzip.decompress(content))

    def read_each(self, read: Callable[[Item], Value], items: Iterable[Item]) -> list[Value]:
        """Call a function that reads entries for every item, many at a time where each waits for a store.

        Returns: what it returns, in the order of the items.
        Raises:  what it raises.
        """
        if self.shared is None:
            return [read(item) for item in items]
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(read, items))

    def put(self, kind: str, key: str, value: Any) -> None:
        """Store a JSON value that follows from its key alone; a reader never sees half of it.

        What a tool gave is stored by `keep`.

        Raises: OSError: the disk is full or not writable.
        """
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        self._write(_name(kind, key), gzip.compress(text.encode(), 5, mtime=0))

    def keep(self, kind: str, key: str, value: Any, *statuses: str | None) -> bool:
        """Store the outcome of an attempt when it will be the same next time; all others are tried again.

        Args:    statuses: of all parts of the value; None for a part that was not attempted.
        Returns: whether it was stored; see `is_lasting`.
        Raises:  OSError: the disk is full or not writable.
        """
        lasting = all(status is None or is_lasting(status) for status in statuses)
        if lasting:
            self.put(kind, key, value)
        return lasting

    def get_table(self, kind: str, key: str) -> pa.Table | None:
        """Return the columns stored under a key, or None."""
        content = self._read(_name(kind, key, "arrow"))
        return None if content is None else ipc.open_stream(content).read_all()

    def put_table(self, kind: str, key: str, value: pa.Table) -> None:
        """Store columns; a reader never sees half of them.

        Raises: OSError: the disk is full or not writable.
        """
        self._write(_name(kind, key, "arrow"), _arrow_bytes(value))

    def _read(self, name: str) -> bytes | None:
        content = read_sealed(self.folder / name)
        if content is None and self.shared is not None:
            content = self.shared.read(name)
            if content is not None:
                write_sealed(self.folder / name, content)
        return content

    def _write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        write_sealed(self.folder / name, content)
        if self.shared is not None:
            self.shared.write(name, content, replace=replace)


def _name(kind: str, key: str, ending: str = "json") -> str:
    """Return the name of an entry, as a path below the folder and in a shared store."""
    if not key.isalnum():
        raise ValueError(f"not a key: {key[:80]!r}; accepted: letters and digits")
    return f"{kind}/{key[:2]}/{kind}-{key}.{ending}"


def _arrow_bytes(value: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, value.schema, options=ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(value)
    return sink.getvalue().to_pybytes()


def json_value(value: Any) -> Any:
    """Return a dataclass as a dictionary, a sequence of them as a list, any other value as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, list | tuple):
        return [json_value(item) for item in cast("Sequence[Any]", value)]
    return value
