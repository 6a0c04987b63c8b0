"""The report page of a deployment on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.stored_predictors import stored_predictors
from pipelines.dataset.reports import Report, draw_page, read_report
from pipelines.schemas import write_bytes_atomically

PAGE_FILE = "report.html"
OWN_TITLE = "What the foundry made"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPage:
    """A page on disk and the figures in it."""

    path: Path
    content: bytes
    report: Report


def page_path(deployment: Deployment) -> Path:
    """Return the path of the page of the deployment's own tables."""
    return deployment.data_dir / PAGE_FILE


def write_page(
    deployment: Deployment, *, release: Path | None = None, out: Path | None = None
) -> WrittenPage:
    """Draw the tables of a deployment, or of a release, and write the page.

    Args:
        release: folder of tables, `<table>/*.parquet` in it or in its folder `tables`.
        out: file of the page; by default in the data folder.
    Raises: FoundryError: the release is no folder, or the page cannot be written. ReportError: no tables.
    """
    if release is not None and not release.is_dir():
        raise FoundryError(f"no such release folder: {release}")
    name = OWN_TITLE if release is None else f"Release {release.resolve().name}"
    folder = deployment.data_dir if release is None else release
    stored = stored_predictors(folder, is_release=release is not None)
    report = read_report(folder, name=name, stored=stored)
    own = page_path(deployment)
    default = own if release is None else own.with_name(f"report-{release.resolve().name}.html")
    path = default if out is None else out
    content = draw_page(report).encode()
    try:
        write_bytes_atomically(path, content)
    except OSError as error:
        raise FoundryError(
            f"a page must be a file that can be written, got {error.strerror} ({path})"
        ) from error
    return WrittenPage(path=path, content=content, report=report)
