"""Compiling and running a program natively with gcc.

Belongs here: the two builds, their runs and the comparison. Does not: generated C (harness.py), the
meaning of tool messages (verdict.py).
"""

from __future__ import annotations

import math
import signal
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipelines.headers import INCLUDE_FOLDER
from pipelines.interface import DataSet, Interface
from pipelines.native.harness import (
    MAIN_SYMBOL,
    TOP_SYMBOL,
    output_bytes,
    pack_inputs,
    table_text,
    unit_text,
    unpack_outputs,
)
from pipelines.native.verdict import compile_rejection, undefined_behaviour
from pipelines.schemas import OK, REJECTED, TIMEOUT, TOOL_ERROR
from pipelines.tools import ToolRun, find_tool, run_tool
from pipelines.values import same_values

COMPILE_TIMEOUT_S = 60.0
MEMORY_BYTES = 4 << 30
SANITIZER_MEMORY_MIB = 4096

_HARNESS = Path(__file__).parent / "harness.c"
# -no-pie: with 32 random bits of address space a position-independent executable can be loaded
# where AddressSanitizer keeps its heap, and then dies before main.
_COMMON = ("-std=c11", "-O1", "-w", "-fno-pie", "-no-pie")
# Arithmetic as written: no product and sum fused, no extended precision, no function of the C library
# taken for granted; -fno-math-errno makes a square root one instruction. Headers are the project's own.
_PROGRAM = (
    "-ffp-contract=off",
    "-fexcess-precision=standard",
    "-fno-builtin",
    "-fno-math-errno",
    "-nostdinc",
    "-isystem",
    str(INCLUDE_FOLDER),
)
_CHECKED = (
    "-g",
    "-fsanitize=undefined,address,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-ftrivial-auto-var-init=pattern",
)
_PLAIN = ("-ftrivial-auto-var-init=zero",)
_SANITIZER_OPTIONS = ":".join(
    (
        "detect_leaks=0",
        "color=never",
        "disable_coredump=1",
        f"hard_rss_limit_mb={SANITIZER_MEMORY_MIB}",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NativeRun:
    """What a program computes natively, or why that is not known.

    Attributes:
        status: ok, rejected (undefined behaviour, or not C), timeout or tool_error.
        reason: one line; None when ok.
        outputs: the written arrays by name; empty unless ok.
        returned: result of the top function, of a floating one its bits; None when void or not ok.
        wall_s: time of all compilations and runs in seconds.
        tool_version: of gcc.
    """

    status: str
    reason: str | None = None
    outputs: DataSet = field(default_factory=dict[str, NDArray[Any]])
    returned: int | None = None
    wall_s: float
    tool_version: str


class _Ended(Exception):
    """The run ended early, with a status and a reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def native_version() -> str:
    """Version of gcc, as it names itself.

    Raises: ToolMissing: gcc is not installed.
    """
    return _version_of(_gcc())


def run_native(
    source: str, interface: Interface, data: DataSet, *, folder: Path, timeout_s: float = 20
) -> NativeRun:
    """Compile a program with gcc and run it on a data set: the reference of every design.

    Only a program that the HLS front end has accepted belongs here: it is run with limits of time,
    memory and file size, but as the user, and the front end is what keeps system calls out.

    It runs twice. First with the address and undefined-behaviour sanitizers and its automatic
    variables filled with a pattern: undefined behaviour rejects the program. Then plainly with
    those variables zero: another result means that it depends on variables it never set, and
    rejects it too.

    Args:
        source: complete C text.
        interface: of the source's top function.
        data: a value for every argument; not changed.
        folder: where the program is built, made if absent; ours alone.
        timeout_s: limit of each of the two runs in seconds, wall clock.

    Returns: outputs and result, or the status and reason for which there are none.
    Raises:  ToolMissing: gcc is not installed. KeyError: data lacks an argument.
    """
    version = _version_of(_gcc())
    session = _Session(folder=folder, interface=interface, timeout_s=timeout_s)
    inputs = pack_inputs(interface, data)
    try:
        outputs, returned = session.result(source, inputs)
    except _Ended as end:
        return NativeRun(status=end.status, reason=end.reason, wall_s=session.wall_s, tool_version=version)
    except OSError as error:
        reason = f"{folder} must be writable and gcc executable, got {error}"
        return NativeRun(status=TOOL_ERROR, reason=reason, wall_s=session.wall_s, tool_version=version)
    return NativeRun(
        status=OK,
        outputs=outputs,
        returned=returned,
        wall_s=session.wall_s,
        tool_version=version,
    )


@dataclass(slots=True, kw_only=True)
class _Session:
    """One program in one folder; adds up the time its tools take."""

    folder: Path
    interface: Interface
    timeout_s: float
    wall_s: float = 0.0

    def result(self, source: str, inputs: bytes) -> tuple[DataSet, int | None]:
        """Outputs and result on which both builds agree."""
        self._write_files(source, inputs)
        self._compile("-c", str(_HARNESS), "-I.", "-o", "harness.o")
        names = [f"-D{self.interface.top}={TOP_SYMBOL}"]
        if self.interface.top != "main":
            names.append(f"-Dmain={MAIN_SYMBOL}")
        kernel = (*_PROGRAM, *names, "unit.c", "harness.o")
        self._compile(*_CHECKED, *kernel, "-o", "checked")
        self._run_checked()
        checked = self._outputs()
        self._compile(*_PLAIN, *kernel, "-o", "plain")
        self._run_plain()
        plain = self._outputs()
        self._require_agreement(checked, plain)
        return unpack_outputs(self.interface, plain)

    def _write_files(self, source: str, inputs: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "kernel.c").write_text(source, encoding="utf-8")
        (self.folder / "unit.c").write_text(unit_text(self.interface), encoding="ascii")
        (self.folder / "arguments.h").write_text(table_text(self.interface), encoding="ascii")
        (self.folder / "inputs.bin").write_bytes(inputs)
        (self.folder / "arrays.txt").write_bytes(b"")

    def _compile(self, *arguments: str) -> None:
        run = run_tool(
            (_gcc(), *_COMMON, *arguments),
            folder=self.folder,
            timeout_s=COMPILE_TIMEOUT_S,
            environment={"TMPDIR": "."},
        )
        self.wall_s += run.wall_s
        if run.timed_out:
            raise _Ended(TIMEOUT, f"gcc must end within {COMPILE_TIMEOUT_S:g} s, got no end")
        if run.returncode != 0:
            rejection = compile_rejection(run.stderr, self.interface.top)
            if rejection:
                raise _Ended(REJECTED, rejection)
            raise _Ended(TOOL_ERROR, f"gcc must succeed, got {run.last_words()}")

    def _run(self, program: str, *, memory_bytes: int | None) -> ToolRun:
        (self.folder / "outputs.bin").unlink(missing_ok=True)
        run = run_tool(
            (f"./{program}",),
            folder=self.folder,
            timeout_s=self.timeout_s,
            environment={"ASAN_OPTIONS": _SANITIZER_OPTIONS},
            memory_bytes=memory_bytes,
            cpu_s=math.ceil(self.timeout_s),
        )
        self.wall_s += run.wall_s
        if run.timed_out or run.returncode == -signal.SIGXCPU:
            raise _Ended(TIMEOUT, f"native C must end within {self.timeout_s:g} s, got no end")
        return run

    def _run_checked(self) -> None:
        run = self._run("checked", memory_bytes=None)
        if run.returncode == 0:
            return
        places = (self.folder / "arrays.txt").read_text(encoding="ascii")
        reason = undefined_behaviour(run.stderr, places, self.interface)
        if reason:
            raise _Ended(REJECTED, f"C must have defined behaviour, got {reason}")
        raise _Ended(TOOL_ERROR, f"the checked program must succeed, got {_ending(run)}")

    def _run_plain(self) -> None:
        run = self._run("plain", memory_bytes=MEMORY_BYTES)
        if run.returncode is not None and run.returncode < 0:
            reason = f"got {_signal_name(run.returncode)} when they start as zero (kernel.c)"
            raise _Ended(REJECTED, f"result must not depend on uninitialised variables, {reason}")
        if run.returncode != 0:
            raise _Ended(TOOL_ERROR, f"the plain program must succeed, got {_ending(run)}")

    def _outputs(self) -> bytes:
        content = (self.folder / "outputs.bin").read_bytes()
        wanted = output_bytes(self.interface)
        if len(content) != wanted:
            raise _Ended(TOOL_ERROR, f"outputs must be {wanted} bytes, got {len(content)}")
        return content

    def _require_agreement(self, checked: bytes, plain: bytes) -> None:
        first, second = (unpack_outputs(self.interface, c) for c in (checked, plain))
        different = [n for n in first[0] if not same_values(first[0][n], second[0][n])]
        if not different and first[1] == second[1]:
            return
        named = ", ".join(different) or "the returned value"
        raise _Ended(
            REJECTED,
            "result must not depend on uninitialised variables, "
            f"got different outputs in {named} when they start otherwise (kernel.c)",
        )


def _ending(run: ToolRun) -> str:
    if run.returncode is not None and run.returncode < 0:
        return f"{_signal_name(run.returncode)}: {run.last_words()}"
    return f"exit status {run.returncode}: {run.last_words()}"


def _signal_name(returncode: int) -> str:
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"


def _gcc() -> str:
    return find_tool("gcc", "gcc")


@cache
def _version_of(gcc: str) -> str:
    run = run_tool((gcc, "--version"), folder=Path(gcc).parent, timeout_s=COMPILE_TIMEOUT_S)
    return run.stdout.splitlines()[0] if run.stdout else "unknown"
