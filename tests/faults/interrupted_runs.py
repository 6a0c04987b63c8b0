"""Commands of a small project that are killed, or whose disk is full, and what they leave.

    python tests/faults/interrupted_runs.py kills:50 full-disk:20 --seed 0 --results FILE

Interrupts every command that writes (`COMMANDS`), all together as often as asked. Prints one JSON object per
campaign and command: interruptions, faults. With --results, what the file has is not run again.

After every interruption no process is left and there is no traceback. Of `run`, `stage` and `release make`
each table is absent or whole; the tables of every other command are all those before it or all those after
it. A run to the end then gives the tables of a run that nobody interrupted.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OVERRIDES = (
    *("scale=smoke", "programs.suites=[stencil]", "hls.memory_delay=[2]", "hls.pipeline=[false]"),
    *("~network.groups.small-16", "pragmas.kernels=[]"),
    *("labelling.audit_fraction=0.0", "labelling.cross_check_fraction=0.0"),  # Verilator builds for 20 s
    *("models.tenset_mlp.max_epochs=2", "models.tenset_mlp.bootstrap_resamples=10"),
)
SCALE = "void scale(int a[8]) {\n  for (int i = 0; i < 8; i++) a[i] = 3 * a[i];\n}\n"
ADD = "void add(int a[8], int b[8]) {\n  for (int i = 0; i < 8; i++) a[i] = a[i] + b[i];\n}\n"
DOT = "int dot(int a[8], int b[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i] * b[i]; return s; }\n"
INBOX = """
import sys
import dagster as dg
from assets.definitions import build_definitions
try:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_definitions().resolve_job_def("label_inbox")
        sys.exit(not job.execute_in_process(instance=instance, raise_on_error=False).success)
except dg.DagsterExecutionInterruptedError:
    sys.exit(143)
"""
"""The job that the sensor of the inbox launches."""
ENDING_S = 60.0
"""How long processes may take to end on a busy machine."""
DISK_SIGNS = ("No space left", "must have room")
PREPARED = "prepared"
RESET = 4
"""Interruptions of one copy of a project: what is done is cached, so that later ones would find nothing."""
ROOM_BYTES, ENOUGH_BYTES = 64 << 10, 512 << 20
_REGISTRY = (
    "SELECT name, version FROM model_versions",
    "SELECT name, alias, version FROM registered_model_aliases",
    "SELECT name, version, value FROM model_version_tags WHERE key = 'decision'",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that is interrupted.

    Attributes:
        arguments: of `simfoundry`; {project} is the project's folder.
        before: commands that are not interrupted.
        share: of 50 interruptions.
        files: makes what the commands read.
        is_replacing: whether its tables change all at once.
    """

    arguments: Sequence[str]
    share: int
    before: Sequence[Sequence[str]] = ()
    files: Callable[[Path], None] = lambda project: None
    is_replacing: bool = True


def _write_labels(project: Path) -> None:
    """Two tables of labels for a suite: of two programs, and of three with other figures."""
    for name, factor, sources in (("first", 1, (SCALE, ADD)), ("second", 2, (SCALE, ADD, DOT))):
        with (project / f"{name}.csv").open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("source", "tool", "library", "area_um2", "flip_flop_count", "latency_cycles"))
            for number, source in enumerate(sources, 1):
                writer.writerow(
                    (source, "genus", "sky130", 1000.5 * number * factor, 40 * number, 30 * number)
                )


def _fill_inbox(project: Path) -> None:
    """A program, and a file that is none."""
    inbox = project / "data" / "inbox"
    inbox.mkdir(parents=True)
    for name, text in (("add.c", ADD), ("text.c", "no program\n")):
        (inbox / name).write_text(text)
        os.utime(inbox / name, (1e9, 1e9))


