"""The inbox: C files dropped into `data/inbox` become the suite `inbox`, with tables of its own.

Files that are no program, or of which no design is ok, are moved to `data/inbox/refused` with the reason
beside them. The tables are in `data/suites/inbox`, apart from the tables of runs, whose splits would change.
"""

import hashlib
import itertools
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import dagster as dg

from assets.checks import open_file
from assets.dagster_assets import (
    OWNER,
    TOOL_RETRY,
    Results,
    check_results,
    check_specs,
    explained_failures,
)
from assets.database import write_database
from assets.deployments import INBOX, Deployment, find_deployment, replacing_suite, writing_to
from assets.histograms import histograms
from assets.own_suites import NAME_BYTES, STEPS_OF_SUITES, label_suite, name_problem, require_suite_tools
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Listener, Settings, ignore_progress
from assets.step import read_rows
from assets.user_programs import read_user_program
from pipelines.c import HlsError
from pipelines.programs import ProgramError
from pipelines.schemas import OK, ProgramRow, write_bytes_atomically

REFUSED_FOLDER = "refused"
SOURCES_FOLDER = "sources"
REASON_SUFFIX = ".reason.txt"
SETTLED_S = 2.0
"""A file that changed within this time may still be written to."""
POLL_S = 30
LONGEST_WAIT_S = 3600
"""Between two launches of the same files; the wait doubles from one to the next."""
RUN_KEY_TAG = "dagster/run_key"
"""Dagster's tag with the key that a sensor gave to a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What became of the files of the inbox.

    Attributes:
        accepted: names of files with an ok design.
        refused: reason by name of a file that was moved aside.
        rows: of the suite, by table, all its programs included.
    """

    accepted: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: Mapping[str, int] = field(default_factory=dict[str, int])


def inbox_folder(deployment: Deployment) -> Path:
    """Return the folder into which users drop files."""
    return deployment.data_dir / INBOX


def waiting_files(deployment: Deployment) -> list[Path]:
    """Return C files in the inbox that nobody writes to any more, by name."""
    now = time.time()
    waiting: list[Path] = []
    for path in sorted(inbox_folder(deployment).glob("*.c")):
        with suppress(OSError):  # removed meanwhile
            age_s = now - path.lstat().st_mtime
            if age_s >= SETTLED_S or age_s < -SETTLED_S:  # a time in the future says nothing
                waiting.append(path)
    return waiting


def take_files(settings: Settings, files: Sequence[Path], listen: Listener = ignore_progress) -> Intake:
    """Label the programs of files under the configuration, and empty the inbox of them.

    A file of the name of an earlier one replaces its program. Earlier designs come from the cache.

    Raises: FoundryError: another process writes to the suite. ToolMissing: an engine is not installed.
    """
    suite = replace(settings, deployment=settings.deployment.of_suite(INBOX))
    require_suite_tools(suite)
    with writing_to(suite.deployment.data_dir):
        with replacing_suite(suite.deployment) as deployment:
            new = replace(suite, deployment=deployment)
            refused = _keep_sources(new, files)
            programs = _programs(deployment.data_dir / SOURCES_FOLDER)
            rows = label_suite(new, INBOX, programs, lambda _: listen)
            refused |= _without_design(new, [path for path in files if path.name not in refused])
        write_database(suite.deployment.data_dir)
        for path in files:
            _put_away(path, refused.get(path.name))
    accepted = tuple(path.name for path in files if path.name not in refused)
    return Intake(accepted=accepted, refused=refused, rows=rows)


def _keep_sources(suite: Settings, files: Sequence[Path]) -> dict[str, str]:
    """Copy the programs, headers included, into the suite.

    Returns: reason by name of files that are no program, or the program of another name.
    """
    folder = suite.deployment.data_dir / SOURCES_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    known = {program.program_id: program.name for program in _programs(folder)}
    refused: dict[str, str] = {}
    for path in files:
        try:
            if (problem := name_problem(path)) is not None:
                raise ProgramError(problem)
            program = read_user_program(path, None)
        except (ProgramError, HlsError) as error:
            refused[path.name] = str(error)
            continue
        twin = known.setdefault(program.program_id, program.name)
        if twin == program.name:
            write_bytes_atomically(folder / path.name, program.source.encode())
        else:
            refused[path.name] = f"the same program as {twin}.c of suite {INBOX}"
    return refused


def _programs(folder: Path) -> list[ProgramRow]:
    return [replace(read_user_program(path, None), suite=INBOX) for path in sorted(folder.glob("*.c"))]


