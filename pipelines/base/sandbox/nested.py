"""A program within a confined one: it is confined already, and cannot be confined again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pipelines.base.sandbox.limits import OUTPUT, TIME, ConfinedRun, Limits, SandboxError
from pipelines.base.tools import CLOCK, PROCESSOR, ended_by_processor_limit, find_tool, stopwatch

BOX = Path("/box")
"""Folder of a confined program, as it sees it; its working directory."""


@cache
def is_confined() -> bool:
    """Tell whether this process runs in a sandbox of `run_confined`: it has the folder, and no sockets."""
    if not BOX.is_dir():
        return False
    try:
        socket.socket().close()
    except PermissionError:
        return True
    return False


def run_nested(
    argv: Sequence[str], *, folder: Path, limits: Limits, environment: Mapping[str, str]
) -> ConfinedRun:
    """Run a program in the sandbox of this process, to its end or to a limit.

    Limits of time, files and output are its own. Memory and processes are those of the sandbox, which counts
    them for all its programs together.

    Raises: SandboxError: this process is in no sandbox.
    """
    if not is_confined():
        raise SandboxError("a program may run nested only within a sandbox")
    start_s = stopwatch()
    process = subprocess.Popen(
        [*_limit_arguments(limits), *argv],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    stopped_by: str | None = None
    try:
        out, err = process.communicate(timeout=limits.wall_s)
    except subprocess.TimeoutExpired:
        stopped_by = TIME
        _end(process)
        out, err = process.communicate()
    finally:
        _end(process)
    if max(len(out), len(err)) > limits.output_bytes:
        stopped_by = OUTPUT
    stdout, stderr = (text[: limits.output_bytes].decode(errors="replace") for text in (out, err))
    limit = CLOCK if stopped_by == TIME else stopped_by
    if limit is None and ended_by_processor_limit(process.returncode, stderr):
        limit = PROCESSOR
    return ConfinedRun(
        returncode=None if limit in (CLOCK, PROCESSOR) else process.returncode,
        stdout=stdout,
        stderr=stderr,
        wall_s=stopwatch() - start_s,
        limit=limit,
        stopped_by=stopped_by,
    )


def _limit_arguments(limits: Limits) -> list[str]:
    values = {
        "core": "0",
        "cpu": f"{limits.cpu_s}:{limits.cpu_s + 1}",
        "fsize": str(limits.file_bytes),
    }
    if limits.address_bytes is not None:
        values["as"] = str(limits.address_bytes)
    return [find_tool("prlimit", "util-linux"), *(f"--{k}={v}" for k, v in values.items()), "--"]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started; it may have ended by itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
