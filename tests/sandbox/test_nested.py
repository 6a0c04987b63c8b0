"""Programs within a confined program: they run in its sandbox, under limits of their own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import pipelines
from pipelines.base.sandbox import Limits, SandboxError, run_confined
from pipelines.base.sandbox.nested import is_confined, run_nested
from pipelines.base.tools import FILE_LIMIT_BYTES

PACKAGE = Path(pipelines.__file__).parent
SCRIPT = """
import json, sys
from pathlib import Path
from pipelines.base.sandbox import Limits, SandboxError, run_confined
from pipelines.base.sandbox.nested import is_confined
from pipelines.base.tools import run_tool

def run(command, folder, **limits):
    run = run_confined(("/bin/sh", "-c", command), folder=Path(folder), files={"a": b"text"},
                       limits=Limits(**limits))
    return run.returncode, run.stdout, run.limit

answers = {
    "confined": is_confined(),
    "files": run("cat a; pwd; echo $HOME", "one"),
    "status": run("exit 7", "two"),
    "clock": run("sleep 1000", "three", wall_s=0.2),
    "processor": run("while :; do :; done", "four", cpu_s=1),
    "output": run("echo 12345678", "five", output_bytes=4),
    "tool": run_tool(("/bin/cat",), folder=Path("one"), timeout_s=60, stdin="words").stdout,
}
try:
    run_confined(("/bin/true",), folder=Path("six"), devices=(Path("/dev/zero"),))
except SandboxError as error:
    answers["devices"] = str(error)
print(json.dumps(answers))
"""


def test_a_confined_program_runs_others_in_its_sandbox(tmp_path: Path) -> None:
    folders = {Path(sys.prefix), Path(sys.base_prefix)} - {Path("/usr")}
    run = run_confined(
        (sys.executable, "-c", SCRIPT),
        folder=tmp_path / "box",
        readable=(PACKAGE, *folders),
        limits=Limits(processes=20, file_bytes=FILE_LIMIT_BYTES),  # no tool may ask for more
        environment={"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout) == {
        "confined": True,
        "files": [0, "text/box/one\n/box/one\n", None],
        "status": [7, "", None],
        "clock": [None, "", "clock"],
        "processor": [None, "", "processor"],
        "output": [0, "1234", "output"],
        "tool": "words",
        "devices": "a program within a sandbox gets no pipes and no devices",
    }
    assert 0.9 < run.processor_s < 20  # the loop that its limit ended, too


def test_run_nested_rejects_a_process_outside_of_a_sandbox(tmp_path: Path) -> None:
    assert not is_confined()
    with pytest.raises(SandboxError, match=r"^a program may run nested only within a sandbox$"):
        run_nested(("/bin/true",), folder=tmp_path, limits=Limits(), environment={})