def _without_design(suite: Settings, files: Sequence[Path]) -> dict[str, str]:
    """Return the reason by name of files of which no design is ok; their rows stay in the tables."""
    programs = {row.program_id: f"{row.name}.c" for row in read_rows(suite, "programs", INBOX)}
    designs = {row.design_id: row for row in read_rows(suite, "designs", INBOX)}
    reasons: dict[str, str] = {}
    labelled: set[str] = set()
    for label in read_rows(suite, "labels", INBOX):
        name = programs[designs[label.design_id].program_id]
        if label.status == OK:
            labelled.add(name)
        reasons.setdefault(name, f"{label.status}: {label.reason}")
    return {path.name: reasons.get(path.name, "no design") for path in files if path.name not in labelled}


def _put_away(path: Path, reason: str | None) -> None:
    """Remove a file from the inbox, or move it aside with its reason."""
    if reason is None:
        path.unlink()
        return
    folder = path.parent / REFUSED_FOLDER
    folder.mkdir(exist_ok=True)
    shown = os.fsencode(path.name)[:NAME_BYTES].decode("utf-8", "replace").removesuffix(".c")
    numbers = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    names = (f"{shown}{number}.c" for number in numbers)
    name = next(name for name in names if not (folder / name).is_dir())
    write_bytes_atomically(folder / f"{name}{REASON_SUFFIX}", f"{reason}\n".encode())
    path.rename(folder / name)  # last: a file that waits is looked at again after a kill


# ---- Dagster ---------------------------------------------------------------------------------------


CHECKED_STEPS = tuple(replace(step, asset=INBOX) for step in STEPS_OF_SUITES)


@dg.asset(
    key=INBOX,
    group_name=INBOX,
    description="The suite of C files dropped into data/inbox: programs, designs, labels and features.",
    kinds={"parquet"},
    owners=[OWNER],
    retry_policy=TOOL_RETRY,
    pool="synthesis",
    check_specs=[
        spec for step in CHECKED_STEPS for table in step.tables for spec in check_specs(step, table)
    ],
)
def inbox(
    context: dg.AssetExecutionContext,
    foundry: FoundryResource,
    progress: dg.ResourceParam[ProgressResource],
) -> Results:
    """Label what waits in the inbox."""
    with explained_failures():
        settings = foundry.settings()
        files = waiting_files(settings.deployment)
        intake = take_files(settings, files, progress.listener(INBOX, context.log.info))
        suite = replace(settings, deployment=settings.deployment.of_suite(INBOX))
        labels = open_file(suite, "labels", INBOX)
        plots = next(step.plots["labels"] for step in STEPS_OF_SUITES if "labels" in step.plots)
        yield dg.MaterializeResult(
            metadata={
                "dagster/row_count": intake.rows["labels"],
                "accepted": list(intake.accepted),
                "refused": dg.MetadataValue.md(
                    "\n".join(f"* {name}: {reason}" for name, reason in intake.refused.items()) or "none"
                ),
                "path": dg.MetadataValue.path(str(suite.deployment.data_dir)),
                **{
                    label: dg.MetadataValue.md(plot)
                    for label, plot in histograms(labels.content, plots).items()
                },
            },
            check_results=[
                result
                for step in CHECKED_STEPS
                for table in step.tables
                for result in check_results(open_file(suite, table, INBOX), INBOX)
            ],
        )


inbox_job = dg.define_asset_job("label_inbox", selection=dg.AssetSelection.assets(INBOX))


@dg.sensor(
    name="inbox_files",
    job=inbox_job,
    minimum_interval_seconds=POLL_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Labels C files that were dropped into data/inbox. Runs while the Dagster daemon does.",
)
def inbox_files(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Return a run for the waiting files; the same files are requested again only after a failed run."""
    files = waiting_files(find_deployment())
    if not files:
        return dg.SkipReason(f"no C file in {inbox_folder(find_deployment())}")
    seen = "\n".join(repr((path.name, path.lstat().st_mtime_ns, path.lstat().st_size)) for path in files)
    key = hashlib.sha256(seen.encode()).hexdigest()[:32]
    failures = list(_failures(context.instance, key))
    if failures:
        wait_s = min(POLL_S * 2 ** len(failures), LONGEST_WAIT_S)
        if time.time() < failures[-1] + wait_s:
            return dg.SkipReason(f"run {len(failures)} failed; the next one is {wait_s} s after it")
        key = _retry_key(key, len(failures))
    return dg.RunRequest(run_key=key)


def _failures(instance: dg.DagsterInstance, key: str) -> Iterator[float]:
    """Yield the times at which runs for the same files, or their launches, failed, in order."""
    for attempt in itertools.count():
        asked = dg.RunsFilter(tags={RUN_KEY_TAG: _retry_key(key, attempt)})
        [record] = instance.get_run_records(asked, limit=1) or [None]
        if record is None or record.dagster_run.status is not dg.DagsterRunStatus.FAILURE:
            return
        yield record.update_timestamp.timestamp()


def _retry_key(key: str, attempt: int) -> str:
    """Return the run key of an attempt: Dagster asks once per key, also when the launch fails."""
    return f"{key}-{attempt}" if attempt else key
