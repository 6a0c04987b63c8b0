"""Pages, navigation and configuration of the site.

The navigation is that of `docs/index.md`: a section per heading, a page per link. Folders below `docs/` and
cards of releases follow. A page that nothing lists is an error.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import yaml

from assets.errors import FoundryError
from simfoundry.site.notebooks import write_notebook
from simfoundry.site.reference import commands_page, functions_page

PROJECT = Path(__file__).resolve().parents[2]
INDEX = PurePosixPath("docs/index.md")
FOLDERS = {
    "Results": PurePosixPath("docs/results"),
    "Attempts": PurePosixPath("docs/attempts"),
    "Decisions": PurePosixPath("docs/decisions"),
}
"""Sections of which every page is listed, in the order of the names."""
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:#]*)(#[^)\s]*)?\)")
_IMAGE = re.compile(r"(!\[[^\]]*\])\(([^)\s:]+)\)")
_SECTION = re.compile(r"^## (.+)$|\[[^\]]*\]\(([^)\s:#]+)\)", re.MULTILINE)
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
Navigation: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the site: the file of the checkout that it shows, and its path below the site's folder."""

    source: PurePosixPath
    path: PurePosixPath


def site_pages(project: Path = PROJECT) -> dict[PurePosixPath, Page]:
    """Return every page that shows a file of the checkout, by the path of that file."""
    documents = [path for path in (project / "docs").rglob("*") if path.suffix in {".md", ".ipynb"}]
    outside = [
        *project.glob("*.md"),
        *project.glob("deploy/README.md"),
        *project.glob("releases/*/README.md"),
    ]
    sources = (
        PurePosixPath(path.relative_to(project)) for path in dict.fromkeys([*sorted(documents), *outside])
    )
    return {source: Page(source=source, path=_page_path(source)) for source in sources}


def _page_path(source: PurePosixPath) -> PurePosixPath:
    if source.parts[0] == "docs":
        return source.relative_to("docs").with_suffix(".md")
    if source.name == "README.md" and len(source.parts) > 1:
        return (
            source.parent.with_suffix(".md")
            if source.parts[0] == "releases"
            else PurePosixPath(f"{source.parts[0]}.md")
        )
    return PurePosixPath(source.name.lower())


def write_site_sources(folder: Path, project: Path = PROJECT) -> Path:
    """Write Markdown pages and the configuration of the site below `folder`; return the configuration's path.

    Raises: FoundryError: a page is not listed in `docs/index.md`.
    """
    pages = site_pages(project)
    documents = folder / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    documents.mkdir(parents=True)
    for page in pages.values():
        _write_page(page, pages, documents, project)
    for file in sorted(path for path in (project / "docs").rglob("*") if path.suffix in {".svg", ".png"}):
        shutil.copy(file, _place(documents, PurePosixPath(file.relative_to(project / "docs"))))
    _place(documents, PurePosixPath("reference/commands.md")).write_text(commands_page(), encoding="utf-8")
    _place(documents, PurePosixPath("reference/python.md")).write_text(functions_page(), encoding="utf-8")
    configuration = folder / "mkdocs.yml"
    configuration.write_text(yaml.safe_dump(_configuration(navigation(pages, project)), sort_keys=False))
    return configuration


def build_site(folder: Path, project: Path = PROJECT) -> Path:
    """Build the site below `folder`, with warnings as errors; return the folder of its HTML.

    Raises: FoundryError: a page is not listed, or the generator of sites refuses one.
    """
    configuration = write_site_sources(folder, project)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(configuration)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise FoundryError(f"the site was not built\n{run.stdout}{run.stderr}")
    return folder / "site"


