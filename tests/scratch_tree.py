"""Copies of the code with added files, in which a test shows what an addition costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("pipelines", "assets", "models", "simfoundry", "conf")


def copy_tree(folder: Path, added: Mapping[str, str]) -> None:
    """Copy the code, and write the text of each added file; none of them is there already."""
    for room in ROOMS:
        shutil.copytree(
            ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "*.safetensors")
        )
    for name, text in added.items():
        assert not (folder / name).exists()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def run_script(folder: Path, script: str, *arguments: str) -> Sequence[str]:
    """Run a Python script with the code of a copy; its lines."""
    process = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()
