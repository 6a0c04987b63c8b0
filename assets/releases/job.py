"""The Dagster job `release`: a release made in batches, as `simfoundry release make` makes it.

It runs the steps of the assets under the release's own configuration, so it records an observation per
table and partition and no materialisation: params.yaml says which partitions the assets have.
"""

import dagster as dg
from pydantic import Field

from assets.dagster_assets import explained_failures
from assets.releases.making import MakeOptions, make_release
from assets.resources import ProgressResource
from assets.step import Step


class ReleaseConfig(dg.Config):
    """Which release, and how far to go; see `simfoundry release make --help`."""

    name: str
    overrides: list[str] = Field(default_factory=list[str])
    batches: int | None = None
    limit_minutes: float | None = None


@dg.op(out=dg.Out(dg.Nothing))
def make_batches(
    context: dg.OpExecutionContext,
    config: ReleaseConfig,
    progress: dg.ResourceParam[ProgressResource],
) -> None:
    """Make what the release lacks; a failed step ends the run, and the next run goes on from there."""

    def observe(step: Step, partition: str) -> None:
        for table in step.tables:
            metadata = {"release": config.name, "partition": partition}
            context.log_event(dg.AssetObservation(asset_key=table, metadata=metadata))

    with explained_failures():
        answer = make_release(
            config.name,
            progress=progress,
            overrides=config.overrides,
            options=MakeOptions(
                batches=config.batches,
                limit_s=None if config.limit_minutes is None else config.limit_minutes * 60,
            ),
            on_rows=observe,
        )
    context.add_output_metadata({name: answer[name] for name in ("folder", "made", "pending", "complete")})
    if answer["problems"]:
        raise dg.Failure(description="; ".join(answer["problems"]), allow_retries=False)


@dg.job(executor_def=dg.in_process_executor)
def release() -> None:
    """Release the tables, in batches."""
    make_batches()
