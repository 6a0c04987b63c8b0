"""Runs of a small project that are killed, or whose disk is full, and what they leave.

    python tests/faults/interrupted_runs.py kills:50 full-disk:20 --seed 0 --whole

Two designs of suite stencil, from programs to labels and, with --whole, to a trained predictor. Prints one
JSON object per campaign: interruptions, faults. After every interruption each table is absent or whole, no
process is left, and there is no traceback; after the last one a run to the end gives the tables of a run
that nobody interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OVERRIDES = (
    *("scale=smoke", "programs.suites=[stencil]", "hls.memory_delay=[2]", "hls.pipeline=[false]"),
    *("~network.groups.small-16", "pragmas.kernels=[]"),
    *("labelling.audit_fraction=0.0", "labelling.cross_check_fraction=0.0"),  # Verilator builds for 20 s
    *("models.tenset_mlp.max_epochs=2", "models.tenset_mlp.bootstrap_resamples=10"),
)
STAGES = (("stage", "programs"), ("stage", "designs"), ("stage", "labels"))
WHOLE = (("run", *OVERRIDES),)
ENDING_S = 60.0
"""How long processes may take to end on a busy machine."""
DISK_SIGNS = ("No space left", "must have room")
PREPARED = "prepared"
Commands = Sequence[Sequence[str]]
ROOM_BYTES, ENOUGH_BYTES = 64 << 10, 512 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended: status, negative for a signal; what it said on standard error."""

    status: int
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A run that nobody interrupted: its project, hashes of its tables, seconds of its last command."""

    project: Path
    tables: Mapping[str, str]
    seconds: float


@dataclass(slots=True, kw_only=True)
class Findings:
    """Interruptions so far, and every breach of what must hold after one.

    Attributes: reference: a project whose run nobody interrupted; tables: hashes of its tables.
    """

    reference: Path
    tables: Mapping[str, str]
    interruptions: int = 0
    faults: list[str] = field(default_factory=list[str])

    def look(self, project: Path, moment: str, ended: Ended) -> None:
        """Check what an interrupted command left."""
        self.interruptions += 1
        if "Traceback" in ended.said:
            self.faults.append(f"{moment}: a traceback: {ended.said[-400:]}")
        for table, digest in tables_of(project).items():
            if self.tables.get(table) != digest and not _is_whole(project, self.reference, table):
                self.faults.append(f"{moment}: table {table} is not whole")
        if left := _left(project):
            self.faults.append(f"{moment}: processes left: {left}")

    def compare(self, project: Path, ended: Ended) -> None:
        """Check the tables of a run to the end."""
        if ended.status != 0:
            self.faults.append(f"the last run ended with {ended.status}: {ended.said[-400:]}")
        if tables_of(project) != self.tables:
            self.faults.append("the tables of the last run differ from those of a run without interruptions")


def make_project(folder: Path) -> Path:
    """A project with the parameters of the campaign; what is there is kept."""
    from assets.configuration import compose_configuration, write_parameters

    folder.mkdir(exist_ok=True)
    for name in ("dvc.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, folder / name)
    write_parameters(folder, compose_configuration(OVERRIDES))
    return folder


def start(project: Path, arguments: Sequence[str], errors: Path) -> subprocess.Popen[bytes]:
    """A command on a project, its standard error in a file."""
    variables = {"SIMFOUNDRY_PROJECT": str(project), "PYTHONPATH": str(ROOT)}
    with errors.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "simfoundry.cli", *arguments],
            cwd=project.parent,
            env={**os.environ, **variables},
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )


def finish(project: Path, commands: Commands, errors: Path) -> Ended:
    """All commands to their end, or to the first that fails."""
    ended = Ended(status=0, said="")
    for arguments in commands:
        status = start(project, arguments, errors).wait()
        ended = Ended(status=status, said=errors.read_text(errors="replace"))
        if status != 0:
            break
    return ended


def tables_of(project: Path) -> dict[str, str]:
    """SHA-256 of every table file."""
    tables = project / "data" / "tables"
    paths = [p for p in sorted(tables.rglob("*.parquet")) if not p.name.startswith(".")]
    return {str(p.relative_to(tables)): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def _is_whole(project: Path, reference: Path, table: str) -> bool:
    """Whether rows are failed attempts, which are tried again, or say nothing that the reference does not."""
    from pipelines.schemas import SchemaError, read_arrow

    try:
        rows = read_arrow(project / "data" / "tables" / table).to_pylist()
    except SchemaError:
        return False
    expected = read_arrow(reference / "data" / "tables" / table).to_pylist()
    return all(
        "tool_error" in (row.get("status"), row.get("power_status"))
        or any(_says_no_more(row, other) for other in expected)
        for row in rows
    )


def _says_no_more(row: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether every value is the expected one, or null: what follows a failed step was not attempted."""
    return all(value is None or value == expected[name] for name, value in row.items())


