"""Running external tools: no shell, bounded time and memory, its own empty folder.

Belongs here: starting a process and reading what it said. Does not: what any tool's output means.
This is the only place under `pipelines/` that reads a clock, to measure how long a tool took.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MEMORY_LIMIT_BYTES = 8 << 30
FILE_LIMIT_BYTES = 2 << 30
OUTPUT_LIMIT_BYTES = 4 << 20
PATIENCE = 10
"""Times its limit that a tool bounded in processor time may take by the clock, on a busy machine."""


class ToolMissing(RuntimeError):
    """A tool is not installed; the message names the package that has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """What one run of a tool gave.

    Attributes:
        returncode: exit status; negative for a signal; None when it was stopped at its time limit.
        stdout, stderr: text, cut at 4 MiB each.
        wall_s: elapsed time in seconds.
    """

    returncode: int | None
    stdout: str
    stderr: str
    wall_s: float

    @property
    def timed_out(self) -> bool:
        """Whether the time limit ended the run."""
        return self.returncode is None

    def last_words(self, limit: int = 400) -> str:
        """The end of what the tool said, for a reason in a row."""
        text = (self.stderr.strip() or self.stdout.strip() or "no output").strip()
        return text[-limit:]


def stopwatch() -> float:
    """Seconds on a monotonic clock; only differences mean something."""
    return time.perf_counter()


def find_tool(name: str, package: str) -> str:
    """Absolute path of an executable on the PATH.

    Raises: ToolMissing: not there; the message names the Debian package.
    """
    path = shutil.which(name)
    if path is None:
        raise ToolMissing(
            f"{name} must be on the PATH, got nothing; install the Debian package {package} "
            "or run `make setup`"
        )
    return path


def _limited(argv: Sequence[str], folder: Path, memory_bytes: int | None, cpu_s: int | None) -> list[str]:
    """The command behind `prlimit`: limits without running Python between fork and exec."""
    program = folder / argv[0] if "/" in argv[0] else argv[0]
    if shutil.which(program) is None:
        raise FileNotFoundError(f"{argv[0]} must be an executable file, got nothing")
    limits = ["--core=0", f"--fsize={FILE_LIMIT_BYTES}"]
    if memory_bytes is not None:
        limits.append(f"--as={memory_bytes}")
    if cpu_s is not None:
        limits.append(f"--cpu={cpu_s}:{cpu_s + 1}")
    return [find_tool("prlimit", "util-linux"), *limits, "--", *argv]


def run_tool(
    argv: Sequence[str],
    *,
    folder: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    memory_bytes: int | None = MEMORY_LIMIT_BYTES,
    cpu_s: int | None = None,
    of_processor: bool = False,
    stdin: str = "",
) -> ToolRun:
    """Run a tool to its end or to its time limit; its whole process group ends with it.

    Args:
        argv: program and arguments; no shell ever reads them.
        folder: working directory of the tool.
        timeout_s: wall-clock limit in seconds.
        of_processor: that limit is of processor time, so that what else the machine does decides nothing, and
            `PATIENCE` times it by the clock; for tools of one process.
        environment: variables added to PATH and a C locale; nothing else is passed on.
        memory_bytes: address-space limit; None for none (sanitizers reserve terabytes).
        cpu_s: limit of processor time in seconds, not a time-out.
        stdin: text given on standard input.
    """
    variables = {"PATH": os.defpath + ":" + _path(), "LC_ALL": "C", "HOME": str(folder)}
    if of_processor:
        cpu_s, timeout_s = math.ceil(timeout_s), PATIENCE * timeout_s
    start = time.perf_counter()
    process = subprocess.Popen(
        _limited(argv, folder, memory_bytes, cpu_s),
        cwd=folder,
        env={**variables, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin.encode(), timeout=timeout_s)
        ended_late = of_processor and process.returncode == -signal.SIGXCPU
        returncode = None if ended_late else process.returncode
    except subprocess.TimeoutExpired:
        _kill_group(process)
        out, err = process.communicate()
        returncode = None
    except BaseException:
        _kill_group(process)
        process.wait()
        raise
    return ToolRun(
        returncode=returncode,
        stdout=out[:OUTPUT_LIMIT_BYTES].decode(errors="replace"),
        stderr=err[:OUTPUT_LIMIT_BYTES].decode(errors="replace"),
        wall_s=time.perf_counter() - start,
    )


def _path() -> str:
    return os.environ.get("PATH", "")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a tool and its children; it may have ended by itself in the meantime."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
