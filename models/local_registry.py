"""A registry in an SQLite file without MLflow, whose import takes 2 s: files of models, and moved ones.

What it does not find there, MLflow is asked for.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote, urlsplit

from models.catalogue import PredictorSpec, predictors
from models.model_files import OUTCOME_FILE, REFERENCE_FILE, read_sealed_json
from pipelines.base.identity import content_hash

CHAMPION = "champion"
"""Alias of the version that answers."""
REFERENCE_METRIC = "reference_error"
"""MLflow's metric: mean error on the reference set. Registries of 0.1.0 have it in the tag `promotion`."""
_SQLITE = "sqlite:///"
_VERSIONS = """
    SELECT v.version, v.storage_location, COALESCE(m.value, json_extract(t.value, '$.error'))
    FROM registered_model_aliases a
    JOIN model_versions v ON v.name = a.name AND v.version = a.version AND v.workspace = a.workspace
    LEFT JOIN latest_metrics m ON m.run_uuid = v.run_id AND m.key = ?
    LEFT JOIN model_version_tags t ON t.name = v.name AND t.version = v.version AND t.workspace = v.workspace
        AND t.key = 'promotion'
    WHERE a.name = ? AND a.alias = ?"""
_ANY = "SELECT 1 FROM model_versions WHERE name = ?"
_KEY = "SELECT 1 FROM model_version_tags WHERE name = ? AND key = 'training_key' AND value = ?"
_STATE = (
    "SELECT name, version, storage_location FROM model_versions",
    "SELECT name, alias, version FROM registered_model_aliases",
    "SELECT name, version, key, value FROM model_version_tags",
)

_LOCATIONS = {
    "experiments": "artifact_location",
    "runs": "artifact_uri",
    "logged_models": "artifact_location",
    "model_versions": "storage_location",
}
"""Columns with absolute addresses of files, by table."""
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
    """Tell whether a registry is an SQLite file on this machine, which need not be there yet."""
    return tracking_uri.startswith(_SQLITE)


def database_file(tracking_uri: str) -> Path | None:
    """Return the file of a local registry, which need not be there yet; None for another registry."""
    return Path(tracking_uri.removeprefix(_SQLITE)).absolute() if is_local(tracking_uri) else None


def find_local(tracking_uri: str, name: str, alias: str) -> LocalModel | None:
    """Find the version with an alias; None when it is not in a local registry, or the code has newer weights.

    Args: tracking_uri: of the registry.
    """
    spec = next((spec for spec in predictors() if spec.name == name), None)
    path = database_file(tracking_uri)
    if spec is None or path is None:
        return None
    if is_new(tracking_uri):
        return _first_champion(spec, alias)
    try:
        follow_project(tracking_uri)
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute(_VERSIONS, (REFERENCE_METRIC, name, alias)).fetchone()
            if row is None and connection.execute(_ANY, (name,)).fetchone() is None:
                return _first_champion(spec, alias)
            if row is None or not _knows_shipped(connection, spec):
                return None
    except sqlite3.DatabaseError:
        return None  # another version's tables, or damaged: MLflow says which
    folder = _folder_at(row[1])
    folder = None if folder is None else folder / "artifacts"
    if folder is None or not folder.is_dir():
        return None
    folders = [place for place in folder.iterdir() if (place / OUTCOME_FILE).is_file()]
    if len(folders) != 1:
        return None
    return LocalModel(spec=spec, version=str(row[0]), folder=folders[0], error=row[2])


def is_new(tracking_uri: str) -> bool:
    """Tell whether nothing is registered yet: the registry is an SQLite file that is not there."""
    path = database_file(tracking_uri)
    return path is not None and not path.is_file()


