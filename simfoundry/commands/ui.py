"""`simfoundry ui`: the Dagster UI with its daemon, and the MLflow UI, on this machine only.

They are started by their own commands, write to log files, and are ready when both answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from assets.configuration import nightly_hour, read_parameters
from assets.deployments import (
    MLFLOW_PORT_VARIABLE,
    NIGHTLY_VARIABLE,
    QUIET_ENVIRONMENT,
    Deployment,
    find_deployment,
    require_whole_registry,
)
from assets.errors import FoundryError
from assets.instance import open_instance
from simfoundry.commands.supervision import HOST, Server, ask, require_free, supervised

MLFLOW_HOSTS = "localhost,127.0.0.1,[::1],localhost:*,127.0.0.1:*,[[]::1]:*"
"""Accepted Host headers; MLflow's own list has 10.*, which foreign names fit too."""
CODE_FOLDER = Path(__file__).resolve().parents[2]
GROUPS = ("programs", "designs", "labels")
"""Groups of assets in the linked graph; all assets do not fit a screen."""
ASSETS_LOADED = "/graphql?query=" + quote(
    "{workspaceOrError{... on Workspace{locationEntries{locationOrLoadError{__typename"
    " ... on PythonError{message causes{message}}}}}}}"
)
"""Question whether Dagster could load the assets."""


def serve(*, port: int, mlflow_port: int, as_json: bool, nightly: bool = False) -> None:
    """Serve until Ctrl-C; the links are printed when both UIs answer.

    Args:   nightly: whether the schedule of the nightly run is on.
    Raises: FoundryError: a port is taken, a database is damaged, the assets cannot be loaded, a server ended.
    """
    deployment = find_deployment()
    require_free({"--port": port, "--mlflow-port": mlflow_port})
    require_whole_registry(deployment)
    read_parameters(deployment.project)
    nightly_hour()  # the assets need both, and Dagster would name another cause first
    with open_instance(deployment):
        pass  # its home and databases are in order
    if nightly:
        os.environ[NIGHTLY_VARIABLE] = "1"
    os.environ[MLFLOW_PORT_VARIABLE] = str(mlflow_port)
    click.echo("simfoundry: starting the Dagster UI and the MLflow UI", err=True)
    with supervised() as servers:
        for name, command in _commands(deployment, port, mlflow_port).items():
            servers.start(_server(name, command, deployment))
        for _ in servers.polls():
            if is_ready(port, mlflow_port):
                break
        click.echo(_links_text(deployment, port, mlflow_port, as_json=as_json))
        for _ in servers.polls():
            pass


def _links_text(deployment: Deployment, port: int, mlflow_port: int, *, as_json: bool) -> str:
    dagster, mlflow = f"http://{HOST}:{port}", f"http://{HOST}:{mlflow_port}"
    groups = quote(" or ".join(f'group:"{name}"' for name in GROUPS))
    links = {
        "asset_graph": f"{dagster}/asset-groups~{groups}/",
        "leaderboard": f"{dagster}/assets/leaderboard",
        "registry": f"{mlflow}/#/models",
    }
    if as_json:
        return json.dumps({"dagster": dagster, "mlflow": mlflow, **links})
    logs = str(_log_folder(deployment))
    lines = [f"{name.replace('_', ' '):<12}{link}" for name, link in {**links, "logs": logs}.items()]
    return "\n".join(["ready", *lines, "Ctrl-C ends both."])


def _commands(deployment: Deployment, port: int, mlflow_port: int) -> dict[str, list[str]]:
    workspace = str(deployment.project / "workspace.yaml")
    tools = Path(sys.executable).parent
    quiet = ("--code-server-log-level", "warning")
    return {
        "Dagster UI": [
            *(sys.executable, "-m", "simfoundry.commands.dagster_ui", "-w", workspace),
            *("--host", HOST, "--port", str(port), "--dagster-log-level", "warning", *quiet),
        ],
        "Dagster daemon": [
            *(str(tools / "dagster-daemon"), "run", "-w", workspace, "--log-level", "warning", *quiet),
        ],
        "MLflow UI": [
            *(str(tools / "mlflow"), "ui", "--backend-store-uri", deployment.tracking_uri),
            *("--host", HOST, "--port", str(mlflow_port), "--workers", "1"),
            *("--allowed-hosts", MLFLOW_HOSTS, "--app-name", "simfoundry"),
        ],
    }


def _server(name: str, command: Sequence[str], deployment: Deployment) -> Server:
    """Return a server of the project, with a log file in DAGSTER_HOME."""
    return Server(
        name=name,
        command=command,
        folder=deployment.project,
        log=_log_folder(deployment) / f"{name.lower().replace(' ', '-')}.log",
        variables=environment_of(deployment),
    )


def _log_folder(deployment: Deployment) -> Path:
    return deployment.dagster_home / "ui"


def environment_of(deployment: Deployment) -> Mapping[str, str]:
    """Return the environment of servers of a project."""
    own = {
        # Dagster looks into the project first, where folders may have the names of our packages.
        "PYTHONPATH": os.pathsep.join([str(CODE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "DAGSTER_HOME": str(deployment.dagster_home),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four more processes, for model evaluation
    }
    return {**os.environ, **QUIET_ENVIRONMENT, **own}


def is_ready(port: int, mlflow_port: int) -> bool:
    """Tell whether both UIs answer, and refuse a page of another host.

    Raises: FoundryError: Dagster cannot load the assets, or a UI answers foreign pages.
    """
    answers = {"Dagster UI": ask(port, ASSETS_LOADED), "MLflow UI": ask(mlflow_port, "/health")}
    if any(answer is None or answer.status != HTTPStatus.OK for answer in answers.values()):
        return False
    for name, number in (("Dagster UI", port), ("MLflow UI", mlflow_port)):
        foreign = ask(number, "/", host="foreign.example")
        if foreign is None or foreign.status != HTTPStatus.FORBIDDEN:
            raise FoundryError(f"{name} answers pages of other hosts; it was ended")
    dagster = answers["Dagster UI"]
    assert dagster is not None
    for problem in _load_problems(json.loads(dagster.content)):
        raise FoundryError(f"Dagster cannot load the assets: {problem}")
    return True


def _load_problems(answer: Any) -> Iterator[str]:
    """Yield the messages of code locations that Dagster could not load, the innermost cause each."""
    for entry in answer["data"]["workspaceOrError"].get("locationEntries", ()):
        error = entry["locationOrLoadError"]
        if error["__typename"] == "PythonError":
            causes = [cause["message"] for cause in error["causes"]]
            yield " ".join([error["message"], *causes][-1].split())
