"""The whole main job: a Dagster run per shard and per group, one for all other steps, then DVC."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property
from math import ceil
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import click
import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from assets.cluster import fanout_of
from assets.configuration import write_parameters
from assets.dagster_assets import INTERRUPTED, build_assets
from assets.database import write_database
from assets.deployments import Deployment, sweep_leftovers, writing_to
from assets.dvc_figures import write_figures
from assets.dvc_stages import dvc_stages
from assets.errors import FoundryError, unexpected
from assets.instance import PROCESS_TAG, prepare_pools, process_tag, release_dead_runs
from assets.label_settings import label_options
from assets.problems import is_debugging
from assets.refresh import record_refresh, state_hash, tables_before
from assets.resources import FoundryResource, ProgressResource, resources
from assets.settings import LOCAL, Cluster, Configuration, Settings
from assets.shared_tables import publish_shards, pull_tables, remove_shards, write_version
from assets.step import SKIPPED, Partitioning, Step, read_rows
from assets.steps import STEPS, makers_of
from assets.steps.network import BY_GROUP, Network
from assets.steps.predictors import TRAINING, train_ahead
from assets.suites import BY_SUITE, shard_named
from assets.unchanged import Unchanged
from assets.versions import record_stages, record_tools
from pipelines.base.sealing import StoreError
from pipelines.programs import LLM
from pipelines.schemas import (
    ProgramRow,
    SchemaError,
    TableSpec,
    is_lasting,
    read_table,
    table_path,
    table_spec,
    write_table,
)

PROBLEM_LENGTH = 400
"""Characters of the reason of a run that Dagster ended."""
PROBLEM_LIMIT = 20
_LOG = logging.getLogger(__name__)
SAMPLED = "sampled"
"""Kind of cache entries for states of code and tables whose sample was made again and was equal."""


def stale_rows(settings: Settings, *, fraction: float, seed: int) -> list[str]:
    """Return the rows of the tables that the present engines make otherwise, one line each.

    A share of every shard's programs goes again through the steps of a suite, and one shard is generated
    again whole; one run of every group of networks is simulated again.

    Args: fraction: of the programs, at least one per shard. seed: of the sample.
    """
    draw = Random(seed)  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="simfoundry-remake-") as folder:
        deployment = replace(
            settings.deployment,
            data_dir=Path(folder) / "data",
            cache_dir=Path(folder) / "cache",
            store=None,
            catalogue=None,
        )
        fresh = replace(settings, deployment=deployment)
        problems = [*_generated_again(settings, fresh, draw)]
        for partition in BY_SUITE.names(settings.configuration):
            problems += _labelled_again(settings, fresh, partition, fraction, draw)
        for partition in BY_GROUP.names(settings.configuration):
            problems += _simulated_again(settings, fresh, partition, draw)
    return problems


def _generated_again(settings: Settings, fresh: Settings, draw: Random) -> Iterator[str]:
    shards = [
        name
        for name in BY_SUITE.names(settings.configuration)
        if shard_named(name, settings.configuration).suite != LLM
    ]
    if shards:
        partition = draw.choice(shards)
        step = next(step for step in STEPS if step.name == "programs")
        step.make(fresh, partition)
        yield from _differences(settings, fresh, step, partition)


def _labelled_again(
    settings: Settings, fresh: Settings, partition: str, fraction: float, draw: Random
) -> Iterator[str]:
    programs: list[ProgramRow] = read_rows(settings, "programs", partition)
    sample = draw.sample(programs, min(len(programs), max(1, ceil(fraction * len(programs)))))
    write_table(fresh.deployment.data_dir, table_spec("programs"), sample, partition)
    for step in (s for s in STEPS if s.partitioned.name == BY_SUITE.name and s.name != "programs"):
        step.make(fresh, partition)
        yield from _differences(settings, fresh, step, partition)


def _simulated_again(settings: Settings, fresh: Settings, partition: str, draw: Random) -> Iterator[str]:
    group = settings.group(Network).groups[partition]
    one = {
        name: (draw.choice(values),)
        for name, values in asdict(group).items()
        if isinstance(values, tuple) and values and group.samples is None
    }
    samples = None if group.samples is None else 1
    network = settings.group(Network).model_copy(
        update={"groups": {partition: replace(group, samples=samples, **one)}}
    )
    configuration = fresh.configuration.model_copy(update={"network": network})
    step = next(step for step in STEPS if step.name == "network")
    step.make(replace(fresh, configuration=configuration), partition)
    yield from _differences(settings, fresh, step, partition)


def _differences(settings: Settings, fresh: Settings, step: Step, partition: str) -> Iterator[str]:
    """Yield the rows made again that are not in the tables as they were made again."""
    for table in step.tables:
        spec = table_spec(table)
        present = {_key(spec, row): row for row in read_rows(settings, table, partition)}
        again: Sequence[Any] = read_table(fresh.deployment.data_dir, spec, [partition])
        for row in again:
            key = _key(spec, row)
            columns = _differing(spec, present.get(key), row)
            if columns:
                named = ", ".join(f"{name}={value}" for name, value in zip(spec.key, key, strict=True))
                yield f"{table} {partition}: {named} is stale: {', '.join(columns)}"


def _key(spec: TableSpec, row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in spec.key)


def _differing(spec: TableSpec, old: Any | None, new: Any) -> list[str]:
    """Return the columns in which two rows differ, reasons and times aside."""
    if old is None:
        return ["absent from the table"]
    if not is_lasting(getattr(old, "status", "ok")) or not is_lasting(getattr(new, "status", "ok")):
        return []
    before, after = asdict(old), asdict(new)
    ignored = {column.name for column in spec.columns if column.measured or column.name.endswith("reason")}
    return [
        f"{name} {before[name]!r} -> {after[name]!r}"
        for name in before
        if name not in ignored and before[name] != after[name]
    ]


RUN_TAG = "simfoundry/run"
"""Tag of all Dagster runs of one `simfoundry run`."""
QUIET_CONSOLE = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Failures are reported in one line each; their tracebacks are in the run storage, for the UI."""


