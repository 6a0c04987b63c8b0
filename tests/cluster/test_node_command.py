"""`simfoundry node`: addresses and tokens that are refused, each in one line."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

from assets.cluster.ray_fanout import TOKEN_VARIABLE, connected
from assets.errors import FoundryError
from assets.settings import Cluster
from simfoundry.commands import node
from simfoundry.commands.node import serve_node
from simfoundry.commands.supervision import Server, Servers
from simfoundry.questions import NodeQuestion


@pytest.mark.parametrize("host", ["", "192.0.2.77", "nowhere.invalid", "a" * 70])
def test_a_host_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(FoundryError, match=r"^--host: not an address of this machine: '"):
        serve_node(NodeQuestion(host=host), as_json=False)


@pytest.mark.parametrize("address", ["", "nowhere", "http://127.0.0.1:6379"])
def test_an_address_without_host_or_port_is_refused(address: str) -> None:
    with pytest.raises(FoundryError, match=r"^not an address: '.*'; accepted: host:port of the head$"):
        serve_node(NodeQuestion(address=address), as_json=False)


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_another_token_is_one_line(listening: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "geheim")

    def refuse(servers: Servers, server: Server) -> None:
        del servers
        server.log.write_text("Traceback\nray.exceptions.AuthenticationError: InvalidAuthToken: missing\n")
        raise FoundryError("Ray ended with status 1")

    monkeypatch.setattr(node, "_wait_ready", refuse)
    with pytest.raises(FoundryError) as error:
        serve_node(NodeQuestion(address=listening), as_json=False)
    assert str(error.value) == (
        f"the head at {listening} has another token than RAY_AUTH_TOKEN; accepted: the token of the head"
    )


def test_a_run_without_a_token_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    message = rf"its token \(here none: neither RAY_AUTH_TOKEN nor {tmp_path}/\.ray/auth_token\)"
    with (
        pytest.raises(FoundryError, match=message),
        connected(Cluster(kind="ray", address="127.0.0.1:9")),
    ):
        pass
