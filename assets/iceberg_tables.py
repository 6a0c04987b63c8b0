"""Tables of Iceberg as the catalogue keeps them: columns, data files, transactions with few manifests.

It uses private names of PyIceberg 0.12, so the version is pinned.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from assets.errors import needing
from assets.stores import ENDPOINT_VARIABLE, KEY_VARIABLE, REGION_VARIABLE, SECRET_VARIABLE, credentials
from pipelines.schemas import SchemaError, TableSpec

with needing("cluster"):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.io.pyarrow import (
        _check_pyarrow_schema_compatible,
        compute_statistics_plan,
        data_file_statistics_from_parquet_metadata,
        parquet_path_to_id_mapping,
    )
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntry, ManifestFile
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table, TableProperties
    from pyiceberg.table.name_mapping import create_mapping_from_schema
    from pyiceberg.table.update.snapshot import _ManifestMergeManager, _OverwriteFiles
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.typedef import Record
    from pyiceberg.types import (
        BooleanType,
        DoubleType,
        IcebergType,
        ListType,
        LongType,
        NestedField,
        PrimitiveType,
        StringType,
    )

SHARD = "_shard"
MERGED_MANIFESTS = 20
"""Manifests are merged from this number on: publications read all of them."""
_PROPERTIES: Mapping[str, str] = {
    "format-version": "2",
    TableProperties.COMMIT_NUM_RETRIES: "0",  # PyIceberg's own would repeat without reading the shard again
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
    TableProperties.METADATA_PREVIOUS_VERSIONS_MAX: "20",
}
logging.getLogger("pyiceberg.io.pyarrow").setLevel(logging.ERROR)  # a file without rows has no statistics


class ReplaceFiles(_OverwriteFiles):
    """PyIceberg's transaction of removed and added files, with few manifests.

    PyIceberg 0.12 carries the manifests that only say what was removed along for ever, and merges those of
    appended files alone; the time of a publication would grow with their number.
    """

    def _deleted_entries(self) -> list[ManifestEntry]:
        return super()._deleted_entries() if self._deleted_data_files else []

    def _existing_manifests(self) -> list[ManifestFile]:
        if self._deleted_data_files:
            return super()._existing_manifests()
        snapshot = self._transaction.table_metadata.snapshot_by_name(self._target_branch)
        return snapshot.manifests(self._io) if snapshot else []

    def _process_manifests(self, manifests: list[ManifestFile]) -> list[ManifestFile]:
        live = [
            manifest
            for manifest in manifests
            if manifest.has_added_files()
            or manifest.has_existing_files()
            or manifest.added_snapshot_id in (None, self._snapshot_id)
        ]
        merging = _ManifestMergeManager(
            target_size_bytes=TableProperties.MANIFEST_TARGET_SIZE_BYTES_DEFAULT,
            min_count_to_merge=MERGED_MANIFESTS,
            merge_enabled=True,
            snapshot_producer=self,
        )
        return merging.merge_manifests(live)


def file_properties(store: str) -> dict[str, str]:
    """Return PyIceberg's properties of the files of a store."""
    names = {
        "s3.endpoint": ENDPOINT_VARIABLE,
        "s3.access-key-id": KEY_VARIABLE,
        "s3.secret-access-key": SECRET_VARIABLE,
        "s3.region": REGION_VARIABLE,
    }
    values = credentials(store)
    files = {name: values[variable] for name, variable in names.items() if variable in values}
    return {"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO", "warehouse": store, **files}


_SHARD_ID = 1
_ICEBERG_TYPES: Mapping[pa.DataType, PrimitiveType] = {
    pa.string(): StringType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.bool_(): BooleanType(),
}


def declared_schema(spec: TableSpec, *, measured: bool) -> Schema:
    """Return the shard and the declared columns as an Iceberg schema."""
    numbers = itertools.count(_SHARD_ID)
    shard = NestedField(
        next(numbers), SHARD, StringType(), required=False, doc="Name of the file of the table."
    )
    columns = {column.name: column for column in spec.columns}
    fields = [
        NestedField(
            next(numbers),
            of.name,
            _iceberg_type(of.type, numbers),
            required=not of.nullable,
            doc=columns[of.name].description,
        )
        for of in spec.schema(measured=measured)
    ]
    return Schema(shard, *fields)


def _iceberg_type(kind: pa.DataType, numbers: Iterator[int]) -> IcebergType:
    if pa.types.is_list(kind):
        return ListType(next(numbers), _ICEBERG_TYPES[kind.value_type], element_required=False)
    return _ICEBERG_TYPES[kind]


