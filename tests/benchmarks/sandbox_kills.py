"""Kill a process at the start of a confined run, many times, and count the confined processes that are left.

    python -m tests.benchmarks.sandbox_kills --kills 300

The kill is SIGKILL, at a moment drawn evenly over the first milliseconds of `run_confined`.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from pathlib import Path

from pipelines.base.sandbox import Limits, run_confined
from tests.benchmarks.harness import options_parser

ENDING_S = 5.0
"""What processes have to end after the last kill."""


def confine(folder: Path, begun: int) -> None:
    """Run a confined program, after a first one which starts what every process starts once."""
    run_confined(("/usr/bin/true",), folder=folder / "first")
    os.write(begun, b"\n")
    run_confined(("/usr/bin/sleep", "600"), folder=folder / "second", limits=Limits(wall_s=600))


def kill_once(folder: Path, after_s: float) -> None:
    """Start a process that confines a program and kill it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            confine(folder, write)
        finally:
            os._exit(0)
    os.read(read, 1)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)


def left(folder: Path) -> list[int]:
    """Processes with the folder on their command line, except this one."""
    processes: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if f"{folder}/".encode() in command and int(entry.name) != os.getpid():
            processes.append(int(entry.name))
    return processes


def main() -> None:
    arguments = options_parser(__doc__)
    arguments.add_argument("--kills", type=int, default=300)
    arguments.add_argument("--most-ms", type=float, default=20.0)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    draw = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory(prefix="simfoundry-kills-", ignore_cleanup_errors=True) as scratch:
        for number in range(chosen.kills):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            kill_once(folder, draw.uniform(0, chosen.most_ms) / 1000)
        deadline = time.monotonic() + ENDING_S
        while (processes := left(Path(scratch))) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in processes:
            os.kill(process, signal.SIGKILL)
    print(f"{chosen.kills} kills, processes left: {len(processes)}")


if __name__ == "__main__":
    main()
