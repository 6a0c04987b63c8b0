"""Yosys and ABC on one design: a process of its own, confined and bounded."""

from __future__ import annotations

import importlib.util
import math
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.sandbox import ConfinedRun, Limits, SandboxError, read_output, run_confined
from pipelines.schemas.status import TIMEOUT, TOOL_ERROR
from pipelines.synthesis.errors import SynthesisError
from pipelines.synthesis.recipe import COMMAND_FILE, LOG_FILE
from pipelines.tools import MEMORY_LIMIT_BYTES, OUTPUT_LIMIT_BYTES, PATIENCE, signal_name

_WORKER = Path(__file__).with_name("worker.py")
_FILE_BYTES = 1 << 30
_PROCESSES = 256  # pyosys may start a thread per core, and abc runs in a shell
_REASON_LENGTH = 400
_ABC_FAILED = re.compile(r'ABC: execution of script ".*" failed: return code (\d+)')
_SIGNAL_BASE, _LAST_SIGNAL = 128, 64  # a shell's exit status for a program that a signal ended


class YosysFailed(SynthesisError):
    """Yosys did not succeed.

    Attributes: status: timeout or tool_error.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def run_yosys(
    commands: Sequence[str],
    *,
    files: Mapping[str, bytes],
    outputs: Sequence[str],
    folder: Path,
    timeout_s: float,
) -> list[bytes]:
    """Run yosys commands in a fresh process that sees only its own program and a folder.

    Args:
        commands: their working directory is the folder.
        files: name and content of what they read.
        outputs: names of the files that they write; the log is `recipe.LOG_FILE`.
        folder: emptied, or made if absent; it keeps all that yosys leaves.
        timeout_s: limit of processor time in seconds.
    Returns: content of the outputs.
    Raises:  YosysFailed: a command failed, a limit ended it, or the machine forbids confinement.
             ToolMissing: bubblewrap is not installed.
    """
    _empty(folder)
    cpu_s = math.ceil(timeout_s)
    limits = Limits(
        cpu_s=cpu_s,
        wall_s=PATIENCE * cpu_s,
        memory_bytes=MEMORY_LIMIT_BYTES,
        address_bytes=MEMORY_LIMIT_BYTES,
        file_bytes=_FILE_BYTES,
        folder_bytes=2 * _FILE_BYTES,
        output_bytes=OUTPUT_LIMIT_BYTES,
        processes=_PROCESSES,
    )
    try:
        run = run_confined(
            # By path and isolated, not as a module: imports of this package would take four times as long as
            # the start of pyosys.
            (sys.executable, "-I", str(_WORKER), COMMAND_FILE, LOG_FILE),
            folder=folder,
            readable=_readable(),
            files={**files, COMMAND_FILE: "\n".join(commands).encode()},
            limits=limits,
            environment={"TMPDIR": "."},  # of abc, relative to the folder
        )
        if run.returncode != 0:
            raise _failure(run, folder, cpu_s)
        return [read_output(folder / name, most_bytes=_FILE_BYTES) for name in outputs]
    except SandboxError as error:
        raise YosysFailed(TOOL_ERROR, str(error)) from error


def _empty(folder: Path) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _readable() -> list[Path]:
    """The interpreter, its library and pyosys; nothing else of the environment that they are installed in."""
    package = importlib.util.find_spec("pyosys")
    if package is None or package.origin is None:
        raise SynthesisError("pyosys is not installed")
    paths = [_WORKER, Path(package.origin).parent, Path(sys.executable)]
    environment = Path(sys.prefix) / "pyvenv.cfg"
    if environment.is_file():
        paths.append(environment)
    if sys.base_prefix != "/usr":  # what is there is shown anyway
        paths.append(Path(sys.base_prefix))
    return paths


def _failure(run: ConfinedRun, folder: Path, cpu_s: int) -> YosysFailed:
    if run.machine_fault is not None:
        return YosysFailed(TOOL_ERROR, f"yosys: {run.machine_fault}")
    late = YosysFailed(TIMEOUT, f"yosys or abc took more than {cpu_s} s of processor time")
    if run.timed_out:
        return late
    if run.stopped_by is not None:
        return YosysFailed(TOOL_ERROR, f"yosys and abc used too much: {run.stopped_by}")
    log = folder / LOG_FILE
    text = read_output(log, most_bytes=_FILE_BYTES).decode(errors="replace") if log.exists() else ""
    errors = [line.strip() for line in text.splitlines() if "ERROR:" in line]
    if not errors:
        ending = "" if (run.returncode or 0) < 0 else f"ended with status {run.returncode}: "
        return YosysFailed(TOOL_ERROR, f"yosys {ending}{run.last_words()}"[:_REASON_LENGTH])
    of_abc = _ABC_FAILED.search(errors[-1])
    if of_abc is None:
        return YosysFailed(TOOL_ERROR, errors[-1][:_REASON_LENGTH])
    status = int(of_abc[1])
    if status == _SIGNAL_BASE + signal.SIGXCPU:
        return late
    return YosysFailed(TOOL_ERROR, _abc_ending(status, text)[:_REASON_LENGTH])


def _abc_ending(status: int, log: str) -> str:
    """How abc ended, by the exit status of its shell."""
    number = status - _SIGNAL_BASE
    ending = f"by {signal_name(number)}" if 0 < number <= _LAST_SIGNAL else f"with status {status}"
    said = [line.removeprefix("ABC: ").strip() for line in log.splitlines() if line.startswith("ABC: ")]
    said = [line for line in said if line.lower() not in ending]  # the shell's word for the signal
    return f"abc ended {ending}: {said[-1] if said else 'no output'}"
