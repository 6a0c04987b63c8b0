"""`simfoundry ui`: the Dagster UI with its daemon, and the MLflow UI, on this machine only."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from assets.deployments import (
    NIGHTLY_VARIABLE,
    QUIET_ENVIRONMENT,
    Deployment,
    find_deployment,
    require_whole_registry,
)
from assets.errors import FoundryError
from assets.instance import open_instance

HOST = "127.0.0.1"
MLFLOW_HOSTS = "localhost,127.0.0.1,[::1],localhost:*,127.0.0.1:*,[[]::1]:*"
"""Accepted Host headers; MLflow's own list has 10.*, which foreign names fit too."""
CODE_FOLDER = Path(__file__).resolve().parents[2]
STOP_TIMEOUT_S = 10.0
POLL_S = 0.5


def serve(*, port: int, mlflow_port: int, as_json: bool, nightly: bool = False) -> bool:
    """Serve until Ctrl-C, or until a server ends by itself.

    Args:    nightly: whether the schedule of the nightly run is on.
    Returns: whether it was Ctrl-C.
    Raises:  FoundryError: a port is taken, or a database is damaged.
    """
    deployment = find_deployment()
    for number in (port, mlflow_port):
        _require_free(number)
    require_whole_registry(deployment)
    with open_instance(deployment):
        pass  # its home and databases are in order
    addresses = {"dagster": f"http://{HOST}:{port}", "mlflow": f"http://{HOST}:{mlflow_port}"}
    if as_json:
        click.echo(json.dumps(addresses))
    else:
        click.echo(f"Dagster {addresses['dagster']}\nMLflow  {addresses['mlflow']}\nCtrl-C ends both.")
    if nightly:
        os.environ[NIGHTLY_VARIABLE] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    servers: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in _commands(deployment, port, mlflow_port).items():
            servers[name] = _start(command, deployment)
        return _wait(servers)
    finally:
        _stop(list(servers.values()))


def _commands(deployment: Deployment, port: int, mlflow_port: int) -> dict[str, list[str]]:
    workspace = str(deployment.project / "workspace.yaml")
    tools = Path(sys.executable).parent
    store = deployment.tracking_uri
    return {
        "Dagster UI": [sys.executable, "-m", "simfoundry.commands.dagster_ui", workspace, HOST, str(port)],
        "Dagster daemon": [str(tools / "dagster-daemon"), "run", "-w", workspace],
        "MLflow UI": [
            str(tools / "mlflow"),
            *("ui", "--backend-store-uri", store, "--host", HOST, "--port", str(mlflow_port)),
            *("--workers", "1", "--allowed-hosts", MLFLOW_HOSTS, "--app-name", "simfoundry"),
        ],
    }


def _start(command: Sequence[str], deployment: Deployment) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command),
        cwd=deployment.project,
        env=_environment(deployment),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        start_new_session=True,
    )


def _environment(deployment: Deployment) -> Mapping[str, str]:
    own = {
        # Dagster looks into the project first, where folders may have the names of our packages.
        "PYTHONPATH": os.pathsep.join([str(CODE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "DAGSTER_HOME": str(deployment.dagster_home),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four more processes, for model evaluation
    }
    return {**os.environ, **QUIET_ENVIRONMENT, **own}


def _wait(servers: Mapping[str, subprocess.Popen[bytes]]) -> bool:
    """Wait for Ctrl-C; say which server ended when one did."""
    try:
        while True:
            for name, server in servers.items():
                if server.poll() is not None:
                    click.echo(f"simfoundry: {name} ended with status {server.returncode}", err=True)
                    return False
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        return True


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
