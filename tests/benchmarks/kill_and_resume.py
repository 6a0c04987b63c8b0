"""Kill the main job again and again, finish it, and compare its tables with an uninterrupted run.

    python tests/benchmarks/kill_and_resume.py [--after 5 10 15 20]

Twelve designs (suites stencil and irregular, one memory delay) in a clone of this checkout. Each kill is a
SIGKILL to the whole process group after so many seconds. Prints one line; exit status 1 when a Parquet file
differs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OVERRIDES = ("scale=smoke", "programs.suites=[stencil,irregular]", "hls.memory_delay=[2]")


def start(folder: Path) -> subprocess.Popen[bytes]:
    """`simfoundry run` in a process group of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        [sys.executable, "-m", "assets.cli", "run", *OVERRIDES],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def finished_tables(folder: Path) -> dict[str, str]:
    """SHA-256 of every table file after a run to its end."""
    if start(folder).wait():
        raise SystemExit(f"simfoundry run failed in {folder}")
    tables = folder / "data" / "tables"
    found = sorted(tables.rglob("*.parquet"))
    return {str(p.relative_to(tables)): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def clone(base: str, name: str) -> Path:
    """A clone of this checkout's commits, without data."""
    folder = Path(base) / name
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--after", type=float, nargs="+", default=[5, 10, 15, 20], help="seconds")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        killed, whole = clone(base, "killed"), clone(base, "whole")
        ended = 0
        for seconds in chosen.after:
            process = start(killed)
            time.sleep(seconds)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                ended += 1
            process.wait()
        first, second = finished_tables(killed), finished_tables(whole)
        same = bool(first) and first == second
        print(f"{ended} kills, {len(second)} table files, {'identical' if same else 'DIFFERENT'}")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
