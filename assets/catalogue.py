"""One catalogue of tables for several machines: which file is the present one of every shard.

A shard is a file of a table, as `write_table` writes it. It is put into the object store under its content
hash, then one Iceberg transaction removes the former file of the shard and adds the new one. A transaction
that meets another one is read again, and repeated only when the shard does not have the file yet. So a
publication may be repeated by anyone at any time: after a kill, by two machines at once.

    STORE/tables/TABLE/data/SHARD/SHA256.parquet   wall-clock columns: STORE/measured/TABLE/...
    STORE/tables/TABLE/metadata/...                Iceberg's

The files have no column of the shard. It is Iceberg's partition (column `_shard`), whose value stands in the
manifest and in the path: two shards of equal rows are two objects, since Iceberg tells files apart by path.
"""

from __future__ import annotations

import hashlib
import logging
import math
import random
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.fs

from assets.errors import FoundryError, needing
from assets.iceberg_tables import (
    ReplaceFiles,
    create_table,
    data_file_of,
    declared_schema,
    evolve_table,
    expire_states,
    file_properties,
    hash_of,
    live_files,
    referenced_objects,
)
from assets.stores import (
    hide_secrets,
    open_client,
    require_store_url,
)
from pipelines.base.identity import canonical_json, file_sha256, text_sha256
from pipelines.base.sealing import answering, put_if_absent
from pipelines.schemas import SchemaError, TableSpec

with needing("cluster"):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.exceptions import (
        CommitFailedException,
        NamespaceAlreadyExistsError,
        NoSuchTableError,
        TableAlreadyExistsError,
        ValidationException,
    )
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Operation
    from pyiceberg.table.update.snapshot import ExpireSnapshots
    from sqlalchemy.exc import SQLAlchemyError

NAME = "simfoundry"
TABLES = "tables"
MEASURED = "measured"
"""Namespace of wall-clock columns, which are no part of the identity of a table."""
ROOMS = (TABLES, MEASURED)
PROPERTY = "simfoundry."
"""Before names of properties of a snapshot: table, shard, sha256."""

