"""`simfoundry ui`: the Dagster UI with its daemon, and the MLflow UI, on this machine only.

They are started by their own commands, write to log files, and are ready when both answer.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
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
from pipelines.base.tools import find_tool

HOST = "127.0.0.1"
MLFLOW_HOSTS = "localhost,127.0.0.1,[::1],localhost:*,127.0.0.1:*,[[]::1]:*"
"""Accepted Host headers; MLflow's own list has 10.*, which foreign names fit too."""
CODE_FOLDER = Path(__file__).resolve().parents[2]
STOP_TIMEOUT_S = 10.0
POLL_S = 0.5
ANSWER_LIMIT_S = 60.0
LOG_LINES = 10
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
    for number in (port, mlflow_port):
        _require_free(number)
    require_whole_registry(deployment)
    read_parameters(deployment.project)
    nightly_hour()  # the assets need both, and Dagster would name another cause first
    with open_instance(deployment):
        pass  # its home and databases are in order
    if nightly:
        os.environ[NIGHTLY_VARIABLE] = "1"
    os.environ[MLFLOW_PORT_VARIABLE] = str(mlflow_port)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    click.echo("simfoundry: starting the Dagster UI and the MLflow UI", err=True)
    servers: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in _commands(deployment, port, mlflow_port).items():
            servers[name] = _start(name, command, deployment)
        for _ in _polls(servers, deployment):
            if is_ready(port, mlflow_port):
                break
        click.echo(_links_text(deployment, port, mlflow_port, as_json=as_json))
        for _ in _polls(servers, deployment):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        _stop(list(servers.values()))


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


def _start(name: str, command: Sequence[str], deployment: Deployment) -> subprocess.Popen[bytes]:
    """Start a server with a log file of its own; it ends with this process, however that ends."""
    log = _log_file(deployment, name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as stream:
        return subprocess.Popen(
            [find_tool("setpriv", "util-linux"), "--pdeathsig", "TERM", "--", *command],
            cwd=deployment.project,
            env=_environment(deployment),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )


def _log_folder(deployment: Deployment) -> Path:
    return deployment.dagster_home / "ui"


def _log_file(deployment: Deployment, name: str) -> Path:
    return _log_folder(deployment) / f"{name.lower().replace(' ', '-')}.log"


def _environment(deployment: Deployment) -> Mapping[str, str]:
    own = {
        # Dagster looks into the project first, where folders may have the names of our packages.
        "PYTHONPATH": os.pathsep.join([str(CODE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "DAGSTER_HOME": str(deployment.dagster_home),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four more processes, for model evaluation
    }
    return {**os.environ, **QUIET_ENVIRONMENT, **own}


def _polls(servers: Mapping[str, subprocess.Popen[bytes]], deployment: Deployment) -> Iterator[None]:
    """Yield a step every half second until a server ends, which is said with the end of its log."""
    while True:
        for name, server in servers.items():
            if server.poll() is not None:
                log = _log_file(deployment, name)
                last = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])
                raise FoundryError(f"{name} ended with status {server.returncode} ({log})\n{last}".rstrip())
        yield
        time.sleep(POLL_S)


def is_ready(port: int, mlflow_port: int) -> bool:
    """Tell whether both UIs answer, and refuse a page of another host.

    Raises: FoundryError: Dagster cannot load the assets, or a UI answers foreign pages.
    """
    answers = {"Dagster UI": _answer(port, ASSETS_LOADED), "MLflow UI": _answer(mlflow_port, "/health")}
    if any(answer is None or answer.status != HTTPStatus.OK for answer in answers.values()):
        return False
    for name, number in (("Dagster UI", port), ("MLflow UI", mlflow_port)):
        foreign = _answer(number, "/", host="foreign.example")
        if foreign is None or foreign.status != HTTPStatus.FORBIDDEN:
            raise FoundryError(f"{name} answers pages of other hosts; it was ended")
    dagster = answers["Dagster UI"]
    assert dagster is not None
    for problem in _load_problems(json.loads(dagster.content)):
        raise FoundryError(f"Dagster cannot load the assets: {problem}")
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of a server."""

    status: int
    content: bytes


def _answer(port: int, path: str, *, host: str = HOST) -> Answer | None:
    """Return the answer of a server of this machine; None without one."""
    connection = HTTPConnection(HOST, port, timeout=ANSWER_LIMIT_S)
    try:
        connection.request("GET", path, headers={"Host": f"{host}:{port}"})
        response = connection.getresponse()
        return Answer(status=response.status, content=response.read())
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def _load_problems(answer: Any) -> Iterator[str]:
    """Yield the messages of code locations that Dagster could not load, the innermost cause each."""
    for entry in answer["data"]["workspaceOrError"].get("locationEntries", ()):
        error = entry["locationOrLoadError"]
        if error["__typename"] == "PythonError":
            causes = [cause["message"] for cause in error["causes"]]
            yield " ".join([error["message"], *causes][-1].split())


def _stop(servers: Sequence[subprocess.Popen[bytes]]) -> None:
    """End each server with the processes it started: ask first, insist after ten seconds."""
    for server in servers:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
    for server in servers:
        try:
            server.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise FoundryError(
                f"a port must be free and from 1 to 65535, got {port} ({error}); "
                "choose others with --port and --mlflow-port"
            ) from error