@dataclass(slots=True, kw_only=True)
class RunReport:
    """What a run came to.

    Attributes:
        problems: unexpected failures, one line each; failed rows are data and not among them.
        notes: anything else worth saying, one line each.
        hashes: DVC hash by path.
    """

    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    hashes: dict[str, str] = field(default_factory=dict[str, str])


def run_everything(
    configuration: Configuration,
    deployment: Deployment,
    *,
    instance: dg.DagsterInstance,
    progress: ProgressResource,
    locks: bool = False,
) -> RunReport:
    """Materialise every table under a configuration; a failure stops only what reads it.

    Earlier work comes from the content cache, so a run after a kill resumes.

    Args:   instance: Dagster's; the UI shows the runs it records. locks: whether dvc.lock is written although
            it was made with other versions of tools.
    Raises: FoundryError: another process writes to the data folder. OSError: it is not writable.
            ToolMissing, NetworkError: a step cannot work under the configuration; nothing was begun.
            KeyboardInterrupt: Ctrl-C; the next run resumes.
    """
    settings = Settings(configuration=configuration, deployment=deployment)
    for require in dict.fromkeys(step.require for step in STEPS if step.require):
        require(settings)
    started_s = time.time()
    with writing_to(deployment.data_dir), tables_before(deployment.data_dir) as before:
        counts = row_counts(deployment)
        write_parameters(deployment.parameters_folder, configuration)
        sweep_leftovers(deployment.data_dir)
        report = RunReport()
        pulled = pull_tables(deployment)
        report.notes += [f"fetched from the catalogue: {pulled:,} files"] * bool(pulled)
        report.notes += prune_partitions(settings, STEPS)
        release_dead_runs(instance)
        prepare_pools(instance, (step.pool for step in STEPS if step.pool))
        with fanout_of(settings):  # once, and not again for every step
            _Run(
                settings=settings,
                instance=instance,
                progress=progress,
                report=report,
                locks=locks,
                unchanged=Unchanged(settings=settings, instance=instance),
            ).run()
        report.notes += [
            *shrunk_tables(counts, row_counts(deployment)),
            *write_database(deployment.data_dir),
        ]
        said = {"problems": report.problems, "notes": report.notes}
        try:
            record_refresh(deployment, before, started_s=started_s, **said)
        except SchemaError as error:
            report.notes.append(f"no page about this run: {error}")
        return report