_SUITE = ("--suite", "mine")
_QUICK = ("-o", "rounds=2", "-o", "bootstrap_resamples=10")
COMMANDS: Mapping[str, Command] = {
    "stage": Command(
        arguments=("stage", "labels"),
        before=(("stage", "programs"), ("stage", "designs")),
        share=8,
        is_replacing=False,
    ),
    "import-labels": Command(
        arguments=("import", "{project}/second.csv", *_SUITE),
        before=(("import", "{project}/first.csv", *_SUITE),),
        files=_write_labels,
        share=10,
    ),
    "import-release": Command(
        arguments=("import", str(ROOT / "releases" / "accelerators-v2")),
        before=(("import", str(ROOT / "releases" / "fixed-v2")),),
        share=8,
    ),
    "train": Command(
        arguments=("train", "loop-rules", *_SUITE, *_QUICK),
        before=(("import", "{project}/second.csv", *_SUITE),),
        files=_write_labels,
        share=8,
    ),
    "inbox": Command(arguments=("inbox",), files=_fill_inbox, share=6),
    "release-make": Command(arguments=("release", "make", "small", *OVERRIDES), share=6, is_replacing=False),
    "run": Command(arguments=("run", *OVERRIDES), share=4, is_replacing=False),
}
"""Every command that writes tables or models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended: status, negative for a signal; what it said on standard error."""

    status: int
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A run that nobody interrupted: its project, hashes of its tables, seconds of its last command.

    Attributes: before: hashes of the tables before the last command, where it replaces all at once.
    """

    project: Path
    tables: Mapping[str, str]
    seconds: float
    before: Mapping[str, str] | None


@dataclass(slots=True, kw_only=True)
class Findings:
    """Interruptions so far, and every breach of what must hold after one.

    Attributes: reference: a run that nobody interrupted.
    """

    reference: Reference
    interruptions: int = 0
    faults: list[str] = field(default_factory=list[str])

    def look(self, project: Path, moment: str, ended: Ended) -> None:
        """Check what an interrupted command left."""
        self.interruptions += 1
        if "Traceback" in ended.said:
            self.faults.append(f"{moment}: a traceback: {ended.said[-400:]}")
        tables, after = tables_of(project), self.reference.tables
        if self.reference.before is None:
            for table, digest in tables.items():
                if after.get(table) != digest and not _is_whole(project, self.reference.project, table):
                    self.faults.append(f"{moment}: table {table} is not whole")
        elif tables not in (self.reference.before, after):
            changed = sorted(t for t in {*tables, *after} if tables.get(t) != after.get(t))
            self.faults.append(f"{moment}: tables neither of before nor of after: {', '.join(changed)}")
        if left := processes_left(project):
            self.faults.append(f"{moment}: processes left: {left}")

    def compare(self, project: Path, ended: Ended) -> None:
        """Check the tables of a run to the end."""
        if ended.status != 0:
            self.faults.append(f"the last run ended with {ended.status}: {ended.said[-400:]}")
        if tables_of(project) != self.reference.tables:
            self.faults.append("the tables of the last run differ from those of a run without interruptions")
        if registry_of(project) != registry_of(self.reference.project):
            self.faults.append(f"the registry of the last run differs: {registry_of(project)}")


def make_project(folder: Path) -> Path:
    """A project with the parameters of the campaign."""
    from assets.configuration import compose_configuration, write_parameters

    folder.mkdir(parents=True)
    for name in ("dvc.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, folder / name)
    write_parameters(folder, compose_configuration(OVERRIDES))
    return folder


def start(project: Path, arguments: Sequence[str], errors: Path) -> subprocess.Popen[bytes]:
    """A command on a project, its standard error in a file."""
    variables = {"SIMFOUNDRY_PROJECT": str(project), "PYTHONPATH": str(ROOT)}
    argv = ["-m", "simfoundry.cli", *(part.replace("{project}", str(project)) for part in arguments)]
    with errors.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, *(["-c", INBOX] if arguments == ("inbox",) else argv)],
            cwd=project.parent,
            env={**os.environ, **variables},
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )


def finish(project: Path, commands: Sequence[Sequence[str]], errors: Path) -> Ended:
    """All commands to their end, or to the first that fails."""
    ended = Ended(status=0, said="")
    for arguments in commands:
        status = start(project, arguments, errors).wait()
        ended = Ended(status=status, said=errors.read_text(errors="replace"))
        if status != 0:
            break
    return ended


def tables_of(project: Path) -> dict[str, str]:
    """SHA-256 of every file of tables and models, by path in the project."""
    patterns = ("data/**/tables/*/*.parquet", "data/models/**/*.safetensors", "data/models/**/outcome.json")
    files = [path.relative_to(project) for pattern in patterns for path in sorted(project.glob(pattern))]
    files += [path.relative_to(project) for path in sorted(project.glob("releases/*/tables/*/*.parquet"))]
    shown = [path for path in files if not any(part.startswith(".") for part in path.parts)]
    return {str(path): hashlib.sha256((project / path).read_bytes()).hexdigest() for path in shown}


def registry_of(project: Path) -> list[list[Any]]:
    """Versions of models, their aliases and decisions."""
    if not (project / "mlflow.db").is_file():
        return []
    with closing(sqlite3.connect(project / "mlflow.db")) as connection:
        return [sorted(connection.execute(query).fetchall()) for query in _REGISTRY]


def _is_whole(project: Path, reference: Path, table: str) -> bool:
    """Whether rows are failed attempts, which are tried again, or say nothing that the reference does not."""
    from pipelines.dataset.releases import ReleaseError, open_release
    from pipelines.schemas import SchemaError, read_arrow

    try:
        if table.startswith("releases/"):  # of fewer batches; every file is compared with its hash
            open_release(project / Path(table).parents[2])
            return True
        rows = read_arrow(project / table).to_pylist()
    except (SchemaError, ReleaseError):
        return False
    expected = read_arrow(reference / table).to_pylist()
    return all(
        "tool_error" in (row.get("status"), row.get("power_status"))
        or any(_says_no_more(row, other) for other in expected)
        for row in rows
    )


def _says_no_more(row: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether every value is the expected one, or null: what follows a failed step was not attempted."""
    return all(value is None or value == expected[name] for name, value in row.items())


