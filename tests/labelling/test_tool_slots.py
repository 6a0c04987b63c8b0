"""Runs of a tool at a time: bounded among threads and processes, free again when the holder dies."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import sleep

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling.options import LabelOptions, ToolContext
from tests.support.labelling import label_options

RUNS = 8


def most_at_a_time(cache: ContentCache, options: LabelOptions) -> int:
    """Of eight runs in eight threads, as many as were ever in the folder together."""
    lock, inside, most = Lock(), 0, 0

    def run(_: int) -> None:
        nonlocal inside, most
        with ToolContext(cache=cache, options=options).tool_folder("verilator") as folder:
            assert not any(folder.iterdir())
            with lock:
                inside += 1
                most = max(most, inside)
            sleep(0.1)  # longer than a wait at a slot
            with lock:
                inside -= 1

    with ThreadPoolExecutor(max_workers=RUNS) as pool:
        list(pool.map(run, range(RUNS)))
    return most


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_runs_of_a_tool_than_it_has_slots(tmp_path: Path, limit: int) -> None:
    cache = ContentCache(folder=tmp_path)
    assert most_at_a_time(cache, label_options(slots={"verilator": limit})) == limit


def test_a_tool_without_a_number_has_no_bound_but_the_workers(tmp_path: Path) -> None:
    assert most_at_a_time(ContentCache(folder=tmp_path), label_options(slots={"synthesis": 1})) > 1


HOLDER = """
import sys, time
from pathlib import Path
from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling.options import ToolContext
from tests.support.labelling import label_options
options = label_options(slots={"verilator": 1})
context = ToolContext(cache=ContentCache(folder=Path(sys.argv[1])), options=options)
with context.tool_folder("verilator"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_process_that_was_killed_holds_no_slot(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with ThreadPoolExecutor(max_workers=1) as pool:
            waiting = pool.submit(
                most_at_a_time, ContentCache(folder=tmp_path), label_options(slots={"verilator": 1})
            )
            sleep(0.2)
            assert not waiting.done()
            holder.kill()
            assert waiting.result() == 1
