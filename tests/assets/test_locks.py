"""One writer at a time: the second names the process that holds the folder."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest

from assets.deployments import writing_to
from assets.errors import FoundryError


def test_a_second_writer_names_the_process_of_the_first(tmp_path: Path) -> None:
    message = f"process {os.getpid()} is writing to {tmp_path}; wait for it or end it"
    with (
        writing_to(tmp_path),
        pytest.raises(FoundryError, match=f"^{re.escape(message)}$"),
        writing_to(tmp_path),
    ):
        pass
    with writing_to(tmp_path):
        pass


def test_a_second_writer_names_the_child_that_a_killed_first_left(tmp_path: Path) -> None:
    """The lock goes with the open file, which a child inherits; nobody wrote the child's id anywhere."""
    with (tmp_path / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        child = subprocess.Popen(["sleep", "600"], pass_fds=[stream.fileno()])
    try:
        message = f"process {child.pid} is writing to {tmp_path}; wait for it or end it"
        with pytest.raises(FoundryError, match=f"^{re.escape(message)}$"), writing_to(tmp_path):
            pass
    finally:
        child.kill()
        child.wait()
    with writing_to(tmp_path):
        pass
