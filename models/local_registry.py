"""A registered model's files without MLflow, for a registry in an SQLite file: importing MLflow takes 2 s.

Only reads. What it does not find there, MLflow is asked for.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from models.catalogue import PredictorSpec, predictors
from models.model_files import OUTCOME_FILE, read_sealed_json
from pipelines.identity import content_hash

_SQLITE = "sqlite:///"
_VERSIONS = """
    SELECT v.version, v.storage_location FROM registered_model_aliases a
    JOIN model_versions v ON v.name = a.name AND v.version = a.version AND v.workspace = a.workspace
    WHERE a.name = ? AND a.alias = ?"""
_KEY = "SELECT 1 FROM model_version_tags WHERE name = ? AND key = 'training_key' AND value = ?"
_STATE = (
    "SELECT name, version, storage_location FROM model_versions",
    "SELECT name, alias, version FROM registered_model_aliases",
    "SELECT name, version, key, value FROM model_version_tags",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A registered version whose files are on this machine."""

    spec: PredictorSpec
    version: str
    folder: Path


def find_local(tracking_uri: str, name: str, alias: str) -> LocalModel | None:
    """The version with an alias; None when it is not in a local registry, or the code has newer weights.

    Args: tracking_uri: of the registry.
    """
    spec = next((spec for spec in predictors() if spec.name == name), None)
    path = Path(tracking_uri.removeprefix(_SQLITE))
    if spec is None or not tracking_uri.startswith(_SQLITE):
        return None
    if not path.is_file():
        return _first_champion(spec, alias)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute(_VERSIONS, (name, alias)).fetchone()
            if row is None or not _knows_shipped(connection, spec):
                return None
    except sqlite3.DatabaseError:
        return None  # another version's tables, or damaged: MLflow says which
    location = urlsplit(row[1] or "")
    folder = Path(unquote(location.path)) / "artifacts"
    if location.scheme not in ("", "file") or not folder.is_dir():
        return None
    folders = [place for place in folder.iterdir() if (place / OUTCOME_FILE).is_file()]
    return LocalModel(spec=spec, version=str(row[0]), folder=folders[0]) if len(folders) == 1 else None


def registry_state(tracking_uri: str, names: Iterable[str]) -> str | None:
    """Hash of versions of models, their aliases and tags, and the weights that come with the project.

    Returns: None when there is no local registry, or it cannot be read.
    """
    chosen = set(names)
    path = Path(tracking_uri.removeprefix(_SQLITE))
    if not tracking_uri.startswith(_SQLITE) or not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = [sorted(row for row in connection.execute(query) if row[0] in chosen) for query in _STATE]
    except sqlite3.DatabaseError:
        return None
    files = [spec.shipped_folder / OUTCOME_FILE for spec in predictors() if spec.name in chosen]
    shipped = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    return content_hash(rows, shipped)


def _first_champion(spec: PredictorSpec, alias: str) -> LocalModel | None:
    """The weights that come with the project: they are what a new registry begins with."""
    if alias != "champion" or not (spec.shipped_folder / OUTCOME_FILE).is_file():
        return None
    return LocalModel(spec=spec, version="shipped", folder=spec.shipped_folder)


def _knows_shipped(connection: sqlite3.Connection, spec: PredictorSpec) -> bool:
    """Whether the weights that come with the project are registered already, if there are any."""
    file = spec.shipped_folder / OUTCOME_FILE
    if not file.is_file():
        return True
    key = read_sealed_json(file)["key"]
    return connection.execute(_KEY, (spec.name, key)).fetchone() is not None
