"""The nightly run: what `simfoundry run scale=nightly` does, launched by Dagster.

Its op starts the runs of the shards, of the groups and of all other steps one after the other, since one
process at a time writes to a data folder; these runs have one tag.
"""

import os

import dagster as dg

from assets.configuration import compose_configuration
from assets.dagster_assets import NIGHTLY_CRON
from assets.deployments import NIGHTLY_VARIABLE, find_deployment
from assets.materialise import run_everything
from assets.refresh import read_refreshes, refresh_page
from assets.resources import ProgressResource
from pipelines.reports.refresh import summary


class ScaleConfig(dg.Config):
    """Which scale to run."""

    scale: str = "nightly"


@dg.op(out=dg.Out(dg.Nothing))
def run_at_scale(
    context: dg.OpExecutionContext,
    config: ScaleConfig,
    progress: dg.ResourceParam[ProgressResource],
) -> None:
    """Every step, then DVC."""
    deployment = find_deployment()
    report = run_everything(
        compose_configuration([f"scale={config.scale}"]),
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
    """All tables and predictors at one scale."""
    run_at_scale()


nightly_schedule = dg.ScheduleDefinition(
    name="nightly",
    job=everything,
    cron_schedule=NIGHTLY_CRON,
    default_status=(
        dg.DefaultScheduleStatus.RUNNING
        if os.environ.get(NIGHTLY_VARIABLE)
        else dg.DefaultScheduleStatus.STOPPED
    ),
    description="Everything at scale nightly, at 02:00. Runs while the Dagster daemon does.",
)
