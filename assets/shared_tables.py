"""Tables that several machines share: fetching what others published, publishing what this one wrote.

The data folder has a copy of every shard that this machine read or wrote. Without a catalogue in the
deployment nothing here does anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from assets.deployments import MAIN_TABLES, Deployment
from assets.errors import needing
from pipelines.base.identity import file_sha256
from pipelines.schemas import TableSpec, table_path, table_spec, to_frame, write_bytes_atomically

if TYPE_CHECKING:
    import polars as pl

    from assets.catalogue import Catalogue

CATALOGUE_FILE = "catalogue.json"
"""In the data folder after a run: the version of the catalogue, and the content hash of every shard."""
SETS = "sets"
"""Folder of further sets of tables in a store, a folder each."""
FETCHES = 8
"""Files that are fetched at a time."""


def open_catalogue(deployment: Deployment) -> Catalogue | None:
    """Open the catalogue of a deployment, once per process; None when it has none.

    Raises: CatalogueError: the database does not answer. ExtraMissing: no extra `cluster`.
    """
    if deployment.catalogue is None or deployment.store is None:
        return None
    return _opened(deployment.store, deployment.catalogue, deployment.table_set, os.getpid())


@lru_cache(maxsize=8)
def _opened(store: str, database: str, table_set: str, process: int) -> Catalogue:
    del process  # a forked process opens its own connections
    with needing("cluster"):
        from assets.catalogue import NAME, Catalogue  # lazy import: PyIceberg takes 1 s

    if table_set == MAIN_TABLES:
        return Catalogue(store, database)
    return Catalogue(f"{store}/{SETS}/{table_set}", database, name=f"{NAME}-{table_set}")


def pull_tables(deployment: Deployment, tables: Iterable[str] | None = None) -> int:
    """Fetch the shards that the data folder lacks, or has with other content than the catalogue.

    Args:    tables: their names; None for all.
    Returns: number of files that were fetched.
    Raises:  CatalogueError, StoreError: the database or the store does not answer. SchemaError: an object is
             damaged. OSError: the data folder is not writable.
    """
    catalogue = open_catalogue(deployment)
    if catalogue is None:
        return 0
    names = None if tables is None else set(tables)
    missing: list[tuple[Path, str, str]] = []
    for measured in (True, False):
        for name, state in catalogue.states(names, measured=measured).items():
            if name not in TableSpec.registry:
                continue  # of a later version of the project
            for shard, sha256 in state.shards.items():
                path = table_path(deployment.data_dir, table_spec(name), shard, measured=measured)
                if present_hash(path) != sha256:
                    missing.append((path, state.files[shard], sha256))

    def fetch(one: tuple[Path, str, str]) -> None:
        path, url, sha256 = one
        write_bytes_atomically(path, catalogue.fetch(url, sha256))

    with ThreadPoolExecutor(FETCHES) as pool:
        list(pool.map(fetch, missing))
    return len(missing)


def scan_shared(catalogue: Catalogue, spec: TableSpec) -> pl.LazyFrame:
    """Return the rows of a table of a catalogue as a lazy Polars frame, shards in name order.

    Only the columns and row groups that a query needs are read, their pages verified.

    Raises: CatalogueError, StoreError: the database or the store does not answer.
    """
    import polars as pl  # lazy import: takes 0.3 s

    dataset = catalogue.dataset(spec)
    if dataset is None:
        return to_frame(spec.schema().empty_table()).lazy()
    return pl.scan_pyarrow_dataset(dataset)


def publish_shards(deployment: Deployment, shards: Mapping[str, Iterable[str]]) -> int:
    """Publish files of the data folder, of each table in one transaction; what is present stays as it is.

    Args:    shards: by table; one whose file is not there is left out.
    Returns: number of tables that changed, wall-clock columns apart.
    Raises:  CatalogueError, StoreError: the database or the store does not answer.
    """
    catalogue = open_catalogue(deployment)
    if catalogue is None:
        return 0
    changed = 0
    for table, names in shards.items():
        spec, own = table_spec(table), tuple(names)
        for measured in (True, False) if spec.has_measured else (False,):
            paths = {n: table_path(deployment.data_dir, spec, n, measured=measured) for n in own}
            files = {name: path for name, path in paths.items() if path.is_file()}
            known = catalogue.state(table, measured=measured).shards
            new = {name: path for name, path in files.items() if known.get(name) != present_hash(path)}
            is_new = bool(new) and catalogue.replace(spec, new, measured=measured)
            changed += is_new and not measured
    return changed


def remove_shards(deployment: Deployment, table: str, shards: Iterable[str]) -> None:
    """Remove shards of a table from the catalogue, wall-clock columns too.

    Raises: CatalogueError, StoreError: the database or the store does not answer.
    """
    catalogue, own = open_catalogue(deployment), tuple(shards)
    if catalogue is None or not own:
        return
    for measured in (False, True) if table_spec(table).has_measured else (False,):
        catalogue.remove(table_spec(table), own, measured=measured)


def present_version(deployment: Deployment) -> str | None:
    """Return the version of the catalogue; None when there is none.

    Raises: CatalogueError, StoreError: the database or the store does not answer.
    """
    catalogue = open_catalogue(deployment)
    return None if catalogue is None else catalogue.version()


def write_version(deployment: Deployment) -> str | None:
    """Write the version of the catalogue and the hashes of all shards into the data folder.

    Returns: the version; None when there is no catalogue.
    Raises:  CatalogueError, StoreError: the database or the store does not answer. OSError: not writable.
    """
    catalogue = open_catalogue(deployment)
    if catalogue is None:
        return None
    from assets.catalogue import catalogue_version

    states = catalogue.states()
    version = catalogue_version(states)
    tables = {name: dict(state.shards) for name, state in states.items() if state.shards}
    content = {"store": deployment.store, "version": version, "tables": tables}
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    write_bytes_atomically(deployment.data_dir / CATALOGUE_FILE, text.encode())
    return version


def file_hash(path: Path) -> str | None:
    """Return the SHA-256 of a file; None when there is none."""
    try:
        return file_sha256(path)
    except FileNotFoundError:
        return None


def present_hash(path: Path) -> str | None:
    """Return the SHA-256 of a file, read once per state of it; None when there is none."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return _hashed(path, state.st_ino, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=100_000)
def _hashed(path: Path, *state: int) -> str | None:
    del state
    return file_hash(path)