def processes_left(project: Path) -> list[str]:
    """Command lines of processes that still work in a project, once they had time to end."""
    deadline = time.monotonic() + ENDING_S
    while (left := list(_working_in(project))) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def _working_in(project: Path) -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            place = str((folder / "cwd").readlink())
            variables = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it ended, or is another user's
        own = f"SIMFOUNDRY_PROJECT={project}".encode() in variables or place.startswith(f"{project}/")
        if (own or f"{project}/" in command) and command:  # confined ones have neither
            yield command[:120]


def kills(
    scratch: Path, command: Command, count: int, draw: random.Random, reference: Reference
) -> dict[str, Any]:
    """SIGKILL, and SIGTERM every fourth time, at moments drawn evenly over the command."""
    findings, project, errors = Findings(reference=reference), scratch / "killed", scratch / "errors"
    for number in range(count):
        if number % RESET == 0:
            shutil.rmtree(project, ignore_errors=True)
            shutil.copytree(scratch / PREPARED, project)
        sent = signal.SIGTERM if number % 4 == 3 else signal.SIGKILL
        after_s = draw.uniform(0.0, reference.seconds)
        ended = _interrupted(project, command.arguments, errors, sent, after_s)
        findings.look(project, f"{sent.name} after {after_s:.1f} s", ended)
        if sent == signal.SIGTERM and ended.status not in (0, 143, -signal.SIGTERM):  # Python starts or ends
            findings.faults.append(
                f"SIGTERM after {after_s:.1f} s: status {ended.status}: {ended.said[-200:]}"
            )
        if number % RESET == RESET - 1 or number == count - 1:
            findings.compare(project, finish(project, [command.arguments], errors))
    return {"interruptions": findings.interruptions, "faults": findings.faults}


def run_reference(scratch: Path, command: Command) -> Reference:
    """Run a command to its end; the project as it is before it is kept too."""
    project, errors = make_project(scratch / "whole"), scratch / "errors"
    command.files(project)
    prepared = finish(project, command.before, errors)
    shutil.copytree(project, scratch / PREPARED)
    before, begun = tables_of(project), time.monotonic()
    ended = finish(project, [command.arguments], errors)
    seconds = time.monotonic() - begun
    if prepared.status != 0 or ended.status != 0:
        raise RuntimeError(f"the reference failed: {prepared.said[-1000:]} {ended.said[-1000:]}")
    return Reference(
        project=project,
        tables=tables_of(project),
        seconds=seconds,
        before=before if command.is_replacing else None,
    )


def _interrupted(
    project: Path, arguments: Sequence[str], errors: Path, sent: signal.Signals, after_s: float
) -> Ended:
    """A command that gets a signal after so many seconds."""
    process = start(project, arguments, errors)
    try:
        status = process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(sent)
        status = process.wait()
    return Ended(status=status, said=errors.read_text(errors="replace"))


