"""What a run did: the tables before it beside those after it, kept in a file and drawn as a page."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from assets.deployments import Deployment
from pipelines.base.folders import link_file
from pipelines.dataset.reports import ModelDecision, Refresh, compare_tables, draw_refresh
from pipelines.schemas import PromotionRow, SchemaError, read_table, table_spec, write_bytes_atomically

REFRESHES_FILE = "refreshes.json"
PAGE_FILE = "refresh.html"
BEFORE_FOLDER = ".before"
KEPT_REFRESHES = 60
ENGINE_ROOMS = ("assets", "conf", "models", "pipelines")
ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def tables_before(data_dir: Path) -> Iterator[Path]:
    """Yield a folder of links to the present tables, for use while a run replaces them.

    Raises: OSError: not writable.
    """
    folder = data_dir / BEFORE_FOLDER
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    (folder / "tables").mkdir(parents=True)
    for path in (data_dir / "tables").glob("*/*.parquet"):
        if not path.name.startswith("."):
            target = folder / "tables" / path.parent.name / path.name
            target.parent.mkdir(exist_ok=True)
            link_file(path, target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def record_refresh(
    deployment: Deployment,
    before: Path,
    *,
    started_s: float,
    problems: Sequence[str],
    notes: Sequence[str],
) -> Path:
    """Compare the tables with those before, and write what the run did: a file and a page.

    Returns: the page.
    Raises:  SchemaError: a table is damaged. OSError: not writable.
    """
    changes, failures = compare_tables(before / "tables", deployment.data_dir / "tables")
    refresh = Refresh(
        started=datetime.fromtimestamp(started_s).astimezone().isoformat(timespec="minutes"),
        wall_s=round(time.time() - started_s, 1),
        changes=tuple(changes),
        failures=tuple(failures),
        models=tuple(model_decisions(_promotions(before), _promotions(deployment.data_dir))),
        problems=tuple(problems),
        notes=tuple(notes),
    )
    refreshes = [*read_refreshes(deployment), refresh][-KEPT_REFRESHES:]
    content = json.dumps([one.as_json() for one in refreshes], indent=1)
    write_bytes_atomically(deployment.data_dir / REFRESHES_FILE, content.encode())
    page = refresh_page(deployment)
    write_bytes_atomically(page, draw_refresh(refreshes).encode())
    return page


def refresh_page(deployment: Deployment) -> Path:
    """Return the path of the page of refreshes."""
    return deployment.data_dir / PAGE_FILE


def read_refreshes(deployment: Deployment) -> list[Refresh]:
    """Read the earlier runs; none when the file is not there or is of another version."""
    try:
        content = json.loads((deployment.data_dir / REFRESHES_FILE).read_bytes())
        return [Refresh.of_json(one) for one in content]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _promotions(folder: Path) -> list[PromotionRow]:
    try:
        return read_table(folder, table_spec("promotions"), None)
    except (FileNotFoundError, SchemaError):
        return []


def state_hash(data_dir: Path) -> str:
    """Return the hash of the code and of the tables: what a sample of rows that is made again depends on."""
    digest = hashlib.sha256()
    code = (path for room in ENGINE_ROOMS for path in sorted((ROOT / room).rglob("*")))
    tables = sorted((data_dir / "tables").glob("*/*.parquet"))
    for path in (*code, *tables):
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def model_decisions(before: Sequence[PromotionRow], after: Sequence[PromotionRow]) -> Iterator[ModelDecision]:
    """Yield the new decisions about each model; the champion that stays where there is none."""
    known = {(row.model, row.version): row for row in before}
    for model in sorted({row.model for row in after}):
        own = [row for row in after if row.model == model]
        new = [row for row in own if known.get((row.model, row.version)) != row]
        for row in new:
            yield ModelDecision(model=model, version=row.version, decision=row.decision, reason=row.reason)
        promoted = [row for row in own if row.decision == "promoted"]
        if not new:
            version = promoted[-1].version if promoted else own[-1].version
            reason = "no new version: same tables, options and code" if promoted else own[-1].reason
            yield ModelDecision(model=model, version=version, decision="kept", reason=reason)
