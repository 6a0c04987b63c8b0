"""Tables of the project and of releases."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from pipelines.dataset.releases import ReleaseTables


def table(name: str, *, folder: Path | str | None = None) -> pl.LazyFrame:
    """Return the rows of a table, all partitions; those with a longest path have `slack_ns` and `timing_met`
    besides.

    Args:   folder: with `tables/`; None for the project's catalogue, or its data folder without one.
    Raises: SchemaError: no such table, or a file is damaged. FoundryError: the catalogue does not answer.
    """
    from assets.deployments import find_deployment
    from assets.shared_tables import open_catalogue, scan_shared
    from pipelines.schemas import scan_table, table_spec
    from pipelines.schemas.timing import with_timing

    deployment = find_deployment()
    catalogue = open_catalogue(deployment) if folder is None else None
    data_dir = deployment.data_dir if folder is None else Path(folder)

    def rows(table: str) -> pl.LazyFrame:
        spec = table_spec(table)
        return scan_table(data_dir, spec) if catalogue is None else scan_shared(catalogue, spec)

    return with_timing(name, rows(name), rows)


def sql(query: str) -> pl.DataFrame:
    """Answer one read-only SQL statement (DuckDB) over the project's tables.

    Raises: FoundryError: not one read-only statement, not valid SQL, or it reads a damaged file.
    """
    import polars as pl

    from assets.deployments import find_deployment
    from assets.shared_tables import open_catalogue
    from simfoundry.commands.sql import run_query

    deployment = find_deployment()
    answer = run_query(deployment.data_dir, query, open_catalogue(deployment))
    return pl.DataFrame(list(answer.rows), schema=list(answer.columns), orient="row")


def release(name: Path | str, *, verify: bool = False) -> ReleaseTables:
    """Return the tables of a release: `sf.release("v2")["labels"]` is a lazy Polars frame.

    A release that is being made gives a `UserWarning` with the number of pending partitions.

    Args:   name: of a release of the project, or its folder. verify: compare every file with its SHA-256.
    Raises: ReleaseError: no such release, or, with `verify`, a file is not what the manifest says.
    """
    from pipelines.dataset.releases import load_release

    tables = load_release(release_folder(name), verify=verify)
    if pending := tables.manifest.pending:
        warnings.warn(
            f"release {tables.manifest.name} is being made; pending: {len(pending)} partitions", stacklevel=2
        )
    return tables


def release_folder(name: Path | str) -> Path:
    """Return the folder of a release of the project by its name; a path stays as it is.

    Raises: ReleaseError: the project, if there is one, has no release of that name.
    """
    from assets.deployments import find_deployment
    from pipelines.dataset.releases import MANIFEST_FILE, ReleaseError

    if Path(name).is_dir() or len(Path(name).parts) > 1:
        return Path(name)
    releases = find_deployment().project / "releases"
    if not (releases / name).is_dir():
        known = sorted(path.parent.name for path in releases.glob(f"*/{MANIFEST_FILE}"))
        raise ReleaseError(
            f"no such release: {name}; accepted: {', '.join([*known, 'a folder of a release'])}"
        )
    return releases / name
