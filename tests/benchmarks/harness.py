"""What benchmarks share: options, times, tables, rows that are kept between runs, commands in a project."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, Any]
_T = TypeVar("_T")


def options_parser(doc: str | None) -> ArgumentParser:
    """Return a parser whose help text is the docstring of a benchmark."""
    return ArgumentParser(description=doc, formatter_class=RawDescriptionHelpFormatter)


def split_names(text: str) -> list[str]:
    """Return the names of an option that takes them with commas between."""
    return [name for name in text.split(",") if name]


# ---- times and machine ---------------------------------------------------------------------------------


def processor_s() -> float:
    """Return the processor time of this process and of the children that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(own.ru_utime + own.ru_stime for own in used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Elapsed and processor time of a piece of work, children included."""

    wall_s: float
    processor_s: float


def timed(work: Callable[[], _T]) -> tuple[_T, Spent]:
    """Do a piece of work. Returns: its result and what it took."""
    wall, processor = time.perf_counter(), processor_s()
    result = work()
    return result, Spent(wall_s=time.perf_counter() - wall, processor_s=processor_s() - processor)


def repeated(work: Callable[[], _T], runs: int) -> tuple[_T, Spent]:
    """Do a piece of work several times. Returns: the last result, the least elapsed and processor time."""
    results = [timed(work) for _ in range(runs)]
    spent = [own for _, own in results]
    least = Spent(wall_s=min(s.wall_s for s in spent), processor_s=min(s.processor_s for s in spent))
    return results[-1][0], least


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What work in a process of its own gave and took, without the start of the process.

    Attributes:
        peak_mib: of the resident memory, libraries included.
    """

    result: Any
    wall_s: float
    processor_s: float
    peak_mib: float

    @property
    def values(self) -> Mapping[str, float]:
        """Return seconds and memory by name, for a row of figures."""
        return {
            "s": round(self.wall_s, 2),
            "processor s": round(self.processor_s, 2),
            "peak MiB": round(self.peak_mib),
        }


def run_apart(work: Callable[[], object], *, timeout_s: float) -> Apart:
    """Do a piece of work in a new process, which has this one's variables.

    Args:   work: a function of a module, or a partial of one.
    Raises: TimeoutError: it took longer. EOFError: it failed; its error is on standard error.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_spent, args=(sender, work))
    process.start()
    sender.close()
    try:
        if not receiver.poll(timeout_s):
            raise TimeoutError(f"more than {timeout_s:g} s: {work}")
        result, spent, peak_mib = receiver.recv()
    finally:
        process.kill()
        process.join()
    return Apart(result=result, wall_s=spent.wall_s, processor_s=spent.processor_s, peak_mib=peak_mib)


def _send_spent(sender: Connection, work: Callable[[], object]) -> None:
    result, spent = timed(work)
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    [peak] = [line.split()[1] for line in lines if line.startswith("VmHWM")]  # of this program alone
    sender.send((result, spent, int(peak) / 1024))


def present_machine() -> str:
    """Return cores, memory, system, Python and load of this machine."""
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return (
        f"{os.cpu_count()} cores, {gibibytes:.0f} GiB, {system}, Python {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.0f}"
    )


def print_machine() -> None:
    """Print a line on this machine and an empty one."""
    print(f"Machine: {present_machine()}.\n")


# ---- tables and rows -----------------------------------------------------------------------------------


def table_row(*cells: object) -> str:
    """Return a row of a Markdown table; a text may hold several cells with ` | ` between."""
    return f"| {' | '.join(map(str, cells))} |"


def print_row(*cells: object) -> None:
    """Print a row of a Markdown table at once."""
    print(table_row(*cells), flush=True)


def table_head(*names: str) -> str:
    """Return the head of a Markdown table: names of columns, and the line below them."""
    row = table_row(*names)
    return f"{row}\n{table_row(*['---'] * (row.count(' | ') + 1))}"


def print_header(*names: str) -> None:
    """Print the head of a Markdown table at once."""
    print(table_head(*names), flush=True)


def table_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table, a line break at its end."""
    return "\n".join([table_head(*names), *(table_row(*row) for row in rows)]) + "\n"


def write_json(path: Path | None, content: object) -> None:
    """Write JSON to the file of an option `--json`, when there is one."""
    if path is not None:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


class KeptRows:
    """Rows of a JSON-lines file by key: what an interrupted run has measured stays.

    Args: path: None keeps nothing on disk. key: of a row.
    """

    def __init__(self, path: Path | None, key: Callable[[Row], Hashable]) -> None:
        self._path, self._key = path, key
        lines = path.read_text("utf-8").splitlines() if path is not None and path.is_file() else []
        self.rows: dict[Any, Row] = {key(row): row for row in map(json.loads, lines)}

    def add(self, row: Row) -> Row:
        """Keep a row, which replaces one of the same key. Returns: the row."""
        self.rows[self._key(row)] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
        return row

    def measured(self, key: Hashable, measure: Callable[[], Row]) -> Row:
        """Return the row of a key, measured and kept unless it is there."""
        return self.rows[key] if key in self.rows else self.add(measure())


# ---- commands in a project -----------------------------------------------------------------------------


def clone_project(folder: Path) -> Path:
    """Clone the committed files of this checkout into a folder."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


def simfoundry_environment(project: Path, code: Path) -> Mapping[str, str]:
    """Return the environment of a command in a project, with the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(code), "SIMFOUNDRY_PROJECT": str(project)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def run_simfoundry(arguments: Sequence[str], project: Path, code: Path = ROOT) -> Spent:
    """Run `simfoundry` in a project. Returns: what it took.

    Raises: SystemExit: it failed.
    """
    command = [sys.executable, "-m", "simfoundry.cli", *arguments]
    environment = simfoundry_environment(project, code)
    done, spent = timed(
        lambda: subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
    )
    if done.returncode:
        said = f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        raise SystemExit(f"simfoundry {' '.join(arguments)} failed:\n{said}")
    return spent
