"""Runs of external tools: no shell, bounded time and memory, one empty folder per run.

This is the only place under `pipelines/` that reads a clock, to measure how long a tool took.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

MEMORY_LIMIT_BYTES = 8 << 30
FILE_LIMIT_BYTES = 2 << 30
OUTPUT_LIMIT_BYTES = 4 << 20
_FULL_BYTES = 64 << 10
PATIENCE = 10
"""Limit by the clock of a tool that is bounded in processor time, as a multiple of that bound."""

PROCESSOR = "processor"
CLOCK = "clock"
OUTPUT = "output"

_CHUNK_BYTES = 1 << 16
_LOOK_S = 0.1
_ENDING = threading.Event()
_PROCESSOR_WORDS = "CPU time limit exceeded"  # words of gcc and shells for a program that SIGXCPU ended
_MACHINE_WORDS = (
    "No space left on device",
    "Disk quota exceeded",
    "Input/output error",
    "Killed signal terminated program",  # gcc: the kernel ended a compiler for lack of memory
)


class ToolMissing(RuntimeError):
    """A tool is not installed; the message names its package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """Result of one run of a tool.

    Attributes:
        returncode: exit status; negative for a signal; None when a limit of time ended the run.
        stdout, stderr: text, at most 4 MiB each.
        wall_s: elapsed time in seconds.
        limit: what ended the run: `processor` (its processor time), `clock` (elapsed time), `output` (more
            than 4 MiB on a stream); None when it ended by itself.
        machine_fault: reason when the machine and not the input ended the run; another run may succeed.
    """

    returncode: int | None
    stdout: str
    stderr: str
    wall_s: float
    limit: str | None = None
    machine_fault: str | None = None

    @property
    def timed_out(self) -> bool:
        """Whether a limit of time ended the run."""
        return self.returncode is None

    def last_words(self, limit: int = 400) -> str:
        """Return how the tool ended, if not by itself, and the end of its output, for a reason in a row."""
        if self.limit == OUTPUT:
            return f"wrote more than {OUTPUT_LIMIT_BYTES >> 20} MiB"
        if self.limit == CLOCK and self.machine_fault is not None:
            return self.machine_fault
        text = (self.stderr.strip() or self.stdout.strip() or "no output").strip()[-limit:]
        if self.returncode is not None and self.returncode < 0:
            return f"ended by {signal_name(-self.returncode)}: {text}"
        return text


@dataclass(slots=True, kw_only=True)
class OutputStream:
    """Output of one pipe so far, at most one byte more than the limit."""

    file: IO[bytes]
    most_bytes: int
    content: bytearray = field(default_factory=bytearray)
    ended: bool = False

    def take(self) -> None:
        """Read once; waits if there is nothing."""
        chunk = os.read(self.file.fileno(), _CHUNK_BYTES)
        self.ended = not chunk
        self.content += chunk[: self.most_bytes + 1 - len(self.content)]

    @property
    def exceeded(self) -> bool:
        """Whether the output exceeds the limit."""
        return len(self.content) > self.most_bytes

    def text(self) -> str:
        """Return the output up to the limit, as text."""
        return self.content[: self.most_bytes].decode(errors="replace")


def signal_name(number: int) -> str:
    """Return a signal by its name and its meaning: SIGSEGV (segmentation fault)."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({(signal.strsignal(number) or name).lower()})"


def end_tools() -> None:
    """End every tool of this process, in all threads, and let no other begin.

    For a process that is about to end: threads that wait for a tool or start one get KeyboardInterrupt.
    """
    _ENDING.set()


def require_going_on() -> None:
    """Raise KeyboardInterrupt when the process is about to end."""
    if _ENDING.is_set():
        raise KeyboardInterrupt


def stopwatch() -> float:
    """Return the seconds on a monotonic clock; only differences mean something."""
    return time.perf_counter()


def readable(descriptors: Collection[int], timeout_s: float | None) -> set[int]:
    """Return the descriptors that are readable, after waiting for the first one for at most `timeout_s`."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    wait_ms = None if timeout_s is None else max(0.0, timeout_s * 1000)
    return {descriptor for descriptor, _ in poll.poll(wait_ms)}


def full_disk(folder: Path) -> str:
    """Return the addition to the reason of a failure in a folder whose disk is full; empty otherwise."""
    left_bytes = shutil.disk_usage(folder).free
    return "" if left_bytes >= _FULL_BYTES else f"; No space left on device: {left_bytes} bytes"


def find_tool(name: str, package: str) -> str:
    """Find the absolute path of an executable on PATH.

    Args:   package: the Debian package that has it, or the address of a page that offers it.
    Raises: ToolMissing: not found; the message names the package or the address.
    """
    path = shutil.which(name)
    if path is None:
        is_address = package.startswith("https://")
        source = f"it from {package}" if is_address else f"the Debian package {package} or run `make setup`"
        raise ToolMissing(f"{name} not found on PATH; install {source}")
    return path


def _limited(
    argv: Sequence[str], folder: Path, memory_bytes: int | None, processor_s: int | None
) -> list[str]:
    """Return the command behind `prlimit`: limits without running Python between fork and exec.

    Behind `setpriv`, the tool ends with the thread that waits for it, also when SIGKILL ends this process.
    """
    program = folder / argv[0] if "/" in argv[0] else argv[0]
    if shutil.which(program) is None:
        raise FileNotFoundError(f"no such executable: {argv[0]}")
    limits = ["--core=0", f"--fsize={FILE_LIMIT_BYTES}"]
    if memory_bytes is not None:
        limits.append(f"--as={memory_bytes}")
    if processor_s is not None:
        limits.append(f"--cpu={processor_s}:{processor_s + 1}")
    ending = [find_tool("setpriv", "util-linux"), "--pdeathsig", "KILL", "--"]
    return [*ending, find_tool("prlimit", "util-linux"), *limits, "--", *argv]