def navigation(pages: Mapping[PurePosixPath, Page], project: Path = PROJECT) -> Navigation:
    """Return the navigation: sections of the index, folders, cards of releases, the reference.

    Raises: FoundryError: the index does not list a page.
    """
    sections: dict[str, list[Page]] = {"Start": [pages[INDEX], pages[PurePosixPath("README.md")]]}
    for heading, target in _SECTION.findall((project / INDEX).read_text(encoding="utf-8")):
        if heading:
            sections[heading] = []
        elif (page := pages.get(_resolved(INDEX, target))) is not None:
            sections[next(reversed(sections))].append(page)
    for name, place in FOLDERS.items():
        sections[name] = [page for source, page in pages.items() if source.parent == place]
    sections["Releases"] = [page for source, page in pages.items() if source.parts[0] == "releases"]
    listed = {page.source for section in sections.values() for page in section}
    if missing := sorted(map(str, pages.keys() - listed)):
        raise FoundryError(f"no section of {INDEX} lists {', '.join(missing)}")
    entries: Navigation = [
        {name: [{_title(page, project): str(page.path)} for page in dict.fromkeys(section)]}
        for name, section in sections.items()
    ]
    reference = [{"Every command": "reference/commands.md"}, {"Every function": "reference/python.md"}]
    next(entry for entry in entries if "Reference" in entry)["Reference"][:0] = reference
    return entries


def _title(page: Page, project: Path) -> str:
    text = (project / page.source).read_text(encoding="utf-8")
    if page.source.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    heading = _TITLE.search(text)
    return page.source.stem if heading is None else heading.group(1).replace("`", "")


def _write_page(page: Page, pages: Mapping[PurePosixPath, Page], documents: Path, project: Path) -> None:
    path = _place(documents, page.path)
    if page.source.suffix == ".ipynb":
        write_notebook(project / page.source, path)
        return
    text = (project / page.source).read_text(encoding="utf-8")
    parts = _CODE.split(text)
    parts[::2] = (_relink(part, page, pages) for part in parts[::2])
    path.write_text("".join(parts), encoding="utf-8")


def _place(documents: Path, path: PurePosixPath) -> Path:
    place = documents / path
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def _relink(text: str, page: Page, pages: Mapping[PurePosixPath, Page]) -> str:
    text = _LINK.sub(lambda link: _relinked(link, page, pages), text)
    return _IMAGE.sub(lambda image: f"{image.group(1)}({_image(image.group(2), page)})", text)


def _image(target: str, page: Page) -> str:
    """Return the path of an image of `docs/` from a page of the site."""
    return _relative(_resolved(page.source, target).relative_to("docs"), page.path)


def _relinked(link: re.Match[str], page: Page, pages: Mapping[PurePosixPath, Page]) -> str:
    """Return a link to a page of the site, or the words of a link to another file of the checkout."""
    words, target, anchor = link.group(1), link.group(2), link.group(3) or ""
    if not target:
        return link.group()
    other = pages.get(_resolved(page.source, target))
    if other is None:
        return _folder_link(words, _resolved(page.source, target), page, pages)
    return f"[{words}]({_relative(other.path, page.path)}{anchor})"


def _folder_link(words: str, folder: PurePosixPath, page: Page, pages: Mapping[PurePosixPath, Page]) -> str:
    """Return a link to the first page of a folder of the documentation."""
    inside = (other for source, other in pages.items() if source.parent == folder)
    first = next(inside, None)
    return words if first is None else f"[{words}]({_relative(first.path, page.path)})"


def _resolved(source: PurePosixPath, target: str) -> PurePosixPath:
    parts: list[str] = []
    for part in (source.parent / target).parts:
        if part == "..":
            parts[-1:] = []
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def _relative(path: PurePosixPath, page: PurePosixPath) -> str:
    return "../" * (len(page.parts) - 1) + str(path)


def _configuration(entries: Navigation) -> dict[str, Any]:
    """Return the configuration of the site: no page asks another host for fonts or scripts."""
    return {
        "site_name": "Simfoundry",
        "site_description": "Dataset foundry for learned cost models of hardware and networks",
        "docs_dir": "docs",
        "site_dir": "site",
        "use_directory_urls": False,
        "nav": entries,
        "theme": {
            "font": False,
            "features": [
                "navigation.sections",
                "navigation.top",
                "navigation.footer",
                "toc.follow",
                "search.highlight",
                "content.code.copy",
            ],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "markdown_extensions": [
            "attr_list",
            "tables",
            "md_in_html",
            "pymdownx.superfences",
            "pymdownx.highlight",
            {"toc": {"permalink": True}},
        ],
    }
