"""The site of the documentation: no warning, no page wider than its window, search, no other host."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assets.errors import FoundryError
from simfoundry.site.notebooks import write_notebook
from simfoundry.site.pages import build_site, navigation, site_pages
from simfoundry.site.reference import commands_page, functions_page
from tests.assets.browser_pages import opened_browser

WIDTHS = (1440, 390)
LOST_IMAGES = "[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src)"


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *_: Any) -> None:  # noqa: A002
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.sample(4)
@pytest.mark.parametrize("first", range(4))
def test_no_page_is_wider_than_its_window_or_asks_another_host(site: Path, address: str, first: int) -> None:
    wide: list[str] = []
    lost: list[str] = []
    foreign: list[str] = []
    with opened_browser() as page:
        page.on("request", lambda request: foreign.append(request.url))
        for file in sorted(site.rglob("*.html"))[first::4]:
            page.goto(f"{address}/{file.relative_to(site)}", wait_until="load")
            lost += page.evaluate(LOST_IMAGES)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    wide.append(f"{file.relative_to(site)} at {width}")
    assert wide == []
    assert lost == []
    assert {url for url in foreign if not url.startswith((address, "data:", "blob:"))} == set()


def test_search_leads_to_a_page(address: str) -> None:
    with opened_browser() as page:
        page.goto(f"{address}/index.html")
        page.keyboard.press("Control+k")
        page.keyboard.type("queueing theory")
        page.get_by_role("link", name="Networks").first.click()
        page.wait_for_url("**/network.html*")


def test_every_page_is_listed_once_at_least(repository: Path) -> None:
    pages = site_pages(repository)
    shown = [
        path
        for section in navigation(pages, repository)
        for page in _values(section)
        for path in _values(page)
    ]
    assert {str(page.path) for page in pages.values()} <= set(shown)


def test_navigation_rejects_a_page_that_nothing_lists(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in (("README.md", "# A"), ("docs/index.md", "# B"), ("docs/lost.md", "# C")):
        (tmp_path / name).write_text(text)
    with pytest.raises(FoundryError, match=r"^no section of docs/index\.md lists docs/lost\.md$"):
        navigation(site_pages(tmp_path), tmp_path)


def test_a_link_to_a_page_that_is_gone_fails_the_build(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "README.md").write_text("# A\n")
    (project / "docs" / "index.md").write_text("# B\n\n[x](#gone)\n\n## Reference\n")
    with pytest.raises(FoundryError, match=r"the site was not built"):
        build_site(tmp_path / "site", project)


def test_the_reference_has_every_command_and_function() -> None:
    commands, functions = commands_page(), functions_page()
    for name in ("simfoundry network", "simfoundry release make", "simfoundry models rollback"):
        assert f"### {name}\n" in commands
    assert "| `--load NUMBER` |" in commands
    for name in ("sf.predict", "sf.loaders.designs", "sf.Simulation.step", "sf.Options"):
        assert f"# {name}\n" in functions
    assert "**Raises:** FoundryError: no such model" in functions


def test_a_notebook_keeps_its_outputs_and_plots(tmp_path: Path) -> None:
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(
        '{"cells": [{"cell_type": "markdown", "source": ["# T"]},'
        '{"cell_type": "code", "source": ["1 + 1"], "outputs": ['
        '{"data": {"text/plain": ["2"]}}, {"data": {"image/png": "AAAA", "text/plain": ["F"]}}]}]}'
    )
    write_notebook(notebook, tmp_path / "n.md")
    assert (tmp_path / "n.md").read_text() == (
        "# T\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n\n![plot](n-1-1.png)\n"
    )
    assert (tmp_path / "n-1-1.png").read_bytes() == b"\0\0\0"


def _values(section: dict[str, Any]) -> list[Any]:
    """Values of the only entry of a navigation: its pages, or the path of its page."""
    (value,) = section.values()
    return value if isinstance(value, list) else [value]
