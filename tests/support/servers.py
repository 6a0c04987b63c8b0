"""Servers on loopback for tests and benchmarks: PostgreSQL and an S3 server as `simfoundry team` starts them.

Each has a folder and a free port of its own and is ended by its process id.
"""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assets.errors import FoundryError
from simfoundry.commands.supervision import HOST, Server
from simfoundry.commands.team_servers import (
    Postgres,
    Secrets,
    postgres_program,
    rclone_program,
    s3_server,
    store_variables,
)

STARTS_WITHIN_S = 30.0
ENDS_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Server:
    """An S3 server: the variables of its clients, its folder of buckets, its process."""

    variables: Mapping[str, str]
    server: Server
    process: subprocess.Popen[bytes]

    @property
    def folder(self) -> Path:
        """Folder of the bucket's parent."""
        return self.server.folder

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.variables["AWS_ENDPOINT_URL"].rpartition("/")[2].rpartition(":")
        return host, int(port)

    def started_again(self) -> S3Server:
        """Serve the same objects at the same address, after the process was ended."""
        return replace(self, process=_started(self.server, lambda: _listens(*self.address)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A PostgreSQL server and its process."""

    own: Postgres
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """URL without a database."""
        return self.own.url("").rstrip("/")

    def database(self, name: str) -> str:
        """Create a database. Returns: its URL."""
        self.own.require_databases([name])
        return self.own.url(name)

    def started_again(self) -> PostgresServer:
        """Serve the same databases at the same address, after the process was ended."""
        return replace(self, process=_started(_server_of(self.own), self.own.is_ready))


def has_postgres() -> bool:
    """Tell whether PostgreSQL is installed."""
    return _is_installed(lambda: postgres_program("initdb"))


def has_rclone() -> bool:
    """Tell whether rclone is installed."""
    return _is_installed(rclone_program)


def _is_installed(program: Callable[[], Path]) -> bool:
    try:
        program()
    except FoundryError:
        return False
    return True


@contextmanager
def serve_postgres(folder: Path, host: str = HOST) -> Iterator[PostgresServer]:
    """Serve an empty PostgreSQL from a new folder.

    Args: host: address of this machine; its network may connect.
    """
    own = Postgres(folder=folder, port=free_port(), password=secrets.token_urlsafe(24), host=host)
    own.prepare()
    with (own.data / "postgresql.auto.conf").open("a") as settings:
        settings.write("fsync = off\n")
    if host != HOST:
        with (own.data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet scram-sha-256\n")
    server = PostgresServer(own=own, process=_started(_server_of(own), own.is_ready))
    try:
        yield server
    finally:
        end(server.process, signal.SIGINT)


def _server_of(own: Postgres) -> Server:
    return own.server(own.folder / "log")


@contextmanager
def serve_s3(folder: Path, host: str = HOST) -> Iterator[S3Server]:
    """Serve a folder as a bucket of S3."""
    folder.mkdir(parents=True, exist_ok=True)
    port, draws = free_port(), (secrets.token_hex(24) for _ in range(3))
    own = Secrets(**dict(zip(("password", "key", "secret"), draws, strict=True)))
    server = s3_server(folder / "buckets", port, own, folder / "log", host)
    process = _started(server, lambda: _listens(host, port))
    try:
        yield S3Server(variables=store_variables(port, own, host), server=server, process=process)
    finally:
        end(process, signal.SIGTERM)


def end(process: subprocess.Popen[bytes], by: signal.Signals, within_s: float = ENDS_WITHIN_S) -> None:
    """End a server by its process id, and wait for it."""
    process.send_signal(by)
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as own:
        own.bind((HOST, 0))
        return int(own.getsockname()[1])


def _listens(host: str, port: int) -> bool:
    with socket.socket() as own:
        own.settimeout(1)
        return own.connect_ex((host, port)) == 0


def _started(server: Server, is_ready: Callable[[], bool]) -> subprocess.Popen[bytes]:
    """Start a server, and wait until it answers."""
    process = server.start()
    end_s = time.monotonic() + STARTS_WITHIN_S
    while not is_ready():
        if process.poll() is not None or time.monotonic() > end_s:
            process.kill()
            raise RuntimeError(
                f"{server.name} does not start: {server.log.read_text(errors='replace')[-500:]}"
            )
        time.sleep(0.05)
    return process