def row_counts(deployment: Deployment) -> dict[str, int]:
    """Return the rows by table of the files that can be read."""
    counts: dict[str, int] = {}
    for path in sorted((deployment.data_dir / "tables").glob("*/*.parquet")):
        if path.name.startswith("."):
            continue
        try:
            counts[path.parent.name] = counts.get(path.parent.name, 0) + pq.read_metadata(path).num_rows
        except (pa.ArrowException, OSError):
            continue  # the step that reads it says so
    return counts


def shrunk_tables(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return one line per table that has fewer rows than before."""
    return [
        f"{table}: {rows:,} rows before this run, {after.get(table, 0):,} now"
        for table, rows in before.items()
        if after.get(table, 0) < rows
    ]


def prune_partitions(settings: Settings, steps: Iterable[Step]) -> list[str]:
    """Remove files that the configuration leaves out, so that the tables are what it says.

    Returns: one line per table that lost files; the content cache restores them in seconds.
    """
    notes: list[str] = []
    for table, gone in excluded_partitions(settings, steps).items():
        folder = settings.deployment.data_dir / "tables" / table
        folder.mkdir(parents=True, exist_ok=True)  # DVC records an empty folder, but not a missing one
        for partition in gone:
            _remove(settings, table, partition)
        remove_shards(settings.deployment, table, gone)
        notes += [f"{table}: removed {', '.join(gone)}, not in this configuration"] * bool(gone)
    return notes


def excluded_partitions(settings: Settings, steps: Iterable[Step]) -> dict[str, list[str]]:
    """Return the partitions by table that have files and that the configuration leaves out."""
    gone: dict[str, list[str]] = {}
    for step in steps:
        for table in step.tables:
            makers = makers_of(table)
            if step.partitioned.is_whole and len(makers) == 1:
                continue  # a file of another name, such as another split, stays
            current = {name for s in makers if s.is_active(settings) for name in s.partitions(settings)}
            folder = settings.deployment.data_dir / "tables" / table
            gone[table] = [p.stem for p in sorted(folder.glob("*.parquet")) if p.stem not in current]
    return gone


def _remove(settings: Settings, table: str, partition: str) -> None:
    for measured in (False, True):
        path = table_path(settings.deployment.data_dir, table_spec(table), partition, measured=measured)
        path.unlink(missing_ok=True)


@dataclass(kw_only=True)
class _Run:
    """One pass over all steps, and which of them were not made."""

    settings: Settings
    instance: dg.DagsterInstance
    progress: ProgressResource
    report: RunReport
    locks: bool
    unchanged: Unchanged
    unmade: set[str] = field(default_factory=set[str])
    identity: str = field(default_factory=lambda: uuid4().hex)

    def run(self) -> None:
        for kind in {s.partitioned.name: s.partitioned for s in STEPS if not s.partitioned.is_whole}.values():
            steps = [step for step in self._active() if step.partitioned.name == kind.name]
            for partition in kind.names(self.settings.configuration):
                self._execute(self.unchanged.pending(steps, partition), partition)
        ready = [step for step in self._active() if step.partitioned.is_whole and self._is_ready(step)]
        skipped = self._execute_whole(self.unchanged.pending(ready, None))
        for step in (s for s in skipped if not s.needs_all):  # Dagster left it out with what it reads
            self.unmade.discard(step.name)
            self._execute([step], None)
        self._record()
        self._publish()
        self._say_unchanged()
        fraction = self.settings.configuration.run.remade_fraction
        if fraction and not self.unmade:
            self._make_sample_again(fraction)

    def _execute_whole(self, steps: Sequence[Step]) -> list[Step]:
        """Make steps of one file each; on a cluster, predictors are trained at once before their steps.

        Returns: those that were left out, because what they read failed.
        """
        trained = {step.name for step in steps if step.pool == TRAINING}
        if self.settings.group(Cluster).kind == LOCAL or len(trained) < 2:
            return self._execute(steps, None)
        later: list[Step] = []
        for step in steps:
            if step.name in trained or {table for own in later for table in own.tables} & set(step.reads):
                later.append(step)
        skipped = self._execute([step for step in steps if step not in later], None)
        later = [step for step in later if self._is_ready(step)]
        listen = self.progress.listener("training", _LOG.info)
        train_ahead(self.settings, [step for step in later if step.name in trained], listen)
        self.progress.ended("training", failure=None)
        return [*skipped, *self._execute(later, None)]

    def _make_sample_again(self, fraction: float) -> None:
        """Compare a sample with the same rows made again, unless it was so for this code and these tables."""
        state = state_hash(self.settings.deployment.data_dir)
        if self.settings.cache.get(SAMPLED, state) is not None:
            self.report.notes.append("sample not made again: code and tables are those of an earlier sample")
            return
        stale = stale_rows(self.settings, fraction=fraction, seed=date.today().toordinal())
        self.report.problems += stale[:PROBLEM_LIMIT]
        self.report.notes.append(f"sample made again: {len(stale)} stale rows")
        if not stale:
            self.settings.cache.keep(SAMPLED, state, {"stale": 0})

    def _active(self) -> list[Step]:
        return [step for step in STEPS if step.is_active(self.settings)]

    def _is_ready(self, step: Step) -> bool:
        """Tell whether all that a step reads was made; a step that is not ready counts as not made."""
        makers = {maker.name for table in step.reads for maker in makers_of(table)}
        lacking = [s.name for s in STEPS if s.name in makers and s.name in self.unmade]
        if not lacking or not step.needs_all:
            return True
        self.unmade.add(step.name)
        self.report.problems.append(f"{step.name} was not made, because {', '.join(lacking)} failed")
        return False

    @cached_property
    def _jobs(self) -> dict[str, dg.JobDefinition]:
        configuration = self.settings.configuration
        foundry = FoundryResource(
            project=str(self.settings.deployment.project),
            folder=str(self.settings.deployment.folder or ""),
            workers=configuration.run.workers or 0,
            slots=dict(label_options(self.settings).slots),
            cluster=configuration.group(Cluster).model_dump(),
        )
        jobs = asset_jobs()
        definitions = dg.Definitions(
            assets=build_assets(configuration),
            jobs=jobs,
            loggers={"console": dg.colored_console_logger},
            resources=resources({"foundry": foundry, "progress": self.progress}),
        )
        return {job.name: definitions.resolve_job_def(job.name) for job in jobs}

    def _execute(self, steps: Sequence[Step], partition: str | None) -> list[Step]:
        """Make the steps, all of one kind of partition, in one Dagster run.

        Returns: those that were left out, because what they read failed.
        """
        if not steps:
            return []
        try:
            result = self._jobs[job_name(steps[0].partitioned)].execute_in_process(
                instance=self.instance,
                partition_key=partition,
                run_config=QUIET_CONSOLE,
                raise_on_error=False,
                asset_selection=[dg.AssetKey(key) for step in steps for key in step.assets],
                tags={PROCESS_TAG: process_tag(), RUN_TAG: self.identity},
            )
        except dg.DagsterExecutionInterruptedError as error:
            raise KeyboardInterrupt from error
        succeeded = {e.step_key for e in result.all_events if e.is_step_success}
        failed = {e.step_key: failure_message(e) for e in result.all_events if e.is_step_failure}
        self.report.notes += dict.fromkeys(filter(None, map(_skipped, result.all_events)))
        if INTERRUPTED in failed.values():
            raise KeyboardInterrupt
        self.unmade |= {step.name for step in steps if f"make_{step.name}" not in succeeded}
        for step in steps:
            if f"make_{step.name}" in succeeded:
                self.unchanged.keep(step, partition)
        where = f" {partition}" if partition else ""
        for key, message in failed.items():
            self.report.problems.append(f"{str(key).removeprefix('make_')}{where}: {message}")
        if not result.success and not failed:  # Dagster itself, such as a database that does not answer
            ended = [e.job_failure_data.error for e in result.all_events if e.is_job_failure]
            reasons = [" ".join(error.message.split()) for error in ended if error is not None]
            self.report.problems.append(f"run{where}: {'; '.join(reasons)[:PROBLEM_LENGTH] or 'no reason'}")
        skipped = [step for step in steps if f"make_{step.name}" not in {*succeeded, *failed}]
        if partition is None:
            for step in skipped:
                self._is_ready(step)  # says what it lacked
        return skipped

    def _record(self) -> None:
        """Record the stages whose steps were all made in DVC, and show the hashes in Dagster."""
        deployment = self.settings.deployment
        if not deployment.is_versioned:
            return
        stages = [n for n, steps in dvc_stages().items() if not {s.name for s in steps} & self.unmade]
        try:
            write_figures(deployment.data_dir, stages)
            others = record_tools(deployment, self.unchanged.tools, locks=self.locks)
            if others:
                self.report.notes.append(
                    f"dvc.lock is left as it is, made with other tools: {', '.join(others)}; "
                    "`simfoundry run --lock` records the tables of this run"
                )
                return
            self.report.hashes.update(record_stages(deployment, stages))
        except (FoundryError, SchemaError) as error:
            self.report.problems.append(str(error))
        assets = {table: step.asset or table for step in STEPS for table in step.tables}
        for path, value in self.report.hashes.items():
            table = path.split("/")[2]
            if table in self.unchanged.changed:
                metadata = {"dvc_hash": value, "dvc_path": path}
                self._observe(assets[table], metadata)

    def _publish(self) -> None:
        """Publish what the catalogue lacks of steps that were left as they are, and write its version."""
        deployment = self.settings.deployment
        if deployment.catalogue is None:
            return
        shards: dict[str, set[str]] = {}
        for step in (s for s in self._active() if s.name not in self.unmade):
            for table in step.tables:
                shards.setdefault(table, set()).update(step.partitions(self.settings))
        try:
            publish_shards(deployment, {table: sorted(names) for table, names in shards.items()})
            version = write_version(deployment)
        except (FoundryError, SchemaError, StoreError) as error:
            self.report.problems.append(str(error))
            return
        self.report.notes.append(f"catalogue version: {version}")

    def _say_unchanged(self) -> None:
        """Say how much was left as it was, also to Dagster, whose assets show the run that made them."""
        left = self.unchanged.left
        if left:
            asked = self.unchanged.asked
            self.report.notes.append(
                f"unchanged and left as they are: {len(left)} of {asked} partitions of steps"
            )
            self._observe("report", {"unchanged": len(left), "first": ", ".join(left[:5])})

    def _observe(self, asset: str, metadata: Mapping[str, Any]) -> None:
        self.instance.report_runless_asset_event(dg.AssetObservation(asset_key=asset, metadata=metadata))


def job_name(kind: Partitioning) -> str:
    """Return the name of the Dagster job of the steps of a kind."""
    return "everything_else" if kind.is_whole else f"by_{kind.name}"


def asset_jobs() -> list[dg.UnresolvedAssetJobDefinition]:
    """Return a job per kind of partition: steps of one kind are made together."""
    keys: dict[str, list[str]] = {}
    for step in STEPS:
        keys.setdefault(job_name(step.partitioned), []).extend(step.assets)
    return [dg.define_asset_job(name, selection=dg.AssetSelection.assets(*own)) for name, own in keys.items()]


def _skipped(event: dg.DagsterEvent) -> str | None:
    """Return one line that says why a step was skipped; None of any other event."""
    if not event.is_step_materialization:
        return None
    reason = event.step_materialization_data.materialization.metadata.get(SKIPPED)
    step = str(event.step_key).removeprefix("make_")
    return None if reason is None else f"{step} was skipped: {reason.value}"


def failure_message(event: dg.DagsterEvent) -> str:
    """Return one line that says why a step failed: the innermost cause, and of an unexpected one where it is.

    With `--debug` its traceback goes to standard error.
    """
    failure = event.step_failure_data
    if failure.user_failure_data is not None and failure.user_failure_data.description:
        return str(failure.user_failure_data.description)
    error = failure.error
    while error is not None and error.cause is not None:
        error = error.cause
    if error is None:
        return "no reason was given"
    if is_debugging():
        click.echo(error.to_string(), err=True)
    kind, _, message = " ".join(error.message.split()).partition(": ")
    return unexpected(kind, message, error.stack)
