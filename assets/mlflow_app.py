"""MLflow's server, whose UI opens on the runs of trainings; MLflow's own first page is for language models.

MLflow finds it as the app `simfoundry` (entry point `mlflow.app`, option `--app-name`). What the UI shows
first is a setting of the browser in MLflow 3.17, so the page sets it where the user has not chosen.
"""

from __future__ import annotations

import json
from pathlib import Path

from mlflow import MlflowClient
from mlflow.server import app as flask_app
from mlflow.server.fastapi_app import app
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from assets.deployments import find_deployment
from models.local_registry import follow_project
from models.tracking import RegistryStore, runs_view

SETTINGS = {
    "mlflow.workflowType_v1": json.dumps("machine_learning"),
    # An assistant and an invitation would open over the page.
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": "true",
    "_mlflow_model_registry_promo_modal_dismissed_v1": "true",
}
_RUNS_STATE = 'MLflowLocalStorage-1.1-ExperimentPage-["%s"]-ReactComponentState'
_SCRIPT = """<script>
for (const [name, value] of Object.entries(%s))
  if (localStorage.getItem(name) === null) localStorage.setItem(name, value);
if (!location.hash) location.hash = %s;
</script>"""


def first_page(request: Request) -> HTMLResponse:
    """Return MLflow's page with the settings, and the runs where no other page is asked for."""
    del request
    client = MlflowClient(find_deployment().tracking_uri)
    experiment = client.get_experiment_by_name(RegistryStore().experiment)
    page = (Path(str(flask_app.static_folder)) / "index.html").read_text()
    script = _script(None if experiment is None else str(experiment.experiment_id))
    return HTMLResponse(page.replace("<head>", f"<head>{script}", 1), headers={"Cache-Control": "no-store"})


def _script(experiment_id: str | None) -> str:
    """Return browser settings and the page to open. Args: experiment_id: None before the first training."""
    settings, address = SETTINGS, "#/experiments"
    if experiment_id is not None:
        settings = {**settings, _RUNS_STATE % experiment_id: json.dumps(runs_view())}
        address = f"#/experiments/{experiment_id}/runs"
    return _SCRIPT % (json.dumps(settings), json.dumps(address))


follow_project(find_deployment().tracking_uri)
app.router.routes.insert(0, Route("/", first_page))
