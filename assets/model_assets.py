"""Models that come trained, as assets: registering them, once."""

from typing import Any

import dagster as dg

from assets.execution import explained_failures
from assets.resources import FoundryResource
from assets.specs import TOOL_RETRY
from assets.stages import registry_store, step_named
from models.registry import register_shipped


@dg.asset(
    name="queue_correction",
    group_name="models",
    deps=list(step_named("network").tables),
    kinds={"mlflow"},
    retry_policy=TOOL_RETRY,
    description="Weights that come with the project in the registry; the same content is there once.",
)
def register_shipped_models(foundry: FoundryResource) -> dg.MaterializeResult[Any]:
    """Put the weights that come with the project into the registry."""
    with explained_failures():
        registrations = register_shipped(registry_store(foundry.settings()))
    told = "; ".join(f"{r.name} version {r.version}" for r in registrations)
    return dg.MaterializeResult(metadata={"registered": told})


MODEL_ASSETS = [register_shipped_models]
