"""Tables of an earlier run that a run replaces: what it takes away, and keeping them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assets.configuration import read_parameters_file
from assets.deployments import PARAMETERS_FILE, Deployment
from assets.errors import FoundryError
from assets.materialise import excluded_partitions
from assets.settings import MACHINE_GROUPS, Configuration, Settings
from assets.step import Step
from assets.steps import STEPS
from pipelines.base.folders import link_file

KEPT_FOLDER = "kept"
ROOMS = ("tables", "measured")
KEYS_SHOWN = 5
NAME_DIGITS = 8


def lines_before(settings: Settings) -> list[str]:
    """List what a run removes from the tables of an earlier one; nothing if it removes nothing.

    Returns: a line per table that loses files, one with the settings that differ, and how to keep them.
    """
    deployment = settings.deployment
    lines = removed_lines(settings, STEPS)
    changes = _changes(deployment, settings.configuration)
    if changes:
        more = f" and {len(changes) - KEYS_SHOWN} more" if len(changes) > KEYS_SHOWN else ""
        lines.append(f"tables of an earlier run will be replaced: {'; '.join(changes[:KEYS_SHOWN])}{more}")
    if lines:
        lines.append("`--keep` keeps them beside the new ones, `--into FOLDER` leaves them as they are")
    return lines


def removed_lines(settings: Settings, steps: Iterable[Step]) -> list[str]:
    """Return a line per table of which steps remove files that the configuration leaves out."""
    return [
        f"{table}: {_row_count(settings.deployment, table, gone):,} rows of {', '.join(gone)} will be removed"
        for table, gone in excluded_partitions(settings, steps).items()
        if gone
    ]


def _row_count(deployment: Deployment, table: str, partitions: list[str]) -> int:
    paths = [deployment.data_dir / "tables" / table / f"{name}.parquet" for name in partitions]
    return sum(_rows(path) for path in paths)


def _rows(path: Path) -> int:
    try:
        return pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError):
        return 0  # a damaged file has no row that a run could take away


def _changes(deployment: Deployment, configuration: Configuration) -> list[str]:
    """Return the settings in which existing tables and the configuration differ, as `key: old -> new`."""
    path = deployment.parameters_folder / PARAMETERS_FILE
    if not path.is_file() or not any((deployment.data_dir / "tables").glob("*/*.parquet")):
        return []
    try:
        earlier = dict(_leaves(read_parameters_file(path).model_dump(mode="json", exclude={*MACHINE_GROUPS})))
    except FoundryError:
        return [f"{path} cannot be read"]
    now = dict(_leaves(configuration.model_dump(mode="json", exclude={*MACHINE_GROUPS})))
    return [
        f"{key}: {earlier.get(key)} -> {now.get(key)}"
        for key in dict.fromkeys((*earlier, *now))
        if earlier.get(key) != now.get(key)
    ]


def _leaves(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def keep_tables(deployment: Deployment) -> Path | None:
    """Link the tables that are there, and their params.yaml, into a folder of their own.

    Files of tables are never changed in place, so links keep their content and take no room.

    Returns: the folder, named after its content; None when there are no tables.
    Raises:  OSError: not writable.
    """
    files = {
        f"{room}/{path.parent.name}/{path.name}": path
        for room in ROOMS
        for path in sorted((deployment.data_dir / room).glob("*/*.parquet"))
        if not path.name.startswith(".")
    }
    if not files:
        return None
    named = [f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for name, path in files.items()]
    digest = hashlib.sha256("\n".join(named).encode()).hexdigest()[:NAME_DIGITS]
    folder = deployment.data_dir / KEPT_FOLDER / digest
    for name, path in files.items():
        target = folder / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            link_file(path, target)
    parameters = deployment.parameters_folder / PARAMETERS_FILE
    if parameters.is_file():
        shutil.copyfile(parameters, folder / PARAMETERS_FILE)
    return folder
