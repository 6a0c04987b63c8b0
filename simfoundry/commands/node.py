"""`simfoundry node`: this machine as the head or a node of a Ray cluster, until Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import sys
import tempfile
from pathlib import Path
from time import monotonic

import click

from assets.cluster.ray_fanout import AUTH_MODE, TOKEN_VARIABLE, token_file
from assets.errors import FoundryError, needing
from pipelines.base.files import read_text
from pipelines.schemas import write_bytes_atomically
from simfoundry.commands.supervision import Server, Servers, supervised
from simfoundry.questions import NodeQuestion

READY_S = 120.0
REFUSED_TOKEN = "InvalidAuthToken"  # noqa: S105
"""In Ray's log when the head has another token."""
_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9_.-]+):(?P<port>[0-9]{1,5})")


def serve_node(question: NodeQuestion, *, as_json: bool) -> None:
    """Start Ray's processes of this machine and wait until Ctrl-C, which ends them.

    Raises: ExtraMissing: Ray is not installed. FoundryError: not an address, no head answers there, there is
            no token or another one, or Ray ended.
    """
    with needing("cluster"):
        import ray  # lazy import: takes 1 s

        del ray
    _require_own(question.host)
    if _ADDRESS.fullmatch(question.joined) is None:
        raise FoundryError(f"not an address: {question.joined!r}; accepted: host:port of the head")
    is_head = question.address is None
    if is_head == _answers(question.joined):
        problem = "something answers already" if is_head else "no head answers"
        way = "another --port" if is_head else "host:port of a running `simfoundry node`"
        raise FoundryError(f"{problem} at {question.joined}; accepted: {way}")
    token = _token(makes=is_head)
    with tempfile.TemporaryDirectory(prefix="simfoundry-node-") as folder, supervised() as servers:
        server = Server(
            name="Ray",
            command=_command(question),
            folder=Path(folder),
            log=Path(folder) / "ray.log",
            variables={**os.environ, AUTH_MODE: "token", TOKEN_VARIABLE: token},
        )
        servers.start(server)
        try:
            _wait_ready(servers, server)
        except FoundryError as error:
            if REFUSED_TOKEN in server.log.read_text(errors="replace"):
                raise FoundryError(_refusal(question.joined)) from error
            raise
        click.echo(_said(question, as_json=as_json))
        for _ in servers.polls():
            pass


def _wait_ready(servers: Servers, server: Server) -> None:
    """Wait until Ray's processes run. Raises: FoundryError: they ended, or have not begun in time."""
    began = monotonic()
    for _ in servers.polls():
        if "Ray runtime started" in server.log.read_text(errors="replace"):
            return
        if monotonic() - began > READY_S:
            raise FoundryError(f"Ray has not begun within {READY_S:g} s")


def _refusal(head: str) -> str:
    source = TOKEN_VARIABLE if os.environ.get(TOKEN_VARIABLE) else str(token_file())
    return f"the head at {head} has another token than {source}; accepted: the token of the head"


def _require_own(host: str) -> None:
    """Check that a host is this machine; Ray would look for a minute.

    Raises: FoundryError: it is not.
    """
    try:
        if not host:
            raise OSError
        with socket.socket() as own:
            own.bind((host, 0))
    except (OSError, UnicodeError) as error:
        raise FoundryError(
            f"--host: not an address of this machine: {host!r}; accepted: one by which the others reach it"
        ) from error


def _command(question: NodeQuestion) -> list[str]:
    role = ["--head", f"--port={question.port}", "--include-dashboard=false"]
    if question.address is not None:
        role = [f"--address={question.address}"]
    limits = [] if question.cpus is None else [f"--num-cpus={question.cpus}"]
    if question.node_memory is not None:
        limits.append(f"--memory={int(question.node_memory * 2**30)}")
    own = [f"--node-ip-address={question.host}", "--disable-usage-stats", "--block"]
    return [sys.executable, "-m", "ray.scripts.scripts", "start", *role, *limits, *own]


def _said(question: NodeQuestion, *, as_json: bool) -> str:
    is_head = question.address is None
    if as_json:
        return json.dumps({"role": "head" if is_head else "node", "address": question.joined})
    if not is_head:
        return f"ready\nnode of {question.joined}\nCtrl-C ends it."
    return (
        f"ready\nhead {question.joined}\n"
        f"token in {token_file()}; other machines need it there or in {TOKEN_VARIABLE}\n"
        "Ctrl-C ends it."
    )


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), 5.0):
            return True
    except (OSError, OverflowError):
        return False


def _token(*, makes: bool) -> str:
    """Return the token by which nodes and drivers know each other; a head makes one where there is none.

    Raises: FoundryError: there is none. OSError: the home folder is not writable.
    """
    path = token_file()
    named = os.environ.get(TOKEN_VARIABLE)
    if named:
        return named
    if path.is_file():
        path.chmod(0o600)
        return read_text(path, what="token", most_bytes=1 << 12, error=FoundryError).strip()
    if not makes:
        raise FoundryError(
            f"no token of the cluster; accepted: {TOKEN_VARIABLE}, or the head's file {path} on this machine"
        )
    token = secrets.token_hex(32)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_bytes_atomically(path, token.encode())
    path.chmod(0o600)
    return token
