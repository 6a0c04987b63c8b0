"""The servers of `simfoundry ui`: each answers its own pages, and refuses foreign hosts and foreign pages."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator

import pytest

from assets.deployments import Deployment
from assets.instance import prepare_home
from simfoundry.commands import ui
from simfoundry.commands.supervision import supervised

START_LIMIT_S = 300.0
REFUSED = 403
PATHS = {
    "Dagster UI": "/graphql?query={version}",
    "MLflow UI": "/ajax-api/2.0/mlflow/experiments/search?max_results=1",
}


@pytest.fixture
def ports(deployment: Deployment) -> Iterator[dict[str, int]]:
    """Both UIs on free ports, with no code to load; by name."""
    (deployment.project / "workspace.yaml").write_text("load_from: []\n")
    prepare_home(deployment)
    ports = dict(zip(PATHS, _free_ports(2), strict=True))
    commands = ui._commands(deployment, *ports.values())
    with supervised() as servers:
        for name in ports:
            servers.start(ui._server(name, commands[name], deployment))
        for _ in servers.polls():
            if ui.is_ready(*ports.values()):
                break
        yield ports


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _status(port: int, path: str, headers: dict[str, str], method: str = "GET") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_LIMIT_S)
    try:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.slow
def test_uis_answer_their_own_pages_alone(ports: dict[str, int]) -> None:
    for name, path in PATHS.items():
        port = ports[name]
        for host in ("127.0.0.1", "localhost", "[::1]"):
            assert _status(port, path, {"Host": f"{host}:{port}"}) == 200, (name, host)
            assert _status(port, path, {"Host": f"{host}:8080"}) == 200, "through a tunnel"
        for host in (
            "evil.example",
            "10.evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
        ):
            assert _status(port, path, {"Host": host}) == REFUSED, (name, host)
            assert _status(port, path, {"Host": f"{host}:{port}"}) == REFUSED, (name, host)
    assert _status(ports["MLflow UI"], "/", {"Host": "evil.example"}) == REFUSED
    port, path = ports["Dagster UI"], PATHS["Dagster UI"]
    own = {"Host": f"127.0.0.1:{port}"}
    assert _status(port, path, own | {"Origin": f"http://127.0.0.1:{port}"}, "POST") == 200
    for word in ("mutation", "%6dutation"):
        change = f"/graphql?query={word}{{reloadWorkspace{{__typename}}}}"
        assert _status(port, change, own) == REFUSED, "a page of an older browser sends no Sec-Fetch-Site"
        assert _status(port, change, own, "HEAD") == REFUSED
    assert _status(port, path, own | {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}) == 200
    for foreign in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{port + 1}"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},  # an image of a foreign page
    ):
        assert _status(port, path, own | foreign, "POST") == REFUSED, foreign
        assert _status(port, path, own | foreign) == REFUSED, foreign
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol": "graphql-ws",
    }
    assert _status(port, "/graphql", own | upgrade) == 101
    assert _status(port, "/graphql", own | upgrade | {"Origin": "http://evil.example"}) == REFUSED
    assert _status(port, "/graphql", upgrade | {"Host": f"evil.example:{port}"}) == REFUSED
