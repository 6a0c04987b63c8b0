"""Build and measure what `rtl_gpu` prepared on a machine with a GPU; the standard library and numpy suffice.

    python3 measure.py FOLDER RESULTS.json [--seconds 240] [--build-seconds 100] [--sanitize]

All programs are built first, side by side. Then they run one after the other in the order of `plan.json`, the
most valuable first, each with a time limit. A row is written after every program, also for a failure.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import select
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

RESET, RUN = 1, 3  # requests of server.h
GRAIN = 16  # cycles of a batch
NVCC = ("-std=c++17", "-O3", "-arch=sm_90", "-cudart=static", "-Xcompiler=-march=native,-fno-ivopts")
CXX = ("-std=gnu++17", "-O3", "-march=native", "-w")
ROW_LIMIT_S = 25.0
Words = NDArray[np.uint64]


class Failure(Exception):
    """A program that cannot be built or run; the message says why."""


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_words(file: IO[bytes]) -> str:
    """The end of what was printed to a file."""
    file.seek(0)
    return file.read()[-1500:].decode(errors="replace")


class Builder:
    """Programs of a plan, built side by side until a deadline."""

    def __init__(self, folder: Path, scratch: Path, deadline: float) -> None:
        self.folder, self.scratch, self.deadline = folder.resolve(), scratch, deadline
        self.cxx = shutil.which("clang++") or shutil.which("g++") or "g++"
        self.nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        self.pool = ThreadPoolExecutor(os.cpu_count())
        self.built: dict[str, list[Future[float]]] = {}

    def submit(self, row: dict[str, Any]) -> None:
        """Start the steps of a program."""
        source = self.folder / "programs" / row["name"]
        if row["kind"] == "verilator":
            source = Path(self._path(row) + "-model")
        flags = ["-fno-ivopts"] if "g++" in Path(self.cxx).name and "clang" not in self.cxx else []
        include = [f"-I{self.folder / 'headers'}"]
        cxx = [self.cxx, *CXX, *flags, *include]
        if row["kind"] == "nvcc":
            commands = [[self.nvcc, *NVCC, *include, str(source / "design.cu"), "-o", self._path(row)]]
        elif row["kind"] == "cxx":
            commands = [[*cxx, str(source / "design.cpp"), "-o", self._path(row), "-pthread"]]
        else:
            commands = list(self._verilator_steps(row, source, cxx))
        self.built[row["name"]] = [self.pool.submit(self._step, command) for command in commands]

    def _verilator_steps(self, row: dict[str, Any], source: Path, cxx: Sequence[str]) -> Iterator[list[str]]:
        """Commands for the objects, the largest first; they are linked at the end."""
        root = self.folder / "verilator"
        with tarfile.open(self.folder / "programs" / row["name"] / "model.tar.gz") as archive:
            archive.extractall(source, filter="data")
        own = [f"-I{source}", f"-I{root}", f"-I{root / 'vltstd'}", "-DVM_TRACE=0", "-DVM_COVERAGE=0"]
        parts = [*source.glob("*.cpp"), root / "verilated.cpp", root / "verilated_threads.cpp"]
        for i, part in enumerate(sorted(parts, key=lambda path: -path.stat().st_size)):
            level = ["-O0"] if part.name.endswith("__Slow.cpp") else []
            yield [
                *cxx,
                *own,
                *level,
                "-DVL_IGNORE_UNKNOWN_ARCH",
                "-c",
                str(part),
                "-o",
                f"{self._path(row)}-{i}.o",
            ]

    def _path(self, row: dict[str, Any]) -> str:
        return str(self.scratch / row["name"])

    def _step(self, command: Sequence[str]) -> float:
        start = time.monotonic()
        left = self.deadline - start
        if left <= 0:
            raise Failure("no time left to build it")
        with tempfile.TemporaryFile() as errors:
            run = subprocess.Popen(command, stdout=errors, stderr=errors, start_new_session=True)
            try:
                run.wait(left)
            except subprocess.TimeoutExpired as error:
                kill(run)
                raise Failure("the build reached its time limit") from error
            if run.returncode != 0:
                raise Failure(f"{Path(command[0]).name} failed: {last_words(errors)}")
        return time.monotonic() - start

    def finish(self, row: dict[str, Any]) -> tuple[Path, float]:
        """The program and the seconds of its steps, added up.

        Raises: Failure: it is not there in time, or does not compile.
        """
        spent = sum(step.result() for step in self.built[row["name"]])
        path = self._path(row)
        if row["kind"] == "verilator" and not Path(path).exists():
            objects = [f"{path}-{i}.o" for i in range(len(self.built[row["name"]]))]
            self.deadline = max(self.deadline, time.monotonic() + 20)
            spent += self._step([self.cxx, *objects, "-o", path, "-pthread", "-latomic"])
        return Path(path), spent


class Process:
    """A simulator, spoken to as `server.h` says."""

    def __init__(self, command: Sequence[str], row: dict[str, Any], limit_s: float) -> None:
        self.row, self.deadline = row, time.monotonic() + limit_s
        theirs_in, self.request = os.pipe()
        self.answer, theirs_out = os.pipe()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [*command, str(theirs_in), str(theirs_out)],
            pass_fds=(theirs_in, theirs_out),
            stdout=self.errors,
            stderr=self.errors,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)

    def receive(self, count: int) -> Words:
        """The next words of the answer. Raises: Failure: the process ended, or its time is over."""
        content = b""
        while len(content) < 8 * count:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.answer], [], [], left)[0]:
                raise Failure("the run reached its time limit")
            part = os.read(self.answer, 8 * count - len(content))
            if not part:
                self.process.wait(5)
                raise Failure(f"the program ended with {self.process.returncode}: {last_words(self.errors)}")
            content += part
        return np.frombuffer(content, np.uint64)

    def reset(self) -> None:
        """Back to cycle 0."""
        os.write(self.request, np.array([RESET], np.uint64).tobytes())

    def run(self, cycles: int) -> tuple[Words, float]:
        """Simulate cycles. Returns: digests of the stimuli, and seconds."""
        head = [RUN, cycles, 0, self.row["seed"], *self.row["pulse"], *self.row["active"]]
        os.write(self.request, np.array(head, np.uint64).tobytes())
        last = self.receive(self.row["stimuli"] + 2)
        return last[:-2], int(last[-2]) / 1e9

    def close(self, wait_s: float = 0.0) -> None:
        """End it."""
        for end in (self.request, self.answer):
            os.close(end)
        try:
            self.process.wait(wait_s + 2)
        except subprocess.TimeoutExpired:
            kill(self.process)


def check(process: Process) -> tuple[bool, str]:
    """Compare digests at the checkpoints. Returns: equal or not, and the cycles between which they differ.

    Raises: Failure: it is not a program of the row.
    """
    row, shape = process.row, process.receive(4)
    if [int(n) for n in shape[:3]] != [len(row["pulse"]), row["outputs"], row["stimuli"]]:
        raise Failure(f"shape of the program: {shape.tolist()}")
    process.reset()
    before = 0
    for cycles, expected in process.row["checks"]:
        digests, _ = process.run(cycles - before)
        if hashlib.sha256(digests.tobytes()).hexdigest()[:16] != expected:
            return False, f"first differs in cycles {before} to {cycles}"
        before = cycles
    return True, ""


def measure(process: Process, least_s: float) -> tuple[int, float, float]:
    """Cycles, their seconds, and what a run costs beside its cycles: copies of the state.

    The better of two runs, without what the shortest run takes.
    """
    process.reset()
    process.run(GRAIN)
    fixed = min(process.run(GRAIN)[1] for _ in range(3))
    cycles, spent = GRAIN, 0.0
    while spent < least_s / 4 and cycles < 1 << 30:
        factor = min(50.0, max(2.0, least_s / 3 / max(spent, 1e-7)))
        cycles = round(cycles * factor / GRAIN) * GRAIN
        spent = process.run(cycles)[1] - fixed
    cycles = max(2 * GRAIN, round(cycles * least_s / spent / GRAIN) * GRAIN)
    spent = min(process.run(cycles)[1] for _ in range(2)) - fixed
    return cycles - GRAIN, spent, fixed


def measured(row: dict[str, Any], builder: Builder, least_s: float) -> dict[str, Any]:
    """A row of the results."""
    names = ("name", "design", "pes", "stimuli", "engine", "variant", "operations")
    result: dict[str, Any] = {name: row[name] for name in names}
    process: Process | None = None
    try:
        path, result["build_s"] = builder.finish(row)
        result["bytes"] = path.stat().st_size
        process = Process([str(path)], row, ROW_LIMIT_S)
        result["equal"], result["error"] = check(process)
        cycles, spent, fixed = measure(process, least_s)
        result |= {"cycles": cycles, "wall_s": spent, "fixed_s": fixed, "cycles_per_s": cycles / spent}
        result["stimulus_cycles_per_s"] = cycles / spent * row["stimuli"]
    except (Failure, OSError) as error:
        result["error"] = str(error)
    finally:
        if process is not None:
            process.close()
    return result


def sanitised(row: dict[str, Any], builder: Builder, tool: str) -> dict[str, Any]:
    """A tiny design below a tool of compute-sanitizer."""
    result: dict[str, Any] = {"name": row["name"], "engine": row["engine"], "variant": f"sanitizer {tool}"}
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    process: Process | None = None
    try:
        path, _ = builder.finish(row)
        process = Process([sanitizer, "--tool", tool, "--error-exitcode", "9", str(path)], row, 60)
        result["equal"], result["error"] = check(process)
        process.close(wait_s=20)
        result["report"], result["returncode"] = last_words(process.errors), process.process.returncode
        process = None
    except (Failure, OSError) as error:
        result["error"] = str(error)
    return result


def machine() -> dict[str, Any]:
    """What the programs run on."""

    def said(*command: str) -> str:
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return run.stdout.strip()

    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    return {
        "name": "machine",
        "gpu": said("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"),
        "nvcc": said("nvcc", "--version")[-90:],
        "clang": said("clang++", "--version")[:80],
        "gcc": said("g++", "--version")[:80],
        "cpu": models[0].partition(": ")[2] if models else platform.machine(),
        "cores": os.cpu_count(),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--seconds", type=float, default=240.0, help="for everything")
    parser.add_argument("--build-seconds", type=float, default=100.0)
    parser.add_argument("--least-seconds", type=float, default=0.6, help="of a timed run")
    parser.add_argument("--only", default="", help="part of the names of programs")
    parser.add_argument("--engines", default="", help="names with commas; all if empty")
    parser.add_argument(
        "--sanitize", action="store_true", help="also run tiny designs below compute-sanitizer"
    )
    options = parser.parse_args()
    start = time.monotonic()
    results = [machine()]

    def keep(row: dict[str, Any]) -> None:
        results.append(row)
        options.results.write_text(json.dumps(results, indent=1))
        speed = f"{row.get('stimulus_cycles_per_s', 0):.4g}"
        text = (row["name"], row.get("variant"), row.get("equal"), speed, row.get("error", "")[-300:])
        print(f"{time.monotonic() - start:6.1f}", *text, flush=True)

    print(json.dumps(results[0]), flush=True)
    plan: list[dict[str, Any]] = json.loads((options.folder / "plan.json").read_text())
    engines = options.engines.split(",") if options.engines else []
    plan = [row for row in plan if options.only in row["name"] and (not engines or row["engine"] in engines)]
    plan = [row for row in plan if options.sanitize or not row["is_tiny"]]
    with tempfile.TemporaryDirectory() as scratch:
        builder = Builder(options.folder, Path(scratch), start + options.build_seconds)
        for row in plan:
            builder.submit(row)
        for steps in builder.built.values():
            for step in steps:
                step.exception()
        print(f"{time.monotonic() - start:6.1f} built", flush=True)
        for row in plan:
            if time.monotonic() - start > options.seconds:
                keep({"name": row["name"], "error": "no time left to run it"})
            elif row["is_tiny"]:
                for tool in ("memcheck", "racecheck"):
                    keep(sanitised(row, builder, tool))
            else:
                keep(measured(row, builder, options.least_seconds))


if __name__ == "__main__":
    main()
