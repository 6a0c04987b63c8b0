"""Servers of a command: with log files of their own, watched, and ended with the command, however it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from assets.errors import FoundryError
from pipelines.base.tools import find_tool

HOST = "127.0.0.1"
STOP_TIMEOUT_S = 10.0
POLL_S = 0.5
ANSWER_LIMIT_S = 60.0
LOG_LINES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How a server is started and ended.

    Attributes:
        command: its words; they are visible to every user of the machine, so no secret is among them.
        folder: working folder.
        log: file of its output, written anew.
        variables: its environment, secrets included.
        account: user and group to run as; None for those of this process.
        is_database: others keep their data in it: it is ended last, by SIGINT to its first process alone,
            by which PostgreSQL disconnects clients and writes its data.
    """

    name: str
    command: Sequence[str]
    folder: Path
    log: Path
    variables: Mapping[str, str] = field(repr=False)
    account: tuple[int, int] | None = None
    is_database: bool = False

    def start(self) -> subprocess.Popen[bytes]:
        """Start it in a session of its own; the kernel ends it when this process ends.

        Raises: ToolMissing, OSError: a program is missing.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        ending = "INT" if self.is_database else "TERM"
        user, group = self.account or (None, None)
        with self.log.open("wb") as stream:
            return subprocess.Popen(
                [find_tool("setpriv", "util-linux"), "--pdeathsig", ending, "--", *self.command],
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                user=user,
                group=group,
                extra_groups=None if self.account is None else (),
            )


class Servers:
    """Servers that are running."""

    def __init__(self) -> None:
        self._running: list[tuple[Server, subprocess.Popen[bytes]]] = []

    def start(self, server: Server) -> subprocess.Popen[bytes]:
        """Start a server and watch it from now on. Raises: ToolMissing, OSError: a program is missing."""
        process = server.start()
        self._running.append((server, process))
        return process

    def polls(self) -> Iterator[None]:
        """Yield every half second until a server ends.

        Raises: FoundryError: one ended; the message has the end of its log.
        """
        while True:
            for server, process in self._running:
                if process.poll() is not None:
                    last = "\n".join(server.log.read_text(errors="replace").splitlines()[-LOG_LINES:])
                    ended = f"{server.name} ended with status {process.returncode} ({server.log})"
                    raise FoundryError(f"{ended}\n{last}".rstrip())
            yield
            time.sleep(POLL_S)

    def stop(self) -> None:
        """End every server with the processes it started: databases last; ask first, insist after 10 s."""
        for is_database in (False, True):
            own = [process for server, process in self._running if server.is_database == is_database]
            for process in own:
                if process.poll() is None and is_database:
                    process.send_signal(signal.SIGINT)
                elif process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
            for process in own:
                try:
                    process.wait(STOP_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


@contextmanager
def supervised() -> Generator[Servers]:
    """Yield servers to start, and end them with the block; Ctrl-C and SIGTERM end it without an error."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    servers = Servers()
    try:
        yield servers
    except KeyboardInterrupt:
        pass
    finally:
        servers.stop()


# ---- ports and answers ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of a server."""

    status: int
    content: bytes


def ask(port: int, path: str, *, host: str = HOST) -> Answer | None:
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


def is_open(port: int) -> bool:
    """Tell whether somebody listens on a port of this machine."""
    try:
        with socket.create_connection((HOST, port), ANSWER_LIMIT_S):
            return True
    except OSError:
        return False


def require_free(ports: Mapping[str, int]) -> None:
    """Check that ports are free and distinct.

    Args:   ports: by the option that chooses them.
    Raises: FoundryError: one is not; the message names the options.
    """
    *others, last = ports
    options = f"{', '.join(others)} and {last}" if others else last
    chosen = f"choose {'others' if others else 'another'} with {options}"
    for number in ports.values():
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, number))
            except (OSError, OverflowError) as error:
                raise FoundryError(
                    f"a port must be free and from 1 to 65535, got {number} ({error}); {chosen}"
                ) from error
    for number in ports.values():
        same = [option for option, other in ports.items() if other == number]
        if number and len(same) > 1:  # 0 is any free one
            raise FoundryError(f"{' and '.join(same)} have one port: {number}; accepted: a port for each")