def create_table(sql: SqlCatalog, identity: tuple[str, str], location: str, declared: Schema) -> Table:
    """Create a table whose partition is the shard. Raises: TableAlreadyExistsError: there is one."""
    partition = PartitionField(source_id=_SHARD_ID, field_id=1000, transform=IdentityTransform(), name=SHARD)
    mapping = create_mapping_from_schema(declared).model_dump_json()
    return sql.create_table(
        identity,
        schema=declared,
        location=location,
        partition_spec=PartitionSpec(partition),
        properties={**_PROPERTIES, TableProperties.DEFAULT_NAME_MAPPING: mapping},
    )


def evolve_table(table: Table, declared: Schema) -> Table:
    """Return the table with the declared columns that it lacked: null in the files of before.

    A column that is not declared any more stays for the earlier files, and later ones need not have it.

    Raises: SchemaError: a declared column has another type there. CommitFailedException: see `_commit`.
    """
    present = {of.name: of for of in table.schema().fields}
    own = {of.name: of for of in declared.fields}
    for name in own.keys() & present.keys():
        if str(_plain(own[name])) != str(_plain(present[name])):
            raise SchemaError(
                f"column {name} of {'.'.join(table.name())} is {_plain(present[name])} in the catalogue and "
                f"{_plain(own[name])} here; accepted: another catalogue for tables of another kind"
            )
    added = [of for of in declared.fields if of.name not in present]
    loose = [
        of.name
        for of in table.schema().fields
        if of.required and (of.name not in own or not own[of.name].required)
    ]
    if not added and not loose:
        return table
    with table.update_schema() as update:
        for of in added:
            update.add_column(of.name, of.field_type, doc=of.doc)
        for name in loose:
            update.make_column_optional(name)
    return table


def _plain(of: NestedField) -> str:
    """Return the type of a column without the numbers of fields."""
    kind = of.field_type
    return f"list<{kind.element_type}>" if isinstance(kind, ListType) else str(kind)


def live_files(table: Table, manifest: ManifestFile) -> list[DataFile]:
    return [entry.data_file for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)]


def hash_of(entry: DataFile | None) -> str | None:
    """Return the content hash that the name of a data file is."""
    return None if entry is None else Path(entry.file_path).stem


def data_file_of(table: Table, shard: str, url: str, path: Path) -> DataFile:
    """Return what the manifest says of a file, with statistics from the local copy.

    Raises: SchemaError: the file does not have the columns of the table.
    """
    metadata, schema = pq.read_metadata(path), table.schema()
    try:
        _check_pyarrow_schema_compatible(schema, metadata.schema.to_arrow_schema())
    except ValueError as error:
        problem = " ".join(str(error).split())
        raise SchemaError(
            f"{path} does not fit {'.'.join(table.name())} of the catalogue: {problem}"
        ) from error
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=metadata,
        stats_columns=compute_statistics_plan(schema, table.metadata.properties),
        parquet_column_mapping=parquet_path_to_id_mapping(schema),
    )
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=url,
        file_format=FileFormat.PARQUET,
        partition=Record(shard),
        file_size_in_bytes=path.stat().st_size,
        sort_order_id=None,
        spec_id=table.metadata.default_spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )


def referenced_objects(table: Table, limit: datetime | None) -> set[str]:
    """Return the URLs of all objects that a table's metadata and snapshots name.

    Args: limit: snapshots before it do not count, the present one apart; None counts all.
    """
    entries = table.metadata.metadata_log
    urls = {table.metadata_location, *(entry.metadata_file for entry in entries)}
    present = table.current_snapshot()
    for snapshot in table.metadata.snapshots:
        if limit is not None and snapshot is not present and snapshot.timestamp_ms < limit.timestamp() * 1000:
            continue
        urls.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            urls.add(manifest.manifest_path)
            if manifest.has_added_files() or manifest.has_existing_files():
                urls |= {file.file_path for file in live_files(table, manifest)}
    return urls


def expire_states(table: Table, limit: datetime) -> Table:
    """Drop the snapshots of before a time, the present one apart; returns the table as it is then."""
    present = table.current_snapshot()
    before = limit.timestamp() * 1000
    if any(s.timestamp_ms < before and s != present for s in table.metadata.snapshots):
        table.maintenance.expire_snapshots().older_than(limit.replace(tzinfo=None)).commit()
        table.refresh()
    return table
