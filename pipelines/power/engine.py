"""The netlist simulator as a program: built once, run on files in a folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pipelines.power.encoding import EncodedNetlist
from pipelines.power.errors import PowerError
from pipelines.sealing import build_once
from pipelines.tools import ToolRun, find_tool, run_tool

ENGINE = "netlist-simulator"
_VERSION = "3ef02e9b7812"
"""Raise it when the simulator gives other outputs, cycles or toggles for the same netlist and data."""
_SOURCE = Path(__file__).with_name("simulator.c")
_HEADER = Path(__file__).with_name("simulation.h")
_FLAGS = ("-std=c11", "-O2", "-fno-strict-aliasing")
_NETLIST, _STIMULUS, _RESULT = "netlist.bin", "stimulus.bin", "activity.bin"
_CYCLE_LIMIT = 4


def engine_version() -> str:
    """Version of the simulator, a part of every result's key."""
    return _VERSION


@cache
def _build_id() -> str:
    """Hash of what the program is compiled from."""
    content = _SOURCE.read_bytes() + _HEADER.read_bytes() + " ".join(_FLAGS).encode()
    return hashlib.sha256(content).hexdigest()[:12]


def build_engine(engine_folder: Path) -> Path:
    """The simulator's program, compiled with gcc when it is not in the folder yet.

    Args:   engine_folder: where programs are kept between calls, one a version.
    Raises: ToolMissing: gcc is not installed. PowerError: it does not compile the program.
    """
    return build_once(engine_folder.absolute(), f"{ENGINE}-{_build_id()}", _build)


def _build(folder: Path) -> Path:
    argv = [find_tool("gcc", "gcc"), *_FLAGS, str(_SOURCE), "-o", "program"]
    run = run_tool(argv, folder=folder, timeout_s=120)
    if run.returncode != 0:
        raise PowerError(f"gcc must compile the netlist simulator, got: {run.last_words()}")
    return folder / "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRun:
    """One run of the simulator.

    Attributes:
        status: ok, timeout (cycle or time limit) or tool_error.
        reason: why it is not ok.
        content: bytes of the result file; empty unless ok.
        is_endless: whether the cycle limit ended it.
        wall_s: time of the program.
    """

    status: str
    reason: str | None
    content: bytes
    wall_s: float
    is_endless: bool = False


def run_engine(
    encoded: EncodedNetlist,
    stimulus: Callable[[], bytes],
    *,
    folder: Path,
    engine_folder: Path,
    timeout_s: float,
) -> EngineRun:
    """Simulate a netlist.

    Args:    stimulus: gives the bytes of the stimulus file; folder: for this run alone, made if absent;
             engine_folder: see `build_engine`.
    Raises:  ToolMissing, PowerError: the simulator cannot be built, or the stimulus does not fit.
    """
    program = build_engine(engine_folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _NETLIST).write_bytes(encoded.content)
    (folder / _STIMULUS).write_bytes(stimulus())
    argv = [os.fspath(program), _NETLIST, _STIMULUS, _RESULT]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    content = (folder / _RESULT).read_bytes() if run.returncode == 0 else b""
    for name in (_NETLIST, _STIMULUS, _RESULT):
        (folder / name).unlink(missing_ok=True)
    if run.returncode == 0:
        return EngineRun(status="ok", reason=None, content=content, wall_s=run.wall_s)
    return _failed(run)


def _failed(run: ToolRun) -> EngineRun:
    if run.machine_fault is None and (run.timed_out or run.returncode == _CYCLE_LIMIT):
        limit = "time" if run.timed_out else "cycle"
        reason = f"the netlist simulation ran past its {limit} limit"
        return EngineRun(
            status="timeout", reason=reason, content=b"", wall_s=run.wall_s, is_endless=not run.timed_out
        )
    reason = " ".join(f"the netlist simulation: {run.last_words()}".split())
    return EngineRun(status="tool_error", reason=reason, content=b"", wall_s=run.wall_s)