KEPT_STATES = 10
"""Former states of a table that a publication keeps when there are twice as many: PyIceberg copies all of
them fifteen times per transaction."""
READERS = 8
"""Tables whose state is read at a time."""
WRITERS = 8
"""Files that a publication has in memory, and puts, at a time."""
CONNECT_S = 15.0
"""How long the first connection is tried: a wrong address is said soon."""
PATIENCE_S = 120.0
"""How long a publication is repeated that meets others, or a server that does not answer."""
LONGEST_WAIT_S = 2.0
REFRESHED_S = 6 * 3600
"""An object that is there but older is put again before it is published: no sweep takes it meanwhile."""
SWEPT_AFTER = timedelta(hours=24)
"""Age from which an object that nothing references is swept; above it no publication is still under way."""

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class CatalogueError(FoundryError):
    """The catalogue cannot be read or written; the message says why, without passwords."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """The present state of a table in the catalogue.

    Attributes:
        shards: content hash by shard.
        rows: of all shards.
        files: URL by shard.
    """

    shards: Mapping[str, str]
    rows: int
    files: Mapping[str, str]


@dataclass(slots=True)
class Catalogue:
    """The tables of a store, and the database that says which of their files are present.

    Attributes:
        store: URL of the store.
        database: URL of the database, with its password.
        name: of the catalogue; a database may have several, of a store each.
    """

    store: str
    database: str = field(repr=False)
    name: str = NAME
    _client: Any = field(default=None, repr=False)
    _sql: Any = field(default=None, repr=False)
    _states: dict[tuple[str, str], tuple[str, TableState]] = field(
        default_factory=dict[tuple[str, str], tuple[str, TableState]], repr=False
    )

    _manifests: dict[tuple[str, ...], dict[str, list[DataFile]]] = field(
        default_factory=dict[tuple[str, ...], "dict[str, list[DataFile]]"], repr=False
    )

    def __post_init__(self) -> None:
        self.store = require_store_url(self.store)
        self._client = open_client(self.store)
        self._sql = _patiently(self, self._connect, patience_s=CONNECT_S)

    def _connect(self) -> SqlCatalog:
        uri = re.sub(r"^postgres(ql)?://", "postgresql+psycopg2://", self.database)
        sql = SqlCatalog(self.name, **file_properties(self.store), uri=uri, pool_pre_ping="true")
        for room in ROOMS:
            try:
                sql.create_namespace_if_not_exists(room)
            except NamespaceAlreadyExistsError:
                continue  # of another process, meanwhile
        return sql

    # ---- publication -------------------------------------------------------------------------------

    def publish(self, spec: TableSpec, shard: str, path: Path, *, measured: bool = False) -> bool:
        """Make a file the present one of a shard; that of the same content stays as it is.

        Returns: whether the catalogue changed.
        Raises:  CatalogueError: the database or the store does not answer. SchemaError: it does not fit.
        """
        return self.replace(spec, {shard: path}, measured=measured)

    def remove(self, spec: TableSpec, shards: Iterable[str], *, measured: bool = False) -> bool:
        """Remove shards from a table; those that it lacks are left out.

        Returns: whether the catalogue changed.
        Raises:  CatalogueError: the database or the store does not answer.
        """
        return self.replace(spec, dict.fromkeys(shards), measured=measured)

    def replace(self, spec: TableSpec, changes: Mapping[str, Path | None], *, measured: bool = False) -> bool:
        """Publish and remove several shards of a table in one transaction.

        Args:    changes: file by shard; None removes the shard.
        Returns: whether the catalogue changed.
        Raises:  CatalogueError: the database or the store does not answer. SchemaError: a file does not fit.
        """
        room = MEASURED if measured else TABLES
        for shard in changes:
            _require_shard(shard)
        present = self.state(spec.name, measured=measured).shards
        paths = {shard: path for shard, path in changes.items() if path is not None}
        hashes = {shard: file_sha256(path) for shard, path in paths.items()}
        if all(present.get(shard) == hashes.get(shard) for shard in changes):
            return False
        new = {
            shard: f"{room}/{spec.name}/data/{shard}/{sha256}.parquet"
            for shard, sha256 in hashes.items()
            if present.get(shard) != sha256
        }
        change = _Change(
            spec=spec,
            room=room,
            files={shard: (f"{self.store}/{name}", paths[shard]) for shard, name in new.items()},
            removed=frozenset(shard for shard in changes if shard not in hashes),
            hashes={shard: hashes[shard] for shard in new},
        )
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(self._put, new.values(), (paths[shard] for shard in new)))
            is_new = _patiently(self, lambda: self._commit(change))
            list(pool.map(self._put_again, new.values(), (paths[shard] for shard in new)))
        return is_new

    def _put(self, name: str, path: Path) -> None:
        """Put a file under the name of its content unless it is there, anew when it is old.

        Raises: SchemaError: the file has other content meanwhile. StoreError: the store does not answer.
        """
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != Path(name).stem:
            raise SchemaError(f"{path} was written anew while it was published; publish it again")
        with answering(self.store):
            if not put_if_absent(self._client, name, content):
                age = datetime.now(UTC) - self._client.head(name)["last_modified"]
                if age.total_seconds() > REFRESHED_S:
                    self._client.put(name, content)

    def _put_again(self, name: str, path: Path) -> None:
        """Put a file again that a sweep took between put and transaction; the content of others is not sent.

        Raises: see `_put`.
        """
        with answering(self.store):
            try:
                self._client.head(name)
            except FileNotFoundError:
                self._put(name, path)

    def _commit(self, change: _Change) -> bool:
        """Remove the former files of shards and add the new ones in one transaction, unless that is done.

        Raises: CommitFailedException, ValidationException: another transaction came first.
        """
        table = self._table(change.spec, change.room)
        entries = self._entries(table)
        added = {s: file for s, file in change.files.items() if hash_of(entries.get(s)) != change.hashes[s]}
        removed = {s: entries[s] for s in (*added, *change.removed) if s in entries}
        if not added and not removed:
            return False
        files = [data_file_of(table, shard, url, path) for shard, (url, path) in added.items()]
        former = sorted(table.metadata.snapshots, key=lambda snapshot: snapshot.sequence_number or 0)
        with table.transaction() as transaction:
            replacing = ReplaceFiles(
                operation=Operation.OVERWRITE if entries else Operation.APPEND,
                transaction=transaction,
                io=table.io,
                snapshot_properties=change.properties(added, removed),
            )
            for entry in removed.values():
                replacing.delete_data_file(entry)
            for file in files:
                replacing.append_data_file(file)
            replacing.commit()
            if len(former) >= 2 * KEPT_STATES:
                gone = [snapshot.snapshot_id for snapshot in former[:-KEPT_STATES]]
                ExpireSnapshots(transaction).by_ids(gone).commit()
        return True

    # ---- tables --------------------------------------------------------------------------------------

    def _table(self, spec: TableSpec, room: str) -> Table:
        """Return the table, which is created or gets the declared columns that it lacks.

        Raises: SchemaError: a declared column has another type there.
        """
        declared = declared_schema(spec, measured=room == MEASURED)
        try:
            table = self._load((room, spec.name))
        except NoSuchTableError:
            try:
                return create_table(self._sql, (room, spec.name), self._location(room, spec.name), declared)
            except TableAlreadyExistsError:
                table = self._load((room, spec.name))
        return evolve_table(table, declared)

    def _load(self, identity: tuple[str, str]) -> Table:
        """Return a table as it is now.

        Raises: NoSuchTableError: there is none. CatalogueError: its files are in another store.
        """
        table = self._sql.load_table(identity)
        if table.location() != self._location(*identity):
            raise CatalogueError(
                f"the catalogue has table {identity[1]} at {table.location()}, not in the store {self.store}"
            )
        return table

    def _location(self, room: str, name: str) -> str:
        return f"{self.store}/{room}/{name}"

    def table(self, name: str, *, measured: bool = False) -> Table | None:
        """Return the Iceberg table of a table, for any reader of Iceberg; None when there is none.

        Raises: CatalogueError: the database or the store does not answer.
        """
        try:
            return _patiently(self, lambda: self._load((MEASURED if measured else TABLES, name)))
        except NoSuchTableError:
            return None

    def locations(self) -> Mapping[tuple[str, str], str]:
        """Return the location of metadata by namespace and table: it changes with every transaction.

        Raises: CatalogueError: the database does not answer.
        """
        from pyiceberg.catalog.sql import IcebergTables as Rows
        from sqlalchemy import select

        def query() -> dict[tuple[str, str], str]:
            columns = select(Rows.table_namespace, Rows.table_name, Rows.metadata_location)
            with self._sql.engine.connect() as connection:
                rows = connection.execute(columns.where(Rows.catalog_name == self.name)).all()
            return {(room, name): location for room, name, location in rows if room in ROOMS}

        return _patiently(self, query)

    def states(
        self, names: Collection[str] | None = None, *, measured: bool = False
    ) -> dict[str, TableState]:
        """Return the state of tables by name; what did not change since the last call is not read again.

        Args:   names: of the tables; None for all.
        Raises: CatalogueError: the database or the store does not answer.
        """
        own = MEASURED if measured else TABLES
        places = {
            name: location
            for (room, name), location in sorted(self.locations().items())
            if room == own and (names is None or name in names)
        }
        with ThreadPoolExecutor(READERS) as pool:
            states = pool.map(lambda name: self._state((own, name), places[name]), places)
            return dict(zip(places, states, strict=True))

    def state(self, name: str, *, measured: bool = False) -> TableState:
        """Return the present shards of a table; none when there is no such table.

        Raises: CatalogueError: the database or the store does not answer.
        """
        empty = TableState(shards={}, rows=0, files={})
        return self.states((name,), measured=measured).get(name, empty)

    def _state(self, identity: tuple[str, str], location: str) -> TableState:
        known = self._states.get(identity)
        if known is not None and known[0] == location:
            return known[1]
        table = _patiently(self, lambda: self._load(identity))
        entries = _patiently(self, lambda: self._entries(table))
        state = TableState(
            shards={shard: hash_of(entry) or "" for shard, entry in sorted(entries.items())},
            rows=sum(entry.record_count for entry in entries.values()),
            files={shard: entry.file_path for shard, entry in sorted(entries.items())},
        )
        self._states[identity] = (table.metadata_location, state)
        return state

    def _entries(self, table: Table) -> dict[str, DataFile]:
        """Return the live data file of every shard: the manifests that the present state names.

        A manifest never changes, so those that were read before are not read again.

        Raises: CatalogueError: a shard has two files; no publication does that.
        """
        snapshot, known = table.current_snapshot(), self._manifests.get(table.name(), {})
        read: dict[str, list[DataFile]] = {}
        for manifest in snapshot.manifests(table.io) if snapshot else ():
            if manifest.has_added_files() or manifest.has_existing_files():
                path = manifest.manifest_path
                read[path] = known[path] if path in known else live_files(table, manifest)
        self._manifests[table.name()] = read
        files = [file for own in read.values() for file in own]
        entries = {str(file.partition[0]): file for file in files}
        if len(entries) < len(files):
            raise CatalogueError(f"{'.'.join(table.name())} has two files of one shard")
        return entries

    def version(self) -> str:
        """Return the hash over all tables, shards and content hashes: equal tables have equal versions."""
        return catalogue_version(self.states())

    # ---- reading -------------------------------------------------------------------------------------

    def fetch(self, url: str, sha256: str) -> bytes:
        """Return the bytes of a present file.

        Raises: StoreError: the store does not answer. SchemaError: the object is damaged, or there is none.
        """
        with answering(self.store):
            try:
                content = bytes(self._client.get(url.removeprefix(f"{self.store}/")).bytes())
            except FileNotFoundError:
                raise SchemaError(f"the catalogue names an object that is not there: {url}") from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise SchemaError(f"{url} is damaged: its content does not have its hash")
        return content

    def dataset(self, spec: TableSpec, *, measured: bool = False) -> pads.Dataset | None:
        """Return the present files of a table as a pyarrow dataset, pages verified; None when there are none.

        The files are read in order of their shards. A column that an older file lacks is null.
        """
        files = self.state(spec.name, measured=measured).files
        if not files:
            return None
        system = pa.fs.PyFileSystem(pa.fs.FSSpecHandler(self._file_system()))
        paths = [url.removeprefix("file://").removeprefix("s3://") for url in files.values()]
        parquet = pads.ParquetFileFormat(page_checksum_verification=True)
        return pads.dataset(paths, spec.schema(measured=measured), parquet, filesystem=system)

    def _file_system(self) -> Any:
        from pyiceberg.io.fsspec import FsspecFileIO

        return FsspecFileIO(file_properties(self.store)).get_fs(self.store.partition(":")[0])

    # ---- sweeping ------------------------------------------------------------------------------------

    def sweep(self, *, older: timedelta = SWEPT_AFTER, delete: bool = False) -> Swept:
        """List, or delete, the objects of tables that no snapshot references and that are old enough.

        Snapshots older than the age are dropped first, the present ones apart. Objects are listed before the
        references are read, and looked at again before they are deleted: what is published meanwhile stays.

        Raises: CatalogueError: the database or the store does not answer.
        """
        limit = datetime.now(UTC) - older
        objects = [*self._objects(limit)]
        referenced: set[str] = set()
        for room, name in self.locations():
            table = _patiently(self, lambda own=(room, name): self._load(own))
            if delete:
                table = _patiently(self, lambda own=table: expire_states(own, limit))
            referenced |= referenced_objects(table, None if delete else limit)
        unreferenced = [(key, size) for key, size in objects if f"{self.store}/{key}" not in referenced]
        if delete:
            for key, _ in unreferenced:
                self._delete(key, limit)
        return Swept(names=tuple(key for key, _ in unreferenced), size=sum(size for _, size in unreferenced))

    def _objects(self, limit: datetime) -> Iterator[tuple[str, int]]:
        """Yield name and size of the objects of tables that are older than a time."""
        with answering(self.store, slow_s=math.inf):
            for room in ROOMS:
                for group in self._client.list(f"{room}/"):
                    yield from ((o["path"], o["size"]) for o in group if o["last_modified"] < limit)

    def _delete(self, name: str, limit: datetime) -> None:
        with answering(self.store):
            try:
                if self._client.head(name)["last_modified"] < limit:
                    self._client.delete(name)
            except FileNotFoundError:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """Objects that nothing references: their names in the store, and their bytes."""

    names: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """Files that are to be added, URL and local path by shard, and shards that are to be removed."""

    spec: TableSpec
    room: str
    files: Mapping[str, tuple[str, Path]]
    removed: frozenset[str]
    hashes: Mapping[str, str]

    def properties(self, added: Iterable[str], removed: Iterable[str]) -> dict[str, str]:
        """Return what the snapshot says of itself; the hash of a removed shard is empty."""
        shards = sorted({*added, *removed})
        return {
            f"{PROPERTY}table": self.spec.name,
            f"{PROPERTY}shard": ",".join(shards),
            f"{PROPERTY}sha256": ",".join(self.hashes.get(shard, "") for shard in shards),
        }


def catalogue_version(states: Mapping[str, TableState]) -> str:
    """Return the hash over table, shard and content hash; tables without shards do not count."""
    files = [
        (name, shard, sha256)
        for name, state in sorted(states.items())
        for shard, sha256 in sorted(state.shards.items())
    ]
    return text_sha256(canonical_json(files))


def _require_shard(shard: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,199}", shard):
        raise CatalogueError(
            f"not a name of a shard: {shard!r}; accepted: letters, digits, dots, dashes and underscores"
        )


def _patiently(catalogue: Catalogue, work: Callable[[], _T], *, patience_s: float = PATIENCE_S) -> _T:
    """Do what may be repeated, and repeat it while others are faster or a server does not answer.

    Raises: CatalogueError: a server did not answer for that long, or refused. What else `work` raises.
    """
    started, wait, is_said = time.monotonic(), 0.01, False
    while True:
        try:
            return work()
        except (CommitFailedException, ValidationException, NamespaceAlreadyExistsError):
            problem = "other publications were faster all the time"  # never one's own for so long
        except Exception as error:
            if not _is_of_a_server(error):
                raise
            problem = _explain(catalogue, error)
            if not _is_passing(error):
                raise CatalogueError(f"catalogue of {catalogue.store}: {problem}") from None
            if wait >= LONGEST_WAIT_S and not is_said:
                is_said = True
                _LOG.warning("catalogue of %s: %s; trying again", catalogue.store, problem)
        if time.monotonic() - started > patience_s:
            raise CatalogueError(f"catalogue of {catalogue.store}: {problem}")
        time.sleep(random.uniform(0.5, 1.0) * wait)  # noqa: S311
        wait = min(2 * wait, LONGEST_WAIT_S)


def _is_of_a_server(error: Exception) -> bool:
    """Tell whether an error is of the database or the store; S3 without an answer has classes of botocore."""
    is_of_s3 = type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore", "aiohttp")
    return is_of_s3 or isinstance(error, SQLAlchemyError | OSError)


_LASTING = (
    "authentication failed",
    "does not exist",
    "No space left",
    "unable to open",
    "refuses",
    "no such bucket",
    "NoSuchBucket",
)
"""Parts of messages of servers that say the same next time."""


def _is_passing(error: Exception) -> bool:
    """Tell whether trying again may help: no wrong password, no missing database or bucket, no full disk."""
    text = str(error)
    return not isinstance(error, PermissionError) and not any(sign in text for sign in _LASTING)


def _explain(catalogue: Catalogue, error: Exception) -> str:
    """Return an error on one line, without statements and their values, and without secrets."""
    text = str(getattr(error, "orig", None) or error)
    return hide_secrets(" ".join(text.split())[:300], catalogue.database)