def follow_project(tracking_uri: str) -> None:
    """Correct the addresses in a registry whose project was moved or copied.

    MLflow stores absolute addresses. The artifact folder lies beside the database, so an experiment whose
    folder is elsewhere, while one of that name is beside the database, says where the project was.

    Raises: sqlite3.DatabaseError: the database cannot be read or written.
    """
    path = database_file(tracking_uri)
    if path is None or not path.is_file():
        return
    project = path.resolve().parent
    with closing(sqlite3.connect(path)) as connection, connection:
        tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN (?, ?, ?, ?)"
        if connection.execute(tables, tuple(_LOCATIONS)).fetchone() != (len(_LOCATIONS),):
            return  # of an earlier MLflow, or empty: MLflow makes the tables
        for (address,) in connection.execute("SELECT artifact_location FROM experiments").fetchall():
            folder = _folder_at(address)
            if folder is not None and folder.parent != project and (project / folder.name).is_dir():
                _replace_addresses(connection, folder.parent, project)


def _folder_at(address: str | None) -> Path | None:
    """Return the folder that a `file:` address names; None for another address."""
    parts = urlsplit(address or "")
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _replace_addresses(connection: sqlite3.Connection, before: Path, after: Path) -> None:
    """Replace a folder at the beginning of every address, written as `file:` address or as path."""
    for old, new in ((before.as_uri(), after.as_uri()), (str(before), str(after))):
        for table, column in _LOCATIONS.items():
            connection.execute(
                f"UPDATE {table} SET {column} = ? || substr({column}, ?) "  # noqa: S608 - own names
                f"WHERE substr({column}, 1, ?) = ?",
                (new, len(old) + 1, len(old) + 1, f"{old}/"),
            )


def registry_state(tracking_uri: str, names: Iterable[str]) -> str | None:
    """Return hash of versions of models, their aliases and tags, and the weights that come with the project.

    Returns: None when there is no local registry, or it cannot be read.
    """
    chosen = set(names)
    path = database_file(tracking_uri)
    if path is None or not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            rows = [sorted(row for row in connection.execute(query) if row[0] in chosen) for query in _STATE]
    except sqlite3.DatabaseError:
        return None
    files = [spec.shipped_folder / OUTCOME_FILE for spec in predictors() if spec.name in chosen]
    shipped = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    return content_hash(rows, shipped)


def _first_champion(spec: PredictorSpec, alias: str) -> LocalModel | None:
    """Return the weights that come with the project: they are what a new registry begins with."""
    if alias != CHAMPION or not (spec.shipped_folder / OUTCOME_FILE).is_file() or shipped_refusal(spec):
        return None
    return LocalModel(
        spec=spec, version=SHIPPED, folder=spec.shipped_folder, error=shipped_error(spec.shipped_folder)
    )


def shipped_error(folder: Path) -> float | None:
    """Return the mean error on the reference set of weights that come with the project; None where they have
    none.

    Raises: PredictorError: the file is damaged.
    """
    file = folder / REFERENCE_FILE
    return fmean(read_sealed_json(file)["errors"]) if file.is_file() else None


def shipped_refusal(spec: PredictorSpec) -> str:
    """Tell why the weights that come with the project are no champion; empty where they are.

    Raises: PredictorError: the file is damaged.
    """
    file = spec.shipped_folder / REFERENCE_FILE
    return worse_than_constant(read_sealed_json(file).get("medians", {})) if file.is_file() else ""


def worse_than_constant(medians: Mapping[str, Sequence[float]]) -> str:
    """Name in one sentence the labels for which a constant is better beyond noise; empty if there are none.

    Args: medians: as `models.gate.ReferenceErrors` has them.
    """
    worse = [
        f"{what} ({constant:.0%} against {own:.0%})"
        for what, (own, constant, high) in medians.items()
        if high < 0
    ]
    return f"a constant has a lower median error of {', '.join(worse)}" if worse else ""


def _knows_shipped(connection: sqlite3.Connection, spec: PredictorSpec) -> bool:
    """Tell whether the weights that come with the project are registered already, if there are any."""
    file = spec.shipped_folder / OUTCOME_FILE
    if not file.is_file():
        return True
    key = read_sealed_json(file)["key"]
    return connection.execute(_KEY, (spec.name, key)).fetchone() is not None
