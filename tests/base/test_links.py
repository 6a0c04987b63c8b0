"""Links between pages of the documentation lead to a file and to a heading or a named row."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

from assets.figures import slug

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s:]+)\)")


def test_links_of_the_documentation_lead_somewhere(repository: Path) -> None:
    faults = [
        f"{page.relative_to(repository)}: {target}"
        for page in [*sorted(repository.glob("*.md")), *sorted((repository / "docs").rglob("*.md"))]
        for target in LINK.findall(_prose(page))
        if not _leads(page, target)
    ]
    assert faults == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# A page\n\n## `b` 2, c\n\n## `b` 2, c\n\n<a id="row"></a>\n\n```\n# code\n```\n')
    held = {name for name in ("", "#a-page", "#b-2-c", "#b-2-c-1", "#row") if _leads(page, f"page.md{name}")}
    assert held == {"", "#a-page", "#b-2-c", "#b-2-c-1", "#row"}
    assert not any(_leads(page, name) for name in ("gone.md", "#gone", "#code"))


def _leads(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    return file.exists() and (not anchor or file.suffix != ".md" or anchor in _anchors(file))


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Anchors of headings, numbered from the second of the same name on, and named places."""
    text = _prose(page)
    seen: Counter[str] = Counter()
    names = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        name = slug(re.sub(r"\]\([^)]*\)", "]", heading))
        names.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(names)


@cache
def _prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
