"""Pictures of Dagster, MLflow and the report for the documentation, taken in Chromium.

    .venv/bin/python -m tests.benchmarks.screenshots [--out docs/figures]

A small project in a temporary folder: `simfoundry ui` serves it, one shard is materialised from the asset
graph as in tests/assets/test_browser.py, the weights of the project are registered, the report is drawn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image

from tests.benchmarks.harness import ROOT, options_parser

sys.path.insert(0, str(ROOT / "tests" / "assets"))

from browser_pages import (
    GROUPS,
    SHARD,
    check_outcomes,
    check_partitions,
    launch_shard,
    open_page,
    open_plot,
    opened_browser,
    served_pages,
)
from playwright.sync_api import Page

COLOURS = 48
SIZE = {"width": 1120, "height": 640}


@contextmanager
def small_project() -> Iterator[Path]:
    """A project folder of its own, named in SIMFOUNDRY_PROJECT."""
    with tempfile.TemporaryDirectory(prefix="simfoundry-pages-") as folder:
        project = Path(folder) / "project"
        (project / ".dvc").mkdir(parents=True)
        for name in ("dvc.yaml", "workspace.yaml", ".dvcignore", ".dvc/config"):
            shutil.copy(ROOT / name, project / name)
        shutil.copytree(ROOT / "conf", project / "conf")
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        os.environ["SIMFOUNDRY_PROJECT"] = str(project)
        yield project


def take(page: Page, path: Path) -> None:
    """Write what the page shows with few colours, which halves the file."""
    page.wait_for_timeout(3000)  # until drawings have settled
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Take the pictures."""
    parser = options_parser(__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "figures")
    out: Path = parser.parse_args().out
    with small_project() as project, opened_browser() as page, served_pages(project) as addresses:
        page.set_viewport_size(SIZE)
        launch_shard(page, addresses.dagster)
        open_plot(page, addresses.dagster, "labels").evaluate("plot => plot.scrollIntoView()")
        take(page, out / "dagster-plot.png")
        check_outcomes(page, addresses.dagster, "labels")
        check_partitions(page, "equals_native_c")
        page.get_by_text(SHARD, exact=True).locator("visible=true").last.click()
        take(page, out / "dagster-checks.png")
        page.goto(f"{addresses.dagster}/locations/simfoundry/asset-groups/{GROUPS[-1]}/lineage")
        page.get_by_text("Latest event").first.wait_for()
        page.get_by_text("Loading...").first.wait_for(state="hidden")
        take(page, out / "dagster-assets.png")
        command = [sys.executable, "-m", "simfoundry.cli"]
        subprocess.run([*command, "models"], check=True, stdout=subprocess.DEVNULL)
        open_page(page, f"{addresses.mlflow}/")
        page.get_by_text("tenset-mlp").first.wait_for()
        take(page, out / "mlflow-runs.png")
        page.goto(f"{addresses.mlflow}/#/models")
        page.get_by_text("tenset-mlp").first.wait_for()
        take(page, out / "mlflow-models.png")
        subprocess.run([*command, "report"], check=True, stdout=subprocess.DEVNULL)
        page.goto((project / "data" / "report.html").as_uri())
        take(page, out / "report.png")


if __name__ == "__main__":
    main()
