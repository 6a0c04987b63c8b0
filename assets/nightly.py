"""The nightly run: what `simfoundry run scale=nightly` does, with further programs, launched by Dagster.

One op chooses how many programs are generated, under a budget of core-hours. The other generates, labels,
trains, compares and promotes: it starts the runs of the shards, of the groups and of all other steps one
after the other, since one process at a time writes to a data folder; these runs have one tag. A sensor writes
a notice of a failed run.
"""

import os

import dagster as dg

from assets.configuration import NIGHTLY, compose_configuration
from assets.dagster_assets import explained_failures
from assets.deployments import NIGHTLY_VARIABLE, find_deployment
from assets.growth import choose_growth, grow_configuration
from assets.materialise import failure_message, run_everything
from assets.notices import Notice, send_notice, write_notice
from assets.refresh import read_refreshes, refresh_page
from assets.resources import ProgressResource
from assets.settings import Nightly
from pipelines.dataset.reports.refresh import summary


class ScaleConfig(dg.Config):
    """Which scale to run."""

    scale: str = NIGHTLY


@dg.op
def choose_programs(context: dg.OpExecutionContext, config: ScaleConfig) -> tuple[str, dict[str, int]]:
    """Choose how many programs are generated, within the budget of core-hours.

    Returns: the scale, and programs by suite.
    """
    with explained_failures():
        growth = choose_growth(compose_configuration([f"scale={config.scale}"]), find_deployment().data_dir)
    context.add_output_metadata(
        {
            "programs": dict(growth.counts),
            "added": dict(growth.added),
            "seconds per program": dict(growth.program_s),
            "expected core-hours": growth.expected_core_hours,
        }
    )
    return config.scale, dict(growth.counts)


@dg.op(out=dg.Out(dg.Nothing))
def run_at_scale(
    context: dg.OpExecutionContext,
    choice: tuple[str, dict[str, int]],
    progress: dg.ResourceParam[ProgressResource],
) -> None:
    """Run every step at a scale with some number of generated programs, then DVC."""
    deployment, (scale, counts) = find_deployment(), choice
    with explained_failures():
        report = run_everything(
            grow_configuration(compose_configuration([f"scale={scale}"]), counts),
            deployment,
            instance=context.instance,
            progress=progress,
        )
    for refresh in read_refreshes(deployment)[-1:]:
        page = dg.MetadataValue.path(str(refresh_page(deployment)))
        metadata = {"what it did": summary(refresh), "page": page}
        context.log_event(dg.AssetObservation(asset_key="report", metadata=metadata))
    if report.problems:
        raise dg.Failure(description="; ".join(report.problems), allow_retries=False)


@dg.job(executor_def=dg.in_process_executor)
def everything() -> None:
    """Choose programs, generate, label, train, compare, promote: all tables and predictors at one scale."""
    run_at_scale(choose_programs())


def nightly_schedule(nightly: Nightly) -> dg.ScheduleDefinition:
    """Return the schedule of the nightly run; on when `simfoundry ui --nightly` loads it."""
    is_on = bool(os.environ.get(NIGHTLY_VARIABLE))
    return dg.ScheduleDefinition(
        name="nightly",
        job=everything,
        cron_schedule=nightly.cron,
        execution_timezone=nightly.time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED,
        description=f"Everything at scale {NIGHTLY}, at {nightly.hour:02}:00 {nightly.time_zone}. "
        "Runs while the Dagster daemon does.",
    )


@dg.run_failure_sensor(
    name="nightly_failed",
    monitored_jobs=[everything],
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Writes a notice of a nightly run that failed to data/notices, and sends it to the webhook.",
)
def nightly_failed(context: dg.RunFailureSensorContext) -> None:
    """Write and send the notice, also of a run that was killed or never started."""
    events = context.get_step_failure_events()
    causes = [failure_message(event) for event in events] or [context.failure_event.message or "not known"]
    notice = Notice(run=context.dagster_run.run_id, cause="; ".join(" ".join(c.split()) for c in causes))
    path = write_notice(find_deployment(), notice)
    context.log.warning(f"the nightly run failed: {path}")
    problem = send_notice(notice)
    if problem is not None:
        write_notice(find_deployment(), notice, f"Webhook: {problem}")
        context.log.warning(f"webhook: {problem}")
