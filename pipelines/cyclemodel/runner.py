"""Compiling a cycle model and running it on data."""

from __future__ import annotations

import hashlib
import os
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from pipelines.base.sealing import build_once
from pipelines.base.tools import ToolRun, find_tool, run_tool
from pipelines.c.signature import DataSet
from pipelines.cyclemodel.expressions import CycleModelError
from pipelines.cyclemodel.program import CycleProgram, write_program
from pipelines.hls import CompiledDesign
from pipelines.rtl.simulation import decode_arrays, encode_input, failed_run, value_of_bits
from pipelines.schemas import OK, TIMEOUT, TOOL_ERROR

ENGINE = "cycle_model"
_VERSION = "41467eac"
"""Raise it when a design's cycles, accesses or outputs change."""
COMPILER_FLAGS = (  # keeping counters in registers around loops takes gcc ten times as long
    "-std=c11",
    "-O1",
    "-fno-tree-loop-im",
    "-w",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-pie",
    "-no-pie",
)
CYCLE_LIMIT = 50_000_000
"""Cycles after which a run or an estimate counts as endless."""
LARGE_TEXT_BYTES = 150_000
"""Above this length, some 2,000 operations, optimising takes longer than the runs it makes faster."""

_STATUS_OF = (OK, TIMEOUT, TOOL_ERROR)
LATE = _STATUS_OF.index(TIMEOUT)
"""Status of a program that passed its limit of cycles."""
_HEAD = struct.Struct("<qqqQQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleResult:
    """Result of a design on one data set.

    Attributes:
        status: ok, timeout (limit of cycles or of processor time) or tool_error.
        latency_cycles: from the cycle of start to the cycle of done.
        returned: value of the function: a number, or the bits of a floating one as an unsigned number.
        outputs: every written array, in its own type.
        block_visits: executions of each block of the graph, by its name; those until a limit of cycles, too.
        late_block: number of the block that passed the limit of cycles.
        iterations: of each pipelined loop, by its name.
        loads, stores: accesses to each array argument, by name.
        toggles: of each net of a model that counts them, by name; see `toggles.py`.
        bytes_read, bytes_written: moved between the design and each array argument, by name.
        build_wall_s, run_wall_s: elapsed times in seconds; equal for all data sets of a batch.
    """

    status: str
    reason: str | None = None
    latency_cycles: int | None = None
    returned: int | None = None
    outputs: DataSet = field(default_factory=dict[str, np.typing.NDArray[np.generic]])
    block_visits: dict[str, int] = field(default_factory=dict[str, int])
    iterations: dict[str, int] = field(default_factory=dict[str, int])
    loads: dict[str, int] = field(default_factory=dict[str, int])
    stores: dict[str, int] = field(default_factory=dict[str, int])
    bytes_read: dict[str, int] = field(default_factory=dict[str, int])
    bytes_written: dict[str, int] = field(default_factory=dict[str, int])
    toggles: dict[str, int] = field(default_factory=dict[str, int])
    late_block: int | None = None
    build_wall_s: float
    run_wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleModel:
    """A compiled cycle model.

    Attributes:
        executable: absolute path.
        loops: name of the loop of each pipelined block, by the block's number.
    """

    program: CycleProgram
    executable: Path
    loops: dict[int, str]
    build_wall_s: float


@cache
def engine_version() -> str:
    """Return the version of gcc and of this package."""
    run = run_tool(
        [find_tool("gcc", "gcc"), "-dumpfullversion"], folder=Path("/"), timeout_s=20, of_processor=True
    )
    return f"{run.stdout.strip() or 'unknown'}+{_VERSION}"


def build_model(
    compiled: CompiledDesign, *, folder: Path, timeout_s: float = 120.0, toggles: bool = False
) -> CycleModel | ToolRun:
    """Compile the cycle model of a design unless the folder has it.

    Args:    folder: where the executable goes, named by the hash of its text; it may hold other models.
             toggles: whether it counts toggles too.
    Returns: the model, or the run of gcc that failed.
    Raises:  ToolMissing: gcc is not installed. CycleModelError: the design breaks a rule of the graph.
    """
    program = write_program(compiled.scheduled, compiled.interface, toggles=toggles)
    model = build_program(program, folder=folder, timeout_s=timeout_s)
    if isinstance(model, ToolRun):
        return model
    loops = {k: compiled.scheduled.graph.blocks[k].loop or "" for k in program.pipelined}
    return replace(model, loops=loops)


def build_program(program: CycleProgram, *, folder: Path, timeout_s: float) -> CycleModel | ToolRun:
    """Compile a program unless the folder has it; see `build_model`."""
    key = hashlib.sha256(f"{engine_version()}\0{COMPILER_FLAGS}\0{program.text}".encode()).hexdigest()[:24]
    compilation = _Compilation(program=program, timeout_s=timeout_s)
    try:
        executable = build_once(folder.resolve(), f"model-{key}", compilation.build)
    except _NotCompiled as failure:
        return failure.run
    wall_s = compilation.wall_s
    return CycleModel(program=program, executable=executable, loops={}, build_wall_s=wall_s)


class _NotCompiled(Exception):
    """gcc did not compile a model."""

    def __init__(self, run: ToolRun) -> None:
        super().__init__(run.last_words())
        self.run = run


@dataclass(slots=True, kw_only=True)
class _Compilation:
    """gcc on the text of a model, and how long it took in seconds; 0 when it was not needed."""

    program: CycleProgram
    timeout_s: float
    wall_s: float = 0.0

    def build(self, folder: Path) -> Path:
        """Compile the model in a folder; see `build_once`."""
        text = self.program.text
        (folder / "model.c").write_text(text, encoding="utf-8")
        level = ("-O0",) if len(text) > LARGE_TEXT_BYTES else ()
        argv = (find_tool("gcc", "gcc"), *COMPILER_FLAGS, *level, "model.c", "-o", "model")
        run = run_tool(
            argv,
            folder=folder,
            timeout_s=self.timeout_s,
            of_processor=True,
            environment={"TMPDIR": "."},
        )
        self.wall_s = run.wall_s
        if run.returncode != 0:
            raise _NotCompiled(run)
        return folder / "model"


def run_model(
    model: CycleModel,
    data_sets: Sequence[DataSet],
    *,
    folder: Path,
    timeout_s: float = 120.0,
    cycle_limit: int = CYCLE_LIMIT,
) -> list[CycleResult]:
    """Run a model on data sets, one after the other in one process.

    Args:    folder: private to this call.
    Returns: one result per data set; the failure of the process is the result of all of them.
    Raises:  KeyError: a data set lacks an argument.
    """
    interface = model.program.interface
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "input.bin").write_bytes(b"".join(encode_input(interface, d) for d in data_sets))
    argv = [os.fspath(model.executable), str(cycle_limit), str(len(data_sets))]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    if run.returncode != 0:
        return [failed_count("the cycle model", run, model.build_wall_s, run.wall_s) for _ in data_sets]
    content = (folder / "output.bin").read_bytes()
    length = len(content) // max(1, len(data_sets))
    return [
        decode_result(model, content[k * length : (k + 1) * length], run.wall_s)
        for k in range(len(data_sets))
    ]


