"""A registered model's files without MLflow, for a registry in an SQLite file: importing MLflow takes 2 s.

Only reads. What it does not find there, MLflow is asked for.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote, urlsplit

from models.catalogue import PredictorSpec, predictors
from models.model_files import OUTCOME_FILE, REFERENCE_FILE, read_sealed_json

CHAMPION = "champion"
"""Alias of the version that answers."""
_SQLITE = "sqlite:///"
_VERSIONS = """
    SELECT v.version, v.storage_location, t.value FROM registered_model_aliases a
    JOIN model_versions v ON v.name = a.name AND v.version = a.version AND v.workspace = a.workspace
    LEFT JOIN model_version_tags t ON t.name = v.name AND t.version = v.version AND t.workspace = v.workspace
        AND t.key = 'promotion'
    WHERE a.name = ? AND a.alias = ?"""
_ANY = "SELECT 1 FROM model_versions WHERE name = ?"
_KEY = "SELECT 1 FROM model_version_tags WHERE name = ? AND key = 'training_key' AND value = ?"


SHIPPED = "shipped"
"""Version of the weights that come with the project, where nothing is registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A registered version whose files are on this machine.

    Attributes: error: mean error on the reference set; None where it was not scored.
    """

    spec: PredictorSpec
    version: str
    folder: Path
    error: float | None = None


def is_local(tracking_uri: str) -> bool:
    """Whether a registry is an SQLite file on this machine, which need not be there yet."""
    return tracking_uri.startswith(_SQLITE)


def find_local(tracking_uri: str, name: str, alias: str) -> LocalModel | None:
    """The version with an alias; None when it is not in a local registry, or the code has newer weights.

    Args: tracking_uri: of the registry.
    """
    spec = next((spec for spec in predictors() if spec.name == name), None)
    if spec is None or not is_local(tracking_uri):
        return None
    if is_new(tracking_uri):
        return _first_champion(spec, alias)
    path = Path(tracking_uri.removeprefix(_SQLITE))
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute(_VERSIONS, (name, alias)).fetchone()
            if row is None and connection.execute(_ANY, (name,)).fetchone() is None:
                return _first_champion(spec, alias)
            if row is None or not _knows_shipped(connection, spec):
                return None
    except sqlite3.DatabaseError:
        return None  # another version's tables, or damaged: MLflow says which
    location = urlsplit(row[1] or "")
    folder = Path(unquote(location.path)) / "artifacts"
    if location.scheme not in ("", "file") or not folder.is_dir():
        return None
    folders = [place for place in folder.iterdir() if (place / OUTCOME_FILE).is_file()]
    if len(folders) != 1:
        return None
    error = json.loads(row[2] or "{}").get("error")
    return LocalModel(spec=spec, version=str(row[0]), folder=folders[0], error=error)


def is_new(tracking_uri: str) -> bool:
    """Whether nothing is registered yet: the registry is an SQLite file that is not there."""
    return is_local(tracking_uri) and not Path(tracking_uri.removeprefix(_SQLITE)).is_file()


def _first_champion(spec: PredictorSpec, alias: str) -> LocalModel | None:
    """The weights that come with the project: they are what a new registry begins with."""
    if alias != CHAMPION or not (spec.shipped_folder / OUTCOME_FILE).is_file():
        return None
    return LocalModel(
        spec=spec, version=SHIPPED, folder=spec.shipped_folder, error=shipped_error(spec.shipped_folder)
    )


def shipped_error(folder: Path) -> float | None:
    """Mean error on the reference set of weights that come with the project; None where they have none.

    Raises: PredictorError: the file is damaged.
    """
    file = folder / REFERENCE_FILE
    return fmean(read_sealed_json(file)["errors"]) if file.is_file() else None


def _knows_shipped(connection: sqlite3.Connection, spec: PredictorSpec) -> bool:
    """Whether the weights that come with the project are registered already, if there are any."""
    file = spec.shipped_folder / OUTCOME_FILE
    if not file.is_file():
        return True
    key = read_sealed_json(file)["key"]
    return connection.execute(_KEY, (spec.name, key)).fetchone() is not None
