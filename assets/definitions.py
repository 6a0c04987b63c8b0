"""All that Dagster loads, assembled by one function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from assets.jobs import ASSET_JOBS
from assets.model_assets import MODEL_ASSETS
from assets.nightly import everything, nightly_schedule
from assets.report_asset import REPORT_ASSETS
from assets.resources import resources
from assets.table_assets import TABLE_ASSETS


def build_definitions(overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """Assets, checks, jobs, the schedule and the resources of the deployment.

    Args: overrides: resources by name that replace those of the deployment, for tests.
    """
    return dg.Definitions(
        assets=[*TABLE_ASSETS, *MODEL_ASSETS, *REPORT_ASSETS],
        jobs=[*ASSET_JOBS, everything],
        schedules=[nightly_schedule],
        resources=resources(overrides),
    )


definitions = build_definitions()
