"""Machine-readable descriptions of a release: Croissant (JSON-LD), and the head of the card for dataset hubs.

Source: the Croissant format specification, version 1.0 (MLCommons).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pipelines.dataset.releases.manifest import FileEntry, Manifest
from pipelines.schemas import ColumnSpec, TableSpec, table_spec

CROISSANT_FILE = "croissant.json"
LICENCE_URL = "https://www.apache.org/licenses/LICENSE-2.0"
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "containedIn": "cr:containedIn",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES: Mapping[str, str] = {
    "string": "sc:Text",
    "int64": "sc:Integer",
    "double": "sc:Float",
    "bool": "sc:Boolean",
}


def croissant_bytes(manifest: Manifest, description: str) -> bytes:
    """Return the Croissant description of a release: its files with their hashes, a record set per table.

    Args: description: what the release is, in one paragraph.
    """
    tables = [name for name in manifest.rows if any(f.table == name for f in manifest.files)]
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": manifest.name,
        "description": description,
        "license": LICENCE_URL,
        "url": f"releases/{manifest.name}",
        "version": "1.0.0",
        "distribution": [
            *(_file(f) for f in manifest.files if f.table in tables),
            *(_files(name, [f for f in manifest.files if f.table == name]) for name in tables),
        ],
        "recordSet": [_records(table_spec(name)) for name in tables],
    }
    return (json.dumps(content, indent=1) + "\n").encode()


def _file(entry: FileEntry) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": entry.path,
        "name": entry.path,
        "contentUrl": entry.path,
        "contentSize": f"{entry.bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": entry.sha256,
    }


def _files(table: str, entries: Sequence[FileEntry]) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{table}-files",
        "name": f"{table}-files",
        "containedIn": [{"@id": entry.path} for entry in entries],
        "encodingFormat": "application/x-parquet",
        "includes": f"tables/{table}/*.parquet",
    }


def _records(spec: TableSpec) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": spec.name,
        "name": spec.name,
        "description": spec.description,
        "key": [{"@id": f"{spec.name}/{name}"} for name in spec.key],
        "field": [_field(spec, column) for column in spec.columns if not column.measured],
    }


def _field(spec: TableSpec, column: ColumnSpec) -> dict[str, Any]:
    kind = column.arrow_type
    is_list = pa.types.is_list(kind)
    return {
        "@type": "cr:Field",
        "@id": f"{spec.name}/{column.name}",
        "name": column.name,
        "description": column.description + (f" Unit: {column.unit}." if column.unit else ""),
        "dataType": _TYPES[str(kind.value_type) if is_list else str(kind)],
        **({"repeated": True} if is_list else {}),
        "source": {"fileSet": {"@id": f"{spec.name}-files"}, "extract": {"column": column.name}},
    }


def hub_header(manifest: Manifest) -> str:
    """Return the YAML head of the card: a configuration per table, as Hugging Face `datasets` reads it."""
    tables = [name for name in manifest.rows if any(f.table == name for f in manifest.files)]
    configurations = "".join(
        f"- config_name: {name}\n  data_files: tables/{name}/*.parquet\n" for name in tables
    )
    return (
        f"---\npretty_name: {json.dumps(manifest.name)}\nlicense: apache-2.0\n"
        f"tags:\n- hardware\n- cost-models\nconfigs:\n{configurations}---\n\n"
    )
