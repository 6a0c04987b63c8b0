"""The pages of `simfoundry ui` in Chromium: serving them, and what a user does there."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from playwright.sync_api import Error, Locator, Page, sync_playwright

from assets.configuration import compose_configuration, write_parameters

SHARD = "stencil"
SMALL = (
    f"programs.suites=[{SHARD}]",
    "hls.memory_delay=[2]",
    "hls.pipeline=[false]",
    "labelling.power=false",
    "labelling.audit_fraction=0",
    "labelling.cross_check_fraction=0",
)
"""Two designs."""
GROUPS = ("programs", "designs", "labels")
WAIT_MS = 300_000
"""Longest wait for a page or a run: a hang, not a slow machine."""
SHOWN = 4000
"""Characters of a page or a log that a failure shows."""
LOOK_MS = 5000
"""Time between two looks at a run."""
REDRAW_MS = 250
"""Time between two looks at a page that is still being drawn."""
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the pages are."""

    dagster: str
    mlflow: str


@contextmanager
def served_pages(project: Path) -> Iterator[Addresses]:
    """`simfoundry ui` of a small project, whose folder is in SIMFOUNDRY_PROJECT."""
    write_parameters(project, compose_configuration(SMALL))
    ports = [_free_port(), _free_port()]
    options = ["--port", str(ports[0]), "--mlflow-port", str(ports[1])]
    log = project / "ui.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [sys.executable, "-m", "simfoundry.cli", "ui", *options], stdout=stream, stderr=stream
        )
    try:
        with shown_on_failure(lambda: log.read_text(errors="replace")):
            yield Addresses(*(f"http://127.0.0.1:{port}" for port in ports))
    finally:
        server.send_signal(signal.SIGTERM)  # a Ctrl-C would be ignored by a test in the background
        server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def opened_browser() -> Iterator[Page]:
    """A page of Debian's Chromium; the test is skipped without one."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs Chromium on the PATH, which is not there")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(WAIT_MS)
            with shown_on_failure(lambda: f"{page.url}\n{page.inner_text('body')}"):
                yield page
        finally:
            browser.close()


@contextmanager
def shown_on_failure(text: Callable[[], str]) -> Iterator[None]:
    """Print the end of a text when the block fails."""
    try:
        yield
    except Exception:
        print(text()[-SHOWN:])
        raise


def open_page(page: Page, address: str) -> None:
    """Open a page of a server that may still be starting."""
    for _ in range(WAIT_MS // 500):
        try:
            with urlopen(address):
                break
        except OSError:
            page.wait_for_timeout(500)
    page.goto(address)


def launch_shard(page: Page, dagster: str) -> None:
    """In the asset graph of programs, designs and labels, materialise one shard of them."""
    chosen = " or ".join(f'group:"{name}"' for name in GROUPS)
    open_page(page, f"{dagster}/asset-groups~{quote(chosen)}/")
    button = page.get_by_role("button", name="Materialize all")
    button.wait_for()
    for name in GROUPS:
        page.get_by_role("button", name=name).first.wait_for()
    button.click()
    dialog = page.get_by_role("dialog").filter(has_text="Launch runs to materialize 8 assets")
    dialog.get_by_text("Select a partition").click()
    page.locator("[role=menuitem]").filter(has_text=SHARD).last.click()
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Launch 1 run").click()
    dialog.wait_for(state="hidden")


def open_plot(page: Page, dagster: str, table: str) -> Locator:
    """The first plot in the metadata of the shard of an asset, as soon as the shard is materialised."""
    shown = page.locator("img[alt^='distribution of']").first
    for _ in range(WAIT_MS // LOOK_MS):
        page.goto(f"{dagster}/assets/{table}?view=partitions&partition={SHARD}")
        page.get_by_text("Partitions Selected").wait_for()
        with suppress(Error):
            shown.wait_for(timeout=LOOK_MS)
            break
    return shown


def check_outcomes(page: Page, dagster: str, table: str) -> dict[str, str]:
    """What the page of an asset says of each check, by its name, once it shows as many as it counts."""
    page.goto(f"{dagster}/assets/{table}?view=checks")
    shown: dict[str, str] = {}
    for _ in range(WAIT_MS // REDRAW_MS):
        text = page.inner_text("body")
        shown = _shown_outcomes(text)
        if shown and f"Checks ({len(shown)})" in text:
            break
        page.wait_for_timeout(REDRAW_MS)
    return shown


def check_partitions(page: Page, name: str) -> dict[str, str]:
    """On the page of checks, how many partitions of a check have each outcome."""
    page.get_by_text(name, exact=True).first.click()
    page.get_by_text("Partitions", exact=True).last.click()
    page.get_by_text("1 Partitions Selected").wait_for()
    page.get_by_text(SHARD, exact=True).locator("visible=true").last.wait_for()
    text = " ".join(page.inner_text("body").split())
    return dict(re.findall(r"(?<!Execution )(Failed|Missing|Passed) \((\d+)\)", text))


def _shown_outcomes(text: str) -> dict[str, str]:
    words = [line for line in text.partition("Execute all")[2].splitlines() if line.strip()]
    outcomes = ("Succeeded", "Failed", "Warning", "Not evaluated")
    return {words[n - 1]: word for n, word in enumerate(words) if word in outcomes}