def _left(project: Path) -> list[str]:
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
        if own and command:
            yield command[:120]


def kills(
    scratch: Path, commands: Commands, count: int, draw: random.Random, reference: Reference
) -> dict[str, Any]:
    """SIGKILL and SIGTERM in turns, at moments drawn evenly over the last command."""
    findings, seconds = Findings(reference=reference.project, tables=reference.tables), reference.seconds
    project, errors = shutil.copytree(scratch / PREPARED, scratch / "killed"), scratch / "errors"
    for number in range(count):
        sent = (signal.SIGKILL, signal.SIGTERM)[number % 2]
        after_s = draw.uniform(0.0, seconds)
        ended = _interrupted(project, commands[-1], errors, sent, after_s)
        findings.look(project, f"{sent.name} after {after_s:.1f} s", ended)
        if sent == signal.SIGTERM and ended.status not in (0, 143, -signal.SIGTERM):  # Python starts or ends
            findings.faults.append(
                f"SIGTERM after {after_s:.1f} s: status {ended.status}: {ended.said[-200:]}"
            )
        if number % 10 == 9:  # what is done is cached, so that later moments would find nothing to interrupt
            shutil.rmtree(project)
            shutil.copytree(scratch / PREPARED, project)
    findings.compare(project, finish(project, commands[-1:], errors))
    return {"interruptions": findings.interruptions, "faults": findings.faults}


def run_reference(scratch: Path, commands: Commands) -> Reference:
    """Run the commands to their end; the project as it is before the last one is kept too."""
    project, errors = make_project(scratch / "whole"), scratch / "errors"
    prepared = finish(project, commands[:-1], errors)
    shutil.copytree(project, scratch / PREPARED)
    begun = time.monotonic()
    ended = finish(project, commands[-1:], errors)
    if prepared.status != 0 or ended.status != 0:
        raise RuntimeError(f"the reference failed: {prepared.said[-1000:]} {ended.said[-1000:]}")
    return Reference(project=project, tables=tables_of(project), seconds=time.monotonic() - begun)


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
    scratch: Path, commands: Commands, count: int, draw: random.Random, reference: Reference
) -> dict[str, Any]:
    """Runs on file systems between almost nothing and what a run needs, finished after they have grown.

    Raises: PermissionError: this user may not mount one.
    """
    findings = Findings(reference=reference.project, tables=reference.tables)
    least, needed = _size(scratch / PREPARED) + ROOM_BYTES, _size(scratch / "whole")
    project, errors = scratch / "small", scratch / "errors"
    statuses: list[int] = []
    for _ in range(count):
        size = draw.randrange(least, max(least + ROOM_BYTES, needed))
        with mounted(project, size):
            shutil.copytree(scratch / PREPARED, project, dirs_exist_ok=True)
            ended = finish(project, commands[-1:], errors)
            statuses.append(ended.status)
            moment = f"{size >> 10} KiB"
            findings.look(project, moment, ended)
            if ended.status != 0 and not any(sign in ended.said for sign in DISK_SIGNS):
                findings.faults.append(f"{moment}: the message does not name the disk: {ended.said[-300:]}")
            resize(project, ENOUGH_BYTES)
            findings.compare(project, finish(project, commands[-1:], errors))
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
    arguments.add_argument(
        "--whole", action="store_true", help="`simfoundry run`, not its first stages alone"
    )
    chosen = arguments.parse_args()
    commands = WHOLE if chosen.whole else STAGES
    with tempfile.TemporaryDirectory(prefix="simfoundry-faults-") as scratch:
        reference = run_reference(Path(scratch), commands)
        for asked in chosen.campaigns:
            name, _, count = asked.partition(":")
            draw = random.Random(f"{name} {chosen.seed}")
            try:
                answer = CAMPAIGNS[name](Path(scratch), commands, int(count), draw, reference)
            except PermissionError as error:  # this user may not mount a file system
                answer = {"interruptions": 0, "faults": [], "skipped": str(error)}
            sys.stdout.write(json.dumps({"campaign": name, **answer}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
