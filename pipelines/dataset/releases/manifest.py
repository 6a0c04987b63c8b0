"""The manifest: the files of a release, and the tools that their content depends on.

A release has two manifests. `manifest.json` lists every file that follows from the inputs, so it is the same
in two releases of the same programs, configuration and tools. `measured.json` lists the wall-clock columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.base.files import read_bounded

FORMAT = 1
MANIFEST_FILE = "manifest.json"
MEASURED_FILE = "measured.json"
MANIFEST_LIMIT_BYTES = 16 << 20
FILE_LIMIT = 100_000

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
_PLAIN = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
PlainName = Annotated[str, Field(pattern=rf"^{_PLAIN}$", max_length=100)]
_FILE_NAME = rf"^(?:{_PLAIN}/){{0,3}}{_PLAIN}$"


class ReleaseError(ValueError):
    """A release cannot be written, or is not what its manifest says; the message says what and where."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileEntry(_Form):
    """One file. Paths are relative to the release, without dots at the beginning of a part."""

    path: Annotated[str, Field(pattern=_FILE_NAME, max_length=300)]
    sha256: Sha256
    bytes: Count
    table: PlainName | None = None
    partition: PlainName | None = None
    rows: Count | None = None


class Toolset(_Form):
    """Versions that the content of a release depends on.

    Attributes:
        tools: version by tool: HLS engines, cycle model, simulators, logic synthesis, power, the C compiler.
        liberties: SHA-256 of the liberty file by name of each standard-cell library; its first 32 digits in
            releases up to v2, which name the first library alone.
    """

    tools: Mapping[str, str]
    liberties: Mapping[str, str]


class Manifest(_Form):
    """What `manifest.json` says.

    Attributes:
        left_out: tables that are not in the release, and why.
        pending: partitions that lack a table; None when the release is finished.
        derived: SHA-256 of each file of the tables that are left out and can be made again, by table and
            partition; None when there is none.
        catalogue: version of the catalogue of tables that the release was made from; None without one.
    """

    format: Literal[1]
    name: str
    toolset: Toolset
    rows: Mapping[str, Count]
    left_out: Mapping[str, str]
    files: tuple[FileEntry, ...]
    pending: tuple[PlainName, ...] | None = None
    derived: Mapping[PlainName, Mapping[PlainName, Sha256]] | None = None
    catalogue: Sha256 | None = None


class MeasuredManifest(_Form):
    """What `measured.json` says."""

    format: Literal[1]
    files: tuple[FileEntry, ...]


def manifest_bytes(manifest: Manifest | MeasuredManifest) -> bytes:
    """Return the file's text, equal for equal manifests."""
    content = manifest.model_dump(mode="json", exclude_none=True)
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a release.

    Raises: ReleaseError: there is none, or it is not one.
    """
    path = folder / MANIFEST_FILE
    try:
        return Manifest.model_validate_json(_content(path))
    except ValidationError as error:
        raise _not_a_manifest(path, error) from error


def read_measured_manifest(folder: Path) -> MeasuredManifest:
    """Read the manifest of the wall-clock files; an empty one when there is none.

    Raises: ReleaseError: it is not one.
    """
    path = folder / MEASURED_FILE
    if not path.is_file():
        return MeasuredManifest(format=1, files=())
    try:
        return MeasuredManifest.model_validate_json(_content(path))
    except ValidationError as error:
        raise _not_a_manifest(path, error) from error


def _content(path: Path) -> bytes:
    content = read_bounded(path, what="manifest", most_bytes=MANIFEST_LIMIT_BYTES, error=ReleaseError)
    count = content.count(b"{")
    if count > FILE_LIMIT:
        raise ReleaseError(f"a manifest must have at most {FILE_LIMIT} JSON objects, got {count} ({path})")
    return content


def _not_a_manifest(path: Path, error: ValidationError) -> ReleaseError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "the file"
    return ReleaseError(f"a manifest must have the form {FORMAT}, got at {place}: {first['msg']} ({path})")
