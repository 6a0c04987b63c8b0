"""MLflow's UI in Chromium: it opens on the runs, with the headline metrics as columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_pages import open_page, opened_browser
from test_served_pages import _free_ports

from assets.deployments import Deployment
from models.registry import register_shipped
from models.tracking import GATE_FIGURES, HEADLINES, RegistryStore, runs_view
from simfoundry.commands import ui
from simfoundry.commands.supervision import is_open, supervised

RUNS = "text=rtl-engine-"


@pytest.fixture
def address(deployment: Deployment) -> Iterator[str]:
    """The UI of a registry with one model."""
    store = RegistryStore(tracking_uri=deployment.tracking_uri, artifact_folder=deployment.artifact_folder)
    register_shipped(store, "rtl-engine")
    dagster_port, port = _free_ports(2)
    command = ui._commands(deployment, dagster_port, port)["MLflow UI"]
    with supervised() as servers:
        servers.start(ui._server("MLflow UI", command, deployment))
        for _ in servers.polls():
            if is_open(port):
                break
        yield f"http://127.0.0.1:{port}"


@pytest.mark.slow
def test_mlflow_opens_on_runs_with_their_headlines(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened_browser() as page:
        open_page(page, f"{address}/")
        page.locator(RUNS).first.wait_for()
        assert "/#/experiments/1/runs?" in page.url
        shown = page.eval_on_selector_all("[col-id]", "all => all.map(one => one.getAttribute('col-id'))")
        assert [name for name in HEADLINES if f"metrics.`{name}`" in shown] == list(GATE_FIGURES)
        page.goto(f"{address}/#/experiments")
        page.locator("a[href='#/experiments/1']").click()
        page.locator(RUNS).first.wait_for()
        assert "/#/experiments/1/runs?" in page.url
        assert page.locator("text=No data available").count() == 0


@pytest.mark.filterwarnings("ignore")  # of MLflow's server, while it is imported
def test_the_first_page_opens_the_runs_where_there_are_any(project: Path) -> None:
    from assets.mlflow_app import _script

    with_runs, without = _script("7"), _script(None)
    assert 'location.hash = "#/experiments/7/runs";' in with_runs
    assert json.dumps(json.dumps(runs_view())) in with_runs
    assert 'location.hash = "#/experiments";' in without
    assert "ExperimentPage" not in without
    assert with_runs.count("mlflow.workflowType_v1") == without.count("mlflow.workflowType_v1") == 1
