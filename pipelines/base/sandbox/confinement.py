"""Confining a program: namespaces, the few visible folders, the limits of a process, and running it.

Two routes lead to a process whose limit on processes binds, since the kernel exempts the real root:

* root: bubblewrap sets the mounts up as root, then setpriv takes on a user id that nobody else has;
* everyone else: a user namespace, in which the kernel counts processes apart (Linux 5.14 and later).
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO

from pipelines.base.sandbox.guard import guarded
from pipelines.base.sandbox.limits import ConfinedRun, Limits, SandboxError
from pipelines.base.sandbox.nested import BOX, is_confined, run_nested
from pipelines.base.sandbox.supervision import Supervision, require_children_in_proc
from pipelines.base.sandbox.system_calls import system_call_filter
from pipelines.base.tools import find_tool, stopwatch

FIRST_USER = 1 << 30
"""First user id under root, one id per thread that confines; far above all assigned ids."""

_NOBODY = 65534
_OPEN_FILES = 64
_SYSTEM_FOLDERS = (
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/etc/alternatives",  # links that programs in /usr/bin may go through
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
)
_RESERVED = (BOX, Path("/proc"), Path("/dev"))
_NAMESPACES = (
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--hostname",
    "box",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptors:
    """File descriptors that bubblewrap inherits: where it reports, what it waits for, the filter it loads."""

    status: int
    start: int
    filter: int


@cache
def is_real_root() -> bool:
    """Tell whether this process is root of the machine, not of some user namespace."""
    words = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    return os.geteuid() == 0 and words == ["0", "0", str(2**32 - 1)]


def box_user() -> int:
    """Return the user id of a program that this thread confines, as root sees it.

    A thread confines one program at a time, and its id is unique: what the kernel counts for one user
    is then one program's.
    """
    return FIRST_USER + threading.get_native_id() if is_real_root() else os.geteuid()


def confining_command(
    argv: Sequence[str],
    *,
    folder: Path,
    readable: Sequence[Path],
    limits: Limits,
    descriptors: Descriptors,
    devices: Sequence[Path] = (),
    mark: Sequence[str] = (),
) -> list[str]:
    """Return the whole command line, from bubblewrap to the program.

    Args:   mark: arguments by which the guardian recognises it.
    Raises:
        SandboxError: the program or a readable path cannot be shown inside.
        ToolMissing: bubblewrap or util-linux is not installed.
    """
    shown = _checked_readable(readable)
    _check_program(argv, [*shown, *(Path(f) for f in _SYSTEM_FOLDERS)])
    return [
        find_tool("bwrap", "bubblewrap"),
        *mark,
        *_NAMESPACES,
        *_user_arguments(),
        *("--json-status-fd", str(descriptors.status)),
        *("--block-fd", str(descriptors.start)),
        *("--seccomp", str(descriptors.filter)),
        *_mount_arguments(folder, shown, devices),
        "--",
        *_identity_arguments(),
        *_limit_arguments(limits),
        *argv,
    ]


def _user_arguments() -> list[str]:
    if is_real_root():
        return ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", "--uid", str(_NOBODY), "--gid", str(_NOBODY), "--disable-userns"]


def _identity_arguments() -> list[str]:
    if not is_real_root():
        return []
    user = str(box_user())
    return [
        find_tool("setpriv", "util-linux"),
        "--reuid",
        user,
        "--regid",
        user,
        "--clear-groups",
        "--inh-caps=-all",
    ]


def _limit_arguments(limits: Limits) -> list[str]:
    keeper = 0 if is_real_root() else 1  # in a user namespace bubblewrap's first process counts too
    values = {
        "core": "0",
        "cpu": f"{limits.cpu_s}:{limits.cpu_s + 1}",
        "fsize": str(limits.file_bytes),
        "nofile": str(_OPEN_FILES),
        "nproc": str(limits.processes + keeper),
        "msgqueue": "0",
    }
    if limits.address_bytes is not None:
        values["as"] = str(limits.address_bytes)
    return [find_tool("prlimit", "util-linux"), *(f"--{k}={v}" for k, v in values.items()), "--"]


def _mount_arguments(folder: Path, readable: Sequence[Path], devices: Sequence[Path]) -> list[str]:
    folders: set[Path] = {Path("/")}
    arguments: list[str] = []
    for name in _SYSTEM_FOLDERS:
        arguments += _system_folder(Path(name), folders)
    for path in readable:
        arguments += [*_parents(path, folders), "--ro-bind", str(path), str(path)]
    for device in (Path("/dev/null"), *devices):
        arguments += [*_parents(device, folders), "--dev-bind", str(device), str(device)]
    arguments += ["--dir", "/proc"]
    arguments += ["--bind", str(folder), str(BOX), "--remount-ro", "/", "--chdir", str(BOX)]
    # The first process is bubblewrap's, under no limit; its memory must not be open to the program's user.
    return [*arguments, "--proc", "/proc", "--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]


def _system_folder(path: Path, folders: set[Path]) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return [*_parents(path, folders), "--ro-bind", str(path), str(path)] if path.is_dir() else []


def _parents(path: Path, folders: set[Path]) -> list[str]:
    """Return the folders above a path, outermost first; bubblewrap would create them for their owner only."""
    arguments: list[str] = []
    for parent in reversed(path.parents):
        if parent not in folders:
            folders.add(parent)
            arguments += ["--perms", "0755", "--dir", str(parent)]
    return arguments


def _checked_readable(readable: Sequence[Path]) -> list[Path]:
    """Return the absolute paths, outer before inner."""
    paths = sorted({p.absolute() for p in readable})
    for path in paths:
        if not path.exists():
            raise SandboxError(f"no such readable path: {path}")
        if any(r == path or r in path.parents or path in r.parents for r in _RESERVED):
            raise SandboxError(f"readable path must lie outside {_listed(_RESERVED)}, got {path}")
        if is_real_root() and not _others_may_read(path):
            raise SandboxError(f"readable path is not readable for every user (chmod o+r): {path}")
    return paths


def _others_may_read(path: Path) -> bool:
    needed = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & needed == needed


def _check_program(argv: Sequence[str], shown: Sequence[Path]) -> None:
    program = Path(argv[0]) if argv else Path()
    if not program.is_absolute():
        raise SandboxError(f"program is not an absolute path: {str(program)!r}")
    if not any(s == program or s in program.parents for s in shown) or not os.access(program, os.X_OK):
        rule = "program must be executable and inside a readable path"
        raise SandboxError(f"{rule}, got {program}; readable: {_listed(shown)}")


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(str(p) for p in paths)


def run_confined(
    argv: Sequence[str],
    *,
    folder: Path,
    readable: Sequence[Path] = (),
    files: Mapping[str, bytes] | None = None,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
    inherited: Sequence[int] = (),
    devices: Sequence[Path] = (),
) -> ConfinedRun:
    """Run an untrusted program, confined, to its end or to its limits.

    It sees the system's programs and libraries (/usr/bin, /usr/lib, /usr/include), what is named
    readable, under the same paths, and its folder, as /box; nothing else of the file system. It has no
    network, sees no process but its own, has nothing on standard input, and may write only in its folder.
    When it ends or is stopped, every process that it started is gone. Within a confined program it runs in
    the sandbox that is there, see `run_nested`.

    Args:
        argv: absolute path of the program, and its arguments, as it sees them.
        folder: empty, created if absent; its working directory. Its output there is untrusted: see
            `read_output`.
        readable: files and folders that it may read and execute besides.
        files: name (`a.v` or `folder/a.v`) and content of what lies in its folder when it starts; it may
            replace them.
        limits: of the run; None for the defaults.
        environment: variables added to PATH, a C locale, and HOME and TMPDIR, which are the folder.
        inherited: pipes to this process that it gets under their numbers; they are closed here, as it ends
            its side of a conversation only when nobody else holds it open.
        devices: files below /dev that it may open besides /dev/null.

    Returns: its exit status, output, elapsed time, and the limit that stopped it.
    Raises:
        SandboxError: misuse, or a machine that forbids confinement; the program did not run then.
        ToolMissing: bubblewrap or util-linux is not installed.
    """
    start_s = stopwatch()
    limits = limits or Limits()
    folder = folder.absolute()
    if is_confined():
        if inherited or devices:
            raise SandboxError("a program within a sandbox gets no pipes and no devices")
        _fill(folder, files or {})
        return run_nested(argv, folder=folder, limits=limits, environment=_environment(folder, environment))
    with ExitStack() as stack:
        handed_on = [stack.enter_context(os.fdopen(number, "rb", buffering=0)) for number in inherited]
        require_children_in_proc()
        _fill(folder, files or {})
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
            devices=devices,
            mark=stack.enter_context(guarded()),
        )
        stack.enter_context(_handed_over(folder))
        process = stack.enter_context(_started(command, [*theirs, *inherited], environment or {}))
        for file in (status_write, start_read, filter_file, *handed_on):
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
        env=_environment(BOX, environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=inherited,
        start_new_session=True,
    )


def _environment(folder: Path, more: Mapping[str, str] | None) -> dict[str, str]:
    """Return the variables of a program whose folder it sees as `folder`."""
    own = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(folder), "TMPDIR": str(folder)}
    return {**own, **(more or {})}


def _pipe(stack: ExitStack, *, endless: bool = False) -> tuple[IO[bytes], IO[bytes]]:
    """Open a pipe: read end, write end. Reading blocks even when all writers are gone.

    Otherwise the end of this process would start the program, and nobody would watch it.
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
        raise SandboxError(f"folder is not empty: {', '.join(left[:5])} ({folder})")
    for name, content in files.items():
        if name != str(PurePosixPath(name)) or name.startswith("/") or {".", ".."} & set(name.split("/")):
            raise SandboxError(f"file must have a plain name, got {name!r}")
        path = folder / name
        for parent in reversed(PurePosixPath(name).parents[:-1]):
            (folder / parent).mkdir(exist_ok=True)
            (folder / parent).chmod(0o755)
        path.write_bytes(content)
        path.chmod(0o644)


@contextmanager
def _handed_over(folder: Path) -> Generator[None]:
    """Give the folder to the program's user, under root, for as long as it runs."""
    if not is_real_root():
        yield
        return
    os.chown(folder, box_user(), box_user(), follow_symlinks=False)
    try:
        yield
    finally:
        os.chown(folder, 0, 0, follow_symlinks=False)
