"""All that Dagster loads, assembled by one function; partitions are read from params.yaml at that time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from assets.antlr import load_selection_parser
from assets.configuration import nightly_hour, read_parameters
from assets.dagster_assets import build_assets
from assets.deployments import find_deployment
from assets.inbox import inbox, inbox_files, inbox_job
from assets.materialise import asset_jobs
from assets.nightly import everything, nightly_failed, nightly_schedule
from assets.releases.job import release
from assets.resources import resources
from assets.settings import Configuration

load_selection_parser()


def build_definitions(
    overrides: Mapping[str, Any] | None = None, configuration: Configuration | None = None
) -> dg.Definitions:
    """Build assets, checks, jobs, the schedule and the resources of the deployment.

    Args: overrides: resources by name that replace the deployment's, for tests.
          configuration: whose partitions there are; that of params.yaml unless given.

    Raises: FoundryError: params.yaml or the configuration of the nightly run is not accepted.
    """
    configuration = configuration or read_parameters(find_deployment().project)
    nightly = nightly_hour()
    return dg.Definitions(
        assets=[*build_assets(configuration, nightly), inbox],
        jobs=[*asset_jobs(), everything, release, inbox_job],
        schedules=[nightly_schedule(nightly)],
        sensors=[inbox_files, nightly_failed],
        resources=resources(overrides),
    )


definitions = build_definitions()
