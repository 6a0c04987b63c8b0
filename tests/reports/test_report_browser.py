"""The page in a real browser: nothing wider than the screen, no text outside of its drawing."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_examples import Rows, engine_rows
from playwright.sync_api import Page, sync_playwright
from report_examples import example_rows, stored_predictors

from pipelines.dataset.reports import draw_page, read_report

MEASURE = """
const inner = document.querySelector("iframe").contentWindow, page = inner.document;
const clipped = [];
for (const text of page.querySelectorAll("svg.chart text")) {
  const box = text.getBBox(), frame = text.ownerSVGElement.viewBox.baseVal;
  if (box.x < -1 || box.x + box.width > frame.width + 1 || box.y + box.height > frame.height + 1)
    clipped.push(text.textContent);
}
const wide = Array.from(page.querySelectorAll("main *"))
  .filter((e) => !e.closest(".table") && e.getBoundingClientRect().right > inner.innerWidth + 0.5)
  .map((e) => e.tagName);
for (const details of page.querySelectorAll("details")) details.open = true;
const cut = Array.from(page.querySelectorAll(".table"))
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.querySelector("caption").textContent);
const first = page.querySelector("table.sortable"), cells = () =>
  Array.from(first.tBodies[0].rows).map((row) => row.cells[0].textContent);
const before = cells();
first.querySelector("th button").click();
const up = cells();
first.querySelector("th button").click();
document.title = JSON.stringify({
  page: page.documentElement.scrollWidth, screen: inner.innerWidth, clipped, wide, cut,
  texts: page.querySelectorAll("svg.chart text").length,
  small: Math.min(...Array.from(page.querySelectorAll("svg.chart text")).map(
    (t) => t.getBoundingClientRect().height)),
  before, up, down: cells(),
  navigation: inner.getComputedStyle(page.querySelector("nav")).position,
  dark: inner.matchMedia("(prefers-color-scheme: dark)").matches,
  paper: inner.getComputedStyle(page.body).backgroundColor,
});
"""


def _chromium() -> str:
    """A Chromium that starts, or a skipped test."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            return path
    pytest.skip("needs Chromium on the PATH, which is not there")


def _measured(page: str, folder: Path, width: int, height: int, *options: str) -> dict[str, Any]:
    """What the page is like in a window of that size: it lies in a frame, for windows have a least width."""
    size = f"border:0;width:{width}px;height:{height}px"
    may = "allow-scripts allow-same-origin"  # and no dialogs, which would wait for somebody
    frame = f'<iframe sandbox="{may}" style="{size}" srcdoc="{html.escape(page)}"></iframe>'
    wrapper = f"<!DOCTYPE html><body>{frame}<script>window.onload = () => {{{MEASURE}}};</script></body>"
    path = folder / "wrapper.html"
    path.write_text(wrapper)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [_chromium(), "--headless", *sandbox, "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    command += [
        "--window-size=1600,1200",
        "--virtual-time-budget=2000",
        *options,
        "--dump-dom",
        path.as_uri(),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"<title>(\{.*?\})</title>", run.stdout, re.DOTALL)
    if found is None:
        pytest.skip(f"needs a Chromium that can start here, got exit status {run.returncode}")
    measured: dict[str, Any] = json.loads(html.unescape(found.group(1)))
    return measured


PREDICTORS = (
    "gnnhls",
    "lightgbm-hls",
    "numeric-lm-hls",
    "engine-estimate-hls",
    "tenset-mlp",
    "lightgbm-static",
)


def _many_predictors(rows: Rows) -> Rows:
    """The rows with the predictors of a whole project on the leaderboard."""
    boards = {table: rows[table] for table in ("leaderboard", "workload_errors", "predictor_costs")}
    added = {
        table: [row | {"predictor": name} for row in own for name in PREDICTORS]
        for table, own in boards.items()
    }
    return rows | {table: [*rows[table], *added[table]] for table in boards}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tables")
    for table, rows in {**_many_predictors(example_rows()), **engine_rows()}.items():
        (folder / table).mkdir()
        pq.write_table(pa.Table.from_pylist(rows), folder / table / "all.parquet")
    return draw_page(read_report(folder, name="A release of everything", stored=stored_predictors()))


@pytest.mark.parametrize(("width", "height", "navigation"), [(390, 844, "static"), (1440, 900, "sticky")])
def test_the_page_fits_the_screen(
    page: str, tmp_path: Path, width: int, height: int, navigation: str
) -> None:
    found = _measured(page, tmp_path, width, height)
    assert found["screen"] == width
    assert found["page"] <= width
    assert found["wide"] == []
    assert width < 1440 or found["cut"] == []
    assert found["texts"] > 200
    assert found["clipped"] == []
    assert found["small"] > 7.5
    assert found["navigation"] == navigation
    assert not found["dark"]
    assert found["up"] == sorted(found["before"])
    assert found["down"] == found["up"][::-1]


def test_the_page_is_dark_where_the_reader_wants_it(page: str, tmp_path: Path) -> None:
    found = _measured(page, tmp_path, 1440, 900, "--blink-settings=preferredColorScheme=0")
    assert found["dark"]
    assert found["paper"] == "rgb(18, 21, 25)"


PAPER_WIDTH = 703
"""Pixels between the margins of a sheet of A4, 186 of 210 mm."""

PRINTED = """(width) => {
  const shown = (e) => e.getBoundingClientRect();
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  return {
    wide: [...document.querySelectorAll("body *")].filter((e) => shown(e).right > width + 1)
      .map((e) => e.tagName),
    cut: [...document.querySelectorAll(".table")].filter((e) => e.scrollWidth > e.clientWidth + 1)
      .map((e) => e.querySelector("caption").textContent),
    folded: [...document.querySelectorAll("details table")].map((e) => !e.checkVisibility()),
    links: [...document.querySelectorAll("nav a")].filter((e) => shown(e).height > 0).length,
    sections: document.querySelectorAll("section").length,
    panel: style(".panel").breakInside, row: style("tr").breakInside, heading: style("h2").breakAfter,
  };
}"""


@pytest.fixture
def printed(page: str, tmp_path: Path) -> Iterator[Page]:
    path = tmp_path / "page.html"
    path.write_text(page)
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=_chromium(), args=options)
        sheet = browser.new_page(viewport={"width": PAPER_WIDTH, "height": 1030})
        sheet.emulate_media(media="print")
        sheet.goto(path.as_uri())
        yield sheet
        browser.close()


def test_nothing_is_cut_or_folded_on_paper(printed: Page) -> None:
    layout = printed.evaluate(PRINTED, PAPER_WIDTH)
    assert (layout["wide"], layout["cut"]) == ([], [])
    assert layout["folded"]
    assert not any(layout["folded"])
    assert layout["links"] == layout["sections"]


def test_pages_of_paper_do_not_break_inside_a_chart(printed: Page) -> None:
    layout = printed.evaluate(PRINTED, PAPER_WIDTH)
    assert (layout["panel"], layout["row"], layout["heading"]) == ("avoid", "avoid", "avoid")
    assert printed.pdf(format="A4").startswith(b"%PDF")
