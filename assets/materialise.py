"""The whole main job: every suite, the split, networks and predictors, DVC after each stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import dagster as dg

from assets.configuration import Configuration, write_parameters
from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.execution import INTERRUPTED
from assets.instance import PROCESS_TAG, process_tag, release_dead_runs
from assets.jobs import ASSET_JOBS
from assets.locks import sweep_leftovers, writing_to
from assets.model_assets import MODEL_ASSETS
from assets.partitions import BY_GROUP, BY_SUITE, WHOLE, declare_partitions, partitions_by
from assets.report_asset import REPORT_ASSETS
from assets.resources import FoundryResource, ProgressResource, resources
from assets.settings import Settings
from assets.stages import STEPS, Step, partitions_of, require_groups, step_named, steps_of
from assets.table_assets import TABLE_ASSETS
from assets.versions import record_stage
from pipelines.labelling import require_tools
from pipelines.schemas import table_path, table_spec

JOBS = (
    "suite_tables",
    "split_table",
    "report_table",
    "record_table",
    "network_tables",
    "network_model",
    "pragma_table",
    "predictors",
    "report_page",
)
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

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)


def run_everything(
    configuration: Configuration,
    deployment: Deployment,
    *,
    instance: dg.DagsterInstance,
    progress: ProgressResource,
) -> RunReport:
    """Materialise every table under a configuration; what fails stops only what reads it.

    Work done before comes from the content cache, so a run after a kill resumes.

    Args:   instance: Dagster's; the UI shows the runs it records.
    Raises: FoundryError: another process writes to the data folder. OSError: it is not writable.
            ToolMissing: a tool of the configuration is not installed. NetworkError: a group of networks is
            not acceptable. Of these two nothing was begun.
            KeyboardInterrupt: Ctrl-C; the next run resumes.
    """
    require_tools(configuration.labelling.tools)
    settings = Settings(configuration=configuration, deployment=deployment)
    require_groups(settings)
    with writing_to(deployment.data_dir):
        write_parameters(deployment.project, configuration)
        sweep_leftovers(deployment.data_dir)
        report = RunReport()
        report.notes += prune_partitions(settings, STEPS)
        release_dead_runs(instance)
        _Run(settings=settings, instance=instance, progress=progress, report=report).run()
        return report


def prune_partitions(settings: Settings, steps: Iterable[Step]) -> list[str]:
    """Remove files that the configuration leaves out, so that the tables are what it says.

    Returns: one line a table that lost files; the content cache makes them anew in seconds.
    """
    notes: list[str] = []
    for step in (s for s in steps if s.partitioned != WHOLE):
        wanted = partitions_of(step, settings)
        for table in step.tables:
            folder = settings.deployment.data_dir / "tables" / table
            folder.mkdir(parents=True, exist_ok=True)  # DVC records an empty folder, but not a missing one
            gone = [p.stem for p in sorted(folder.glob("*.parquet")) if p.stem not in wanted]
            for partition in gone:
                _remove(settings, table, partition)
            notes += [f"{table}: removed {', '.join(gone)}, not in this configuration"] * bool(gone)
    return notes


def _remove(settings: Settings, table: str, partition: str) -> None:
    for measured in (False, True):
        path = table_path(settings.deployment.data_dir, table_spec(table), partition, measured=measured)
        path.unlink(missing_ok=True)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One pass over all steps, and which of them were not made."""

    settings: Settings
    instance: dg.DagsterInstance
    progress: ProgressResource
    report: RunReport
    unmade: set[str] = field(default_factory=set)

    def run(self) -> None:
        jobs = self._jobs()
        declare_partitions(self.instance, self.settings.configuration)
        self._execute_each(jobs["suite_tables"], BY_SUITE)
        for stage in ("programs", "designs", "labels"):
            self._record(stage)
        self._execute_if_ready(jobs["split_table"], step_named("splits"))
        self._execute_if_ready(jobs["report_table"], step_named("stage_reports"))
        self._record("features")
        self._execute_if_ready(jobs["record_table"], step_named("records"))
        self._record("records")
        self._execute_each(jobs["network_tables"], BY_GROUP)
        self._record("network")
        if self.settings.configuration.network.groups and "network" not in self.unmade:
            self._execute(jobs["network_model"], [], None)
        self._execute_if_ready(jobs["pragma_table"], step_named("pragmas"))
        self._record("pragmas")
        self._execute_if_ready(jobs["predictors"], step_named("models"))
        self._record("models")
        self._execute(jobs["report_page"], [], None)  # of whatever was made

    def _jobs(self) -> dict[str, dg.JobDefinition]:
        foundry = FoundryResource(
            project=str(self.settings.deployment.project),
            workers=self.settings.configuration.run.workers or 0,
            slots=dict(self.settings.options.slots),
        )
        definitions = dg.Definitions(
            assets=[*TABLE_ASSETS, *MODEL_ASSETS, *REPORT_ASSETS],
            jobs=ASSET_JOBS,
            loggers={"console": dg.colored_console_logger},
            resources=resources({"foundry": foundry, "progress": self.progress}),
        )
        return {name: definitions.resolve_job_def(name) for name in JOBS}

    def _execute_each(self, job: dg.JobDefinition, what: str) -> None:
        """The job of each partition of a kind; one that fails does not stop the others."""
        steps = [step for step in STEPS if step.partitioned == what]
        for partition in partitions_by(what, self.settings.configuration):
            self._execute(job, steps, partition)

    def _execute_if_ready(self, job: dg.JobDefinition, step: Step) -> None:
        makers = [s.name for s in STEPS if set(s.tables) & set(step.reads)]
        lacking = [name for name in makers if name in self.unmade]
        if lacking:
            self.unmade.add(step.name)
            self.report.problems.append(f"{step.name} were not made, because {', '.join(lacking)} failed")
        else:
            self._execute(job, [step], None)

    def _execute(self, job: dg.JobDefinition, steps: Sequence[Step], partition: str | None) -> None:
        try:
            result = job.execute_in_process(
                instance=self.instance,
                partition_key=partition,
                run_config=QUIET_CONSOLE,
                raise_on_error=False,
                tags={PROCESS_TAG: process_tag()},
            )
        except dg.DagsterExecutionInterruptedError as error:
            raise KeyboardInterrupt from error
        made = {e.step_key for e in result.all_events if e.is_step_success}
        self.unmade |= {s.name for s in steps if f"make_{s.name}" not in made}
        where = f" {partition}" if partition else ""
        for event in result.all_events:
            if event.is_step_failure:
                if failure_message(event) == INTERRUPTED:
                    raise KeyboardInterrupt
                name = str(event.step_key).removeprefix("make_")
                self.report.problems.append(f"{name}{where}: {failure_message(event)}")

    def _record(self, stage: str) -> None:
        if any(step.name in self.unmade for step in steps_of(stage)):
            return
        try:
            hashes = record_stage(self.settings.deployment, stage)
        except FoundryError as error:
            self.report.problems.append(str(error))
            return
        self.report.hashes.update(hashes)
        for path, value in hashes.items():
            table = path.rpartition("/")[2]
            observation = dg.AssetObservation(asset_key=table, metadata={"dvc_hash": value, "dvc_path": path})
            self.instance.report_runless_asset_event(observation)


def failure_message(event: dg.DagsterEvent) -> str:
    """One line that says why a step failed: the innermost cause, without its traceback."""
    failure = event.step_failure_data
    if failure.user_failure_data is not None and failure.user_failure_data.description:
        return str(failure.user_failure_data.description)
    error = failure.error
    while error is not None and error.cause is not None:
        error = error.cause
    return " ".join(error.message.split()) if error is not None else "no reason was given"