def run_tool(
    argv: Sequence[str],
    *,
    folder: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    memory_bytes: int | None = MEMORY_LIMIT_BYTES,
    of_processor: bool = False,
    stdin: str = "",
) -> ToolRun:
    """Run a tool to its end, to a limit or to `end_tools`; its whole process group ends with it.

    Args:
        argv: program and arguments; no shell ever reads them.
        folder: working directory of the tool.
        timeout_s: limit of elapsed time in seconds.
        of_processor: the limit is of processor time per process, so that the load of the machine does not
            matter; `PATIENCE` times the limit by the clock ends the tool in any case.
        environment: variables added to PATH and a C locale; nothing else is passed on.
        memory_bytes: address-space limit; None = unbounded (sanitizers reserve terabytes).
        stdin: text given on standard input.
    """
    variables = {"PATH": os.defpath + ":" + os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": str(folder)}
    processor_s = math.ceil(timeout_s) if of_processor else None
    clock_s = PATIENCE * timeout_s if of_processor else timeout_s
    start = time.perf_counter()
    with _input_file() as input_file:
        input_file.write(stdin.encode())
        input_file.seek(0)
        process = subprocess.Popen(
            _limited(argv, folder, memory_bytes, processor_s),
            cwd=folder,
            env={**variables, **(environment or {})},
            stdin=input_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    out, err = output_streams(process, OUTPUT_LIMIT_BYTES)
    with process:
        try:
            limit = _follow(process, (out, err), start + clock_s)
        except BaseException:
            _kill_group(process)
            raise
        if limit is not None:
            _kill_group(process)
        used_s = reap(process)
    returncode = process.returncode
    if limit is None and processor_s is not None:
        late = ended_by_processor_limit(returncode, err.text(), used_s, processor_s)
        limit = PROCESSOR if late else None
    return ToolRun(
        returncode=None if limit in (PROCESSOR, CLOCK) else returncode,
        stdout=out.text(),
        stderr=err.text(),
        wall_s=time.perf_counter() - start,
        limit=limit,
        machine_fault=machine_fault(limit, returncode, err.text(), clock_s if of_processor else None),
    )


def _input_file() -> IO[bytes]:
    """Return an empty file without a name: in memory, or on disk within a sandbox, which permits no other."""
    try:
        return os.fdopen(os.memfd_create("input"), "w+b")
    except PermissionError:
        return TemporaryFile()


def output_streams(process: subprocess.Popen[bytes], most_bytes: int) -> tuple[OutputStream, OutputStream]:
    """Return the standard output and standard error of a process that was started with pipes for both."""
    if process.stdout is None or process.stderr is None:
        raise ValueError("a process needs pipes for standard output and standard error")
    return (
        OutputStream(file=process.stdout, most_bytes=most_bytes),
        OutputStream(file=process.stderr, most_bytes=most_bytes),
    )


def reap(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end of a process.

    Returns: processor time of it and of the children that it waited for, in seconds.
    """
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def ended_by_processor_limit(
    returncode: int | None, stderr: str, used_s: float = 0.0, limit_s: float = math.inf
) -> bool:
    """Tell whether a process, or a child of it, was ended at its limit of processor time.

    Args: used_s: processor time of both; the kernel counts against the limit in ticks, so that it can be a
          little below.
    """
    if returncode == 0:
        return False
    own, of_child = -signal.SIGXCPU, 128 + signal.SIGXCPU  # as shells pass the signal of a child on
    return returncode in (own, of_child) or _PROCESSOR_WORDS in stderr or used_s >= 0.9 * limit_s


def machine_fault(
    limit: str | None, returncode: int | None, stderr: str, last_resort_s: float | None
) -> str | None:
    """Return the reason when the machine and not the input ended a run.

    Args: last_resort_s: limit by the clock of a run that is bounded in processor time, None for other runs.
    """
    if limit == CLOCK and last_resort_s is not None:
        return f"the machine was too busy: no end within {last_resort_s:g} s by the clock"
    if limit is None and returncode == -signal.SIGKILL:
        return "SIGKILL from outside, as when memory runs out"
    if limit is None and returncode != 0:
        return next((words for words in _MACHINE_WORDS if words in stderr), None)
    return None


def _follow(
    process: subprocess.Popen[bytes], streams: Sequence[OutputStream], deadline_s: float
) -> str | None:
    """Read the output of a tool until it has ended; returns the limit that it exceeded, if any."""
    handle = os.pidfd_open(process.pid)
    try:
        waiting = {handle: None, **{s.file.fileno(): s for s in streams}}
        while waiting:
            remaining_s = deadline_s - time.perf_counter()
            if remaining_s <= 0:
                return CLOCK
            require_going_on()
            for descriptor in readable(waiting, min(remaining_s, _LOOK_S)):
                stream = waiting[descriptor]
                if stream is not None:
                    stream.take()
                    if stream.exceeded:
                        return OUTPUT
                if stream is None or stream.ended:
                    del waiting[descriptor]
        return None
    finally:
        os.close(handle)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a tool and its children; it may already have ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
