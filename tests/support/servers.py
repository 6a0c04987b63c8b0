"""Servers on loopback for tests and benchmarks: PostgreSQL, and an S3 server over a folder.

Each has a folder and a free port of its own and is ended by its process id.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POSTGRES_USER = "postgres"
LOOPBACK = "127.0.0.1"
STARTS_WITHIN_S = 30.0
ENDS_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Server:
    """An S3 server: the variables of its clients, its folder of buckets, its process."""

    variables: Mapping[str, str]
    folder: Path
    process: subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A PostgreSQL server: URL without a database, how it is started, its process."""

    url: str
    command: Sequence[str]
    account: Mapping[str, Any]
    folder: Path
    process: subprocess.Popen[bytes]

    def database(self, name: str) -> str:
        """Create a database. Returns: its URL."""
        from sqlalchemy import create_engine, text

        url = self.url.replace("postgresql", "postgresql+psycopg2")
        engine = create_engine(f"{url}/postgres", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}"'))
        engine.dispose()
        return f"{self.url}/{name}"


def postgres_folder() -> Path | None:
    """Return the folder of PostgreSQL's programs; None when it is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    return folders[-1].parent if folders else None


def rclone() -> str | None:
    """Return the path of rclone; None when it is not installed."""
    beside = Path(sys.executable).parent / "rclone"
    return str(beside) if beside.is_file() else shutil.which("rclone")


@contextmanager
def postgres(folder: Path, host: str = LOOPBACK) -> Iterator[PostgresServer]:
    """Serve an empty PostgreSQL from a new folder.

    Args: host: address of this machine; its network may connect.
    """
    programs, port, password = postgres_folder(), free_port(), secrets.token_urlsafe(24)
    assert programs is not None
    account: dict[str, Any] = {}
    folder.mkdir(parents=True)
    if os.getuid() == 0:  # the server refuses to run as root
        entry = pwd.getpwnam(POSTGRES_USER)
        account = {"user": entry.pw_uid, "group": entry.pw_gid}
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    secret = folder / "password"
    secret.write_text(password)
    if account:
        os.chown(secret, account["user"], account["group"])
    data = folder / "data"
    initdb = [str(programs / "initdb"), "-D", str(data), "-U", "foundry", "--auth=scram-sha-256"]
    initdb += [f"--pwfile={secret}", "--no-sync", "--encoding=UTF8", "--locale=C"]
    subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **account)
    secret.unlink()
    if host != LOOPBACK:
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet scram-sha-256\n")
    command = [
        str(programs / "postgres"),
        "-D",
        str(data),
        "-p",
        str(port),
        "-c",
        f"listen_addresses={host}",
    ]
    command += ["-c", f"unix_socket_directories={folder}", "-c", "max_connections=200", "-c", "fsync=off"]
    process = start_postgres(command, account, folder, port, host)
    server = PostgresServer(
        url=f"postgresql://foundry:{password}@{host}:{port}",
        command=command,
        account=account,
        folder=folder,
        process=process,
    )
    try:
        yield server
    finally:
        end(process, signal.SIGINT)


def start_postgres(
    command: Sequence[str], account: Mapping[str, Any], folder: Path, port: int, host: str = LOOPBACK
) -> subprocess.Popen[bytes]:
    """Start a PostgreSQL server of a folder that was initialised, and wait until it answers."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **account)
    programs = Path(command[0]).parent
    ready = [str(programs / "pg_isready"), "-q", "-h", host, "-p", str(port)]
    _wait(process, lambda: subprocess.run(ready, check=False).returncode == 0, folder / "log")
    return process


@contextmanager
def s3_server(
    folder: Path, buckets: Sequence[str] = ("foundry",), port: int | None = None, host: str = LOOPBACK
) -> Iterator[S3Server]:
    """Serve a folder as buckets of S3."""
    program, port = rclone(), port or free_port()
    assert program is not None
    for bucket in buckets:
        (folder / "buckets" / bucket).mkdir(parents=True, exist_ok=True)
    key, secret = f"key{secrets.token_hex(12)}", f"secret{secrets.token_hex(16)}"
    command = [program, "serve", "s3", "--addr", f"{host}:{port}", "--auth-key", f"{key},{secret}"]
    command += ["--vfs-cache-mode", "off", "--config", os.devnull, str(folder / "buckets")]
    process = start_s3(command, folder, port, host)
    variables = {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_REGION": "us-east-1",
    }
    try:
        yield S3Server(variables=variables, folder=folder / "buckets", process=process)
    finally:
        end(process, signal.SIGTERM)


def start_s3(
    command: Sequence[str], folder: Path, port: int, host: str = LOOPBACK
) -> subprocess.Popen[bytes]:
    """Start an S3 server, and wait until it answers."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    _wait(process, lambda: _listens(host, port), folder / "log")
    return process


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
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


def _listens(host: str, port: int) -> bool:
    with socket.socket() as own:
        own.settimeout(1)
        return own.connect_ex((host, port)) == 0


def _wait(process: subprocess.Popen[bytes], is_ready: Callable[[], bool], log: Path) -> None:
    end_s = time.monotonic() + STARTS_WITHIN_S
    while not is_ready():
        if process.poll() is not None or time.monotonic() > end_s:
            process.kill()
            raise RuntimeError(f"a server does not start: {log.read_text(errors='replace')[-500:]}")
        time.sleep(0.05)