def full_disks(
    scratch: Path, command: Command, count: int, draw: random.Random, reference: Reference
) -> dict[str, Any]:
    """Runs on file systems between almost nothing and what a run needs, finished after they have grown.

    Raises: PermissionError: this user may not mount one.
    """
    findings = Findings(reference=reference)
    least, needed = _size(scratch / PREPARED) + ROOM_BYTES, _size(scratch / "whole")
    project, errors = scratch / "small", scratch / "errors"
    statuses: list[int] = []
    for _ in range(count):
        size = draw.randrange(least, max(least + ROOM_BYTES, needed))
        with mounted(project, size):
            shutil.copytree(scratch / PREPARED, project, dirs_exist_ok=True)
            ended = finish(project, [command.arguments], errors)
            statuses.append(ended.status)
            moment = f"{size >> 10} KiB"
            findings.look(project, moment, ended)
            if ended.status != 0 and not any(sign in ended.said for sign in DISK_SIGNS):
                findings.faults.append(f"{moment}: the message does not name the disk: {ended.said[-300:]}")
            resize(project, ENOUGH_BYTES)
            findings.compare(project, finish(project, [command.arguments], errors))
    return {
        "interruptions": findings.interruptions,
        "failed": sum(status != 0 for status in statuses),
        "faults": findings.faults,
    }


def _size(folder: Path) -> int:
    """What a folder takes on a file system with pages of 4 KiB, in bytes."""
    return sum(4096 + (p.stat().st_size if p.is_file() else 0) for p in folder.rglob("*"))


@contextmanager
def mounted(folder: Path, size: int) -> Iterator[None]:
    """A file system of a size in memory.

    Raises: PermissionError: this user may not mount one.
    """
    folder.mkdir(exist_ok=True)
    argv = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PermissionError(done.stderr.strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def resize(folder: Path, size: int) -> None:
    """Give a mounted file system another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


CAMPAIGNS = {"kills": kills, "full-disk": full_disks}


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("campaigns", nargs="+", metavar="CAMPAIGN:COUNT", help=", ".join(CAMPAIGNS))
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--commands", default=",".join(COMMANDS), help="default: %(default)s")
    arguments.add_argument("--results", type=Path, help="file of JSON lines; what it has is not run again")
    chosen = arguments.parse_args()
    names = chosen.commands.split(",")
    asked = {name: int(count) for name, _, count in (part.partition(":") for part in chosen.campaigns)}
    results: Path | None = chosen.results
    lines = results.read_text().splitlines() if results is not None and results.is_file() else []
    known = {(done["campaign"], done["command"]): line for line in lines if (done := json.loads(line))}
    for name, share in zip(names, shares([COMMANDS[name].share for name in names]), strict=True):
        missing = [campaign for campaign in asked if (campaign, name) not in known]
        with tempfile.TemporaryDirectory(prefix="simfoundry-faults-") as scratch:
            reference = run_reference(Path(scratch), COMMANDS[name]) if missing else None
            for campaign in asked:
                line = known.get((campaign, name))
                if reference is not None and line is None:
                    draw = random.Random(f"{campaign} {name} {chosen.seed}")
                    count = share(asked[campaign])
                    line = json.dumps(_answer(campaign, name, Path(scratch), count, draw, reference))
                    if results is not None:
                        with results.open("a") as stream:
                            stream.write(f"{line}\n")
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()


def shares(weights: Sequence[int]) -> list[Callable[[int], int]]:
    """Parts of a number in proportion to weights, whose sum is the number."""
    ends = [sum(weights[:place]) for place in range(len(weights) + 1)]
    return [
        lambda whole, low=low, high=high: whole * high // ends[-1] - whole * low // ends[-1]
        for low, high in pairwise(ends)
    ]


def _answer(
    campaign: str, name: str, scratch: Path, count: int, draw: random.Random, reference: Reference
) -> dict[str, Any]:
    begin = {"campaign": campaign, "command": name}
    try:
        return begin | CAMPAIGNS[campaign](scratch, COMMANDS[name], count, draw, reference)
    except PermissionError as error:  # this user may not mount a file system
        return begin | {"interruptions": 0, "faults": [], "skipped": str(error)}


if __name__ == "__main__":
    main()