def failed_count(what: str, run: ToolRun, build_wall_s: float, run_wall_s: float = 0.0) -> CycleResult:
    """Return the result when a tool failed or ran past its limit."""
    status, reason = failed_run(what, run)
    return CycleResult(status=status, reason=reason, build_wall_s=build_wall_s, run_wall_s=run_wall_s)


def decode_result(model: CycleModel, content: bytes, run_wall_s: float) -> CycleResult:
    """Return the result in the output bytes of one data set."""
    program = model.program
    head: tuple[int, int, int, int, int] = _HEAD.unpack_from(content)
    code, what, line, latency, result = head
    status = _STATUS_OF[code]
    result_of = partial(CycleResult, build_wall_s=model.build_wall_s, run_wall_s=run_wall_s)
    if status == TOOL_ERROR:
        reason = f"the design touches an element outside array {program.arrays[what]} (line {line})"
        return result_of(status=status, reason=reason)
    number = program.block_count + program.counter_count
    counters = np.frombuffer(content, "<u8", number + len(program.nets), _HEAD.size)
    visits = [int(n) for n in counters[: program.block_count]]
    block_visits = {f"b{k}": n for k, n in enumerate(visits)}
    if status != OK:
        reason = "the cycle model ran past its cycle limit"
        return result_of(status=status, reason=reason, block_visits=block_visits, late_block=what)
    happened = [int(n) for n in counters[program.block_count : number]]
    loads, stores = _accesses(program, visits, happened)
    widths = {a.name: a.type.dtype.itemsize for a in program.interface.arrays}
    returns = program.interface.returns
    return result_of(
        status=OK,
        latency_cycles=latency,
        returned=None if returns is None else value_of_bits(result, returns),
        outputs=decode_arrays(program.interface, content, _HEAD.size + counters.nbytes),
        block_visits=block_visits,
        iterations={loop: visits[k] for k, loop in model.loops.items()},
        toggles=dict(zip(program.nets, map(int, counters[number:]), strict=True)),
        loads=loads,
        stores=stores,
        bytes_read={name: n * widths[name] for name, n in loads.items()},
        bytes_written={name: n * widths[name] for name, n in stores.items()},
    )


def _accesses(
    program: CycleProgram, visits: list[int], happened: list[int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the loads and stores of each array argument."""
    counts: Counter[tuple[str, str]] = Counter()
    for access in program.accesses:
        count = visits[access.block] if access.counter is None else happened[access.counter]
        counts[access.opcode, access.argument] += count
    names = [a.name for a in program.interface.arrays]
    return {n: counts["load", n] for n in names}, {n: counts["store", n] for n in names}


def count_cycles_of(
    compiled: CompiledDesign,
    data_sets: Sequence[DataSet],
    *,
    folder: Path,
    timeout_s: float = 120.0,
    cycle_limit: int = CYCLE_LIMIT,
    build_folder: Path | None = None,
) -> list[CycleResult]:
    """Count the cycles of a design on data sets.

    Args:    folder: private to this call; build_folder: where models are kept between calls, else in folder;
             timeout_s: processor time of the build and of the run, each; cycle_limit: of each data set.
    Returns: one result per data set, failures as a status.
    Raises:  ToolMissing: gcc is not installed. KeyError: a data set lacks an argument.
    """
    try:
        model = build_model(compiled, folder=build_folder or folder, timeout_s=timeout_s)
    except CycleModelError as error:
        failed = CycleResult(status=TOOL_ERROR, reason=str(error), build_wall_s=0.0, run_wall_s=0.0)
        return [failed for _ in data_sets]
    if isinstance(model, ToolRun):
        return [failed_count("gcc", model, model.wall_s) for _ in data_sets]
    return run_model(model, data_sets, folder=folder, timeout_s=timeout_s, cycle_limit=cycle_limit)


def count_cycles(
    compiled: CompiledDesign,
    data: DataSet,
    *,
    folder: Path,
    timeout_s: float = 120.0,
    cycle_limit: int = CYCLE_LIMIT,
    build_folder: Path | None = None,
) -> CycleResult:
    """Count the cycles of a design on one data set; see `count_cycles_of`."""
    return count_cycles_of(
        compiled,
        [data],
        folder=folder,
        timeout_s=timeout_s,
        cycle_limit=cycle_limit,
        build_folder=build_folder,
    )[0]
