"""Models that come trained, as assets: registering them, once."""

from typing import Any

import dagster as dg

from assets.execution import explained_failures
from assets.resources import FoundryResource
from assets.specs import TOOL_RETRY
from assets.stages import registry_store, step_named
from models.queue_correction.registering import NAME, register_correction


@dg.asset(
    name="queue_correction",
    group_name="models",
    deps=list(step_named("network").tables),
    kinds={"mlflow"},
    retry_policy=TOOL_RETRY,
    description="What corrects theory's latencies of networks, in the registry; the same file is there once.",
)
def register_queue_correction(foundry: FoundryResource) -> dg.MaterializeResult[Any]:
    """Put the correction that comes with the project into the registry."""
    with explained_failures():
        version = register_correction(registry_store(foundry.settings()))
    return dg.MaterializeResult(metadata={"registered": f"{NAME} version {version}"})


MODEL_ASSETS = [register_queue_correction]
