"""Print NOTICE: the licences of the packages of requirements.txt, from the metadata of the installed ones.

.venv/bin/python setup/notice.py > NOTICE
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
Simfoundry
Copyright 2026 The Simfoundry authors

Licensed under the Apache License, version 2.0 (LICENSE). Set-up installs the packages below. They are not
part of Simfoundry; each has the licence that its metadata states. Derived by setup/notice.py; do not edit.
"""
NONE_STATED = "none stated"
GROUPS = (
    ("GNU General Public License", r"^(GNU General|GPL)"),
    ("GNU Lesser General Public License", r"^(GNU Lesser|LGPL)"),
    ("Licences for the changed files alone", r"^(MPL|Mozilla|EPL|Eclipse)"),
    ("No licence stated in the metadata", rf"^{NONE_STATED}$"),
    ("Other licences", r""),
)
"""Headings, and how the licences below them begin; the first that fits counts."""


def locked_names() -> list[str]:
    """Names of the lock."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0] for line in lines if not line.startswith("#")]
    return list(dict.fromkeys(names))


def stated_licence(name: str) -> str:
    """Licence of an installed package: its expression, its classifiers, or the title of its text."""
    package = distribution(name)
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier") or () if "License ::" in c]
    if names := [c for c in classifiers if c != "OSI Approved"]:
        return ", ".join(names)
    if title := (metadata.get("License") or "").strip().partition("\n")[0]:
        return title
    files = [package.read_text(f"licenses/{file}") or "" for file in metadata.get_all("License-File") or ()]
    titles = [text.strip().partition("\n")[0].strip() for text in files]
    return next((title for title in titles if "License" in title), NONE_STATED)


def notice_lines(licences: Mapping[str, str]) -> Iterator[str]:
    """The text, by group of licences."""
    yield HEAD
    left = dict(licences)
    for heading, pattern in GROUPS:
        names = [name for name, licence in left.items() if re.match(pattern, licence)]
        yield f"{heading}:\n"
        yield from (f"  {name}: {left.pop(name)}" for name in names)
        yield ""


def main() -> None:
    """Print the text."""
    licences = {name: stated_licence(name) for name in locked_names()}
    print("\n".join(notice_lines(licences)).rstrip())


if __name__ == "__main__":
    main()
