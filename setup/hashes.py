"""Print requirements.txt with hashes: the index's files for Python 3.11 to 3.13 on Linux with x86-64.

    .venv/bin/python setup/hashes.py > requirements.hashed.txt

pip asks the index for each version of Python, without local folders, whose builds have other hashes. It
resolves the index's build of torch anew, because that needs libraries that requirements.txt leaves out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
LOCAL = ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_NO_INDEX")


def locked() -> list[Requirement]:
    """Requirements of the lock."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def holds(marker: Marker | None, version: str) -> bool:
    """Whether a requirement is for a version of Python."""
    return marker is None or marker.evaluate({"python_version": version})


def found_files(version: str, *arguments: str) -> Iterator[tuple[str, str, str]]:
    """Name, version and hash of each file that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed"]
        command += ["--python-version", version, "--target", folder, "--report", str(report), *arguments]
        environment = {k: v for k, v in os.environ.items() if k not in LOCAL}
        subprocess.run(command, check=True, env={**environment, "PIP_CONFIG_FILE": os.devnull})
        installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    for entry in installed:
        metadata, archive = entry["metadata"], entry["download_info"]["archive_info"]
        yield canonicalize_name(metadata["name"]), metadata["version"], archive["hashes"]["sha256"]


def hashed_lines(requirements: Sequence[Requirement]) -> list[str]:
    """One line per requirement, and per library that the index's build of torch needs."""
    hashes: dict[str, set[str]] = defaultdict(set)
    texts = {f"{canonicalize_name(r.name)}{r.specifier}": str(r) for r in requirements}
    for version in VERSIONS:
        here = [f"{r.name}{r.specifier}" for r in requirements if holds(r.marker, version)]
        for name, number, digest in found_files(version, "--no-deps", *here):
            hashes[texts[f"{name}=={number}"]].add(digest)
        (torch,) = [line for line in here if line.startswith("torch==")]
        wheels = ("--only-binary", ":all:", torch)
        names = {canonicalize_name(r.name) for r in requirements}
        for name, number, digest in found_files(version, *wheels):
            if name not in names:
                hashes[f"{name}=={number}"].add(digest)
    return [
        " ".join((text, *(f"--hash=sha256:{digest}" for digest in sorted(hashes[text]))))
        for text in sorted(hashes, key=str.lower)
    ]


def main() -> None:
    """Print the lines."""
    print("# requirements.txt with hashes, and what the index's torch needs; Linux on x86-64.")
    print("# Derived by `make lock`; do not edit. Used by `make HASHED=1 setup`.")
    print("\n".join(hashed_lines(locked())))


if __name__ == "__main__":
    main()
