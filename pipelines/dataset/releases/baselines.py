"""Errors of the baselines of a release: a file of the release, `baselines.json`.

They are measured after the tables are written, so they are added to a finished release. A release that is
written again keeps the file while its tables are those of the measurement.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pipelines.base.files import read_bounded
from pipelines.base.folders import replacing_folder
from pipelines.base.identity import content_hash
from pipelines.dataset.releases.manifest import (
    MANIFEST_FILE,
    FileEntry,
    Manifest,
    ReleaseError,
    Sha256,
    manifest_bytes,
    read_manifest,
)
from pipelines.schemas import write_bytes_atomically

BASELINES_FILE = "baselines.json"
LIMIT_BYTES = 1 << 20


class Baseline(BaseModel):
    """One metric of one predictor on one target and part; percentage errors are fractions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    predictor: str
    target: str
    split: str
    part: str
    metric: str
    value: float | None
    interval_low: float | None
    interval_high: float | None
    row_count: int


class _Baselines(BaseModel):
    """What the file says: hash of the tables that the rows were measured on, and the rows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tables: Sha256
    rows: tuple[Baseline, ...]


def publish_baselines(folder: Path, rows: Sequence[Baseline]) -> None:
    """Add the errors of baselines to a release; earlier ones are replaced.

    Raises: ReleaseError: the folder is no release.
    """
    manifest = read_manifest(folder)
    stored = {"tables": tables_hash(manifest.files), "rows": [row.model_dump(mode="json") for row in rows]}
    content = (json.dumps(stored, indent=1, sort_keys=True) + "\n").encode()
    entry = FileEntry(path=BASELINES_FILE, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
    files = (*(file for file in manifest.files if file.path != BASELINES_FILE), entry)
    with replacing_folder(folder, keeps=True) as new:
        write_bytes_atomically(new / BASELINES_FILE, content)
        write_bytes_atomically(
            new / MANIFEST_FILE, manifest_bytes(manifest.model_copy(update={"files": files}))
        )


def read_baselines(folder: Path, manifest: Manifest) -> tuple[Baseline, ...]:
    """Read the errors of baselines that a release has; none when it has no such file.

    Raises: ReleaseError: the file is damaged.
    """
    if all(file.path != BASELINES_FILE for file in manifest.files):
        return ()
    path = folder / BASELINES_FILE
    content = read_bounded(path, what="file of baselines", most_bytes=LIMIT_BYTES, error=ReleaseError)
    try:
        return _Baselines.model_validate_json(content).rows
    except ValidationError as error:
        raise ReleaseError(f"no file of baselines: {error.errors()[0]['msg']} ({path})") from error


def read_valid_baselines(folder: Path, files: Iterable[FileEntry]) -> bytes | None:
    """Return the file of the present release in a folder, when it was measured on the same tables."""
    try:
        content = (folder / BASELINES_FILE).read_bytes()
        stored = _Baselines.model_validate_json(content)
    except (OSError, ValidationError):
        return None
    return content if stored.tables == tables_hash(files) else None


def tables_hash(files: Iterable[FileEntry]) -> str:
    """Return the hash of the tables of a release, from the files of its manifest."""
    own = sorted((file.path, file.sha256) for file in files if file.table is not None)
    return hashlib.sha256(content_hash(own).encode()).hexdigest()
