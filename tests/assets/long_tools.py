"""A command whose tools take long: a process of its own for the tests of signals.

python long_tools.py KIND FOLDER SECONDS: KIND is where the tools run.
"""

from __future__ import annotations

import signal
import sys
from functools import partial
from pathlib import Path

from assets.signals import ENDING
from pipelines.base.sandbox import Limits, run_confined
from pipelines.base.tools import find_tool, run_tool
from pipelines.base.workers import PROCESSES_FROM, Outcome, run_all
from simfoundry.cli import main, simfoundry
from simfoundry.cli.options import LISTED, Listing, explained, fail

COUNT = {"threads": 2, "processes": PROCESSES_FROM, "dagster": 2, "step": 2}
"""Items of each kind; two are worked on at a time."""


def wait(number: int, *, folder: Path, seconds: str) -> Outcome[None]:
    """Run a tool that takes some seconds, every other one confined."""
    command = (find_tool("sleep", "coreutils"), seconds)
    if number % 2:
        run_confined(command, folder=folder / str(number), limits=Limits(wall_s=float(seconds)))
    else:
        run_tool(command, folder=folder, timeout_s=float(seconds))
    return Outcome(result=None, failed=False, name="")


def work(kind: str, folder: str, seconds: str) -> None:
    run_all("wait", range(COUNT[kind]), partial(wait, folder=Path(folder), seconds=seconds), workers=2)


@simfoundry.command("wait")
@explained
def command() -> None:
    kind, folder, seconds = sys.argv[1:]
    if kind not in ("dagster", "step"):
        work(kind, folder, seconds)
        return
    from dagster._core.errors import DagsterExecutionInterruptedError
    from dagster._utils.interrupts import raise_interrupts_as

    try:
        with raise_interrupts_as(DagsterExecutionInterruptedError):  # as while a step runs
            work(kind, folder, seconds)
    except DagsterExecutionInterruptedError as error:
        if kind == "step":  # Dagster takes an interrupt for a failure of the step that it meets
            fail("a step failed")
        raise KeyboardInterrupt from error


if __name__ == "__main__":
    import long_tools  # noqa: F401 (its command replaces this file's: processes import the work by that name)

    for number in ENDING:  # what runs the tests may ignore them, and a child inherits that
        signal.signal(number, signal.SIG_DFL)
    LISTED[simfoundry.commands["wait"]] = Listing(section="Programs", memory_gib=4, resumes=True)
    main(["wait"])
