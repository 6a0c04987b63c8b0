"""Files that carry the hash of their content, so that damage is noticed when they are read back."""

from __future__ import annotations

import hashlib
import logging
import re
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pipelines.schemas import write_bytes_atomically

_DIGEST_BYTES = 32
SLOW_S = 10.0
"""An answer of a store that takes longer is logged: requests are repeated while it is away."""
_LOG = logging.getLogger(__name__)


class StoreError(ConnectionError):
    """A store does not answer, or refuses: trying again may help."""


class SealedStore(Protocol):
    """Sealed entries by name, `kind/prefix/file`. A name stands for one content, whoever writes it."""

    def read(self, name: str) -> bytes | None:
        """Read the content of an entry; None when it is missing or, with a warning, damaged."""
        ...

    def write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        """Write an entry whole or not at all. One that is there and undamaged is left, unless `replace`."""
        ...


@dataclass(frozen=True, slots=True)
class FolderStore:
    """Sealed entries as files of a folder."""

    folder: Path

    def read(self, name: str) -> bytes | None:
        """Read the content of an entry; None when it is missing or, with a warning, damaged."""
        return read_sealed(self.folder / name)

    def write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        """Write an entry whole or not at all. One that is there and undamaged is left, unless `replace`.

        Raises: OSError: the disk is full or not writable.
        """
        path = self.folder / name
        if replace or not path.is_file() or read_sealed(path) is None:
            write_sealed(path, content)


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Sealed entries as objects of a store of the package obstore, which is handed in open.

    Pickled it is its URL alone and the function that opens it anew, so no credential leaves the process.

    Attributes:
        url: of the entries, without credentials.
        client: the open store, at the folder of the entries.
        reopen: opens the store of a URL in another process.
    """

    url: str
    client: Any = field(repr=False, compare=False)
    reopen: Callable[[str], ObjectStore] = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[str], ObjectStore], tuple[str]]:
        return self.reopen, (self.url,)

    def read(self, name: str) -> bytes | None:
        """Read the content of an entry; None when it is missing or, with a warning, damaged.

        Raises: StoreError: the store does not answer, or refuses.
        """
        with answering(self.url):
            try:
                sealed = bytes(self.client.get(name).bytes())
            except FileNotFoundError:
                return None
        content = _unsealed(Path(name).name, sealed)
        if content is None:
            _say_damaged(f"{self.url}/{name}", "its content does not have its hash")
        return content

    def write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        """Write an entry whole or not at all. One that is there and undamaged is left, unless `replace`.

        A store that ignores the condition overwrites, which is harmless: the bytes are equal.

        Raises: StoreError: the store does not answer, or refuses.
        """
        sealed = _digest(Path(name).name, content) + content
        with answering(self.url):
            if put_if_absent(self.client, name, sealed) or not (replace or self.read(name) is None):
                return
            self.client.put(name, sealed)


def put_if_absent(client: Any, name: str, content: bytes) -> bool:
    """Put an object into a store of obstore unless there is one. Returns: whether it was put."""
    from obstore.exceptions import AlreadyExistsError  # lazy import: only extra cluster has it

    try:
        client.put(name, content, mode="create")
    except AlreadyExistsError:
        return False
    return True


@contextmanager
def answering(url: str, *, slow_s: float = SLOW_S) -> Generator[None]:
    """Turn what obstore raises into one line without the requests, which name keys of access.

    Args:   slow_s: from which the time of the block is logged.
    Raises: StoreError: the store does not answer, or refuses.
    """
    from obstore.exceptions import BaseError  # lazy import: only extra cluster has it

    start_s = time.monotonic()
    try:
        yield
    except (BaseError, PermissionError) as error:
        raise StoreError(f"{url}: {_problem(error)}") from None
    waited_s = time.monotonic() - start_s
    if waited_s > slow_s:
        _LOG.warning("%s: the object store answered after %.0f s", url, waited_s)


_REFUSALS = (
    ("error sending request", "the object store does not answer"),
    ("NoSuchBucket", "there is no such bucket"),
    ("InvalidAccessKeyId", "the object store refuses the key of access"),
    ("SignatureDoesNotMatch", "the object store refuses the secret key"),
    ("AccessDenied", "the object store refuses access"),
    ("403", "the object store refuses access"),
)


def _problem(error: Exception) -> str:
    """Return what is wrong in words of this project, or the kind of the error and the server's status."""
    text = str(error)
    known = next((meaning for sign, meaning in _REFUSALS if sign in text), None)
    status = re.search(r"status(?: code)?:? (\d{3}\b[\w ]{0,40})", text, re.IGNORECASE)
    return known or " ".join([type(error).__name__, *([f"(HTTP {status[1].strip()})"] if status else [])])


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, behind the hash of its name and content.

    Raises: OSError: the disk is full or not writable.
    """
    write_bytes_atomically(path, _digest(path.name, content) + content)


def read_sealed(path: Path) -> bytes | None:
    """Read the content that was written; None when the file is missing or, with a warning, damaged."""
    try:
        sealed = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _say_damaged(path, error.strerror or str(error))
        return None
    content = _unsealed(path.name, sealed)
    if content is None:
        _say_damaged(path, "its content does not have its hash")
    return content


def build_once(folder: Path, name: str, build: Callable[[Path], Path]) -> Path:
    """Build a program, compiled unless the folder holds it undamaged.

    The file is called `<name>-<hash of its content>`. A hash inside would have to be written by this process,
    and a program that a child of another thread still holds open for writing cannot be started.

    Args:    name: identifies sources and options; build: compiles it in a folder and returns its path.
    Raises:  what `build` raises. OSError: the disk is full or not writable.
    """
    for path in sorted(folder.glob(f"{name}-*")):
        if path.name == f"{name}-{_digest(name, path.read_bytes()).hex()[:16]}":
            return path
        _say_damaged(path, "its content does not have its hash")
        path.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        built = build(Path(scratch))
        target = folder / f"{name}-{_digest(name, built.read_bytes()).hex()[:16]}"
        built.replace(target)
    return target


def _digest(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(content)
    return digest.digest()


def _unsealed(name: str, sealed: bytes) -> bytes | None:
    """Return the content of sealed bytes; None when it does not have its hash."""
    content = sealed[_DIGEST_BYTES:]
    return content if sealed[:_DIGEST_BYTES] == _digest(name, content) else None


def _say_damaged(path: Path | str, problem: str) -> None:
    _LOG.warning("damaged file, made again: %s (%s)", path, problem)
