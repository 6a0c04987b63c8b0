"""Running a confined program: the public function."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from pipelines.sandbox.confinement import BOX, Descriptors, box_user, confining_command, is_real_root
from pipelines.sandbox.errors import SandboxError
from pipelines.sandbox.limits import ConfinedRun, Limits
from pipelines.sandbox.supervision import Supervision
from pipelines.sandbox.system_calls import system_call_filter
from pipelines.sandbox.watch import require_children_in_proc
from pipelines.tools import stopwatch


def run_confined(
    argv: Sequence[str],
    *,
    folder: Path,
    readable: Sequence[Path] = (),
    files: Mapping[str, bytes] | None = None,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
) -> ConfinedRun:
    """Run a program that nobody trusts, confined, to its end or to its limits.

    It sees the system's programs and libraries (/usr/bin, /usr/lib, /usr/include), what is named
    readable, under the same paths, and its folder, as /box; nothing else of the file system. It has no
    network, sees no process but its own, has nothing on standard input, and may write only in its folder.
    When it ends or is stopped, every process that it started is gone.

    Args:
        argv: absolute path of the program, and its arguments, as it sees them.
        folder: empty, made if absent; its working directory. What it leaves there is untrusted: see
            `read_output`.
        readable: files and folders that it may read and execute besides.
        files: name and content of what lies in its folder when it starts; it may replace them.
        limits: of the run; None for the defaults.
        environment: variables added to PATH, a C locale, and HOME and TMPDIR, which are the folder.

    Returns: its exit status, output, elapsed time, and the limit that stopped it.
    Raises:
        SandboxError: misuse, or a machine that forbids confinement; the program did not run then.
        ToolMissing: bubblewrap or util-linux is not installed.
    """
    start_s = stopwatch()
    limits = limits or Limits()
    folder = folder.absolute()
    require_children_in_proc()
    _fill(folder, files or {})
    with ExitStack() as stack:
        status_read, status_write = _pipe(stack)
        start_read, start_write = _pipe(stack, endless=True)
        filter_file = stack.enter_context(os.fdopen(os.memfd_create("filter"), "w+b"))
        filter_file.write(system_call_filter())
        filter_file.seek(0)
        theirs = [f.fileno() for f in (status_write, start_read, filter_file)]
        command = confining_command(
            argv,
            folder=folder,
            readable=readable,
            limits=limits,
            descriptors=Descriptors(status=theirs[0], start=theirs[1], filter=theirs[2]),
        )
        stack.enter_context(_handed_over(folder))
        process = stack.enter_context(_started(command, theirs, environment or {}))
        for file in (status_write, start_read, filter_file):
            file.close()
        supervision = Supervision(process, status_read, start_write, folder, limits)
        try:
            supervision.wait()
        finally:
            supervision.end()
        return supervision.result(stopwatch() - start_s)


def _started(
    command: Sequence[str], inherited: Sequence[int], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(BOX), "TMPDIR": str(BOX), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=inherited,
        start_new_session=True,
    )


def _pipe(stack: ExitStack, *, endless: bool = False) -> tuple[IO[bytes], IO[bytes]]:
    """Read and write end. Who reads an endless one waits even when all writers are gone.

    Otherwise the end of this process would look like the word to start, and nobody watched the program.
    """
    read, write = os.pipe()
    if endless:
        once = read
        read = os.open(f"/proc/self/fd/{once}", os.O_RDWR | os.O_CLOEXEC)
        os.close(once)
    return (
        stack.enter_context(os.fdopen(read, "r+b" if endless else "rb", buffering=0)),
        stack.enter_context(os.fdopen(write, "wb", buffering=0)),
    )


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    left = sorted(p.name for p in folder.iterdir())
    if left:
        raise SandboxError(f"folder must be empty, got {', '.join(left[:5])} ({folder})")
    for name, content in files.items():
        if name != Path(name).name or name in ("", ".."):
            raise SandboxError(f"file must have a plain name, got {name!r}")
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o644)


@contextmanager
def _handed_over(folder: Path) -> Generator[None]:
    """Under root the folder belongs to the program's user for as long as it runs."""
    if not is_real_root():
        yield
        return
    os.chown(folder, box_user(), box_user(), follow_symlinks=False)
    try:
        yield
    finally:
        os.chown(folder, 0, 0, follow_symlinks=False)
