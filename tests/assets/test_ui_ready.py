"""`simfoundry ui`: when it says that it is ready, what it prints, and that both servers end with it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from assets.deployments import Deployment
from assets.errors import FoundryError
from simfoundry.commands import ui
from simfoundry.commands.supervision import Servers

LOADED: dict[str, Any] = {"locationOrLoadError": {"__typename": "RepositoryLocation"}}
NOT_LOADED = {
    "locationOrLoadError": {
        "__typename": "PythonError",
        "message": "DagsterUserCodeLoadError: loading failed\n",
        "causes": [{"message": "FoundryError: unknown key: oops\n"}],
    }
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A server that answers as a UI does.

    Attributes: entry: of the code location that it tells of. checks_host: whether it refuses foreign pages.
    """

    status: int = 200
    entry: Any = None
    checks_host: bool = True


@contextmanager
def _served(stub: Stub) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_foreign = not self.headers["Host"].startswith("127.0.0.1:")
            content = {"data": {"workspaceOrError": {"locationEntries": [stub.entry or LOADED]}}}
            self.send_response(403 if is_foreign and stub.checks_host else stub.status)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _is_ready(dagster: Stub | None, mlflow: Stub | None) -> bool:
    with ExitStack() as stack:
        ports = [stack.enter_context(_served(one)) if one else _closed_port() for one in (dagster, mlflow)]
        return ui.is_ready(*ports)


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_it_is_ready_when_both_servers_answer() -> None:
    assert _is_ready(Stub(), Stub())
    assert not _is_ready(None, Stub())
    assert not _is_ready(Stub(), None)
    assert not _is_ready(Stub(), Stub(status=503))


def test_is_ready_rejects_a_server_that_answers_foreign_pages() -> None:
    with pytest.raises(FoundryError, match="Dagster UI answers pages of other hosts; it was ended"):
        _is_ready(Stub(checks_host=False), Stub())
    with pytest.raises(FoundryError, match="MLflow UI answers pages of other hosts; it was ended"):
        _is_ready(Stub(), Stub(checks_host=False))


def test_is_ready_rejects_assets_that_cannot_be_loaded() -> None:
    cause = "Dagster cannot load the assets: FoundryError: unknown key: oops$"
    with pytest.raises(FoundryError, match=cause):
        _is_ready(Stub(entry=NOT_LOADED), Stub())


def test_a_configuration_that_is_not_accepted_is_said_before_a_server_starts(deployment: Deployment) -> None:
    (deployment.project / "params.yaml").write_text("oops: 1\n")
    with pytest.raises(FoundryError, match="unknown key: oops"):
        ui.serve(port=_closed_port(), mlflow_port=_closed_port(), as_json=False)


def test_a_server_that_ends_is_named_with_the_end_of_its_log(deployment: Deployment) -> None:
    script = "import sys; print('no such table'); sys.exit(3)"
    servers = Servers()
    servers.start(ui._server("MLflow UI", [sys.executable, "-c", script], deployment)).wait()
    message = r"(?s)MLflow UI ended with status 3 \(.*mlflow-ui.log\)\nno such table$"
    with pytest.raises(FoundryError, match=message):
        next(servers.polls())


@pytest.mark.slow
def test_the_servers_end_with_a_command_that_is_killed(project: Path) -> None:
    script = (
        "import time; from assets.deployments import find_deployment; from simfoundry.commands import ui\n"
        "server = ui._server('server', ['sleep', '600'], find_deployment()).start()\n"
        "print(server.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        state = Path(f"/proc/{int(command.stdout.readline())}/stat")
        while "(sleep)" not in state.read_text():
            assert command.poll() is None
        command.kill()
    with suppress(OSError):  # its process is gone
        while ") Z " not in state.read_text():
            pass


@pytest.mark.slow
def test_the_command_prints_links_when_ready_and_ends_both_servers(project: Path) -> None:
    ports = _closed_port(), _closed_port()
    options = ["--port", str(ports[0]), "--mlflow-port", str(ports[1]), "--json"]
    (project / "workspace.yaml").write_text("load_from: []\n")
    command = subprocess.Popen(
        [sys.executable, "-m", "simfoundry.cli", "ui", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    links = json.loads(command.stdout.readline())
    assert set(links) == {"dagster", "mlflow", "asset_graph", "leaderboard", "registry"}
    for link in links.values():
        with urlopen(link) as answer:
            assert answer.status == 200
    command.send_signal(signal.SIGTERM)
    more, said = command.communicate()
    assert (command.returncode, more) == (0, "")
    assert said == "simfoundry: starting the Dagster UI and the MLflow UI\n"
    for port in ports:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port))
