"""`simfoundry` whose items on a cluster leave a mark, take longer or lack memory, or which is killed.

    python -m tests.support.faulted_run PLAN ARGUMENT ...

PLAN is the JSON of a `Plan`. The process that runs the steps is killed where the plan says, and the work of
one step is wrapped before it goes to the nodes; the product's code is as it is.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pipelines.base.tools import run_tool
from pipelines.base.workers import Outcome, Workload

PUT, COMMIT = "put", "commit"
PIECE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What happens to a run.

    Attributes:
        marks: folder where an item leaves a file when it begins, with the process id of its worker.
        step: whose items these are, and the table whose publication may end the driver.
        pause_s: that an item takes longer.
        needed_bytes: that the first item allocates, once.
        tool_s: that a tool of each item takes before the item begins.
        killed: moment of the driver's end: when files are put and not committed, or when they are committed.
    """

    marks: str
    step: str = "labels"
    pause_s: float = 0.0
    needed_bytes: int = 0
    tool_s: float = 0.0
    killed: str = ""

    def text(self) -> str:
        """Return the plan as an argument of this module."""
        return json.dumps(asdict(self))


def begin_item(item: Any, *, work: Any, plan: Plan) -> Outcome[Any]:
    """Work on an item after what the plan has for it."""
    marks = Path(plan.marks)
    if plan.needed_bytes and _is_first(marks.with_name(f"{marks.name}-memory")):
        _allocate(plan.needed_bytes)
    mark = marks / f"{time.monotonic_ns()}-{os.getpid()}"
    mark.write_text(str(os.getpid()))
    if plan.tool_s:
        script = f"import os, pathlib, time; pathlib.Path({str(mark)!r}).write_text(str(os.getpid()))"
        command = [sys.executable, "-c", f"{script}; time.sleep({plan.tool_s})"]
        run_tool(command, folder=marks, timeout_s=2 * plan.tool_s)
    time.sleep(plan.pause_s)
    return work(item)


def _is_first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _allocate(needed_bytes: int) -> None:
    """Fill memory until this process is ended, or has that much."""
    pieces: list[bytes] = []
    while len(pieces) * PIECE_BYTES < needed_bytes:
        pieces.append(b"\1" * PIECE_BYTES)
        time.sleep(0.02)
    time.sleep(5.0)


def run_faulted(plan: Plan, arguments: list[str]) -> None:
    """Run `simfoundry` under a plan."""
    from assets.catalogue import TABLES, Catalogue
    from assets.cluster.ray_fanout import RayFanout
    from simfoundry.cli.entry import simfoundry

    own_outcomes, own_commit = RayFanout.outcomes, Catalogue._commit

    def outcomes(self: RayFanout, workload: Workload[Any, Any]) -> Generator[tuple[int, Outcome[Any]]]:
        if workload.step == plan.step:
            workload = replace(workload, work=partial(begin_item, work=workload.work, plan=plan))
        yield from own_outcomes(self, workload)

    def commit(self: Catalogue, change: Any) -> bool:
        is_its = change.spec.name == plan.step and change.room == TABLES
        if is_its and plan.killed == PUT:
            os.kill(os.getpid(), signal.SIGKILL)
        is_new = own_commit(self, change)
        if is_its and plan.killed == COMMIT:
            os.kill(os.getpid(), signal.SIGKILL)
        return is_new

    with patch.object(RayFanout, "outcomes", outcomes), patch.object(Catalogue, "_commit", commit):
        simfoundry(arguments)


if __name__ == "__main__":
    from tests.support import faulted_run  # workers import this module by its name

    faulted_run.run_faulted(faulted_run.Plan(**json.loads(sys.argv[1])), sys.argv[2:])
